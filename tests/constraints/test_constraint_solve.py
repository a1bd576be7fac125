"""The energy method: laws, stability, invariance, refusals."""

import copy
import itertools
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from constraint_cases import mass, system
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import constraints_random
from routh.base.status import Status
from routh.compiling import interpreted
from routh.constraints import Bilateral, ConstrainedSystem, Contact, Unilateral, solve, solve_many
from routh.constraints.friction import solve_cone, solve_coulomb
from routh.kernels.constraints.scaling import _worst


def enumerate_lcp(rows):
    """The one solution of ``0 <= y _|_ (I + N N^T) y - c >= 0`` by trying all active sets."""
    N = rows.S[:, None] * rows.mass.whiten(rows.G)
    A = np.eye(len(rows)) + N @ N.T
    for chosen in itertools.product([False, True], repeat=len(rows)):
        active = np.array(chosen, dtype=bool)
        y = np.zeros(len(rows))
        y[active] = np.linalg.solve(A[np.ix_(active, active)], rows.c[active])
        slack = A @ y - rows.c
        if np.all(y >= 0) and np.all(slack[~active] >= -1e-12 * np.abs(rows.c).max()):
            return y
    raise AssertionError("no active set fits")


@pytest.mark.parametrize("trial", range(60))
@pytest.mark.parametrize("kinds", ["b", "u", "c", "buc"])
def test_any_stiffness_any_step_any_rank_is_solved(kinds, trial):
    result = solve(system(np.random.default_rng(trial), kinds))
    assert result.status is Status.SOLVED, (result.solver, result.residuals)
    assert np.all(np.isfinite(result.v))
    assert all(np.all(np.isfinite(force)) for force in result.forces)


@pytest.mark.parametrize("trial", range(20))
def test_huge_friction_is_solved_or_says_so(trial):
    result = solve(system(np.random.default_rng(trial), "c", mus=(0.3, 1e5)))
    assert np.all(np.isfinite(result.v))
    assert result.status is (Status.SOLVED if result.residual < 1e-7 else Status.NUMERICAL)
    assert constraints_random.residual(result.system, result.forces) < 1e-4  # of the largest force


def test_what_is_solved_is_so_beside_rows_that_contradict_each_other():
    """Two stiff springs pull at each other with 1e13 N; a third row and soft contacts have a say, too."""
    solved = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        G, phi, h = rng.normal(size=(3, 6)), 0.05 * rng.normal(size=3), 10.0 ** rng.uniform(-1, 0)
        G[2], phi[2] = G[0], -phi[0]
        Jn, Jt, mu = rng.normal(size=(3, 6)), rng.normal(size=(3, 2, 6)), rng.choice([0.0, 0.3], 3)
        contact = Contact(Jn, Jt, -1e-6 * rng.random(3), mu=mu, stiffness=1e4, damping=1e3)
        pair = Bilateral(G, phi, stiffness=1e15, damping=1e3)
        found = solve(
            ConstrainedSystem(np.eye(6), rng.normal(size=6), rng.normal(size=6), [pair, contact], h)
        )
        if found.status.ok:
            solved += 1
            assert abs(phi[1] + h * G[1] @ found.v) < 1e-12
            opens = Jn @ found.v > 1e-9
            assert not np.any(found.forces[1][opens, 0] > 0.0)
    assert solved > 120


@pytest.mark.parametrize("trial", range(40))
def test_active_set_agrees_with_enumeration(trial):
    rng = np.random.default_rng(trial)
    nv, n = int(rng.integers(1, 6)), int(rng.integers(1, 9))
    G = rng.normal(size=(n, nv))
    row = Unilateral(G, 1e-3 * rng.normal(size=n), stiffness=10.0 ** rng.uniform(0, 6, n), damping=1.0)
    rows = ConstrainedSystem(mass(rng, nv), rng.normal(size=nv), rng.normal(size=nv), [row], 0.01).rows
    wanted, near = rows.S * enumerate_lcp(rows), 1e-8 * np.abs(rows.S * rows.c).max()
    for found in (solve_coulomb(rows), solve_cone(rows)):
        np.testing.assert_allclose(found.force, wanted, atol=near)


def test_one_sided_rows_on_which_newton_goes_round_in_circles_have_a_cone_program():
    rng, solvers = np.random.default_rng(4), Counter()
    for _ in range(600):
        nv, n = int(rng.integers(2, 13)), int(rng.integers(20, 60))
        K, B = 10.0 ** rng.uniform(-2, 15, n), 10.0 ** rng.uniform(-2, 12, n)
        G, phi = rng.normal(size=(n, nv)), 10.0 ** rng.uniform(-8, 0) * rng.normal(size=n)
        row = Unilateral(G, phi, stiffness=K, damping=B, bias=rng.normal(size=n))
        dt = 10.0 ** rng.uniform(-8, 0)
        found = solve(ConstrainedSystem(mass(rng, nv), rng.normal(size=nv), rng.normal(size=nv), [row], dt))
        assert found.status.ok
        solvers[found.solver] += 1
    assert solvers["active-set"] > 500
    assert solvers["cone-program"] > 0


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_energy_never_rises_with_constant_jacobian_and_fixed_active_set(seed):
    """D19's stability, for all stiffnesses and steps: v^T M v / 2 + phi^T K phi / 2 falls in every step."""
    rng = np.random.default_rng(seed)
    nv, n = int(rng.integers(1, 7)), int(rng.integers(1, 9))
    M = mass(rng, nv, 3.0)
    G = rng.normal(size=(n, min(n, nv))) @ rng.normal(size=(min(n, nv), nv))
    K, B = 10.0 ** rng.uniform(-3, 15, n), 10.0 ** rng.uniform(-6, 12, n)
    K[rng.random(n) < 0.2], B[rng.random(n) < 0.2] = 0.0, 0.0
    dt = 10.0 ** rng.uniform(-8, 0)
    phi, v = G @ rng.normal(size=nv), rng.normal(size=nv)
    start = energy = 0.5 * v @ M @ v + 0.5 * phi @ (K * phi)
    for _ in range(20):
        row = Bilateral(G, phi, stiffness=K, damping=B)
        result = solve(ConstrainedSystem(M, np.zeros(nv), v, [row], dt))
        assert result.status is Status.SOLVED
        phi, v = result.deformations[0], result.v
        after = 0.5 * v @ M @ v + 0.5 * phi @ (K * phi)
        assert after <= energy * (1.0 + 1e-12) + 1e-13 * start
        energy = after


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2]))
def test_friction_takes_energy(seed, nt):
    """Closed contacts without deformation only take energy, whatever the friction."""
    rng = np.random.default_rng(seed)
    nv, nc = int(rng.integers(2, 7)), int(rng.integers(1, 4))
    M, v = mass(rng, nv), rng.normal(size=nv)
    Jn, Jt = rng.normal(size=(nc, nv)), rng.normal(size=(nc, nt, nv))
    contact = Contact(Jn, Jt, np.zeros(nc), mu=rng.uniform(0, 2, nc), stiffness=1e9, damping=1.0)
    result = solve(ConstrainedSystem(M, np.zeros(nv), v, [contact], 0.01))
    assert result.status is Status.SOLVED
    assert 0.5 * result.v @ M @ result.v <= 0.5 * v @ M @ v * (1.0 + 1e-9)
    force = result.forces[0]
    assert np.all(force[:, 0] >= 0.0)
    assert np.all(np.linalg.norm(force[:, 1:], axis=1) <= contact.mu * force[:, 0] * (1.0 + 1e-9) + 1e-12)


def test_a_spring_of_no_stiffness_does_nothing_and_an_open_contact_neither():
    rng = np.random.default_rng(0)
    v = rng.normal(size=3)
    idle = Bilateral(np.eye(3), np.ones(3), stiffness=0.0, damping=0.0, bias=np.ones(3))
    open_ = Contact(np.eye(3)[:1], np.eye(3)[1:][None], [1e-9], mu=0.5, stiffness=1e9, damping=1e9)
    result = solve(ConstrainedSystem(np.eye(3), np.zeros(3), v, [idle, open_], 0.1))
    assert result.v.tolist() == v.tolist()
    assert not result.forces[1].any()
    assert result.modes[1].tolist() == ["separates"]
    assert solve(ConstrainedSystem(np.eye(3), np.zeros(3), v, [open_], 0.1)).solver == "none"


@pytest.mark.parametrize("angle", np.arange(64) * 2 * np.pi / 64)
def test_friction_opposes_slip_exactly_in_every_direction(angle):
    """A block on the floor: no facets, so no direction is favoured; no dilation, so it does not rise."""
    slip = np.array([np.cos(angle), np.sin(angle), 0.0])
    contact = Contact(
        [[0.0, 0, 1]], [[[1.0, 0, 0], [0, 1, 0]]], [-9.81e-9], mu=0.3, stiffness=1e9, damping=1.0
    )
    result = solve(ConstrainedSystem(np.eye(3), [0, 0, -9.81], slip, [contact], 0.01))
    force = result.forces[0][0]
    np.testing.assert_allclose(force[1:], -0.3 * force[0] * slip[:2], rtol=1e-12, atol=1e-13)
    assert abs(result.v[2]) < 1e-10  # the associated law would give 0.3 m/s


@pytest.mark.parametrize("direction", [-1.0, 1.0])
def test_a_singular_slip_is_no_exception(direction):
    """Painleve's rod at the very coefficient where sliding makes 1 + X G_n M^-1 (G_n + mu d G_t)^T vanish."""
    contact = Contact([[1.0, 0.0]], [[[-2.0, 1.0]]], [-0.1], mu=1.0, stiffness=1.0, tangential_damping=1.0)
    result = solve(ConstrainedSystem(np.eye(2), np.zeros(2), [-1.0, direction], [contact], 1.0))
    assert np.all(np.isfinite(result.v))
    assert result.status is (Status.SOLVED if result.residual < 1e-9 else Status.NUMERICAL)


@pytest.mark.parametrize("trial", range(20))
def test_cone_programs_and_newton_agree(trial):
    rng = np.random.default_rng(trial)
    nv, nc = 6, 3
    contact = Contact(
        *(rng.normal(size=(nc, nv)), rng.normal(size=(nc, 2, nv)), np.full(nc, -1e-6)),
        **{"mu": rng.uniform(0.05, 0.4, nc), "stiffness": 1e8, "damping": 1.0},
    )
    problem = ConstrainedSystem(mass(rng, nv), rng.normal(size=nv), rng.normal(size=nv), [contact], 0.01)
    one, two = solve(problem, solver="newton"), solve(problem, solver="cone-program")
    assert two.status is Status.SOLVED
    if one.status.ok:  # small friction: the solution is unique
        np.testing.assert_allclose(one.v, two.v, atol=1e-9)


@pytest.mark.parametrize("trial", range(10))
def test_sparse_and_dense_agree(trial):
    rng = np.random.default_rng(trial)
    nv, nc = 9, 4
    M = np.diag(rng.uniform(1, 2, nv))
    Jn, Jt, v = rng.normal(size=(nc, nv)), rng.normal(size=(nc, 2, nv)), rng.normal(size=nv)
    more = {"mu": 0.3, "stiffness": 1e9, "damping": 1.0}
    dense = solve(ConstrainedSystem(M, np.zeros(nv), v, [Contact(Jn, Jt, np.zeros(nc), **more)], 0.01))
    tangents = sparse.csr_array(Jt.reshape(-1, nv))
    contact = Contact(sparse.csr_array(Jn), tangents, np.zeros(nc), nt=2, **more)
    thin = solve(ConstrainedSystem(sparse.csr_array(M), np.zeros(nv), v, [contact], 0.01))
    assert thin.status is Status.SOLVED
    np.testing.assert_allclose(thin.v, dense.v, atol=1e-9)
    np.testing.assert_allclose(thin.forces[0], dense.forces[0], rtol=1e-6, atol=1e-6)


def test_a_warm_start_changes_the_work_and_not_the_answer():
    for trial in range(20):
        problem = system(np.random.default_rng(trial), "uc", dt=0.01)
        cold = solve(problem)
        warm = solve(problem, warm=cold)
        np.testing.assert_allclose(warm.v, cold.v, atol=1e-8 * np.abs(cold.v).max())
        assert warm.iterations <= max(cold.iterations, 3)


def test_duplicated_rows_share_the_force_of_one_of_double_stiffness():
    rng = np.random.default_rng(0)
    G, v = rng.normal(size=(2, 5)), rng.normal(size=5)
    M = mass(rng, 5)
    one = solve(
        ConstrainedSystem(M, np.zeros(5), v, [Bilateral(G, [1e-3, 0], stiffness=2e15, damping=2.0)], 0.01)
    )
    rows = Bilateral(np.vstack([G, G]), [1e-3, 0, 1e-3, 0], stiffness=1e15, damping=1.0)
    two = solve(ConstrainedSystem(M, np.zeros(5), v, [rows], 0.01))
    np.testing.assert_allclose(two.v, one.v, atol=1e-12)
    np.testing.assert_allclose(two.forces[0].reshape(2, 2).sum(axis=0), one.forces[0], rtol=1e-9)
    # how equal rows share is known to one rounding of the rates, times the damper of the step
    share = 20 * np.finfo(float).eps * (1e15 * 0.01 + 1.0) * np.abs(G @ v).max()
    np.testing.assert_allclose(two.forces[0][:2], two.forces[0][2:], rtol=1e-9, atol=share)


def test_tangential_springs_remember_and_slide():
    """With K_r a contact at rest carries a pull by its spring; a slip leaves the spring at the limit."""
    K, deformation, v = 1e3, np.zeros((1, 1)), np.array([0.0, 0.0])
    moved = 0.0
    for _ in range(600):
        contact = Contact(
            [[0.0, 1]], [[[1.0, 0]]], [-9.81e-6], mu=0.5, stiffness=1e6, damping=0.0,
            tangential_stiffness=K, tangential_damping=60.0, deformation=deformation,
        )  # fmt: skip
        result = solve(ConstrainedSystem(np.eye(2), [2.0, -9.81], v, [contact], 1e-3))
        assert result.status is Status.SOLVED
        v, deformation, moved = result.v, result.deformations[0][:, 1:], moved + 1e-3 * result.v[0]
    assert abs(deformation[0, 0] - 2.0 / K) < 1e-9  # at rest the spring carries the pull
    assert abs(moved - 2.0 / K) < 1e-9  # and nothing slid
    pull = ConstrainedSystem(np.eye(2), [0.0, -9.81], [1.0, 0.0], [contact], 1e-2)
    end = solve(pull).deformations[0][0, 1]
    force = solve(pull).forces[0][0]
    assert abs(abs(force[1]) - 0.5 * force[0]) < 1e-9
    assert end < 0.5 * force[0] / K + 1e-9


EMPTY = (np.eye(2), [0, 0], [0, 0], [], 1.0)
THREE = (np.eye(3), np.zeros(3), np.zeros(3))
TWO = Bilateral(np.eye(2), [0, 0], stiffness=1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Bilateral(np.eye(2), [0, 0, 0], stiffness=1), r"phi: got shape \(3,\)"),
        (lambda: Bilateral(np.eye(2), [0, 0], stiffness=-1), "stiffness: got -1; wanted numbers >= 0"),
        (lambda: Bilateral(np.eye(2), [0, np.nan], stiffness=1), "phi: got nan"),
        (lambda: Contact(np.eye(2), np.zeros((2, 3, 2)), [0, 0], mu=0, stiffness=1), r"Jt: got shape"),
        (lambda: Contact(np.eye(2), np.eye(2), [0, 0], mu=0, stiffness=1, nt=2), "nt: got 2"),
        (lambda: ConstrainedSystem(*EMPTY[:4], 0.0), "dt: got 0.0"),
        (lambda: ConstrainedSystem(np.eye(2), [0, 0], [0, 0, 0], [], 1.0), r"v: got shape \(3,\)"),
        (lambda: ConstrainedSystem(np.eye(2), [0, 0], [0, 0], ["x"], 1.0), r"constraints\[0\]: got str"),
        (lambda: ConstrainedSystem(*THREE, [TWO], 1.0), "got a Jacobian with 2 columns; wanted nv = 3"),
        (lambda: solve(ConstrainedSystem(*EMPTY), solver="magic"), "solver: got 'magic'"),
    ],
)
def test_refusals_say_what_came_and_what_was_wanted(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def moved(rng, given):
    """The same mechanism at another state: other numbers, gaps some of which are open, the same kinds."""
    items = []
    for item in given.constraints:
        other = copy.copy(item)
        phi = item.phi + 1e-3 * rng.normal(size=len(item)) * np.abs(item.phi).max()
        other.__dict__.update(phi=phi + (rng.random(len(item)) < 0.3) * np.abs(phi).max())
        items.append(other)
    v = given.v + 0.1 * rng.normal(size=given.nv)
    return ConstrainedSystem(given.M * rng.uniform(0.9, 1.1), given.f, v, items, given.dt)


@pytest.mark.parametrize("kinds", ["b", "u", "c", "bu", "uccb"])
def test_many_are_solved_as_each_alone_to_the_bit(kinds):
    rng = np.random.default_rng(len(kinds))
    first = system(rng, kinds)
    systems = [moved(rng, first) for _ in range(140)]
    one, two = solve_many(systems, threads=1), solve_many(systems, threads=2)
    then = [moved(rng, given) for given in systems]
    warm = solve_many(then, warm=two)
    for k in (*range(0, 140, 9), *np.flatnonzero(one.rescued)):
        alone = solve(systems[k])
        for found in (one[k], two[k]):
            assert found.v.tolist() == alone.v.tolist() == one.v[k].tolist()
            for name in ("forces", "rates", "deformations", "modes"):
                pairs = zip(getattr(found, name), getattr(alone, name), strict=True)
                assert all(np.array_equal(a, b) for a, b in pairs)
            assert (found.solver, found.status) == (alone.solver, alone.status)
        assert all(
            np.array_equal(each[k], force) for each, force in zip(one.forces, alone.forces, strict=True)
        )
        assert warm[k].v.tolist() == solve(then[k], warm=alone).v.tolist() == warm.v[k].tolist()
    assert one.ok == all(solve(given).status is Status.SOLVED for given in systems)
    assert one.residual.max() < 1e-9


def test_what_newton_does_not_solve_is_solved_one_by_one_and_keeps_its_place(monkeypatch):
    rng = np.random.default_rng(5)
    first = system(rng, "cu")
    systems = [moved(rng, first) for _ in range(6)]
    wanted = solve_many(systems)
    monkeypatch.setattr("routh.constraints.many.tolerances.COULOMB_ITERATION", 0.0)
    found = solve_many(systems)
    assert found.rescued.all()
    assert found.ok
    np.testing.assert_allclose(found.v, wanted.v, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(solve_many(systems, warm=found).v, wanted.v, rtol=1e-7, atol=1e-9)
    sparse_ones = [ConstrainedSystem(sparse.csr_array(s.M), s.f, s.v, s.constraints, s.dt) for s in systems]
    np.testing.assert_allclose(solve_many(sparse_ones).v, wanted.v, rtol=1e-7, atol=1e-9)


def test_many_refuse_what_is_not_one_mechanism():
    rng = np.random.default_rng(0)
    systems = [system(rng, "b"), system(rng, "u")]
    with pytest.raises(ValueError, match=r"systems\[1\]: got \(.*Unilateral.*wanted the velocities and"):
        solve_many(systems)
    with pytest.raises(ValueError, match="systems: got none"):
        solve_many([])
    with pytest.raises(ValueError, match="warm: got the result of 1 steps; wanted 2"):
        solve_many(systems[:1] * 2, warm=solve_many(systems[:1]))


@pytest.mark.parametrize("force", [-2.0, 2.0])
def test_a_row_with_neither_spring_nor_damper_may_not_push_or_pull(force):
    """All of its force is wrong; of a one-sided row, too, whose law allows no pull."""
    for bilateral in (1, 0):
        layout, own = SimpleNamespace(nb=bilateral), SimpleNamespace(scaled=np.zeros((5, 1)))
        assert interpreted(_worst)(layout, None, 1.0, own, np.array([force]), 0, 1) == 1.0
