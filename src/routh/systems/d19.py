"""The examples of D19, by name: mechanisms with their constraints, loads and steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from routh.base.validation import Array, integer, real
from routh.constraints import (
    STEEL,
    Compliance,
    ElasticFoundation,
    Hertz,
    Holonomic,
    StateConstraint,
    coordinate_limit,
    foundation_stiffness,
)
from routh.constraints.stiffness import square_grid
from routh.models import spatial
from routh.models.base import Model, State
from routh.models.planar import PlanarModel, Prismatic, Revolute, disc, link, point_mass
from routh.models.rotations import cross, rotation_matrices
from routh.models.spatial import PlaneContact, SpatialModel, SphereContact
from routh.sim import Trajectory, step_through
from routh.systems.base import GRAVITY, MotionSystem, PaperSettings, get, register
from routh.systems.catalogue import CATALOGUE

STEEL_MODULUS = 1e11  # Pa, D19's "about that of steel"


@dataclass(frozen=True, eq=False)
class ConstrainedMotion(MotionSystem):
    """A motion with everything that `routh.sim.step_through` needs; ``run()`` calls it."""

    constraints: Sequence[StateConstraint] = ()
    compliance: Compliance = STEEL
    force: Callable[[State], ArrayLike] | None = None
    dt: float = 0.01  # s
    duration: float = 1.0  # s

    def run(self, **options: Any) -> Trajectory:
        """Step through it; any option of `routh.sim.step_through` can be changed."""
        names = ("dt", "duration", "constraints", "compliance", "force")
        setting = {name: getattr(self, name) for name in names}
        return step_through(self.model, self.state, **{**setting, **options})


def motion_of(name: str, **parameters: object) -> ConstrainedMotion:
    """A system of this file by its name; see `routh.systems.get`."""
    found = get(name, **parameters)
    assert isinstance(found, ConstrainedMotion)
    return found


def _motion(name: str, model: Model, state: State, **more: Any) -> ConstrainedMotion:
    paper = PaperSettings(CATALOGUE[name].source)
    return ConstrainedMotion(name, "motion", paper, model=model, state=state, **more)


@register("spring-mass-damper")
def spring_mass_damper(
    *, mass: float = 1.0, stiffness: float = 1e6, damping: float = 1.0, start: float = 1.0, dt: float = 1e-3
) -> ConstrainedMotion:
    """``m x'' + b x' + k x = 0`` from rest at ``start`` (m): D19 (3), Figs. 1 to 3."""
    body = point_mass("mass", real("mass", mass, above=0.0), joint=Prismatic((1.0, 0.0)))
    spring = Holonomic(
        "spring",
        phi=lambda q: q,
        jacobian=lambda q: np.eye(1),
        bias=lambda q, v: np.zeros(1),
        stiffness=stiffness,
        damping=damping,
    )
    model = PlanarModel([body], gravity=(0.0, 0.0))
    state = State(np.array([real("start", start)]), np.zeros(1))
    return _motion("spring-mass-damper", model, state, constraints=(spring,), dt=dt, duration=50 * dt)


@register("pendulum-by-constraint")
def pendulum_by_constraint(
    *,
    mass: float = 1.0,
    length: float = 1.0,
    radius: float = 0.1,
    stiffness: float = 1e15,
    damping: float = 1.0,
    dt: float = 1e-3,
) -> ConstrainedMotion:
    """A free disc held by a pin at ``length`` (m) from its centre: D19 (64), Fig. 4.

    D19 gives neither mass, length nor inertia; those here are ours. It starts level and at rest.
    """
    arm = real("length", length, above=0.0)

    def turned(q: Array) -> Array:
        """Vector from the bob to the pin, which lies along y in its frame."""
        return arm * np.array([-math.sin(q[2]), math.cos(q[2])])

    def jacobian(q: Array) -> Array:
        x, y = turned(q)
        return np.array([[1.0, 0.0, -y], [0.0, 1.0, x]])

    pin = Holonomic(
        "pin",
        phi=lambda q: q[:2] + turned(q),
        jacobian=jacobian,
        bias=lambda q, v: -(v[2] ** 2) * turned(q),
        stiffness=stiffness,
        damping=damping,
    )
    model = PlanarModel([disc("bob", radius, mass=mass)])
    state = State(np.array([length, 0.0, math.pi / 2]), np.zeros(3))
    return _motion("pendulum-by-constraint", model, state, constraints=(pin,), dt=dt)


@register("pendulum-with-limit")
def pendulum_with_limit(
    *,
    mass: float = 1.0,
    length: float = 1.0,
    stiffness: float = 1e12,
    damping: float = 0.0,
    angle: float = math.pi / 2,
    rate: float = 0.0,
    dt: float = 1e-3,
) -> ConstrainedMotion:
    """A pendulum that may not pass below: ``theta >= 0`` with a spring of N m/rad, D19 5.4, Fig. 6."""
    arm = link("arm", real("length", length, above=0.0), mass=mass, centre=length, joint=Revolute())
    limit = coordinate_limit("limit", 0, 1, lower=0.0, stiffness=stiffness, damping=damping)
    state = State(np.array([real("angle", angle)]), np.array([real("rate", rate)]))
    return _motion("pendulum-with-limit", PlanarModel([arm]), state, constraints=(limit,), dt=dt)


@register("cube-on-foundation")
def cube_on_foundation(
    *,
    elements: int = 100,
    load: float = 5.0,
    young: float = 1e7,
    side: float = 1.0,
    density: float = 8.0,
    depth: float = 1.0,
    damping: float = 1.0,
    dt: float = 0.01,
) -> ConstrainedMotion:
    """A cube on a bed of springs, pressed by a force that circles on its top: D19 5.5, Tables 1 and 2.

    ``load`` (N) always points down and acts at ``side/2 (cos 10 t, sin 10 t, 1)`` of the cube; the elements
    are equal squares, each with ``K = young area / depth`` and the given damping (N s/m).
    """
    count = integer("elements", elements, at_least=1)
    edge, push = real("side", side, above=0.0), real("load", load, at_least=0.0)
    cube = spatial.box("cube", (edge, edge, edge), mass=real("density", density, above=0.0) * edge**3)
    points = square_grid(edge, count, -edge / 2)
    stiffness = float(foundation_stiffness(young, edge**2 / count, depth))

    def force(state: State) -> Array:
        arm = edge / 2 * np.array([math.cos(10 * state.t), math.sin(10 * state.t), 1.0])
        down = rotation_matrices(state.q[None, 3:7])[0].T @ np.array([0.0, 0.0, -push])
        return np.concatenate([[0.0, 0.0, -push], cross(arm[None], down[None])[0]])

    state = State(np.array([0.0, 0.0, edge / 2, 1.0, 0.0, 0.0, 0.0]), np.zeros(6))
    springs = ElasticFoundation(points, stiffness=stiffness, damping=damping)
    model = SpatialModel([cube])
    return _motion("cube-on-foundation", model, state, constraints=(springs,), force=force, dt=dt)


@register("block-on-incline")
def block_on_incline(
    *,
    mu: float = 0.25,
    angle: float = math.radians(15.0),
    mass: float = 1.0,
    size: Sequence[float] = (0.2, 0.1, 0.05),
    modulus: float = STEEL_MODULUS,
    foot: float = 0.01,
    damping: float = 1.0,
    direction: float = 0.0,
    dt: float = 0.01,
) -> ConstrainedMotion:
    """A block on four round feet on a ramp, D19 6.4, Fig. 9: it sticks where mu > tan(angle).

    The feet (radius ``foot``, m) are rigid, the ramp has the contact modulus ``modulus`` (Pa); the normal
    stiffness is that of Hertz's law at the weight that each foot carries, and the block starts at rest on
    the springs that this weight has pressed. The ramp descends towards the
    horizontal ``direction`` (rad from x).
    """
    slope, heading = real("angle", angle), real("direction", direction)
    down = np.array([math.cos(heading), math.sin(heading)])
    normal = (math.sin(slope) * down[0], math.sin(slope) * down[1], math.cos(slope))
    ramp = spatial.HalfSpace("ramp", normal=normal)
    block = spatial.box("block", size, mass=mass)
    feet = spatial.corners(block.size or (0.0, 0.0, 0.0))[:4]
    contacts = [PlaneContact(name, "block", ramp, p, mu=mu) for name, p in zip("ABCD", feet, strict=True)]
    # turned about the horizontal axis across the slope
    axis = np.array([-down[1], down[0], 0.0])
    quaternion = np.concatenate([[math.cos(slope / 2)], math.sin(slope / 2) * axis])
    share = mass * GRAVITY * math.cos(slope) / 4  # what each foot carries, N
    stiffness = Hertz(modulus, foot).secant(share)
    centre = (np.asarray(size)[2] / 2 - share / stiffness) * np.asarray(ramp.normal)
    model, state = SpatialModel([block], contacts), State(np.concatenate([centre, quaternion]), np.zeros(6))
    compliance = Compliance(stiffness, damping, anticipate=False)
    return _motion("block-on-incline", model, state, compliance=compliance, dt=dt)


@register("sphere-stack")
def sphere_stack(
    *,
    count: int = 10,
    radius: float = 0.1,
    mass: float = 1.0,
    gap: float = 0.0,
    mu: float = 0.5,
    young: float = STEEL_MODULUS,
    damping: float = 1.0,
    anticipate: bool = False,
    dt: float = 0.01,
) -> ConstrainedMotion:
    """Spheres one above the other that stand on each other, or fall and form a stack: D19 6.5, Fig. 10.

    With ``gap`` 0 every contact starts pressed by the weight above it; otherwise the spheres start ``gap``
    (m) apart in mid-air, as D19's do. Sizes and masses are ours. The stiffness ``young radius`` is that of
    a bar as long and as wide as the sphere's radius. With D19's rule that only closed gaps act
    (``anticipate=False``) more than about twenty falling spheres fly apart at this step: contacts felt late
    unfold all at once.
    """
    n, r = integer("count", count, at_least=1), real("radius", radius, above=0.0)
    bodies = [spatial.sphere(f"sphere {i}", r, mass=mass) for i in range(n)]
    contacts: list[PlaneContact | SphereContact] = [PlaneContact("ground", "sphere 0", radius=r, mu=mu)]
    contacts += [
        SphereContact(f"{i} on {i - 1}", f"sphere {i}", f"sphere {i - 1}", mu=mu) for i in range(1, n)
    ]
    stiffness, apart = real("young", young, above=0.0) * r, real("gap", gap, at_least=0.0)
    pressed = mass * GRAVITY * np.arange(n, 0, -1) / stiffness if apart == 0.0 else np.zeros(n)
    q = np.zeros((n, 7))
    q[:, 2] = r + apart + (2 * r + apart) * np.arange(n) - np.cumsum(pressed)
    q[:, 3] = 1.0
    model, state = SpatialModel(bodies, contacts), State(q.ravel(), np.zeros(6 * n))
    compliance = Compliance(stiffness, damping, anticipate=anticipate)
    return _motion("sphere-stack", model, state, compliance=compliance, dt=dt, duration=5.0)
