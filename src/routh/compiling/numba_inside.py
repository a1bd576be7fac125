"""What `routh.compiling` asks of numba's inside: kernels that are only linked, and a cache that forgives.

Numba optimises every function on its own and emits machine code for it, with two wrappers, and again for
every caller. Functions that only other kernels call need none of that: here they stay unoptimised modules
until the function that Python calls collects them, once, and is optimised as a whole.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
from collections.abc import Callable
from functools import cached_property, lru_cache
from pathlib import Path

from numba.core import compiler
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.dispatcher import _FunctionCompiler  # type: ignore[attr-defined]
from numba.core.registry import CPUDispatcher

from routh.compiling.clock import compiling
from routh.compiling.entering import link, translated
from routh.compiling.foreign import Foreign, Plain
from routh.compiling.listening import while_listening
from routh.compiling.pipeline import KernelCompiler, typing_of
from routh.compiling.values import UntranslatableError

LOG = logging.getLogger("routh.compiling")
_SAID: set[str] = set()
_OPTIONS = {"nopython": True, "nogil": True, "error_model": "numpy", "fastmath": False, "_nrt": False}
_WITHOUT_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
LARGE = 8000  # lines of a program on which LLVM spends less: a sixth of its time, and they run no slower
# what compiled code can depend on
_SOURCES = ("*.py", "compiling/*.py", "kernels/*.py", "two_body/*.py", "models/*/*.py")


class Kernel(CPUDispatcher):
    """A function as other kernels see it: without wrappers, linked into the one that Python calls."""

    def __init__(self, function: Plain, **options: Foreign) -> None:
        self.options = {**_OPTIONS, **options}
        super().__init__(function, targetoptions={**self.options, **_WITHOUT_WRAPPERS})
        self._compiler = LinkedFunctionCompiler(
            function, self.targetdescr, self.targetoptions, self.locals, LinkedCompiler
        )

    @cached_property
    def entry(self) -> CPUDispatcher:
        """The same function as Python calls it."""
        options = {**self.options, "no_cfunc_wrapper": True}
        made = Entry(self.py_func, targetoptions=options)
        made._compiler = EntryFunctionCompiler(
            self.py_func, made.targetdescr, options, made.locals, EntryCompiler
        )
        made._compiler.kernel = self
        kept = kernel_cache(self.py_func, _digest_of_sources())
        if kept is not None:
            made._cache = kept
        return made

    def is_ready(self, *arguments: Foreign) -> bool:
        """Whether a call with these arguments would not compile: it has been made before, or is on disk."""
        types = tuple(self.entry.typeof_pyval(argument) for argument in arguments)
        if types in self.entry.overloads:
            return True
        kept = self.entry._cache
        return isinstance(kept, KernelCache) and kept.has(types, self.entry.targetctx.codegen())

    def __call__(self, *arguments: Foreign) -> Foreign:
        """Call the entry: without a wrapper this function would end the process."""
        return self.entry(*arguments)


class Entry(CPUDispatcher):
    """A function as Python calls it; while it is compiled, or read from disk, Ctrl-C is heard."""

    def compile(self, sig: object) -> object:
        """The compiled function of these argument types."""
        return while_listening(lambda: super(Entry, self).compile(sig))


@lru_cache(maxsize=1)
def _digest_of_sources() -> str:
    """Ties compiled code to every source that it can depend on; numba looks at the function's file only."""
    digest = hashlib.sha256()
    root = Path(__file__).parents[1]
    for pattern in _SOURCES:
        for path in sorted(root.glob(pattern)):
            digest.update(path.read_bytes())
    return digest.hexdigest()


class Flags(compiler.Flags):
    """Numba's flags, compared by what was set: numba asks for equality some ten thousand times a kernel."""

    __slots__ = ()

    def __hash__(self) -> int:
        return _flags_hash()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, compiler.Flags):
            return NotImplemented
        mine, theirs = self._values, other._values
        return mine == theirs or all(
            getattr(self, name) == getattr(other, name) for name in mine.keys() | theirs.keys()
        )


@lru_cache(maxsize=1)
def _flags_hash() -> int:
    """Numba's own hash of flags, which is that of their names."""
    return hash(compiler.Flags())


class LinkedFunctionCompiler(_FunctionCompiler):
    """Numba's compiler of one function with these flags."""

    def _customize_flags(self, flags: Foreign) -> Flags:
        return Flags(flags)

    def _compile_core(self, args: Foreign, return_type: Foreign) -> Foreign:
        flags = compiler.Flags()
        target = self.targetdescr
        target.options.parse_as_flags(flags, self.targetoptions)
        return compiler.compile_extra(
            typing_of(target.typing_context),
            target.target_context,
            self.py_func,
            args=args,
            return_type=return_type,
            flags=self._customize_flags(flags),
            locals=self.locals,
            pipeline_class=self.pipeline_class,
        )


class EntryFunctionCompiler(LinkedFunctionCompiler):
    """The same for a function that Python calls: it says that it compiles, and for how long."""

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


class _NoEnvironments:
    """Stands for the code generator where an environment would be written into machine code."""

    def set_env(self, name: str, environment: Foreign) -> None:
        """There is no machine code; linked kernels raise nothing, so they never look at it."""


class LinkedLibrary(JITCodeLibrary):
    """A function as an unoptimised module, for `EntryLibrary` to collect."""

    def _optimize_functions(self, ll_module: Foreign) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        """Nothing is linked, optimised or emitted here."""
        self._finalized = True

    def own_module(self) -> Foreign:
        """This function alone, for linking."""
        return super()._get_module_for_linking()

    def _get_module_for_linking(self) -> Foreign:
        """This function and all that it calls, for the libraries of somebody else's jitted code."""
        module = self.own_module().clone()
        for library in _reached(self._linking_libraries):
            linked = isinstance(library, LinkedLibrary)
            module.link_in(
                library.own_module() if linked else library._get_module_for_linking(), preserve=True
            )
        return module

    def get_pointer_to_function(self, name: str) -> int:
        """None: a call from Python would end the process, so `routh.compiling.Kernel` makes none."""
        return 0

    @property
    def codegen(self) -> Foreign:
        """Whoever asks wants to write an environment."""
        return _NoEnvironments()


class EntryLibrary(JITCodeLibrary):
    """A function that Python calls, with everything that it calls."""

    _linking_libraries: list[Foreign]
    _program = ""  # the name of the program's first function
    _effort = 3  # of LLVM, of 3

    def add_program(self, text: str, name: str) -> None:
        """Add a program, whose function of this name others call."""
        link(self, text, name)
        self._program = name
        self._effort = 2 if text.count("\n") > LARGE else 3

    def finalize(self) -> None:
        """Collect every linked function once, however it is reached, then optimise and emit."""
        found = _reached(self._linking_libraries)
        inner: set[str] = set()
        for library in found:
            if isinstance(library, LinkedLibrary):
                module = library.own_module()
                inner.update(function.name for function in module.functions if not function.is_declaration)
                self._reload_init.update(library._reload_init)
                self._final_module.link_in(module, preserve=True)
        inner.add(self._program)
        for function in self._final_module.functions:
            if function.name in inner:  # nobody else calls it: arguments that it does not use cost nothing
                function.linkage = "internal"
        self._linking_libraries = [one for one in found if not isinstance(one, LinkedLibrary)]
        super().finalize()

    def _optimize_final_module(self) -> None:
        """Once: numba's first, cheap pass serves reference counts, of which kernels have none."""
        passes, builder = self._codegen._module_pass_manager(opt=self._effort, slp_vectorize=True)
        passes.run(self._final_module, builder)


def _reached(libraries: list[Foreign]) -> list[Foreign]:
    """These libraries and, through linked ones, all that they need, each once."""
    found: list[Foreign] = []
    waiting = list(libraries)
    while waiting:
        library = waiting.pop()
        if library not in found:
            found.append(library)
            waiting.extend(library._linking_libraries if isinstance(library, LinkedLibrary) else ())
    return found


class LinkedCompiler(KernelCompiler):
    """Numba's pipeline into a `LinkedLibrary`."""

    def __init__(self, *arguments: Foreign) -> None:
        super().__init__(*arguments)
        self.state.library = LinkedLibrary(self.state.targetctx.codegen(), "linked")


class EntryCompiler(KernelCompiler):
    """Numba's pipeline into an `EntryLibrary`."""

    def __init__(self, *arguments: Foreign) -> None:
        super().__init__(*arguments)
        self.state.library = EntryLibrary(self.state.targetctx.codegen(), "entry")
        self.state.library.enable_object_caching()


class _CacheFile(IndexDataCacheFile):
    """Numba's files of one function; a damaged one counts as missing. Contents carry their digest."""

    def _load_index(self) -> Foreign:
        return _forgiving(super()._load_index, self._index_path, {})

    def _save_data(self, name: str, data: Foreign) -> None:
        dumped = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(hashlib.sha256(dumped).digest())
            file.write(dumped)

    def _load_data(self, name: str) -> Foreign:
        stored = Path(self._data_path(name)).read_bytes()
        digest, dumped = stored[:32], stored[32:]
        if hashlib.sha256(dumped).digest() != digest:
            _say_once(f"the compiled kernel in {self._data_path(name)} is damaged: compiling it again")
            raise FileNotFoundError(name)
        return pickle.loads(dumped)


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
        return _forgiving(lambda: self._load_overload(sig, target_context), self._name, None)

    def save_overload(self, sig: Foreign, data: Foreign) -> None:
        """Keep it where there is a place for it."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _say_once(f"compiled kernels cannot be kept in {self._cache_path} ({error.strerror})")


def kernel_cache(function: Foreign, stamp: str) -> KernelCache | None:
    """The cache of a function; None, and a line in the log, where no folder can be written to."""
    try:
        return KernelCache(function, stamp)
    except (RuntimeError, OSError):
        _say_once(
            "no folder for compiled kernels can be written to: every process compiles them anew. "
            "NUMBA_CACHE_DIR names one"
        )
        return None


def _forgiving(load: Callable[[], Foreign], name: str, otherwise: Foreign) -> Foreign:
    """What ``load`` gives; where it raises, whatever a damaged file makes it raise, ``otherwise``."""
    try:
        return load()
    except Exception as error:
        _say_once(f"{name} cannot be read ({type(error).__name__}): compiling it again")
        return otherwise


def _say_once(text: str) -> None:
    if text not in _SAID:
        _SAID.add(text)
        LOG.warning("%s", text)
