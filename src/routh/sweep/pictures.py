"""Studies as pictures and pages: what is stored by now, also while they run."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from routh.base.storage import write_text
from routh.base.text import for_html
from routh.sweep.studies import Study
from routh.viz import pages, style
from routh.viz.plots import drawn_by, plot
from routh.viz.robots import draw_map

_SHOWN = 20  # failures that a report lists


def draw_study(study: Study, ax: style.Axes) -> None:
    """The first column over one axis as a curve, over two as a heat map; of more axes the first two.

    Along further axes the largest value is shown. Points without a value stay grey.
    """
    grid = study.plan.grid
    name = next(iter(study.plan.measures[0].columns))
    values = study.columns()[name]
    values = values.reshape(*grid.shape, -1)
    axes = dict(list(grid.axes.items())[:2])
    shown = np.full(values.shape[: len(axes)], np.nan)
    flat = values.reshape(*shown.shape, -1)
    there = np.any(np.isfinite(flat), axis=-1)
    shown[there] = np.nanmax(flat[there], axis=-1)
    draw_map(ax, axes, shown, name)


plot.register(Study, drawn_by(draw_study, aspect=0.75))


def write_report(study: Study, path: str | Path) -> Path:
    """Write `report_html` to a file."""
    return write_text(path, report_html(study))


def report_html(study: Study) -> str:
    """One page: the plan, how far it is, statuses, failures and the picture."""
    counts = study.status_counts()
    failures = list(study.messages().items())
    figure, axes_of = style.figure(width=style.COLUMN, aspect=0.75)
    draw_study(study, axes_of[0])
    picture = pages.picture(style.png(figure), "the study as a picture")
    style.close(figure)
    plan, shown = study.plan, failures[:_SHOWN]
    axes = [(name, f"{at[0]:g} to {at[-1]:g}", len(at)) for name, at in plan.grid.axes.items()]
    failed = [(row, plan.grid.point(row), text) for row, text in shown]
    body = [
        f"<p>Problems: <code>{for_html(plan.problems.function)}</code>, seed {plan.seed}.</p>",
        "<h2>Axes</h2>" + pages.table(("name", "values", "count"), axes),
        "<h2>Points</h2>" + pages.table(("status", "points"), list(counts.items())),
        picture,
        f"<h2>Failures</h2><p>{len(failures)} points{', the first ones' if shown != failures else ''}.</p>",
        pages.table(("row", "point", "what was raised"), failed),
    ]
    return pages.page(f"Study {study.folder.name}", body)
