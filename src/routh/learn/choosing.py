"""Which velocity an impact gets: the modes, as functions of the outcomes drawn."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from routh.learn.drawing import Drawn, Wanted
from routh.learn.settings import Goal
from routh.models.mujoco.lookout import Arrival
from routh.status import Status
from routh.validation import Array, real_array

Draw = Callable[[Wanted], Drawn]
Choice = tuple[Array, Status]  # the velocity to go on with, and whether it is one: else the one before

_AGAIN = 8  # outcomes that are drawn where the first one did not end


def outcome(arrival: Arrival, draw: Draw, seed: int) -> Choice:
    """One random outcome."""
    drawn = draw(Wanted(arrival, seed, 1))
    if drawn.good[0]:
        return drawn.v[0], Status.SOLVED
    if drawn.status[0] == Status.NO_IMPACT:
        return arrival.v, Status.NO_IMPACT
    drawn = draw(Wanted(arrival, seed, _AGAIN))
    if not drawn.good.any():
        return arrival.v, _why_not(drawn)
    return drawn.v[np.argmax(drawn.good)], Status.SOLVED


def worst(arrival: Arrival, draw: Draw, seed: int, goal: Goal, k: int) -> Choice:
    """The worst of k random outcomes: the objective is the larger, the worse."""
    drawn = draw(Wanted(arrival, seed, k))
    good = np.flatnonzero(drawn.good)
    if not good.size:
        return arrival.v, _why_not(drawn)
    candidates = drawn.v[good]
    given = goal(candidates) if callable(goal) else candidates @ np.asarray(goal, dtype=np.float64)
    values = real_array("objective", given, [(len(candidates),)], f"shape ({len(candidates)},)")
    return candidates[int(np.argmax(values))], Status.SOLVED


def noise(arrival: Arrival, draw: Draw, seed: int) -> Choice:
    """The velocity before with a kick in a random direction, as large as two random outcomes differ.

    Size and direction are those of the kinetic-energy norm.
    """
    drawn = draw(Wanted(arrival, seed, 2))
    if not drawn.good.all():
        return arrival.v, _why_not(drawn)
    L = np.linalg.cholesky(arrival.M)
    size = float(np.linalg.norm((drawn.v[0] - drawn.v[1]) @ L))
    direction = np.random.default_rng(seed).normal(size=len(arrival.v))
    return arrival.v + np.linalg.solve(L.T, size * direction / np.linalg.norm(direction)), Status.SOLVED


def _why_not(drawn: Drawn) -> Status:
    """The worst status; samples that ended and are not good are wrong in numbers."""
    worst_status = Status(int(drawn.status.max()))
    return Status.NUMERICAL if worst_status is Status.SOLVED else worst_status
