"""The motion in space for given rates of the normal impulses: readable, slow, the reference of the kernels.

In the problem's own units the contact velocities ``c = (y_1, t_1, y_2, ...)`` move as ``c' = G r`` with the
rates ``r = (w_i, f_i)`` of normal and friction impulses. For given normal rates w friction is the gradient
flow, in the kinetic-energy norm, of the convex function ``sum mu_i w_i h(t_i)``, where h is the length of the
slip (the true cone) or the largest ``d . t`` over the corners d of a polygon. So the motion is unique and two
motions with the same rates never move apart: what errors do in one step, later steps do not enlarge.

With a polygon the motion is piecewise straight and followed exactly. With the true cone slip turns along a
curve; it is followed by implicit (proximal) steps, which pass through stick without noticing, extrapolated.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from routh.friction import facet_directions
from routh.problem import ImpactProblem
from routh.step.base import scaled_delassus
from routh.step.local import friction_at
from routh.validation import Array

_SWEEPS = 20_000
_SAME = 1e-15  # change of the friction rates in a sweep at which sweeps stop
_NO_SLIP = 1e-11  # slip below this share of the speed is none; likewise the distance from a wall
_PIECES = 10_000


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

        With ``offset = c / s`` they are those of an implicit step of length s. Blocks are solved exactly, in
        turns, from the guess (nc, 2).
        """
        r = np.column_stack([w, guess])
        for _ in range(_SWEEPS):
            last = r.copy()
            for i in np.flatnonzero(self.mu * w > 0.0):
                own = slice(3 * i + 1, 3 * i + 3)
                block = self.G[own, own]
                pull = offset[own] + self.G[own] @ r.ravel() - block @ r[i, 1:]
                r[i, 1:] = self._alone(block, pull, self.mu[i] * w[i])
            if np.abs(r - last).max() <= _SAME * np.abs(r).max():
                break
        return r[:, 1:]

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

    def _alone(self, block: Array, pull: Array, radius: float) -> Array:
        if self.corners is None:
            return friction_at(block, pull, radius)
        return _on_polygon(block, pull, -radius * self.corners)

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
