"""An impact before anything is sampled, and what it does to the bodies.

`snapshot_figure` shows a mechanism before its impact and after it by each law, `state_figure` any system as
it starts, `draw_before` a problem alone (how each contact moves, where friction can push), and
`futures_figure` where all outcomes together can take the bodies.
"""

from __future__ import annotations

import textwrap

import numpy as np

from routh.auditing.comparison import compare, sequences, simultaneous_solutions
from routh.base.status import InputError
from routh.base.text import for_matplotlib
from routh.base.validation import Array, real
from routh.laws.base import ImpactResult
from routh.models.base import State
from routh.models.planar import PlanarModel, PlaneContact
from routh.models.spatial import SpatialModel
from routh.problem.friction import ContactMode
from routh.problem.impact import ImpactProblem
from routh.sampling import Outcomes
from routh.sampling.answers import contact_modes
from routh.systems import System
from routh.viz import style
from routh.viz.bodies import (
    CLOSED,
    contact_velocities,
    draw_bodies,
    draw_body_velocities,
    draw_contacts,
    draw_planes,
    frame,
    outlines,
)
from routh.viz.density import draw_density
from routh.viz.law_answers import agree, first_pushing, labelled_answers
from routh.viz.panels import Axis, has_tangent, short_name

TRAVEL = 0.08  # how far bodies are shown to have moved after the impact, as a share of their size
MANY_CONTACTS = 10  # more than this: velocities of the bodies are shown instead
MANY_NAMES = 3  # more than this: what each contact does is not put in words
NEAR = 12.0  # times its size: a plane that is farther from a system is not drawn
REST = 1e-6  # of the speed before: slower counts as at rest
MOST_CONTACTS = 6  # of a problem alone, those that approach fastest; more would not be told apart
_ARM = 0.42  # of the distance between two of them: the longest arrow, and the sides of a cone
_LONGEST_NAME = 12
CONE, COMES, GOES = "friction cone", "approaches", "does not"
BINS = 900  # of densities of places, finer than elsewhere: the figure is one large panel
REACH = 0.5  # the fastest centre is shown to have moved by this share of the system's size


@style.context()
def snapshot_figure(system: System) -> style.Figure:
    """A planar system before its impact and after it by each law: the free-body diagrams of HP23."""
    model, state = planar(system)
    problem = model.problem(state) if system.problem is None else system.problem
    results = outcomes_to_show(problem)
    count = 1 + len(results)
    across = min(4, count)
    rows = -(-count // across)
    fig, axes = style.figure(rows, across, width=style.TWO_COLUMNS)
    extent = _extent(model, state)
    moved = {name: _moved(model, state, result, extent) for name, result in results.items()}
    everything = [state.q, *(later.q for later in moved.values())]
    scale, longer = _arrow_scales(problem, results, extent)
    motions = [(state.v, scale), *((later.v, scale * longer) for later in moved.values())]
    tips = [_tips(model, State(state.q, v), size) for v, size in motions]
    for ax in axes[:count]:
        frame(ax, model, everything, more=tips, pad=0.1)
        draw_planes(ax, model)
    draw_bodies(axes[0], model, state.q)
    draw_motion(axes[0], model, state, scale=scale)
    axes[0].set_title("before")
    for ax, (name, later) in zip(axes[1:], moved.items(), strict=False):
        if not np.array_equal(state.q, later.q):
            draw_bodies(ax, model, state.q, ghost=True)
        draw_bodies(ax, model, later.q)
        draw_motion(ax, model, State(state.q, later.v), color=style.BLUE, scale=scale * longer)
        ax.set_title(for_matplotlib(name))
        if problem.nc <= MANY_NAMES:
            modes = contact_modes(problem, results[name].v)
            pairs = zip(map(for_matplotlib, problem.names), map(ContactMode, modes), strict=True)
            deeds = " · ".join(f"{contact} {mode.word}" for contact, mode in pairs)
            ax.text(0.5, -0.02, deeds, transform=ax.transAxes, ha="center", va="top", fontsize=7)
    for ax in axes[count:]:
        ax.set_visible(False)
    style.letter(axes[:count])
    if longer > 1.0:
        fig.supxlabel(f"velocities after the impact (blue) are drawn {longer:g} times longer", fontsize=7)
    width, height = np.ptp(axes[0].get_xlim()), np.ptp(axes[0].get_ylim())
    panel = style.TWO_COLUMNS / across
    fig.set_size_inches(style.TWO_COLUMNS, rows * (panel * height / width + 0.4))
    return fig


@style.context()
def state_figure(system: System) -> style.Figure:
    """A system in its first state, with a sentence about it."""
    fig, (ax,) = style.figure(1, 1)
    if isinstance(system.model, SpatialModel) and system.state is not None:
        frame(ax, system.model, [system.state.q], pad=0.05)
        draw_bodies(ax, system.model, system.state.q)
    else:
        _draw_first(ax, system)
    ax.set_title(for_matplotlib(system.name))
    words = textwrap.fill(for_matplotlib(system.summary), 52)
    ax.text(0.5, -0.04, words, transform=ax.transAxes, ha="center", va="top", fontsize=7)
    return fig


def _draw_first(ax: style.Axes, system: System) -> None:
    """A planar system over whatever it can touch, its constraints as dashed lines from the fixed point."""
    model, state = planar(system)
    points = model.contact_points(state.q).reshape(-1, 2)
    touched = [isinstance(contact, PlaneContact) for contact in model.definitions]
    feet = (points - model.gaps(state.q)[:, None] * model.contact_normals(state.q))[touched]
    near = np.linalg.norm(feet - points[touched], axis=1) < NEAR * max(_extent(model, state), 1e-9)
    held = [str(constraint.name) for constraint in getattr(system, "constraints", ())]
    Jn, Jt = model.jacobians(state.q)
    speed = float(np.abs(np.concatenate([Jn, Jt[:, 0]]) @ state.v).max(initial=0.0))
    scale = 0.22 * _extent(model, state) / speed if speed > 0.0 else 1.0
    fixed = np.zeros((int(bool(held)), 2))
    frame(ax, model, [state.q], more=[feet[near], fixed, _tips(model, state, scale)])
    draw_planes(ax, model)
    draw_bodies(ax, model, state.q)
    for centre in model.centres_of_mass(state.q) if held else ():
        ax.plot(*np.stack([np.zeros(2), centre]).T, color=style.BLUE, linestyle=(0, (3, 2)), zorder=1.5)
        ax.plot(0.0, 0.0, "^", color=style.BLUE, markersize=6, zorder=3)
        ax.annotate(", ".join(held), centre / 2, (0, 4), textcoords="offset points", ha="center", fontsize=7)
    draw_contacts(ax, model, state, scale=scale)


def _arrow_scales(
    problem: ImpactProblem, results: dict[str, ImpactResult], extent: float
) -> tuple[float, float]:
    """Metres on paper per m/s before, and how many times longer the arrows after are drawn."""
    before = float(np.abs(problem.contact_velocity()).max())
    after = max(float(np.abs(result.contact_velocity).max()) for result in results.values())
    scale = 0.22 * extent / before if before > 0.0 else 1.0
    times = int(0.8 * before / after) if after > REST * before else 1
    return scale, float(np.clip(times, 1, 20))


def draw_motion(
    ax: style.Axes, model: PlanarModel, state: State, *, color: str = style.BEFORE, scale: float
) -> None:
    """Velocities of the contact points, or of the bodies where there are too many contacts to show."""
    few = np.count_nonzero(model.gaps(state.q) <= CLOSED) <= MANY_CONTACTS
    draw = draw_contacts if few else draw_body_velocities
    draw(ax, model, state, color=color, scale=scale)


def outcomes_to_show(problem: ImpactProblem) -> dict[str, ImpactResult]:
    """All simultaneous solutions and both sequences, those with equal velocities only once."""
    solutions, _ = simultaneous_solutions(problem)
    found: dict[str, ImpactResult] = {}
    for i, result in enumerate(solutions):
        found["all at once" + (f" ({i + 1} of {len(solutions)})" if len(solutions) > 1 else "")] = result
    for order, result in zip((1, -1), sequences(problem).values(), strict=False):
        if not any(agree(problem, other.v, result.v) for other in found.values()):
            found[f"{problem.names[first_pushing(problem, order)]} first"] = result
    return found


def _tips(model: PlanarModel, state: State, scale: float) -> Array:
    """Tips of the arrows of the closed contacts, (k, 2) m."""
    closed = model.gaps(state.q) <= CLOSED
    if np.count_nonzero(closed) > MANY_CONTACTS:
        return np.empty((0, 2))
    return (model.contact_points(state.q) + scale * contact_velocities(model, state))[closed]


def planar(system: System) -> tuple[PlanarModel, State]:
    """The model and state of a planar system, or an error that says what is missing."""
    if not isinstance(system.model, PlanarModel) or system.state is None:
        raise InputError(
            system.name, wrong="has no planar model", wanted="a system that can be drawn in the plane"
        )
    return system.model, system.state


def _extent(model: PlanarModel, state: State) -> float:
    """The longer side of what the bodies fill, m."""
    return float(np.ptp(np.concatenate(outlines(model, state.q)), axis=0).max())


def _moved(model: PlanarModel, state: State, result: ImpactResult, extent: float) -> State:
    """State once the fastest point has travelled; the velocity stays that after the impact."""
    fastest = _outline_speed(model, state.q, result.v)
    before = _outline_speed(model, state.q, state.v)
    if not fastest > REST * before:
        return State(state.q, np.zeros_like(result.v))
    return State(model.integrate(state.q, result.v, TRAVEL * extent / fastest), result.v)


def _outline_speed(model: PlanarModel, q: Array, v: Array) -> float:
    """Largest speed of an outline's point, m/s, by a small move."""
    dt = 1e-6
    pairs = zip(model.outlines(q), model.outlines(q + dt * v), strict=True)
    return max(float(np.linalg.norm(b - a, axis=1).max()) for (_, a), (_, b) in pairs) / dt


def draw_before(problem: ImpactProblem, ax: style.Axes) -> None:
    """Contacts side by side, each with its friction cone and its velocity before the impact.

    Arrows show the tangential (in space: the speed of slip, to the right) and the normal velocity, all to one
    scale; those of joints' limits have their own, as their unit is another. Angles are true.
    """
    from matplotlib.patches import Polygon

    closing = -(problem.Jn @ problem.v) / problem.scaling.velocity
    shown = sorted(np.argsort(-closing, kind="stable")[:MOST_CONTACTS].tolist())
    arrows = _arrows(problem, shown)
    for place, (k, arrow) in enumerate(zip(shown, arrows, strict=True)):
        mu = float(problem.mu[k]) if has_tangent(problem, k) else 0.0
        side = _ARM * np.array([mu, 1.0]) / np.hypot(mu, 1.0)
        tip = np.array([place, 0.0])
        cone = np.array([tip, tip + side, tip + side * (-1.0, 1.0)])
        look: style.Look = {"facecolor": style.BODY, "edgecolor": style.BODY_EDGE, "linewidth": 0.7}
        ax.add_patch(Polygon(cone, **look, label=None if place else CONE))
        comes = bool(problem.approaching[k])
        _draw_arrow(ax, place, arrow, style.SIMULTANEOUS if comes else style.GREY)
    for colour, label, some in ((style.SIMULTANEOUS, COMES, True), (style.GREY, GOES, False)):
        if np.any(problem.approaching[shown] == some):
            ax.plot([], [], color=colour, label=label)
    ax.axhline(0.0, color=style.GREY, linewidth=0.8, zorder=0.5)
    _label(ax, problem, shown)


def _arrows(problem: ImpactProblem, shown: list[int]) -> Array:
    """Tangential and normal velocities (k, 2) as lengths in the picture."""
    found = np.zeros((len(shown), 2))
    for row, k in zip(found, shown, strict=True):
        row[0] = Axis(k, "t").values(problem, problem.v) if has_tangent(problem, k) else 0.0
        row[1] = Axis(k).values(problem, problem.v)
    units = np.array([Axis(k).unit(problem) for k in shown])
    for unit in np.unique(units):
        longest = np.linalg.norm(found[units == unit], axis=1).max()
        found[units == unit] *= _ARM / longest if longest > 0.0 else 0.0
    return found


def _draw_arrow(ax: style.Axes, place: int, arrow: Array, colour: str) -> None:
    """A velocity whose arrow ends at the contact where it comes towards it, and begins there elsewhere."""
    tip = np.array([place, 0.0])
    if not np.any(arrow):
        ax.plot(*tip, "o", color=colour)
        return
    end = tip + np.where(arrow[1] > 0.0, arrow, 0.0)
    style.arrow(ax, end - arrow, end, colour, linewidth=1.4)


def _label(ax: style.Axes, problem: ImpactProblem, shown: list[int]) -> None:
    names = []
    for k in shown:
        name = short_name(problem, k)
        name = name if len(name) <= _LONGEST_NAME else f"…{name[1 - _LONGEST_NAME :]}"
        speed = f"{Axis(k).values(problem, problem.v):.3g}"
        names.append(f"{name}\n{style.signed(speed)} {Axis(k).unit(problem)}")
    ax.set_xticks(range(len(shown)), names)
    ax.set(yticks=[], xlim=(-0.6, len(shown) - 0.4), ylim=(-0.08, 0.5), aspect="equal")
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    of = f"{len(shown)} of {problem.nc} contacts" if len(shown) < problem.nc else "contact"
    ax.set_xlabel(f"{of}, with the normal velocity before")


@style.context()
def futures_figure(system: System, outcomes: Outcomes, *, after: float | None = None) -> style.Figure:
    """The bodies at the impact, and where their centres of mass are ``after`` seconds, over all samples."""
    model, state = planar(system)
    centres, maps = model.centres_of_mass(state.q), model.centre_jacobians(state.q)
    v = outcomes.v[outcomes.solved]
    size = _extent(model, state)
    rates = np.einsum("kcj,nj->nkc", maps, v)  # (n, bodies, 2) m/s
    fastest = float(np.linalg.norm(rates, axis=2).max())
    dt = REACH * size / fastest if after is None else real("after", after, above=0.0)
    later = centres + dt * rates
    points = later.reshape(-1, 2)
    fig, (ax,) = style.figure(1, 1, width=style.TWO_COLUMNS)
    frame(ax, model, [state.q], more=[points], pad=0.04)
    width, height = np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim())
    fig.set_size_inches(style.TWO_COLUMNS, style.TWO_COLUMNS * height / width + 0.35)
    fig.draw_without_rendering()
    draw_planes(ax, model)
    draw_bodies(ax, model, state.q, zorder=1.0)
    before = float(np.linalg.norm(maps @ state.v, axis=1).max())
    if before > 0.0:
        draw_body_velocities(ax, model, state, scale=0.2 * size / before)
    for start, end in zip(centres, later.mean(axis=0), strict=True):
        ax.plot(*np.stack([start, end]).T, color=style.GREY, linewidth=0.5, zorder=1.8)
    time = f"{1e3 * dt:.3g} ms" if dt < 1.0 else f"{dt:.3g} s"
    label = f"where the centres may be {time} later"
    draw_density(ax, *points.T, label=label, bins=BINS)
    for answer, label, looks in labelled_answers(compare(outcomes, ways=False, enumerated=4)):
        places = centres + dt * maps @ answer.v
        ax.plot(*places.T, **{**looks, "markersize": 3.5, "markeredgewidth": 0.5}, zorder=6, label=label)
    ax.set_aspect("equal")
    style.legend_below(fig, [ax], columns=2)
    return fig
