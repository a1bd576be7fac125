"""A simulated GPU: its memory is the host's, its kernels are compiled for the CPU and run thread by thread.

``ROUTH_SIMULATE_GPU=1`` in the environment puts it in the GPU's place. The entries are the same, and so is
everything around them, so that tests without a GPU run what a GPU runs.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from threading import Lock

import numpy as np

from routh.compiling.driver import Memory
from routh.compiling.foreign import Foreign

_ONE_AT_A_TIME = Lock()  # the number of the running thread lies in one place


class Simulator:
    """As `routh.compiling.driver.Driver`."""

    simulated = True
    number, name, capability = 0, "simulated", 90

    def __init__(self) -> None:
        self._held: dict[int, np.ndarray] = {}

    def allocate(self, size: int) -> Memory:
        """Memory of so many bytes, full of what a kernel must not read."""
        made = np.full(max(size, 1) + 256, 0xFF, np.uint8)
        address = -(-made.ctypes.data // 256) * 256
        self._held[address] = made
        return Memory(address, self._free)

    def _free(self, address: int) -> None:
        self._held.pop(address, None)

    def pinned(self, size: int) -> np.ndarray:
        """Bytes of the host."""
        return np.empty(size, np.uint8)

    def stream(self) -> Foreign:
        """Nothing: copies are made at once."""
        return None

    def to_device(self, address: int, array: np.ndarray, stream: Foreign = None) -> None:
        """Copy a dense array there."""
        ctypes.memmove(address, array.ctypes.data, array.nbytes)

    def to_host(self, array: np.ndarray, address: int, stream: Foreign = None) -> None:
        """Copy into a dense array."""
        ctypes.memmove(array.ctypes.data, address, array.nbytes)

    def wait(self, stream: Foreign = None) -> None:
        """Nothing: all is done."""

    def load(self, address: Foreign) -> Foreign:
        """The function of C at an address, which runs all threads of a launch."""
        return ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(address)

    def launch(
        self, function: Foreign, blocks: int, threads: int, words: ctypes.Array[ctypes.c_int64]
    ) -> None:
        """Run one thread after the other."""
        with _ONE_AT_A_TIME:
            function(ctypes.addressof(words), blocks * threads)

    def milliseconds(self, work: Callable[[], None]) -> float:
        """How long ``work`` takes."""
        began = time.perf_counter()
        work()
        return 1e3 * (time.perf_counter() - began)

    def used_by(self, function: Foreign) -> tuple[int, int]:
        """No registers and no local memory."""
        return 0, 0
