"""What the event-driven simulator must show. Each part prints its table:

python benchmarks/simulation.py zeno         # HP23 section 4.3, against an independent integration
python benchmarks/simulation.py ball         # accumulation times in closed form
python benchmarks/simulation.py rod          # Painlevé's rod on a grid of 50 x 50 states (--size)
python benchmarks/simulation.py futures      # 100 verified futures of six systems (--count, --only, --seed)
python benchmarks/simulation.py cost         # processor time of a future of 0.5 s, rocking block (--count)
python benchmarks/simulation.py wheel        # walking speed in closed form, and under the set-valued law
python benchmarks/simulation.py convergence  # event times against integrator tolerances
python benchmarks/simulation.py piles        # pyramids of discs, 0.5 s through impacts
python benchmarks/simulation.py robots       # a crate and gymnasium's robots from MJCF, 0.5 s through impacts
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.integrate import quad, solve_ivp

import routh
from measure import Table, command_line, counted, run_part, timed
from routh.laws import Newton, Sequential, SetValued, Simultaneous
from routh.models.base import Model
from routh.models.mujoco import MujocoModel
from routh.models.planar import DiscContact, HalfPlane, PlanarModel, PlaneContact, disc
from routh.sim import flow, verify
from routh.two_body import TwoBody

G = 9.81
#: system -> (duration in s, parameters)
FUTURES = {
    "rocking-block": (0.2, {}),
    "compass-gait": (0.12, {}),  # its legs lie flat from 0.15 s on: without a mass, the hip has no inertia
    "ramone": (0.1, {}),
    "rimless-wheel-slope": (3.0, {"mu": 0.25}),
    "disk-stack": (0.2, {}),
    "box-wall": (0.3, {}),
}


def zeno(_: argparse.Namespace) -> None:
    """The rocking block of HP23 section 4.3."""
    block = routh.systems.get("zeno-block")
    motion = routh.simulate(
        block.model, block.state, duration=3.5, law=Simultaneous(), rtol=1e-11, atol=1e-13, sample_dt=1e-3
    )
    impacts = [e for e in motion.events if e.kind == "impact"]
    event = next(e for e in motion.events if e.kind == "zeno")
    ratios = [abs(e.data["v_after"][2] / e.data["v_before"][2]) for e in impacts]
    cycles = np.array([_half_cycle(0.7**k) for k in range(80)])
    print(f"impacts simulated            {len(impacts)}")
    print(f"reduction, largest |r - 0.7| {max(abs(r - 0.7) for r in ratios):.2e}")
    print(f"apex                         {motion.q[:, 2].max():.6f} rad (paper: .22)")
    print(f"t*  simulated, by (56)       {motion.t[event.index]:.9f}  {cycles[:, 0].sum():.9f} (paper 2.67)")
    print(f"s*  simulated, by (63)       {motion.s[event.index]:.9f}  {cycles[:, 1].sum():.9f} (paper 28.4)")
    print(f"at t*                        {event.data['continuation']}, skipped {event.data['skipped']:.1e} s")
    print(f"normal forces afterwards     {motion.forces['contacts'][-1, :2, 0]} N (m g / 2 = {G / 2})")
    print(f"solution of (53)             {verify(block.model, motion).ok}")


def _half_cycle(rate: float) -> tuple[float, float]:
    """Duration and augmented duration of a swing about a corner and the impact that ends it."""
    inertia, arm, alpha = 5.0 / 12.0 + 1.25, math.sqrt(1.25), math.atan(2.0)

    def slope(_: float, y: np.ndarray) -> list[float]:
        acceleration = -G * arm * math.cos(y[0] + alpha) / inertia
        up = arm * (math.cos(y[0] + alpha) * acceleration - math.sin(y[0] + alpha) * y[1] ** 2)
        return [y[1], acceleration, 1.0 + G + up]

    def down(_: float, y: np.ndarray) -> float:
        return y[0]

    down.terminal, down.direction = True, -1  # type: ignore[attr-defined]
    swing = solve_ivp(slope, (0, 5), [0.0, rate, 0.0], events=down, rtol=1e-12, atol=1e-14)
    return swing.t[-1], swing.y[2, -1] + 0.5 * 1.7 * rate


def ball(_: argparse.Namespace) -> None:
    """A ball that bounces with restitution e from 1 m: t* = sqrt(2 h / g) (1 + e) / (1 - e)."""
    columns = {
        "law (hypothesis)": "<22",
        "e": ".2f",
        "impacts": "d",
        "t* closed form": ".9f",
        "error (s)": ".1e",
    }
    table = Table(columns)
    for law in (TwoBody(), SetValued(), Newton()):
        for e in (0.3, 0.5, 0.8, 0.9, 0.95):
            system = routh.systems.get("bouncing-ball", restitution=e, mu=0.0)
            exact = math.sqrt(2.0 / G) * (1 + e) / (1 - e)
            motion = routh.simulate(system.model, system.state, duration=exact + 0.1, law=law, sample_dt=1.0)
            event = next(event for event in motion.events if event.kind == "zeno")
            name = f"{type(law).__name__} ({getattr(law, 'hypothesis', 'newton')})"
            table.row(name, e, event.data["impacts"], exact, motion.t[event.index] - exact)


def rod(arguments: argparse.Namespace) -> None:
    """Painlevé's rod: angle x rate, mu = 1.8; what must happen at t = 0 is known in closed form."""
    size, mu = arguments.size, 1.8
    counts: Counter[str] = Counter()
    for angle in np.linspace(0.3, 1.5, size):
        for rate in np.linspace(-5.0, 5.0, size):
            counts += _rod_state(float(angle), float(rate), mu)
    print(f"{size} x {size} states, 0.15 s each")
    for name in sorted(counts):
        print(f"  {counts[name]:6d}  {name}")


def _paradox(angle: float, rate: float, slip: float, mu: float) -> tuple[float, float]:
    """Normal acceleration of the sliding end per normal force, and without force (rod of 2 m, 1 kg)."""
    direction = math.copysign(1.0, slip)
    per_force = 1.0 + 3.0 * math.cos(angle) * (math.cos(angle) - direction * mu * math.sin(angle))
    return per_force, -G + rate**2 * math.sin(angle)


def _rod_state(angle: float, rate: float, mu: float) -> Counter[str]:
    system = routh.systems.get("painleve-rod", angle=angle, rate=rate, mu=mu)
    motion = routh.simulate(system.model, system.state, duration=0.15, sample_dt=0.1, max_step=0.1)
    per_force, free = _paradox(angle, rate, 1.0, mu)
    at_once = {e.kind for e in motion.events if e.t == 0.0}
    none, several = per_force < 0 > free, per_force < 0 < free
    counts = Counter({"states": 1})
    counts["paradox at the start (closed form)"] += none
    counts["ambiguous at the start (closed form)"] += several
    counts["impact without collision at the start"] += "impact without collision" in at_once
    counts["choice at the start"] += "choice" in at_once
    counts["DISAGREEMENT at the start"] += none != ("impact without collision" in at_once)
    counts["DISAGREEMENT at the start"] += several != ("choice" in at_once)
    for event in motion.events:
        if event.kind == "impact without collision" and event.t > 0.0:
            q, v = motion.q[event.index], event.data["v_before"]
            if event.data["closed"] != ("A",):
                counts["later: with the other end"] += 1
                continue
            slip = float(system.model.jacobians(q)[1][0, 0] @ v)
            later = _paradox(math.pi - q[2], v[2], slip, mu)
            counts["later: where the closed form demands it"] += later[0] < 1e-8 and later[1] < 1e-6
            counts["DISAGREEMENT later"] += not (later[0] < 1e-8 and later[1] < 1e-6)
    verdict = verify(system.model, motion)
    counts["NOT FINISHED"] += not motion.ok
    counts["NOT A SOLUTION of (53)"] += not verdict.ok
    if any(name[:3].isupper() for name in +counts):
        broken = {x.condition: round(x.size, 2) for x in verdict.violations}
        print(f"  angle {angle!r} rate {rate!r}: {dict(+counts)} {broken}", flush=True)
    return +counts


def futures(arguments: argparse.Namespace) -> None:
    """Random futures under the set-valued law, each held against the inclusion."""
    counts = dict.fromkeys(("futures", "finished", "verified"), "d")
    columns = {
        "system": "<20",
        **counts,
        "impacts": ".1f",
        "most": "d",
        "zeno": "d",
        "IWC": "d",
        "CPU s each": ".2f",
    }
    table = Table({**columns, "worst shares of what is allowed": "<", "broken": "<"})
    for name, (duration, parameters) in FUTURES.items():
        if arguments.only and name != arguments.only:
            continue
        system = routh.systems.get(name, **parameters)
        options = {"n": arguments.count, "duration": duration, "law": SetValued(), "seed": arguments.seed}
        bundle, seconds = timed(routh.simulate_many, system.model, system.state, **options)
        verdicts = [verify(system.model, one) for one in bundle]
        cells = [len(bundle), sum(one.ok for one in bundle), sum(v.ok for v in verdicts)]
        cells += [bundle.impacts.mean(), bundle.impacts.max()]
        cells.append(sum(any(e.kind == "zeno" for e in one.events) for one in bundle))
        cells.append(sum(e.kind == "impact without collision" for one in bundle for e in one.events))
        broken = Counter(x.condition for v in verdicts for x in v.violations)
        names = {name for v in verdicts for name in v.worst}
        worst = sorted(
            ((max(v.worst.get(name, 0.0) for v in verdicts), name) for name in names), reverse=True
        )
        shares = ", ".join(f"{name} {share:.2g}" for share, name in worst[:4])
        table.row(name, *cells, seconds / len(bundle), shares, counted(broken))


def cost(arguments: argparse.Namespace) -> None:
    """What one future of the rocking block costs, compiled courses and SciPy's in one run."""
    block = routh.systems.get("rocking-block")

    def spent(count: int, seed: int) -> tuple[float, int]:
        options = {"n": count, "duration": 0.5, "seed": seed}
        bundle, seconds = timed(routh.simulate_many, block.model, block.state, **options)
        return 1e3 * seconds / count, sum(verify(block.model, one).ok for one in bundle)

    spent(8, 0)  # compiles
    count = min(arguments.count, 40)
    rounds = [spent(count, arguments.seed) for _ in range(3)]
    print(f"{count} futures of 0.5 s, ms of processor time each, least of 3 rounds")
    print(f"compiled   {min(rounds)[0]:8.1f}   verified {rounds[0][1]} of {count}")
    few = max(count // 8, 1)
    with patch.object(flow, "suits", lambda motion: False):
        each, verified = spent(few, arguments.seed)
    print(f"SciPy's    {each:8.1f}   verified {verified} of {few}")


def wheel(_: argparse.Namespace) -> None:
    """Rimless wheel on a slope: mean speed along the slope, closed form against simulation."""
    columns = {"spokes": "d", "slope": ".2f", "law": "<10", "mu": ".2f", "speed, closed form": ".9f"}
    table = Table({**columns, "simulated": ".7f", "difference": ".1e", "verified": ""})
    for spokes, descent in ((6, 0.15), (8, 0.08), (12, 0.05)):
        exact = _walking_speed(spokes, descent)
        for law, mu in ((Sequential(), 1.0), (SetValued(), 1.0), (SetValued(), 0.5), (SetValued(), 0.35)):
            system = routh.systems.get("rimless-wheel-slope", spokes=spokes, descent=descent, mu=mu)
            motion = routh.simulate(system.model, system.state, duration=5.0, law=law, sample_dt=0.05)
            times = [e.t for e in motion.events if e.kind == "impact"]
            step = 2.0 * math.sin(math.pi / spokes)
            speed = step * (len(times) - 1) / (times[-1] - times[0]) if len(times) > 1 else math.nan
            ok = verify(system.model, motion).ok
            table.row(spokes, descent, type(law).__name__, mu, exact, speed, speed - exact, ok)


def _walking_speed(spokes: int, descent: float, length: float = 1.0) -> float:
    """Step length over step time of the steady gait: energy and angular momentum, one integral."""
    wheel_model = routh.systems.get("rimless-wheel-slope", spokes=spokes, descent=descent).model
    about_foot = wheel_model.bodies[0].inertia + length**2
    eta = (about_foot - length**2 + length**2 * math.cos(2 * math.pi / spokes)) / about_foot
    drop = 4.0 * G * length * math.sin(math.pi / spokes) * math.sin(descent) / about_foot
    first = eta**2 * drop / (1.0 - eta**2)  # squared rate after a step
    half = math.pi / spokes

    def slowness(angle: float) -> float:  # angle of the spoke from the vertical
        return 1.0 / math.sqrt(first + 2.0 * G * length / about_foot * (math.cos(start) - math.cos(angle)))

    start = descent - half
    duration = quad(slowness, start, descent + half, epsabs=1e-13, epsrel=1e-13)[0]
    return 2.0 * length * math.sin(half) / duration


def convergence(_: argparse.Namespace) -> None:
    """Impact times of the rocking block within 2 s, against a run with tolerance 1e-13."""
    block = routh.systems.get("zeno-block")

    def times(tolerance: float) -> np.ndarray:
        motion = routh.simulate(
            block.model,
            block.state,
            duration=2.0,
            law=Simultaneous(),
            rtol=tolerance,
            atol=1e-2 * tolerance,
            sample_dt=0.5,
        )
        return np.array([e.t for e in motion.events if e.kind == "impact"])

    reference = times(1e-13)
    exact = np.cumsum([_half_cycle(0.7**k)[0] for k in range(len(reference))])
    print(f"reference against the pendulum equation: {np.abs(reference - exact).max():.1e} s")
    table = Table({"rtol": ".0e", "largest error of an impact time (s)": ".2e"})
    for exponent in range(4, 13):
        table.row(10.0**-exponent, np.abs(times(10.0**-exponent) - reference).max())


def piles(_: argparse.Namespace) -> None:
    """Pyramids of 6 and 10 discs, every pair a possible contact, the top one falling at 1 m/s, for 0.5 s."""
    for rows in (3, 4):
        model, state = _pyramid(rows)
        _verified(f"pyramid of {len(model.bodies)} discs, {len(model.contacts)} contacts", model, state, {})


def _pyramid(rows: int) -> tuple[PlanarModel, routh.State]:
    places = [(k + 0.5 * row, row) for row in range(rows) for k in range(rows - row)]
    bodies = [disc(f"disc-{i}", 0.5, mass=1.0) for i in range(len(places))]
    floor = HalfPlane("floor")
    touching: list[PlaneContact | DiscContact] = [
        PlaneContact(f"{b.name}/floor", b.name, floor, radius=0.5, mu=0.3) for b in bodies
    ]
    touching += [
        DiscContact(f"{a.name}/{b.name}", a.name, b.name, mu=0.3) for a, b in combinations(bodies, 2)
    ]
    q = np.array([[x, 0.5 + row * np.sqrt(0.75), 0.0] for x, row in places])
    v = np.array([[0.0, -1.0 if row == rows - 1 else 0.0, 0.0] for _, row in places])
    return PlanarModel(bodies, touching), routh.State(q.ravel(), v.ravel())


def robots(arguments: argparse.Namespace) -> None:
    """MJCF models through impacts for 0.5 s: crates, and gymnasium's robots, the ant with eight seeds."""
    import gymnasium
    import mujoco

    crate = """<mujoco><worldbody><geom type="plane" size="5 5 .1" friction="0.6"/><body pos="0 0 .25">
      <freejoint/><geom type="box" size=".2 .15 .1" mass="2" friction="0.6"/></body></worldbody></mujoco>"""
    folder = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"
    turn = np.array([1.0, 0.1, 0.2, 0.0])
    poses = {  # None: as in the file
        "crate": np.r_[0.0, 0.0, 0.25, turn / np.linalg.norm(turn)],
        "walker2d": np.r_[0.0, 1.25, 0.0, -0.1, -0.2, 0.1, -0.1, -0.3, 0.05],
        "hopper": None,
        "half_cheetah": None,
        "ant": np.r_[0.0, 0.0, 0.75, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, -1.0, 0.0, -1.0, 0.0, 1.0],
    }
    for name, pose in poses.items():
        if arguments.only and name != arguments.only:
            continue
        if name == "crate":
            loaded = mujoco.MjModel.from_xml_string(crate)
        else:
            loaded = mujoco.MjModel.from_xml_path(str(folder / f"{name}.xml"))
        model, q = MujocoModel(loaded), np.array(loaded.qpos0 if pose is None else pose)
        height = 2 if loaded.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE else 1
        shapes = [i for i, info in enumerate(model.contacts) if info.bodies[0] != "limit"]
        q[height] -= model.gaps(q)[shapes].min() - 0.02
        v = np.zeros(model.nv)
        v[height] = -0.5
        spent = []
        for seed in range(8) if name == "ant" else (0,):
            title = f"{name}, {len(model.contacts)} contacts, seed {seed}"
            spent.append(_verified(title, model, routh.State(q, v), {"seed": seed}))
        if len(spent) > 1:
            print(f"{name}: {np.mean(spent):.2f} s in the mean, {np.median(spent):.2f} s in the median")
    if arguments.only in ("", "humanoid"):
        loaded = mujoco.MjModel.from_xml_path(str(folder / "humanoid.xml"))
        found = routh.models.landing(loaded, down=1.0)
        for touches in (False, True):
            model = MujocoModel(loaded, self_contacts=touches)
            title = f"humanoid, {len(model.contacts)} contacts"
            _verified(title, model, routh.State(found.qpos, found.qvel), {})
    if arguments.only:
        return
    loaded = mujoco.MjModel.from_xml_string(crate)
    found = routh.models.landing(loaded, down=1.0, roll=0.01)
    model = MujocoModel(loaded)
    for number in range(4):
        title = f"crate that lands nearly flat, future {number}"
        _verified(title, model, routh.State(found.qpos, found.qvel), {"stream": number})


def _verified(title: str, model: Model, state: routh.State, options: dict[str, Any]) -> float:
    """Processor time, s."""
    motion, seconds = timed(routh.simulate, model, state, duration=0.5, budget=60.0, **options)
    impacts = sum(event.kind.startswith("impact") for event in motion.events)
    verdict = verify(model, motion)
    print(
        f"{title}: {impacts} impacts, {len(motion.events)} events, {seconds:.1f} s of processor time, "
        f"until {motion.t[-1]:.3f} s, finished {motion.ok}, {'verified' if verdict.ok else 'NOT a solution'}",
        flush=True,
    )
    return seconds


def main() -> None:
    """Run one part."""
    parser = command_line(__doc__, zeno, ball, rod, futures, cost, wheel, convergence, piles, robots)
    parser.add_argument("--size", type=int, default=50)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    run_part(parser)


if __name__ == "__main__":
    main()
