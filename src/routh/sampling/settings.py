"""How samples are drawn, as one object that is checked once and passed on; and how they are drawn again."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar, Self

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
_OF_THE_MACHINE = ("device", "threads", "budget")  # which change no sample


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """What every sampler is told; see `routh.sample` for what it means."""

    seed: int = 0
    row: int = 0
    friction: str = "cone"
    facets: int | None = None
    device: str = "cpu"
    threads: int | None = None
    budget: float | None = None

    method: ClassVar[str]  # as `Outcomes.settings` names it

    def __post_init__(self) -> None:
        integer("seed", self.seed, at_least=0, at_most=2**64 - 1)
        integer("row", self.row, at_least=0, at_most=2**32 - 1)
        choice("device", self.device, ("cpu", "cuda"))
        if self.threads is not None:
            integer("threads", self.threads, at_least=1)
            if self.device != "cpu":
                raise InputError(
                    "threads",
                    got=f"{self.threads} with device {self.device!r}",
                    wanted="threads with 'cpu' only",
                )
        if self.budget is not None:
            real("budget", self.budget, above=0.0)

    def record(self) -> Options:
        """What the samples depend on, as `Outcomes.settings` keeps it: numbers and words."""
        names = [field.name for field in fields(self) if field.name not in _OF_THE_MACHINE]
        return {"method": self.method, **{name: getattr(self, name) for name in names}}

    @classmethod
    def of(cls, record: Options, **changes: object) -> Self:
        """The drawing that a record tells, with changes."""
        told = {field.name: record[field.name] for field in fields(cls) if field.name in record}
        return cls(**{**told, **changes})


@dataclass(frozen=True, kw_only=True)
class ByEvents(Drawing):
    """How samples are drawn by events, see `routh.sample`."""

    rates: Rates = "mixed"
    persistence: float | None = None
    tolerance: float = TOLERANCE
    hypothesis: str = ENERGETIC

    method = "events"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.rates):
            choice("rates", self.rates, RATES)
        if self.persistence is not None:
            real("persistence", self.persistence, above=0.0, at_most=1.0)
        real("tolerance", self.tolerance, above=0.0)
        choice("hypothesis", self.hypothesis, (ENERGETIC, POISSON))

    def record(self) -> Options:
        """The settings as numbers and words; a function that draws the rates is told by its name."""
        return {**super().record(), "rates": getattr(self.rates, "__name__", self.rates)}

    def draws(self, n: int, keys: np.ndarray | None = None) -> Draw:
        """The same for kernels that draw ``n`` samples; ``keys``: of the events of the first ones."""
        return make_draw(
            integer("n", n, at_least=1),
            seed=self.seed,
            row=self.row,
            rates=CUSTOM if callable(self.rates) else RATES.index(str(self.rates)),
            persistence=0.0 if self.persistence is None else self.persistence,
            poisson=self.hypothesis == POISSON,
            tolerance=self.tolerance,
            keys=keys,
        )

    def kernel_options(self, nt: int) -> Options:
        """What `routh.kernels.events` is told beside the draw, but ``budget``, of which there may be less."""
        facets = self.facets if nt == 2 else None  # a batch may have problems of both kinds
        return {"friction": self.friction, "facets": facets, "threads": self.threads, "rates": self.rates}


def drawn_by(record: Options, what: str, rates: Rates | None = None) -> ByEvents:
    """How samples with this record were drawn, for ``what`` draws them again.

    ``rates``: the function that drew the rates, where it was one.
    """
    method = record.get("method", "algorithm1")
    if method != "events":
        raise InputError(what, wrong=f"the samples were drawn by {method!r}", wanted="'events'")
    told = record.get("rates", "mixed") if rates is None else rates
    if not callable(told) and told not in RATES:
        raise InputError(
            "rates", got=f"the name {told!r} of the function that drew them", wanted="the function"
        )
    return ByEvents.of(record, rates=told)


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
