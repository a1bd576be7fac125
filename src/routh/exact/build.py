"""`exact_set`: from a problem to its two-sided set of outcomes."""

from __future__ import annotations

import time
from fractions import Fraction
from typing import Any

import numpy as np

from routh.exact.automaton import Automaton, automaton
from routh.exact.energy_outer import outer_polytopes
from routh.exact.polytopes import Frame, PolytopeUnion, frame_of, polytope
from routh.exact.rational import RationalProblem, Snapped, snap
from routh.exact.reach import Budget, Reach
from routh.exact.result import ExactSet
from routh.exact.terminal import terminal_pieces
from routh.problem import ImpactProblem
from routh.status import CapacityError, Status
from routh.validation import integer, real

_LARGEST = 12  # dimensions; beyond, single polyhedral operations can outlast any budget


def exact_set(
    problem: ImpactProblem | RationalProblem,
    *,
    eta: float = 1e-6,
    facets: int = 8,
    seconds: float = 60.0,
    pieces: int = 20_000,
) -> ExactSet:
    """Every outcome of an impact under HP23 (39), as unions of polytopes with rational vertices.

    Parameters
    ----------
    problem : in floating point (it is snapped to rationals first, see `snap`) or in rational numbers.
        Friction is Coulomb's in the plane and polyhedral with ``facets`` directions in space.
    eta : how far beyond contact the outer set lets contacts push, as a share of the speed before. The gap
        between the two sets shrinks with it.
    seconds : processor time of this thread that may be spent, in s; a busy machine changes nothing.
    pieces : polyhedra that may be stored, the memory budget.

    Sequences of switches that go on for ever add less and less. On problems of many pieces the inner set
    leaves out, and the outer set encloses by a little too much, what adds less than 1e-4 of the speed;
    ``gap`` includes what that costs.

    Returns
    -------
    ExactSet with status ``SOLVED``; ``NO_IMPACT`` where nothing approaches; ``INCOMPLETE`` where a budget ran
    out (``inner`` is then a part of the set, ``outer`` a bound from energy and momentum); ``JAMMED`` where
    the sets are complete but some solutions never end.
    """
    started = time.thread_time()
    eta = real("eta", eta, above=0.0, at_most=0.1)
    seconds = real("seconds", seconds, above=0.0)
    pieces = integer("pieces", pieces, at_least=1)
    snapped = None if isinstance(problem, RationalProblem) else _snapped(problem)
    rational = problem if isinstance(problem, RationalProblem) else snapped.rational  # type: ignore[union-attr]
    auto = automaton(rational, facets=facets)
    if auto.dim > _LARGEST:
        raise CapacityError(
            f"problem: its contacts span {auto.dim} dimensions; exact sets go up to {_LARGEST}, "
            "and routh.outer_bound takes any problem"
        )
    floats, used = rational.problem, facets if rational.nt == 2 else None
    frame = frame_of(auto, np.linalg.cholesky(floats.M).T, floats.speed)
    if all(_value(row, auto.start) >= 0 for row in auto.normals):
        here = _union([_start(auto)], auto, frame)
        nothing = "no contact approaches"
        return ExactSet(rational, here, here, Status.NO_IMPACT, eta, 0.0, (0, 0), nothing, snapped, used)
    inner = Reach(auto)
    inner.run(Budget(seconds / 2, pieces, started))
    outer = _relaxed(auto, Fraction(eta).limit_denominator(10**12), inner, Budget(seconds, pieces, started))
    reached = _union([piece.poly for piece in terminal_pieces(inner)], auto, frame)
    bound, source = _outer(outer, auto, frame, rational)
    status = Status.SOLVED if inner.complete and outer.complete else Status.INCOMPLETE
    if status is Status.SOLVED and inner.jams():
        status = Status.JAMMED
    spent = time.thread_time() - started
    explored = (inner.explored, outer.explored)
    sets = (inner, outer)
    return ExactSet(rational, reached, bound, status, eta, spent, explored, source, snapped, used, sets)


def _relaxed(auto: Automaton, eta: Fraction, inner: Reach, budget: Budget) -> Reach:
    """The relaxed reachable set, without enclosures where that ends after as many pieces again.

    An enclosure adds 1e-4 of the speed at first, but what follows it can be large.
    """
    outer = Reach(auto, eta=eta, flows=inner.flows)
    if outer.run(budget) and outer.enclosing and outer.cut_off:
        plain = Reach(auto, eta=eta, flows=inner.flows, enclosing=False)
        if plain.run(budget.half, most=2 * outer.explored):
            return plain
    return outer


def _snapped(problem: ImpactProblem) -> Snapped:
    if not isinstance(problem, ImpactProblem):
        raise ValueError(
            f"problem: got {type(problem).__name__}; wanted an ImpactProblem or a RationalProblem"
        )
    if np.any(problem.restitution != 0.0):
        raise ValueError(
            f"restitution: got {problem.restitution.max():g}; exact sets are of inelastic impacts and want 0"
        )
    return snap(problem)


def _outer(
    reach: Reach, auto: Automaton, frame: Frame, rational: RationalProblem
) -> tuple[PolytopeUnion, str]:
    """The relaxed reachable set where it was completed and is bounded, else a bound from energy."""
    if reach.complete:
        parts = [piece.poly for piece in terminal_pieces(reach)]
        if all(part.is_bounded() for part in parts):
            return _union(parts, auto, frame), "reachable set of the relaxed inclusion"
    return _union(outer_polytopes(rational.problem, auto), auto, frame), "energy and momentum bound"


def _union(parts: list[Any], auto: Automaton, frame: Frame) -> PolytopeUnion:
    return PolytopeUnion(tuple(polytope(part, auto, frame) for part in parts))


def _start(auto: Automaton) -> Any:
    return Reach(auto).point(auto.start)


def _value(row: tuple[int, ...], z: tuple[Any, ...]) -> Any:
    return sum(a * b for a, b in zip(row, z, strict=True))
