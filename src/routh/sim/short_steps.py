"""Steps through slow slip in space: the model is asked at three times, compiled code follows the slip.

Friction against slow slip is stiff: its direction answers within microseconds. The model changes within
milliseconds, so over a short step what it says is a parabola in time. Slip is followed with that of a first
guess, then again with the model at the states that were found, until these no longer change.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from routh.base import tolerances
from routh.base.validation import Array
from routh.compiling import bound
from routh.kernels.motion.forces import At, Held, make_found, respond
from routh.kernels.motion.runge_kutta import ALL_STAGES, DONE, POWERS, ModePath, Short, find_short_forces
from routh.kernels.motion.sliding import Parts, Sights, look_then, mark, see, slide_then
from routh.sim.mode_motion import NO_SLIP, Look, ModeMotion, Sample

if TYPE_CHECKING:
    from routh.kernels.motion.forces import ModeArrays
    from routh.kernels.motion.place import Place
    from routh.models.planar.kinematics import PlanarArrays

_PARTS, _MARKS = 256, 400  # of a step, and samples of it, at most
_SWEEPS = 5  # rounds at most
_FINER = (
    1e-3  # than the integrator's tolerances: an error of slow slip turns friction, and costs nothing here
)
_RATE = 1e2  # 1/s: what a model says changes less with the velocity
_FINE = 1e-5  # s: over shorter steps a model is a parabola
_CAUTION, _LEAST, _MOST_LONGER = 0.8, 0.1, 4.0  # shares of a step that the next may have
_FARTHEST = 0.79  # share of a step at which a cubic is farthest from the parabola through its ends and middle
_BEYOND = 1.3  # of the time at which slip stopped or turned: it may stop a little later
_CLEARLY, _STILL = (
    0.15,
    0.05,
)  # shares of what `verify` allows: that samples use, and slip that is none


class _Room:
    """Arrays of short steps with so many contacts, and calls with them, for one step at a time."""

    def __init__(self, motion: ModeMotion, tableau: Array) -> None:
        m, width, nv, nc = len(motion.contacts), motion.mechanism.width, motion.nv, motion.mechanism.nc
        h = m * width
        mixed = np.zeros(2 * h * nv + h + h * h + nv)
        rows, response, at, delassus, now = np.split(mixed, np.cumsum([h * nv, h * nv, h, h * h]))
        found = make_found(m, width, nv)._replace(
            rows=rows.reshape(h, nv), response=response.reshape(h, nv), at=at, delassus=delassus.reshape(h, h)
        )
        held = Held(*map(np.zeros_like, motion.held))
        told, gaps = np.zeros((3, len(mixed))), (np.zeros((3, nc, nv)), np.zeros((3, nc)))
        self.short = Short(held, NO_SLIP, np.zeros(m), np.zeros(1), told, mixed, now, *gaps)
        size = 2 * nv + h + 1
        y0, slope, begun, tried, way = np.zeros((5, size))
        states = y0, slope, begun, tried, way, np.zeros((POWERS, size)), np.zeros((ALL_STAGES, size))
        planar, mode, place = cast("PlanarArrays", None), cast("ModeArrays", None), cast("Place", None)
        self.way = ModePath(planar, mode, tableau, np.zeros(7), *states, place, found, self.short)
        parts = np.zeros(_PARTS + 1), np.zeros(_PARTS), np.zeros((_PARTS, size))
        ways, straight = np.zeros((_PARTS, m, width - 1)), np.zeros((_PARTS, m), dtype=bool)
        dense, number = np.zeros((_PARTS, POWERS, size)), np.zeros(4, dtype=np.int64)
        self.parts, self.when = Parts(*parts, dense, ways, straight, number), np.zeros(1)
        shapes: tuple[tuple[int, ...], ...] = (nc, width, nv), (nv, nv), (nv,), (nc, width), (nv,)
        self.at = At(*map(np.zeros, shapes))
        self.look, self.slide = (
            bound(look_then, self.way, self.parts, self.when),
            bound(slide_then, self.way, self.parts),
        )
        self.respond = bound(respond, held, self.at, found)


class ShortStep:
    """One short step of a motion from a state ``y`` on, dense; ``t`` is where it ends.

    Parameters
    ----------
    motion : in a mode of which some contacts slip in space.
    t : when it begins, s.
    y : where it begins.
    length : s, at most.
    fastest : the greatest speed |v|_M so far.
    accuracy : rtol and atol of the integrator.
    tableau : its coefficients.
    """

    def __init__(
        self,
        motion: ModeMotion,
        t: float,
        y: Array,
        length: float,
        fastest: float,
        accuracy: tuple[float, float],
        tableau: Array,
    ) -> None:
        self.motion, self.started, self.fastest, self._atol = motion, t, fastest, accuracy[1]
        self.q, self.v = motion.split(y)
        self.impulse = y[motion.nq + motion.nv :]
        self._nv, self._accuracy = motion.nv, [_FINER * share for share in accuracy]
        rooms, m = motion.mechanism.rooms, len(motion.contacts)
        if m not in rooms:
            rooms[m] = _Room(motion, tableau)
        self._room = room = cast("_Room", rooms[m])
        self._short, self._way, self._parts = room.short, room.way, room.parts
        for own, given in zip(self._short.held, motion.held, strict=True):
            own[:] = given
        self._short.length[0], self._parts.number[:], self._short.told[:] = length, 0, 0.0
        self._limit = t + length
        self.reaches = length  # s: over so long a step the model is a parabola
        self.known = self._follow()
        while self.known and (share := self._share()) < 1.0:
            length = self.reaches = share * (self.t - t)
            self._limit, self._short.length[0], self._parts.number[2] = t + length, length, 0
            self.known = self._follow()
        if self.known:
            self.reaches = max(self.reaches, share * (self.t - t))

    def _follow(self) -> bool:
        """Whether forces are known all the way."""
        short = self._short
        if not self._ask(0, self.q, self.v, np.zeros(self._nv)):
            return False
        self._root = np.sqrt(self._way.found.delassus.diagonal()[:: self.motion.mechanism.width])
        if not self._guess():
            return False
        guessed, before = self._way.found.acceleration.copy(), None
        short.still[:] = _STILL * tolerances.VERIFY_INTEGRATOR * self.fastest * self._root
        for _ in range(_SWEEPS):
            if not self._slide():
                return False
            if self._parts.number[1] < 0:  # where slip has turned or a mode is broken depends on the parts
                if self._parts.number[2] >= 0:  # slip that turns is about to stop
                    self._limit = self.t
                self._parts.number[2] = 1
            length = self.t - self.started
            # what a model says is known where the velocity is that at which it was asked
            now = self.motion.split(self(min(self.t, self.started + float(short.length[0]))))[1]
            asked = self.v + length * guessed if before is None else before
            if np.abs(now - asked).max() * length * _RATE < self._atol:
                return True
            states = []
            for x in (0.5, 1.0):
                state = self.motion.split(self(self.started + x * length))
                states.append((*state, self._way.way[: self._nv].copy()))
            before, short.length[0] = states[1][1], length
            if not all(self._ask(k, *state) for k, state in enumerate(states, start=1)):
                return False
        return False

    def _share(self) -> float:
        """The share of this step up to which the model is a parabola; above one: how much longer it could be.

        In the sample where they differ most closed contacts move, or the acceleration under the mode's forces
        is another; what that is of what `verify` allows grows with the cube of the length. So does what the
        sum of rotations misses, which do not commute.
        """
        length, motion = self.t - self.started, self.motion
        if length < _FINE:
            return _MOST_LONGER
        (sample,) = self.samples([self.started + _FARTHEST * length])
        found, mechanism = self._way.found, motion.mechanism
        motion.follow(found.way)
        off = motion.slope(sample.t, np.concatenate([sample.q, sample.v, self.impulse]))[motion.nq :]
        off = off[: motion.nv] - found.acceleration
        at, rows = mechanism.snapshot(sample.t, sample.q, sample.v), motion.contacts
        still = tolerances.VERIFY_INTEGRATOR * self.fastest
        moves = np.abs(at.contact_velocity[rows, 0]) / (still * self._root)
        apart = np.abs(mechanism.model.gaps(at.q)[rows]) / tolerances.VERIFY_GAP
        drift = float(np.abs(self(sample.t)[: motion.nq] - at.q).max()) / tolerances.VERIFY_INTEGRATOR
        allowed = tolerances.VERIFY_DYNAMICS * mechanism.speed(at.q, at.free) + 1.5 * still / length
        turned = self._turned() / tolerances.VERIFY_INTEGRATOR
        wrong = float(max(*moves, *apart, drift, turned, mechanism.speed(at.q, off) / allowed)) / _CLEARLY
        share = min(max(wrong, 1e-9) ** (-1.0 / 3.0), _MOST_LONGER)
        return 1.0 if wrong <= 1.0 and _CAUTION * share < 1.0 else max(_CAUTION * share, _LEAST)

    def _turned(self) -> float:
        """How far the coordinates are off at the end because all of the way is gone at once.

        Gone in two halves it is off by a quarter of that.
        """
        ways, integrate = [], self.motion.mechanism.model.integrate
        for moment in (0.5 * (self.started + self.t), self.t):
            at_once = self(moment)[: self.motion.nq]
            ways.append(self._way.way[: self._nv].copy())
        halves = integrate(integrate(self.q, ways[0], 1.0), ways[1] - ways[0], 1.0)
        return float(np.abs(halves - at_once).max()) * 4.0 / 3.0

    def _guess(self) -> bool:
        """What the model says where the step would lead with the acceleration at its start.

        Were it what the model says at the start, contacts that hold would seem to slip, by ``dJ/dt v``.
        """
        start, length = np.zeros(len(self._way.y)), float(self._short.length[0])
        start[self._nv : 2 * self._nv] = self.v
        if not find_short_forces(self._short, start, self._way.found):
            return False
        acceleration = self._way.found.acceleration.copy()
        for k, t in ((1, 0.5 * length), (2, length)):
            moved, v = t * (self.v + 0.5 * t * acceleration), self.v + t * acceleration
            if not self._ask(k, self.motion.mechanism.model.integrate(self.q, moved, 1.0), v, moved):
                return False
        return True

    def _slide(self) -> bool:
        """Follow the slip from the start, with what the model says now."""
        way, parts, start = self._way, self._parts, self.started
        end = min(start + _BEYOND * float(self._short.length[0]), self._limit)
        first = float(parts.length[0]) if parts.number[0] else 0.0  # as in the last round
        way.clock[:] = start, start, first, end, end - start, *self._accuracy
        way.y[:] = way.begun[:] = 0.0
        way.y[self._nv : 2 * self._nv] = self.v
        self._short.held.way[:], self._short.held.straight[:] = self.motion.aimed, False
        self._room.slide()
        self.t = float(parts.t[parts.number[0]])
        return bool(parts.number[3] == DONE or self.t > start)

    def _ask(self, k: int, q: Array, v: Array, moved: Array) -> bool:
        """What the model says at a state after a way, as number k of three."""
        motion, short, room = self.motion, self._short, self._room
        at = motion.mechanism.snapshot(self.started + 0.5 * k * float(short.length[0]), q, v)
        for own, given in zip(room.at, (at.J, at.inverse_mass, at.free, at.bias, at.v), strict=True):
            own[:] = given
        room.respond()
        short.now[:] = at.free
        short.told[k], short.normals[k] = short.mixed, at.J[:, 0]
        short.height[k] = motion.mechanism.model.gaps(q) - short.normals[0] @ moved
        return bool(np.isfinite(short.mixed).all())

    def __call__(self, t: float) -> Array:
        """``y`` at a time of the step; the motion takes the directions of slip from there, not from ``y``.

        Where slip stops, drift that is removed from ``y`` is more than all of it.
        """
        self._room.when[0] = t
        self._room.look()
        self.motion.follow(self._way.found.way)
        way, nv = self._way.way, self._nv
        q = self.motion.mechanism.model.integrate(self.q, way[:nv], 1.0)
        return np.concatenate([q, way[nv : 2 * nv], self.impulse + way[2 * nv : -1]])

    def see(self, times: Sequence[float], *, settled: bool) -> Sights:
        """The step at some times; without drift if ``settled``."""
        n, motion = len(times), self.motion
        m, width, nc = len(motion.contacts), motion.mechanism.width, motion.mechanism.nc
        shapes = (n, 2 * self._nv + m * width), (n, m, width), (n, nc), (n, nc), (n, len(motion.slides))
        seen = Sights(np.array(times), *map(np.zeros, shapes))
        see(self._way, self._parts, settled, seen)
        return seen

    def looks(self, times: Sequence[float]) -> Look:
        """Gaps and margins at some times; none of slip that stops, where the step ends."""
        seen, free = self.see(times, settled=False), self.motion.free
        return Look(seen.gap[:, free], seen.rate[:, free], seen.margin)

    def samples(self, times: Sequence[float]) -> list[Sample]:
        """The motion at some times, without drift."""
        seen, motion, nv = self.see(times, settled=True), self.motion, self._nv
        count = motion.mechanism.nc, motion.mechanism.width
        push = np.zeros((2, len(times), *count))
        push[0, :, motion.contacts] = seen.force.swapaxes(0, 1)
        whole = (self.impulse + seen.y[:, 2 * nv :]).reshape(seen.force.shape)
        push[1, :, motion.contacts] = whole.swapaxes(0, 1)
        q = (motion.mechanism.model.integrate(self.q, y[:nv], 1.0) for y in seen.y)
        return list(map(Sample, times, q, seen.y[:, nv : 2 * nv], *push))

    @property
    def stopped(self) -> tuple[int, ...]:
        """The contacts whose slip has come to its end, if one has."""
        motion, first = self.motion, int(self._parts.number[1])
        if first < 0:
            return ()
        v = self(self.t)[motion.nq : motion.nq + self._nv]
        slip = np.linalg.norm((self._way.found.rows @ v).reshape(len(motion.contacts), -1)[:, 1:], axis=1)
        still = np.flatnonzero(slip <= self._short.still)
        return tuple(motion.contacts[i] for i in motion.rubbing if i == first or i in still)

    def marks(self) -> list[float]:
        """Times at which the step is to be looked at and sampled."""
        found = np.zeros(_MARKS)
        mass = np.ascontiguousarray(self.motion.mechanism.model.mass(self.q))
        share, least = tolerances.VERIFY_DYNAMICS, 1.5 * tolerances.VERIFY_INTEGRATOR * self.fastest
        count = mark(self._way, self._parts, mass, _CLEARLY * share, _CLEARLY * least, found)
        return found[:count].tolist()
