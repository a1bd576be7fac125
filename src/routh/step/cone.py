"""The impact step with Coulomb's true friction cone in space.

Find impulses with ``lambda_n = clip(lambda_n - y', 0, lambda_max)`` and
``lambda_t = proj(lambda_t - t')`` on the disc of radius ``mu lambda_n``, where ``y'`` and ``t'`` are the
contact velocities after the step, all in the problem's own units. The gap of this is the residual.

Method: polyhedral steps whose facets close in on the directions of friction give a start whose error
falls with the square of the facet angle; a semismooth Newton method on the fixed point finishes it. Where
that fails, Gauss-Seidel sweeps over exactly solved contacts (`solve_contact`) and finely faceted cones give
further starts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np

from routh.friction.cones import facet_directions, project_disc
from routh.problem import ImpactProblem
from routh.status import Status
from routh.step.base import StepResult, residual_tolerance, scaled_delassus
from routh.step.polyhedral import PolyhedralStep
from routh.validation import Array

# Each round divides the angle between the facets around the friction direction by this.
REFINEMENT = 6.0
ROUNDS = 12
NEWTON_STEPS = 30
TRUST_REGION_FACTORS = (10.0, 1.0)  # weights of velocity against impulse in the fixed point
SWEEP_STARTS, SWEEPS = 4, 25
FINE_FACETS = (24, 64)


def solve_contact(G: Array, c: Array, bound: float, mu: float) -> Array:
    """One contact, exactly: impulse (3,), normal first, ``0 <= lambda_n <= bound``, in Coulomb's cone.

    ``c' = c + G lambda`` is its velocity after.

    Every contact mode has a closed form or a polynomial: separated, sticking or sliding, and each of the
    latter with the normal impulse free or at its bound. The mode whose fixed-point gap is smallest wins.
    """
    best, best_gap = np.zeros(3), np.inf
    for candidate in _candidates(G, c, bound, mu):
        gap = _gap(G, c, bound, mu, candidate)
        if gap < best_gap:
            best, best_gap = candidate, gap
        if best_gap < 1e-15:
            break
    return best


def _candidates(G: Array, c: Array, bound: float, mu: float) -> Iterator[Array]:
    yield np.zeros(3)
    yield np.asarray(np.linalg.lstsq(G, -c, rcond=None)[0], dtype=np.float64)
    for direction in _sliding_directions(G, c, mu):
        rate = G[0, 0] + mu * float(G[0, 1:] @ direction)
        if rate > 0.0:
            normal = -c[0] / rate
            yield np.array([normal, *(mu * normal * direction)])
    if np.isfinite(bound):
        yield np.array([bound, *friction_at(G[1:, 1:], c[1:] + G[1:, 0] * bound, mu * bound)])


def _sliding_directions(G: Array, c: Array, mu: float) -> list[Array]:
    """Directions s of friction for which slip stays opposite to s while the normal velocity ends at zero.

    ``(t x s) (Gnn + mu Gnt.s) - y (Gtn x s + mu (Gtt s) x s) = 0`` is a trigonometric polynomial of degree
    two in the angle of s, hence a quartic in ``z = exp(i angle)``.
    """
    y, t = c[0], c[1:]
    Gnn, g, H = G[0, 0], G[0, 1:], G[1:, 1:]
    # f(angle) = a1 cos + b1 sin + a2 cos 2 + b2 sin 2 + a0, with u x s = u0 sin - u1 cos
    a1 = -t[1] * Gnn + y * g[1]
    b1 = t[0] * Gnn - y * g[0]
    # (t0 sin - t1 cos)(g0 cos + g1 sin) and (H s) x s = (H00 - H11) sin cos + H01 (sin^2 - cos^2)
    a0 = 0.5 * mu * (t[0] * g[1] - t[1] * g[0])
    a2 = 0.5 * mu * (-t[0] * g[1] - t[1] * g[0]) + y * mu * H[0, 1]
    b2 = 0.5 * mu * (t[0] * g[0] - t[1] * g[1]) - 0.5 * y * mu * (H[0, 0] - H[1, 1])
    quartic = np.array(
        [0.5 * (a2 - 1j * b2), 0.5 * (a1 - 1j * b1), a0, 0.5 * (a1 + 1j * b1), 0.5 * (a2 + 1j * b2)]
    )
    scale = np.abs(quartic).max()
    if not scale > 0.0:
        return []
    roots = np.roots(quartic / scale)
    angles = np.angle(roots[np.abs(np.abs(roots) - 1.0) < 1e-3])
    for _ in range(3):  # polish on the real function
        cos, sin, cos2, sin2 = np.cos(angles), np.sin(angles), np.cos(2 * angles), np.sin(2 * angles)
        value = a0 + a1 * cos + b1 * sin + a2 * cos2 + b2 * sin2
        slope = -a1 * sin + b1 * cos - 2 * a2 * sin2 + 2 * b2 * cos2
        angles = angles - np.where(slope != 0.0, value / np.where(slope != 0.0, slope, 1.0), 0.0)
    return [np.array([np.cos(angle), np.sin(angle)]) for angle in angles]


def friction_at(H: Array, p: Array, radius: float) -> Array:
    """Minimizer of ``x^T H x / 2 + p . x`` on a disc: friction for a given normal impulse (2,)."""
    values, vectors = np.linalg.eigh(H)
    q = vectors.T @ p
    tiny = 1e-300
    if values[0] > 0.0 and np.sum((q / values) ** 2) <= radius**2:
        return -vectors @ (q / values)
    if not radius > 0.0:
        return np.zeros(2)
    # |(H + beta)^-1 p| = radius: increasing 1/|x| is nearly linear in beta, so Newton converges from the left
    beta = max(0.0, float(np.abs(q).max()) / radius - values[1])
    for _ in range(50):
        x = q / np.maximum(values + beta, tiny)
        length = float(np.linalg.norm(x))
        slope = -float(np.sum(x**2 / np.maximum(values + beta, tiny))) / max(length, tiny)
        change = (length / radius - 1.0) * length / -slope if slope < 0.0 else 0.0
        beta = max(beta + change, 0.0)
        if abs(change) <= 1e-16 * (beta + values[1]):
            break
    x = -vectors @ (q / np.maximum(values + beta, tiny))
    return x * min(1.0, radius / max(float(np.linalg.norm(x)), tiny))


def _gap(G: Array, c: Array, bound: float, mu: float, lam: Array) -> float:
    after = c + G @ lam
    normal = abs(lam[0] - min(max(lam[0] - after[0], 0.0), bound))
    pull = lam[1:] - after[1:]
    radius = mu * max(lam[0], 0.0)
    length = float(np.linalg.norm(pull))
    nearest = pull * (radius / length) if length > radius else pull
    gap = max(float(normal), float(np.linalg.norm(lam[1:] - nearest)))
    return gap if np.isfinite(gap) else np.inf


@dataclass(frozen=True, eq=False)
class _Aims:
    """What is asked of normals, (nc,) each, scaled: velocity of pushing ones, least and largest impulse."""

    rebound: Array
    least: Array
    most: Array


class ConeStep:
    """HP23 (72) with ``Unit`` instead of ``Unit_D``: the friction disc itself. For one spatial problem."""

    def __init__(self, problem: ImpactProblem) -> None:
        self.problem = problem
        self._G = scaled_delassus(problem)
        self._tolerance = residual_tolerance(problem)

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

        def faceted(step: PolyhedralStep) -> StepResult:
            return step.solve(v, lambda_max, rebound=rebound, held=held)

        if rebound is not None and np.any(rebound > 0.0):
            # contacts that jam cannot rebound: where facets have no solution, the search here would be long
            rough = faceted(PolyhedralStep(problem))
            if rough.status is not Status.SOLVED:
                return rough
        starts = self._starts(faceted), self._sweeps(before, aims), self._fine(faceted)
        for start in chain(*starts):
            for candidate in (start, self._newton(start, before, aims)):
                gap = self._gap(candidate, before, aims)
                if gap < best_gap:
                    best, best_gap = candidate, gap
            if best_gap < self._tolerance:
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
            result = faceted(PolyhedralStep(problem, directions=directions))
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

    def _sweeps(self, before: Array, aims: _Aims) -> Iterator[Array]:
        """Gauss-Seidel over the contacts, each solved exactly, from rest; every so many sweeps a start."""
        if np.any(aims.least > 0.0):
            return  # one contact alone is solved from no impulse on
        lam = np.zeros(len(before))
        for _ in range(SWEEP_STARTS):
            for _ in range(SWEEPS):
                last = lam.copy()
                for i in range(self.problem.nc):
                    own = slice(3 * i, 3 * i + 3)
                    block = self._G[own, own]
                    others = before[own] + self._G[own] @ lam - block @ lam[own]
                    lam[own] = solve_contact(block, others, float(aims.most[i]), float(self.problem.mu[i]))
                if np.array_equal(lam, last):
                    break
            yield lam.copy()

    def _fine(self, faceted: Callable[[PolyhedralStep], StepResult]) -> Iterator[Array]:
        """Polyhedral solutions with ever more facets all around: slow, and near a solution in the end."""
        for facets in FINE_FACETS:
            result = faceted(PolyhedralStep(self.problem, facets=facets))
            yield (result.impulse / self.problem.scaling.impulse[:, None]).ravel()

    def _gap(self, lam: Array, before: Array, aims: _Aims) -> float:
        nc = self.problem.nc
        after = (before + self._G @ lam).reshape(nc, -1)
        return fixed_point_gap(lam.reshape(nc, -1), after, aims.least, aims.most, self.problem.mu)

    def _newton(self, start: Array, before: Array, aims: _Aims) -> Array:
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
            if best_gap < 1e-15 or not gap < 1e6 * best_gap:
                break
        for factor in TRUST_REGION_FACTORS:
            if best_gap < self._tolerance:
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
        nc, width = self.problem.nc, 1 + self.problem.nt
        after = before + self._G @ lam
        value = np.empty(nc * width)
        slope = np.zeros((nc * width, nc * width))
        identity = np.eye(nc * width)
        for i in range(nc):
            normal = i * width
            tangent = slice(normal + 1, normal + width)
            inner = lam[normal] - rho[i] * after[normal]
            value[normal] = lam[normal] - min(max(inner, aims.least[i]), aims.most[i])
            slope[normal] = identity[normal]
            if aims.least[i] < inner < aims.most[i]:
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
    return np.array([np.linalg.norm(G[i : i + width, i : i + width], 2) for i in range(0, len(G), width)])
