"""Hops too low to open a contact, taken in one implicit step.

Light feet that land beside each other throw each other up, ever lower: geometric sequences of impacts, a
nanometre high and less, of which most events of a robot's motion would be part. Time stepping takes such a
sequence at once: the impact law is given the velocity that the smooth forces would lead to, and its impulses
are those of all hops and of what contacts carry between them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routh.base import tolerances
from routh.base.status import Status
from routh.base.validation import Array
from routh.kernels.algorithm1.cone import CONVERGED, cone_step, load_cone
from routh.kernels.algorithm1.work import make_work
from routh.laws import Simultaneous
from routh.models.base import Model
from routh.problem.friction import uses_true_cone
from routh.problem.impact import ImpactProblem
from routh.sim.mechanism import Mechanism
from routh.step.base import scaled_delassus

_HOPS = 2.0  # a step takes as many of the longest hop: those that follow it are shorter
_ROUNDS = 2  # of a step, see `_stepped`
_LONGEST = 0.999 * tolerances.SETTLING  # s: times are rounded
_MOST = 100.0  # units of a problem: larger normal impulses are left to the law
_DUST = 1e-12  # share of the largest impulse that a solver leaves at a contact without one


@dataclass(frozen=True, eq=False)
class Settled:
    """End of a step, and what came about in it."""

    t: float  # s
    q: Array
    v: Array
    impulse: Array  # (nc, 1 + nt) N s
    contacts: tuple[int, ...]  # that rest


def settle(
    mechanism: Mechanism,
    t: float,
    q: Array,
    v: Array,
    noise: Array,
    law: Simultaneous,
    end: float,
    most: float,
) -> Settled | None:
    """The state after the hops of now, at most at ``end`` (s); None where something speaks against it.

    A single contact has no such sequence. Every closed contact that approaches has to come to rest, from no
    more than what a hop of `tolerances.CLOSED_GAP` brings; ``noise`` (nc,) m/s are velocities that are none.
    The step is two such hops long. If contacts still fly then, as they do where feet carry each other, it is
    tried whether the longest step brings all to rest, if none can rise above `tolerances.CLOSED_GAP` in it.
    No step may gain more energy than ``most`` (J), as one of first order could.
    """
    normal = mechanism.normal_velocity(q, v)
    closed = mechanism.model.gaps(q) <= tolerances.CLOSED_GAP
    hops = closed & (normal < -noise)
    pull = -mechanism.snapshot(t, q, v).free @ mechanism.J(q)[:, 0].T
    if closed.sum() < 2 or not np.all(normal[hops] ** 2 < 2.0 * tolerances.CLOSED_GAP * pull[hops]):
        return None
    length = _HOPS * float((-2.0 * normal[hops] / pull[hops]).max())
    if not length < min(tolerances.SETTLING, end - t):
        return None
    found = _stepped(mechanism, t, q, v, noise, law, length)
    if (
        found is None
        or _gained(mechanism.model, q, v, found) > most
        or hops[list(found.contacts)].sum() < hops.sum()
    ):
        return None
    flying = mechanism.normal_velocity(found.q, found.v)
    flies = closed & (flying > noise)
    low = np.all(0.25 * _LONGEST * flying[flies] < tolerances.CLOSED_GAP)
    if length < _LONGEST < end - t and flies.any() and low:
        longer = _stepped(mechanism, t, q, v, noise, law, _LONGEST)
        all_rest = longer is not None and len(longer.contacts) == closed.sum()
        if longer is not None and all_rest and _gained(mechanism.model, q, v, longer) <= most:
            found = longer
    return found


def _gained(model: Model, q: Array, v: Array, found: Settled) -> float:
    """Energy after less that before, J; 0 where the model does not know its potential."""
    potential = getattr(model, "potential", None)
    if potential is None:
        return 0.0
    (before, after) = (0.5 * v @ model.mass(q) @ v + potential(q) for q, v in ((q, v), (found.q, found.v)))
    return float(after - before)


def _stepped(
    mechanism: Mechanism, t: float, q: Array, v: Array, noise: Array, law: Simultaneous, length: float
) -> Settled | None:
    """One implicit step of this length, s; None where its hops are too high, or an open contact closes.

    Its impulses are those at the configuration where it ends, which a first round finds: contacts turn with
    the body, by 1e-7 rad, and what they miss of momentum then is more than rounding.
    """
    length = (t + length) - t
    there, found = mechanism.model.integrate(q, v, length), None
    for _ in range(_ROUNDS):
        found = _stepped_at(mechanism, there, (t, q, v), noise, law, length)
        if found is None:
            return None
        there = found.q
    return found


def _stepped_at(
    mechanism: Mechanism,
    there: Array,
    start: tuple[float, Array, Array],
    noise: Array,
    law: Simultaneous,
    length: float,
) -> Settled | None:
    """The step with all that the model says at the configuration ``there``."""
    t, q, v = start
    model, gap = mechanism.model, mechanism.model.gaps(q)
    at = mechanism.snapshot(t + length, there, v)
    rows = np.flatnonzero(gap <= tolerances.CLOSED_GAP)
    J, mu = at.J[rows], mechanism.mu[rows]
    found = _stopped(ImpactProblem(model.mass(at.q), J[:, 0], J[:, 1:], mu, v + length * at.free), law)
    if found is None:
        return None
    velocity = J @ found[0]
    push = found[1][:, 0]
    rests = (push > _DUST * push.max()) & (np.abs(velocity[:, 0]) <= noise[rows])
    rises = 0.25 * length * mechanism.normal_velocity(q, v)[rows]  # of a hop of that length
    if np.any(rises[rests] > tolerances.CLOSED_GAP):
        return None
    impulse = np.zeros((mechanism.nc, mechanism.width))
    impulse[rows[rests]] = found[1][rests]
    v1 = v + length * at.free + at.inverse_mass @ (impulse.ravel() @ at.J.reshape(impulse.size, -1))
    contacts = tuple(rows[rests].tolist())
    q1 = mechanism.close(model.integrate(q, 0.5 * (v + v1), length), contacts)
    if np.any((model.gaps(q1) <= tolerances.CLOSED_GAP) & (gap > tolerances.CLOSED_GAP)):
        return None
    slips = np.linalg.norm(velocity[rests, 1:], axis=1) > noise[rows[rests]]
    groups = rows[rests][~slips].tolist(), rows[rests][slips].tolist()
    return Settled(t + length, q1, mechanism.hold(q1, v1, *groups), impulse, contacts)


def _stopped(problem: ImpactProblem, law: Simultaneous) -> tuple[Array, Array] | None:
    """Velocity and impulses (nc, 1 + nt) after the law; any solution of it will do.

    With the true cone compiled code looks for one, which takes it an eighth of the law's time.
    """
    if uses_true_cone(law.friction, law.facets, problem.nt):
        work, unit, n = make_work(problem.nc, problem.nt, 0), problem.scaling, 3 * problem.nc
        work.G[:], work.mu[:] = scaled_delassus(problem), problem.mu
        work.inputs[:n] = (problem.contact_velocity(problem.v) / unit.velocity[:, None]).ravel()
        work.inputs[n:] = _MOST
        load_cone(work, problem.nc)
        if cone_step(work, problem.nc) <= CONVERGED and work.impulse[::3].max() < _MOST:
            impulse = work.impulse.reshape(problem.nc, 3) * unit.impulse[:, None]
            return problem.apply(impulse), impulse
    result = law(problem)
    return (result.v, result.impulse) if result.status is Status.SOLVED else None
