"""Loading MJCF and URDF files into MuJoCo, safely and with errors that say what is wrong; states of them.

What MuJoCo would refuse in the inertias of a URDF is mended on the way, and named.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import numpy as np
from numpy.typing import ArrayLike

from routh.base.status import InputError, ModelError, no_such
from routh.base.text import for_terminal
from routh.base.validation import Array, real, real_array
from routh.models.files import MUJOCO_FORMATS, Converter, check_model_file, tell, with_absolute_meshes
from routh.models.mujoco.engine import engine
from routh.models.rotations import rotation_matrices
from routh.models.zoo import robot_file

if TYPE_CHECKING:
    from mujoco import MjData, MjModel, MjsBody, MjsJoint, MjSpec


_LITTLE = 1e-6  # of the mass that is carried
_RADIUS = 0.01  # m: of the ball that this little mass has the inertia of


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
    path : the file, or a robot by name (`routh.models.zoo`); a URDF is known by its root element.
    roots : further folders whose files the model may use.
    floating : give the root body a free joint (for URDF, whose root MuJoCo fixes to the world).
    ground : height (m) of a plane "ground" to add.
    sky : add a light sky where the file has none, for pictures.

    Raises
    ------
    routh.base.status.ModelError
        Where the file is refused or MuJoCo cannot compile it.
    """
    mujoco, path = engine(), robot_file(path)
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
                plane, height = mujoco.mjtGeom.mjGEOM_PLANE, real("ground", ground)
                spec.worldbody.add_geom(name="ground", type=plane, size=[0, 0, 1], pos=[0.0, 0.0, height])
            if sky:
                _add_sky(spec)
            return _compiled(spec)
    except (ValueError, TypeError, RuntimeError, MemoryError, mujoco.FatalError) as error:
        message = " ".join(str(error).split())
        raise ModelError(path, wrong=f"MuJoCo cannot load this model: {message}") from None


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
                    raise ModelError(path, wrong=where, wanted="finite numbers")


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
    model : MjModel.
    keyframe : name or number; None: the reference pose.
    qpos : (nq,) or a mapping from index to value.
    qvel : (nv,) or a mapping from index to value.
    """
    mujoco = engine()
    if not isinstance(model, mujoco.MjModel):
        wanted = "an MjModel, which routh.models.mujoco.load makes of a file"
        raise InputError("model", got=type(model).__name__, wanted=wanted)
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


def keyframe_names(model: MjModel) -> tuple[str, ...]:
    """Names of the postures that a file has; their numbers where they have no names."""
    return tuple(str(model.key(i).name) or str(i) for i in range(model.nkey))


def _keyframe(model: MjModel, keyframe: str | int) -> int:
    names, key = keyframe_names(model), str(keyframe)
    if key in names:
        return names.index(key)
    if key.isdigit() and int(key) < model.nkey:
        return int(key)
    if names:
        raise no_such("keyframe", keyframe, names)
    raise InputError("keyframe", got=repr(keyframe), wanted="none: the model has no keyframes")


def _assign(field: str, target: Array, values: Mapping[int | str, float] | ArrayLike | None) -> None:
    if values is None:
        return
    if not isinstance(values, Mapping):
        target[:] = real_array(field, values, [target.shape], f"shape {target.shape}")
        return
    for key, value in values.items():
        index = int(key)
        if not 0 <= index < len(target):
            raise InputError(field, got=f"the index {key}", wanted=f"one from 0 to {len(target) - 1}")
        target[index] = real(f"{field}[{index}]", value)


def _float(spec: MjSpec, path: str | Path) -> None:
    root = spec.worldbody.first_body()
    if root is None:
        raise ModelError(path, wrong="has no body that could float")
    if not hasattr(root, "joints"):  # editing a spec in MuJoCo 3.2 crashes the process
        raise ModelError(path, wrong=f"floating=True needs MuJoCo 3.3 or later; got {engine().__version__}")
    if any(True for _ in root.joints):
        raise ModelError(
            path, wrong=f"its root body {root.name!r} has a joint already, so it cannot be floating=True"
        )
    root.add_freejoint()


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


# Inertias of a URDF's links as MuJoCo wants them: of links fixed to each other added up, and all positive.
# Many URDFs have a root link with a made-up inertia that no body has, and the real one in a link fixed to it;
# MuJoCo judges each link by itself. A joint with several axes is often written as several joints with links
# of no mass between them: these, and links of zero inertia, get a millionth of what they carry. A joint that
# moves nothing with mass has no motion of its own: it is fixed. Everything that is changed is named.
#
# Inertias here are pseudo-inertias (4, 4), the sum of ``m (x, 1) (x, 1)^T`` over the mass of a body: those of
# several bodies add up, and with a placement T that of a body becomes ``T P T^T``.


def fuse_fixed_links(spec: MjSpec) -> None:
    """Move the inertia of every link that is fixed to another one to the link that carries it.

    Links without any inertia stay as they are: MuJoCo takes it from their shapes.
    """
    roots = [body for body in spec.worldbody.bodies if not _moves(body)]
    for body in [*roots, *filter(_moves, spec.bodies)]:
        fixed = list(_fixed_to(body))
        if body.explicitinertial or any(child.explicitinertial for child, _ in fixed):
            carried = _own(body)
            for child, placed in fixed:
                carried = carried + placed @ _own(child) @ placed.T
                _clear(child)
            _give(body, carried)


def moments_of(body: MjsBody) -> Array:
    """The inertia matrix (3, 3) about the centre of mass, in the frame that the link gives it in."""
    xx, yy, zz, xy, xz, yz = np.array(body.fullinertia, dtype=np.float64)
    if np.isfinite(xx):
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return np.diag(np.array(body.inertia, dtype=np.float64))


def set_moments(body: MjsBody, moments: Array) -> None:
    """Write an inertia matrix (3, 3)."""
    body.fullinertia = [*np.diag(moments), moments[0, 1], moments[0, 2], moments[1, 2]]


def _moves(body: MjsBody) -> bool:
    return any(True for _ in body.joints)


def _fixed_to(body: MjsBody) -> Iterator[tuple[MjsBody, Array]]:
    """Links fixed to a body, directly or by others, with their placement (4, 4) in its frame."""
    for child in body.bodies:
        if not _moves(child):
            placed = _placement(child.quat, child.pos)
            yield child, placed
            for further, there in _fixed_to(child):
                yield further, placed @ there


def _own(body: MjsBody) -> Array:
    """A link's pseudo-inertia in its own frame; zero where it has none."""
    second = np.zeros((4, 4))
    if not body.explicitinertial or body.mass == 0.0:
        return second
    if not 0.0 < body.mass < np.inf:
        raise ModelError(wrong=f"the link {body.name!r} has mass {body.mass:g} kg", wanted=">= 0")
    moments = moments_of(body)
    if _turns_to_principal_axes():
        moments = np.diag(np.linalg.eigvalsh(moments)[::-1])
    second[:3, :3] = 0.5 * np.trace(moments) * np.eye(3) - moments
    second[3, 3] = body.mass
    placed = _placement(body.iquat, body.ipos)
    return placed @ second @ placed.T


@cache
def _turns_to_principal_axes() -> bool:
    """Whether ``iquat`` of a link from a URDF is that of its principal axes, largest first, though
    ``fullinertia`` is what the file says: so it is in older versions of MuJoCo."""
    inertia = '<inertia ixx="1" iyy="2" izz="1.5" ixy="0" ixz="0" iyz="0"/>'
    link = f'<link name="a"><inertial><mass value="1"/>{inertia}</inertial></link>'
    spec = _filled("from_string", f'<robot name="a">{link}</robot>')
    return bool(abs(spec.worldbody.bodies[0].iquat[0]) < 0.9)


def _give(body: MjsBody, inertia: Array) -> None:
    mass = inertia[3, 3]
    if mass == 0.0:
        _clear(body)
        return
    centre = inertia[:3, 3] / mass
    about_centre = inertia[:3, :3] - mass * np.outer(centre, centre)
    body.explicitinertial = True
    body.mass, body.ipos, body.iquat = mass, centre, [1.0, 0.0, 0.0, 0.0]
    set_moments(body, np.trace(about_centre) * np.eye(3) - about_centre)


def _clear(body: MjsBody) -> None:
    """Take a link's mass away, and see that its shapes give it none."""
    body.explicitinertial = False
    body.mass = 0.0
    body.fullinertia = np.full(6, np.nan)
    for geom in body.geoms:
        geom.mass = 0.0


def _placement(quat: Array, pos: Array) -> Array:
    unit, placed = np.array(quat, dtype=np.float64), np.eye(4)
    engine().mju_normalize4(unit)
    placed[:3, :3], placed[:3, 3] = rotation_matrices(unit[None])[0], pos
    return placed


def mend_inertias(spec: MjSpec) -> list[str]:
    """Change what must be changed, after the inertias of fixed links were added up; what it was, by name."""
    changed: list[str] = []
    for body in list(spec.worldbody.bodies):
        _mend(spec, body, changed)
    return changed


def _mend(spec: MjSpec, body: MjsBody, changed: list[str]) -> float:
    """Mend a link and all below it; the mass that it carries, its own included, kg."""
    below = sum(_mend(spec, child, changed) for child in list(body.bodies))
    joints = list(body.joints)
    own = _mass(body)
    if not joints:
        return own + below
    if own + below == 0.0:
        for joint in joints:
            changed.append(f"joint {joint.name!r} moves nothing that has mass: fixed")
            _delete(spec, joint)
        return 0.0
    if own == 0.0:
        changed.append(f"link {body.name!r} has no mass: given {_LITTLE:g} of what it carries")
        body.explicitinertial, body.mass, body.ipos = True, _LITTLE * below, [0.0, 0.0, 0.0]
        set_moments(body, _LITTLE * below * _RADIUS**2 * np.eye(3))
    elif body.explicitinertial and abs(least := np.linalg.eigvalsh(moments_of(body))[0]) <= 1e-12 * own:
        changed.append(f"link {body.name!r} has a principal inertia of {least:.3g} kg m^2: made positive")
        set_moments(body, moments_of(body) + _LITTLE * (own + below) * _RADIUS**2 * np.eye(3))
    return own + below


def _delete(spec: MjSpec, joint: MjsJoint) -> None:
    """Fix a joint, and drop what couples it to others (``<mimic>``)."""
    for equality in list(spec.equalities):
        if joint.name in (equality.name1, equality.name2):
            spec.delete(equality)
    spec.delete(joint)


def _mass(body: MjsBody) -> float:
    """The mass that a link will have, kg; one whose shapes give it some counts as 1."""
    if body.explicitinertial:
        return float(body.mass)
    return 1.0 if any(geom.mass != 0.0 for geom in body.geoms) else 0.0
