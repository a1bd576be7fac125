"""What compiles: linked kernels, the clock, copies for other targets, interpreting, functions of C."""

import ctypes
import os
import subprocess
import sys
import types
from typing import NamedTuple

import numpy as np
import pytest

from routh.compiling import (
    announced_to,
    bound,
    c_function,
    compiled,
    distinct,
    interpreted,
    kernel,
    native,
    vectors,
)
from routh.compiling.program import Program


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


def test_loops_become_vectors_where_a_mark_says_so():
    def scaled(length, factor, line, target):
        for j in range(length):
            target[j] = factor * line[j]

    kinds = "i", "f", ("array", "float64", 1), ("array", "float64", 1)
    for mark, wanted in ((distinct, False), (vectors, True)):
        program = Program()
        program.function(mark(scaled), kinds)
        door = 'define void @"kept"(ptr %p) { ret void }'
        text = program.text().replace("define internal", "define")
        made = native.optimised(f"{text}\n{door}", native._machine(), 1, vectors=program.vectors)
        assert ("x double>" in str(made)) == wanted


class _Spot(NamedTuple):
    bound: np.ndarray


def _first_of(spot):
    return spot.bound[0]


def test_what_an_attribute_is_called_is_no_function_that_is_called():
    # `bound`, of the compiler, stands around the kernel, and in itself calls what has its name
    assert interpreted(kernel(_first_of))(_Spot(VALUES)) == 1.0
    assert interpreted(_first_of).__globals__["bound"] is bound
