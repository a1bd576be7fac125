"""An independent check that no solution of the relaxed inclusion leaves a region (planar contacts).

As in `routh.sets.checker`, nothing of the construction is used: cells and forces are written down again, in
velocity space. The polyhedra themselves are PPL's.

A solution with finitely many switches moves on straight segments, each within one closed cell of contact
statuses and along that cell's force cone. So a region U is never left if, for every polytope P of U and every
cell, the whole of ``((P ∩ cell) + cone) ∩ cell`` lies in U.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import lcm
from typing import Any

from routh.sets.checker import Vector, Verdict, _solve_exact
from routh.sets.rational import RationalProblem
from routh.status import MissingExtraError

Polygon = Sequence[Vector]  # the vertices of one polytope, exact velocities


def verify_invariance(
    problem: RationalProblem,
    thresholds: Sequence[Fraction],
    region: Sequence[Polygon],
    outcomes: Sequence[Polygon],
) -> Verdict:
    """Whether ``region`` holds every state of the relaxed inclusion and ``outcomes`` every end of an impact.

    Parameters
    ----------
    thresholds : (nc,) m/s, > 0: a contact may push while its normal velocity is at most this.
    region : polytopes whose union is claimed to contain v and to be invariant.
    outcomes : polytopes whose union is claimed to contain the part of it with ``Jn v >= 0`` and
        ``Jn_i v = 0`` for some i.
    """
    if problem.nt != 1:
        raise ValueError(f"problem: got nt = {problem.nt}; wanted planar contacts, nt = 1")
    if any(limit <= 0 for limit in thresholds):
        return Verdict(False, "a threshold is not positive, so the relaxation proves nothing")
    ppl = _ppl()
    pieces = [_polytope(ppl, polygon) for polygon in region]
    ends = [_polytope(ppl, polygon) for polygon in outcomes]
    start = _polytope(ppl, [problem.v])
    if not any(piece.contains(start) for piece in pieces):
        return Verdict(False, "the velocity before is not in the region")
    cells = list(_cells(ppl, problem, thresholds))
    for index, piece in enumerate(pieces):
        for words, walls, rays in cells:
            entry = ppl.C_Polyhedron(piece)
            entry.add_constraints(walls)
            if entry.is_empty():
                continue
            moved = ppl.C_Polyhedron(entry)
            for ray in rays:
                moved.add_generator(ray)
            moved.add_constraints(walls)
            if not _inside(ppl, moved, pieces):
                return Verdict(False, f"polytope {index} can be left with contacts {', '.join(words)}")
    return _ends_inside(ppl, problem, pieces, ends)


def _ends_inside(ppl: Any, problem: RationalProblem, pieces: list[Any], ends: list[Any]) -> Verdict:
    forms = [_form(ppl, row, Fraction(0)) for row in problem.Jn]
    for index, piece in enumerate(pieces):
        apart = ppl.C_Polyhedron(piece)
        for form in forms:
            apart.add_constraint(form >= 0)
        for i, form in enumerate(forms):
            ended = ppl.C_Polyhedron(apart)
            ended.add_constraint(form == 0)
            if not ended.is_empty() and not _inside(ppl, ended, ends):
                return Verdict(False, f"an impact can end at {problem.names[i]} in polytope {index}, outside")
    return Verdict(True)


def _cells(
    ppl: Any, problem: RationalProblem, thresholds: Sequence[Fraction]
) -> Iterator[tuple[tuple[str, ...], Any, list[Any]]]:
    """Every combination of statuses: its words, its walls and the extreme rays of its flow."""
    choices = []
    for i in range(problem.nc):
        slips = any(problem.Jt[i][0]) and problem.mu[i] > 0
        choices.append(["separated", "stick", "slide +", "slide -"] if slips else ["separated", "push"])
    effects = _effects(problem)
    for words in product(*choices):
        if set(words) == {"separated"}:
            continue
        walls, held, rays = ppl.Constraint_System(), [], ppl.Generator_System()
        rays.insert(ppl.point(ppl.Linear_Expression([0] * problem.nv, 0)))
        for i, word in enumerate(words):
            gap = _form(ppl, problem.Jn[i], -thresholds[i])
            if word == "separated":
                walls.insert(gap >= 0)
                continue
            walls.insert(gap <= 0)
            slip = _form(ppl, problem.Jt[i][0], Fraction(0))
            if word == "stick":
                walls.insert(slip == 0)
                held.append(slip == 0)
            elif word != "push":
                walls.insert(slip >= 0 if word == "slide +" else slip <= 0)
            signs = {"stick": (1, -1), "slide +": (-1,), "slide -": (1,), "push": (0,)}[word]
            for sign in signs:
                rays.insert(ppl.ray(ppl.Linear_Expression(effects[i, sign], 0)))
        cone = ppl.C_Polyhedron(rays)
        for constraint in held:
            cone.add_constraint(constraint)
        yield words, walls, [g for g in cone.minimized_generators() if not g.is_point()]


def _effects(problem: RationalProblem) -> dict[tuple[int, int], list[int]]:
    """Direction of v' for a unit normal force with friction ``sign mu`` along the tangent, as integers."""
    result = {}
    for i in range(problem.nc):
        for sign in (-1, 0, 1):
            force = [
                n + sign * problem.mu[i] * t for n, t in zip(problem.Jn[i], problem.Jt[i][0], strict=True)
            ]
            change = _solve_exact([list(row) for row in problem.M], force)
            scale = lcm(*(x.denominator for x in change))
            result[i, sign] = [int(x * scale) for x in change]
    return result


def _inside(ppl: Any, part: Any, pieces: Sequence[Any], first: int = 0) -> bool:
    """Whether ``part`` lies in the union: cut off what a piece covers and ask again for the rest."""
    dimension = part.affine_dimension()
    if any(piece.contains(part) for piece in pieces[first:]):
        return True
    for k in range(first, len(pieces)):
        overlap = ppl.C_Polyhedron(part)
        overlap.intersection_assign(pieces[k])
        if overlap.affine_dimension() < dimension:
            continue
        rest = ppl.C_Polyhedron(part)
        for wall in pieces[k].minimized_constraints():
            form = ppl.Linear_Expression(wall.coefficients(), wall.inhomogeneous_term())
            sides = [form <= 0, form >= 0] if wall.is_equality() else [form <= 0]
            for side in sides:
                beyond = ppl.C_Polyhedron(rest)
                beyond.add_constraint(side)
                # a part of lower dimension is in the closure of what remains, and the pieces are closed
                solid = beyond.affine_dimension() == dimension and not pieces[k].contains(beyond)
                if solid and not _inside(ppl, beyond, pieces, k + 1):
                    return False
            rest.add_constraint(wall)
        return True
    return False


def _form(ppl: Any, row: Sequence[Fraction], constant: Fraction) -> Any:
    """A positive multiple of ``row . v + constant``."""
    scale = lcm(*(x.denominator for x in row), constant.denominator)
    return ppl.Linear_Expression([int(x * scale) for x in row], int(constant * scale))


def _polytope(ppl: Any, vertices: Sequence[Vector]) -> Any:
    points = ppl.Generator_System()
    for vertex in vertices:
        scale = lcm(*(x.denominator for x in vertex))
        points.insert(ppl.point(ppl.Linear_Expression([int(x * scale) for x in vertex], 0), scale))
    return ppl.C_Polyhedron(points)


def _ppl() -> Any:
    try:
        import ppl
    except ImportError:
        raise MissingExtraError("ppl (passagemath-ppl)", "exact") from None
    return ppl
