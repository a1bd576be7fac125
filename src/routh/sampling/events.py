"""Sampling by events: between events impulses grow at constant relative rates (HP23 (39)), no step, no error.

One entry for single problems and batches, in the plane and in space; the kernels are in `routh.kernels`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from routh.friction import facet_directions
from routh.kernels.arrays import CUSTOM, RATES, Draw, Outputs, Rows, make_draw, make_outputs, make_rows
from routh.problem import ImpactProblem
from routh.sampling.outcomes import Outcomes
from routh.status import Status
from routh.step.elastic import HYPOTHESES, POISSON
from routh.validation import choice, integer, real

#: Probability that drawn rates stay until something happens, see `routh.sample`.
PERSISTENCE = 0.6
#: Error of a curved path (the true cone in space), as a share of the speed before.
TOLERANCE = 1e-6

Rates = str | Callable[..., None]


def make_settings(
    n: int,
    *,
    rates: Rates = "mixed",
    persistence: float = PERSISTENCE,
    seed: int = 0,
    row: int = 0,
    hypothesis: str = "energetic",
    tolerance: float = TOLERANCE,
) -> Draw:
    """The checked settings of one call."""
    if not callable(rates):
        choice("rates", rates, RATES)
    return make_draw(
        integer("n", n, at_least=1),
        seed=integer("seed", seed, at_least=0, at_most=2**64 - 1),
        row=integer("row", row, at_least=0, at_most=2**32 - 1),
        rates=CUSTOM if callable(rates) else RATES.index(str(rates)),
        persistence=real("persistence", persistence, above=0.0, at_most=1.0),
        poisson=choice("hypothesis", hypothesis, HYPOTHESES) == POISSON,
        tolerance=real("tolerance", tolerance, above=0.0),
    )


def _kernel(nt: int, friction: str) -> str:
    """The module whose ``run(rows, draw, outputs, directions, *, device, threads, budget, rates)`` draws."""
    if nt == 1:
        return "routh.kernels.events_plane"
    return "routh.kernels.events_space" if friction == "polyhedral" else "routh.kernels.events_cone"


@cache
def can_sample(nt: int, friction: str) -> bool:
    """Whether there is a kernel for such contacts."""
    return find_spec(_kernel(nt, friction)) is not None


def event_samples(
    rows: Rows,
    draw: Draw,
    *,
    friction: str = "cone",
    facets: int | None = None,
    device: str = "cpu",
    threads: int | None = None,
    budget: float | None = None,
    rates: Rates = "mixed",
) -> Outputs:
    """The samples of all rows, see `run_events`."""
    outputs = make_outputs(rows, draw.n, elastic=bool(np.any(rows.contact[:, 1] > 0.0)))
    options: dict[str, Any] = {"device": device, "threads": threads, "budget": budget, "rates": rates}
    run_events(rows, draw, outputs, friction=friction, facets=facets, **options)
    return outputs


def run_events(
    rows: Rows,
    draw: Draw,
    outputs: Outputs,
    *,
    friction: str = "cone",
    facets: int | None = None,
    device: str = "cpu",
    threads: int | None = None,
    budget: float | None = None,
    rates: Rates = "mixed",
) -> None:
    """Draw the samples of all rows; those that ``budget`` (s) leaves undone are Status.OUT_OF_TIME.

    ``rates`` is the function where ``draw.rates`` is CUSTOM. In space ``friction`` chooses the kernel; in the
    plane the cone is the segment.
    """
    nt = rows.start.shape[1] // rows.contact.shape[2] - 1
    options: dict[str, Any] = {"device": device, "threads": threads, "budget": budget, "rates": rates}
    import_module(_kernel(nt, friction)).run(rows, draw, outputs, facet_directions(nt, facets), **options)


def event_outcomes(problem: ImpactProblem, draw: Draw, settings: dict[str, Any], **options: Any) -> Outcomes:
    """The samples of one problem as `Outcomes`."""
    out = event_samples(make_rows([problem]), draw, **options)
    joule = problem.scaling.speed**2
    elastic = out.work.shape[3] > 0
    return Outcomes(
        problem,
        out.v[0],
        out.impulse[0],
        out.events[0],
        out.status[0],
        out.residual[0],
        bool(np.any(out.status == Status.JAMMED)),
        settings,
        stored=out.work[0, :, 0] * joule if elastic else None,
        returned=out.work[0, :, 1] * joule if elastic else None,
    )
