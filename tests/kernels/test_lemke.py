"""The compiled path of Lemke's method against the readable one."""

import numpy as np
import pytest

from routh.kernels.lemke import lemke
from routh.lcp.lemke import lemke_pivots


@pytest.mark.parametrize("seed", range(6))
def test_the_compiled_path_is_the_reference_s(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    A = rng.normal(size=(n, n))
    W, q = A @ A.T + rng.normal(size=(n, n)) * 0.1, rng.normal(size=n)
    W += n * np.eye(n)
    outcome, pivots, basis, value = lemke_pivots(W, q, np.ones(n), 500, 1e-11)
    T, own = np.empty((n, 2 * n + 2)), np.empty(n, np.int64)
    assert lemke(W, q, np.ones(n), 500, 1e-11, T, own) == (outcome, pivots)
    np.testing.assert_array_equal(own, basis)
    np.testing.assert_allclose(T[:, -1], value, atol=1e-10)
