"""The motion in space for given rates of the normal impulses: readable, slow, the reference of the kernels.

In the problem's own units the contact velocities ``c = (y_1, t_1, y_2, ...)`` move as ``c' = G r`` with the
rates ``r = (w_i, f_i)`` of normal and friction impulses. For given normal rates w friction is the gradient
flow, in the kinetic-energy norm, of the convex function ``sum mu_i w_i h(t_i)``, where h is the length of the
slip (the true cone) or the largest ``d . t`` over the corners d of a polygon. So the motion is unique and two
motions with the same rates never move apart: what errors do in one step, later steps do not enlarge.

With a polygon the motion is piecewise straight and followed exactly. With the true cone slip turns along a
curve; it is followed by implicit (proximal) steps, which pass through stick without noticing, extrapolated.
Each implicit step is one convex program: Newton's method from the step before, else from Clarabel's answer.

    >>> SpatialFlow.of(problem).along(outcomes.path(3), problem)  # a sample's normal impulses, own friction
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from routh.base.results import ImpactPath
from routh.base.validation import Array
from routh.lcp.convex import minimise
from routh.problem.friction import facet_directions
from routh.problem.impact import ImpactProblem
from routh.step.base import scaled_delassus

_SWEEPS = 20_000
_SAME = 1e-15  # change of the friction rates in a sweep at which sweeps stop
_NO_SLIP = 1e-11  # slip below this share of the speed is none; likewise the distance from a wall
_PIECES = 10_000
_NEWTON, _ROUNDING = 30, 1e-15  # iterations of Newton's method, and what need not be better
_EXACT = 1e-13  # what may be missing after them, a share of the friction
_GAP = 1e-13  # of the interior-point method
_HALVINGS = 8  # of the steps along one piece of a path, at most


@dataclass(frozen=True, eq=False)
class SpatialFlow:
    """Gradient flow of Coulomb friction for one spatial problem, in its own units."""

    G: Array  # (3 nc, 3 nc)
    mu: Array  # (nc,)
    start: Array  # (3 nc,) contact velocities before
    corners: Array | None  # (k, 2) of the friction polygon in the order of their angle; None: the disc

    @classmethod
    def of(cls, problem: ImpactProblem, *, facets: int | None = None) -> SpatialFlow:
        """The flow of a problem with the true cone, or with a polygon of so many corners."""
        if problem.nt != 2:
            raise ValueError(f"problem: got nt = {problem.nt}; wanted contacts in space")
        start = (problem.contact_velocity() / problem.scaling.velocity[:, None]).ravel()
        corners = None if facets is None else facet_directions(2, facets)
        return cls(scaled_delassus(problem), np.array(problem.mu), start, corners)

    def friction(self, offset: Array, w: Array, guess: Array) -> Array:
        """Friction rates (nc, 2) with ``|f_i| <= mu_i w_i`` against the slip ``offset + G r``.

        With ``offset = c / s`` they are those of an implicit step of length s: they minimise ``f . G f / 2 +
        f . (offset + G_tn w)`` over the discs or polygons. Newton's method begins at the guess (nc, 2);
        where it does not arrive, at the answer of an interior-point method.
        """
        pushes = np.flatnonzero(self.mu * w > 0.0)
        rates = np.zeros((len(self.mu), 2))
        if len(pushes) == 0:
            return rates
        slips = (3 * pushes[:, None] + np.array([1, 2])).ravel()
        radius = np.repeat(self.mu[pushes] * w[pushes], 2)  # unknowns are shares of it
        square = self.G[np.ix_(slips, slips)] * radius[:, None] * radius
        linear = (offset[slips] + self.G[slips, ::3] @ w) * radius  # all normals, of mu = 0 too
        size = max(np.abs(square).max(), np.abs(linear).max())
        square, linear = square / size, linear / size
        x, missing = self._newton(square, linear, guess[pushes].ravel() / radius)
        if not missing <= _EXACT:
            bound, table, cones = self._interior(len(pushes))
            start = minimise(linear, table, bound, cones, quadratic=square, tolerance=_GAP).x
            x, missing = min((x, missing), self._newton(square, linear, start), key=lambda pair: pair[1])
        rates[pushes] = (x * radius).reshape(-1, 2)
        return rates

    def _newton(self, square: Array, linear: Array, x: Array) -> tuple[Array, float]:
        """The best x (2 m,) found with ``x = P(x - square x - linear)``, and how far it is from that."""
        step, unit = 1.0 / max(np.trace(square), 1e-300), np.eye(len(x))
        best, least = x, np.inf
        for _ in range(_NEWTON):
            point, slope = self._projected((x - step * (square @ x + linear)).reshape(-1, 2))
            missing = x - point.ravel()
            off = float(np.abs(missing).max())
            if not off < least or off <= _ROUNDING:
                return (best, least) if least <= off else (x, off)
            best, least, through = x, off, unit - step * square
            for i, block in enumerate(slope):
                through[2 * i : 2 * i + 2] = block @ through[2 * i : 2 * i + 2]
            x = x - np.linalg.lstsq(unit - through, missing, rcond=1e-13)[0]
        return best, least

    def _projected(self, points: Array) -> tuple[Array, Array]:
        """The nearest points (m, 2) of the unit disc or polygon, and the derivatives (m, 2, 2) of that."""
        if self.corners is None:
            length = np.maximum(np.linalg.norm(points, axis=1), 1.0)[:, None]
            unit = points / length
            along = np.where(length > 1.0, unit, 0.0)
            return unit, (np.eye(2) - along[:, :, None] * along[:, None, :]) / length[:, :, None]
        corners, m = -self.corners, np.arange(len(points))
        edges = np.roll(corners, -1, axis=0) - corners
        lines = edges / np.linalg.norm(edges, axis=1, keepdims=True)
        from_corner = points[:, None] - corners  # (m, k, 2)
        share = np.sum(from_corner * edges, axis=2) / np.sum(edges**2, axis=1)
        near = corners + np.clip(share, 0.0, 1.0)[..., None] * edges
        k = np.argmin(np.sum((points[:, None] - near) ** 2, axis=2), axis=1)
        on_edge = (share[m, k] > 0.0) & (share[m, k] < 1.0)
        slope = np.where(on_edge[:, None, None], lines[k][:, :, None] * lines[k][:, None, :], 0.0)
        inside = np.all(lines[:, 0] * from_corner[..., 1] >= lines[:, 1] * from_corner[..., 0], axis=1)
        nearest = np.where(inside[:, None], points, near[m, k])
        return nearest, np.where(inside[:, None, None], np.eye(2), slope)

    def _interior(self, m: int) -> tuple[Array, Array, list[tuple[str, int]]]:
        """Bounds, table and cones that keep m contacts in unit discs or polygons."""
        if self.corners is None:
            one = np.vstack([np.zeros(2), -np.eye(2)])
            return np.tile([1.0, 0.0, 0.0], m), np.kron(np.eye(m), one), [("second order", 3)] * m
        out = self.corners + np.roll(self.corners, -1, axis=0)  # normals of the edges
        bound = np.sum(out * self.corners, axis=1)
        return np.tile(bound, m), np.kron(np.eye(m), -out), [("nonnegative", m * len(out))]

    def along(
        self, path: ImpactPath, problem: ImpactProblem, *, tolerance: float = 1e-8
    ) -> tuple[Array, float]:
        """The velocity (nv,) after a path's normal impulses, friction from here alone; and its error.

        Impulses grow at constant rates along each piece, as they do on those of drawn rates; on each the
        steps are halved until the extrapolated end moves by less than the tolerance, a share of the speed.
        The error is the sum of these moves: two motions with the same rates never move apart.
        """
        total, uncertain = np.zeros((len(self.mu), 3)), 0.0
        for piece in path.impulse / problem.scaling.impulse[:, None]:
            w = np.maximum(piece[:, 0], 0.0)
            impulse, moved = self._extrapolated(self.start + self.G @ total.ravel(), w, tolerance)
            total, uncertain = total + impulse, uncertain + moved
        return problem.apply(total * problem.scaling.impulse[:, None]), uncertain

    def _extrapolated(self, c: Array, w: Array, tolerance: float) -> tuple[Array, float]:
        """The impulses of a piece by ever more implicit steps, extrapolated, and what the last changed."""
        table, moved = [self._implicit(c, w, 1.0, 1)], np.inf
        for halving in range(1, _HALVINGS + 1):
            row = [self._implicit(c, w, 1.0, 2**halving)]
            for order, coarse in enumerate(table, start=1):  # Aitken and Neville
                row.append(row[-1] + (row[-1] - coarse) / (2.0**order - 1.0))
            change, table = (row[-1] - table[-1]).ravel(), row
            moved = float(np.sqrt(max(change @ self.G @ change, 0.0)))
            if moved <= tolerance:
                break
        return table[-1], moved

    def follow(self, c: Array, w: Array, length: float, *, steps: int = 64) -> tuple[Array, Array]:
        """Contact velocities and impulses (nc, 3) after the rates w (nc,) have acted for a length."""
        if self.corners is not None:
            return self._straight(c, w, length)
        # Aitken and Neville on 1, 2 and 4 times as many implicit steps
        rough = [self._implicit(c, w, length, steps * 2**k) for k in range(3)]
        once = [2.0 * fine - coarse for coarse, fine in pairwise(rough)]
        impulse = (4.0 * once[1] - once[0]) / 3.0
        return c + self.G @ impulse.ravel(), impulse

    def _implicit(self, c: Array, w: Array, length: float, steps: int) -> Array:
        impulse, step = np.zeros((len(self.mu), 3)), length / steps
        rates = np.zeros((len(self.mu), 2))
        for _ in range(steps):
            now = c + self.G @ impulse.ravel()
            rates = self.friction(now / step, w, rates)
            impulse += step * np.column_stack([w, rates])
        return impulse

    def _straight(self, c: Array, w: Array, length: float) -> tuple[Array, Array]:
        """Piece after piece, each up to the next wall of a polygon."""
        c, impulse, left = c.copy(), np.zeros((len(self.mu), 3)), length
        for _ in range(_PIECES):
            self._snap(c, w)
            rates = np.column_stack([w, self._friction_now(c, w)])
            change = self.G @ rates.ravel()
            step = min(left, self._to_wall(c, change, w))
            impulse += step * rates
            c += step * change
            left -= step
            if left <= 0.0:
                return c, impulse
        raise RuntimeError("friction switched without end")

    def _friction_now(self, c: Array, w: Array) -> Array:
        """Friction rates at ``c``: of least energy among those that slip allows."""
        corners, nc = self._polygon(), len(self.mu)
        faces = [corners[_largest(corners @ c[3 * i + 1 : 3 * i + 3])] for i in range(nc)]
        r = np.zeros((nc, 3))
        r[:, 0] = w
        for _ in range(_SWEEPS):
            last = r.copy()
            for i in np.flatnonzero(self.mu * w > 0.0):
                own = slice(3 * i + 1, 3 * i + 3)
                block = self.G[own, own]
                pull = self.G[own] @ r.ravel() - block @ r[i, 1:]
                r[i, 1:] = _on_polygon(block, pull, -self.mu[i] * w[i] * faces[i])
            if np.abs(r - last).max() <= _SAME * np.abs(r).max():
                break
        return r[:, 1:]

    def _snap(self, c: Array, w: Array) -> None:
        """Slip that is rounding becomes none, and slip beside a wall between two corners goes onto it."""
        corners = self._polygon()
        for i in np.flatnonzero(self.mu * w > 0.0):
            own = slice(3 * i + 1, 3 * i + 3)
            face = _largest(corners @ c[own])
            if len(face) == len(corners):
                c[own] = 0.0
            elif len(face) == 2:
                wall = corners[face].sum(axis=0)
                c[own] = wall * (wall @ c[own]) / (wall @ wall)

    def _to_wall(self, c: Array, change: Array, w: Array) -> float:
        """Length until another corner of a polygon is as good as the present one."""
        corners, least = self._polygon(), np.inf
        for i in np.flatnonzero(self.mu * w > 0.0):
            own = slice(3 * i + 1, 3 * i + 3)
            along, faster = corners @ c[own], corners @ change[own]
            face = _largest(along)
            best = face[np.argmax(faster[face])]
            gap, closing = along[best] - along, faster - faster[best]
            ahead = (gap > _NO_SLIP) & (closing > 1e-12)
            if ahead.any():
                least = min(least, float(np.min(gap[ahead] / closing[ahead])))
        return least

    def _polygon(self) -> Array:
        if self.corners is None:
            raise ValueError("corners: got None; wanted a friction polygon")
        return self.corners


def _largest(values: Array) -> np.ndarray:
    """Indices of the corners that are as good as the best."""
    return np.flatnonzero(values >= values.max() - _NO_SLIP)


def _on_polygon(H: Array, p: Array, corners: Array) -> Array:
    """Minimizer of ``x^T H x / 2 + p . x`` on the hull of points (k, 2): inside, on an edge or a corner."""
    if len(corners) > 2:
        inside = -np.linalg.lstsq(H, p, rcond=None)[0]
        edges = np.roll(corners, -1, axis=0) - corners
        across = edges[:, 0] * (inside - corners)[:, 1] - edges[:, 1] * (inside - corners)[:, 0]
        if np.all(across >= 0.0) and np.allclose(H @ inside, -p, rtol=0.0, atol=1e-13):
            return np.asarray(inside, dtype=np.float64)
    best, lowest = corners[0], np.inf
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        edge = b - a
        curve = edge @ H @ edge
        slope = edge @ (H @ a + p)
        share = float(np.clip(-slope / curve, 0.0, 1.0)) if curve > 0.0 else float(slope < 0.0)
        x = a + share * edge
        value = 0.5 * x @ H @ x + p @ x
        if value < lowest:
            best, lowest = x, value
    return best
