"""Paths with given contact statuses as linear programs whose active sets are then solved exactly."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np
from scipy.optimize import linprog

from routh.exact.algebra import Vector, dot, reduced
from routh.exact.checker_parts import CheckedPath, Impulse, along, effect, friction_status, velocity_after
from routh.exact.rational import RationalProblem

Equation = tuple[list[Fraction], Fraction]  # coefficients of the weights, constant: their sum is 0
SMALL = (1e-9, 1e-12, 1e-7)  # scaled weights that count as zero when the active set is read; tried in turn
Wall = tuple[list[Fraction], Fraction, Fraction]  # coefficients, constant, share of the margin: sum <= 0


class PathProgram:
    """Impulses x >= 0 along force directions, segment by segment; walls hold at both ends of each."""

    def __init__(
        self,
        problem: RationalProblem,
        target: Vector | None,
        statuses: Sequence[Sequence[str]],
        polygon: Sequence[Vector],
    ) -> None:
        self.problem, self.target, self.polygon = problem, target, polygon
        # (segment, contact, impulse of a unit weight); weights are >= 0
        self.columns: list[tuple[int, int, Impulse]] = []
        self.equal: list[tuple[Vector, int]] = []  # (row of J, breakpoint): zero there
        self.below: list[tuple[Vector, int, Fraction]] = []  # (row, breakpoint, share of the margin): <= 0
        for k, words in enumerate(statuses):
            pushing = [i for i, word in enumerate(words) if word != "separates"]
            for i in pushing:
                self._contact(k, i, words[i])
            total = tuple(
                sum(column, Fraction(0)) for column in zip(*(problem.Jn[i] for i in pushing), strict=True)
            )
            self.below.append((total, k, Fraction(1)))  # the impact has not ended before the segment
        self.segments = len(statuses)
        self.effects = [effect(problem, i, impulse) for _, i, impulse in self.columns]

    def _contact(self, k: int, i: int, word: str) -> None:
        problem, polygon = self.problem, self.polygon
        mu, normal, tangents = problem.mu[i], problem.Jn[i], problem.Jt[i]
        self.below += [(normal, end, Fraction(0)) for end in (k, k + 1)]
        if mu == 0 or not any(map(any, tangents)):
            self.columns.append((k, i, (Fraction(1), *(Fraction(0) for _ in tangents))))
            return
        pressing, zero, positive = friction_status(word, polygon)
        if word == "sticks":  # pressure alone is inside the cone; where mu is large, that matters to rounding
            self.columns.append((k, i, (Fraction(1), *(Fraction(0) for _ in tangents))))
        for d in pressing:
            impulse = (Fraction(1), *(-mu * x for x in d))
            self.columns.append((k, i, tuple(x / mu for x in impulse) if word == "sticks" else impulse))
        for end in (k, k + 1):
            self.equal += [(along(form, tangents), end) for form in zero]
            self.below += [(along([-x for x in form], tangents), end, Fraction(0)) for form in positive]

    def _row(self, row: Vector, breakpoint_: int) -> Equation:
        """``row . v`` at a breakpoint as coefficients of x and a constant."""
        coefficients = [
            dot(row, effect) if segment < breakpoint_ else Fraction(0)
            for (segment, *_), effect in zip(self.columns, self.effects, strict=True)
        ]
        return coefficients, dot(row, self.problem.v)

    @cached_property
    def _equations(self) -> list[Equation]:
        equations = [self._row(row, k) for row, k in self.equal]
        if self.target is not None:  # v moves only within the range of M^-1 J^T, where J v decides
            for row in self.problem.rows:
                coefficients, constant = self._row(row, self.segments)
                equations.append((coefficients, constant - dot(row, self.target)))
        return equations

    @cached_property
    def _walls(self) -> list[Wall]:
        return [(*self._row(row, k), share) for row, k, share in self.below]

    @cached_property
    def _speed(self) -> float:
        """The largest contact velocity before, m/s."""
        return max(abs(float(dot(row, self.problem.v))) for row in self.problem.rows)

    @cached_property
    def _sizes(self) -> np.ndarray:
        """The effect of each weight on the contact velocities, over the speed."""
        rows = self.problem.rows
        sizes = [max(abs(float(dot(row, effect))) for row in rows) / self._speed for effect in self.effects]
        return np.array(sizes)

    def solve(self, small: float) -> list[Fraction] | None:
        """Exact weights x, from the active set of a floating-point optimum of the margin."""
        return None if self._optimum is None else self._exact(self._optimum, self._equations, small)

    def near(self, weights: np.ndarray, at_rest: Sequence[int], small: float) -> list[Fraction] | None:
        """Exact weights beside given ones (n,), equal where the statuses leave them free.

        ``at_rest``: contacts whose normal velocity is zero in the end.
        """
        stopped = [self._row(self.problem.Jn[i], self.segments) for i in at_rest]
        return self._exact(np.append(weights * self._sizes, 0.0), self._equations + stopped, small)

    def satisfied(self, weights: list[Fraction], strictly: bool) -> bool:
        """Whether weights obey the statuses exactly; strictly: no segment starts after the end."""
        if min(weights, default=Fraction(0)) < 0:
            return False
        for coefficients, constant, share in self._walls:
            value = dot(coefficients, weights) + constant
            if value > 0 or (strictly and share and value == 0):
                return False
        return all(dot(coefficients, weights) + constant == 0 for coefficients, constant in self._equations)

    @cached_property
    def _optimum(self) -> np.ndarray | None:
        """Weights in units of their own effect on the contact velocities, and the margin last."""
        equations, walls, speed = self._equations, self._walls, self._speed
        n = len(self.columns)
        A_eq = np.array([[float(a) for a in c] for c, _ in equations]) / self._sizes / speed
        A_ub = np.array([[float(a) for a in c] for c, _, _ in walls]) / self._sizes / speed
        shares = np.array([[float(share)] for _, _, share in walls])
        result = linprog(
            np.append(np.full(n, 1e-6), -1.0),
            np.hstack([A_ub, shares]),
            np.array([-float(d) for _, d, _ in walls]) / speed,
            np.hstack([A_eq, np.zeros((len(equations), 1))]),
            np.array([-float(d) for _, d in equations]) / speed,
            bounds=[(0, None)] * n + [(0, 1)],
            method="highs-ds",
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        return result.x if result.success else None

    def _exact(self, x: np.ndarray, equations: list[Equation], small: float) -> list[Fraction] | None:
        """Solve the active equations exactly; inactive weights are zero, the margin is one unknown more.

        Unknowns that the equations leave open keep their value in ``x``; None where they contradict.
        """
        n, sizes, speed = len(self.columns), self._sizes, self._speed
        free = [j for j in range(n) if x[j] > small]
        rows = [[c[j] for j in free] + [Fraction(0), -d] for c, d in equations]
        for c, d, share in self._walls:
            value = float(d) / speed + float(share) * x[n]
            value += sum(float(a) * b / size for a, b, size in zip(c, x[:n], sizes, strict=True)) / speed
            if abs(value) < 10.0 * small:
                rows.append([c[j] for j in free] + [share, -d])
        solution = [Fraction(float(x[j] / sizes[j])) for j in free] + [Fraction(float(x[n] * speed))]
        table, pivots = reduced(rows, len(solution))
        if any(row[-1] for row in table[len(pivots) :]):
            return None
        left_open = [j for j in range(len(solution)) if j not in pivots]
        for row, column in zip(table, pivots, strict=False):
            solution[column] = row[-1] - sum(row[j] * solution[j] for j in left_open)
        weights = [Fraction(0)] * n
        for j, value in zip(free, solution, strict=False):
            weights[j] = value
        return weights

    def path(self, weights: list[Fraction]) -> CheckedPath:
        """Breakpoints and impulses from weights; segments without impulse are left out."""
        points, impulses = [self.problem.v], []
        for k in range(self.segments):
            push = [[Fraction(0)] * (1 + self.problem.nt) for _ in range(self.problem.nc)]
            for (segment, i, impulse), x in zip(self.columns, weights, strict=True):
                if segment == k:
                    push[i] = [total + share * x for total, share in zip(push[i], impulse, strict=True)]
            if any(map(any, push)):
                step = tuple(tuple(impulse) for impulse in push)
                impulses.append(step)
                points.append(velocity_after(self.problem, points[-1], step))
        return CheckedPath(tuple(points), tuple(impulses))
