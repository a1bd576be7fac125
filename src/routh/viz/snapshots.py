"""Before and after: a mechanism at its impact, and where each law lets it go."""

from __future__ import annotations

import textwrap

import numpy as np

from routh.auditing.comparison import sequences, simultaneous_solutions
from routh.friction import ContactMode
from routh.laws.base import ImpactResult
from routh.models.base import State
from routh.models.planar import PlanarModel, PlaneContact
from routh.models.spatial import SpatialModel
from routh.problem import ImpactProblem
from routh.sampling.answers import contact_modes
from routh.systems import System
from routh.text import for_matplotlib
from routh.validation import Array
from routh.viz import bodies, style
from routh.viz.law_answers import first_pushing
from routh.viz.solids import draw_solids

TRAVEL = 0.08  # how far bodies are shown to have moved after the impact, as a share of their size
MANY_CONTACTS = 10  # more than this: velocities of the bodies are shown instead
MANY_NAMES = 3  # more than this: what each contact does is not put in words
NEAR = 12.0  # times its size: a plane that is farther from a system is not drawn
REST = 1e-6  # of the speed before: slower counts as at rest


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
        bodies.frame(ax, model, everything, more=tips, pad=0.1)
        bodies.draw_planes(ax, model)
    bodies.draw_bodies(axes[0], model, state.q)
    draw_motion(axes[0], model, state, scale=scale)
    axes[0].set_title("before")
    for ax, (name, later) in zip(axes[1:], moved.items(), strict=False):
        draw_after(ax, model, state, later, scale=scale * longer)
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
        draw_solids(ax, system.model, system.state)
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
    bodies.frame(ax, model, [state.q], more=[feet[near], fixed, _tips(model, state, scale)])
    bodies.draw_planes(ax, model)
    bodies.draw_bodies(ax, model, state.q)
    for centre in model.centres_of_mass(state.q) if held else ():
        ax.plot(*np.stack([np.zeros(2), centre]).T, color=style.BLUE, linestyle=(0, (3, 2)), zorder=1.5)
        ax.plot(0.0, 0.0, "^", color=style.BLUE, markersize=6, zorder=3)
        ax.annotate(", ".join(held), centre / 2, (0, 4), textcoords="offset points", ha="center", fontsize=7)
    bodies.draw_contacts(ax, model, state, scale=scale)


def _arrow_scales(
    problem: ImpactProblem, results: dict[str, ImpactResult], extent: float
) -> tuple[float, float]:
    """Metres on paper per m/s before, and how many times longer the arrows after are drawn."""
    before = float(np.abs(problem.contact_velocity()).max())
    after = max(float(np.abs(result.contact_velocity).max()) for result in results.values())
    scale = 0.22 * extent / before if before > 0.0 else 1.0
    times = int(0.8 * before / after) if after > REST * before else 1
    return scale, float(np.clip(times, 1, 20))


def draw_after(ax: style.Axes, model: PlanarModel, before: State, after: State, *, scale: float) -> None:
    """The bodies a moment later over the ghost of where they were, with the new contact velocities."""
    if not np.array_equal(before.q, after.q):
        bodies.draw_bodies(ax, model, before.q, ghost=True)
    bodies.draw_bodies(ax, model, after.q)
    draw_motion(ax, model, State(before.q, after.v), color=style.BLUE, scale=scale)


def draw_motion(
    ax: style.Axes, model: PlanarModel, state: State, *, color: str = style.BEFORE, scale: float
) -> None:
    """Velocities of the contact points, or of the bodies where there are too many contacts to show."""
    few = np.count_nonzero(model.gaps(state.q) <= bodies.CLOSED) <= MANY_CONTACTS
    draw = bodies.draw_contacts if few else bodies.draw_body_velocities
    draw(ax, model, state, color=color, scale=scale)


def outcomes_to_show(problem: ImpactProblem) -> dict[str, ImpactResult]:
    """All simultaneous solutions and both sequences, those with equal velocities only once."""
    solutions, _ = simultaneous_solutions(problem)
    found: dict[str, ImpactResult] = {}
    for i, result in enumerate(solutions):
        name = "all at once" + (f" ({i + 1} of {len(solutions)})" if len(solutions) > 1 else "")
        found[name] = result
    for order, result in zip((1, -1), sequences(problem).values(), strict=False):
        if not any(np.allclose(other.v, result.v, atol=1e-9 * problem.speed) for other in found.values()):
            found[f"{problem.names[first_pushing(problem, order)]} first"] = result
    return found


def _tips(model: PlanarModel, state: State, scale: float) -> Array:
    """Where the arrows of the closed contacts end, (k, 2) m."""
    closed = model.gaps(state.q) <= bodies.CLOSED
    if np.count_nonzero(closed) > MANY_CONTACTS:
        return np.empty((0, 2))
    return (model.contact_points(state.q) + scale * bodies.contact_velocities(model, state))[closed]


def planar(system: System) -> tuple[PlanarModel, State]:
    """The model and state of a planar system, or an error that says what is missing."""
    if not isinstance(system.model, PlanarModel) or system.state is None:
        raise ValueError(
            f"{system.name}: has no planar model; wanted a system that can be drawn in the plane"
        )
    return system.model, system.state


def _extent(model: PlanarModel, state: State) -> float:
    points = np.concatenate([line for _, line in model.outlines(state.q)])
    return float(np.ptp(points, axis=0).max())


def _moved(model: PlanarModel, state: State, result: ImpactResult, extent: float) -> State:
    """Where the bodies are when the fastest point has travelled; the velocity stays that after the impact."""
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
