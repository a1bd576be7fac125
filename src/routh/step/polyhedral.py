"""The impact step with polyhedral friction, as the linear complementarity problem HP23 (75)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from routh.base.validation import Array
from routh.lcp.lemke import lemke_pivots
from routh.lcp.solving import LCPResult, Pivoting, solve_scaled
from routh.problem.friction import facet_directions
from routh.problem.impact import ImpactProblem
from routh.step.base import StepResult, along_normals, residual_tolerance


class PolyhedralStep:
    """HP23 (72)-(75) for one problem: unknowns ``z = [beta; lambda_n; lambda_D; gamma]``.

    Without the bound (``lambda_max`` None) beta is dropped and the problem is HP23 (31)-(33).

    Parameters
    ----------
    problem : the impact.
    facets : even number of friction directions in space, default 8; the plane has 2.
    directions : (nc, k, nt) friction directions of each contact, instead of ``facets``.
    cover : covering vector of Lemke's method for the bounded problem, (n,), in SI units; default ones.
    pivoting : a compiled `routh.lcp.lemke.lemke_pivots`, where millions of steps are solved.
    """

    def __init__(
        self,
        problem: ImpactProblem,
        *,
        facets: int | None = None,
        directions: Array | None = None,
        cover: Array | None = None,
        pivoting: Pivoting = lemke_pivots,
    ) -> None:
        self.problem = problem
        nc, nt = problem.nc, problem.nt
        if directions is None:
            every = facet_directions(nt, facets)
            directions = np.broadcast_to(every, (nc, *every.shape))
        self.directions = directions  # (nc, k, nt)
        self.k = directions.shape[1]
        self._pivoting = pivoting
        self._tolerance = residual_tolerance(problem.mu)
        self._spread = self._impulse_map()
        self._W = self._matrix()
        scaling = problem.scaling
        velocity, impulse = scaling.velocity, scaling.impulse
        self._z_unit = np.concatenate([velocity, impulse, np.repeat(impulse, self.k), velocity])
        self._w_unit = np.concatenate([impulse, velocity, np.repeat(velocity, self.k), impulse])
        self._cover = np.ones(self.size) if cover is None else np.asarray(cover, dtype=np.float64)

    @property
    def size(self) -> int:
        """Number of unknowns of the bounded problem."""
        return self.problem.nc * (3 + self.k)

    def solve(
        self, v: Array, lambda_max: Array | None, *, rebound: Array | None = None, held: Array | None = None
    ) -> StepResult:
        """The canonical solution: Lemke's, all-ones covering vector, lexicographic ties.

        ``rebound`` (nc,) m/s: the normal velocity with which pushing contacts leave, in the place of zero.
        ``held`` (nc,) N s: normal impulse that acts in any case, with its friction; part of the result.
        """
        started = v if held is None else self.problem.apply(along_normals(self.problem, held), v)
        W, q, z_unit, w_unit, keep = self._data(started, lambda_max)
        nc = self.problem.nc
        if rebound is not None:
            first = 0 if lambda_max is None else nc
            q[first : first + nc] -= rebound
        if held is not None:
            q[-nc:] = self.problem.mu * held

        def exact() -> np.ndarray:
            return self._exact_matrix()[keep, keep]

        cover, most = self._cover[keep], 50 * len(q)
        result = solve_scaled(W, q, cover, z_unit, w_unit, self._tolerance, most, self._pivoting, exact)
        return self._read(v, result, keep, held)

    def solutions(self, v: Array, lambda_max: Array | None) -> list[StepResult]:
        """Every solution; those that differ only in undetermined impulses are one."""
        W, q, z_unit, w_unit, keep = self._data(v, lambda_max)
        # compare velocities: M^(1/2) (v' - v) / speed
        root = self.problem.scaling.speed
        same = self.problem.cholesky.T @ self.problem.response @ self._spread[:, keep] * z_unit / root
        from routh.lcp.enumeration import enumerate_solutions

        found = enumerate_solutions(W, q, same=same, z_unit=z_unit, w_unit=w_unit, tolerance=self._tolerance)
        return [self._read(v, result, keep) for result in found]

    def residual(self, v: Array, lambda_max: Array | None, impulse: Array) -> float:
        """How far an impulse (nc, 1 + nt) is from solving the step: the smallest scaled violation of (72).

        Independent of any solver: bounds, complementarity and maximal dissipation over the facets are
        recomputed from the impulse alone.
        """
        scaling = self.problem.scaling
        after = self.problem.contact_velocity(self.problem.apply(impulse, v)) / scaling.velocity[:, None]
        lam = impulse / scaling.impulse[:, None]
        bound = np.full(self.problem.nc, np.inf) if lambda_max is None else lambda_max / scaling.impulse
        normal = np.abs(lam[:, 0] - np.clip(lam[:, 0] - after[:, 0], 0.0, bound)).max()
        # support of the friction polygon in the direction of -slip, against the power that is taken out
        slip_along = np.einsum("ikt,it->ik", self.directions, after[:, 1:])
        least = slip_along.min(axis=1) * self.problem.mu * lam[:, 0]
        power = np.einsum("it,it->i", lam[:, 1:], after[:, 1:])
        # as a velocity: the power that is missing, per impulse
        dissipation = (np.abs(power - least) / np.maximum(1.0, self.problem.mu * lam[:, 0])).max()
        violation = max(float(normal), float(dissipation))
        return violation if np.isfinite(violation) else float("inf")

    def _data(self, v: Array, lambda_max: Array | None) -> tuple[Array, Array, Array, Array, slice]:
        nc = self.problem.nc
        contact = self.problem.contact_velocity(v)
        along = np.einsum("ikt,it->ik", self.directions, contact[:, 1:]).ravel()
        bounded = lambda_max is not None
        q = np.concatenate([lambda_max if bounded else np.zeros(nc), contact[:, 0], along, np.zeros(nc)])
        keep = slice(0, None) if bounded else slice(nc, None)
        return self._W[keep, keep], q[keep], self._z_unit[keep], self._w_unit[keep], keep

    def _read(self, v: Array, found: LCPResult, keep: slice, held: Array | None = None) -> StepResult:
        impulse = (self._spread[:, keep] @ found.z).reshape(self.problem.nc, 1 + self.problem.nt)
        if held is not None:
            impulse += along_normals(self.problem, held)
        after = self.problem.apply(impulse, v)
        return StepResult(after, impulse, found.status, found.residual, found.method)

    def _impulse_map(self) -> Array:
        """Contact impulses from z: (nc (1 + nt), size)."""
        nc, nt, k = self.problem.nc, self.problem.nt, self.k
        spread = np.zeros((nc, 1 + nt, self.size))
        for i in range(nc):
            spread[i, 0, nc + i] = 1.0
            first = 2 * nc + i * k
            spread[i, 1:, first : first + k] = self.directions[i].T
        return spread.reshape(nc * (1 + nt), self.size)

    def _exact_matrix(self) -> np.ndarray:
        """HP23 (75b) in the problem's own units, in fractions: exactly copositive, as Theorem 6 needs it."""
        scaled = self._W * self._z_unit / self._w_unit[:, None]
        exact = np.array([[Fraction(entry) for entry in row] for row in scaled], dtype=object)
        inner = slice(self.problem.nc, -self.problem.nc)
        root = np.repeat(np.sqrt(self.problem.scaling.mass), 1 + self.problem.nt)
        # L^-1 Jbar^T, (nv, nc (1 + k))
        factor = (self.problem.impulse_columns * root) @ self._spread[:, inner]
        fractions = np.array([[Fraction(entry) for entry in row] for row in factor], dtype=object)
        exact[inner, inner] = fractions.T @ fractions
        return exact

    def _matrix(self) -> Array:
        """HP23 (75b), with its transposes."""
        nc, k = self.problem.nc, self.k
        own, each = np.arange(nc), np.arange(2 * nc, 2 * nc + nc * k)  # a contact's bound, its directions
        normal, slack = nc + own, 2 * nc + nc * k + own
        forces = self._spread[:, nc : 2 * nc + nc * k]  # columns: Jbar^T in contact coordinates
        W = np.zeros((self.size, self.size))
        W[nc : 2 * nc + nc * k, nc : 2 * nc + nc * k] = forces.T @ self.problem.delassus @ forces
        W[own, normal] = -1.0
        W[normal, own] = 1.0
        W[each, np.repeat(slack, k)] = 1.0
        W[slack, normal] = self.problem.mu
        W[np.repeat(slack, k), each] = -1.0
        return W
