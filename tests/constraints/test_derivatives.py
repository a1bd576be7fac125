"""Derivatives of constrained steps against central differences, and where they are one-sided."""

import numpy as np
import pytest
from scipy import sparse

from constraints_gradients import compare, random_system, to_rounding
from routh.constraints import Bilateral, ConstrainedSystem, Contact, Unilateral, differentiate, solve


@pytest.mark.parametrize("seed", range(12))
def test_every_slope_agrees_with_central_differences(seed):
    """`benchmarks/constraints_gradients.py` does the same on a thousand systems."""
    errors = np.array([error for _, _, error, _ in compare(seed)])
    assert np.isnan(errors).mean() < 0.5  # kinks inside the stencil
    assert np.nanmax(errors) < 1e-6


def ahead(make, x, on_v, step=1e-6):
    """Slopes of ``on_v . v`` to the positive side of each entry of x."""
    base = on_v @ solve(make(x)).v
    return np.array([(on_v @ solve(make(x + step * e)).v - base) / step for e in np.eye(len(x))])


@pytest.mark.parametrize("seed", range(4))
def test_the_jacobian_is_made_of_gradients(seed):
    system = random_system(np.random.default_rng(seed))
    derivative = differentiate(solve(system))
    found = derivative.jacobian(("v", "M", "dt", "contact.mu", "contact.Jt"))
    contact = system.constraints[-1]
    nv = system.nv
    assert found["v"].shape == (nv, nv)
    assert found["M"].shape == (nv, nv, nv)
    assert found["dt"].shape == (nv,)
    assert found["contact.mu"].shape == (nv, len(contact))
    assert found["contact.Jt"].shape == (nv, len(contact), contact.nt, nv)
    on_v = np.arange(1.0, nv + 1.0)
    one = derivative.gradient(v=on_v)
    np.testing.assert_allclose(on_v @ found["v"], one.v, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(on_v @ found["contact.mu"], one.constraints[-1].mu, rtol=1e-9, atol=1e-12)
    forces = derivative.jacobian(("f",), of="forces")["f"]
    assert forces.shape == (sum(force.size for force in derivative.forces.forces), nv)


@pytest.mark.parametrize("seed", range(6))
def test_sparse_and_dense_systems_have_the_same_derivative(seed):
    rng = np.random.default_rng(seed)
    dense = random_system(rng)
    thin = ConstrainedSystem(sparse.csr_array(dense.M), dense.f, dense.v, dense.constraints, dense.dt)
    on_v = rng.normal(size=dense.nv)
    one, two = (differentiate(solve(system)).gradient(v=on_v) for system in (dense, thin))
    np.testing.assert_allclose(one.f, two.f, rtol=1e-7, atol=1e-9 * np.abs(one.f).max())
    np.testing.assert_allclose(one.M, two.M, rtol=1e-7, atol=1e-9 * np.abs(one.M).max())
    a, b = one.constraints[-1], two.constraints[-1]
    np.testing.assert_allclose(a.stiffness, b.stiffness, rtol=1e-6, atol=1e-7 * np.abs(a.stiffness).max())


@pytest.mark.parametrize("seed", range(6))
def test_tangential_springs_remember_with_their_derivative(seed):
    rng = np.random.default_rng([9, seed])
    while True:
        system = random_system(rng)
        contact = system.constraints[-1]
        if contact.tangential_stiffness.min() > 0.0:
            break
    on_end = rng.normal(size=(len(contact), contact.nt))

    def end(stretch, h):
        parts = {name: getattr(contact, name) for name in ("phi", "mu", "stiffness", "damping", "bias")}
        parts |= {n: getattr(contact, n) for n in ("tangential_stiffness", "tangential_damping", "nt")}
        Jt = contact.Jt.reshape(len(contact), contact.nt, -1)
        moved = Contact(contact.Jn, Jt, deformation=stretch, **parts)
        items = [*system.constraints[:-1], moved]
        with to_rounding():
            solved = solve(ConstrainedSystem(system.M, system.f, system.v, items, h), solver="newton")
        return solved

    solved = end(contact.deformation, system.dt)
    given = [None] * (len(system.constraints) - 1) + [on_end]
    gradient = differentiate(solved).gradient(deformations=given)
    direction = system.dt * rng.normal(size=on_end.shape)
    for exact, ends in (
        (
            np.vdot(gradient.constraints[-1].deformation, direction),
            [end(contact.deformation + s * 1e-5 * direction, system.dt) for s in (1, -1)],
        ),
        (gradient.dt * system.dt, [end(contact.deformation, system.dt * (1 + s * 1e-5)) for s in (1, -1)]),
    ):
        if any((found.modes[-1] != solved.modes[-1]).any() for found in ends):
            continue
        values = [np.vdot(on_end, found.deformations[-1][:, 1:]) for found in ends]
        size = np.abs(on_end * solved.deformations[-1][:, 1:]).sum()
        assert exact == pytest.approx((values[0] - values[1]) / 2e-5, rel=1e-6, abs=1e-6 * size)


def test_friction_that_begins_has_a_one_sided_slope():
    """At mu = 0 there is nothing to the other side; the slope to this side is friction along the slip."""

    def make(mu):
        contact = Contact([[0.0, 0.0, 1.0]], np.eye(3)[None, :2], [-1e-3], mu=mu, stiffness=1e5, damping=10.0)
        return ConstrainedSystem(np.eye(3), [0.0, 0.0, -10.0], [1.0, 2.0, -0.5], [contact], 1e-3)

    on_v = np.array([1.0, 0.5, 0.0])
    gradient = differentiate(solve(make(np.zeros(1)))).gradient(v=on_v)
    assert gradient.constraints[0].mu[0] == pytest.approx(ahead(make, np.zeros(1), on_v)[0], rel=1e-5)
    assert gradient.constraints[0].mu[0] < 0.0


def test_a_spring_that_begins_has_a_slope_too():
    def make(strength):
        rows = Bilateral([[1.0, 1.0]], [0.3], stiffness=strength[:1], damping=strength[1:])
        return ConstrainedSystem(np.diag([1.0, 3.0]), [0.1, 0.2], [1.0, -0.4], [rows], 0.1)

    on_v = np.array([1.0, -2.0])
    found = differentiate(solve(make(np.zeros(2)))).gradient(v=on_v).constraints[0]
    slopes = ahead(make, np.zeros(2), on_v)
    np.testing.assert_allclose([found.stiffness[0], found.damping[0]], slopes, rtol=1e-5)


def test_steel_has_a_derivative_as_precise_as_its_forces():
    """A mass on a spring of 1e13 N/m: d v_1 / d f has the closed form h / (m + h^2 K + h B)."""
    h, m, K, B = 1e-3, 2.0, 1e13, 5.0
    rows = Bilateral([[1.0]], [0.0], stiffness=K, damping=B)
    found = differentiate(solve(ConstrainedSystem([[m]], [3.0], [0.0], [rows], h))).gradient(v=[1.0])
    assert found.f[0] == pytest.approx(h / (m + h * h * K + h * B), rel=1e-9)
    v = 3.0 * h / (m + h * h * K + h * B)
    assert found.constraints[0].stiffness[0] == pytest.approx(-h * h * v / (m + h * h * K + h * B), rel=1e-9)


@pytest.mark.parametrize(
    ("share", "mode", "flagged"),
    [(0.0, "sticks", False), (0.999, "sticks", False), (1.0, None, True), (1.001, "slides", False)],
)
def test_a_block_about_to_slip_is_flagged(share, mode, flagged):
    contact = Contact([[0.0, 1.0]], [[1.0, 0.0]], [-1e-4], mu=0.5, stiffness=1e4, tangential_damping=1e3)

    def pulled(force):
        return solve(ConstrainedSystem(np.eye(2), [force, -1.0], [0.0, 0.0], [contact], 1e-2))

    # the damper takes a part of the pull: 1 - 1 / (1 + h B)
    most = 0.5 * pulled(0.0).forces[0][0, 0] * (1.0 + 1.0 / (1e-2 * 1e3))
    solved = pulled(share * most)
    assert mode is None or solved.modes[0][0] == mode
    derivative = differentiate(solved)
    assert derivative.near_kink == flagged
    if not flagged:
        slope = (pulled(share * most + 1e-6).v - pulled(share * most - 1e-6).v) / 2e-6
        np.testing.assert_allclose(derivative.jacobian(("f",))["f"][:, 0], slope, atol=1e-9)


def test_rows_that_touch_without_pressing_are_flagged():
    rows = Unilateral([[1.0]], [0.0], stiffness=1e3)
    derivative = differentiate(solve(ConstrainedSystem([[1.0]], [0.0], [0.0], [rows], 0.1)))
    assert derivative.near_kink
    closed = Contact([[1.0]], [[0.0]], [0.0], mu=0.0, stiffness=1e3)
    derivative = differentiate(solve(ConstrainedSystem([[1.0]], [-1.0], [-1.0], [closed], 0.1)))
    assert derivative.near_kink  # a gap of zero: a little more and the contact does not act at all


def test_a_step_in_which_nothing_pushes_says_so():
    """The solver once named the modes that it had started from."""
    contact = Contact([[1.0, 0.0]], [[0.0, 1.0]], [-1e-6], mu=0.5, stiffness=1.0)
    limit = Unilateral([[1.0, 0.0]], [0.0], stiffness=1.0)
    solved = solve(ConstrainedSystem(np.eye(2), [0.0, 0.0], [5.0, 0.0], [limit, contact], 0.1))
    assert solved.forces[0][0] == 0.0
    assert not solved.modes[0][0]
    assert solved.modes[1][0] == "separates"
    free = differentiate(solved).jacobian(("v",))["v"]
    np.testing.assert_allclose(free, np.eye(2))


def test_bad_requests_are_named():
    system = random_system(np.random.default_rng(0))
    derivative = differentiate(solve(system))
    with pytest.raises(ValueError, match=r"wrt: got 'contact\.colour'"):
        derivative.jacobian(("contact.colour",))
    with pytest.raises(ValueError, match="of: got 'power'"):
        derivative.jacobian(("v",), of="power")
    with pytest.raises(ValueError, match="forces: got 0 arrays"):
        derivative.gradient(forces=[])
    with pytest.raises(ValueError, match="v: "):
        derivative.gradient(v=np.ones(system.nv + 1))
