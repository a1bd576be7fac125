"""The equation of smooth motion in one contact mode, and the steps that follow slip in space as it turns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from routh.base import tolerances
from routh.base.validation import Array
from routh.compiling import bound
from routh.kernels.motion.forces import MOST, At, Held, find_margins, make_found
from routh.kernels.motion.turning import aim, turning_rates
from routh.sim.contact_forces import (
    ContactProblem,
    Hold,
    Mode,
    ModeForces,
    contact_problem,
    equations,
    forces_of,
)
from routh.sim.mechanism import MOST_ROWS, Mechanism, Snapshot, correction

NO_SLIP = 1e-9  # m/s, below which slip in space has no direction of its own: the integrator knows no better
_TURN = 3.0  # slip that turns may change by half of itself in a step, which is 1.5 of the times of a rate
_SHORTEST = 1e-11  # s, steps are not cut below this for the sake of turning slip; light feet stop in 1e-9
_CLOSED = 1e-15  # m, a gap that is none
_NOTICED = 1e-10  # m, a gap whose closing changes what the model says
_NUDGE = 1e-4  # share of slip by which it is changed to see how its friction answers
_STABLE = 1.2  # steps times rate that DOP853 and its dense output follow with ease


@dataclass(frozen=True, eq=False)
class Sample:
    """A state on the way, with the contact forces there and the impulses since the flow began."""

    t: float
    q: Array
    v: Array
    force: Array  # (nc, 1 + nt) N
    impulse: Array  # (nc, 1 + nt) N s


@dataclass(frozen=True, eq=False)
class Look:
    """The conditions of a mode at one time of a step."""

    gap: Array  # of the free contacts, m
    rate: Array  # their rates, m/s
    margin: Array  # of the mode, dimensionless, or m/s for slip; what each means is in `ModeMotion.kinds`


class ModeMotion:
    """The ordinary differential equation of one mode: ``y = [q, v, impulses of the mode's contacts]``."""

    def __init__(self, mechanism: Mechanism, mode: Mode) -> None:
        self.mechanism, self.mode = mechanism, mode
        self.nq, self.nv = mechanism.model.nq, mechanism.model.nv
        self.contacts = [hold.contact for hold in mode]
        self.free = [i for i in range(mechanism.nc) if i not in self.contacts]
        self.sticking = [hold.contact for hold in mode if hold.sticks]
        self.sliding = [hold.contact for hold in mode if not hold.sticks]
        self.size = self.nq + self.nv + len(mode) * mechanism.width
        self.quick = len(mode) * mechanism.width <= MOST_ROWS
        self._found = make_found(len(mode), mechanism.width, self.nv)
        self._no_slip = np.zeros((len(mode), mechanism.width - 1))
        self._turns = mechanism.width > 2 and bool(self.sliding)
        mu = mechanism.mu[self.contacts]
        self.held = Held(
            np.array(self.contacts, dtype=np.int64),
            np.array([hold.sticks for hold in mode], dtype=bool),
            np.array(mu, dtype=np.float64),
            np.zeros((len(mode), mechanism.width - 1)),
            np.zeros(len(mode), dtype=bool),
        )
        self.aimed = np.array([hold.direction or (0.0,) * (mechanism.width - 1) for hold in mode])
        self.held.way[:] = self.aimed.reshape(self.held.way.shape)
        self.mu, self.equations = mu, equations(self.contacts, mu, mechanism.width, mode)
        stuck = [i for i, hold in enumerate(mode) if hold.sticks]
        rubbing = [i for i, hold in enumerate(mode) if not hold.sticks and mu[i] > 0.0]
        self.stuck, self.rubbing = stuck, rubbing
        # what a negative margin means, and for which contacts
        self.kinds: list[tuple[str, tuple[int, ...]]] = [("slip", tuple(self.contacts))]
        self.kinds += [("open", (contact,)) for contact in self.contacts]
        self.kinds += [("slip", (self.contacts[i],)) for i in stuck]
        self.kinds += [("stick", (self.contacts[i],)) for i in rubbing]
        if self._turns:
            self.kinds.append(("jam", tuple(self.contacts)))
        self.slides = np.array([word == "stick" for word, _ in self.kinds if mode], dtype=bool)  # margins

    def begin(self, q: Array, v: Array) -> Array:
        """The state at the start of the motion."""
        return np.concatenate([q, v, np.zeros(self.size - self.nq - self.nv)])

    def split(self, y: Array) -> tuple[Array, Array]:
        """Configuration and velocity."""
        return y[: self.nq], y[self.nq : self.nq + self.nv]

    def follow(self, way: Array) -> None:
        """Which way contacts slip, (m, nt), whatever their velocities are."""
        self.held.way[:], self.held.straight[:] = way, True

    def problem(self, snapshot: Snapshot) -> ContactProblem:
        """The acceleration problem of the mode's contacts."""
        return contact_problem(snapshot, self.contacts, self.mechanism.mu, self._no_slip)

    def forces(self, snapshot: Snapshot, problem: ContactProblem) -> ModeForces:
        """What the mode needs at a state; in the plane its equations never change."""
        if self._turns:
            return forces_of(problem, self.present(snapshot))
        return forces_of(problem, self.mode, self.equations)

    def present(self, snapshot: Snapshot) -> Mode:
        """The mode with the directions of slip that it has now; in the plane these never change.

        Slip that has come to its end within a step would turn round at once. It keeps its line instead, so
        that the equation stays smooth beyond the event.
        """
        if not self._turns:
            return self.mode
        slip, found = snapshot.contact_velocity[:, 1:], list(self.mode)
        for i in self.rubbing:
            hold = replace(self.mode[i], direction=tuple(self.held.way[i].tolist()))
            straight = self.held.straight[i]
            found[i] = hold if straight else turned(hold, slip[hold.contact])
        return tuple(found)

    def aim(self, t: float, y: Array) -> tuple[float, float, float]:
        """A step begins here: remember which way contacts slip; the longest steps, s, that follow turns.

        The first is for an implicit integrator, the second for an explicit one; then the time, s, that slip
        lasts as it is. In the plane slip does not turn.
        """
        if not self._turns:
            return np.inf, np.inf, np.inf
        snapshot = self.mechanism.snapshot(t, *self.split(y))
        if not aim(self.held, _at(snapshot), NO_SLIP, self._found):
            self._found.force[:] = self.forces(snapshot, self.problem(snapshot)).force
        self.aimed = self.held.way.copy()
        rates = turning_rates(self.held, snapshot.v, NO_SLIP, self._found)
        change = _TURN * rates.change
        bend, both = (
            max(_STABLE / r, _SHORTEST) if r > 0.0 else np.inf for r in (change, max(change, rates.answer))
        )
        return bend, both, 1.0 / max(rates.change, rates.stop, 1e-300)

    def closing(self, t: float, y: Array, slope: Array) -> float:
        """Time, s from now, at which the first free contact would close if its acceleration stayed."""
        if not self.mode or self.mechanism.width == 2:
            return np.inf
        at = self.mechanism.snapshot(t, *self.split(y))
        gap, rate = self.mechanism.model.gaps(at.q)[self.free], at.contact_velocity[self.free, 0]
        gained = at.J[self.free, 0] @ slope[self.nq : self.nq + self.nv] + at.bias[self.free, 0]
        with np.errstate(all="ignore"):  # many never close
            root = np.sqrt(rate**2 - 2.0 * gained * np.maximum(gap, 0.0))
            when = np.where(gained < 0.0, -(rate + root) / gained, 2.0 * gap / (root - rate))
        return float(when[when > 0.0].min(initial=np.inf))

    def slope(self, t: float, y: Array) -> Array:
        """``dy/dt``, HP23 (9) and (10)."""
        return self._rates(self.mechanism.snapshot(t, *self.split(y)))[0]

    def _rates(self, snapshot: Snapshot) -> tuple[Array, Array]:
        """``dy/dt``, and the forces of the mode's contacts, (m, 1 + nt) N."""
        rate, acceleration = self.mechanism.rate(snapshot.q, snapshot.v), snapshot.free
        force = np.zeros((0, self.mechanism.width))
        if self._solved(snapshot):
            force, acceleration = self._found.force.copy(), self._found.acceleration
        elif self.mode:
            force = self.forces(snapshot, self.problem(snapshot)).force
            push = force.ravel() @ snapshot.J[self.contacts].reshape(force.size, self.nv)
            acceleration = acceleration + snapshot.inverse_mass @ push
        return np.concatenate([rate, acceleration, force.ravel()]), force

    def stiff_jacobian(self, t: float, y: Array) -> Array:
        """How ``dy/dt`` changes with the velocity through the directions of slip, (n, n) for n = len(y).

        That is all of it that is stiff; an implicit integrator does without the rest.
        """
        at = self.mechanism.snapshot(t, *self.split(y))
        slip = _lengths(at.contact_velocity[self.sliding, 1:])
        reach = np.abs(at.J[self.sliding, 1:]).max(axis=(0, 1))
        found, rows = np.zeros((self.size, self.size)), slice(self.nq, self.size)
        before = self._rates(at)[0]
        for j in range(self.nv):
            step = _NUDGE * max(float(slip.min()), NO_SLIP) / max(float(reach[j]), 1e-3)
            v = at.v.copy()
            v[j] += step
            found[rows, self.nq + j] = (self._rates(replace(at, v=v))[0] - before)[rows] / step
            found[: self.nq, self.nq + j] = self.mechanism.rate(at.q, np.eye(self.nv)[j])
        return found

    @cached_property
    def _asked(self) -> tuple[At, Array, np.ndarray, Callable[[], object]]:
        """Room for what a model says, for margins, whether they are known, and the call for them."""
        nc, width, nv = self.mechanism.nc, self.mechanism.width, self.nv
        shapes: tuple[tuple[int, ...], ...] = (nc, width, nv), (nv, nv), (nv,), (nc, width), (nv,)
        said = At(*(np.zeros(shape) for shape in shapes))
        told = np.zeros(len(self.kinds)), np.zeros(1, dtype=bool)
        return said, *told, bound(find_margins, self.held, said, NO_SLIP, self._found, *told)

    def _solved(self, snapshot: Snapshot) -> bool:
        """Whether compiled code found the forces of the mode: not where contacts are redundant, or many."""
        if not self.mode or not self.quick:
            return False
        said, _, known, find = self._asked
        for room, value in zip(said, _at(snapshot), strict=True):
            room[:] = value
        find()
        return bool(known[0])

    def settled(self, t: float, y: Array) -> tuple[Array, Array, Sample]:
        """The state without drift (closed contacts exactly closed), its ``dy/dt``, and a record of it."""
        at, impulse = self.without_drift(t, y), y[self.nq + self.nv :]
        slope, force = self._rates(at)
        whole = self._spread(force), self._spread(impulse.reshape(force.shape))
        return np.concatenate([at.q, at.v, impulse]), slope, Sample(t, at.q, at.v, *whole)

    def without_drift(self, t: float, y: Array) -> Snapshot:
        """The model where configuration and velocity are moved onto the closed contacts.

        Drift is usually far smaller than what the model would notice: then what it said before serves. Not
        for the velocities of contacts, whose last digits are the direction of slow slip in space.
        """
        mechanism, rows = self.mechanism, self.contacts
        q, v = self.split(y)
        if not self.mode:
            if self.nq != self.nv:
                q = mechanism.model.integrate(q, np.zeros(self.nv), 0.0)  # unit quaternions
            return mechanism.snapshot(t, q, v)
        at = mechanism.snapshot(t, q, v)
        drift = float(np.abs(gaps := mechanism.model.gaps(q)[rows]).max())
        if drift > _CLOSED:
            q = mechanism.model.integrate(q, -correction(at.inverse_mass, at.J[rows, 0], gaps), 1.0)
        if drift > _NOTICED:
            q = mechanism.close(q, rows)
            at = mechanism.snapshot(t, q, v)
        held = at.J[rows, 0]
        if self.stuck:
            held = np.concatenate([held, at.J[self.sticking, 1:].reshape(-1, self.nv)])
        v = v - correction(at.inverse_mass, held, held @ v)
        if drift > _NOTICED:
            return mechanism.snapshot(t, q, v)
        return Snapshot(t, q, v, at.inverse_mass, at.free, at.J, at.bias)

    def _spread(self, values: Array) -> Array:
        """Values of the mode's contacts as values of all contacts, (nc, 1 + nt)."""
        result = np.zeros((self.mechanism.nc, self.mechanism.width))
        if self.contacts:
            result[self.contacts] = values
        return result

    def look(self, t: float, y: Array) -> Look:
        """Gaps and margins at a state."""
        q, v = self.split(y)
        gap = self.mechanism.model.gaps(q)[self.free]
        if not self.mode:
            return Look(gap, self.mechanism.normal_velocity(q, v)[self.free], np.zeros(0))
        snapshot = self.mechanism.snapshot(t, q, v)
        return Look(gap, snapshot.contact_velocity[self.free, 0], self.margin(snapshot))

    def margin(self, snapshot: Snapshot) -> Array:
        """How far the mode is from its end: see `kinds`."""
        if self._solved(snapshot):
            return self._asked[1].copy()
        problem = self.problem(snapshot)
        solution = self.forces(snapshot, problem)
        force, residual = solution.force / problem.force_unit[:, None], solution.residual
        room = self.mu * force[:, 0] - _lengths(force[:, 1:])
        jam = [1.0 - float(np.abs(force[:, 0]).max()) / MOST] if self._turns else []
        parts = force[:, 0], room[self.stuck], self._along(snapshot), jam
        return np.concatenate([[tolerances.CONTACT_FORCE - residual], *parts])

    def _along(self, snapshot: Snapshot) -> Array:
        """Speeds of the rubbing contacts along the slip that they began the step with, m/s."""
        if not self.rubbing:
            return np.zeros(0)
        velocity = snapshot.contact_velocity[[self.contacts[i] for i in self.rubbing], 1:]
        return np.asarray((velocity * self.aimed[self.rubbing]).sum(axis=1))


def turned(hold: Hold, slip: Array) -> Hold:
    """The hold with the line of a slip, (nt,) m/s, the way of it that is nearer to its own.

    The direction of slip below NO_SLIP turns to the hold's own: were it the hold's up to there, slip that
    begins would be caught where friction jumps from one to the other. It is mirrored where it goes back: were
    it turned round, friction would drive on what rounding moves aside, and slip would begin backwards.
    """
    own, size = np.asarray(hold.direction), float(np.linalg.norm(slip))
    back = max(-float(slip @ own), 0.0)
    if size < NO_SLIP:
        way = (NO_SLIP - size + 2.0 * back) * own + slip
    else:
        way = -slip if back > 0.0 else slip
    return replace(hold, direction=tuple((way / np.linalg.norm(way)).tolist()))


def _at(snapshot: Snapshot) -> At:
    return At(snapshot.J, snapshot.inverse_mass, snapshot.free, snapshot.bias, snapshot.v)


def _lengths(vectors: Array) -> Array:
    return np.abs(vectors[:, 0]) if vectors.shape[1] == 1 else np.linalg.norm(vectors, axis=1)
