"""Impacts with restitution, sample by sample: the scalar source of `routh.step.elastic` for CPU and GPU.

Everything is in the problem's own units (see `routh.problem.Scaling`), in which work is a share of
``|v|_M^2`` and the kinetic energy before is one half. Arrays of one sample, all caller-owned:

- ``T (m, 2 m + 2)``, ``basis (m,)``, ``rows (3, m)``: tableau, and q, z, spare; ``m = nc (3 + k)`` unknowns
- ``flat (6, nc (1 + nt))``: contact velocities now and at the end of the trial, its impulse, the total; spare
- ``work (15, nc)``: the numbers per contact, named below
"""

from __future__ import annotations

from typing import Any

from routh.compiling import kernel
from routh.kernels.elastic_names import (
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
    MAX_STEPS,
    NO_IMPACT,
    NOTHING,
    NOW,
    NUMERICAL,
    PUSH,
    RATE,
    RETURNED,
    SLOPE,
    SOLVED,
    SPENT,
    STORED,
    THEN,
    TOTAL,
    VALUE,
)
from routh.kernels.random import uniform_pair
from routh.kernels.sweeps import ENOUGH, move, sweep_surely
from routh.kernels.tableau import lemke, natural_residual, read_solution

EVENT_SOLVES = 60
USED_UP = 1e-12
MAX_PIVOTS_PER_ROW = 50
PIVOT = 1e-11


@kernel
def solve_increment(data: Any, share: float, T: Any, basis: Any, rows: Any, flat: Any, work: Any) -> float:
    """HP23 (75) with a floor, for ``share`` of the rates: fills PUSH and THEN; the residual."""
    W, cover, dirs, mu = data[0], data[2], data[3], data[4]
    nc, k, nt = len(mu), dirs.shape[0], dirs.shape[1]
    m = len(cover)
    q, z = rows[0], rows[1]
    residual = sweep_surely(data, share, flat, work)
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
    lemke(W, q, cover, MAX_PIVOTS_PER_ROW * m, PIVOT, T, basis)
    read_solution(T, basis, z)
    residual = natural_residual(W, q, z)
    for i in range(nc):
        first = i * (1 + nt)
        flat[PUSH, first] = z[nc + i] + work[FLOOR, i]
        for d in range(nt):
            value = 0.0
            for j in range(k):
                value += dirs[j, d] * z[2 * nc + i * k + j]
            flat[PUSH, first + 1 + d] = value
    move(data[1], flat)
    return residual


@kernel
def path_shares(y0: float, y1: float) -> tuple[float, float]:
    """The shares of the straight path from y0 to y1 on which y >= 0, and on which y <= 0."""
    if y0 * y1 < 0.0:
        return max(y0, y1) / abs(y1 - y0), -min(y0, y1) / abs(y1 - y0)
    return (1.0 if y0 + y1 >= 0.0 else 0.0), (1.0 if y0 + y1 <= 0.0 else 0.0)


@kernel
def keep_books(data: Any, share_of: Any, poisson: bool, rest: float, flat: Any, work: Any) -> None:
    """GAIN and GIVEN (work stored and returned), EARNED and SPENT of the trial increment."""
    nc, nt = len(data[4]), data[3].shape[1]
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
def list_events(
    restitution: Any, poisson: bool, scale: float, rest: float, nt: int, flat: Any, work: Any
) -> bool:
    """What each contact waits for, and its event function now; whether any waits."""
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
def next_trial(low: float, high: float, count: int, work: Any) -> float:
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
def increment(
    data: Any, restitution: Any, share_of: Any, poisson: bool, limits: Any,
    T: Any, basis: Any, rows: Any, flat: Any, work: Any, gap: Any,
) -> float:  # fmt: skip
    """`routh.step.elastic.ElasticStep.solve`: the share of the rates used, 0 where a solve failed.

    ``limits``: rest speed, least budget, scale of the budgets' event functions, residual; ``gap`` (1,) keeps
    the largest residual. The trial that is accepted stands in PUSH, THEN and the ledger's rows.
    """
    rest, least, scale, tolerance = limits[0], limits[1], limits[2], limits[3]
    nc, nt = len(restitution), data[3].shape[1]
    list_events(restitution, poisson, scale, rest, nt, flat, work)
    low, high, trial, accepted = 0.0, 1.0, 1.0, 0.0
    for count in range(1, EVENT_SOLVES + 1):
        residual = solve_increment(data, trial, T, basis, rows, flat, work)
        gap[0] = max(gap[0], residual)
        if not residual < tolerance:
            return 0.0
        keep_books(data, share_of, poisson, rest, flat, work)
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
        solve_increment(data, accepted, T, basis, rows, flat, work)
        keep_books(data, share_of, poisson, rest, flat, work)
        return accepted
    return trial


@kernel
def draw_rates(key: Any, sample: int, drawn: int, step: Any, table: Any, work: Any) -> None:
    """The rates of one interval: ``step`` times numbers of ``table`` while it lasts, then of `routh.rng`."""
    for i in range(len(step)):
        if drawn < table.shape[0]:
            work[RATE, i] = step[i] * table[drawn, i]
        else:
            first, second = uniform_pair(key, sample, drawn, i // 2)
            work[RATE, i] = step[i] * (first if i % 2 == 0 else second)


@kernel
def run_sample(
    data: Any, c: Any, restitution: Any, share_of: Any, step: Any, poisson: bool, limits: Any, max_steps: int,
    key: Any, sample: int, table: Any,
    T: Any, basis: Any, rows: Any, flat: Any, work: Any, gap: Any,
) -> tuple[int, int]:  # fmt: skip
    """One outcome: (status, increments). TOTAL holds its impulse, STORED and RETURNED its work."""
    nc, nt = len(restitution), data[3].shape[1]
    n = nc * (1 + nt)
    rest, least = limits[0], limits[1]
    for row in range(n):
        flat[NOW, row] = c[row]
        flat[TOTAL, row] = 0.0
    for i in range(nc):
        work[BUDGET, i] = work[STORED, i] = work[RETURNED, i] = 0.0
        work[RATE, i] = 0.0
    gap[0] = 0.0
    left, drawn = 0.0, 0
    for count in range(max_steps + 1):
        ended = True
        for i in range(nc):
            ended = ended and flat[NOW, i * (1 + nt)] >= -rest and work[BUDGET, i] == 0.0
        if ended:
            return (SOLVED if count > 0 else NO_IMPACT), count
        if count == max_steps:
            break
        if left == 0.0:
            draw_rates(key, sample, drawn, step, table, work)
            left, drawn = 1.0, drawn + 1
        used = increment(data, restitution, share_of, poisson, limits, T, basis, rows, flat, work, gap)
        if used == 0.0:
            return NUMERICAL, count
        for row in range(n):
            flat[NOW, row] = flat[THEN, row]
            flat[TOTAL, row] += flat[PUSH, row]
        for i in range(nc):
            work[STORED, i] += work[GAIN, i]
            work[RETURNED, i] += work[GIVEN, i]
            budget = work[BUDGET, i] + work[EARNED, i] - work[SPENT, i]
            work[BUDGET, i] = budget if budget > least else 0.0
            work[RATE, i] *= 1.0 - used
        left *= 1.0 - used
        if not left > USED_UP:
            left = 0.0
    return MAX_STEPS, max_steps


@kernel
def run_range(
    data: Any, c: Any, restitution: Any, share_of: Any, step: Any, poisson: bool, limits: Any, max_steps: int,
    key: Any, begin: int, end: int, table: Any,
    scratch: Any, outputs: Any,
) -> None:  # fmt: skip
    """The samples ``begin`` to ``end``: impulses, work (stored, returned), (status, steps), residuals."""
    T, basis, rows, flat, work, gap = scratch
    impulse, works, counts, residual = outputs
    for i in range(begin, end):
        counts[i, 0], counts[i, 1] = run_sample(
            data, c, restitution, share_of, step, poisson, limits, max_steps, key, i, table[i],
            T, basis, rows, flat, work, gap,
        )  # fmt: skip
        residual[i] = gap[0]
        for row in range(len(c)):
            impulse[i, row] = flat[TOTAL, row]
        for j in range(len(restitution)):
            works[i, 0, j] = work[STORED, j]
            works[i, 1, j] = work[RETURNED, j]
