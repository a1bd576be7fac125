"""The settings with which samples are drawn by events, and with which they are drawn again."""

from __future__ import annotations

import numpy as np

from routh.base.rng import EVENTS, philox
from routh.base.status import InputError
from routh.base.validation import Options, choice, integer, real
from routh.kernels.common.arrays import CUSTOM, RATES, Draw, make_draw
from routh.kernels.events import TOLERANCE, Rates
from routh.problem.impact import ENERGETIC, POISSON
from routh.sampling.outcomes import Outcomes

_ROOM = 64  # keys beyond the pieces of the longest sample: pieces that were broken off have some too
_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)


def make_settings(
    n: int,
    *,
    rates: Rates = "mixed",
    persistence: float | None = None,
    seed: int = 0,
    row: int = 0,
    hypothesis: str = "energetic",
    tolerance: float = TOLERANCE,
    keys: np.ndarray | None = None,
) -> Draw:
    """The checked settings of one call."""
    if not callable(rates):
        choice("rates", rates, RATES)
    return make_draw(
        integer("n", n, at_least=1),
        seed=integer("seed", seed, at_least=0, at_most=2**64 - 1),
        row=integer("row", row, at_least=0, at_most=2**32 - 1),
        rates=CUSTOM if callable(rates) else RATES.index(str(rates)),
        persistence=0.0 if persistence is None else real("persistence", persistence, above=0.0, at_most=1.0),
        poisson=choice("hypothesis", hypothesis, (ENERGETIC, POISSON)) == POISSON,
        tolerance=real("tolerance", tolerance, above=0.0),
        keys=keys,
    )


def redraw(
    settings: Options, n: int, what: str, rates: Rates | None, keys: np.ndarray | None
) -> tuple[Draw, Rates]:
    """The settings with which n samples were drawn, for ``what`` draws them again, and their rates."""
    method = settings.get("method", "algorithm1")
    if method != "events":
        raise InputError(what, wrong=f"the samples were drawn by {method!r}", wanted="'events'")
    rates = settings.get("rates", "mixed") if rates is None else rates
    if not callable(rates) and rates not in RATES:
        raise InputError(
            "rates", got=f"the name {rates!r} of the function that drew them", wanted="the function"
        )
    names = ("persistence", "seed", "row", "hypothesis", "tolerance")
    given = {name: settings[name] for name in names if name in settings}
    return make_settings(n, rates=rates, **given, keys=keys), rates


def keys_of(outcomes: Outcomes, samples: np.ndarray, given: np.ndarray | None) -> np.ndarray:
    """The keys (n, events) uint64 of the events of some samples, and of events that they might have.

    ``given``: the keys of the first events of the first samples, where they were.
    """
    settings = outcomes.settings
    seed, row = int(settings.get("seed", 0)), int(settings.get("row", 0))
    pairs = 2 * int(outcomes.steps[samples].max(initial=0)) + _ROOM // 2
    counter = np.zeros((len(samples), pairs, 4), dtype=np.uint64)
    counter[..., 0] = np.asarray(samples, dtype=np.uint64)[:, None] & _LOW
    counter[..., 1] = (np.asarray(samples, dtype=np.uint64)[:, None] >> _HALF) ^ np.uint64(row)
    counter[..., 2] = np.arange(pairs, dtype=np.uint64)
    counter[..., 3] = EVENTS
    words = philox(counter, (seed & 0xFFFFFFFF, seed >> 32))  # see `routh.base.rng.event_key`
    keys = ((words[..., 0::2] << _HALF) | words[..., 1::2]).reshape(len(samples), 2 * pairs)
    if given is not None:
        known = np.flatnonzero(samples < len(given))
        width = min(given.shape[1], keys.shape[1])
        keys[known, :width] = given[samples[known], :width]
    return keys
