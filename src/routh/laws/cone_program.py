"""Impulses in friction cones by convex programs: the one place where laws set them up (Clarabel).

Everything is in a problem's own units (`routh.problem.impact.Scaling`): impulses (nc, 1 + nt), normal first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from routh.base import tolerances
from routh.base.validation import Array
from routh.lcp import convex
from routh.problem.friction import friction_polygon, project_disc
from routh.problem.impact import ImpactProblem

_NEWTON_STEPS = 12


@dataclass(frozen=True, eq=False)
class Cones:
    """The friction cones of all contacts: true ones, or with facets."""

    mu: Array  # (nc,)
    nt: int
    corners: Array | None  # (k, nt) of the polygon for unit friction; None: the disc

    @classmethod
    def of(cls, problem: ImpactProblem, friction: str, facets: int | None) -> Cones:
        """Cones of a problem; in the plane the two frictions are one."""
        return cls(problem.mu, problem.nt, friction_polygon(friction, facets, problem.nt))

    def support(self, direction: Array) -> Array:
        """How far unit friction reaches along directions (nc, nt): (nc,)."""
        if self.corners is None:
            return np.linalg.norm(direction, axis=1)
        return (direction @ self.corners.T).max(axis=1)

    def gauge(self, tangential: Array) -> Array:
        """The least unit friction that reaches the points (nc, nt): (nc,)."""
        if self.corners is None:
            return np.linalg.norm(tangential, axis=1)
        return (tangential @ self._edges().T).max(axis=1)

    def rows(self) -> tuple[Array, list[convex.Cone]]:
        """A table and cones: ``table @ impulse.ravel()`` is in the cones where the impulses are in theirs."""
        nc, width = len(self.mu), 1 + self.nt
        blocks: list[Array] = []
        cones: list[convex.Cone] = []
        for i, mu in enumerate(self.mu):
            own = np.zeros((width, nc * width))
            own[:, i * width : (i + 1) * width] = np.eye(width)
            normal, tangents = own[:1], own[1:]
            if mu == 0.0:
                blocks += [normal, tangents]
                cones += [("nonnegative", 1), ("zero", self.nt)]
            elif self.corners is None:
                size = max(mu, 1.0)  # rows of order one
                blocks += [normal * (mu / size), tangents / size]
                cones.append(("second order", width))
            else:
                edges = self._edges()
                blocks += [normal, (mu * normal - edges @ tangents) / max(mu, 1.0)]
                cones.append(("nonnegative", 1 + len(edges)))
        return np.concatenate(blocks), cones

    def dual_rows(self) -> tuple[Array, list[convex.Cone]]:
        """A table and cones: ``table @ c.ravel()`` is in them where contact velocities are in the dual cones.

        Those are ``y >= mu |t|``: velocities against which no impulse in the cones does work.
        """
        nc, width = len(self.mu), 1 + self.nt
        blocks: list[Array] = []
        cones: list[convex.Cone] = []
        for i, mu in enumerate(self.mu):
            corners = np.zeros((1, self.nt)) if mu == 0.0 else self.corners
            if corners is None:
                rows = np.diag([1.0, *[mu] * self.nt])
                cones.append(("second order", width))
            else:
                rows = np.column_stack([np.ones(len(corners)), mu * corners])
                cones.append(("nonnegative", len(corners)))
            own = np.zeros((len(rows), nc * width))
            own[:, i * width : (i + 1) * width] = rows / max(mu, 1.0)
            blocks.append(own)
        return np.concatenate(blocks), cones

    def _edges(self) -> Array:
        """Normals (k, nt) of the polygon's edges, whose products with points inside are at most one."""
        assert self.corners is not None
        if self.nt == 1:
            return self.corners
        middles = 0.5 * (self.corners + np.roll(self.corners, -1, axis=0))
        return np.asarray(middles / np.sum(middles**2, axis=1, keepdims=True))


def associated_impulse(problem: ImpactProblem, rebound: Array, cones: Cones) -> tuple[Array, float]:
    """The impulses (nc, 1 + nt) with ``K in impulse _|_ J v+ - rebound in K*``, and their scaled residual.

    One convex program: of all v+ with ``J v+ - rebound`` in the cones K* dual to those of friction the
    nearest to v in the kinetic-energy norm (Anitescu 2006). Impulses are its multipliers.
    """
    unit, width = problem.scaling, 1 + problem.nt
    before = problem.contact_velocity() / unit.velocity[:, None]
    before[:, 0] -= rebound / unit.velocity
    # of x = L^T (v+ - v) / speed, L L^T = M: contact velocities change by columns^T x
    columns = problem.impulse_columns * np.repeat(np.sqrt(unit.mass), width)
    table, members = cones.dual_rows()
    answer = convex.minimise(
        np.zeros(problem.nv),
        -table @ columns.T,
        table @ before.ravel(),
        members,
        quadratic=np.eye(problem.nv),
        tolerance=1e-13,
    )
    x = (table.T @ answer.dual).reshape(before.shape)
    G = columns.T @ columns
    if not answer.solved:
        return x * unit.impulse[:, None], float("inf")
    best, residual = x, np.inf
    for _ in range(_NEWTON_STEPS):
        after = before + (G @ x.ravel()).reshape(before.shape)
        gap = _complementarity(x, after, cones)
        if gap < residual:
            best, residual = x, gap
        if gap < 1e-14 or cones.corners is not None:
            break
        # interior points keep half of the digits where contacts slide: Newton on x = proj(x - after)
        slope = np.eye(len(G)) - _projection_slope(x - after, cones.mu) @ (np.eye(len(G)) - G)
        change = np.linalg.lstsq(slope, (x - _projected(x - after, cones.mu)).ravel(), rcond=1e-14)[0]
        x = x - change.reshape(x.shape)
    x = best
    return x * unit.impulse[:, None], residual if np.isfinite(residual) else float("inf")


def _complementarity(x: Array, after: Array, cones: Cones) -> float:
    """How far impulses in the cones and velocities (nc, 1 + nt) in the dual ones are from doing no work."""
    if cones.corners is None or cones.nt == 1:
        return float(np.abs(x - _projected(x - after, cones.mu)).max())
    steep = np.maximum(cones.mu, 1.0)
    dual = (cones.mu * cones.support(-after[:, 1:]) - after[:, 0]) / steep
    primal = np.maximum(-x[:, 0], (cones.gauge(x[:, 1:]) - cones.mu * x[:, 0]) / steep)
    size = np.maximum(np.abs(x).max(axis=1), np.abs(after).max(axis=1))
    power = np.abs(np.sum(x * after, axis=1)) / np.maximum(size, 1e-300)
    return float(np.max(np.stack([dual, primal, power]), initial=0.0))


def _projected(points: Array, mu: Array) -> Array:
    """The nearest points (nc, 1 + nt) of the true friction cones."""
    length = np.linalg.norm(points[:, 1:], axis=1)
    normal = np.maximum((points[:, 0] + mu * length) / (1.0 + mu**2), 0.0)
    turned = points[:, 1:] * (mu * normal / np.where(length > 0.0, length, 1.0))[:, None]
    inside = (length <= mu * points[:, 0])[:, None]
    return np.where(inside, points, np.column_stack([normal, turned]))


def _projection_slope(points: Array, mu: Array) -> Array:
    """The derivative (n, n) of `_projected`, an element of it at kinks."""
    width = points.shape[1]
    slope = np.zeros((points.size, points.size))
    for i, (normal, *tangential) in enumerate(points):
        own = slice(i * width, (i + 1) * width)
        length = float(np.linalg.norm(tangential))
        if length <= mu[i] * normal:
            slope[own, own] = np.eye(width)
        elif normal + mu[i] * length > 0.0:
            unit = np.array(tangential) / length
            ray = np.array([1.0, *(mu[i] * unit)])
            slope[own, own] = np.outer(ray, ray) / (1.0 + mu[i] ** 2)
            turned = mu[i] * (normal + mu[i] * length) / (1.0 + mu[i] ** 2) / length
            slope[own, own][1:, 1:] += turned * (np.eye(width - 1) - np.outer(unit, unit))
    return slope


def friction_impulse(
    G: Array, contact_velocity: Array, normal: Array, cones: Cones, start: Array | None = None
) -> tuple[Array, float]:
    """Friction (nc, nt) of given normal impulses (nc,), and its residual; contact velocities (nc, 1 + nt).

    The least kinetic energy that friction within its limits leaves over: Coulomb's law with the slip at the
    end. The slip is unique. All in the problem's own units; ``start`` is friction to begin from.
    """
    width, limit = 1 + cones.nt, cones.mu * normal
    tangents = np.flatnonzero(np.arange(len(G)) % width)
    H = G[np.ix_(tangents, tangents)]
    free = contact_velocity.ravel()[tangents] + G[tangents, ::width] @ normal
    first = np.zeros(len(free)) if start is None else start.ravel()

    def fault(x: Array) -> float:
        points, slip = x.reshape(-1, cones.nt), (free + H @ x).reshape(-1, cones.nt)
        if cones.corners is None or cones.nt == 1:
            gap = float(np.abs(points - project_disc(points - slip, limit)).max())
        else:
            over = np.maximum(cones.gauge(points) - limit, 0.0)
            missing = np.abs(np.sum(points * slip, axis=1) + limit * cones.support(-slip))
            gap = float(max(over.max(), np.max(missing / np.maximum(limit, 1.0))))
        return gap if np.isfinite(gap) else float("inf")

    best, least = first, fault(first)
    if cones.corners is None or cones.nt == 1:
        best, least = _by_newton(H, free, limit, best, least, fault)
    if not least < 0.1 * tolerances.RESIDUAL:
        table, members = cones.rows()
        constants = table[:, ::width] @ normal
        answer = convex.minimise(free, -table[:, tangents], constants, members, quadratic=H, tolerance=1e-13)
        best, least = min((best, least), (answer.x, fault(answer.x)), key=lambda found: found[1])
    return best.reshape(-1, cones.nt), least


def _by_newton(
    H: Array, free: Array, limit: Array, start: Array, gap: float, fault: Callable[[Array], float]
) -> tuple[Array, float]:
    """Semismooth Newton on ``x = proj(x - rho slip)`` on the discs: the best iterate and its fault."""
    n, nc, nt = len(free), len(limit), len(free) // len(limit)
    best, x = start, start
    rho = 1.0 / max(float(np.abs(H).sum(axis=1).max()), 1e-300)
    pulled = (np.eye(n) - rho * H).reshape(nc, nt, n)
    for _ in range(_NEWTON_STEPS):
        if gap < 1e-15:
            break
        pull = (x - rho * (free + H @ x)).reshape(nc, nt)
        length = np.sqrt(np.sum(pull**2, axis=1))
        slides = length > limit
        divisor = np.where(slides, length, 1.0)
        share = np.where(slides, limit / divisor, 1.0)  # of the pull that the disc lets through
        unit = pull * (slides / divisor)[:, None]  # zero where it sticks
        across = share[:, None, None] * (np.eye(nt) - unit[:, :, None] * unit[:, None, :])
        value = x - (share[:, None] * pull).ravel()
        slope = np.eye(n) - (across @ pulled).reshape(n, n)
        x = x - np.linalg.lstsq(slope, value, rcond=1e-14)[0]
        found = fault(x)
        if found < gap:
            best, gap = x, found
    return best, gap
