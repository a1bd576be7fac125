"""Studies: a folder that holds what is computed, how far it is, and nothing that a kill could spoil.

`study` makes one and `open_study` finds it again; `Study.run` computes what is missing, which `watcher` shows
on a terminal or in a notebook; `Study.table` and `Study.export` make tables of it: xarray in memory, NetCDF
and CSV for others. SciPy, which is installed anyway, writes NetCDF in its classic format, which everything
reads; Zarr would bring a package and a folder of files for the same numbers.
"""

from __future__ import annotations

import json
import logging
import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar

from routh.auditing.scans import grid
from routh.base.progress import bar, change, in_notebook, show
from routh.base.results import Drawable
from routh.base.status import InputError, optional
from routh.base.storage import replacing
from routh.base.text import for_html, for_terminal
from routh.base.validation import Array, deadline_of, integer, real
from routh.problem.impact import ImpactProblem
from routh.sweep import chunks as store
from routh.sweep.chunks import Chunk
from routh.sweep.driver import Progress, chunk_size, computed, make_executor, status_name
from routh.sweep.manifest import NAME as MANIFEST
from routh.sweep.manifest import StudyPlan, check_same, identity, read_json, read_manifest, write_once
from routh.sweep.measures import Measure, ambiguity
from routh.sweep.recipes import OWN, Recipe, name_of, recipe

if TYPE_CHECKING:
    import xarray
    from distributed import Client

    from routh.sweep.driver import Executor

LOG = logging.getLogger("routh.sweep")
_CHUNKS = "chunks.json"


@dataclass(frozen=True)
class RunReport:
    """What a run did."""

    computed: int  # points
    stored_before: int  # points
    mended: int  # chunks that could not be read and were computed again
    statuses: dict[str, int]  # of the points computed in this run
    seconds: float


@dataclass(frozen=True, eq=False)
class Study(Drawable):
    """A study in a folder; see `study` and `open_study`."""

    folder: Path
    plan: StudyPlan
    given: frozenset[str] = frozenset()  # functions that the caller named, beside routh's own

    def run(
        self,
        executor: str | Executor | Client = "local",
        *,
        workers: int | None = None,
        chunk_seconds: float = 1.0,
        progress: bool | Callable[[Progress], None] | None = None,
        budget: float | None = None,
    ) -> RunReport:
        """Compute what is missing. Ctrl-C, a kill or a crash loses at most the chunks under way.

        Parameters
        ----------
        executor : "local" (processes of this machine), "here" (this process), a Dask scheduler's address
            ("tcp://...") or a Dask client.
        workers : processes of "local"; all cores by default.
        chunk_seconds : how long a chunk should take, s; measured in the first run and kept from then on.
        progress : True, False, a function of `Progress`, or None: on terminals and in notebooks.
        budget : seconds after which no further chunk is waited for; the rest is PENDING, for another run.
        """
        deadline = deadline_of(budget)
        real("chunk_seconds", chunk_seconds, above=0.0)
        if workers is not None:
            integer("workers", workers, at_least=1)
        self._refuse_strangers()
        data = self.plan.as_data()
        check_same(self.folder, data)
        data["digest"] = self._identity
        missing, mended = self._missing()
        if missing is not None and not missing:
            return RunReport(0, len(self.plan.grid), mended, {}, 0.0)
        machine = make_executor(executor, workers)
        try:
            if missing is None:
                size = chunk_size(data, len(self.plan.grid), machine, chunk_seconds)
                write_once(self.folder / _CHUNKS, json.dumps({"size": size}).encode())
                missing, mended = self._missing()
            stored = len(self.plan.grid) - sum(map(len, missing or []))
            state = Progress(len(self.plan.grid), done=stored, before=stored)
            with watcher(progress, getattr(machine, "dashboard", None)) as tell:
                for chunk, result in computed(data, self.plan, missing or [], machine):
                    store.write(self._path(chunk), chunk, result)
                    state.count(result)
                    tell(state)
                    if time.monotonic() >= deadline:
                        break
        finally:
            machine.close()
        return RunReport(state.done - state.before, state.before, mended, dict(state.statuses), state.elapsed)

    def table(self) -> xarray.Dataset:
        """Everything that is stored by now, on the grid's axes; NaN and status "PENDING" where nothing is.

        Holds no times, paths or names of machines: equal studies give equal tables.
        """
        xr = optional("xarray", "data")
        axes, columns = self.plan.grid.axes, self.columns()
        variables = {}
        for name, values in columns.items():
            further = [f"{name}_{k}" for k in range(values.ndim - len(axes))]
            variables[name] = ([*axes, *further], values)
        found: xarray.Dataset = xr.Dataset(variables, coords=dict(axes))
        codes = [int(code) for code in np.unique(columns["status"])]
        found["status"].attrs["meaning"] = ", ".join(f"{code} {status_name(code)}" for code in codes)
        found.attrs.update(problems=self.plan.problems.function, seed=self.plan.seed)
        return found

    def columns(self) -> dict[str, np.ndarray]:
        """The stored columns and "status" (int8), each with the grid's shape in front."""
        shape = self.plan.grid.shape
        found = self.plan.empty(len(self.plan.grid))
        found["status"] = np.full(len(self.plan.grid), store.PENDING, dtype=np.int8)
        for chunk, part in self._stored():
            for name, values in {**part.columns, "status": part.status}.items():
                found[name][chunk.start : chunk.stop] = values
        return {name: values.reshape(*shape, *values.shape[1:]) for name, values in found.items()}

    def messages(self) -> dict[int, str]:
        """What went wrong at points that failed, by row."""
        return {row: text for _, part in self._stored() for row, text in part.messages.items()}

    def status_counts(self) -> dict[str, int]:
        """How many points have which status by now."""
        codes, counts = np.unique(self.columns()["status"], return_counts=True)
        return {status_name(int(code)): int(count) for code, count in zip(codes, counts, strict=True)}

    def stored_points(self) -> int:
        """How many points are stored by now, by the number of files: none of them is read."""
        chunks = self._chunks or []
        if not chunks or not (folder := self._path(chunks[0]).parent).is_dir():
            return 0
        files = sum(name.endswith(".npz") for name in os.listdir(folder))
        shorter = len(chunks[0]) - len(chunks[-1]) if self._path(chunks[-1]).exists() else 0
        return files * len(chunks[0]) - shorter

    def export(self, path: str | Path) -> Path:
        """Write the table as CSV or NetCDF, by the suffix ``.csv`` or ``.nc``."""
        target = Path(path)
        if target.suffix not in (".csv", ".nc"):
            raise InputError("path", got=repr(os.fspath(path)), wanted="a name that ends in .csv or .nc")
        table = self.table()
        with replacing(target) as file:
            if target.suffix == ".nc":
                file.write(bytes(table.to_netcdf(engine="scipy", format="NETCDF3_64BIT")))
            else:
                _write_csv(table, file)
        return target

    def _refuse_strangers(self) -> None:
        """A folder is data: what it names is called only if it is routh's own, or the caller named it too."""
        strangers = sorted(self.plan.functions() - OWN - self.given)
        if strangers:
            raise InputError(
                "folder",
                wrong=(
                    f"{for_terminal(self.folder)} names {for_terminal(strangers[0])!r}, which is "
                    "not routh's own, and a folder does not decide what runs; give the function "
                    "again: routh.sweep.open_study(folder, functions=[...]), or the call that made "
                    "the study"
                ),
            )

    @cached_property
    def _identity(self) -> str:
        return identity(read_manifest(self.folder))

    @property
    def _chunks(self) -> list[Chunk] | None:
        """All chunks, once their size has been settled."""
        found = read_json(self.folder / _CHUNKS)
        if not isinstance(found, dict) or not isinstance(found.get("size"), int) or found["size"] < 1:
            return None
        return store.chunks_of(len(self.plan.grid), found["size"])

    def _missing(self) -> tuple[list[Chunk] | None, int]:
        """Chunks to compute, and how many of them were there but could not be read."""
        all_chunks = self._chunks
        if all_chunks is None:
            return None, 0
        missing, mended = [], 0
        for chunk in all_chunks:
            try:
                part = store.read(self._path(chunk), chunk, self.plan)
            except ValueError as error:
                LOG.warning("%s: computed again", error)
                part, mended = None, mended + 1
            if part is None:
                missing.append(chunk)
        return missing, mended

    def _stored(self) -> Iterator[tuple[Chunk, store.Computed]]:
        """Chunks that can be read; the next run computes the others again."""
        for chunk in self._chunks or []:
            with suppress(ValueError):
                part = store.read(self._path(chunk), chunk, self.plan)
                if part is not None:
                    yield chunk, part

    def _path(self, chunk: Chunk) -> Path:
        return store.path_of(self.folder, self._identity, chunk)

    def __repr__(self) -> str:
        axes = " x ".join(
            f"{for_terminal(name)} ({len(values)})" for name, values in self.plan.grid.axes.items()
        )
        return f"Study({str(self.folder)!r}, {axes})"


def study(
    folder: str | Path,
    *,
    problems: Callable[..., ImpactProblem | None] | str | Recipe,
    over: Mapping[str, Sequence[float] | Array],
    measure: Sequence[Measure] | None = None,
    seed: int = 0,
) -> Study:
    """A study in ``folder``: made where it is new, checked where it exists.

    Parameters
    ----------
    folder : of the study.
    problems : an importable function, called with one keyword per name in ``over``; it returns the problem
        at that point, or None where nothing is hit. `recipe` adds arguments that are the same everywhere.
    over : name -> values; the grid is their product.
    measure : what to compute at each point; by default ``[ambiguity()]``.
    seed : random numbers depend on it and on the row of a point in the whole grid, on nothing else.
    """
    measures = (ambiguity(),) if measure is None else tuple(measure)
    names = [name for item in measures for name in item.columns]
    if not measures or len(set(names)) < len(names) or "status" in names:
        raise InputError(
            "measure", got=f"the columns {names}", wanted="at least one, each once, none 'status'"
        )
    plan = StudyPlan(recipe(problems), grid(over), measures, integer("seed", seed, at_least=0))
    clash = set(plan.grid.axes) & set(plan.problems.arguments)
    if clash:
        raise InputError(
            "over", wrong=f"{sorted(clash)[0]!r} is already an argument of the recipe", wanted="it only once"
        )
    path, data = Path(folder), plan.as_data()
    path.mkdir(parents=True, exist_ok=True)
    if not write_once(path / MANIFEST, json.dumps(data, indent=1).encode()):
        check_same(path, data)
    return Study(path, plan, plan.functions())


def open_study(folder: str | Path, *, functions: Sequence[Callable[..., object] | str] = ()) -> Study:
    """The study of a folder, as it was made.

    A folder may come from somebody else, so it is data: reading it imports and calls nothing, and ``run``
    calls routh's own sources of problems and measures only. ``functions`` are those of your own that the
    study may call too, as they were given to `study`, `own` and `audits`.
    """
    path, given = Path(folder), frozenset(name_of(function) for function in functions)
    return Study(path, StudyPlan.from_data(read_manifest(path)), given)


@contextmanager
def watcher(
    wanted: bool | Callable[[Progress], None] | None, dashboard: str | None = None
) -> Iterator[Callable[[Progress], None]]:
    """A function to call with the state of the run."""
    if callable(wanted):
        yield wanted
        return
    if wanted is False or (wanted is None and not sys.stderr.isatty() and not in_notebook()):
        yield lambda state: None
        return
    if in_notebook():
        yield _notebook_line(dashboard)
        return
    drawn = Bar(
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TextColumn("{task.fields[pace]}"),
        console=Console(stderr=True),
    )
    if dashboard:
        drawn.console.print(f"Dask's dashboard: {dashboard}", highlight=False)
    with drawn:
        task = drawn.add_task("points", total=None, pace="")
        yield lambda state: drawn.update(task, total=state.total, completed=state.done, pace=sentence(state))


def _notebook_line(dashboard: str | None) -> Callable[[Progress], None]:
    """A bar that the cell shows and updates in place."""

    def page(state: Progress) -> str:
        link = f' <a href="{for_html(dashboard)}">dashboard</a>' if dashboard else ""
        return bar(state.done, state.total, "points", for_html(sentence(state)) + link)

    shown = show(page(Progress(total=0)))
    return lambda state: change(shown, page(state))


def sentence(state: Progress) -> str:
    """Rate, time left, and what did not go well."""
    left = "" if math.isinf(state.left) else f", {_clock(state.left)} left"
    odd = [f"{count} {name}" for name, count in sorted(state.statuses.items()) if name != "SOLVED"]
    return f"{state.rate:.0f}/s{left}" + (f" ({', '.join(odd)})" if odd else "")


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def _write_csv(table: xarray.Dataset, file: BinaryIO) -> None:
    """One row a point: the axes, then the columns; values that are arrays get a column each."""
    import pandas  # which xarray needs

    axes = [str(name) for name in table["status"].dims]
    shape = table["status"].shape
    flat: dict[str, np.ndarray] = {}
    for name, values in table.data_vars.items():
        rows = values.values.reshape(int(np.prod(shape)), -1)
        width = rows.shape[1]
        flat.update({f"{name}_{k}" if width > 1 else str(name): rows[:, k] for k in range(width)})
    places = pandas.MultiIndex.from_product([table[name].values for name in axes], names=axes)
    pandas.DataFrame(flat, index=places).to_csv(file, na_rep="nan")
