"""Pictures of planar mechanisms: bodies, ground, contacts, and the velocities of the contact points."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from routh.models.base import State
from routh.models.planar import HalfPlane, PlanarModel, PlaneContact
from routh.text import for_matplotlib
from routh.validation import Array
from routh.viz import style

CLOSED = 1e-6  # m: contacts with a smaller gap touch
_JOINED = 1e-9  # m: a polyline whose ends are nearer than this is filled
_REST = 1e-6  # share of a speed below which it has no component along a direction


def draw_bodies(
    ax: style.Axes,
    model: PlanarModel,
    q: ArrayLike,
    *,
    ghost: bool = False,
    color: str = style.GREY,
    zorder: float = 2.0,
) -> None:
    """Draw the outlines of all bodies at configuration ``q``; a ghost is only a dashed line in ``color``."""
    rods = {body.name for body in model.bodies if body.outline and len(body.outline[0]) == 2}
    for name, line in model.outlines(q):
        if ghost:
            ax.plot(*line.T, color=color, linewidth=0.7, linestyle=(0, (3, 2)), zorder=zorder - 0.5)
        elif len(line) == 1:
            ax.plot(*line.T, "o", color=style.BODY_EDGE, zorder=zorder + 0.2)
        elif len(line) > 3 and np.linalg.norm(line[0] - line[-1]) < _JOINED:
            ax.fill(*line.T, facecolor=style.BODY, edgecolor=style.BODY_EDGE, linewidth=0.9, zorder=zorder)
        else:
            ax.plot(*line.T, color=style.BODY_EDGE, linewidth=2.2 if name in rods else 0.9, zorder=zorder)
    if not ghost:
        for com in model.centres_of_mass(q):
            ax.plot(*com, "o", markersize=2.2, color=style.BODY_EDGE, zorder=zorder + 0.3)


def frame(
    ax: style.Axes,
    model: PlanarModel,
    configurations: Sequence[ArrayLike],
    *,
    more: Sequence[Array] = (),
    pad: float = 0.16,
) -> None:
    """Equal axes without ticks that hold all bodies at all the configurations, and ``more`` points (k, 2)."""
    points = np.concatenate([*(line for q in configurations for _, line in model.outlines(q)), *more])
    low, high = points.min(axis=0), points.max(axis=0)
    air = pad * float(max(high - low)) or 1.0  # a single point has no size
    ax.set(xlim=(low[0] - air, high[0] + air), ylim=(low[1] - air, high[1] + air), aspect="equal")
    ax.set_axis_off()


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
    tangents = np.stack([normals[:, 1], -normals[:, 0]], axis=1)
    return (Jn @ state.v)[:, None] * normals + (Jt[:, 0] @ state.v)[:, None] * tangents


def draw_contacts(
    ax: style.Axes,
    model: PlanarModel,
    state: State,
    *,
    color: str = style.BEFORE,
    scale: float,
) -> None:
    """Closed contacts as points with their names and velocities; ``scale`` is metres on paper per m/s."""
    normals = model.contact_normals(state.q)
    tangents = np.stack([normals[:, 1], -normals[:, 0]], axis=1)
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
