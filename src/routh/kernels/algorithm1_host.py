"""Many samples of one impact by HP23's Algorithm 1: threads, slices, tables, and what is compiled when."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from routh.compiling import interpreted, is_ready
from routh.kernels.algorithm1 import PENDING, run_known, run_pivoted
from routh.kernels.arrays import Outputs, make_rows
from routh.kernels.cone import ConeDraw, run_cone_rows
from routh.kernels.slices import run_slices
from routh.kernels.step_arrays import Samples, Sampling, ScaledProblem, Table, Vertices
from routh.kernels.step_making import (
    empty_samples,
    make_pivoting,
    make_sampling,
    make_vectors,
    out_of_time,
    scaled_problem,
)
from routh.kernels.vertex_table import copy_table, empty_table, freeze
from routh.problem import ImpactProblem
from routh.validation import Array, choice, deadline_of, seconds_left

TABLE_PAYS = 1024  # samples; a table costs about as much as pivoting this many
GROWING = 1024  # samples that grow a table before one asks whether it has anything new; then twice as many
MOST_GROWING = 2**16
FEW_NEW = 0.001  # of the vertices known, for each thousand samples
FEW_VERTICES = 256  # whose links can be completed in plain Python
INTERPRETED = 2.0  # s of steps solved in plain Python before the step solver is compiled, which takes some 10
STEPS_AT_A_TIME = 64  # of one compiled call, so that no call takes long


def run(
    problem: ImpactProblem,
    n: int,
    *,
    step: Array,
    max_steps: int,
    seed: int,
    directions: Array,
    row: int = 0,
    points: Array | None = None,
    friction: str = "polyhedral",
    device: str = "cpu",
    threads: int | None = None,
    budget: float | None = None,
    tabled: bool | None = None,
) -> Samples:
    """Draw the samples 0 to ``n - 1`` of HP23's Algorithm 1.

    Parameters
    ----------
    step : (nc,) N s, the box that lambda_max is drawn from.
    row : the place of the problem in its batch.
    points : (n, steps * nc) numbers in (0, 1) for the first steps; beyond them the counter-based ones.
    friction : "polyhedral" with ``directions`` (k, nt), in the order of their angle, or "cone".
    device : "cpu" with ``threads`` threads (default: all), or "cuda".
    budget : seconds; samples that are not ended by then have Status.OUT_OF_TIME.
    tabled : whether a table of vertices is grown, which changes nothing but the time; default: where it pays.
    """
    choice("friction", friction, ("polyhedral", "cone"))
    choice("device", device, ("cpu", "cuda"))
    deadline = deadline_of(budget)
    scaled = scaled_problem(problem, directions)
    size = np.asarray(step, dtype=np.float64) / scaled.impulse
    given = np.empty((n, 0)) if points is None else np.ascontiguousarray(points).reshape(n, -1)
    sampling = make_sampling(problem, scaled, size, given, row=row, max_steps=max_steps, seed=seed)
    samples = empty_samples(problem, n)
    if friction == "cone" and problem.nt == 2:
        boxes = np.empty((0, problem.nc)) if np.array_equal(step, problem.scaling.impulse) else step[None]
        drawn = ConeDraw(n, row, np.uint64(seed), boxes, given, max_steps)
        _run_cone(problem, drawn, samples, device, threads, deadline)
    elif device == "cuda":
        from routh.kernels.cuda import run_on_gpu

        run_on_gpu(scaled, known_table(problem, scaled, sampling), sampling, samples)
    else:
        table = None
        if tabled or (tabled is None and n >= TABLE_PAYS):
            table = known_table(problem, scaled, sampling, samples, deadline)
        _run_polyhedral(scaled, table, sampling, samples, threads, deadline)
    out_of_time(samples)
    return samples


_run_interpreted = interpreted(run_pivoted)


class StepSolver:
    """`run_pivoted`, interpreted for the first steps, then compiled: most calls need few steps of it."""

    interpreted: ClassVar[float] = 0.0  # s of steps solved in plain Python by this process

    def __init__(self, scaled: ScaledProblem, sampling: Sampling, samples: Samples) -> None:
        self.scaled, self.sampling, self.samples = scaled, sampling, samples
        self.vectors, self.work = make_vectors(scaled.sizes), make_pivoting(scaled.sizes)
        self.ready = False

    def __call__(self, table: Table, rows: tuple[int, int], *, grow: bool = False, most: int) -> None:
        """Take at most ``most`` steps of each pending row."""
        arguments = (
            self.scaled.step, table, grow, self.sampling, self.samples, self.vectors, self.work, rows, most,
        )  # fmt: skip
        if self.compiled(table):
            run_pivoted(*arguments)
            return
        begin = time.perf_counter()
        with np.errstate(all="ignore"):
            _run_interpreted(*arguments)
        StepSolver.interpreted += time.perf_counter() - begin

    def walk(self, vertices: Vertices, begin: int, end: int) -> int:
        """How many rows stay PENDING along known vertices; raises where `run_known` cannot begin."""
        nc, nt, k = self.scaled.sizes
        lengths = (0.0,) * nc, (0.0,) * nt, (0.0,) * k  # their types tell shapes apart
        data = (self.scaled.step, vertices, self.sampling, self.samples, self.vectors)
        left = run_known(lengths, *data, begin, end)
        if left < 0:
            raise RuntimeError("sampling: arrays do not have the shapes of the problem; a fault of routh")
        return left

    def compiled(self, table: Table) -> bool:
        """Whether the compiled step solver is there, or worth its compilation by now."""
        if not self.ready:  # asked once: looking for it takes as long as some hundred steps
            data = (self.scaled.step, table, False, self.sampling, self.samples, self.vectors, self.work)
            arguments = (*data, (0, 0), 1)
            self.ready = self.interpreted >= INTERPRETED or is_ready(run_pivoted, *arguments)
        return self.ready


def _run_polyhedral(
    scaled: ScaledProblem,
    table: Table | None,
    sampling: Sampling,
    samples: Samples,
    threads: int | None,
    deadline: float,
) -> None:
    """Along the table, where there is one; what leaves it, and else all steps, by the step solver."""
    known = empty_table(scaled, sampling.size, grows=False) if table is None else table

    def walk(begin: int, end: int, solver: StepSolver) -> None:
        while solver.walk(known.vertices, begin, end) and time.monotonic() < deadline:
            solver(known, (begin, end), most=1)

    def pivot(begin: int, end: int, solver: StepSolver) -> None:
        for row in range(begin, end):
            while samples.status[row] == PENDING and time.monotonic() < deadline:
                rows = (row, end) if solver.compiled(known) else (row, row + 1)
                solver(known, rows, most=STEPS_AT_A_TIME)

    run_slices(
        len(samples.status),
        lambda: StepSolver(scaled, sampling, samples),
        pivot if table is None else walk,
        threads=threads,
        budget=seconds_left(deadline),
    )


@dataclass
class _Grown:
    """A frozen table, and what is known of its growth."""

    table: Table
    samples: int  # drawn along it until it was frozen
    settled: bool  # more samples would find hardly anything new, or there is no room
    drawn: int = 0  # samples drawn along it since

    def is_enough_for(self, n: int) -> bool:
        """Whether to draw n more samples along it as it is; else there are twice as many, and it grows on."""
        return self.settled or self.drawn + n < self.samples


_TABLES: WeakKeyDictionary[ImpactProblem, dict[bytes, _Grown]] = WeakKeyDictionary()


def known_table(
    problem: ImpactProblem,
    scaled: ScaledProblem,
    sampling: Sampling,
    samples: Samples | None = None,
    deadline: float = float("inf"),
) -> Table:
    """The frozen table of a problem, grown by its first samples; kept as long as the problem.

    Where those were few it grows on with later ones, so that it does not matter what was drawn first.
    """
    tables = _TABLES.setdefault(problem, {})
    name = scaled.step.directions.tobytes() + sampling.size.tobytes()
    n = 16 * GROWING if samples is None else len(samples.status)
    kept = tables.get(name)
    if kept is None or not kept.is_enough_for(n):
        if samples is None:
            samples = empty_samples(problem, n)
            sampling = sampling._replace(points=np.empty((n, 0)))
        table = empty_table(scaled, sampling.size, grows=True)
        if kept is not None:
            copy_table(kept.table, table)
        solver = StepSolver(scaled, sampling, samples)
        before = 0 if kept is None else kept.samples + kept.drawn
        count, settled = _grow(solver, table, before, deadline)
        if kept is None and len(tables) >= 4:
            tables.pop(next(iter(tables)))
        small = table.dictionaries.used[0] <= FEW_VERTICES
        frozen = freeze(scaled, table, complete=small or solver.compiled(table))
        kept = tables[name] = _Grown(frozen, before + count, settled)
    else:
        kept.drawn += n
    return kept.table


def _grow(solver: StepSolver, table: Table, before: int, deadline: float) -> tuple[int, bool]:
    """Fill the table by the first samples, round by round, until they find hardly anything new.

    ``before``: samples drawn along it so far; perhaps the same ones, so a round that is to tell whether
    there is anything new has more. Returns how many samples grew it now, and whether it is settled.
    """
    samples, used = solver.samples, table.dictionaries.used
    n = min(len(samples.status), MOST_GROWING)
    begin, end = 0, min(max(GROWING, 2 * before), n)
    while begin < end:
        known, full = int(used[0]), used[0] >= len(table.vertices.finals)
        while solver.walk(table.vertices, begin, end) and time.monotonic() < deadline:
            row = begin + int(np.argmax(samples.status[begin:end] == PENDING))
            solver(table, (row, end) if solver.compiled(table) else (row, row + 1), grow=True, most=1)
        if time.monotonic() >= deadline:
            return begin, False
        few = used[0] - known <= FEW_NEW * used[0] * (end - begin) / 1000.0
        if full or (few and end - begin > before):
            return end, True
        begin, end = end, min(3 * end, n)
    return end, end >= MOST_GROWING


def _run_cone(
    problem: ImpactProblem,
    draw: ConeDraw,
    samples: Samples,
    device: str,
    threads: int | None,
    deadline: float,
) -> None:
    """The samples as those of the only row of a batch."""
    rows, nothing = make_rows([problem]), np.zeros((1, 0))
    v, impulse, steps, status, residual = (array[None] for array in samples)
    outputs = Outputs(v, impulse, status, steps, residual, nothing, np.zeros((1, draw.n, 2, 0)))
    if device == "cuda":
        from routh.kernels.cuda import run_cone_on_gpu

        run_cone_on_gpu(rows, draw, outputs)
    else:
        run_cone_rows(rows, draw, outputs, threads=threads, deadline=deadline)
