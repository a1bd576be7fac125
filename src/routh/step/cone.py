"""The impact step with Coulomb's true friction cone in space.

Find impulses with ``lambda_n = clip(lambda_n - y', 0, lambda_max)`` and
``lambda_t = proj(lambda_t - t')`` on the disc of radius ``mu lambda_n``, where ``y'`` and ``t'`` are the
contact velocities after the step, all in the problem's own units. The gap of this is the residual.

Method: polyhedral steps whose facets close in on the directions of friction give a start whose error
falls with the square of the facet angle; a semismooth Newton method on the fixed point finishes it. Where
that fails, finely faceted cones give further starts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np

from routh.base import tolerances
from routh.base.status import Status
from routh.base.validation import Array
from routh.lcp.lemke import lemke_pivots
from routh.lcp.solving import Pivoting
from routh.problem.friction import facet_directions, project_disc
from routh.problem.impact import ImpactProblem
from routh.step.base import StepResult, residual_tolerance, scaled_delassus
from routh.step.polyhedral import PolyhedralStep

# Each round divides the angle between the facets around the friction direction by this.
REFINEMENT = 6.0
ROUNDS = 12
NEWTON_STEPS = 30
FAR_BELOW = 1e-6  # share of what is enough at which Newton's method ends
TRUST_REGION_FACTORS = (10.0, 1.0)  # weights of velocity against impulse in the fixed point
FINE_FACETS = (24, 64)


@dataclass(frozen=True, eq=False)
class _Aims:
    """What is asked of normals, (nc,) each, scaled: velocity of pushing ones, least and largest impulse."""

    rebound: Array
    least: Array
    most: Array


class ConeStep:
    """HP23 (72) with ``Unit`` instead of ``Unit_D``: the friction disc itself. For one spatial problem."""

    def __init__(self, problem: ImpactProblem, pivoting: Pivoting = lemke_pivots) -> None:
        self.problem, self._pivoting = problem, pivoting
        self._G = scaled_delassus(problem)
        self._tolerance = residual_tolerance(problem.mu)

    def solve(
        self, v: Array, lambda_max: Array | None, *, rebound: Array | None = None, held: Array | None = None
    ) -> StepResult:
        """One solution of the step, or the best attempt with its status.

        ``rebound`` (nc,) m/s: the normal velocity with which pushing contacts leave, in the place of zero.
        ``held`` (nc,) N s: normal impulse that acts in any case, with its friction; part of the result.
        """
        problem, unit = self.problem, self.problem.scaling
        aims = _Aims(
            np.zeros(problem.nc) if rebound is None else rebound / unit.velocity,
            np.zeros(problem.nc) if held is None else held / unit.impulse,
            np.full(problem.nc, np.inf) if lambda_max is None else lambda_max / unit.impulse,
        )
        before = (problem.contact_velocity(v) / unit.velocity[:, None]).ravel()
        before[:: 1 + problem.nt] -= aims.rebound
        best, best_gap = np.zeros(problem.nc * (1 + problem.nt)), np.inf
        # a slow approach may be no more than the tolerance for all motion
        fastest = -float(before[:: 1 + problem.nt].min())
        enough = self._tolerance * (min(fastest, 1.0) if fastest > tolerances.APPROACH else 1.0)

        def faceted(step: PolyhedralStep) -> StepResult:
            return step.solve(v, lambda_max, rebound=rebound, held=held)

        if rebound is not None and np.any(rebound > 0.0):
            # contacts that jam cannot rebound: where facets have no solution, the search here would be long
            rough = faceted(PolyhedralStep(problem, pivoting=self._pivoting))
            if rough.status is not Status.SOLVED:
                return rough
        for start in chain(self._starts(faceted), self._fine(faceted)):
            for candidate in (start, self._newton(start, before, aims, enough)):
                gap = self._gap(candidate, before, aims)
                if gap < best_gap:
                    best, best_gap = candidate, gap
            if best_gap < enough:
                break
        impulse = best.reshape(problem.nc, -1) * unit.impulse[:, None]
        residual = self._residual(v, impulse, aims)
        status = Status.SOLVED if residual < self._tolerance else Status.NUMERICAL
        return StepResult(problem.apply(impulse, v), impulse, status, residual, "facets and newton")

    def residual(self, v: Array, lambda_max: Array | None, impulse: Array) -> float:
        """The fixed-point gap of an impulse (nc, 1 + nt), recomputed from the problem's own matrices."""
        none = np.zeros(self.problem.nc)
        most = none + np.inf if lambda_max is None else lambda_max / self.problem.scaling.impulse
        return self._residual(v, impulse, _Aims(none, none, most))

    def _residual(self, v: Array, impulse: Array, aims: _Aims) -> float:
        unit = self.problem.scaling
        after = self.problem.contact_velocity(self.problem.apply(impulse, v)) / unit.velocity[:, None]
        after[:, 0] -= aims.rebound
        return fixed_point_gap(impulse / unit.impulse[:, None], after, aims.least, aims.most, self.problem.mu)

    def _starts(self, faceted: Callable[[PolyhedralStep], StepResult]) -> Iterator[Array]:
        """Polyhedral solutions with ever narrower facets around the friction that the last one found."""
        problem = self.problem
        base = facet_directions(problem.nt, None)
        directions = np.broadcast_to(base, (problem.nc, *base.shape))
        width = np.full(problem.nc, 2.0 * np.pi / len(base))
        for _ in range(ROUNDS):
            result = faceted(PolyhedralStep(problem, directions=directions, pivoting=self._pivoting))
            yield (result.impulse / problem.scaling.impulse[:, None]).ravel()
            slip = problem.contact_velocity(result.v)[:, 1:]
            wanted, found = _friction_angles(result.impulse[:, 1:], slip)
            # close in, but never leave the direction opposite to slip outside
            miss = np.abs((found - wanted + np.pi) % (2.0 * np.pi) - np.pi)
            width = np.minimum(np.maximum(width / REFINEMENT, 4.0 * miss), 0.5 * np.pi)
            offsets = np.array([-0.5, 0.0, 0.5]) * width[:, None]
            others = np.broadcast_to(np.pi * np.array([0.5, 1.0, 1.5]), offsets.shape)
            angles = wanted[:, None] + np.concatenate([offsets, others], axis=1)
            directions = np.stack([np.cos(angles), np.sin(angles)], axis=2)

    def _fine(self, faceted: Callable[[PolyhedralStep], StepResult]) -> Iterator[Array]:
        """Polyhedral solutions with ever more facets all around: slow, and near a solution in the end."""
        for facets in FINE_FACETS:
            result = faceted(PolyhedralStep(self.problem, facets=facets))
            yield (result.impulse / self.problem.scaling.impulse[:, None]).ravel()

    def _gap(self, lam: Array, before: Array, aims: _Aims) -> float:
        nc = self.problem.nc
        after = (before + self._G @ lam).reshape(nc, -1)
        return fixed_point_gap(lam.reshape(nc, -1), after, aims.least, aims.most, self.problem.mu)

    def _newton(self, start: Array, before: Array, aims: _Aims, enough: float) -> Array:
        """Semismooth Newton on ``lambda - proj(lambda - rho c')``; the iterate with the smallest gap.

        Full steps first: the map is piecewise smooth, and a step that enlarges the gap often lands on the
        right piece. Where they lead nowhere, a trust-region method with the same derivatives is tried.
        """
        best, best_gap = start, self._gap(start, before, aims)
        rho = 1.0 / _block_norms(self._G, self.problem.nc)
        lam = start
        for _ in range(NEWTON_STEPS):
            value, slope = self._fixed_point(lam, before, aims, rho)
            lam = lam - np.linalg.lstsq(slope, value, rcond=1e-14)[0]
            gap = self._gap(lam, before, aims)
            if gap < best_gap:
                best, best_gap = lam, gap
            if best_gap < FAR_BELOW * enough or not gap < 1e6 * best_gap:
                break
        for factor in TRUST_REGION_FACTORS:
            if best_gap < enough:
                break
            weight = factor * rho
            from scipy.optimize import least_squares  # not on the way to a sample

            result = least_squares(
                lambda lam, weight=weight: self._fixed_point(lam, before, aims, weight)[0],
                best,
                jac=lambda lam, weight=weight: self._fixed_point(lam, before, aims, weight)[1],
                xtol=1e-15,
                ftol=1e-15,
                gtol=1e-15,
                max_nfev=100,
            )
            gap = self._gap(result.x, before, aims)
            if gap < best_gap:
                best, best_gap = result.x, gap
        return best

    def _fixed_point(self, lam: Array, before: Array, aims: _Aims, rho: Array) -> tuple[Array, Array]:
        """Value and an element of the generalized Jacobian of the fixed-point map."""
        (nc, nt), n = self.problem.Jt.shape[:2], len(lam)
        impulse, after = lam.reshape(nc, -1), (before + self._G @ lam).reshape(nc, -1)
        identity, G = np.eye(n).reshape(nc, -1, n), self._G.reshape(nc, -1, n)
        pull, pull_slope = impulse - rho[:, None] * after, identity - rho[:, None, None] * G
        value, slope = impulse.copy(), identity.copy()
        value[:, 0] -= np.clip(pull[:, 0], aims.least, aims.most)
        free = (aims.least < pull[:, 0]) & (pull[:, 0] < aims.most)
        slope[free, 0] -= pull_slope[free, 0]
        radius = self.problem.mu * np.maximum(impulse[:, 0], 0.0)
        length = np.linalg.norm(pull[:, 1:], axis=1)
        slides = length > radius
        divisor = np.where(slides, length, 1.0)
        share = np.where(slides, radius / divisor, 1.0)  # of the pull that the disc lets through
        unit = pull[:, 1:] * (slides / divisor)[:, None]  # zero where it sticks
        value[:, 1:] -= share[:, None] * pull[:, 1:]
        across = share[:, None, None] * (np.eye(nt) - unit[:, :, None] * unit[:, None, :])
        slope[:, 1:] -= across @ pull_slope[:, 1:]
        grows = np.where(impulse[:, 0] > 0.0, self.problem.mu, 0.0)
        slope[:, 1:] -= (grows[:, None] * unit)[:, :, None] * identity[:, :1]
        return value.ravel(), slope.reshape(n, n)


def fixed_point_gap(lam: Array, after: Array, least: Array, most: Array, mu: Array) -> float:
    """Gap of the fixed point for scaled impulses and velocities after, (nc, 1 + nt); infinite for NaN.

    ``least``, ``most`` (nc,): bounds of the normal impulse.
    """
    normal = lam[:, 0] - np.clip(lam[:, 0] - after[:, 0], least, most)
    friction = lam[:, 1:] - project_disc(lam[:, 1:] - after[:, 1:], mu * np.maximum(lam[:, 0], 0.0))
    gap = max(float(np.abs(normal).max()), float(np.linalg.norm(friction, axis=1).max()))
    return gap if np.isfinite(gap) else float("inf")


def _friction_angles(friction: Array, slip: Array) -> tuple[Array, Array]:
    """Angles (nc,) opposite to slip and of friction; each stands in where the other is zero."""
    slides = np.linalg.norm(slip, axis=1, keepdims=True) > 1e-14 * np.abs(slip).max()
    pushes = np.linalg.norm(friction, axis=1, keepdims=True) > 0.0
    wanted = np.where(slides, -slip, friction)
    found = np.where(pushes, friction, wanted)
    return np.arctan2(wanted[:, 1], wanted[:, 0]), np.arctan2(found[:, 1], found[:, 0])


def _block_norms(G: Array, nc: int) -> Array:
    width = len(G) // nc
    own = G.reshape(nc, width, nc, width)[np.arange(nc), :, np.arange(nc)]
    return np.asarray(np.linalg.norm(own, 2, axis=(1, 2)))
