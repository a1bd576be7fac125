"""HP23 section 5: one step as an LCP, Algorithm 1, its guarantees, and Assumption 6."""

from __future__ import annotations

import numpy as np

from routh import systems
from routh.auditing.comparison import simultaneous_solutions
from routh.base.status import Status
from routh.base.validation import Array
from routh.exact.build import exact_set
from routh.problem.impact import ImpactProblem
from routh.problem.pointedness import pointedness
from routh.reproduce import theory
from routh.reproduce.checks import draws
from routh.reproduce.hp23 import EPSILON, NET, STEPS, TABLE_3
from routh.reproduce.unique import lipschitz_constant, uniqueness
from routh.reproduce.verdicts import Finding, explained, refuted, unsettled, works
from routh.sampling import sample, sample_by_steps
from routh.sampling.algorithm1 import psi
from routh.step import PolyhedralStep
from routh.systems.catalogue import CATALOGUE

_SYSTEMS = ("rocking-block", "compass-gait", "box-wall")


def _bound(problem: ImpactProblem, rng: np.random.Generator) -> Array:
    return problem.scaling.impulse * rng.random(problem.nc) * 10.0 ** rng.uniform(-1.0, 1.0)


def theorem_6() -> Finding:
    """Lemke's method on 300 random steps, planar and with friction polygons in space."""
    rng = np.random.default_rng(1)
    unsolved, worst = 0, 0.0
    for nt in (1, 2):
        for problem in draws.impacts(8 + nt, 150, nt=nt):
            step, bound = PolyhedralStep(problem), _bound(problem, rng)
            result = step.solve(problem.v, bound)
            unsolved += result.status is not Status.SOLVED
            worst = max(worst, float(step.residual(problem.v, bound, result.impulse)))
    return works(
        unsolved == 0 and worst < 1e-9, {"steps": 300, "unsolved": unsolved, "largest residual": worst}
    )


def steps_as_lcps() -> Finding:
    """Lemke's answer among all solutions of (75), by trying every basis, and the residual of each."""
    rng = np.random.default_rng(2)
    missing, worst, several = 0, 0.0, 0
    chosen = [problem for problem in draws.impacts(11, 60) if problem.nc <= 2]
    for problem in chosen:
        step, bound = PolyhedralStep(problem), _bound(problem, rng)
        v, every = step.solve(problem.v, bound).v, step.solutions(problem.v, bound)
        away = [np.linalg.norm((other.v - v) @ problem.cholesky) / problem.speed for other in every]
        missing += not min(away, default=np.inf) < 1e-6
        several += len(every) > 1
        worst = max(worst, *(float(step.residual(problem.v, bound, other.impulse)) for other in every))
    numbers = {"steps": len(chosen), "with several solutions": several}
    return works(
        missing == 0 and worst < 1e-7,
        numbers | {"Lemke's not among them": missing, "largest residual": worst},
    )


def every_solution_of_random_steps() -> Finding:
    """All solutions of 120 random steps of three systems: energy (Theorem 7), bounds used up (Lemma 13)."""
    rng = np.random.default_rng(5)
    gained, unused, count = -np.inf, 0, 0
    for name in _SYSTEMS:
        system = systems.get(name)
        problem, size = systems.impact(name), system.paper.step or 0.3
        step = PolyhedralStep(problem)
        for _ in range(40):
            v = problem.v * rng.random() + 0.4 * np.linalg.norm(problem.v) * rng.normal(size=problem.nv)
            bound = size * rng.random(problem.nc)
            for found in step.solutions(v, bound):
                count += 1
                before, after = float(problem.kinetic_energy(v)), float(problem.kinetic_energy(found.v))
                gained = max(gained, after / before - 1.0)
                full = bool(np.any(found.impulse[:, 0] >= bound * (1 - 1e-9)))
                ended = bool(np.all(problem.Jn @ found.v >= -1e-9 * problem.speed))
                unused += not (full or ended)
    numbers = {"solutions": count, "largest gain of energy (share)": gained, "neither full nor ended": unused}
    return works(gained <= 1e-9 and unused == 0, numbers)


def lemma_6() -> Finding:
    """r(q) against 20 random forces of each of 100 random cones: r . M^-1 F >= the normal impulse."""
    rng = np.random.default_rng(3)
    least, cones = np.inf, 0
    for problem in draws.impacts(12, 100):
        cone = pointedness(problem, friction="polyhedral")
        if cone.pointed:
            cones += 1
            normal = rng.random((20, problem.nc))
            slip = normal * problem.mu * rng.uniform(-1.0, 1.0, (20, problem.nc))
            forces = normal @ problem.Jn + slip @ problem.Jt[:, 0]
            least = min(
                least, float((forces @ problem.solve_mass(cone.direction) / normal.sum(axis=1)).min())
            )
    return works(least >= 1.0 - 1e-6, {"cones": cones, "least of r . M^-1 F over the normal impulse": least})


def theorem_8() -> Finding:
    """Steps of 4,096 samples of three systems against the bound that holds with probability 0.999."""
    over, told = 0, {}
    for name in _SYSTEMS:
        system = systems.get(name)
        problem, step = systems.impact(name), system.paper.step or 0.3
        bound = theory.termination_bound(problem, step=step, probability=0.999)
        most = int(sample_by_steps(problem, 4096, step=step).steps.max())
        over += most > bound
        told[name] = f"{most} of {bound:g}"
    return works(over == 0, {f"{name}: most steps, and the bound": text for name, text in told.items()})


def lemma_8() -> Finding:
    """Steps where nothing approaches, and steps without a bound to use: the velocity stays."""
    rng = np.random.default_rng(4)
    moved = 0
    for problem in draws.impacts(13, 100):
        step = PolyhedralStep(problem)
        still = step.solve(problem.v, np.zeros(problem.nc)).v
        moved += bool(np.abs(still - problem.v).max() > 1e-9)
        away: Array = np.linalg.lstsq(problem.Jn, np.abs(rng.normal(size=problem.nc)))[0].astype(np.float64)
        if np.all(problem.Jn @ away >= 0.0):
            moved += bool(np.abs(step.solve(away, _bound(problem, rng)).v - away).max() > 1e-9)
    return works(moved == 0, {"problems": 100, "steps that moved": moved})


def proposition_3() -> Finding:
    """Differences of 400 pairs of the block's steps, near and far, over the constant of its pieces."""
    problem = systems.impact("rocking-block")
    step, constant = PolyhedralStep(problem), lipschitz_constant(problem)
    rng = np.random.default_rng(6)
    largest = 0.0
    for _ in range(400):
        size = 10.0 ** rng.uniform(-6.0, 0.0)
        v, bound = rng.normal(size=3), rng.random(2)
        other, wider = v + size * rng.normal(size=3), np.maximum(bound + size * rng.normal(size=2), 0.0)
        change = np.linalg.norm(step.solve(v, bound).v - step.solve(other, wider).v)
        largest = max(largest, float(change / np.linalg.norm(np.concatenate([v - other, bound - wider]))))
    return works(
        largest <= constant * (1 + 1e-9), {"Lemma 7's L": constant, "largest quotient of 400 pairs": largest}
    )


def _net() -> theory.NetBound:
    problem, step = systems.impact("rocking-block"), systems.get("rocking-block").paper.step or 0.3
    return theory.net_bound(problem, step=step, epsilon=EPSILON, max_steps=STEPS)


def lemma_9() -> Finding:
    """50 velocities of the block that have nearly ended: one step of epsilon / (3 psi) ends each."""
    block = systems.impact("rocking-block")
    bound, rng = _net(), np.random.default_rng(1)
    small, step = EPSILON / (3 * psi(block)), PolyhedralStep(block)
    least = np.inf
    for _ in range(50):
        wanted = rng.uniform(-1.0, 1.0, size=2) * bound.separation
        v = np.array([rng.normal(), wanted.mean(), wanted[1] - wanted[0]])
        least = min(least, float((block.Jn @ step.solve(v, np.full(2, small)).v).min()))
    return works(
        least >= -1e-12, {"delta (m/s)": bound.separation, "least normal velocity after (m/s)": least}
    )


def theorem_9() -> Finding:
    """The runs that (171) asks for: a number, and a hopeless one."""
    bound = _net()
    step = systems.get("rocking-block").paper.step or 0.3
    runs = theory.approximation_sample_count(
        step=step, lipschitz=bound.lipschitz, max_steps=STEPS, contacts=2, net=NET, delta=0.05
    )
    numbers: dict[str, float | str] = {
        "L": bound.lipschitz,
        f"runs, N = {STEPS}, epsilon' = {NET:g}": f"{runs:.1e}",
        "N itself": "given",
    }
    return works(np.isfinite(bound.log10_runs) and runs > 1, numbers)


def _assumption_6(name: str) -> tuple[str, dict[str, float | str]]:
    problem = systems.impact(name)
    found = uniqueness(problem)
    numbers: dict[str, float | str] = {"verdict": found.verdict, "by": found.reason}
    if found.v is None or found.lambda_max is None:
        return found.verdict, numbers
    step = PolyhedralStep(problem)
    apart = found.solutions[0].v - found.solutions[1].v
    numbers["apart (share of the speed)"] = float(np.linalg.norm(apart @ problem.cholesky) / problem.speed)
    worst = max(float(step.residual(found.v, found.lambda_max, one.impulse)) for one in found.solutions)
    numbers["largest residual of both"] = worst
    return (found.verdict if worst < 1e-9 else "undecided"), numbers


def assumption_6_block() -> Finding:
    """Linear programs over pairs of contact modes: no step of the block has two velocities after it."""
    verdict, numbers = _assumption_6("rocking-block")
    return works(verdict == "certified", numbers)


def assumption_6_elsewhere() -> Finding:
    """Two velocities after one step of the box and wall, and of the disk stack."""
    return _both_refuted({"box and wall": "box-wall", "disks": "disk-stack"})


def assumption_6_walkers() -> Finding:
    """Two velocities after one step of the compass gait, and of RAMone: what the paper says."""
    return _both_refuted({"compass gait": "compass-gait", "RAMone": "ramone"})


def _both_refuted(names: dict[str, str]) -> Finding:
    answers = {label: _assumption_6(name) for label, name in names.items()}
    told = {f"{label}: {what}": x for label, (_, numbers) in answers.items() for what, x in numbers.items()}
    return works(all(verdict == "refuted" for verdict, _ in answers.values()), told)


def assumption_6_is_decidable() -> Finding:
    """Verdicts of random planar problems against all solutions of steps at random velocities."""
    wrong, verdicts = 0, dict.fromkeys(("certified", "refuted", "undecided"), 0)
    rng = np.random.default_rng(0)
    for problem in draws.impacts(14, 12, nc=2):
        found = uniqueness(problem, budget=20.0)
        verdicts[found.verdict] += 1
        step = PolyhedralStep(problem)
        if found.v is not None and found.lambda_max is not None:
            wrong += len(step.solutions(found.v, found.lambda_max)) < 2
        for _ in range(5 if found.verdict == "certified" else 0):
            velocity, bound = rng.normal(size=problem.nv), _bound(problem, rng)
            wrong += len(step.solutions(velocity, bound)) != 1
    decided = verdicts["undecided"] == 0
    return works(
        decided and wrong == 0, {**{k: float(n) for k, n in verdicts.items()}, "contradicted": wrong}
    )


def finite_steps_leave_the_set() -> Finding:
    """Ends of Algorithm 1 outside the exact set of (39): a block slides into a wall, three step sizes."""
    exact = exact_set(systems.get("block-into-wall").rational)
    told: dict[str, float | str] = {"exact set": exact.status.name}
    farthest = []
    for step in (1.0, 0.03, 0.003):
        drawn = sample_by_steps(exact.problem, 2**13, step=step, max_steps=4000)
        away = exact.outer.violation(drawn.v[drawn.solved])
        farthest.append(float(away.max()))
        told[f"step {step:g} N s: farthest outside (share of the speed)"] = farthest[-1]
        told[f"step {step:g} N s: samples outside"] = f"{np.count_nonzero(away > 1e-9)} of {len(away)}"
    members = sample(exact.problem, 2**13)
    inside = float(exact.outer.violation(members.v[members.solved]).max())
    told["by events: farthest outside"] = inside
    return refuted(farthest[0] > 1e-2 and farthest[2] < 0.1 * farthest[0] and inside < 1e-9, told)


def _counts(names: tuple[str, ...]) -> dict[str, float]:
    counts = {}
    for name in names:
        step = systems.get(name).paper.step
        counts[name] = float(sample_by_steps(systems.impact(name), 2**13, step=step).steps.mean())
    return counts


def table_3_handful() -> Finding:
    """LCPs per sample of all five systems, solved exactly."""
    counts = _counts(tuple(TABLE_3))
    return works(max(counts.values()) < 10.0, {f"{name}: LCPs per sample": x for name, x in counts.items()})


def table_3_disks() -> Finding:
    """The disks' mean number of LCPs, exact, against the printed 9.04."""
    count = _counts(("disk-stack-5kg",))["disk-stack-5kg"]
    return unsettled(abs(count - 9.04) < 0.05, {"exact": count, "printed": 9.04})


def table_3_with_path() -> Finding:
    """The authors' loop with PATH 5.2 itself, at its own tolerance and at 1e-12."""
    from routh.reproduce.path_solver import SYSTEMS, counted

    numbers: dict[str, float | str] = {}
    because = True
    for name in SYSTEMS:
        exact = _counts((name,))[name]
        default, strict = counted(name, 1500), counted(name, 1500, tolerance=1e-12)
        numbers[name] = (
            f"paper {TABLE_3[name][1]:g}, exact {exact:.3f}, PATH {default.mean:.3f} +- {default.error:.3f} "
            f"({100 * default.stuck:.1f} % stuck until N, {100 * default.still:.1f} % without impulse), "
            f"PATH at 1e-12 {strict.mean:.3f} +- {strict.error:.3f}"
        )
        if name == "compass-gait":  # ties: the solution that PATH takes hangs on the last bits of W
            means = [counted(name, 600, tolerance=1e-12, last_bits=i).mean for i in range(6)]
            numbers["compass-gait, W changed by 1e-15"] = f"{min(means):.2f} to {max(means):.2f}"
            because &= min(means) < TABLE_3[name][1] < max(means)
        else:
            because &= default.still == default.stuck > 0.005 and strict.stuck == 0.0
            because &= abs(strict.mean - exact) < 4.0 * strict.error and default.mean > strict.mean
    return explained(because, numbers)


def a_few_times_one_lcp() -> Finding:
    """LCPs per sample over the one LCP of (31): what a sample costs more than simultaneous resolution."""
    counts = _counts(("rocking-block", "compass-gait", "box-wall", "ramone"))
    return works(max(counts.values()) < 5.0, {f"{name}: times one LCP": x for name, x in counts.items()})


def parameters() -> Finding:
    """Every impact of Tables 4 to 8 is in the catalogue with the paper's step, samples and an approach."""
    names = ("rocking-block", "compass-gait", "box-wall", "ramone", "disk-stack")
    wrong = [
        name
        for name in names
        if not (systems.impact(name).approaching.any() and CATALOGUE[name].source.startswith("HP23 Table"))
        or systems.get(name).paper.samples not in (2**14, 2**18, 2**20)
    ]
    return works(not wrong, {"systems": len(names), "wrong": ", ".join(wrong) or "none"})


def disks_mass() -> Finding:
    """The largest separation of the disks' samples with 1 kg and with 5 kg, at the paper's step."""
    reach = {}
    for name in ("disk-stack", "disk-stack-5kg"):
        drawn = sample_by_steps(systems.impact(name), 2**12, step=systems.get(name).paper.step)
        reach[name] = float(drawn.contact_velocity[drawn.solved][:, :, 0].max())
        reach[f"{name}: LCPs"] = float(drawn.steps.mean())
    numbers = {
        "largest separation, 1 kg (m/s)": reach["disk-stack"],
        "largest separation, 5 kg (m/s)": reach["disk-stack-5kg"],
        "LCPs per sample, 1 kg": reach["disk-stack: LCPs"],
        "LCPs per sample, 5 kg": reach["disk-stack-5kg: LCPs"],
        "LCPs per sample, printed": 9.04,
    }
    near = abs(reach["disk-stack-5kg: LCPs"] - 9.04) < abs(reach["disk-stack: LCPs"] - 9.04)
    return refuted(near and reach["disk-stack"] != reach["disk-stack-5kg"], numbers)


def disks_simultaneous() -> Finding:
    """All solutions of (31) of the disk stack, 2^20 bases."""
    found, complete = simultaneous_solutions(systems.impact("disk-stack"), enumerated=5)
    numbers = {"solutions": len(found), "largest velocity (m/s)": float(np.abs(found[0].v).max())}
    return works(complete and len(found) == 1 and numbers["largest velocity (m/s)"] < 1e-9, numbers)
