"""What Python may call a kernel with, and what comes back."""

import gc
import sys
import threading
from typing import NamedTuple

import numpy as np
import pytest

from routh.compiling import bound, kernel
from routh.compiling.arguments import MOST


class Data(NamedTuple):
    values: np.ndarray
    count: int
    deeper: tuple


@kernel
def shapes(data, scale, flag, maybe, out):
    """Something of every argument."""
    out[0] = data.values.shape[0] + 10 * data.values.shape[1] + 100 * data.count
    out[1] = scale * data.values[-1, -1] + (1.0 if flag else 0.0)
    out[2] = 0.0 if maybe is None else maybe
    out[3] = data.deeper[0][1] + data.deeper[1]


@kernel
def same(x):
    return x


@kernel
def both(x, y=3):
    return x, (y, x > 1.0)


@kernel
def total(values):
    found = 0
    for i in range(len(values)):
        found += values[i]
    return found


@pytest.mark.parametrize(
    "kind", [np.float64, np.int64, np.int32, np.int16, np.int8, np.uint64, np.uint32, bool]
)
@pytest.mark.parametrize("order", ["dense", "fortran", "reversed", "every other", "read-only"])
def test_arrays_of_any_order(kind, order):
    whole = np.arange(1, 13).reshape(3, 4).astype(kind)
    values = {
        "dense": whole,
        "fortran": np.asfortranarray(whole),
        "reversed": whole[::-1, ::-1],
        "every other": np.repeat(np.repeat(whole, 2, axis=0), 3, axis=1)[::2, ::3],
        "read-only": whole.copy(),
    }[order]
    if order == "read-only":
        values.setflags(write=False)
    out = np.zeros(4)
    inner = np.array([5.0, 7.0])
    shapes(Data(values, 2, (inner, 0.5)), 2.0, True, None, out)
    assert out.tolist() == [3 + 40 + 200, 2.0 * float(values[-1, -1]) + 1.0, 0.0, 7.5]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (2.5, 2.5), (np.float64(2.5), 2.5), (3, 3), (np.int64(-3), -3), (np.int32(-3), -3), (np.int8(-3), -3),
        (True, True), (np.bool_(False), False), (np.uint64(2**64 - 1), 2**64 - 1),
        (np.uint32(2**32 - 1), 2**32 - 1), (-(2**63), -(2**63)),
    ],
)  # fmt: skip
def test_numbers_come_back_as_they_went(given, expected):
    found = same(given)
    assert found == expected
    assert type(found) is type(expected)


def test_none_and_tuples_come_back():
    assert same(None) is None
    assert both(2.0) == (2.0, (3, True))
    assert both(2, 4.5) == (2, (4.5, True))
    found = same(Data(1.0, 2, (3.0,)))
    assert type(found) is Data
    assert found == Data(1.0, 2, (3.0,))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("text", "same: x: got str"),
        (np.zeros(2, dtype=np.float32), "same: x: got an array of float32"),
        (np.zeros(2, dtype=">f8"), "same: x: got an array of >f8"),
        (np.zeros(2, dtype=complex), "same: x: got an array of complex128"),
        (np.zeros(17, dtype=np.uint8)[1:].view(np.float64), "same: x: got an array of float64"),
        (np.zeros(()), "same: x: got an array of float64"),
        (Data(1.0, 2, ("text",)), "same: x.deeper.0: got str"),
        ([1.0], "same: x: got list"),
        (b"bytes", "same: x: got bytes"),
        (np.float32(1.0), "same: x: got float32"),
    ],
)
def test_anything_else_is_refused_by_name(given, message):
    with pytest.raises(TypeError, match=message):
        same(given)


def test_an_integer_that_is_too_large_is_refused():
    with pytest.raises(OverflowError):
        same(2**63)


def test_the_number_of_arguments_is_checked():
    with pytest.raises(TypeError, match="got 3 arguments; wanted 2"):
        both(1, 2, 3)
    with pytest.raises(TypeError, match="got 0 arguments; wanted 2"):
        both()
    with pytest.raises(TypeError, match="more than"):
        same((0,) * (MOST + 1))


def test_types_that_are_gone_are_not_taken_for_others():
    """A class at the address of an earlier one has its own fields."""
    for k in range(20):
        made = NamedTuple("Made", [("a", int), (f"b{k}", int)])
        assert type(same(made(1, k))) is made


def test_references_are_given_back():
    values, data = np.zeros((2, 3)), (1.5, "never")
    gc.collect()  # what earlier tests left behind refers to float and tuple, too
    before = [sys.getrefcount(one) for one in (values, data, float, tuple)]
    for _ in range(100):
        shapes(Data(values, 2, (values[0], 0.5)), 2.0, True, None, np.zeros(4))
        with pytest.raises(TypeError):
            same(data)
    gc.collect()
    after = [sys.getrefcount(one) for one in (values, data, float, tuple)]
    assert max(abs(a - b) for a, b in zip(before, after, strict=True)) < 20
    values.resize((1, 1), refcheck=False)  # no buffer of it is held


def test_threads_do_not_mix_their_arguments():
    arrays = [np.full(1000, k) for k in range(8)]
    found = [set() for _ in arrays]

    def work(k):
        for _ in range(300):
            found[k].add(total(arrays[k]))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == [{1000 * k} for k in range(8)]


def test_a_bound_call_reads_and_writes_its_arrays_wherever_these_came_from():
    given, out = np.arange(6.0).reshape(2, 3), np.zeros(4)
    call = bound(shapes, Data(given[:, ::2], 7, ((0.0, 1.0), 2.0)), 0.5, True, None, out)
    given[1, 2] = 8.0
    del given  # the call keeps what it needs
    call()
    assert out.tolist() == [2 + 20 + 700, 5.0, 0.0, 3.0]
    out[:] = 0.0
    call()
    assert out[1] == 5.0


def test_a_bound_call_says_which_argument_is_none():
    with pytest.raises(TypeError, match="total: values"):
        bound(total, "text")
