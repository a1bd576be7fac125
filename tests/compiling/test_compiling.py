"""What compiles: linked kernels, the clock, copies for other targets, interpreting, functions of C."""

import ctypes
import os
import subprocess
import sys
import types

import numpy as np
import pytest

from routh import compiling
from routh.compiling import announced_to, c_function, compiled, interpreted, kernel, native


def _plain_square(x):
    return x * x


def _plain_sum(values):
    total = 0.0
    for i in range(len(values)):
        total += _plain_square(values[i])
    return total


_plain_square.__module__ = _plain_sum.__module__ = "routh.test_compiling"  # what `compiled` follows
VALUES = np.array([1.0, 2.0, 4.0])


def _triple(x):
    return 3.0 * x


def _sum(values):
    total = 0.0
    for i in range(len(values)):
        total += _triple(values[i])
    return total


def _pair():
    inner = kernel(_triple)
    names = {"_triple": inner, "__name__": __name__}
    return inner, kernel(types.FunctionType(_sum.__code__, names, "_sum"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ROUTH_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(native, "_LINKED", {})  # as in a fresh process
    return tmp_path


def test_an_inner_kernel_is_part_of_the_outer_and_can_still_be_called_from_python(folder):
    inner, outer = _pair()
    assert outer(VALUES) == 21.0
    assert [path.name.partition("-")[0] for path in folder.glob("_*")] == ["_sum"]
    assert inner(2.0) == 6.0
    assert {path.name.partition("-")[0] for path in folder.glob("_*")} == {"_sum", "_triple"}


def test_who_listens_hears_that_it_compiles_and_when_it_is_done():
    process = float(os.getpid())  # so that it is not on disk

    @kernel
    def double(x):
        return 2.0 * x + process

    heard = []
    with announced_to(heard.append):
        double(1.0)
        assert heard == ["compiling, once for this machine", None]
        double(2.0)
    assert len(heard) == 2


def test_plain_functions_are_compiled_and_kernels_interpreted_with_all_they_call():
    fast = compiled(_plain_sum)
    assert fast(VALUES) == 21.0
    slow = interpreted(fast)
    assert type(slow) is types.FunctionType
    assert type(slow.__globals__["_plain_square"]) is types.FunctionType
    assert slow(VALUES) == 21.0


def test_importing_the_compiler_loads_no_llvm():
    code = "import sys, routh.compiling; assert not {'numba', 'llvmlite'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_sampling_loads_no_numba():
    code = (
        "import sys, routh; routh.sample(routh.systems.get('rocking-block').problem, 2); "
        "assert 'numba' not in sys.modules and 'llvmlite' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_interpreted_by_the_environment_samples_are_the_same_and_bounds_are_checked(tmp_path):
    code = (
        "import sys, numpy as np, routh; from routh.compiling import kernel, compile_seconds\n"
        "found = routh.sample(routh.systems.get('rocking-block').problem, 3)\n"
        "print(found.v.tobytes().hex(), compile_seconds(), 'llvmlite' in sys.modules)\n"
        "@kernel\n"
        "def beyond(values):\n"
        "    return values[3]\n"
        "try:\n"
        "    beyond(np.zeros(3))\n"
        "except IndexError as error:\n"
        "    print(error)\n"
    )
    environment = {**os.environ, "ROUTH_INTERPRET": "1", "ROUTH_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    import routh

    expected = routh.sample(routh.systems.get("rocking-block").problem, 3).v.tobytes().hex()
    first, second = done.stdout.splitlines()
    assert first == f"{expected} 0.0 False", done.stderr
    assert "out of bounds" in second
    assert not list(tmp_path.iterdir())


def test_a_function_of_c():
    def halve(values, flags, out):
        for i in range(len(values)):
            out[i] = 0.5 * values[i] if flags[i] else -1.0

    made = c_function(halve, ("float64", "bool", "float64"))
    call = ctypes.CFUNCTYPE(None, *3 * [ctypes.c_void_p], ctypes.c_int64)(made.address)
    flags, out = np.array([True, False, True]), np.full(3, 9.0)
    call(VALUES.ctypes.data, flags.ctypes.data, out.ctypes.data, 2)
    assert out.tolist() == [0.5, -1.0, 9.0]


def test_a_function_of_c_returns_nothing():
    def odd(values):
        return values[0]

    with pytest.raises(TypeError, match="wanted None"):
        c_function(odd, ("float64",))


def test_a_rolled_module_is_valid_and_marks_the_way_back_of_every_loop_and_nothing_else(monkeypatch):
    from llvmlite import binding, ir

    module = ir.Module("loops")
    integer = ir.IntType(64)
    function = ir.Function(module, ir.FunctionType(integer, [integer]), "count")
    before, loop, after = (function.append_basic_block(name) for name in ("before", "loop.body", "after"))
    ir.IRBuilder(before).branch(loop)
    builder = ir.IRBuilder(loop)
    number = builder.phi(integer)
    following = builder.add(number, integer(1))
    number.add_incoming(integer(0), before)
    number.add_incoming(following, loop)
    builder.cbranch(builder.icmp_signed("<", following, function.args[0]), loop, after)
    ir.IRBuilder(after).ret(following)
    rolled = compiling._rolled(str(module))
    marked = [line for line in rolled.splitlines() if "!llvm.loop" in line]
    assert len(marked) == 1
    assert "loop.body" in marked[0]
    assert "after" in marked[0]
    binding.parse_assembly(rolled).verify()
    for name, long, full in (
        ("count", True, False),
        ("5place5count", True, True),
        ("5place5count", False, False),
    ):
        monkeypatch.setattr(compiling, "_WRITTEN_OUT", {"5place5count"})
        rolled = compiling._rolled(str(module).replace('"count"', f'"{name}"'), long=long)
        used = next(line for line in rolled.splitlines() if "!llvm.loop " in line).split()[-1]
        how = next(line for line in rolled.splitlines() if line.startswith(f"{used}0 = "))
        assert ("unroll.full" in how) == full
        binding.parse_assembly(rolled).verify()


def test_a_rolled_module_has_no_indices_from_the_end():
    """Written here as numba-cuda writes an index; another choice between numbers stays."""
    from llvmlite import binding, ir

    module = ir.Module("index")
    integer = ir.IntType(64)
    function = ir.Function(module, ir.FunctionType(integer, [integer, integer]), "place")
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    index, length = function.args
    is_negative = builder.icmp_signed("<", index, integer(0))
    from_the_end = builder.add(index, length)
    place = builder.select(is_negative, from_the_end, index)
    is_small = builder.icmp_signed("<", place, length)
    builder.ret(builder.select(is_small, place, length))
    rolled = compiling._rolled(str(module))
    assert str(module).count("select") == 2
    assert rolled.count("select") == 1
    assert f"select  i1 {is_small.get_reference()}" in rolled
    binding.parse_assembly(rolled).verify()


def test_only_the_zeros_of_local_arrays_are_left_out():
    """Written here as numba-cuda writes them, with pointers of both kinds."""
    kept = '  store [3 x double] zeroinitializer, [3 x double]* %"p"\n'
    typed = '  store [65 x double] zeroinitializer, [65 x double]* %"_cudapy_lmem"\n'
    opaque = '  store [28 x i64] zeroinitializer, ptr %"_cudapy_lmem.1"\n'
    used = '  %".7" = bitcast [65 x double]* %"_cudapy_lmem" to i8*\n'
    assert compiling._CLEARED.sub("", typed + kept + opaque + used) == kept + used
