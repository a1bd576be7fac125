"""HP23's Algorithm 1 with Coulomb's true cone in space: contact by contact, each solved exactly.

A contact alone has a one-dimensional problem: for a normal impulse the friction on the disc is that of a
convex quadratic, found from its secular equation, and the normal velocity that results is continuous in the
normal impulse, so a bracket finds its zero. Sweeps over the contacts go on until the fixed-point gap is
rounding; where they do not get there, the caller uses the slower sure method.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from routh import tolerances
from routh.compiling import kernel
from routh.compiling.foreign import Foreign
from routh.kernels.algorithm1 import MAX_STEPS, NO_IMPACT, NUMERICAL, approaches, step_bounds
from routh.kernels.arrays import IMPULSE, MU
from routh.kernels.dictionary import wide
from routh.kernels.random import SHIFT
from routh.kernels.residual import velocity_after
from routh.kernels.slices import run_slices
from routh.kernels.step_arrays import PENDING
from routh.kernels.step_solver import SOLVED
from routh.validation import Array, seconds_left

if TYPE_CHECKING:
    from routh.kernels.arrays import Outputs, Rows

STEPS_AT_A_TIME = 64  # of one compiled call, so that no call takes long
SWEEPS = 400
CONVERGED = 1e-12  # scaled fixed-point gap at which the sweeps stop
NEWTON, BISECTIONS = 40, 100
ROUNDING = 2.0**-52
LEAST = 1e-300  # of an eigenvalue: where friction moves nothing it is none, and not 0 / 0


class ConeDraw(NamedTuple):
    """What Algorithm 1 draws: the samples 0 to ``n - 1`` of every row."""

    n: int
    row: int  # number of the first row: row r of the arrays draws the numbers of row ``row + r``
    seed: Foreign  # np.uint64
    steps: Array  # (rows, nc), (1, nc) or (0, nc) N s: boxes that lambda_max is drawn from; none: the unit
    points: Array  # (n, steps * nc) numbers in (0, 1) for the first steps; then by `seed`
    max_steps: int


class ConeWork(NamedTuple):
    """Scratch of one thread, for nc contacts; a row's problem is copied here."""

    G: Array  # (3 nc, 3 nc)
    contacts: Array  # (6, nc): friction, box, eigenvalues and first axis of the tangential block
    inputs: Array  # (4 nc,) contact velocities, then lambda_max
    impulse: Array  # (3 nc,) of one step
    after: Array  # (3 nc,) contact velocities after it
    total: Array  # (3 nc,) impulses of all steps


FRICTION, BOX, SMALL, LARGE, COSINE, SINE = range(6)  # rows of `ConeWork.contacts`


def work_shapes(nc: int) -> tuple[tuple[int, ...], ...]:
    """The shapes of the arrays of `ConeWork`, in order."""
    return (3 * nc, 3 * nc), (6, nc), (4 * nc,), (3 * nc,), (3 * nc,), (3 * nc,)


def make_work(nc: int) -> ConeWork:
    """Scratch for rows of at most so many contacts."""
    return ConeWork(*(np.zeros(shape) for shape in work_shapes(nc)))


@kernel
def find_axes(G: Array, i: int, contacts: Array) -> None:
    """Eigenvalues of contact i's tangential block, and cosine and sine of the axis of the smaller one."""
    first = 3 * i + 1
    a, b, d = G[first, first], G[first, first + 1], G[first + 1, first + 1]
    half = 0.5 * (a - d)
    radius = math.sqrt(half * half + b * b)
    large = 0.5 * (a + d) + radius
    small = (a * d - b * b) / large if large > 0.0 else 0.0
    # the axis of the larger one: half the angle of (half, b), from the sum that does not cancel
    cosine, sine = 1.0, 0.0
    if radius > 0.0:
        longer = math.sqrt(0.5 * (radius + abs(half)) / radius)
        shorter = 0.5 * b / (radius * longer)
        cosine, sine = (longer, shorter) if half >= 0.0 else (shorter, longer)
    # a direction that nothing can move along would have eigenvalue 0: friction does nothing there
    contacts[SMALL, i] = max(max(small, ROUNDING * large), LEAST)
    contacts[LARGE, i] = max(large, LEAST)
    contacts[COSINE, i], contacts[SINE, i] = -sine, cosine


@kernel
def disc_friction(contacts: Array, i: int, b0: float, b1: float, radius: float) -> tuple[float, float]:
    """The friction that minimises ``p^T A p / 2 + b^T p`` on a disc, A contact i's tangential block."""
    a0, a1, cosine, sine = contacts[SMALL, i], contacts[LARGE, i], contacts[COSINE, i], contacts[SINE, i]
    if not radius > 0.0:
        return 0.0, 0.0
    q0, q1 = cosine * b0 + sine * b1, cosine * b1 - sine * b0
    shift = 0.0
    p0, p1 = -q0 / a0, -q1 / a1
    if p0 * p0 + p1 * p1 > radius * radius:
        # |(A + shift)^-1 b| = radius, Newton on 1 / |p|, which is nearly linear in the shift
        for _ in range(NEWTON):
            length = math.sqrt(p0 * p0 + p1 * p1)
            slope = (p0 * p0 / (a0 + shift) + p1 * p1 / (a1 + shift)) / length
            change = (length - radius) / radius * length / slope
            shift += change
            p0, p1 = -q0 / (a0 + shift), -q1 / (a1 + shift)
            if abs(change) <= 1e-15 * (shift + a0 + a1):
                break
        length = math.sqrt(p0 * p0 + p1 * p1)
        p0, p1 = p0 * radius / length, p1 * radius / length
    return cosine * p0 - sine * p1, sine * p0 + cosine * p1


@kernel
def contact_alone(
    G: Array, contacts: Array, bound: float, i: int, w0: float, w1: float, w2: float
) -> tuple[float, float, float]:
    """Impulse of contact i, whose velocity without it is w: (normal, friction (2))."""
    first, mu = 3 * i, contacts[FRICTION, i]
    if w0 >= 0.0:
        return 0.0, 0.0, 0.0
    low, high = 0.0, bound
    value_low = w0
    normal = bound
    f0, f1 = disc_friction(
        contacts, i, w1 + G[first + 1, first] * normal, w2 + G[first + 2, first] * normal, mu * normal
    )
    value = w0 + G[first, first] * normal + G[first, first + 1] * f0 + G[first, first + 2] * f1
    if value <= 0.0:
        return normal, f0, f1
    value_high = value
    side = 0
    for _ in range(BISECTIONS):  # regula falsi, Illinois
        normal = (low * value_high - high * value_low) / (value_high - value_low)
        f0, f1 = disc_friction(
            contacts, i, w1 + G[first + 1, first] * normal, w2 + G[first + 2, first] * normal, mu * normal
        )
        value = w0 + G[first, first] * normal + G[first, first + 1] * f0 + G[first, first + 2] * f1
        if abs(value) <= 1e-16 or high - low <= 1e-16 * bound:
            break
        if value > 0.0:
            high, value_high = normal, value
            value_low = 0.5 * value_low if side == 1 else value_low
            side = 1
        else:
            low, value_low = normal, value
            value_high = 0.5 * value_high if side == -1 else value_high
            side = -1
    return normal, f0, f1


@kernel
def cone_gap(nc: int, contacts: Array, bound: Array, p: Array, after: Array) -> float:
    """Gap of ``lambda_n = clip(lambda_n - y')``, ``lambda_t = proj(lambda_t - t')``; NaN stays NaN."""
    worst = 0.0
    for i in range(nc):
        first = 3 * i
        normal = abs(p[first] - min(max(p[first] - after[first], 0.0), bound[i]))
        q0, q1 = p[first + 1] - after[first + 1], p[first + 2] - after[first + 2]
        length, radius = math.sqrt(q0 * q0 + q1 * q1), contacts[FRICTION, i] * max(p[first], 0.0)
        shrink = radius / length if length > radius else 1.0
        d0, d1 = p[first + 1] - shrink * q0, p[first + 2] - shrink * q1
        gap = max(normal, math.sqrt(d0 * d0 + d1 * d1))
        worst = gap if not gap <= worst else worst
    return worst


@kernel
def cone_step(work: ConeWork, nc: int) -> float:
    """One step from ``inputs`` by sweeps from no impulse; the gap, recomputed."""
    n, G, contacts = 3 * nc, work.G, work.contacts
    c, bound, p, after = work.inputs, work.inputs[n:], work.impulse, work.after
    for row in range(n):
        p[row] = 0.0
    gap = 0.0
    for sweep in range(SWEEPS + 1):
        for row in range(n):  # afresh in every sweep: changes would gather rounding
            value = c[row]
            for j in range(n):
                value += G[row, j] * p[j]
            after[row] = value
        gap = cone_gap(nc, contacts, bound, p, after)
        if sweep == SWEEPS or (sweep > 0 and gap <= CONVERGED):
            break
        for i in range(nc):
            first = 3 * i
            w0, w1, w2 = after[first], after[first + 1], after[first + 2]
            for j in range(3):
                w0 -= G[first, first + j] * p[first + j]
                w1 -= G[first + 1, first + j] * p[first + j]
                w2 -= G[first + 2, first + j] * p[first + j]
            normal, f0, f1 = contact_alone(G, contacts, bound[i], i, w0, w1, w2)
            d0, d1, d2 = normal - p[first], f0 - p[first + 1], f1 - p[first + 2]
            for row in range(n):
                after[row] += G[row, first] * d0 + G[row, first + 1] * d1 + G[row, first + 2] * d2
            p[first], p[first + 1], p[first + 2] = normal, f0, f1
    return gap


@kernel
def load_row(rows: Rows, row: int, draw: ConeDraw, work: ConeWork) -> None:
    """The problem of one row into the scratch."""
    nc = rows.nc[row]
    for r in range(3 * nc):
        for j in range(3 * nc):
            work.G[r, j] = rows.G[row, r, j]
    for i in range(nc):
        work.contacts[FRICTION, i], work.contacts[BOX, i] = rows.contact[row, MU, i], 1.0
        if draw.steps.shape[0] > 0:
            given = draw.steps[min(row, draw.steps.shape[0] - 1), i]
            work.contacts[BOX, i] = given / rows.contact[row, IMPULSE, i]
        find_axes(work.G, i, work.contacts)


@kernel
def take_steps(
    rows: Rows, row: int, sample: int, draw: ConeDraw, outputs: Outputs, work: ConeWork, most: int
) -> None:
    """At most ``most`` steps of one sample that is PENDING; its impulse is the scaled total so far."""
    nc = rows.nc[row]
    n, inputs, total, count = 3 * nc, work.inputs, work.total, wide(outputs.events[row, sample])
    limit = tolerances.RESIDUAL
    for i in range(nc):
        if work.contacts[FRICTION, i] > tolerances.HUGE_FRICTION:
            limit = tolerances.RESIDUAL_HUGE_FRICTION
        for part in range(3):
            total[3 * i + part] = outputs.impulse[row, sample, i, part]
    velocity_after(n, work.G, rows.start[row], total, inputs)
    ended, worst, taken = wide(PENDING), outputs.residual[row, sample], 0
    key = (np.uint32(draw.seed), np.uint32(np.uint64(draw.seed) >> SHIFT), np.uint32(draw.row + row))
    while ended == PENDING:
        if not approaches((nc, 2, 0), inputs):
            ended = wide(SOLVED if count > 0 else NO_IMPACT)
        elif count >= draw.max_steps:
            ended = wide(MAX_STEPS)
        elif taken >= most:
            break
        else:
            step_bounds(nc, draw.points, key, sample, count, work.contacts[BOX], inputs[n:])
            residual = cone_step(work, nc)
            count += 1
            taken += 1
            worst = residual if not residual <= worst else worst
            for j in range(n):
                total[j] += work.impulse[j]
            velocity_after(n, work.G, rows.start[row], total, inputs)
            if not residual < limit:
                ended = wide(NUMERICAL)
    outputs.status[row, sample], outputs.events[row, sample] = ended, count
    outputs.residual[row, sample] = worst
    for i in range(nc):
        unit = 1.0 if ended == PENDING else rows.contact[row, IMPULSE, i]
        for part in range(3):
            outputs.impulse[row, sample, i, part] = total[3 * i + part] * unit
    if ended != PENDING and ended != NO_IMPACT:
        for r in range(outputs.v.shape[2]):
            value = rows.before[row, r]
            for j in range(n):
                value += rows.response[row, r, j] * total[j]
            outputs.v[row, sample, r] = value


@kernel
def run_cone(
    rows: Rows, draw: ConeDraw, outputs: Outputs, work: ConeWork, begin: int, end: int, most: int
) -> int:
    """HP23's Algorithm 1 for the pairs (row, sample) with numbers ``begin`` to ``end`` that are PENDING.

    At most ``most`` steps of each; how many of them stay PENDING.
    """
    loaded, left = -1, 0
    for number in range(begin, end):
        row = number // draw.n
        sample = number - row * draw.n
        if outputs.status[row, sample] != PENDING:
            continue
        if row != loaded:
            load_row(rows, row, draw, work)
            loaded = row
        take_steps(rows, row, sample, draw, outputs, work, most)
        if outputs.status[row, sample] == PENDING:
            left += 1
    return left


def run_cone_rows(
    rows: Rows, draw: ConeDraw, outputs: Outputs, *, threads: int | None = None, deadline: float = math.inf
) -> None:
    """All samples that are PENDING, until the deadline (of `time.monotonic`)."""

    def work(begin: int, end: int, own: ConeWork) -> None:
        while run_cone(rows, draw, outputs, own, begin, end, STEPS_AT_A_TIME) and time.monotonic() < deadline:
            pass

    nc, left = rows.contact.shape[2], seconds_left(deadline)
    run_slices(len(rows.nc) * draw.n, lambda: make_work(nc), work, threads=threads, budget=left)
