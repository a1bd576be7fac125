"""What was done to one impact of a simulation, and what can be asked about it afterwards."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np

from routh.auditing.rollout import own_outcome
from routh.models.mujoco.engine import engine
from routh.models.mujoco.lookout import Arrival
from routh.problem import ImpactProblem
from routh.sampling.sampler import sample
from routh.status import Status
from routh.validation import Array

if TYPE_CHECKING:
    from mujoco import MjModel

_SAMPLES = 64  # outcomes from which the ambiguity is estimated


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
    v_after: Array = field(repr=False)  # (nv,) qvel, as the simulation went on
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
        before, after = (self.problem.kinetic_energy(v) for v in (self.v_before, self.v_after))
        return float((before - after) / before)

    @cached_property
    def simulator(self) -> Array:
        """The velocity (nv,) that MuJoCo's own contacts lead to from there, without other forces' share.

        The model must not have been changed since: look at it before the next reset.
        """
        if self.situation is None:
            raise ValueError("simulator: the impact comes from another process, where the simulation stayed")
        mujoco, (model, state) = engine(), self.situation
        data = mujoco.MjData(model)
        mujoco.mj_setState(model, data, state, integration())
        return own_outcome(model, data, threshold=self.threshold)

    @cached_property
    def distance(self) -> float:
        """From the simulator's own outcome, as a share of the speed before, in the kinetic-energy norm."""
        apart = (self.v_after - self.simulator) @ self.problem.cholesky
        return float(np.linalg.norm(apart) / np.linalg.norm(self.v_before @ self.problem.cholesky))

    def __deepcopy__(self, known: dict[int, object]) -> Impact:
        """Itself: nothing in it changes, and some libraries copy every ``info``, with the model in it."""
        return self

    def __getstate__(self) -> dict[str, object]:
        """For another process: without the simulation."""
        return {**self.__dict__, "situation": None}
