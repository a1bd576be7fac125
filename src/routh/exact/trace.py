"""How a point of the inner set was reached: the sequence of contact statuses, back from the end.

This is a hint for `routh.exact.checker`, which rebuilds and verifies the path by itself.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from routh.exact.algebra import Vector
from routh.exact.automaton import Mode
from routh.exact.pieces import Piece
from routh.exact.reach import Location, Reach

if TYPE_CHECKING:
    from ppl import C_Polyhedron

Statuses = tuple[str, ...]  # per contact: "separates", "sticks", "slides +", "slides -", or "slides k"


def statuses_to(reach: Reach, z: Vector) -> list[list[Statuses]]:
    """Sequences of statuses (first to last) along which a solution may reach z; untested."""
    target = reach.point(z)
    found = []
    for cell in reach.cells.values():
        for piece in cell.pieces:
            if not piece.poly.contains(target):
                continue
            locations = _back(reach, piece, target)
            if locations is not None:
                found.append([tuple(map(_word, reach.auto.modes, location)) for location in locations])
    return sorted(found, key=len)


def _back(reach: Reach, piece: Piece, target: C_Polyhedron) -> list[Location] | None:
    """Locations from the start to ``target``, a polyhedron of one point in ``piece``."""
    trail: list[Location] = []
    while piece.location:
        if piece.parts:
            piece = next((part for part in piece.parts if part.poly.contains(target)), piece.parts[0])
            continue
        cell = reach.cell(piece.location)
        before = reach.ppl.C_Polyhedron(target)
        for ray in reach.flows[piece.location]:
            before.add_generator(reach.ppl.ray(reach.ppl.Linear_Expression([-x for x in ray], 0)))
        if piece.parent is None:
            return None
        before.intersection_assign(piece.parent.poly)
        before.add_constraints(cell.constraints)
        if before.is_empty():
            return None
        trail.append(piece.location)
        target = _middle(reach, before)
        piece = piece.parent
    return trail[::-1]


def _middle(reach: Reach, poly: C_Polyhedron) -> C_Polyhedron:
    """The mean of a polytope's vertices, as a polyhedron of one point."""
    points = [g for g in poly.minimized_generators() if g.is_point()]
    total = [Fraction(0)] * reach.auto.dim
    for g in points:
        scale = int(g.divisor()) * len(points)
        total = [a + Fraction(int(x), scale) for a, x in zip(total, g.coefficients(), strict=True)]
    return reach.point(tuple(total))


def _word(modes: tuple[Mode, ...], index: int) -> str:
    if index == 0:
        return "separates"
    if index == 1:
        return "sticks"  # a contact without friction has no other pushing status
    return {2: "slides +", 3: "slides -"}[index] if len(modes) == 4 else f"slides {index - 2}"
