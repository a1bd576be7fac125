"""Replace impacts in the substeps of a MuJoCo simulation: their velocities become drawn outcomes.

A substep in which contacts are about to close is cut where the first of them does, shortly before MuJoCo's
soft force begins. There the impact of all contacts that are near is formed, its outcome is written as the
velocity, and the rest of the substep follows. Substeps without such an event are MuJoCo's own, to the bit.
`Hook` does this; an `Impact` says what was done, and can be asked about it afterwards.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Unpack

import numpy as np

from routh.auditing.rollout import own_outcome
from routh.base.status import InputError, Status
from routh.base.validation import Array, Options, integer, real_array
from routh.learn.arrivals import Arrival, Lookout
from routh.learn.draws import Drawer, Drawn
from routh.learn.settings import HookOptions, Settings
from routh.models.mujoco.engine import engine
from routh.models.robot import CONTACT
from routh.models.simultaneity import DEEPEST_OF_MANY, PAST_LIMIT_OF_MANY
from routh.problem.impact import ImpactProblem
from routh.sampling.sampler import sample

if TYPE_CHECKING:
    from mujoco import MjData, MjModel

_SAMPLES = 64  # outcomes from which the ambiguity is estimated
_ROUNDS = 4  # events in one substep, after which the rest of it is MuJoCo's own
_AGAIN = 8  # outcomes that are drawn where the first one did not end
_NOT_WORTH = 0.02  # share of a substep that is not cut off

Choice = tuple[Array, Status]  # the velocity to go on with, and whether it is one: else the one before


@cache
def integration() -> int:
    """What of a state a simulation goes on from, for MuJoCo's functions of states."""
    return int(engine().mjtState.mjSTATE_INTEGRATION)


@dataclass(frozen=True, eq=False)
class Impact:
    """One impact of a simulation. Ambiguity and the simulator's own outcome are computed when asked for."""

    time: float  # s, of the simulation
    mode: str  # what was done, see `routh.learn.MODES`
    replaced: bool  # whether the velocity was changed
    status: Status  # of the draw; unless it is SOLVED, nothing was changed
    v_before: Array = field(repr=False)  # (nv,) qvel
    v: Array = field(repr=False)  # (nv,) qvel, as the simulation went on
    arrival: Arrival = field(repr=False)  # the numbers of the impact
    restitution: float = field(default=0.0, repr=False)
    threshold: float = field(default=0.1, repr=False)
    #: the simulation as it was when the impact began, and its state (n,) then
    situation: tuple[MjModel, Array] | None = field(default=None, repr=False)

    @cached_property
    def contacts(self) -> tuple[str, ...]:
        """Names of the contacts, and of limits of joints, that took part."""
        return self.arrival.names

    @cached_property
    def problem(self) -> ImpactProblem:
        """The impact, checked."""
        M, Jn, Jt, mu, v = self.arrival[:5]
        return ImpactProblem(M, Jn, Jt, mu, v, restitution=self.restitution, names=self.contacts)

    @cached_property
    def ambiguity(self) -> float:
        """Diameter of the set of outcomes over the speed before, in the kinetic-energy norm; from samples."""
        return float(sample(self.problem, _SAMPLES, threads=1).ambiguity)

    @property
    def energy_lost(self) -> float:
        """Kinetic energy that the replacement took, as a share of that before."""
        before, after = (self.problem.kinetic_energy(v) for v in (self.v_before, self.v))
        return float((before - after) / before)

    @cached_property
    def simulator(self) -> Array:
        """The velocity (nv,) that MuJoCo's own contacts lead to from there, without other forces' share.

        The model must not have been changed since: look at it before the next reset.
        """
        if self.situation is None:
            raise InputError(
                "simulator", wrong="the impact comes from another process, where the simulation stayed"
            )
        mujoco, (model, state) = engine(), self.situation
        data = mujoco.MjData(model)
        mujoco.mj_setState(model, data, state, integration())
        return own_outcome(model, data, threshold=self.threshold)

    @cached_property
    def distance(self) -> float:
        """Distance from the simulator's outcome over the speed before, in the kinetic-energy norm."""
        apart = (self.v - self.simulator) @ self.problem.cholesky
        return float(np.linalg.norm(apart) / np.linalg.norm(self.v_before @ self.problem.cholesky))

    def __deepcopy__(self, known: dict[int, object]) -> Impact:
        """Return the impact itself: nothing in it changes, and libraries copy ``info`` with its model."""
        return self

    def __getstate__(self) -> dict[str, object]:
        """State for pickling to another process: without the simulation."""
        return {**self.__dict__, "situation": None}


class Hook:
    """Steps a MuJoCo simulation and replaces outcomes of impacts; see `hook`.

    Parameters
    ----------
    model, data, seed : as in `hook`.
    settings : the other options of `hook`.

    Attributes
    ----------
    impacts : those of the last call of `step`.
    steps : calls of `step` so far.
    """

    def __init__(self, model: MjModel, data: MjData, settings: Settings, seed: int | None = 0) -> None:
        self.model, self.data, self.settings = model, data, settings
        self.impacts: list[Impact] = []
        self.steps = 0
        self._draw = Drawer(settings.rates, settings.restitution).draw
        self._least = 1 if settings.single else 2
        watched: Options = {"threshold": settings.threshold, "least": self._least, "limits": settings.limits}
        self._lookout = Lookout(model, data, rules=settings.simultaneity, **watched)
        self._step, self._option = engine().mj_step, model.opt  # asking for the latter takes a while
        self._numbers = engine().mj_stateSize(model, integration())
        self._rng = np.random.default_rng(seed)
        self.reset()

    def reset(self, seed: int | None = None) -> None:
        """A new episode begins at the state in the data; a seed starts the draws anew."""
        if seed is not None:
            self._rng = np.random.default_rng(integer("seed", seed, at_least=0))
        self._episode = int(self._rng.integers(2**63))
        self._mode = self.settings.mode_at(self.steps)
        self.impacts = []
        self._safe = 0  # substeps in which nothing can close
        self._lookout.forget()

    def step(self, nstep: int = 1) -> None:
        """``mujoco.mj_step(model, data, nstep)`` with impacts replaced."""
        self.impacts = []
        self.steps += 1
        mode = self._mode = self.settings.mode_at(self.steps)
        if mode == "off":
            self._step(self.model, self.data, nstep)
            return
        lookout, substep = self._lookout, self._option.timestep
        while nstep > 0:
            if self._safe < 1:
                lookout.look()
                event, safe = lookout.next_event(substep)
                if event < math.inf:
                    self._substep(event, substep)
                    nstep -= 1
                    continue
                self._safe = max(int(safe / substep), 1)  # nothing closes in the next one, at least
            done = min(self._safe, nstep)
            self._step(self.model, self.data, done)
            self._safe -= done
            nstep -= done

    def _substep(self, event: float, substep: float) -> None:
        """One substep with an event in it, ``event`` s from now."""
        begin, left = float(self.data.time), substep
        for _ in range(_ROUNDS):
            if event == math.inf:
                break
            share = self.settings.share_at(self.steps)
            if share >= 1.0 or self._rng.random() < share:
                if event > _NOT_WORTH * substep:
                    self._advance(event)
                    left -= event
                    self._lookout.look()
                self._replace()
            event, _ = self._lookout.next_event(left)
        if left == substep:
            self._step(self.model, self.data)
        elif left > 0.0:
            self._advance(left)
            self.data.time = begin + substep

    def _advance(self, duration: float) -> None:
        """A step of another length."""
        usual, self._option.timestep = self._option.timestep, duration
        try:
            self._step(self.model, self.data)
        finally:
            self._option.timestep = usual

    def _replace(self) -> None:
        """Form the impact of what is near and go on with the velocity that the mode chooses."""
        arrival = self._lookout.arrival()
        if arrival is None or arrival.kind.tolist().count(CONTACT) < self._least:
            return  # what was about to close has turned round
        state = np.empty(self._numbers)
        engine().mj_getState(self.model, self.data, state, integration())
        v, status = self._chosen(arrival)
        if status is Status.NO_IMPACT:
            return
        replaced = status is Status.SOLVED
        if replaced:
            self.data.qvel[:] = v
        found = (float(self.data.time), self._mode, replaced, status, arrival.v, np.array(v), arrival)
        told = (self.settings.restitution, self.settings.threshold)
        self.impacts.append(Impact(*found, *told, (self.model, state)))

    def _chosen(self, arrival: Arrival) -> Choice:
        if not _can_be(arrival):
            return arrival.v, Status.REFUSED
        if self._mode == "fixed":
            return self._outcome(arrival, self._episode)
        seed = self._rng.bit_generator.random_raw() >> 1  # what integers(2**63) gives, in less time
        if self._mode == "worst":
            return self._worst(arrival, seed)
        return self._noise(arrival, seed) if self._mode == "noise" else self._outcome(arrival, seed)

    def _outcome(self, arrival: Arrival, seed: int) -> Choice:
        """One random outcome."""
        drawn = self._draw(arrival, seed, 1)
        if drawn.good[0]:
            return drawn.v[0], Status.SOLVED
        if drawn.status[0] == Status.NO_IMPACT:
            return arrival.v, Status.NO_IMPACT
        drawn = self._draw(arrival, seed, _AGAIN)
        if not drawn.good.any():
            return arrival.v, _why_not(drawn)
        return drawn.v[np.argmax(drawn.good)], Status.SOLVED

    def _worst(self, arrival: Arrival, seed: int) -> Choice:
        """The worst of k random outcomes: the objective is the larger, the worse."""
        goal = self.settings.objective
        assert goal is not None
        drawn = self._draw(arrival, seed, self.settings.k)
        good = np.flatnonzero(drawn.good)
        if not good.size:
            return arrival.v, _why_not(drawn)
        candidates = drawn.v[good]
        given = goal(candidates) if callable(goal) else candidates @ np.asarray(goal, dtype=np.float64)
        values = real_array("objective", given, [(len(candidates),)], f"shape ({len(candidates)},)")
        return candidates[int(np.argmax(values))], Status.SOLVED

    def _noise(self, arrival: Arrival, seed: int) -> Choice:
        """The velocity before with a kick in a random direction, as large as two random outcomes differ.

        Size and direction are those of the kinetic-energy norm.
        """
        drawn = self._draw(arrival, seed, 2)
        if not drawn.good.all():
            return arrival.v, _why_not(drawn)
        L = np.linalg.cholesky(arrival.M)
        size = float(np.linalg.norm((drawn.v[0] - drawn.v[1]) @ L))
        direction = np.random.default_rng(seed).normal(size=len(arrival.v))
        kick = np.linalg.solve(L.T, size * direction / np.linalg.norm(direction))
        return arrival.v + kick, Status.SOLVED


def _why_not(drawn: Drawn) -> Status:
    """The worst status; samples that ended and are not good are wrong in numbers."""
    worst_status = Status(int(drawn.status.max()))
    return Status.NUMERICAL if worst_status is Status.SOLVED else worst_status


def _can_be(arrival: Arrival) -> bool:
    """Whether an impact can begin here: numbers, and nothing too deep inside (m) or past its limit (rad)."""
    if not math.isfinite(sum(arrival.v.tolist())):
        return False
    if min(arrival.depth.tolist()) >= -DEEPEST_OF_MANY:  # of so few faster than by NumPy
        return True
    deepest = np.where(arrival.kind == CONTACT, DEEPEST_OF_MANY, PAST_LIMIT_OF_MANY)
    return bool(np.all(arrival.depth >= -deepest))


def hook(model: MjModel, data: MjData, *, seed: int = 0, **options: Unpack[HookOptions]) -> Hook:
    """A `Hook` for any MuJoCo simulation: call ``hook.step(nstep)`` in place of ``mujoco.mj_step``.

    After a change of the state from outside, and after a change of the model, call ``hook.reset()``.

    Parameters
    ----------
    model : MjModel of the simulation.
    data : MjData of the simulation.
    seed : of the draws.
    options : those of `Settings`: mode, share, rates, threshold, window, gap, single, limits,
        restitution, objective, k.
    """
    return Hook(model, data, Settings(**options), seed)
