"""What a trajectory and its model say, gathered for the check of the one against the other.

What counts as closed, as at rest and as slip is said here once, by the tolerances that the simulator uses:
between events a contact moves when it is faster than what an integrator leaves over; at an event, where a
law or a choice of contact mode takes slow motion for none, when it is faster than `tolerances.REST`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from routh import tolerances
from routh.models.base import Model
from routh.sim.trajectory import Trajectory
from routh.text import for_terminal
from routh.validation import Array

_KEPT = 4  # configurations whose Jacobians are kept: both ends of an interval, its middle, and one more

Control = Callable[[float, Array, Array], ArrayLike]


@dataclass(frozen=True)
class Violation:
    """One condition that one sample or interval breaks."""

    condition: str
    index: int  # of the sample, or of the end of the interval
    size: float  # in units of what is allowed: above 1


@dataclass
class Verdict:
    """What the check found; a NaN counts as broken."""

    violations: list[Violation] = field(default_factory=list)
    worst: dict[str, float] = field(default_factory=dict)  # per condition, in units of what is allowed
    checked: dict[str, int] = field(default_factory=dict)  # how often each condition was looked at

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
        return "\n".join(lines)

    def note(self, condition: str, index: int, size: float, allowed: float) -> None:
        """One look at one condition: ``size`` against what is ``allowed``."""
        share = float(size) / allowed if allowed > 0.0 else (0.0 if size <= 0.0 else np.inf)
        self.checked[condition] = self.checked.get(condition, 0) + 1
        self.worst[condition] = max(self.worst.get(condition, 0.0), share if share == share else np.inf)
        if not share <= 1.0:
            self.violations.append(Violation(condition, index, share))


class Evidence:
    """The trajectory, the model's answers at its states, and the book of conditions."""

    def __init__(self, model: Model, trajectory: Trajectory, control: Control | None) -> None:
        assert trajectory.s is not None
        assert trajectory.impulses is not None
        self.model, self.trajectory, self.control = model, trajectory, control
        self.s, self.impulses = trajectory.s, trajectory.impulses
        self.book = Verdict()
        # an interval asks often: those of the last few configurations are kept
        self._kept = lru_cache(maxsize=_KEPT)(self._rows)
        self.mu = np.array([info.mu for info in model.contacts])
        self.restitution = np.array([info.restitution for info in model.contacts])
        self.gaps = np.array([model.gaps(q) for q in trajectory.q])
        squares = [v @ model.mass(q) @ v for q, v in zip(trajectory.q, trajectory.v, strict=True)]
        self.speed = np.sqrt(np.maximum(squares, 0.0))  # |v|_M
        self.fastest = max(float(self.speed.max()), tolerances.FALL * self._fall())
        self.before_impact, self.settling = self._instants()
        self.reach = np.maximum(1.0, np.abs(trajectory.q).max(axis=1))
        self.strongest = max(
            (float(np.abs(f).max()) for f in trajectory.forces.values() if f.size), default=0.0
        )
        self.impact_events = [e for e in trajectory.events if e.kind.startswith("impact")]

    def _instants(self) -> tuple[Array, Array]:
        """|v|_M before the impact at each sample's time (0: none), and that where a contact mode begins."""
        first = np.searchsorted(self.trajectory.t, self.trajectory.t, side="left")
        last = np.searchsorted(self.trajectory.t, self.trajectory.t, side="right")
        fastest = np.array([self.speed[a:b].max() for a, b in zip(first, last, strict=True)])
        shared = last - first > 1
        begins = np.zeros(len(self.speed), dtype=bool)
        begins[[event.index for event in self.trajectory.events]] = True
        return np.where(shared, fastest, 0.0), np.where(shared | begins, fastest, 0.0)

    def _fall(self) -> float:
        """The speed |v|_M that the smooth forces alone would give from rest: a unit for what stands still."""
        t, q, v = self.trajectory.t, self.trajectory.q[0], self.trajectory.v[0]
        force = self.smooth_force(float(t[0]), q, v)
        return float(np.sqrt(force @ np.linalg.solve(self.model.mass(q), force))) * float(t[-1] - t[0])

    def J(self, q: Array) -> Array:
        """Contact Jacobians, normal first, (nc, 1 + nt, nv)."""
        return self._kept(q.tobytes())[0]

    def smooth_force(self, t: float, q: Array, v: Array) -> Array:
        """Generalized forces without those of contacts, (nv,)."""
        u = None if self.control is None else self.control(t, q, v)
        return -self.model.bias(q, v, u)

    def noise(self, q: Array, settling: float = 0.0, more: float = 0.0) -> Array:
        """Contact velocities (nc,) m/s that are no motion: what integrator and event may leave over."""
        share = tolerances.VERIFY_INTEGRATOR * self.fastest + tolerances.VERIFY_REST * settling + more
        return self.root(q) * share

    def root(self, q: Array) -> Array:
        """Normal velocities of contacts per |v|_M: 1 / sqrt(effective mass), (nc,)."""
        return self._kept(q.tobytes())[1]

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
        self.book.note("friction cone", i, excess, allowed)

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
        self.book.note("maximal dissipation", i, defect, allowed)

    def momentum(
        self, condition: str, i: int, unexplained: Array, share: float, unresolved: Array | float = 0.0
    ) -> None:
        """Compare generalized impulses with the momentum at hand, each coordinate by its own inertia."""
        inertia = np.sqrt(self.model.mass(self.trajectory.q[i]).diagonal())
        speed = max(float(self.before_impact[i]), float(self.speed[i - 1]), 1e-12 * self.fastest)
        unexplained = np.maximum(np.abs(unexplained) - unresolved, 0.0)
        self.book.note(condition, i, float((unexplained / inertia).max()), share * speed)
