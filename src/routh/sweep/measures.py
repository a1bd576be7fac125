"""What a study measures at its points. A measure turns problems into columns of numbers, on the workers.

Each measure is a `Measure`: a recipe and the columns that it fills. Its function is called as
``function(problems, rows, seed, **arguments)`` with the problems of a chunk that have an impact and their
rows in the whole grid (random numbers depend on the seed and the row only), and returns column -> (k, ...).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from routh.base.status import InputError, Status
from routh.base.validation import Array, Options, choice, integer, real
from routh.problem.batch import ImpactBatch
from routh.problem.friction import FRICTIONS
from routh.problem.impact import ImpactProblem
from routh.sampling import sample
from routh.sampling.batch import BatchOutcomes
from routh.sweep.recipes import Recipe, recipe

#: Bytes of outcomes that a worker holds at a time.
_PIECE = 64 * 2**20

Columns = dict[str, np.ndarray]
Shape = tuple[int, ...]
Problems = Sequence[ImpactProblem]


@dataclass(frozen=True)
class Measure:
    """A recipe for numbers, and their names: column -> shape of one point's value."""

    recipe: Recipe
    columns: dict[str, Shape]

    def __call__(self, problems: Problems, rows: Sequence[int], seed: int) -> Columns:
        """The columns of some points, each checked against the declared shape."""
        measure = cast("Callable[..., Columns]", self.recipe.resolve())
        found = measure(problems, rows, seed, **self.recipe.arguments)
        return {
            name: _checked(name, found.get(name), (len(problems), *shape))
            for name, shape in self.columns.items()
        }

    def as_data(self) -> Options:
        """The measure as the manifest holds it."""
        return {**self.recipe.as_data(), "columns": {name: list(s) for name, s in self.columns.items()}}

    @staticmethod
    def from_data(data: Options) -> Measure:
        """The measure that `as_data` wrote."""
        shapes = {
            str(name): tuple(integer(f"columns: {name}", x, at_least=0) for x in shape)
            for name, shape in data["columns"].items()
        }
        return Measure(Recipe.from_data(data), shapes)


def ambiguity(n: int = 4096, *, friction: str = "cone", device: str = "cpu") -> Measure:
    """How far apart the outcomes are, over the speed before; the share of solved samples; contacts."""
    columns: dict[str, Shape] = {"ambiguity": (), "share_solved": (), "contacts": ()}
    return _sampled(measure_ambiguities, columns, n, friction=friction, device=device)


def extremes(
    directions: Sequence[Sequence[float]],
    n: int = 4096,
    *,
    friction: str = "cone",
    device: str = "cpu",
) -> Measure:
    """The largest ``d . v`` after the impact for each direction d (k, nv)."""
    rows = np.atleast_2d(np.asarray(directions, dtype=np.float64)).tolist()
    columns: dict[str, Shape] = {"extreme": (len(rows),)}
    return _sampled(measure_extremes, columns, n, friction=friction, device=device, directions=rows)


def tipping(n: int = 64, *, friction: str = "cone", device: str = "cpu") -> Measure:
    """The worst rate about an edge over the critical one, the share of samples that ended; contacts.

    Of the touch-downs that `routh.robust.feet.touchdown_problem` makes: ``problems`` of the study.
    """
    columns: dict[str, Shape] = {"tipping": (), "share_solved": (), "contacts": ()}
    return _sampled(measure_tipping, columns, n, friction=friction, device=device)


def mode_shares(n: int = 4096, *, friction: str = "cone", device: str = "cpu") -> Measure:
    """Shares of contacts that separate, stick and slide, and how many combinations of modes occurred."""
    columns: dict[str, Shape] = {"separates": (), "sticks": (), "slides": (), "combinations": ()}
    return _sampled(measure_modes, columns, n, friction=friction, device=device)


def exact_widths(
    directions: Sequence[Sequence[float]], *, budget: float | None = None, friction: str = "cone"
) -> Measure:
    """Width of the exact set along each direction (k, nv): of the inner set, and of the outer one.

    ``budget``: seconds of processor time for each set. ``friction``: in space exact sets want "polyhedral",
    see `routh.exact_set`.
    """
    rows = np.atleast_2d(np.asarray(directions, dtype=np.float64))
    item = recipe(
        measure_widths,
        directions=rows.tolist(),
        budget=None if budget is None else real("budget", budget, above=0.0),
        friction=choice("friction", friction, FRICTIONS),
    )
    return Measure(item, {"inner_width": (len(rows),), "outer_width": (len(rows),)})


def audits(answer: Callable[..., ArrayLike] | str, n: int = 4096, **arguments: object) -> Measure:
    """How far an answer, ``answer(problem, **arguments) -> v (nv,)``, lies from the set, over the speed."""
    found = recipe(answer, **arguments)
    columns: dict[str, Shape] = {"distance": (), "possible": ()}
    return _sampled(measure_audits, columns, n, answer=found.function, arguments=found.arguments)


def _sampled(
    function: Callable[..., Columns], columns: dict[str, Shape], n: int, **arguments: object
) -> Measure:
    return Measure(recipe(function, n=integer("n", n, at_least=1), **arguments), columns)


def own(
    function: Callable[..., Mapping[str, ArrayLike]] | str,
    columns: Mapping[str, Sequence[int]] | Sequence[str],
    **arguments: object,
) -> Measure:
    """A measure of your own: ``function(problem, row, seed, **arguments) -> {column: number or array}``.

    ``columns`` are the names, or name -> shape where a value is an array.
    """
    shapes = columns if isinstance(columns, Mapping) else dict.fromkeys(columns, ())
    if not shapes:
        raise InputError("columns", got="none", wanted="the names of what the function returns")
    found = recipe(function, **arguments)
    item = recipe(measure_own, function=found.function, arguments=found.arguments)
    return Measure(item, {str(name): tuple(int(x) for x in shape) for name, shape in shapes.items()})


def measure_ambiguities(
    problems: Problems, rows: Sequence[int], seed: int, *, n: int, **options: str
) -> Columns:
    """The function behind `ambiguity`."""
    found = np.full((len(problems), 3), np.nan)
    for places, inside, drawn in _drawn(problems, rows, seed, n, **options):
        found[places, 0] = drawn.ambiguity[inside]
        found[places, 1] = drawn.solved.mean(axis=1)[inside]
        found[places, 2] = drawn.batch.size[inside, 1]
    return {"ambiguity": found[:, 0], "share_solved": found[:, 1], "contacts": found[:, 2]}


def measure_tipping(problems: Problems, rows: Sequence[int], seed: int, *, n: int, **options: str) -> Columns:
    """The function behind `tipping`."""
    from routh.robust.feet import standing

    found = np.full((len(problems), 3), np.nan)
    for places, inside, drawn in _drawn(problems, rows, seed, n, rates="extreme", **options):
        for place, row in zip(places, inside, strict=True):
            problem = standing(problems[place])
            ended = drawn.status[row] <= Status.NO_IMPACT
            if ended.any():
                found[place, 0] = problem.support.ratios(drawn.v[row][ended, : problem.nv]).max()
            found[place, 1:] = ended.mean(), problem.nc
    return {"tipping": found[:, 0], "share_solved": found[:, 1], "contacts": found[:, 2]}


def measure_extremes(
    problems: Problems,
    rows: Sequence[int],
    seed: int,
    *,
    directions: list[list[float]],
    n: int,
    **options: str,
) -> Columns:
    """The function behind `extremes`."""
    found = np.full((len(problems), len(directions)), np.nan)
    for places, inside, drawn in _drawn(problems, rows, seed, n, **options):
        for k, direction in enumerate(directions):
            found[places, k] = drawn.extreme(direction).value[inside]
    return {"extreme": found}


def measure_modes(problems: Problems, rows: Sequence[int], seed: int, *, n: int, **options: str) -> Columns:
    """The function behind `mode_shares`."""
    found = np.full((len(problems), 4), np.nan)
    for places, inside, drawn in _drawn(problems, rows, seed, n, **options):
        for place, row in zip(places, inside, strict=True):
            modes = drawn.modes[row][drawn.solved[row]][:, drawn.batch.present[row]]
            if len(modes):
                found[place, :3] = [float(np.mean(modes == mode)) for mode in range(3)]
                found[place, 3] = len(np.unique(modes, axis=0))
    return dict(zip(("separates", "sticks", "slides", "combinations"), found.T, strict=True))


def measure_widths(
    problems: Problems,
    rows: Sequence[int],
    seed: int,
    *,
    directions: list[list[float]],
    budget: float | None,
    friction: str,
) -> Columns:
    """The function behind `exact_widths`; NaN where the set was not completed."""
    from routh.exact.build import exact_set

    along = np.array(directions)
    inner, outer = (np.full((len(problems), len(along)), np.nan) for _ in range(2))
    for k, problem in enumerate(problems):
        exact = exact_set(problem, friction=friction, budget=budget)
        for j, direction in enumerate(along):
            inner[k, j], outer[k, j] = (
                part.support(direction) + part.support(-direction) for part in (exact.inner, exact.outer)
            )
    return {"inner_width": inner, "outer_width": outer}


def measure_audits(
    problems: Problems,
    rows: Sequence[int],
    seed: int,
    *,
    answer: str,
    arguments: dict[str, object],
    n: int,
) -> Columns:
    """The function behind `audits`."""
    from routh.auditing.membership import audit

    function = cast("Callable[..., ArrayLike]", recipe(answer).resolve())
    found = np.full((len(problems), 2), np.nan)
    for places, inside, drawn in _drawn(problems, rows, seed, n):
        for place, row in zip(places, inside, strict=True):
            problem = problems[place]
            result = audit(problem, function(problem, **arguments), outcomes=drawn[int(row)])
            found[place] = result.distance, float(not result.broken)
    return {"distance": found[:, 0], "possible": found[:, 1]}


def measure_own(
    problems: Problems, rows: Sequence[int], seed: int, *, function: str, arguments: dict[str, object]
) -> Columns:
    """The function behind `own`: point by point."""
    call = cast("Callable[..., Mapping[str, ArrayLike]]", recipe(function).resolve())
    found = [
        dict(call(problem, int(row), seed, **arguments)) for problem, row in zip(problems, rows, strict=True)
    ]
    names = found[0] if found else ()
    return {name: np.array([values[name] for values in found], dtype=np.float64) for name in names}


def _drawn(
    problems: Problems,
    rows: Sequence[int],
    seed: int,
    n: int,
    *,
    friction: str = "cone",
    device: str = "cpu",
    rates: str = "mixed",
) -> Iterator[tuple[np.ndarray, np.ndarray, BatchOutcomes]]:
    """Outcomes in batches that fit the memory: places in ``problems``, their rows of the batch, the batch.

    A batch holds neighbouring rows of the grid, with gaps where there is no impact, since random numbers
    belong to rows. One thread, since a study already uses every core.
    """
    begin = 0
    while begin < len(problems):
        first = problems[begin]
        size = 8 * (first.nv + first.nc * (2 + first.nt) + 5)  # bytes of a sample
        room = max(1, _PIECE // (n * size))
        end = begin + 1
        while end < len(problems) and rows[end] - rows[begin] < room:
            end += 1
        inside = np.asarray(rows[begin:end]) - rows[begin]
        slots: list[ImpactProblem | None] = [None] * (int(inside[-1]) + 1)
        for slot, problem in zip(inside.tolist(), problems[begin:end], strict=True):
            slots[slot] = problem
        batch = ImpactBatch.from_problems(slots)
        row, threads = int(rows[begin]), 1 if device == "cpu" else None
        told: Options = {"friction": friction, "device": device, "threads": threads, "rates": rates}
        drawn = sample(batch, n, seed=seed, row=row, **told)
        yield np.arange(begin, end), inside, drawn
        begin = end


def _checked(name: str, values: ArrayLike | None, shape: tuple[int, ...]) -> Array:
    if values is None:
        if shape[0] == 0:
            return np.empty(shape)
        raise InputError(name, wrong="the measure did not return this column")
    array = np.asarray(values, dtype=np.float64)
    if array.shape != shape:
        raise InputError(name, wrong=f"the measure returned shape {array.shape}; declared was {shape}")
    return array
