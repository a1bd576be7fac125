"""Studies as pictures and pages: what is stored by now, also while they run."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from routh.storage import write_text
from routh.sweep.studies import Study
from routh.text import for_html
from routh.viz import style
from routh.viz.plotting import figure_of, in_style, own_axes, plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SHOWN = 20  # failures that a report lists


@plot.register(Study)
@in_style
def _plot_study(study: Study, axes: Axes | None = None) -> Figure:
    return figure_of(draw_study(study, own_axes(axes, aspect=0.75)))


def draw_study(study: Study, axes: Axes | None = None) -> Axes:
    """The first column over one axis as a curve, over two as a heat map; of more axes the first two.

    Along further axes the largest value is shown. Points without a value stay grey.
    """
    ax = axes if axes is not None else style.figure(width=style.COLUMN, aspect=0.75)[1][0]
    grid = study.plan.grid
    name = next(iter(study.plan.measures[0].columns))
    values = study.columns()[name]
    values = values.reshape(*grid.shape, -1)
    names, places = list(grid.axes)[:2], list(grid.axes.values())[:2]
    shown = np.full(values.shape[: len(names)], np.nan)
    flat = values.reshape(*shown.shape, -1)
    there = np.any(np.isfinite(flat), axis=-1)
    shown[there] = np.nanmax(flat[there], axis=-1)
    ax.set_xlabel(names[0])
    if len(names) == 1:
        ax.plot(places[0], shown, color=style.SET, marker=".")
        ax.set_ylabel(name)
        return ax
    ax.set_facecolor(style.GROUND)
    image = ax.pcolormesh(
        places[0], places[1], np.ma.masked_invalid(shown.T), cmap="viridis", shading="nearest"
    )
    ax.set_ylabel(names[1])
    ax.figure.colorbar(image, ax=ax, label=name)
    return ax


def write_report(study: Study, path: str | Path) -> Path:
    """Write `report_html` to a file."""
    return write_text(path, report_html(study))


def report_html(study: Study) -> str:
    """One page: the plan, how far it is, statuses, failures and the picture."""
    counts = study.status_counts()
    failures = list(study.messages().items())
    figure, axes_of = style.figure(width=style.COLUMN, aspect=0.75)
    draw_study(study, axes_of[0])
    picture = base64.b64encode(style.png(figure)).decode()
    style.close(figure)
    axes = "".join(
        f"<tr><td>{for_html(name)}</td><td>{values[0]:g} to {values[-1]:g}</td><td>{len(values)}</td></tr>"
        for name, values in study.plan.grid.axes.items()
    )
    points = "".join(f"<tr><td>{name}</td><td>{count}</td></tr>" for name, count in counts.items())
    failed = "".join(
        f"<tr><td>{row}</td><td>{for_html(str(study.plan.grid.point(row)))}</td><td>{for_html(text)}</td></tr>"
        for row, text in failures[:_SHOWN]
    )
    source = for_html(study.plan.problems.function)
    title = for_html(f"Study {study.folder.name}")
    return f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>
<style>body{{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}}
table{{border-collapse:collapse}}td,th{{border:1px solid #ccc;padding:.2rem .6rem;text-align:left}}
img{{max-width:100%}}</style>
<h1>{title}</h1><p>Problems: <code>{source}</code>, seed {study.plan.seed}.</p>
<h2>Axes</h2><table><tr><th>name</th><th>values</th><th>count</th></tr>{axes}</table>
<h2>Points</h2><table><tr><th>status</th><th>points</th></tr>{points}</table>
<img alt="the study as a picture" src="data:image/png;base64,{picture}">
<h2>Failures</h2><p>{len(failures)} points{", the first ones" if len(failures) > _SHOWN else ""}.</p>
<table><tr><th>row</th><th>point</th><th>what was raised</th></tr>{failed}</table></html>
"""
