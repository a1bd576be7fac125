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

from routh.compiling import cache as disk
from routh.compiling.arguments import MOST, Room, kind_of_argument, kind_of_array, pack, types_in
from routh.compiling.clock import compiling
from routh.compiling.foreign import Foreign, Plain
from routh.compiling.rows import named_parts
from routh.compiling.translator.expressions import result_type
from routh.compiling.translator.program import Program
from routh.compiling.translator.values import Kind, UntranslatableError, array_kind, defaults_after, types_of
from routh.interrupts import while_listening

LARGE = 8000  # lines of a program on which LLVM spends less; those with the cone run no slower
NARROW = ("i32", "i1")  # types that come and go in words of 64 bits
_LINKING = threading.RLock()
_LINKED: dict[str, _Linked] = {}  # by key
_ROOMS: list[Room] = []  # for the words of a call; as many as there are calls at a time


class Kernel:
    """A function that Python calls as machine code, and other kernels as a part of theirs."""

    def __init__(self, function: Plain) -> None:
        self.py_func: Foreign = function
        self.name = function.__name__
        self._arguments = function.__code__.co_argcount
        self._made: dict[bytes, _Entry] = {}  # by what the arguments are
        update_wrapper(self, function)

    def __call__(self, *arguments: Foreign) -> Foreign:
        """Call it; what is compiled or read from disk for these types of arguments is so once."""
        if len(arguments) != self._arguments:
            arguments += defaults_after(self.py_func, len(arguments))
        room = _ROOMS.pop() if _ROOMS else Room()
        try:
            entry = self._packed(arguments, room)
            entry.run(room.words, room.results)
            return _result(entry.result, room.found, count())
        finally:
            _ROOMS.append(room)

    def bound(self, *arguments: Foreign) -> Callable[[], Foreign]:
        """The call with these arguments, which are looked at once: see `routh.compiling.bound`."""
        room = Room()
        entry = self._packed(arguments + defaults_after(self.py_func, len(arguments)), room)
        call = partial(entry.run, room.words, room.results)
        call.__dict__["kept"] = arguments, room  # as long as the call can be made
        return call

    def _packed(self, arguments: tuple[Foreign, ...], room: Room) -> _Entry:
        """The code for these arguments, whose words are in the room then."""
        try:
            found = _packer()(arguments, room.address)
        except (TypeError, BufferError):
            self._kinds(arguments)  # says which of them
            raise
        if found < 0:
            raise TypeError(f"{self.name}: got more than {MOST} numbers and arrays in one call")
        key = bytes(room.keys[:found])
        entry = self._made.get(key)
        if entry is None:
            entry = self._made[key] = self._entry(arguments)
        return entry

    def is_ready(self, *arguments: Foreign) -> bool:
        """Whether a call with these arguments would not compile: it has been made before, or is on disk."""
        kinds = self._kinds(arguments + defaults_after(self.py_func, len(arguments)))
        known = any(entry.kinds == kinds for entry in list(self._made.values()))
        return known or disk.has(self.name, self.key(kinds, _door))

    def c_function(self, elements: Sequence[str]) -> Foreign:
        """The same as a function of C: see `routh.compiling.c_function`."""
        kinds = tuple(array_kind(element, 1) for element in elements)
        return while_listening(lambda: _linked(self, kinds, _c_door))

    def _kinds(self, arguments: tuple[Foreign, ...]) -> tuple[Kind, ...]:
        names = zip(self.py_func.__code__.co_varnames, arguments, strict=False)
        return tuple(kind_of_argument(f"{self.name}: {name}", one, kind_of_array) for name, one in names)

    @cached_property
    def _digest(self) -> str:
        return disk.digest_of(self)

    def key(self, kinds: tuple[Kind, ...], door: Plain) -> str:
        """Under which the code for arguments of these kinds is kept."""
        return key_of(self._digest, kinds, door.__name__)

    def _entry(self, arguments: tuple[Foreign, ...]) -> _Entry:
        kinds, types = self._kinds(arguments), list(types_in(arguments))
        for entry in list(self._made.values()):
            if entry.kinds == kinds:  # other types of the same kinds
                return entry._replace(types=types)
        made = while_listening(lambda: _linked(self, kinds, _door))
        run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(made.address)
        return _Entry(kinds, types, run, made.result)


class _Entry(NamedTuple):
    """Code for arguments of some types, which are kept alive: what is looked up are their addresses."""

    kinds: tuple[Kind, ...]
    types: list[type]
    run: Foreign
    result: Kind


class _Linked(NamedTuple):
    """Code that is part of the process: its address, and the kind of its result."""

    address: int
    result: Kind


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


def optimised(text: str, machine: Foreign, effort: int, *, vectors: bool) -> Foreign:
    """The module of a program; ``vectors``: loops are unrolled, and they and other sums become vectors.

    Large programs have many short loops: unrolled and in vectors they would take a quarter longer to compile,
    and run hardly faster.
    """
    effort = 1 if text.count("\n") > LARGE else effort
    module = llvm.parse_assembly(text)
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=effort)
    options.loop_vectorization = options.loop_unrolling = options.slp_vectorization = vectors and effort > 1
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return module


def emitted(text: str) -> bytes:
    """The object file of a program."""
    return bytes(_machine().emit_object(optimised(text, _machine(), 3, vectors=True)))


def link(code: bytes, name: str) -> int:
    """Link an object file; the address of its function of this name."""
    with _LINKING:
        _engine().add_object_file(llvm.ObjectFileRef.from_data(code))
        _engine().finalize_object()
        return int(_engine().get_function_address(name))


def key_of(digest: str, kinds: tuple[Kind, ...], *more: Foreign) -> str:
    """Of code that is made from sources with this digest, for arguments of these kinds."""
    words = machine_words(), disk.digest_of_translator(), digest, list(map(named, kinds)), *more
    return hashlib.sha256(repr(words).encode()).hexdigest()


def _linked(kernel: Kernel, kinds: tuple[Kind, ...], door: Callable[..., str]) -> _Linked:
    """The code of a kernel, from disk or compiled, as part of the process; made once, whoever else asks."""
    key = kernel.key(kinds, door)
    with _LINKING:
        if key not in _LINKED:
            kept = disk.load(kernel.name, key)
            with suppress(ImportError, AttributeError, ValueError):  # a result's class may be in no module
                if kept is not None:
                    result = _kind_of_names(kept[0])
                    _LINKED[key] = _Linked(link(kept[1], f"routh.{key}"), result)
                    return _LINKED[key]
            with compiling(kernel.name):
                program = Program()
                name, result = program.function(kernel, kinds)
                code = emitted(f"{program.text()}\n{door(f'routh.{key}', name, kinds, result)}")
            disk.save(kernel.name, key, named(result), code)
            _LINKED[key] = _Linked(link(code, f"routh.{key}"), result)
        return _LINKED[key]


def kept_or_made(name: str, key: str, make: Callable[[], bytes]) -> bytes:
    """Code from disk, or made and kept there."""
    kept = disk.load(name, key)
    if kept is not None:
        return kept[1]
    code = make()
    disk.save(name, key, None, code)
    return code


@cache
def _packer() -> Callable[[tuple[Foreign, ...], int], int]:
    """The function that writes down arguments: see `routh.compiling.arguments`."""

    def make() -> bytes:
        program, listed = Program(), "(i64 %value, i64 %room)"
        name, _ = program.function(pack, ("i", "i"))
        door = f"define i64 @routh.pack{listed} {{\n%found = call i64 @{name}{listed}\nret i64 %found\n}}"
        return emitted(f"{program.text()}\n{door}")

    code = kept_or_made("arguments", key_of("", ()), make)
    function = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.py_object, ctypes.c_void_p)
    found: Callable[[tuple[Foreign, ...], int], int] = function(link(code, "routh.pack"))
    return found


# doors


def words_as_arguments(kinds: tuple[Kind, ...]) -> tuple[list[str], list[str], str]:
    """The types of the words ``%w0, ...`` of a call, lines that narrow some of them, and the arguments."""
    types, lines, given = types_of(*kinds), [], []
    for k, one in enumerate(types):
        if one in NARROW:
            lines.append(f"%n{k} = trunc i64 %w{k} to {one}")
        given.append(f"{one} %{'n' if one in NARROW else 'w'}{k}")
    return ["i64" if one in NARROW else one for one in types], lines, ", ".join(given)


def loaded_arguments(kinds: tuple[Kind, ...]) -> tuple[list[str], str]:
    """Lines that read the words of a call at ``%in``, and the arguments."""
    words, lines, given = words_as_arguments(kinds)
    loads = [
        f"%p{k} = getelementptr i64, ptr %in, i64 {k}\n%w{k} = load {one}, ptr %p{k}"
        for k, one in enumerate(words)
    ]
    return loads + lines, given


def _door(symbol: str, name: str, kinds: tuple[Kind, ...], result: Kind) -> str:
    """The function that Python calls: it reads a word for each number, address and length; writes results."""
    lines, given = loaded_arguments(kinds)
    types, whole = types_of(result), result_type(result)
    if "ptr" in types:
        raise UntranslatableError("a kernel that Python calls returns an array; wanted numbers and tuples")
    lines.append(f"{'%r = ' if types else ''}call {whole} @{name}({given})")
    for k, one in enumerate(types):
        part = f"%e{k}" if len(types) > 1 else "%r"
        if len(types) > 1:
            lines.append(f"{part} = extractvalue {whole} %r, {k}")
        lines.append(f"%q{k} = getelementptr i64, ptr %out, i64 {k}")
        if one in NARROW:
            lines.append(f"store i64 0, ptr %q{k}")
        lines.append(f"store {one} {part}, ptr %q{k}")
    body = "\n".join([*lines, "ret void"])
    return f'define void @"{symbol}"(ptr noalias %in, ptr noalias %out) nounwind {{\n{body}\n}}'


def _c_door(symbol: str, name: str, kinds: tuple[Kind, ...], result: Kind) -> str:
    """As a function of C: the addresses of arrays, and the length of each of them."""
    if types_of(result):
        raise UntranslatableError(f"{name.rpartition('.')[0]} returns something; wanted None")
    listed = ", ".join(f"ptr %a{k}" for k in range(len(kinds)))
    given = ", ".join(f"ptr %a{k}, i64 %n" for k in range(len(kinds)))
    return f'define void @"{symbol}"({listed}, i64 %n) nounwind {{\ncall void @{name}({given})\nret void\n}}'


# results


def _result(kind: Kind, words: dict[str, Foreign], places: Iterator[int]) -> Foreign:
    """What a kernel returned, of the words that its door wrote."""
    if isinstance(kind, str):
        found = words[kind][next(places)]
        return bool(found) if kind == "b" else found
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
