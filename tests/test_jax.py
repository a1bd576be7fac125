"""Outcomes as a function of JAX: value, derivative, and under its transformations."""

import numpy as np
import pytest

import routh
from problems import random_matrices

jax = pytest.importorskip("jax")


@pytest.fixture(autouse=True)
def _double_precision():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


def fields(problem):
    return problem.M, problem.Jn, problem.Jt, problem.mu, problem.v, problem.restitution


@pytest.fixture
def problem():
    return random_matrices(np.random.default_rng(3), 2).replace(restitution=0.5)


def test_values_and_derivatives_are_those_of_the_sampler(problem):
    from routh.jax import outcome_function

    after = outcome_function(5, seed=2)
    outcomes = routh.sample(problem, 5, seed=2)
    np.testing.assert_array_equal(after(*fields(problem)), outcomes.v)
    found = jax.jacobian(after, argnums=(0, 1, 2, 3, 4, 5))(*fields(problem))
    exact = outcomes.jacobian()
    for name, array in zip(("M", "Jn", "Jt", "mu", "v", "restitution"), found, strict=True):
        np.testing.assert_allclose(array, exact[name], atol=1e-10)


def test_it_works_under_jit_vmap_and_grad(problem):
    from routh.jax import outcome_function

    after = outcome_function(4, seed=1)

    def height(v, mu):
        return after(problem.M, problem.Jn, problem.Jt, mu, v, problem.restitution)[:, 0].sum()

    outcomes = routh.sample(problem, 4, seed=1)
    expected = outcomes.vjp(np.eye(problem.nv)[0])
    by_v, by_mu = jax.jit(jax.grad(height, argnums=(0, 1)))(problem.v, problem.mu)
    np.testing.assert_allclose(by_v, expected["v"].sum(axis=0), atol=1e-10)
    np.testing.assert_allclose(by_mu, expected["mu"].sum(axis=0), atol=1e-10)
    speeds = np.array([[1.0], [2.0], [0.5]]) * problem.v
    many = jax.jit(jax.vmap(jax.grad(height), in_axes=(0, None)))(speeds, problem.mu)
    np.testing.assert_allclose(many, np.tile(by_v, (3, 1)), atol=1e-10)  # homogeneous: all the same


def test_single_precision_is_kept(problem):
    from routh.jax import outcome_function

    jax.config.update("jax_enable_x64", False)
    given = [np.asarray(field, dtype=np.float32) for field in fields(problem)]
    found = outcome_function(3)(*given)
    assert found.dtype == np.float32
    assert np.isfinite(found).all()


def test_a_missing_package_is_named(monkeypatch):
    import sys

    from routh.base.status import MissingExtraError
    from routh.jax import outcome_function

    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(MissingExtraError, match=r"pip install .*\[jax\]'?"):
        outcome_function(3)
