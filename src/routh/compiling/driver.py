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

from routh.compiling import NoGPUError
from routh.compiling.foreign import Foreign
from routh.status import RouthError, optional

_WANTED = "device: got 'cuda'; wanted a machine with an NVIDIA GPU and its driver, or device='cpu'"


@functools.cache
def gpu() -> Driver:
    """The GPU in use; raises MissingExtraError or `NoGPUError`."""
    return Driver() if os.environ.get("ROUTH_SIMULATE_GPU", "0") in ("", "0") else _Simulator()


class Memory:
    """Memory that is given back when nobody holds it any more."""

    def __init__(self, address: int, free: Callable[[int], Foreign]) -> None:
        self.address = address
        weakref.finalize(self, free, address).atexit = False  # with the process all of it goes


class Driver:
    """The first GPU; raises MissingExtraError or `NoGPUError`."""

    simulated = False
    number = 0

    def __init__(self) -> None:
        try:
            ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise NoGPUError(f"{_WANTED} ({error})") from None
        self._cu = optional("cuda.bindings.driver", "cuda", "cuda-bindings")
        try:
            self._do("cuInit", 0)
            self._device = self._do("cuDeviceGet", 0)
        except RouthError as error:
            raise NoGPUError(f"{_WANTED} ({error})") from None
        self._context = self._do("cuDevicePrimaryCtxRetain", self._device)
        self.name = bytes(self._do("cuDeviceGetName", 256, self._device)).split(b"\0")[0].decode()
        kind = self._cu.CUdevice_attribute
        major = kind.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
        minor = kind.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR
        self.capability = 10 * self._attribute(major) + self._attribute(minor)
        self.processors = self._attribute(kind.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)

    def _attribute(self, which: Foreign) -> int:
        return int(self._do("cuDeviceGetAttribute", which, self._device))

    def _do(self, name: str, *arguments: Foreign) -> Foreign:
        """Call a function of the driver; what it returns besides its error, or that error."""
        failed, *found = getattr(self._cu, name)(*arguments)
        if int(failed):
            _, text = self._cu.cuGetErrorString(failed)
            raise RouthError(f"{name}: {text.decode() if text else failed}")
        return found[0] if len(found) == 1 else tuple(found)

    def _here(self, name: str, *arguments: Foreign) -> Foreign:
        """The same in the GPU's context, which each thread has to choose."""
        self._do("cuCtxSetCurrent", self._context)
        return self._do(name, *arguments)

    # memory

    def allocate(self, size: int) -> Memory:
        """Memory of so many bytes."""
        address = int(self._here("cuMemAlloc", max(size, 1)))
        return Memory(address, functools.partial(self._here, "cuMemFree"))

    def pinned(self, size: int) -> np.ndarray:
        """Bytes of the host that the GPU reads and writes by itself; never given back."""
        address = int(self._here("cuMemHostAlloc", size, 0))
        return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))

    def stream(self) -> Foreign:
        """A queue of copies beside the others."""
        return self._here("cuStreamCreate", 1)

    def to_device(self, address: int, array: np.ndarray, stream: Foreign = None) -> None:
        """Copy a dense array there; in a stream, while Python goes on."""
        self._copy("cuMemcpyHtoD", address, array.ctypes.data, array.nbytes, stream)

    def to_host(self, array: np.ndarray, address: int, stream: Foreign = None) -> None:
        """Copy into a dense array; in a stream, while Python goes on."""
        self._copy("cuMemcpyDtoH", array.ctypes.data, address, array.nbytes, stream)

    def _copy(self, name: str, to: int, source: int, size: int, stream: Foreign) -> None:
        if size and stream is None:
            self._here(name, to, source, size)
        elif size:
            self._here(f"{name}Async", to, source, size, stream)

    def wait(self, stream: Foreign = None) -> None:
        """Until all that was asked for, or all of a stream, is done."""
        if stream is None:
            self._here("cuCtxSynchronize")
        else:
            self._here("cuStreamSynchronize", stream)

    # code

    def load(self, code: Foreign) -> Foreign:
        """The kernel ``entry`` of a program in PTX."""
        module = self._here("cuModuleLoadData", code.encode() + b"\0")
        return self._do("cuModuleGetFunction", module, b"entry")

    def launch(
        self, function: Foreign, blocks: int, threads: int, words: ctypes.Array[ctypes.c_int64]
    ) -> None:
        """Run a kernel with a word for each parameter."""
        first = ctypes.addressof(words)
        places = (ctypes.c_void_p * max(len(words), 1))(*(first + 8 * k for k in range(len(words))))
        self._here(
            "cuLaunchKernel", function, blocks, 1, 1, threads, 1, 1, 0, 0, ctypes.addressof(places), 0
        )  # fmt: skip

    def milliseconds(self, work: Callable[[], None]) -> float:
        """How long the GPU takes for what ``work`` launches."""
        begin, end = self._here("cuEventCreate", 0), self._here("cuEventCreate", 0)
        self._do("cuEventRecord", begin, 0)
        work()
        self._here("cuEventRecord", end, 0)
        self._do("cuEventSynchronize", end)
        return float(self._do("cuEventElapsedTime", begin, end))


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
        return Memory(address, self._held.pop)

    def pinned(self, size: int) -> np.ndarray:
        return np.empty(size, np.uint8)

    def stream(self) -> Foreign:
        return None

    def _copy(self, name: str, to: int, source: int, size: int, stream: Foreign) -> None:
        ctypes.memmove(to, source, size)

    def wait(self, stream: Foreign = None) -> None:
        pass

    def load(self, code: Foreign) -> Foreign:
        """The function of C at an address, which runs all threads of a launch."""
        return ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(code)

    def launch(
        self, function: Foreign, blocks: int, threads: int, words: ctypes.Array[ctypes.c_int64]
    ) -> None:
        with self._one_at_a_time:
            function(ctypes.addressof(words), blocks * threads)
