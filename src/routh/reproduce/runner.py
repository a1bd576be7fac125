"""Runs exhibits, keeps what they produced in a folder, and reports on them.

`run` makes each exhibit and goes on where an earlier run stopped. `write_report` puts everything on one page:
every statement with its verdict of record, every picture, and every published number beside ours.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import math
import os
import pkgutil
import platform
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path

import routh
from routh.base.status import MissingExtraError, no_such
from routh.base.storage import write_text
from routh.base.text import for_html
from routh.reproduce.base import Entry, Row, Settings, entries
from routh.reproduce.verdicts import PAPERS, counted, statements
from routh.viz import pages, style

QUICK = (
    "quick: fewer samples, every fifth point of HP23 Fig. 12, and of D19 no E = 1e11 in its tables, "
    "no h = 1e-4 in Fig. 4, no h = 1e-8 in Fig. 6 and no stacks above 20 spheres in Fig. 10"
)
LEAST_DIGITS, MOST_DIGITS = 4, 7  # of numbers in tables


@dataclass(frozen=True)
class Finished:
    """What one exhibit left in the folder."""

    name: str
    title: str
    source: str
    status: str  # "done", "skipped" (a package is missing) or "failed"
    rows: tuple[Row, ...] = ()
    text: str = ""
    figures: tuple[str, ...] = ()  # file stems in the folder "figures"
    seconds: float = 0.0
    error: str = ""
    reused: bool = False


def load() -> list[Entry]:
    """All exhibits of all modules of this package, the papers in order."""
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        importlib.import_module(f"routh.reproduce.{module.name}")
    return sorted(entries(), key=_place)


def _place(entry: Entry) -> tuple[int, list[str]]:
    """The paper's rank, and the name's words with numbers that sort fig-9 before fig-10."""
    words = entry.name.split("-")
    paper = words[0].upper()
    rank = PAPERS.index(paper) if paper in PAPERS else len(PAPERS)
    return rank, [f"{int(word):06d}" if word.isdigit() else word for word in words]


def choose(found: Sequence[Entry], only: Sequence[str]) -> list[Entry]:
    """The exhibits called one of ``only``, or whose names begin with its words; all where it is empty."""

    def matches(entry: Entry, wanted: str) -> bool:
        return entry.name == wanted or entry.name.startswith(f"{wanted}-")

    for wanted in only:
        if not any(matches(entry, wanted) for entry in found):
            raise no_such("--only", wanted, [entry.name for entry in found])
    return [entry for entry in found if not only or any(matches(entry, wanted) for wanted in only)]


def run(
    chosen: Sequence[Entry],
    out: Path,
    settings: Settings,
    *,
    fresh: bool = False,
    announce: Callable[[str], None] = lambda name: None,
) -> Iterator[Finished]:
    """Make each exhibit, or take it from the folder where it was made by the same code and settings."""
    key = fingerprint(settings)
    for entry in chosen:
        announce(entry.name)
        kept = None if fresh else _read(out, entry, key)
        result = kept if kept is not None else _make(entry, out, settings)
        if kept is None:
            _write(out, result, key)
        yield result


def fingerprint(settings: Settings) -> str:
    """Fingerprint of the settings and of every source file: results of other code are not taken for ours."""
    digest = hashlib.sha256(json.dumps(asdict(settings), sort_keys=True).encode())
    root = Path(routh.__file__).parent
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _make(entry: Entry, out: Path, settings: Settings) -> Finished:
    result = Finished(entry.name, entry.title, entry.source, "done")
    start = time.perf_counter()
    try:
        made = entry.make(settings)
        for stem, figure in made.figures.items():
            for suffix in ("png", "pdf"):
                style.save(figure, out / "figures" / f"{stem}.{suffix}")
            style.close(figure)
    except MissingExtraError as error:
        return replace(result, status="skipped", error=str(error))
    except Exception as error:  # the report says which exhibit failed, and the others are still made
        place = traceback.format_exception_only(error)[-1].strip()
        return replace(result, status="failed", error=place, seconds=time.perf_counter() - start)
    seconds = time.perf_counter() - start
    stems = tuple(made.figures)
    return replace(result, rows=tuple(made.rows), text=made.text, figures=stems, seconds=seconds)


def _data_file(out: Path, name: str) -> Path:
    return out / "data" / f"{name}.json"


def _write(out: Path, result: Finished, key: str) -> None:
    """Keep a result for the next run."""
    path = _data_file(out, result.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    data = {"key": key, **asdict(result)}
    write_text(path, json.dumps(data, indent=1, default=lambda value: value.item()))  # NumPy's numbers


def _read(out: Path, entry: Entry, key: str) -> Finished | None:
    path = _data_file(out, entry.name)
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["key"] != key or data["status"] != "done":
            return None
        rows, stems = tuple(Row(**row) for row in data["rows"]), tuple(data["figures"])
        if not all(Path(stem).name == stem and (out / "figures" / f"{stem}.png").exists() for stem in stems):
            return None
        made = Finished(entry.name, entry.title, entry.source, "done", rows, str(data["text"]), stems)
        return replace(made, seconds=float(data["seconds"]), reused=True)
    except (OSError, ValueError, TypeError, LookupError, AttributeError):
        return None  # missing, or not what `_write` wrote


def write_report(path: Path, results: Sequence[Finished], figures: Path, settings: Settings) -> Path:
    """Write the page; pictures are read from the folder ``figures`` and put inside."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lead = (
        f'<p class="lead">Every figure and number below was computed by <b>routh {routh.__version__}</b>, '
        "not copied: beside each published number stand ours, the difference and, where they differ, why.</p>"
    )
    body = [lead, _meta(results, settings), "<h2>Every statement, with its verdict</h2>"]
    for paper, said in statements().items():
        rows = [
            (one.where, one.says, str(one.verdict), one.rests_on, one.check, one.see, one.because)
            for one in said
        ]
        body.append(f"<p>{paper}: {counted(said)}.</p>")
        head = ("where", "statement", "verdict", "rests on", "computed by", "shown in", "why")
        body.append(pages.table(head, rows, numbers=()))
    links = "".join(
        f'<a href="#{result.name}">{for_html(result.source)}: {for_html(result.title)}'
        f"{'' if result.status == 'done' else ' (' + result.status + ')'}</a>"
        for result in results
    )
    body += [f"<nav>{links}</nav>", *(_section(result, figures) for result in results)]
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
        head = ("quantity", "paper", "ours", "difference", "why")
        rows = [(row.quantity, *cells(row), row.why) for row in result.rows]
        parts.append(pages.table(head, rows, numbers=(1, 2, 3)))
    return "\n".join([*parts, "</section>"])


def cells(row: Row) -> tuple[str, str, str]:
    """The paper's number, ours and the difference, with the digits that tell them apart."""
    return _number(row.paper, row.ours), _number(row.ours, row.paper), difference(row)


def _number(value: float | str | None, other: float | str | None = None) -> str:
    """Value with at most MOST_DIGITS; else with so many that it reads as no whole one, as no other."""
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
    """Our value less the paper's, also relative; "as printed" where only the paper's rounding differs."""
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
