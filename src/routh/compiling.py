"""How the kernels are compiled: once per problem shape, kept on disk, announced the first time."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import event

LOG = logging.getLogger("routh.kernels")
Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile a scalar function for the CPU; CUDA kernels may call it too.

    Products and sums may be contracted to fused ones, nothing else is reordered, so equal inputs give equal
    bits. ``function.py_func`` is the plain Python function.
    """
    return _compile(function, forceinline=False)


def inlined(function: Function) -> Function:
    """A `kernel` that becomes part of its callers, where sizes known when they are compiled unroll loops."""
    return _compile(function, forceinline=True)


def _compile(function: Function, *, forceinline: bool) -> Function:
    compiled: Any = numba.njit(
        cache=True,
        nogil=True,
        error_model="numpy",
        fastmath={"contract"},
        _nrt=False,
        forceinline=forceinline,
    )(function)
    _stamp(compiled)
    return compiled


def _stamp(compiled: Any) -> None:
    """Tie the disk cache to all kernel sources: numba itself looks only at the caller's own file."""
    cache_file = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if cache_file is not None and hasattr(cache_file, "_source_stamp"):
        cache_file._source_stamp = _sources()


@lru_cache(maxsize=1)
def _sources() -> str:
    digest = hashlib.sha256()
    root = Path(__file__).parent
    for path in [*sorted((root / "kernels").glob("*.py")), Path(__file__)]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


class _Announcer(event.Listener):
    """Says once per process that something is being compiled (loading from disk is silent)."""

    def __init__(self) -> None:
        self.said = False

    def on_start(self, event: Any) -> None:
        dispatcher = event.data.get("dispatcher")
        module = getattr(getattr(dispatcher, "py_func", None), "__module__", "")
        if not self.said and module.startswith("routh.kernels"):
            self.said = True
            LOG.info("compiling the kernels for this kind of problem; takes some seconds, once per machine")

    def on_end(self, event: Any) -> None:
        """Nothing to say."""


event.register("numba:compile", _Announcer())
