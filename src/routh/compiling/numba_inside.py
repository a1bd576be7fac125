"""What `routh.compiling` asks of numba's inside: an entry into translated kernels, and a cache that forgives.

Kernels are translated from their source; numba unpacks the arguments of the one that Python calls, and
compiles what cannot be translated, as it compiles everything else.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
from collections.abc import Callable
from functools import cache, cached_property
from pathlib import Path

import llvmlite.binding as llvm  # type: ignore[import-untyped]
from numba.core import compiler
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.dispatcher import _FunctionCompiler  # type: ignore[attr-defined]
from numba.core.registry import CPUDispatcher

from routh.compiling.clock import compiling
from routh.compiling.entering import link, translated
from routh.compiling.foreign import Foreign, Plain
from routh.compiling.listening import while_listening
from routh.compiling.values import UntranslatableError

LOG = logging.getLogger("routh.compiling")
_OPTIONS = {"nopython": True, "nogil": True, "error_model": "numpy", "fastmath": False, "_nrt": False}
LARGE = 8000  # lines of a program on which LLVM spends less: a sixth of its time, and they run no slower
# what compiled code can depend on
_SOURCES = ("*.py", "compiling/*.py", "kernels/*.py", "lcp/*.py", "two_body/*.py", "models/*/*.py")


class Kernel(CPUDispatcher):
    """A function as other kernels, and other people's jitted functions, see it."""

    def __init__(self, function: Plain, **options: Foreign) -> None:
        self.options = {**_OPTIONS, **options}
        super().__init__(function, targetoptions=dict(self.options))

    @cached_property
    def entry(self) -> CPUDispatcher:
        """The same function as Python calls it."""
        options = {**self.options, "no_cfunc_wrapper": True}
        made = Entry(self.py_func, targetoptions=options)
        made._compiler = EntryFunctionCompiler(
            self.py_func, made.targetdescr, options, made.locals, compiler.Compiler
        )
        made._compiler.kernel = self
        try:
            made._cache = KernelCache(self.py_func, digest_of_sources())
        except (RuntimeError, OSError):
            say_once(
                "no folder for compiled kernels can be written to: every process compiles them anew. "
                "NUMBA_CACHE_DIR names one"
            )
        return made

    def is_ready(self, *arguments: Foreign) -> bool:
        """Whether a call with these arguments would not compile: it has been made before, or is on disk."""
        types = tuple(self.entry.typeof_pyval(argument) for argument in arguments)
        if types in self.entry.overloads:
            return True
        kept = self.entry._cache
        return isinstance(kept, KernelCache) and kept.has(types, self.entry.targetctx.codegen())

    def __call__(self, *arguments: Foreign) -> Foreign:
        """Call the entry, which is translated."""
        return self.entry(*arguments)


class Entry(CPUDispatcher):
    """A function as Python calls it; while it is compiled, or read from disk, Ctrl-C is heard."""

    def compile(self, sig: object) -> object:
        """The compiled function of these argument types."""
        return while_listening(lambda: super(Entry, self).compile(sig))


@cache
def digest_of_sources() -> str:
    """Ties compiled code to every source that it can depend on; numba looks at the function's file only."""
    digest = hashlib.sha256()
    root = Path(__file__).parents[1]
    for pattern in _SOURCES:
        for path in sorted(root.glob(pattern)):
            digest.update(path.read_bytes())
    return digest.hexdigest()


class EntryFunctionCompiler(_FunctionCompiler):
    """The compiler of a function that Python calls: it says that it compiles, and for how long."""

    kernel: Kernel

    def _compile_core(self, args: Foreign, return_type: Foreign) -> Foreign:
        """From the source; where that uses more than kernels do, through numba."""
        target = self.targetdescr.target_context
        library = EntryLibrary(target.codegen(), "entry")
        library.enable_object_caching()
        try:
            return translated(self.kernel, args, library, target)
        except UntranslatableError as error:
            LOG.info("%s is left to numba: %s", self.py_func.__name__, error)
            return super()._compile_core(args, return_type)

    def compile(self, args: Foreign, return_type: Foreign) -> Foreign:
        """The compiled function of these argument types."""
        with compiling(self.py_func.__name__):
            return super().compile(args, return_type)


class EntryLibrary(JITCodeLibrary):
    """A function that Python calls, with the program that it calls."""

    _program = ""  # the name of the program's first function
    _effort = 3  # of LLVM, of 3

    def add_program(self, text: str, name: str) -> None:
        """Add a program, whose function of this name others call."""
        link(self, text, name)
        self._program = name
        self._effort = 2 if text.count("\n") > LARGE else 3

    def finalize(self) -> None:
        """Optimise and emit."""
        # nobody else calls it: arguments that it does not use cost nothing
        self._final_module.get_function(self._program).linkage = "internal"
        super().finalize()

    def _optimize_final_module(self) -> None:
        """Once: numba's first, cheap pass serves reference counts, of which kernels have none.

        Large programs have many short loops: unrolled and in vectors they would take a quarter longer to
        compile, and run hardly faster.
        """
        options = llvm.create_pipeline_tuning_options(speed_level=self._effort)
        options.slp_vectorization = True
        options.loop_vectorization = options.loop_unrolling = self._effort == 3
        builder = llvm.create_pass_builder(self._codegen._tm, options)
        builder.getModulePassManager().run(self._final_module, builder)


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


class _CacheFile(CheckedFile, IndexDataCacheFile):
    """Files of one function of the CPU."""


class KernelCache(FunctionCache):
    """Numba's disk cache of a function, tied to all kernel sources; where it fails, kernels are compiled."""

    def __init__(self, function: Foreign, stamp: str) -> None:
        super().__init__(function)
        base = self._impl.filename_base
        self._cache_file = _CacheFile(self._cache_path, base, stamp)

    def has(self, sig: Foreign, codegen: Foreign) -> bool:
        """Whether the index lists these argument types."""
        return self._index_key(sig, codegen) in self._cache_file._load_index()

    def load_overload(self, sig: Foreign, target_context: Foreign) -> Foreign:
        """The compiled function, or None.

        Numba would first load all that it can compile, SciPy's linear algebra among it, which takes longer
        than everything else on the way to a sample; the compiler does that itself once it is needed.
        """
        return forgiving(lambda: self._load_overload(sig, target_context), self._name, None)

    def save_overload(self, sig: Foreign, data: Foreign) -> None:
        """Keep it where there is a place for it."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            say_once(f"compiled kernels cannot be kept in {self._cache_path} ({error.strerror})")


def forgiving(load: Callable[[], Foreign], name: str, otherwise: Foreign) -> Foreign:
    """What ``load`` gives; where it raises, whatever a damaged file makes it raise, ``otherwise``."""
    try:
        return load()
    except Exception as error:
        say_once(f"{name} cannot be read ({type(error).__name__}): compiling it again")
        return otherwise


@cache
def say_once(text: str) -> None:
    """A warning, the first time."""
    LOG.warning("%s", text)
