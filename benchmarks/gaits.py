"""Gaits over all outcomes: slopes at which a rimless wheel provably rolls on, or may stop; the compass gait.

python benchmarks/gaits.py [--walkers 30] [--steps 12]

The sequence that stops a wheel is replayed by the event-driven simulation: each step begins with the velocity
of the listed outcome, and must land with the listed rate; after the last one no further foot lands.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

import routh
from measure import Table, command_line
from routh.exact.build import exact_set
from routh.gaits import Compass, Wheel, keeps_rolling, return_map
from routh.models.base import State
from routh.models.planar import slope as sloping
from routh.systems.hp19 import wheel as wheel_model


def replay(wheel: Wheel, step, duration: float):
    """The wheel from just after one impact on: its motion, in the world's coordinates."""
    gamma, half, length = wheel.slope, wheel.half, wheel.length
    model = replay_model(wheel)
    along = np.array([math.cos(gamma), -math.sin(gamma)])
    normal = np.array([math.sin(gamma), math.cos(gamma)])
    v = step.path.v[-1]
    velocity = np.array([*(v[0] * along + v[1] * normal), v[2]])
    hub = length * math.cos(half) * normal
    return routh.simulate(model, State(np.array([*hub, -gamma]), velocity), duration=duration)


def landing_rate(motion) -> float | None:
    """The rate as the next foot lands; None where the wheel falls back first."""
    for event in motion.events:
        if event.kind == "impact":
            v = event.data["v_before"]
            return -float(v[2]) if v[2] < 0.0 else None
    return None


def wheels() -> None:
    """Slopes, and the sequence that stops the wheel, replayed."""
    table = Table({"slope": ".3f", "answer": "<", "rate kept": "<16", "landings, rad/s": "<16", "fails": "<"})
    for slope in (0.06, 0.08, 0.10, 0.105, 0.11, 0.12, 0.15, 0.20, 0.30):
        found = keeps_rolling(Wheel(slope=slope))
        fails = ", ".join(name for name, true in found.checks.items() if not true)
        kept, rates = (f"{low:.4f} to {high:.4f}" for low, high in (found.shares, found.rates))
        table.row(slope, found.answer.value, kept, rates, fails)
    low, high = 0.05, 0.2
    for _ in range(30):
        middle = 0.5 * (low + high)
        proved = keeps_rolling(Wheel(slope=middle)).checks["the hub gets over"]
        low, high = (low, middle) if proved else (middle, high)
    print(f"proved from {high:.6f} rad on (up to where the ground no longer pushes)\n")
    wheel = Wheel(slope=0.1)
    found = keeps_rolling(wheel)
    print("slope 0.1 rad: outcomes that stop the wheel, from its steady gait on")
    table = Table(
        {
            **dict.fromkeys(("rate", "slip, m/s", "after"), ".6f"),
            "path": ".1e",
            "next landing": ".9f",
            "": "<",
        }
    )
    for k, step in enumerate(found.stopping):
        motion = replay(wheel, step, 2.0)
        landed = landing_rate(motion)
        ok = "verified" if routh.sim.verify(replay_model(wheel), motion).ok else "not verified"
        cells = step.rate, step.slip, step.rate_after, step.residual
        table.row(*cells, "falls back" if landed is None else landed, ok)
        if k + 1 < len(found.stopping):
            assert abs(landed - found.stopping[k + 1].rate) < 1e-6
        else:
            assert landed is None
    least, most = fixed_slip_shares(wheel, found.slips[0])
    steady = math.sqrt(wheel.gain / (1.0 - most**2))
    over = (most * steady) ** 2 > wheel.barrier
    print(
        f"with slip {found.slips[0]:g} at every landing outcomes keep {least:.4f} to {most:.4f} of the rate;"
    )
    print(f"with the most at each the wheel {'rolls on' if over else 'stops'}: what the impacts do decides\n")


def replay_model(wheel: Wheel):
    """The model of `replay`."""
    return wheel_model(
        wheel.spokes, wheel.length, wheel.mass, wheel.inertia, wheel.mu, sloping("slope", wheel.slope)
    )


def fixed_slip_shares(wheel: Wheel, slip: float) -> tuple[float, float]:
    """The least and the most of the rate that outcomes keep where the foot slips by just so much."""
    exact = exact_set(wheel.problem(np.array([1.0, slip * wheel.length])))
    row = wheel.rate_after
    return -float(exact.support(-row)), float(exact.support(row))


def steady_compass(gait: Compass) -> tuple[Compass, np.ndarray]:
    """The gait that repeats under one law: plastic landing of the leading foot."""
    state, law = np.array([1.8, 1.5]), routh.laws.Sequential(order=(0, 1))
    for _ in range(60):
        found = gait.next_state(law(gait.problem(state)).v)
        gait, state = replace(gait, angle=float(found[0])), found[1:]
    return gait, state


def compasses(walkers: int, steps: int) -> None:
    """The set after one step, and walkers whose every impact is drawn."""
    gait, steady = steady_compass(Compass())
    print(f"compass gait, slope 3 degrees: angle {gait.angle:.6f} rad, rates {steady.round(6)} rad/s")
    alone = exact_set(gait.problem(steady), states=gait.velocity(steady[None]))
    print(f"ambiguity of its impact {routh.sample(gait.problem(steady), 4096).ambiguity:.4f}")
    print(
        f"in every outcome the trailing foot leaves with at least "
        f"{-alone.support(-gait.problem(steady).Jn[1], which='outer'):.4f} m/s (certified)"
    )
    box = steady + 0.03 * steady * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    found = return_map(gait, box)
    low, high = found.bounds()
    problem = found.exact.problem
    leaves = -found.exact.support(-problem.Jn[1], which="outer")
    rests = max(float(found.exact.support(s * row, which="outer")) for row in problem.J[0] for s in (1, -1))
    inside = bool(found.exact.contains(found.v).all())
    print(f"rates within 3 %: {found!r}; samples in the exact set: {inside}")
    print(f"  in all outcomes from all of them the trailing foot leaves (at least {leaves:.4f} m/s) and the")
    print(f"  leading foot rests (to {rests:.1e} m/s): certified")
    print(
        f"  after: angle {low[0]:.4f} to {high[0]:.4f}, leading {low[1]:.4f} to {high[1]:.4f}, "
        f"trailing {low[2]:.4f} to {high[2]:.4f}"
    )
    fallen, ends = 0, []
    rng = np.random.default_rng(0)
    for walker in range(walkers):
        own, state = gait, steady * (1.0 + 0.03 * rng.uniform(-1.0, 1.0, 2))
        for step in range(steps):
            v = routh.sample(own.problem(state), 1, seed=walker, row=step).v[0]
            landed = own.next_state(v)
            if landed is None:
                fallen += 1
                break
            own, state = replace(own, angle=float(landed[0])), landed[1:]
        else:
            ends.append([own.angle, *state])
    spread = np.ptp(np.array(ends), axis=0).round(4)
    print(
        f"{walkers} walkers, {steps} steps with drawn outcomes: {fallen} fell; spread of the last landing "
        f"(angle, leading, trailing) {spread}"
    )


def main() -> None:
    """Print the tables."""
    parser = command_line(__doc__)
    parser.add_argument("--walkers", type=int, default=30)
    parser.add_argument("--steps", type=int, default=12)
    given = parser.parse_args()
    wheels()
    compasses(given.walkers, given.steps)


if __name__ == "__main__":
    main()
