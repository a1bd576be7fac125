"""One spatial contact with the true friction cone, solved exactly: the block of a Gauss-Seidel sweep."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from routh.validation import Array


def solve_contact(G: Array, c: Array, bound: float, mu: float) -> Array:
    """Impulse (3,), normal first, ``0 <= lambda_n <= bound``, in Coulomb's cone; ``c' = c + G lambda``.

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
        value = (
            a0 + a1 * np.cos(angles) + b1 * np.sin(angles) + a2 * np.cos(2 * angles) + b2 * np.sin(2 * angles)
        )
        slope = (
            -a1 * np.sin(angles)
            + b1 * np.cos(angles)
            - 2 * a2 * np.sin(2 * angles)
            + 2 * b2 * np.cos(2 * angles)
        )
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
