"""Event-driven simulation through impacts: solutions of the time-augmented inclusion HP23 (53).

`simulate` is at the end; `Run` is its loop (impact, choose a mode, flow, and again); `Recorder` writes it
down.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from routh.base import tolerances
from routh.base.status import StateError, Status
from routh.base.validation import Array, integer, real
from routh.laws import ImpactLaw, ImpactResult, SetValued, Simultaneous
from routh.models.base import ContactWatch, Model, SpringyModel, State, WatchedModel
from routh.models.robots.wrapping import as_model, start_of
from routh.models.simultaneity import Simultaneity
from routh.problem.friction import ContactMode
from routh.problem.impact import ImpactProblem
from routh.sim import flow, zeno
from routh.sim.contact_forces import Mode, ModeForces
from routh.sim.flow import Course, Flow, Options, Patience, run_mode
from routh.sim.mechanism import Control, Mechanism
from routh.sim.mode_motion import NO_SLIP, ModeMotion, Sample
from routh.sim.modes import Selection, select
from routh.sim.settling import settle
from routh.sim.trajectory import Event, Trajectory

if TYPE_CHECKING:
    from routh.models.robots.wrapping import Movable, Start

_FLAT = 1e-9  # smallest eigenvalue of M, scaled to a unit diagonal, below which M itself is what is singular
_NOWHERE = 1e-6  # share of the duration: many steps and events that take a motion no further lead nowhere
_PER_EVENT = 100  # steps for each event that is allowed
MOST_AT_ONCE = 100  # impacts and mode changes at one instant before the simulation gives up


class Recorder:
    """Rows of a trajectory under construction; ``ds = dt + sum of normal impulse`` (HP23 (46), (52))."""

    def __init__(self, model: Model, t: float, q: Array, v: Array) -> None:
        self.model = model
        self.names = tuple(info.name for info in model.contacts)
        self._zero = self._waiting = np.zeros((len(self.names), 1 + model.nt))
        self.t, self.s, self.q, self.v = [t], [0.0], [q.copy()], [v.copy()]
        self.impulses, self.forces, self.forces_after = [self._zero], [self._zero], [self._zero]
        self.status, self.residuals = [Status.SOLVED], [0.0]
        self.events: list[Event] = []

    @property
    def index(self) -> int:
        """Index of the last sample."""
        return len(self.t) - 1

    def add(
        self,
        t: float,
        q: Array,
        v: Array,
        impulse: Array,
        *,
        force: Array | None = None,
        status: Status = Status.SOLVED,
        residual: float = 0.0,
    ) -> None:
        """A sample with the impulses (nc, 1 + nt) since the one before; dropped where s does not move."""
        impulse = impulse + self._waiting
        s = self.s[-1] + (t - self.t[-1]) + float(impulse[:, 0].sum())
        if not s > self.s[-1]:
            # the state after an impact stays what it is: there q stands still, and v is what impulses made it
            leaves_impact = self.index > 0 and self.t[-1] == self.t[-2] and t > self.t[-1]
            if status.ok and not leaves_impact:
                # nothing happened, or less than s can resolve: keep the newer state, count the impulse later
                self.q[-1], self.v[-1], self._waiting = q.copy(), v.copy(), impulse
                return
            s = math.nextafter(self.s[-1], math.inf)
        self._waiting = self._zero
        self.t.append(t)
        self.s.append(s)
        self.q.append(q.copy())
        self.v.append(v.copy())
        self.impulses.append(impulse)
        self.forces.append(self._zero if force is None else force)
        self.forces_after.append(self.forces[-1])
        self.status.append(status)
        self.residuals.append(residual)

    def extend(self, samples: Sequence[Sample]) -> None:
        """Samples of a smooth motion after the first, which is the last sample so far."""
        since = samples[0].impulse
        for sample in samples[1:]:
            self.add(sample.t, sample.q, sample.v, sample.impulse - since, force=sample.force)
            since = sample.impulse

    def begin(self, force: Array) -> None:
        """Smooth motion begins at the last sample with these contact forces."""
        self.forces_after[-1] = force

    def settle(self, v: Array) -> None:
        """The velocity of the last sample without what is left of a slip that has come to its end."""
        self.v[-1] = v.copy()

    def event(self, kind: str, contacts: tuple[int, ...] = (), **data: object) -> None:
        """Something that happened at the last sample."""
        names = tuple(self.names[i] for i in contacts)
        self.events.append(Event(kind, self.t[-1], self.index, names, data))

    def trajectory(self) -> Trajectory:
        """Everything so far."""
        q, v = np.array(self.q), np.array(self.v)
        return Trajectory(
            np.array(self.t),
            q,
            v,
            s=np.array(self.s),
            impulse=np.array(self.impulses),
            events=tuple(self.events),
            forces={"contacts": np.array(self.forces), "contacts after": np.array(self.forces_after)},
            energies=getattr(self.model, "energies", self._energies)(q, v),
            status=np.array(self.status, dtype=np.int8),
            residuals=np.array(self.residuals),
            contacts=self.names,
            coordinates=getattr(self.model, "coordinates", ()),
        )

    def _energies(self, q: Array, v: Array) -> dict[str, Array]:
        """Energies at the samples, of models that do not tell many at once."""
        potential = getattr(self.model, "potential", None)
        found: dict[str, list[float]] = {"kinetic": [], **({} if potential is None else {"potential": []})}
        for p, w in zip(q, v, strict=True):
            found["kinetic"].append(float(0.5 * w @ self.model.mass(p) @ w))
            if potential is not None:
                found["potential"].append(potential(p))
        return {name: np.array(values) for name, values in found.items()}


@dataclass(frozen=True, eq=False, kw_only=True)
class RunSettings(Options):
    """What a run is asked to do."""

    end: float  # s
    sample_dt: float  # s
    max_events: int
    law: ImpactLaw
    simultaneity: Simultaneity
    rng: np.random.Generator
    seed: int = 0
    number: int = 0  # of the future; above 0 its first impact with several outcomes has one that is far apart


@dataclass(frozen=True)
class TimedImpact:
    """One instant of impact, kept to recognise Zeno behaviour."""

    t: float
    index: int  # of the sample after it
    contacts: tuple[int, ...]
    approach: float  # m/s, the fastest


class Run:
    """One simulation under way."""

    def __init__(self, mechanism: Mechanism, state: State, settings: RunSettings) -> None:
        self.mechanism, self.settings = mechanism, settings
        self.t, self.q, self.v = state.t, state.q, state.v
        self.record = Recorder(mechanism.model, state.t, state.q, state.v)
        count = int((settings.end - state.t) / settings.sample_dt)
        self.grid = state.t + settings.sample_dt * np.arange(1, count + 1)
        self.mode: Mode = ()
        self.excluded: set[Mode] = set()
        self.stopped_slip: set[int] = set()  # contacts whose slip has just come to an end
        self.impacts: list[TimedImpact] = []
        self.pushed: dict[int, float] = {}  # open contacts that took part in an impact, and when
        self.scale = mechanism.speed(self.q, self.v)
        free = mechanism.speed(self.q, mechanism.snapshot(self.t, self.q, self.v).free)
        self.fastest = max(self.scale, tolerances.FALL * free * (settings.end - self.t))
        self.events = self.at_once = 0
        self.patience = Patience(_NOWHERE * (settings.end - state.t), _PER_EVENT * settings.max_events)
        self.stopped = False
        self.watch = mechanism.model.watch() if isinstance(mechanism.model, WatchedModel) else None
        self.looked = 0  # at so many samples
        self.parted = settings.number == 0  # from the other futures

    def finish(self) -> Trajectory:
        """Run to the end, or to what stops it."""
        while self.t < self.settings.end and not self.stopped:
            try:
                self._advance()
            except np.linalg.LinAlgError as error:
                self._stop(Status.NUMERICAL, f"a linear system could not be solved: {error}")
            if not (np.all(np.isfinite(self.q)) and np.all(np.isfinite(self.v))):
                self._stop(Status.NUMERICAL, "the state is not finite")
            elif self.watch is not None:
                self._look_again(self.watch)
        return self.record.trajectory()

    def _look_again(self, watch: ContactWatch) -> None:
        """Stop where bodies have moved into each other in points that are no contacts of the model."""
        for t, q in zip(self.record.t[self.looked :], self.record.q[self.looked :], strict=True):
            overlap = watch.at(q, self.mechanism.model.gaps(q))[0]
            if overlap > tolerances.VERIFY_OVERLAP * max(1.0, float(np.abs(q).max())):
                why = "where edges cross, or in another point that is no contact of the model"
                where = f"{watch.deepest} overlap by {overlap:.2g} m at {t:.6g} s"
                return self._stop(Status.REFUSED, f"{where}, {why}; `routh.step_through` follows it")
        self.looked = len(self.record.t)

    def _advance(self) -> None:
        self.events += 1
        self.at_once += 1
        if self.events > self.settings.max_events:
            return self._stop(Status.INCOMPLETE, f"{self.settings.max_events} events were reached")
        if time.monotonic() > self.settings.deadline:
            return self._stop(Status.OUT_OF_TIME, "the time allowed by budget= ran out")
        if self.at_once > MOST_AT_ONCE:
            return self._stop(Status.INCOMPLETE, f"{MOST_AT_ONCE} events at one instant")
        if reason := self.patience.lost(self.t):
            return self._stop(Status.INCOMPLETE, reason)
        closed, normal, tolerance = self._contacts()
        if np.any(closed & (normal < -tolerance)):
            return self._impact(())
        resting = [int(i) for i in np.flatnonzero(closed & (normal <= tolerance))]
        selection = self._select(resting, tolerance, followed=True)
        if not selection.choices and self.excluded and self.at_once == 1:
            self.excluded = set()  # the mode that has just ended is the only one
            selection = self._select(resting, tolerance, followed=True)
        if not selection.choices and resting:
            # slip that the integrator does not know may be none
            selection = self._select(resting, tolerance + self._unknown())
        if not selection.choices:
            if not resting:
                return self._stop(Status.NUMERICAL, "free motion ends as soon as it begins")
            return self._impact(tuple(resting))
        leaving = frozenset(np.flatnonzero(closed & (normal > tolerance)).tolist())
        return self._flow(self._drawn(selection, resting), leaving, selection.slipping)

    def _contacts(self) -> tuple[np.ndarray, Array, Array]:
        """Which contacts are closed, all normal velocities, and the speed below which they are zero."""
        model = self.mechanism.model
        closed = model.gaps(self.q) <= self.settings.gap
        Jn = model.jacobians(self.q)[0]
        normal = Jn @ self.v
        if self._still():
            return closed, normal, np.full(len(normal), np.inf)
        inverse_mass = self.mechanism.snapshot(self.t, self.q, self.v).inverse_mass
        root = np.sqrt(np.einsum("ij,jk,ik->i", Jn, inverse_mass, Jn))
        return closed, normal, root * (tolerances.REST * self.scale + tolerances.REST_FLOOR * self.fastest)

    def _select(self, resting: list[int], tolerance: Array, *, followed: bool = False) -> Selection:
        """What the accelerations allow; slip that was ``followed`` until now is known better."""
        snapshot = self.mechanism.snapshot(self.t, self.q, self.v)
        slip = np.linalg.norm(snapshot.contact_velocity[:, 1:], axis=1)
        slipping = slip > tolerance
        if followed:
            slid = [hold.contact for hold in self.mode if not hold.sticks]
            slipping[slid] |= slip[slid] > NO_SLIP
        slipping[list(self.stopped_slip)] = False
        return select(self.mechanism, snapshot, resting, slipping, self.excluded)

    def _unknown(self) -> Array:
        """Contact velocities (nc,) m/s that the integrator does not tell from none."""
        snapshot = self.mechanism.snapshot(self.t, self.q, self.v)
        Jn = snapshot.J[:, 0]
        return (
            np.sqrt(np.einsum("ij,jk,ik->i", Jn, snapshot.inverse_mass, Jn)) * tolerances.STILL * self.fastest
        )

    def _drawn(self, selection: Selection, resting: list[int]) -> ModeForces:
        """The solution to continue with; the choice is logged where there was one."""
        count = len(selection.choices)
        if count == 1:
            return selection.choices[0]
        pick = int(self.settings.rng.integers(count))
        words = [self._words(choice.mode, resting) for choice in selection.choices]
        self.record.event("choice", tuple(resting), solutions=words, drawn=pick, complete=selection.complete)
        return selection.choices[pick]

    def _words(self, mode: Mode, resting: list[int]) -> dict[str, str]:
        held = {hold.contact: ContactMode.STICKS if hold.sticks else ContactMode.SLIDES for hold in mode}
        return {self.mechanism.names[i]: held.get(i, ContactMode.SEPARATES).word for i in resting}

    def _impact(self, without_collision: tuple[int, ...]) -> None:
        """Let the law resolve an impact of all simultaneous contacts; t and q stand still (HP23 (49)).

        It begins with the velocity that stands in the record: a mode that ended at once has left a trace in
        ``v``, by what the mode took for none, and no impulse would explain that.
        """
        self.v = self.record.v[-1].copy()
        if not without_collision and self._settles():
            return None
        problem, rows = self._colliding()
        approach = float(max(-(problem.Jn @ problem.v).min(), 0.0))
        names = [self.mechanism.names[i] for i in without_collision]
        law, result = self._resolved(problem, names)
        kind = "impact without collision" if without_collision else "impact"
        took_part = tuple(rows[i] for i in np.flatnonzero(result.impulse[:, 0] > 0.0))
        told = {name: getattr(law, name) for name in ("friction", "facets") if hasattr(law, name)}
        self.record.event(
            kind,
            took_part,
            closed=problem.names,
            window=self.settings.simultaneity.window,
            soon=dict(problem.soon),
            v_before=self.v.copy(),
            v_after=result.v.copy(),
            steps=len(result.path.impulse),
            path=str(result.path.kind),
            law=type(law).__name__,
            **told,
        )
        for v, increment in zip(result.path.v[1:], result.path.impulse, strict=True):
            impulse = np.zeros((self.mechanism.nc, self.mechanism.width))
            impulse[rows] = increment
            self.record.add(self.t, self.q, v, impulse, status=result.status, residual=result.residual)
        if not result.status.ok:
            return self._stop(result.status, f"the impact law ended with: {result.status.sentence}")
        self.scale = problem.speed
        self.v = result.v.copy()
        self.mode, self.excluded, self.stopped_slip = (), set(), set()
        if not self.impacts or self.t > self.impacts[-1].t:
            self.impacts.append(TimedImpact(self.t, self.record.index, took_part, approach))
            self._extrapolate()

    def _settles(self) -> bool:
        """Whether the impacts from here on were hops too low to open a contact, which one step has taken."""
        law = self.settings.law
        elastic = any(info.restitution > 0.0 for info in self.mechanism.model.contacts)
        if not isinstance(law, SetValued) or elastic or self.settings.simultaneity.gap is not None:
            return False
        stopping = Simultaneous(friction=law.friction, facets=law.facets)
        noise, end = self._contacts()[2], self.settings.end
        most = 0.5 * tolerances.VERIFY_ENERGY * self.fastest**2
        found = settle(self.mechanism, self.t, self.q, self.v, noise, stopping, end, most)
        if found is None or not self.record.s[-1] + (found.t - self.t) > self.record.s[-1]:
            return False
        self.t, self.q, self.v = found.t, found.q, found.v
        self.scale = self.mechanism.speed(self.q, self.v)
        self.at_once, self.impacts = 0, []
        self.mode, self.excluded, self.stopped_slip = (), set(), set()
        self.record.add(self.t, self.q, self.v, found.impulse)
        self.record.event("settle", found.contacts, friction=law.friction, facets=law.facets)
        return True

    def _colliding(self) -> tuple[ImpactProblem, list[int]]:
        """The impact of now, and the numbers of its contacts.

        An open contact pushes once in a window: else bodies that settle in ever smaller hops would be stopped
        above the ground again and again.
        """
        model, together = self.mechanism.model, self.settings.simultaneity
        gaps = model.gaps(self.q)
        gap = None if together.gap is None else max(together.gap, float(gaps.min()))
        problem = model.problem(State(self.q, self.v, self.t), window=together.window, gap=gap)
        rows = [self.mechanism.names.index(name) for name in problem.names]
        if together.gap is None:
            apart = [row for row in rows if gaps[row] > self.settings.gap]
            again = [row for row in apart if self.t - self.pushed.get(row, -np.inf) <= together.horizon]
            if again:
                rows = [row for row in rows if row not in again]
                problem = problem.subset([self.mechanism.names[row] for row in rows])
            self.pushed |= {row: self.t for row in apart if row not in again}
        return problem, rows

    def _resolved(
        self, problem: ImpactProblem, without_collision: list[str]
    ) -> tuple[ImpactLaw, ImpactResult]:
        """The outcome, and the law that gave it.

        Draws let bodies that settle hop on and on. A hop too low to open a contact is none: where `_settles`
        found no step, all contacts stop at once, if that has a solution.
        """
        law = self.settings.law
        if isinstance(law, SetValued) and not without_collision and not np.any(problem.restitution > 0.0):
            free = problem.Jn @ self.mechanism.snapshot(self.t, self.q, self.v).free  # m/s^2
            hop = (problem.Jn @ problem.v) ** 2 / np.maximum(2.0 * np.abs(free), 1e-300)  # m
            if np.all(hop[problem.approaching] < self.settings.gap):
                stopping = Simultaneous(friction=law.friction, facets=law.facets)
                result = stopping(problem)
                if result.status is Status.SOLVED:
                    return stopping, result
        if isinstance(law, SetValued) and not without_collision and not self.parted:
            found = law.far_apart(problem, self.settings.seed, self.settings.number - 1)
            if found is not None or law.far_apart(problem, self.settings.seed, 0) is not None:
                self.parted = True
            if found is not None and found.status.ok:
                return law, found
        return law, law(problem, self.settings.rng, without_collision=without_collision)

    def _flow(self, chosen: ModeForces, leaving: frozenset[int], slipping: np.ndarray) -> None:
        """Move smoothly in the chosen mode and log how it differs from the one before."""
        self._log_change(chosen.mode)
        self.mode = chosen.mode
        motion = ModeMotion(self.mechanism, chosen.mode)
        begins = [motion.contacts[i] for i in motion.rubbing if not slipping[motion.contacts[i]]]
        if begins:  # from none: what an event took for none has a direction, and friction would oppose it
            others = [c for c in motion.sliding if c not in begins]
            self.v = self.mechanism.hold(self.q, self.v, [*motion.sticking, *begins], others)
        grid = self.grid[np.searchsorted(self.grid, self.t, side="right") :].tolist()
        flow = self._run_mode(motion, grid, leaving)
        started = self.t
        self.record.begin(flow.samples[0].force)
        # a mode that ends at once leaves no trace but the next choice
        self.record.extend([flow.samples[0], *(one for one in flow.samples[1:] if one.t > started)])
        last = flow.samples[-1]
        moved = last.t > started
        if moved:  # else this very state has to tell which other mode follows
            self.t, self.q, self.v = last.t, last.q, last.v
            self.scale = self.mechanism.speed(self.q, self.v)
            self.fastest = max(self.fastest, self.scale)
            self.at_once = 0
            self.excluded, self.stopped_slip = set(), set()
            if flow.reason in ("open", "slip"):  # the mode has ended, though its forces are still possible
                self.excluded.add(motion.present(self.mechanism.snapshot(self.t, self.q, self.v)))
        if flow.reason == "singular":
            self.record.event("singular", flow.contacts)
            worst = self.mechanism.flattening(self.q)
            if flow.contacts and worst > _FLAT:
                return self._impact(flow.contacts)
            cause = f"; some motion has no inertia (M is singular to {worst:.0e})" if worst <= _FLAT else ""
            return self._stop(Status.NUMERICAL, f"the integrator's step became too small{cause}")
        if flow.reason == "jam" and moved:  # else there may be another mode
            return self._impact(flow.contacts)
        if flow.reason == "graze":
            self.record.event("graze", flow.contacts)
        if flow.reason == "stick":
            self.stopped_slip |= set(flow.contacts)
            sticking = [*motion.sticking, *flow.contacts]
            sliding = [c for c in motion.sliding if c not in sticking]
            self.v = self.mechanism.hold(self.q, self.v, sticking, sliding)
            if moved:  # else the last sample is that of an impact, which its impulses explain
                self.record.settle(self.v)
        if not moved and flow.reason != "end":
            self.excluded.add(chosen.mode)
        return None

    def _run_mode(self, motion: ModeMotion, grid: list[float], leaving: frozenset[int]) -> Flow:
        """Run a mode by compiled code, where that knows the forces; else the readable way, from the start."""
        end, options = self.settings.end, self.settings
        start = motion, self.t, self.q, self.v, end, options, self.fastest
        if flow.suits(motion):
            with contextlib.suppress(flow.NotKnownError):
                return run_mode(flow.QuickCourse(*start), end, grid, options, leaving, self.patience)
        return run_mode(Course(*start), end, grid, options, leaving, self.patience)

    def _log_change(self, mode: Mode) -> None:
        before = {hold.contact: hold.direction for hold in self.mode}
        after = {hold.contact: hold.direction for hold in mode}
        changes: dict[str, list[int]] = {"open": [], "close": [], "stick": [], "slip": []}
        for contact in sorted({*before, *after}):
            if contact not in after:
                changes["open"].append(contact)
            elif contact not in before:
                changes["close"].append(contact)
            elif before[contact] != after[contact] and (before[contact] is None or after[contact] is None):
                changes["stick" if after[contact] is None else "slip"].append(contact)
        for kind, contacts in changes.items():
            if contacts:
                slipping = [self.mechanism.names[c] for c in contacts if after.get(c) is not None]
                self.record.event(kind, tuple(contacts), slipping=slipping)

    def _extrapolate(self) -> None:
        """Jump to the accumulation point of a Zeno sequence, if the impacts so far run into one."""
        found = None if self._still() else zeno.accumulation([impact.t for impact in self.impacts])
        if found is None or self.t + found.remaining >= self.settings.end:
            return
        back = zeno.pattern([impact.contacts for impact in self.impacts], found.cycle)
        cycle = self.impacts[-back - 1 :]
        closed = np.flatnonzero(self._contacts()[0]).tolist()
        contacts = tuple(sorted({*closed, *(c for impact in cycle[1:] for c in impact.contacts)}))
        # what a cycle leaves behind (impulses of impacts and of sustained contact) decays like its duration
        rows = np.array(self.record.impulses[cycle[0].index + 1 : cycle[-1].index + 1])
        impulse = rows.sum(axis=0) * found.rest(back)
        left = cycle[-1].approach
        v = self.mechanism.hold(self.q, self.v, [], contacts)
        slip = np.linalg.norm(self.mechanism.J(self.q)[:, 1:] @ v, axis=1)
        sticking = [c for c in contacts if slip[c] <= 3.0 * left]
        v = self.mechanism.hold(self.q, v, sticking, [c for c in contacts if c not in sticking])
        q = self.mechanism.close(self.mechanism.model.integrate(self.q, v, found.remaining), contacts)
        end = self.mechanism.snapshot(self.t + found.remaining, q, v)
        wanted = self.mechanism.model.mass(q) @ (v - self.v - found.remaining * end.free)
        balanced = zeno.balanced(impulse, wanted, end.J, self.mechanism.mu, contacts)
        if balanced is None:
            return
        self.t, self.q, self.v = end.t, q, v
        self.scale = max(self.mechanism.speed(self.q, v), 1e-3 * left)
        self.at_once, count, self.impacts = 0, len(self.impacts), []
        self.record.add(self.t, self.q, v, balanced)
        self.record.event(
            "zeno",
            contacts,
            ratio=found.ratio,
            cycle=found.cycle,
            impacts=count,
            skipped=found.remaining,
            uncertainty=found.uncertainty,
            continuation=self._continuation(list(contacts)),
        )

    def _continuation(self, contacts: list[int]) -> str:
        """What the state at an accumulation point is: verified before the simulation goes on from it."""
        choices = self._select(contacts, self._contacts()[2]).choices
        if not choices:
            return "impact without collision"
        force = np.zeros((self.mechanism.nc, self.mechanism.width))
        force[contacts] = choices[0].force
        snapshot = self.mechanism.snapshot(self.t, self.q, self.v)
        pushed, free, speed = (
            self.mechanism.speed(self.q, v) for v in (snapshot.acceleration(force), snapshot.free, self.v)
        )
        if pushed <= 1e-6 * free and speed <= self.scale * tolerances.REST:
            return "equilibrium"
        return "sustained contact" if choices[0].mode else "separation"

    def _still(self) -> bool:
        """Whether nothing moves, by what the integrator can tell."""
        return self.mechanism.speed(self.q, self.v) <= tolerances.STILL * self.fastest

    def _stop(self, status: Status, reason: str) -> None:
        """End early, and say so in the log and in the status of the last sample."""
        self.record.event("stop", (), reason=reason, status=status.name)
        self.record.status[-1] = status
        self.stopped = True


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
    model: Movable,
    state: Start,
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

    Between events the motion is smooth and integrated by SciPy (DOP853; compiled code and Radau where slow
    slip in space is stiff). Closed contacts carry forces that satisfy HP23 (12) and (16) exactly: all contact
    modes that the accelerations allow are found, one is drawn where there are several (event "choice"), and
    where there is none an impact without collision is asked of the law (Painlevé). Contacts that close within
    ``window`` of each other collide simultaneously: those still open push from their distance. Impacts that
    accumulate are extrapolated (event "zeno").

    Parameters
    ----------
    model : what moves. A mujoco.MjModel or a pinocchio.Model is wrapped as it is by
        `routh.models.mujoco.MujocoModel` or `routh.models.pinocchio.GroundedRobot`, which have options.
    state : where the motion starts; ``state.t`` is the first time; of an MjModel an MjData will do.
        Penetration is refused.
    duration : s, > 0.
    law : the impact law; default `routh.laws.SetValued`. Where its hops would be lower than what closes a
        contact (1e-9 m), all contacts settle instead, in a step of at most 1e-4 s (event "settle").
    control : inputs as feedback, ``u = control(t, q, v)``, handed to ``model.bias``.
    seed : of every draw; equal seeds give equal motions.
    sample_dt : s between samples of the smooth parts, beside those at events; default 1/200 of the duration,
        at most 0.02 s.
    rtol : relative tolerance of the integrator.
    atol : absolute tolerance of the integrator, in SI units.
    max_step : s, longest step of the integrator; default 1/10 of the duration.
    window : s: with a contact that collides, all take part that touch, or that would touch within this time
        at the velocity before; default 5 ms. 0: only those that touch (within 1 µm), as HP23 (53) has it.
        Contacts that close within three windows, not within one, are named in the event's ``data["soon"]``.
    gap : m: instead of a window, contacts within this distance count as closed, and collide simultaneously.
    max_events : after so many impacts and mode changes the motion ends with the event "stop" and the
        status INCOMPLETE; so it does where hundreds of steps and events lead no further than 1e-6 of the
        duration.
    stream : which of the futures: number 0 draws all its outcomes; those above begin far apart, see
        `routh.simulate_many`.
    budget : s of waiting allowed; what is simulated by then is returned, with the status OUT_OF_TIME.

    Returns
    -------
    Trajectory
        With ``s``, ``impulse``, ``events``, ``forces["contacts"]`` and energies. What stopped it early, if
        anything, is its last event ("stop") and the status of its last sample: see ``ok``.
    """
    span = real("duration", duration, above=0.0)
    spacing = min(span / 200.0, 0.02) if sample_dt is None else real("sample_dt", sample_dt, above=0.0)
    together = Simultaneity(window=window, gap=gap)
    closed = tolerances.CLOSED_GAP if gap is None else real("gap", gap, above=0.0)
    model = as_model(model)
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


def checked_state(model: Model, state: Start, gap: float) -> State:
    """The state, if it fits the model and nothing penetrates."""
    fitting = start_of(model, state)
    gaps = model.gaps(fitting.q)
    if len(gaps):
        deepest = int(np.argmin(gaps))
        if not gaps[deepest] >= -gap:
            raise StateError(
                "state",
                wrong=f"contact {model.contacts[deepest].name!r} penetrates by {-gaps[deepest]:g} m",
                wanted=f"gaps of at least -{gap:g} m",
            )
    return fitting
