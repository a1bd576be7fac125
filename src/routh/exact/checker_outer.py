"""An independent check that no solution of the relaxed inclusion leaves a region.

As in `routh.exact.checker`, nothing of the construction is used: cells and forces are written down again, in
velocity space. The polyhedra themselves are PPL's.

A solution with finitely many switches moves on straight segments, each within one closed cell of contact
statuses and along that cell's force cone. So a region U is never left if, for every polytope P of U and every
cell, the whole of ``((P ∩ cell) + cone) ∩ cell`` lies in U.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from types import ModuleType
from typing import TYPE_CHECKING

from routh.exact.algebra import Vector, integers
from routh.exact.checker_parts import LINE, Form, Proof, along, effect, friction_status
from routh.exact.loading import hull, load_ppl
from routh.exact.rational import RationalProblem

if TYPE_CHECKING:
    from ppl import C_Polyhedron, Constraint_System, Generator, Linear_Expression

Vertices = Sequence[Vector]  # of one polytope, exact velocities


def verify_invariance(
    problem: RationalProblem,
    thresholds: Sequence[Fraction],
    region: Sequence[Vertices],
    outcomes: Sequence[Vertices],
    *,
    polygon: Sequence[Vector] = LINE,
) -> Proof:
    """Whether ``region`` holds every state of the relaxed inclusion and ``outcomes`` every end of an impact.

    Parameters
    ----------
    thresholds : (nc,) m/s, > 0: a contact may push while its normal velocity is at most this.
    region : polytopes whose union is claimed to contain v and to be invariant.
    outcomes : polytopes whose union is claimed to contain the part of it with ``Jn v >= 0`` and
        ``Jn_i v = 0`` for some i.
    polygon : in space, the directions of polyhedral friction, see `routh.exact.checker`.
    """
    if any(len(d) != problem.nt for d in polygon):
        raise ValueError(f"polygon: got directions of length {len(polygon[0])}; wanted {problem.nt}")
    if any(limit <= 0 for limit in thresholds):
        return Proof(False, "a threshold is not positive, so the relaxation proves nothing")
    ppl = load_ppl()
    pieces = [hull(ppl, vertices) for vertices in region]
    ends = [hull(ppl, vertices) for vertices in outcomes]
    start = hull(ppl, [problem.v])
    if not any(piece.contains(start) for piece in pieces):
        return Proof(False, "the velocity before is not in the region")
    cells = list(_cells(ppl, problem, thresholds, polygon))
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
                return Proof(False, f"polytope {index} can be left with contacts {', '.join(words)}")
    return _ends_inside(ppl, problem, pieces, ends)


def _ends_inside(
    ppl: ModuleType, problem: RationalProblem, pieces: list[C_Polyhedron], ends: list[C_Polyhedron]
) -> Proof:
    forms = [_form(ppl, row, Fraction(0)) for row in problem.Jn]
    for index, piece in enumerate(pieces):
        apart = ppl.C_Polyhedron(piece)
        for form in forms:
            apart.add_constraint(form >= 0)
        for i, form in enumerate(forms):
            ended = ppl.C_Polyhedron(apart)
            ended.add_constraint(form == 0)
            if not ended.is_empty() and not _inside(ppl, ended, ends):
                return Proof(False, f"an impact can end at {problem.names[i]} in polytope {index}, outside")
    return Proof(True)


def _cells(
    ppl: ModuleType, problem: RationalProblem, thresholds: Sequence[Fraction], polygon: Sequence[Vector]
) -> Iterator[tuple[tuple[str, ...], Constraint_System, list[Generator]]]:
    """Every combination of statuses: its words, its walls and the extreme rays of its flow."""
    slides = ["slides +", "slides -"] if problem.nt == 1 else [f"slides {k}" for k in range(2 * len(polygon))]
    choices = []
    for i in range(problem.nc):
        slips = any(map(any, problem.Jt[i])) and problem.mu[i] > 0
        choices.append(["separates", "sticks", *slides] if slips else ["separates", "push"])
    for words in product(*choices):
        if set(words) == {"separates"}:
            continue
        walls, held, rays = ppl.Constraint_System(), [], ppl.Generator_System()
        rays.insert(ppl.point(ppl.Linear_Expression([0] * problem.nv, 0)))
        for i, word in enumerate(words):
            gap = _form(ppl, problem.Jn[i], -thresholds[i])
            if word == "separates":
                walls.insert(gap >= 0)
                continue
            walls.insert(gap <= 0)
            pressing: list[Vector] = [(Fraction(0),) * problem.nt]
            zero: list[Form] = []
            positive: list[Form] = []
            if word != "push":
                pressing, zero, positive = friction_status(word, polygon)
            for form in positive:
                walls.insert(_form(ppl, along(form, problem.Jt[i]), Fraction(0)) >= 0)
            for form in zero:
                slip = _form(ppl, along(form, problem.Jt[i]), Fraction(0))
                walls.insert(slip == 0)
                held.append(slip == 0)
            for d in pressing:  # a unit normal force with full friction against d
                change = effect(problem, i, (Fraction(1), *(-problem.mu[i] * x for x in d)))
                rays.insert(ppl.ray(ppl.Linear_Expression(integers(change), 0)))
        cone = ppl.C_Polyhedron(rays)
        for constraint in held:
            cone.add_constraint(constraint)
        yield words, walls, [g for g in cone.minimized_generators() if not g.is_point()]


def _inside(ppl: ModuleType, part: C_Polyhedron, pieces: Sequence[C_Polyhedron], first: int = 0) -> bool:
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
            if rest.relation_with(wall).implies(ppl.Poly_Con_Relation.is_included()):
                continue  # nothing is beyond it, though all of the rest may lie on it
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


def _form(ppl: ModuleType, row: Sequence[Fraction], constant: Fraction) -> Linear_Expression:
    """A positive multiple of ``row . v + constant``."""
    *coefficients, inhomogeneous = integers((*row, constant))
    return ppl.Linear_Expression(coefficients, inhomogeneous)
