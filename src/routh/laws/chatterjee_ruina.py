"""Chatterjee and Ruina's algebraic law, and an extension of it to several contacts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routh.base import tolerances
from routh.base.status import Status
from routh.base.validation import Array, integer, real
from routh.laws.base import ImpactLaw, ImpactResult, has_ended, in_phases
from routh.laws.cone_program import Cones
from routh.lcp.convex import nonnegative_least_squares
from routh.problem.impact import ImpactProblem

_EVEN = 1e-4  # weight of small impulses where contacts are redundant, beside that of the momentum


@dataclass(frozen=True)
class ChatterjeeRuina(ImpactLaw):
    """``P = (1 + e) P_I + k (P_II - P_I)``, with the largest ``k <= 1 + e_t`` that stays in the cones.

    One contact: the law of Chatterjee and Ruina 1998, *A new algebraic rigid-body collision law based on
    impulse space considerations* (J. Appl. Mech. 65): P_I stops the contact's normal
    velocity without friction, P_II stops all of its velocity. The normal velocity after is then -e times
    that before.

    Several contacts (the extension is this library's; the paper has one contact): P_I are the impulses of
    the frictionless inelastic impact of all contacts, P_II stop all velocities of those that push in it, and
    one k serves all contacts with friction. Where some contact approaches afterwards the same is done again,
    until none does. Redundant contacts share evenly: the smallest impulses are taken.

    Guaranteed: impulses in the cones; no contact approaches after (or the status is MAX_STEPS); the order of
    the contacts does not matter; with one e for all contacts energy never grows. With different e it can:
    then the status is ENERGY_GAINED. Not guaranteed: Coulomb's law during the impact; a contact that hardly
    grips holds back the friction of all others.

    Parameters
    ----------
    tangential : e_t in [-1, 1]: what of the slip is reversed where friction suffices.
    friction : "cone", or "polyhedral" in space.
    facets : friction directions of "polyhedral" (default 8).
    max_rounds : how often the law is applied before it gives up, with status MAX_STEPS.
    """

    tangential: float = 0.0
    friction: str = "cone"
    facets: int | None = None
    max_rounds: int = 1000

    honours_restitution = True

    def __post_init__(self) -> None:
        real("tangential", self.tangential, at_least=-1.0, at_most=1.0)
        integer("max_rounds", self.max_rounds, at_least=1)

    def resolve(self, problem: ImpactProblem, rng: np.random.Generator | None) -> ImpactResult:
        """The velocity after the last round. ``rng`` is not used."""
        cones = Cones.of(problem, self.friction, self.facets)
        v, impulses, status = problem.v, [], Status.MAX_STEPS
        for _ in range(self.max_rounds):
            impulses.append(self._round(problem, v, cones))
            v = problem.apply(impulses[-1], v)
            if not np.all(np.isfinite(v)):
                status = Status.NUMERICAL
                break
            if has_ended(problem, v):
                status = Status.SOLVED
                break
        return in_phases(problem, impulses, status, 0.0)

    def _round(self, problem: ImpactProblem, v: Array, cones: Cones) -> Array:
        """The impulses (nc, 1 + nt) of one application of the law."""
        sizes = problem.scaling.impulse
        scale = np.repeat(sizes, 1 + problem.nt) / problem.scaling.speed
        columns = (problem.impulse_columns * scale).reshape(problem.nv, problem.nc, -1)
        momentum = v @ problem.cholesky / problem.scaling.speed
        normals = columns[:, :, 0]
        stacked = np.concatenate([normals, _EVEN * np.eye(problem.nc)])
        first, _ = nonnegative_least_squares(stacked, np.concatenate([-momentum, np.zeros(problem.nc)]))
        pushing = first > _EVEN**2 * first.max()
        stop = np.zeros((problem.nc, 1 + problem.nt))  # P_I
        stop[pushing, 0] = _least(normals[:, pushing], -momentum)
        taken = np.zeros(stop.shape, dtype=bool)
        taken[pushing, 0] = True
        taken[pushing & (problem.mu > 0.0), 1:] = True
        stick = np.zeros(stop.shape)  # P_II
        stick[taken] = _least(columns[:, taken], -momentum)
        bounced = (1.0 + problem.restitution[:, None]) * stop
        return (bounced + self._share(cones, bounced, stick - stop) * (stick - stop)) * sizes[:, None]

    def _share(self, cones: Cones, bounced: Array, change: Array) -> float:
        """The k of the formula: friction grows with k, the cone grows with the normal impulse."""
        outwards = np.stack([cones.gauge(change[:, 1:]) - cones.mu * change[:, 0], -change[:, 0]])
        room = np.stack([cones.mu * bounced[:, 0], bounced[:, 0]])
        small = 1e-14 * max(float(np.abs(change).max()), 1e-300)
        limits = room[outwards > small] / outwards[outwards > small]
        return max(0.0, min(1.0 + self.tangential, float(np.min(limits, initial=np.inf))))


def _least(columns: Array, wanted: Array) -> Array:
    """The smallest x with the least ``|columns x - wanted|``."""
    return np.asarray(np.linalg.lstsq(columns, wanted, rcond=tolerances.RANK)[0])
