"""Zeno behaviour: infinitely many impacts in finite time, recognised by the decay of their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from routh.base import tolerances
from routh.base.validation import Array
from routh.problem.friction import facet_directions

LONGEST_CYCLE = 4  # impacts after which a pattern may repeat
CYCLES = 5  # cycles that must have decayed alike
IRREGULAR = 16  # intervals looked at where no pattern repeats
FASTEST, SLOWEST = 1e-6, 0.999  # ratios that count as geometric decay


@dataclass(frozen=True)
class Accumulation:
    """A decaying sequence of impacts, extrapolated."""

    ratio: float  # of the durations of successive cycles
    cycle: int  # impacts per cycle; 0: the decay is irregular
    remaining: float  # s from the last impact to the accumulation point
    uncertainty: float  # s

    def rest(self, impacts: int) -> float:
        """What is still to come of anything that decays alike, in units of what the last impacts brought."""
        decay = self.ratio ** (impacts / max(self.cycle, 1))
        return decay / (1.0 - decay)


def accumulation(times: Sequence[float] | Array) -> Accumulation | None:
    """The accumulation point that the times of impacts (increasing, s) run into, if they do.

    The durations of cycles of p impacts must shrink by one ratio, for the smallest p up to 4. Where impacts
    are drawn at random there is no such p: then the last intervals must shrink by a factor below 0.9 each, on
    average, and the last four must be shorter than the four before. So what remains is less than twice the
    last four, and it is known only up to its own size. None where the sequence does not decay or is not
    yet within ``ZENO_REMAINING`` of its end.
    """
    t = np.asarray(times, dtype=np.float64)
    for cycle in range(1, LONGEST_CYCLE + 1):
        found = _regular(t, cycle)
        if found is not None:
            return found if found.remaining < tolerances.ZENO_REMAINING else None
    found = _irregular(t)
    return found if found is not None and found.uncertainty < 0.1 * tolerances.ZENO_REMAINING else None


def balanced(impulse: Array, wanted: Array, J: Array, mu: Array, contacts: Sequence[int]) -> Array | None:
    """Impulses of the skipped impacts, (nc, 1 + nt) N s, that change momentum by ``wanted`` (nv,).

    Those extrapolated, ``impulse``, if they do. Else, where the decay is irregular, some that the friction
    cones of ``contacts`` allow; None where there are none: then the limit cannot be reached.
    """
    allowed = tolerances.ZENO_MOMENTUM * float(np.abs(wanted).max())
    if np.abs(np.tensordot(impulse, J, axes=2) - wanted).max() <= allowed:
        return impulse
    directions = facet_directions(J.shape[1] - 1)
    edges = [np.insert(mu[c] * directions, 0, 1.0, axis=1) for c in contacts]  # (k, 1 + nt) of each cone
    rays = np.vstack([edge @ J[c] for c, edge in zip(contacts, edges, strict=True)])
    from scipy.optimize import nnls

    weights = nnls(rays.T, wanted)[0].reshape(len(edges), -1)
    found = np.zeros_like(impulse)
    for c, edge, weight in zip(contacts, edges, weights, strict=True):
        found[c] = weight @ edge
    return found if np.abs(np.tensordot(found, J, axes=2) - wanted).max() <= allowed else None


def pattern(contacts: Sequence[tuple[int, ...]], cycle: int) -> int:
    """Number of impacts after which the same contacts take part again: a multiple of ``cycle``."""
    base = max(cycle, 1)
    for length in range(base, 2 * LONGEST_CYCLE + 1, base):
        if len(contacts) > 2 * length and list(contacts[-length:]) == list(contacts[-2 * length : -length]):
            return length
    return min(2 * LONGEST_CYCLE, len(contacts) - 1) if cycle == 0 else base


def _regular(t: Array, cycle: int) -> Accumulation | None:
    if len(t) < cycle * (CYCLES + 1) + 1:
        return None
    marks = t[::-cycle][: CYCLES + 2][::-1]
    durations = np.diff(marks)
    if not np.all(durations > 0.0):
        return None
    ratios = durations[1:] / durations[:-1]
    ratio = float(ratios[-1])
    if not (FASTEST < ratio < SLOWEST and np.ptp(ratios) < tolerances.ZENO_RATIO):
        return None
    remaining = float(durations[-1]) * ratio / (1.0 - ratio)
    spread = abs(float(ratios[-1] - ratios[-2])) / (1.0 - ratio) ** 2
    return Accumulation(ratio, cycle, remaining, float(durations[-1]) * spread)


def _irregular(t: Array) -> Accumulation | None:
    if len(t) < IRREGULAR + 1:
        return None
    intervals = np.diff(t[-IRREGULAR - 1 :])
    if not np.all(intervals > 0.0):
        return None
    places = np.arange(IRREGULAR) - 0.5 * (IRREGULAR - 1)
    slope = float(places @ np.log(intervals) / (places @ places))  # of the line of least squares
    ratio = float(np.exp(slope))
    if not FASTEST < ratio < 0.9:
        return None
    before, last = np.split(intervals[-2 * LONGEST_CYCLE :], 2)
    if not last.sum() < before.sum():
        return None
    decay = ratio**LONGEST_CYCLE
    remaining = float(last.sum()) * decay / (1.0 - decay)
    longest = float(last.max()) * ratio / (1.0 - ratio)  # if the next interval were as long as any of these
    return Accumulation(ratio, 0, remaining, longest)
