"""Sampling by events in space: the loop over samples, for friction polygons and, with no corner, the cone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from routh.compiling import kernel
from routh.kernels.arrays import MU, RATES, RESTITUTION, Draw, Outputs, Rows
from routh.kernels.random import event_key, event_number
from routh.kernels.slices import run_slices
from routh.kernels.space_draws import CUT, SHARE, draw_roles, fewer_roles
from routh.kernels.space_names import (
    BROKEN,
    BUDGET,
    CONTACT_ROWS,
    ERROR,
    GLOBALS,
    IMPLICIT,
    IMPLICIT_STEP,
    INTEGER_ROWS,
    KEPT,
    OFFSET,
    RETURNED,
    ROWS,
    STEPS,
    STORED,
    TOTAL,
    WEIGHT,
    C,
)
from routh.kernels.space_pieces import FIRST_IMPLICIT, run_stage
from routh.validation import Array

SOLVED, NO_IMPACT, MAX_STEPS, NUMERICAL = 0, 1, 2, 6  # the numbers of routh.status.Status
APPROACH = 1e-8  # an impact with slower approach is none
# stages as drawn; one contact at a time, zeros held; all; one at a time with zeros held every other time;
# times nc / 4 where there are more than four contacts
DRAWN, ALONE, ALL, PLAIN = 16, 24, 16, 120
PIECES = 64  # pieces of one stage
STEP_BUDGET = 1000.0  # Runge-Kutta steps of one sample, times nc / 4, before only the last phase is left
NEARLY = 1e-10  # approach that is none once a sample is in its last phase


@kernel
def ended(nc: int, x: Any, s: Any, slack: float) -> bool:
    """Whether nothing approaches (faster than the slack) and no budget is left."""
    for i in range(nc):
        if not (x[C, 3 * i] >= -slack and s[BUDGET, i] == 0.0):
            return False
    return True


@kernel
def begin(nc: int, start: Any, x: Any, s: Any, g: Any) -> bool:
    """The state before the impact; whether anything approaches."""
    approaches = False
    for row in range(3 * nc):
        x[C, row] = start[row]
        x[TOTAL, row] = x[OFFSET, row] = 0.0
    for i in range(nc):
        s[BUDGET, i] = s[STORED, i] = s[RETURNED, i] = s[KEPT, i] = 0.0
        approaches = approaches or not x[C, 3 * i] >= -APPROACH
        if abs(x[C, 3 * i]) <= 1e-11:
            x[C, 3 * i] = 0.0
    g[ERROR] = g[STEPS] = g[IMPLICIT] = 0.0
    g[IMPLICIT_STEP] = FIRST_IMPLICIT
    return approaches


@kernel
def run_sample(
    nc: int, mode: int, draw: Any, row: int, sample: int, restitution: Any, G: Any, mu: Any, dirs: Any,
    start: Any, x: Any, s: Any, k: Any, slides: Any, d: Any, g: Any, after: Any,
) -> tuple[int, int]:  # fmt: skip
    """One outcome: (status, pieces); TOTAL holds its impulse."""
    if not begin(nc, start, x, s, g):
        return NO_IMPACT, 0
    scale = max(1.0, nc / 4.0)
    pieces, stages, last = 0, int(scale * (DRAWN + ALONE + ALL)), 0
    for event in range(stages + int(scale * PLAIN)):
        phase = 0 if event < scale * DRAWN else (1 if event < scale * (DRAWN + ALONE) else 2)
        if event >= stages or g[STEPS] > STEP_BUDGET * scale:
            phase, last = (3 if event % 2 else 1), last + 1
        if last > scale * PLAIN or g[STEPS] > 5.0 * STEP_BUDGET * scale:
            break
        if ended(nc, x, s, NEARLY if last > 0 else 0.0):
            return SOLVED, pieces
        key = event_key(draw.seed, row, sample, event)
        if sample < draw.keys.shape[0] and event < draw.keys.shape[1]:
            key = draw.keys[sample, event]
        share = 1.0
        if phase == 0 and event_number(key, CUT) > draw.persistence:
            share = event_number(key, SHARE)
        used = 0
        kind = BROKEN
        if draw_roles(nc, draw.rates, key, phase, x, s, k):
            kind, used = run_stage(
                nc, mode, draw.tolerance, restitution, G, mu, dirs, x, s, k, slides, d, g, after, share,
                PIECES,
            )  # fmt: skip
        if kind == BROKEN and used == 0:
            fewer_roles(nc, key, x, s, k)
            kind, used = run_stage(
                nc, mode, draw.tolerance, restitution, G, mu, dirs, x, s, k, slides, d, g, after, share,
                PIECES,
            )  # fmt: skip
            if kind == BROKEN and used == 0:
                return NUMERICAL, pieces
        pieces += used
        for i in range(nc):
            s[KEPT, i] = s[WEIGHT, i]
    return (SOLVED if ended(nc, x, s, NEARLY) else MAX_STEPS), pieces


@kernel
def finish(nc: int, G: Any, mu: Any, start: Any, x: Any, s: Any) -> float:
    """Residual, recomputed from the total impulse: momentum, cones, energy and the end, dimensionless."""
    worst, gained = 0.0, 0.0
    for i in range(nc):
        first = 3 * i
        for row in range(first, first + 3):
            value = start[row]
            for column in range(3 * nc):
                value += G[row, column] * x[TOTAL, column]
            worst = max(worst, abs(value - x[C, row]))
            gained += 0.5 * x[TOTAL, row] * (value + start[row])
        normal = x[TOTAL, first]
        friction = math.sqrt(x[TOTAL, first + 1] ** 2 + x[TOTAL, first + 2] ** 2)
        size = max(1.0, mu[i])
        worst = max(worst, max(-normal, (friction - mu[i] * normal) / size))
    return worst if worst == worst and gained <= 1e-9 else math.inf


@kernel
def run_range(
    rows: Any, draw: Any, dirs: Any, outputs: Any, mode: int, first: int, last: int, work: Any
) -> None:
    """The pairs (row, sample) with numbers ``first`` to ``last``, all samples of a row after each other."""
    x, s, k, slides, d, g, after = work
    for number in range(first, last):
        row, sample = number // draw.n, number % draw.n
        nc = rows.nc[row]
        G, mu, start = rows.G[row], rows.contact[row, MU], rows.start[row]
        status, pieces = run_sample(
            nc, mode, draw, draw.row + row, sample, rows.contact[row, RESTITUTION], G, mu, dirs, start,
            x, s, k, slides, d, g, after,
        )  # fmt: skip
        outputs.status[row, sample], outputs.events[row, sample] = status, pieces
        outputs.error[row, sample] = g[ERROR]
        outputs.residual[row, sample] = finish(nc, G, mu, start, x, s)
        for r in range(outputs.v.shape[2]):
            value = rows.before[row, r]
            for column in range(3 * nc):
                value += rows.response[row, r, column] * x[TOTAL, column]
            outputs.v[row, sample, r] = value
        for i in range(nc):
            for part in range(3):
                outputs.impulse[row, sample, i, part] = x[TOTAL, 3 * i + part] * rows.contact[row, 2, i]
            if mode > 0:
                outputs.work[row, sample, 0, i] = s[STORED, i]
                outputs.work[row, sample, 1, i] = s[RETURNED, i]


def workspace(nc: int) -> tuple[Any, ...]:
    """Scratch arrays of one thread, see `routh.kernels.space_names`."""
    n = 3 * nc
    return (
        np.zeros((ROWS, n)),
        np.zeros((CONTACT_ROWS, nc)),
        np.zeros((INTEGER_ROWS, nc), dtype=np.int64),
        np.zeros((2, nc)),
        np.zeros((n, n + 2)),
        np.zeros(GLOBALS),
        np.zeros(nc),
    )


def run(
    rows: Rows,
    draw: Draw,
    outputs: Outputs,
    directions: Array,
    *,
    device: str = "cpu",
    threads: int | None = None,
    budget: float | None = None,
    rates: Any = "mixed",
) -> None:
    """Draw all samples of all rows with friction polygons ``directions`` (k, 2); k = 0: the true cone."""
    if callable(rates):
        raise ValueError(f"rates: got a function; wanted one of {', '.join(RATES)} in space")
    if device != "cpu":
        raise ValueError(f"device: got {device!r}; sampling by events in space runs on 'cpu' only")
    elastic = outputs.work.shape[3] > 0
    mode = (2 if draw.poisson else 1) if elastic else 0
    nc = rows.contact.shape[2]
    corners = np.ascontiguousarray(directions, dtype=np.float64)

    def work(first: int, last: int, scratch: Any) -> None:
        run_range(rows, draw, corners, outputs, mode, first, last, scratch)

    run_slices(len(rows.nc) * draw.n, lambda: workspace(nc), work, threads=threads, budget=budget)
