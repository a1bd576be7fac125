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


def urdf_path(name):
    """The URDF of a robot of example-robot-data; skips the test where the package is missing."""
    pinocchio = package_folder("pinocchio")
    if pinocchio is not None:
        for parent in pinocchio.parents:
            share = parent / "share" / "example-robot-data" / "robots"
            if share.is_dir():
                return share / URDF[name]
    pytest.skip("example-robot-data is not installed: pip install example-robot-data")


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
