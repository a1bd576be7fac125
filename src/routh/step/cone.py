"""The impact step with Coulomb's true friction cone in space.

Find impulses with ``lambda_n = clip(lambda_n - y', 0, lambda_max)`` and
``lambda_t = proj(lambda_t - t')`` on the disc of radius ``mu lambda_n``, where ``y'`` and ``t'`` are the
contact velocities after the step, all in the problem's own units. The gap of this is the residual.

Method: polyhedral steps whose facets close in on the directions of friction give a start whose error
falls with the square of the facet angle; a semismooth Newton method on the fixed point finishes it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from routh.friction import facet_directions, project_disc
from routh.problem import ImpactProblem
from routh.status import Status
from routh.step.base import StepResult, residual_tolerance, scaled_delassus
from routh.step.polyhedral import PolyhedralStep
from routh.validation import Array

# Facet angles around the found friction direction, from coarse to fine; each round divides by this.
REFINEMENT = 6.0
ROUNDS = 8
NEWTON_STEPS = 30


class ConeStep:
    """HP23 (72) with ``Unit`` instead of ``Unit_D``: the friction disc itself. For one spatial problem."""

    def __init__(self, problem: ImpactProblem) -> None:
        self.problem = problem
        self._G = scaled_delassus(problem)
        self._tolerance = residual_tolerance(problem)

    def solve(self, v: Array, lambda_max: Array | None) -> StepResult:
        """One solution of the step, or the best attempt with its status."""
        problem, unit = self.problem, self.problem.scaling
        before = (problem.contact_velocity(v) / unit.velocity[:, None]).ravel()
        bound = np.full(problem.nc, np.inf) if lambda_max is None else lambda_max / unit.impulse
        best, best_gap = np.zeros(problem.nc * (1 + problem.nt)), np.inf
        for start in self._starts(v, lambda_max):
            for candidate in (start, self._newton(start, before, bound)):
                gap = self._gap(candidate, before, bound)
                if gap < best_gap:
                    best, best_gap = candidate, gap
            if best_gap < self._tolerance:
                break
        impulse = best.reshape(problem.nc, -1) * unit.impulse[:, None]
        residual = self.residual(v, lambda_max, impulse)
        status = Status.SOLVED if residual < self._tolerance else Status.NUMERICAL
        return StepResult(problem.apply(impulse, v), impulse, status, residual, "facets and newton")

    def residual(self, v: Array, lambda_max: Array | None, impulse: Array) -> float:
        """The fixed-point gap of an impulse (nc, 1 + nt), recomputed from the problem's own matrices."""
        unit = self.problem.scaling
        after = self.problem.contact_velocity(self.problem.apply(impulse, v)) / unit.velocity[:, None]
        bound = np.full(self.problem.nc, np.inf) if lambda_max is None else lambda_max / unit.impulse
        return fixed_point_gap(impulse / unit.impulse[:, None], after, bound, self.problem.mu)

    def _starts(self, v: Array, lambda_max: Array | None) -> Iterator[Array]:
        """Polyhedral solutions with ever narrower facets around the friction that the last one found."""
        problem = self.problem
        base = facet_directions(problem.nt, None)
        directions = np.broadcast_to(base, (problem.nc, *base.shape))
        width = 2.0 * np.pi / len(base)
        for _ in range(ROUNDS):
            step = PolyhedralStep(problem, directions=directions)
            result = step.solve(v, lambda_max)
            yield (result.impulse / problem.scaling.impulse[:, None]).ravel()
            if problem.nt == 1:
                return
            slip = problem.contact_velocity(result.v)[:, 1:]
            angle = _friction_angles(result.impulse[:, 1:], slip)
            offsets = np.array([-1.0, 0.0, 1.0]) * width / 2.0
            angles = np.concatenate(
                [angle[:, None] + offsets, angle[:, None] + np.pi * np.array([0.5, 1.0, 1.5])], 1
            )
            directions = np.stack([np.cos(angles), np.sin(angles)], axis=2)
            width /= REFINEMENT

    def _gap(self, lam: Array, before: Array, bound: Array) -> float:
        nc = self.problem.nc
        after = (before + self._G @ lam).reshape(nc, -1)
        return fixed_point_gap(lam.reshape(nc, -1), after, bound, self.problem.mu)

    def _newton(self, start: Array, before: Array, bound: Array) -> Array:
        """Semismooth Newton on ``lambda - proj(lambda - rho c')``, damped where the gap does not fall."""
        lam = start.copy()
        rho = 1.0 / _block_norms(self._G, self.problem.nc)
        gap = self._gap(lam, before, bound)
        for _ in range(NEWTON_STEPS):
            value, slope = self._fixed_point(lam, before, bound, rho)
            change = np.linalg.lstsq(slope, -value, rcond=1e-13)[0]
            size, improved = 1.0, False
            for _ in range(12):
                trial = lam + size * change
                trial_gap = self._gap(trial, before, bound)
                if trial_gap < gap:
                    lam, gap, improved = trial, trial_gap, True
                    break
                size *= 0.5
            if not improved or gap < 1e-15:
                break
        return lam

    def _fixed_point(self, lam: Array, before: Array, bound: Array, rho: Array) -> tuple[Array, Array]:
        """Value and an element of the generalized Jacobian of the fixed-point map."""
        nc, width = self.problem.nc, 1 + self.problem.nt
        after = before + self._G @ lam
        value = np.empty(nc * width)
        slope = np.zeros((nc * width, nc * width))
        identity = np.eye(nc * width)
        for i in range(nc):
            normal = i * width
            tangent = slice(normal + 1, normal + width)
            inner = lam[normal] - rho[i] * after[normal]
            value[normal] = lam[normal] - min(max(inner, 0.0), bound[i])
            slope[normal] = identity[normal]
            if 0.0 < inner < bound[i]:
                slope[normal] = rho[i] * self._G[normal]
            pull = lam[tangent] - rho[i] * after[tangent]
            pull_slope = identity[tangent] - rho[i] * self._G[tangent]
            radius = self.problem.mu[i] * max(lam[normal], 0.0)
            length = float(np.linalg.norm(pull))
            if length <= radius:
                value[tangent] = lam[tangent] - pull
                slope[tangent] = identity[tangent] - pull_slope
            else:
                unit = pull / length
                value[tangent] = lam[tangent] - radius * unit
                across = (np.eye(width - 1) - np.outer(unit, unit)) * (radius / length)
                slope[tangent] = identity[tangent] - across @ pull_slope
                if lam[normal] > 0.0:
                    slope[tangent, normal] -= self.problem.mu[i] * unit
        return value, slope


def fixed_point_gap(lam: Array, after: Array, bound: Array, mu: Array) -> float:
    """Gap of the fixed point for scaled impulses and velocities after, (nc, 1 + nt); infinite for NaN."""
    normal = lam[:, 0] - np.clip(lam[:, 0] - after[:, 0], 0.0, bound)
    friction = lam[:, 1:] - project_disc(lam[:, 1:] - after[:, 1:], mu * np.maximum(lam[:, 0], 0.0))
    gap = max(float(np.abs(normal).max()), float(np.linalg.norm(friction, axis=1).max()))
    return gap if np.isfinite(gap) else float("inf")


def _friction_angles(friction: Array, slip: Array) -> Array:
    """Direction of friction of each contact, (nc,) rad; where it has none, the one opposite to slip."""
    direction = np.where(np.linalg.norm(friction, axis=1, keepdims=True) > 0.0, friction, -slip)
    return np.arctan2(direction[:, 1], direction[:, 0])


def _block_norms(G: Array, nc: int) -> Array:
    width = len(G) // nc
    return np.array([np.linalg.norm(G[i : i + width, i : i + width], 2) for i in range(0, len(G), width)])
