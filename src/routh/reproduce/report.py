"""The report: one page with every picture inside, and every published number beside ours."""

from __future__ import annotations

import base64
import math
import os
import platform
from collections.abc import Sequence
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import routh
from routh.reproduce.base import Row, Settings
from routh.reproduce.runner import Finished
from routh.storage import write_text
from routh.text import for_html

_STYLE = """
:root { color-scheme: light; --ink: #1b1f24; --soft: #5d6873; --line: #dfe3e8; --blue: #0072b2; }
body { font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; color: var(--ink);
  max-width: 62rem; margin: 0 auto; padding: 2rem 1.25rem 6rem; background: #fff; }
h1 { font-size: 1.9rem; margin: 0 0 .25rem; } h2 { font-size: 1.25rem; margin: 0; }
.lead, .meta { color: var(--soft); } .meta { font-size: .85rem; }
nav { columns: 2 20rem; font-size: .92rem; border: 1px solid var(--line); border-radius: 8px;
  padding: .8rem 1.2rem; margin: 1.5rem 0; } nav a { display: block; break-inside: avoid; }
a { color: var(--blue); text-decoration: none; } a:hover { text-decoration: underline; }
section { border-top: 1px solid var(--line); padding-top: 1.6rem; margin-top: 2.2rem; }
img { max-width: 100%; height: auto; display: block; margin: 1rem auto; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; margin: 1rem 0; }
th { text-align: left; border-bottom: 2px solid var(--line); font-weight: 600; }
th, td { padding: .35rem .6rem .35rem 0; vertical-align: top; } td { border-bottom: 1px solid var(--line); }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.why { color: var(--soft); }
.flag { border-left: 4px solid #d55e00; padding: .4rem .8rem; background: #fdf3ec; }
"""


def write_report(path: Path, results: Sequence[Finished], figures: Path, settings: Settings) -> Path:
    """Write the page; pictures are read from the folder ``figures`` and put inside."""
    path.parent.mkdir(parents=True, exist_ok=True)
    body = "\n".join(_section(result, figures) for result in results)
    page = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>routh: the published results, reproduced</title><style>{_STYLE}</style></head><body>
<h1>The published results, reproduced</h1>
<p class="lead">Every figure and number below was computed by <b>routh {routh.__version__}</b>, not copied:
beside each published number stand ours, the difference and, where they differ, why.</p>
{_meta(results, settings)}
{_contents(results)}
{body}
</body></html>
"""
    return write_text(path, page)


def _meta(results: Sequence[Finished], settings: Settings) -> str:
    packages = ", ".join(
        f"{name} {found}" for name in ("numpy", "scipy", "numba") if (found := _version(name))
    )
    seconds = sum(result.seconds for result in results)
    mode = "quick (fewer samples)" if settings.quick else "full"
    lines = [
        f"{datetime.now():%Y-%m-%d %H:%M} · {mode} · seed {settings.seed} · device {settings.device}",
        f"{_processor()} · {os.cpu_count()} cores · Python {platform.python_version()} · {packages}",
        f"{len(results)} exhibits, {seconds:.0f} s of computing",
    ]
    reused = sum(result.reused for result in results)
    if reused:
        lines.append(f"{reused} of them were computed by an earlier run of the same code into this folder")
    return '<p class="meta">' + "<br>".join(for_html(line) for line in lines) + "</p>"


def _contents(results: Sequence[Finished]) -> str:
    links = "".join(
        f'<a href="#{result.name}">{for_html(result.source)}: {for_html(result.title)}'
        f"{'' if result.status == 'done' else ' (' + result.status + ')'}</a>"
        for result in results
    )
    return f"<nav>{links}</nav>"


def _section(result: Finished, figures: Path) -> str:
    parts = [
        f'<section id="{result.name}"><h2>{for_html(result.title)}</h2>',
        f'<p class="meta">{for_html(result.source)} · {result.name} · {result.seconds:.1f} s</p>',
    ]
    if result.status != "done":
        parts.append(f'<p class="flag">{result.status}: {for_html(result.error)}</p>')
    if result.text:
        parts += [f"<p>{for_html(block)}</p>" for block in result.text.split("\n\n")]
    parts += [_image(figures / f"{stem}.png", result) for stem in result.figures]
    if result.rows:
        parts.append(_table(result.rows))
    return "\n".join([*parts, "</section>"])


def _image(path: Path, result: Finished) -> str:
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    words = for_html(f"{result.source}: {result.title}")
    return f'<img alt="{words}" src="data:image/png;base64,{data}">'


def _table(rows: Sequence[Row]) -> str:
    head = (
        '<tr><th>quantity</th><th class="n">paper</th><th class="n">ours</th><th class="n">difference</th>'
        "<th>why</th></tr>"
    )
    cells = "".join(
        f'<tr><td>{for_html(row.quantity)}</td><td class="n">{_number(row.paper)}</td>'
        f'<td class="n">{_number(row.ours)}</td><td class="n">{difference(row)}</td>'
        f'<td class="why">{for_html(row.why)}</td></tr>'
        for row in rows
    )
    return f'<div class="scroll"><table>{head}{cells}</table></div>'


def _number(value: float | str | None) -> str:
    if value is None:
        return "–"
    if isinstance(value, str):
        return for_html(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) or (math.isfinite(value) and value == round(value) and abs(value) < 1e6):
        return f"{value:g}" if abs(value) < 1e6 else f"{int(value)}"
    return f"{value:.4g}"


def difference(row: Row) -> str:
    """Ours less the paper's, with the relative difference; "same" where they agree as printed."""
    if row.paper is None:
        return "–"
    if isinstance(row.paper, str) or isinstance(row.ours, str):
        return "same" if row.paper == row.ours else ""
    if row.paper == row.ours:
        return "0"
    change = float(row.ours) - float(row.paper)
    if not math.isfinite(change):
        return "not a number"
    relative = f" ({100.0 * change / abs(row.paper):+.3g} %)" if row.paper else ""
    return f"{change:+.2g}{relative}"


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
