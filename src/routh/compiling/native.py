"""The CPU's door, by llvmlite's public API: translated programs as machine code that Python calls.

A call goes through two functions. `routh.compiling.arguments` writes down what the arguments are, and a word
for each number, address and length. The kernel's own door reads these words and calls the translated program.
Both are object files of LLVM, kept on disk (`routh.compiling.cache`) and linked into the process when they
are first needed.
"""

from __future__ import annotations

import ctypes
import hashlib
import pkgutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache, cached_property, partial, update_wrapper
from itertools import count
from typing import NamedTuple

import llvmlite
import llvmlite.binding as llvm

from routh.base.interrupts import while_listening
from routh.compiling import cache as disk
from routh.compiling.arguments import MOST, CallRoom, kind_of_argument, pack, types_in
from routh.compiling.clock import compiling
from routh.compiling.foreign import Foreign, Plain
from routh.compiling.program import Program
from routh.compiling.rows import named_parts
from routh.compiling.values import (
    Kind,
    UntranslatableError,
    array_kind,
    defaults_after,
    result_type,
    types_of,
)

EFFORT = 1  # of LLVM, of 3: more takes it up to three times as long, and code runs no faster
_LINKING = threading.RLock()
_LINKED: dict[str, Code] = {}  # by key
_ROOMS: list[CallRoom] = []  # for the words of a call; as many as there are calls at a time


class Code(NamedTuple):
    """Code that is part of the process: its address, the same for ctypes, and the kind of its result."""

    address: int
    run: Foreign
    result: Kind


class Kernel:
    """A function that Python calls as machine code, and other kernels as a part of theirs."""

    def __init__(self, function: Plain) -> None:
        self.py_func: Foreign = function
        self.name = function.__name__
        self._arguments = function.__code__.co_argcount
        self._made: dict[Foreign, Foreign] = {}  # code by what the arguments are
        self._types: list[type] = []  # of arguments, kept alive: their addresses tell what arguments are
        update_wrapper(self, function)

    def __call__(self, *arguments: Foreign) -> Foreign:
        """Call it; what is compiled or read from disk for these types of arguments is so once."""
        if len(arguments) != self._arguments:
            arguments += defaults_after(self.py_func, len(arguments))
        room = _ROOMS.pop() if _ROOMS else CallRoom()
        try:
            code = self.packed(arguments, room)
            code.run(room.words, room.results)
            return _result(code.result, room.found, count())
        finally:
            _ROOMS.append(room)

    def bound(self, *arguments: Foreign) -> Callable[[], Foreign]:
        """The call with these arguments, which are looked at once: see `routh.compiling.bound`."""
        room = CallRoom()
        code = self.packed(arguments + defaults_after(self.py_func, len(arguments)), room)
        call = partial(code.run, room.words, room.results)
        call.__dict__["kept"] = arguments, room  # as long as the call can be made
        return call

    def packed(self, arguments: tuple[Foreign, ...], room: CallRoom, *settings: int) -> Foreign:
        """The code for these arguments, whose words are in the room then; ``settings``: see `made`."""
        try:
            found = _packer()(arguments, room.address)
        except (TypeError, BufferError):
            self.kinds(arguments)  # says which of them
            raise
        if found < 0:
            raise TypeError(f"{self.name}: got more than {MOST} numbers and arrays in one call")
        key = bytes(room.keys[:found]), *settings
        if key not in self._made:
            self._types += types_in(arguments)
            kinds = self.kinds(arguments)
            self._made[key] = while_listening(lambda: self.made(kinds, *settings))
        return self._made[key]

    def made(self, kinds: tuple[Kind, ...]) -> Foreign:
        """The code for arguments of these kinds, from disk or compiled."""
        return linked(self, kinds, door)

    def is_ready(self, *arguments: Foreign) -> bool:
        """Whether a call with these arguments would not compile: it has been made before, or is on disk."""
        key = self.key(self.kinds(arguments + defaults_after(self.py_func, len(arguments))), "door")
        return key in _LINKED or disk.load(self.name, key) is not None

    def c_function(self, elements: Sequence[str]) -> Code:
        """The same as a function of C: see `routh.compiling.c_function`."""
        kinds = tuple(array_kind(element, 1) for element in elements)
        return while_listening(lambda: linked(self, kinds, c_door))

    def kinds(self, arguments: tuple[Foreign, ...]) -> tuple[Kind, ...]:
        """The kinds of arguments; an error says which one cannot be used."""
        names = zip(self.py_func.__code__.co_varnames, arguments, strict=False)
        return tuple(kind_of_argument(f"{self.name}: {name}", one) for name, one in names)

    @cached_property
    def _digest(self) -> str:
        return disk.digest_of(self)

    def key(self, kinds: tuple[Kind, ...], *more: Foreign) -> str:
        """Key under which the code for these arguments is kept: a digest of all that it is made from."""
        made_from = machine_words(), disk.digest_of_translator(), self._digest, list(map(named, kinds)), *more
        return hashlib.sha256(repr(made_from).encode()).hexdigest()


# machine code


@cache
def _machine() -> Foreign:
    """This machine, to LLVM; objects are for its CPU alone."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=_features(), opt=3, reloc="default", codemodel="jitdefault",
        jit=True,
    )  # fmt: skip


@cache
def _features() -> str:
    try:
        return str(llvm.get_host_cpu_features().flatten())
    except RuntimeError:  # LLVM does not know how to ask
        return ""


@cache
def machine_words() -> str:
    """What machine code depends on, besides its source."""
    version = llvmlite.__version__, llvm.llvm_version_info
    return repr((version, llvm.get_default_triple(), llvm.get_host_cpu_name(), _features()))


@cache
def _engine() -> Foreign:
    """Links object files into the process."""
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())


def optimised(text: str, machine: Foreign, effort: int, *, vectors: bool = False) -> Foreign:
    """The module of a program; ``vectors``: its loops become vectors, see `routh.compiling.vectors`.

    On the CPU functions become part of their callers before anything else: LLVM would work on them first, and
    again there, which takes a sixth longer.
    """
    module = llvm.parse_assembly(text)
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=effort)
    options.loop_vectorization, options.loop_unrolling, options.slp_vectorization = vectors, False, False
    builder = llvm.create_pass_builder(machine, options)
    if machine is _machine():
        first = llvm.create_new_module_pass_manager()
        first.add_sroa_pass()  # so that what is known of a function's arrays is known in its callers
        first.add_always_inliner_pass()
        first.run(module, builder)
    builder.getModulePassManager().run(module, builder)
    return module


def emitted(text: str, vectors: bool) -> bytes:
    """The object file of a program."""
    return bytes(_machine().emit_object(optimised(text, _machine(), EFFORT, vectors=vectors)))


def link(code: bytes, name: str) -> int:
    """Link an object file; the address of its function of this name."""
    with _LINKING:
        _engine().add_object_file(llvm.ObjectFileRef.from_data(code))
        _engine().finalize_object()
        return int(_engine().get_function_address(name))


def kept_or_made(name: str, key: str, make: Callable[[], tuple[Kind, bytes]]) -> tuple[Kind, bytes]:
    """The kind of a result, and code, from disk, or made and kept there."""
    found = disk.load(name, key)
    with suppress(ImportError, AttributeError, ValueError):  # a result's class may be in no module
        if found is not None:
            return _kind_of_names(found[0]), found[1]
    with compiling(name, kept=disk.keeps()):
        result, code = make()
    disk.save(name, key, named(result), code)
    return result, code


def linked(
    kernel: Kernel, kinds: tuple[Kind, ...], door: Callable[..., str], program: Program | None = None
) -> Code:
    """The code of a kernel, from disk or compiled, as part of the process; made once, whoever else asks."""
    key = kernel.key(kinds, door.__name__)

    def make() -> tuple[Kind, bytes]:
        written = program or Program()
        name, result = written.function(kernel, kinds)
        text = f"{written.text()}\n{door(f'routh.{key}', name, kinds, result)}"
        return result, emitted(text, written.vectors)

    with _LINKING:
        if key not in _LINKED:
            result, code = kept_or_made(kernel.name, key, make)
            address = link(code, f"routh.{key}")
            run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(address)
            _LINKED[key] = Code(address, run, result)
        return _LINKED[key]


@cache
def _packer() -> Callable[[tuple[Foreign, ...], int], int]:
    """The function that writes down arguments: see `routh.compiling.arguments`."""
    function = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.py_object, ctypes.c_void_p)
    found: Callable[[tuple[Foreign, ...], int], int] = function(
        linked(Kernel(pack), ("i", "i"), python_door).address
    )
    return found


# doors


def door(symbol: str, name: str, kinds: tuple[Kind, ...], result: Kind, first: str = "") -> str:
    """The function that Python calls: it reads a word for each number, address and length; writes results.

    ``first``: what it does before.
    """
    given, types, whole, lines = types_of(*kinds), types_of(result), result_type(result), [first]
    if "ptr" in types:
        raise UntranslatableError("a kernel that Python calls returns an array; wanted numbers and tuples")
    for k, one in enumerate(given):
        lines.append(f"%p{k} = getelementptr i64, ptr %in, i64 {k}\n%w{k} = load {one}, ptr %p{k}")
    words = ", ".join(f"{one} %w{k}" for k, one in enumerate(given))
    lines.append(f"{'%r = ' if types else ''}call {whole} @{name}({words})")
    for k, one in enumerate(types):
        if len(types) > 1:
            lines.append(f"%e{k} = extractvalue {whole} %r, {k}")
        lines.append(f"%q{k} = getelementptr i64, ptr %out, i64 {k}")
        lines.append(f"store {one} {f'%e{k}' if len(types) > 1 else '%r'}, ptr %q{k}")
    body = "\n".join([*lines, "ret void"])
    return f'define void @"{symbol}"(ptr noalias %in, ptr noalias %out) nounwind {{\n{body}\n}}'


def c_door(symbol: str, name: str, kinds: tuple[Kind, ...], result: Kind) -> str:
    """C function around the code, called with the addresses of arrays and the length of each of them."""
    if types_of(result):
        raise UntranslatableError(f"{name.rpartition('.')[0]} returns something; wanted None")
    listed = ", ".join(f"ptr %a{k}" for k in range(len(kinds)))
    given = ", ".join(f"ptr %a{k}, i64 %n" for k in range(len(kinds)))
    return f'define void @"{symbol}"({listed}, i64 %n) nounwind {{\ncall void @{name}({given})\nret void\n}}'


def python_door(symbol: str, name: str, kinds: tuple[Kind, ...], result: Kind) -> str:
    """C function for `pack`, called with the address of a tuple of Python and that of a room."""
    listed = "(i64 %value, i64 %room)"
    return f'define i64 @"{symbol}"{listed} {{\n%found = call i64 @{name}{listed}\nret i64 %found\n}}'


# results


def _result(kind: Kind, words: dict[str, Foreign], places: Iterator[int]) -> Foreign:
    """What a kernel returned, of the words that its door wrote."""
    if isinstance(kind, str):
        numbers = words[kind]
        return numbers[next(places) * 8 // numbers.itemsize]
    if kind[0] != "group":
        return None
    parts = [_result(part, words, places) for part in kind[2]]
    return kind[1](*parts) if kind[1] else tuple(parts)


def named(kind: Kind) -> Foreign:
    """A kind in words, lists and None, with the names of classes."""
    if isinstance(kind, str):
        return kind
    if kind[0] == "group":
        made = None if kind[1] is None else [disk.name_of(kind[1]), named_parts(kind[1])]
        return ["group", made, [named(part) for part in kind[2]]]
    if kind[0] == "thing" and kind[1] is not None:
        raise UntranslatableError(f"{kind[1]} as an argument or a result of a kernel that Python calls")
    return list(kind)


def _kind_of_names(words: Foreign) -> Kind:
    """The kind that was kept."""
    if isinstance(words, str):
        return words
    if words[0] != "group":
        return tuple(words)
    made = None if words[1] is None else pkgutil.resolve_name(words[1][0])
    return "group", made, tuple(map(_kind_of_names, words[2]))
