"""DLPack: how libraries hand arrays to each other, in a capsule with the address, the shape and who frees it.

https://dmlc.github.io/dlpack. NumPy makes and opens the capsules, of arrays whose elements it never looks at.
It knows no memory but the host's, so the device is written into a capsule after it was made, or before it is
opened.
"""

from __future__ import annotations

import ctypes
from weakref import WeakValueDictionary

import numpy as np

from routh.compiling.foreign import Foreign

HOST, CUDA = 1, 2
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_ALIVE: WeakValueDictionary[int, np.ndarray] = WeakValueDictionary()  # until the taker is done with it


class _Given:
    """An array of the GPU, as NumPy wants to see it."""

    def __init__(self, array: Foreign) -> None:
        self.array, self.__array_interface__ = array, array.__cuda_array_interface__


class _Taken:
    """A capsule of another library, as NumPy wants to see it."""

    def __init__(self, capsule: Foreign) -> None:
        self.capsule = capsule

    def __dlpack__(self, **options: Foreign) -> Foreign:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return HOST, 0


def _write_device(capsule: Foreign, kind: int, number: int) -> None:
    """Into ``DLManagedTensor``, which begins with the address of the elements and these two integers."""
    place = _pointer(capsule, b"dltensor") + ctypes.sizeof(ctypes.c_void_p)
    (ctypes.c_int32 * 2).from_address(place)[:] = [kind, number]


def capsule(array: Foreign, device: tuple[int, int]) -> Foreign:
    """A capsule of something with ``__cuda_array_interface__``."""
    view = np.asarray(_Given(array))
    _ALIVE[id(view)] = view
    made = view.__dlpack__()
    _write_device(made, *device)
    return made


def taken(value: Foreign) -> tuple[int, tuple[int, ...], np.dtype, tuple[int, ...], Foreign]:
    """Address, shape, type, strides in bytes of another library's array, and what keeps it alive."""
    given = value.__dlpack__()
    _write_device(given, HOST, 0)
    try:
        view = np.from_dlpack(_Taken(given))
    except (RuntimeError, BufferError) as error:
        raise ValueError(f"an array of another library: NumPy does not know it ({error})") from None
    return view.ctypes.data, view.shape, view.dtype, view.strides, view
