"""Spatial models against numerical derivatives, conservation laws and clouds of point masses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_checks import STEP, along, check_gap_jacobian, check_jacobian_bias

from routh.models.base import Model, State
from routh.models.rotations import exponential, multiply, rotation_matrices, tangent_rates, tangents
from routh.models.spatial import (
    HalfSpace,
    PlaneContact,
    SpatialModel,
    SphereContact,
    box,
    corner_contacts,
    corners,
    sphere,
)

WALL = HalfSpace("wall", point=(1.0, 2.0, 0.5), normal=(-1.0, 0.3, 0.2))


def scene():
    crate = box("crate", (0.5, 0.7, 0.3), mass=1.3)
    bodies = [crate, sphere("ball", 0.2, mass=0.6), sphere("globe", 0.5, mass=2.0, inertia=[0.3, 0.2, 0.25])]
    contacts = [
        *corner_contacts(crate, mu=0.4),
        PlaneContact("ball-wall", "ball", WALL, radius=0.2, mu=0.3),
        PlaneContact("bump", "globe", point=(0.1, -0.2, 0.3), radius=0.05, mu=0.3),
        SphereContact("ball-globe", "ball", "globe", mu=0.2, restitution=0.5),
        SphereContact("globe-ball", "globe", "ball"),
    ]
    return SpatialModel(bodies, contacts, gravity=(0.1, 0.2, -9.0))


def random_state(model, seed):
    rng = np.random.default_rng(seed)
    q = model.integrate(_zero(model), rng.normal(size=model.nv), 1.0)
    return q, rng.normal(size=model.nv)


def _zero(model):
    return np.tile([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], len(model.bodies))


@pytest.mark.parametrize("seed", range(5))
def test_derivatives(seed):
    model = scene()
    assert isinstance(model, Model)
    q, v = random_state(model, seed)
    check_gap_jacobian(model, q)
    check_jacobian_bias(model, q, v)


@pytest.mark.parametrize("seed", range(5))
def test_all_rows_are_the_velocity_of_material_points(seed):
    model = scene()
    q, v = random_state(model, seed)
    Jn, Jt = model.jacobians(q)
    points, gaps = model.contact_points(q), model.gaps(q)
    index = {body.name: i for i, body in enumerate(model.bodies)}
    R = model.rotations(q)

    def material_velocity(name, point):
        if name not in index:
            return np.zeros(3)
        i = index[name]
        local = R[i].T @ (point - q[7 * i : 7 * i + 3])
        return along(
            model, q, v, lambda at: at[7 * i : 7 * i + 3] + model.rotations(at)[i] @ local
        )  # moves with the body

    for i, info in enumerate(model.contacts):
        definition = model.definitions[i]
        if isinstance(definition, PlaneContact):
            normal = np.array(definition.plane.normal)
        else:
            a, b = (7 * index[name] for name in info.bodies)
            normal = (q[a : a + 3] - q[b : b + 3]) / np.linalg.norm(q[a : a + 3] - q[b : b + 3])
        slip = material_velocity(info.bodies[0], points[i]) - material_velocity(
            info.bodies[1], points[i] - gaps[i] * normal
        )
        # the rows give the normal part and, in an orthonormal basis, the whole rest
        np.testing.assert_allclose(Jn[i] @ v, normal @ slip, atol=1e-9)
        tangential = Jt[i] @ v
        np.testing.assert_allclose(tangential @ tangential, slip @ slip - (normal @ slip) ** 2, atol=1e-9)


def test_kinetic_energy_of_a_cloud_of_point_masses():
    rng = np.random.default_rng(2)
    masses, cloud = rng.uniform(0.1, 1.0, 12), rng.normal(size=(12, 3))
    cloud -= masses @ cloud / masses.sum()
    inertia = sum(m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(masses, cloud, strict=True))
    body = type(sphere("b", 1.0, mass=1.0))("b", masses.sum(), inertia)
    model = SpatialModel([body])
    q, v = random_state(model, 3)
    velocities = along(model, q, v, lambda at: at[:3] + cloud @ model.rotations(at)[0].T)
    energy = 0.5 * masses @ (velocities**2).sum(axis=1)
    assert 0.5 * v @ model.mass(q) @ v == pytest.approx(energy, rel=1e-9)


def test_free_flight_conserves_angular_momentum():
    model = SpatialModel([box("b", (0.2, 0.5, 1.0), mass=2.0)])
    q, v = random_state(model, 5)
    inertia = model.bodies[0].inertia
    acceleration = -np.linalg.solve(model.mass(q), model.bias(q, v))
    np.testing.assert_allclose(acceleration[:3], [0.0, 0.0, -9.81])

    def momentum(t):
        spin = v[3:] + t * acceleration[3:]
        at = model.integrate(q, np.concatenate([v[:3], v[3:] + 0.5 * t * acceleration[3:]]), t)
        return model.rotations(at)[0] @ inertia @ spin

    rate = (momentum(STEP) - momentum(-STEP)) / (2 * STEP)
    np.testing.assert_allclose(rate, 0.0, atol=1e-7)


def test_inputs_are_wrenches():
    model = scene()
    q, v = random_state(model, 1)
    u = np.arange(18.0)
    np.testing.assert_allclose(model.bias(q, v, u), model.bias(q, v) - u)


@given(st.lists(st.floats(-4.0, 4.0), min_size=3, max_size=3), st.integers(0, 10**6))
@settings(max_examples=50, deadline=None)
def test_quaternions_follow_the_group(rotation, seed):
    rotation = np.array([rotation])
    q = exponential(rotation)
    assert abs(np.linalg.norm(q) - 1.0) < 1e-14
    R = rotation_matrices(q)[0]
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-14)
    np.testing.assert_allclose(R @ rotation[0], rotation[0], atol=1e-13)
    other = np.random.default_rng(seed).normal(size=(1, 4))
    np.testing.assert_allclose(
        rotation_matrices(multiply(q, other))[0], R @ rotation_matrices(other)[0], atol=1e-13
    )


def test_exponential_of_tiny_rotations_is_smooth():
    tiny = np.array([[1e-170, 0.0, 0.0], [0.0, 1e-9, 0.0], [0.0, 0.0, 0.0]])
    np.testing.assert_allclose(exponential(tiny)[:, 1:], tiny / 2, rtol=1e-14)


def test_tangents_and_their_rates():
    rng = np.random.default_rng(0)
    normals = rng.normal(size=(40, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    t1, t2, _ = tangents(normals)
    frames = np.stack([normals, t1, t2], axis=1)
    np.testing.assert_allclose(frames @ frames.transpose(0, 2, 1), np.tile(np.eye(3), (40, 1, 1)), atol=1e-14)
    np.testing.assert_allclose(np.linalg.det(frames), 1.0)
    rates = rng.normal(size=(40, 3))
    rates -= (rates * normals).sum(axis=1, keepdims=True) * normals
    ahead, behind = (normals + s * 1e-6 * rates for s in (1, -1))
    ahead, behind = (n / np.linalg.norm(n, axis=1, keepdims=True) for n in (ahead, behind))
    for side in range(2):
        numeric = (tangents(ahead)[side] - tangents(behind)[side]) / 2e-6
        np.testing.assert_allclose(tangent_rates(normals, rates)[side], numeric, atol=1e-7)
    np.testing.assert_array_equal(np.array(tangents(np.array([[0.0, 0.0, 1.0]]))[:2])[:, 0], np.eye(3)[:2])


def test_a_box_on_the_ground_has_four_closed_corners():
    crate = box("crate", (1.0, 2.0, 0.5), mass=1.0)
    model = SpatialModel([crate], corner_contacts(crate, mu=0.5))
    state = State(np.array([0.0, 0.0, 0.25, 1.0, 0.0, 0.0, 0.0]), np.array([0.0, 0.0, -1.0, 0.0, 0.0, 0.0]))
    problem = model.problem(state)
    assert problem.names == ("A", "B", "C", "D")
    assert problem.nt == 2
    np.testing.assert_allclose(problem.contact_velocity()[:, 0], -1.0)
    np.testing.assert_allclose(model.contact_points(state.q)[:4, 2], 0.0, atol=1e-16)
    assert len({tuple(point) for point in corners((1, 2, 3))}) == 8


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: box("b", (1, 0, 1), mass=1), "size: got 0.0"),
        (lambda: sphere("b", 1, mass=0), "mass: got 0.0"),
        (lambda: sphere("b", 1, mass=1, inertia=[1.0, -1.0, 1.0]), "b.inertia: wanted a symmetric positive"),
        (lambda: SpatialModel([sphere("b", 1, mass=1)] * 2), "'b' appears twice"),
        (lambda: SpatialModel([sphere("b", 1, mass=1)], [PlaneContact("A", "c")]), "A.body: got 'c'"),
        (lambda: corner_contacts(sphere("b", 1, mass=1)), "'b' is not a box"),
        (lambda: SphereContact("A", "b", "b"), "A: got 'b' twice"),
        (lambda: HalfSpace("w", normal=(0.0, 0.0, 0.0)), "w.normal: got a zero vector"),
        (lambda: PlaneContact("A", "b", restitution=1.5), "A.restitution: got 1.5"),
    ],
)
def test_refusals_name_the_field(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_sparse_terms_are_the_dense_ones():
    bodies = [sphere(f"s{i}", 0.1, mass=1.0 + i) for i in range(4)]
    contacts = [PlaneContact("g", "s2", radius=0.1), SphereContact("p", "s3", "s0")]
    model = SpatialModel(bodies, [contacts[1], contacts[0], SphereContact("r", "s1", "s2")])
    q = np.random.default_rng(0).normal(size=model.nq)
    Jn, Jt = model.jacobians(q)
    thin_n, thin_t = model.sparse_jacobians(q)
    assert thin_n.toarray().tolist() == Jn.tolist()
    assert thin_t.toarray().reshape(Jt.shape).tolist() == Jt.tolist()
    assert thin_n.nnz == 6 + 2 * 12
    assert model.sparse_mass(q).toarray().tolist() == model.mass(q).tolist()
