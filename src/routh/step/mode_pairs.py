"""Can a step end at two velocities? Decided by linear programs over pairs of contact modes, in the plane.

A solution of HP23 (75) puts every contact into one of seven modes: it does not push; or it pushes with less
than its bound and rests, or with all of its bound and does not separate; and then it sticks or slides to
either side. For two modes a contact, pairs of solutions of the same step, for all velocities and all
``lambda_max`` at once, are a polyhedral cone, so a linear program says whether two velocities differ there.

Most pairs need no program. Two solutions differ by impulses ``d`` and contact velocities ``e = G d``, and
``0 < d . G d = sum_i d_n,i e_n,i + d_t,i e_t,i``. Clipping is monotone, ``d_n,i e_n,i <= 0``, so some contact
has ``d_t,i e_t,i > 0``: twenty of its 49 pairs of modes allow that. From there pairs of the other contacts
are added one by one, and a branch is left where already the contacts so far leave no difference.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

import numpy as np

from routh.problem import ImpactProblem
from routh.step.base import scaled_delassus
from routh.validation import Array

FREE, REST, FULL = "free", "rest", "full"  # does not push; rests below its bound; pushes with all of it
STICK, FORWARDS, BACKWARDS, SMOOTH, ANY = "stick", "forwards", "backwards", "smooth", "any"
Mode = tuple[str, str]  # of the normal, of friction
#: A difference of velocities below this share of the impulses' effect is rounding of the programs.
SAME = 1e-7
#: Friction of both solutions with which more friction can go with more slip: d_t e_t > 0 for e_t > 0.
_LEADING = {
    (FORWARDS, FORWARDS), (BACKWARDS, BACKWARDS), (FORWARDS, STICK), (STICK, BACKWARDS),
    (SMOOTH, FORWARDS), (SMOOTH, STICK), (BACKWARDS, SMOOTH), (STICK, SMOOTH),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class TwoSolutions:
    """A step with two solutions: velocity (nv,), bounds (nc,) and both impulses (2, nc, 2), in SI units."""

    v: Array
    lambda_max: Array
    impulses: Array


@dataclass(frozen=True, eq=False)
class PairSearch:
    """What the search found: ``witness`` where steps can differ; where not, whether every pair was seen."""

    witness: TwoSolutions | None
    complete: bool
    programs: int  # linear programs solved
    rounding: float  # the largest difference that was taken for zero, scaled; where nothing differs, rounding


def modes_of(smooth: bool) -> list[Mode]:
    """The modes of one contact; one without friction has three."""
    frictions = (SMOOTH,) if smooth else (STICK, FORWARDS, BACKWARDS)
    return [(FREE, SMOOTH), *product((REST, FULL), frictions)]


def two_solutions(problem: ImpactProblem, *, seconds: float) -> PairSearch:
    """Two solutions of one step of a planar problem, or that there are none; at most ``seconds`` long."""
    search = _Search(problem, time.monotonic() + seconds)
    witness = None
    for leader in np.flatnonzero(problem.mu > 0.0):
        witness = search.from_leader(int(leader))
        if witness is not None or search.late:
            break
    return PairSearch(witness, not (search.late or search.unsure), search.programs, search.rounding)


@dataclass(eq=False)
class _Search:
    """Variables: velocity after the first solution, then normal impulses and friction of both."""

    problem: ImpactProblem
    deadline: float
    programs: int = 0
    rounding: float = 0.0
    late: bool = False
    unsure: bool = False  # the solver gave up on a pair of modes
    _rows: dict[tuple[int, Mode, Mode], tuple[Array, Array]] = field(default_factory=dict)

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
        zero, below = [], []
        for which, (normal, friction) in enumerate((first, second)):
            push, drag = self.impulse(which, i)
            y, t = self.velocities[which, 2 * i : 2 * i + 2]
            limit = self.problem.mu[i] * push
            if normal == FREE:
                zero += [push, drag]
                below.append(-y)
                continue
            below.append(-push)
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
        more = self.impulse(0, i)[0] - self.impulse(1, i)[0]
        bounds = (first[0], second[0])
        if bounds == (FULL, FULL):
            zero.append(more)
        elif bounds == (FULL, REST):
            below.append(-more)
        elif bounds == (REST, FULL):
            below.append(more)
        empty = np.zeros((0, self.size))
        self._rows[key] = (np.array(zero).reshape(-1, self.size), np.array(below or empty))
        return self._rows[key]

    def cone(self, i: int) -> tuple[Array, Array]:
        """What holds of a contact in any modes: both impulses lie in the friction cone."""
        below = []
        for which in (0, 1):
            push, drag = self.impulse(which, i)
            limit = self.problem.mu[i] * push
            below += [-push, drag - limit, -drag - limit]
        return np.zeros((0, self.size)), np.array(below)

    def from_leader(self, leader: int) -> TwoSolutions | None:
        """Pairs in which this contact slips faster in the first solution although friction drags less."""
        for first, second in product(modes_of(False), repeat=2):
            if (first[1], second[1]) not in _LEADING or (first[0], second[0]) == (FULL, FULL):
                continue
            found = self.extend(leader, {leader: (first, second)})
            if found is not None or self.late:
                return found
        return None

    def extend(self, leader: int, chosen: dict[int, tuple[Mode, Mode]]) -> TwoSolutions | None:
        """Depth first: add the modes of one more contact where a difference is left."""
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

    def by_promise(self, i: int, pairs: list[tuple[Mode, Mode]], point: Array) -> Iterator[tuple[Mode, Mode]]:
        """Pairs of modes of a contact, those first that the point at hand breaks the least."""

        def broken(pair: tuple[Mode, Mode]) -> float:
            zero, below = self.pair(i, *pair)
            return float(np.abs(zero @ point).sum() + np.maximum(below @ point, 0.0).sum())

        return iter(sorted(pairs, key=broken))

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

    def read(self, point: Array, chosen: dict[int, tuple[Mode, Mode]]) -> TwoSolutions:
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
        return TwoSolutions(v * size, bound * size, impulses * size)
