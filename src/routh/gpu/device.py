"""Arrays in the memory of a GPU, to and from other libraries without a copy.

Whatever has ``__cuda_array_interface__`` (PyTorch, CuPy, JAX) or ``__dlpack__`` can be used where a kernel
wants an array of the GPU, and these arrays can be used there. To NumPy an array of the GPU is one like any
other, as long as nobody asks for its elements: so it knows shapes, parts and strides, and makes and opens the
capsules of DLPack (https://dmlc.github.io/dlpack). Of devices it knows the host alone, so the device is
written into a capsule after it was made, or before it is opened.
"""

from __future__ import annotations

import ctypes
import math
from typing import Self

import numpy as np
from numpy.lib.array_utils import byte_bounds
from numpy.typing import DTypeLike

from routh.base.status import InputError
from routh.compiling.foreign import Foreign
from routh.gpu.driver import gpu

HOST, CUDA = 1, 2  # kinds of devices to DLPack
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


class DeviceArray:
    """An array in the GPU's memory; ``view`` is the same to NumPy, and keeps the memory alive."""

    def __init__(self, view: np.ndarray) -> None:
        self.view, self.shape, self.dtype = view, view.shape, view.dtype
        self.ndim, self.size, self.nbytes = view.ndim, view.size, view.nbytes
        self.address, self.is_dense = view.ctypes.data, view.flags.c_contiguous

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, place: int | slice) -> Self:
        """A row, or consecutive rows; nothing is copied."""
        if isinstance(place, slice) and place.step not in (None, 1):
            raise InputError(
                wrong=f"an array of the GPU: got a slice in steps of {place.step}", wanted="consecutive rows"
            )
        return type(self)(self.view[place, ...])

    def reshape(self, *shape: int) -> Self:
        """The same elements of a dense array in another shape."""
        if not self.is_dense or math.prod(shape) != self.size:
            raise InputError(wrong=f"an array of the GPU of shape {self.shape} cannot have shape {shape}")
        return type(self)(self.view.reshape(shape))

    def broadcast(self, name: str, shape: tuple[int, ...]) -> Self:
        """The same elements again and again along leading axes, and axes of length 1, as NumPy does it."""
        try:
            return type(self)(np.broadcast_to(self.view, shape))
        except ValueError:
            raise InputError(name, got=f"shape {self.shape}", wanted=shape) from None

    def numpy(self) -> np.ndarray:
        """A copy on the host."""
        low, high = byte_bounds(self.view)  # of all bytes from the first to the last of its elements
        whole = np.empty(high - low if self.size else 0, np.uint8)
        gpu().to_host(whole, low)
        found: np.ndarray = np.ndarray(self.shape, self.dtype, whole, self.address - low, self.view.strides)
        return found if self.is_dense else found.copy()

    def bytes(self, begin: int, end: int) -> DeviceArray:
        """Some of the bytes of a dense array."""
        return DeviceArray(self.view.reshape(-1).view(np.uint8)[begin:end])

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
        if not same or not self.is_dense or not array.flags.c_contiguous:
            raise InputError(
                "copy", got=f"{array.shape} of {array.dtype}", wanted=f"dense {self.shape} of {self.dtype}"
            )

    # other libraries

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        gpu().wait()
        return {**self.view.__array_interface__, "data": (self.address, False)}

    def __dlpack_device__(self) -> tuple[int, int]:
        return (HOST if gpu().simulated else CUDA), 0

    def __dlpack__(self, **options: Foreign) -> Foreign:
        """A capsule for ``from_dlpack`` of other libraries, which share the memory."""
        if options.get("copy"):
            raise BufferError("copy: got True; the memory is shared")
        gpu().wait()
        made = self.view.__dlpack__()
        _write_device(made, *self.__dlpack_device__())
        return made

    def __repr__(self) -> str:
        return f"{type(self).__name__}(shape={self.shape}, dtype={self.dtype})"


class _Theirs:
    """An array of another library, as NumPy wants to see it."""

    def __init__(self, value: Foreign) -> None:
        self.value, self.__array_interface__ = value, getattr(value, "__cuda_array_interface__", None)

    def __dlpack__(self, **options: Foreign) -> Foreign:
        capsule = self.value.__dlpack__()
        _write_device(capsule, HOST, 0)
        return capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return HOST, 0


def _write_device(capsule: Foreign, kind: int, number: int) -> None:
    """Write both numbers into ``DLManagedTensor``, behind the address of the elements."""
    place = _pointer(capsule, b"dltensor") + ctypes.sizeof(ctypes.c_void_p)
    (ctypes.c_int32 * 2).from_address(place)[:] = [kind, number]


def empty(shape: tuple[int, ...], dtype: DTypeLike) -> DeviceArray:
    """An array that is not filled."""
    memory = gpu().allocate(math.prod(shape) * np.dtype(dtype).itemsize)
    return DeviceArray(np.asarray(memory).view(dtype).reshape(shape))


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
    return int(value.__dlpack_device__()[0]) == CUDA


def shared(value: Foreign) -> DeviceArray:
    """An array of the GPU, of whatever library, nothing copied; what was asked of the GPU before is done."""
    if isinstance(value, DeviceArray):
        return value
    gpu().wait()
    if hasattr(value, "__cuda_array_interface__"):
        return DeviceArray(np.asarray(_Theirs(value)))
    try:
        return DeviceArray(np.from_dlpack(_Theirs(value)))
    except (RuntimeError, BufferError) as error:
        raise InputError(wrong=f"an array of another library: NumPy does not know it ({error})") from None
