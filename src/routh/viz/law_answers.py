"""The answers of laws with one outcome, as marks: those that agree are one mark with all their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from routh.auditing.comparison import Comparison
from routh.base.validation import Array
from routh.laws.base import ImpactResult
from routh.problem.impact import ImpactProblem
from routh.viz import style
from routh.viz.panels import short_name

if TYPE_CHECKING:
    from routh.exact.polytopes import PolytopeUnion

AT_ONCE, IN_TURN = "all at once", "one at a time"
OUTSIDE = " (outside the set)"
_SAME = 1e-6  # of the speed before: answers nearer than this agree
_TOUCHING = 5.0  # points on paper: marks nearer than this are drawn side by side
_APART = 5.5  # points on paper between marks side by side
Item = TypeVar("Item")


def agree(problem: ImpactProblem, first: Array, second: Array) -> bool:
    """Whether two velocities after (nv,) are one answer, in the kinetic-energy norm."""
    return bool(np.linalg.norm((first - second) @ problem.cholesky) <= _SAME * problem.scaling.speed)


def grouped(items: Iterable[Item], same: Callable[[Item, Item], bool]) -> list[list[Item]]:
    """Items in the order in which they come, each with those that are the same as it."""
    found: list[list[Item]] = []
    for item in items:
        home = next((group for group in found if same(group[0], item)), None)
        if home is None:
            found.append([item])
        else:
            home.append(item)
    return found


@dataclass(frozen=True, eq=False)
class LawMark:
    """One velocity after, and the laws that give it."""

    v: Array  # (nv,)
    results: list[ImpactResult] = field(repr=False)
    at_once: list[ImpactResult] = field(default_factory=list, repr=False)
    in_turn: list[str] = field(default_factory=list)  # which contact comes first, for each order

    def label(self, at_once: str) -> str:
        """What the legend says; ``at_once`` are the words for a simultaneous solution alone."""
        if not self.in_turn:
            return at_once
        words = [AT_ONCE] if self.at_once else []
        orders = list(dict.fromkeys(self.in_turn))
        words.append(f"{IN_TURN}, {orders[0] if len(orders) == 1 else 'any order'}")
        return " = ".join(words)


def answers(shown: Comparison) -> list[LawMark]:
    """The distinct velocities of sequences and of simultaneous solutions, the latter first."""
    problem = shown.problem
    found: list[LawMark] = []

    def place(result: ImpactResult) -> LawMark:
        for answer in found:
            if agree(problem, answer.v, result.v):
                answer.results.append(result)
                return answer
        found.append(LawMark(result.v, [result]))
        return found[-1]

    for result in shown.simultaneous:
        place(result).at_once.append(result)
    taken: dict[str, LawMark] = {}
    for order, result in zip((1, -1), shown.sequential.values(), strict=False):
        answer = place(result)
        words = f"{short_name(problem, first_pushing(problem, order))} first"
        if taken.setdefault(words, answer) is not answer:
            words += ", the others backwards"
        answer.in_turn.append(words)
    return found


def first_pushing(problem: ImpactProblem, order: int = 1) -> int:
    """The first contact that approaches, in order (1) or in reverse order (-1): there impacts begin."""
    return next((int(i) for i in np.arange(problem.nc)[::order] if problem.approaching[i]), 0)


def look(answer: LawMark, rank: int) -> style.Look:
    """A diamond for all at once, a square for one at a time, both colours where they agree."""
    color = style.SEQUENTIAL[rank % len(style.SEQUENTIAL)] if answer.in_turn else style.SIMULTANEOUS
    if answer.at_once and answer.in_turn:
        edge: style.Look = {"markeredgecolor": style.SIMULTANEOUS, "markeredgewidth": 1.5, "markersize": 6.0}
    else:
        edge = {"markeredgecolor": "white", "markeredgewidth": 0.6, "markersize": 5.5}
    return {"color": color, "marker": "D" if answer.at_once else "s", "linestyle": "none", **edge}


def labelled_answers(
    shown: Comparison, exact: PolytopeUnion | None = None
) -> list[tuple[LawMark, str, style.Look]]:
    """Every distinct answer with what the legend says of it and how its mark looks.

    Laws that look at friction only where an impact ends can leave the set where slip reverses on the way;
    with the ``exact`` set at hand the legend says so.
    """
    count = len(shown.simultaneous)
    at_once = AT_ONCE if count == 1 else f"{AT_ONCE} ({count} solutions)"
    at_once += "" if shown.all_simultaneous else " (one solution)"
    found = answers(shown)
    sequential = [answer for answer in found if answer.in_turn]
    ranks = {id(answer): rank for rank, answer in enumerate(sequential)}
    marks = []
    for answer in found:
        inside = exact is None or bool(exact.contains(answer.v, tolerance=_SAME))
        words = answer.label(at_once) + ("" if inside else OUTSIDE)
        marks.append((answer, words, look(answer, ranks.get(id(answer), 0))))
    return marks


def draw_answers(
    ax: style.Axes,
    shown: Comparison,
    project: Callable[[Array], tuple[Array, Array]],
    *,
    ways: bool,
    exact: PolytopeUnion | None = None,
) -> None:
    """Mark every answer, with the ways there if wanted; marks at one place stand side by side."""
    from matplotlib.lines import Line2D
    from matplotlib.transforms import ScaledTranslation

    marks = labelled_answers(shown, exact)
    ends = [tuple(float(x[0]) for x in project(answer.v[None])) for answer, _, _ in marks]
    offsets = _offsets(ax, ends, [label for _, label, _ in marks])
    for (answer, label, looks), at, offset in zip(marks, ends, offsets, strict=True):
        moved = ax.transData + ScaledTranslation(offset / 72.0, 0.0, ax.figure.dpi_scale_trans)
        mark = Line2D(*([x] for x in at), **looks, transform=moved, zorder=4.5, label=label, clip_on=False)
        ax.add_artist(mark)  # a third of the time of Axes.plot, as the limits are known
        dashes = style.DASHES[1 + bool(answer.at_once)] if answer.in_turn else "-"
        for result in answer.results if ways else ():
            line: style.Look = {"color": looks["color"], "linestyle": dashes, "linewidth": 1.0}
            ax.plot(*project(result.path.v), **line, zorder=3.0)


def _offsets(ax: style.Axes, ends: Sequence[tuple[float, ...]], labels: Sequence[str]) -> list[float]:
    """How far right each mark is moved, in points on paper, so that none hides one with another label."""
    if not ends:
        return []
    places = ax.transData.transform(np.array(ends)) * 72.0 / ax.figure.dpi
    near = np.linalg.norm(places[:, None] - places[None], axis=2) < _TOUCHING
    offsets = []
    for label, row in zip(labels, near, strict=True):
        beside = list(dict.fromkeys(labels[int(j)] for j in np.flatnonzero(row)))
        offsets.append(_APART * (beside.index(label) - (len(beside) - 1) / 2))
    return offsets
