"""Runs exhibits, keeps what they produced in a folder, and goes on where an earlier run stopped."""

from __future__ import annotations

import hashlib
import importlib
import json
import pkgutil
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from difflib import get_close_matches
from pathlib import Path

import routh
from routh.reproduce.base import Entry, Exhibit, Row, Settings, entries
from routh.status import MissingExtraError
from routh.storage import write_text

_INFRASTRUCTURE = {"base", "runner", "report", "table"}
_ORDER = ("hp23", "hp19", "jw17", "d19")  # papers first, in this order; then whatever else there is


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
    package = importlib.import_module("routh.reproduce")
    names = {module.name for module in pkgutil.iter_modules(package.__path__)} - _INFRASTRUCTURE
    for name in sorted(names):
        importlib.import_module(f"routh.reproduce.{name}")
    return sorted(entries(), key=_place)


def _place(entry: Entry) -> tuple[int, list[str]]:
    """The paper's rank, and the name's words with numbers that sort fig-9 before fig-10."""
    words = entry.name.split("-")
    rank = _ORDER.index(words[0]) if words[0] in _ORDER else len(_ORDER)
    return rank, [f"{int(word):06d}" if word.isdigit() else word for word in words]


def choose(found: Sequence[Entry], only: Sequence[str]) -> list[Entry]:
    """The exhibits called one of ``only``, or whose names begin with its words; all where it is empty."""

    def matches(entry: Entry, wanted: str) -> bool:
        return entry.name == wanted or entry.name.startswith(f"{wanted}-")

    for wanted in only:
        if not any(matches(entry, wanted) for entry in found):
            near = get_close_matches(wanted, [entry.name for entry in found], n=1, cutoff=0.5)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"--only: there is no exhibit {wanted!r}{hint} (see routh reproduce --list)")
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
    """Of the settings and of every source file: results of other code are not taken for ours."""
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
        stems = _save_figures(made, out)
    except MissingExtraError as error:
        return replace(result, status="skipped", error=str(error))
    except Exception as error:  # the report says which exhibit failed, and the others are still made
        place = traceback.format_exception_only(error)[-1].strip()
        return replace(result, status="failed", error=place, seconds=time.perf_counter() - start)
    seconds = time.perf_counter() - start
    return replace(result, rows=tuple(made.rows), text=made.text, figures=stems, seconds=seconds)


def _save_figures(made: Exhibit, out: Path) -> tuple[str, ...]:
    from routh.viz import style

    for stem, figure in made.figures.items():
        for suffix in ("png", "pdf"):
            style.save(figure, out / "figures" / f"{stem}.{suffix}")
        style.close(figure)
    return tuple(made.figures)


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
        data = json.loads(path.read_text())
        if data["key"] != key or data["status"] != "done":
            return None
        rows, figures, seconds = (
            tuple(Row(**row) for row in data["rows"]),
            tuple(data["figures"]),
            data["seconds"],
        )
        named = all(
            Path(stem).name == stem and (out / "figures" / f"{stem}.png").exists() for stem in figures
        )
        made = Finished(entry.name, entry.title, entry.source, "done", rows, str(data["text"]), figures)
        return replace(made, seconds=float(seconds), reused=True) if named else None
    except (
        OSError,
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
    ):  # missing, or not what `_write` wrote
        return None
