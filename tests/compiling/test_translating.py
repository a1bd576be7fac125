"""Kernels translated from their source: every way of writing that is translated, against plain Python."""

import math
from typing import NamedTuple

import numpy as np
import pytest

from routh.cli.precompile import FAMILIES
from routh.compiling import apart, compiled, distinct, interpreted, kernel
from routh.compiling.native import named
from routh.compiling.program import Program
from routh.compiling.rows import rows
from routh.compiling.values import UntranslatableError

FIVE, LOW, TABLE = np.int64(5), np.uint64(0xFFFF), np.array([[1.0, 2.0], [4.0, 8.0]])


class _Pair(NamedTuple):
    left: np.ndarray
    right: float


@kernel
def _halves(x):
    return 0.5 * x, x // 2


@kernel
def _swap(pair, scale=2.0):
    return _Pair(pair.left, scale * pair.right)


@kernel
def _first_beyond(values, bound):
    for i in range(len(values)):
        if values[i] > bound:
            return i
    return -1.0  # so that the result is a float


for _inner in (_halves, _swap, _first_beyond):
    _inner.py_func.__module__ = "routh.test_translating"  # what `interpreted` follows


@kernel
def _everything(values, whole, maybe, out):
    x, y = values[0], values[1]
    best, count = 0, 0
    for i in range(values.shape[0] - 1, -1, -1):
        if values[i] != values[i]:
            continue
        if i > best or (best == 0 and values[i] < 0.0):
            best = i + 0.5  # an integer before
    out[0] = best
    for sign in (1.0, -1.0):
        if sign * x > 1.0:
            break
        count += 1
    out[1] = count
    for i in range(3):
        if values[i] > 100.0:
            break
    else:
        out[2] = 7.0
    while True:
        count += 1
        if count > FIVE:
            break
    out[3] = count
    half, quotient = _halves(whole)
    out[4], out[5], out[6], out[7] = half, quotient, whole % 3, -whole // 3
    if maybe is not None and maybe > 2.0:
        out[8] = maybe
    out[9] = 0.0 if maybe is None else maybe**2
    pair = _swap(_Pair(values, y))
    pair = _swap(pair)
    out[10] = pair.right + pair.left[-1]
    out[11] = x < y < 3.0 or not x <= y
    out[12] = whole in (1, 7, 9)
    out[13] = TABLE[whole % 2, 1] + len((x, y))
    tail = values[1:]
    out[14] = tail[0] + len(tail) + len(values[9:])
    out[15], out[16] = x**3, abs(x) ** whole
    out[17] = float((np.uint64(whole) << np.uint64(3)) & LOW)
    out[18] = math.expm1(y) + math.log1p(x)
    out[19] = _first_beyond(values, y)
    out[20] = max(whole, 2) + min(x, y, 0.5) + abs(-whole)
    x, y = y, x
    out[21] = x - 2.0 * y
    out[22] = bool(whole) + int(x > y)
    out[23] = math.ceil(x) + math.floor(y) if math.isfinite(x + y) else 0.0
    out[24] = i  # the counter of a loop before


@pytest.mark.parametrize("maybe", [None, 1.0, 3.0])
@pytest.mark.parametrize("whole", [1, 4, 7])
@pytest.mark.parametrize(
    "values", [[0.25, 2.5, -1.0, 3.0], [3.0, 2.5, 200.0, 4.0], [-0.0, 0.1, math.nan, 1.0]]
)
def test_what_is_translated_is_what_python_does(values, whole, maybe):
    made = []
    for call in (_everything, interpreted(_everything)):
        out = np.zeros(25)
        call(np.array(values), whole, maybe, out)
        made.append(out)
    np.testing.assert_array_max_ulp(*made, 1)  # powers by squares may end in another last bit


def test_branches_that_none_rules_out_are_not_translated():
    @kernel
    def only_with(maybe, out):
        if maybe is not None:
            out[0] = maybe.no_such_field
        out[0] += 1.0 if maybe is None or maybe.no_such_field else 0.0

    out = np.zeros(1)
    only_with(None, out)
    assert out[0] == 1.0


def test_a_variable_that_is_set_in_a_branch_and_read_after_it_is_kept():
    @kernel
    def found(values):
        at, total = -1, 0.0
        for i in range(len(values)):
            if values[i] > 1.0:
                at = i
                here = values[i]
        if at >= 0:
            total = here
        return total + at

    assert found(np.array([0.0, 2.0, 0.5])) == 3.0
    assert found(np.array([0.0])) == -1.0


@pytest.mark.parametrize("text", ["sorted(values)", "values.sum()", "values[::2]", "[1.0]"])
def test_what_a_kernel_may_not_contain_is_refused_with_file_and_line(text, tmp_path):
    path = tmp_path / "kernels_of_a_test.py"
    path.write_text(f"def odd(values):\n    x = 1.0\n    return {text}\n")
    names = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    with pytest.raises(UntranslatableError, match=r"kernels_of_a_test.py:3: kernel odd: "):
        kernel(names["odd"])(np.zeros(2))


def test_a_function_without_its_source_is_refused():
    names = {"__name__": "routh_test"}
    exec("def double(x):\n    return 2.0 * x\n", names)
    with pytest.raises(UntranslatableError, match="kernel double: the source is not there"):
        kernel(names["double"])(1.5)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_is_translated(family):
    """Each calls all of its kernels; one that is refused raises."""
    FAMILIES[family]()


def _products(x, y, out):
    for i in range(len(x)):
        out[i] += x[i] * y[i]


_products = compiled(_products, fastmath={"contract"}, forceinline=True)


@distinct
def _sums(x, y, out):
    for i in range(1, len(x)):
        out[0] = x[0] * y[i] + out[i - 1]  # x, y and out are three arrays
        _products(x, y, out)


def test_marks_change_no_more_than_they_say():
    x, y, out = np.random.default_rng(0).normal(size=(3, 7))
    expected = out.copy()
    for i in range(1, 7):
        expected[0] = x[0] * y[i] + expected[i - 1]
        expected += x * y
    _sums(x, y, out)
    np.testing.assert_allclose(out, expected, rtol=1e-14, atol=1e-14)


def test_marks_are_in_the_program():
    program = Program()
    floats = ("array", "float64", 1)
    name, _ = program.function(_sums, (floats, floats, floats))
    text = program.text()
    (head,) = (line for line in text.split("\n") if line.startswith("define") and name in line)
    assert head.count("ptr noalias") == 3
    lines = [line for line in text.split("\n") if " fmul " in line or " fadd " in line]
    assert {"contract" in line for line in lines} == {True, False}  # of `_products` and of `_sums`


@kernel
def _half(x):
    return 0.5 * x


@kernel
def _half_of_one_and_of_all(values):
    total = 0.0
    for i in range(len(values)):
        total += _half(values[i])
    return _halved_less_one(total) + _half(total)


@kernel
def _halved_less_one(x):
    return x / 2.0 - 1.0


def test_a_short_function_called_once_becomes_part_of_its_caller_at_once():
    """Of one that several call LLVM decides; neither is a function afterwards."""
    program = Program()
    program.function(_half_of_one_and_of_all, (("array", "float64", 1),))
    heads = [line for line in program.text().split("\n") if line.startswith("define")]
    words = {name: head for head in heads for name in ("_half.", "_halved_less_one.") if name in head}
    assert " alwaysinline " in words["_halved_less_one."]
    assert " inlinehint " in words["_half."]
    assert _half_of_one_and_of_all(np.array([1.0, 3.0])) == 1.0


@kernel
def _clamped(x, low, high):
    return min(max(low, x), high)


@apart
def _sum_beyond(values, bound):
    total = 0.0
    for i in range(len(values)):
        total += max(0.0, values[i] - bound)
    return total


@kernel
def _clamp_and_add(values, out):
    for i in range(len(values)):
        out[i] = _clamped(values[i], -1.0, 2.0)
    return _sum_beyond(values, 2.0)


for _inner in (_clamped, _sum_beyond):
    _inner.py_func.__module__ = "routh.test_translating"


def test_shorter_ways_to_the_same_numbers():
    """A mark changes the code, and nothing else."""
    values = np.array([-np.inf, -3.0, -1.0, -0.5, 0.25, 2.0, 2.5, 1e300])
    out, plain = np.empty(len(values)), np.empty(len(values))
    assert _clamp_and_add(values, out) == interpreted(_clamp_and_add)(values, plain)
    assert out.tobytes() == plain.tobytes()


class _Block(NamedTuple):
    values: np.ndarray


class _Scratch(_Block):
    __slots__ = ()
    speed, rate = rows("values", 2)
    (total,) = rows("values", 1)


class _Exchanged(_Block):
    __slots__ = ()
    rate, speed = rows("values", 2)
    (total,) = rows("values", 1)


@kernel
def _add_up(work, n):
    for i in range(n):
        work.total[i] += work.speed[i] - 2.0 * work.rate[i]
    return work.total[n - 1]


@pytest.mark.parametrize("kind", [_Scratch, _Exchanged])
@pytest.mark.parametrize("gaps", [1, 2])
def test_rows_have_names(kind, gaps):
    """Also where numbers are not side by side; and classes of equal fields and other rows are told apart."""
    plain, ours = (kind((np.arange(12.0 * gaps) ** 2).reshape(3, -1)[:, ::gaps]) for _ in range(2))
    assert interpreted(_add_up)(plain, 4) == _add_up(ours, 4)
    np.testing.assert_array_equal(plain.values, ours.values)


def test_a_class_whose_rows_have_moved_is_another_kind():
    moved = type("_Scratch", (_Block,), {"rate": rows("values", 1)[0], "__module__": __name__})
    assert named(("group", moved, ())) != named(("group", _Scratch, ()))
