"""Event-driven simulation through impacts: solutions of the time-augmented inclusion HP23 (53)."""

from __future__ import annotations

import math
import time
from typing import TypedDict

import numpy as np

from routh import tolerances
from routh.laws import ImpactLaw, SetValued
from routh.models.base import Model, SpringyModel, State, fitting_state
from routh.models.simultaneity import Simultaneity
from routh.sim.mechanism import Control, Mechanism
from routh.sim.run import Run, RunSettings
from routh.sim.trajectory import Trajectory
from routh.validation import integer, real


class SimulateOptions(TypedDict, total=False):
    """The keywords of `simulate` that the futures of a bundle share."""

    law: ImpactLaw | None
    control: Control | None
    sample_dt: float | None
    rtol: float
    atol: float
    max_step: float | None
    window: float | None
    gap: float | None
    max_events: int


def simulate(
    model: Model,
    state: State,
    *,
    duration: float,
    law: ImpactLaw | None = None,
    control: Control | None = None,
    seed: int = 0,
    sample_dt: float | None = None,
    rtol: float = 1e-9,
    atol: float = 1e-10,
    max_step: float | None = None,
    window: float | None = None,
    gap: float | None = None,
    max_events: int = 10_000,
    stream: int = 0,
    budget: float | None = None,
) -> Trajectory:
    """One motion of ``model`` from ``state``, through every impact on the way.

    Between events the motion is smooth and integrated by SciPy (DOP853; Radau
    where slow slip in space is stiff). Closed contacts carry forces that
    satisfy HP23 (12) and (16) exactly: all contact modes that the accelerations allow are found, one is drawn
    where there are several (event "choice"), and where there is none an impact without collision is asked
    of the law (Painlevé). Contacts that close within ``window`` of each other collide simultaneously: those
    still open push from their distance. Impacts that accumulate are extrapolated (event "zeno").

    Parameters
    ----------
    model, state : where the motion starts; ``state.t`` is the first time. Penetration is refused.
    duration : s, > 0.
    law : the impact law; default `routh.laws.SetValued`. Where its hops would be lower than what closes a
        contact (1e-9 m), all contacts stop at once instead.
    control : inputs as feedback, ``u = control(t, q, v)``, handed to ``model.bias``.
    seed : of every draw; equal seeds give equal motions. ``stream`` picks one of the futures: number 0 draws
        all its outcomes; those above begin far apart, see `routh.simulate_many`.
    sample_dt : s between samples of the smooth parts, beside those at events; default 1/200 of the duration,
        at most 0.02 s.
    rtol, atol : tolerances of the integrator, relative and in SI units.
    max_step : s, longest step of the integrator; default 1/10 of the duration.
    window : s: with a contact that collides, all take part that touch, or that would touch within this time
        at the velocity before; default 5 ms. 0: only those that touch (within 1 µm), as HP23 (53) has it.
        Contacts that close within three windows, not within one, are named in the event's ``data["soon"]``.
    gap : m: instead of a window, contacts within this distance count as closed, and collide simultaneously.
    max_events : after so many impacts and mode changes the motion ends with the event "stop" and the
        status INCOMPLETE.
    budget : s of waiting allowed; what is simulated by then is returned, with the status OUT_OF_TIME.

    Returns
    -------
    Trajectory, with ``s``, ``impulses``, ``events``, ``forces["contacts"]`` and energies. What stopped it
    early, if anything, is its last event ("stop") and the status of its last sample: see ``ok``.
    """
    span = real("duration", duration, above=0.0)
    spacing = min(span / 200.0, 0.02) if sample_dt is None else real("sample_dt", sample_dt, above=0.0)
    together = Simultaneity(window=window, gap=gap)
    closed = tolerances.CLOSED_GAP if gap is None else real("gap", gap, above=0.0)
    if isinstance(model, SpringyModel):
        model.check_events()
    start = checked_state(model, state, closed)
    settings = RunSettings(
        rtol=real("rtol", rtol, above=0.0),
        atol=real("atol", atol, above=0.0),
        max_step=span / 10.0 if max_step is None else real("max_step", max_step, above=0.0),
        gap=closed,
        simultaneity=together,
        deadline=math.inf if budget is None else time.monotonic() + real("budget", budget, at_least=0.0),
        end=start.t + span,
        sample_dt=spacing,
        max_events=integer("max_events", max_events, at_least=1),
        law=law or SetValued(),
        rng=generator(seed, stream),
        seed=seed,
        number=stream,
    )
    return Run(Mechanism(model, control), start, settings).finish()


def generator(seed: int, stream: int) -> np.random.Generator:
    """The draws of one future: every seed and every stream has its own."""
    key = [integer("seed", seed, at_least=0), integer("stream", stream, at_least=0)]
    return np.random.Generator(np.random.Philox(key=key))


def checked_state(model: Model, state: State, gap: float) -> State:
    """The state, if it fits the model and nothing penetrates."""
    fitting = fitting_state(model, state)
    gaps = model.gaps(fitting.q)
    if len(gaps):
        deepest = int(np.argmin(gaps))
        if not gaps[deepest] >= -gap:
            raise ValueError(
                f"state: contact {model.contacts[deepest].name!r} penetrates by {-gaps[deepest]:g} m; "
                f"wanted gaps of at least -{gap:g} m"
            )
    return fitting
