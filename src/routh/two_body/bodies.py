"""Two rigid bodies at one contact: the impact equations JW17 (1)-(5)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from routh.base import tolerances
from routh.base.status import InputError
from routh.base.validation import Array, real, real_array
from routh.models.rotations import skew, tangents
from routh.two_body.api import approaching, checked_one


@dataclass(frozen=True, eq=False, init=False)
class Body:
    """A rigid body as an impact sees it.

    Parameters
    ----------
    mass : kg.
    inertia : (3,) principal values or (3, 3) matrix about the centre of mass in the body's frame, kg m^2.
    position : (3,), centre of mass in the world, m.
    rotation : (3, 3), from the body's frame to the world's.
    velocity : (3,), of the centre of mass in the world, m/s.
    angular_velocity : (3,), in the world, rad/s.
    """

    mass: float
    inertia: Array = field(repr=False)
    position: Array
    rotation: Array = field(repr=False)
    velocity: Array
    angular_velocity: Array

    def __init__(
        self,
        mass: float,
        inertia: ArrayLike,
        position: ArrayLike,
        *,
        rotation: ArrayLike | None = None,
        velocity: ArrayLike = (0.0, 0.0, 0.0),
        angular_velocity: ArrayLike = (0.0, 0.0, 0.0),
    ) -> None:
        tensor = real_array("inertia", inertia, [(3,), (3, 3)], "shape (3,) or (3, 3)")
        matrix = np.diag(tensor) if tensor.ndim == 1 else tensor
        off = np.abs(matrix - matrix.T).max()
        if not (off <= tolerances.SYMMETRY * np.abs(matrix).max() and np.linalg.eigvalsh(matrix)[0] > 0.0):
            raise InputError("inertia", wanted="a symmetric, positive definite matrix")
        turn = real_array("rotation", np.eye(3) if rotation is None else rotation, [(3, 3)])
        if not np.abs(turn @ turn.T - np.eye(3)).max() <= 1e-9 or not np.linalg.det(turn) > 0.0:
            raise InputError("rotation", wanted="an orthogonal matrix with determinant 1")
        self.__dict__.update(
            mass=real("mass", mass, above=0.0),
            inertia=matrix,
            position=real_array("position", position, [(3,)]),
            rotation=turn,
            velocity=real_array("velocity", velocity, [(3,)]),
            angular_velocity=real_array("angular_velocity", angular_velocity, [(3,)]),
        )

    def inverse_inertia(self) -> Array:
        """The inverse of the inertia in the world's frame, (3, 3)."""
        return self.rotation @ np.linalg.solve(self.inertia, self.rotation.T)


def contact_frame(normal: ArrayLike) -> Array:
    """Rows x, y, normal of a right-handed frame, (3, 3); x is chosen from the normal alone."""
    n = real_array("normal", normal, [(3,)])
    length = float(np.linalg.norm(n))
    if not length > 0.0:
        raise InputError("normal", got="zero", wanted="a direction")
    x, y, _ = tangents(n[None] / length)
    return np.vstack([x, y, n / length])


def inverse_inertia(body_a: Body, body_b: Body | None, point: ArrayLike, normal: ArrayLike) -> Array:
    """W (3, 3) in the contact frame x, y, normal, JW17 (5). ``body_b`` None is a fixed body.

    ``normal`` points out of b into a, so that an impulse with a positive normal component pushes a away.
    """
    c = real_array("point", point, [(3,)])
    frame = contact_frame(normal)
    w = np.zeros((3, 3))
    for body in (body_a, body_b):
        if body is not None:
            cross = skew((c - body.position)[None])[0]
            w += np.eye(3) / body.mass - cross @ body.inverse_inertia() @ cross  # JW17 (3), (5)
    w = frame @ w @ frame.T
    return 0.5 * (w + w.T)


def contact_velocity(body_a: Body, body_b: Body | None, point: ArrayLike, normal: ArrayLike) -> Array:
    """The velocity of a relative to b at the contact, (3,) in the contact frame, JW17 (2)."""
    c = real_array("point", point, [(3,)])
    v = body_a.velocity + np.cross(body_a.angular_velocity, c - body_a.position)
    if body_b is not None:
        v = v - body_b.velocity - np.cross(body_b.angular_velocity, c - body_b.position)
    return contact_frame(normal) @ v


def velocities_after(
    body_a: Body, body_b: Body | None, point: ArrayLike, normal: ArrayLike, impulse: ArrayLike
) -> tuple[Body, Body | None]:
    """Both bodies with their velocities after an impulse (3,) given in the contact frame, JW17 (1)."""
    c = real_array("point", point, [(3,)])
    push = contact_frame(normal).T @ real_array("impulse", impulse, [(3,)])
    after_a = _pushed(body_a, c, push)
    return after_a, None if body_b is None else _pushed(body_b, c, -push)


def _pushed(body: Body, point: Array, impulse: Array) -> Body:
    turn = body.inverse_inertia() @ np.cross(point - body.position, impulse)
    velocity = body.velocity + impulse / body.mass
    return replace(body, velocity=velocity, angular_velocity=body.angular_velocity + turn)


def frictionless(W: ArrayLike, v: ArrayLike, e: float) -> Array:
    """The impulse (3,) of an impact without friction, JW17 section 2.4: -m v_z (1 + e), m = 1 / W_zz."""
    given = checked_one(W, v, 0.0, e)
    return np.array([0.0, 0.0, -approaching(given.v[0])[2] * (1.0 + given.e[0]) / given.W[0, 2, 2]])


def central(W: ArrayLike, v: ArrayLike, mu: float, e: float) -> Array:
    """The impulse (3,) where d = 0 and B is a multiple of the identity, as for spheres.

    Friction cannot change v_z, so the normal impulse is that without friction; sliding is straight and ends,
    for good, when the normal impulse has reached |gamma| / (mu b).
    """
    given = checked_one(W, v, mu, e)
    w, velocity, friction, restitution = given.W[0], approaching(given.v[0]), given.mu[0], given.e[0]
    uneven = max(abs(w[0, 1]), abs(w[0, 0] - w[1, 1]), abs(w[0, 2]), abs(w[1, 2]))
    if not uneven <= 1e-12 * np.abs(w).max():
        raise InputError("W", wanted="a central impact, a diagonal matrix with W[0, 0] = W[1, 1]")
    normal = -velocity[2] * (1.0 + restitution) / w[2, 2]
    speed = float(np.hypot(velocity[0], velocity[1]))
    if speed == 0.0:
        return np.array([0.0, 0.0, normal])
    tangential = min(friction * normal, speed / w[0, 0])
    return np.array([*(-tangential * velocity[:2] / speed), normal])
