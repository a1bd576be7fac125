"""What samples of many impacts on the GPU say, row by row: one thread per row, the source of the CPU."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from routh.base import tolerances
from routh.base.validation import Array
from routh.compiling.threads import layout_of, own_arrays, thread_number
from routh.gpu.memory import CudaKernel, DeviceArray, allocate, send
from routh.gpu.ptx import gpu_kernel
from routh.kernels.common.judge import ABSENT, diameters, energies, judge
from routh.problem.rows import Problems, RowScratch, scratch_for

BLOCK = 128
POINTS_BYTES = 2**28  # scratch of the search for diameters


@lru_cache(maxsize=16)
def _judge_kernel(nv: int) -> CudaKernel:
    limits, layout = (tolerances.APPROACH, tolerances.STICK), layout_of(scratch_for(0, 1, nv))

    def entry(problems: Problems, skip: Array, v: Array, ended: Array, modes: Array) -> None:
        row = thread_number()
        if row < v.shape[0]:
            own = own_arrays(RowScratch, layout)
            for sample in range(v.shape[1]):
                ended[row, sample] = False
                for i in range(modes.shape[2]):
                    modes[row, sample, i] = ABSENT
            judge(problems, skip, limits, own, v, ended, modes, row, row + 1)

    return gpu_kernel(entry)


@lru_cache(maxsize=16)
def _diameter_kernel(nv: int) -> CudaKernel:
    layout = layout_of(scratch_for(0, 1, nv))

    def entry(problems: Problems, skip: Array, v: Array, ended: Array, points: Array, found: Array) -> None:
        thread, own = thread_number(), own_arrays(RowScratch, layout)
        if thread < points.shape[0]:
            for row in range(thread, v.shape[0], points.shape[0]):
                found[row] = math.nan
                diameters(problems, skip, own, v, ended, points[thread], found, row, row + 1)

    return gpu_kernel(entry)


@gpu_kernel
def _energies(problems: Problems, v: Array, found: Array) -> None:
    row = thread_number()
    if row < v.shape[0]:
        energies(problems, v, found, row, row + 1)


@gpu_kernel
def _extremes(v: Array, ended: Array, along: Array, index: Array, value: Array, best: Array) -> None:
    """Find each row's ended sample farthest along its direction; -1: none."""
    row = thread_number()
    if row >= v.shape[0]:
        return
    index[row], value[row] = -1, math.nan
    for sample in range(v.shape[1]):
        size = 0.0
        for r in range(v.shape[2]):
            size += along[row, r] * v[row, sample, r]
        better = index[row] < 0 or size > value[row]
        if ended[row, sample] and size == size and better:
            index[row], value[row] = sample, size
    for r in range(v.shape[2]):
        best[row, r] = v[row, index[row], r] if index[row] >= 0 else math.nan


def judge_rows(problems: Problems, skip: np.ndarray, v: DeviceArray) -> tuple[DeviceArray, DeviceArray]:
    """Which samples v (rows, n, nv) have ended, (rows, n), and what contacts do after, (rows, n, nc)."""
    rows, n, nv = tuple(v.shape)
    nc = problems.mu.shape[1]
    ended, modes = allocate([((rows, n), np.bool_), ((rows, n, nc), np.int8)])
    _judge_kernel(nv)[-(-rows // BLOCK), BLOCK](problems, send(skip), v, ended, modes)
    return ended, modes


def diameters_of_rows(
    problems: Problems, skip: np.ndarray, v: DeviceArray, ended: DeviceArray
) -> DeviceArray:
    """`routh.kernels.common.judge.diameters`, (rows,); NaN where skipped."""
    rows, n, nv = tuple(v.shape)
    threads = max(1, min(rows, POINTS_BYTES // (8 * n * nv)))
    points, found = allocate([((threads, n, nv), np.float64), ((rows,), np.float64)])
    _diameter_kernel(nv)[-(-threads // BLOCK), BLOCK](problems, send(skip), v, ended, points, found)
    return found


def energies_of_rows(problems: Problems, v: DeviceArray) -> DeviceArray:
    """Kinetic energies, (rows, n) J."""
    (found,) = allocate([(tuple(v.shape)[:2], np.float64)])
    _energies[-(-v.shape[0] // BLOCK), BLOCK](problems, v, found)
    return found


def extremes_of_rows(
    v: DeviceArray, ended: DeviceArray, along: np.ndarray
) -> tuple[DeviceArray, DeviceArray, DeviceArray]:
    """Index (rows,), value (rows,) and velocity (rows, nv) of the ended samples farthest along directions."""
    rows, _, nv = tuple(v.shape)
    index, value, best = allocate([((rows,), np.int64), ((rows,), np.float64), ((rows, nv), np.float64)])
    _extremes[-(-rows // BLOCK), BLOCK](v, ended, send(along), index, value, best)
    return index, value, best
