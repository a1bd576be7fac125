"""Time stepping from many states of one model: for learning, and for control by sampling."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from routh.constraints import STEEL, Compliance
from routh.constraints.holonomic import StateConstraint
from routh.models.base import Model, State, fitting_state
from routh.sim.many import Bundle
from routh.sim.marching import March, suits
from routh.sim.step_through import check_names, step_through
from routh.validation import Array, Options, deadline_of, integer, real, real_array


def step_through_many(
    model: Model,
    states: Sequence[State],
    *,
    dt: float,
    duration: float,
    compliance: Compliance = STEEL,
    constraints: Sequence[StateConstraint] = (),
    u: ArrayLike | None = None,
    record_every: int | None = None,
    threads: int | None = None,
    budget: float | None = None,
) -> Bundle:
    """`step_through` from each of the states; every motion is what it would be alone.

    Free bodies and planar mechanisms are compiled and share threads; other models go one after the other.

    Parameters
    ----------
    model, states : what moves, and from where.
    dt, duration, compliance, constraints : as in `step_through`.
    u : inputs: (nu,) for all, (n, nu) of each motion, or (n, steps, nu) of each of its steps.
    record_every : keep each so-manieth step, and the last; None: only the first state and the last.
    threads : how many; None: as many as there are processors.
    budget : s of waiting allowed for all; motions end where they are, their last status OUT_OF_TIME.
    """
    deadline, h = deadline_of(budget), real("dt", dt, above=0.0)
    steps = round(real("duration", duration, at_least=0.0) / h)
    every = max(steps, 1) if record_every is None else integer("record_every", record_every, at_least=1)
    if threads is not None:
        integer("threads", threads, at_least=1)
    check_names(model, constraints)
    begins = [fitting_state(model, state) for state in states]
    inputs = None if u is None else _inputs(u, len(begins), steps)
    if begins and suits(model, compliance, constraints):
        quick = March(model, compliance, constraints, begins, dt=h, steps=steps, every=every)
        if inputs is not None:
            quick.push_all(inputs)
        quick.run(steps, deadline, threads=threads)
        return Bundle(tuple(map(quick.trajectory, range(len(begins)))))
    options: Options = {"dt": h, "duration": steps * h, "compliance": compliance, "constraints": constraints}
    found = []
    for k, state in enumerate(begins):
        left = None if budget is None else max(deadline - time.monotonic(), 1e-9)
        own = None if inputs is None else _in_turn(inputs[k], state.t, h)
        found.append(step_through(model, state, u=own, record_every=every, budget=left, **options))
    return Bundle(tuple(found))


def _inputs(u: ArrayLike, count: int, steps: int) -> Array:
    """Inputs (n, P, nu) of the first P steps; later ones have the last."""
    wanted = f"shape (nu,), ({count}, nu) or ({count}, {steps}, nu)"
    given = real_array("u", u, [(None,), (count, None), (count, steps, None)], wanted)
    if given.ndim < 3:
        return np.broadcast_to(given, (count, given.shape[-1]))[:, None]
    return given


def _in_turn(inputs: Array, start: float, h: float) -> Callable[[State], Array]:
    return lambda state: inputs[min(round((state.t - start) / h), len(inputs) - 1)]
