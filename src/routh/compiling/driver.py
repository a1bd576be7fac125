"""NVIDIA's driver through cuda-bindings: memory, copies, modules and launches of the first GPU.

The context is the device's primary one, which PyTorch, CuPy and JAX use, too: memory can be shared with them.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable

import numpy as np

from routh.compiling import NoGPUError
from routh.compiling.foreign import Foreign
from routh.status import RouthError, optional

_WANTED = "device: got 'cuda'; wanted a machine with an NVIDIA GPU and its driver, or device='cpu'"


class Driver:
    """The first GPU; raises MissingExtraError or `NoGPUError`."""

    simulated = False

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
        self.number = 0
        self.name = bytes(self._do("cuDeviceGetName", 256, self._device)).split(b"\0")[0].decode()
        kind = self._cu.CUdevice_attribute
        major, minor = (
            self._do("cuDeviceGetAttribute", one, self._device)
            for one in (
                kind.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                kind.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
            )
        )
        self.capability = 10 * int(major) + int(minor)

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
        return Memory(int(self._here("cuMemAlloc", max(size, 1))), self._free)

    def _free(self, address: int) -> None:
        self._here("cuMemFree", address)

    def pinned(self, size: int) -> np.ndarray:
        """Bytes of the host that the GPU reads and writes by itself; never given back."""
        address = int(self._here("cuMemHostAlloc", size, 0))
        return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))

    def stream(self) -> Foreign:
        """A queue of copies beside the others."""
        return self._here("cuStreamCreate", 1)

    def to_device(self, address: int, array: np.ndarray, stream: Foreign = None) -> None:
        """Copy a dense array there; in a stream, while Python goes on."""
        self._copy("cuMemcpyHtoD", (address, array.ctypes.data, array.nbytes), stream)

    def to_host(self, array: np.ndarray, address: int, stream: Foreign = None) -> None:
        """Copy into a dense array; in a stream, while Python goes on."""
        self._copy("cuMemcpyDtoH", (array.ctypes.data, address, array.nbytes), stream)

    def _copy(self, name: str, what: tuple[int, int, int], stream: Foreign) -> None:
        if what[2] and stream is None:
            self._here(name, *what)
        elif what[2]:
            self._here(f"{name}Async", *what, stream)

    def wait(self, stream: Foreign = None) -> None:
        """Until all that was asked for, or all of a stream, is done."""
        if stream is None:
            self._here("cuCtxSynchronize")
        else:
            self._here("cuStreamSynchronize", stream)

    # code

    def load(self, ptx: Foreign) -> Foreign:
        """The kernel ``entry`` of a program."""
        module = self._here("cuModuleLoadData", ptx.encode() + b"\0")
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

    def used_by(self, function: Foreign) -> tuple[int, int]:
        """Registers and bytes of local memory of a thread of a kernel."""
        kind = self._cu.CUfunction_attribute
        wanted = kind.CU_FUNC_ATTRIBUTE_NUM_REGS, kind.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES
        registers, local = (int(self._here("cuFuncGetAttribute", one, function)) for one in wanted)
        return registers, local


class Memory:
    """Memory that is given back when nobody holds it any more."""

    def __init__(self, address: int, free: Callable[[int], None]) -> None:
        self.address = address
        weakref.finalize(self, free, address).atexit = False  # with the process all of it goes
