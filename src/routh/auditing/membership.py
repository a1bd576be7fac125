"""Audit: is a velocity after an impact an outcome that the impact can have, and if not, why not?

For the answer of any simulator, or for a measurement.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from routh import conic
from routh.auditing.refining import refined
from routh.friction import project_disc
from routh.problem import ImpactProblem
from routh.results import Drawable
from routh.sampling.outcomes import Outcomes
from routh.sampling.sampler import sample
from routh.status import Status
from routh.text import for_terminal
from routh.validation import Array, Options, deadline_of, integer, real, real_array

#: Share of the speed before within which velocities agree and laws hold, by default.
DEFAULT_TOLERANCE = 1e-6

ENERGY = "energy gained"
APPROACH = "still approaching"
REACH = "a change of momentum that no contact can give"
CONE = "impulse outside the friction cone"


@dataclass(frozen=True)
class Broken:
    """A physical law that a velocity after breaks, and by how much."""

    law: str
    amount: float  # share of the speed (of the energy for "energy gained") before
    contact: str | None = None

    def __str__(self) -> str:
        where = f" at {for_terminal(self.contact)}" if self.contact else ""
        return f"{self.law}{where} ({self.amount:.2g})"


@dataclass(frozen=True, eq=False)
class Audit(Drawable):
    """Where a velocity after lies relative to the set of outcomes; distances in the kinetic-energy norm."""

    problem: ImpactProblem = field(repr=False)
    v_after: Array = field(repr=False)  # (nv,)
    nearest: Array = field(repr=False)  # (nv,) the nearest outcome that was found
    distance: float  # to it, as a share of the speed before
    resolution: float  # how far outcomes of the sampled set are from their neighbours, likewise
    broken: tuple[Broken, ...]
    impulse: Array = field(repr=False)  # (nc, 1 + nt) the admissible impulse that explains v_after best, N s
    tolerance: float
    outcomes: Outcomes = field(repr=False)
    complete: bool = True  # False: the time allowed by budget= ran out before all was drawn and refined

    @property
    def inside(self) -> bool:
        """Whether no law is broken and an outcome is as near as outcomes are to each other."""
        return not self.broken and self.distance <= max(self.tolerance, self.resolution)

    @property
    def verdict(self) -> str:
        """One sentence."""
        if self.broken:
            return "breaks: " + ", ".join(map(str, self.broken))
        if self.inside:
            return f"is an outcome (nearest sample at {self.distance:.2g} of the speed before)"
        if not np.isfinite(self.distance):
            return "breaks none of the laws checked; no sample of its set is solved, so no distance is known"
        return (
            f"breaks none of the laws checked, but the nearest outcome is {self.distance:.2g} of the speed "
            f"before away (samples lie {self.resolution:.2g} apart)"
        )


def audit(
    problem: ImpactProblem,
    v_after: ArrayLike,
    *,
    outcomes: Outcomes | None = None,
    n: int | None = None,
    seed: int | None = None,
    friction: str | None = None,
    refine: int = 0,
    tolerance: float = DEFAULT_TOLERANCE,
    budget: float | None = None,
) -> Audit:
    """Compare a velocity after an impact with the set of its outcomes and with the laws of impact.

    Parameters
    ----------
    v_after : (nv,) from a simulator or a measurement.
    outcomes : the set, where it has been sampled already; else it is drawn with ``n`` samples (1024),
        ``seed`` (0) and ``friction`` ("cone"), which are refused together with outcomes.
    refine : further outcomes to try near the nearest one, each a little changed in its events; near the
        nearest of as many by events where the outcomes were drawn otherwise.
    tolerance : share of the speed before within which laws count as kept.
    budget : seconds for drawing and refining; what is left out then is told by ``complete`` and by the
        statuses of ``outcomes``.

    The laws: kinetic energy does not grow; no contact approaches; the change of momentum is that of contact
    impulses, and these are inside Coulomb's cones (the best such impulse by a cone program).
    """
    after = real_array("v_after", v_after, [(problem.nv,)], f"shape ({problem.nv},)")
    integer("refine", refine, at_least=0)
    real("tolerance", tolerance, above=0.0)
    deadline = deadline_of(budget)
    limit: Options = {} if budget is None else {"budget": budget}
    drawn = _drawn(problem, outcomes, {"n": n, "seed": seed, "friction": friction}, limit)
    nearest, distance = _nearest(drawn, after)
    if refine:
        nearest, distance = refined(drawn, after, (nearest, distance), refine, deadline)
    impulse, _ = best_impulse(problem, after)
    return Audit(
        problem,
        after,
        nearest,
        distance / problem.scaling.speed,
        _resolution(drawn),
        broken_laws(problem, after, tolerance=tolerance),
        impulse,
        tolerance,
        drawn,
        time.monotonic() < deadline and not np.any(drawn.status == Status.OUT_OF_TIME),
    )


def _drawn(problem: ImpactProblem, outcomes: Outcomes | None, options: Options, limit: Options) -> Outcomes:
    """The outcomes given, or drawn by the options; what cannot be honoured is refused."""
    asked = {name: value for name, value in options.items() if value is not None}
    if outcomes is None:
        return sample(problem, **{"n": 1024, **asked, **limit})
    for name, value in asked.items():
        raise ValueError(f"{name}: got {value!r} with outcomes; wanted it only where they are to be drawn")
    for name in ("M", "Jn", "Jt", "mu", "restitution", "v"):
        if not np.array_equal(getattr(outcomes.problem, name), getattr(problem, name)):
            raise ValueError(f"outcomes: are of a problem with another {name}; wanted those of `problem`")
    return outcomes


def broken_laws(
    problem: ImpactProblem, v_after: ArrayLike, *, tolerance: float = DEFAULT_TOLERANCE
) -> tuple[Broken, ...]:
    """The laws of impact that a velocity after breaks, the worst of each kind."""
    after = np.asarray(v_after, dtype=np.float64)
    unit = problem.scaling
    broken = []
    before = float(problem.kinetic_energy())
    gained = (float(problem.kinetic_energy(after)) - before) / (0.5 * unit.speed**2)
    if not gained <= tolerance:
        broken.append(Broken(ENERGY, gained))
    approach = -(problem.Jn @ after) / unit.velocity
    worst = int(np.argmax(approach))
    if not approach[worst] <= tolerance:
        broken.append(Broken(APPROACH, float(approach[worst]), problem.names[worst]))
    columns, change = _contact_columns(problem), (after - problem.v) @ problem.cholesky
    weights = np.linalg.lstsq(columns, change, rcond=None)[0]
    unreachable = float(np.linalg.norm(columns @ weights - change)) / unit.speed
    outside = best_impulse(problem, after)[1] / unit.speed
    if not unreachable <= tolerance:
        broken.append(Broken(REACH, unreachable))
    elif not outside <= tolerance:
        broken.append(Broken(CONE, outside))
    return tuple(broken)


def best_impulse(problem: ImpactProblem, v_after: ArrayLike) -> tuple[Array, float]:
    """Impulses (nc, 1 + nt) in Coulomb's cones that come nearest to ``v_after``, and how near, sqrt(J).

    Minimizes ``|v + M^-1 J^T impulse - v_after|_M`` by a cone program (Clarabel) and recomputes the distance.
    """
    unit, speed = problem.scaling.impulse, problem.scaling.speed
    columns = _contact_columns(problem) * np.repeat(unit, 1 + problem.nt) / speed
    after = np.asarray(v_after, dtype=np.float64)
    wanted = (after - problem.v) @ problem.cholesky / speed
    impulse = _project_on_cones(problem, columns, wanted) * unit[:, None]
    impulse[:, 0] = np.maximum(impulse[:, 0], 0.0)
    impulse[:, 1:] = project_disc(impulse[:, 1:], problem.mu * impulse[:, 0])
    misfit = (problem.apply(impulse) - after) @ problem.cholesky
    return impulse, float(np.linalg.norm(misfit))


def _project_on_cones(problem: ImpactProblem, columns: Array, wanted: Array) -> Array:
    """x (nc, 1 + nt) in the friction cones with the least ``|columns x - wanted|``.

    As the smallest t with ``(t, columns x - wanted)`` in a second-order cone, which keeps small distances
    as exact as large ones; the square would not.
    """
    mu, width = problem.mu, 1 + problem.nt
    free = np.ones((problem.nc, width), dtype=bool)
    free[:, 1:] = mu[:, None] > 0.0
    # friction above one: divide the tangents instead, so that rows stay of order one
    share = np.repeat(1.0 / np.maximum(mu, 1.0), width).reshape(free.shape)
    share[:, 0] = np.where(mu > 0.0, np.minimum(mu, 1.0), 1.0)
    nv, count = len(wanted), int(free.sum())
    table = np.zeros((1 + nv + count, 1 + count))  # of the unknowns (t, x)
    table[0, 0], table[1 : 1 + nv, 1:] = -1.0, -columns[:, free.ravel()]
    table[1 + nv :, 1:] = -np.diag(share[free])
    right = np.concatenate([[0.0], -wanted, np.zeros(count)])
    cones = [("second order", 1 + nv)]
    cones += [("second order", width) if m > 0.0 else ("nonnegative", 1) for m in mu]
    x = np.zeros(free.shape)
    x[free] = conic.minimise(np.eye(1 + count)[0], table, right, cones, tolerance=1e-12).x[1:]
    return x


def _contact_columns(problem: ImpactProblem) -> Array:
    """``L^-1 J^T``: what unit impulses do, in coordinates where the kinetic-energy norm is Euclidean."""
    return np.asarray(np.linalg.solve(problem.cholesky, problem.J.reshape(-1, problem.nv).T))


def _nearest(outcomes: Outcomes, after: Array) -> tuple[Array, float]:
    rows = np.flatnonzero(outcomes.solved)
    if rows.size == 0:
        return np.full(len(after), np.nan), float("inf")
    distances = np.linalg.norm((outcomes.v[rows] - after) @ outcomes.problem.cholesky, axis=1)
    best = int(np.argmin(distances))
    return outcomes.v[rows[best]].copy(), float(distances[best])


def _resolution(outcomes: Outcomes, probes: int = 64) -> float:
    """The 90th percentile of the distance from an outcome to its nearest neighbour, over the speed before."""
    points = outcomes.v[outcomes.solved] @ outcomes.problem.cholesky
    if len(points) < 2:
        return 0.0
    chosen = np.linspace(0, len(points) - 1, min(probes, len(points))).astype(int)
    gaps = []
    for i in chosen:
        distances = np.linalg.norm(points - points[i], axis=1)
        distances[i] = np.inf
        gaps.append(distances.min())
    return float(np.quantile(gaps, 0.9)) / outcomes.problem.scaling.speed
