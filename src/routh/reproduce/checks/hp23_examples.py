"""HP23 sections 5.4 and 6: what is said of each system's set, compliant contacts, and what came after."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np

from routh import systems
from routh.auditing.comparison import sequences, simultaneous_solutions
from routh.base.results import ImpactPath, PathKind
from routh.base.status import Status
from routh.exact.build import exact_set
from routh.exact.checker import CheckedPath, verify_invariance, verify_path
from routh.exact.polytopes import distance_to_hull
from routh.problem.impact import ImpactProblem
from routh.reproduce.base import Settings
from routh.reproduce.checks import draws
from routh.reproduce.compliant import ANGLES, RATIOS, share_before_the_second, stiffness_sweep, tilt_sweep
from routh.reproduce.hp23 import DISKS, refuting_path, separation_of
from routh.reproduce.kelvin_voigt import KelvinVoigt
from routh.reproduce.sampled import any_solution, distances, joined, unequal_steps
from routh.reproduce.statements import CHECKS
from routh.reproduce.verdicts import Finding, StatementVerdict, refuted, works
from routh.sampling import Outcomes, sample, sample_by_steps
from routh.sampling.path_residual import path_residual


@cache
def _wide(name: str) -> Outcomes:
    """Samples with the paper's step, with unequal steps and with any solution of a step."""
    system, problem = systems.get(name), systems.impact(name)
    step = system.paper.step or 1.0
    parts = [sample_by_steps(problem, 2**13, step=step)]
    if problem.nc == 2:
        parts.append(unequal_steps(problem, 256, step, Settings()))
        parts.append(any_solution(problem, 25, step=np.full(2, step), seed=1))
    return joined(parts)


def _claims(name: str, *claims: str) -> Finding:
    """Sentences of `routh.reproduce.statements` on samples of a system; words say what speaks against."""
    against = {claim: CHECKS[name][claim](name, _wide(name)) for claim in claims}
    told = {f"{name}: {claim}": words or "yes" for claim, words in against.items()}
    return works(not any(against.values()), told)


def block_outcomes() -> Finding:
    """Rest and both pivots among samples of the block."""
    return _claims(
        "rocking-block", "the block may rest (A and B stick)", "the block may pivot about A",
        "the block may pivot about B", "A and B never separate both",
    )  # fmt: skip


def block_scaled() -> Finding:
    """Every sample of the block is a sequential outcome times a number between 0 and 1."""
    return _claims("rocking-block", "every outcome is a scaled-down sequential one")


def gait_trailing_foot() -> Finding:
    """The gait's trailing foot sticks, slides or lifts while the leading one sticks."""
    feet = (f"the trailing foot B may {does} while A sticks" for does in ("stick", "slide", "lift"))
    return _claims("compass-gait", *feet)


def gait_leading_foot() -> Finding:
    """The gait's leading foot lifts off while the trailing one stays."""
    return _claims("compass-gait", "A may lift off while B stays on the ground")


def box_slides_faster() -> Finding:
    """A slides on while B lifts off, also faster than after a sequence."""
    return _claims("box-wall", "A may slide on while B lifts off", "A may slide faster than after a sequence")


def box_b_slides() -> Finding:
    """B slides in some sample."""
    return _claims("box-wall", "B may slide instead of lifting or sticking")


def ramone() -> Finding:
    """RAMone's three simultaneous solutions, its feet, and halves of their contact velocities in the set."""
    feet = (f"the trailing foot B may {does} while A sticks" for does in ("stick", "slide", "lift"))
    found = _claims(
        "ramone", "simultaneous resolution has three solutions", *feet, "the leading foot A always sticks"
    )
    exact = exact_set(systems.get("ramone").rational)
    rows = exact.problem.J.reshape(-1, exact.problem.nv)
    images = exact.project(rows)
    solutions, _ = simultaneous_solutions(exact.problem)
    away = [min(distance_to_hull(image, 0.5 * rows @ result.v) for image in images) for result in solutions]
    numbers = {**found.numbers, "halves of the solutions: farthest from the set (m/s)": float(max(away))}
    return works(max(away) < 1e-6 and found.verdict is StatementVerdict.WORKS, numbers)


def _convex_combinations(name: str) -> Finding:
    """Which convex combinations of simultaneous and sequential outcomes lie in the exact set."""
    exact = exact_set(systems.get(name).rational)
    results = [*simultaneous_solutions(exact.problem)[0], *sequences(exact.problem).values()]
    ends = np.unique(np.round([result.v for result in results], 9), axis=0)
    rng = np.random.default_rng(0)
    mixed = rng.dirichlet(np.ones(len(ends)), 400) @ ends
    inside = np.array([bool(exact.contains(v, tolerance=1e-6)) for v in mixed])
    numbers = {"outcomes combined": len(ends), "combinations": 400, "of these in the set": int(inside.sum())}
    return works(bool(inside.any()), numbers)


def gait_combinations() -> Finding:
    """400 convex combinations of the gait's outcomes."""
    return _convex_combinations("compass-gait")


def box_combinations() -> Finding:
    """400 convex combinations of the box's outcomes."""
    return _convex_combinations("box-wall")


def disks_fall_apart() -> Finding:
    """The tower falls apart, a contact that is kept slides, a lower disk lifts off."""
    return _claims(
        DISKS, "the tower may fall apart", "the lower disk on the opposite side may lift off",
        "a contact that is kept may slide",
    )  # fmt: skip


def _refuted_in_fractions(pair: str) -> Finding:
    rational = systems.get(DISKS).rational
    path, number = refuting_path(pair)
    apart = [separation_of(path, contact) for contact in pair]
    mu = float(rational.mu[0])
    numbers: dict[str, float | str] = {
        f"{c} separates at (m/s)": float(x) for c, x in zip(pair, apart, strict=True)
    }
    numbers |= {"straight pieces": len(path.impulses), "sample": number, "friction, a fraction": mu}
    numbers["its distance from sqrt(3)"] = abs(mu - 3**0.5)
    start = np.array([float(x) for x in rational.v])
    numbers["velocity before, distance from the printed"] = float(
        np.abs(start - systems.impact(DISKS).v).max()
    )
    replayed = _paper_residual(path)
    numbers["the same impulses on the printed data: largest residual of (39)"] = replayed
    holds = (
        bool(verify_path(rational, path, path.v[-1])) and min(apart) > Fraction(1, 1000) and replayed < 1e-8
    )
    return refuted(holds, numbers)


def _paper_residual(path: CheckedPath) -> float:
    """`path_residual` of the path's impulses on the disks as printed, in floating point."""
    problem: ImpactProblem = systems.impact(DISKS)
    pushes = np.array([[[float(x) for x in contact] for contact in piece] for piece in path.impulses])
    v = [problem.v]
    for push in pushes:
        v.append(problem.apply(push, v[-1]))
    return path_residual(problem, ImpactPath(np.array(v), pushes, PathKind.TOTAL))


def disks_top() -> Finding:
    """A path of (39), in fractions, after which C and D separate both."""
    return _refuted_in_fractions("CD")


def disks_ground() -> Finding:
    """A path of (39), in fractions, after which A and B separate both."""
    return _refuted_in_fractions("AB")


def compliant_members() -> Finding:
    """Kelvin-Voigt outcomes over ten decades of stiffness ratios against the exact set."""
    system = systems.get("rocking-block")
    exact = exact_set(system.rational)
    normal = np.array([exact.problem.Jn @ v for v in stiffness_sweep(system, RATIOS[::5])])
    images = exact.project(exact.problem.Jn)
    speed = float(np.abs(exact.problem.Jn @ exact.problem.v).max())
    worst = max(min(distance_to_hull(image, point) for image in images) for point in normal) / speed
    return works(worst < 1e-4, {"runs": len(normal), "farthest from the set (share of the speed)": worst})


def compliant_covers() -> Finding:
    """How far along the set's two edges 26 stiffness ratios reach, and the widest gap they leave."""
    system = systems.get("rocking-block")
    problem = systems.impact("rocking-block")
    normal = np.array([problem.Jn @ v for v in stiffness_sweep(system, RATIOS[::2])])
    end = max(float((problem.Jn @ result.v).max()) for result in sequences(problem).values())
    along = np.sort(normal[:, 0] - normal[:, 1]) / end
    widest = float(np.diff(np.concatenate([[-1.0], along, [1.0]])).max())
    numbers = {"largest separation (m/s)": float(normal.max()), "the set's end (m/s)": end}
    numbers["widest gap (share of an edge)"] = widest
    return works(float(normal.max()) > 0.95 * end and widest < 0.25, numbers)


def compliant_tilted() -> Finding:
    """The largest separation over 11 angles to 0.01 degrees beyond the set's end, and by how much."""
    system, problem = systems.get("rocking-block"), systems.impact("rocking-block")
    tilted = np.array(tilt_sweep(system, ANGLES[::5]))
    known = sample_by_steps(problem, 2**12, step=0.3).v
    reach = float((tilted @ problem.Jn.T).max())
    end = max(float((problem.Jn @ result.v).max()) for result in sequences(problem).values())
    numbers = {"largest separation (m/s)": reach, "the set's end (m/s)": end}
    numbers["farthest from samples (share)"] = float(distances(problem, known, tilted).max())
    return works(end < reach < 1.05 * end, numbers)


def compliant_first_corner() -> Finding:
    """The share of the first corner's impulse before the second touches, at both ends of the angles."""
    shares = [
        100.0 * share_before_the_second(systems.get("rocking-block"), float(angle))
        for angle in (ANGLES[0], ANGLES[-1])
    ]
    told = {"at -0.01 degrees (%)": shares[0], "at 0.01 degrees (%)": shares[1]}
    return works(all(round(share, 4) == 99.9992 for share in shares), told)


def damper_88() -> Finding:
    """The damper of (88) as printed and with the root of k m, for m = 1 and m = 9, k = 4e6 N/m."""
    ours = {m: float(KelvinVoigt(stiffness=4e6, damping=5.0, mass=m).dampers(1)[0]) for m in (1.0, 9.0)}
    printed = {m: 10.0 * (4e6 / m) ** 0.5 for m in ours}
    told = {f"m = {m:g}: 2 zeta sqrt(k m), printed (N s/m)": f"{ours[m]:g}, {printed[m]:g}" for m in ours}
    # a damping ratio of zeta is c = 2 zeta sqrt(k m): so is what decides whether m x'' + c x' + k x swings
    return refuted(ours[1.0] == printed[1.0] and ours[9.0] != printed[9.0], told)


def disk_set() -> Finding:
    """Combinations of contact modes among samples of the disks with 5 kg and with 1 kg."""
    counts = {name: len(_wide(name).summary()) for name in ("disk-stack", DISKS)}
    solved = min(float(_wide(name).solved.mean()) for name in counts)
    told = {f"{name}: combinations of modes": float(count) for name, count in counts.items()}
    return works(min(counts.values()) > 10 and solved == 1.0, {**told, "share that ended": solved})


def elastic_sets() -> Finding:
    """Energy of 320 samples of random elastic impacts by Stronge's hypothesis."""
    rng = np.random.default_rng(0)
    gained, beyond, known = -np.inf, -np.inf, 0
    for problem in draws.impacts(20, 40, nc=3):
        elastic = problem.replace(restitution=rng.uniform(0.1, 1.0, 3))
        found = sample(elastic, 8, seed=1)
        ended = np.isfinite(found.v).all(axis=1) & (found.status == Status.SOLVED)
        if not ended.any() or found.stored is None or found.returned is None:
            continue
        unit, known = 0.5 * elastic.speed**2, known + int(ended.sum())
        lost = elastic.kinetic_energy() - found.kinetic_energy[ended]
        gained = max(gained, float((-lost).max()) / unit)
        excess = found.returned[ended] - elastic.restitution**2 * found.stored[ended]
        beyond = max(beyond, float(excess.max()) / unit)
    numbers = {
        "samples": known,
        "largest gain of energy (share)": gained,
        "most returned beyond e^2 of the stored": beyond,
    }
    return works(known > 200 and gained <= 1e-9 and beyond <= 1e-9, numbers)


def outer_set() -> Finding:
    """The block's exact set: an outer set, proved invariant, as near to the inner one as rounding allows."""
    exact = exact_set(systems.get("rocking-block").rational)
    outer = [piece.vertices for piece in exact.outer]
    sealed = verify_invariance(exact.rational, exact.thresholds, exact.region, outer)
    numbers: dict[str, float | str] = {
        "status": exact.status.name,
        "gap between inner and outer (share)": exact.gap,
    }
    return works(
        bool(sealed) and exact.gap < 1e-3, {**numbers, "outer set invariant": "yes" if sealed else "no"}
    )
