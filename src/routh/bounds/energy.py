"""Level 0: outer bounds on the outcomes of any impact, from energy, the friction cones and non-penetration.

Every solution of HP23 (39) ends at ``v+ = v + M^-1 J^T Λ`` with Λ in the (true) friction cones, kinetic
energy not above that before (Theorem 2), ``Jn v+ >= 0`` and ``Jn_i v+ = 0`` at some contact i. The largest
``d . v+`` under these is a cone program whose dual is solved here: *any* covector p and weights w with

    (J M^-1 p)_n,i + mu_i |(J M^-1 p)_t,i| <= 0 for every contact,   w_j >= 0 (w_i of either sign)

prove the bound ``d . v+ <= p . v + |v|_M |d + Jn^T w - p|_(M^-1)``. The bound returned is recomputed from
(p, w) after p has been moved into the cone; the solver is not trusted.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from routh.base.results import Whole
from routh.base.validation import Array, deadline_of, real_array
from routh.lcp import convex
from routh.problem.impact import ImpactProblem


def length(x: Array) -> float:
    """The length of a vector (k,), also where the squares of its entries would vanish."""
    unit = float(np.abs(x).max(initial=0.0))
    return unit * float(np.linalg.norm(x / unit)) if unit else 0.0


@dataclass(frozen=True, eq=False)
class OuterBound(Whole, ABC):
    """A convex outer bound on the set of outcomes; every outcome has a contact that stopped last."""

    problem: ImpactProblem = field(repr=False)

    @abstractmethod
    def bound(self, direction: Array, last: int) -> float:
        """Upper bound on ``direction . v+``, (nv,), over outcomes with the contact ``last`` at rest."""

    def support(self, direction: ArrayLike, *, budget: float | None = None) -> float | Array:
        """Upper bound on ``direction . v+`` over all outcomes, for (nv,) or (k, nv).

        ``budget`` are seconds: directions that are not begun by then are bounded by infinity.
        """
        deadline = deadline_of(budget)
        nv = self.problem.nv
        d = real_array("direction", direction, [(nv,), (None, nv)], f"shape ({nv},) or (k, {nv})")
        if d.ndim == 2:
            return np.array([self.support(row) if time.monotonic() < deadline else np.inf for row in d])
        return max(self.bound(d, last) for last in range(self.problem.nc))


@dataclass(frozen=True, eq=False)
class Certificate:
    """A proof that ``direction . v+ <= bound`` for outcomes with the contact ``last`` at rest."""

    direction: Array  # (nv,)
    last: int
    p: Array  # (nv,)
    w: Array  # (nc,)
    bound: float


@dataclass(frozen=True, eq=False)
class EnergyBound(OuterBound):
    """A convex outer bound on the set of outcomes, one certified number per direction."""

    def certificates(self, direction: ArrayLike) -> list[Certificate]:
        """One certificate for each contact that may stop last; the bound is the largest of theirs."""
        nv = self.problem.nv
        d = real_array("direction", direction, [(nv,)], f"shape ({nv},)")
        return [self.certificate(d, last) for last in range(self.problem.nc)]

    def bound(self, direction: Array, last: int) -> float:
        """Upper bound on ``direction . v+`` over outcomes with the contact ``last`` at rest."""
        return self.certificate(direction, last).bound

    def elastic_bound(self, direction: ArrayLike) -> float:
        """Upper bound on ``direction . v+`` where contacts give back energy, but never more than they took.

        No contact need be at rest in the end then, so none of the weights may have either sign.
        """
        nv = self.problem.nv
        d = real_array("direction", direction, [(nv,)], f"shape ({nv},)")
        return self.certificate(d, -1).bound

    @cached_property
    def total_impulse(self) -> float:
        """Upper bound on the sum of all normal impulses, N s: the constant of HP23 Theorem 3 in use.

        The variable s of (39) is the normal impulse spent so far, so this bounds the length of every
        solution. Infinite where the friction cone is not pointed.
        """
        g = self._inward
        if g is None:
            return float("inf")
        # p = -g proves: sum of normal impulses <= g . (v+ - v) <= |v|_M |g|_(M^-1) - g . v
        return self.problem.speed * self.dual_norm(g) - float(g @ self.problem.v)

    def residual(self, certificate: Certificate) -> float:
        """How far a certificate is from proving its bound, scaled: 0 where it does. Uses no solver."""
        problem, c = self.problem, certificate
        cone = self._cone_excess(c.p).max(initial=0.0)
        signs = -np.delete(c.w, c.last).min(initial=0.0)
        value = self._proved(c.direction, c.p, c.w)
        scale = problem.speed * self.dual_norm(c.direction) or 1.0
        return float(max(cone, signs, (value - c.bound) / scale, 0.0))

    @cached_property
    def _inward(self) -> Array | None:
        """A short covector g with ``(J M^-1 g)_n - mu |(J M^-1 g)_t| >= 1`` at every contact (Lemma 6)."""
        nv = self.problem.nv
        solution = self._minimised(np.zeros(nv), [], [], margin=1.0)
        if solution is None:
            return None
        g = -solution[:nv]
        least = -self._cone_excess(-g).max()
        return g / least if least > 1e-9 else None

    def certificate(self, d: Array, last: int) -> Certificate:
        """The certificate of one contact that may stop last, found in the problem's own units."""
        own, back, normal = self.own_units
        size = length(d @ back)
        if not size:  # nothing moves along it
            return Certificate(d, last, np.zeros(len(d)), np.zeros(len(normal)), 0.0)
        found = own._solved(d @ back / size, last)
        p = np.asarray(size * np.linalg.solve(back.T, found.p), dtype=np.float64)
        w = size * found.w / normal
        return Certificate(d, last, p, w, max(self._proved(d, p, w), size * found.bound))

    @cached_property
    def own_units(self) -> tuple[EnergyBound, Array, Array]:
        """The bound for u, ``v = back u``, ``|u| = 1`` and M = I, and the lengths of the normals in it."""
        problem = self.problem
        speed = problem.scaling.speed
        back = np.asarray(np.linalg.inv(problem.cholesky.T), dtype=np.float64)
        normal = np.linalg.norm(problem.Jn @ back, axis=1)
        Jn, Jt = problem.Jn @ back / normal[:, None], problem.Jt @ back / normal[:, None, None]
        u = problem.cholesky.T @ problem.v / speed
        own = ImpactProblem(np.eye(problem.nv), Jn, Jt, problem.mu, u)
        return EnergyBound(own), speed * back, np.asarray(speed * normal, dtype=np.float64)

    def _solved(self, d: Array, last: int) -> Certificate:
        """The best covector and weights that a solver finds, made to prove what they say."""
        problem = self.problem
        free = np.arange(problem.nc) != last
        solution = self._minimised(d, problem.Jn, np.flatnonzero(free))
        p, w = np.zeros(problem.nv), np.zeros(problem.nc)
        if solution is not None:
            p, w = self._repaired(solution[: problem.nv]), solution[problem.nv + 1 :]
            w[free] = np.maximum(w[free], 0.0)
        return Certificate(d, last, p, w, self._proved(d, p, w))

    def _proved(self, d: Array, p: Array, w: Array) -> float:
        """The bound on ``d . v+`` that a covector and weights prove, see the module's head."""
        problem = self.problem
        return float(p @ problem.v) + problem.speed * self.dual_norm(d + problem.Jn.T @ w - p)

    def _repaired(self, p: Array) -> Array:
        """p moved into the polar cone; zero, which always proves something, where that is impossible."""
        excess = float(self._cone_excess(p).max())
        if excess <= 0.0:
            return p
        g = self._inward
        return np.zeros_like(p) if g is None else p - 2.0 * excess * g

    def _cone_excess(self, p: Array) -> Array:
        """``(J M^-1 p)_n + mu |(J M^-1 p)_t|`` for each contact; a certificate wants <= 0."""
        pushed = np.einsum("ijk,k->ij", self.problem.J, self.problem.solve_mass(p))
        return pushed[:, 0] + self.problem.mu * np.linalg.norm(pushed[:, 1:], axis=1)

    def dual_norm(self, covector: Array) -> float:
        """``|covector|_(M^-1)``, so that ``covector . v <= dual_norm |v|_M``."""
        return float(np.sqrt(max(0.0, float(covector @ self.problem.solve_mass(covector)))))

    def _minimised(
        self, d: Array, normals: ArrayLike, signed: ArrayLike, *, margin: float = 0.0
    ) -> Array | None:
        """The (p, tau, w) with the least ``p . v + |v|_M tau``; None where the solver fails.

        ``|d + normals^T w - p|_(M^-1) <= tau``, the conditions in the module's head with ``-margin`` in place
        of 0, and those of w that are ``signed`` are not negative.
        """
        problem, nv = self.problem, self.problem.nv
        rows, positive = np.reshape(normals, (-1, nv)), np.asarray(signed, dtype=int)
        lower, width = problem.cholesky, 1 + problem.nt
        norm = np.linalg.solve(lower, np.hstack([-np.eye(nv), np.zeros((nv, 1)), rows.T]))
        shares = np.column_stack([np.full(problem.nc, -1.0), np.repeat(problem.mu[:, None], problem.nt, 1)])
        polar = np.zeros((problem.nc * width, nv + 1 + len(rows)))
        polar[:, :nv] = problem.response.T * shares.reshape(-1, 1)
        unit = np.eye(nv + 1 + len(rows))
        table = np.vstack([unit[nv], norm, polar, unit[nv + 1 + positive]])
        offsets = np.zeros(len(table))
        offsets[1 : 1 + nv] = np.linalg.solve(lower, d)
        offsets[1 + nv : 1 + nv + len(polar) : width] = -margin
        cones = [("second order", 1 + nv), *[("second order", width)] * problem.nc]
        cost = np.concatenate([problem.v, [problem.speed], np.zeros(len(rows))])
        answer = convex.minimise(cost, -table, offsets, [*cones, ("nonnegative", len(positive))])
        return answer.x if answer.solved else None
