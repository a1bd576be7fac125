"""Robots from PyPI packages: where their files are, and states in which they land."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from routh.models import mujoco as adapter

GYMNASIUM = ["ant", "half_cheetah", "hopper", "humanoid", "walker2d"]
DM_CONTROL = ["cheetah", "humanoid", "humanoid_CMU", "quadruped", "walker", "hopper"]
URDF = {
    "a1": "a1_description/urdf/a1.urdf",
    "laikago": "laikago_description/urdf/laikago.urdf",
    "quadruped": "quadruped_description/urdf/quadruped.urdf",
    "g1": "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "solo12": "solo_description/robots/solo12.urdf",
    "talos": "talos_data/robots/talos_reduced_box.urdf",
    "anymal": "anymal_b_simple_description/robots/anymal.urdf",
    "go1": "go1_description/urdf/go1.urdf",
    "bolt": "bolt_description/robots/bolt.urdf",
}


def package_folder(name):
    """The folder of an installed package, without importing it; None where it is missing."""
    spec = importlib.util.find_spec(name)
    return None if spec is None or spec.origin is None else Path(spec.origin).parent


def mjcf_path(name):
    """The MJCF file called "gymnasium/ant", "dm_control/dog", ...; skips the test where it is missing."""
    package, robot = name.split("/")
    folder = package_folder(package)
    if folder is None:
        pytest.skip(f"{package} is not installed: pip install {package}")
    return folder / ("envs/mujoco/assets" if package == "gymnasium" else "suite") / f"{robot}.xml"


def urdf_folder():
    """The folder of example-robot-data's robots; None where the package is missing."""
    pinocchio = package_folder("pinocchio")
    folders = () if pinocchio is None else pinocchio.parents
    shares = (parent / "share" / "example-robot-data" / "robots" for parent in folders)
    return next((share for share in shares if share.is_dir()), None)


def urdf_path(name):
    """The URDF of a robot of example-robot-data; skips the test where the package is missing."""
    folder = urdf_folder()
    if folder is None:
        pytest.skip("example-robot-data is not installed: pip install example-robot-data")
    return folder / URDF[name]


def installed():
    """(name, file) of every robot that is there; of example-robot-data the first file of each folder."""
    every = {"gymnasium": [*GYMNASIUM, "humanoidstandup"], "dm_control": [*DM_CONTROL, "dog"]}
    for package, names in every.items():
        for name in sorted(names) if package_folder(package) else ():
            yield f"{package}/{name}", mjcf_path(f"{package}/{name}")
    for folder in sorted(urdf_folder().iterdir()) if urdf_folder() else ():
        for file in sorted(folder.rglob("*.urdf"))[:1]:
            yield f"example-robot-data/{file.stem}", file


def load_installed(file):
    """An MjModel of a file of `installed` over a floor; robots of URDFs float, arms and hands, too."""
    urdf = file.suffix == ".urdf"
    return adapter.load(file, floating=urdf, ground=0.0 if urdf else None)


def urdf_roots(path):
    """The folder that ``package://example-robot-data`` is relative to."""
    return [next(parent for parent in path.parents if parent.name == "example-robot-data").parent]


def load_mjcf(name):
    """An MjModel of the zoo; models without a floor get one."""
    model = adapter.load(mjcf_path(name))
    planes = [g for g in range(model.ngeom) if model.geom_type[g] == 0]
    return model if planes else adapter.load(mjcf_path(name), ground=0.0)


def landing(model, rng, *, contacts=4, speed=1.0, spread=0.3):
    """A state and a gap at which the robot has about so many contacts with the ground, coming down.

    Joint angles are random within their range, the root is lowered until its lowest geom touches.
    """
    import mujoco

    data = mujoco.MjData(model)
    root = 2 if int(model.jnt_type[0]) == 0 else vertical_slide(model)
    for joint in range(model.njnt):
        at, kind = model.jnt_qposadr[joint], int(model.jnt_type[joint])
        if kind == 3:  # hinge
            low, high = model.jnt_range[joint] if model.jnt_limited[joint] else (-0.5, 0.5)
            middle = float(np.clip(model.qpos0[at], low, high))
            reach = spread * min(1.0, high - low)
            data.qpos[at] = np.clip(
                middle + reach * rng.normal(), low + 0.05 * (high - low), high - 0.05 * (high - low)
            )
    data.qpos[root] += 1.0
    for _ in range(3):  # geoms that are not spheres need a second look
        probe = ground_distances(model, data, reach=4.0)
        if probe.size:
            data.qpos[root] -= probe.min()
    distances = np.sort(ground_distances(model, data, reach=0.5))
    data.qvel[:] = 0.3 * rng.normal(size=model.nv)
    data.qvel[dof_of(model, root)] = -speed
    gap = float(distances[min(contacts, len(distances)) - 1]) + 1e-9
    return data, gap


def vertical_slide(model):
    """The qpos index of the slide joint that moves up and down, or the first coordinate."""
    for joint in range(model.njnt):
        if int(model.jnt_type[joint]) == 2 and abs(model.jnt_axis[joint][2]) > 0.9:
            return int(model.jnt_qposadr[joint])
    return 0


def dof_of(model, qpos_index):
    for joint in range(model.njnt):
        if int(model.jnt_qposadr[joint]) <= qpos_index and (
            joint + 1 == model.njnt or qpos_index < int(model.jnt_qposadr[joint + 1])
        ):
            return int(model.jnt_dofadr[joint]) + qpos_index - int(model.jnt_qposadr[joint])
    raise AssertionError(qpos_index)


def ground_distances(model, data, *, reach):
    """Distances of all contacts with what does not move, (k,) m."""
    from routh.models.mujoco.contacts import contact_rows
    from routh.models.mujoco.engine import look_around

    near = look_around(model, data, reach)
    static = [near.model.body_weldid[near.model.geom_bodyid[g]] == 0 for g in range(near.model.ngeom)]
    return np.array(
        [
            row.contact.dist
            for row, contact in zip(contact_rows(near), near.data.contact, strict=True)
            if static[contact.geom[0]] or static[contact.geom[1]]
        ]
    )


def material_velocity(model, data, qvel, contact, h=1e-6):
    """Velocity of the second geom's point relative to the first's from positions alone, (3,)."""
    import mujoco

    from routh.models.mujoco.contacts import geom_name

    owner = {geom_name(model, geom): int(model.geom_bodyid[geom]) for geom in range(model.ngeom)}
    bodies, places = [owner[contact.geom1], owner[contact.geom2]], []
    probe = mujoco.MjData(model)
    probe.qpos[:], probe.mocap_pos[:], probe.mocap_quat[:] = data.qpos, data.mocap_pos, data.mocap_quat
    mujoco.mj_kinematics(model, probe)
    local = [probe.xmat[b].reshape(3, 3).T @ (contact.pos - probe.xpos[b]) for b in bodies]
    for sign in (1.0, -1.0):
        probe.qpos[:] = data.qpos
        mujoco.mj_integratePos(model, probe.qpos, qvel, sign * h)
        mujoco.mj_kinematics(model, probe)
        ends = [probe.xpos[b] + probe.xmat[b].reshape(3, 3) @ x for b, x in zip(bodies, local, strict=True)]
        places.append(ends[1] - ends[0])
    return (places[0] - places[1]) / (2 * h)


def frame_velocity(model, q, v, frame, pos, h=1e-6):
    """Velocity of the material point of a frame's joint at ``pos``, from placements alone."""
    import pinocchio as pin

    data, ends = model.createData(), []
    frame = model.getFrameId(frame)
    pin.framesForwardKinematics(model, data, q)
    local = data.oMf[frame].actInv(pos)
    for sign in (1.0, -1.0):
        pin.framesForwardKinematics(model, data, pin.integrate(model, q, sign * h * v))
        ends.append(data.oMf[frame].act(local))
    return (ends[0] - ends[1]) / (2 * h)
