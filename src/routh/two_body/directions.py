"""All invariant directions of a contact, and whether it can stick: JW17 Theorem 5."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from routh.base.results import Whole
from routh.base.validation import Array, real, real_array
from routh.two_body.api import inverse_inertia_checked

#: A direction is invariant where |f| is below this share of f's scale; double roots converge to it.
_ROOT = 1e-10


@dataclass(frozen=True, eq=False)
class InvariantDirections(Whole):
    """The directions in which the sliding velocity keeps its direction, sorted by angle."""

    angles: Array  # (k,) rad in (-pi, pi]; empty where every direction is invariant
    rates: Array  # (k,) g = s.(-mu B s + d), m/s per N s: growth of the sliding speed by normal impulse
    stable: NDArray[np.bool_]  # (k,) whether neighbouring directions turn towards it
    double: NDArray[np.bool_]  # (k,) whether the direction is approached algebraically, f' = 0
    every: bool  # d = 0 and equal eigenvalues of B
    sticks: bool  # |B^-1 d| <= mu: a vanished sliding velocity stays zero

    @property
    def centrifugal(self) -> NDArray[np.bool_]:
        """Which directions the sliding speed grows along: exactly one unless the contact sticks."""
        return self.rates > 0.0

    @property
    def vectors(self) -> Array:
        """Unit vectors, (k, 2)."""
        return np.stack([np.cos(self.angles), np.sin(self.angles)], axis=-1)


def sticking(W: ArrayLike, mu: float) -> bool:
    """Whether a contact whose sliding velocity is zero sticks, JW17 section 5.1."""
    w = inverse_inertia_checked(real_array("W", W, [(3, 3)])[None])[0]
    need = np.linalg.solve(w[:2, :2], w[:2, 2])
    return bool(np.linalg.norm(need) <= real("mu", mu, at_least=0.0))


def invariant_directions(W: ArrayLike, mu: float) -> InvariantDirections:
    """The invariant directions of a contact: two to four, or all, JW17 (33) and Theorem 5.

    With z = exp(i theta), 2 f = a z^2 + conj(a) / z^2 + b z + conj(b) / z is a quartic whose roots on the
    unit circle are the directions.
    """
    w = inverse_inertia_checked(real_array("W", W, [(3, 3)])[None])[0]
    friction = real("mu", mu, at_least=0.0)
    b, d = friction * w[:2, :2], w[:2, 2]
    sticks = sticking(W, mu)
    # f = (b_xx - b_yy) / 2 sin 2t - b_xy cos 2t + d_y cos t - d_x sin t
    a2 = -b[0, 1] - 0.5j * (b[0, 0] - b[1, 1])
    a1 = d[1] + 1j * d[0]
    scale = abs(a2) + abs(a1)
    if not scale > 1e-14 * (b[0, 0] + b[1, 1]):
        none = np.zeros(0)
        return InvariantDirections(none, none, none > 0, none > 0, True, sticks)
    if abs(a2) <= 1e-14 * scale:
        guesses = np.angle([a1.conjugate() * 1j, a1.conjugate() * -1j])
    else:
        guesses = np.angle(np.roots([a2, a1, 0.0, a1.conjugate(), a2.conjugate()]))
    angles = _distinct(_polish(guesses, b, d), b, d, scale)
    _, rates, slopes = _rates(angles, b, d)
    return InvariantDirections(
        angles, rates, slopes < 0.0, np.abs(slopes) <= np.sqrt(_ROOT) * scale, False, sticks
    )


def _rates(theta: Array, b: Array, d: Array) -> tuple[Array, Array, Array]:
    """f, g and f' at the angles."""
    s = np.stack([np.cos(theta), np.sin(theta)], axis=-1)
    across = np.stack([-s[..., 1], s[..., 0]], axis=-1)
    force = d - s @ b
    g = np.sum(s * force, axis=-1)
    return np.sum(across * force, axis=-1), g, -g - np.sum((across @ b) * across, axis=-1)


def _polish(theta: Array, b: Array, d: Array) -> Array:
    """Newton's steps; at a double root they halve the distance, so there are many."""
    for _ in range(60):
        f, _, slope = _rates(theta, b, d)
        move = np.divide(f, slope, out=np.zeros_like(f), where=np.abs(slope) > 1e-300)
        theta = theta - np.clip(move, -0.1, 0.1)
    return theta


def _distinct(theta: Array, b: Array, d: Array, scale: float) -> Array:
    """The angles that are roots, each once, sorted."""
    f, _, _ = _rates(theta, b, d)
    theta = np.angle(np.exp(1j * theta[np.abs(f) <= _ROOT * scale]))
    kept: list[float] = []
    for angle in np.sort(theta):
        if all(abs(np.angle(np.exp(1j * (angle - other)))) > 2.0 * np.sqrt(_ROOT) for other in kept):
            kept.append(float(angle))
    return np.array(kept)
