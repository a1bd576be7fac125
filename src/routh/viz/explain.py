"""The explanatory figures of HP23 and HP19: set-valued friction, one impact, no penetration, two feet."""

from __future__ import annotations

import numpy as np

from routh.auditing.comparison import sequences
from routh.base.text import for_matplotlib
from routh.base.validation import Array
from routh.laws import SingleContact
from routh.problem.impact import ImpactProblem
from routh.viz import style
from routh.viz.density import limits
from routh.viz.panels import normal_panel
from routh.viz.velocity import mark_approach


@style.context()
def unit_figure() -> style.Figure:
    """HP23 Fig. 2: the set-valued direction Unit(v), and the inclusion dv/dt in -Unit(v)."""
    fig, axes = style.figure(1, 2, width=style.COLUMN * 1.5, aspect=0.9)
    unit, inclusion = axes
    style.zero_lines(unit)
    unit.plot([-2.0, 0.0, 0.0, 2.0], [-1.0, -1.0, 1.0, 1.0], color=style.BLUE, linewidth=1.8)
    unit.set(xlim=(-2.0, 2.0), ylim=(-1.5, 1.5), yticks=[-1, 0, 1], xlabel="$v$", ylabel="Unit$(v)$")
    thin = {"arrowstyle": "->", "linewidth": 0.7}
    unit.annotate("all of [−1, 1]", (0.0, 0.0), (0.35, -0.45), arrowprops=thin)
    x, y = np.meshgrid(np.linspace(-1.8, 1.8, 12), np.linspace(-1.8, 1.8, 12))
    length = np.hypot(x, y)
    inclusion.quiver(
        x, y, -x / length, -y / length, color="#C9B458", scale=22, width=0.006, pivot="mid", zorder=1
    )
    for start, color in (((1.6, 0.9), style.BLUE), ((-1.1, 1.5), style.VERMILION)):
        inclusion.plot([start[0], 0.0], [start[1], 0.0], color=color, linewidth=1.6, zorder=3)
        inclusion.plot(*start, "o", color=color, zorder=4)
    inclusion.plot(0.0, 0.0, "o", color=style.BLACK, zorder=5)
    inclusion.set(xlabel="$v_1$", ylabel="$v_2$", aspect="equal", xlim=(-2.0, 2.0), ylim=(-2.0, 2.0))
    style.letter(axes)
    return fig


@style.context()
def routh_figure() -> style.Figure:
    """HP23 Fig. 3: the velocity through one planar impact by Routh's method.

    One corner of a block slides when it hits: its velocity through stick to the end, and the edges of the
    friction cone.
    """
    fig, (ax,) = style.figure(1, 1, aspect=0.85)
    mass, Jn, Jt = np.diag([1.0, 1.0, 5.0 / 12.0]), [[0.0, 1.0, -0.5]], [[1.0, 0.0, 1.0]]
    problem = ImpactProblem(mass, Jn, Jt, 0.8, [0.9, -1.0, 0.0], names=["A"])
    result = SingleContact()(problem)
    normal, slip = problem.contact_velocity(result.path.v)[:, 0].T
    G, mu = problem.delassus, float(problem.mu[0])
    edges = [np.array([G[1] @ [1.0, s * mu], G[0] @ [1.0, s * mu]]) for s in (-1.0, 1.0)]
    size = 0.42 * float(np.ptp(normal)) / max(np.linalg.norm(edge) for edge in edges)
    start = np.array([slip[0], normal[0]])
    corners = start + size * np.array(edges)
    ax.set(xlim=limits(slip, corners[:, 0], pad=0.15), ylim=limits(normal, corners[:, 1], pad=0.12))
    style.zero_lines(ax)
    ax.fill(*np.array([start, *corners]).T, color=style.VERMILION, alpha=0.12, linewidth=0, zorder=1)
    for corner in corners:
        style.arrow(ax, start, corner, style.VERMILION, zorder=6.5)
    ax.plot([], [], color=style.VERMILION, label="edges of the friction cone")
    dotted: style.Look = {"color": style.ORANGE, "linewidth": 2.2, "linestyle": (0, (1, 0.8))}
    ax.plot(slip, normal, **dotted, zorder=3, label="velocity")
    ax.plot(slip[:1], normal[:1], "o", markerfacecolor="white", color=style.BEFORE, zorder=7, label="before")
    ax.plot(slip[-1:], normal[-1:], "D", color=style.SET, zorder=7, label="after")
    middle = (normal[0] + normal[1]) / 2
    ax.text((slip[0] + slip[1]) / 2, middle, "slides   ", ha="right", va="top", fontsize=7)
    ax.text(0.0, (normal[1] + normal[-1]) / 2, " sticks", ha="left", va="center", fontsize=7)
    ax.set(xlabel="tangential velocity $J_t v$ (m/s)", ylabel="normal velocity $J_n v$ (m/s)")
    ax.legend(loc="upper right")
    return fig


@style.context()
def barrier_figure() -> style.Figure:
    """HP23 Fig. 6: a ball over the ground, and why the inclusion cannot let it in."""
    fig, axes = style.figure(1, 2, width=style.COLUMN * 1.5, aspect=0.9, width_ratios=[1, 1.8])
    ball, portrait = axes
    turn = np.linspace(0.0, 2.0 * np.pi, 90)
    ball.fill(
        0.45 * np.cos(turn), 1.65 + 0.45 * np.sin(turn), facecolor=style.BODY, edgecolor=style.BODY_EDGE
    )
    ball.axhspan(-0.4, 0.0, color=style.GROUND)
    ball.axhline(0.0, color=style.GREY)
    ball.annotate("", (0.0, 0.0), (0.0, 1.2), arrowprops={"arrowstyle": "<->", "linewidth": 0.8})
    ball.text(0.08, 0.6, r"$z = \phi(z)$", va="center")
    style.arrow(ball, np.array([0.75, 1.75]), np.array([0.75, 1.2]), style.BLACK, zorder=6.5)
    ball.text(0.83, 1.48, "$g$", va="center")
    ball.set(xlim=(-0.8, 1.2), ylim=(-0.4, 2.4), aspect="equal")
    ball.set_axis_off()
    z, rate = np.meshgrid(np.linspace(-0.9, 1.5, 17), np.linspace(-2.0, 2.0, 16))
    frozen = (z < 0.0) & (rate < 0.0)  # impact: time stands still, the velocity rises
    flow_z = np.where(frozen, 0.0, rate)
    flow_rate = np.where(frozen, 1.0, -1.0)
    length = np.hypot(flow_z, flow_rate)
    portrait.axvspan(-1.0, 0.0, color="#F0F0F0", zorder=0)
    colors = np.where(frozen.ravel(), style.VERMILION, style.BLUE)
    portrait.quiver(
        z, rate, flow_z / length, flow_rate / length, color=colors, scale=26, width=0.005, zorder=1
    )
    # one fall: height 1, then the impact at z = 0, then rest
    t = np.linspace(0.0, np.sqrt(2.0), 60)
    portrait.plot(1.0 - t**2 / 2, -t, color="white", linewidth=3.4, zorder=2)
    portrait.plot(1.0 - t**2 / 2, -t, color=style.BLACK, linewidth=1.4, zorder=3)
    portrait.plot([0.0, 0.0], [-t[-1], 0.0], color=style.BLACK, linewidth=1.4, zorder=3)
    portrait.plot(1.0, 0.0, "o", markerfacecolor="white", color=style.BEFORE, zorder=4)
    portrait.plot(0.0, 0.0, "D", color=style.SET, zorder=4)
    style.zero_lines(portrait)
    portrait.set_title("left of zero: penetrating", fontweight="normal")
    portrait.set(xlim=(-1.0, 1.6), ylim=(-2.1, 2.1))
    portrait.set(xlabel="height $z$ (m)", ylabel=r"velocity $\dot z$ (m/s)")
    style.letter(axes)
    return fig


@style.context()
def two_feet_figure(problem: ImpactProblem, after: Array) -> style.Figure:
    """HP19 Fig. 3b: two contacts in normal velocities; ``after`` (n, nv) are sampled velocities after.

    The cone of directions, where the first contact ends, and where the impact ends.
    """
    fig, (ax,) = style.figure(1, 1, aspect=0.95)
    paths = [result.path.v @ problem.Jn.T for result in sequences(problem).values()]
    before = problem.Jn @ problem.v
    ends = after @ problem.Jn.T
    x, y = np.concatenate([before[None], ends, *paths]).T
    ax.set(xlim=limits(x, pad=0.1), ylim=limits(y, pad=0.1))
    mark_approach(ax, normal_panel(0, 1))
    fan = np.array([before, paths[0][1], [0.0, 0.0], paths[1][1]])
    ax.fill(*fan.T, color=style.SKY, alpha=0.3, linewidth=0, zorder=1, label="any relative rates")
    for path, color, order in zip(paths, (style.BLUE, style.PURPLE), sequences(problem), strict=True):
        ax.plot(*path.T, color=color, linestyle=(0, (4, 1.5)), zorder=3, label=f"one at a time: {order}")
    ax.plot([before[0], 0.0], [before[1], 0.0], color=style.SIMULTANEOUS, zorder=3, label="all at once")
    first = np.array([paths[0][1], [0.0, 0.0], paths[1][1]])
    dashed: style.Look = {"color": style.ORANGE, "linestyle": (0, (2, 1)), "linewidth": 2.4}
    ax.plot(*first.T, **dashed, zorder=4, label="first impact ends")
    dots: style.Look = {"color": style.GREEN, "markersize": 3.5, "rasterized": True}
    ax.plot(*ends.T, ".", **dots, zorder=5, label="sampled outcomes")
    ax.plot(*before, "o", markerfacecolor="white", color=style.BEFORE, zorder=6, label="before")
    first_name, second_name = map(for_matplotlib, problem.names)
    ax.set(xlabel=f"{first_name} normal velocity (m/s)", ylabel=f"{second_name} normal velocity (m/s)")
    fig.legend(loc="outside lower center", ncols=2)
    return fig
