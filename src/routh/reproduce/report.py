"""The report: one page with every picture inside, and every published number beside ours."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path

import routh
from routh.reproduce.base import Row, Settings
from routh.reproduce.runner import Finished
from routh.reproduce.table import counted, statements
from routh.storage import write_text
from routh.text import for_html
from routh.viz import pages

QUICK = (
    "quick: fewer samples, and of D19 no E = 1e11 in its tables, no h = 1e-8 in Fig. 6 and no stacks above "
    "20 spheres in Fig. 10"
)
LEAST_DIGITS, MOST_DIGITS = 4, 7  # of numbers in tables


def write_report(path: Path, results: Sequence[Finished], figures: Path, settings: Settings) -> Path:
    """Write the page; pictures are read from the folder ``figures`` and put inside."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lead = (
        f'<p class="lead">Every figure and number below was computed by <b>routh {routh.__version__}</b>, '
        "not copied: beside each published number stand ours, the difference and, where they differ, why.</p>"
    )
    sections = [_section(result, figures) for result in results]
    body = [lead, _meta(results, settings), *_said(), _contents(results), *sections]
    return write_text(path, pages.page("The published results, reproduced", body))


def _meta(results: Sequence[Finished], settings: Settings) -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "llvmlite"))
    seconds = sum(result.seconds for result in results)
    mode = QUICK if settings.quick else "full"
    lines = [
        f"{datetime.now():%Y-%m-%d %H:%M} · {mode} · seed {settings.seed} · device {settings.device}",
        f"{_processor()} · {os.cpu_count()} cores · Python {platform.python_version()} · {packages}",
        f"{len(results)} exhibits, {seconds:.0f} s of computing",
    ]
    reused = sum(result.reused for result in results)
    if reused:
        lines.append(f"{reused} of them were computed by an earlier run of the same code into this folder")
    return '<p class="meta">' + "<br>".join(for_html(line) for line in lines) + "</p>"


def _said() -> list[str]:
    """The table of all statements of the papers, with verdicts."""
    parts = ["<h2>Every statement, with its verdict</h2>"]
    for paper, said in statements().items():
        rows = [(one.where, one.says, str(one.verdict), one.by, one.because) for one in said]
        parts.append(f"<p>{paper}: {counted(said)}.</p>")
        parts.append(pages.table(("where", "statement", "verdict", "shown by", "why"), rows, numbers=()))
    return parts


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
    words = f"{result.source}: {result.title}"
    parts += [pages.picture((figures / f"{stem}.png").read_bytes(), words) for stem in result.figures]
    if result.rows:
        parts.append(_table(result.rows))
    return "\n".join([*parts, "</section>"])


def _table(rows: Sequence[Row]) -> str:
    head = ("quantity", "paper", "ours", "difference", "why")
    return pages.table(head, [(row.quantity, *cells(row), row.why) for row in rows], numbers=(1, 2, 3))


def cells(row: Row) -> tuple[str, str, str]:
    """The paper's number, ours and the difference, with the digits that tell them apart."""
    return _number(row.paper, row.ours), _number(row.ours, row.paper), difference(row)


def _number(value: float | str | None, other: float | str | None = None) -> str:
    """As printed with at most MOST_DIGITS; else with so many that it reads as no whole one, as no other."""
    if value is None or isinstance(value, str):
        return "–" if value is None else value
    if isinstance(value, int) or not math.isfinite(value):
        return str(value)
    whole = f"{value:.{MOST_DIGITS}g}"
    if float(whole) == value:
        return whole
    for digits in range(LEAST_DIGITS, MOST_DIGITS):
        text = f"{value:.{digits}g}"
        near = isinstance(other, float | int) and f"{other:.{digits}g}" == text
        if not (near or float(text) == round(float(text))):
            return text
    return whole


def difference(row: Row) -> str:
    """Ours less the paper's, also relative; "as printed" where only the paper's rounding differs."""
    if row.paper is None:
        return "–"
    if isinstance(row.paper, str) or isinstance(row.ours, str):
        return "same" if row.paper == row.ours else ""
    if row.paper == row.ours:
        return "0"
    change = float(row.ours) - float(row.paper)
    if not math.isfinite(change):
        return "not a number"
    if _number(row.paper, row.ours) == _number(row.ours, row.paper):
        return "same"
    if _as_printed(row.paper, float(row.ours)):
        return "as printed"
    relative = f" ({100.0 * change / abs(row.paper):+.3g} %)" if row.paper else ""
    return f"{change:+.2g}{relative}"


def _as_printed(paper: float, ours: float) -> bool:
    """Whether ours, rounded to the digits that the paper prints, is the paper's; whole numbers are exact."""
    digits = Decimal(repr(float(paper))).as_tuple().exponent
    if float(paper).is_integer() or not isinstance(digits, int):
        return False
    return float(round(Decimal(repr(ours)), -digits)) == float(paper)


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
