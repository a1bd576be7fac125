"""Kernels are plain Python that stock numba compiles as well, to the same bits: there is a way back."""

import numpy as np
import pytest

from routh import systems
from routh.compiling.copies import rebuilt
from routh.compiling.rows import row_named
from routh.kernels.common import random, small_linear
from routh.kernels.common.arrays import make_rows
from routh.kernels.plane import sample as plane
from routh.kernels.plane.rates import PlaneWork
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


@pytest.fixture(scope="module")
def named_rows():
    """Tell numba the rows with names of the samplers' scratch."""

    def attribute(name):
        def found(work):  # numba asks this for every class
            row = row_named(work.instance_class, name)
            if row is None:
                field = work.fields.index(name)
                return lambda work: work[field]
            field, number = work.fields.index(row.field), row.number
            return lambda work: work[field][number]

        numba.extending.overload_attribute(numba.types.NamedTuple, name)(found)

    for name in {*dir(PlaneWork), *dir(SpaceWork)}:
        if row_named(PlaneWork, name) or row_named(SpaceWork, name):
            attribute(name)


@pytest.mark.usefixtures("named_rows")
@pytest.mark.parametrize(("system", "sampler"), [("disk-stack", plane), ("box-drop", space)])
def test_named_fields_and_rows(system, sampler):
    problem, found = systems.get(system).problem, []
    for run in (sampler.load_row, by_numba(sampler.load_row)):
        work = plane.workspace(problem.nc) if sampler is plane else workspace(problem.nc)
        run(make_rows([problem]), 0, work)
        found.append([one.tobytes() for one in work])
    assert found[0] == found[1]
    assert work.gram.any()
