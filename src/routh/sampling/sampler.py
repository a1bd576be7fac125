"""The front door of sampling: `routh.sample`."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict, Unpack, overload

from routh.base import features
from routh.base.validation import count_that_fits
from routh.kernels.events import TOLERANCE, Rates
from routh.problem.batch import ImpactBatch
from routh.problem.friction import uses_true_cone
from routh.problem.impact import ImpactProblem, no_impact
from routh.sampling.events import event_outcomes
from routh.sampling.outcomes import Outcomes
from routh.sampling.settings import ByEvents

if TYPE_CHECKING:
    from routh.sampling.batch import BatchOutcomes


class SampleOptions(TypedDict, total=False):
    """The keywords of `sample`."""

    rates: Rates
    persistence: float | None
    tolerance: float
    seed: int
    row: int
    friction: str
    facets: int | None
    hypothesis: str
    device: str
    threads: int | None
    budget: float | None


@overload
def sample(problem: ImpactProblem, n: int, **options: Unpack[SampleOptions]) -> Outcomes: ...
@overload
def sample(problem: ImpactBatch, n: int, **options: Unpack[SampleOptions]) -> BatchOutcomes: ...
def sample(
    problem: ImpactProblem | ImpactBatch,
    n: int,
    *,
    rates: Rates = "mixed",
    persistence: float | None = None,
    tolerance: float = TOLERANCE,
    seed: int = 0,
    row: int = 0,
    friction: str = "cone",
    facets: int | None = None,
    hypothesis: str = "energetic",
    device: str = "cpu",
    threads: int | None = None,
    budget: float | None = None,
) -> Outcomes | BatchOutcomes:
    """Draw ``n`` outcomes of an impact, or of each impact of a batch.

    Each sample is a member of the set: a path of HP23 (39), event by event. HP23's own sampler, which takes
    steps and has their error, is `routh.sampling.sample_by_steps`. Row k of a batch gets the samples of
    ``sample(batch[k], n, row=k, ...)``, to the last bit.

    Parameters
    ----------
    problem : an impact, or a batch of impacts.
    n : how many outcomes, of each impact of a batch.
    rates : how the relative rates of the impulses are drawn: "mixed", "uniform", "extreme", or a function
        ``(uniforms, approaching, out) -> None``, compiled like a kernel or of C.
    persistence : probability that drawn rates stay until something happens, in (0, 1]; default 0.6, with
        restitution in the plane 0.8.
    tolerance : with the true cone in space: error allowed on curved paths, a share of the speed.
    seed : equal seeds give equal samples, whatever n or the number of threads.
    row : the place of the problem in a batch, or of a batch's first row in a larger one.
    friction : "cone", or "polyhedral" in space.
    facets : friction directions of "polyhedral" (default 8).
    hypothesis : what restitution means: "energetic" (Stronge: the share e^2 of a contact's work returns) or
        "poisson" (the share e of its normal impulse).
    device : "cpu", or "cuda" on an NVIDIA GPU.
    threads : of "cpu"; default: all.
    budget : seconds; samples that are not drawn by then have Status.OUT_OF_TIME, the others are the same.

    Returns
    -------
    Outcomes
        Of an impact, with ``n`` rows; of a batch `BatchOutcomes`, with ``n`` rows for each of its impacts.
    """
    drawing = ByEvents(
        rates=rates,
        persistence=persistence,
        tolerance=tolerance,
        hypothesis=hypothesis,
        seed=seed,
        row=row,
        friction=friction,
        facets=facets,
        device=device,
        threads=threads,
        budget=budget,
    )
    return draw(problem, n, drawing)


@overload
def draw(problem: ImpactProblem, n: int, drawing: ByEvents) -> Outcomes: ...
@overload
def draw(problem: ImpactBatch, n: int, drawing: ByEvents) -> BatchOutcomes: ...
def draw(problem: ImpactProblem | ImpactBatch, n: int, drawing: ByEvents) -> Outcomes | BatchOutcomes:
    """`sample` with its options as one object."""
    check_count(problem, n)
    uses_true_cone(drawing.friction, drawing.facets, problem.nt)
    if drawing.device == "cuda":
        cuda = features.device("cuda")
        made: Outcomes | BatchOutcomes
        if isinstance(problem, ImpactBatch):
            made = cuda.batch_outcomes(problem, n, drawing)
        else:
            made = cuda.outcomes(problem, n, drawing)
        return made
    if isinstance(problem, ImpactBatch):
        from routh.sampling.batch_events import batch_outcomes

        return batch_outcomes(problem, n, drawing)
    return event_outcomes(problem, n, drawing)


def check_count(problem: ImpactProblem | ImpactBatch, n: int) -> int:
    """The number of samples, if their arrays fit into this machine; raises otherwise."""
    if not isinstance(problem, (ImpactProblem, ImpactBatch)):
        raise no_impact(problem, "an ImpactProblem or an ImpactBatch")
    return count_that_fits("n", n, 8 * (problem.nv + problem.nc * (1 + problem.nt) + 2))
