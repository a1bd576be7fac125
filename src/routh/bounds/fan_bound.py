"""Outer bounds by functions that are quadratic on each cell of contact velocities (planar contacts).

Let phi be continuous, and on each orthant of the coordinates z of `routh.bounds.fan` a quadratic form:
``sum theta_ab(sign z_a, sign z_b) z_a z_b``. Its slope along a force ray is linear on each cell, so it is
nowhere positive where every coefficient of ``|z_b|`` is at most 0. Coordinates that a cell holds at zero
(the slip of sticking contacts) have no slope, so multiples of their rates may be added: that is how only the
forces that keep a contact sticking count, and where the gradient may jump. If the slopes are at most 0 along
all rays in all cells, and ``phi(v) >= (d . v)^2`` wherever an impact can end with ``d . v >= 0``, then
``d . v+ <= sqrt(phi(v-))``. The set is homogeneous (that of kv is k times that of v), and so is this bound.

Slopes are rows of a linear program, the end is one matrix inequality for each cell with nothing approaching.
What the solver lacks is evaluated again and added, slopes times the longest solution (HP23 Theorem 3).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from routh.bounds.barrier import BarrierBound
from routh.bounds.cone_program import ConeProgram
from routh.bounds.fan import Fan
from routh.problem import ImpactProblem
from routh.validation import Array, integer, real_array

_ROUNDING = 1e-9  # added to each bound, as a share of the direction's size: the rounding of the evaluation


@dataclass(frozen=True, eq=False)
class _End:
    """One matrix inequality where the impact ends: coordinates, theta there, and the multipliers' indices."""

    live: np.ndarray
    signs: np.ndarray  # of the live coordinates
    theta: np.ndarray  # (n, n)
    pairs: np.ndarray  # (n, n) >= 0: of |z_a| |z_b|
    ahead: np.ndarray  # (n,) >= 0: of |z_a| (d . z)
    related: np.ndarray  # (k, n): of the relations between coordinates


@dataclass(frozen=True, eq=False)
class FanBound:
    """A convex outer bound on the set of outcomes, one certified number per direction.

    Each number is the smallest of this bound and that of level 2, which knows the momentum before.
    """

    problem: ImpactProblem = field(repr=False)
    splits: Array = field(repr=False)  # (k, nv)

    @property
    def method(self) -> str:
        """How the bound is obtained."""
        more = f", split by {len(self.splits)} more" if len(self.splits) else ""
        return f"functions that fall along every solution: quadratic on each orthant of y and t{more}"

    @property
    def cells(self) -> int:
        """How many cells the function has where something pushes: what the bound costs."""
        return len(self._fan.cells)

    def support(self, direction: ArrayLike) -> Any:
        """Upper bound on ``direction . v+`` over all outcomes, for (nv,) or (k, nv)."""
        nv = self.problem.nv
        d = real_array("direction", direction, [(nv,), (None, nv)], f"shape ({nv},) or (k, {nv})")
        if d.ndim == 2:
            return np.array([self.support(row) for row in d])
        if np.min(self.problem.Jn @ self.problem.v) >= 0.0:
            return float(d @ self.problem.v)  # nothing approaches
        return min(self._level2.support(d), self.alone(d))

    def alone(self, direction: Array) -> float:
        """The bound of this function alone; infinite where the solver finds none."""
        d = direction @ self._fan.back
        size = float(np.linalg.norm(d))
        if size == 0.0:
            return 0.0
        program, ends, delta = self._program(d / size)
        x = program.minimise([self._value_at_start], rough=True)
        return np.inf if x is None else size * (self.proved(x, ends, delta, d / size) + _ROUNDING)

    def refined(self, direction: ArrayLike, *, splits: int = 1) -> FanBound:
        """A tighter bound for one direction (nv,): cells split further, greedily, by `Fan.first_walls`.

        Each split tries them all, so this costs that many programs, and the cells multiply; on problems of
        two contacts it takes seconds.
        """
        d = real_array("direction", direction, [(self.problem.nv,)], f"shape ({self.problem.nv},)")
        bound = self
        for _ in range(integer("splits", splits, at_least=0)):
            finer = [FanBound(self.problem, np.vstack([bound.splits, w])) for w in self._fan.first_walls]
            bound = min([bound, *finer], key=lambda choice: choice.alone(d))
        return bound

    @cached_property
    def _fan(self) -> Fan:
        return Fan(self.problem, self.splits)

    @cached_property
    def _level2(self) -> BarrierBound:
        return BarrierBound(self.problem, pieces=True)

    # -- phi falls

    @cached_property
    def _theta(self) -> np.ndarray:
        """Index of theta_ab(s, q), (m, m, 3, 3): the sign -1 is the last entry."""
        m = len(self._fan.forms)
        table, count = np.zeros((m, m, 3, 3), dtype=int), 0
        for a in range(m):
            for b in range(a, m):
                for s in (1, -1):
                    for q in (s,) if a == b else (1, -1):
                        table[a, b, s, q] = table[b, a, q, s] = count
                        count += 1
        return table

    @cached_property
    def _falling(self) -> tuple[ConeProgram, sparse.csr_matrix, np.ndarray]:
        """The program up to here, its rows (at most 0), and the number of the case that each belongs to."""
        fan, theta = self._fan, self._theta
        count, case, height = int(theta.max()) + 1, 0, 0
        rates = {ray: fan.forms @ u for ray, u in fan.rays.items()}
        rows, columns, values, cases = [], [], [], []
        for cell in fan.cells:
            live, held, s = cell.live, cell.held, cell.signs[cell.live]
            k = len(live)
            stick = count + np.arange(k * len(held)).reshape(k, len(held))
            count += stick.size
            of_theta = theta[live[None, :], live[:, None], s[None, :], s[:, None]]  # row b, column a
            doubled = 1.0 + np.eye(k)
            for ray in cell.rays:
                rate = rates[ray]
                related = count + np.arange(len(fan.relations))
                count += len(related)
                blocks = [
                    (of_theta, s[:, None] * rate[live] * doubled),
                    (stick, np.broadcast_to(rate[held], stick.shape)),
                    (np.tile(related, (k, 1)), s[:, None] * fan.relations[:, live].T),
                ]
                for index, value in blocks:
                    rows.append(np.repeat(height + np.arange(k), index.shape[1]))
                    columns.append(index.ravel())
                    values.append(value.ravel())
                cases.append(np.full(k, case))
                height, case = height + k, case + 1
        data, row, column = (np.concatenate(part) for part in (values, rows, columns))
        table = sparse.csr_matrix((data, (row, column)), shape=(height, count))
        program = ConeProgram()
        program.variables(count)
        program.at_most_zero(table)
        return program, table, np.concatenate(cases)

    @cached_property
    def _value_at_start(self) -> tuple[np.ndarray, Array]:
        """phi before the impact, as coefficients of theta."""
        z = self._fan.forms @ self._fan.start
        s = np.where(z > 0.0, 1, -1)
        a, b = np.triu_indices(len(z))
        return self._theta[a, b, s[a], s[b]], z[a] * z[b]

    # -- phi is large enough where an impact ends

    def _program(self, d: Array) -> tuple[ConeProgram, list[_End], Array]:
        """The whole program for a direction in u; ``d . u = d . constant + delta . z``."""
        fan, theta = self._fan, self._theta
        delta = np.asarray(np.linalg.lstsq(fan.forms.T, d, rcond=None)[0], dtype=float)
        program, ends = self._falling[0].copy(), []
        for last in range(self.problem.nc):
            for signs in fan.ends(last):
                live = np.flatnonzero(signs)
                s, n = signs[live], len(live)
                if not n:
                    continue  # everything stops: d . z is 0
                pairs, ahead = program.symmetric(n), program.variables(n)
                related = program.variables(len(fan.relations), n)
                program.nonnegative(np.concatenate([pairs[np.triu_indices(n)], ahead]))
                here = theta[live[:, None], live[None, :], s[:, None], s[None, :]]
                end = _End(live, s, here, pairs, ahead, related)
                ends.append(end)
                towards = s * delta[live]
                program.matrix(self._terms(end, towards), -np.outer(towards, towards))
        return program, ends, delta

    def _terms(self, end: _End, towards: Array) -> list[tuple[int, Array]]:
        """``phi - pairs - ahead (d . z) + relations``, as a matrix in ``|z|``."""
        n = len(end.live)
        unit = np.eye(n)
        terms = []
        for a in range(n):
            for b in range(a, n):
                both = _pair(unit[a], unit[b])
                weight = 1.0 if a == b else float(end.signs[a] * end.signs[b])
                terms.append((int(end.theta[a, b]), weight * both))
                terms.append((int(end.pairs[a, b]), -both))
            terms.append((int(end.ahead[a]), -_pair(towards, unit[a])))
            for k, row in enumerate(self._fan.relations):
                terms.append((int(end.related[k, a]), _pair(end.signs * row[end.live], unit[a])))
        return terms

    # -- what a solution proves

    def proved(self, x: Array, ends: list[_End], delta: Array, d: Array) -> float:
        """The bound on ``d . u+`` that values of the variables prove. Uses no solver."""
        fan = self._fan
        _, table, cases = self._falling
        excess = np.maximum(table @ x[: table.shape[1]], 0.0)  # of coefficients of |z_b| <= 1
        growth = float(np.bincount(cases, weights=excess).max())
        index, values = self._value_at_start
        lack = 0.0
        for end in ends:
            towards = end.signs * delta[end.live]
            matrix = -np.outer(towards, towards)
            for k, term in self._terms(end, towards):
                signed = k in end.ahead or k in end.pairs
                matrix += (max(x[k], 0.0) if signed else x[k]) * term
            lack = max(lack, -float(np.linalg.eigvalsh(matrix)[0]))
        square = float(values @ x[index]) + (growth * self._level2.length if growth else 0.0)
        square += lack * float(np.linalg.norm(fan.forms, 2)) ** 2
        return float(d @ fan.constant) + np.sqrt(max(square, 0.0))


def _pair(a: Array, b: Array) -> Array:
    """``(a b^T + b a^T) / 2``."""
    outer = np.outer(a, b)
    return 0.5 * (outer + outer.T)
