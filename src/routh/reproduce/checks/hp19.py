"""HP19 and its poster: class N, the rimless wheel, pushing, the wall, billiards."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np

from routh import laws, systems
from routh.auditing.comparison import sequences, simultaneous_solutions
from routh.base import features
from routh.exact.build import exact_set
from routh.problem.friction import ContactMode
from routh.problem.impact import ImpactProblem
from routh.problem.pointedness import pointedness
from routh.problem.termination import terminates
from routh.reproduce.checks import draws
from routh.reproduce.hp19 import wall_on_floor
from routh.reproduce.verdicts import Finding, impossible, works
from routh.sampling import sample, sample_by_steps

SEPARATES, STICKS, _ = ContactMode


def _channel(mu: float = 0.0, floor: bool = False) -> ImpactProblem:
    """A point mass between two facing walls, with a floor below if wanted."""
    Jn = [[1.0, 0.0], [-1.0, 0.0]] + ([[0.0, 1.0]] if floor else [])
    Jt = [[0.0, 1.0], [0.0, 1.0]] + ([[1.0, 0.0]] if floor else [])
    return ImpactProblem(np.eye(2), Jn, Jt, mu, [1.0, -0.5])


def class_n() -> Finding:
    """Class N for four sets of facing walls: decided, with what shows it."""
    cases: dict[str, ImpactProblem] = {
        "facing walls": _channel(), "with friction 2": _channel(2.0),
        "smooth walls and a floor": _channel(floor=True),
        "walls with friction 0.5 and a floor": _channel(0.5, True),
    }  # fmt: skip
    found = {name: terminates(problem) for name, problem in cases.items()}
    answers = [one.answer for one in found.values()]
    told = {name: f"{one.answer}, impulse bound {one.impulse_bound:.3g}" for name, one in found.items()}
    return works(answers == ["proved", "proved", "refuted", "proved"], told)


def strict_dissipation() -> Finding:
    """Smooth walls that press while the floor is approached are not in N: zero is a rate there."""
    problem = _channel(floor=True)
    found = terminates(problem)
    assert found.velocity is not None
    y = problem.Jn @ found.velocity
    numbers: dict[str, float | str] = {
        "pressing": ", ".join(found.pressing),
        "the floor approaches at (m/s)": float(y[2]),
    }
    numbers["the walls approach at (m/s)"] = float(np.abs(y[:2]).max())
    lost = sample(_channel(), 64, seed=1)
    fell = bool(np.all(lost.kinetic_energy[lost.solved] < _channel().kinetic_energy()))
    numbers["energy falls between walls alone"] = "yes" if fell else "no"
    return works(fell and y[2] < -0.1 and float(np.abs(y[:2]).max()) < 1e-9, numbers)


def jammed_but_ending() -> Finding:
    """Facing walls without friction, a cone that is not pointed: impulses of samples and the bound."""
    found = terminates(_channel())
    spent = sample_by_steps(_channel(), 64, step=0.3).impulse[:, :, 0].sum(axis=1)
    jammed = pointedness(_channel()).jammed
    numbers = {"cone pointed": "no" if jammed else "yes", "largest impulse (N s)": float(spent.max())}
    return works(
        jammed and float(spent.max()) <= found.impulse_bound + 1e-9, {**numbers, "bound": found.impulse_bound}
    )


def theorem_10() -> Finding:
    """Worst case of (46) to (49) over a grid of a: at most 1 - a^3 (1 - a) of the energy is left."""
    worst, sharp = -np.inf, -np.inf
    for a in np.linspace(0.01, 1.0, 100):
        inside = np.linspace(a, 1.0, 50)  # |v_R(0)|, which exceeds a
        left = (1.0 - inside**2) + (1.0 - a) ** 2 * inside**2  # (47)
        worst = max(worst, float((left - (1.0 - a**3 * (1.0 - a))).max()))
        sharp = max(sharp, float((left - (1.0 - a**3 * (2.0 - a))).max()))
    void = 1.0 - (1.0 - 1.0**3 * (1.0 - 1.0)) ** 0.5
    numbers = {
        "above (49) by at most": worst,
        "above 1 - a^3 (2 - a) by at most": sharp,
        "alpha of (49) at a = 1": void,
    }
    return works(worst <= 1e-12 and sharp <= 1e-12, numbers)


def equation_33() -> Finding:
    """Equation (33) of a frictionless contact in one freedom: |v| = 1 falls to at most 1 - alpha after s."""
    above = -np.inf
    for j, share in product((0.1, 1.0, 7.0), np.linspace(0.01, 0.99, 50)):
        s = share / j  # it still approaches
        above = max(above, float((1.0 - j * s) - (1.0 - min(j * s, 0.5))))
    return works(above <= 1e-12, {"above 1 - alpha by at most": above})


def figure_5() -> Finding:
    """Sliding friction as three frictionless contacts tilted away from the slip: weights and directions."""
    rng = np.random.default_rng(0)
    least, facing = np.inf, np.inf
    for _ in range(200):
        angle, mu, size = rng.uniform(0, 2 * np.pi), rng.uniform(0.1, 2.0), 0.02
        slip = np.array([np.cos(angle), np.sin(angle)])
        corners = -mu * slip + size * np.array([[np.cos(t), np.sin(t)] for t in 2 * np.pi * np.arange(3) / 3])
        turned = angle + rng.uniform(-0.2, 0.2) * size / mu
        force = -mu * np.array([np.cos(turned), np.sin(turned)])  # of a slip nearby
        weights = np.linalg.solve(np.vstack([corners.T, np.ones(3)]), [*force, 1.0])
        least = min(least, float(weights.min()))
        facing = min(facing, float((-corners @ slip / np.linalg.norm(corners, axis=1)).min()))
    return works(
        least >= 0.0 and facing > 0.9, {"least weight": least, "least cosine to the slip's opposite": facing}
    )


def _rod_events(count: int) -> Counter[str]:
    """Orders of events of a planar rod's tip, and whether slip that vanished stays away (Wang and Mason)."""
    rng, seen = np.random.default_rng(5), Counter[str]()
    for _ in range(count):
        angle, mu, e = rng.uniform(0.1, 1.5), rng.uniform(0.02, 1.5), rng.uniform(0.2, 1)
        c, s = 0.5 * np.cos(angle), 0.5 * np.sin(angle)
        problem = ImpactProblem(
            np.diag([1.0, 1.0, 1 / 12]), [[0, 1, -c]], [[1, 0, s]], mu, rng.normal(size=3), restitution=e
        )
        if problem.approaching[0]:
            events = features.feature("two_body").TwoBody().solve(problem).events.replace("l", "")
            need = abs(problem.delassus[0, 1] / problem.delassus[1, 1])
            seen[events if "s" not in events else f"{events} {'stick' if need <= mu else 'reverse'}"] += 1
    return seen


def figure_2() -> Finding:
    """1200 planar impacts of a rod: all five courses of Wang and Mason."""
    seen = _rod_events(1200)
    wanted = ("cr", "scr stick", "csr stick", "scr reverse", "csr reverse")
    return works(all(seen[name] for name in wanted), {name: float(seen[name]) for name in wanted})


def figure_3() -> Finding:
    """The rimless wheel: both sequences and the simultaneous solution, all different."""
    problem = systems.impact("rimless-wheel")
    (solution, *more), complete = simultaneous_solutions(problem)
    after = [problem.Jn @ solution.v, *(problem.Jn @ result.v for result in sequences(problem).values())]
    names = ("at once", "A first", "B first")
    apart = min(float(np.abs(after[i] - after[j]).max()) for i, j in ((0, 1), (0, 2), (1, 2)))
    told: dict[str, float | str] = {
        name: f"normal velocities {y.round(4)}" for name, y in zip(names, after, strict=True)
    }
    return works(complete and not more and apart > 1e-3, told)


def wheel_between() -> Finding:
    """Points between the wheel's three outcomes along the set's two edges, in its exact set."""
    exact = exact_set(systems.get("rimless-wheel").rational)
    ends = [result.v for result in sequences(exact.problem).values()]
    rest = simultaneous_solutions(exact.problem)[0][0].v
    points = [rest + share * (end - rest) for end in ends for share in np.linspace(0.0, 1.0, 21)]
    inside = sum(bool(exact.contains(v, tolerance=1e-6)) for v in points)
    return works(inside == len(points), {"points in the set": f"{inside} of {len(points)}"})


def figure_4() -> Finding:
    """The wall's impact alone makes the floor approach; another shape does without."""
    numbers: dict[str, float | str] = {}
    for name, more in (("pushing", {}), ("square box", {"width": 1.0, "height": 1.0})):
        problem = systems.impact("pushing", **more)
        wall = laws.SingleContact()(problem.subset([1])).v
        numbers[f"{name}: floor's normal velocity after the wall alone (m/s)"] = float(problem.Jn[0] @ wall)
    first, second = (float(value) for value in numbers.values())
    return works(first < -0.1 and second > 0.0, numbers)


def figure_4b() -> Finding:
    """Samples over 27 shapes, angles and frictions: where the wall presses the floor, none leaves it."""
    pressed, highest = 0, -np.inf
    for height, turn, mu in product((0.3, 0.6, 1.0), (0.2, 0.6, 1.0), (0.0, 0.2, 2.0)):
        problem = systems.impact("pushing", height=height, turn=turn, mu=mu)
        if wall_on_floor(problem) < 0.0:
            pressed += 1
            outcomes = sample(problem, 64, seed=1)
            highest = max(highest, float(outcomes.contact_velocity[outcomes.solved][:, 0, 0].max()))
    coupling = wall_on_floor(systems.impact("pushing"))
    numbers = {"Jn_A M^-1 Jn_B^T (1/kg)": coupling, "problems where it is negative": pressed}
    numbers["highest normal velocity at the floor after (m/s)"] = highest
    return impossible(coupling < 0.0 and highest < 1e-12, numbers)


def figure_4c() -> Finding:
    """Outcomes of pushing that neither sequence nor both at once give, in the exact set."""
    exact = exact_set(systems.get("pushing").rational)
    single = [result.v for result in sequences(exact.problem).values()]
    single += [result.v for result in simultaneous_solutions(exact.problem)[0]]
    root = exact.problem.cholesky
    others = [
        v for v in sample(exact.problem, 512, seed=1).v
        if min(float(np.linalg.norm((v - one) @ root)) for one in single) > 0.005 * exact.problem.speed
    ]  # fmt: skip
    inside = sum(bool(exact.contains(v, tolerance=1e-6)) for v in others)
    return works(
        inside == len(others) > 0, {"samples far from all three": len(others), "of these in the set": inside}
    )


def _many_outcomes(name: str) -> tuple[bool, dict[str, float | str]]:
    """Combinations of contact modes among 4,096 samples of a system, and how many ended."""
    outcomes = sample(systems.impact(name), 2**12 if name != "billiards-break" else 2**7, seed=0)
    kinds = len(np.unique(outcomes.modes[outcomes.solved], axis=0))
    ended = int(outcomes.solved.sum())
    return kinds > 3, {"combinations of modes": kinds, "samples that ended": f"{ended} of {len(outcomes)}"}


def poster_block() -> Finding:
    """Outcomes of the block that slides flat into a wall."""
    return works(*_many_outcomes("block-into-wall"))


def poster_billiards() -> Finding:
    """Outcomes of a break."""
    return works(*_many_outcomes("billiards-break"))


def solutions_exist() -> Finding:
    """Impacts of random problems in class N: how many samples have no end."""
    unfinished = total = 0
    for problem in draws.impacts(15, 60):
        if terminates(problem).answer == "proved":
            outcomes = sample(problem, 16, threads=1, seed=0)
            total, unfinished = total + len(outcomes), unfinished + int((~outcomes.solved).sum())
    return works(unfinished == 0, {"samples": total, "without an end": unfinished})
