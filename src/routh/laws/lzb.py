"""The law of Liu, Zhao and Brogliato (LZB): springs whose energies decide how contacts share the impulse.

``dP_j / dP_i = (K_j / K_i)^(1/(eta+1)) (E_j / E_i)^(eta/(eta+1))`` for the potential energies E_j: what
springs ``F_j = K_j delta_j^eta`` do while the configuration stands still. While a contact approaches, its
energy grows by the work done on it, ``dE_j = -y_j dP_j``; while it separates it falls by
``y_j dP_j / e_j^2``, so that e_j^2 of the work is returned when the spring is empty (their bi-stiffness
model; Stronge's restitution). With e_j = 0 what is stored is lost as soon as the contact no longer
approaches. A contact that is pushed in again stores anew. Only ratios of the stiffnesses matter.

In the plane every increment has constant rates and is cut where a normal velocity or a slip reaches zero or
a spring is empty, so the path is a solution of HP23 (39), with restitution of the elastic inclusion,
whatever the size of the increments; they only decide how well it follows the springs. In space friction of
an increment is Coulomb's for the slip at its end.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from routh.base import tolerances
from routh.base.results import PathKind
from routh.base.status import InputError, Status
from routh.base.validation import Array, integer, per_contact, real, real_array
from routh.laws.base import ImpactLaw, ImpactResult, energy_checked
from routh.laws.cone_program import Cones, friction_impulse
from routh.problem.impact import ImpactProblem
from routh.step.base import scaled_delassus

_EMPTY = 0.5 * tolerances.BUDGET  # energy of an empty spring; the kinetic energy before is 1/2
_CUTS = 4  # attempts to end an increment where a normal stops


@dataclass(frozen=True)
class LZB(ImpactLaw):
    """Liu, Zhao and Brogliato's multiple-impact law, with friction and restitution.

    Liu, Zhao and Brogliato 2008, *Frictionless multiple impacts in multibody systems* I and II; with friction
    Zhao, Liu and Brogliato 2009, *Planar dynamics of a rigid body system with frictional impacts* II.

    Guaranteed: energy never grows, and no contact returns more than e^2 of the work that it took up; impulses
    in the cones; no contact approaches after (or the status is MAX_STEPS); the order of the contacts does not
    matter. In the plane the outcome is one of the set, inelastic or energetic; in space as far as its
    increments are small. Not guaranteed: that it ends soon where stiffnesses or masses differ by decades.

    Parameters
    ----------
    stiffness : number or one per contact, > 0: relative stiffnesses.
    exponent : of the contact force in the indentation, 1 for linear springs, 1.5 for Hertz.
    resolution : increments per radian of the fastest spring.
    max_steps : increments before the law gives up, with status MAX_STEPS.
    friction : "cone", or "polyhedral" in space.
    facets : friction directions of "polyhedral" (default 8).
    """

    stiffness: float | tuple[float, ...] = 1.0
    exponent: float = 1.0
    resolution: float = 20.0
    max_steps: int = 100_000
    friction: str = "cone"
    facets: int | None = None

    honours_restitution = True

    def __post_init__(self) -> None:
        values = real_array("stiffness", self.stiffness, [(), (None,)], "a number or one per contact")
        if not np.all(values > 0.0):
            raise InputError("stiffness", got=f"{values.min():g}", wanted="positive numbers")
        real("exponent", self.exponent, at_least=1.0)
        real("resolution", self.resolution, above=0.0)
        integer("max_steps", self.max_steps, at_least=1)
        if values.ndim:
            object.__setattr__(self, "stiffness", tuple(values.tolist()))

    def resolve(self, problem: ImpactProblem, rng: np.random.Generator | None) -> ImpactResult:
        """The velocity after the impact. ``rng`` is not used: the law is deterministic."""
        return (_Springs if problem.nt == 1 else _SpatialSprings)(problem, self).run()


class _Springs:
    """One planar impact: scaled contact velocities ``c = (y_1, t_1, ...)`` and energies of the springs."""

    ended = tolerances.ZERO_SPEED  # approach that is none

    def __init__(self, problem: ImpactProblem, law: LZB) -> None:
        self.problem, self.law = problem, law
        self.width = 1 + problem.nt
        self.G = scaled_delassus(problem)
        self.c = _without_rounding((problem.contact_velocity() / problem.scaling.velocity[:, None]).ravel())
        stiffness = per_contact("stiffness", np.asarray(law.stiffness), problem.nc)
        # in scaled units a contact of stiffness K and effective mass m is a spring K / m
        spring = stiffness * problem.scaling.mass ** ((law.exponent - 1.0) / 2.0) / problem.scaling.mass
        self.K = spring / spring.max()
        squared = problem.restitution**2
        self.e2 = np.where(squared > tolerances.BUDGET, squared, 0.0)
        self.energy, self.stored, self.returned = np.zeros((3, problem.nc))
        self.cones = Cones.of(problem, law.friction, law.facets)
        self.jammed = False
        self.fault = 0.0  # the worst breach of Coulomb's law by any increment, over its largest rate
        self._cache: dict[tuple[int, ...], Array] = {}
        self._last: dict[tuple[int, ...], tuple[int, ...]] = {}

    def run(self) -> ImpactResult:
        """Increments until no contact approaches and every spring is empty."""
        increments, problem = [], self.problem
        status = Status.MAX_STEPS
        for _ in range(self.law.max_steps):
            if self.c[:: self.width].min() >= -self.ended and not np.any(self.energy):
                status = Status.JAMMED if self.jammed else Status.SOLVED
                break
            increments.append(self._advance())
            if not np.all(np.isfinite(self.c)):
                status = Status.NUMERICAL
                break
        unit = problem.scaling.impulse[:, None]
        steps = np.array(increments).reshape(-1, problem.nc, self.width) * unit
        path = problem.path(steps, PathKind.STRAIGHT if problem.nt == 1 else PathKind.CURVED)
        v = path.v[-1].copy()
        after = (problem.contact_velocity(v) / problem.scaling.velocity[:, None]).ravel()
        residual = float(np.max(np.abs(after - self.c), initial=self.fault))
        if status is Status.SOLVED and not residual < tolerances.RESIDUAL:
            status = Status.NUMERICAL
        status = energy_checked(problem, v, status)
        stored, returned = np.array([self.stored, self.returned]) * problem.scaling.speed**2
        return ImpactResult(problem, v, steps.sum(axis=0), status, path, residual, stored, returned)

    def _advance(self) -> Array:
        """One increment; returns its scaled impulses (nc (1 + nt),)."""
        y, p = self.c[:: self.width], self.law.exponent
        pushing = (y < -tolerances.ZERO_SPEED) | (self.energy > 0.0)
        depth = ((p + 1.0) * self.energy / self.K) ** (1.0 / (p + 1.0))
        share = np.where((y > 0.0) & (self.e2 > 0.0), self.e2, 1.0)
        sinking = -y / share  # rate of the depth
        # natural time of the fastest active spring, and the share of it that one increment takes
        stiff = self.K * p * np.maximum(depth, np.abs(y)) ** (p - 1.0) / share
        dt = 1.0 / (self.law.resolution * np.sqrt(np.max(stiff[pushing])))
        emptied = pushing & (sinking < 0.0)
        dt = min(dt, float(np.min(depth[emptied] / -sinking[emptied], initial=np.inf)))
        normal = np.where(pushing, self.K * np.maximum(depth + 0.5 * dt * sinking, 0.0) ** p, 0.0)
        impulse, length = self._impulse(normal, dt)
        after = _without_rounding(self.c + self.G @ impulse)
        work = 0.5 * length * normal * (y + after[:: self.width])
        taken, given = np.maximum(-work, 0.0), np.maximum(work, 0.0)
        self.stored += taken
        self.returned += given
        left = self.energy + taken - given / np.where(self.e2 > 0.0, self.e2, 1.0)
        lost = (left < _EMPTY) & (after[:: self.width] >= -self.ended)
        lost |= (self.e2 == 0.0) & (after[:: self.width] >= 0.0)  # perfectly inelastic
        change = np.abs(after - self.c).max()
        if np.abs(self.c).max() <= tolerances.APPROACH and change <= tolerances.APPROACH * impulse.max():
            # springs squeeze what stands still, and cannot return what they hold
            lost[:] = self.jammed = True
        self.energy = np.where(lost, 0.0, np.maximum(left, 0.0))
        self.c = after
        return impulse

    def _impulse(self, normal: Array, dt: float) -> tuple[Array, float]:
        """Scaled impulses (2 nc,) at constant rates for normal forces, and how long they act, at most dt."""
        rates = self._with_friction(normal)
        change = self.G @ rates
        watched = np.repeat(normal > 0.0, 2)
        towards = watched & (self.c * change < 0.0) & (np.abs(self.c) > tolerances.ZERO_SPEED)
        length = min(dt, float(np.min(-self.c[towards] / change[towards], initial=np.inf)))
        length = min(length, self._until_empty(normal, change[::2]))
        return length * rates, length

    def _until_empty(self, normal: Array, change: Array) -> float:
        """Time until the first spring is empty, with normal forces and velocities changing at these rates."""
        y = self.c[:: self.width]
        giving = (y > 0.0) & (normal > 0.0) & (self.e2 > 0.0)
        if not giving.any():
            return np.inf
        # y L + a L^2 / 2 = e^2 E / F, by the form of its first root that does not cancel
        wanted = (self.e2[giving] * self.energy[giving]) / normal[giving]
        inner = y[giving] ** 2 + 2.0 * change[giving] * wanted
        root = 2.0 * wanted / (y[giving] + np.sqrt(np.maximum(inner, 0.0)))
        return float(np.min(np.where(inner >= 0.0, root, np.inf)))

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


class _SpatialSprings(_Springs):
    """One impact in space: friction turns with the slip, so it is implicit in every increment."""

    ended = tolerances.APPROACH
    friction: Array | None = None  # (nc, 2) of the last increment, per its length

    def _impulse(self, normal: Array, dt: float) -> tuple[Array, float]:
        """Scaled impulses (3 nc,), and how long they act: cut, nearly, where a normal stops or is empty."""
        length, y = dt, self.c[::3]
        for _ in range(_CUTS):
            impulse = self._during(normal, length)
            change = (self.G @ impulse)[::3] / length
            crossing = (normal > 0.0) & (y * (y + length * change) < 0.0) & (np.abs(y) > self.ended)
            sooner = min(
                float(np.min(-y[crossing] / change[crossing], initial=np.inf)),
                self._until_empty(normal, change),
            )
            if not sooner < length * (1.0 - 1e-9):
                break
            length = sooner
        return impulse, length

    def _during(self, normal: Array, length: float) -> Array:
        start = None if self.friction is None else self.friction * length
        pushes = length * normal
        found, fault = friction_impulse(self.G, self.c.reshape(-1, 3), pushes, self.cones, start)
        self.friction, self.fault = found / length, max(self.fault, fault)
        return np.concatenate([pushes[:, None], found], axis=1).ravel()


def _without_rounding(c: Array) -> Array:
    """Scaled velocities, with zeros for rounding: a contact that slips by rounding sticks."""
    return np.where(np.abs(c) < tolerances.ZERO_SPEED, 0.0, c)
