"""The part of a reachable set at which an impact has ended."""

from __future__ import annotations

from fractions import Fraction
from types import ModuleType
from typing import TYPE_CHECKING

from routh.exact.pieces import Piece, covered, merged
from routh.exact.reach import Reach

if TYPE_CHECKING:
    from ppl import C_Polyhedron


def terminal_pieces(reach: Reach, room: Fraction = Fraction(0)) -> list[Piece]:
    """Pieces with ``y >= 0`` and ``min y = 0``, none inside another, joined where their union is convex.

    Without relaxation an impact ends in the face of its cell where every pushing contact has stopped; with
    it, a solution can pass the wall ``y_i = 0`` anywhere in its cell. ``room`` is what each y may be off by,
    as a share of the contact's unit of velocity.
    """
    found: list[Piece] = []
    for poly in _ended(reach, room):
        piece = Piece(poly, reach.auto.gram)
        if any(old.poly.contains(poly) for old in found):
            continue
        found = [old for old in found if not poly.contains(old.poly)]
        found.append(piece)
    return _simplified(found, reach.ppl)


def _ended(reach: Reach, room: Fraction) -> list[C_Polyhedron]:
    """Closed terminal parts of every stored piece."""
    rows = list(zip(reach.auto.normals, (room * unit for unit in reach.auto.units), strict=True))
    apart_from = [reach.form(row, width) >= 0 for row, width in rows]
    stopped = [reach.form(row, -width) <= 0 for row, width in rows]
    result = []
    for cell in reach.cells.values():
        for piece in cell.pieces:
            if not reach.relaxed:
                part = reach.ppl.C_Polyhedron(piece.poly)
                part.add_constraints(cell.ends)
                result.append(part)
                continue
            apart = reach.ppl.C_Polyhedron(piece.poly)
            for constraint in apart_from:
                apart.add_constraint(constraint)
            for constraint in stopped:
                part = reach.ppl.C_Polyhedron(apart)
                part.add_constraint(constraint)
                result.append(part)
    return [part for part in result if not part.is_empty()]


def _simplified(pieces: list[Piece], ppl: ModuleType) -> list[Piece]:
    """Join pieces whose union is convex and drop those that the rest covers."""
    joined: list[Piece] = []
    for piece in sorted(pieces, key=lambda p: -int(p.poly.affine_dimension())):
        grown = merged(piece, joined, ppl)
        joined = [old for old in joined if not grown.poly.contains(old.poly)]
        joined.append(grown)
    kept = list(joined)
    for piece in reversed(joined):
        others = [other for other in kept if other is not piece]
        if others and covered(piece, others, ppl):
            kept = others
    return kept
