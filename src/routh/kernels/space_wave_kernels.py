"""Kernels of `routh.kernels.space_cuda` that sort samples: who does what next."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from routh.compiling import cuda_kernel, on_device
from routh.kernels.gpu_memory import CudaKernel, DeviceArray
from routh.kernels.space_names import STEPS
from routh.kernels.space_state import global_row
from routh.kernels.space_waves import ELSEWHERE, ENDED, FRESH, HARD, KINDS, LONG, Waves, is_unusual

if TYPE_CHECKING:
    from numba import cuda  # at run time `cuda_kernel` puts it here

EACH = 8  # samples that each thread of a block sorts
LONG_BESIDE, OTHERS_BESIDE = 3, 3  # runs at a time: of long curves, and of what is not usual
RUNS = LONG_BESIDE + OTHERS_BESIDE
IN_TURN, THE_REST = -1, -2  # what kernels do that do not belong to a run


def list_of(kind: int, run: int) -> int:
    """Where the samples of a kind are listed: those of turns, or of a run.

    Runs of long curves have lists of what is not usual, too.
    """
    if run < 0:
        return kind
    longs, others = KINDS - LONG, FRESH - HARD
    if run < LONG_BESIDE:
        return KINDS + (longs + others) * run + (kind - LONG if kind >= LONG else longs + kind - HARD)
    return KINDS + (longs + others) * LONG_BESIDE + others * (run - LONG_BESIDE) + kind - HARD


@lru_cache(maxsize=1)
def begin_kernel() -> CudaKernel:
    """All samples before their first draw; those not wanted have ended."""

    def entry(wanted: DeviceArray, n: int, waves: Waves, begin: int, end: int) -> None:
        place = cuda.grid(1)
        if place < end - begin:
            waves.kinds[place] = FRESH if wanted[(begin + place) // n] else ELSEWHERE
        if place < waves.counts.shape[0]:
            for kind in range(KINDS):
                waves.counts[place, kind] = 0
        if place == 0:
            waves.turn[0] = waves.turn[1] = 0

    return cuda_kernel(entry)


@lru_cache(maxsize=1)
def end_kernel() -> CudaKernel:
    """The end of a turn, in which some samples began and some ended, or of a run."""

    def entry(waves: Waves, run: int) -> None:
        if run >= 0:
            for kind in range(KINDS):
                waves.counts[waves.counts.shape[0] - 1 - run, kind] = 0
        else:
            turn = waves.turn[0]
            waves.turn[1] += waves.counts[turn, FRESH] - waves.counts[turn, ENDED]
            waves.turn[0] = turn + 1

    return cuda_kernel(entry)


@lru_cache(maxsize=1)
def sort_kernel() -> CudaKernel:
    """Lists of the samples of each kind, nearly in order: what lies side by side is read together."""

    def entry(waves: Waves, count: int) -> None:
        own = cuda.shared.array(KINDS, np.int32)
        places = cuda.shared.array(KINDS, np.int32)
        thread, threads, turn = cuda.threadIdx.x, cuda.blockDim.x, waves.turn[0]
        first = cuda.blockIdx.x * threads * EACH
        last = min(first + threads * EACH, count)
        seen = cuda.local.array(EACH, np.int8)  # what runs change meanwhile waits for the next turn
        for kind in range(thread, KINDS, threads):
            own[kind] = 0
        cuda.syncthreads()
        for slot in range(first + thread, last, threads):
            kind = waves.kinds[slot]
            seen[(slot - first) // threads] = kind
            if kind >= 0:
                cuda.atomic.add(own, kind, 1)
        cuda.syncthreads()
        for kind in range(thread, KINDS, threads):
            places[kind] = cuda.atomic.add(waves.counts, (turn, kind), own[kind])
        cuda.syncthreads()
        for slot in range(first + thread, last, threads):
            kind = seen[(slot - first) // threads]
            if kind >= 0:
                waves.lists[kind, cuda.atomic.add(places, kind, 1)] = slot

    return cuda_kernel(entry)


@lru_cache(maxsize=1)
def collect_kernel() -> CudaKernel:
    """The samples of a run: those of some kinds; turns, and runs that begin meanwhile, leave them alone.

    And those that are not usual, of samples that have had ``haste`` steps.
    """
    list_at, unusual, row_of = on_device(list_of), on_device(is_unusual), on_device(global_row)

    def entry(
        contacts: DeviceArray, n: int, waves: Waves, begin: int, count: int, run: int, first: int, last: int,
        haste: int,
    ) -> None:  # fmt: skip
        slot = cuda.grid(1)
        kind = waves.kinds[slot] if slot < count else ELSEWHERE
        wanted = first <= kind < last
        if unusual(kind) and not wanted:
            wanted = waves.states[row_of(contacts[(begin + slot) // n], STEPS), slot] >= haste
        if wanted and cuda.atomic.cas(waves.kinds, slot, kind, ELSEWHERE) == kind:
            place = cuda.atomic.add(waves.counts, (waves.counts.shape[0] - 1 - run, kind), 1)
            waves.lists[list_at(kind, run), place] = slot

    return cuda_kernel(entry)
