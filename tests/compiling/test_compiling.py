"""What compiles: linked kernels, the disk cache and its failures, the clock, and copies for other targets."""

import logging
import subprocess
import sys
import types
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core.caching import CacheImpl

from routh import compiling
from routh.compiling import announced_to, compile_seconds, compiled, interpreted, kernel, numba_inside


def _plain_square(x):
    return x * x


def _plain_sum(values):
    total = 0.0
    for i in range(len(values)):
        total += _plain_square(values[i])
    return total


_plain_square.__module__ = _plain_sum.__module__ = "routh.test_compiling"  # what `compiled` follows


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    numba_inside.say_once.cache_clear()
    return tmp_path


VALUES = np.array([1.0, 2.0, 4.0])


@pytest.fixture
def pair(cache):
    # closures would be part of the key; a global name is not
    def inner(x):
        return 3.0 * x

    def outer(values):
        total = 0.0
        for i in range(len(values)):
            total += inner_kernel(values[i])  # noqa: F821
        return total

    def build():
        linked = kernel(inner)
        names = {"inner_kernel": linked, "__name__": __name__}
        return linked, kernel(types.FunctionType(outer.__code__, names, "outer"))

    return build


def test_an_inner_kernel_is_part_of_the_outer_and_can_still_be_called_from_python(pair):
    inner, outer = pair()
    assert outer(VALUES) == 21.0
    assert not inner.entry.overloads  # it is a part of the other
    assert inner(2.0) == 6.0
    assert inner.entry.overloads


def test_somebody_elses_jitted_code_may_call_kernels_that_call_kernels():
    from routh.kernels.random import draw_bounds
    from routh.rng import uniforms

    @numba.njit
    def theirs(key, size, bound):
        draw_bounds(2, key, 3, 1, size, bound)
        return bound[0]

    bound = np.empty(2)
    theirs((np.uint32(7), np.uint32(0), np.uint32(0)), np.ones(2), bound)
    assert bound.tobytes() == uniforms(7, np.array([3]), 1, 2)[0].tobytes()


def test_a_second_process_loads_from_disk_and_does_not_compile(pair, cache):
    pair()[1](VALUES)
    before = compile_seconds()
    inner, outer = pair()
    assert outer(VALUES) == 21.0
    assert compile_seconds() == before
    assert not inner.overloads


@pytest.mark.parametrize("suffix", [".nbc", ".nbi"])
@pytest.mark.parametrize("harm", ["truncated", "empty", "changed"])
def test_a_damaged_cache_file_is_compiled_again_with_a_word(pair, cache, caplog, suffix, harm):
    pair()[1](VALUES)
    (file,) = cache.rglob(f"*{suffix}")
    whole = file.read_bytes()
    broken = {"truncated": whole[: len(whole) // 2], "empty": b"", "changed": whole[:-9] + b"\0" * 9}
    file.write_bytes(broken[harm])
    before = compile_seconds()
    with caplog.at_level(logging.WARNING, "routh.compiling"):
        assert pair()[1](VALUES) == 21.0
    assert compile_seconds() > before
    assert "compiling it again" in caplog.text
    before = compile_seconds()
    assert pair()[1](VALUES) == 21.0  # and the new one is whole
    assert compile_seconds() == before


def test_where_nothing_can_be_kept_kernels_work_and_a_line_says_so(pair, cache, caplog, monkeypatch):
    monkeypatch.setattr(CacheImpl, "_locator_classes", [])  # no home, and a read-only installation
    with caplog.at_level(logging.WARNING, "routh.compiling"):
        assert pair()[1](VALUES) == 21.0
    assert "every process compiles them anew" in caplog.text
    assert not list(cache.rglob("*.nbc"))


def test_a_full_disk_does_not_lose_the_result(pair, cache, caplog, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(numba_inside._CacheFile, "_save_data", full)
    with caplog.at_level(logging.WARNING, "routh.compiling"):
        assert pair()[1](VALUES) == 21.0
    assert "No space left" in caplog.text


def test_who_listens_hears_that_it_compiles_and_when_it_is_done(pair):
    heard = []
    with announced_to(heard.append):
        pair()[1](VALUES)
    assert heard == ["compiling, once for this machine", None]
    pair()[1](VALUES)
    assert len(heard) == 2


def test_plain_functions_are_compiled_and_kernels_interpreted_with_all_they_call():
    fast = compiled(_plain_sum)
    assert fast(VALUES) == 21.0
    slow = interpreted(fast)
    assert type(slow) is types.FunctionType
    assert type(slow.__globals__["_plain_square"]) is types.FunctionType
    assert slow(VALUES) == 21.0


def test_importing_the_compiler_loads_no_numba():
    code = "import sys, routh.compiling; assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_digest_covers_every_kernel_source():
    root = Path(compiling.__file__).parents[1]
    listed = {path for pattern in numba_inside._SOURCES for path in root.glob(pattern)}
    users = {
        path for path in root.rglob("*.py") if "@kernel" in (text := path.read_text()) or "@inlined" in text
    }
    assert users <= listed


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
