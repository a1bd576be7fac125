"""Compiled kernels against plain Python: elements, loops, numbers; and kernels that wait to be compiled."""

import math

import numpy as np
import pytest

from routh.compiling import Patient, interpreted, kernel

NAN, INF = math.nan, math.inf


@kernel
def _element_of_all_kinds(whole, small, flags, names, cube, out):
    """Elements of arrays of every type that kernels use, read and written, by every kind of index."""
    last = names[1]
    for i in range(whole.shape[0]):
        flags[i] = whole[i] > 1
        small[i] = small[i] + whole[i]
        for j in range(cube.shape[1]):
            at = (i, j, 1)
            cube[at] += 0.5 * whole[i]
            out[i, j] = cube[i, j, 0] - cube[at] if flags[i] else float(at[1])
    out[0, 0] += names[np.uint64(0)] - last
    out[1, 0] = out[-1, 1]
    out[i - 4, -2] -= whole[1 - i]  # from the end


@kernel
def _loops(first, end, out):
    """Loops that are empty, run backwards, are left, change their own variable or their bounds."""
    count, length = 0, end
    for i in range(first, length):
        length = 0
        i += 100
        out[0] += i
        count += 1
    for i in range(end, first, -1):
        out[1] += i
    for i in range(end):
        if i == 2:
            continue
        for j in range(i):
            if j > 3:
                break
            out[2] += j
    for i in range(3):
        out[3] += i
    out[3] += 10 * i
    while count > 0:
        count -= 2
    out[4] = count


@kernel
def _numbers(x, y, k, n, out):
    """Sums, products, quotients and comparisons of floats and integers, mixed."""
    out[0], out[1], out[2], out[3] = x + y, x - k, k * x, x / y
    out[4], out[5], out[6] = k / n, k - n, k * n
    x += k
    k *= n
    out[7], out[8] = x, k
    out[9] = (x < y) + 2 * (x == x) + 4 * (x != x) + 8 * (k <= n) + 16 * (k != n) + 32 * (x >= y)
    out[10], out[11], out[12] = max(x, y, out[0]), min(x, y), max(out[1], 0.0)
    out[13], out[14] = max(k, n), k // 3 + k % 3


@kernel
def _integers(x, k, flag):
    return int(x) + int(k) + int(flag)


def _both(function, *arguments):
    """The arrays among the arguments after the compiled and after the interpreted call."""
    made = []
    for call in (function, interpreted(function)):
        given = [one.copy() if isinstance(one, np.ndarray) else one for one in arguments]
        with np.errstate(all="ignore"):
            call(*given)
        made.append([one for one in given if isinstance(one, np.ndarray)])
    return made


def _assert_equal_bits(pair):
    for fast, slow in zip(*pair, strict=True):
        assert fast.tobytes() == slow.tobytes()


def test_elements_of_arrays_are_those_of_python():
    rng = np.random.default_rng(0)
    arrays = (
        np.array([2, 0, 5]),
        np.array([1, -7, 100], dtype=np.int8),
        np.zeros(3, dtype=bool),
        np.array([9, 2**40], dtype=np.uint64),
        rng.normal(size=(3, 2, 2)),
        np.zeros((3, 2)),
    )
    _assert_equal_bits(_both(_element_of_all_kinds, *arrays))


def test_elements_of_arrays_that_are_not_dense():
    rng = np.random.default_rng(0)
    whole, flags = np.arange(6)[::2], np.zeros(3, dtype=bool)
    cube, out = rng.normal(size=(2, 2, 3)).T, np.zeros((2, 3)).T
    small, names = np.zeros(6, dtype=np.int8)[::2], np.array([9, 1], dtype=np.uint64)
    copies = [one.copy() for one in (whole, small, flags, names, cube, out)]
    _element_of_all_kinds(whole, small, flags, names, cube, out)
    interpreted(_element_of_all_kinds)(*copies)
    for one, other in zip(
        (small, flags, cube, out), (copies[1], copies[2], copies[4], copies[5]), strict=True
    ):
        assert np.array_equal(one, other)


@pytest.mark.parametrize(("first", "end"), [(0, 5), (2, 9), (4, 4), (7, 3), (-3, 2)])
def test_loops_turn_as_often_as_in_python(first, end):
    _assert_equal_bits(_both(_loops, first, end, np.zeros(5)))


@pytest.mark.parametrize("x", [1.5, -0.0, 0.0, NAN, INF])
@pytest.mark.parametrize("y", [0.3, -2.0, NAN])
@pytest.mark.parametrize(("k", "n"), [(3, 2), (-7, 5), (0, 4)])
def test_numbers_are_those_of_python(x, y, k, n):
    _assert_equal_bits(_both(_numbers, x, y, k, n, np.zeros(15)))


@pytest.mark.parametrize(("x", "k", "flag"), [(2.9, 3, True), (-2.9, -3, False)])
def test_int_cuts_towards_zero(x, k, flag):
    assert _integers(x, k, flag) == int(x) + int(k) + int(flag)


def test_few_calls_of_a_patient_kernel_compile_nothing_and_many_do(monkeypatch):
    @kernel
    def double(values):
        for i in range(len(values)):
            values[i] = 1.0 / values[i]

    patient, values = Patient(double), np.array([2.0])
    patient(values)
    assert values[0] == 0.5
    assert not double._made
    patient._spent = 1.0
    patient(values)
    assert values[0] == 2.0
    assert double._made


def test_where_plain_python_raises_a_patient_kernel_goes_on_as_compiled_code_does():
    @kernel
    def root(values, out):
        out[0] = math.sqrt(values[0])

    out = np.zeros(1)
    Patient(root)(np.array([-1.0]), out)
    assert math.isnan(out[0])
