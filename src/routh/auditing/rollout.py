"""Roll MuJoCo out, catch its impacts, and ask of each whether its outcome is in the set of outcomes.

MuJoCo's contacts are soft: what is one instant for rigid bodies takes it some steps. An impact begins where a
contact approaches faster than a threshold and ends when no contact in play approaches any more; its outcome
is the velocity then. The velocity before is the one that gravity, motors and springs alone would have led to
by then, so that exactly the impulses of contacts and limits stand between the two. Mass matrix and contacts
are those of the beginning.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from routh.auditing.membership import Audit
from routh.auditing.membership import audit as audit_outcome
from routh.base.status import ModelError, StateError, Status
from routh.base.validation import Array, Options, deadline_of, integer, real, seconds_left
from routh.models.mujoco.contacts import geom_name, near_contacts
from routh.models.mujoco.engine import engine, mass_matrix
from routh.models.mujoco.impacts import build
from routh.models.robot import NoContactError, RobotProblem
from routh.models.simultaneity import DEEPEST_OF_MANY, PAST_LIMIT_OF_MANY, Rules, Simultaneity

if TYPE_CHECKING:
    from mujoco import MjData, MjModel


#: An impact is over when what is left of its approach is this share.
_OVER = 0.02


@dataclass(frozen=True, eq=False)
class CaughtImpact:
    """One impact of a rollout."""

    time: float  # s, when it began
    duration: float  # s, how long MuJoCo's contacts took
    problem: RobotProblem = field(repr=False)
    v: Array = field(repr=False)  # (nv,) MuJoCo's outcome, in the problem's velocities
    audit: Audit = field(repr=False)


@dataclass(frozen=True, eq=False)
class RolloutAudit:
    """All impacts of a rollout, in order."""

    model_name: str
    duration: float  # s
    timestep: float  # s
    impacts: tuple[CaughtImpact, ...]
    skipped: int  # impacts after the largest number that was asked for
    unrepresented: tuple[str, ...]
    refused: tuple[str, ...] = ()  # impacts that began in a state that cannot be: when, and why
    status: Status = Status.SOLVED  # OUT_OF_TIME: the rollout was cut off at ``duration`` by budget=

    @property
    def distances(self) -> Array:
        """Distance of MuJoCo's outcome from the set, as a share of the speed before, one per impact."""
        return np.array([impact.audit.distance for impact in self.impacts])


def audit(
    model: MjModel,
    data: MjData,
    *,
    duration: float,
    control: Callable[[MjModel, MjData], None] | None = None,
    threshold: float = 0.1,
    longest: float = 0.1,
    window: float | None = None,
    gap: float | None = None,
    n: int = 256,
    seed: int = 0,
    friction: str = "cone",
    tolerance: float = 0.05,
    max_impacts: int = 50,
    deepest: float | None = DEEPEST_OF_MANY,
    past_limit: float | None = PAST_LIMIT_OF_MANY,
    budget: float | None = None,
) -> RolloutAudit:
    """Audit MuJoCo's own impacts from the state in ``data``, which moves on by ``duration``.

    Parameters
    ----------
    duration : s.
    control : called with model and data before each step, may set ``data.ctrl``.
    threshold : m/s (rad/s for limits): slower approaches are no impacts.
    longest : s: an impact that takes longer is cut off there.
    window : s: of the geoms that push in an impact, contacts take part that touch when it begins, or that
        close within this time or while it lasts; default 5 ms.
    gap : m: instead of a window, those within this distance, or that close while it lasts.
    n, seed, friction : of the samples of each impact, as in `routh.sample`.
    tolerance : share of the speed before up to which laws count as kept; soft contacts need some.
    max_impacts : further ones are counted, not audited.
    deepest : impacts that begin with bodies overlapping by more (m) are named in ``refused``, not audited;
        None: any.
    past_limit : the same of joints farther past their limits, rad.
    budget : seconds of waiting; what was audited by then is returned, with the status OUT_OF_TIME: the last
        impact perhaps with fewer samples.

    Raises
    ------
    routh.base.status.ModelError
        Where MuJoCo's simulation gets unstable.
    """
    real("duration", duration, above=0.0)
    integer("max_impacts", max_impacts, at_least=1)
    real("threshold", threshold, above=0.0)
    real("longest", longest, above=0.0)
    options: Options = {"deepest": deepest, "past_limit": past_limit}
    simultaneity = Simultaneity(window=window, gap=gap)
    catcher = _Catcher(model, data, control, threshold, longest, simultaneity, options)
    impacts: list[CaughtImpact] = []
    skipped, notes = 0, dict[str, None]()
    begin, deadline, status = float(data.time), deadline_of(budget), Status.SOLVED
    while data.time < begin + duration - 0.5 * model.opt.timestep:
        if time.monotonic() >= deadline:
            duration, status = float(data.time) - begin, Status.OUT_OF_TIME
            break
        caught = catcher.step()
        if caught is None:
            continue
        if len(impacts) == max_impacts:
            skipped += 1
            continue
        start, length, problem, after = caught
        drawing: Options = {"n": n, "seed": seed, "friction": friction, "budget": seconds_left(deadline)}
        found = audit_outcome(problem, after, tolerance=tolerance, **drawing)
        if not found.complete:
            status = Status.OUT_OF_TIME
        notes.update(dict.fromkeys(problem.unrepresented))
        impacts.append(CaughtImpact(start, length, problem, after, found))
    name = str(getattr(model, "names", b"")[:64].split(b"\0")[0].decode(errors="replace")) or "model"
    return RolloutAudit(
        name,
        duration,
        float(model.opt.timestep),
        tuple(impacts),
        skipped,
        tuple(notes),
        tuple(catcher.refused),
        status,
    )


def own_outcome(model: MjModel, data: MjData, *, threshold: float = 0.1, longest: float = 0.1) -> Array:
    """The velocity (nv,) to which MuJoCo's own contacts and limits lead, without gravity, motors and springs.

    From the state in ``data``, which moves on, until nothing approaches any more, or for ``longest`` (s).
    Contacts that close within three steps count; ``threshold`` (m/s): slower approaches are no impact.
    """
    alone = copy.copy(model)
    flags = engine().mjtDisableBit
    for name in ("GRAVITY", "ACTUATION", "PASSIVE", "SPRING", "DAMPER"):  # the last two in newer versions
        alone.opt.disableflags |= int(getattr(flags, f"mjDSBL_{name}", 0))
    data.qfrc_applied[:], data.xfrc_applied[:] = 0.0, 0.0
    catcher = _Catcher(alone, data, None, threshold, longest, Simultaneity(), {})
    engine().mj_forward(alone, data)
    begin, fastest = float(data.time), 0.0
    while data.time < begin + longest:
        approach, _ = catcher.approaching()
        fastest = max(fastest, approach)
        over = approach <= max(_OVER * fastest, 1e-3 * threshold)
        if over and (fastest > threshold or data.time > begin + 3.0 * model.opt.timestep):
            break
        engine().mj_step(alone, data)
        engine().mj_forward(alone, data)
    return np.array(data.qvel)


Caught = tuple[float, float, RobotProblem, Array]


@dataclass(eq=False)
class _Catcher:
    """Steps MuJoCo and collects what its contacts do between the beginning and the end of an impact."""

    model: MjModel
    data: MjData
    control: Callable[[MjModel, MjData], None] | None
    threshold: float  # m/s
    longest: float  # s
    simultaneity: Simultaneity
    options: Options  # of the impact's problem
    refused: list[str] = field(default_factory=list)

    def step(self) -> Caught | None:
        """One step of free motion, or a whole impact."""
        self._forward()
        approach, active = self.approaching()
        if approach <= self.threshold:
            self._advance()
            return None
        before = copy.copy(self.data)
        start, momentum = float(self.data.time), np.zeros(self.model.nv)
        pairs, fastest = set[tuple[str, str]](), approach
        while (
            approach > max(_OVER * fastest, 1e-3 * self.threshold) and self.data.time < start + self.longest
        ):
            pairs |= active
            momentum += self._advance_and_collect()
            self._forward()
            approach, active = self.approaching()
            fastest = max(fastest, approach)
        length, asked = float(self.data.time) - start, self.simultaneity
        rules = Rules(window=max(length, asked.horizon), touching=asked.near, **self.options)
        try:
            found = build(self.model, before, rules, pairs=pairs)
        except StateError as error:
            self.refused.append(f"{start:g} s: {error}")
            return None
        except NoContactError:  # only contacts that nothing can change
            return None
        after = found.allowed(self.data.qvel)
        problem = found.replace(v=after - found.solve_mass(found.functional(momentum)))
        assert isinstance(problem, RobotProblem)
        return (start, length, problem, after) if np.any(problem.approaching) else None

    def _forward(self) -> None:
        if self.control is not None:
            self.control(self.model, self.data)
        engine().mj_forward(self.model, self.data)

    def _advance(self) -> None:
        before = float(self.data.time)
        engine().mj_step(self.model, self.data)
        if not (self.data.time > before and np.all(np.isfinite(self.data.qvel))):  # MuJoCo may start again
            raise ModelError(
                wrong=f"the simulation became unstable at {before:g} s", wanted="one that stays finite"
            )

    def _advance_and_collect(self) -> Array:
        """One step, and the momentum (nv,) that contacts and limits gave in it."""
        model, data = self.model, self.data
        if int(model.opt.integrator) != int(engine().mjtIntegrator.mjINT_RK4):
            impulse = model.opt.timestep * self._contact_force()
            self._advance()
            return impulse
        # four stages see four forces: what the smooth ones do not explain is the constraints'
        M, smooth, velocity = mass_matrix(model, data), data.qfrc_smooth.copy(), data.qvel.copy()
        self._advance()
        return np.asarray(M @ (data.qvel - velocity) - model.opt.timestep * smooth)

    def approaching(self) -> tuple[float, set[tuple[str, str]]]:
        """The fastest approach of what touches (m/s), and the pairs of geoms that push."""
        model, data = self.model, self.data
        fastest, pairs = 0.0, set()
        velocity = np.zeros(data.nefc)
        engine().mj_mulJacVec(model, data, velocity, data.qvel)
        pyramidal = int(model.opt.cone) == int(engine().mjtCone.mjCONE_PYRAMIDAL)
        for contact in near_contacts(data):
            row = contact.efc_address
            if row < 0 or min(contact.geom) < 0:
                continue
            pairs.add((geom_name(model, int(contact.geom[0])), geom_name(model, int(contact.geom[1]))))
            # rows of a pyramid are the normal plus and minus a tangent: their mean is the normal
            wide = pyramidal and contact.dim > 1
            normal = 0.5 * (velocity[row] + velocity[row + 1]) if wide else velocity[row]
            fastest = max(fastest, -float(normal))
        kinds = engine().mjtConstraint
        for kind in (kinds.mjCNSTR_LIMIT_JOINT, kinds.mjCNSTR_LIMIT_TENDON):
            at_limit = np.flatnonzero(data.efc_type[: data.nefc] == int(kind))
            if at_limit.size:
                fastest = max(fastest, -float(velocity[at_limit].min()))
        return fastest, pairs

    def _contact_force(self) -> Array:
        """Generalized force of contacts and limits at this state, (nv,): no equalities, no friction loss."""
        kinds = engine().mjtConstraint
        left_out = (
            int(kinds.mjCNSTR_EQUALITY),
            int(kinds.mjCNSTR_FRICTION_DOF),
            int(kinds.mjCNSTR_FRICTION_TENDON),
        )
        force = np.array(self.data.efc_force[: self.data.nefc], dtype=np.float64)
        force[np.isin(self.data.efc_type[: self.data.nefc], left_out)] = 0.0
        result = np.zeros(self.model.nv)
        engine().mj_mulJacTVec(self.model, self.data, result, force)
        return result
