"""Ways through a reachable set, and where they end.

`terminal_pieces` is the part at which an impact has ended. `statuses_to` tells how a point of it was reached:
the sequence of contact statuses, back from the end, a hint for `routh.exact.checker`, which rebuilds and
verifies the path by itself. `replayed` has a path that was found in floating point again in fractions.
"""

from __future__ import annotations

from fractions import Fraction
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from routh.base.results import ImpactPath
from routh.base.validation import Array
from routh.exact.automaton import Mode
from routh.exact.checker import LINE, CheckedPath, PathProgram, verify_path
from routh.exact.polyhedra import Piece, covered, merged
from routh.exact.rational import RationalProblem, Vector
from routh.exact.reach import Location, Reach

if TYPE_CHECKING:
    from ppl import C_Polyhedron


Statuses = tuple[str, ...]  # per contact: "separates", "sticks", "slides +", "slides -", or "slides k"

#: Scaled velocities and impulses below this were zero before rounding; tried in turn. Small, because the
#: friction of 1.7320508 that stands for sqrt(3) makes slips of 1e-11 that are true.
_ROUNDING = (1e-13, 1e-14, 1e-11, 1e-9)


def statuses_to(reach: Reach, z: Vector) -> list[list[Statuses]]:
    """Sequences of statuses (first to last) along which a solution may reach z; untested."""
    reach, state = reach.traced(z)
    target = reach.point(state)
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


def replayed(problem: RationalProblem, path: ImpactPath) -> CheckedPath | None:
    """The path of straight pieces of a planar impact beside ``path``, exact and verified; None where none is.

    Contact statuses and impulses are read from ``path``; impulses that these leave free keep their numbers,
    the others follow by exact elimination. The result solves HP23 (39) without rounding, as verified.
    """
    for rounding in _ROUNDING:
        found = _beside(problem, path, rounding)
        if found is not None and verify_path(problem, found, found.v[-1]):
            return found
    return None


def _beside(problem: RationalProblem, path: ImpactPath, rounding: float) -> CheckedPath | None:
    unit = problem.problem.scaling
    velocity = problem.problem.contact_velocity(path.v) / unit.velocity[:, None]  # (k + 1, nc, 2)
    slip, push = velocity[..., 1], path.impulse[..., 0] / unit.impulse
    statuses = [
        [_status(*row, rounding) for row in zip(push[k], slip[k], slip[k + 1], strict=True)]
        for k in range(len(push))
    ]
    kept = [k for k, words in enumerate(statuses) if set(words) != {"separates"}]
    program = PathProgram(problem, None, [statuses[k] for k in kept], LINE)
    at_rest = [int(i) for i in np.flatnonzero(np.abs(velocity[-1, :, 0]) < rounding)]
    weights = program.near(_weights(program, path.impulse[kept]), at_rest, rounding)
    return None if weights is None or min(weights) < 0 else program.path(weights)


def _status(push: float, before: float, after: float, rounding: float) -> str:
    if push <= rounding:
        return "separates"
    if max(abs(before), abs(after)) <= rounding:
        return "sticks"
    return "slides +" if before + after > 0.0 else "slides -"


def _weights(program: PathProgram, impulses: Array) -> Array:
    """What each column of the program carries of the impulses (k, nc, 2)."""
    weights = np.zeros(len(program.columns))
    for j, (segment, i, (pressure, friction)) in enumerate(program.columns):
        push, drag = impulses[segment, i]
        mu = float(program.problem.mu[i])
        if friction == 0:
            weights[j] = push - abs(drag) / mu if mu > 0.0 else push
        elif pressure == 1:  # slides: all of it
            weights[j] = push
        else:  # one side of the cone
            weights[j] = max(drag / float(friction), 0.0)
    return np.maximum(weights, 0.0)


def terminal_pieces(reach: Reach, room: Fraction = Fraction(0)) -> list[Piece]:
    """Pieces with ``y >= 0`` and ``min y = 0``, none inside another, joined where their union is convex.

    Without relaxation an impact ends in the face of its cell where every pushing contact has stopped; with
    it, a solution can pass the wall ``y_i = 0`` anywhere in its cell. ``room`` is what each y may be off by,
    as a share of the contact's unit of velocity.
    """
    found: list[Piece] = []
    for poly in _ended(reach, room):
        piece = Piece(poly, reach.auto.gram)
        if not any(old.poly.contains(poly) for old in found):
            found = [*(old for old in found if not poly.contains(old.poly)), piece]
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
        joined = [*(old for old in joined if not grown.poly.contains(old.poly)), grown]
    kept = list(joined)
    for piece in reversed(joined):
        others = [other for other in kept if other is not piece]
        if others and covered(piece, others, ppl):
            kept = others
    return kept
