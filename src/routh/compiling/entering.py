"""The way from Python into a program of kernels: numba unpacks the arguments and calls it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from itertools import count

import llvmlite.binding as llvm  # type: ignore[import-untyped]
from llvmlite import ir
from numba.core import cgutils, compiler, funcdesc, typing
from numba.core import types as numba_types
from numba.core.environment import Environment
from numba.core.imputils import builtin_registry

from routh.compiling.foreign import Foreign
from routh.compiling.program import Program
from routh.compiling.values import ELEMENTS, Kind, UntranslatableError, types_of

types: Foreign = numba_types
_NUMBERS = {types.float64: "f", types.uint64: "u", types.uint32: "w", types.boolean: "b"}
_RESULTS = {"f": types.float64, "i": types.int64, "u": types.uint64, "w": types.uint32, "b": types.boolean}
_LETTERS = {"double": ir.DoubleType(), "i64": ir.IntType(64), "i32": ir.IntType(32), "i1": ir.IntType(1)}
_LETTERS["ptr"] = ir.PointerType()
_numbers = count()


def kind_of_type(given: Foreign) -> Kind:
    """What a type of numba is called here."""
    if given in _NUMBERS:
        return _NUMBERS[given]
    if isinstance(given, types.Integer) and given.signed:
        return "i"
    if isinstance(given, types.NoneType):
        return "thing", None
    if (
        isinstance(given, types.Array)
        and given.layout == "C"
        and given.aligned
        and str(given.dtype) in ELEMENTS
    ):
        return "array", str(given.dtype), given.ndim
    if isinstance(given, types.BaseTuple):
        return "group", getattr(given, "instance_class", None), tuple(map(kind_of_type, given.types))
    raise UntranslatableError(f"an argument of type {given}")


def type_of_kind(kind: Kind) -> Foreign:
    """The type of numba of a result."""
    if isinstance(kind, str):
        return _RESULTS[kind]
    if kind == ("thing", None):
        return types.none
    if kind[0] == "group":
        parts = [type_of_kind(part) for part in kind[2]]
        return types.BaseTuple.from_types(parts, kind[1])
    raise UntranslatableError(f"a result of kind {kind[0]}")


def translated(kernel: Foreign, arguments: tuple[Foreign, ...], library: Foreign, target: Foreign) -> Foreign:
    """Numba's result of compiling a kernel for these types of arguments, made from its source."""
    program = Program()
    name, kind = program.function(kernel, tuple(map(kind_of_type, arguments)))
    result = type_of_kind(kind)
    if isinstance(result, types.BaseTuple):
        target.refresh()  # numba loads what it needs to make a tuple, and much else, which others do without
    plain = kernel.py_func
    described = funcdesc.PythonFunctionDescriptor(
        native=True,
        modname=plain.__module__,
        qualname=plain.__qualname__,
        unique_name=f"{plain.__qualname__}${next(_numbers)}",
        doc="",
        typemap=None,
        restype=result,
        calltypes=None,
        args=plain.__code__.co_varnames[: plain.__code__.co_argcount],
        kws=(),
        mangler=target.mangler,
        argtypes=tuple(arguments),
        uid=next(_numbers),
    )
    environment = Environment.from_fndesc(described)
    context = target.subtarget(environment=environment, fndesc=described)
    module = library.create_ir_module(described.unique_name)
    context.declare_env_global(module, context.get_env_name(described))
    _write_door(context, module, described, name, kind)
    library.add_program(program.text(), name)
    import_module("numba.cpython.numbers")  # how to write an integer, by which the wrapper takes tuples apart
    target.install_registry(builtin_registry)
    with target.push_code_library(library):
        library.add_ir_module(module)
        context.create_cpython_wrapper(library, described, environment, None, release_gil=True)
    entry = context.get_executable(library, described, environment)
    target.insert_user_function(entry, described, [library])
    return compiler.compile_result(
        typing_context=target.typing_context,
        target_context=target,
        entry_point=entry,
        typing_error=None,
        type_annotation="",
        library=library,
        call_helper=None,
        signature=typing.signature(result, *arguments),
        objectmode=False,
        lifted=(),
        fndesc=described,
        environment=environment,
        metadata={},
        reload_init=[],
    )


def _write_door(context: Foreign, module: Foreign, described: Foreign, name: str, kind: Kind) -> None:
    """The function that numba's wrapper calls: it passes what the program needs of the arguments."""
    convention = context.call_conv
    outer = ir.Function(
        module, convention.get_function_type(described.restype, described.argtypes), described.llvm_func_name
    )
    build = ir.IRBuilder(outer.append_basic_block("entry"))
    given = convention.decode_arguments(build, described.argtypes, outer)
    parts = [
        part
        for value, one in zip(given, described.argtypes, strict=True)
        for part in _parts(context, build, value, one)
    ]
    kinds = [_LETTERS[one] for one in types_of(kind)]
    result = ir.VoidType() if not kinds else (kinds[0] if len(kinds) == 1 else ir.LiteralStructType(kinds))
    inner = ir.Function(module, ir.FunctionType(result, [part.type for part in parts]), name)
    made = build.call(inner, parts)
    found = [made] if len(kinds) == 1 else [build.extract_value(made, k) for k in range(len(kinds))]
    value = _together(context, build, described.restype, iter(found))
    convention.return_value(build, context.get_return_value(build, described.restype, value))


def _parts(context: Foreign, build: Foreign, value: Foreign, given: Foreign) -> Iterator[Foreign]:
    """The numbers and addresses of an argument."""
    if isinstance(given, types.BaseTuple):
        for k, one in enumerate(given.types):
            yield from _parts(context, build, build.extract_value(value, k), one)
    elif isinstance(given, types.Array):
        array = context.make_array(given)(context, build, value)
        yield build.bitcast(array.data, _LETTERS["ptr"])
        yield from cgutils.unpack_tuple(build, array.shape, given.ndim)
    elif isinstance(given, types.Integer) and given.signed:
        yield value if value.type.width == 64 else build.sext(value, ir.IntType(64))
    elif not isinstance(given, types.NoneType):
        yield value


def _together(context: Foreign, build: Foreign, result: Foreign, parts: Iterator[Foreign]) -> Foreign:
    """The result as numba has it."""
    if result == types.none:
        return context.get_dummy_value()
    if isinstance(result, types.BaseTuple):
        values = [_together(context, build, one, parts) for one in result.types]
        return context.make_tuple(build, result, values)
    return next(parts)


def link(library: Foreign, text: str, name: str) -> None:
    """Put a program into a library, where others find its function of this name."""
    module = llvm.parse_assembly(text)
    module.get_function(name).linkage = "external"
    module.data_layout = library._codegen._data_layout
    module.verify()
    library._final_module.link_in(module)
