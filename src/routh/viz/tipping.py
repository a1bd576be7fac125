"""Pictures of tipping: the worst outcome turning over its edge, seen along it, and the map of safe speeds."""

from __future__ import annotations

import numpy as np

from routh.base.text import for_matplotlib
from routh.base.validation import Array
from routh.compiling.foreign import Foreign
from routh.robust.region import SafeRegion
from routh.robust.support import Edge, hull_of
from routh.robust.touchdowns import Tipping
from routh.viz import style

_RIM = np.linspace(0.0, 2.0 * np.pi, 25)[:-1]
_LINE = 36  # letters that a title has room for
_MOST_VERTICES = 400  # of a mesh: its hull needs no more


def draw_turning(tip: Tipping, ax: style.Axes) -> None:
    """The body as it touches and as the worst outcome turns it about its edge, seen along the edge.

    Where that turns it over it is drawn beyond its balance, else as far as it comes.
    """
    edge = next(e for e in tip.support.edges if e.contacts == tip.edge)
    shapes = [_seen(edge, points) for points in _solids(tip)]
    centre = _seen(edge, tip.touchdown.load.com[None])[0]
    balance = float(np.arctan2(-centre[0], centre[1]))  # rad from the touch to the centre above the edge
    turns = _turns(tip.ratio, balance)
    for k, angle in enumerate(turns):
        alpha = 1.0 if k == 0 else 0.6 if k == len(turns) - 1 else 0.35
        for shape in shapes:
            outline = _turned(shape, angle)[hull_of(shape)]
            look: style.Look = {"facecolor": style.BODY, "edgecolor": style.BODY_EDGE, "linewidth": 0.7}
            ax.fill(*outline.T, **look, alpha=alpha, zorder=2.0 - 0.1 * k)
    arc = np.array([_turned(centre[None], a)[0] for a in np.linspace(0.0, turns[-1], 40)])
    colour = style.VERMILION if tip.can_tip else style.GREEN
    ax.plot(*arc.T, color=colour, linewidth=1.2, zorder=3.0)
    ax.plot(*arc[0], "o", color=style.BLACK, markersize=3.5, zorder=3.1)
    ax.annotate("", arc[-1], arc[-3], arrowprops={"arrowstyle": "->", "color": colour, "lw": 1.2}, zorder=3.1)
    ax.axvline(0.0, color=style.GREY, linewidth=0.7, linestyle=":", zorder=0.6)
    size = float(np.ptp(np.vstack(shapes)[:, 0]))
    ax.axhspan(-0.06 * size, 0.0, color=style.GROUND, zorder=0.5)
    ax.plot(0.0, 0.0, "^", color=style.BLACK, markersize=4, zorder=3.2)
    verdict = "turns over" if tip.can_tip else "stays"
    between = " - " if sum(map(len, tip.edge)) <= _LINE else "\n- "  # another title stands beside this one
    over = between.join(for_matplotlib(name) for name in tip.edge)
    rate = f"{tip.ratio:.2f} of the critical rate" if tip.support.stands else "it cannot stand there"
    ax.set_title(f"{verdict}: {rate}\nover {over}")
    ax.set_aspect("equal")
    ax.margins(0.06)
    ax.set(xlabel="across the edge (m)", ylabel="height (m)")


def _turns(ratio: float, balance: float) -> list[float]:
    """Angles at which the body is drawn, rad."""
    if not ratio <= 1.0:
        return [0.0, 0.6 * balance, 1.2 * balance, 2.2 * balance]
    rise = min(max(ratio, 0.0), 1.0) ** 2 * (1.0 - np.cos(balance))  # energy over the barrier
    return [0.0, balance - float(np.arccos(min(np.cos(balance) + rise, 1.0)))]


def _seen(edge: Edge, points: Array) -> Array:
    """Points (k, 3) as (k, 2): outwards from the edge, and up."""
    up = np.cross(edge.outward, edge.direction)
    apart = points - edge.point
    return np.column_stack([apart @ edge.outward, apart @ up])


def _turned(points: Array, angle: float) -> Array:
    """Points (k, 2) turned about the edge, outwards."""
    c, s = np.cos(angle), np.sin(angle)
    return np.asarray(points @ np.array([[c, -s], [s, c]]))


def _solids(tip: Tipping) -> list[Array]:
    """Points of the body's shapes, (k, 3) each; without shapes, its feet and its centre of mass."""
    model: Foreign = tip.model
    frame = [np.vstack([tip.touchdown.points[tip.support.carrying], tip.touchdown.load.com])]
    if type(model).__module__.partition(".")[0] != "mujoco":
        return frame
    from routh.models.mujoco.engine import engine
    from routh.models.mujoco.landings import free_root

    mujoco = engine()
    data = mujoco.MjData(model)
    data.qpos[:] = tip.qpos
    mujoco.mj_kinematics(model, data)
    found = []
    root = free_root(model, data, tip.touchdown.body or None)
    for geom in np.flatnonzero(root.geoms):
        local = _local_points(model, int(geom))
        if local is not None:
            turn = data.geom_xmat[geom].reshape(3, 3)
            found.append(local @ turn.T + data.geom_xpos[geom])
    spheres = int(mujoco.mjtGeom.mjGEOM_SPHERE)
    only_feet = all(int(kind) == spheres for kind in model.geom_type[root.geoms])
    return [*found, *frame] if only_feet or not found else found


def _local_points(model: Foreign, geom: int) -> Array | None:
    """Points whose hull is a geom's shape, (k, 3) in its own frame; None for what has none."""
    from routh.models.mujoco.engine import engine

    kinds, kind, size = engine().mjtGeom, int(model.geom_type[geom]), np.array(model.geom_size[geom])
    ball = np.vstack([np.column_stack([np.cos(_RIM), np.sin(_RIM), 0 * _RIM])[:, order] for order in
                      ([0, 1, 2], [0, 2, 1], [2, 0, 1])])  # fmt: skip
    if kind == int(kinds.mjGEOM_MESH):
        mesh = model.mesh(int(model.geom_dataid[geom]))
        first, count = int(mesh.vertadr[0]), int(mesh.vertnum[0])
        return np.array(model.mesh_vert[first : first + count][:: max(1, count // _MOST_VERTICES)])
    if kind == int(kinds.mjGEOM_BOX):
        return np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * size
    if kind == int(kinds.mjGEOM_SPHERE):
        return ball * size[0]
    if kind == int(kinds.mjGEOM_ELLIPSOID):
        return ball * size
    if kind in (int(kinds.mjGEOM_CAPSULE), int(kinds.mjGEOM_CYLINDER)):
        flat = kind == int(kinds.mjGEOM_CYLINDER)
        rim = (ball[: len(_RIM)] if flat else ball) * size[0]
        ends = np.array([[0.0, 0.0, size[1]], [0.0, 0.0, -size[1]]])
        return np.vstack([rim + end for end in ends])
    return None


def draw_region(
    region: SafeRegion, ax: style.Axes, *, down: float | None = None, sideways: float | None = None
) -> None:
    """Safe and unsafe touch-down speeds; a cross at ``down`` and ``sideways``, where they are given."""
    limit = region.limit
    bounded = limit[limit < region.fastest]
    largest = 1.3 * float(bounded.max(initial=0.0)) or region.fastest
    if down is not None and sideways is not None:
        largest = max(largest, 1.15 * float(np.hypot(down, sideways)))
    top = min(largest, region.fastest)
    total = np.linspace(0.0, top, 121)
    ratios = region.ratios(total)  # (k, m)
    across = np.outer(np.sin(region.angle), total)
    falling = np.outer(np.cos(region.angle), total)
    shown = np.ma.masked_invalid(np.clip(ratios, 0.0, 2.0))
    image = ax.pcolormesh(across, falling, shown, cmap="RdYlBu_r", vmin=0.0, vmax=2.0, shading="gouraud")
    inside = np.where(limit < region.fastest, limit, np.nan)  # where none tips nothing is known of a limit
    ax.plot(inside * np.sin(region.angle), inside * np.cos(region.angle), color=style.BLACK, linewidth=1.4)
    if down is not None and sideways is not None:
        ax.plot(sideways, down, "X", color=style.BLACK, markersize=7, markeredgecolor="white", zorder=4)
    ax.set(xlabel="sideways speed (m/s)", ylabel="speed down (m/s)", xlim=(0.0, None), ylim=(0.0, None))
    ax.set_title(f"no outcome that was drawn tips{' below the line' if len(bounded) else ''}")
    style.colour_bar(ax, image, "worst rate over the critical one")


@style.context()
def tipping_figure(tip: Tipping, region: SafeRegion | None = None) -> style.Figure:
    """The side view, and beside it the map of safe speeds."""
    fig, axes = style.figure(1, 1 if region is None else 2, width=style.TWO_COLUMNS, aspect=0.95)
    draw_turning(tip, axes[0])
    if region is not None:
        down = tip.touchdown
        twist = down.root.to_world @ down.v
        velocity = twist[:3] + np.cross(twist[3:], down.load.com - down.root.place)  # of the centre of mass
        along = down.load.gravity / np.linalg.norm(down.load.gravity)
        falling = float(velocity @ along)
        sideways = float(np.linalg.norm(velocity - falling * along))
        draw_region(region, axes[1], down=falling, sideways=sideways)
    return fig
