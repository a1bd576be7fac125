"""Is a trajectory a solution of the time-augmented inclusion? A check that shares nothing with the simulator.

Every sample and every interval between samples is held against HP23 (53) with the model alone:

* nowhere penetration (Lemma 4), and ``ds = dt + sum of normal impulse`` with rates in [0, 1];
* smooth intervals: forces push, lie in the friction cone, dissipate most (12), (16), act only at closed
  contacts that do not separate; and the acceleration in the middle of the interval, from the states at its
  ends, lies in the set of (53), found by non-negative least squares without the recorded forces;
* impacts: t and q stand still, momentum is balanced, no impulse where all closed contacts separate, and the
  increments meet the conditions of their law: (72) for implicit steps, (39) along Routh's path;
* accumulation points: the times really decay, and momentum balances across the gap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import nnls

from routh import tolerances
from routh.friction import facet_directions
from routh.models.base import Model
from routh.paths import PathKind
from routh.sim.trajectory import Event, Trajectory
from routh.validation import Array

Control = Callable[[float, Array, Array], ArrayLike]

_EDGES = 64  # of a spatial friction cone, in the membership test


@dataclass(frozen=True)
class Limits:
    """What still counts as rounding and discretisation; reasons in `routh.tolerances`.

    The defaults fit a trajectory made with the default tolerances of `routh.simulate`.
    """

    gap: float = tolerances.VERIFY_GAP  # m, penetration, and distance of a contact that carries force
    law: float = tolerances.REST  # share of the speed before an impact: what its law may leave over
    integrator: float = tolerances.VERIFY_INTEGRATOR  # share of the greatest speed, and of the configuration
    force: float = tolerances.VERIFY_FORCE  # share of the largest force: cone, dissipation
    dynamics: float = tolerances.VERIFY_DYNAMICS  # share of the forces in the middle of an interval
    momentum: float = tolerances.VERIFY_MOMENTUM  # share of momentum: balance over an impact
    zeno: float = tolerances.VERIFY_ZENO  # share of momentum: balance over an accumulation of impacts
    energy: float = tolerances.VERIFY_ENERGY  # share of the energy that changes hands


@dataclass(frozen=True)
class Violation:
    """One condition that one sample or interval breaks."""

    condition: str
    index: int  # of the sample, or of the end of the interval
    size: float  # in units of what is allowed: above 1


@dataclass(frozen=True)
class Verdict:
    """What the check found."""

    violations: tuple[Violation, ...]
    worst: dict[str, float] = field(default_factory=dict)  # per condition, in units of what is allowed
    checked: dict[str, int] = field(default_factory=dict)  # how often each condition was looked at

    @property
    def ok(self) -> bool:
        """Whether every condition holds."""
        return not self.violations

    def __str__(self) -> str:
        lines = [f"{'solution' if self.ok else 'NOT a solution'} of HP23 (53)"]
        lines += [
            f"  {name}: {self.checked[name]} times, worst {self.worst[name]:.2g}" for name in self.worst
        ]
        return "\n".join(lines)


class _Book:
    """Keeps count of conditions; a NaN counts as broken."""

    def __init__(self) -> None:
        self.worst: dict[str, float] = {}
        self.checked: dict[str, int] = {}
        self.violations: list[Violation] = []

    def note(self, condition: str, index: int, size: float, allowed: float) -> None:
        share = float(size) / allowed if allowed > 0.0 else (0.0 if size <= 0.0 else np.inf)
        self.checked[condition] = self.checked.get(condition, 0) + 1
        self.worst[condition] = max(self.worst.get(condition, 0.0), share if share == share else np.inf)
        if not share <= 1.0:
            self.violations.append(Violation(condition, index, share))


def verify(
    model: Model, trajectory: Trajectory, *, control: Control | None = None, limits: Limits | None = None
) -> Verdict:
    """Hold a trajectory of `routh.simulate` against HP23 (53), sample by sample.

    ``control`` must be the one that the trajectory was made with. Energy is checked where the model knows its
    potential and there is no control.
    """
    if trajectory.s is None or trajectory.impulses is None:
        raise ValueError("trajectory: has no augmented time; wanted one of `routh.simulate`")
    faults = tuple(Violation("finite numbers", i, np.inf) for i in _not_finite(trajectory))
    if faults:
        return Verdict(faults, {"finite numbers": np.inf}, {"finite numbers": len(trajectory)})
    check = _Check(model, trajectory, control, limits or Limits())
    check.samples()
    zeno = {event.index: event for event in trajectory.events if event.kind == "zeno"}
    for i in range(1, len(trajectory)):
        check.augmented_time(i)
        if i in zeno:
            check.accumulation(i, zeno[i])
        elif trajectory.t[i] == trajectory.t[i - 1]:
            check.impact(i)
        else:
            check.smooth(i)
    check.outcomes()
    check.energy()
    return Verdict(tuple(check.book.violations), check.book.worst, check.book.checked)


def _not_finite(trajectory: Trajectory) -> list[int]:
    """Samples with NaN or infinity, found first: whether arithmetic on NaN warns depends on the machine."""
    arrays = [trajectory.t, trajectory.q, trajectory.v, trajectory.s, trajectory.impulses]
    arrays += trajectory.forces.values()
    flat = [np.asarray(array).reshape(len(trajectory), -1) for array in arrays]
    return np.flatnonzero(~np.all(np.isfinite(np.hstack(flat)), axis=1)).tolist()


class _Check:
    def __init__(self, model: Model, trajectory: Trajectory, control: Control | None, limits: Limits) -> None:
        self.model, self.trajectory, self.control, self.limits = model, trajectory, control, limits
        assert trajectory.s is not None
        assert trajectory.impulses is not None
        self.s, self.impulses = trajectory.s, trajectory.impulses
        self.book = _Book()
        self.mu = np.array([info.mu for info in model.contacts])
        self.restitution = np.array([info.restitution for info in model.contacts])
        self.gaps = np.array([model.gaps(q) for q in trajectory.q])
        speeds = [
            np.sqrt(max(v @ model.mass(q) @ v, 0.0)) for q, v in zip(trajectory.q, trajectory.v, strict=True)
        ]
        self.speed = np.array(speeds)  # |v|_M
        self.fastest = max(float(self.speed.max()), tolerances.FALL * self._fall())
        _, instant = np.unique(trajectory.t, return_inverse=True)
        before = np.zeros(instant.max() + 1)
        np.maximum.at(before, instant, self.speed)
        shared = np.bincount(instant)[instant] > 1
        self.before_impact = np.where(shared, before[instant], 0.0)  # |v|_M before the impact at that time
        self.reach = np.maximum(1.0, np.abs(trajectory.q).max(axis=1))
        self.strongest = max(
            (float(np.abs(f).max()) for f in trajectory.forces.values() if f.size), default=0.0
        )
        self.impact_events = [e for e in trajectory.events if e.kind.startswith("impact")]

    def _fall(self) -> float:
        """The speed |v|_M that the smooth forces alone would give from rest: a unit for what stands still."""
        t, q, v = self.trajectory.t, self.trajectory.q[0], self.trajectory.v[0]
        force = self.smooth_force(float(t[0]), q, v)
        return float(np.sqrt(force @ np.linalg.solve(self.model.mass(q), force))) * float(t[-1] - t[0])

    def J(self, q: Array) -> Array:
        Jn, Jt = self.model.jacobians(q)
        return np.concatenate([Jn[:, None, :], Jt], axis=1)

    def smooth_force(self, t: float, q: Array, v: Array) -> Array:
        u = None if self.control is None else self.control(t, q, v)
        return -self.model.bias(q, v, u)

    def noise(self, q: Array, before_impact: float = 0.0, more: float = 0.0) -> Array:
        """Contact velocities (nc,) m/s that are no motion: what the integrator and a law may leave over."""
        share = self.limits.integrator * self.fastest + self.limits.law * before_impact + more
        return self._root(q) * share

    def _root(self, q: Array) -> Array:
        """Normal velocities of contacts per |v|_M: 1 / sqrt(effective mass), (nc,)."""
        Jn = self.model.jacobians(q)[0]
        return np.sqrt(np.einsum("ij,ji->i", Jn, np.linalg.solve(self.model.mass(q), Jn.T)))

    def samples(self) -> None:
        """Lemma 4: no sample penetrates."""
        for i, gaps in enumerate(self.gaps):
            if len(gaps):
                self.book.note("penetration", i, float(-gaps.min()), self.limits.gap * self.reach[i])

    def augmented_time(self, i: int) -> None:
        """ds = dt + sum of normal impulse, and time never runs backwards or faster than s."""
        dt, ds = self.trajectory.t[i] - self.trajectory.t[i - 1], self.s[i] - self.s[i - 1]
        normal = float(self.impulses[i, :, 0].sum())
        self.book.note("augmented time", i, abs(ds - dt - normal), 1e-12 * max(1.0, self.s[i]))
        self.book.note("time rate", i, max(-dt, dt - ds), 1e-12 * max(1.0, self.s[i]))

    def smooth(self, i: int) -> None:
        """(47) and (52) over one interval: at both ends with the recorded forces, in the middle without."""
        trajectory = self.trajectory
        t0, t1 = trajectory.t[i - 1], trajectory.t[i]
        h = float(t1 - t0)
        q0, q1, v0, v1 = trajectory.q[i - 1], trajectory.q[i], trajectory.v[i - 1], trajectory.v[i]
        start, end = trajectory.forces["contact after"][i - 1], trajectory.forces["contact"][i]
        size = max(*(float(np.abs(f).max(initial=0.0)) for f in (start, end)), 1e-3 * self.strongest)
        self.contact_law(i, i - 1, start, size)
        self.contact_law(i, i, end, size)
        a0, a1 = self._acceleration(t0, q0, v0, start), self._acceleration(t1, q1, v1, end)
        # cubic through the velocities and accelerations at both ends, exact for motions of fourth degree
        a = 1.5 * (v1 - v0) / h - 0.25 * (a0 + a1)
        v = 0.5 * (v0 + v1) + h / 8.0 * (a0 - a1)
        half = 0.5 * h * v0 + h * (3.0 / 32.0 * (v1 - v0)) + h * h * (11.0 * a0 - 5.0 * a1) / 192.0
        q = self.model.integrate(q0, half, 1.0)
        self.middle(i, 0.5 * (t0 + t1), q, v, a)
        whole = 0.5 * h * (v0 + v1) + h * h / 12.0 * (a0 - a1)
        drift = float(np.abs(self.model.integrate(q0, whole, 1.0) - q1).max())
        moved = float(np.abs(whole).max())
        allowed = self.limits.integrator * self.reach[i] + self.limits.dynamics * moved
        self.book.note("dq = v dt", i, drift, allowed)

    def _acceleration(self, t: float, q: Array, v: Array, force: Array) -> Array:
        total = self.smooth_force(t, q, v) + np.tensordot(force, self.J(q), axes=2)
        return np.asarray(np.linalg.solve(self.model.mass(q), total), dtype=np.float64)

    def contact_law(self, i: int, k: int, force: Array, size: float) -> None:
        """(12) and (16) at sample k, an end of interval i; ``size`` (N) is the largest force there."""
        pushing = np.flatnonzero(np.abs(force).max(axis=1, initial=0.0) > self.limits.force * size)
        if not len(pushing):
            return
        q = self.trajectory.q[k]
        t, v = float(self.trajectory.t[k]), self.trajectory.v[k]
        velocities, noise = self.J(q) @ v, self.noise(q, self.before_impact[k])
        # an error of the state makes one of the forces that keep contacts closed against the smooth ones
        free = self.smooth_force(t, q, v)
        size = max(
            size, float(np.sqrt(free @ np.linalg.solve(self.model.mass(q), free))) / self._root(q).max()
        )
        for c in map(int, pushing):
            self._cone(i, c, force[c], size)
            self.book.note("force at a distance", i, self.gaps[k, c], self.limits.gap * self.reach[k])
            self.book.note("force while separating", i, abs(float(velocities[c, 0])), float(noise[c]))
            self._dissipation(i, c, force[c], velocities[c, 1:], size, float(noise[c]))

    def _cone(self, i: int, c: int, force: Array, size: float) -> None:
        excess = max(float(np.linalg.norm(force[1:]) - self.mu[c] * force[0]), -float(force[0]))
        allowed = self.limits.force * size * max(1.0, float(self.mu[c]))
        self.book.note("friction cone", i, excess, allowed)

    def _dissipation(
        self,
        i: int,
        c: int,
        force: Array,
        slip: Array,
        size: float,
        noise: float,
        directions: Array | None = None,
    ) -> None:
        """Maximal dissipation: the power of friction against the least that the cone allows."""
        speed = float(np.linalg.norm(slip))
        least = -speed if directions is None else float((directions @ slip).min())
        defect = float(force[1:] @ slip) - self.mu[c] * float(force[0]) * least
        # a contact that sticks may creep by the noise, at which friction is anywhere in its cone
        allowed = size * max(1.0, float(self.mu[c])) * (self.limits.force * speed + 2.0 * noise)
        self.book.note("maximal dissipation", i, defect, allowed)

    def middle(self, i: int, t: float, q: Array, v: Array, a: Array) -> None:
        """In the middle of an interval ``M a - F_s`` must be a sum of contact forces that (53) allows there.

        And it must be the one that the recorded impulse stands for: Simpson's rule over the interval, with
        the forces at its ends, tells the force in its middle.
        """
        h = float(self.trajectory.t[i] - self.trajectory.t[i - 1])
        M, smooth = self.model.mass(q), self.smooth_force(t, q, v)
        metric = np.linalg.inv(np.linalg.cholesky(M))  # measure generalized forces in the metric of M^-1
        target, free = metric @ (M @ a - smooth), float(np.linalg.norm(metric @ smooth))
        misfit = float(np.linalg.norm(target))
        discretised = self.limits.dynamics * h * max(free, float(np.linalg.norm(target)))
        rays = self._allowed(i, q, v, discretised)
        if len(rays):
            misfit = _distance_to_cone((rays @ metric.T).T, target)
        left_over = self.limits.integrator * self.fastest + self.limits.law * self.before_impact[i - 1]
        allowed = discretised + 1.5 * left_over  # the cubic's acceleration has 1.5 (v1 - v0) / h
        self.book.note("inclusion (53)", i, misfit * h, allowed)
        if not len(self.mu):
            return
        start, end = self.trajectory.forces["contact after"][i - 1], self.trajectory.forces["contact"][i]
        implied = 1.5 * self.impulses[i] - 0.25 * h * (start + end)
        explained = metric @ np.tensordot(implied, self.J(q), axes=2)
        rounding = (
            self.limits.integrator * max(1.0, float(self.s[i])) * np.abs(metric @ self.J(q)[:, 0].T).max()
        )
        self.book.note(
            "impulses of forces", i, float(np.linalg.norm(explained - h * target)), allowed + rounding
        )

    def _allowed(self, i: int, q: Array, v: Array, discretised: float) -> Array:
        """Generalized forces at the edges of the friction cones of contacts that stay closed over interval i.

        ``discretised`` (|v|_M) is how far the velocity v in its middle may be off.
        """
        nt, J = self.model.nt, self.J(q)
        closed, stuck = self._rests(i - 1) & self._rests(i)  # at both ends
        velocity = J[:, 1:] @ v
        slip = np.linalg.norm(velocity, axis=1)
        stuck |= slip <= self.noise(q, self.before_impact[i - 1], discretised)
        edges = np.vstack([np.zeros(nt), facet_directions(nt, None if nt == 1 else _EDGES)])
        rays: list[Array] = []
        for c in map(int, np.flatnonzero(closed)):
            if self.mu[c] > 0.0 and not stuck[c]:
                edges_c = -velocity[c][None] / slip[c]
            else:
                edges_c = edges if self.mu[c] > 0.0 else edges[:1]
            rays += [J[c, 0] + self.mu[c] * d @ J[c, 1:] for d in edges_c]
        return np.array(rays).reshape(len(rays), self.model.nv)

    def _rests(self, k: int) -> np.ndarray:
        """Which contacts are closed and do not separate at sample k, and which have no slip, (2, nc) bool."""
        q = self.trajectory.q[k]
        velocity, noise = self.J(q) @ self.trajectory.v[k], self.noise(q, self.before_impact[k])
        closed = self.gaps[k] <= self.limits.gap * self.reach[k]
        return np.array(
            [closed & (velocity[:, 0] <= noise), np.linalg.norm(velocity[:, 1:], axis=1) <= noise]
        )

    def impact(self, i: int) -> None:
        """(49): t and q stand still, and v changes by impulses that the law allows."""
        trajectory = self.trajectory
        q, before, after = trajectory.q[i], trajectory.v[i - 1], trajectory.v[i]
        event = next((e for e in reversed(self.impact_events) if e.index < i), None)
        impulse = self.impulses[i]
        M, J = self.model.mass(q), self.J(q)
        noise = self.noise(q, self.before_impact[i])
        self.book.note("q stands still in impacts", i, float(np.abs(q - trajectory.q[i - 1]).max()), 0.0)
        unexplained = M @ (after - before) - np.tensordot(impulse, J, axes=2)
        # an impulse that s is too coarse to count is recorded with the next sample
        unresolved = float(np.spacing(self.s[i])) * np.abs(J).sum(axis=(0, 1))
        self._momentum("momentum of impacts", i, unexplained, self.limits.momentum, unresolved)
        closed = self.gaps[i] <= self.limits.gap * self.reach[i]
        if not np.any(self.restitution[closed] > 0.0):
            gained = self.speed[i] - self.speed[i - 1]
            self.book.note("impacts dissipate", i, gained, self.limits.law * self.before_impact[i])
            slowest = float((J[closed, 0] @ before / noise[closed]).min(initial=np.inf))
            self.book.note("impact only where nothing separates", i, slowest, 1.0)
        size = float(np.abs(impulse).max())
        for c in map(int, np.flatnonzero(np.abs(impulse).max(axis=1) > 0.0)):
            self.book.note("force at a distance", i, self.gaps[i, c], self.limits.gap * self.reach[i])
            self._cone(i, c, impulse[c], size)
            self._law(i, c, event, impulse[c], J[c] @ before, J[c] @ after, size, float(noise[c]))

    def _momentum(
        self, condition: str, i: int, unexplained: Array, share: float, unresolved: Array | float = 0.0
    ) -> None:
        """Compare generalized impulses with the momentum at hand, each coordinate by its own inertia."""
        inertia = np.sqrt(self.model.mass(self.trajectory.q[i]).diagonal())
        speed = max(float(self.before_impact[i]), float(self.speed[i - 1]), 1e-12 * self.fastest)
        unexplained = np.maximum(np.abs(unexplained) - unresolved, 0.0)
        self.book.note(condition, i, float((unexplained / inertia).max()), share * speed)

    def _law(
        self,
        i: int,
        c: int,
        event: Event | None,
        impulse: Array,
        before: Array,
        after: Array,
        size: float,
        noise: float,
    ) -> None:
        """(72c), (72d) at the end of an implicit increment; (38), (16) in the middle of a straight piece."""
        data = {} if event is None else event.data
        kind = data.get("path", PathKind.TOTAL)
        if kind == PathKind.IMPLICIT:
            velocity, directions = after, None
            if self.model.nt == 2 and data.get("friction", "polyhedral") == "polyhedral":
                directions = facet_directions(2, data.get("facets"))
        elif kind == PathKind.STRAIGHT:
            velocity, directions = 0.5 * (before + after), None
        else:
            return
        power = float(impulse[0]) * float(velocity[0])
        if self.restitution[c] == 0.0:
            self.book.note("normal impulses dissipate", i, power, size * noise)
        self._dissipation(i, c, impulse, velocity[1:], size, noise, directions)

    def accumulation(self, i: int, event: Event) -> None:
        """The jump to a Zeno point: impacts before it decay, momentum balances, nothing approaches after.

        Where cycles of impacts repeat, the last two cycles tell what remains of a geometric sequence. Where
        they are random, each is shorter than the one before by 0.9 at most, on average: the rest of such a
        sequence lasts less than twice the last four.
        """
        trajectory = self.trajectory
        cycle = int(event.data.get("cycle", 0))
        width = cycle or 4
        intervals = np.diff(np.unique([e.t for e in self.impact_events if e.index < i]))
        before, last = intervals[-2 * width : -width].sum(), intervals[-width:].sum()
        decays = len(intervals) >= 2 * width and last < before
        self.book.note("impacts decay before an accumulation", i, 0.0 if decays else np.inf, 1.0)
        skipped = trajectory.t[i] - trajectory.t[i - 1]
        rest = 1.01 * last / (before / last - 1.0) if cycle and decays else 2.0 * last
        self.book.note("skipped time", i, skipped, rest)
        q, v0, v1 = trajectory.q[i], trajectory.v[i - 1], trajectory.v[i]
        push = np.tensordot(self.impulses[i], self.J(q), axes=2)
        smooth = skipped * self.smooth_force(trajectory.t[i], q, v1)
        unexplained = self.model.mass(q) @ (v1 - v0) - push - smooth
        self._momentum("momentum at accumulations", i, unexplained, self.limits.zeno)
        size = float(np.abs(self.impulses[i]).max(initial=0.0))
        for c in range(len(self.mu)):
            self._cone(i, c, self.impulses[i, c], size)

    def outcomes(self) -> None:
        """After the last increment of an impact no closed contact approaches."""
        t = self.trajectory.t
        for i in range(1, len(t)):
            ends = t[i] == t[i - 1] and (i + 1 == len(t) or t[i + 1] > t[i])
            if ends and self.trajectory.ok:
                q, closed = self.trajectory.q[i], self.gaps[i] <= self.limits.gap * self.reach[i]
                approach = -(self.J(q)[:, 0] @ self.trajectory.v[i]) / self.noise(q, self.before_impact[i])
                self.book.note("no approach after impacts", i, float(approach[closed].max(initial=0.0)), 1.0)

    def energy(self) -> None:
        """Kinetic and potential energy together never rise without input: not at once, not bit by bit."""
        potential = getattr(self.model, "potential", None)
        if self.control is not None or potential is None:
            return
        total = 0.5 * self.speed**2 + np.array([potential(q) for q in self.trajectory.q])
        unit = max(float(np.ptp(total)), 0.5 * self.fastest**2, 1e-300)
        rounding = 4.0 * float(np.spacing(np.abs(total).max()))
        t = self.trajectory.t
        inside = np.zeros(len(t), dtype=bool)  # of an impact, where restitution gives back what it took
        inside[1:-1] = (t[1:-1] == t[:-2]) & (t[1:-1] == t[2:])
        kept = np.flatnonzero(~inside)
        lowest = 0
        for k in range(1, len(kept)):
            # interpolation errs once, the integrator with every step, which has a dozen samples
            allowed = self.limits.energy + self.limits.integrator * (k - lowest) / 12.0
            change = float(total[kept[k]] - total[kept[lowest]])
            self.book.note("energy", int(kept[k]), change, allowed * unit + rounding)
            lowest = k if change < 0.0 else lowest


def _distance_to_cone(generators: Array, target: Array) -> float:
    """Distance of a vector to the cone of the columns of ``generators``."""
    if not (np.all(np.isfinite(generators)) and np.all(np.isfinite(target))):
        return np.inf
    unit = np.linalg.norm(generators, axis=0)
    return float(nnls(generators / unit, target)[1])
