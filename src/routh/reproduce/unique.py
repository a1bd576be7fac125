"""Does a step have one outcome only? HP23 Assumption 6, certified or refuted; and Lemma 7's constant.

In the plane it is decided by linear programs over pairs of contact modes (`_PairSearch`). A solution of
HP23 (75) puts every contact into one of seven modes: it does not push; or it pushes with less than its bound
and rests, or with all of its bound and does not separate; and then it sticks or slides to either side. For
two modes a contact, pairs of solutions of the same step, for all velocities and all ``lambda_max`` at once,
are a polyhedral cone, so a linear program says whether two velocities differ there.

Most pairs need no program. Two solutions differ by impulses ``d`` and contact velocities ``e = G d``, and
``0 < d . G d = sum_i d_n,i e_n,i + d_t,i e_t,i``. Clipping is monotone, ``d_n,i e_n,i <= 0``, so some
contact has ``d_t,i e_t,i > 0``: twenty of its 49 pairs of modes allow that. From there pairs of the other
contacts are added one by one, and a branch is left where already the contacts so far leave no difference.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Literal

import numpy as np

from routh.base import tolerances
from routh.base.results import Result
from routh.base.status import InputError, Status
from routh.base.validation import Array, integer, real
from routh.problem.impact import ImpactProblem
from routh.step.base import StepResult, residual_tolerance, scaled_delassus
from routh.step.polyhedral import PolyhedralStep

MOST_CONTACTS = 4  # of `lipschitz_constant`: 7^4 modes
FREE, REST, FULL = "free", "rest", "full"  # does not push; rests below its bound; pushes with all of it
STICK, FORWARDS, BACKWARDS, SMOOTH, ANY = "stick", "forwards", "backwards", "smooth", "any"
Mode = tuple[str, str]  # of the normal, of friction
#: A step with two solutions: velocity (nv,), bounds (nc,) and both impulses (2, nc, 2), in SI units.
Witness = tuple[Array, Array, Array]
#: A difference of velocities below this share of the impulses' effect is rounding of the programs.
SAME = 1e-7
#: Friction of both solutions with which more friction can go with more slip: d_t e_t > 0 for e_t > 0.
_LEADING = {
    (FORWARDS, FORWARDS), (BACKWARDS, BACKWARDS), (FORWARDS, STICK), (STICK, BACKWARDS),
    (SMOOTH, FORWARDS), (SMOOTH, STICK), (BACKWARDS, SMOOTH), (STICK, SMOOTH),
}  # fmt: skip


def modes_of(smooth: bool) -> list[Mode]:
    """The modes of one contact; one without friction has three."""
    frictions = (SMOOTH,) if smooth else (STICK, FORWARDS, BACKWARDS)
    return [(FREE, SMOOTH), *product((REST, FULL), frictions)]


def mode_rows(
    mode: Mode, push: Array, drag: Array, y: Array, t: Array, mu: float
) -> tuple[list[Array], list[Array]]:
    """Rows that are zero and rows that are not positive in a mode of a contact, but for its bound.

    Given are the rows of its normal impulse and friction, and of its normal velocity and slip after.
    """
    normal, friction = mode
    if normal == FREE:
        return [push, drag], [-y]
    zero: list[Array] = []
    below, limit = [-push], mu * push
    (zero if normal == REST else below).append(y)
    if friction == SMOOTH:
        zero.append(drag)
    elif friction in (STICK, ANY):
        below += [drag - limit, -drag - limit]
        if friction == STICK:
            zero.append(t)
    else:
        side = 1.0 if friction == FORWARDS else -1.0
        zero.append(drag + side * limit)
        below.append(-side * t)
    return zero, below


@dataclass(eq=False)
class _PairSearch:
    """Search for two solutions of one step. Variables: velocity after the first, then impulses of both."""

    problem: ImpactProblem
    deadline: float
    programs: int = 0  # linear programs solved
    rounding: float = 0.0  # the largest difference that was taken for zero, scaled
    late: bool = False
    unsure: bool = False  # the solver gave up on a pair of modes
    _rows: dict[tuple[int, Mode, Mode], tuple[Array, Array]] = field(default_factory=dict)

    def witness(self) -> Witness | None:
        """Two solutions; where there is none, ``late`` and ``unsure`` say whether every pair was seen."""
        for leader in np.flatnonzero(self.problem.mu > 0.0):
            found = self.from_leader(int(leader))
            if found is not None or self.late:
                return found
        return None

    @cached_property
    def size(self) -> int:
        return self.problem.nv + 4 * self.problem.nc

    def impulse(self, which: int, i: int) -> tuple[Array, Array]:
        """Normal impulse and friction of a contact in one solution, as rows over the variables.

        The variable of a normal impulse is ``(1 + mu)`` times it: large friction has no large numbers.
        """
        unit = np.eye(self.size)
        at = self.problem.nv + 2 * (which * self.problem.nc + i)
        return unit[at] / (1.0 + self.problem.mu[i]), unit[at + 1]

    @cached_property
    def impulses(self) -> Array:
        """All impulses of both solutions, (2, 2 nc, size)."""
        return np.array(
            [[row for i in range(self.problem.nc) for row in self.impulse(which, i)] for which in (0, 1)]
        )

    @cached_property
    def velocities(self) -> Array:
        """Contact velocities after, of both solutions, (2, 2 nc, size), in the problem's own units."""
        root = np.sqrt(self.problem.scaling.mass)[:, None, None]
        J = (root * self.problem.J).reshape(-1, self.problem.nv)
        first = np.zeros((len(J), self.size))
        first[:, : self.problem.nv] = np.linalg.solve(self.problem.cholesky, J.T).T
        change = scaled_delassus(self.problem) @ (self.impulses[0] - self.impulses[1])
        return np.array([first, first - change])

    def pair(self, i: int, first: Mode, second: Mode) -> tuple[Array, Array]:
        """Rows that are zero and rows that are not positive, for these modes of a contact."""
        key = (i, first, second)
        if key in self._rows:
            return self._rows[key]
        zero, below = list[Array](), list[Array]()
        for which, mode in enumerate((first, second)):
            y, t = self.velocities[which, 2 * i : 2 * i + 2]
            rows = mode_rows(mode, *self.impulse(which, i), y, t, float(self.problem.mu[i]))
            zero += rows[0]
            below += rows[1]
        more = self.impulse(0, i)[0] - self.impulse(1, i)[0]
        bounds = (first[0], second[0])
        if bounds == (FULL, FULL):
            zero.append(more)
        elif bounds == (FULL, REST):
            below.append(-more)
        elif bounds == (REST, FULL):
            below.append(more)
        self._rows[key] = (np.array(zero).reshape(-1, self.size), np.array(below))
        return self._rows[key]

    def cone(self, i: int) -> tuple[Array, Array]:
        """What holds of a contact in any modes: both impulses lie in the friction cone."""
        below = []
        for which in (0, 1):
            push, drag = self.impulse(which, i)
            limit = self.problem.mu[i] * push
            below += [-push, drag - limit, -drag - limit]
        return np.zeros((0, self.size)), np.array(below)

    def from_leader(self, leader: int) -> Witness | None:
        """Pairs in which this contact slips faster in the first solution although friction drags less."""
        for first, second in product(modes_of(False), repeat=2):
            if (first[1], second[1]) not in _LEADING or (first[0], second[0]) == (FULL, FULL):
                continue
            found = self.extend(leader, {leader: (first, second)})
            if found is not None or self.late:
                return found
        return None

    def extend(self, leader: int, chosen: dict[int, tuple[Mode, Mode]]) -> Witness | None:
        """Add the modes of one more contact where a difference is left, depth first."""
        if time.monotonic() > self.deadline:
            self.late = True
            return None
        point = self.largest_difference(leader, chosen)
        if point is None:
            return None
        undecided = [i for i in range(self.problem.nc) if i not in chosen or ANY in (f for _, f in chosen[i])]
        if not undecided:
            unclear = bool(np.isnan(point).any())
            self.unsure = self.unsure or unclear
            return None if unclear else self.read(point, chosen)
        i = undecided[0]
        for pair in self.by_promise(i, self.refinements(i, chosen.get(i)), point):
            found = self.extend(leader, {**chosen, i: pair})
            if found is not None or self.late:
                return found
        return None

    def refinements(self, i: int, pair: tuple[Mode, Mode] | None) -> list[tuple[Mode, Mode]]:
        """What the normals of a contact can do in both solutions; then, for given normals, its friction."""
        if pair is None:
            friction = ANY if self.problem.mu[i] > 0.0 else SMOOTH
            each = [(FREE, SMOOTH), (REST, friction), (FULL, friction)]
            return list(product(each, each))
        options = [
            [(normal, f) for f in ((STICK, FORWARDS, BACKWARDS) if friction == ANY else (friction,))]
            for normal, friction in pair
        ]
        return list(product(options[0], options[1]))

    def by_promise(self, i: int, pairs: list[tuple[Mode, Mode]], point: Array) -> list[tuple[Mode, Mode]]:
        """Pairs of modes of a contact, those first that the point at hand breaks the least."""

        def broken(pair: tuple[Mode, Mode]) -> float:
            zero, below = self.pair(i, *pair)
            return float(np.abs(zero @ point).sum() + np.maximum(below @ point, 0.0).sum())

        return sorted(pairs, key=broken)

    def largest_difference(self, leader: int, chosen: dict[int, tuple[Mode, Mode]]) -> Array | None:
        """Variables (size,) with the largest difference of the leader's slip; None where there is none."""
        from scipy.optimize import linprog

        parts = [self.pair(i, *chosen[i]) if i in chosen else self.cone(i) for i in range(self.problem.nc)]
        slip = self.velocities[:, 2 * leader + 1]
        total = np.zeros((1, self.size))
        total[0, self.problem.nv :: 2] = 1.0
        friction = self.impulse(1, leader)[1] - self.impulse(0, leader)[1]  # the leader's grows with its slip
        below = np.concatenate([part[1] for part in parts] + [friction[None], total])
        limits = np.zeros(len(below))
        limits[-1] = 1.0
        zero = np.concatenate([part[0] for part in parts])
        self.programs += 1
        for tolerance, method in ((1e-10, "highs-ds"), (1e-9, "highs"), (1e-7, "highs-ipm")):
            answer = linprog(
                slip[1] - slip[0], below, limits, zero, np.zeros(len(zero)), (None, None), method,
                options={"presolve": method == "highs", "primal_feasibility_tolerance": tolerance},
            )  # fmt: skip
            if answer.success:  # zero is feasible and impulses are bounded: an optimum exists
                if -answer.fun > SAME:
                    return np.asarray(answer.x)
                self.rounding = max(self.rounding, -answer.fun)
                return None
        return np.full(self.size, np.nan)  # the solver gave up: a difference is not ruled out

    def read(self, point: Array, chosen: dict[int, tuple[Mode, Mode]]) -> Witness:
        """A point of the last program as a step, at the problem's own speed."""
        problem, nv = self.problem, self.problem.nv
        scale = problem.scaling
        impulses = np.einsum("sjk,k->sj", self.impulses, point).reshape(2, problem.nc, 2)
        impulses = impulses * (scale.impulse / scale.speed)[:, None]
        after = np.linalg.solve(problem.cholesky.T, point[:nv])
        v = problem.apply(-impulses[0], after)
        bound = impulses[:, :, 0].max(axis=0)
        for i, pair in chosen.items():
            for which, (normal, _) in enumerate(pair):
                if normal == FULL:
                    bound[i] = impulses[which, i, 0]
        size = scale.speed / np.sqrt(2.0 * problem.kinetic_energy(v))
        return v * size, bound * size, impulses * size


@dataclass(frozen=True, eq=False)
class Uniqueness(Result):
    """The verdict on HP23 Assumption 6 for all velocities and all ``lambda_max`` of one problem."""

    verdict: Literal["certified", "refuted", "undecided"]
    reason: str
    v: Array | None = None  # (nv,) where refuted: the velocity ...
    lambda_max: Array | None = None  # (nc,) ... and bound at which the step has ...
    solutions: tuple[StepResult, ...] = ()  # ... these two different solutions

    @property
    def status(self) -> Status:
        """UNDECIDED where it is neither certified nor refuted."""
        return Status.UNDECIDED if self.verdict == "undecided" else Status.SOLVED


def uniqueness(
    problem: ImpactProblem,
    *,
    facets: int | None = None,
    trials: int = 200,
    seed: int = 0,
    budget: float | None = None,
) -> Uniqueness:
    """Certify or refute that every step of this problem has a single velocity after it.

    Weak friction is certified at once: two solutions of one step differ by ``d`` (impulses) with
    ``d^T G d <= sum_i mu_i |d_n,i| |(G d)_t,i|``, because clipping and friction are monotone. Where
    ``G - sum_i sigma_i mu_i sym(e_n,i (G)_t,i)`` is positive definite for all signs, d must vanish; in
    space the product is split by its arithmetic-geometric bound.

    In the plane linear programs over pairs of contact modes decide the rest (`routh.reproduce.unique`), for
    at most ``budget`` seconds. In space two solutions are only looked for, from different covering vectors at
    ``trials`` velocities, the problem's own and random ones.
    """
    integer("trials", trials, at_least=0)
    seconds = math.inf if budget is None else real("budget", budget, at_least=0.0)
    if not np.any(problem.mu > 0.0):
        return Uniqueness("certified", "without friction the step is a monotone problem")
    if _strictly_monotone(problem):
        return Uniqueness("certified", "friction is weak enough for the step to be strictly monotone")
    if problem.nt == 1:
        return _by_modes(problem, seconds)
    witness = _two_solutions(problem, facets, trials, seed)
    if witness is not None:
        v, lambda_max, pair = witness
        return Uniqueness("refuted", "two solutions of one step were found", v, lambda_max, pair)
    return Uniqueness("undecided", f"no certificate, and no second solution in {trials} trials")


def _by_modes(problem: ImpactProblem, seconds: float) -> Uniqueness:
    """The verdict of the programs over pairs of modes; a witness counts where its residuals do."""
    search = _PairSearch(problem, time.monotonic() + seconds)
    found = search.witness()
    if found is not None:
        pair = _solutions_of(problem, found)
        why = "two solutions of one step were found by a linear program over pairs of contact modes"
        if pair is None:
            return Uniqueness("undecided", "two solutions were found, but rounding hides if they are")
        return Uniqueness("refuted", why, *found[:2], pair)
    if search.late or search.unsure:
        return Uniqueness("undecided", f"no second solution in {search.programs} programs")
    why = f"no pair of contact modes allows two ({search.programs} programs, zero to {search.rounding:.0e})"
    return Uniqueness("certified", why)


def _solutions_of(problem: ImpactProblem, found: Witness) -> tuple[StepResult, StepResult] | None:
    """Both solutions with their residuals, or None where these are too large or the velocities equal."""
    (v, lambda_max, impulses), step, results = found, PolyhedralStep(problem), []
    for impulse in impulses:
        residual = step.residual(v, lambda_max, impulse)
        after = problem.apply(impulse, v)
        results.append(StepResult(after, impulse, Status.SOLVED, residual, "mode pairs"))
    first, second = results
    distance = np.sqrt(2.0 * problem.kinetic_energy(first.v - second.v))
    solved = max(first.residual, second.residual) < residual_tolerance(problem.mu)
    different = distance > 1e3 * tolerances.SAME_VELOCITY * problem.scaling.speed
    return (first, second) if solved and different else None


def _strictly_monotone(problem: ImpactProblem) -> bool:
    G = scaled_delassus(problem)
    nc, width = problem.nc, 1 + problem.nt
    if nc > 12:
        return False
    if problem.nt == 1:
        for signs in product((-1.0, 1.0), repeat=nc):
            shifted = G.copy()
            for i, sign in enumerate(signs):
                row = 0.5 * sign * problem.mu[i] * G[i * width + 1]
                shifted[i * width] -= row
                shifted[:, i * width] -= row
            if not np.linalg.eigvalsh(shifted)[0] > tolerances.RESIDUAL:
                return False
        return True
    # mu |a| |b| <= mu (tau a^2 + |b|^2 / tau) / 2 with one tau for all contacts
    for tau in np.geomspace(0.1, 10.0, 21):
        shifted = G.copy()
        for i in range(nc):
            tangents = G[i * width + 1 : (i + 1) * width]
            shifted[i * width, i * width] -= 0.5 * problem.mu[i] * tau
            shifted -= 0.5 * problem.mu[i] / tau * tangents.T @ tangents
        if np.linalg.eigvalsh(shifted)[0] > tolerances.RESIDUAL:
            return True
    return False


def _two_solutions(
    problem: ImpactProblem, facets: int | None, trials: int, seed: int
) -> tuple[Array, Array, tuple[StepResult, StepResult]] | None:
    rng = np.random.default_rng(seed)
    unit = problem.scaling
    size = PolyhedralStep(problem, facets=facets).size
    for trial in range(trials):
        v = problem.v if trial % 2 == 0 else _random_velocity(problem, rng)
        lambda_max = unit.impulse * rng.random(problem.nc) * 10.0 ** rng.uniform(-2.0, 1.0)
        first: StepResult | None = None
        for attempt in range(4):
            cover = np.ones(size) if attempt == 0 else 10.0 ** rng.uniform(-2.0, 2.0, size)
            result = PolyhedralStep(problem, facets=facets, cover=cover).solve(v, lambda_max)
            if result.status is not Status.SOLVED:
                continue
            if first is None:
                first = result
                continue
            distance = np.sqrt(2.0 * problem.kinetic_energy(result.v - first.v))
            if distance > 1e3 * tolerances.SAME_VELOCITY * unit.speed:
                return v, lambda_max, (first, result)
    return None


def _random_velocity(problem: ImpactProblem, rng: np.random.Generator) -> Array:
    """A velocity of the same kinetic energy in a random direction."""
    direction = rng.normal(size=problem.nv)
    direction *= problem.scaling.speed / np.linalg.norm(direction)
    return np.asarray(np.linalg.solve(problem.cholesky.T, direction), dtype=np.float64)


def lipschitz_constant(problem: ImpactProblem) -> float:
    """The Lipschitz constant of ``f_q(v, lambda_max)`` in the Euclidean norm, HP23 Lemma 7, in the plane.

    It says how much a step of HP23 (75) can magnify a change of its velocity or bound.
    Under Assumption 6 (`routh.step.uniqueness`) a step is a continuous function of ``(v, lambda_max)``, which
    is linear wherever the contact modes stay the same. Its constant is the largest norm of these linear maps
    over all modes that hold in an open set; others are their common borders. Without Assumption 6 the number
    bounds the step's pieces, and not what a change of solution does.
    """
    if problem.nt != 1:
        raise InputError("problem", wrong="is in space", wanted="a planar one")
    if problem.nc > MOST_CONTACTS:
        raise InputError("problem", wrong=f"has {problem.nc} contacts", wanted=f"at most {MOST_CONTACTS}")
    each = [modes_of(not mu > 0.0) for mu in problem.mu]
    return max(_norm(problem, modes) for modes in product(*each))


def _norm(problem: ImpactProblem, modes: tuple[Mode, ...]) -> float:
    """The norm of the step's linear map in these modes; 0 where no open set has them."""
    zero, above = _rows_of(problem, modes)
    given = problem.nv + problem.nc
    A, B = zero[:, given:], -zero[:, :given]  # A impulse = B (v, lambda_max)
    rank = np.linalg.matrix_rank(A, tol=tolerances.RANK * np.linalg.norm(A))
    if np.linalg.matrix_rank(zero, tol=tolerances.RANK * np.linalg.norm(zero)) > rank:
        return 0.0  # consistent for special v only
    if not _holds_somewhere(zero, above):
        return 0.0
    before = np.hstack([np.eye(problem.nv), np.zeros((problem.nv, problem.nc))])
    impulse = np.linalg.pinv(A, rcond=tolerances.RANK) @ B  # what it leaves open does not change v
    return float(np.linalg.norm(before + problem.response @ impulse, 2))


def _rows_of(problem: ImpactProblem, modes: tuple[Mode, ...]) -> tuple[Array, Array]:
    """Rows over (v, lambda_max, impulse) that are zero in these modes, and rows that are positive."""
    nc, nv = problem.nc, problem.nv
    unit = np.eye(nv + 3 * nc)
    bound, impulse = unit[nv : nv + nc], unit[nv + nc :].reshape(nc, 2, -1)
    velocity = np.hstack([problem.J.reshape(-1, nv), np.zeros((2 * nc, nc)), problem.delassus])
    zero, above = list[Array](), list(bound)
    for i, mode in enumerate(modes):
        (push, drag), (y, t) = impulse[i], velocity[2 * i : 2 * i + 2]
        equal, below = mode_rows(mode, push, drag, y, t, float(problem.mu[i]))
        room = bound[i] - push
        zero += [*equal, room] if mode[0] == FULL else equal
        above += [*(-row for row in below), *([room] if mode[0] == REST else [])]
    return np.array(zero), np.array(above)


def _holds_somewhere(zero: Array, above: Array) -> bool:
    """Whether some velocity, bound and impulse makes rows zero and others positive, strictly."""
    from scipy.optimize import linprog

    n = zero.shape[1]
    rows = above / np.linalg.norm(above, axis=1, keepdims=True)
    slack = linprog(
        np.append(np.zeros(n), -1.0),
        np.hstack([-rows, np.ones((len(rows), 1))]),
        np.zeros(len(rows)),
        np.hstack([zero, np.zeros((len(zero), 1))]),
        np.zeros(len(zero)),
        bounds=[(-1.0, 1.0)] * n + [(0.0, 1.0)],
    )
    return bool(slack.success and -slack.fun > 1e-7)
