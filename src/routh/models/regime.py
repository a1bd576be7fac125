"""Is the set of outcomes the right model of a landing, by how long its contacts last?

Three times decide. Contacts that are uneven by a few millimetres close one after the other, over ``(gap +
unevenness) / speed``. If that is long beside the time that one contact lasts, each contact pushes alone for a
while, in an order that nobody knows: the set is what can happen. If it is short, all contacts push together
and the set holds outcomes that do not happen. And if a contact closes later than the window, the body moves
on before it does, and a later impact decides.

How long a contact lasts, and how much of the speed it gives back: one of MuJoCo is a damped spring. With
``solref = (t, z)`` the penetration obeys ``x'' + (2 / t) x' + x / (t z)^2 = 0`` (Modeling > Solver parameters
of MuJoCo's documentation, impedance near one), so its damping ratio is z and its frequency ``w = 1 / (t z)``.
A contact can only push: it ends where ``x'' = 0``, before the spring is relaxed. With x = 0 and x' = u at the
touch that is, for every z,

    at the time   2 a / w  and with the speed  -u exp(-2 z a),   a = arccos(z) / sqrt(1 - z^2),

with arccosh and ``sqrt(z^2 - 1)`` where z > 1, and a = 1 where z = 1: a critically damped contact lasts 2 t
and returns exp(-2) = 0.135 of the speed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from routh.base.validation import Array, real

#: m: how uneven feet and ground are where nothing else is said.
UNEVENNESS = 2e-3

#: Time over which contacts close over the time that one lasts. Measured by ``benchmarks/tipping.py soft``: of
#: the states of a lander that did not tip the set refused 22 to 34 % above this, 41 to 62 % below.
SOFT = 0.3

#: Worst ratio of the set from which on later impacts can decide, on level ground: where the last contact
#: closes within `LATE` windows, and later than that. Measured by ``benchmarks/tipping.py tilted``: of 147
#: states between one window and `LATE` that are below it none was missed, and of 36 later ones.
LATE, LATER = 4.0, (0.9, 0.5)

STIFF, SOFTER, TILTED, UNKNOWN = "stiff", "soft", "tilted", "unknown"

#: What each makes of the set, in a few words.
MEANING = {
    STIFF: "it says what can happen",
    SOFTER: "conservative: it may hold outcomes that do not happen",
    TILTED: "later impacts decide: it may miss outcomes",
    UNKNOWN: "the model does not say how long a contact lasts",
}


@dataclass(frozen=True)
class Regime:
    """How the contacts of a landing close, and what that makes of the set."""

    kind: str  # "stiff", "soft", "tilted", or "unknown" where nothing is said of the contacts
    closing: float  # s from the first to the last contact, gaps alone; infinite where one opens
    spread: float  # s: the same with contacts that are uneven besides
    duration: float  # s that a contact lasts; NaN where nothing is known
    window: float  # s

    @property
    def sentence(self) -> str:
        """The regime in one line."""
        late = "never" if not np.isfinite(self.closing) else f"{1e3 * self.closing:.3g} ms after the first"
        lasts = f"a contact lasts {1e3 * self.duration:.3g} ms"
        within = f"contacts close within {1e3 * self.spread:.2g} ms"
        if self.closing > self.window and self.kind != TILTED:  # see ``decided`` of `regime_of`
            return f"a contact closes {late}; what later impacts do does not decide the answer"
        return {
            TILTED: f"tilted: a contact closes {late}, outside the window of {1e3 * self.window:g} ms; "
            "later impacts decide, so the set may miss outcomes",
            SOFTER: f"soft: {within}, {lasts}: they push together, so the set is conservative and "
            "may hold outcomes that do not happen",
            STIFF: f"stiff: {within}, {lasts}: which pushes first decides, and the set says what can happen",
            UNKNOWN: f"{within}; the model does not say how long a contact lasts (if much longer, the set is "
            "conservative)",
        }[self.kind]

    def __str__(self) -> str:
        return self.sentence


def regimes_line(kinds: Sequence[str]) -> str:
    """One line on many landings, by the kinds of their regimes."""
    counts = {kind: kinds.count(kind) for kind in MEANING if kind in kinds}
    parts = [f"{kind} at {count} ({MEANING[kind]})" for kind, count in counts.items()]
    return f"is the set the right model? of {len(kinds)} landings {', '.join(parts)}"


def regime_of(
    closing: Array,
    speed: float,
    duration: float,
    window: float,
    unevenness: float = UNEVENNESS,
    *,
    decided: bool = False,
) -> Regime:
    """The regime of contacts that close at these times (nc,) s after the first touch.

    Parameters
    ----------
    speed : at which the contacts approach, m/s.
    duration : of one contact, s, or NaN.
    decided : whether it is known that later impacts do not decide: then nothing is tilted.
    """
    last = float(closing.max(initial=0.0))
    spread = last + unevenness / speed if speed > 0.0 else np.inf
    if last > window and not decided:
        kind = TILTED
    elif not np.isfinite(duration):
        kind = UNKNOWN
    else:
        kind = SOFTER if spread < SOFT * duration else STIFF
    return Regime(kind, last, spread, duration, window)


#: What a critically damped contact returns, MuJoCo's default: assumed where nothing is known of a contact.
CRITICALLY_DAMPED = float(np.exp(-2.0))


def spring_of(solref: ArrayLike, *, timestep: float = 0.0) -> tuple[Array, Array]:
    """Time constant t (s) and damping ratio z of MuJoCo's ``solref`` (..., 2), in either of its formats.

    Negative values are -stiffness and -damping (1/s^2, 1/s). Positive time constants are at least two
    timesteps, as MuJoCo makes them unless that is disabled.
    """
    first, second = np.moveaxis(np.asarray(solref, dtype=np.float64), -1, 0)
    direct = first <= 0.0
    stiffness = np.where(direct, np.maximum(-first, 1e-300), 1.0)
    damping = np.where(direct, np.maximum(-second, 0.0), 1.0)
    time = np.where(direct, 2.0 / np.maximum(damping, 1e-300), np.maximum(first, 2.0 * timestep))
    ratio = np.where(direct, damping / (2.0 * np.sqrt(stiffness)), np.maximum(second, 0.0))
    return time, ratio


def restitution_of_spring(ratio: ArrayLike) -> Array:
    """The share of the speed that a contact of this damping ratio returns; see the head of this module."""
    z = np.asarray(ratio, dtype=np.float64)
    return np.exp(-2.0 * z * _arc(z))


def restitution_of_contacts(ratio: ArrayLike) -> Array:
    """Restitution of contacts by their damping ratios; NaN, where nothing is known: critically damped."""
    known = np.asarray(ratio, dtype=np.float64)
    return np.where(np.isnan(known), CRITICALLY_DAMPED, restitution_of_spring(np.nan_to_num(known, nan=1.0)))


def duration_of_spring(time: ArrayLike, ratio: ArrayLike) -> Array:
    """How long a contact of this time constant (s) and damping ratio lasts, s."""
    t, z = np.asarray(time, dtype=np.float64), np.asarray(ratio, dtype=np.float64)
    return 2.0 * t * z * _arc(z)


def contact_duration(stiffness: float, mass: float) -> float:
    """How long a mass (kg) stays on a spring (N/m), s: half an oscillation, ``pi sqrt(m / k)``."""
    k, m = real("stiffness", stiffness, above=0.0), real("mass", mass, above=0.0)
    return float(np.pi * np.sqrt(m / k))


def _arc(z: Array) -> Array:
    """``arccos(z) / sqrt(1 - z^2)`` and what continues it beyond 1."""
    off = np.abs(1.0 - z) < 1e-6  # 1 + (1 - z) / 3 + ...
    below = np.clip(np.where(off, 0.0, z), 0.0, 1.0)
    above = np.maximum(np.where(off, 2.0, z), 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = np.arccos(below) / np.sqrt(1.0 - below**2)
        outside = np.arccosh(above) / np.sqrt(above**2 - 1.0)
    return np.where(off, 1.0 + (1.0 - z) / 3.0, np.where(z < 1.0, inside, outside))
