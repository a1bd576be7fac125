"""Loading MJCF and URDF files into MuJoCo, safely and with errors that say what is wrong."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from numpy.typing import ArrayLike

from routh.models.meshes import MUJOCO_FORMATS, Converter, tell, with_absolute_meshes
from routh.models.mujoco.engine import engine
from routh.models.mujoco.fusing import fuse_fixed_links, mend_inertias
from routh.models.resolving import check_model_file
from routh.status import ModelError
from routh.text import for_terminal
from routh.validation import Array, real, real_array

if TYPE_CHECKING:
    from mujoco import MjData, MjModel, MjSpec


def load(
    path: str | Path,
    *,
    roots: Sequence[str | Path] = (),
    floating: bool = False,
    ground: float | None = None,
    sky: bool = False,
) -> MjModel:
    """An MjModel from an MJCF or URDF file.

    The file is checked before MuJoCo reads it: no entities, no files from outside the model's folder.

    Parameters
    ----------
    path : the file; a URDF is known by its root element.
    roots : further folders whose files the model may use.
    floating : give the root body a free joint (for URDF, whose root MuJoCo fixes to the world).
    ground : height (m) of a plane "ground" to add.
    sky : add a light sky where the file has none, for pictures.

    Raises
    ------
    routh.status.ModelError where the file is refused or MuJoCo cannot compile it.
    """
    mujoco = engine()
    file = check_model_file(path, roots=roots)
    try:
        with TemporaryDirectory() as folder:  # of converted meshes, which are read when compiling
            if file.root == "robot":
                spec = _read_urdf(file.path, roots, Converter(Path(folder)))
            else:
                spec = _filled("from_file", str(file.path))
            if floating:
                _float(spec, path)
            if ground is not None:
                _add_ground(spec, real("ground", ground))
            if sky:
                _add_sky(spec)
            return _compiled(spec)
    except (ValueError, TypeError, RuntimeError, MemoryError, mujoco.FatalError) as error:
        message = " ".join(str(error).split())
        raise ModelError(f"{path}: MuJoCo cannot load this model: {message}") from None


def _compiled(spec: MjSpec) -> MjModel:
    try:
        return spec.compile()
    except ValueError as error:
        if "volume is too small" not in str(error) or not hasattr(engine(), "mjtMeshInertia"):
            raise
    for mesh in spec.meshes:  # a flat one among them: what has no volume still has a surface
        mesh.inertia = engine().mjtMeshInertia.mjMESH_INERTIA_SHELL
    return spec.compile()


def _read_urdf(path: Path, roots: Sequence[str | Path], convert: Converter) -> MjSpec:
    """The spec of a URDF whose meshes were looked up here; MuJoCo itself would drop their folders."""
    root = with_absolute_meshes(path, roots, MUJOCO_FORMATS, convert)
    _refuse_infinite(root, path)
    extension = root.find("mujoco")
    if extension is None:
        extension = ElementTree.SubElement(root, "mujoco")
    compiler = extension.find("compiler")
    if compiler is None:
        compiler = ElementTree.SubElement(extension, "compiler")
    compiler.set("strippath", "false")
    spec = _filled("from_string", ElementTree.tostring(root, encoding="unicode"))
    getattr(spec, "compiler", spec).fusestatic = False  # links keep their names; 3.2 has no .compiler
    if hasattr(spec.worldbody, "bodies"):  # since 3.3; before, every link must be physical by itself
        fuse_fixed_links(spec)
        tell("changed so that MuJoCo can read it", mend_inertias(spec), path)
    return spec


def _refuse_infinite(root: ElementTree.Element, path: Path) -> None:
    """Masses, inertias and places of links must be finite before they are added up."""
    for link in root.iter("link"):
        for element in (part for inertial in link.iter("inertial") for part in inertial.iter()):
            for key, value in element.items():
                if not all(_is_finite(word) for word in value.split()):
                    where = f"link {link.get('name', '')!r} has {element.tag} {key}={for_terminal(value)!r}"
                    raise ModelError(f"{path}: {where}; wanted finite numbers")


def _is_finite(word: str) -> bool:
    try:
        return math.isfinite(float(word))
    except ValueError:
        return True  # no number at all: MuJoCo says so itself


def _filled(method: str, source: str) -> MjSpec:
    spec = engine().MjSpec
    try:
        return getattr(spec, method)(source)
    except TypeError:  # MuJoCo 3.2.0: it fills a spec that is there
        filled = spec()
        getattr(filled, method)(source)
        return filled


def state(
    model: MjModel,
    *,
    keyframe: str | int | None = None,
    qpos: Mapping[int | str, float] | ArrayLike | None = None,
    qvel: Mapping[int | str, float] | ArrayLike | None = None,
) -> MjData:
    """An MjData in a keyframe (by name or number) or the model's reference pose, with changes.

    Parameters
    ----------
    qpos : (nq,) or a mapping from index to value; qvel : (nv,) or a mapping from index to value.
    """
    mujoco = engine()
    data = mujoco.MjData(model)
    if keyframe is not None:
        mujoco.mj_resetDataKeyframe(model, data, _keyframe(model, keyframe))
    _assign("qpos", data.qpos, qpos)
    _assign("qvel", data.qvel, qvel)
    mujoco.mj_normalizeQuat(model, data.qpos)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_comVel(model, data)
    return data


def _keyframe(model: MjModel, keyframe: str | int) -> int:
    names = [model.key(i).name or str(i) for i in range(model.nkey)]
    key = str(keyframe)
    if key in names:
        return names.index(key)
    if key.isdigit() and int(key) < model.nkey:
        return int(key)
    wanted = f"one of {', '.join(map(repr, names))}" if names else "none: the model has no keyframes"
    raise ValueError(f"keyframe: got {keyframe!r}; wanted {wanted}")


def _assign(field: str, target: Array, values: Mapping[int | str, float] | ArrayLike | None) -> None:
    if values is None:
        return
    if not isinstance(values, Mapping):
        target[:] = real_array(field, values, [target.shape], f"shape {target.shape}")
        return
    for key, value in values.items():
        index = int(key)
        if not 0 <= index < len(target):
            raise ValueError(f"{field}: got the index {key}; wanted one from 0 to {len(target) - 1}")
        target[index] = real(f"{field}[{index}]", value)


def _float(spec: MjSpec, path: str | Path) -> None:
    root = spec.worldbody.first_body()
    if root is None:
        raise ModelError(f"{path}: has no body that could float")
    if not hasattr(root, "joints"):  # editing a spec in MuJoCo 3.2 crashes the process
        raise ModelError(f"{path}: floating=True wants MuJoCo 3.3 or later; got {engine().__version__}")
    if any(True for _ in root.joints):
        raise ModelError(
            f"{path}: its root body {root.name!r} has a joint already, so it cannot be floating=True"
        )
    root.add_freejoint()


def _add_ground(spec: MjSpec, height: float) -> None:
    plane = engine().mjtGeom.mjGEOM_PLANE
    spec.worldbody.add_geom(name="ground", type=plane, size=[0.0, 0.0, 1.0], pos=[0.0, 0.0, height])


def _add_sky(spec: MjSpec) -> None:
    kinds = engine().mjtTexture
    getattr(spec, "compiler", spec).discardvisual = False  # set for URDF, whose visuals we took out ourselves
    if hasattr(spec, "textures") and not any(t.type == kinds.mjTEXTURE_SKYBOX for t in spec.textures):
        spec.add_texture(
            name="routh-sky",
            type=kinds.mjTEXTURE_SKYBOX,
            builtin=engine().mjtBuiltin.mjBUILTIN_GRADIENT,
            rgb1=[0.98, 0.98, 1.0],
            rgb2=[0.80, 0.84, 0.90],
            width=64,
            height=384,
        )
