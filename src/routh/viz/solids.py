"""Pictures of free bodies in space: boxes and spheres over their planes, seen obliquely from the front."""

from __future__ import annotations

import numpy as np

from routh.models.base import State
from routh.models.spatial import SpatialModel
from routh.models.spatial.bodies import GROUND, HalfSpace, PlaneContact
from routh.models.spatial.rotations import tangents
from routh.validation import Array
from routh.viz import style

#: paper coordinates (2,) of a point (3,): x goes right, z up, and y, away from the reader, right and up
_OBLIQUE = np.array([[1.0, 0.45, 0.0], [0.0, 0.25, 1.0]])
_VIEWER = np.array([0.45, -1.0, 0.25])  # where the reader is: what _OBLIQUE does not see


def draw_solids(ax: style.Axes, model: SpatialModel, state: State) -> None:
    """The bodies at a state over the planes that they can touch, in equal axes without ticks."""
    centres, R = model.poses(state.q)[:, :3], model.rotations(state.q)
    reach = max(max(body.size or (2.0 * body.radius,)) for body in model.bodies)
    planes = {c.plane: None for c in model.definitions if isinstance(c, PlaneContact)} or {GROUND: None}
    for plane in planes:
        _draw_plane(ax, plane, centres, reach)
    for i in np.argsort(-centres[:, 1], kind="stable"):  # the nearest one last
        body = model.bodies[i]
        if body.size is not None:
            _draw_box(ax, centres[i], R[i], np.array(body.size))
        else:
            turn = np.linspace(0.0, 2.0 * np.pi, 60)
            rim = (_OBLIQUE @ centres[i])[:, None] + max(body.radius, 0.02 * reach) * np.array(
                [np.cos(turn), np.sin(turn)]
            )
            ax.fill(*rim, facecolor=style.BODY, edgecolor=style.BODY_EDGE, linewidth=0.9, zorder=2.0)
    ax.set_aspect("equal")
    ax.margins(0.05)
    ax.set_axis_off()


def _draw_plane(ax: style.Axes, plane: HalfSpace, centres: Array, reach: float) -> None:
    """A piece of a plane below the bodies."""
    normal, point = np.array(plane.normal), np.array(plane.point)
    feet = centres - ((centres - point) @ normal)[:, None] * normal
    half = 1.1 * reach + 0.5 * float(np.ptp(feet, axis=0).max())
    _, first, second = (rows[0] for rows in tangents(normal[None]))
    corners = feet.mean(axis=0) + half * np.array(
        [first + second, first - second, -first - second, second - first]
    )
    look: style.Look = {"facecolor": style.GROUND, "edgecolor": style.GREY, "linewidth": 0.6, "zorder": 0.5}
    ax.fill(*(_OBLIQUE @ corners.T), **look)


def _draw_box(ax: style.Axes, centre: Array, R: Array, size: Array) -> None:
    """The three faces that can be seen, the upper ones lighter."""
    for axis in range(3):
        for side in (-1.0, 1.0):
            normal = side * R[:, axis]
            if normal @ _VIEWER <= 0.0:
                continue
            a, b = (R[:, k] * size[k] / 2.0 for k in range(3) if k != axis)
            middle = centre + normal * size[axis] / 2.0
            face = np.array([middle + a + b, middle + a - b, middle - a - b, middle - a + b])
            light = {0: "#DCC98C", 1: style.BODY, 2: "#F8F0D2"}[axis]
            look: style.Look = {"facecolor": light, "edgecolor": style.BODY_EDGE, "linewidth": 0.9}
            ax.fill(*(_OBLIQUE @ face.T), **look, zorder=2.0)
