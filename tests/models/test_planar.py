"""Planar models against numerical derivatives of energies and gaps."""

import numpy as np
import pytest
from model_checks import (
    check_gap_jacobian,
    check_jacobian_bias,
    check_kinetic_energy,
    check_lagrange,
)

from routh import systems
from routh.models.base import Model
from routh.models.planar import (
    DiscContact,
    HalfPlane,
    PlanarModel,
    PlaneContact,
    Prismatic,
    Revolute,
    box,
    disc,
    link,
    point_mass,
    rod,
    slope,
)


def crane():
    """Every kind of joint and contact: a cart with a sliding arm, a swinging disc, floating bodies."""
    bodies = [
        box("cart", 1.0, 0.4, mass=2.0, joint=Prismatic(axis=(2.0, 1.0), at=(0.1, 0.2), offset=0.3)),
        link("boom", 1.0, mass=0.7, inertia=0.05, joint=Revolute("cart", at=(0.3, 0.2), offset=2.0)),
        rod("arm", 0.8, mass=0.4, joint=Prismatic(axis=(0.1, -1.0), parent="boom", at=(0.0, -0.6))),
        disc("wheel", 0.3, mass=0.9, joint=Revolute("arm", at=(0.4, 0.0))),
        box("crate", 0.5, 0.7, mass=1.3),
        disc("ball", 0.2, mass=0.6),
        point_mass("bead", 0.15),
        point_mass("weight", 0.25, joint=Revolute("wheel", at=(0.1, 0.3))),
    ]
    wall = HalfPlane("wall", point=(2.0, 0.0), normal=(-1.0, 0.2))
    contacts = [
        PlaneContact("corner", "crate", wall, (0.25, -0.35), mu=0.3),
        PlaneContact("wheel-floor", "wheel", radius=0.3, mu=0.5),
        PlaneContact("bead-slope", "bead", slope("slope", 0.3), mu=0.1),
        DiscContact("wheel-ball", "wheel", "ball", mu=0.2, restitution=0.4),
        DiscContact("ball-tip", "ball", "arm", second_point=(-0.4, 0.0), second_radius=0.05),
    ]
    return PlanarModel(bodies, contacts, gravity=(0.5, -9.0))


def models():
    return {"crane": crane(), **{name: systems.get(name).model for name in PLANAR}}


PLANAR = ["rocking-block", "compass-gait", "box-wall", "ramone", "disk-stack"]
MODELS = models()


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", range(3))
def test_derivatives(name, seed):
    model = MODELS[name]
    rng = np.random.default_rng(seed)
    q, v = rng.normal(size=model.nq), rng.normal(size=model.nv)
    assert isinstance(model, Model)
    assert model.nq == model.nv == len(model.coordinates)
    check_gap_jacobian(model, q)
    check_jacobian_bias(model, q, v)
    check_lagrange(model, q, v)

    def bodies(at):
        for body, (x, y, angle) in zip(model.bodies, model.poses(at), strict=True):
            c, s = np.cos(angle), np.sin(angle)
            centre = np.array([x, y]) + np.array([[c, -s], [s, c]]) @ body.com
            yield body.mass, centre, body.inertia, angle

    check_kinetic_energy(model, q, v, bodies)


@pytest.mark.parametrize("name", MODELS)
def test_tangential_rows_are_the_velocity_of_material_points(name):
    """Move the material points that are in contact with the bodies, and compare their relative slip."""
    model = MODELS[name]
    rng = np.random.default_rng(7)
    q, v = rng.normal(size=model.nq), rng.normal(size=model.nv)
    points = model.contact_points(q)
    poses = {body.name: pose for body, pose in zip(model.bodies, model.poses(q), strict=True)}
    index = {body.name: row for row, body in enumerate(model.bodies)}
    step = 1e-6
    ahead, behind = (model.poses(model.integrate(q, v, dt)) for dt in (step, -step))

    def material_velocity(name, point):
        if name not in poses:
            return np.zeros(2)
        rate = (ahead[index[name]] - behind[index[name]]) / (2 * step)
        arm = point - poses[name][:2]
        return rate[:2] + rate[2] * np.array([-arm[1], arm[0]])

    Jn, Jt = model.jacobians(q)
    for i, info in enumerate(model.contacts):
        gap = model.gaps(q)[i]
        normal = _normal(model, q, i)
        tangent = np.array([normal[1], -normal[0]])
        slip = material_velocity(info.bodies[0], points[i]) - material_velocity(
            info.bodies[1], points[i] - gap * normal
        )
        np.testing.assert_allclose([Jn[i] @ v, Jt[i, 0] @ v], [normal @ slip, tangent @ slip], atol=1e-7)


def _normal(model, q, contact):
    """From the definition of the contact and the poses of its bodies."""
    definition = model.definitions[contact]
    if isinstance(definition, PlaneContact):
        return np.array(definition.plane.normal)
    poses = {body.name: pose for body, pose in zip(model.bodies, model.poses(q), strict=True)}
    centres = []
    for name, point in (
        (definition.first, definition.first_point),
        (definition.second, definition.second_point),
    ):
        x, y, angle = poses[name]
        c, s = np.cos(angle), np.sin(angle)
        centres.append(np.array([x, y]) + np.array([[c, -s], [s, c]]) @ point)
    return (centres[0] - centres[1]) / np.linalg.norm(centres[0] - centres[1])


def test_inputs_act_on_joints():
    model = MODELS["ramone"]
    rng = np.random.default_rng(3)
    q, v, u = rng.normal(size=7), rng.normal(size=7), rng.normal(size=4)
    difference = model.bias(q, v, u) - model.bias(q, v)
    np.testing.assert_allclose(difference, [0.0, 0.0, 0.0, *-u], atol=1e-14)
    assert model.actuated[0] == "leading thigh.angle"
    some = PlanarModel(model.bodies, actuated=["trailing shank.angle"])
    assert some.bias(q, v, [2.0])[6] == pytest.approx(model.bias(q, v)[6] - 2.0)


def test_contact_points_and_outlines_of_the_block():
    system = systems.get("rocking-block")
    np.testing.assert_allclose(system.model.contact_points(system.state.q)[:2], [[-0.5, 0.0], [0.5, 0.0]])
    ((name, outline),) = system.model.outlines(np.array([1.0, 2.0, np.pi / 2]))
    assert name == "block"
    np.testing.assert_allclose(outline[:3], [[2.0, 1.5], [2.0, 2.5], [0.0, 2.5]])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PlanarModel([box("a", 1, 1, mass=1), disc("a", 1, mass=1)]), "bodies: 'a' appears twice"),
        (lambda: PlanarModel([rod("a", 1, mass=1, joint=Revolute("b"))]), "a.joint.parent: got 'b'; wanted"),
        (lambda: PlanarModel([box("a", 1, 1, mass=1)], [PlaneContact("A", "b")]), "A.body: got 'b'"),
        (lambda: PlanarModel([box("a", 1, 1, mass=1)], [PlaneContact("A", "a")] * 2), "'A' appears twice"),
        (lambda: box("a", 1, 0, mass=1), "height: got 0.0"),
        (lambda: disc("a", 1, mass=float("nan")), "mass: got nan"),
        (lambda: box("world", 1, 1, mass=1), "name: got 'world'"),
        (lambda: PlaneContact("A", "a", mu=-1.0), "A.mu: got -1.0"),
        (lambda: HalfPlane("w", normal=(0.0, 0.0)), "w.normal: got a zero vector"),
        (lambda: DiscContact("A", "a", "a"), "A: got 'a' twice"),
        (lambda: PlanarModel([box("a", 1, 1, mass=1)], actuated=["a.z"]), "actuated: got 'a.z'"),
        (
            lambda: PlanarModel(
                [box("a", 1, 1, mass=1), box("b", 1, 1, mass=1)], [DiscContact("A", "a", "b")]
            ),
            "A: both radii are zero",
        ),
        (
            lambda: PlanarModel([box("a", 1, 1, mass=1, joint=Prismatic((0.0, 0.0)))]),
            "a.joint.axis: got",
        ),
    ],
)
def test_refusals_name_the_field(make, message):
    with pytest.raises(ValueError, match=message):
        make()
