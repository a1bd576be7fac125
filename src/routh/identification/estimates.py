"""Parameters from measured impacts: values whose outcomes foretell the measured velocities best.

What impacts say about parameters, as data and as text (`Identified`), and the front doors `identify` and
`score_impacts`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from routh.base.results import Result
from routh.base.status import InputError, Status
from routh.base.validation import Array, Options, integer, real, real_array
from routh.identification.fit import Intervals, ScoreObjective, fit, intervals
from routh.identification.impacts import NOISE, Bounds, MeasuredImpacts, Values
from routh.identification.scores import Errors, Scale, Scores, energy_scores, know_nothing, predicted

_CLOSE = 0.1  # of the standard errors: how near to the least score a converged estimate is
_SHARE = 0.5  # of its range: the longest interval of a parameter that counts as determined


@dataclass(frozen=True)
class Estimate:
    """Estimate of a parameter, with its interval."""

    value: float
    interval: tuple[float, float]
    range: tuple[float, float]  # that was given
    #: by the data: they are fitted, the interval is shorter than half the range, the value inside
    determined: bool
    at_end: bool  # of the range: a wider one may fit better
    fits: bool = True  # whether the fitted outcomes foretell the data at all

    @property
    def width(self) -> float:
        """Width of the interval, as a share of the range."""
        return (self.interval[1] - self.interval[0]) / (self.range[1] - self.range[0])


@dataclass(frozen=True, eq=False)
class Identified(Result):
    """What measured impacts say about parameters."""

    estimates: dict[str, Estimate]
    scores: Scores = field(repr=False)  # of the impacts that were fitted on
    before: Scores = field(repr=False)  # with the start's values
    undetermined: tuple[dict[str, float], ...]  # directions of which the data say nothing, shares of ranges
    draws: Array = field(repr=False)  # (b, p) estimates of the bootstrap
    confidence: float
    converged: bool  # whether the score is least here, to a tenth of the standard errors
    failed: int  # samples that did not end; the velocity before stands for their outcome
    lost: int  # samples without a derivative
    calls: dict[str, int] = field(repr=False)  # how often scores and slopes were computed
    misfit: float  # mean energy score over that of "any velocity that impulses and energy allow"
    fits: bool  # whether the score is clearly less than that one's, else nothing is determined

    @property
    def status(self) -> Status:
        """INCOMPLETE where the score is not yet least."""
        return Status.SOLVED if self.converged else Status.INCOMPLETE

    @property
    def values(self) -> dict[str, float]:
        """The estimates by name."""
        return {name: estimate.value for name, estimate in self.estimates.items()}

    def report(self) -> str:
        """Values, intervals and what the data determine, and how well the outcomes foretell them."""
        share = f"{100 * self.confidence:g} %"
        head = ("parameter", "value", f"from ({share})", "to", "of its range", "determined by the data")
        rows: list[tuple[str, ...]] = [head]
        for name, one in self.estimates.items():
            numbers = (f"{x:.4g}" for x in (one.value, *one.interval))
            rows.append((name, *numbers, f"{100 * one.width:.0f} %", _verdict(one)))
        lines = [_lines(rows), ""]
        if not self.fits:
            lines.append(
                f"does not fit the data: the score is {self.misfit:.3g} times that of one who knows no"
                " contact law and says 'any velocity that impulses and energy allow'; wanted clearly less"
            )
        for direction in self.undetermined:
            parts = ", ".join(f"{name} {part:+.2f}" for name, part in direction.items())
            lines.append(f"not determined: changes along ({parts}), as shares of the ranges")
        lines.append(scores_table({"at the start": self.before, "fitted": self.scores}))
        if not self.converged:
            lines.append("the slope of the score does not vanish: more samples, or another start, may help")
        if self.failed or self.lost:
            lines.append(f"{self.failed} samples did not end, {self.lost} have no derivative")
        return "\n".join(lines)


def scores_table(rows: Mapping[str, Scores], mask: np.ndarray | None = None) -> str:
    """Scores side by side, of the impacts in a mask (n,) or of all: means of the score, else medians."""
    head = ("", "energy score", "nearest", "mean outcome", "spread", "turned cloud", "samples")
    lines: list[tuple[str, ...]] = [head]
    for name, scores in rows.items():
        (row,) = scores.rows(None if mask is None else {name: mask})
        numbers = (f"{float(row[key]):.4f}" for key in ("energy", "nearest", "mean", "spread", "turned"))
        lines.append((name, *numbers, str(scores.n)))
    return _lines(lines)


def _verdict(one: Estimate) -> str:
    if not one.fits:
        return "does not fit the data"
    if one.at_end:
        return "at the end of its range"
    return "yes" if one.determined else "no"


def _lines(rows: Sequence[Sequence[str]]) -> str:
    """Columns of equal width, the first to the left and the others to the right."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = []
    for first, *rest in rows:
        cells = [first.ljust(widths[0]), *(c.rjust(w) for c, w in zip(rest, widths[1:], strict=True))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def identify(
    impacts: MeasuredImpacts,
    parameters: Mapping[str, tuple[float, float]],
    *,
    start: Values | None = None,
    n: int = 64,
    noise: ArrayLike | None = None,
    metric: Values | None = None,
    scan: int = 8,
    iterations: int = 50,
    bootstrap: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
    friction: str = "cone",
    hypothesis: str = "energetic",
    threads: int | None = None,
) -> Identified:
    """Fit parameters to impacts whose velocities before and after were measured.

    Minimises the mean energy score of sampled outcomes, ``E|X - y| - E|X - X'| / 2`` in the kinetic-energy
    norm as a share of the speed before, by its slopes (`routh.Outcomes.vjp`) and common random numbers. The
    score is proper: it is least for the distribution that the measurements come from, and unlike the nearest
    outcome it does not fall when a set is inflated. Intervals: a studentized bootstrap of the groups.

    What does not fit determines nothing. The score is compared with that of one who knows no contact law and
    says "any velocity that impulses and energy allow" (`Identified.misfit`); where it is not clearly less, by
    a t test over the groups, the verdict is "does not fit the data".

    Parameters
    ----------
    impacts : see `MeasuredImpacts`.
    parameters : the range (low, high) of each parameter by name. The name "noise" is a factor of ``noise``.
    start : values to begin with; default the middle of each range.
    n : of each impact's outcomes, fixed. With one contact the outcome is one.
    noise : number or (nv,), standard deviation of each measured velocity, m/s or rad/s. It is added to the
        outcomes before they are scored; without it the fitted set has to explain the errors of measurement.
    metric : values whose masses define the norm; default the start's.
    scan : further values spread over the ranges from which the best is gone on with.
    iterations : most quasi-Newton steps.
    bootstrap : draws of the groups.
    confidence : the intervals' probability.
    seed : of every draw.
    friction, hypothesis, threads : as in `routh.sample`.
    """
    bounds = Bounds.of(parameters)
    shares = bounds.shares(start)
    integer("n", n, at_least=2)
    integer("scan", scan, at_least=0)
    integer("iterations", iterations, at_least=1)
    integer("bootstrap", bootstrap, at_least=100)
    real("confidence", confidence, above=0.0, at_most=0.9999)
    if len(np.unique(impacts.groups)) < 2:
        raise InputError("impacts", got="one independent group", wanted="at least two to tell errors from")
    begin = bounds.values(shares)
    batch = impacts.batch(begin if metric is None else metric)
    if noise is None and NOISE in bounds.names:
        raise InputError("noise", got="None with a parameter 'noise'", wanted="deviations that it multiplies")
    errors = Errors(_noise(noise, batch.nv), (len(impacts), n, batch.nv), seed)
    options: Options = {"seed": seed, "friction": friction, "hypothesis": hypothesis, "threads": threads}
    objective = ScoreObjective(impacts, bounds, Scale.of(batch), errors, n, options)
    found = fit(objective, shares, scan=scan, iterations=iterations)
    ends = intervals(found, impacts.groups, draws=bootstrap, confidence=confidence, seed=seed, share=_SHARE)
    values = bounds.values(found.shares)
    judged = (objective.scale, errors, n, options)
    fitted = predicted(impacts, values, *judged)
    anything = errors.added(know_nothing(impacts.batch(values), n, seed), values)
    nothing = energy_scores(objective.scale.points(anything, impacts.after))
    fits = _clearly_below(fitted.energy, nothing, impacts.groups, confidence)
    return Identified(
        _estimates(bounds, values, ends, found.at_end, fits),
        fitted,
        predicted(impacts, begin, *judged),
        tuple(dict(zip(bounds.names, map(float, row), strict=True)) for row in ends.flat),
        bounds.low + ends.draws * (bounds.high - bounds.low),
        confidence,
        bool(np.all(np.abs(found.step) <= _CLOSE * ends.error)),
        objective.failed,
        objective.lost,
        dict(objective.calls),
        float(fitted.energy.mean() / nothing.mean()),
        fits,
    )


def _noise(noise: ArrayLike | None, nv: int) -> Array:
    if noise is None:
        return np.zeros(nv)
    given = real_array("noise", noise, [(), (nv,)], f"a number or shape ({nv},)")
    if np.any(given < 0.0):
        raise InputError("noise", got=given.min(), wanted="standard deviations >= 0")
    return np.broadcast_to(given, (nv,))


def _clearly_below(scores: Array, others: Array, groups: np.ndarray, confidence: float) -> bool:
    """Whether scores (n,) are less than others on average, by a one-sided t test over the groups."""
    from scipy.stats import t  # slow to load

    _, which = np.unique(groups, return_inverse=True)
    counts = np.bincount(which)
    differences = np.bincount(which, weights=scores - others) / counts
    error = float(differences.std(ddof=1)) / np.sqrt(len(counts))
    return float(differences.mean()) + float(t.ppf(confidence, len(counts) - 1)) * error < 0.0


def _estimates(
    bounds: Bounds, values: Values, ends: Intervals, at_end: np.ndarray, fits: bool
) -> dict[str, Estimate]:
    low, high = bounds.values(ends.low), bounds.values(ends.high)
    return {
        name: Estimate(
            values[name],
            (low[name], high[name]),
            (float(bounds.low[k]), float(bounds.high[k])),
            fits and bool(ends.determined[k]),
            bool(at_end[k]),
            fits,
        )
        for k, name in enumerate(bounds.names)
    }


def score_impacts(
    impacts: MeasuredImpacts,
    values: Values,
    *,
    n: int = 64,
    noise: ArrayLike | None = None,
    metric: Values | None = None,
    seed: int = 0,
    friction: str = "cone",
    hypothesis: str = "energetic",
    threads: int | None = None,
) -> Scores:
    """How well the outcomes of given values foretell measured impacts, such as those not fitted on.

    Parameters
    ----------
    impacts : see `MeasuredImpacts`.
    values : of the parameters, by name.
    n, noise, seed, friction, hypothesis, threads : as in `identify`.
    metric : values whose masses define the norm; default ``values``.
    """
    integer("n", n, at_least=1)
    batch = impacts.batch(values if metric is None else metric)
    errors = Errors(_noise(noise, batch.nv), (len(impacts), n, batch.nv), seed)
    options: Options = {"seed": seed, "friction": friction, "hypothesis": hypothesis, "threads": threads}
    return predicted(impacts, values, Scale.of(batch), errors, n, options)
