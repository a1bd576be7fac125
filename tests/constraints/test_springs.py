"""The linear solves against rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from routh.constraints import Bilateral, ConstrainedSystem, Unilateral, solve, springs
from routh.constraints.friction import solve_coulomb
from routh.constraints.solving import modes_before
from routh.constraints.springs import least_squares, solve_springs
from routh.constraints.system import DenseMass, SparseMass
from routh.kernels.constraints.settle import WARM


def exact(N, F, c):
    """``(I + N F^T) y = c`` without rounding, by elimination over the rationals."""
    n = len(c)
    N, F = ([[Fraction(float(value)) for value in row] for row in matrix] for matrix in (N, F))
    A = [[sum(p * q for p, q in zip(N[i], F[j], strict=True)) + (i == j) for j in range(n)] for i in range(n)]
    rows = [[*A[i], Fraction(float(c[i]))] for i in range(n)]
    for k in range(n):
        pivot = next(i for i in range(k, n) if rows[i][k] != 0)
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for i in range(n):
            if i != k and rows[i][k] != 0:
                rows[i] = [p - rows[i][k] * q for p, q in zip(rows[i], rows[k], strict=True)]
    return np.array([float(row[n]) for row in rows])


@pytest.mark.parametrize("trial", range(30))
def test_independent_rows_keep_relative_accuracy_over_thirty_orders_of_stiffness(trial):
    rng = np.random.default_rng(trial)
    nv = int(rng.integers(2, 8))
    n = int(rng.integers(1, nv + 1))
    S = 10.0 ** rng.uniform(-8, 7.5, n)
    N = S[:, None] * np.linalg.qr(rng.normal(size=(nv, nv)))[0][:n]
    c = rng.normal(size=n) * S
    y, _ = least_squares(N, c)
    assert np.abs(y / exact(N, N, c) - 1.0).max() < 1e-9


@pytest.mark.parametrize("trial", range(20))
def test_redundant_rows_are_exact_to_what_the_data_determine(trial):
    rng = np.random.default_rng(100 + trial)
    nv = 3
    S = 10.0 ** rng.uniform(4, 7.5)
    G = rng.normal(size=(12, 2)) @ rng.normal(size=(2, nv))
    N = S * G
    c = N @ rng.normal(size=nv)  # a velocity: consistent with every row
    y, x = least_squares(N, c)
    truth = exact(N, N, c)
    # one rounding of the data of redundant rows is a self-stress of eps |c|; nothing more is allowed
    assert np.abs(y - truth).max() < 50 * np.finfo(float).eps * np.abs(c).max()
    assert np.abs(x - N.T @ truth).max() < 1e-9 * np.abs(x).max()


@pytest.mark.parametrize("trial", range(20))
def test_many_rows_on_one_body(trial):
    rng = np.random.default_rng(300 + trial)
    N = 10.0 ** rng.uniform(-3, 4) * rng.uniform(0.5, 1.0, size=(16, 3))
    c = N @ rng.normal(size=3) + 1e-6 * rng.normal(size=16)
    y, x = least_squares(N, c)
    truth = exact(N, N, c)
    assert np.abs(y - truth).max() < 50 * np.finfo(float).eps * np.abs(c).max()
    assert np.abs(x - N.T @ truth).max() < 1e-9 * np.abs(x).max()


@pytest.mark.parametrize("trial", range(20))
def test_every_backend_agrees_for_rows_that_push_aside(trial, monkeypatch):
    rng = np.random.default_rng(200 + trial)
    nv, n = 6, 5
    M = np.diag(10.0 ** rng.uniform(-2, 2, nv))
    G, F = rng.normal(size=(2, n, nv))
    F = G + 0.1 * F
    S, c = 10.0 ** rng.uniform(-3, 4, n), rng.normal(size=n)
    half = np.sqrt(np.diag(M))
    truth = exact(S[:, None] * G / half, S[:, None] * F / half, c)
    y, a = solve_springs(DenseMass(M), G, F, S, c)
    np.testing.assert_allclose(y, truth, rtol=1e-7, atol=1e-10 * np.abs(truth).max())
    np.testing.assert_allclose(
        a, np.linalg.solve(M, F.T @ (S * truth)), rtol=1e-7, atol=1e-9 * np.abs(a).max()
    )
    other = solve_springs(SparseMass(sparse.csr_array(M)), sparse.csr_array(G), sparse.csr_array(F), S, c)[0]
    np.testing.assert_allclose(other, truth, rtol=1e-7, atol=1e-10 * np.abs(truth).max())
    monkeypatch.setattr(springs, "_AUGMENTED_ROWS", 0)
    many = solve_springs(DenseMass(M), G, F, S, c)[0]
    np.testing.assert_allclose(many, truth, rtol=1e-5, atol=1e-7 * np.abs(c).max())


def test_a_massless_direction_is_refused_by_name():
    with pytest.raises(ValueError, match="M: got smallest eigenvalue 0; wanted a positive definite"):
        DenseMass(np.diag([1.0, 0.0]))
    with pytest.raises(ValueError, match="massless direction"):
        SparseMass(sparse.csr_array(np.diag([1.0, 0.0])))
    with pytest.raises(ValueError, match="massless direction"):
        SparseMass(sparse.csr_array(np.ones((2, 2))))
    with pytest.raises(ValueError, match="M: got asymmetry"):
        DenseMass(np.array([[1.0, 0.5], [0.0, 1.0]]))


def test_mass_ratios_of_a_million_are_ordinary():
    M = np.diag([1e-6, 1.0, 1e6])
    np.testing.assert_allclose(DenseMass(M).solve(np.ones(3)), [1e6, 1.0, 1e-6], rtol=1e-14)
    blocks = sparse.block_diag([sparse.csr_array([[2.0, 1.0], [1.0, 2.0]]), [[1e-6]]]).tocsr()
    np.testing.assert_allclose(SparseMass(blocks).solve(np.ones(3)), [1 / 3, 1 / 3, 1e6], rtol=1e-14)


@pytest.mark.parametrize("layout", ["dense", "sparse", "permuted"])
@pytest.mark.parametrize("trial", range(10))
def test_compiled_elimination_keeps_soft_rows_beside_stiff_ones(trial, layout):
    """Bilateral rows from 1e-8 to 1e15 N/m on two bodies, each with its own mass matrix."""
    rng = np.random.default_rng(trial)
    half = rng.normal(size=(2, 3, 3))
    M = np.kron(np.diag([1.0, 0.0]), half[0] @ half[0].T + np.eye(3))
    M += 1e6 * np.kron(np.diag([0.0, 1.0]), half[1] @ half[1].T + np.eye(3))
    order = rng.permutation(6) if layout == "permuted" else np.arange(6)
    M = M[np.ix_(order, order)]
    G, v = rng.normal(size=(5, 6)), rng.normal(size=6)
    G[:2, 3:], G[2:4, :3] = 0.0, 0.0
    G = G[:, order]
    K = 10.0 ** rng.uniform(-8, 15, 5)
    thin = sparse.csr_array if layout != "dense" else np.asarray
    system = ConstrainedSystem(thin(M), np.zeros(6), v, [Bilateral(thin(G), np.zeros(5), stiffness=K)], 0.01)
    rows = system.rows
    found = solve_coulomb(rows)
    white = DenseMass(M).whiten(G)
    N = rows.S[:, None] * white
    wanted = rows.S * exact(N, N, rows.c)
    assert np.abs(found.force - wanted).max() < 1e-9 * np.abs(wanted).max()
    soft = rows.X * rows.a < 1.0
    np.testing.assert_allclose(found.force[soft], wanted[soft], rtol=1e-8)
    assert found.residual < 1e-12


def test_sums_over_many_rows_follow_the_few_that_change():
    """A bed of springs that tilts a little: compiled code adds and takes off the rows at its edge."""
    x, y = (axis.ravel() for axis in np.meshgrid(*2 * [np.linspace(-1.0, 1.0, 20)]))
    G = np.column_stack([np.ones_like(x), x, y])

    def bed(tilt):
        rows = Unilateral(G, 1e-3 * (x * tilt + 0.3 * y) - 5e-4, stiffness=1e4, damping=1.0)
        return ConstrainedSystem(np.diag([2.0, 1.0, 1.0]), [-20.0, 0.0, 0.0], np.zeros(3), [rows], 0.01)

    before = solve(bed(1.0))
    for tilt in (1.02, 1.1, 1.2):
        system = bed(tilt)
        found = solve_coulomb(system.rows, modes_before(system, before), start=WARM)
        force = solve_coulomb(system.rows).force
        assert 0 < np.sum((force > 0.0) != (before.forces[0] > 0.0)) < 30
        assert found.residual < 1e-12
        np.testing.assert_allclose(found.force, force, atol=1e-11 * force.max())
