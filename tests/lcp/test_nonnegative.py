"""Least squares with non-negative numbers against SciPy's, which is slower to load than all of a sample."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from routh.lcp.convex import nonnegative_least_squares


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(1, 8), st.integers(0, 8))
def test_as_near_as_scipy(seed, rows, columns, rank):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(rows, min(rank, columns))) @ rng.normal(size=(min(rank, columns), columns))
    b = A @ rng.uniform(-0.5, 1.0, size=columns) if seed % 2 else rng.normal(size=rows)
    x, misfit = nonnegative_least_squares(A, b)
    assert np.all(x >= 0.0)
    assert misfit == pytest.approx(np.linalg.norm(A @ x - b), abs=1e-14)
    assert misfit <= nnls(A, b)[1] + 1e-9 * (1.0 + np.linalg.norm(b))


def test_nothing_to_push_and_nothing_to_reach():
    x, misfit = nonnegative_least_squares(np.zeros((2, 3)), np.array([3.0, 4.0]))
    assert np.array_equal(x, np.zeros(3))
    assert misfit == 5.0
    x, misfit = nonnegative_least_squares(np.eye(2), np.zeros(2))
    assert np.array_equal(x, np.zeros(2))
    assert misfit == 0.0
