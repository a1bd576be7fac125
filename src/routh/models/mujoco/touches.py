"""Every way in which the shapes of a MuJoCo model can touch, as a fixed list: what `routh.simulate` needs.

Against a plane a shape touches with points or spheres fixed to it (the ends of a capsule, the corners of a
box) or with the lowest point of an ellipsoid. A capsule touches a box with its ends, and its side touches the
box' edges: where it lies on a face any point between would do, and none could be followed. Boxes touch boxes
with their corners. Other pairs of shapes touch where MuJoCo's distance function says. Far pairs are judged by
the spheres around them.

Between other flat shapes (cylinders, meshes) that is one pair of points, which jumps where they lie on each
other. A time step asks only what touches now: `Faces` are MuJoCo's own contacts of flat shapes, in a fixed
number of rows. So are those with heightfields, of which the distance function knows nothing.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from routh.base.status import ModelError
from routh.base.validation import Array
from routh.compiling import kernel
from routh.models.base import SpringRows
from routh.models.mujoco.contacts import friction, geom_name, near_contacts, relative_jacobian
from routh.models.mujoco.engine import OwnData, engine, widen
from routh.models.mujoco.features import SAMPLED, SIMULATE, TURNING_FRICTION, of_contact, of_type
from routh.models.mujoco.pairs import pairs_that_collide
from routh.models.rotations import cross

if TYPE_CHECKING:
    from mujoco import MjData, MjModel


ONE_POINT = "touches at one point only"
CORNERS = "touches with corners only, not where edges cross"
_RIM = 8  # points on each rim of a cylinder
_MOST_VERTICES, _DIRECTIONS = 64, 2000  # of a mesh over a plane; in which its corners are compared
FAR = 0.02  # m, beyond which spheres around two shapes stand for them
_REACH = 0.02  # m, from which on contacts of faces are looked at
_PER_BODY = 16  # rows of faces; where more touch, the deepest count
_PER_FIELD = 50  # the same for a shape on a heightfield: MuJoCo's own most
_APART = 1.0  # m, of rows of faces that nothing needs
_FLAT, _ROUND = ("BOX", "CYLINDER", "MESH"), ("SPHERE", "CAPSULE")
_PARALLEL = 1e-12  # squared sine of the angle between capsules that are parallel
_TIP = 1e-5  # m, radius of the corners of boxes that touch boxes: so what slides over an edge does not jump
_THIN = 1e-9  # m, radius of a round shape without its thickness
_POLE = np.array([0.36, 0.48, 0.8])  # no normal of a simple model points against it: tangents turn smoothly
_ACROSS = np.array([[0.8, -0.6, 0.0], [0.48, 0.64, -0.6]])  # the tangents of the pole


@dataclass(frozen=True, eq=False)
class Touch:
    """One possible contact: geom2 touches geom1, a plane or a box where ``offset`` or ``edge`` is given."""

    name: str
    geom1: int
    geom2: int
    mu: float
    offset: Array | None = None  # (3,) m in the frame of geom2: a point or the centre of a sphere
    radius: float = 0.0  # m
    short: float = 0.0  # m, by how much the shape reaches out of the points that stand for it
    scale: Array = field(default_factory=lambda: np.ones(2))  # of friction along MuJoCo's tangents, (2,)
    edge: Array | None = None  # (2, 3) m, the ends of an edge of geom1 in its frame, which a capsule touches


def touches(
    model: MjModel, self_contacts: bool = True
) -> tuple[list[Touch], list[str], dict[str, list[str]]]:
    """All possible contacts of a model, notes on shapes, and what else is named -> the pairs that have it.

    ``self_contacts``: whether links of one robot can touch each other.
    """
    planes, flat = of_type(model, "PLANE"), of_type(model, *_FLAT)
    boxes, capsules = of_type(model, "BOX"), of_type(model, "CAPSULE")
    found: list[Touch] = []
    notes: list[str] = []
    told: dict[str, list[str]] = {}
    turning = []
    roots = np.asarray(model.body_rootid)[np.asarray(model.geom_bodyid)]
    for pair in pairs_that_collide(model):
        first, second = pair.geom
        if not self_contacts and roots[first] == roots[second]:
            continue
        if planes[second] or (boxes[second] and capsules[first]):
            first, second = second, first
        label = f"{geom_name(model, second)}/{geom_name(model, first)}"
        for what in of_contact(pair, SIMULATE):
            told.setdefault(what, []).append(label)
        mu, scale = friction(pair)
        if np.any(scale != 1.0) and not _has_tangents_that_stay(model, first, second):
            turning.append(label)
        if planes[first]:
            points = list(_points(model, second, notes))
            names = [label] if len(points) == 1 else [f"{label}#{k + 1}" for k in range(len(points))]
            found += [
                Touch(name, first, second, mu, offset, radius, short, scale)
                for name, (offset, radius, short) in zip(names, points, strict=True)
            ]
        elif boxes[first] and capsules[second]:
            ends = [Touch("", first, second, mu, *end, scale) for end in _points(model, second, notes)]
            sides = [
                Touch("", first, second, mu, scale=scale, edge=edge)
                for edge in _edges(model.geom_size[first])
            ]
            found += [replace(one, name=f"{label}#{k + 1}") for k, one in enumerate([*ends, *sides])]
        elif boxes[first] and boxes[second]:
            corners = [
                Touch("", under, over, mu, np.sign(corner) * (np.abs(corner) - _TIP), _TIP, _TIP, scale)
                for under, over in ((first, second), (second, first))
                for corner, _, _ in _points(model, over, notes)
                if corner is not None
            ]
            found += [replace(one, name=f"{label}#{k + 1}") for k, one in enumerate(corners)]
            notes.append(f"{label}: {CORNERS}")
        else:
            found.append(Touch(label, first, second, mu))
            if flat[first] and flat[second]:
                notes.append(f"{label}: {ONE_POINT}")
    if turning:
        raise ModelError(wrong=TURNING_FRICTION.refusal(SIMULATE, turning))
    return found, notes, told


def _has_tangents_that_stay(model: MjModel, first: int, second: int) -> bool:
    """Whether MuJoCo's tangents are fixed ones: over planes, but for capsules, along which it lays them."""
    over_a_plane = of_type(model, "PLANE")[first] and not of_type(model, "CAPSULE")[second]
    return bool(over_a_plane and model.body_weldid[model.geom_bodyid[first]] == 0)


def _points(model: MjModel, geom: int, notes: list[str]) -> Iterator[tuple[Array | None, float, float]]:
    """Points (m, frame of the geom) and radii with which a shape touches a plane; None: its lowest point.

    And by how much (m) the shape reaches out of them. What they do not represent joins the ``notes``.
    """
    kinds = engine().mjtGeom
    kind, size = int(model.geom_type[geom]), np.array(model.geom_size[geom])
    if kind == int(kinds.mjGEOM_SPHERE):
        yield np.zeros(3), float(size[0]), 0.0
    elif kind == int(kinds.mjGEOM_CAPSULE):
        for end in (-1.0, 1.0):
            yield np.array([0.0, 0.0, end * size[1]]), float(size[0]), 0.0
    elif kind == int(kinds.mjGEOM_BOX):
        for signs in np.ndindex(2, 2, 2):
            yield (2.0 * np.array(signs) - 1.0) * size, 0.0, 0.0
    elif kind == int(kinds.mjGEOM_CYLINDER):
        out = float(size[0]) * (1.0 - math.cos(math.pi / _RIM))
        for angle in 2.0 * np.pi * np.arange(_RIM) / _RIM:
            for end in (-1.0, 1.0):
                yield np.array([size[0] * np.cos(angle), size[0] * np.sin(angle), end * size[1]]), 0.0, out
        notes.append(f"{geom_name(model, geom)}: rolls on {_RIM} points of each rim")
    elif kind == int(kinds.mjGEOM_ELLIPSOID):
        yield None, 0.0, 0.0
    elif kind == int(kinds.mjGEOM_MESH):
        corners, count, out = _hull(model, geom)
        if len(corners) < count:
            others = f"the others reach up to {1e3 * out:.2g} mm farther"
            notes.append(
                f"{geom_name(model, geom)}: touches with {len(corners)} of {count} corners, {others}"
            )
        for corner in corners:
            yield corner, 0.0, 2.0 * out  # which was looked for in so many directions only
    else:
        raise ModelError(
            geom_name(model, geom),
            wrong=f"shapes of type {kind} over a plane cannot be simulated",
            wanted="a sphere, capsule, box, cylinder, ellipsoid or mesh",
        )


def _edges(size: Array) -> Array:
    """The ends of the edges of a box, (12, 2, 3) m, by its half sizes (3,)."""
    signs = 2.0 * np.array(list(np.ndindex(2, 2, 2))) - 1.0
    pairs = [(a, b) for a, b in combinations(signs, 2) if np.count_nonzero(a != b) == 1]
    return np.array(pairs) * np.asarray(size)


def _hull(model: MjModel, geom: int) -> tuple[Array, int, float]:
    """Corners (n, 3) m of a mesh, n at most 64; how many it has; how far, m, those left out reach out."""
    from scipy.spatial import ConvexHull

    mesh = int(model.geom_dataid[geom])
    start, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
    vertices = np.array(model.mesh_vert[start : start + count], dtype=np.float64)
    corners = vertices[ConvexHull(vertices).vertices]
    if len(corners) <= _MOST_VERTICES:
        return corners, len(corners), 0.0
    turn = np.arange(_DIRECTIONS) * np.pi * (3.0 - np.sqrt(5.0))  # golden angle: evenly over a sphere
    up = (2.0 * np.arange(_DIRECTIONS) + 1.0) / _DIRECTIONS - 1.0
    reach = corners @ np.array([np.sqrt(1.0 - up**2) * np.cos(turn), np.sqrt(1.0 - up**2) * np.sin(turn), up])
    chosen = [0]
    for _ in range(_MOST_VERTICES):  # the next is the one that reaches farthest out of those chosen before
        out = reach.max(axis=0) - reach[chosen].max(axis=0)
        if len(chosen) < _MOST_VERTICES:
            chosen.append(int(reach[:, out.argmax()].argmax()))
    return corners[chosen], len(corners), float(out.max())


class Places:
    """Places of all possible contacts of a model, at positions that were computed before."""

    def __init__(self, model: MjModel, listed: list[Touch]) -> None:
        self.model = model
        self.geom1 = np.array([touch.geom1 for touch in listed], dtype=int)
        self.geom2 = np.array([touch.geom2 for touch in listed], dtype=int)
        flat, round_ = of_type(model, "PLANE")[self.geom1], of_type(model, "ELLIPSOID")[self.geom2]
        self.pairs, self.planes = np.flatnonzero(~flat), np.flatnonzero(flat)
        self.ellipsoids = np.flatnonzero(flat & round_)
        bodies = np.asarray(model.geom_bodyid)
        self.body1, self.body2 = bodies[self.geom1], bodies[self.geom2]
        still = np.asarray(model.body_weldid)[self.body1] == 0
        self.grounded = flat & ~round_ & still  # (n,) bool: points over planes that stand still
        self.offset = np.array([np.zeros(3) if t.offset is None else t.offset for t in listed]).reshape(-1, 3)
        self.radius = np.array([touch.radius for touch in listed])
        self.scale = np.array([touch.scale for touch in listed]).reshape(-1, 2)
        self.skewed = bool(np.any(self.scale != 1.0))  # whether friction differs by direction
        thick, sizes = of_type(model, *_ROUND), np.asarray(model.geom_size)
        long = of_type(model, "CAPSULE")
        self._thickness = np.where(thick, sizes[:, 0], 0.0)  # (ngeom,) m, round a point or a segment
        self._half = np.where(long, sizes[:, 1], 0.0)  # (ngeom,) m, of that segment
        both = thick[self.geom1] & thick[self.geom2]
        sampled = of_type(model, *SAMPLED)
        unknown = sampled[self.geom1] | sampled[self.geom2]  # to MuJoCo's distance function
        self.unknown = self.pairs[unknown[self.pairs]]
        edged = np.array([touch.edge is not None for touch in listed], dtype=bool)
        ended = np.array([touch.offset is not None for touch in listed], dtype=bool) & ~flat
        self.ends, self.edges = np.flatnonzero(ended), np.flatnonzero(edged)
        self._edge = np.array([t.edge for t in listed if t.edge is not None]).reshape(-1, 2, 3)
        self.round = self.pairs[(both & ~unknown)[self.pairs]]
        self.others = self.pairs[~(both | ended | edged)[self.pairs]]
        self._plane, self._over = self.geom1[self.planes], self.geom2[self.planes]
        self._reach = self.offset[self.planes][:, :, None], self.radius[self.planes][:, None]
        self.gap = np.zeros(len(listed))  # m
        self.normal, self.on1, self.on2 = np.zeros((3, len(listed), 3))  # from geom1; points, m
        given = self.round, self.geom1, self.geom2, self._half, self._thickness
        self._round = Round(*given, self.gap, self.normal, self.on1, self.on2)

    def update(self, data: MjData) -> None:
        """Look at the data's positions."""
        if len(self.planes):
            self._against_planes(data)
        if len(self.round):
            self._between_segments(data)
        if len(self.ends):
            self._ends_on_boxes(data)
        if len(self.edges):
            self._sides_on_edges(data)
        if len(self.others):
            self._against_each_other(data)

    def _against_planes(self, data: MjData) -> None:
        at = self.planes
        turn = np.asarray(data.geom_xmat).reshape(-1, 3, 3)
        normal, (offset, radius) = turn[self._plane, :, 2], self._reach
        point = data.geom_xpos[self._over] + (turn[self._over] @ offset)[:, :, 0]
        self.normal[at], self.on2[at] = normal, point - radius * normal
        for k in self.ellipsoids:  # the lowest point
            axes, R = np.asarray(self.model.geom_size[self.geom2[k]]), turn[self.geom2[k]]
            down = axes * (R.T @ self.normal[k])
            self.on2[k] = data.geom_xpos[self.geom2[k]] - R @ (axes * down) / np.linalg.norm(down)
        self.gap[at] = ((self.on2[at] - data.geom_xpos[self._plane]) * normal).sum(axis=1)
        self.on1[at] = self.on2[at] - self.gap[at, None] * normal

    def _between_segments(self, data: MjData) -> None:
        """Spheres and capsules: what is within their radii of a point or a segment."""
        fill_round(data.geom_xpos, data.geom_xmat, self._round)

    def _ends_on_boxes(self, data: MjData) -> None:
        """Spheres on boxes, by the nearest point of the box."""
        at, first = self.ends, self.geom1[self.ends]
        turns, centre, sizes = (np.asarray(x) for x in (data.geom_xmat, data.geom_xpos, self.model.geom_size))
        turn, other = (turns[geoms].reshape(-1, 3, 3) for geoms in (first, self.geom2[at]))
        middle = centre[self.geom2[at]] + (other @ self.offset[at][:, :, None])[:, :, 0]
        own = ((middle - centre[first])[:, None] @ turn)[:, 0]  # in the box
        nearest = np.clip(own, -sizes[first], sizes[first])
        depth = np.abs(own) - sizes[first]
        for k in np.flatnonzero(
            np.all(depth <= 0.0, axis=1)
        ):  # the middle is inside: out by the nearest face
            j = int(depth[k].argmax())
            nearest[k, j] = math.copysign(sizes[first[k], j], own[k, j])
        sign = np.where(np.all(depth <= 0.0, axis=1), -1.0, 1.0)
        point = centre[first] + (turn @ nearest[:, :, None])[:, :, 0]
        self._put(at, point, middle, sign, self.radius[at])

    def _sides_on_edges(self, data: MjData) -> None:
        """Capsules on the edges of boxes, by the nearest points of two segments."""
        at, first, second = self.edges, self.geom1[self.edges], self.geom2[self.edges]
        turns, centre = np.asarray(data.geom_xmat).reshape(-1, 3, 3), np.asarray(data.geom_xpos)
        ends = centre[first][:, None] + self._edge @ turns[first].transpose(0, 2, 1)
        middle, along = 0.5 * (ends[:, 0] + ends[:, 1]), ends[:, 1] - ends[:, 0]
        length = np.linalg.norm(along, axis=1)
        along, axis, half = along / length[:, None], turns[second][:, :, 2], self._half[second]
        apart = middle - centre[second]
        cosine, ahead, behind = (
            (a * b).sum(axis=1) for a, b in ((along, axis), (along, apart), (axis, apart))
        )
        s = (cosine * behind - ahead) / np.maximum(1.0 - cosine * cosine, _PARALLEL)
        t = np.clip(cosine * np.clip(s, -0.5 * length, 0.5 * length) + behind, -half, half)
        s = np.clip(cosine * t - ahead, -0.5 * length, 0.5 * length)
        on_edge, inside = middle + s[:, None] * along, centre[second] + t[:, None] * axis
        self._put(at, on_edge, inside, np.ones(len(at)), self._thickness[second])

    def _put(self, at: np.ndarray, start: Array, end: Array, sign: Array, radius: Array) -> None:
        """Gaps, normals and points from the nearest points (n, 3) m of a box and of a round shape's inside.

        ``sign`` (n,): -1 where the latter is inside the box.
        """
        distance = np.linalg.norm(end - start, axis=1)
        away = distance > 1e-12
        self.gap[at] = sign * distance - radius
        self.normal[at[away]] = ((end - start) * (sign / np.maximum(distance, 1e-300))[:, None])[away]
        self.on1[at] = start
        self.on2[at] = end - radius[:, None] * self.normal[at]

    def _measure(self, at: np.ndarray, start: Array, end: Array, sign: Array, left: float) -> None:
        """Gaps, normals and points from the nearest points (n, 3) m of what is inside of round shapes.

        ``sign`` (n,): -1 where that overlaps; ``left`` m: the radius that it still has.
        """
        first, second = np.maximum(self._thickness[[self.geom1[at], self.geom2[at]]] - left, 0.0)
        distance = np.linalg.norm(end - start, axis=1)
        away = distance > 1e-12
        self.gap[at] = sign * distance - first - second
        self.normal[at[away]] = ((end - start) * (sign / np.maximum(distance, 1e-300))[:, None])[away]
        self.on1[at] = start + first[:, None] * self.normal[at]
        self.on2[at] = end - second[:, None] * self.normal[at]

    def _against_each_other(self, data: MjData) -> None:
        at = self.others
        first, second = self.geom1[at], self.geom2[at]
        apart = data.geom_xpos[second] - data.geom_xpos[first]
        distance = np.linalg.norm(apart, axis=1)
        bounds = np.asarray(self.model.geom_rbound)
        self.normal[at] = apart / np.where(distance > 0.0, distance, 1.0)[:, None]
        self.gap[at] = distance - bounds[first] - bounds[second]
        self.on1[at] = data.geom_xpos[first] + bounds[first, None] * self.normal[at]
        self.on2[at] = data.geom_xpos[second] - bounds[second, None] * self.normal[at]
        self.gap[self.unknown] = _APART  # `Faces` has them
        for k in at[self.gap[at] <= FAR]:
            self._closely(data, int(k))

    def _closely(self, data: MjData, k: int) -> None:
        """Measure shapes that touch: their nearest points tell no normal, those of what is inside them do."""
        ends, sizes = np.zeros(6), np.asarray(self.model.geom_size)
        reach = 2.0 * FAR + 2.0 * float(np.abs(self.model.geom_rbound).max())
        first, second = int(self.geom1[k]), int(self.geom2[k])
        thick = [geom for geom in (first, second) if self._thickness[geom] > 0.0]
        sizes[thick, 0] = _THIN
        distance = engine().mj_geomDistance(self.model, data, first, second, reach, ends)
        sizes[thick, 0] = self._thickness[thick]
        self._measure(np.array([k]), ends[None, :3], ends[None, 3:], np.sign([distance]), _THIN)


class Round(NamedTuple):
    """Contacts between points or segments with thickness, among all others."""

    at: np.ndarray  # (k,) int64 their numbers
    geom1: np.ndarray  # (n,) int64
    geom2: np.ndarray  # (n,) int64
    half: Array  # (ngeom,) m, of a segment
    thickness: Array  # (ngeom,) m
    gap: Array  # (n,) m
    normal: Array  # (n, 3); it stays where shapes meet inside
    on1: Array  # (n, 3) m
    on2: Array  # (n, 3) m


@kernel
def fill_round(place: Array, turn: Array, found: Round) -> None:
    """Gaps, normals and points of contacts where geoms are: place (ngeom, 3) m, turn (ngeom, 9)."""
    at, geom1, geom2, half, thickness, gap, normal, on1, on2 = found
    for k in range(len(at)):
        i = at[k]
        first, second, cosine, ahead, behind = geom1[i], geom2[i], 0.0, 0.0, 0.0
        for a in range(3):
            apart = place[first, a] - place[second, a]
            cosine += turn[first, 3 * a + 2] * turn[second, 3 * a + 2]
            ahead += turn[first, 3 * a + 2] * apart
            behind += turn[second, 3 * a + 2] * apart
        most, other = half[first], half[second]
        s = (cosine * behind - ahead) / max(1.0 - cosine * cosine, _PARALLEL)
        t = min(max(cosine * min(max(s, -most), most) + behind, -other), other)
        s = min(max(cosine * t - ahead, -most), most)  # the same again, unless t is at its end
        square = 0.0
        for a in range(3):
            on1[i, a] = place[first, a] + s * turn[first, 3 * a + 2]
            on2[i, a] = place[second, a] + t * turn[second, 3 * a + 2]
            square += (on2[i, a] - on1[i, a]) ** 2
        distance = math.sqrt(square)
        gap[i] = distance - thickness[first] - thickness[second]
        for a in range(3):
            if distance > 1e-12:
                normal[i, a] = (on2[i, a] - on1[i, a]) / distance
            on1[i, a] += thickness[first] * normal[i, a]
            on2[i, a] -= thickness[second] * normal[i, a]


def tangents(normals: Array) -> Array:
    """Two tangents (n, 2, 3) that turn smoothly with the normals (n, 3): a fixed frame turned onto them."""
    lean = np.maximum(1.0 + normals @ _POLE, 1e-12)
    share = normals @ _ACROSS.T / lean[:, None]  # (n, 2)
    return _ACROSS - share[:, :, None] * (_POLE + normals)[:, None, :]


def tangents_over(normals: Array) -> Array:
    """MuJoCo's own two tangents (n, 2, 3) of normals (n, 3): y across them, or z where they are along y."""
    aside = np.where((np.abs(normals[:, 1]) < 0.5)[:, None], np.eye(3)[1], np.eye(3)[2])
    first = aside - (aside * normals).sum(axis=1)[:, None] * normals
    first /= np.linalg.norm(first, axis=1)[:, None]
    return np.stack([first, cross(normals, first)], axis=1)


def face_pairs(model: MjModel, found: Sequence[Touch]) -> np.ndarray:
    """Which possible contacts are for `Faces`: of two flat shapes, or with a heightfield, (nc,) bool."""
    flat, sampled = of_type(model, *_FLAT), of_type(model, *SAMPLED)
    pairs = [(touch.geom1, touch.geom2) for touch in found]
    return np.array([(flat[a] and flat[b]) or sampled[a] or sampled[b] for a, b in pairs], dtype=bool)


class Faces(OwnData):
    """Contacts of pairs of flat shapes, and of all shapes with heightfields, as MuJoCo finds them.

    Parameters
    ----------
    model : MjModel; it is copied.
    pairs : their possible contacts, one each.
    plane : (3,) the normal of the plane in which everything moves; None in space.
    """

    def __init__(self, model: MjModel, pairs: Sequence[Touch], plane: Array | None) -> None:
        own = copy.copy(model)
        widen(own, _REACH)
        own.opt.disableflags &= ~int(engine().mjtDisableBit.mjDSBL_CONTACT)
        own.opt.disableflags &= ~int(engine().mjtDisableBit.mjDSBL_CONSTRAINT)
        involved = {geom for pair in pairs for geom in (pair.geom1, pair.geom2)}
        others = [geom for geom in range(own.ngeom) if geom not in involved]
        own.geom_contype[others] = own.geom_conaffinity[others] = 0
        self.model, self.plane = own, plane
        self.mu = {frozenset((pair.geom1, pair.geom2)): pair.mu for pair in pairs}
        sampled = of_type(own, *SAMPLED)
        fields = sum(bool(sampled[pair.geom1] or sampled[pair.geom2]) for pair in pairs)
        self.count = _PER_BODY * min(len(pairs) - fields, own.nbody - 1) + _PER_FIELD * fields
        self.data = engine().MjData(own)

    def at(self, q: Array) -> SpringRows:
        """The rows at a configuration; those that nothing needs are far from touching."""
        mujoco, model, data = engine(), self.model, self.data
        data.qpos[:] = q
        for compute in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_collision):
            compute(model, data)
        near = [c for c in near_contacts(data) if frozenset(map(int, c.geom)) in self.mu]
        near = sorted(near, key=lambda c: float(c.dist))[: self.count]
        nt = 2 if self.plane is None else 1
        J = np.zeros((self.count, 1 + nt, model.nv))
        phi, mu = np.full(self.count, _APART), np.zeros(self.count)
        for k, contact in enumerate(near):
            frame = np.array(contact.frame).reshape(3, 3)
            if self.plane is not None:
                frame = np.stack([frame[0], np.cross(self.plane, frame[0])])
            J[k] = frame @ relative_jacobian(model, data, contact.geom, contact.pos)
            phi[k], mu[k] = contact.dist, self.mu[frozenset(map(int, contact.geom))]
        none = np.zeros(self.count)
        return SpringRows("faces", "contacts", J[:, 0], phi, none, none, none, mu, tangents=J[:, 1:])
