"""Reports as single HTML pages, which load nothing from elsewhere and run no scripts.

First the parts of any page, then the report on the audit of a rollout.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from routh.auditing.membership import IN, NOT_FOUND, OUTSIDE
from routh.auditing.rollout import RolloutAudit
from routh.base.storage import write_text
from routh.base.text import for_html
from routh.viz import style
from routh.viz.robots import draw_audit

_SHOWN = 6  # impacts with a picture of their own: the farthest from their sets


def page(title: str, body: Sequence[str]) -> str:
    """A whole page; the title is cleaned, the parts of the body are HTML."""
    name, look = for_html(title), Path(__file__).with_name("pages.css").read_text(encoding="utf-8")
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{name}</title><style>
{look}</style></head><body>
<h1>{name}</h1>
{chr(10).join(body)}
</body></html>
"""


def picture(png: bytes, words: str) -> str:
    """A PNG file inside the page; ``words``, which are cleaned, stand for it where it cannot be seen."""
    data = base64.b64encode(png).decode("ascii")
    return f'<img alt="{for_html(words)}" src="data:image/png;base64,{data}">'


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    numbers: Sequence[int] = (),
    marked: Sequence[int] = (),
) -> str:
    """A table whose cells are cleaned; columns of ``numbers`` stand right, ``marked`` rows stand out."""

    def line(cells: Sequence[object], kind: str) -> str:
        looks = [" class=n" if k in numbers else "" for k in range(len(cells))]
        return "".join(
            f"<{kind}{look}>{for_html(cell)}</{kind}>" for cell, look in zip(cells, looks, strict=True)
        )

    looks = [" class=broken" if k in marked else "" for k in range(len(rows))]
    body = "".join(f"<tr{look}>{line(row, 'td')}</tr>" for row, look in zip(rows, looks, strict=True))
    return f'<div class="scroll"><table><tr>{line(head, "th")}</tr>{body}</table></div>'


def write_report(found: RolloutAudit, path: str | Path) -> Path:
    """Write the page; returns its path."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    return write_text(target, report_html(found))


def report_html(found: RolloutAudit) -> str:
    """The page as text."""
    parts = [_summary(found)]
    if found.impacts:
        parts.append(_figure(timeline_figure(found), "Distance of MuJoCo's outcome from the set, over time."))
        head = ("", "time, s", "took, ms", "contacts", "ambiguity", "distance", "MuJoCo's outcome")
        rows = []
        for i, impact in enumerate(found.impacts):
            audit = impact.audit
            times = f"{impact.time:.3f}", f"{1e3 * impact.duration:.0f}"
            shares = f"{audit.outcomes.ambiguity:.3g}", f"{audit.distance:.3g}"
            rows.append((i + 1, *times, impact.problem.nc, *shares, audit.verdict))
        broken = [i for i, impact in enumerate(found.impacts) if impact.audit.broken]
        parts.append("<h2>Every impact</h2>" + table(head, rows, numbers=range(6), marked=broken))
        parts.append("<h2>The farthest</h2>")
        sections = [_impact_section(found, i) for i in np.argsort(-_finite(found.distances))[:_SHOWN]]
        parts.append(f'<div class="pairs">{"".join(sections)}</div>')
    return page(f"Impacts of {found.model_name} in MuJoCo", parts)


@style.context()
def timeline_figure(found: RolloutAudit) -> style.Figure:
    """Times of impacts, and distances of MuJoCo's outcomes from their sets."""
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
    highest = 1.15 * max(float(distances.max()), float(apart.max()), 1e-3)
    ax.set(xlim=(0.0, found.duration), ylim=(0.0, highest))
    ax.set(xlabel="time, s", ylabel="distance / speed before")
    ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3)
    return fig


def _summary(found: RolloutAudit) -> str:
    counts = Counter(impact.audit.word for impact in found.impacts)
    told = "; ".join(f"{counts[word]} {word}" for word in (IN, OUTSIDE, NOT_FOUND) if counts[word])
    lines = [
        f"<p>{found.duration:g} s of simulation at steps of {found.timestep:g} s: "
        f"<b>{len(found.impacts)}</b> impacts. Beside the set of all outcomes: {told or '-'}.</p>",
        "<p>For each impact the set of all outcomes was sampled for rigid bodies with Coulomb friction; "
        "distances are in the kinetic-energy norm, as a share of the speed before. MuJoCo's contacts are "
        "soft, so some distance is expected.</p>",
    ]
    if found.impacts:
        distances = _finite(found.distances)
        lines.append(f"<p>Distance: median {np.median(distances):.3g}, largest {distances.max():.3g}.</p>")
    if found.skipped:
        lines.append(f"<p>{found.skipped} further impacts were not audited.</p>")
    for what, texts in (
        ("Not audited, because the state is impossible", found.refused),
        ("Not represented in the sets", found.unrepresented),
    ):
        items = "".join(f"<li>{for_html(text)}</li>" for text in texts)
        lines += [f"<p>{what}:</p><ul>{items}</ul>"] if texts else []
    return "\n".join(lines)


def _impact_section(found: RolloutAudit, index: int) -> str:
    impact = found.impacts[index]
    text = (
        f"<b>Impact {index + 1}</b> at {impact.time:.3f} s: "
        f"MuJoCo's outcome: {for_html(impact.audit.verdict)}. "
        f"Contacts: {for_html(', '.join(impact.problem.names))}."
    )
    with style.context():
        fig, axes = style.figure(width=style.COLUMN, aspect=0.85)
        draw_audit(impact.audit, axes[0], name="MuJoCo's")
        axes[0].legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3)
    return _figure(fig, text)


def _figure(fig: style.Figure, caption: str) -> str:
    image = picture(style.png(fig), "")
    style.close(fig)
    return f"<figure>{image}<figcaption>{caption}</figcaption></figure>"


def _finite(distances: np.ndarray) -> np.ndarray:
    """Distances with 2, the largest that energy allows, in place of the infinite ones of empty sets."""
    return np.where(np.isfinite(distances), distances, 2.0)
