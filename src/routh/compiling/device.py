"""Arrays in the memory of a GPU, to and from other libraries without a copy.

Whatever has ``__cuda_array_interface__`` (PyTorch, CuPy, JAX) or ``__dlpack__`` can be used where a kernel
wants an array of the GPU, and these arrays can be used there.
"""

from __future__ import annotations

import functools
import math
import os

import numpy as np
from numpy.typing import DTypeLike

from routh.compiling import dlpack
from routh.compiling.driver import Driver
from routh.compiling.foreign import Foreign
from routh.compiling.simulator import Simulator


@functools.cache
def gpu() -> Driver | Simulator:
    """The GPU in use; raises MissingExtraError or `NoGPUError`."""
    if os.environ.get("ROUTH_SIMULATE_GPU", "0") not in ("", "0"):
        return Simulator()
    return Driver()


class DeviceArray:
    """An array in the GPU's memory, which ``held`` keeps alive. Dense, unless it came from elsewhere."""

    def __init__(
        self,
        address: int,
        shape: tuple[int, ...],
        dtype: DTypeLike,
        held: Foreign,
        strides: tuple[int, ...] | None = None,
    ) -> None:
        self.address, self.shape, self.dtype, self.held = address, shape, np.dtype(dtype), held
        self.strides = None if strides == _dense(shape, self.dtype) or 0 in shape else strides

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of the elements."""
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, place: int | slice) -> DeviceArray:
        """A row, or consecutive rows; nothing is copied."""
        length = self.shape[0]
        step = self.strides[0] if self.strides else self.dtype.itemsize * math.prod(self.shape[1:])
        rest = None if self.strides is None else self.strides[1:]
        if isinstance(place, slice):
            begin, end, by = place.indices(length)
            if by != 1:
                raise ValueError(
                    f"an array of the GPU: got a slice in steps of {by}; wanted consecutive rows"
                )
            shape = (max(end - begin, 0), *self.shape[1:])
            strides = None if rest is None else (step, *rest)
            return DeviceArray(self.address + begin * step, shape, self.dtype, self.held, strides)
        if not -length <= place < length:
            raise IndexError(f"an array of the GPU: got row {place}; it has {length}")
        return DeviceArray(self.address + place % length * step, self.shape[1:], self.dtype, self.held, rest)

    def reshape(self, *shape: int) -> DeviceArray:
        """The same elements of a dense array in another shape."""
        if self.strides is not None or math.prod(shape) != self.size:
            raise ValueError(f"an array of the GPU of shape {self.shape} cannot have shape {shape}")
        return DeviceArray(self.address, shape, self.dtype, self.held)

    def broadcast(self, name: str, shape: tuple[int, ...]) -> DeviceArray:
        """The same elements again and again along leading axes, and axes of length 1, as NumPy does it."""
        lengths = (1,) * (len(shape) - self.ndim) + self.shape
        if len(lengths) != len(shape) or any(
            mine not in (1, wanted) for mine, wanted in zip(lengths, shape, strict=True)
        ):
            raise ValueError(f"{name}: got shape {self.shape}; wanted {shape}")
        steps = (0,) * (len(shape) - self.ndim) + (self.strides or _dense(self.shape, self.dtype))
        strides = tuple(
            0 if mine != wanted else step for mine, wanted, step in zip(lengths, shape, steps, strict=True)
        )
        return DeviceArray(self.address, shape, self.dtype, self.held, strides)

    def numpy(self) -> np.ndarray:
        """A copy on the host."""
        if self.strides is None:
            found = np.empty(self.shape, self.dtype)
            self.copy_to_host(found)
            return found
        if self.size == 0:
            return np.empty(self.shape, self.dtype)
        # all bytes between the first and the last element, of which NumPy takes its own
        ends = [(length - 1) * step for length, step in zip(self.shape, self.strides, strict=True)]
        below, above = sum(min(end, 0) for end in ends), sum(max(end, 0) for end in ends)
        whole = np.empty(above - below + self.dtype.itemsize, np.uint8)
        gpu().to_host(whole, self.address + below)
        return np.ndarray(self.shape, self.dtype, whole, -below, self.strides).copy()

    def bytes(self, begin: int, end: int) -> DeviceArray:
        """Some of the bytes of a dense array."""
        return DeviceArray(self.address + begin, (end - begin,), np.uint8, self.held)

    def copy_to_host(self, array: np.ndarray, stream: Foreign = None) -> None:
        """Copy a dense array into one of the host."""
        self._check(array)
        gpu().to_host(array, self.address, stream)

    def copy_to_device(self, array: np.ndarray, stream: Foreign = None) -> None:
        """Fill a dense array with one of the host."""
        self._check(array)
        gpu().to_device(self.address, array, stream)

    def _check(self, array: np.ndarray) -> None:
        same = array.nbytes == self.nbytes and array.dtype.itemsize == self.dtype.itemsize
        if not same or self.strides is not None or not array.flags.c_contiguous:
            raise ValueError(
                f"copy: got {array.shape} of {array.dtype}; wanted dense {self.shape} of {self.dtype}"
            )

    # other libraries

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        gpu().wait()
        return {
            "shape": self.shape, "typestr": self.dtype.str, "data": (self.address, False), "version": 3,
            "strides": self.strides,
        }  # fmt: skip

    def __dlpack_device__(self) -> tuple[int, int]:
        return (dlpack.HOST if gpu().simulated else dlpack.CUDA), gpu().number

    def __dlpack__(self, **options: Foreign) -> Foreign:
        """A capsule for ``from_dlpack`` of other libraries, which share the memory."""
        if options.get("copy"):
            raise BufferError("copy: got True; the memory is shared")
        gpu().wait()
        return dlpack.capsule(self, self.__dlpack_device__())

    def __repr__(self) -> str:
        return f"DeviceArray(shape={self.shape}, dtype={self.dtype})"


def _dense(shape: tuple[int, ...], dtype: np.dtype) -> tuple[int, ...]:
    return tuple(dtype.itemsize * math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def empty(shape: tuple[int, ...], dtype: DTypeLike) -> DeviceArray:
    """An array that is not filled."""
    memory = gpu().allocate(math.prod(shape) * np.dtype(dtype).itemsize)
    return DeviceArray(memory.address, shape, dtype, memory)


def sent(array: np.ndarray) -> DeviceArray:
    """A copy of a host's array on the GPU."""
    dense = np.ascontiguousarray(array)
    made = empty(dense.shape, dense.dtype)
    made.copy_to_device(dense)
    return made


def is_on_gpu(value: Foreign) -> bool:
    """Whether something is an array in the memory of a GPU, of whatever library."""
    if isinstance(value, DeviceArray) or hasattr(value, "__cuda_array_interface__"):
        return True
    if isinstance(value, np.ndarray) or not hasattr(value, "__dlpack_device__"):
        return False
    return int(value.__dlpack_device__()[0]) == dlpack.CUDA


def shared(value: Foreign) -> DeviceArray:
    """An array of the GPU, of whatever library, nothing copied; what was asked of the GPU before is done."""
    if isinstance(value, DeviceArray):
        return value
    gpu().wait()
    told = getattr(value, "__cuda_array_interface__", None)
    if told is None:
        address, shape, dtype, strides, held = dlpack.taken(value)
        return DeviceArray(address, shape, dtype, held, strides)
    strides = told.get("strides")
    return DeviceArray(told["data"][0] or 0, tuple(told["shape"]), told["typestr"], value, strides)
