"""What every benchmark does alike: command lines, times, tables, intervals, processes.

Tables are Markdown in columns of equal width: readable in a terminal, and they go onto a page as they are.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import resource
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from routh.base.status import Status

T = TypeVar("T")
Task = TypeVar("Task")


# Command lines


def command_line(
    description: str | None, *parts: Callable[..., None], default: str | None = None
) -> argparse.ArgumentParser:
    """A parser that shows the text at the head of a benchmark, and knows its parts, which are functions."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=description, formatter_class=form)
    if parts:
        parser.set_defaults(parts={part.__name__: part for part in parts})
        few: dict[str, Any] = {} if default is None else {"nargs": "?", "default": default}
        parser.add_argument("part", choices=parser.get_default("parts"), **few)
    return parser


def run_part(parser: argparse.ArgumentParser) -> None:
    """Run the part that the command line names, with all that it says."""
    given = parser.parse_args()
    given.parts[given.part](given)


def machine() -> str:
    """When and where something is measured, and how busy it is there."""
    cores = len(os.sched_getaffinity(0))
    return f"{date.today()}, {platform.machine()}, {cores} cores, load {os.getloadavg()[0]:.1f}"


# Times and memory


def timed(
    work: Callable[..., T],
    *given: Any,
    repeats: int = 1,
    clock: Callable[[], float] = time.process_time,
    **options: Any,
) -> tuple[T, float]:
    """What ``work(*given, **options)`` gives, and the seconds of the quickest of some calls.

    Processor time of all threads, so that what else runs counts little, or by another clock.
    """
    least = np.inf
    for _ in range(repeats):
        begin = clock()
        found = work(*given, **options)
        least = min(least, clock() - begin)
    return found, float(least)


def command_seconds(command: Sequence[str], **options: Any) -> tuple[float, float]:
    """Processor time of a command and its children, and the time by the clock, s; NaN where it fails."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, **options)
    clock, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        return np.nan, np.nan
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, clock


def peak_memory(pid: int | str = "self") -> float:
    """The most that a process has held, MB; 0 where it has gone. (getrusage counts its parent's, too.)"""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    found = re.search(r"VmHWM:\s*(\d+)", status)
    return int(found[1]) * 1024 / 1e6 if found else 0.0


# Tables


class Table:
    """A table that is printed row by row, as its numbers come.

    ``columns``: head -> format of its numbers, which may begin with a width (".1e", "10d"); text stands on
    the left where the format begins with "<".
    """

    def __init__(self, columns: Mapping[str, str]) -> None:
        self._columns = []
        for head, form in columns.items():
            side, sign, width, kind = re.fullmatch(r"([<>]?)([+]?)(\d*)(.*)", form).groups()
            self._columns.append((side or ">", max(len(head), int(width or 7)), sign + kind))
        self._print(columns)
        print("|" + "|".join("-" * (width + 2) for _, width, _ in self._columns) + "|", flush=True)

    def row(self, *cells: Any) -> None:
        """Numbers in their columns' formats, words as they are, nothing for None."""
        kinds = [kind for _, _, kind in self._columns]
        self._print([_cell(value, kind) for value, kind in zip(cells, kinds, strict=True)])

    def _print(self, cells: Iterable[str]) -> None:
        shown = [f"{cell:{side}{width}}" for cell, (side, width, _) in zip(cells, self._columns, strict=True)]
        print(f"| {' | '.join(shown)} |", flush=True)


def _cell(value: Any, kind: str) -> str:
    if value is None or isinstance(value, (str, bool, np.bool_)):
        return "" if value is None else str(value)
    return format(value, kind)


def counted(counts: Mapping[str, int]) -> str:
    """ "3 SOLVED, 1 JAMMED", the most frequent first."""
    return ", ".join(f"{number} {name}" for name, number in Counter(counts).most_common())


def status_names(codes: Iterable[int]) -> Counter[str]:
    """How often each status occurs among codes."""
    return Counter(Status(int(code)).name for code in np.ravel(codes))


# Intervals


def interval(
    number: Callable[[np.ndarray], float], count: int, *, times: int = 2000, method: str = "linear"
) -> tuple[float, float]:
    """The middle 95 % of ``number(rows)`` over resampled rows of ``count`` (bootstrap).

    ``method`` of the quantiles: "nearest" for numbers that may be infinite.
    """
    drawn = np.random.default_rng(0).integers(count, size=(times, count))
    low, high = np.nanquantile([number(rows) for rows in drawn], [0.025, 0.975], method=method)
    return float(low), float(high)


def share_interval(hits: int, count: int) -> tuple[float, float]:
    """Clopper and Pearson's 95 % of a probability of which ``hits`` of ``count`` trials were seen."""
    from scipy.stats import beta

    low = float(beta.ppf(0.025, hits, count - hits + 1)) if hits else 0.0
    high = float(beta.ppf(0.975, hits + 1, count - hits)) if hits < count else 1.0
    return low, high


# Processes


def in_processes(
    work: Callable[[Task], T], tasks: Sequence[Task], processes: int, *, together: int = 1
) -> Iterator[T]:
    """``work(task)`` of each task, in their order; forked, so that what is compiled before is compiled."""
    if processes == 1 or len(tasks) < 2:
        yield from map(work, tasks)
        return
    with ProcessPoolExecutor(processes, mp_context=get_context("fork")) as pool:
        yield from pool.map(work, tasks, chunksize=together)
