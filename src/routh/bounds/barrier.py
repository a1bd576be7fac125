"""Outer bounds by functions that fall along every solution (planar contacts).

Let phi be a quadratic function of the velocity, or one quadratic function for each sign pattern of the normal
velocities y, continuous where they meet. If phi does not grow along ``M^-1 (Jn_i -+ mu_i Jt_i)^T`` wherever
contact i may push and slides that way, it does not grow along any solution of HP23 (39): a sticking contact's
force is a mixture of both, and where y_i rests at 0 the side on which contact i pushes decides. If moreover
``d . v <= c + phi(v)`` where an impact can end, then ``d . v+ <= c + phi(v-)``.

The slope of phi along a ray is linear in v, so the first condition is a second-order cone constraint (v lies
in the ball of the energy before and in the momentum cone of v-); the second is a matrix inequality. With phi
linear this is the bound of `routh.bounds.energy`. What a solver returns is never trusted: every inequality is
evaluated again and what is missing is added to the bound, slopes times the longest solution (HP23 Theorem 3).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from routh.base.validation import Array
from routh.bounds.cone_program import ConeProgram
from routh.bounds.energy import EnergyBound, OuterBound, length
from routh.problem.impact import ImpactProblem

_ROUNDING = 1e-9  # added to each bound, as a share of the direction's size: the rounding of the evaluation


@dataclass(frozen=True)
class Case:
    """A sign pattern of y (empty: all together), a contact that may push in it, and its sign of slip."""

    signs: tuple[int, ...]
    contact: int
    slip: int


@dataclass(frozen=True, eq=False)
class Barrier:
    """phi and its multipliers, in the scaled velocity u with ``|u| <= 1``."""

    Q: Array  # (nv, nv)
    q: Array  # (nv,)
    kink: Array  # (nc, nv): phi has |y_i| (kink_i . u + tip_i) for each contact
    tip: Array  # (nc,)
    a: Array  # (cases, nc) >= 0: of the signs of y
    b: Array  # (cases,) >= 0: of the sign of slip
    p: Array  # (cases, nv): momentum, in the polar of all force rays
    ends: tuple[float, float, Array, Array, Array]  # c, tau >= 0, w, W >= 0, p where the impact ends


@dataclass(frozen=True, eq=False)
class BarrierBound(OuterBound):
    """A convex outer bound on the set of outcomes, one certified number per direction."""

    pieces: bool  # one quadratic function for each sign pattern of y, or one for all

    def bound(self, direction: Array, last: int) -> float:
        """The better of this bound and the linear one, for outcomes with the contact ``last`` at rest."""
        linear = self._linear.bound(direction, last)
        d = direction @ self._linear.own_units[1]
        size = length(d)
        barrier = self._solved(d / size, last) if size else None
        if barrier is None:
            return linear
        return min(linear, size * (self.proved(barrier, d / size, last) + _ROUNDING))

    # -- the problem in the scaled velocity u, ``v = back u``

    @cached_property
    def _linear(self) -> EnergyBound:
        return EnergyBound(self.problem)

    @cached_property
    def _own(self) -> ImpactProblem:
        """The problem in u, in which M is one and normals have unit length."""
        return self._linear.own_units[0].problem

    @property
    def _forms(self) -> tuple[Array, Array]:
        """Normal and tangential velocities as forms in u, both over the norm of the normal one."""
        return self._own.Jn, self._own.Jt[:, 0]

    @cached_property
    def _rays(self) -> dict[tuple[int, int], Array]:
        """Unit directions of u' for a contact that pushes and slips with a sign (0: without friction)."""
        N, T = self._forms
        found = {}
        for i, mu in enumerate(self.problem.mu):
            for sign in (1, -1) if mu > 0.0 else (0,):
                ray = N[i] - sign * mu * T[i]
                found[i, sign] = ray / (length(ray) or 1.0)  # zero: friction undoes the push, nothing moves
        return found

    @cached_property
    def length(self) -> float:
        """Bound on the length of every solution in u (HP23 Theorem 3); infinite where cones jam."""
        (_, T), speed = self._forms, self.problem.scaling.speed  # 1 where the velocity is zero
        lengths = self._linear.own_units[2] / speed * (1.0 + self.problem.mu * np.linalg.norm(T, axis=1))
        return float(lengths.max()) * (self._linear.total_impulse / speed)

    @cached_property
    def _cases(self) -> list[Case]:
        nc = self.problem.nc
        patterns: Iterator[tuple[int, ...]] = product((1, -1), repeat=nc) if self.pieces else iter([()])
        return [
            Case(signs, i, slip)
            for signs in patterns
            for i, slip in self._rays
            if not signs or signs[i] == -1
        ]

    # -- what a barrier proves

    def slope(self, barrier: Barrier, case: Case) -> tuple[Array, float]:
        """The slope of phi along the case's ray: a linear form in u and a constant."""
        N, _ = self._forms
        ray = self._rays[case.contact, case.slip]
        form, constant = 2.0 * barrier.Q @ ray, float(barrier.q @ ray)
        for h, sign in enumerate(case.signs):
            along = float(N[h] @ ray)
            form = form + sign * (along * barrier.kink[h] + float(barrier.kink[h] @ ray) * N[h])
            constant += sign * along * float(barrier.tip[h])
        return form, constant

    def proved(self, barrier: Barrier, d: Array, last: int) -> float:
        """The bound on ``d . u+`` that a barrier proves; infinite where it proves none. Uses no solver."""
        growth = 0.0
        N, T = self._forms
        for k, case in enumerate(self._cases):
            form, constant = self.slope(barrier, case)
            for h, sign in self._signs(case):
                form = form + max(barrier.a[k, h], 0.0) * sign * N[h]
            form = form + max(barrier.b[k], 0.0) * case.slip * T[case.contact] - barrier.p[k]
            worst = float(np.linalg.norm(form)) + constant + self._momentum(barrier.p[k])
            growth = max(growth, worst)
        return self._value(barrier, self._own.v) + growth * self.length + self._end_constant(barrier, d, last)

    def _signs(self, case: Case) -> list[tuple[int, int]]:
        """Contacts whose sign of y is known in a case."""
        return list(enumerate(case.signs)) if case.signs else [(case.contact, -1)]

    def _momentum(self, p: Array) -> float:
        """``p . u0`` and what ``p . u`` may exceed it by on the way: nothing for p in the polar cone."""
        outward = max(0.0, max(float(p @ ray) for ray in self._rays.values()))
        return float(p @ self._own.v) + (outward * self.length if outward else 0.0)

    def _value(self, barrier: Barrier, u: Array) -> float:
        N, _ = self._forms
        kinks = np.abs(N @ u) @ (barrier.kink @ u + barrier.tip)
        return float(u @ barrier.Q @ u + barrier.q @ u + kinks)

    def _end_constant(self, barrier: Barrier, d: Array, last: int) -> float:
        """c with ``d . u <= c + phi(u)`` wherever an impact ends with the contact ``last`` at rest."""
        N, _ = self._forms
        c, tau, w, W, p = barrier.ends
        others = np.arange(len(w)) != last
        w, tau = np.where(others, np.maximum(w, 0.0), w), max(tau, 0.0)
        pairs = N.T @ (np.maximum(W, 0.0) * np.outer(others, others)) @ N
        square = barrier.Q + 0.5 * (N.T @ barrier.kink + barrier.kink.T @ N) - pairs
        linear = barrier.q + barrier.tip @ N - d - w @ N + p
        nv = len(d)
        matrix = np.zeros((nv + 1, nv + 1))
        matrix[:nv, :nv] = square + tau * np.eye(nv)
        matrix[:nv, nv] = matrix[nv, :nv] = 0.5 * linear
        matrix[nv, nv] = c - tau - self._momentum(p)
        least = float(np.linalg.eigvalsh(matrix)[0])
        return c + 2.0 * max(0.0, -least)  # u.u + 1 <= 2

    # -- the program

    def _solved(self, d: Array, last: int) -> Barrier | None:
        """The best barrier that a solver finds, or None."""
        nv, nc, cases = self.problem.nv, self.problem.nc, self._cases
        program, start = ConeProgram(), self._own.v
        N, T = self._forms
        rays = np.array(list(self._rays.values()))
        Q, q = program.symmetric(nv), program.variables(nv)
        kink = program.variables(nc, nv) if self.pieces else np.zeros((nc, 0), dtype=int)
        tip = program.variables(nc) if self.pieces else np.zeros(nc, dtype=int)
        c, tau, w, p_end = (program.variables(k) for k in (1, 1, nc, nv))
        W = program.symmetric(nc)
        others = np.arange(nc) != last
        program.nonnegative(np.concatenate([tau, w[others], W[np.triu_indices(nc)]]))
        program.below(rays, p_end)
        a, b, p = program.variables(len(cases), nc), program.variables(len(cases)), []
        program.nonnegative(np.concatenate([a.ravel(), b]))
        for k, case in enumerate(cases):
            p.append(program.variables(nv))
            program.below(rays, p[k])
            ray = self._rays[case.contact, case.slip]
            head = [(q, -ray), (p[k], -start)]
            tail = [(p[k], -np.eye(nv)), (b[k : k + 1], case.slip * T[case.contact][:, None])]
            tail += [(Q[:, j], 2.0 * ray[j] * np.eye(nv)) for j in range(nv)]
            tail += [(a[k, h : h + 1], sign * N[h][:, None]) for h, sign in self._signs(case)]
            for h, sign in enumerate(case.signs):
                along = float(N[h] @ ray)
                tail.append((kink[h], sign * (along * np.eye(nv) + np.outer(N[h], ray))))
                head.append((tip[h : h + 1], np.array([-sign * along])))
            program.second_order(head, tail)
        pairs = [(j, k) for j in range(nc) for k in range(j, nc) if others[j] and others[k]]
        square: list[tuple[int, Array]] = [(int(tau[0]), np.eye(nv))]
        square += [(int(Q[i, j]), _unit(nv, i, j)) for i in range(nv) for j in range(i, nv)]
        square += [(int(W[j, k]), -_pair(N[j], N[k]) * (1 if j == k else 2)) for j, k in pairs]
        linear: list[tuple[np.ndarray, Array]] = [(q, np.eye(nv)), (p_end, np.eye(nv)), (w, -N.T)]
        if self.pieces:
            square += [(int(kink[h, i]), _pair(N[h], np.eye(nv)[i])) for h in range(nc) for i in range(nv)]
            linear.append((tip, N.T))
        corner = [(c, np.ones(1)), (tau, -np.ones(1)), (p_end, -start)]
        program.semidefinite(square, linear, corner, -d)
        cost = [(c, np.ones(1)), (q, start)]
        cost += [(Q[:, j], start * start[j]) for j in range(nv)]
        if self.pieces:
            heights = np.abs(N @ start)
            cost += [(tip, heights), *((kink[h], heights[h] * start) for h in range(nc))]
        x = program.minimise(cost)
        if x is None:
            return None
        kinks, tips = (x[kink], x[tip]) if self.pieces else (np.zeros((nc, nv)), np.zeros(nc))
        ends = (float(x[c[0]]), float(x[tau[0]]), x[w], x[W], x[p_end])
        return Barrier(x[Q], x[q], kinks, tips, x[a], x[b], np.array([x[i] for i in p]), ends)


def _unit(n: int, i: int, j: int) -> Array:
    """The symmetric matrix with ones at (i, j) and (j, i)."""
    matrix = np.zeros((n, n))
    matrix[i, j] = matrix[j, i] = 1.0
    return matrix


def _pair(a: Array, b: Array) -> Array:
    """``(a b^T + b a^T) / 2``."""
    outer = np.outer(a, b)
    return 0.5 * (outer + outer.T)
