"""Sampling by events: between events impulses grow at constant relative rates (HP23 (39)), no step, no error.

One problem, and how its samples are drawn again (`Again`, `path_of`, `select`); batches are in
`routh.sampling.batch_events`. The kernels are behind `routh.kernels.events`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from routh.base.results import ImpactPath
from routh.base.status import InputError
from routh.base.validation import Array, Options, integer
from routh.kernels.common.arrays import make_rows
from routh.kernels.events import Rates, event_samples, piecewise_path, scaled_pieces
from routh.problem.impact import ImpactProblem
from routh.sampling.outcomes import _KEPT, DATA, Outcomes, with_jams
from routh.sampling.settings import ByEvents, drawn_by, keys_of

if TYPE_CHECKING:
    from routh.sampling.batch import BatchOutcomes


def event_outcomes(problem: ImpactProblem, n: int, drawing: ByEvents) -> Outcomes:
    """Samples of one problem."""
    told = drawing.kernel_options(problem.nt)
    out = event_samples(make_rows([problem]), drawing.draws(n), budget=drawing.budget, **told)
    elastic = out.work.shape[3] > 0
    joule = problem.scaling.speed**2 if elastic else 0.0
    outcomes = Outcomes(
        problem,
        out.v[0],
        out.impulse[0],
        out.events[0],
        out.status[0],
        out.residual[0],
        settings=drawing.record(),
        stored=out.work[0, :, 0] * joule if elastic else None,
        returned=out.work[0, :, 1] * joule if elastic else None,
        error=out.error[0] if problem.nt == 2 and drawing.friction == "cone" else None,
        replay=Again(drawing.rates),
    )
    return with_jams(outcomes)


@dataclass(frozen=True, eq=False)
class Again:
    """How samples are drawn again: what their settings do not say."""

    rates: Rates | None = None  # the function that drew the rates, where it was one
    keys: np.ndarray | None = None  # those of the events, where given

    def __call__(self, outcomes: Outcomes, sample: int) -> ImpactPath:
        """The path of one sample, see `path_of`."""
        return path_of(outcomes, sample, rates=self.rates, keys=self.keys)

    def pull(
        self, outcomes: Outcomes, cotangents: Array, *, side: Array | None = None, **options: Any
    ) -> dict[str, np.ndarray]:
        """Derivatives of the samples, see `sampling.derivatives.pull`; those to one side where asked."""
        from routh.sampling.derivatives import checked, pull, pull_beside

        again: Options = {"rates": self.rates, "keys": self.keys}
        found = pull(outcomes, cotangents, **options, **again)
        if side is not None:
            wrt, threads = checked(options.get("wrt", DATA)), options.get("threads")
            pull_beside(outcomes, cotangents, side, found, wrt=wrt, threads=threads, **again)
        return found

    def pull_batch(self, outcomes: BatchOutcomes, cotangents: Array, **options: Any) -> dict[str, np.ndarray]:
        """Derivatives of the samples of all rows, see `routh.sampling.derivatives.pull_batch`."""
        from routh.sampling.derivatives import pull_batch

        return pull_batch(outcomes, cotangents, **options, rates=self.rates)


def path_of(
    outcomes: Outcomes, sample: int, *, rates: Rates | None = None, keys: np.ndarray | None = None
) -> ImpactPath:
    """The pieces of one sample, drawn again from its settings; curves of the true cone point by point.

    ``rates``: the function that drew the rates, where it was one. ``keys``: those of the events, where given.
    """
    problem = outcomes.problem
    index = integer("sample", sample, at_least=0, at_most=len(outcomes) - 1)
    drawing = drawn_by(outcomes.settings, "path", rates)
    how: Options = {name: getattr(drawing, name) for name in ("friction", "facets", "rates")}
    scaled = scaled_pieces(make_rows([problem]), drawing.draws(len(outcomes), keys), index, **how)
    return piecewise_path(problem, scaled, drawing.friction)


def select(outcomes: Outcomes, samples: Sequence[int]) -> Outcomes:
    """The outcomes with these numbers only; they can be drawn again and differentiated for as many.

    A sample is its keys, one for each event. Where it has more events than keys were given, it is another
    sample when it is drawn again: its derivative is then NaN (see `Outcomes.jacobian`).
    """
    if outcomes.settings.get("method") != "events" or not isinstance(outcomes.replay, Again):
        raise InputError(
            "outcomes", wrong="these samples cannot be drawn again", wanted="samples drawn by 'events'"
        )
    rows = np.asarray(samples, dtype=np.int64)
    keys = keys_of(outcomes, rows, outcomes.replay.keys)
    arrays = {name: getattr(outcomes, name) for name in _KEPT}
    parts: Options = {name: array[rows] for name, array in arrays.items() if array is not None}
    return replace(outcomes, **parts, replay=Again(outcomes.replay.rates, keys))
