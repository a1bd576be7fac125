"""Kernels are plain Python that stock numba compiles as well, to the same bits: there is a way back."""

import numpy as np
import pytest

from routh import systems
from routh.compiling.copies import rebuilt
from routh.compiling.rows import Row
from routh.kernels.common import random, small_linear
from routh.kernels.common.arrays import make_rows
from routh.kernels.plane import sample as plane
from routh.kernels.space import sample as space
from routh.kernels.space.workspace import SpaceWork, workspace

numba = pytest.importorskip("numba", exc_type=ImportError)  # it wants an llvmlite of its own


def by_numba(kernel):
    """A kernel, and all that it calls, compiled by numba."""
    return rebuilt(kernel, numba.njit(error_model="numpy"), {})


def test_random_numbers():
    theirs = by_numba(random.event_keys)
    for sample in (0, 3, 2**40):
        given = np.uint64(7), 2, sample, 1
        assert random.event_keys(*given) == theirs(*given)


def test_small_linear_systems():
    rng, theirs = np.random.default_rng(0), by_numba(small_linear.invert)
    for n in (1, 2, 5):
        A = rng.normal(size=(n, n))
        found = []
        for run in (small_linear.invert, theirs):
            given, inverse = A.copy(), np.zeros((n, n))
            found.append((run(given, inverse, n), given.tobytes(), inverse.tobytes()))
        assert found[0] == found[1]


def test_least_squares():
    rng, theirs = np.random.default_rng(1), by_numba(small_linear.least)
    A = rng.normal(size=(4, 4))
    A[3] = A[0]  # of rank 3
    found = []
    for run in (small_linear.least, theirs):
        given = A @ A.T, np.zeros((4, 4)), A @ np.ones(4), np.zeros(4)
        run(*given, 4, 1e-12)
        found.append([one.tobytes() for one in given])
    assert found[0] == found[1]


def test_named_fields():
    problem, found = systems.get("disk-stack").problem, []
    theirs = by_numba(plane.load_row)
    for run in (plane.load_row, theirs):
        work = plane.workspace(problem.nc)
        run(make_rows([problem]), 0, work)
        found.append([one.tobytes() for one in work])
    assert found[0] == found[1]
    assert any(np.any(one) for one in work)


def tell_rows(kind):
    """Tell numba the rows with names of a class of named tuples."""

    def attribute(name, row):
        def found(work):
            if work.instance_class is kind:
                field, number = kind._fields.index(row.field), row.number
                return lambda work: work[field][number]
            field = work.fields.index(name)  # numba asks this for every class
            return lambda work: work[field]

        numba.extending.overload_attribute(numba.types.NamedTuple, name)(found)

    for name, row in vars(kind).items():
        if isinstance(row, Row):
            attribute(name, row)


def test_rows_with_names():
    problem, found = systems.get("box-drop").problem, []
    tell_rows(SpaceWork)
    for run in (space.load_row, by_numba(space.load_row)):
        work = workspace(problem.nc)
        run(make_rows([problem]), 0, work)
        found.append([one.tobytes() for one in work])
    assert found[0] == found[1]
    assert work.gram.any()
