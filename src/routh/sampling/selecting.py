"""Some of the samples drawn by events, as outcomes that can be drawn again by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from routh.sampling.events import Again
from routh.sampling.outcomes import _ARRAYS, _OPTIONAL, Outcomes
from routh.sampling.redrawing import keys_of
from routh.validation import Options


def select(outcomes: Outcomes, samples: Sequence[int]) -> Outcomes:
    """The outcomes with these numbers only; they can be drawn again and differentiated for as many.

    A sample is its keys, one for each event. Where it has more events than keys were given, it is another
    sample when it is drawn again: its derivative is then NaN (see `Outcomes.jacobian`).
    """
    if outcomes.settings.get("method") != "events" or not isinstance(outcomes.replay, Again):
        raise ValueError("outcomes: these samples cannot be drawn again; wanted ones by 'events'")
    rows = np.asarray(samples, dtype=np.int64)
    keys = keys_of(outcomes, rows, outcomes.replay.keys)
    arrays = {name: getattr(outcomes, name) for name in (*_ARRAYS, *_OPTIONAL)}
    parts: Options = {name: array[rows] for name, array in arrays.items() if array is not None}
    return replace(outcomes, **parts, replay=Again(outcomes.replay.rates, keys))
