"""`exact_set`: from a problem to its two-sided set of outcomes, and `displacement`: what snapping moves.

`whole_set` is the set without the bound beside it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from routh.base.status import InputError, Status
from routh.base.validation import Array, integer, real, real_array
from routh.exact.automaton import Automaton, automaton
from routh.exact.groups import grouped_bound, groups_of, shortened
from routh.exact.paths import terminal_pieces
from routh.exact.polyhedra import hull, load_ppl
from routh.exact.polytopes import PolytopeUnion, VelocityFrame, frame_of, polytope
from routh.exact.rational import RationalProblem, Vector, difference, dot, floats, simplest, times
from routh.exact.reach import Budget, Reach
from routh.exact.result import ExactSet
from routh.exact.snap import Snapped, as_given
from routh.problem.friction import facet_directions, uses_true_cone
from routh.problem.impact import ImpactProblem, no_impact
from routh.problem.pointedness import pointedness

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from ppl import C_Polyhedron


_SHARE = 0.8  # of eta that coincidences may take; what would move outcomes farther is left as it is
_GROUP_PIECES = (
    1000  # for a bound by groups of contacts, in place of an incomplete set; or the set's own time
)
_PROGRAMS = 256  # cone programs that a bound in place of an incomplete set may cost
PIECES = 20_000  # polyhedra that may be stored, unless told otherwise
_FAR = 1e-5  # share of the speed: nothing is moved farther, whatever eta is
ETA = 1e-6  # share of the speed: how far beyond contact outer sets let contacts push, unless told otherwise
_ROUNDING = 1.01  # of bounds: for floating point, and for terms of second order


def exact_set(
    problem: ImpactProblem | RationalProblem,
    *,
    friction: str = "cone",
    facets: int | None = None,
    eta: float = ETA,
    budget: float | None = None,
    pieces: int = PIECES,
    states: ArrayLike | None = None,
) -> ExactSet:
    """Every outcome of an impact under HP23 (39), as unions of polytopes with rational vertices.

    Sequences of switches that go on for ever add less and less. On problems of many pieces the inner set
    leaves out what adds less than 1e-5 of the speed; ``gap`` includes what that costs.

    Parameters
    ----------
    problem : in rational numbers, or in floating point: every float is a rational number, and coincidences
        that rounding destroyed (a foot at rest) are restored, see `routh.exact.snap.as_given`. ``outer``
        encloses what that moved; ``inner`` belongs to the problem in `ExactSet.rational`.
    friction, facets : as in `routh.sample`. In space there is no exact set of Coulomb's cone: "cone", the
        default, is refused there, and "polyhedral" gives that of polygons with this many corners (default 8)
        inscribed in the friction discs. In the plane the two are the same.
    eta : how far beyond contact the outer set lets contacts push, as a share of the speed before. The gap
        between the two sets shrinks with it.
    budget : processor time of this thread that may be spent, in s; None: until the set is complete or
        ``pieces`` are stored, which is the same on every machine, but can take many minutes.
    pieces : polyhedra that may be stored, the memory budget.
    states : (k, nv), velocities before the impact in place of the problem's: the set is of all outcomes from
        all of their convex hull. Every number counts as it is; at least one contact must approach in all of
        them, and they may differ only by what impulses can change. `ExactSet.statuses_to` has no answer then.

    Returns
    -------
    ExactSet
        With status ``SOLVED``; ``NO_IMPACT`` where nothing approaches; ``INCOMPLETE`` where a budget ran out
        (``inner`` is then a part of the set, ``outer`` a bound: by groups where contacts stand in groups that
        hardly feel each other, as on the feet of a biped, else from energy and momentum); ``JAMMED`` where
        the sets are complete but some solutions never end.
    """
    started = time.thread_time()
    eta = real("eta", eta, above=0.0, at_most=0.1)
    seconds = math.inf if budget is None else real("budget", budget, above=0.0)
    pieces = integer("pieces", pieces, at_least=1)

    def explored(auto: Automaton) -> tuple[Reach, Reach]:
        start = None if states is None else _starts(auto, states)
        return explore(auto, eta, Budget(seconds, pieces, started), start)

    grouped = None if states is not None else 2.0 * seconds
    return set_from(
        problem, explored, eta, friction=friction, facets=facets, grouped=grouped, started=started
    )


def explore(
    auto: Automaton, eta: float, budget: Budget, start: Sequence[Vector] | None = None
) -> tuple[Reach, Reach]:
    """What is reached from the automaton's start, or from the hull of others: as it is, and relaxed."""
    inner = Reach(auto, start=start)
    inner.run(budget.half)
    outer = Reach(auto, eta=simplest(eta, 1e-9 * eta), flows=inner.flows, start=start)
    outer.run(budget)
    return inner, outer


def set_from(
    problem: ImpactProblem | RationalProblem,
    explored: Callable[[Automaton], tuple[Reach, Reach]],
    eta: float,
    *,
    friction: str = "cone",
    facets: int | None = None,
    grouped: float | None = math.inf,
    started: float,
) -> ExactSet:
    """The exact set of a problem from what its automaton reaches, as it is and relaxed by ``eta``.

    ``grouped``: seconds for a bound by groups, where the relaxed set is not complete; None: the sets start
    from other states than the problem's, and nothing of it counts but what it is given as.
    """
    rational, snapped, shift = in_rationals(problem, eta, as_given_only=grouped is None)
    used = _facets(friction, facets, rational.nt)
    auto, rounded = automaton(rational, facets=used), rational.problem
    frame = frame_of(auto, rounded)
    if not _approaches(rational):
        here = _union([hull(load_ppl(), [auto.start])], frame)
        nothing = "no contact approaches"
        return ExactSet(rational, here, here, Status.NO_IMPACT, eta, 0.0, (0, 0), nothing, snapped, used)
    inner, outer = explored(auto)
    reached = _union([piece.poly for piece in terminal_pieces(inner)], frame)
    given = rounded if isinstance(problem, RationalProblem) else problem
    limits = None if grouped is None else (eta, grouped)
    bound, source = _outer(outer, frame, given, shift) or _outer_without(
        frame, given, rational, shift, limits
    )
    status = Status.SOLVED if inner.complete and outer.complete else Status.INCOMPLETE
    if status is Status.SOLVED and inner.jams():
        status = Status.JAMMED
    spent = time.thread_time() - started
    counts = (inner.explored, outer.explored)
    sets = None if grouped is None else (inner, outer)
    return ExactSet(rational, reached, bound, status, eta, spent, counts, source, snapped, used, sets)


def whole_set(problem: ImpactProblem, *, budget: float, pieces: int) -> PolytopeUnion | None:
    """`ExactSet.inner` where that is all of the set, for half of the work: no bound is made beside it.

    None where nothing approaches, where a budget ran out, or where some solutions never end.
    """
    rational, _, _ = in_rationals(problem, ETA)
    _facets("cone", None, rational.nt)
    if not _approaches(rational):
        return None
    auto = automaton(rational)
    inner = Reach(auto)
    if not inner.run(Budget(budget, pieces)) or inner.jams():
        return None
    return _union([piece.poly for piece in terminal_pieces(inner)], frame_of(auto, rational.problem))


def _facets(friction: str, facets: int | None, nt: int) -> int | None:
    """How many corners the friction polygons have, None in the plane; refuses what has no exact set."""
    if uses_true_cone(friction, facets, nt):
        raise InputError(
            "friction",
            got="'cone' for contacts in space, where exact sets are only of polygons",
            wanted="friction='polyhedral' (facets=8), or routh.outer_bound, which takes the cone",
        )
    polygon = facet_directions(nt, facets)
    return len(polygon) if nt == 2 else None


def _approaches(problem: RationalProblem) -> bool:
    return any(dot(row, problem.v) < 0 for row in problem.Jn)


def _starts(auto: Automaton, states: ArrayLike) -> list[Vector]:
    """States in z, exact."""
    nv = len(auto.base)
    given = real_array("states", states, [(None, nv)], f"shape (k, {nv})")
    number = type(auto.start[0])
    found = []
    for v in given:
        exact = [number(*x.as_integer_ratio()) for x in map(float, v)]
        z = times(auto.rows, exact)
        if difference(exact, times(auto.back, z)) != auto.base:
            raise InputError(
                "states",
                wrong="they differ by what no impulse can change",
                wanted="one set for each such part",
            )
        found.append(z)
    normals = [tuple(map(Fraction, row)) for row in auto.normals]
    if not any(all(dot(row, z) < 0 for z in found) for row in normals):
        raise InputError(
            "states", wrong="no contact approaches in all of them", wanted="an impact from every state"
        )
    return found


def in_rationals(
    problem: ImpactProblem | RationalProblem, eta: float, *, as_given_only: bool = False
) -> tuple[RationalProblem, Snapped | None, Displacement]:
    """The problem in rational numbers, and how far its outcomes can be from those of the one given."""
    if isinstance(problem, RationalProblem):
        return problem, None, Displacement()
    if not isinstance(problem, ImpactProblem):
        raise no_impact(problem, "an ImpactProblem or a RationalProblem")
    if not as_given_only:
        snapped = as_given(problem)
        shift, near = displacement(problem, snapped.rational), snapped.rational
        left = _approaches(near)  # something of a slow approach
        if left and max(shift.radius, shift.room) <= min(_SHARE * eta, _FAR):
            return near, snapped, shift
    exact = as_given(problem, coincidences=False)
    return exact.rational, exact, Displacement()


def _outer(
    reach: Reach, frame: VelocityFrame, given: ImpactProblem, shift: Displacement
) -> tuple[PolytopeUnion, str] | None:
    """The relaxed reachable set; None where it was not completed, or is not bounded."""
    parts = [piece.poly for piece in terminal_pieces(reach, _room(shift))] if reach.complete else []
    if not reach.complete or not all(part.is_bounded() for part in parts):
        return None
    return _union(parts, frame, shift.radius), "reachable set of the relaxed inclusion"


def _outer_without(
    frame: VelocityFrame,
    given: ImpactProblem,
    rational: RationalProblem,
    shift: Displacement,
    limits: tuple[float, float] | None,
) -> tuple[PolytopeUnion, str]:
    """A bound in place of the reachable set: by groups, within (eta, seconds), else from energy."""
    grouped = None if limits is None else _by_groups(given, rational, frame.automaton, *limits)
    if grouped is not None:
        return _union(grouped[0], frame, grouped[1]), "groups of contacts that hardly feel each other"
    return _union(_energy_bound(given, frame.automaton, _room(shift)), frame), "energy and momentum bound"


def _room(shift: Displacement) -> Fraction:
    return simplest(1.05 * shift.room, 0.05 * shift.room)


def _by_groups(
    given: ImpactProblem, rational: RationalProblem, auto: Automaton, eta: float, seconds: float
) -> tuple[list[C_Polyhedron], float] | None:
    """A bound by groups of contacts, and how far outcomes can be from it; None where none is found."""
    groups = groups_of(given)
    if len(groups) < 2:
        return None
    try:
        short = shortened(rational)
    except ValueError:  # so badly conditioned that no short numbers are near
        return None
    shift, near = displacement(given, short), automaton(short)
    if shift.radius > _FAR or near.rows != auto.rows:
        return None
    relaxed = max(eta, max(shift.radius, shift.room) / _SHARE)
    soft, budget = simplest(relaxed, 1e-3 * relaxed), Budget(seconds, _GROUP_PIECES)
    parts = grouped_bound(near, groups, soft, _room(shift), budget)
    return (parts, shift.radius) if parts else None


def _energy_bound(problem: ImpactProblem, automaton: Automaton, room: Fraction) -> list[C_Polyhedron]:
    """The bound from energy and momentum in z, a box of contact velocities per contact that may stop last.

    ``room`` is what normal velocities by the automaton's rows may be off from the problem's.
    """
    from routh.bounds import EnergyBound  # sparse matrices, which complete sets do not need

    tools = Reach(automaton)
    bound = EnergyBound(problem)
    parts = []
    refined = 2 * automaton.dim * problem.nc <= _PROGRAMS
    for last in range(problem.nc):
        part = tools.ppl.C_Polyhedron(automaton.dim)
        widths = [room * unit for unit in automaton.units]
        for row, width in zip(automaton.normals, widths, strict=True):
            part.add_constraint(tools.form(row, width) >= 0)
        part.add_constraint(tools.form(automaton.normals[last], -widths[last]) <= 0)
        for k, row in enumerate(floats(automaton.rows)):  # z = rows v
            for sign in (1, -1):
                direction = sign * row
                value = problem.speed * bound.dual_norm(direction)  # from energy alone
                if refined:
                    value = min(value, bound.bound(direction, last))
                size = problem.speed * bound.dual_norm(row)
                unit = tuple(-sign * int(j == k) for j in range(automaton.dim))
                limit = simplest(value + 3e-9 * size, 1e-9 * size)
                part.add_constraint(tools.form(unit, limit) >= 0)
        if not part.is_empty():
            parts.append(part)
    return parts


def _union(parts: Sequence[C_Polyhedron], frame: VelocityFrame, radius: float = 0.0) -> PolytopeUnion:
    return PolytopeUnion(tuple(polytope(part, frame) for part in parts), radius)


# How far apart the outcomes of two nearly equal problems are: what an outer set must enclose in addition.
#
# Take a solution of HP23 (39) for one problem and its rates of normal impulse. The other problem with the
# same rates has a solution v' too, and friction is monotone in the energy norm, so with e = |v - v'|_M
#
#     d(e^2 / 2) <= (|dJn_i| + |d mu_i| |Jt_i| + |dM| size_i) e ds_i  +  mu_i |dJt_i| (|v| + |v'|) ds_i
#
# per normal impulse s_i, all norms in the metric of M^-1 and ``size_i = |Jn_i| + mu_i |Jt_i|``. The impulse
# is bounded where the cone is pointed: ``margin sum size_i s_i <= |v+ - v-|_M <= 2 |v-|_M``. So a change of v
# moves outcomes by no more than itself, one of M, Jn and mu in proportion, one of tangential rows by its
# root. Where v has ended, normal velocities of v' are off by as much: that is ``room``.


@dataclass(frozen=True)
class Displacement:
    """Bounds on what snapping does, as shares of the speed before."""

    radius: float = 0.0  # |v - v'|_M over the speed, for equal rates of impulse
    room: float = 0.0  # |y_i - y'_i| over the speed and |Jn_i|, for every contact


def displacement(problem: ImpactProblem, rational: RationalProblem) -> Displacement:
    """Bound the distance between solutions of a problem and of the rational one that stands for it."""
    L, speed = problem.cholesky, problem.speed or 1.0
    dv = float(np.linalg.norm(L.T @ _change(problem.v[None], [rational.v])[0])) / speed
    tangents = [_change(a, b) for a, b in zip(problem.Jt, rational.Jt, strict=True)]
    normals = _change(problem.Jn, rational.Jn)
    each = (problem.Jn[:, None], normals[:, None], problem.Jt, tangents)
    normal, d_normal, slip, d_slip = (np.array([_length(L, rows) for rows in all_]) for all_ in each)
    half = np.asarray(np.linalg.solve(L, _change(problem.M, rational.M)), dtype=np.float64)
    mass = _length(L, half.T)
    d_mu = np.abs(_change(problem.mu[None], [rational.mu])[0])
    size = normal + problem.mu * slip
    drift = float(((d_normal + d_mu * slip) / size).max()) + mass
    bend = 2.0 * float((problem.mu * d_slip / size).max())
    radius = dv
    if drift or bend:
        cone = pointedness(problem)
        if cone.jammed or not mass < 1e-3:
            return Displacement(math.inf, math.inf)
        impulse = 2.0 / cone.margin
        radius += impulse * drift + math.sqrt(2.0 * impulse * bend)
    radius *= _ROUNDING
    return Displacement(radius, _ROUNDING * (radius + float((d_normal / normal).max())))


def _change(given: Array, exact: Sequence[Sequence[Fraction]]) -> Array:
    """The difference of two matrices, taken before it is rounded."""
    pairs = zip(given, exact, strict=True)
    return np.array([[float(Fraction(float(x)) - y) for x, y in zip(a, b, strict=True)] for a, b in pairs])


def _length(L: Array, rows: Array) -> float:
    """The largest length of a unit combination of rows, in the metric of M^-1."""
    return float(np.linalg.norm(np.linalg.solve(L, rows.T), 2))
