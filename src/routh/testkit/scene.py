"""Impacts of free rigid bodies, told once for every engine: shapes, bodies, contacts, and routh's problem.

The state of a scene is ``(bodies, 13)``: position of the centre of mass, quaternion (w, x, y, z), velocity
and angular velocity; velocities after are ``(bodies, 6)``. All of it in the world's frame. This file needs
NumPy only, of any version, since some engines live in environments where the rest of routh does not install.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from routh.base.validation import Array
    from routh.problem.impact import ImpactProblem

NEAR = 0.005  # m: contacts with less between them take part
CORNER = 0.001  # m, radius of the balls that stand for the corners of a box, see `corner_balls`

Triple = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]


@dataclass(frozen=True)
class Shape:
    """A ball of ``size`` (radius,), or a box of ``size`` (half its sides), fixed to a body."""

    kind: str  # "sphere", "box"
    size: tuple[float, ...]  # m
    pos: Triple = (0.0, 0.0, 0.0)  # m, in the body's frame
    mu: float | None = None  # None: the scene's


@dataclass(frozen=True)
class SceneBody:
    """A rigid body that nothing holds."""

    mass: float  # kg
    inertia: Triple  # kg m^2, about the centre of mass, in the body's frame, which is a principal one
    shapes: tuple[Shape, ...]
    pos: Triple  # m
    quat: Quaternion = (1.0, 0.0, 0.0, 0.0)
    v: Triple = (0.0, 0.0, 0.0)  # m/s
    w: Triple = (0.0, 0.0, 0.0)  # rad/s


@dataclass(frozen=True)
class ImpactScene:
    """Free bodies at the moment of an impact, above a flat ground or in space."""

    name: str
    bodies: tuple[SceneBody, ...]
    mu: float = 0.5
    restitution: float = 0.0
    ground: bool = True
    gravity: float = 0.0  # m/s^2; impacts are asked without

    @property
    def state(self) -> Array:
        """Places and velocities before, (bodies, 13)."""
        return np.array([[*b.pos, *unit(b.quat), *b.v, *b.w] for b in self.bodies])

    @property
    def velocities(self) -> Array:
        """Velocities before, (bodies, 6)."""
        return np.array([[*b.v, *b.w] for b in self.bodies], dtype=float)

    @property
    def mass(self) -> Array:
        """The mass matrix (6 bodies, 6 bodies) of the velocities, as they stand in `velocities`."""
        M = np.zeros((6 * len(self.bodies),) * 2)
        for i, body in enumerate(self.bodies):
            R, k = rotation(body.quat), 6 * i
            M[k : k + 3, k : k + 3] = body.mass * np.eye(3)
            M[k + 3 : k + 6, k + 3 : k + 6] = R @ np.diag(body.inertia) @ R.T
        return M

    def lifted(self, height: float) -> ImpactScene:
        """The same scene, with every body this much (m) higher above the ground."""
        bodies = (replace(b, pos=(b.pos[0], b.pos[1], b.pos[2] + height)) for b in self.bodies)
        return replace(self, bodies=tuple(bodies))

    def renumbered(self) -> ImpactScene:
        """The same scene, told the other way round: bodies and shapes in reverse, boxes by half a turn.

        Nothing that is there changes. The velocities after come in reverse, too.
        """
        bodies = []
        for b in reversed(self.bodies):
            w, x, y, z = b.quat  # times half a turn about the body's own z: principal axes stay what they are
            shapes = (replace(s, pos=(-s.pos[0], -s.pos[1], s.pos[2])) for s in reversed(b.shapes))
            bodies.append(replace(b, quat=(-z, y, -x, w), shapes=tuple(shapes)))
        return replace(self, bodies=tuple(bodies))


class TouchPoint(NamedTuple):
    """Two bodies that touch, or nearly."""

    a: int
    b: int  # -1: the ground
    place: Array
    normal: Array  # towards a
    gap: float
    mu: float


def unit(quat: ArrayLike) -> Array:
    """The quaternion with norm one."""
    q = np.asarray(quat, dtype=float)
    return q / np.linalg.norm(q)


def rotation(quat: ArrayLike) -> Array:
    """The rotation matrix of a quaternion (w, x, y, z)."""
    w, x, y, z = unit(quat)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion(R: ArrayLike) -> Array:
    """The quaternion (w, x, y, z) of a rotation matrix; the largest of its entries decides the way."""
    m = np.asarray(R, dtype=float)
    squares = np.array([1 + m.trace(), *(1 + 2 * np.diag(m) - m.trace())])
    k = int(np.argmax(squares))
    if k == 0:
        q = np.array([squares[0], m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]])
    else:
        i, j, n = k - 1, k % 3, (k + 1) % 3
        q = np.zeros(4)
        q[0], q[k], q[1 + j], q[1 + n] = m[n, j] - m[j, n], squares[k], m[j, i] + m[i, j], m[n, i] + m[i, n]
    return q / np.linalg.norm(q)


def corners(half: ArrayLike) -> Array:
    """The corners (8, 3) of a box, its lower four first."""
    signs = [(a, b, c) for c in (-1, 1) for a in (-1, 1) for b in (-1, 1)]
    return np.array(signs) * np.array(half)


def contacts(scene: ImpactScene, state: Array | None = None, near: float = NEAR) -> list[TouchPoint]:
    """Contacts of balls and boxes with the ground, and of balls with each other."""
    at = scene.state if state is None else state
    found, balls = [], []
    up = np.array([0.0, 0.0, 1.0])
    for i, body in enumerate(scene.bodies):
        R, p = rotation(at[i, 3:7]), at[i, :3]
        for s in body.shapes:
            centre, mu = p + R @ np.array(s.pos), scene.mu if s.mu is None else s.mu
            if s.kind == "sphere":
                balls.append((i, centre, s.size[0], mu))
                lowest = [centre - s.size[0] * up]
            else:
                lowest = [centre + R @ k for k in corners(s.size)]
            if scene.ground:
                found += [TouchPoint(i, -1, x, up, float(x[2]), mu) for x in lowest]
    for k, (i, c, r, mu) in enumerate(balls):
        for j, d, radius, other in balls[k + 1 :]:
            if i != j:
                away = float(np.linalg.norm(c - d))
                n = (c - d) / away
                found.append(TouchPoint(i, j, d + radius * n, n, away - r - radius, min(mu, other)))
    return [one for one in found if one.gap < near]


def jacobians(
    scene: ImpactScene, points: Sequence[TouchPoint], state: Array | None = None
) -> tuple[Array, Array]:
    """Rows of the contacts: normal (nc, nv) and tangents (nc, 2, nv)."""
    at = scene.state if state is None else state
    J = np.zeros((len(points), 3, 6 * len(scene.bodies)))
    for k, one in enumerate(points):
        t = np.cross(one.normal, [0, 1, 0] if abs(one.normal[1]) < 0.9 else [0, 0, 1.0])
        t /= np.linalg.norm(t)
        frame = np.array([one.normal, t, np.cross(one.normal, t)])
        for body, sign in ((one.a, 1.0), (one.b, -1.0)):
            if body >= 0:
                x, y, z = one.place - at[body, :3]
                turning = np.array([[0, z, -y], [-z, 0, x], [y, -x, 0]])  # w x r, as a matrix of w
                J[k, :, 6 * body : 6 * body + 6] += sign * np.hstack([frame, frame @ turning])
    return J[:, 0], J[:, 1:]


def problem(scene: ImpactScene) -> ImpactProblem:
    """The scene's impact for routh."""
    from routh.problem.impact import ImpactProblem

    points = contacts(scene)
    Jn, Jt = jacobians(scene, points)
    mu = np.array([one.mu for one in points])
    return ImpactProblem(scene.mass, Jn, Jt, mu, scene.velocities.ravel(), restitution=scene.restitution)


def corner_balls(scene: ImpactScene) -> ImpactScene:
    """The scene with small balls in the corners of its boxes, for engines with one contact a pair."""

    def turned(s: Shape) -> tuple[Shape, ...]:
        if s.kind == "sphere":
            return (s,)
        places = np.array(s.pos) + corners(np.array(s.size) - CORNER)
        return tuple(Shape("sphere", (CORNER,), (float(x), float(y), float(z)), s.mu) for x, y, z in places)

    bodies = (replace(b, shapes=tuple(p for s in b.shapes for p in turned(s))) for b in scene.bodies)
    return replace(scene, bodies=tuple(bodies))


def touching(scene: ImpactScene) -> ImpactScene:
    """The scene lifted or lowered until its lowest point touches the ground."""
    return scene.lifted(-min(one.gap for one in contacts(scene, near=np.inf) if one.b < 0))


#: An engine: the velocities (bodies, 6) after the impact of a scene.
After = Callable[[ImpactScene], "Array"]
