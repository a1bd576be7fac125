"""GPU kernels on disk: a process does not compile what another one on the machine has."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from importlib.metadata import version
from pathlib import Path
from threading import RLock

from numba.cuda.dispatcher import CUDACache

from routh.compiling.cache import say_once
from routh.compiling.clock import compiling
from routh.compiling.foreign import Foreign, Plain

try:
    from numba.cuda.core.caching import IndexDataCacheFile, NullCache
except ImportError:  # older releases of numba-cuda take numba's
    from numba.core.caching import IndexDataCacheFile, NullCache


# what compiled code can depend on
_SOURCES = ("*.py", "compiling/**/*.py", "kernels/**/*.py", "lcp/*.py", "two_body/*.py", "models/*/*.py")


@cache
def digest_of_sources() -> str:
    """Ties compiled code to every source that it can depend on; numba looks at the function's file only."""
    digest = hashlib.sha256()
    root = Path(__file__).parents[1]
    for pattern in _SOURCES:
        for path in sorted(root.glob(pattern)):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def forgiving(load: Callable[[], Foreign], name: str, otherwise: Foreign) -> Foreign:
    """What ``load`` gives; where it raises, whatever a damaged file makes it raise, ``otherwise``."""
    try:
        return load()
    except Exception as error:
        say_once(f"{name} cannot be read ({type(error).__name__}): compiling it again")
        return otherwise


class CheckedFile:
    """Part of numba's files of one function: a damaged one counts as missing. Contents carry their digest.

    They carry what they are the code of, too: numba writes the index before the code, so after an interrupt,
    or with two processes at once, an entry may name a file that holds something else.
    """

    _index_path: str
    _source_stamp: str
    _dump: Callable[[Foreign], bytes]
    _data_path: Callable[[str], str]
    _open_for_write: Callable[[str], Foreign]

    def save(self, key: Foreign, data: Foreign) -> None:
        """Keep what was compiled."""
        super().save(key, (self._source_stamp, key, data))  # type: ignore[misc]

    def load(self, key: Foreign) -> Foreign:
        """What was compiled, or None."""
        found = super().load(key)  # type: ignore[misc]
        if found is None or found[:2] != (self._source_stamp, key):
            return None
        return found[2]

    def _load_index(self) -> Foreign:
        return forgiving(super()._load_index, self._index_path, {})  # type: ignore[misc]

    def _save_data(self, name: str, data: Foreign) -> None:
        dumped = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(hashlib.sha256(dumped).digest())
            file.write(dumped)

    def _load_data(self, name: str) -> Foreign:
        stored = Path(self._data_path(name)).read_bytes()
        digest, dumped = stored[:32], stored[32:]
        if hashlib.sha256(dumped).digest() != digest:
            say_once(f"the compiled kernel in {self._data_path(name)} is damaged: compiling it again")
            raise FileNotFoundError(name)
        return pickle.loads(dumped)


class _GpuFile(CheckedFile, IndexDataCacheFile):
    """Files of one GPU kernel."""


def _nothing() -> None:
    pass


class NoFolder(NullCache):
    """Where no folder can be written to: nothing is ever there."""

    missed = staticmethod(_nothing)

    def load_overload(self, sig: Foreign, target_context: Foreign) -> None:
        """None."""
        self.missed()


class GpuKernelCache(CUDACache):
    """The disk cache of numba-cuda, tied to all kernel sources; where it fails, kernels are compiled.

    Numba-cuda's own key has the closure of a kernel pickled, with all functions that it calls, and does not
    change with the sources of other files. ``settings``: what else the compiled code depends on.
    """

    def __init__(self, function: Plain, settings: tuple[str, ...]) -> None:
        super().__init__(function)
        self._settings = settings
        self.missed = _nothing  # called when a kernel is not there: it will be compiled
        base = f"{self._impl.filename_base}.gpu"
        self._cache_file = _GpuFile(self._cache_path, base, digest_of_sources())

    def _index_key(self, sig: Foreign, codegen: Foreign) -> Foreign:
        return sig, codegen.magic_tuple(), version("numba-cuda"), self._settings

    def load_overload(self, sig: Foreign, target_context: Foreign) -> Foreign:
        """The compiled kernel, or None."""
        found = forgiving(
            lambda: super(GpuKernelCache, self).load_overload(sig, target_context), self._name, None
        )
        if found is None:
            self.missed()
        return found

    def save_overload(self, sig: Foreign, data: Foreign) -> None:
        """Keep it where there is a place for it."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            say_once(f"compiled kernels cannot be kept in {self._cache_path} ({error.strerror})")


def keep_on_disk(made: Foreign, function: Plain, settings: tuple[str, ...]) -> None:
    """Let a kernel be read from disk, and kept there, if there is a folder for it."""
    cells = function.__closure__ or ()
    captured = tuple(_described(cell.cell_contents) for cell in cells)
    try:
        made._cache = GpuKernelCache(function, (*settings, *captured))
    except (RuntimeError, OSError):
        made._cache = NoFolder()
        say_once("no folder for compiled GPU kernels can be written to: every process compiles them anew")


def announce(made: Foreign, name: str) -> None:
    """Let it be said, and measured, while a kernel is compiled; not while it is read from disk.

    It is said when the cache has missed it: numba's lock is then held, as it is where CPU kernels say so.
    """
    compile_or_load, alone, cache = made.compile, RLock(), made._cache

    def compile_it(sig: Foreign) -> Foreign:
        with alone, ExitStack() as said:
            cache.missed = lambda: said.enter_context(compiling(name))
            try:
                return compile_or_load(sig)
            finally:
                cache.missed = _nothing

    made.compile = compile_it


def _described(captured: Foreign) -> str:
    """What a kernel has from around it: functions by their name, numbers by their value."""
    plain = getattr(captured, "py_func", None)
    return repr(captured) if plain is None else f"{plain.__module__}.{plain.__qualname__}"
