"""The free rigid body of a landing: its inertia, the points with which it touches, its sides, the ground."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from routh.base.status import ModelError
from routh.base.validation import Array, real
from routh.models.rotations import rotation_matrices
from routh.models.spatial import Body, HalfSpace, PlaneContact, SpatialModel

MOST_CONTACTS = 64  # points of a body: an impact costs their number cubed
_ONE_FACE = 1e-3  # rad between triangles that are one face
_INSIDE = 1e-6  # share of the size, by which the centre is inside of a closed shape
_BEYOND = np.deg2rad(20.0)  # past the last balance on an edge, where nothing brings a body back
_MOST_LEANING = np.deg2rad(85.0)


@dataclass(frozen=True, eq=False)
class Sides:
    """The flat sides on which a body can lie, of the hull of its points."""

    normals: Array  # (f, 3) outward, in the body's frame
    points: tuple[tuple[int, ...], ...]  # the contacts of each
    balance: Array  # (f,) rad, the largest tilt at which it balances on an edge of this face
    closed: bool  # whether its points enclose the centre of mass: then it can rest on any side


@dataclass(frozen=True, eq=False)
class FreeBody:
    """A rigid body that moves freely over one plane. Its own frame has its origin in the centre of mass.

    Made by `routh.to_rest.reading.free_body`.
    """

    mass: float
    inertia: Array  # (3,) principal moments
    turn: Array  # (3, 3) from the body's own frame, whose axes are principal, to that of the given states
    centre: Array  # (3,) m, centre of mass in the frame of the given states
    points: Array  # (nc, 3) m, own frame
    radii: Array  # (nc,) m
    names: tuple[str, ...]
    mu: Array  # (nc,)
    time_constant: Array  # (nc,) s of the contacts' springs; NaN where nothing is known
    damping_ratio: Array  # (nc,)
    gravity: Array  # (3,) m/s^2
    place: Array  # (3,) m, a point of the plane
    normal: Array  # (3,) of the plane
    held: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not len(self.names):
            raise ModelError(
                "model", wrong="nothing of it can touch a plane", wanted="collision shapes over one"
            )
        if len(self.names) > MOST_CONTACTS:
            raise ModelError(
                "model",
                wrong=f"{len(self.names)} points can touch the ground",
                wanted=f"at most {MOST_CONTACTS} (fewer or simpler collision shapes)",
            )
        if not self.gravity @ self.normal < 0.0:
            raise ModelError(
                "gravity", wrong="it does not pull towards the ground", wanted="a body that comes down"
            )

    @cached_property
    def size(self) -> float:
        """Distance of the farthest point from the centre of mass, m."""
        return float((np.linalg.norm(self.points, axis=1) + self.radii).max())

    @cached_property
    def model(self) -> SpatialModel:
        """The same as a model for `routh.simulate` and `routh.step_through`."""
        ground = HalfSpace("ground", tuple(self.place), tuple(self.normal))
        contacts = [
            PlaneContact(name, "body", ground, tuple(point), float(radius), float(mu))
            for name, point, radius, mu in zip(self.names, self.points, self.radii, self.mu, strict=True)
        ]
        return SpatialModel([Body("body", self.mass, self.inertia)], contacts, gravity=self.gravity)

    @cached_property
    def faces(self) -> Sides:
        """The sides on which it can lie; none where its points span no volume with the centre."""
        return faces_of(self.points)

    def slope(self, angle: float, uphill: float = 0.0) -> FreeBody:
        """The same over a plane through the same point that rises by an angle (rad) along a heading from the
        world's x axis."""
        real("slope", angle, at_least=-0.5 * np.pi, at_most=0.5 * np.pi)
        up = -self.gravity / np.linalg.norm(self.gravity)
        level = np.array([np.cos(uphill), np.sin(uphill), 0.0])
        along = level - (level @ up) * up
        along /= np.linalg.norm(along)
        return replace(self, normal=np.cos(angle) * up - np.sin(angle) * along)

    def own(self, q: Array, v: Array) -> tuple[Array, Array]:
        """States (n, 7), (n, 6) of the given frame as states of the centre of mass and the principal axes."""
        R = rotation_matrices(q[:, 3:])
        arm = R @ self.centre
        spin = np.einsum("nij,nj->ni", R, v[:, 3:])
        place = q[:, :3] + arm
        linear = v[:, :3] + np.cross(spin, arm)
        turned = np.array([quaternion_of(one @ self.turn) for one in R])
        return np.hstack([place, turned]), np.hstack([linear, v[:, 3:] @ self.turn])

    def given(self, q: Array, v: Array) -> tuple[Array, Array]:
        """The inverse of `own`."""
        R = rotation_matrices(q[:, 3:]) @ self.turn.T
        rates = v[:, 3:] @ self.turn.T
        arm = R @ self.centre
        spin = np.einsum("nij,nj->ni", R, rates)
        turned = np.array([quaternion_of(one) for one in R])
        place, linear = q[:, :3] - arm, v[:, :3] - np.cross(spin, arm)
        return np.hstack([place, turned]), np.hstack([linear, rates])


def quaternion_of(R: Array) -> Array:
    """The unit quaternion (w, x, y, z) of a rotation matrix, w not negative."""
    K = np.array(
        [
            [R[0, 0] + R[1, 1] + R[2, 2], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
            [R[2, 1] - R[1, 2], R[0, 0] - R[1, 1] - R[2, 2], R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]],
            [R[0, 2] - R[2, 0], R[0, 1] + R[1, 0], R[1, 1] - R[0, 0] - R[2, 2], R[1, 2] + R[2, 1]],
            [R[1, 0] - R[0, 1], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], R[2, 2] - R[0, 0] - R[1, 1]],
        ]
    )
    q = np.linalg.eigh(K)[1][:, -1]
    return q if q[0] >= 0.0 else -q


def principal(inertia: Array) -> tuple[Array, Array]:
    """Principal moments (3,) and the rotation to their axes; none where it is diagonal already."""
    off = inertia - np.diag(np.diag(inertia))
    if not np.abs(off).max() > 1e-12 * np.abs(inertia).max():
        return np.diag(inertia).copy(), np.eye(3)
    moments, axes = np.linalg.eigh(inertia)
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    return moments, axes


def faces_of(points: Array) -> Sides:
    """The faces of the hull of points (nc, 3) about a centre of mass at the origin."""
    from scipy.spatial import ConvexHull, QhullError

    size = float(np.abs(points).max(initial=0.0))
    none = Sides(np.zeros((0, 3)), (), np.zeros(0), False)
    if not size > 0.0:
        return none
    try:
        hull = ConvexHull(np.vstack([points, np.zeros((1, 3))]) / size)
    except QhullError:
        return none
    closed = bool((hull.equations[:, 3] < -_INSIDE).all())
    kept = np.flatnonzero(hull.equations[:, 3] < -_INSIDE)  # not those through the centre
    normals: list[Array] = []
    members: list[tuple[int, ...]] = []
    balance: list[float] = []
    for k in kept:
        normal, offset = hull.equations[k, :3], -hull.equations[k, 3] * size
        if any(normal @ other > np.cos(_ONE_FACE) for other in normals):
            continue
        inside = np.flatnonzero(points @ normal >= offset - 1e-3 * size)
        normals.append(normal)
        members.append(tuple(int(i) for i in inside))
        balance.append(_balance(points[inside], normal, offset))
    if not normals:
        return none
    order = sorted(range(len(normals)), key=lambda k: members[k])
    return Sides(
        np.array([normals[k] for k in order]),
        tuple(members[k] for k in order),
        np.array([balance[k] for k in order]),
        closed,
    )


def _balance(points: Array, normal: Array, offset: float) -> float:
    """The largest tilt (rad) to balancing over an edge of a face, of a centre above it."""
    from scipy.spatial import ConvexHull

    axis = np.eye(3)[int(np.abs(normal).argmin())]
    first = np.cross(normal, axis)
    first /= np.linalg.norm(first)
    flat = points @ np.array([first, np.cross(normal, first)]).T
    arms = -ConvexHull(flat).equations[:, 2]
    return float(np.arctan2(arms.max(), offset))


def leaning_limit(body: FreeBody, face: int) -> float:
    """The cosine of the tilt from a face beyond which a body has tipped; -2 where it can rest on others."""
    faces = body.faces
    if faces.closed or face < 0:
        return -2.0
    return float(np.cos(min(faces.balance[face] + _BEYOND, _MOST_LEANING)))
