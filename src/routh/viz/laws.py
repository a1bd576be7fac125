"""All laws in one set: the outcomes that an impact can have, and the answers that laws give."""

from __future__ import annotations

import numpy as np

from routh.auditing.law_answers import LawAudit
from routh.validation import Array
from routh.viz import style
from routh.viz.density import draw_density
from routh.viz.panels import contact_panel, telling_panel
from routh.viz.velocity import SAMPLES, mark_approach

_SAME = 1e-6  # of the speed before: answers nearer than this agree
_MARKS = ("D", "s", "^", "v", "P", "X", "h", "<", ">", "p", "*")
_COLOURS = (style.VERMILION, style.ORANGE, style.GREEN, style.PURPLE, style.SKY, style.BLACK, style.GREY)


def distinct_answers(found: LawAudit) -> list[tuple[Array, str]]:
    """The velocities after and the names of the laws that give them, with a word where one leaves the set."""
    problem = found.problem
    places: list[tuple[Array, list[str], bool]] = []
    for one in found.answers:
        if one.result is None or one.audit is None:
            continue
        for v, names, _ in places:
            if np.linalg.norm((v - one.result.v) @ problem.cholesky) <= _SAME * problem.scaling.speed:
                names.append(one.law)
                break
        else:
            places.append((one.result.v, [one.law], one.outside))
    return [(v, " = ".join(names) + (" (outside)" if left else "")) for v, names, left in places]


def draw_laws(found: LawAudit, ax: style.Axes, *, contact: int | str | None = None) -> None:
    """The set and a mark for each answer, hollow where that is outside.

    In the velocities of a ``contact``, tangential and normal; by default in the set's most telling ones.
    """
    problem = found.problem
    ends = found.outcomes.v[found.outcomes.solved]
    answers = distinct_answers(found)
    every = np.concatenate([ends, *(v[None] for v, _ in answers)])
    if not len(every):
        return
    if contact is None:
        panel = telling_panel(problem, ends if len(ends) else every)
    else:
        panel = contact_panel(problem.index(contact))
    values = [axis.values(problem, every) for axis in panel]
    for name, axis, one in zip("xy", panel, values, strict=True):
        low, high = float(one.min()), float(one.max())
        air = 0.08 * max(high - low, 0.1 * axis.size(problem))
        ax.set(**{f"{name}lim": (low - air, high + air), f"{name}label": axis.label(problem)})
    style.plain_ticks(ax)
    if len(ends):
        whole: style.Figure = ax.figure.figure  # of a figure: itself
        whole.draw_without_rendering()  # so that the axes have their size when densities are binned
        draw_density(ax, *(axis.values(problem, ends) for axis in panel), label=SAMPLES)
    for i, (v, label) in enumerate(answers):
        colour = _COLOURS[i % len(_COLOURS)]
        inside: style.Look = {"markerfacecolor": colour, "markeredgecolor": "white", "markeredgewidth": 0.6}
        outside: style.Look = {"markerfacecolor": "white", "markeredgecolor": colour, "markeredgewidth": 1.3}
        look = outside if label.endswith("(outside)") else inside
        at = [axis.values(problem, v[None]) for axis in panel]
        shape: style.Look = {"marker": _MARKS[i % len(_MARKS)], "linestyle": "none", "markersize": 6.5}
        ax.plot(*at, **shape, **look, label=label, zorder=4.5, clip_on=False)
    if any(axis.component == "n" and one.min() < 0.0 for axis, one in zip(panel, values, strict=True)):
        mark_approach(ax, panel)
    else:
        style.zero_lines(ax)
