"""Pictures of bodies over the planes that they can touch, in equal axes without ticks.

`frame` gives axes their limits, `draw_bodies` draws a configuration; both take planar mechanisms, and free
bodies in space, which are seen obliquely from the front. The velocities of a planar state are drawn at its
contacts (`draw_contacts`) or, where these are too many, at its bodies (`draw_body_velocities`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from routh.base.text import for_matplotlib
from routh.base.validation import Array
from routh.models.base import State
from routh.models.planar import HalfPlane, PlanarModel, PlaneContact
from routh.models.rotations import tangents
from routh.models.spatial import SpatialModel
from routh.models.spatial.bodies import GROUND, HalfSpace
from routh.models.spatial.bodies import PlaneContact as SpatialContact
from routh.viz import style

CLOSED = 1e-6  # m: contacts with a smaller gap touch
_JOINED = 1e-9  # m: a polyline whose ends are nearer than this is filled
_REST = 1e-6  # share of a speed below which it has no component along a direction
_FILLED: style.Look = {"facecolor": style.BODY, "edgecolor": style.BODY_EDGE, "linewidth": 0.9}
#: paper coordinates (2,) of a point (3,): x goes right, z up, and y, away from the reader, right and up
_OBLIQUE = np.array([[1.0, 0.45, 0.0], [0.0, 0.25, 1.0]])
_VIEWER = np.array([0.45, -1.0, 0.25])  # where the reader is: what _OBLIQUE does not see

Drawn = PlanarModel | SpatialModel  # models whose bodies have shapes


def draw_bodies(
    ax: style.Axes,
    model: Drawn,
    q: ArrayLike,
    *,
    ghost: bool = False,
    color: str = style.GREY,
    zorder: float = 2.0,
) -> None:
    """The bodies at a configuration; a ghost is only dashed lines in ``color``."""
    if ghost:
        for line in outlines(model, q):
            ax.plot(*line.T, color=color, linewidth=0.7, linestyle=(0, (3, 2)), zorder=zorder - 0.5)
    elif isinstance(model, SpatialModel):
        _draw_solids(ax, model, q, zorder)
    else:
        _draw_planar(ax, model, q, zorder)


def _draw_planar(ax: style.Axes, model: PlanarModel, q: ArrayLike, zorder: float) -> None:
    rods = {body.name for body in model.bodies if body.outline and len(body.outline[0]) == 2}
    for name, line in model.outlines(q):
        if len(line) == 1:
            ax.plot(*line.T, "o", color=style.BODY_EDGE, zorder=zorder + 0.2)
        elif len(line) > 3 and np.linalg.norm(line[0] - line[-1]) < _JOINED:
            ax.fill(*line.T, **_FILLED, zorder=zorder)
        else:
            ax.plot(*line.T, color=style.BODY_EDGE, linewidth=2.2 if name in rods else 0.9, zorder=zorder)
    for com in model.centres_of_mass(q):
        ax.plot(*com, "o", markersize=2.2, color=style.BODY_EDGE, zorder=zorder + 0.3)


def _draw_solids(ax: style.Axes, model: SpatialModel, q: ArrayLike, zorder: float) -> None:
    """Boxes and spheres; of a box the upper faces are lighter."""
    centres, R = model.poses(q)[:, :3], model.rotations(q)
    for i in np.argsort(-centres[:, 1], kind="stable"):  # the nearest one last
        size = model.bodies[i].size
        if size is None:
            ax.fill(*_rim(model, i, centres[i]).T, **_FILLED, zorder=zorder)
            continue
        for axis, face in _faces(centres[i], R[i], np.array(size)):
            light = {0: "#DCC98C", 1: style.BODY, 2: "#F8F0D2"}[axis]
            ax.fill(*(_OBLIQUE @ face.T), **{**_FILLED, "facecolor": light}, zorder=zorder)


def outlines(model: Drawn, q: ArrayLike) -> list[Array]:
    """What is seen of the bodies' edges at a configuration, as lines on paper, each (k, 2) m."""
    if isinstance(model, PlanarModel):
        return [line for _, line in model.outlines(q)]
    centres, R = model.poses(q)[:, :3], model.rotations(q)
    lines: list[Array] = []
    for i, body in enumerate(model.bodies):
        if body.size is None:
            lines.append(_rim(model, i, centres[i]))
        else:
            faces = _faces(centres[i], R[i], np.array(body.size))
            lines += [np.concatenate([face, face[:1]]) @ _OBLIQUE.T for _, face in faces]
    return lines


def frame(
    ax: style.Axes,
    model: Drawn,
    configurations: Sequence[ArrayLike],
    *,
    more: Sequence[Array] = (),
    pad: float = 0.16,
) -> None:
    """Axes that hold all bodies at all the configurations, and ``more`` points (k, 2).

    In space they also hold, and get, pieces of the planes that the bodies can touch.
    """
    points = [*(line for q in configurations for line in outlines(model, q)), *more]
    if isinstance(model, SpatialModel):
        centres = np.concatenate([model.poses(q)[:, :3] for q in configurations])
        touched = [c.plane for c in model.definitions if isinstance(c, SpatialContact)]
        for plane in dict.fromkeys(touched or [GROUND]):
            points.append(_piece(plane, centres, _reach(model)))
            look: style.Look = {"facecolor": style.GROUND, "edgecolor": style.GREY, "linewidth": 0.6}
            ax.fill(*points[-1].T, **look, zorder=0.5)
    every = np.concatenate(points)
    low, high = every.min(axis=0), every.max(axis=0)
    air = pad * float(max(high - low)) or 1.0  # a single point has no size
    ax.set(xlim=(low[0] - air, high[0] + air), ylim=(low[1] - air, high[1] + air), aspect="equal")
    ax.set_axis_off()


def _reach(model: SpatialModel) -> float:
    return max(max(body.size or (2.0 * body.radius,)) for body in model.bodies)


def _rim(model: SpatialModel, i: int, centre: Array) -> Array:
    """The circle that is seen of a sphere, on paper, (60, 2)."""
    turn = np.linspace(0.0, 2.0 * np.pi, 60)
    radius = max(model.bodies[i].radius, 0.02 * _reach(model))
    return np.asarray(_OBLIQUE @ centre + radius * np.stack([np.cos(turn), np.sin(turn)], axis=1))


def _piece(plane: HalfSpace, centres: Array, reach: float) -> Array:
    """The corners of a piece of a plane below the bodies, on paper, (4, 2)."""
    normal, point = np.array(plane.normal), np.array(plane.point)
    feet = centres - ((centres - point) @ normal)[:, None] * normal
    half = 1.1 * reach + 0.5 * float(np.ptp(feet, axis=0).max())
    _, first, second = (rows[0] for rows in tangents(normal[None]))
    middle = 0.5 * (feet.min(axis=0) + feet.max(axis=0))
    corners = middle + half * np.array([first + second, first - second, -first - second, second - first])
    return np.asarray(corners @ _OBLIQUE.T)


def _faces(centre: Array, R: Array, size: Array) -> Iterator[tuple[int, Array]]:
    """The three faces of a box that can be seen: across which axis each lies, and its corners (4, 3)."""
    for axis in range(3):
        for side in (-1.0, 1.0):
            normal = side * R[:, axis]
            if normal @ _VIEWER > 0.0:
                a, b = (R[:, k] * size[k] / 2.0 for k in range(3) if k != axis)
                middle = centre + normal * size[axis] / 2.0
                yield axis, np.array([middle + a + b, middle + a - b, middle - a - b, middle - a + b])


def planes_of(model: PlanarModel) -> list[HalfPlane]:
    """The half-planes that contacts refer to, each once."""
    return list(dict.fromkeys(c.plane for c in model.definitions if isinstance(c, PlaneContact)))


def draw_planes(ax: style.Axes, model: PlanarModel) -> None:
    """Shade the half-planes that contacts refer to, over the present limits."""
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    reach = 4.0 * np.hypot(right - left, top - bottom)
    for plane in planes_of(model):
        n = np.array(plane.normal)
        t = np.array([n[1], -n[0]])
        foot = np.array(plane.point)
        corners = [foot - reach * t, foot + reach * t, foot + reach * (t - n), foot - reach * (t + n)]
        ax.fill(*np.array(corners).T, facecolor=style.GROUND, edgecolor="none", zorder=0.5)
        ax.plot(*np.array(corners[:2]).T, color=style.GREY, linewidth=0.9, zorder=0.6)
    ax.set(xlim=(left, right), ylim=(bottom, top))


def contact_velocities(model: PlanarModel, state: State) -> Array:
    """Velocities of all contact points in world coordinates, (nc, 2) m/s."""
    Jn, Jt = model.jacobians(state.q)
    normals = model.contact_normals(state.q)
    tangents = normals[:, ::-1] * (1.0, -1.0)
    return (Jn @ state.v)[:, None] * normals + (Jt[:, 0] @ state.v)[:, None] * tangents


def draw_contacts(
    ax: style.Axes, model: PlanarModel, state: State, *, color: str = style.BEFORE, scale: float
) -> None:
    """Closed contacts as points with their names and velocities; ``scale`` is metres on paper per m/s."""
    normals = model.contact_normals(state.q)
    tangents = normals[:, ::-1] * (1.0, -1.0)
    points, velocities = model.contact_points(state.q), contact_velocities(model, state)
    size = np.ptp(np.array([ax.get_xlim(), ax.get_ylim()]), axis=1).max()
    for i in np.flatnonzero(model.gaps(state.q) <= CLOSED):
        ax.plot(*points[i], "o", markersize=3.0, color=color, zorder=6)
        if np.linalg.norm(velocities[i]) * scale > 0.012 * size:
            style.arrow(ax, points[i], points[i] + scale * velocities[i], color, zorder=6.5)
        side = np.sign(tangents[i] @ velocities[i]) or 1.0  # away from the arrow
        rest = _REST * float(np.linalg.norm(velocities[i]))  # rounding is no arrow into the ground
        under = normals[i] @ velocities[i] < -rest and abs(tangents[i] @ velocities[i]) > rest
        beside = points[i] - size * (0.055 * normals[i] + (side if under else 1.0) * 0.045 * tangents[i])
        name = for_matplotlib(model.contacts[i].name)
        outward = "left" if beside[0] > points[i, 0] else "right"
        words: style.Look = {"ha": "center" if len(name) == 1 else outward, "va": "center", "fontsize": 7}
        ax.text(float(beside[0]), float(beside[1]), name, **words, zorder=7)


def draw_body_velocities(
    ax: style.Axes, model: PlanarModel, state: State, *, color: str = style.BEFORE, scale: float
) -> None:
    """Arrows from the centres of mass: for systems with too many contacts to show each."""
    start, velocity = model.centres_of_mass(state.q), model.centre_jacobians(state.q) @ state.v
    size = np.ptp(np.array([ax.get_xlim(), ax.get_ylim()]), axis=1).max()
    for point, v in zip(start, velocity, strict=True):
        if np.linalg.norm(v) * scale > 0.012 * size:
            style.arrow(ax, point, point + scale * v, color, zorder=6.5)
