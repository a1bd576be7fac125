"""NVIDIA's driver through cuda-bindings: memory, copies, modules and launches of the first GPU.

The context is the device's primary one, which PyTorch, CuPy and JAX use, too: memory can be shared with them.

``ROUTH_SIMULATE_GPU=1`` in the environment puts a simulated GPU in its place: its memory is the host's, its
kernels are compiled for the CPU and run thread by thread. The entries are the same, and so is everything
around them, so that tests without a GPU run what a GPU runs.
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
import weakref
from collections.abc import Callable

import numpy as np

from routh.base.status import NoGPUError, RouthError, optional
from routh.compiling.arguments import MOST, WORDS, CallRoom
from routh.compiling.foreign import Foreign

_WANTED = "device: got 'cuda'; wanted a machine with an NVIDIA GPU and its driver, or device='cpu'"


@functools.cache
def gpu() -> Driver:
    """The GPU in use; raises MissingExtraError or `NoGPUError`."""
    return Driver() if os.environ.get("ROUTH_SIMULATE_GPU", "0") in ("", "0") else _Simulator()


class Memory:
    """Bytes, in the words of NumPy, that are given back when nobody holds them any more."""

    def __init__(self, address: int, size: int, free: Callable[[int], Foreign]) -> None:
        self.__array_interface__ = {
            "shape": (size,), "typestr": "|u1", "data": (address, False), "version": 3
        }  # fmt: skip
        weakref.finalize(self, free, address).atexit = False  # with the process all of it goes


class Driver:
    """The first GPU; raises MissingExtraError or `NoGPUError`."""

    simulated = False
    _context: Foreign = None

    def __init__(self) -> None:
        try:
            ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise NoGPUError(f"{_WANTED} ({error})") from None
        self._cu = optional("cuda.bindings.driver", "cuda", "cuda-bindings")
        try:
            self.do("cuInit", 0)
            device = self.do("cuDeviceGet", 0)
        except RouthError as error:
            raise NoGPUError(f"{_WANTED} ({error})") from None
        self._context = self.do("cuDevicePrimaryCtxRetain", device)
        self.name = bytes(self.do("cuDeviceGetName", 256, device)).split(b"\0")[0].decode()
        kinds = self._cu.CUdevice_attribute
        major, minor, self.processors = (
            int(self.do("cuDeviceGetAttribute", getattr(kinds, f"CU_DEVICE_ATTRIBUTE_{one}"), device))
            for one in ("COMPUTE_CAPABILITY_MAJOR", "COMPUTE_CAPABILITY_MINOR", "MULTIPROCESSOR_COUNT")
        )
        self.capability = 10 * major + minor

    def do(self, name: str, *arguments: Foreign) -> Foreign:
        """Call a function of the driver; what it returns besides its error, or that error."""
        if self._context is not None:
            self._cu.cuCtxSetCurrent(self._context)  # which each thread of Python has to choose
        failed, *found = getattr(self._cu, name)(*arguments)
        if int(failed):
            _, text = self._cu.cuGetErrorString(failed)
            raise RouthError(f"{name}: {text.decode() if text else failed}")
        return found[0] if len(found) == 1 else tuple(found)

    # memory

    def allocate(self, size: int) -> Memory:
        """Memory of so many bytes."""
        address = int(self.do("cuMemAlloc", max(size, 1)))
        return Memory(address, size, functools.partial(self.do, "cuMemFree"))

    def pinned(self, size: int) -> np.ndarray:
        """Bytes of the host that the GPU reads and writes by itself; never given back."""
        address = int(self.do("cuMemHostAlloc", size, 0))
        return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))

    def stream(self) -> Foreign:
        """A queue of copies beside the others."""
        return self.do("cuStreamCreate", 1)

    def to_device(self, address: int, array: np.ndarray, stream: Foreign = None) -> None:
        """Copy a dense array there; in a stream, while Python goes on."""
        self._copy("cuMemcpyHtoD", address, array.ctypes.data, array.nbytes, stream)

    def to_host(self, array: np.ndarray, address: int, stream: Foreign = None) -> None:
        """Copy into a dense array; in a stream, while Python goes on."""
        self._copy("cuMemcpyDtoH", array.ctypes.data, address, array.nbytes, stream)

    def _copy(self, name: str, to: int, source: int, size: int, stream: Foreign) -> None:
        if size and stream is None:
            self.do(name, to, source, size)
        elif size:
            self.do(f"{name}Async", to, source, size, stream)

    def wait(self, stream: Foreign = None) -> None:
        """Wait until all that was asked for, or all of a stream, is done."""
        if stream is None:
            self.do("cuCtxSynchronize")
        else:
            self.do("cuStreamSynchronize", stream)

    # code

    def load(self, code: bytes) -> Foreign:
        """The kernel ``entry`` of a program in PTX."""
        module = self.do("cuModuleLoadData", code + b"\0")
        return self.do("cuModuleGetFunction", module, b"entry")

    def launch(self, function: Foreign, blocks: int, threads: int, room: CallRoom) -> None:
        """Run a kernel with a word of the room for each parameter."""
        places = (ctypes.c_void_p * MOST)(*range(room.words, room.words + 8 * room.memory[WORDS], 8))
        self.do("cuLaunchKernel", function, blocks, 1, 1, threads, 1, 1, 0, 0, ctypes.addressof(places), 0)


class _Simulator(Driver):
    """The CPU in the place of a GPU; copies and launches are done when the call returns."""

    simulated = True

    def __init__(self) -> None:
        self.name, self.capability, self.processors = "simulated", 90, 1
        self._held: dict[int, np.ndarray] = {}
        self._one_at_a_time = threading.Lock()  # the number of the running thread lies in one place

    def allocate(self, size: int) -> Memory:
        made = np.full(max(size, 1) + 256, 0xFF, np.uint8)  # what a kernel must not read
        address = -(-made.ctypes.data // 256) * 256
        self._held[address] = made
        return Memory(address, size, self._held.pop)

    def pinned(self, size: int) -> np.ndarray:
        return np.empty(size, np.uint8)

    def stream(self) -> Foreign:
        return None

    def _copy(self, name: str, to: int, source: int, size: int, stream: Foreign) -> None:
        ctypes.memmove(to, source, size)

    def wait(self, stream: Foreign = None) -> None:
        pass

    def launch(self, function: Foreign, blocks: int, threads: int, room: CallRoom) -> None:
        """One thread after the other, each with its number and how many there are."""
        place = (ctypes.c_int64 * 2)(0, blocks * threads)
        with self._one_at_a_time:
            for place[0] in range(blocks * threads):
                function(room.words, ctypes.addressof(place))
