"""Some of the samples drawn by events, as outcomes that can be drawn again by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from routh.rng import event_key
from routh.sampling.events import Again
from routh.sampling.outcomes import Outcomes
from routh.validation import Options

_EACH = ("v", "impulse", "steps", "status", "residual")
_SOME = ("stored", "returned", "error")
_ROOM = 64  # keys given beyond the pieces of the longest sample: pieces that were broken off have some too


def select(outcomes: Outcomes, samples: Sequence[int]) -> Outcomes:
    """The outcomes with these numbers only; they can be drawn again and differentiated for as many.

    A sample is its keys, one for each event. Where it has more events than keys were given, it is another
    sample when it is drawn again: its derivative is then NaN (see `Outcomes.jacobian`).
    """
    if outcomes.settings.get("method") != "events" or not isinstance(outcomes.replay, Again):
        raise ValueError("outcomes: these samples cannot be drawn again; wanted ones by 'events'")
    rows = np.asarray(samples, dtype=np.int64)
    seed, row = int(outcomes.settings.get("seed", 0)), int(outcomes.settings.get("row", 0))
    events = 4 * int(outcomes.steps[rows].max(initial=0)) + _ROOM
    keys = np.array([[event_key(seed, row, int(k), e) for e in range(events)] for k in rows], dtype=np.uint64)
    given = outcomes.replay.keys
    if given is not None:
        for place, k in enumerate(rows):
            if k < len(given):
                keys[place, : given.shape[1]] = given[k, :events]
    parts: Options = {name: getattr(outcomes, name)[rows] for name in _EACH}
    for name in _SOME:
        given_or_none = getattr(outcomes, name)
        parts[name] = None if given_or_none is None else given_or_none[rows]
    return replace(outcomes, **parts, replay=Again(outcomes.replay.rates, keys))
