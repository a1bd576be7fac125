"""Random trees, and what must not change: where a scene stands, who comes first, energy in free motion."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from model_checks import check_gap_jacobian, check_jacobian_bias, check_lagrange
from scipy.integrate import solve_ivp
from test_peers import pinocchio_tree

from routh import systems
from routh.models.planar import (
    Body,
    DiscContact,
    HalfPlane,
    PlanarModel,
    PlaneContact,
    Prismatic,
    Revolute,
    disc,
)
from routh.models.planar.bodies import FREE, FreePoint
from routh.models.spatial import SpatialModel, SphereContact, box, corner_contacts, sphere


def random_tree(seed, bodies=5):
    rng = np.random.default_rng(seed)
    made, contacts = [], []

    def point():
        return tuple(rng.normal(size=2))

    for i in range(bodies):
        parent = rng.choice(["world", *(body.name for body in made)])
        joint = [
            FREE,
            FreePoint(),
            Revolute(str(parent), point(), rng.normal()),
            Prismatic(point(), str(parent), point(), rng.normal()),
        ][rng.integers(4)]
        scale = 10.0 ** rng.uniform(-3, 3)  # mass ratios up to 1e6
        inertia = 0.0 if isinstance(joint, FreePoint) else scale * rng.uniform(0.1, 1.0)
        made.append(Body(f"b{i}", scale * rng.uniform(0.5, 2.0), inertia, point(), joint, radius=0.2))
        plane = HalfPlane(f"p{i}", point(), point())
        contacts.append(PlaneContact(f"c{i}", f"b{i}", plane, point(), radius=rng.uniform(0.0, 0.3)))
        if i:
            other = f"b{rng.integers(i)}"
            contacts.append(DiscContact(f"d{i}", f"b{i}", other, point(), point(), 0.1, 0.3))
    return PlanarModel(made, contacts)


@given(st.integers(0, 10**9))
@settings(max_examples=30, deadline=None)
def test_random_trees(seed):
    model = random_tree(seed)
    rng = np.random.default_rng(seed + 1)
    q, v = rng.normal(size=model.nq), rng.normal(size=model.nv)
    pairs = [i for i, info in enumerate(model.contacts) if info.name.startswith("d")]
    centres = model.gaps(q)[pairs] + 0.4
    assume(np.all(centres > 0.3))  # the normal of two discs with one centre is undefined
    check_gap_jacobian(model, q)
    check_jacobian_bias(model, q, v, tol=1e-6)
    check_lagrange(model, q, v, tol=1e-7 * max(body.mass for body in model.bodies))


@pytest.mark.parametrize("seed", range(20))
def test_random_trees_in_pinocchio(seed):
    pin = pytest.importorskip("pinocchio", exc_type=ImportError)
    ours = random_tree(seed, bodies=7)
    model = pinocchio_tree(pin, ours)
    data = model.createData()
    rng = np.random.default_rng(seed)
    q, v = rng.normal(size=ours.nq), rng.normal(size=ours.nv)
    # column by column from inverse dynamics: Pinocchio's crba wants joints in depth-first order
    rest, zero = pin.rnea(model, data, q, 0 * v, 0 * v).copy(), np.zeros(ours.nv)
    M = np.stack([pin.rnea(model, data, q, zero, unit) - rest for unit in np.eye(ours.nv)], axis=1)
    scale = max(body.mass for body in ours.bodies)
    np.testing.assert_allclose(ours.mass(q), M, rtol=1e-11, atol=1e-11 * scale)
    bias = pin.rnea(model, data, q, v, np.zeros(ours.nv))
    np.testing.assert_allclose(ours.bias(q, v), bias, rtol=1e-10, atol=1e-11 * scale)


def test_energy_of_free_motion_is_constant():
    for name in ("ramone", "compass-gait"):
        system = systems.get(name)
        model, nv = system.model, system.model.nv

        def rate(_, y, model=model, nv=nv):
            q, v = y[:nv], y[nv:]
            return np.concatenate([v, -np.linalg.solve(model.mass(q), model.bias(q, v))])

        start = np.concatenate([system.state.q, system.state.v])
        run = solve_ivp(rate, (0.0, 0.5), start, rtol=1e-10, atol=1e-12)

        def energy(y, model=model, nv=nv):
            return 0.5 * y[nv:] @ model.mass(y[:nv]) @ y[nv:] + model.potential(y[:nv])

        assert energy(run.y[:, -1]) == pytest.approx(energy(start), rel=1e-8)
        assert not np.allclose(run.y[2:nv, -1], start[2:nv], atol=1e-3)


def test_the_order_of_the_bodies_in_a_contact_does_not_matter():
    bodies = [disc("a", 0.4, mass=1.0), disc("b", 0.7, mass=2.0)]
    one = PlanarModel(bodies, [DiscContact("c", "a", "b")])
    two = PlanarModel(bodies, [DiscContact("c", "b", "a")])
    rng = np.random.default_rng(0)
    q, v = rng.normal(size=6), rng.normal(size=6)
    _same_contacts(one, two, q, v)
    balls = [sphere("a", 0.4, mass=1.0), sphere("b", 0.7, mass=2.0)]
    one = SpatialModel(balls, [SphereContact("c", "a", "b")])
    two = SpatialModel(balls, [SphereContact("c", "b", "a")])
    q, v = rng.normal(size=14), rng.normal(size=12)
    np.testing.assert_allclose(one.gaps(q), two.gaps(q))
    np.testing.assert_allclose(one.jacobians(q)[0], two.jacobians(q)[0], atol=1e-14)
    slip_one, slip_two = (model.jacobians(q)[1][0] @ v for model in (one, two))
    assert slip_one @ slip_one == pytest.approx(slip_two @ slip_two)


def _same_contacts(one, two, q, v):
    np.testing.assert_allclose(one.gaps(q), two.gaps(q))
    for left, right in zip(one.jacobians(q), two.jacobians(q), strict=True):
        np.testing.assert_allclose(left, right, atol=1e-14)
    np.testing.assert_allclose(one.jacobian_bias(q, v), two.jacobian_bias(q, v), atol=1e-13)


@pytest.mark.parametrize("angle", [0.3, 2.0])
def test_turning_the_whole_scene_changes_nothing(angle):
    """Box and wall, turned about the origin together with gravity: the same impact in turned coordinates."""
    system = systems.get("box-wall")
    model = system.model
    c, s = np.cos(angle), np.sin(angle)
    R = np.array([[c, -s], [s, c]])
    contacts = [
        PlaneContact(
            d.name,
            d.body,
            HalfPlane(d.plane.name, tuple(R @ d.plane.point), tuple(R @ d.plane.normal)),
            d.point,
        )
        for d in model.definitions
    ]
    turned = PlanarModel(model.bodies, contacts, gravity=R @ [0.0, -9.81])
    frame = np.eye(3)
    frame[:2, :2] = R
    q, v = system.state.q, np.array([0.3, -0.4, 0.5])
    at = frame @ q + [0.0, 0.0, angle]
    np.testing.assert_allclose(turned.gaps(at), model.gaps(q), atol=1e-14)
    for left, right in zip(turned.jacobians(at), model.jacobians(q), strict=True):
        np.testing.assert_allclose(left @ frame, right, atol=1e-14)
    np.testing.assert_allclose(turned.jacobian_bias(at, frame @ v), model.jacobian_bias(q, v), atol=1e-14)
    np.testing.assert_allclose(turned.bias(at, frame @ v), frame @ model.bias(q, v), atol=1e-13)


def test_a_planar_block_is_a_spatial_box_seen_from_the_side():
    """The rocking block as a box in space, two of whose edges lie on the ground."""
    planar = systems.get("rocking-block")
    crate = box("crate", (1.0, 1e-3, 2.0), mass=1.0, inertia=[1.0, 5.0 / 12.0, 1.0])
    spatial = SpatialModel([crate], corner_contacts(crate, mu=1.0))
    angle, v = 0.3, np.array([0.2, -0.5, 0.7])
    q = np.array([0.0, 0.0, 1.5, np.cos(angle / 2), 0.0, -np.sin(angle / 2), 0.0])  # x to z is about -y
    full = np.array([v[0], 0.0, v[1], 0.0, -v[2], 0.0])
    flat = np.array([0.0, 1.5, angle])
    np.testing.assert_allclose(spatial.gaps(q)[:2], planar.model.gaps(flat)[:2], atol=1e-14)
    Jn, Jt = spatial.jacobians(q)
    flat_Jn, flat_Jt = (rows[:2] for rows in planar.model.jacobians(flat))
    np.testing.assert_allclose(Jn[:2] @ full, flat_Jn @ v, atol=1e-14)
    np.testing.assert_allclose(Jt[:2, 0] @ full, flat_Jt[:, 0] @ v, atol=1e-14)
    expected = planar.model.jacobian_bias(flat, v)[:2]
    np.testing.assert_allclose(spatial.jacobian_bias(q, full)[:2, :2], expected, atol=1e-13)
    assert 0.5 * full @ spatial.mass(q) @ full == pytest.approx(0.5 * v @ planar.model.mass(flat) @ v)
