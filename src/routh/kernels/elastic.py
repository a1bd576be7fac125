"""Impacts with restitution, sample by sample: the scalar source of `routh.step.elastic` for CPU and GPU.

The data are in `routh.kernels.elastic_arrays`; all arrays belong to the caller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from routh.compiling import kernel
from routh.kernels.algorithm1 import MAX_STEPS, NO_IMPACT, NUMERICAL, step_bounds
from routh.kernels.elastic_arrays import (
    ABOVE,
    BELOW,
    BOUND,
    BUDGET,
    EARNED,
    END_OF_BUDGET,
    END_OF_COMPRESSION,
    FLOOR,
    GAIN,
    GIVEN,
    KIND,
    NOTHING,
    NOW,
    PUSH,
    RATE,
    RETURNED,
    SLOPE,
    SPENT,
    STORED,
    THEN,
    TOTAL,
    VALUE,
)
from routh.kernels.step_solver import SOLVED
from routh.kernels.sweeps import ENOUGH, move, sweep_surely
from routh.kernels.tableau import lemke, natural_residual, read_solution

if TYPE_CHECKING:
    from routh.kernels.elastic_arrays import Drawing, Elastic, ElasticSamples, Scratch
    from routh.validation import Array

EVENT_SOLVES = 60
USED_UP = 1e-12
MAX_PIVOTS_PER_ROW = 50
PIVOT = 1e-11


@kernel
def solve_increment(problem: Elastic, share: float, scratch: Scratch) -> float:
    """HP23 (75) with a floor, for ``share`` of the rates: fills PUSH and THEN; the residual."""
    W, cover, dirs = problem.W, problem.cover, problem.directions
    nc, k, nt = len(problem.mu), dirs.shape[0], dirs.shape[1]
    m, q, z, flat, work = len(cover), scratch.q, scratch.z, scratch.flat, scratch.ledger
    residual = sweep_surely(problem, share, scratch)
    if residual < ENOUGH:
        return residual
    for i in range(nc):
        first = i * (1 + nt)
        q[i] = work[BOUND, i]
        q[nc + i] = flat[NOW, first]
        for j in range(k):
            along = 0.0
            for d in range(nt):
                along += dirs[j, d] * flat[NOW, first + 1 + d]
            q[2 * nc + i * k + j] = along
        q[m - nc + i] = 0.0
    for i in range(nc):
        if work[FLOOR, i] > 0.0:
            for row in range(m):
                q[row] += W[row, nc + i] * work[FLOOR, i]
            q[i] = 0.0
    lemke(W, q, cover, MAX_PIVOTS_PER_ROW * m, PIVOT, scratch.T, scratch.basis)
    read_solution(scratch.T, scratch.basis, z)
    residual = natural_residual(W, q, z)
    for i in range(nc):
        first = i * (1 + nt)
        flat[PUSH, first] = z[nc + i] + work[FLOOR, i]
        for d in range(nt):
            value = 0.0
            for j in range(k):
                value += dirs[j, d] * z[2 * nc + i * k + j]
            flat[PUSH, first + 1 + d] = value
    move(problem.G, flat)
    return residual


@kernel
def path_shares(y0: float, y1: float) -> tuple[float, float]:
    """The shares of the straight path from y0 to y1 on which y >= 0, and on which y <= 0."""
    if y0 * y1 < 0.0:
        return max(y0, y1) / abs(y1 - y0), -min(y0, y1) / abs(y1 - y0)
    return (1.0 if y0 + y1 >= 0.0 else 0.0), (1.0 if y0 + y1 <= 0.0 else 0.0)


@kernel
def keep_books(problem: Elastic, scratch: Scratch) -> None:
    """GAIN and GIVEN (work stored and returned), EARNED and SPENT of the trial increment."""
    nc, nt = len(problem.mu), problem.directions.shape[1]
    share_of, poisson, rest = problem.share, problem.poisson, problem.rest
    flat, work = scratch.flat, scratch.ledger
    seeming, stored, room = 0.0, 0.0, 0.0
    for i in range(nc):
        first = i * (1 + nt)
        push, y0, y1 = flat[PUSH, first], flat[NOW, first], flat[THEN, first]
        mean = 0.5 * (y0 + y1)
        positive, negative = max(mean, 0.0), max(-mean, 0.0)
        if y0 * y1 < 0.0:
            span = abs(y1 - y0)
            positive = max(y0, y1) ** 2 / (2.0 * span)
            negative = min(y0, y1) ** 2 / (2.0 * span)
        pushing = work[KIND, i] == END_OF_BUDGET
        unbudgeted = 0.0 if pushing else push * max(mean, 0.0)
        work[GAIN, i] = push * negative if pushing else push * max(-mean, 0.0)
        work[GIVEN, i] = push * positive if pushing else 0.0
        if poisson:
            apart, near = path_shares(y0 if abs(y0) > rest else 0.0, y1 if abs(y1) > rest else 0.0)
            work[SPENT, i] = push * apart if pushing else 0.0
            work[EARNED, i] = share_of[i] * push * (1.0 - apart if pushing else near)
            work[GIVEN, i] += unbudgeted
            continue
        seeming += unbudgeted
        for d in range(1, 1 + nt):
            seeming += 0.5 * flat[PUSH, first + d] * (flat[NOW, first + d] + flat[THEN, first + d])
        stored += work[GAIN, i]
        if pushing:
            room += max(push * max(y1, 0.0) - work[GIVEN, i], 0.0)
    if poisson:
        return
    keep = 1.0
    extra = 0.0
    if seeming > 0.0:
        keep = 1.0 - seeming / stored if seeming <= stored else 0.0
        extra = min((seeming - stored) / room, 1.0) if seeming > stored and room > 0.0 else 0.0
    for i in range(nc):
        work[GAIN, i] *= keep
        if extra > 0.0 and work[KIND, i] == END_OF_BUDGET:
            most = flat[PUSH, i * (1 + nt)] * max(flat[THEN, i * (1 + nt)], 0.0)
            work[GIVEN, i] += extra * max(most - work[GIVEN, i], 0.0)
        work[EARNED, i] = share_of[i] * work[GAIN, i]
        work[SPENT, i] = work[GIVEN, i]


@kernel
def list_events(problem: Elastic, scratch: Scratch) -> bool:
    """What each contact waits for, and its event function now; whether any waits."""
    restitution, poisson, scale, rest = problem.restitution, problem.poisson, problem.scale, problem.rest
    nt, flat, work = problem.directions.shape[1], scratch.flat, scratch.ledger
    waiting = False
    for i in range(len(restitution)):
        y = flat[NOW, i * (1 + nt)]
        work[KIND, i], work[BELOW, i], work[SLOPE, i] = NOTHING, 0.0, -1.0
        if work[BUDGET, i] > 0.0 and y >= -rest:
            work[KIND, i], work[BELOW, i] = END_OF_BUDGET, -work[BUDGET, i] * scale
            if not poisson:
                work[SLOPE, i] = work[RATE, i] * max(y, 0.0) * scale
            waiting = True
        elif restitution[i] > 0.0 and y < -rest:
            work[KIND, i], work[BELOW, i] = END_OF_COMPRESSION, y
            waiting = True
    return waiting


@kernel
def next_trial(low: float, high: float, count: int, work: Array) -> float:
    """Where the first event should be: by interpolation, halving the interval every third time."""
    if count % 3 == 0:
        return 0.5 * (low + high)
    guess = high
    for i in range(work.shape[1]):
        above, below, slope = work[ABOVE, i], work[BELOW, i], work[SLOPE, i]
        if work[KIND, i] == NOTHING or not above > 0.0:
            continue
        root = high
        if low == 0.0 and slope >= 0.0:
            curve = (above - below - slope * high) / high**2
            discriminant = slope**2 - 4.0 * curve * below
            if discriminant >= 0.0 and slope + discriminant > 0.0:
                root = -2.0 * below / (slope + discriminant**0.5)
        else:
            root = low - below * (high - low) / (above - below)
        guess = min(guess, root)
    return guess if low < guess < high else 0.5 * (low + high)


@kernel
def increment(problem: Elastic, scratch: Scratch) -> float:
    """`routh.step.elastic.ElasticStep.solve`: the share of the rates used, 0 where a solve failed.

    The trial that is accepted stands in PUSH, THEN and the ledger's rows.
    """
    rest, least, scale = problem.rest, problem.least, problem.scale
    nc, nt = len(problem.mu), problem.directions.shape[1]
    flat, work = scratch.flat, scratch.ledger
    list_events(problem, scratch)
    low, high, trial, accepted = 0.0, 1.0, 1.0, 0.0
    for count in range(1, EVENT_SOLVES + 1):
        residual = solve_increment(problem, trial, scratch)
        scratch.residual[0] = max(scratch.residual[0], residual)
        if not residual < problem.tolerance:
            return 0.0
        keep_books(problem, scratch)
        over, near = False, False
        for i in range(nc):
            value, precision = 0.0, 0.1 * rest
            if work[KIND, i] == END_OF_BUDGET:
                value, precision = (work[SPENT, i] - work[BUDGET, i]) * scale, least * scale
            elif work[KIND, i] == END_OF_COMPRESSION:
                value = flat[THEN, i * (1 + nt)]
            else:
                continue
            work[VALUE, i] = value
            over = over or value > precision
            near = near or value >= -precision
        if not over:
            accepted, low = trial, trial
            for i in range(nc):
                work[BELOW, i] = work[VALUE, i]
            if trial == 1.0 or near:
                return accepted
        else:
            high = trial
            for i in range(nc):
                work[ABOVE, i] = work[VALUE, i]
        trial = next_trial(low, high, count, work)
        if not low < trial < high:
            break
    if accepted > 0.0:
        solve_increment(problem, accepted, scratch)
        keep_books(problem, scratch)
        return accepted
    return trial


@kernel
def run_sample(problem: Elastic, drawing: Drawing, sample: int, scratch: Scratch) -> tuple[int, int]:
    """One outcome: (status, increments). TOTAL holds its impulse, STORED and RETURNED its work."""
    nc, nt = len(problem.mu), problem.directions.shape[1]
    n = nc * (1 + nt)
    flat, work = scratch.flat, scratch.ledger
    for row in range(n):
        flat[NOW, row] = problem.start[row]
        flat[TOTAL, row] = 0.0
    for i in range(nc):
        work[BUDGET, i] = work[STORED, i] = work[RETURNED, i] = 0.0
        work[RATE, i] = 0.0
    scratch.residual[0] = 0.0
    left, drawn = 0.0, 0
    for count in range(drawing.max_steps + 1):
        ended = True
        for i in range(nc):
            ended = ended and flat[NOW, i * (1 + nt)] >= -problem.rest and work[BUDGET, i] == 0.0
        if ended:
            return (SOLVED if count > 0 else NO_IMPACT), count
        if count == drawing.max_steps:
            break
        if left == 0.0:
            step_bounds(nc, drawing, sample, drawn, work[RATE])
            left, drawn = 1.0, drawn + 1
        used = increment(problem, scratch)
        if used == 0.0:
            return NUMERICAL, count
        for row in range(n):
            flat[NOW, row] = flat[THEN, row]
            flat[TOTAL, row] += flat[PUSH, row]
        for i in range(nc):
            work[STORED, i] += work[GAIN, i]
            work[RETURNED, i] += work[GIVEN, i]
            budget = work[BUDGET, i] + work[EARNED, i] - work[SPENT, i]
            work[BUDGET, i] = budget if budget > problem.least else 0.0
            work[RATE, i] *= 1.0 - used
        left *= 1.0 - used
        if not left > USED_UP:
            left = 0.0
    return MAX_STEPS, drawing.max_steps


@kernel
def run_range(
    problem: Elastic, drawing: Drawing, samples: ElasticSamples, scratch: Scratch, begin: int, end: int
) -> None:
    """The samples ``begin`` to ``end``."""
    for i in range(begin, end):
        samples.status[i], samples.steps[i] = run_sample(problem, drawing, i, scratch)
        samples.residual[i] = scratch.residual[0]
        for row in range(len(problem.start)):
            samples.impulse[i, row] = scratch.flat[TOTAL, row]
        for j in range(len(problem.mu)):
            samples.work[i, 0, j] = scratch.ledger[STORED, j]
            samples.work[i, 1, j] = scratch.ledger[RETURNED, j]
