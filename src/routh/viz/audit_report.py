"""The audit of a rollout as one HTML page with its pictures inside."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from routh.auditing.rollout import CaughtImpact, RolloutAudit
from routh.storage import write_text
from routh.text import for_html as escape
from routh.viz import style
from routh.viz.robots import draw_audit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SHOWN = 6  # impacts with a picture of their own: the farthest from their sets

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; color: #222;
  max-width: 60rem; margin: 2rem auto; padding: 0 1rem }}
table {{ border-collapse: collapse; width: 100%; font-size: 13px }}
td, th {{ text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #ddd; vertical-align: top }}
td.number, th.number {{ text-align: right; font-variant-numeric: tabular-nums }}
tr.broken td {{ background: #fbeae5 }}
img {{ max-width: 100%; height: auto }}
.pairs {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(24rem, 1fr)); gap: 0 1.5rem }}
figure {{ margin: 1.5rem 0 }} figcaption {{ color: #555; font-size: 13px }}
</style></head><body>
<h1>{title}</h1>
{body}
</body></html>
"""


def write_report(found: RolloutAudit, path: str | Path) -> Path:
    """Write the page; returns its path. It needs nothing from elsewhere, and runs no scripts."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    return write_text(target, report_html(found))


def report_html(found: RolloutAudit) -> str:
    """The page as text."""
    title = escape(f"Impacts of {found.model_name} in MuJoCo")
    parts = [_summary(found)]
    if found.impacts:
        parts.append(_figure(timeline_figure(found), "Distance of MuJoCo's outcome from the set, over time."))
        parts.append(_table(found))
        parts.append("<h2>The farthest</h2>")
        sections = [_impact_section(found, i) for i in np.argsort(-_finite(found.distances))[:_SHOWN]]
        parts.append(f'<div class="pairs">{"".join(sections)}</div>')
    return _PAGE.format(title=title, body="\n".join(parts))


@style.context()
def timeline_figure(found: RolloutAudit) -> Figure:
    """When impacts happened and how far MuJoCo's outcomes are from their sets."""
    fig, axes = style.figure(width=style.TWO_COLUMNS, height=2.2)
    ax = axes[0]
    distances = _finite(found.distances)
    times = np.array([impact.time for impact in found.impacts])
    broken = np.array([bool(impact.audit.broken) for impact in found.impacts])
    apart = np.array([impact.audit.resolution for impact in found.impacts])
    for chosen, color, marker, label in (
        (~broken, style.SET, "o", "no law broken"),
        (broken, style.VERMILION, "X", "a law broken"),
    ):
        if chosen.any():
            ax.plot(times[chosen], distances[chosen], marker, color=color, label=label)
    ax.plot(times, apart, "_", markersize=9, color=style.GREY, label="distance between samples")
    ax.set_xlim(0.0, found.duration)
    ax.set_ylim(0.0, 1.15 * max(float(distances.max()), float(apart.max()), 1e-3))
    ax.set_xlabel("time, s")
    ax.set_ylabel("distance / speed before")
    ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3)
    return fig


@style.context()
def impact_figure(impact: CaughtImpact) -> Figure:
    """One impact's set of outcomes with MuJoCo's."""
    fig, axes = style.figure(width=style.COLUMN, aspect=0.85)
    draw_audit(impact.audit, axes[0], name="MuJoCo's")
    axes[0].legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3)
    return fig


def _summary(found: RolloutAudit) -> str:
    count, broken = len(found.impacts), sum(bool(i.audit.broken) for i in found.impacts)
    inside = sum(i.audit.inside for i in found.impacts)
    away = count - inside - broken
    lines = [
        f"<p>{found.duration:g} s of simulation at steps of {found.timestep:g} s: <b>{count}</b> impacts, "
        f"{inside} of them outcomes that rigid bodies can have, {broken} that break a law of impact, and "
        f"{away} that break none but lie away from the samples.</p>",
        "<p>For each impact the set of all outcomes was sampled for rigid bodies with Coulomb friction; "
        "distances are in the kinetic-energy norm, as a share of the speed before. MuJoCo's contacts are "
        "soft, so some distance is expected.</p>",
    ]
    if found.impacts:
        distances = _finite(found.distances)
        lines.append(f"<p>Distance: median {np.median(distances):.3g}, largest {distances.max():.3g}.</p>")
    if found.skipped:
        lines.append(f"<p>{found.skipped} further impacts were not audited.</p>")
    if found.refused:
        items = "".join(f"<li>{escape(text)}</li>" for text in found.refused)
        lines.append(f"<p>Not audited, because the state cannot be:</p><ul>{items}</ul>")
    if found.unrepresented:
        items = "".join(f"<li>{escape(text)}</li>" for text in found.unrepresented)
        lines.append(f"<p>Not represented in the sets:</p><ul>{items}</ul>")
    return "\n".join(lines)


def _table(found: RolloutAudit) -> str:
    rows = []
    for i, impact in enumerate(found.impacts):
        audit = impact.audit
        cells = [
            f'<td class="number">{i + 1}</td>',
            f'<td class="number">{impact.time:.3f}</td>',
            f'<td class="number">{1e3 * impact.duration:.0f}</td>',
            f'<td class="number">{impact.problem.nc}</td>',
            f'<td class="number">{audit.outcomes.ambiguity:.3g}</td>',
            f'<td class="number">{audit.distance:.3g}</td>',
            f"<td>{escape(audit.verdict)}</td>",
        ]
        rows.append(f"<tr{' class=broken' if audit.broken else ''}>{''.join(cells)}</tr>")
    names = ("", "time, s", "took, ms", "contacts", "ambiguity", "distance")
    head = "".join(f'<th class="number">{name}</th>' for name in names) + "<th>MuJoCo's outcome</th>"
    return f"<h2>Every impact</h2><table><tr>{head}</tr>{''.join(rows)}</table>"


def _impact_section(found: RolloutAudit, index: int) -> str:
    impact = found.impacts[index]
    names = escape(", ".join(impact.problem.names))
    text = (
        f"<b>Impact {index + 1}</b> at {impact.time:.3f} s: MuJoCo's outcome {escape(impact.audit.verdict)}. "
        f"Contacts: {names}."
    )
    return _figure(impact_figure(impact), text)


def _figure(fig: Figure, caption: str) -> str:
    data = b64encode(style.png(fig)).decode()
    style.close(fig)
    return (
        f'<figure><img alt="" src="data:image/png;base64,{data}"><figcaption>{caption}</figcaption></figure>'
    )


def _finite(distances: np.ndarray) -> np.ndarray:
    """Distances with 2, the largest that energy allows, in place of the infinite ones of empty sets."""
    return np.where(np.isfinite(distances), distances, 2.0)
