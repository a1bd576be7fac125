"""HP23 section 4: motions in augmented time, Painlevé's paradox and the block that rocks to rest."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from scipy.integrate import solve_ivp

from routh import laws, systems
from routh.base.status import Status
from routh.models.base import impact_problem
from routh.models.planar import PlanarModel
from routh.problem.termination import terminates
from routh.reproduce.verdicts import Finding, refuted, works
from routh.sim import Trajectory, simulate, verify
from routh.viz.snapshots import planar

G = 9.81
_ARM, _ALPHA = math.sqrt(1.25), math.atan(2.0)  # from the corner to the centre of mass
_INERTIA = 5.0 / 12.0 + 1.25  # kg m^2, about the corner


@cache
def _zeno() -> tuple[PlanarModel, Trajectory]:
    model, state = planar(systems.get("zeno-block"))
    law = laws.Simultaneous()
    return model, simulate(model, state, duration=3.2, law=law, rtol=1e-11, atol=1e-13)


def lemma_5() -> Finding:
    """The rocking block's motion by the independent check of (53), impacts with time standing still."""
    model, motion = _zeno()
    verdict = verify(model, motion)
    numbers: dict[str, float | str] = {name: float(count) for name, count in verdict.checked.items()}
    stands = motion.t[:-1] == motion.t[1:]
    assert motion.s is not None
    impulse = float(np.diff(motion.s)[stands].sum())
    numbers["augmented time in which time stands still"] = impulse
    return works(verdict.ok and impulse > 0.1, numbers)


def theorem_5() -> Finding:
    """Augmented time of every impact of three motions over Lemma 6's bound, and the slowest dt/ds."""
    numbers: dict[str, float | str] = {}
    holds = True
    for name in ("rocking-block", "compass-gait", "disk-stack"):
        model, state = planar(systems.get(name))
        motion = simulate(model, state, duration=0.1, seed=5)
        assert motion.s is not None
        shares = _impact_shares(model, motion)
        frozen = max(float(np.ptp(motion.s[motion.t == t])) for t in np.unique(motion.t))
        window = min(max(0.1 * float(np.ptp(motion.s)), 2.0 * frozen), float(np.ptp(motion.s)))
        slowest = _slowest_rate(motion, window)
        numbers[f"{name}: largest over the bound"] = max(shares)
        numbers[f"{name}: least mean dt/ds over {window:.2g}"] = slowest
        holds &= min(shares) > 0.0 and max(shares) <= 1.0 and 0.0 < slowest <= 1.0
    return works(holds, numbers)


def _impact_shares(model: PlanarModel, motion: Trajectory) -> list[float]:
    assert motion.s is not None
    moments = {(event.t, event.index) for event in motion.events if event.kind.startswith("impact")}
    shares = []
    for t in sorted({t for t, _ in moments}):
        first = min(index for time, index in moments if time == t)
        inside = np.flatnonzero((motion.t == motion.t[first]) & (np.arange(len(motion)) >= first))
        bound = terminates(impact_problem(model, motion[first], gap=1e-8)).impulse_bound
        shares.append(float(motion.s[inside[-1]] - motion.s[first]) / bound)
    return shares


def _slowest_rate(motion: Trajectory, window: float) -> float:
    s, t = motion.s, motion.t
    assert s is not None
    starts = np.union1d(s, s - window)
    starts = starts[(starts >= s[0]) & (starts + window <= s[-1] * (1 + 1e-15))]
    later, now = (np.interp(at, s, t) for at in (starts + window, starts))
    return float(((later - now) / window).min())


def painleve() -> Finding:
    """A rod at rest on its sliding tip, friction 1.8: the impact without collision by four laws, by hand."""
    problem = systems.impact("painleve-rod", angle=math.atan(2.0), rate=0.0, mu=1.8)
    wanted, off, unsolved = np.array([0.6, 0.3, -0.3 * math.sqrt(5)]), 0.0, 0
    for law in (laws.SetValued(), laws.Simultaneous(), laws.Sequential(), laws.SingleContact()):
        result = law(problem, np.random.default_rng(0), without_collision=("A",))
        unsolved += result.status is not Status.SOLVED
        off = max(off, float(np.abs(result.v - wanted).max()))
    told = {"laws": 4, "unsolved": unsolved, "largest difference from the hand's (m/s)": off}
    return works(unsolved == 0 and off < 1e-6, told)


def apex() -> Finding:
    """Apex (57) of the simulated block, of the formula, and of the formula with the printed minus."""
    _, motion = _zeno()
    first = next(event for event in motion.events if event.kind == "impact")
    measured = float(motion.q[: first.index, 2].max())
    lift = _INERTIA / (2 * G * _ARM)
    formula = math.asin(lift + math.sin(_ALPHA)) - _ALPHA
    minus = math.asin(lift - math.sin(_ALPHA)) - _ALPHA
    numbers = {"simulated (rad)": measured, "(57) with a plus": formula, "(57) with the printed minus": minus}
    return works(round(measured, 2) == 0.22 and abs(measured - formula) < 1e-4, numbers)


def seven_tenths() -> Finding:
    """The share of the rate that each of the simulated impacts leaves."""
    _, motion = _zeno()
    shares = [
        abs(event.data["v_after"][2]) / abs(event.data["v_before"][2])
        for event in motion.events
        if event.kind == "impact"
    ]
    off = float(max(abs(share - 0.7) for share in shares))
    return works(len(shares) > 10 and off < 1e-9, {"impacts": len(shares), "farthest from 0.7": off})


def _half_cycle(rate: float) -> tuple[float, float, float]:
    """Duration, augmented duration without the impact, the impact's normal impulse: (56), (62) to (66)."""

    def slope(_: float, y: np.ndarray) -> list[float]:
        angle, turning, _ = y
        acceleration = -G * _ARM * math.cos(angle + _ALPHA) / _INERTIA
        up = _ARM * (math.cos(angle + _ALPHA) * acceleration - math.sin(angle + _ALPHA) * turning**2)
        return [turning, acceleration, 1.0 + G + up]

    def down(_: float, y: np.ndarray) -> float:
        return y[0]

    down.terminal, down.direction = True, -1.0  # type: ignore[attr-defined]
    swing = solve_ivp(slope, (0, 5), [0.0, rate, 0.0], events=down, rtol=1e-12, atol=1e-14)
    return float(swing.t[-1]), float(swing.y[2, -1]), 0.5 * 1.7 * rate


def accumulation() -> Finding:
    """Both accumulation points, simulated, and by quadrature of half-cycle after half-cycle."""
    _, motion = _zeno()
    assert motion.s is not None
    event = next(event for event in motion.events if event.kind == "zeno")
    t, s = float(motion.t[event.index]), float(motion.s[event.index])
    by_hand = np.sum([_half_cycle(0.7**k) for k in range(60)], axis=0)
    numbers = {"t*": t, "t* by quadrature": float(by_hand[0])}
    numbers |= {"s*": s, "s* by quadrature": float(by_hand[1] + by_hand[2])}
    holds = round(t, 2) == 2.67 and round(s, 1) == 28.4 and abs(by_hand[0] - t) < 1e-4
    return works(holds and abs(by_hand[1] + by_hand[2] - s) < 1e-3, numbers)


def bounds_69_70() -> Finding:
    """The sums (69) and (70) over what they bound."""
    t, s, impulse = _half_cycle(1.0)
    parts = np.sum([_half_cycle(0.7**k) for k in range(60)], axis=0)
    numbers = {"t*": float(parts[0]), "(70)": t / 0.3, "s*": float(parts[1] + parts[2])}
    numbers["(69)"] = (s + impulse) / 0.3
    return works(numbers["t*"] <= numbers["(70)"] and numbers["s*"] <= numbers["(69)"], numbers)


def bound_58() -> Finding:
    """t_1 against L theta_0' of (58) at several rates: L already has the rate in it."""
    numbers: dict[str, float | str] = {}
    below = []
    for rate in (1.0, 0.7, 0.7**4):
        top = math.asin(_INERTIA * rate**2 / (2 * G * _ARM) + math.sin(_ALPHA)) - _ALPHA
        least = G * _ARM * math.cos(top + _ALPHA) / _INERTIA
        t, printed, meant = _half_cycle(rate)[0], 2.0 * rate**2 / least, 2.0 * rate / least
        numbers[f"rate {rate:.4g}: t_1, L times the rate, L (s)"] = f"{t:.5g}, {printed:.5g}, {meant:.5g}"
        below.append((t <= printed, t <= meant))
    return refuted(below[0][0] and not below[2][0] and all(meant for _, meant in below), numbers)


def rest() -> Finding:
    """Speeds after the accumulation, the normal forces on each corner, and dt/ds."""
    _, motion = _zeno()
    event = next(event for event in motion.events if event.kind == "zeno")
    after = motion.t > motion.t[event.index]
    corners = [motion.contacts.index(name) for name in "AB"]
    normal = motion.forces["contacts"][after][:, corners, 0] / G
    speed, rate = float(np.abs(motion.v[after]).max()), float(motion.in_s().time_rate[-1])
    numbers = {"largest speed after": speed, "least normal force (m g)": float(normal.min())}
    numbers |= {"largest normal force (m g)": float(normal.max()), "dt/ds times (1 + m g)": rate * (1 + G)}
    holds = speed < 1e-9 and float(np.abs(normal - 0.5).max()) < 1e-6 and abs(rate * (1 + G) - 1) < 1e-6
    return works(holds, numbers)
