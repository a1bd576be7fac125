"""What samples on the GPU say, found there: only small tables are copied.

Each thread goes through samples as far apart as there are threads, keeps its own sums, smallest and largest
values; a second kernel folds those of many threads into a few, and the host the rest. The order is always the
same, so equal samples give equal sums.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from routh.base import tolerances
from routh.base.validation import Array
from routh.compiling import kernel
from routh.compiling.threads import add_atomically, thread_number
from routh.gpu.memory import DeviceArray, allocate, fetch, send
from routh.gpu.ptx import gpu_kernel
from routh.kernels.common.judge import mode_of
from routh.problem.impact import ImpactProblem
from routh.problem.rows import dot

THREADS, BLOCK = 16384, 128
APPROACH, STICK = tolerances.APPROACH, tolerances.STICK
KEPT = 128  # columns that the second kernel leaves for the host
STATUSES = 16
MOST_COMBINATIONS = 3**7  # of contact modes, for which there is a table
FEW = 4096  # threads of the search for one sample
SAME = 1e-12  # share of a diameter that is rounding: extreme outcomes are reached by many paths
CANDIDATES = 2**18  # samples that may be copied in the search for the diameter


class Judge(NamedTuple):
    """What a sample's velocity is judged by, to be sent to the GPU."""

    J: DeviceArray  # (nc, 1 + nt, nv) contact Jacobians over the contact's own velocity unit
    M: DeviceArray  # (nv, nv)
    factor: DeviceArray  # (nv, nv) lower Cholesky factor of M


class Fold(NamedTuple):
    """Sums over all samples."""

    status: Array  # (16,) samples with each status
    ended: int  # samples in which no contact approaches any more
    total: Array  # (nv,) sum of their velocities
    combinations: Array  # (3^nc, 3): how many of them have these modes; least and greatest kinetic energy, J


def make_judge(problem: ImpactProblem) -> Judge:
    """Arrays of the host."""
    return Judge(problem.J / problem.scaling.velocity[:, None, None], problem.M, problem.cholesky)


@kernel
def mode_code(J: Array, v: Array, sample: int) -> int:
    """The modes of all contacts as the digits of a number, the first contact's last; -1: one approaches."""
    code, place = 0, 1
    for i in range(J.shape[0]):
        normal = dot(J[i, 0], v[sample], v.shape[1])
        if not normal >= -APPROACH:
            return -1
        code += place * mode_of(normal, J[i, 1:], J.shape[1] - 1, v[sample], v.shape[1], 1.0, STICK)
        place *= 3
    return code


@gpu_kernel
def _fold(v: Array, status: Array, judge: Judge, combinations: int, out: Array) -> None:
    """Sums of each thread, a column of ``out``: statuses, ended, velocities, then three tables of modes."""
    thread, nv = thread_number(), v.shape[1]
    if thread >= out.shape[1]:
        return
    first = STATUSES + 1 + nv
    for row in range(first + combinations):
        out[row, thread] = 0.0
    for row in range(combinations):
        out[first + combinations + row, thread] = math.inf
        out[first + 2 * combinations + row, thread] = -math.inf
    for sample in range(thread, v.shape[0], out.shape[1]):
        out[status[sample], thread] += 1.0
        code = mode_code(judge.J, v, sample)
        if code < 0:
            continue
        energy = 0.0
        out[STATUSES, thread] += 1.0
        for r in range(nv):
            out[STATUSES + 1 + r, thread] += v[sample, r]
            energy += 0.5 * dot(judge.M[r], v[sample], nv) * v[sample, r]
        if code < combinations:
            out[first + code, thread] += 1.0
            low, high = first + combinations + code, first + 2 * combinations + code
            out[low, thread] = min(out[low, thread], energy)
            out[high, thread] = max(out[high, thread], energy)


@gpu_kernel
def _fold_again(partial: Array, least: int, most: int, out: Array) -> None:
    """Fold columns of many threads into few; rows from ``least`` on by minimum, from ``most`` by maximum."""
    row, column = thread_number() // out.shape[1], thread_number() % out.shape[1]
    if row >= out.shape[0]:
        return
    value = partial[row, column]
    for thread in range(column + out.shape[1], partial.shape[1], out.shape[1]):
        other = partial[row, thread]
        if row < least:
            value += other
        else:
            value = min(value, other) if row < most else max(value, other)
    out[row, column] = value


def fold(v: DeviceArray, status: DeviceArray, judge: Judge) -> Fold:
    """What samples v (n, nv) with status (n,) say; no table of modes where there are too many contacts."""
    n, nv = tuple(v.shape)
    combinations = 3 ** judge.J.shape[0]
    combinations = combinations if combinations <= MOST_COMBINATIONS else 0
    rows = STATUSES + 1 + nv + 3 * combinations
    threads = max(1, min(THREADS, n, 2**24 // rows))
    kept = min(KEPT, threads)
    partial, out = allocate([((rows, threads), np.float64), ((rows, kept), np.float64)])
    _fold[-(-threads // BLOCK), BLOCK](v, status, judge, combinations, partial)
    least, most = rows - 2 * combinations, rows - combinations
    _fold_again[-(-(rows * kept) // BLOCK), BLOCK](partial, least, most, out)
    found = fetch(out)
    sums = found[:least].sum(axis=1)
    table = np.stack(
        [sums[least - combinations :], found[least:most].min(axis=1), found[most:].max(axis=1)], axis=1
    )
    return Fold(sums[:STATUSES], int(sums[STATUSES]), sums[STATUSES + 1 : least - combinations], table)


@kernel
def size_along(v: Array, sample: int, A: Array, point: Array, linear: bool) -> float:
    """``|A (v - point)|^2`` of a sample; linear: the sum of ``A (v - point)``."""
    size = 0.0
    for a in range(A.shape[0]):
        part = 0.0
        for r in range(v.shape[1]):
            part += A[a, r] * (v[sample, r] - point[r])
        size += part if linear else part * part
    return size


@gpu_kernel
def _find_best(v: Array, J: Array, A: Array, point: Array, linear: bool, value: Array, index: Array) -> None:
    """Find each thread's ended sample with the largest `size_along`; -1: none."""
    thread = thread_number()
    if thread < value.shape[0]:
        best, who = -math.inf, -1
        for sample in range(thread, v.shape[0], value.shape[0]):
            size = size_along(v, sample, A, point, linear)
            if size > best and mode_code(J, v, sample) >= 0:
                best, who = size, sample
        value[thread], index[thread] = best, who


def best_sample(v: DeviceArray, judge: Judge, A: Array, point: Array, *, linear: bool) -> tuple[float, int]:
    """Value and index of the ended sample farthest along A (1, nv), or by ``|A (v - point)|^2``; -1: none."""
    threads = min(FEW, v.shape[0])
    value, index = allocate([((threads,), np.float64), ((threads,), np.int64)])
    along, origin = send((A, point))
    _find_best[-(-threads // BLOCK), BLOCK](v, judge.J, along, origin, linear, value, index)
    values, indices = fetch(value), fetch(index)
    best = values.max()
    at_best = indices[values == best]
    return float(best), int(at_best.min()) if at_best.size else -1


@gpu_kernel
def _collect(v: Array, J: Array, A: Array, point: Array, least: float, count: Array, out: Array) -> None:
    """The ended samples with ``|A (v - point)|^2`` above a size: their velocities, in any order."""
    sample = thread_number()
    if sample >= v.shape[0] or not size_along(v, sample, A, point, False) > least:
        return
    if mode_code(J, v, sample) >= 0:
        place = add_atomically(count, 0, 1)
        if place < out.shape[0]:
            for r in range(v.shape[1]):
                out[place, r] = v[sample, r]


def far_samples(v: DeviceArray, judge: Judge, problem: ImpactProblem, mean: Array) -> Array | None:
    """Velocities (k, nv) with two ended samples that are farthest apart, up to SAME; None: too many to tell.

    By the triangle inequality through a centre, a pair farther apart than one that is known can only consist
    of samples whose distances from the centre add up to more.
    """
    upper = problem.cholesky.T
    ends = [mean, mean]
    for _ in range(3):
        _, farthest = best_sample(v, judge, upper, ends[-1], linear=False)
        if farthest < 0:
            return np.empty((0, problem.nv))
        ends = [ends[-1], fetch(v[farthest : farthest + 1])[0]]
    known = float(np.linalg.norm(upper @ (ends[0] - ends[1])))
    centre = 0.5 * (ends[0] + ends[1])
    radius = math.sqrt(best_sample(v, judge, upper, centre, linear=False)[0])
    if radius <= tolerances.RESIDUAL * problem.scaling.speed:  # one point, up to rounding
        return np.stack(ends)
    least = max((1.0 + SAME) * known - radius, 0.0)  # pairs that are no farther apart than this do not count
    (out,) = allocate([((min(CANDIDATES, v.shape[0]), problem.nv), np.float64)])
    axes, origin, count = send((upper, centre, np.zeros(1, np.int32)))
    _collect[-(-v.shape[0] // BLOCK), BLOCK](v, judge.J, axes, origin, least * least, count, out)
    found = int(fetch(count)[0])
    if found > out.shape[0]:
        return None
    near = fetch(out[:found]) if found else np.empty((0, problem.nv))
    order = np.lexsort(near.T[::-1])  # the order on the GPU is that of chance
    return np.concatenate([np.stack(ends), near[order]])
