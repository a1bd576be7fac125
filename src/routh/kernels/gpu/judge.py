"""What samples of many impacts on the GPU say, row by row: one thread per row, the source of the CPU."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from routh import tolerances
from routh.compiling import gpu_kernel, on_device
from routh.compiling.threads import own_array, thread_number
from routh.kernels.common.judge import ABSENT, diameters, energies, judge
from routh.kernels.gpu.memory import CudaKernel, DeviceArray, allocate, send
from routh.preparing import Problems, Scratch

BLOCK = 128
POINTS_BYTES = 2**28  # scratch of the search for diameters


def one_row(problems: Problems, row: int) -> DeviceArray:
    """A batch of one row of a batch."""
    return Problems(
        problems.M[row : row + 1],
        problems.Jn[row : row + 1],
        problems.Jt[row : row + 1],
        problems.mu[row : row + 1],
        problems.restitution[row : row + 1],
        problems.v[row : row + 1],
        problems.present[row : row + 1],
        problems.size[row : row + 1],
    )


@lru_cache(maxsize=16)
def _judge_kernel(nv: int) -> CudaKernel:
    judged, alone = on_device(judge), on_device(one_row)
    limits = tolerances.APPROACH, tolerances.STICK

    def entry(
        problems: Problems, skip: DeviceArray, v: DeviceArray, ended: DeviceArray, modes: DeviceArray
    ) -> None:
        row = thread_number()
        if row < v.shape[0]:
            own = Scratch(
                own_array((nv, nv), np.float64),
                own_array((1, nv), np.float64),
                own_array((1, 1), np.float64),
            )
            for sample in range(v.shape[1]):
                ended[row, sample] = False
                for i in range(modes.shape[2]):
                    modes[row, sample, i] = ABSENT
            judged(
                alone(problems, row),
                skip[row : row + 1],
                limits,
                own,
                v[row : row + 1],
                ended[row : row + 1],
                modes[row : row + 1],
            )

    return gpu_kernel(entry)


@lru_cache(maxsize=16)
def _diameter_kernel(nv: int) -> CudaKernel:
    measured, alone = on_device(diameters), on_device(one_row)

    def entry(
        problems: Problems,
        skip: DeviceArray,
        v: DeviceArray,
        ended: DeviceArray,
        points: DeviceArray,
        found: DeviceArray,
    ) -> None:
        own = Scratch(
            own_array((nv, nv), np.float64),
            own_array((1, nv), np.float64),
            own_array((1, 1), np.float64),
        )
        thread = thread_number()
        if thread < points.shape[0]:
            for row in range(thread, v.shape[0], points.shape[0]):
                found[row] = math.nan
                measured(
                    alone(problems, row),
                    skip[row : row + 1],
                    own,
                    v[row : row + 1],
                    ended[row : row + 1],
                    points[thread],
                    found[row : row + 1],
                )

    return gpu_kernel(entry)


@lru_cache(maxsize=1)
def _energy_kernel() -> CudaKernel:
    weighed, alone = on_device(energies), on_device(one_row)

    def entry(problems: Problems, v: DeviceArray, found: DeviceArray) -> None:
        row = thread_number()
        if row < v.shape[0]:
            weighed(alone(problems, row), v[row : row + 1], found[row : row + 1])

    return gpu_kernel(entry)


@lru_cache(maxsize=1)
def _extreme_kernel() -> CudaKernel:
    """Of each row the ended sample farthest along its direction; -1: none."""

    def entry(
        v: DeviceArray,
        ended: DeviceArray,
        along: DeviceArray,
        index: DeviceArray,
        value: DeviceArray,
        best_v: DeviceArray,
    ) -> None:
        row = thread_number()
        if row < v.shape[0]:
            index[row], value[row] = -1, math.nan
            for sample in range(v.shape[1]):
                size = 0.0
                for r in range(v.shape[2]):
                    size += along[row, r] * v[row, sample, r]
                better = index[row] < 0 or size > value[row]
                if ended[row, sample] and size == size and better:
                    index[row], value[row] = sample, size
            for r in range(v.shape[2]):
                best_v[row, r] = v[row, index[row], r] if index[row] >= 0 else math.nan

    return gpu_kernel(entry)


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
    kernel = _diameter_kernel(nv)
    kernel[-(-threads // BLOCK), BLOCK](problems, send(skip), v, ended, points, found)
    return found


def energies_of_rows(problems: Problems, v: DeviceArray) -> DeviceArray:
    """Kinetic energies, (rows, n) J."""
    (found,) = allocate([(tuple(v.shape)[:2], np.float64)])
    _energy_kernel()[-(-v.shape[0] // BLOCK), BLOCK](problems, v, found)
    return found


def extremes_of_rows(
    v: DeviceArray, ended: DeviceArray, along: np.ndarray
) -> tuple[DeviceArray, DeviceArray, DeviceArray]:
    """Index (rows,), value (rows,) and velocity (rows, nv) of the ended samples farthest along directions."""
    rows, _, nv = tuple(v.shape)
    index, value, best = allocate([((rows,), np.int64), ((rows,), np.float64), ((rows, nv), np.float64)])
    _extreme_kernel()[-(-rows // BLOCK), BLOCK](v, ended, send(along), index, value, best)
    return index, value, best
