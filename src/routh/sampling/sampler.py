"""The front door of sampling: `routh.sample`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypedDict, Unpack, overload

from numpy.typing import ArrayLike

from routh.base import features
from routh.base.status import InputError
from routh.base.validation import Options, choice, count_that_fits, integer, real
from routh.problem.batch import ImpactBatch
from routh.problem.friction import uses_true_cone
from routh.problem.impact import ENERGETIC, METHODS, POISSON, ImpactProblem, no_impact
from routh.sampling.events import event_outcomes
from routh.sampling.outcomes import Outcomes
from routh.sampling.settings import make_settings

if TYPE_CHECKING:
    from routh.sampling.batch import BatchOutcomes


class SampleOptions(TypedDict, total=False):
    """The keywords of `sample`."""

    method: str
    rates: str | Callable[..., None] | None
    persistence: float | None
    tolerance: float | None
    step: ArrayLike | None
    max_steps: int | None
    points: str | None
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
    method: str = "events",
    rates: str | Callable[..., None] | None = None,
    persistence: float | None = None,
    tolerance: float | None = None,
    step: ArrayLike | None = None,
    max_steps: int | None = None,
    points: str | None = None,
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

    Row k of a batch gets the samples of ``sample(batch[k], n, row=k, ...)``, to the last bit; with
    "algorithm1" samples whose step cannot be solved quickly keep a status that says so.

    Parameters
    ----------
    problem : an impact, or a batch of impacts.
    n : how many outcomes, of each impact of a batch.
    method : "events" (each sample is a member of the set: a path of HP23 (39), event by event) or
        "algorithm1" (HP23's sampler, with the error of its step, for impacts without restitution).
    rates : "events" only: how the relative rates of the impulses are drawn: "mixed" (default), "uniform",
        "extreme", or a function ``(uniforms, approaching, out) -> None``, compiled like a kernel or of C.
    persistence : "events" only: probability that drawn rates stay until something happens, in (0, 1];
        default 0.6, with restitution in the plane 0.8.
    tolerance : "events" with the true cone in space: error allowed on curved paths, a share of the speed.
    step, max_steps, points : "algorithm1" only, see `routh.sampling.algorithm1.sample`; of a batch see
        `routh.sampling.algorithm1.sample_batch`.
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
    check_count(problem, n)
    choice("method", method, METHODS)
    choice("device", device, ("cpu", "cuda"))
    uses_true_cone(friction, facets, problem.nt)
    if threads is not None:
        integer("threads", threads, at_least=1)
        if device != "cpu":
            raise InputError(
                "threads", got=f"{threads} with device {device!r}", wanted="threads with 'cpu' only"
            )
    if budget is not None:
        real("budget", budget, above=0.0)
    paper: Options = {"step": step, "max_steps": max_steps, "points": points}
    events: Options = {"rates": rates, "persistence": persistence, "tolerance": tolerance}
    for name, value in (events if method == "algorithm1" else paper).items():
        if value is not None:
            raise InputError(name, got=f"{value!r} with method {method!r}, which has no such option")
    own = {name: value for name, value in (paper | events).items() if value is not None}
    options: Options = {"friction": friction, "facets": facets, "budget": budget}
    if method == "algorithm1":
        from routh.sampling import algorithm1  # a sample by events needs no steps and no laws

        choice("hypothesis", hypothesis, (ENERGETIC, POISSON))
        options |= {**own, "seed": seed, "row": row, "device": device, "threads": threads}
        if isinstance(problem, ImpactBatch):
            return algorithm1.sample_batch(problem, n, **options)
        return algorithm1.sample(problem, n, **options)
    settings = {"seed": seed, "row": row, "hypothesis": hypothesis, **own}
    if device == "cuda":
        cuda = features.device("cuda")
        if isinstance(problem, ImpactBatch):
            return cuda.batch_outcomes(problem, n, settings, **options)
        return cuda.outcomes(problem, n, settings, **options)
    if isinstance(problem, ImpactBatch):
        from routh.sampling.batch_events import batch_outcomes

        draw = make_settings(n, **settings)
        described = {"method": "events", "friction": friction, "facets": facets, **settings}
        rates = own.get("rates", "mixed")
        return batch_outcomes(problem, draw, described, **options, threads=threads, rates=rates)
    return event_outcomes(problem, n, settings, **options, threads=threads)


def check_count(problem: ImpactProblem | ImpactBatch, n: int) -> int:
    """The number of samples, if their arrays fit into this machine; raises otherwise."""
    if not isinstance(problem, (ImpactProblem, ImpactBatch)):
        raise no_impact(problem, "an ImpactProblem or an ImpactBatch")
    return count_that_fits("n", n, 8 * (problem.nv + problem.nc * (1 + problem.nt) + 2))
