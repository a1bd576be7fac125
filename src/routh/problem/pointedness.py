"""Pointedness of the friction cone: HP23 Assumption 2, decided with a certificate for either answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from routh.base import tolerances
from routh.base.results import Whole
from routh.base.validation import Array
from routh.problem.friction import facet_directions, friction_polygon
from routh.problem.impact import ImpactProblem

__all__ = ["Pointedness", "pointedness"]

#: What may be left between the two sides of the certificate, as a share of the larger one.
_CLOSED = 1e-6
_ROUNDS = 100
#: Friction directions that the search over the true cone begins with.
_FIRST_DIRECTIONS = 8


@dataclass(frozen=True, eq=False)
class Pointedness(Whole):
    """Whether the friction cone is pointed (HP23 Assumption 2), and what shows it.

    Every force of the cone is a sum of generators ``Jn_i + mu_i d.Jt_i``, d in the friction disc (or
    polygon). In the metric of ``M^-1``, each divided by the largest length at its contact, their hull has a
    distance from zero; the cone is pointed exactly where that is positive. ``margin`` is what a direction
    proves of it from below, ``ceiling`` what a combination of generators proves from above.
    """

    problem: ImpactProblem
    polygon: Array | None  # (k, nt) friction directions, None: the true cone
    margin: float  # in [0, 1]
    ceiling: float  # >= margin
    lean: Array  # (nv,): every generator leans along this one, ``lean . M^-1 g >= margin`` times its size
    impulse: Array  # (nc, 1 + nt): what proves the ceiling; where the cone is not pointed, it cancels

    @property
    def pointed(self) -> bool:
        """Proved: no contact forces cancel, up to `tolerances.POINTED`."""
        return self.margin > tolerances.POINTED

    @property
    def jammed(self) -> bool:
        """Contacts can press on each other without moving anything, or rounding hides that they cannot."""
        return not self.pointed

    @cached_property
    def direction(self) -> Array:
        """r(q) of Lemma 6, (nv,): ``r . M^-1 F >= |lambda_n|_1``, the shortest in M^-1; NaN where jammed."""
        if self.jammed:
            return np.full(self.problem.nv, np.nan)
        generators = _Generators(self.problem, self.polygon, np.ones(self.problem.nc))
        found = _nearest_to_zero(generators)
        unit: Array = found.unit
        if not found.least > 0.0:  # that search did not end
            unit = np.asarray(np.linalg.solve(self.problem.cholesky, self.lean), dtype=np.float64)
        return self.problem.cholesky @ (unit / generators.least(unit))  # HP23 (77)


def pointedness(problem: ImpactProblem, *, friction: str = "cone", facets: int | None = None) -> Pointedness:
    """Assumption 2: is there a direction along which every contact force leans?

    Two dual programs over the friction cones, ``max min_g u.g`` over unit u and ``min |g|`` over the hull of
    the generators g. They are solved together: the nearest point of the hull of some generators, then the
    generators that lean least along it, and again. Both values are recomputed from the answer.

    Parameters
    ----------
    problem : the impact.
    friction : "cone", or "polyhedral" in space.
    facets : friction directions of "polyhedral" (default 8).
    """
    generators, sizes = _scaled_generators(problem, friction, facets)
    found = _nearest_to_zero(generators)
    impulse = found.impulse / sizes[:, None]
    lean = problem.cholesky @ found.unit
    return Pointedness(problem, generators.polygon, max(found.least, 0.0), found.length, lean, impulse)


def is_pointed(problem: ImpactProblem, *, friction: str = "cone", facets: int | None = None) -> bool:
    """Whether the cone is proved to be pointed; `pointedness` without what it tells besides.

    Where every generator leans along the sum of the normals, as on most robots that land, nothing is solved.
    """
    generators, _ = _scaled_generators(problem, friction, facets)
    lengths = np.linalg.norm(generators.normals, axis=1, keepdims=True)
    along = (generators.normals / lengths).sum(axis=0)
    total = float(np.linalg.norm(along))
    if total > 0.0 and generators.least(along / total) > tolerances.POINTED:
        return True
    return pointedness(problem, friction=friction, facets=facets).pointed


def _scaled_generators(
    problem: ImpactProblem, friction: str, facets: int | None
) -> tuple[_Generators, Array]:
    """The generators, divided by the largest length at their contact, and these lengths (nc,)."""
    polygon = friction_polygon(friction, facets, problem.nt)
    white = _Generators(problem, polygon, np.ones(problem.nc))
    slips = np.linalg.norm(white.tangents, 2, axis=(1, 2))
    sizes = np.linalg.norm(white.normals, axis=1) + problem.mu * slips
    return _Generators(problem, polygon, sizes), sizes


class _Generators:
    """The generators in coordinates with M = I, divided by a size for each contact."""

    def __init__(self, problem: ImpactProblem, polygon: Array | None, sizes: Array) -> None:
        white = problem.impulse_columns.T.reshape(problem.nc, -1, problem.nv)
        self.normals = white[:, 0] / sizes[:, None]  # (nc, nv)
        self.tangents = white[:, 1:] / sizes[:, None, None]  # (nc, nt, nv)
        self.mu, self.polygon = problem.mu, polygon

    def at(self, contacts: NDArray[np.intp], directions: Array) -> Array:
        """Generators (k, nv) at contacts (k,) with friction along directions (k, nt)."""
        along = np.einsum("kt,ktv->kv", directions, self.tangents[contacts])
        return self.normals[contacts] + self.mu[contacts, None] * along

    def first(self) -> tuple[NDArray[np.intp], Array]:
        """Contacts (k,) and friction directions (k, nt) to begin with; all that there are of a polygon."""
        count, nt = self.tangents.shape[:2]
        polygon = facet_directions(nt, _FIRST_DIRECTIONS) if self.polygon is None else self.polygon
        return np.repeat(np.arange(count), len(polygon)), np.tile(polygon, (count, 1))

    def against(self, unit: Array) -> Array:
        """The friction directions (nc, nt) of the true cone that lean least along a vector (nv,)."""
        slip = self.tangents @ unit  # (nc, nt)
        length = np.linalg.norm(slip, axis=1, keepdims=True)
        return -slip / np.where(length > 0.0, length, 1.0)

    def least(self, unit: Array) -> float:
        """How much the least leaning generator leans along a vector (nv,)."""
        slip = self.tangents @ unit
        worst = np.linalg.norm(slip, axis=1)
        if self.polygon is not None:
            worst = np.max(-slip @ self.polygon.T, axis=1)
        return float((self.normals @ unit - self.mu * worst).min())


@dataclass(frozen=True, eq=False)
class _Nearest:
    """A point of the hull near zero: ``length`` bounds the distance from above, ``least`` from below."""

    length: float
    least: float
    unit: Array  # (nv,)
    impulse: Array  # (nc, 1 + nt): the weights of the generators, times their normal and friction direction


def _nearest_to_zero(generators: _Generators) -> _Nearest:
    """The point of the generators' hull nearest to zero, with its certificate."""
    contacts, directions = generators.first()
    nc, nt, nv = generators.tangents.shape
    best = _Nearest(np.inf, -np.inf, np.zeros(nv), np.zeros((nc, 1 + nt)))
    for _ in range(_ROUNDS):
        columns = generators.at(contacts, directions)  # (k, nv)
        weights = hull_weights(columns)
        if weights is None:
            break
        weights = weights / weights.sum()
        point = weights @ columns
        length = float(np.linalg.norm(point))
        if length < best.length:
            pushes = weights[:, None] * np.column_stack([np.ones(len(contacts)), directions])
            pushes[:, 1:] *= generators.mu[contacts, None]
            impulse = np.zeros((nc, 1 + nt))
            np.add.at(impulse, contacts, pushes)
            best = replace(best, length=length, impulse=impulse)
        unit = point / max(length, np.finfo(float).tiny)
        least = generators.least(unit)
        if least > best.least:
            best = replace(best, least=least, unit=unit)
        closed = best.length - best.least <= _CLOSED * best.length or best.length <= 0.1 * tolerances.POINTED
        if closed or generators.polygon is not None:
            break
        used = weights > 0.0
        contacts = np.concatenate([contacts[used], np.arange(nc)])
        directions = np.concatenate([directions[used], generators.against(unit)])
    return best


def hull_weights(columns: Array) -> Array | None:
    """Weights (k,), up to a factor, of the point nearest to zero in the hull of the rows (k, nv), or None.

    By homogeneity they minimise ``|w.rows|^2 + (1.w - 1)^2`` over w >= 0.
    """
    from scipy.optimize import nnls  # half a second, not on the way to a sample

    count, nv = columns.shape
    try:
        system = np.vstack([columns.T, np.ones(count)])
        weights, _ = nnls(system, np.append(np.zeros(nv), 1.0), maxiter=30 * count)
    except RuntimeError:  # its iteration limit
        return None
    return weights if weights.sum() > 0.0 else None
