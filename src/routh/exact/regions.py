"""Regions of velocities before in which every vertex of the exact set is one linear function of the velocity.

A piece of the relation is a cone P of pairs (z0, z), and the set at z0 is a slice of it. The vertices of the
slice are where it meets the faces of P that have as many dimensions as z0 and lie over it one to one: each is
a linear function of z0 on the cone that the face projects to. The common refinement of all these cones,
joined where the functions are the same, are the regions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from routh.base.validation import Array
from routh.exact.automaton import Automaton
from routh.exact.facets import exact_facets, rounded
from routh.exact.polyhedra import Piece, merged
from routh.exact.rational import (
    Matrix,
    difference,
    dot,
    floats,
    independent_rows,
    product,
    solve,
    transpose,
)
from routh.exact.relation import Relation

if TYPE_CHECKING:
    from ppl import C_Polyhedron, Constraint

    Walls = list[tuple[Constraint, Constraint]]

Vertices = frozenset[Matrix]  # of one piece: each as the map (dim, dim) from z0 to z


@dataclass(frozen=True, eq=False)
class Region:
    """Velocities before with the same vertices, each a linear function of v; a union of convex cones."""

    cones: tuple[Array, ...]  # rows (m, nv): ``rows @ v >= 0`` is the distance from each wall, in |.|_M
    pieces: tuple[
        Array, ...
    ]  # for each polytope of the set its vertices, (k, nv, nv): after = vertices @ before
    vertices: Array  # all of them without repetition, (k, nv, nv)

    def contains(self, v: ArrayLike) -> np.ndarray:
        """Whether (..., nv) lies in the region, up to rounding."""
        velocity = np.asarray(v, dtype=np.float64)
        return np.any([np.all(velocity @ walls.T >= 0.0, axis=-1) for walls in self.cones], axis=0)


def regions_of(relation: Relation, pieces: Sequence[Piece]) -> tuple[Region, ...]:
    """The regions of a union of cones of pairs."""
    plain, ppl = relation.plain, relation.ppl
    leaves: list[tuple[C_Polyhedron, tuple[Vertices, ...]]] = [(ppl.C_Polyhedron(plain.dim), ())]
    for piece in pieces:
        over = relation.before(piece)
        if int(over.affine_dimension()) < plain.dim:
            continue
        whole, refined = _walls(relation, over), []
        fan = [(_walls(relation, part), vertices) for part, vertices in _fan(relation, piece, over)]
        for cone, known in leaves:
            for walls, vertices in fan:
                common = _solid(relation, cone, walls)
                if common is not None:
                    refined.append((common, (*known, vertices)))
            refined += [(rest, known) for rest in _without(relation, cone, whole)]
        leaves = refined
    groups: dict[frozenset[Vertices], list[C_Polyhedron]] = {}
    for cone, known in leaves:
        largest = frozenset(each for each in known if not any(each < other for other in known))
        if known:
            groups.setdefault(largest, []).append(cone)
    return tuple(_region(relation, cones, known) for known, cones in groups.items())


def _walls(relation: Relation, cone: C_Polyhedron) -> Walls:
    """The walls of a cone with inner points, each with its other side."""
    walls = cone.minimized_constraints()
    return [(wall, relation.ppl.Linear_Expression(wall.coefficients(), 0) <= 0) for wall in walls]


def _without(relation: Relation, cone: C_Polyhedron, walls: Walls) -> list[C_Polyhedron]:
    """What is left of a cone outside of another, as cones."""
    if _solid(relation, cone, walls) is None:
        return [cone]
    left, rest = [], cone
    for wall, beyond in walls:
        outside = _solid(relation, rest, [(beyond, wall)])
        if outside is not None:
            left.append(outside)
            rest = relation.ppl.C_Polyhedron(rest)
            rest.add_constraint(wall)
    return left


def _solid(relation: Relation, cone: C_Polyhedron, walls: Walls) -> C_Polyhedron | None:
    """A cone within walls, or None where it has no inner points."""
    included, cutting = relation.ppl.Poly_Con_Relation.is_included(), []
    for wall, beyond in walls:
        if cone.relation_with(beyond).implies(included):
            return None
        if not cone.relation_with(wall).implies(included):
            cutting.append(wall)
    if not cutting:
        return cone
    cut = relation.ppl.C_Polyhedron(cone)
    for wall in cutting:
        cut.add_constraint(wall)
    return cut if int(cut.affine_dimension()) == relation.plain.dim else None


def _fan(relation: Relation, piece: Piece, over: C_Polyhedron) -> list[tuple[C_Polyhedron, Vertices]]:
    """The cones of z0 over which the slices of a piece have the same vertices, and these."""
    fan: list[tuple[C_Polyhedron, Vertices]] = [(over, frozenset())]
    for cone, map_ in _sheets(relation, piece):
        walls, refined = _walls(relation, cone), []
        for part, vertices in fan:
            common = _solid(relation, part, walls)
            if common is not None:
                refined.append((common, vertices | {map_}))
            refined += [(other, vertices) for other in _without(relation, part, walls)]
        fan = refined
    return fan


def _sheets(relation: Relation, piece: Piece) -> Iterator[tuple[C_Polyhedron, Matrix]]:
    """Faces of a piece that lie over z0 one to one: their cones of z0, and z as a function of z0."""
    d, ppl = relation.plain.dim, relation.ppl
    number = type(relation.plain.start[0])
    generators = [g for g in piece.poly.minimized_generators() if not g.is_point()]
    rays = [tuple(number(x) for x in g.coefficients()) for g in generators]
    lines = {k for k, g in enumerate(generators) if g.is_line()}
    walls = [
        tuple(number(x) for x in c.coefficients())
        for c in piece.poly.minimized_constraints()
        if not c.is_equality()
    ]
    on = [frozenset(k for k, ray in enumerate(rays) if dot(wall, ray) == 0) for wall in walls]
    faces = {frozenset(range(len(rays)))}
    for _ in range(int(piece.poly.affine_dimension()) - d):
        faces = {face for above in faces for face in _facets(above, on)}
    for face in faces:
        members = sorted(face)
        before = [rays[k][:d] for k in members]
        basis = independent_rows(before)
        if len(basis) < d:
            continue
        system = ppl.Generator_System(ppl.point(ppl.Linear_Expression([0] * d, 0)))
        for k, row in zip(members, before, strict=True):
            form = ppl.Linear_Expression([int(x) for x in row], 0)
            if any(row):
                system.insert(ppl.line(form) if k in lines else ppl.ray(form))
        chosen = [rays[members[i]] for i in basis]
        map_ = transpose(solve([row[:d] for row in chosen], [row[-d:] for row in chosen]))
        yield ppl.C_Polyhedron(system), map_


def _facets(face: frozenset[int], on: Sequence[frozenset[int]]) -> list[frozenset[int]]:
    """The largest faces of a face, as sets of rays."""
    smaller = {face & wall for wall in on} - {face}
    return [a for a in smaller if not any(a < b for b in smaller)]


def _region(relation: Relation, cones: Sequence[C_Polyhedron], known: frozenset[Vertices]) -> Region:
    plain, nv = relation.plain, len(relation.plain.base)
    joined: list[Piece] = []
    for cone in cones:
        joined = _with(joined, merged(Piece(cone, plain.gram), joined, relation.ppl))
    walls = (exact_facets(cone.poly, plain)[0] for cone in joined)
    lifted = {map_: _lifted(plain, map_) for map_ in set().union(*known)}
    return Region(
        tuple(rounded(facets, nv)[0] * float(plain.energy) ** 0.5 for facets in walls),
        tuple(np.array([lifted[map_] for map_ in each]) for each in known),
        np.array(list(lifted.values())),
    )


def _with(pieces: Sequence[Piece], piece: Piece) -> list[Piece]:
    """The pieces with one more, in place of those that it contains."""
    return [*(old for old in pieces if not piece.poly.contains(old.poly)), piece]


def _lifted(plain: Automaton, map_: Matrix) -> Array:
    """The velocity after as a function of that before, (nv, nv), from z as a function of z0."""
    change = product(
        plain.back,
        product(
            [difference(row, unit) for row, unit in zip(map_, _unit(plain.dim), strict=True)], plain.rows
        ),
    )
    return np.eye(len(change)) + floats(change)


def _unit(n: int) -> Matrix:
    return tuple(tuple(Fraction(int(i == j)) for j in range(n)) for i in range(n))
