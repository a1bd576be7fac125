"""What only the entries of GPU kernels call: who this thread is, and its own memory.

In a launch of blocks of threads each thread runs the entry once. These functions mean something to the
translator alone (`routh.compiling.function`).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import DTypeLike

from routh.compiling.foreign import Foreign


def thread_number() -> int:
    """The number of this thread among all threads of the launch, from 0 on."""
    raise RuntimeError("called outside of a GPU kernel")


def thread_count() -> int:
    """How many threads the launch has."""
    raise RuntimeError("called outside of a GPU kernel")


def own_array(shape: Foreign, kind: DTypeLike) -> Foreign:
    """An array of this thread alone, which holds anything at first; its shape is a constant."""
    raise RuntimeError("called outside of a GPU kernel")


def own_arrays(kind: Foreign, layout: Foreign, *more: Foreign) -> Foreign:
    """A named tuple of arrays of this thread alone, as ``layout`` says, and then of those that are given.

    ``layout``: a shape and a type for each, see `layout_of`.
    """
    raise RuntimeError("called outside of a GPU kernel")


def layout_of(arrays: Iterable[np.ndarray]) -> tuple[tuple[tuple[int, ...], type], ...]:
    """Shape and type of each array, for `own_arrays`: a thread's scratch is laid out as that of a CPU's."""
    return tuple((array.shape, array.dtype.type) for array in arrays)


def add_atomically(array: Foreign, place: int, number: int) -> int:
    """Add to an element that other threads add to, too; what it was before."""
    raise RuntimeError("called outside of a GPU kernel")


def any_in_warp(flag: bool) -> bool:
    """Whether ``flag`` holds for any of the 32 threads that run in step; all of them must get here."""
    raise RuntimeError("called outside of a GPU kernel")
