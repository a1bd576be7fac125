"""The inelastic limit of the law of Liu, Zhao and Brogliato (LZB), for planar contacts.

LZB distributes the impulse by the potential energies stored at the contacts:
``dP_j / dP_i = (K_j / K_i)^(1/(eta+1)) (E_j / E_i)^(eta/(eta+1))`` with ``dE_j = -y_j dP_j``. This is what
springs ``F_j = K_j delta_j^eta`` with ``delta_j' = -y_j`` do while the configuration stands still. Perfectly
inelastic: a contact gives nothing back, so its energy is lost when its normal velocity reaches zero, and it
stores anew if it is pushed in again. Only ratios of the stiffnesses matter.

Every increment has constant rates and is cut where a normal velocity or a slip reaches zero, so the path is a
solution of HP23 (39) whatever the size of the increments; they only decide how well it follows the springs.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from routh import tolerances
from routh.laws.base import ImpactLaw, ImpactResult
from routh.paths import ImpactPath, PathKind
from routh.problem import ImpactProblem
from routh.status import Status
from routh.step.base import scaled_delassus
from routh.validation import Array, integer, per_contact, real, real_array


@dataclass(frozen=True)
class LZB(ImpactLaw):
    """Liu, Zhao and Brogliato's multiple-impact law in its inelastic limit.

    Parameters
    ----------
    stiffness : number or one per contact, > 0: relative stiffnesses.
    exponent : of the contact force in the indentation, 1 for linear springs, 1.5 for Hertz.
    resolution : increments per radian of the fastest spring.
    max_steps : increments before the law gives up, with status MAX_STEPS.
    """

    stiffness: float | tuple[float, ...] = 1.0
    exponent: float = 1.0
    resolution: float = 20.0
    max_steps: int = 1_000_000

    planar = True

    def __post_init__(self) -> None:
        values = real_array("stiffness", self.stiffness, [(), (None,)], "a number or one per contact")
        if not np.all(values > 0.0):
            raise ValueError(f"stiffness: got {values.min():g}; wanted positive numbers")
        real("exponent", self.exponent, at_least=1.0)
        real("resolution", self.resolution, above=0.0)
        integer("max_steps", self.max_steps, at_least=1)
        if values.ndim:
            object.__setattr__(self, "stiffness", tuple(values.tolist()))

    def resolve(self, problem: ImpactProblem, rng: np.random.Generator | None) -> ImpactResult:
        """The velocity after the impact. ``rng`` is not used: the law is deterministic."""
        return _Springs(problem, self).run()


class _Springs:
    """The state of one impact: scaled contact velocities ``c = (y_1, t_1, ...)`` and indentations."""

    def __init__(self, problem: ImpactProblem, law: LZB) -> None:
        self.problem, self.law = problem, law
        self.G = scaled_delassus(problem)
        self.c = _without_rounding((problem.contact_velocity() / problem.scaling.velocity[:, None]).ravel())
        stiffness = per_contact("stiffness", np.asarray(law.stiffness), problem.nc)
        # in scaled units a contact of stiffness K and effective mass m is a spring K / m
        spring = stiffness * problem.scaling.mass ** ((law.exponent - 1.0) / 2.0) / problem.scaling.mass
        self.K = spring / spring.max()
        self.depth = np.zeros(problem.nc)
        self.fault = 0.0  # the worst breach of Coulomb's law by any increment, over its largest rate
        self._cache: dict[tuple[int, ...], Array] = {}
        self._last: dict[tuple[int, ...], tuple[int, ...]] = {}

    def run(self) -> ImpactResult:
        """Increments until no contact approaches."""
        increments = []
        status = Status.MAX_STEPS
        for _ in range(self.law.max_steps):
            y = self.c[::2]
            if y.min() >= -tolerances.ZERO_SPEED:
                status = Status.SOLVED
                break
            increments.append(self._advance())
        unit = self.problem.scaling.impulse[:, None]
        steps = np.array(increments).reshape(-1, self.problem.nc, 2) * unit
        cumulative = np.concatenate([np.zeros((1, self.problem.nc, 2)), np.cumsum(steps, axis=0)])
        path = self.problem.apply(cumulative)
        after = (self.problem.contact_velocity(path[-1]) / self.problem.scaling.velocity[:, None]).ravel()
        residual = float(np.max(np.abs(after - self.c), initial=self.fault))
        if status is Status.SOLVED and not residual < tolerances.RESIDUAL:
            status = Status.NUMERICAL
        course = ImpactPath(path, steps, PathKind.STRAIGHT)
        return ImpactResult(self.problem, path[-1], cumulative[-1], status, course, residual)

    def _advance(self) -> Array:
        """One increment with constant rates; returns its scaled impulses (2 nc,)."""
        y = self.c[::2]
        pushing = y < -tolerances.ZERO_SPEED
        p = self.law.exponent
        # natural time of the fastest active spring, and the share of it that one increment takes
        deepest = np.where(pushing, np.maximum(self.depth, -y), 0.0)
        fastest = np.sqrt(np.max(np.where(pushing, self.K * p * deepest ** (p - 1.0), 0.0)))
        dt = 1.0 / (self.law.resolution * fastest)
        middle = self.depth + 0.5 * dt * np.maximum(-y, 0.0)
        normal = np.where(pushing, self.K * middle**p, 0.0)
        rates = self._with_friction(normal)
        change = self.G @ rates
        watched = np.ones(len(self.c), dtype=bool)
        watched[::2] = pushing
        watched[1::2] = normal > 0.0
        towards = watched & (self.c * change < 0.0) & (np.abs(self.c) > tolerances.ZERO_SPEED)
        length = min(dt, float(np.min(-self.c[towards] / change[towards], initial=np.inf)))
        after = _without_rounding(self.c + length * change)
        self.depth = np.where(pushing, self.depth - 0.5 * length * (y + after[::2]), 0.0)
        self.depth[after[::2] >= 0.0] = 0.0  # perfectly inelastic: what was stored is lost
        self.c = after
        return length * rates

    def _with_friction(self, normal: Array) -> Array:
        """Rates (2 nc,) with Coulomb friction: sliding contacts full, those at zero slip as needed."""
        slip = self.c[1::2]
        active = np.flatnonzero((normal > 0.0) & (self.problem.mu > 0.0))
        resting = tuple(int(i) for i in active if slip[i] == 0.0)
        rates = np.zeros(len(self.c))
        rates[::2] = normal
        for i in active:
            rates[2 * i + 1] = -np.sign(slip[i]) * self.problem.mu[i] * normal[i]
        if not resting:
            return rates
        choices = list(product((0, 1, -1), repeat=len(resting)))
        if resting in self._last:
            choices.insert(0, self._last[resting])
        best, best_fault = rates, np.inf
        for signs in choices:
            trial, fault = self._trial(rates, resting, signs)
            if fault < best_fault:
                best, best_fault, self._last[resting] = trial, fault, signs
            if fault <= 1e-12:
                break
        self.fault = max(self.fault, best_fault)
        return best

    def _trial(self, rates: Array, resting: tuple[int, ...], signs: tuple[int, ...]) -> tuple[Array, float]:
        """Friction with each contact at zero slip sticking (0) or starting to slide (sign), and its fault."""
        trial = rates.copy()
        sticking = [2 * i + 1 for i, sign in zip(resting, signs, strict=True) if sign == 0]
        for i, sign in zip(resting, signs, strict=True):
            trial[2 * i + 1] = -sign * self.problem.mu[i] * rates[2 * i]
        if sticking:
            key = tuple(sticking)
            if key not in self._cache:
                block = self.G[np.ix_(sticking, sticking)]
                self._cache[key] = np.asarray(np.linalg.pinv(block, rcond=1e-11), dtype=np.float64)
            trial[sticking] = -self._cache[key] @ (self.G[sticking] @ trial)
        change = self.G @ trial
        scale = float(np.max(np.abs(trial)))
        fault = 0.0
        for i, sign in zip(resting, signs, strict=True):
            if sign == 0:
                fault = max(fault, abs(trial[2 * i + 1]) - self.problem.mu[i] * trial[2 * i])
                fault = max(fault, abs(change[2 * i + 1]))
            else:
                fault = max(fault, -sign * change[2 * i + 1])
        return trial, fault / scale


def _without_rounding(c: Array) -> Array:
    """Scaled velocities, with zeros for rounding: a contact that slips by rounding sticks."""
    return np.where(np.abs(c) < tolerances.ZERO_SPEED, 0.0, c)
