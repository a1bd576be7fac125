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

from routh.friction import facet_directions
from routh.models.base import Model
from routh.sim.trajectory import Event, Trajectory
from routh.validation import Array

Control = Callable[[float, Array, Array], ArrayLike]

IMPLICIT = ("SetValued", "Simultaneous", "Sequential")  # laws whose increments solve (72) or (31)
EXPLICIT = ("SingleContact", "Newton")  # laws that follow (39) along straight pieces
_EDGES = 64  # of a spatial friction cone, in the membership test


@dataclass(frozen=True)
class Limits:
    """What still counts as rounding and discretisation. Dimensionless unless said."""

    gap: float = 1e-8  # m, penetration, and distance of a contact that carries force
    rest: float = 1e-6  # share of the speed: normal velocity of a contact that carries force
    force: float = 1e-6  # share of the largest force: cone, dissipation
    dynamics: float = 1e-5  # share of the largest force: equation of motion in the middle of intervals
    momentum: float = 1e-8  # share of momentum: balance over an impact or an interval
    energy: float = 1e-8  # share of the largest energy
    zeno: float = 1e-2  # share of the impulse across an accumulation point


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
    check = _Check(model, trajectory, control, limits or Limits())
    check.samples()
    zeno = {event.index for event in trajectory.events if event.kind == "zeno"}
    for i in range(1, len(trajectory)):
        check.augmented_time(i)
        if i in zeno:
            check.accumulation(i)
        elif trajectory.t[i] == trajectory.t[i - 1]:
            check.impact(i)
        else:
            check.smooth(i)
    check.outcomes()
    check.energy()
    return Verdict(tuple(check.book.violations), check.book.worst, check.book.checked)


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
        self.fastest = max(float(self.speed.max()), 1e-3 * self._fall())
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

    def velocity_unit(self, q: Array, speed: float) -> Array:
        """Contact velocities of a body that moves with all the energy in one contact, (nc,) m/s."""
        Jn = self.model.jacobians(q)[0]
        root = np.sqrt(np.einsum("ij,ji->i", Jn, np.linalg.solve(self.model.mass(q), Jn.T)))
        return root * max(speed, 1e-2 * self.fastest)

    def samples(self) -> None:
        """Lemma 4: no sample penetrates."""
        for i, gaps in enumerate(self.gaps):
            if len(gaps):
                self.book.note("penetration", i, float(-gaps.min()), self.limits.gap)

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
        size = max(1e-3 * self.strongest, 1e-300)
        if len(self.mu):
            size = max(size, float(np.abs(start).max()), float(np.abs(end).max()))
        self.contact_law(i, q0, v0, start, size, self.speed[i - 1])
        self.contact_law(i, q1, v1, end, size, self.speed[i])
        if len(self.mu):
            # the impulse of an interval is its mean force times its length; redundant contacts may share
            # a force in many ways, so it is compared in generalized coordinates
            J = self.J(q1)
            change, total = np.abs(end - start).max(), np.tensordot(self.impulses[i] / h, J, axes=2)
            mean = np.abs(total - 0.5 * np.tensordot(start + end, J, axes=2)).max()
            allowed = (0.5 * float(change) + 1e3 * self.limits.force * size) * max(
                1.0, float(np.abs(J).max())
            )
            rounding = (
                self.limits.momentum * max(1.0, float(np.abs(self.impulses).max())) / h
            )  # of the integrated impulse
            self.book.note("impulses of forces", i, float(mean), allowed + rounding)
        M0, M1 = self.model.mass(q0), self.model.mass(q1)
        f0 = self.smooth_force(t0, q0, v0) + np.tensordot(start, self.J(q0), axes=2)
        f1 = self.smooth_force(t1, q1, v1) + np.tensordot(end, self.J(q1), axes=2)
        a0, a1 = np.linalg.solve(M0, f0), np.linalg.solve(M1, f1)
        # cubic through the velocities and accelerations at both ends, exact for motions of fourth degree
        a = 1.5 * (v1 - v0) / h - 0.25 * (a0 + a1)
        v = 0.5 * (v0 + v1) + h / 8.0 * (a0 - a1)
        half = 0.5 * h * v0 + h * (3.0 / 32.0 * (v1 - v0)) + h * h * (11.0 * a0 - 5.0 * a1) / 192.0
        q = self.model.integrate(q0, half, 1.0)
        self.membership(i, 0.5 * (t0 + t1), q, v, a, h)
        whole = 0.5 * h * (v0 + v1) + h * h / 12.0 * (a0 - a1)
        drift = np.abs(self.model.integrate(q0, whole, 1.0) - q1).max()
        reach = float(np.abs(whole).max())
        self.book.note("dq = v dt", i, float(drift), 1e-9 + 1e-6 * reach)

    def contact_law(self, i: int, q: Array, v: Array, force: Array, size: float, speed: float) -> None:
        """(12) and (16) at one state."""
        pushing = np.flatnonzero(np.abs(force).max(axis=1) > self.limits.force * size)
        if not len(pushing):
            return
        velocities, units, gaps = self.J(q) @ v, self.velocity_unit(q, speed), self.model.gaps(q)
        for c in map(int, pushing):
            unit = float(units[c])
            self._cone(i, c, force[c], size)
            self.book.note("force at a distance", i, float(gaps[c]), self.limits.gap)
            normal = abs(float(velocities[c, 0]))
            self.book.note("force while separating", i, normal, self.limits.rest * unit)
            self._dissipation(i, c, force[c], velocities[c, 1:], size * unit)

    def _cone(self, i: int, c: int, force: Array, size: float) -> None:
        excess = max(float(np.linalg.norm(force[1:]) - self.mu[c] * force[0]), -float(force[0]))
        allowed = self.limits.force * size * max(1.0, float(self.mu[c]))
        self.book.note("friction cone", i, excess, allowed)

    def _dissipation(
        self, i: int, c: int, force: Array, slip: Array, unit: float, directions: Array | None = None
    ) -> None:
        """Maximal dissipation: the power of friction against the least that the cone allows."""
        least = -float(np.linalg.norm(slip)) if directions is None else float((directions @ slip).min())
        defect = float(force[1:] @ slip) - self.mu[c] * float(force[0]) * least
        self.book.note(
            "maximal dissipation", i, defect, self.limits.force * unit * max(1.0, float(self.mu[c]))
        )

    def membership(self, i: int, t: float, q: Array, v: Array, a: Array, h: float) -> None:
        """Whether ``M a - F_s`` is a sum of contact forces that (53) allows at (q, v)."""
        M = self.model.mass(q)
        smooth = self.smooth_force(t, q, v)
        wanted = M @ a - smooth
        rays = self._allowed(q, v)
        metric = np.linalg.inv(np.linalg.cholesky(M))  # measure generalized forces in the metric of M^-1
        target = metric @ wanted
        misfit = float(np.linalg.norm(target))
        if len(rays):
            misfit = _distance_to_cone((rays @ metric.T).T, target)
        scale = max(float(np.linalg.norm(metric @ smooth)), float(np.linalg.norm(target)))
        allowed = self.limits.dynamics * scale * h + self.limits.momentum * self.fastest
        self.book.note("inclusion (53)", i, misfit * h, allowed)

    def _allowed(self, q: Array, v: Array) -> Array:
        """Generalized forces at the edges of the friction cones of closed, non-separating contacts."""
        unit = self.velocity_unit(q, float(np.sqrt(max(float(v @ self.model.mass(q) @ v), 0.0))))
        rays: list[Array] = []
        gaps, nt = self.model.gaps(q), self.model.nt
        for c, J in enumerate(self.J(q)):
            velocity = J @ v
            if gaps[c] > 10.0 * self.limits.gap or velocity[0] > 10.0 * self.limits.rest * unit[c]:
                continue
            slip = float(np.linalg.norm(velocity[1:]))
            if self.mu[c] > 0.0 and slip <= 10.0 * self.limits.rest * unit[c]:
                directions = facet_directions(nt, None if nt == 1 else _EDGES)
                rays.append(J[0])
                rays += [J[0] + self.mu[c] * d @ J[1:] for d in directions]
            else:
                pull = velocity[1:] / slip if slip > 0.0 else np.zeros(nt)
                rays.append(J[0] - self.mu[c] * pull @ J[1:])
        return np.array(rays).reshape(len(rays), self.model.nv)

    def impact(self, i: int) -> None:
        """(49): t and q stand still, and v changes by impulses that the law allows."""
        trajectory = self.trajectory
        q, before, after = trajectory.q[i], trajectory.v[i - 1], trajectory.v[i]
        event = next((e for e in reversed(self.impact_events) if e.index < i), None)
        impulse = self.impulses[i]
        M, J = self.model.mass(q), self.J(q)
        unit = self.velocity_unit(q, self.speed[i - 1])
        mass = np.sqrt(np.maximum(np.linalg.eigvalsh(M), 0.0)).max()
        reach = max(self.speed[i - 1], self.speed[i], 1e-12 * self.fastest)
        self.book.note("q stands still in impacts", i, float(np.abs(q - trajectory.q[i - 1]).max()), 1e-15)
        balance = M @ (after - before) - np.tensordot(impulse, J, axes=2)
        allowed = self.limits.momentum * mass * reach
        self.book.note("momentum of impacts", i, float(np.abs(balance).max()), allowed)
        closed = self.gaps[i] <= self.limits.gap
        separating = (J[closed, 0] @ before) / unit[closed]
        elastic = bool(np.any(self.restitution[closed] > 0.0))
        if not elastic:
            gained = self.speed[i] - self.speed[i - 1]
            self.book.note("impacts dissipate", i, gained, self.limits.momentum * reach)
            nearest = float(separating.min()) if len(separating) else np.inf
            self.book.note("impact only where nothing separates", i, nearest, self.limits.rest)
        size = float(np.abs(impulse).max())
        for c in map(int, np.flatnonzero(np.abs(impulse).max(axis=1) > 0.0)):
            self.book.note("force at a distance", i, float(self.gaps[i, c]), self.limits.gap)
            self._cone(i, c, impulse[c], size)
            self._law(i, c, event, impulse[c], J[c] @ before, J[c] @ after, size, float(unit[c]))

    def _law(
        self,
        i: int,
        c: int,
        event: Event | None,
        impulse: Array,
        before: Array,
        after: Array,
        size: float,
        unit: float,
    ) -> None:
        """(72c), (72d) at the end of an implicit increment; (38), (16) in the middle of a straight piece."""
        data = {} if event is None else event.data
        law = str(data.get("law", ""))
        if law in IMPLICIT and data.get("rule", "complementarity") == "complementarity":
            velocity, directions = after, None
            if self.model.nt == 2 and data.get("friction", "polyhedral") == "polyhedral":
                directions = facet_directions(2, data.get("facets"))
        elif law in EXPLICIT:
            velocity, directions = 0.5 * (before + after), None
        else:
            return
        power = float(impulse[0]) * float(velocity[0])
        if self.restitution[c] == 0.0:
            self.book.note("normal impulses dissipate", i, power, self.limits.rest * size * unit)
        self._dissipation(i, c, impulse, velocity[1:], 10.0 * size * unit, directions)

    def accumulation(self, i: int) -> None:
        """The jump to a Zeno point: impacts before it decay, momentum balances, nothing approaches after."""
        trajectory = self.trajectory
        times = [e.t for e in self.impact_events if e.index < i]
        intervals = np.diff(np.unique(times))[-8:]
        skipped = trajectory.t[i] - trajectory.t[i - 1]
        decays = len(intervals) == 8 and intervals[4:].sum() < intervals[:4].sum()
        self.book.note("impacts decay before an accumulation", i, 0.0 if decays else np.inf, 1.0)
        rest = intervals.sum() / max(intervals[:4].sum() / max(intervals[4:].sum(), 1e-300) - 1.0, 1e-3)
        self.book.note("skipped time", i, skipped, 2.0 * rest)
        q, v0, v1 = trajectory.q[i], trajectory.v[i - 1], trajectory.v[i]
        M = self.model.mass(q)
        push = np.tensordot(self.impulses[i], self.J(q), axes=2)
        smooth = skipped * self.smooth_force(trajectory.t[i], q, v1)
        size = max(float(np.abs(push).max()), float(np.abs(smooth).max()), float(np.abs(M @ (v1 - v0)).max()))
        irregular = any(e.kind == "zeno" and e.index == i and e.data["cycle"] == 0 for e in trajectory.events)
        allowed = size if irregular else self.limits.zeno * size
        self.book.note(
            "momentum at accumulations", i, float(np.abs(M @ (v1 - v0) - push - smooth).max()), allowed
        )

    def outcomes(self) -> None:
        """After the last increment of an impact no closed contact approaches."""
        t = self.trajectory.t
        for i in range(1, len(t)):
            ends = t[i] == t[i - 1] and (i + 1 == len(t) or t[i + 1] > t[i])
            if ends and self.trajectory.ok:
                first = int(np.searchsorted(t, t[i]))
                closed = self.gaps[i] <= self.limits.gap
                approach = -(self.J(self.trajectory.q[i])[closed, 0] @ self.trajectory.v[i])
                unit = self.velocity_unit(self.trajectory.q[i], self.speed[first])[closed]
                self.book.note(
                    "no approach after impacts", i, float((approach / unit).max()), self.limits.rest
                )

    def energy(self) -> None:
        """Kinetic and potential energy together never rise without input."""
        potential = getattr(self.model, "potential", None)
        if self.control is not None or potential is None:
            return
        total = 0.5 * self.speed**2 + np.array([potential(q) for q in self.trajectory.q])
        unit = max(float(np.ptp(total)), 0.5 * self.fastest**2, 1e-300)
        t = self.trajectory.t
        inside = np.zeros(len(t), dtype=bool)  # of an impact, where restitution gives back what it took
        inside[1:-1] = (t[1:-1] == t[:-2]) & (t[1:-1] == t[2:])
        kept = np.flatnonzero(~inside)
        for i, change in zip(kept[1:], np.diff(total[kept]), strict=True):
            self.book.note("energy", int(i), float(change), self.limits.energy * unit)


def _distance_to_cone(generators: Array, target: Array) -> float:
    """Distance of a vector to the cone of the columns of ``generators``."""
    if not (np.all(np.isfinite(generators)) and np.all(np.isfinite(target))):
        return np.inf
    unit = np.linalg.norm(generators, axis=0)
    return float(nnls(generators / unit, target)[1])
