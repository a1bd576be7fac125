"""Points of a Pinocchio robot that can touch: named ones, and those of its collision shapes on the ground."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from routh.base.status import InputError, ModelError
from routh.base.validation import Array, real_array
from routh.models.pinocchio.files import engine, shapes

if TYPE_CHECKING:
    from pinocchio import Data, GeometryModel, GeometryObject, Model


UP = np.array([0.0, 0.0, 1.0])
_RIM = 4  # points on the rim of a cylinder or a cone


@dataclass(frozen=True)
class ContactPoint:
    """A point, or the lowest point of a sphere, that moves with a frame of the robot."""

    frame: str
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)  # m, in the frame
    radius: float = 0.0  # m
    name: str = ""  # default: the frame's


#: frame names or points, or frame name -> radius (m)
Points = Iterable[ContactPoint | str] | Mapping[str, float]


class PlacedPoint(NamedTuple):
    """A `ContactPoint` by its numbers: Pinocchio searches its frames by name and copies them."""

    name: str
    frame: int
    joint: int
    offset: Array  # (3,) m, in the frame
    radius: float  # m

    def surface(self, data: Data) -> Array:
        """Point that would touch, (3,) m; the data hold the frames' placements."""
        return np.asarray(data.oMf[self.frame].act(self.offset) - self.radius * UP)


class Touching(NamedTuple):
    """A material point at a joint, near the ground: what a problem's row is made of."""

    name: str
    joint: int
    surface: Array  # (3,) m, world, on the robot
    dist: float  # m above the ground


def feet(model: Model) -> tuple[ContactPoint, ...]:
    """The ends of a robot's limbs: for each joint without further joints, its last link's frame."""
    pin = engine()
    last = set(range(1, model.njoints)) - {int(parent) for parent in model.parents[1:]}
    found: dict[int, str] = {}
    for frame in model.frames:
        if frame.type == pin.FrameType.BODY and frame.parentJoint in last:
            found[frame.parentJoint] = frame.name  # frames come from the root outwards
    return tuple(ContactPoint(name) for name in found.values())


def as_points(model: Model, points: Points) -> tuple[ContactPoint, ...]:
    """Frame names, a mapping from frame names to radii, or `ContactPoint`s, checked."""
    if isinstance(points, Mapping):
        given = [ContactPoint(name, radius=float(radius)) for name, radius in points.items()]
    else:
        given = [p if isinstance(p, ContactPoint) else ContactPoint(p) for p in points]
    for point in given:
        if not model.existFrame(point.frame):
            names = ", ".join(repr(p.frame) for p in feet(model))
            raise InputError("points", wrong=f"there is no frame {point.frame!r}; the limbs end in {names}")
        real_array("offset", point.offset, [(3,)])
    return tuple(given)


def placed(model: Model, points: Iterable[ContactPoint]) -> tuple[PlacedPoint, ...]:
    """Points as they are looked up in a model."""
    found = []
    for point in points:
        frame = int(model.getFrameId(point.frame))
        joint, offset = int(model.frames[frame].parentJoint), np.array(point.offset, dtype=np.float64)
        found.append(PlacedPoint(point.name or point.frame, frame, joint, offset, point.radius))
    return tuple(found)


def named_points(data: Data, points: Iterable[PlacedPoint], ground: float) -> list[Touching]:
    """The named points over the ground; the data hold the frames' placements."""
    touching = ((point, point.surface(data)) for point in points)
    return [Touching(point.name, point.joint, at, float(at[2] - ground)) for point, at in touching]


def shape_points(data: Data, geometry: GeometryModel, ground: float, reach: float) -> list[Touching]:
    """The points of every collision shape that are within ``reach`` of the ground."""
    found = []
    for shape in geometry.geometryObjects:
        place = data.oMi[shape.parentJoint] * shape.placement
        points, radius = lowest_points(shape, -place.rotation.T @ UP)
        surfaces = points @ place.rotation.T + place.translation - radius * UP
        for surface in _outermost(surfaces[surfaces[:, 2] <= ground + reach]):
            dist = float(surface[2] - ground)
            found.append(Touching(shape.name, int(shape.parentJoint), surface, dist))
    return found


def lowest_points(shape: GeometryObject, down: Array) -> tuple[Array, float]:
    """Points (k, 3) of a shape, in its own frame, that can be its lowest, and a radius around them."""
    coal = shapes()
    geometry = shape.geometry
    radius = float(geometry.getSweptSphereRadius()) if hasattr(geometry, "getSweptSphereRadius") else 0.0
    if isinstance(geometry, coal.Sphere):
        return np.zeros((1, 3)), radius + float(geometry.radius)
    if isinstance(geometry, coal.Capsule):
        end = float(geometry.halfLength)
        return np.array([[0.0, 0.0, end], [0.0, 0.0, -end]]), radius + float(geometry.radius)
    if isinstance(geometry, coal.Box):
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        return signs * np.asarray(geometry.halfSide), radius
    if isinstance(geometry, coal.Cylinder):
        rim = _rim(float(geometry.radius), down)
        return np.concatenate([rim + geometry.halfLength * UP, rim - geometry.halfLength * UP]), radius
    if isinstance(geometry, coal.Cone):
        tip = float(geometry.halfLength) * UP
        return np.concatenate([tip[None], _rim(float(geometry.radius), down) - tip]), radius
    if isinstance(geometry, coal.Ellipsoid):
        axes = np.asarray(geometry.radii)
        return (axes**2 * down / np.linalg.norm(axes * down))[None], radius
    if isinstance(geometry, (coal.BVHModelBase, coal.ConvexBase)):
        vertices = geometry.vertices() if isinstance(geometry, coal.BVHModelBase) else geometry.points()
        return np.asarray(vertices, dtype=np.float64).reshape(-1, 3), radius
    raise ModelError(shape.name, wrong=f"a {type(geometry).__name__} has no known lowest points")


def _rim(radius: float, down: Array) -> Array:
    """Points on a circle around the z axis, the lowest one first."""
    start = np.arctan2(down[1], down[0])
    angles = start + 2.0 * np.pi * np.arange(_RIM) / _RIM
    return radius * np.stack([np.cos(angles), np.sin(angles), np.zeros(_RIM)], axis=1)


def _outermost(points: Array) -> Array:
    """The corners of the points' outline seen from above; contacts between them say nothing new."""
    unique = np.unique(points.round(12), axis=0)
    if len(unique) <= 4:
        return unique
    angles = 2.0 * np.pi * np.arange(16) / 16
    corners = np.argmax(unique[:, :2] @ [np.cos(angles), np.sin(angles)], axis=0).tolist()
    lowest = int(np.argmin(unique[:, 2]))
    return unique[list(dict.fromkeys([lowest, *corners]))]
