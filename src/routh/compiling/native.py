"""The CPU's door, by llvmlite's public API: translated programs as machine code that Python calls.

A call goes through two functions. `routh.compiling.arguments` writes down what the arguments are, and a word
for each number, address and length. The kernel's own door reads these words and calls the translated program.
Both are object files of LLVM, kept on disk (`routh.compiling.cache`) and linked into the process when they
are first needed.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache, partial, update_wrapper

import llvmlite
import llvmlite.binding as llvm

from routh.compiling import cache as disk
from routh.compiling.arguments import MOST, PACKER, Room, kind_of_argument, types_in
from routh.compiling.clock import compiling, while_listening
from routh.compiling.foreign import Foreign, Plain
from routh.compiling.translator.calls import result_type
from routh.compiling.translator.program import Program
from routh.compiling.translator.values import Kind, UntranslatableError, array_kind, types_of

LARGE = 8000  # lines of a program on which LLVM spends less; those with the cone run no slower
_LINKING = threading.RLock()
_LINKED: dict[str, _Linked] = {}  # by key
_ROOMS: list[Room] = []  # for the words of a call; as many as there are calls at a time


class Kernel:
    """A function that Python calls as machine code, and other kernels as a part of theirs."""

    def __init__(self, function: Plain, **options: Foreign) -> None:
        self.py_func: Foreign = function
        self.name = function.__name__
        self.options = options
        function.__dict__["options"] = options  # for copies of it that run on a GPU
        self._arguments = function.__code__.co_argcount
        self._made: dict[bytes, _Entry] = {}  # by what the arguments are
        self._digest = ""
        update_wrapper(self, function)

    def __call__(self, *arguments: Foreign) -> Foreign:
        """Call it; what is compiled or read from disk for these types of arguments is so once."""
        if len(arguments) != self._arguments:
            arguments = self._filled(arguments)
        room = _ROOMS.pop() if _ROOMS else Room()
        try:
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
            entry.run(room.words, room.results)
            return entry.result(room.results) if entry.result else None
        finally:
            _ROOMS.append(room)

    def is_ready(self, *arguments: Foreign) -> bool:
        """Whether a call with these arguments would not compile: it has been made before, or is on disk."""
        kinds = self._kinds(self._filled(arguments))
        if any(entry.kinds == kinds for entry in list(self._made.values())):
            return True
        return disk.has(self.name, self._key(kinds))

    def c_function(self, elements: Sequence[str]) -> Foreign:
        """The same as a function of C: addresses of arrays with these elements, then the length of each.

        Keep what is returned alive while its ``.address`` is in use.
        """
        kinds = tuple(array_kind(element, 1) for element in elements)
        return while_listening(lambda: _linked(self, kinds, self._key(kinds, "C"), _c_door))

    def _filled(self, arguments: tuple[Foreign, ...]) -> tuple[Foreign, ...]:
        """With the defaults of those that are missing."""
        defaults = self.py_func.__defaults__ or ()
        missing = self._arguments - len(arguments)
        if not 0 <= missing <= len(defaults):
            raise TypeError(f"{self.name}: got {len(arguments)} arguments; wanted {self._arguments}")
        return arguments + defaults[len(defaults) - missing :]

    def _kinds(self, arguments: tuple[Foreign, ...]) -> tuple[Kind, ...]:
        names = self.py_func.__code__.co_varnames
        return tuple(
            kind_of_argument(f"{self.name}: {name}", one) for name, one in zip(names, arguments, strict=False)
        )

    def _key(self, kinds: tuple[Kind, ...], door: str = "") -> str:
        """Under which the code for arguments of these kinds is kept."""
        self._digest = self._digest or disk.digest_of(self)
        words = machine_words(), disk.digest_of_translator(), self._digest, door, list(map(named, kinds))
        return hashlib.sha256(repr(words).encode()).hexdigest()

    def _entry(self, arguments: tuple[Foreign, ...]) -> _Entry:
        kinds = self._kinds(arguments)
        for entry in list(self._made.values()):
            if entry.kinds == kinds:  # other types of the same kinds
                return _Entry(entry.kinds, entry.result, entry.address, types_in(arguments))
        made = while_listening(lambda: _linked(self, kinds, self._key(kinds), _door))
        return _Entry(kinds, _reader(made.result), made.address, types_in(arguments))


class _Entry:
    """Code for arguments of some types, which are kept alive: what is looked up are their addresses."""

    def __init__(
        self,
        kinds: tuple[Kind, ...],
        result: Callable[[int], Foreign] | None,
        address: int,
        types: list[type],
    ) -> None:
        self.kinds, self.result, self.address, self._types = kinds, result, address, types
        self.run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(address)


class _Linked:
    """Code that is part of the process: its address, and the kind of its result."""

    def __init__(self, address: int, result: Kind) -> None:
        self.address, self.result = address, result


# machine code


def _new_machine() -> Foreign:
    """This machine, to LLVM; objects are for its CPU alone."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=_features(),
        opt=3,
        reloc="default",
        codemodel="jitdefault",
        jit=True,
    )


@cache
def _features() -> str:
    try:
        return str(llvm.get_host_cpu_features().flatten())
    except RuntimeError:  # LLVM does not know how to ask
        return ""


@cache
def _machine() -> Foreign:
    return _new_machine()


@cache
def machine_words() -> str:
    """What machine code depends on, besides its source."""
    version = llvmlite.__version__, llvm.llvm_version_info
    return repr((version, llvm.get_default_triple(), llvm.get_host_cpu_name(), _features()))


@cache
def _engine() -> Foreign:
    """Links object files into the process."""
    machine = _new_machine()
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)


def emitted(text: str) -> bytes:
    """The object file of a program.

    Large programs have many short loops: unrolled and in vectors they would take a quarter longer to compile,
    and run hardly faster.
    """
    machine = _machine()
    module = llvm.parse_assembly(text)
    module.triple = llvm.get_default_triple()
    module.data_layout = str(machine.target_data)
    module.verify()
    effort = 1 if text.count("\n") > LARGE else 3
    options = llvm.create_pipeline_tuning_options(speed_level=effort)
    options.slp_vectorization = True
    options.loop_vectorization = options.loop_unrolling = effort == 3
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return bytes(machine.emit_object(module))


def link(code: bytes, name: str) -> int:
    """Link an object file; the address of its function of this name."""
    with _LINKING:
        _engine().add_object_file(llvm.ObjectFileRef.from_data(code))
        _engine().finalize_object()
        return int(_engine().get_function_address(name))


def _linked(kernel: Kernel, kinds: tuple[Kind, ...], key: str, door: Callable[..., str]) -> _Linked:
    """The code of a kernel, from disk or compiled, as part of the process; made once, whoever else asks."""
    with _LINKING:
        if key not in _LINKED:
            symbol = f"routh.{key}"
            code, result = _kept(kernel, key) or _compiled(kernel, kinds, key, partial(door, symbol))
            _LINKED[key] = _Linked(link(code, symbol), result)
        return _LINKED[key]


def _kept(kernel: Kernel, key: str) -> tuple[bytes, Kind] | None:
    kept = disk.load(kernel.name, key)
    with suppress(ImportError, AttributeError):  # the class of a result may have moved
        return None if kept is None else (kept[1], _kind_of_names(kept[0]))
    return None


def _compiled(
    kernel: Kernel, kinds: tuple[Kind, ...], key: str, door: Callable[[str, tuple[Kind, ...], Kind], str]
) -> tuple[bytes, Kind]:
    with compiling(kernel.name):
        program = Program()
        name, result = program.function(kernel, kinds)
        code = emitted(f"{program.text()}\n{door(name, kinds, result)}")
    described = named(result)
    if "<locals>" not in repr(described):  # where no other process would find the class
        disk.save(kernel.name, key, described, code)
    return code, result


@cache
def _packer() -> Callable[[tuple[Foreign, ...], int], int]:
    """The function that writes down arguments: see `routh.compiling.arguments`."""
    key = hashlib.sha256((machine_words() + PACKER).encode()).hexdigest()
    kept = disk.load("arguments", key)
    code = emitted(PACKER) if kept is None else kept[1]
    if kept is None:
        disk.save("arguments", key, None, code)
    function = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.py_object, ctypes.c_void_p)
    found: Callable[[tuple[Foreign, ...], int], int] = function(link(code, "routh.pack"))
    return found


# doors


def _door(symbol: str, name: str, kinds: tuple[Kind, ...], result: Kind) -> str:
    """The function that Python calls: it reads a word for each number, address and length; writes results."""
    lines, given = [], []
    for k, one in enumerate(part for kind in kinds for part in types_of(kind)):
        lines.append(f"%p{k} = getelementptr i64, ptr %in, i64 {k}")
        if one in ("i32", "i1"):
            lines += [f"%w{k} = load i64, ptr %p{k}", f"%v{k} = trunc i64 %w{k} to {one}"]
        else:
            lines.append(f"%v{k} = load {one}, ptr %p{k}")
        given.append(f"{one} %v{k}")
    parts = types_of(result)
    call = f"call {result_type(parts)} @{name}({', '.join(given)})"
    lines.append(f"%r = {call}" if parts else call)
    for k, one in enumerate(parts):
        part, kind = "%r", one
        if len(parts) > 1:
            part = f"%e{k}"
            lines.append(f"{part} = extractvalue {result_type(parts)} %r, {k}")
        if one in ("i32", "i1"):
            lines.append(f"%z{k} = zext {one} {part} to i64")
            part, kind = f"%z{k}", "i64"
        lines += [f"%q{k} = getelementptr i64, ptr %out, i64 {k}", f"store {kind} {part}, ptr %q{k}"]
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


def _reader(kind: Kind) -> Callable[[int], Foreign] | None:
    """Makes a result of the words at an address; None where there is nothing to be made."""
    if kind == ("thing", None):
        return None
    letters = "".join({"f": "d", "u": "Q"}.get(one, "q") for one in _letters(kind))
    words = struct.Struct(f"={letters}")

    def read(address: int) -> Foreign:
        return _together(kind, iter(words.unpack(ctypes.string_at(address, words.size))))

    return read


def _letters(kind: Kind) -> Iterator[str]:
    if isinstance(kind, str):
        yield kind
    elif kind[0] == "group":
        for part in kind[2]:
            yield from _letters(part)
    elif kind != ("thing", None):
        raise UntranslatableError(
            f"a kernel that Python calls returns {kind[0]}; wanted numbers, or tuples of them"
        )


def _together(kind: Kind, words: Iterator[Foreign]) -> Foreign:
    if isinstance(kind, str):
        return bool(next(words)) if kind == "b" else next(words)
    if kind[0] != "group":
        return None
    parts = [_together(part, words) for part in kind[2]]
    return kind[1](*parts) if kind[1] else tuple(parts)


def named(kind: Kind) -> Foreign:
    """A kind in words, lists and None, with the names of classes."""
    if isinstance(kind, str):
        return kind
    if kind[0] == "group":
        made = None if kind[1] is None else [disk.name_of(kind[1]), list(kind[1]._fields)]
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
    made = None
    if words[1] is not None:
        module, _, path = words[1][0].partition(":")
        made = importlib.import_module(module)
        for name in path.split("."):
            made = getattr(made, name)
    return "group", made, tuple(map(_kind_of_names, words[2]))
