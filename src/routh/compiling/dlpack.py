"""DLPack: how libraries hand arrays to each other, in a capsule with the address, the shape and who frees it.

https://dmlc.github.io/dlpack: ``DLManagedTensor`` of version 0, which every library can make and take.
"""

from __future__ import annotations

import ctypes
from typing import ClassVar

import numpy as np

from routh.compiling.foreign import Foreign

HOST, CUDA = 1, 2
_NAME, _USED = b"dltensor", b"used_dltensor"
_CODES = {"i": 0, "u": 1, "f": 2, "b": 6}
_LETTERS = {code: letter for letter, code in _CODES.items()}


class _Device(ctypes.Structure):
    _fields_: ClassVar = [("kind", ctypes.c_int32), ("number", ctypes.c_int32)]


class _Type(ctypes.Structure):
    _fields_: ClassVar = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):
    _fields_: ClassVar = [
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _Type),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Managed(ctypes.Structure):
    pass


_DELETER = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Managed))
_Managed._fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _DELETER)]

_api = ctypes.pythonapi
_DESTRUCTOR = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, _DESTRUCTOR)(
    ("PyCapsule_New", _api)
)
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", _api)
)
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", _api))
_address_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", _api)
)
_rename = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_SetName", _api))

_ALIVE: dict[int, Foreign] = {}  # what was handed out, until its taker is done with it


@_DELETER
def _forget(managed: Foreign) -> None:
    _ALIVE.pop(ctypes.addressof(managed.contents), None)


@_DESTRUCTOR
def _drop(capsule: int) -> None:
    """A capsule that nobody took."""
    if _is_valid(capsule, _NAME):
        _ALIVE.pop(_address_of(capsule, _NAME), None)


def capsule(array: Foreign, device: tuple[int, int]) -> Foreign:
    """A capsule of an array with address, shape, dtype and, unless it is dense, strides in bytes."""
    axes, dtype = len(array.shape), array.dtype
    shape = (ctypes.c_int64 * max(axes, 1))(*array.shape)
    steps = None
    if array.strides is not None:
        steps = (ctypes.c_int64 * max(axes, 1))(*(step // dtype.itemsize for step in array.strides))
    tensor = _Tensor(
        array.address if array.size else None,
        _Device(*device),
        axes,
        _Type(_CODES[dtype.kind], 8 * dtype.itemsize, 1),
        ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64)),
        None if steps is None else ctypes.cast(steps, ctypes.POINTER(ctypes.c_int64)),
        0,
    )
    managed = _Managed(tensor, None, _forget)
    _ALIVE[ctypes.addressof(managed)] = managed, shape, steps, array
    return _new(ctypes.addressof(managed), _NAME, _drop)


class _Taken:
    """Something that was taken from another library, and is given back when nobody holds it any more."""

    def __init__(self, managed: Foreign) -> None:
        self._managed = managed

    def __del__(self) -> None:
        if self._managed.contents.deleter:
            self._managed.contents.deleter(self._managed)


def taken(value: Foreign) -> tuple[int, tuple[int, ...], np.dtype, tuple[int, ...] | None, Foreign]:
    """Address, shape, type, strides in bytes of another library's array, and what keeps it alive."""
    given = value.__dlpack__()
    managed = ctypes.cast(_pointer(given, _NAME), ctypes.POINTER(_Managed))
    held = _Taken(managed)
    _rename(given, _USED)
    tensor = managed.contents.tensor
    letter = _LETTERS.get(tensor.dtype.code)
    if letter is None or tensor.dtype.lanes != 1:
        raise ValueError("an array of another library: got elements that NumPy does not have")
    dtype = np.dtype(bool if letter == "b" else f"{letter}{tensor.dtype.bits // 8}")
    shape = tuple(tensor.shape[axis] for axis in range(tensor.ndim))
    strides = None
    if tensor.strides:
        strides = tuple(tensor.strides[axis] * dtype.itemsize for axis in range(tensor.ndim))
    return (tensor.data or 0) + tensor.byte_offset, shape, dtype, strides, held
