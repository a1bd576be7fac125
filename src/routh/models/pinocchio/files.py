"""Loading URDF files into Pinocchio, safely, with checks that the robot is physical."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree

import numpy as np

from routh.base.status import ModelError, optional
from routh.models.files import PINOCCHIO_FORMATS, Converter, check_model_file, with_absolute_meshes
from routh.models.zoo import robot_file

if TYPE_CHECKING:
    from pinocchio import GeometryModel, Model


def engine() -> ModuleType:
    """The module ``pinocchio``."""
    return optional("pinocchio", "pinocchio")


def shapes() -> ModuleType:
    """The module ``coal``, which knows the shapes of collision geometry."""
    return optional("coal", "pinocchio")


class Robot(NamedTuple):
    """A Pinocchio model and its collision geometry (None where it was not asked for)."""

    model: Model
    geometry: GeometryModel


def load(
    path: str | Path, *, roots: Sequence[str | Path] = (), floating: bool = False, geometry: bool = True
) -> Robot:
    """A robot from a URDF file.

    The file is checked before it is parsed: no entities, no files from outside the model's folder.

    Parameters
    ----------
    path : of the URDF file, or a robot by name (`routh.models.zoo`).
    roots : further folders whose files the model may use. Names of meshes, with ``package://`` or without,
        are looked up in the model's own folder and then in these.
    floating : give the root a free-flyer joint.
    geometry : read the collision geometry too, with the pairs that are not adjacent links.
    """
    pin, path = engine(), robot_file(path)
    file = check_model_file(path, roots=roots)
    if file.root != "robot":
        raise ModelError(path, wrong=f"has the root element {file.root!r}", wanted="a URDF, 'robot'")
    try:
        with TemporaryDirectory() as folder:  # of converted meshes
            root = with_absolute_meshes(file.path, roots, PINOCCHIO_FORMATS, Converter(Path(folder)))
            text = ElementTree.tostring(root, encoding="unicode")
            joint = (pin.JointModelFreeFlyer(),) if floating else ()
            model = pin.buildModelFromXML(text, *joint)
            check_inertias(model, path)
            shapes = None
            if geometry:
                kind = pin.GeometryType.COLLISION
                shapes = pin.buildGeomFromUrdfString(model, text, kind, package_dirs=[str(file.path.parent)])
                _add_pairs(model, shapes)
    except ModelError:
        raise
    except (ValueError, RuntimeError, IndexError, MemoryError) as error:
        message = " ".join(str(error).split())
        raise ModelError(path, wrong=f"Pinocchio cannot load this model: {message}") from None
    if model.nv == 0:
        raise ModelError(path, wrong="nothing moves", wanted="a joint, or floating=True")
    return Robot(model, shapes)


def check_inertias(model: Model, path: str | Path = "model") -> None:
    """Refuse masses and inertias that no rigid body has, naming the joint that moves it.

    Pinocchio keeps what hangs at a joint as one body; a link without mass is fine as long as something that
    moves with it has some.
    """
    carried = np.zeros(model.njoints)
    for joint in reversed(range(1, model.njoints)):
        name, inertia = model.names[joint], model.inertias[joint]
        moments = np.linalg.eigvalsh(inertia.inertia) if np.all(np.isfinite(inertia.inertia)) else [np.nan]
        slack = 1e-9 + 1e-6 * abs(moments[-1])
        body = f"{path}: the body at joint {name!r} has"
        if not inertia.mass >= 0.0:
            raise ModelError(wrong=f"{body} mass {inertia.mass:g} kg", wanted=">= 0")
        if not moments[0] >= -slack:
            raise ModelError(wrong=f"{body} a principal inertia of {moments[0]:g} kg m^2", wanted=">= 0")
        if not moments[0] + moments[1] >= moments[2] - slack:
            principal = ", ".join(f"{moment:g}" for moment in moments)
            wanted = "wanted each at most the sum of the other two"
            raise ModelError(wrong=f"{body} principal inertias {principal} kg m^2; {wanted}")
        carried[joint] += inertia.mass
        if not carried[joint] > 0.0:
            raise ModelError(path, wrong=f"nothing that joint {name!r} moves has mass", wanted="mass there")
        carried[model.parents[joint]] += carried[joint]


def _add_pairs(model: Model, geometry: GeometryModel) -> None:
    """All pairs of shapes whose joints differ and are not parent and child."""
    pin = engine()
    joints = [shape.parentJoint for shape in geometry.geometryObjects]
    for (i, a), (j, b) in combinations(enumerate(joints), 2):
        if a != b and model.parents[a] != b and model.parents[b] != a:
            geometry.addCollisionPair(pin.CollisionPair(i, j))
