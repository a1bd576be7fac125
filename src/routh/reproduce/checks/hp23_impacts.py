"""HP23 sections 2 and 3: friction, single impacts, laws, and the inclusion (39) with its properties."""

from __future__ import annotations

import numpy as np

from routh import laws, systems
from routh.auditing.comparison import sequences, simultaneous_solutions
from routh.base.status import Status
from routh.base.validation import Array
from routh.exact.build import exact_set
from routh.problem.friction import project_disc
from routh.problem.impact import ImpactProblem
from routh.problem.pointedness import pointedness
from routh.problem.termination import terminates
from routh.reproduce import theory
from routh.reproduce.checks import draws
from routh.reproduce.verdicts import Finding, works
from routh.sampling import Outcomes, sample, sample_by_steps
from routh.systems.catalogue import CATALOGUE
from routh.systems.hp23 import block

_POINTED = ("rocking-block", "compass-gait", "box-wall")


def lemma_1() -> Finding:
    """Runs with as many samples as the lemma asks for meet every cell of the box as often as it promises."""
    step, lipschitz, epsilon, delta, runs = 0.3, 2.0, 0.1, 0.05, 2000
    cells = int(np.ceil(step * lipschitz * np.sqrt(2) / epsilon))
    count = theory.dense_sample_count(
        step=step, lipschitz=lipschitz, dimension=2, epsilon=epsilon, delta=delta
    )
    rng = np.random.default_rng(0)
    met = 0
    for _ in range(runs):
        at = (cells * rng.random((count, 2))).astype(int)
        met += len(np.unique(at[:, 0] * cells + at[:, 1])) == cells**2
    least = (1.0 - delta) * runs - 3.0 * np.sqrt(delta * (1.0 - delta) * runs)
    return works(met >= least, {"samples": count, "runs that met every cell": f"{met} of {runs}"})


def unit_inclusion() -> Finding:
    """Implicit steps of dv/ds in -Unit(v): v is zero after |v| / h of them, and stays."""
    rng = np.random.default_rng(0)
    h, late, left = 0.01, 0, 0.0
    for _ in range(50):
        v = rng.normal(size=(1, 2))
        for _ in range(int(np.ceil(np.linalg.norm(v) / h)) + 1):
            v = v - project_disc(v, np.array([h]))
        late += bool(np.any(np.abs(v) > 1e-12))
        left = max(left, float(np.abs(v - project_disc(v, np.array([h]))).max()))
    return works(late == 0 and left < 1e-12, {"starts": 50, "not at zero in time": late, "after": left})


def slides_then_sticks() -> Finding:
    """A block's corner hits at 1 m/s and slides: Routh's path has one piece with slip, then one without."""
    M, Jn, Jt = np.diag([1.0, 1.0, 5.0 / 12.0]), [[0.0, 1.0, -0.5]], [[1.0, 0.0, 1.0]]
    problem = ImpactProblem(M, Jn, Jt, 0.8, [0.9, -1.0, 0.0])
    slip = problem.contact_velocity(laws.SingleContact()(problem).path.v)[:, 0, 1]
    told = ", ".join(f"{value:.4g}" for value in slip)
    return works(
        slip[0] > 0.1 and bool(np.all(np.abs(slip[1:]) < 1e-12)), {"slip at each corner (m/s)": told}
    )


def lemma_2() -> Finding:
    """Routh's method at one contact against kappa times the speed, 200 random impacts."""
    shares = []
    for problem in draws.impacts(1, 200, nc=1):
        spent = laws.SingleContact()(problem).impulse[0, 0]
        shares.append(float(spent / (theory.single_contact_kappa(problem) * problem.speed)))
    return works(max(shares) <= 1.0 + 1e-9, {"impacts": 200, "largest impulse over the bound": max(shares)})


def lzb_is_a_member() -> Finding:
    """The inelastic LZB law over ten decades of stiffness ratios in the exact sets of four systems."""
    outside, tried = 0, 0
    for name in (*_POINTED, "ramone"):
        exact = exact_set(systems.get(name).rational)
        for ratio in 10.0 ** np.arange(-5.0, 6.0, 2.0):
            result = laws.LZB((1.0, float(ratio)))(exact.problem)
            tried += 1
            outside += result.status is not Status.SOLVED or not exact.contains(result.v, tolerance=1e-9)
    return works(outside == 0, {"ratios and systems": tried, "outside the set": outside})


def _told(v: Array) -> str:
    return "(" + ", ".join(f"{value + 0.0:.6f}" for value in np.where(np.abs(v) < 5e-7, 0.0, v)) + ")"


def _simultaneous_and_sequences(name: str, count: int) -> tuple[bool, dict[str, float | str], list[Array]]:
    """Whether (31) has ``count`` solutions, all of them and both sequences as words, and the sequences."""
    problem = systems.impact(name)
    solutions, complete = simultaneous_solutions(problem)
    orders = sequences(problem)
    told: dict[str, float | str] = {
        f"simultaneous {i + 1}": _told(result.v) for i, result in enumerate(solutions)
    }
    told |= {f"sequence {order}": _told(result.v) for order, result in orders.items()}
    after = [problem.Jn @ result.v for result in orders.values()]
    return complete and len(solutions) == count, told, after


def figure_1() -> Finding:
    """The block rests at once, and in sequence pivots about either corner."""
    one, told, (first, second) = _simultaneous_and_sequences("rocking-block", 1)
    pivots = max(first[1], second[0]) < 1e-9 and min(first[0], second[1]) > 0.05
    told["normal velocities after the sequences (m/s)"] = f"{_told(first)}, {_told(second)}"
    return works(one and pivots, told)


def figure_4() -> Finding:
    """All solutions of (31) for the compass gait."""
    three, told, _ = _simultaneous_and_sequences("compass-gait", 3)
    return works(three, told)


def figure_5() -> Finding:
    """The box at the wall rests at once, and in either sequence B lifts off."""
    one, told, after = _simultaneous_and_sequences("box-wall", 1)
    return works(one and min(float(y[1]) for y in after) > 1e-3, told)


def one_contact_is_rouths_method() -> Finding:
    """Samples by events of 100 single contacts against Routh's path in closed form."""
    worst = 0.0
    for problem in draws.impacts(2, 100, nc=1):
        outcomes = _drawn(problem, 4)
        away = np.linalg.norm((outcomes.v - laws.SingleContact()(problem).v) @ problem.cholesky, axis=1)
        worst = max(worst, float(away.max()) / problem.speed)
    return works(worst < 1e-10, {"impacts": 100, "largest distance (share of the speed)": worst})


def _drawn(problem: ImpactProblem, n: int = 16, seed: int = 0) -> Outcomes:
    return sample(problem, n, threads=1, seed=seed)


def theorem_1() -> Finding:
    """Solutions constructed event by event, for random planar impacts whose cone is pointed."""
    open_ends = total = 0
    for problem in draws.impacts(3, 100):
        if pointedness(problem).pointed:
            outcomes = _drawn(problem)
            total += len(outcomes)
            open_ends += int(np.count_nonzero(outcomes.status != Status.SOLVED))
    return works(open_ends == 0, {"solutions": total, "without an end": open_ends})


def theorem_2() -> Finding:
    """Kinetic energy along 1,600 solutions of (39) for random planar impacts, and the momentum of each."""
    gained = unexplained = 0.0
    for problem in draws.impacts(4, 100):
        outcomes = _drawn(problem)
        solved = outcomes.status == Status.SOLVED
        if solved.any():
            before = problem.kinetic_energy()
            gained = max(gained, float((outcomes.kinetic_energy[solved] / before - 1.0).max()))
            off = (outcomes.v - problem.apply(outcomes.impulse))[solved] @ problem.cholesky
            unexplained = max(unexplained, float(np.linalg.norm(off, axis=1).max()) / problem.speed)
    holds = gained <= 1e-9 and unexplained <= 1e-9
    return works(holds, {"largest gain (share)": gained, "momentum unexplained (share)": unexplained})


def lemma_11() -> Finding:
    """The same samples at 2^-30 and 2^7 times the velocity."""
    worst, changed = 0.0, 0
    for problem in draws.impacts(5, 60):
        one = _drawn(problem)
        for factor in (2.0**-30, 2.0**7):
            other = _drawn(problem.replace(v=factor * problem.v))
            changed += int(np.count_nonzero(one.status != other.status))
            solved = (one.status == Status.SOLVED) & (other.status == Status.SOLVED)
            off = np.abs(other.v[solved] / factor - one.v[solved]).max(initial=0.0)
            worst = max(worst, float(off) / problem.speed)
    return works(
        changed == 0 and worst < 1e-8, {"largest difference": worst, "statuses that differ": changed}
    )


def lemma_12() -> Finding:
    """Energy lost on every straight piece of 240 solutions: at least the square of the change of v."""
    least, pieces = np.inf, 0
    for problem in draws.impacts(6, 60):
        outcomes = _drawn(problem, 4, seed=5)
        for i in np.flatnonzero(outcomes.status == Status.SOLVED):
            path = outcomes.path(int(i))
            moved = np.linalg.norm(np.diff(path.v, axis=0) @ problem.cholesky, axis=1) / problem.speed
            lost = -np.diff([problem.kinetic_energy(v) for v in path.v]) / problem.kinetic_energy()
            least = min(least, float((lost - moved**2).min(initial=np.inf)))
            pieces += len(lost)
    return works(least > -1e-9, {"pieces": pieces, "least of energy lost less the square": least})


def assumption_1() -> Finding:
    """The least normal row of every impact of the catalogue: none is zero."""
    least = {}
    for name, entry in CATALOGUE.items():
        if entry.kind == "impact":
            problem = systems.impact(name)
            rows = np.linalg.norm(np.linalg.solve(problem.cholesky, problem.Jn.T), axis=0)
            least[name] = float(rows.min() / rows.max())
    shortest = min(least, key=lambda name: least[name])
    told = f"{least[shortest]:.3g} ({shortest})"
    return works(least[shortest] > 1e-6, {"systems": len(least), "shortest normal over the longest": told})


def assumption_2() -> Finding:
    """Either side of the certificate on 60 random spatial cones: a direction, or forces that cancel."""
    wrong, pointed = 0, 0
    for problem in draws.impacts(7, 60, nt=2):
        cone = pointedness(problem)
        pointed += cone.pointed
        if cone.pointed:
            moved = problem.solve_mass(cone.direction)
            least = problem.Jn @ moved - problem.mu * np.linalg.norm(problem.Jt @ moved, axis=1)
            wrong += bool(np.any(least < 1.0 - 1e-9))
        else:
            left = np.abs(np.einsum("ij,ijv->v", cone.impulse, problem.J)).max()
            wrong += bool(left > 1e-7 * np.abs(problem.J).max())
    return works(wrong == 0, {"pointed": f"{pointed} of 60", "certificates that fail": wrong})


def pointed_cones_end() -> Finding:
    """Impulses of 64 samples against twice the speed times the length of Lemma 6's r."""
    shares = {}
    for name in _POINTED:
        problem = systems.impact(name)
        found = terminates(problem)
        spent = sample_by_steps(problem, 64, step=0.1).impulse[:, :, 0].sum(axis=1)
        shares[name] = float(spent.max() / found.impulse_bound) if found.answer == "proved" else np.inf
    return works(
        max(shares.values()) <= 1.0, {f"{name}: largest over the bound": x for name, x in shares.items()}
    )


def equation_42() -> Finding:
    """Two frictionless contacts along the axes at v_epsilon: the rate of K = v . J^T lambda."""
    rates = {}
    for epsilon in (1e-1, 1e-3, 1e-6):
        v = -(1 + epsilon) / 2 * np.array([1.0, epsilon])
        rate = float(v @ np.array([epsilon, 1.0])) / (1 + epsilon)
        rates[epsilon] = rate if v.max() < 0.0 else np.nan
    holds = all(-epsilon * (1 + 1e-12) <= rate < 0.0 for epsilon, rate in rates.items())
    return works(holds, {f"rate of K at epsilon = {epsilon:g}": rate for epsilon, rate in rates.items()})


def assumptions_3_to_5() -> Finding:
    """Gravity, drag and the bias of the rocking block: the power that smooth forces put in, by |v|_M."""
    model = block(1.0, 2.0, 1.0, 1.0)
    rng = np.random.default_rng(0)
    worst = largest = 0.0
    for _ in range(200):
        q, v = rng.normal(size=3), 10.0 ** rng.uniform(-2, 3) * rng.normal(size=3)
        force = -np.asarray(model.bias(q, v, None))  # F_s: gravity and what turns with the configuration
        speed = float(np.sqrt(v @ model.mass(q) @ v))
        worst = max(worst, float(v @ force) / speed)
        largest = max(largest, float(np.linalg.norm(force)))
    numbers = {
        "largest power over |v|_M (N/kg^0.5)": worst,
        "bound: gravity's own": 9.81,
        "largest |F_s| (N)": largest,
    }
    return works(worst <= 9.81 * (1 + 1e-9) and np.isfinite(largest), numbers)
