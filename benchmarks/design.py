"""The posture in which a quadruped lands with the least ambiguity, confirmed by futures and by MuJoCo.

python benchmarks/design.py [--starts 4] [--evaluations 240] [--futures 6] [--film FOLDER]

A robot of 12.4 kg with three joints a leg, whose motors have a reflected inertia of 0.02 kg m^2, drops at
1 m/s. Hips and knees of the front and of the hind legs, and the trunk's pitch, are chosen; the feet stay
where they are. Then both postures land in the event-driven simulation with rigid contacts, and in MuJoCo
with ten settings of its contacts. Spreads are the largest distance between two answers in the kinetic-energy
norm, over the speed before: the unit of ambiguity.
"""

from __future__ import annotations

import copy
import tempfile
from pathlib import Path

import numpy as np

import routh
from measure import Table, command_line, timed
from routh.auditing.rollout import audit
from routh.base.spread import spread_choice
from routh.models.base import State
from routh.models.mujoco.model import MujocoModel
from routh.robust import Constraint, design, same_feet
from routh.sampling.ambiguity import farthest_pair

LEG = """<body name="{0}" pos="{1} {2} 0"><joint name="{0}_abduct" axis="1 0 0" range="-60 60"/>
    <geom type="sphere" size="0.03" mass="0.3"/>
    <body><joint name="{0}_hip" axis="0 1 0" range="-90 90"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.02" mass="0.5"/>
      <body pos="0 0 -0.2"><joint name="{0}_knee" axis="0 1 0" range="-140 140"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.18" size="0.015" mass="0.2"/>
        <geom name="{0}_foot" type="sphere" pos="0 0 -0.2" size="0.03" mass="0.1"/></body></body></body>"""
CORNERS = {"fl": (0.2, 0.12), "fr": (0.2, -0.12), "hl": (-0.2, 0.12), "hr": (-0.2, -0.12)}
ROBOT = """<mujoco><default><joint armature="0.02"/><geom contype="0"/></default><worldbody>
  <geom name="floor" type="plane" size="2 2 1" contype="1"/><body name="trunk" pos="0 0 1"><freejoint/>
    <geom type="box" size="0.25 0.12 0.05" mass="8"/>{}</body></worldbody></mujoco>"""
FRONT, HIND = ("fl", "fr"), ("hl", "hr")
DURATION = 0.01  # s of futures
BENT = 0.6  # rad: hips of the first posture; the feet are below the hips


def robot():
    """The quadruped; its shapes meet the floor only."""
    legs = "".join(LEG.format(name, *place) for name, place in CORNERS.items())
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "robot.xml"
        file.write_text(ROBOT.format(legs))
        return routh.models.mujoco.load(file)


def first_posture():
    """All four knees bent backwards."""
    return {f"{leg}_{joint}": BENT * k for leg in CORNERS for joint, k in (("hip", 1), ("knee", -2))}


def what_is_chosen():
    """Names that move together, and their bounds, rad."""
    over = {}
    for legs in (FRONT, HIND):
        over[tuple(f"{leg}_hip" for leg in legs)] = (-1.2, 1.2)
        over[tuple(f"{leg}_knee" for leg in legs)] = (-2.2, 2.2)
    return {**over, "pitch": (-0.2, 0.2)}


def high_enough():
    """Trunk and knees stay clear of the ground while legs yield."""
    return Constraint(knee_and_trunk, 0.0, np.inf, name="clear of the ground")


def knee_and_trunk(landing):
    """Heights of the knees above 8 cm and of the trunk's middle above 25 cm, m."""
    import mujoco

    data = mujoco.MjData(landing.model)
    data.qpos[:] = landing.qpos
    mujoco.mj_kinematics(landing.model, data)
    knees = [data.joint(f"{leg}_knee").xanchor[2] - 0.08 for leg in CORNERS]
    return [*knees, data.body("trunk").xpos[2] - 0.25]


def spread(problem, velocities) -> float:
    """The largest distance between two velocities (n, nv) over the speed before."""
    return farthest_pair(np.asarray(velocities) @ problem.cholesky)[0] / problem.speed


def futures(model, landing, n: int, duration: float):
    """Rigid futures of outcomes that lie far apart: spreads after the impact, and of the posture in the end.

    The first impact of each is a sample of the set; from there on the event-driven simulation goes on.
    """
    problem = landing.problem
    outcomes = routh.sample(problem, 1024)
    first = outcomes.v[spread_choice(outcomes.v @ problem.cholesky, n)]
    own = MujocoModel(model, self_contacts=False)
    ends, stopped = [], 0
    for k, v in enumerate(first):
        state = State(landing.qpos, v)
        one = routh.simulate(
            own, state, duration=duration, law=routh.laws.SetValued(), stream=k, budget=120.0
        )
        stopped += not one.ok
        if one.ok:
            ends.append(one.q[-1])
    q = np.array(ends)
    feet = np.array([foot_heights(model, each) for each in q])
    return {
        "stopped": stopped,
        "velocity": spread(problem, first),
        "trunk, mm": 1e3 * farthest_pair(q[:, :3])[0],
        "joints, mrad": 1e3 * float(np.ptp(q[:, 7:], axis=0).max()),
        "feet, mm": 1e3 * float(np.ptp(feet, axis=0).max()),
    }


def foot_heights(model, q):
    """Of the four feet's centres, m."""
    import mujoco

    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_kinematics(model, data)
    return [float(data.geom(f"{leg}_foot").xpos[2]) for leg in CORNERS]


def contact_settings(model):
    """Ten copies of the model whose contacts differ: stiffness, cone, and feet that are not alike."""

    def made(times=(0.01,) * 4, cone=1, ratio=1.0, impedance=(0.95, 0.99, 0.001)):
        own = copy.copy(model)
        own.opt.timestep, own.opt.cone, own.opt.impratio = 1e-4, cone, ratio
        for leg, constant in zip(CORNERS, times, strict=True):
            foot = own.geom(f"{leg}_foot").id
            own.geom_priority[foot] = 1
            own.geom_solref[foot] = [constant, 1.0]
            own.geom_solimp[foot, :3] = impedance
        return own

    soft, hard = 0.01, 0.005
    return {
        "2 ms": made((0.002,) * 4),
        "5 ms": made((0.005,) * 4),
        "10 ms": made(),
        "20 ms": made((0.02,) * 4),
        "pyramid": made(cone=0),
        "impratio 10": made(ratio=10.0),
        "impedance 0.9": made(impedance=(0.9, 0.95, 0.001)),
        "front feet softer": made((soft, soft, hard, hard)),
        "left feet softer": made((soft, hard, soft, hard)),
        "a diagonal softer": made((soft, hard, hard, soft)),
    }


def mujocos(model, landing):
    """Velocities after MuJoCo's own landing (10, nv), and how far each is from the set of outcomes."""
    import mujoco

    found, distances = [], []
    for own in contact_settings(model).values():
        data = mujoco.MjData(own)
        data.qpos[:], data.qvel[:] = landing.qpos, landing.qvel
        caught = audit(own, data, duration=0.06, n=1024, max_impacts=1).impacts[0]
        # what its contacts did, without what gravity and inertia did in the milliseconds that they took
        found.append(landing.problem.v + caught.v - caught.problem.v)
        distances.append(caught.audit.distance)
    return np.array(found), np.array(distances)


def main() -> None:
    """Print the tables."""
    parser = command_line(__doc__)
    parser.add_argument("--starts", type=int, default=4)
    parser.add_argument("--evaluations", type=int, default=240)
    parser.add_argument("--futures", type=int, default=6)
    parser.add_argument("--film", type=Path, help="folder for films and pictures of both landings")
    given = parser.parse_args()
    model = robot()
    landing = routh.models.landing(model, down=1.0, joints=first_posture(), restitution=0.0)
    found, seconds = timed(
        design,
        landing,
        over=what_is_chosen(),
        constraints=[same_feet(landing), high_enough()],
        starts=given.starts,
        evaluations=given.evaluations,
        n=128,
    )
    print(f"{found!r}, {seconds:.0f} s")
    print(f"evaluations by { ({name: found.by.count(name) for name in dict.fromkeys(found.by)}) }")
    print()
    table = Table({"chosen": "<20", "before": ".4f", "after": ".4f"})
    for name, value in found.before.point.items():
        table.row(name, value, found.after.point[name])
    print()
    both = {"before": found.before.made, "after": found.after.made}
    show(model, both, given.futures)
    if given.film is not None:
        draw(model, found, both, given.film)


def show(model, both, n: int) -> None:
    """Ambiguity, futures and MuJoCo's answers of both postures."""
    rows = {}
    for name, landing in both.items():
        scores = [routh.sample(landing.problem, 4096, seed=seed).ambiguity for seed in range(1, 5)]
        rows[name] = {"ambiguity, 4096 samples, 4 seeds": f"{min(scores):.4f} to {max(scores):.4f}"}
        future = futures(model, landing, n, DURATION)
        rows[name][f"futures, of {n}, not finished within 120 s"] = f"{future['stopped']}"
        rows[name]["futures: velocities after the impact"] = f"{future['velocity']:.4f}"
        for key in ("trunk, mm", "joints, mrad", "feet, mm"):
            rows[name][f"futures after {1e3 * DURATION:g} ms: {key}"] = f"{future[key]:.3g}"
        velocities, distances = mujocos(model, landing)
        alike, mixed = velocities[:7], velocities[[1, 2, 7, 8, 9]]
        rows[name]["MuJoCo, 7 settings with equal feet"] = f"{spread(landing.problem, alike):.4f}"
        rows[name]["MuJoCo, feet of 5 and 10 ms, equal or not"] = f"{spread(landing.problem, mixed):.4f}"
        rows[name]["MuJoCo, 10 settings"] = f"{spread(landing.problem, velocities):.4f}"
        rows[name]["MuJoCo, largest distance from the set"] = f"{distances.max():.4f}"
    table = Table({"": "<43", "before": "16", "after": "16"})
    for key in rows["before"]:
        table.row(key, rows["before"][key], rows["after"][key])


def draw(model, found, both, folder: Path) -> None:
    """A film of each landing with rigid outcomes as ghosts, and the progress of the design."""
    from routh.sim.futures import fall, follow
    from routh.viz.films import write_frames
    from routh.viz.robot_film import Film, Ghosts, frames

    folder.mkdir(parents=True, exist_ok=True)
    if found is not None:
        found.plot().savefig(folder / "design.png", dpi=130)
    step, pictures = 0.004, {}
    times = np.arange(-8, 26) * step
    for name, landing in both.items():
        outcomes = routh.sample(landing.problem, 512)
        chosen = spread_choice(outcomes.v @ landing.problem.cholesky, 6)
        late = times[times >= 0.0]
        options = {"duration": float(late[-1]), "frames": len(late) - 1}
        ghosts = follow(model, landing.qpos, outcomes.v[chosen], **options).q.swapaxes(0, 1)
        own = follow(model, landing.qpos, landing.qvel[None], **options).q[0]
        early = fall(model, landing, times[times < 0.0])
        q = np.concatenate([early, own])
        waiting = np.repeat(early[:, None], ghosts.shape[1], axis=1)
        shown = Ghosts(np.concatenate([waiting, ghosts]), np.zeros(len(chosen), dtype=int), ("outcomes",))
        title = f"{name}: ambiguity {outcomes.ambiguity:.2f}"
        film = Film(model, times, q, shown, title=title, size=(320, 260), zoom=1.25)
        pictures[name] = list(frames(film))
    beside = [np.concatenate(pair, axis=1) for pair in zip(*pictures.values(), strict=True)]
    write_frames(iter(beside), folder / "design.gif", 10)
    from PIL import Image

    moments = [beside[k] for k in (8, 16, 33)]
    Image.fromarray(np.concatenate(moments, axis=0)).save(folder / "design-landings.png")


if __name__ == "__main__":
    main()
