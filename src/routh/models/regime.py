"""Is the set of outcomes the right model of a landing? Stiff, soft, or tilted so far that later impacts
decide.

Three times decide. Contacts that are uneven by a few millimetres close one after the other, over ``(gap +
unevenness) / speed``. If that is long beside the time that one contact lasts, each contact pushes alone for a
while, in an order that nobody knows: the set is what can happen. If it is short, all contacts push together
and the set holds outcomes that do not happen. And if a contact closes later than the window, the body moves
on before it does, and a later impact decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from routh.validation import Array

#: m: how uneven feet and ground are where nothing else is said.
UNEVENNESS = 2e-3

#: Time over which contacts close over the time that one lasts. Measured by ``benchmarks/tipping.py soft``: of
#: the states of a lander that did not tip the set refused at most 11 % above this, 20 to 54 % below; of a
#: hexapod, which was not looked at for it, at most 16 % above, 27 to 58 % below.
SOFT = 0.3

STIFF, SOFTER, TILTED, UNKNOWN = "stiff", "soft", "tilted", "unknown"

#: What each makes of the set, in a few words.
MEANING = {
    STIFF: "it says what can happen",
    SOFTER: "conservative: it may refuse what does not happen",
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
        """One line."""
        late = "never" if not np.isfinite(self.closing) else f"{1e3 * self.closing:.3g} ms after the first"
        lasts = f"a contact lasts {1e3 * self.duration:.3g} ms"
        within = f"contacts close within {1e3 * self.spread:.2g} ms"
        return {
            TILTED: f"tilted: a contact closes {late}, outside the window of {1e3 * self.window:g} ms; "
            "later impacts decide, so the set may miss outcomes",
            SOFTER: f"soft: {within}, {lasts}: they push together, so the set is conservative and "
            "may refuse what does not happen",
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
    closing: Array, speed: float, duration: float, window: float, unevenness: float = UNEVENNESS
) -> Regime:
    """The regime of contacts that close at these times (nc,) s after the first touch.

    Parameters
    ----------
    speed : at which the contacts approach, m/s; duration : of one contact, s, or NaN.
    """
    last = float(closing.max(initial=0.0))
    spread = last + unevenness / speed if speed > 0.0 else np.inf
    if last > window:
        kind = TILTED
    elif not np.isfinite(duration):
        kind = UNKNOWN
    else:
        kind = SOFTER if spread < SOFT * duration else STIFF
    return Regime(kind, last, spread, duration, window)
