"""Everyday landings in space, by families: crates, boxes, feet and robots that are set down nearly flat.

Every family is drawn from its own seed, which is printed; robots are those that are installed of gymnasium,
dm_control and example-robot-data (pip install 'routh[robots]').
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import routh
from robot_zoo import installed, load_installed
from routh.base.status import RouthError
from routh.models import UnrepresentedWarning, mujoco
from routh.models.mujoco.contacts import geom_name
from routh.problem.impact import ImpactProblem

SEED = 45
MOST_CONTACTS = 24
BODY = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1" friction="{mu} 0 0"/>
  <body pos="0 0 1"><freejoint/>{geoms}</body></worldbody></mujoco>"""
LEG = """<body pos="{x} {y} 0"><joint axis="1 0 0" armature="0.01"/>
  <geom type="capsule" fromto="0 0 0 0 0 -0.15" size="0.02" mass="0.6"/>
  <body pos="0 0 -0.15"><joint axis="0 1 0" armature="0.01"/>
  <geom type="capsule" fromto="0 0 0 0 0 -0.12" size="0.015" mass="0.3"/>{foot}</body></body>"""
BALL = '<geom type="sphere" pos="0 0 -0.15" size="0.03" mass="0.1" friction="0.8 0 0"/>'
SHOE = '<geom type="box" pos="0 0 -0.16" size="0.05 0.03 0.02" mass="0.1" friction="0.8 0 0"/>'
# robots that get other feet: those with a free root that stand on feet
SHOD = (
    "gymnasium/ant", "gymnasium/humanoid", "dm_control/humanoid", "dm_control/quadruped",
    "example-robot-data/anymal", "example-robot-data/a1", "example-robot-data/hyq_no_sensors",
)  # fmt: skip

Family = Callable[[], list[ImpactProblem]]


def loaded(xml: str):
    """An MjModel of an MJCF text."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "model.xml"
        file.write_text(xml)
        return mujoco.load(file)


def box_model(half, mu):
    """A box with these half edges (3,) m over a floor."""
    size = " ".join(map(str, half))
    return loaded(BODY.format(mu=mu, geoms=f'<geom type="box" size="{size}" friction="{mu} 0 0"/>'))


def land(model, rng=None, tilt=(0.0, 0.0), *, moving=False, e=0.0) -> ImpactProblem:
    """The landing at 1 m/s of a model with roll and pitch; ``moving``: with sideways speed and spin, too."""
    problem = routh.models.landing(model, down=1.0, roll=tilt[0], pitch=tilt[1], restitution=e).problem
    if moving:
        v = np.array(problem.v)
        v[[0, 1]] += rng.normal(0.0, 0.5, 2)
        v[3:6] += rng.normal(0.0, 1.0, 3)
        problem = problem.replace(v=v)
    return problem


def approaching(problems) -> list[ImpactProblem]:
    """Those in which something approaches."""
    return [problem for problem in problems if np.any(problem.approaching)]


def crates(count: int, reach: float, *, exactly: bool = False) -> list[ImpactProblem]:
    """A crate of 0.4 x 0.3 x 0.2 m, friction 1, with roll and pitch up to ``reach``, or a tilt of that
    size."""
    model, rng = box_model((0.2, 0.15, 0.1), 1.0), np.random.default_rng([SEED, 0])
    tilts = rng.uniform(-reach, reach, (count, 2))
    if exactly:
        tilts *= reach / np.linalg.norm(tilts, axis=1, keepdims=True)
    return [land(model, rng, tilt) for tilt in tilts]


def boxes(count: int, *, moving: bool = False, e: float = 0.0) -> list[ImpactProblem]:
    """Boxes of random size and friction 0.1 to 1.5, tilts with a sigma of 0.01 rad."""
    rng, found = np.random.default_rng([SEED, 1, int(moving), int(100 * e)]), []
    while len(found) < count:
        model = box_model(rng.uniform(0.05, 0.3, 3), rng.uniform(0.1, 1.5))
        found += approaching([land(model, rng, rng.normal(0.0, 0.01, 2), moving=moving, e=e)])
    return found


def walker(legs: int, foot: str) -> str:
    """A trunk on so many legs around it, each with this foot."""
    angles = 2.0 * np.pi * (np.arange(legs) + 0.5) / legs
    placed = "".join(LEG.format(x=0.25 * np.cos(angle), y=0.2 * np.sin(angle), foot=foot) for angle in angles)
    return BODY.format(mu=0.8, geoms=f'<geom type="box" size="0.3 0.2 0.05" mass="8"/>{placed}')


def walkers(counts: tuple[int, ...], foot: str, each: int) -> list[ImpactProblem]:
    """Landings of walkers with so many legs, tilted a little, every second with sideways speed and spin."""
    rng, found = np.random.default_rng([SEED, 2, len(foot)]), []
    for legs in counts:
        model = loaded(walker(legs, foot))
        found += [land(model, rng, rng.normal(0.0, 0.003, 2), moving=bool(k % 2)) for k in range(each)]
    return approaching(found)


def plates(counts: tuple[int, ...], each: int) -> list[ImpactProblem]:
    """A plate on so many studs of nearly equal length."""
    rng, found = np.random.default_rng([SEED, 3]), []
    for studs in counts:
        for k in range(each):
            angles, far = np.arange(studs) * 2.4, 0.3 * np.sqrt((np.arange(studs) + 0.5) / studs)
            at = np.c_[far * np.cos(angles), far * np.sin(angles), rng.normal(-0.05, 1e-4, studs)]
            geoms = '<geom type="cylinder" size="0.3 0.02" mass="3"/>' + "".join(
                f'<geom type="sphere" size="0.01" mass="0.01" pos="{x} {y} {z}" friction="0.6 0 0"/>'
                for x, y, z in at
            )
            found.append(land(loaded(BODY.format(mu=0.6, geoms=geoms)), rng, moving=bool(k % 2)))
    return approaching(found)


@lru_cache
def robot_files() -> dict[str, Path]:
    """Name -> file of what is installed."""
    return dict(installed())


@lru_cache
def robot_model(name: str):
    """The MjModel of an installed robot over a floor; None where it cannot be loaded."""
    file = robot_files()[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = load_installed(file)
            return model if any(model.geom_type == 0) else mujoco.load(file, ground=0.0)
        except RouthError:
            return None


def landed(model, rng, sigma: float = 0.01) -> Iterator[routh.models.Landing]:
    """The landing of a robot that is tilted a little, if it can land in space."""
    roll, pitch = rng.normal(0.0, sigma, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnrepresentedWarning)
        try:
            found = routh.models.landing(model, down=1.0, roll=roll, pitch=pitch, restitution=0.0)
        except (RouthError, ValueError):
            return
    if found.problem.nt == 2 and 1 < found.problem.nc <= MOST_CONTACTS and np.any(found.problem.approaching):
        yield found


def robots_as_they_are(each: int) -> list[ImpactProblem]:
    """Robots in their first posture, tilted a little."""
    rng = np.random.default_rng([SEED, 4])
    models = [model for model in map(robot_model, robot_files()) if model is not None]
    return [found.problem for model in models for _ in range(each) for found in landed(model, rng)]


def other_feet(each: int, *, round_: bool) -> list[ImpactProblem]:
    """Robots whose every foot is a box, or four spheres, tilted a little, in place of what touched the
    ground."""
    rng = np.random.default_rng([SEED, 5, int(round_)])
    models = [robot_model(name) for name in SHOD if name in robot_files()]
    landings = [found for model in models for _ in range(each) for found in landed(model, rng)]
    return approaching(shod(found, rng, round_) for found in landings)


def shod(found, rng, round_: bool) -> ImpactProblem:
    """The landing with four corners, or the lowest points of four spheres, under each foot."""
    import mujoco as engine

    model, data = found.model, engine.MjData(found.model)
    data.qpos[:] = found.qpos
    engine.mj_kinematics(model, data)
    engine.mj_comPos(model, data)
    problem, feet = found.problem, {}
    owner = {geom_name(model, geom): int(model.geom_bodyid[geom]) for geom in range(model.ngeom)}
    for contact in problem.contacts:
        if contact.kind == "contact":  # no limit of a joint; the floor belongs to body 0
            feet.setdefault(max(owner[contact.geom1], owner[contact.geom2]), []).append(contact.pos)
    Jn, Jt, jac = [], [], np.zeros((3, model.nv))
    for body, points in list(feet.items())[: MOST_CONTACTS // 4]:
        middle, (roll, pitch) = np.mean(points, axis=0), rng.normal(0.0, 0.01, 2)
        length, width, radius = rng.uniform(0.04, 0.1), rng.uniform(0.02, 0.05), 0.01 if round_ else 0.0
        for x, y in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
            x, y = x * length, y * width
            lever = np.array([x + radius * pitch, y - radius * roll, roll * y - pitch * x])  # small angles
            engine.mj_jac(model, data, jac, None, middle + lever, body)
            Jn.append(jac[2] @ problem.basis)
            Jt.append(jac[:2] @ problem.basis)
    return ImpactProblem(problem.M, np.array(Jn), np.array(Jt), 0.8, problem.v)


def uneven_ground(seed: int, nc: int, *, e: float = 0.0) -> ImpactProblem:
    """One body that comes down on so many points of uneven ground; friction 0.1 to 1."""
    rng = np.random.default_rng([SEED, 6, nc, seed])
    points = np.c_[rng.uniform(-1.0, 1.0, (nc, 2)), rng.uniform(-0.6, -0.4, nc)]
    normals = np.c_[rng.normal(0.0, 0.3, (nc, 2)), np.ones(nc)]
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    first = np.cross(normals, [1.0, 0.0, 0.0])
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    ways = np.stack([normals, first, np.cross(normals, first)], axis=1)  # (nc, 3, 3)
    J = np.concatenate([ways, np.cross(points[:, None], ways)], axis=2)
    M = np.diag([1.0, 1.0, 1.0, *rng.uniform(0.05, 0.4, 3)])
    v = rng.normal(0.0, 0.5, 6)
    v[2] = -1.0
    return ImpactProblem(M, J[:, 0], J[:, 1:], rng.uniform(0.1, 1.0, nc), v, restitution=e)


def from_folder(folder: str | Path) -> list[ImpactProblem]:
    """The problems (M, Jn, Jt, mu, v) of all .npz files of a folder."""
    found = []
    for file in sorted(Path(folder).glob("*.npz")):
        data = np.load(file)
        found.append(ImpactProblem(*(data[name] for name in ("M", "Jn", "Jt", "mu", "v"))))
    return found


FAMILIES: dict[str, Family] = {
    "crate to 0.02 rad": lambda: crates(60, 0.02),
    "crate at 1e-3 rad": lambda: crates(20, 1e-3, exactly=True),
    "crate at 1e-4 rad": lambda: crates(20, 1e-4, exactly=True),
    "boxes": lambda: boxes(40),
    "boxes, moving": lambda: boxes(40, moving=True),
    "boxes, e 0.3": lambda: boxes(20, e=0.3) + boxes(20, e=0.3, moving=True),
    "boxes, e 0.8": lambda: boxes(20, e=0.8) + boxes(20, e=0.8, moving=True),
    "robots": lambda: robots_as_they_are(2),
    "feet, boxes": lambda: other_feet(4, round_=False),
    "feet, spheres": lambda: other_feet(4, round_=True),
    "six feet and more": lambda: walkers((6, 8, 10), BALL, 4),
    "box feet": lambda: walkers((2, 3, 4), SHOE, 4),
    "to 24 contacts": lambda: plates((8, 12, 16, 20, 24), 2) + walkers((6,), SHOE, 4),
}
