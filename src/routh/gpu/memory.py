"""Arrays in the memory of an NVIDIA GPU: made together, shared through DLPack, copied when asked for.

Large copies go through pages of pinned memory, two in turn: while one is read, the other is filled.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from threading import Event, Lock
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from routh.base.status import InputError
from routh.compiling.threads import thread_number
from routh.gpu import device
from routh.gpu.driver import gpu
from routh.gpu.ptx import gpu_kernel
from routh.kernels.common.slices import cores

DeviceArray: TypeAlias = Any  # `routh.gpu.device.DeviceArray`, and (named) tuples of them
CudaKernel: TypeAlias = Any  # `routh.gpu.ptx.GpuKernel`
PAGE, SENT_PAGE = 4 * 2**20, 8 * 2**20  # bytes of pinned memory filled at a time, fetching and sending
SMALL = 2**16  # bytes that are fetched at once: pages and their streams would take longer
LARGE = 2**26  # bytes from which on several threads send an array: one fills pages half as fast as they leave
SENDERS = 4
TOGETHER = 2**20  # bytes up to which arrays are sent in one copy
ALIGNED = 256  # bytes; arrays in one allocation begin at multiples of this
BLOCK = 256
_PAGES_IN_USE = Lock()  # by one copy at a time


def send(data: DeviceArray) -> DeviceArray:
    """Arrays, and (named) tuples of them, in the GPU's memory; numbers, and what is there, as they are.

    Small ones travel together: each copy on its own would take longer than all of them.
    """
    arrays: list[np.ndarray] = []
    _collect(data, arrays)
    if sum(array.nbytes for array in arrays) > TOGETHER or len(arrays) < 2:
        return _mapped(data, iter([_sent(array) for array in arrays]))
    room = _room([array.nbytes for array in arrays])
    packed, begin = np.empty(sum(room), np.uint8), 0
    for array, length in zip(arrays, room, strict=True):
        packed[begin : begin + array.nbytes] = array.reshape(-1).view(np.uint8)
        begin += length
    return _mapped(data, iter(_placed(device.sent(packed), [(a.shape, a.dtype) for a in arrays])))


def _sent(array: np.ndarray) -> DeviceArray:
    """A contiguous array in the GPU's memory; what is large is shared among threads, page by page."""
    threads = min(SENDERS, cores())
    if array.nbytes < LARGE or threads < 2:
        return device.sent(array)
    there = gpu()
    there.wait()
    held, stopped = device.empty(array.shape, array.dtype), Event()
    source = array.reshape(-1).view(np.uint8)

    def send_share(sender: int) -> None:
        pages, streams = _pages(sender)
        for number, begin in enumerate(range(sender * SENT_PAGE, source.size, threads * SENT_PAGE)):
            if stopped.is_set():
                break
            end = min(begin + SENT_PAGE, source.size)
            page, stream = pages[number % 2][: end - begin], streams[number % 2]
            there.wait(stream)  # what the page held before has left it
            page[:] = source[begin:end]
            held.bytes(begin, end).copy_to_device(page, stream)
        for stream in streams:
            there.wait(stream)

    with _PAGES_IN_USE, ThreadPoolExecutor(threads) as pool:
        try:
            list(pool.map(send_share, range(threads)))
        finally:  # after an interrupt the threads end with the page they are at
            stopped.set()
    return held


def _collect(data: DeviceArray, found: list[np.ndarray]) -> None:
    if isinstance(data, np.ndarray):
        found.append(np.ascontiguousarray(data))
    elif isinstance(data, tuple):
        for part in data:
            _collect(part, found)


def _mapped(data: DeviceArray, arrays: Iterator[DeviceArray]) -> DeviceArray:
    """The data with the next arrays in place of its own."""
    if isinstance(data, np.ndarray):
        return next(arrays)
    if isinstance(data, tuple):
        parts = [_mapped(part, arrays) for part in data]
        return type(data)(*parts) if hasattr(data, "_fields") else tuple(parts)
    return data


def allocate(shapes: Sequence[tuple[tuple[int, ...], DTypeLike]]) -> list[DeviceArray]:
    """Arrays of these shapes and types, not filled, in one allocation: each would cost a tenth of a ms."""
    sizes = [math.prod(shape) * np.dtype(kind).itemsize for shape, kind in shapes]
    return _placed(device.empty((sum(_room(sizes)),), np.uint8), shapes)


def _room(sizes: Sequence[int]) -> list[int]:
    return [-(-max(size, 1) // ALIGNED) * ALIGNED for size in sizes]


def _placed(whole: DeviceArray, shapes: Sequence[tuple[tuple[int, ...], DTypeLike]]) -> list[DeviceArray]:
    """Arrays one after the other in the bytes of ``whole``."""
    found, begin = [], 0
    for shape, kind in shapes:
        size = math.prod(shape) * np.dtype(kind).itemsize
        found.append(GpuArray(whole.view[begin : begin + size].view(kind).reshape(shape)))
        begin += _room([size])[0]
    return found


@lru_cache(maxsize=SENDERS)
def _pages(thread: int) -> tuple[list[DeviceArray], list[DeviceArray]]:
    """Two pages of pinned memory for a thread, and a stream for each: kept, since pinning takes a while."""
    there = gpu()
    return [there.pinned(max(PAGE, SENT_PAGE)) for _ in range(2)], [there.stream() for _ in range(2)]


def fetch(array: DeviceArray) -> np.ndarray:
    """A contiguous array of the GPU as one of the host."""
    found = np.empty(tuple(array.shape), array.dtype)
    if found.size == 0:
        return found
    if found.nbytes <= SMALL:
        array.copy_to_host(found)
        return found
    there = gpu()
    there.wait()
    target = found.reshape(-1).view(np.uint8)
    with _PAGES_IN_USE:
        (pages, streams), waiting = _pages(0), None
        for number, begin in enumerate(range(0, target.size, PAGE)):
            end = min(begin + PAGE, target.size)
            page, stream = pages[number % 2][: end - begin], streams[number % 2]
            array.bytes(begin, end).copy_to_host(page, stream)
            if waiting is not None:
                _read(*waiting)
            waiting = stream, page, target[begin:end]
        if waiting is not None:
            _read(*waiting)
    return found


def _read(stream: DeviceArray, page: np.ndarray, target: np.ndarray) -> None:
    gpu().wait(stream)
    target[:] = page


@lru_cache(maxsize=1)
def _take_kernel() -> CudaKernel:
    """Some columns of a matrix, next to each other."""

    def entry(matrix: DeviceArray, columns: DeviceArray, out: DeviceArray) -> None:
        row = thread_number()
        if row < matrix.shape[0]:
            for k in range(columns.shape[0]):
                out[row, k] = matrix[row, columns[k]]

    return gpu_kernel(entry)


class GpuArray(device.DeviceArray):
    """An array in the GPU's memory, dense.

    Other libraries take it over without a copy: ``torch.from_dlpack(array)``, and likewise CuPy and JAX.
    ``array.numpy()`` and ``numpy.asarray(array)`` copy all of it, ``array.columns(...)`` a part.
    """

    def numpy(self) -> np.ndarray:
        """A copy on the host, through pinned memory."""
        return fetch(self)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        """Make ``numpy.asarray(array)`` a copy on the host."""
        if copy is False:
            raise InputError("copy", got="False; an array of the GPU cannot be seen by NumPy without a copy")
        return self.numpy().astype(self.dtype if dtype is None else dtype, copy=False)

    def columns(self, *indices: int) -> np.ndarray:
        """The entries with these indices in the last axis, as a copy on the host; nothing else is copied."""
        *leading, width = self.shape
        for index in indices:
            if not -width <= index < width:
                raise InputError("columns", got=index, wanted=f"indices from {-width} to {width - 1}")
        rows = int(np.prod(leading))
        out = device.empty((rows, len(indices)), self.dtype)
        chosen = send(np.array([index % width for index in indices], dtype=np.int64))
        if out.size:
            _take_kernel()[-(-rows // BLOCK), BLOCK](self.reshape(rows, width), chosen, out)
        return fetch(out).reshape(*leading, len(indices))
