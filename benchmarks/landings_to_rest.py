"""Whole landings to rest: how fast, how right, and whether they decide as MuJoCo does.

speed: one-second landings of the lander and of a thrown cube, and MuJoCo's steps of the lander.
right: the laws of every motion; shares beside those of `routh.simulate_many`; halving the step.
decisions: states of the lander with one kind of noise, and MuJoCo's runs of the same; area under the curve,
    dangerous states missed and safe ones refused, and how far the probabilities are apart.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import mujoco
import numpy as np

import routh
from measure import Table, command_line, machine, run_part
from routh.models import State
from routh.models.spatial import SpatialModel, box, corner_contacts
from routh.to_rest import check
from routh.to_rest.beside import tips_in_mujoco
from routh.to_rest.many import interval_of

LANDER = Path(__file__).parents[1] / "examples" / "lander.xml"
DANGEROUS = 0.01  # probability above which a state is dangerous
TOUCH = np.array([0.0, 0.0, 0.553, 1.0, 0.0, 0.0, 0.0])


def thrown_cube() -> tuple[SpatialModel, np.ndarray, np.ndarray]:
    """A cube with eight corners, and how it is thrown."""
    body = box("cube", (0.1, 0.1, 0.1), mass=0.37)
    q = np.array([0.0, 0.0, 0.25, 0.9, 0.3, 0.3, 0.1])
    q[3:] /= np.linalg.norm(q[3:])
    return SpatialModel([body], corner_contacts(body, mu=0.3)), q, np.array([0.8, 0.2, 0.0, 3.0, -4.0, 5.0])


def speed(given: argparse.Namespace) -> None:
    """Processor time of one-second landings."""
    print(f"One-second landings on one thread, processor time. {machine()}\n")
    model = mujoco.MjModel.from_xml_path(str(LANDER))
    die, q, v = thrown_cube()
    fast = np.array([0.8, 0.0, -1.5, 0.0, 0.0, 0.0])
    rows = []
    for name, what, state in (("lander", model, (TOUCH, fast)), ("cube", die, (q, v))):
        routh.landings(what, *state, n=1, duration=0.01)
        seconds = []
        for _ in range(2):
            start = time.process_time()
            found = routh.landings(
                what, *state, n=given.count, duration=1.0, threads=1, uncertainty={"heights": "2mm"}
            )
            seconds.append(time.process_time() - start)
        each = min(seconds) / given.count
        rows.append((name, f"{1e3 * each:.2f}", f"{1e4 * each:.0f}", f"{found.impacts.mean():.1f}"))
    start, steps = time.process_time(), int(1.0 / model.opt.timestep)
    for _ in range(given.mujoco):
        data = mujoco.MjData(model)
        data.qpos[:], data.qvel[:] = TOUCH, fast
        for _ in range(steps):
            mujoco.mj_step(model, data)
    each = (time.process_time() - start) / given.mujoco
    rows.append(
        (f"lander in MuJoCo, {1e3 * model.opt.timestep:g} ms", f"{1e3 * each:.2f}", f"{1e4 * each:.0f}", "")
    )
    print_table(["body", "ms a landing", "s for 10,000", "impacts"], rows)


def _laws(worst: dict[str, float]) -> list[str]:
    return [f"{worst[name]:.1g}" for name in ("momentum", "cone", "gained", "depth")]


def right(given: argparse.Namespace) -> None:
    """Laws, the verified simulator beside, and halving the step."""
    print(f"The laws of every motion, and shares. {machine()}\n")
    model = mujoco.MjModel.from_xml_path(str(LANDER))
    fast = np.array([0.8, 0.0, -1.5, 0.1, 0.0, 0.0])
    rows = []
    for dt in (2e-3, 1e-3, 5e-4):
        found = routh.landings(model, TOUCH, fast, n=given.count, dt=dt, uncertainty={"heights": "2mm"})
        worst = found.checks
        rows.append(
            (
                f"lander, {1000.0 * dt:g} ms",
                f"{100 * found.share[0]:.1f} %",
                f"{int((~found.solved).sum())}",
                *_laws(worst),
            )
        )
    die, q, v = thrown_cube()
    found = routh.landings(die, q, v, n=given.count, restitution=0.0)
    worst = found.checks
    rows.append(
        (
            "cube, 1 ms",
            "",
            f"{int((~found.solved).sum())}",
            *_laws(worst),
        )
    )
    print_table(["body", "tips", "not solved", "momentum", "cone", "energy gained", "depth"], rows)
    one = check(found.motion(0, 0))
    print(f"\nOne motion of the cube by NumPy alone: {one}\n")
    n = given.futures
    theirs = routh.simulate_many(found.body.model, State(q, v), duration=given.seconds, n=n, seed=1)
    ends = np.array([one.q[-1] for one in theirs.trajectories])
    R = np.array([found.body.model.rotations(end)[0] for end in ends])
    face = (-(R.transpose(0, 2, 1) @ found.body.normal) @ found.body.faces.normals.T).argmax(axis=1)
    rows = []
    for k in range(len(found.body.faces.normals)):
        ours, other = int((found.face == k).sum()), int((face == k).sum())
        low, high = interval_of(ours, found.face.size)
        other_low, other_high = interval_of(other, n)
        rows.append(
            (
                "".join(found.body.names[c] for c in found.body.faces.points[k]),
                f"{100 * ours / found.face.size:.0f} % ({100 * low:.0f} to {100 * high:.0f})",
                f"{100 * other / n:.0f} % ({100 * other_low:.0f} to {100 * other_high:.0f})",
            )
        )
    print_table(["the cube rests on", "landings", "simulate_many"], rows)


def print_table(heads: list[str], rows: list[tuple[str, ...]]) -> None:
    """A table whose cells are words."""
    table = Table({head: f"<{max(len(row[k]) for row in rows)}" for k, head in enumerate(heads)})
    for row in rows:
        table.row(*row)


FAMILIES = {
    "stiff, 2 mm": (2e-3, 0.0, {"heights": "2mm"}),
    "soft, 10 ms": (1e-2, 0.0, {"heights": "2mm"}),
    "soft, 20 ms": (2e-2, 0.0, {"heights": "2mm"}),
    "tilt, sigma 1.4 deg": (2e-3, 0.0, {"heights": "2mm", "tilt": "normal(1.4deg)"}),
    "slope, 8 deg": (2e-3, 8.0, {"heights": "2mm"}),
}


def decisions(given: argparse.Namespace) -> None:
    """Probabilities beside MuJoCo's of the same states."""
    print(f"{given.states} states of the lander, {given.count} landings and {given.mujoco} of MuJoCo each.")
    print(f"{machine()}\n")
    rows = []
    for name, (constant, slope, noise) in FAMILIES.items():
        model = mujoco.MjModel.from_xml_path(str(LANDER))
        model.geom_solref[:, 0] = constant
        ours, theirs = np.zeros((2, given.states))
        rng = np.random.default_rng(given.seed)
        for k in range(given.states):
            heading, side = rng.uniform(-np.pi, np.pi), rng.uniform(0.0, 1.1)
            sink = -rng.uniform(0.4, 2.0)
            v = np.array([side * np.cos(heading), side * np.sin(heading), sink, *(0.1 * rng.normal(size=3))])
            found = routh.landings(
                model, TOUCH, v, n=given.count, uncertainty=noise, slope=np.radians(slope), seed=k
            )
            ours[k] = found.share[0]
            theirs[k] = tips_in_mujoco(model, found, given.mujoco).mean()
        bad = theirs > DANGEROUS
        refused = ours > DANGEROUS
        pairs = ours[bad][:, None] - ours[~bad][None]
        area = float(np.mean((pairs > 0) + 0.5 * (pairs == 0))) if pairs.size else np.nan
        rows.append(
            (
                name,
                f"{area:.3f}",
                f"{int((bad & ~refused).sum())} of {int(bad.sum())}",
                f"{int((~bad & refused).sum())} of {int((~bad).sum())}",
                f"{np.abs(ours - theirs).mean():.3f}",
                f"{ours.mean():.3f}, {theirs.mean():.3f}",
            )
        )
    print_table(["family", "AUC", "missed", "refused", "apart", "mean ours, MuJoCo"], rows)


def main() -> None:
    """Run one of the parts."""
    parser = command_line(__doc__, speed, right, decisions)
    parser.add_argument("--count", type=int, default=200, help="landings of each state")
    parser.add_argument("--mujoco", type=int, default=20, help="of MuJoCo's")
    parser.add_argument("--states", type=int, default=12)
    parser.add_argument("--futures", type=int, default=40, help="of simulate_many")
    parser.add_argument("--seconds", type=float, default=1.5, help="of simulate_many")
    parser.add_argument("--seed", type=int, default=0)
    run_part(parser)


if __name__ == "__main__":
    main()
