"""Arrays in the memory of a GPU, to and from other libraries without a copy.

Whatever has ``__cuda_array_interface__`` (PyTorch, CuPy, JAX) or ``__dlpack__`` can be used where a kernel
wants an array of the GPU, and these arrays can be used there.
"""

from __future__ import annotations

import math
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from routh.compiling import dlpack
from routh.compiling.driver import gpu
from routh.compiling.foreign import Foreign

Steps: TypeAlias = tuple[int, ...] | None


class DeviceArray:
    """An array in the GPU's memory, which ``held`` keeps alive. Dense, unless it came from elsewhere."""

    def __init__(
        self, address: int, shape: tuple[int, ...], dtype: DTypeLike, held: Foreign, strides: Steps = None
    ) -> None:
        self.address, self.shape, self.dtype, self.held = address, shape, np.dtype(dtype), held
        self.ndim, self.size, item = len(shape), math.prod(shape), self.dtype.itemsize
        self.nbytes = self.size * item
        dense = tuple(item * math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
        self.strides = None if strides == dense or 0 in shape else strides
        self._steps = self.strides or dense  # bytes from one element to the next along each axis

    def _part(self, offset: int, shape: tuple[int, ...], strides: Steps) -> Self:
        return type(self)(self.address + offset, shape, self.dtype, self.held, strides)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, place: int | slice) -> Self:
        """A row, or consecutive rows; nothing is copied."""
        (length, *rest), (step, *steps) = self.shape, self._steps
        if isinstance(place, slice):
            begin, end, by = place.indices(length)
            if by != 1:
                raise ValueError(
                    f"an array of the GPU: got a slice in steps of {by}; wanted consecutive rows"
                )
            return self._part(begin * step, (max(end - begin, 0), *rest), self._steps)
        if not -length <= place < length:
            raise IndexError(f"an array of the GPU: got row {place}; it has {length}")
        return self._part(place % length * step, tuple(rest), tuple(steps))

    def reshape(self, *shape: int) -> Self:
        """The same elements of a dense array in another shape."""
        if self.strides is not None or math.prod(shape) != self.size:
            raise ValueError(f"an array of the GPU of shape {self.shape} cannot have shape {shape}")
        return self._part(0, shape, None)

    def broadcast(self, name: str, shape: tuple[int, ...]) -> Self:
        """The same elements again and again along leading axes, and axes of length 1, as NumPy does it."""
        missing = len(shape) - self.ndim
        lengths, steps = (1,) * missing + self.shape, (0,) * missing + self._steps
        axes = list(zip(lengths, shape, steps, strict=False))
        if missing < 0 or any(mine not in (1, wanted) for mine, wanted, _ in axes):
            raise ValueError(f"{name}: got shape {self.shape}; wanted {shape}")
        return self._part(0, shape, tuple(step if mine == wanted else 0 for mine, wanted, step in axes))

    def numpy(self) -> np.ndarray:
        """A copy on the host."""
        if self.size == 0:
            return np.empty(self.shape, self.dtype)
        # all bytes between the first and the last element, of which NumPy takes its own
        ends = [(length - 1) * step for length, step in zip(self.shape, self._steps, strict=True)]
        below, above = sum(min(end, 0) for end in ends), sum(max(end, 0) for end in ends)
        whole = np.empty(above - below + self.dtype.itemsize, np.uint8)
        gpu().to_host(whole, self.address + below)
        found = np.ndarray(self.shape, self.dtype, whole, -below, self._steps)
        return found if self.strides is None else found.copy()

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
        return dlpack.capsule(self, self.__dlpack_device__())

    def __repr__(self) -> str:
        return f"{type(self).__name__}(shape={self.shape}, dtype={self.dtype})"


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
