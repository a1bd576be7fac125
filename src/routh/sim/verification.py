"""Is a trajectory a solution of the time-augmented inclusion? A check that shares nothing with the simulator.

Every sample and every interval between samples is held against HP23 (53) with the model alone:

* nowhere penetration (Lemma 4), and ``ds = dt + sum of normal impulse`` with rates in [0, 1]; a MuJoCo model
  is looked at a second time, by MuJoCo's own collision detection;
* smooth intervals: forces push, lie in the friction cone, dissipate most (12), (16), act only at closed
  contacts that do not separate; and the acceleration in the middle of the interval, from the states at its
  ends, lies in the set of (53), found by non-negative least squares without the recorded forces;
* impacts: t and q stand still, momentum is balanced, no impulse where all closed contacts separate, open ones
  push only if they would have touched within the window that the event names, and the
  increments meet the conditions of their law: (72) for implicit steps, (39) along Routh's path;
* accumulation points: the times really decay, momentum balances across the gap, and coordinates move by the
  velocity; steps in which hops too low to open a contact end: impulses balance momentum, lie in the cone and
  are against the slip at the end;
* energy: kinetic and potential together never rise by more than what other smooth forces put in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from routh.base import tolerances
from routh.base.results import PathKind, Result
from routh.base.status import InputError, Status
from routh.base.text import for_terminal
from routh.base.validation import Array, Options
from routh.models.base import Model, slope_at_zero
from routh.models.robots.wrapping import as_model
from routh.models.simultaneity import TOUCHING
from routh.problem.friction import facet_directions
from routh.sim.trajectory import Event, Trajectory

if TYPE_CHECKING:
    from routh.models.robots.wrapping import Movable

_ROUNDING = 1e-5  # share of the momentum at hand below which an impulse is as good as none
_TURNS = 8  # parts of an interval over which rotations are added up
_EDGES = 64  # of a spatial friction cone, in the membership test, at first
_FINER = 5  # rounds in which edges are added where the force is: then a cone lacks 3e-7 of itself
_CLOSER = 8  # directions to either side of slip that is hardly known, each twice as close to it
_TRIED = 1e-3  # of a unit of motion, over which energies are compared along a velocity
_KEPT = 4  # configurations whose Jacobians are kept: both ends of an interval, its middle, and one more

Control = Callable[[float, Array, Array], ArrayLike]
Ways = list[tuple[int, Array]]  # contacts, and directions of friction (k, nt) that each may have


@dataclass(frozen=True)
class Violation:
    """One condition that one sample or interval breaks."""

    condition: str
    index: int  # of the sample, or of the end of the interval
    size: float  # in units of what is allowed: above 1
    t: float  # s
    contact: str = ""  # by its name; empty where the condition is not one of a single contact

    def __str__(self) -> str:
        where = f" of {for_terminal(self.contact)}" if self.contact else ""
        by = f"{self.size:.3g} times what is allowed"
        return f"{self.condition}{where} at {self.t:.6g} s (sample {self.index}), {by}"


@dataclass
class Verdict(Result):
    """What the check found; a NaN counts as broken."""

    times: Array  # (T,) s, of the samples
    contacts: tuple[str, ...] = ()
    violations: list[Violation] = field(default_factory=list)
    worst: dict[str, float] = field(default_factory=dict)  # per condition, in units of what is allowed
    checked: dict[str, int] = field(default_factory=dict)  # how often each condition was looked at

    @property
    def status(self) -> Status:
        """SOLVED: the motion was looked at, whatever the verdict is."""
        return Status.SOLVED

    @property
    def ok(self) -> bool:
        """Whether every condition holds."""
        return not self.violations

    def __str__(self) -> str:
        lines = [f"{'solution' if self.ok else 'NOT a solution'} of HP23 (53)"]
        lines += [
            f"  {for_terminal(name)}: {self.checked[name]} times, worst {self.worst[name]:.2g}"
            for name in self.worst
        ]
        return "\n".join([*lines, *(f"  broken: {one}" for one in self.worst_violations())])

    def worst_violations(self) -> list[Violation]:
        """The largest of each condition that is broken, largest first."""
        largest: dict[str, Violation] = {}
        for one in sorted(self.violations, key=lambda one: -one.size):
            largest.setdefault(one.condition, one)
        return list(largest.values())

    def note(self, condition: str, index: int, size: float, allowed: float, contact: int = -1) -> None:
        """One look at one condition, of one contact or of all: ``size`` against what is ``allowed``."""
        share = float(size) / allowed if allowed > 0.0 else (0.0 if size <= 0.0 else np.inf)
        self.checked[condition] = self.checked.get(condition, 0) + 1
        self.worst[condition] = max(self.worst.get(condition, 0.0), share if share == share else np.inf)
        if not share <= 1.0:
            name = self.contacts[contact] if contact >= 0 else ""
            self.violations.append(Violation(condition, index, share, float(self.times[index]), name))


class Evidence:
    """The trajectory, the model's answers at its states, and the book of conditions.

    What counts as closed, as at rest and as slip is said here once, by the tolerances of the simulator:
    between events a contact moves when it is faster than what an integrator leaves over; at an event, where a
    law or a choice of contact mode takes slow motion for none, when it is faster than `tolerances.REST`.
    """

    def __init__(self, model: Model, trajectory: Trajectory, control: Control | None) -> None:
        assert trajectory.s is not None
        assert trajectory.impulse is not None
        self.model, self.trajectory, self.control = model, trajectory, control
        self.s, self.impulses = trajectory.s, trajectory.impulse
        self.book = Verdict(trajectory.t, tuple(info.name for info in model.contacts))
        # an interval asks often: those of the last few configurations are kept
        self._kept = lru_cache(maxsize=_KEPT)(self._rows)
        self.mu = np.array([info.mu for info in model.contacts])
        self.restitution = np.array([info.restitution for info in model.contacts])
        self.gaps = np.array([model.gaps(q) for q in trajectory.q])
        squares = [v @ model.mass(q) @ v for q, v in zip(trajectory.q, trajectory.v, strict=True)]
        self.speed = np.sqrt(np.maximum(squares, 0.0))  # |v|_M
        # the speed |v|_M that the smooth forces alone would give from rest: a unit for what stands still
        t, q = trajectory.t, trajectory.q[0]
        force = self.smooth_force(float(t[0]), q, trajectory.v[0])
        fall = float(np.sqrt(force @ np.linalg.solve(model.mass(q), force))) * float(t[-1] - t[0])
        self.fastest = max(float(self.speed.max()), tolerances.FALL * fall)
        self.before_impact, self.settling = self._instants()
        self.reach = np.maximum(1.0, np.abs(trajectory.q).max(axis=1))
        self.strongest = max(
            (float(np.abs(f).max()) for f in trajectory.forces.values() if f.size), default=0.0
        )
        potential = getattr(model, "potential", None)
        #: where the model tells it and there is no control
        self.potential: Callable[[Array], float] | None = None if control is not None else potential
        self.work = np.zeros(len(trajectory))  # J, put in since the sample before
        self.impact_events = [e for e in trajectory.events if e.kind.startswith("impact")]

    def _instants(self) -> tuple[Array, Array]:
        """|v|_M before the impact at each sample's time (0: none), and that where a contact mode begins."""
        first = np.searchsorted(self.trajectory.t, self.trajectory.t, side="left")
        last = np.searchsorted(self.trajectory.t, self.trajectory.t, side="right")
        fastest = np.array([self.speed[a:b].max() for a, b in zip(first, last, strict=True)])
        shared = last - first > 1
        begins = np.zeros(len(self.speed), dtype=bool)
        begins[[event.index for event in self.trajectory.events]] = True
        self.begins = begins
        return np.where(shared, fastest, 0.0), np.where(shared | begins, fastest, 0.0)

    def J(self, q: Array) -> Array:
        """Contact Jacobians, normal first, (nc, 1 + nt, nv)."""
        return self._kept(q.tobytes())[0]

    def smooth_force(self, t: float, q: Array, v: Array) -> Array:
        """Generalized forces without those of contacts, (nv,)."""
        u = None if self.control is None else self.control(t, q, v)
        return -self.model.bias(q, v, u)

    def power(self, t: float, q: Array, v: Array) -> float:
        """What wind or the like puts in, W: smooth forces that are not in the potential; 0 if they take out.

        Their power is that of all smooth forces without what kinetic and potential energy change by along v.
        """
        size, potential = float(np.abs(v).max(initial=0.0)), self.potential
        if potential is None or size == 0.0:
            return 0.0

        def energy(dt: float) -> float:
            there = self.model.integrate(q, v, dt)
            return float(0.5 * v @ self.model.mass(there) @ v) + potential(there)

        gained = float(slope_at_zero(energy, _TRIED / size))
        return max(float(self.smooth_force(t, q, v) @ v) + gained, 0.0)

    def powers(self, i: int) -> Array:
        """Power at both ends of interval i, (2,) W."""
        t, q, v = self.trajectory.t, self.trajectory.q, self.trajectory.v
        return np.array([self.power(float(t[k]), q[k], v[k]) for k in (i - 1, i)])

    def noise(self, q: Array, settling: float = 0.0, more: float = 0.0) -> Array:
        """Contact velocities (nc,) m/s that are no motion: what integrator and event may leave over."""
        share = tolerances.VERIFY_INTEGRATOR * self.fastest + tolerances.VERIFY_REST * settling + more
        return self.root(q) * share

    def root(self, q: Array) -> Array:
        """Normal velocities of contacts per |v|_M: 1 / sqrt(effective mass), (nc,)."""
        return self._kept(q.tobytes())[1]

    def closing(self, k: int, more: Array | float = 0.0) -> float:
        """How far coordinates move where contacts that begin at sample k anywhere within a gap close it.

        ``more`` (nc,) m: what the motion would have added to the gaps.
        """
        q = self.trajectory.q[k]
        closed = self.may_touch(k) & self.may_touch(k + 1)
        moves = np.linalg.solve(self.model.mass(q), self.J(q)[closed, 0].T) / self.root(q)[closed] ** 2
        return float((np.abs(moves).max(axis=0) * (np.abs(self.gaps[k]) + more)[closed]).sum())

    def _rows(self, key: bytes) -> tuple[Array, Array]:
        """`J` and `root` of a configuration, given by its bytes."""
        q = np.frombuffer(key).copy()
        Jn, Jt = self.model.jacobians(q)
        root = np.sqrt(np.einsum("ij,ji->i", Jn, np.linalg.solve(self.model.mass(q), Jn.T)))
        return np.concatenate([Jn[:, None, :], Jt], axis=1), root

    def may_touch(self, k: int) -> np.ndarray:
        """Contacts that may carry force at sample k, (nc,) bool."""
        return np.asarray(self.gaps[k] <= tolerances.VERIFY_GAP * self.reach[k])

    def cone(self, i: int, c: int, force: Array, size: float) -> None:
        """Coulomb's cone; ``size`` is the force (N) or impulse (N s) that its error is a share of."""
        excess = max(float(np.linalg.norm(force[1:]) - self.mu[c] * force[0]), -float(force[0]))
        allowed = tolerances.VERIFY_FORCE * size * max(1.0, float(self.mu[c]))
        self.book.note("friction cone", i, excess, allowed, c)

    def dissipation(
        self,
        i: int,
        c: int,
        force: Array,
        slip: Array,
        *,
        size: float,
        noise: float,
        directions: Array | None = None,
    ) -> None:
        """Maximal dissipation: the power of friction against the least that the cone allows."""
        speed = float(np.linalg.norm(slip))
        least = -speed if directions is None else float((directions @ slip).min())
        defect = float(force[1:] @ slip) - self.mu[c] * float(force[0]) * least
        # a contact that sticks may creep by the noise, at which friction is anywhere in its cone
        allowed = size * max(1.0, float(self.mu[c])) * (tolerances.VERIFY_FORCE * speed + 2.0 * noise)
        self.book.note("maximal dissipation", i, defect, allowed, c)

    def momentum(
        self, condition: str, i: int, unexplained: Array, share: float, unresolved: Array | float = 0.0
    ) -> None:
        """Compare generalized impulses with the momentum at hand, each coordinate by its own inertia."""
        inertia = np.sqrt(self.model.mass(self.trajectory.q[i]).diagonal())
        speed = max(float(self.before_impact[i]), float(self.speed[i - 1]), 1e-12 * self.fastest)
        unexplained = np.maximum(np.abs(unexplained) - unresolved, 0.0)
        self.book.note(condition, i, float((unexplained / inertia).max()), share * speed)


def check_impact(e: Evidence, i: int) -> None:
    """Check (49): t and q stand still, and v changes by impulses that the law allows."""
    trajectory = e.trajectory
    q, before, after = trajectory.q[i], trajectory.v[i - 1], trajectory.v[i]
    event = next((one for one in reversed(e.impact_events) if one.index < i), None)
    impulse = e.impulses[i]
    M, J = e.model.mass(q), e.J(q)
    noise = e.noise(q, e.before_impact[i])
    e.book.note("q stands still in impacts", i, float(np.abs(q - trajectory.q[i - 1]).max()), 0.0)
    unexplained = M @ (after - before) - np.tensordot(impulse, J, axes=2)
    # an impulse that s, which counts normal ones, is too coarse for is recorded with the next sample
    cone = np.maximum(1.0, e.mu)[:, None, None]
    unresolved = float(np.spacing(e.s[i])) * (cone * np.abs(J)).sum(axis=(0, 1))
    e.momentum("momentum of impacts", i, unexplained, tolerances.VERIFY_MOMENTUM, unresolved)
    closed = e.may_touch(i)
    data = {} if event is None else event.data
    away = None  # how far open each contact may be that takes part, (nc,) m: its approach within the window
    if data.get("window") is not None and "v_before" in data:
        away = np.maximum(-(J[:, 0] @ data["v_before"]) * float(data["window"]), TOUCHING)
        closed |= e.gaps[i] <= away
    if not np.any(e.restitution[closed] > 0.0):
        gained = e.speed[i] - e.speed[i - 1]
        e.book.note("impacts dissipate", i, gained, tolerances.VERIFY_REST * e.before_impact[i])
        slowest = float((J[closed, 0] @ before / noise[closed]).min(initial=np.inf))
        e.book.note("impact only where nothing separates", i, slowest, 1.0)
    size = max(float(np.abs(impulse).max()), _ROUNDING * float(e.before_impact[i]) / float(e.root(q).max()))
    kind = data.get("path", PathKind.TOTAL)
    directions = _directions(e, data)
    # (72c), (72d) at the end of an implicit increment; (38), (16) in the middle of a straight piece
    velocity = J @ (after if kind == PathKind.IMPLICIT else 0.5 * (before + after))
    for c in map(int, np.flatnonzero(np.abs(impulse).max(axis=1) > 0.0)):
        allowed = tolerances.VERIFY_GAP * e.reach[i] + (0.0 if away is None else float(away[c]))
        e.book.note("force at a distance", i, e.gaps[i, c], allowed, c)
        e.cone(i, c, impulse[c], size)
        if kind not in (PathKind.IMPLICIT, PathKind.STRAIGHT):
            continue
        unsure = float(noise[c])
        if e.restitution[c] == 0.0:
            power = float(impulse[c, 0]) * float(velocity[c, 0])
            e.book.note("normal impulses dissipate", i, power, size * unsure, c)
        slip = velocity[c, 1:]
        e.dissipation(i, c, impulse[c], slip, size=size, noise=unsure, directions=directions)


def _directions(e: Evidence, data: Options) -> Array | None:
    """Friction directions (k, nt) of an event with polyhedral friction in space; None for any other."""
    if e.model.nt == 2 and data.get("friction", "polyhedral") == "polyhedral":
        return facet_directions(2, data.get("facets"))
    return None


def check_settling(e: Evidence, i: int, event: Event) -> None:
    """Check (47) and (52) over a step in which hops too low to open a contact come to their end.

    What pushes is closed at both ends and rests at the second, and what rose at the first was back by then:
    it came no higher than a parabola. Time is short, friction is against the slip at the second end, and
    coordinates move by the mean of both velocities.
    """
    trajectory, impulse = e.trajectory, e.impulses[i]
    t, q, v0, v1 = trajectory.t[i], trajectory.q[i], trajectory.v[i - 1], trajectory.v[i]
    before, after, noise = e.J(trajectory.q[i - 1]) @ v0, e.J(q) @ v1, e.noise(q, e.settling[i])
    skipped = float(t - trajectory.t[i - 1])
    e.work[i] = skipped * e.powers(i).max()
    e.book.note("time of settling", i, skipped, tolerances.SETTLING)
    smooth = skipped * e.smooth_force(t, q, v0)
    unexplained = e.model.mass(q) @ (v1 - v0) - np.tensordot(impulse, e.J(q), axes=2) - smooth
    e.momentum("momentum of settling", i, unexplained, tolerances.VERIFY_ZENO)
    whole = 0.5 * skipped * (v0 + v1)
    drift = float(np.abs(e.model.integrate(trajectory.q[i - 1], whole, 1.0) - q).max())
    allowed = tolerances.VERIFY_INTEGRATOR * e.reach[i] + e.closing(i - 1, np.abs(e.J(q)[:, 0] @ whole))
    e.book.note("dq = v dt", i, drift, allowed)
    size, directions = float(np.abs(impulse).max(initial=0.0)), _directions(e, event.data)
    for c in map(int, np.flatnonzero(e.gaps[i] <= tolerances.CLOSED_GAP)):
        e.book.note("no approach after impacts", i, -float(after[c, 0]), float(noise[c]), c)
    for c in map(int, np.flatnonzero(np.abs(impulse).max(axis=1, initial=0.0) > 0.0)):
        furthest = max(float(e.gaps[i - 1, c]), float(e.gaps[i, c]), 0.25 * skipped * float(before[c, 0]))
        e.book.note("force at a distance", i, furthest, tolerances.VERIFY_GAP * e.reach[i], c)
        e.book.note("force while separating", i, abs(float(after[c, 0])), float(noise[c]), c)
        e.cone(i, c, impulse[c], size)
        slip = after[c, 1:]
        e.dissipation(i, c, impulse[c], slip, size=size, noise=float(noise[c]), directions=directions)


def check_accumulation(e: Evidence, i: int, event: Event) -> None:
    """The jump to a Zeno point: impacts before it decay, momentum balances, nothing approaches after.

    Coordinates move by the velocity, and what pushed is closed in the end.

    Where cycles of impacts repeat, the last two cycles tell what remains of a geometric sequence. Where
    they are random, each is shorter than the one before by 0.9 at most, on average: the rest of such a
    sequence lasts less than twice the last four.
    """
    trajectory = e.trajectory
    cycle = int(event.data.get("cycle", 0))
    width = cycle or 4
    intervals = np.diff(np.unique([one.t for one in e.impact_events if one.index < i]))
    before, last = intervals[-2 * width : -width].sum(), intervals[-width:].sum()
    decays = len(intervals) >= 2 * width and last < before
    e.book.note("impacts decay before an accumulation", i, 0.0 if decays else np.inf, 1.0)
    skipped = trajectory.t[i] - trajectory.t[i - 1]
    e.work[i] = skipped * e.powers(i).max()
    rest = 1.01 * last / (before / last - 1.0) if cycle and decays else 2.0 * last
    e.book.note("skipped time", i, skipped, rest)
    q, v0, v1 = trajectory.q[i], trajectory.v[i - 1], trajectory.v[i]
    M, J, impulse = e.model.mass(q), e.J(q), e.impulses[i]
    smooth = skipped * e.smooth_force(trajectory.t[i], q, v1)
    unexplained = M @ (v1 - v0) - np.tensordot(impulse, J, axes=2) - smooth
    e.momentum("momentum at accumulations", i, unexplained, tolerances.VERIFY_ZENO)
    # what is still to come of the impulses tells how far a velocity on the way is from the last one
    gained = np.abs(np.linalg.solve(M, J.reshape(-1, len(M)).T)).T.reshape(J.shape)
    most = impulse[:, 0] @ (gained[:, 0] + e.mu[:, None] * gained[:, 1:].sum(axis=1))
    most += np.abs(np.linalg.solve(M, smooth))
    moved = e.model.integrate(trajectory.q[i - 1], skipped * v1, 1.0)
    allowed = tolerances.VERIFY_INTEGRATOR * e.reach[i] + e.closing(i - 1) + skipped * float(most.max())
    e.book.note("dq = v dt", i, float(np.abs(moved - q).max()), allowed)
    closed, noise = e.gaps[i] <= tolerances.CLOSED_GAP, e.noise(q, float(e.speed[i - 1]))
    size = float(np.abs(impulse).max(initial=0.0))
    for c in range(len(e.mu)):
        e.cone(i, c, impulse[c], size)
        if closed[c]:
            e.book.note("no approach after impacts", i, -float(J[c, 0] @ v1), float(noise[c]), c)
        if impulse[c, 0] > 0.0:
            e.book.note("force at a distance", i, e.gaps[i, c], tolerances.VERIFY_GAP * e.reach[i], c)


def check_outcomes(e: Evidence) -> None:
    """Check that after the last increment of an impact no closed contact approaches."""
    t = e.trajectory.t
    for i in range(1, len(t)):
        ends = t[i] == t[i - 1] and (i + 1 == len(t) or t[i + 1] > t[i])
        if ends and e.trajectory.ok:
            q, closed = e.trajectory.q[i], e.gaps[i] <= tolerances.CLOSED_GAP
            approach = -(e.J(q)[:, 0] @ e.trajectory.v[i]) / e.noise(q, e.before_impact[i])
            approach[~closed] = 0.0
            if len(approach):
                c = int(approach.argmax())
                e.book.note("no approach after impacts", i, float(approach[c]), 1.0, c)


def check_smooth(e: Evidence, i: int) -> None:
    """Check (47) and (52) over one interval: at both ends with the recorded forces, in the middle without."""
    trajectory = e.trajectory
    t0, t1 = trajectory.t[i - 1], trajectory.t[i]
    h = float(t1 - t0)
    q0, q1, v0, v1 = trajectory.q[i - 1], trajectory.q[i], trajectory.v[i - 1], trajectory.v[i]
    start, end = trajectory.forces["contacts after"][i - 1], trajectory.forces["contacts"][i]
    size = max(*(float(np.abs(f).max(initial=0.0)) for f in (start, end)), 1e-3 * e.strongest)
    _contact_law(e, i, i - 1, start, size)
    _contact_law(e, i, i, end, size)
    a0, a1 = _acceleration(e, t0, q0, v0, start), _acceleration(e, t1, q1, v1, end)
    # cubic through the velocities and accelerations at both ends, exact for motions of fourth degree
    a = 1.5 * (v1 - v0) / h - 0.25 * (a0 + a1)
    v = 0.5 * (v0 + v1) + h / 8.0 * (a0 - a1)
    half = 0.5 * h * v0 + h * (3.0 / 32.0 * (v1 - v0)) + h * h * (11.0 * a0 - 5.0 * a1) / 192.0
    q = e.model.integrate(q0, half, 1.0)
    _middle(e, i, 0.5 * (t0 + t1), q, v, a)
    e.work[i] = h / 6.0 * (e.powers(i).sum() + 4.0 * e.power(0.5 * (t0 + t1), q, v))  # Simpson's rule
    whole = 0.5 * h * (v0 + v1) + h * h / 12.0 * (a0 - a1)
    moves = [whole] if e.model.nq == e.model.nv else _pieces(h, v0, v1, a0, a1)
    reached = q0
    for move in moves:
        reached = e.model.integrate(reached, move, 1.0)
    drift = float(np.abs(reached - q1).max())
    moved = float(np.abs(whole).max())
    allowed = tolerances.VERIFY_INTEGRATOR * e.reach[i] + tolerances.VERIFY_DYNAMICS * moved
    if drift > allowed and e.begins[i - 1]:
        allowed += e.closing(i - 1)
    e.book.note("dq = v dt", i, drift, allowed)


def _pieces(h: float, v0: Array, v1: Array, a0: Array, a1: Array) -> Array:
    """Moves (_TURNS, nv) over parts of an interval under the cubic velocity: rotations do not commute."""
    s = np.linspace(0.0, 1.0, _TURNS + 1)[:, None]
    from_v = s * (1.0 - s**2 + 0.5 * s**3) * v0 + s**3 * (1.0 - 0.5 * s) * v1
    from_a = s**2 * (0.5 - s * (2.0 / 3.0) + 0.25 * s**2) * a0 + s**3 * (0.25 * s - 1.0 / 3.0) * a1
    return np.diff(h * from_v + h * h * from_a, axis=0)


def _acceleration(e: Evidence, t: float, q: Array, v: Array, force: Array) -> Array:
    total = e.smooth_force(t, q, v) + np.tensordot(force, e.J(q), axes=2)
    return np.asarray(np.linalg.solve(e.model.mass(q), total), dtype=np.float64)


def _contact_law(e: Evidence, i: int, k: int, force: Array, size: float) -> None:
    """Check (12) and (16) at sample k, an end of interval i; ``size`` (N) is the largest force there."""
    pushing = np.flatnonzero(np.abs(force).max(axis=1, initial=0.0) > tolerances.VERIFY_FORCE * size)
    if not len(pushing):
        return
    q = e.trajectory.q[k]
    t, v = float(e.trajectory.t[k]), e.trajectory.v[k]
    velocities, noise = e.J(q) @ v, e.noise(q, e.settling[k])
    # an error of the state makes one of the forces that keep contacts closed against the smooth ones
    free = e.smooth_force(t, q, v)
    size = max(size, float(np.sqrt(free @ np.linalg.solve(e.model.mass(q), free))) / e.root(q).max())
    for c in map(int, pushing):
        e.cone(i, c, force[c], size)
        e.book.note("force at a distance", i, e.gaps[k, c], tolerances.VERIFY_GAP * e.reach[k], c)
        e.book.note("force while separating", i, abs(float(velocities[c, 0])), float(noise[c]), c)
        e.dissipation(i, c, force[c], velocities[c, 1:], size=size, noise=float(noise[c]))


def _middle(e: Evidence, i: int, t: float, q: Array, v: Array, a: Array) -> None:
    """Check that amid an interval ``M a - F_s`` is a sum of contact forces that (53) allows there.

    And it must be the one that the recorded impulse stands for: Simpson's rule over the interval, with
    the forces at its ends, tells the force in its middle.
    """
    h = float(e.trajectory.t[i] - e.trajectory.t[i - 1])
    M, smooth = e.model.mass(q), e.smooth_force(t, q, v)
    metric = np.linalg.inv(np.linalg.cholesky(M))  # measure generalized forces in the metric of M^-1
    target, free = metric @ (M @ a - smooth), float(np.linalg.norm(metric @ smooth))
    misfit = float(np.linalg.norm(target))
    discretised = tolerances.VERIFY_DYNAMICS * h * max(free, float(np.linalg.norm(target)))
    left_over = tolerances.VERIFY_INTEGRATOR * e.fastest + tolerances.VERIFY_REST * e.settling[i - 1]
    allowed = discretised + 1.5 * left_over  # the cubic's acceleration has 1.5 (v1 - v0) / h
    ways = _allowed(e, i, q, v, discretised)
    if ways:
        misfit = _missing(e, q, metric, target, ways, allowed / h)
    e.book.note("inclusion (53)", i, misfit * h, allowed)
    if not len(e.mu):
        return
    start, end = e.trajectory.forces["contacts after"][i - 1], e.trajectory.forces["contacts"][i]
    implied = 1.5 * e.impulses[i] - 0.25 * h * (start + end)
    explained = metric @ np.tensordot(implied, e.J(q), axes=2)
    rounding = tolerances.VERIFY_INTEGRATOR * max(1.0, float(e.s[i])) * np.abs(metric @ e.J(q)[:, 0].T).max()
    e.book.note("impulses of forces", i, float(np.linalg.norm(explained - h * target)), allowed + rounding)


def _missing(e: Evidence, q: Array, metric: Array, target: Array, ways: Ways, enough: float) -> float:
    """How far a force is from the sums of what closed contacts may do, in the metric; ``enough`` will do.

    The cone of a contact that sticks is approximated by edges in it, ever more of them where its force is.
    """
    from scipy.optimize import nnls

    J, misfit, width = e.J(q), np.inf, np.pi / _EDGES
    for _ in range(_FINER):
        counts = [len(along) for _, along in ways]
        rays = np.concatenate([J[c, 0] + e.mu[c] * along @ J[c, 1:] for c, along in ways])
        edges = metric @ rays.T
        size = np.linalg.norm(edges, axis=0)
        if not np.isfinite(size.sum() + np.linalg.norm(target)):
            return np.inf
        z, misfit = nnls(edges / size, target)
        if misfit <= enough:
            break
        parts = np.split(z / size, np.cumsum(counts)[:-1])
        width *= 0.25
        for k, ((c, along), part) in enumerate(zip(ways, parts, strict=True)):
            rubs = part @ along
            if len(along) > _EDGES and rubs.any():
                ways[k] = c, np.vstack([along, _against(-rubs, float(np.sin(width)))])
    return float(misfit)


def _allowed(e: Evidence, i: int, q: Array, v: Array, discretised: float) -> Ways:
    """The contacts that stay closed over interval i, and how friction may act there, (k, nt) of mu lambda_n.

    ``discretised`` (|v|_M) is how far the velocity v in its middle may be off.
    """
    nt, J = e.model.nt, e.J(q)
    closed, stuck = _rests(e, i - 1) & _rests(e, i)  # at both ends
    velocity = J[:, 1:] @ v
    slip = np.linalg.norm(velocity, axis=1)
    unsure = e.noise(q, e.settling[i - 1], discretised)
    stuck |= slip <= unsure
    edges = np.vstack([np.zeros(nt), facet_directions(nt, None if nt == 1 else _EDGES)])
    ways: Ways = []
    for c in map(int, np.flatnonzero(closed)):
        if e.mu[c] > 0.0 and not stuck[c]:
            edges_c = _against(velocity[c], float(unsure[c] / slip[c]), _CLOSER)
        else:
            edges_c = edges if e.mu[c] > 0.0 else edges[:1]
        ways.append((c, edges_c))
    return ways


def _against(slip: Array, unsure: float, closer: int = 1) -> Array:
    """Unit directions (k, nt) against a slip that is known up to the share ``unsure`` of itself, below 1.

    Between two of them sums of forces lack some of the cone: they are ``closer`` times twice as close to the
    slip itself, near which friction is.
    """
    back = -slip / np.linalg.norm(slip)
    if len(slip) == 1:
        return back[None]
    across, angles = np.array([-back[1], back[0]]), np.arcsin(unsure) * 0.5 ** np.arange(closer)
    return np.array([np.cos(a) * back + np.sin(a) * across for a in (0.0, *angles, *-angles)])


def _rests(e: Evidence, k: int) -> np.ndarray:
    """Which contacts are closed and do not separate at sample k, and which have no slip, (2, nc) bool."""
    q = e.trajectory.q[k]
    velocity, noise = e.J(q) @ e.trajectory.v[k], e.noise(q, e.settling[k])
    closed = e.may_touch(k)
    return np.array([closed & (velocity[:, 0] <= noise), np.linalg.norm(velocity[:, 1:], axis=1) <= noise])


def verify(model: Movable, trajectory: Trajectory, *, control: Control | None = None) -> Verdict:
    """Hold a trajectory of `routh.simulate` against HP23 (53), sample by sample.

    Contacts count as closed in an impact if they would have touched within the window of its event.
    ``control`` must be the one that the trajectory was made with. Energy is checked where the model knows its
    potential and there is no control; what wind and other forces that are not in the potential put in counts.
    """
    if trajectory.s is None or trajectory.impulse is None:
        raise InputError("trajectory", wrong="has no augmented time", wanted="one of `routh.simulate`")
    # found first: whether arithmetic on NaN warns depends on the machine
    arrays = [trajectory.t, trajectory.q, trajectory.v, trajectory.s, trajectory.impulse]
    flat = [np.reshape(array, (len(trajectory), -1)) for array in (*arrays, *trajectory.forces.values())]
    bad = np.flatnonzero(~np.all(np.isfinite(np.hstack(flat)), axis=1)).tolist()
    if bad:
        book = Verdict(trajectory.t)
        for i in bad:
            book.note("finite numbers", i, np.inf, 1.0)
        return book
    evidence = Evidence(as_model(model), trajectory, control)
    _check_samples(evidence)
    _check_unlisted(evidence)
    special = {"zeno": check_accumulation, "settle": check_settling}
    skips = {event.index: event for event in trajectory.events if event.kind in special}
    for i in range(1, len(trajectory)):
        if i in skips:
            special[skips[i].kind](evidence, i, skips[i])
        elif trajectory.t[i] == trajectory.t[i - 1]:
            check_impact(evidence, i)
        else:
            check_smooth(evidence, i)
    check_outcomes(evidence)
    _check_energy(evidence)
    return evidence.book


def _check_samples(e: Evidence) -> None:
    """Lemma 4: no sample penetrates; ds = dt + sum of normal impulse; time never runs back or ahead of s."""
    for i, gaps in enumerate(e.gaps):
        if len(gaps):
            c = int(gaps.argmin())
            e.book.note("penetration", i, float(-gaps[c]), tolerances.VERIFY_GAP * e.reach[i], c)
    for i, (dt, ds) in enumerate(zip(np.diff(e.trajectory.t), np.diff(e.s), strict=True), start=1):
        normal = float(e.impulses[i, :, 0].sum())
        rounding = 1e-12 * max(1.0, e.s[i])
        e.book.note("augmented time", i, abs(ds - dt - normal), rounding)
        e.book.note("time rate", i, max(-dt, dt - ds), rounding)


def _check_unlisted(e: Evidence) -> None:
    """Check that nothing overlaps unseen, where the model can look again by other means than its gaps."""
    look = getattr(e.model, "second_look", None)
    if look is None:
        return
    found = look()
    for i, (q, gaps) in enumerate(zip(e.trajectory.q, e.gaps, strict=True)):
        unseen, odd = found.at(q, gaps)
        e.book.note("overlap that no contact knows", i, unseen, tolerances.VERIFY_OVERLAP * e.reach[i])
        e.book.note("friction of the contacts that were looked for again", i, odd, tolerances.RANK)


def _check_energy(e: Evidence) -> None:
    """Energy never rises by more than smooth forces put in: not at once, not bit by bit."""
    if e.potential is None:
        return
    energy = 0.5 * e.speed**2 + np.array([e.potential(q) for q in e.trajectory.q])
    unit = max(float(np.ptp(energy)), 0.5 * e.fastest**2, 1e-300)
    rounding = 4.0 * float(np.spacing(np.abs(energy).max()))
    total = energy - np.cumsum(e.work)
    t = e.trajectory.t
    inside = np.zeros(len(t), dtype=bool)  # of an impact, where restitution gives back what it took
    inside[1:-1] = (t[1:-1] == t[:-2]) & (t[1:-1] == t[2:])
    kept = np.flatnonzero(~inside)
    lowest = 0
    for k in range(1, len(kept)):
        # interpolation errs at both samples, the integrator with every step, which has a dozen
        allowed = 2.0 * tolerances.VERIFY_ENERGY + tolerances.VERIFY_INTEGRATOR * (k - lowest) / 12.0
        change = float(total[kept[k]] - total[kept[lowest]])
        e.book.note("energy", int(kept[k]), change, allowed * unit + rounding)
        lowest = k if change < 0.0 else lowest
