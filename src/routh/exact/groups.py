"""An outer set by groups of contacts that hardly feel each other, where the set itself takes too long.

The two feet of a biped push each other's contacts a little only. For one group the velocities z_A of its own
contacts move by its own forces, and by what the other groups' forces do to them. Let the others push at any
time and in any direction of their friction cones, but no more than they can in the whole impact: with σ the
sum of their impulses, each weighed by its effect on z_A, that is σ <= Λ. The pair (z_A, σ) is an automaton of
few dimensions with one contact more, whose normal velocity is σ - Λ, and it is explored as any other.

Λ follows from where the impact ends: any form g with ``g . ray >= weight`` for every force ray proves
``σ <= g . (z+ - z)``, and z+ lies in the sets of all groups. So sets and Λ shrink in turn, from what energy
allows on. The product of the sets is the outer set.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from routh.exact.automaton import Automaton, Mode, Row
from routh.exact.polyhedra import Piece
from routh.exact.rational import (
    Matrix,
    RationalProblem,
    Vector,
    difference,
    dot,
    floats,
    independent_rows,
    integers,
    product,
    simplest,
    solve,
    times,
    transpose,
)
from routh.exact.reach import Budget, Reach
from routh.problem import ImpactProblem
from routh.validation import Array

if TYPE_CHECKING:
    from ppl import C_Polyhedron

_FELT = 0.25  # of the contacts' own response: what feels less of each other belongs to different groups
_BITS = 32  # of the numbers of a shortened problem
_ROUNDS = 8  # times that Λ follows from the sets
_SETTLED = 0.98  # share of Λ: a round that leaves more of it is the last
_MARGIN = 1e-6  # share of the largest weight, for what a linear program and floating point leave out


def groups_of(problem: ImpactProblem) -> list[list[int]]:
    """Contacts in groups such that an impulse at one hardly changes the velocities at those of the others."""
    size = np.sqrt(np.diag(problem.delassus))
    felt = np.abs(problem.delassus) / np.outer(size, size).clip(1e-300)
    width = 1 + problem.nt
    near = felt.reshape(problem.nc, width, problem.nc, width).max(axis=(1, 3)) > _FELT
    for _ in range(problem.nc):
        near = near @ near
    return [list(group) for group in dict.fromkeys(tuple(np.flatnonzero(row).tolist()) for row in near)]


def shortened(problem: RationalProblem) -> RationalProblem:
    """A problem nearby whose forces in z are short numbers: polyhedra take a fraction of the time.

    With W = B M^-1 B^T rounded to W', the mass matrix is M + B^T (W'^-1 - W^-1) B. Raises a ValueError where
    that is no mass matrix.
    """
    B = [problem.rows[i] for i in independent_rows(problem.rows)]
    span = solve(problem.M, transpose(B))
    W = product(B, span)
    one = tuple(tuple(Fraction(int(i == j)) for j in range(len(B))) for i in range(len(B)))
    unit = [Fraction(2) ** round(math.log2(float(row[i])) / 2) for i, row in enumerate(W)]
    near = tuple(
        tuple(_short(x / (a * b)) * a * b for x, b in zip(row, unit, strict=True))
        for row, a in zip(W, unit, strict=True)
    )
    inverse = solve(W, one)
    change = product(
        transpose(B), product([difference(a, b) for a, b in zip(solve(near, one), inverse, strict=True)], B)
    )
    mass = tuple(
        tuple(x + y for x, y in zip(a, b, strict=True)) for a, b in zip(problem.M, change, strict=True)
    )
    z = times(B, problem.v)
    tolerance = max(abs(float(x)) for x in z) * 2.0**-_BITS
    moved = difference([simplest(float(x), tolerance) for x in z], z)
    v = tuple(x + y for x, y in zip(problem.v, times(product(span, inverse), moved), strict=True))
    mu = [simplest(float(m), float(m) * 2.0**-_BITS) for m in problem.mu]
    return RationalProblem(mass, problem.Jn, problem.Jt, mu, v, problem.names)


def _short(x: Fraction) -> Fraction:
    return Fraction(round(x * 2**_BITS), 2**_BITS)


@dataclass(frozen=True, eq=False)
class _Group:
    """One group's automaton but for Λ, which is 1 in it."""

    rows: tuple[Row, ...]  # forms in z: the group's own coordinates
    automaton: Automaton
    rays: Array  # (rays, own dimensions): of all contacts
    weight: Array  # (rays,): 0 for the group's own

    @property
    def start(self) -> Array:
        return floats([self.automaton.start[:-1]])[0]

    def reached(self, most: Fraction, eta: Fraction, room: Fraction, budget: Budget) -> C_Polyhedron | None:
        """The convex hull of where the group's velocities can end where Λ is ``most``; None out of time."""
        auto, own = self.automaton, len(self.rows)
        limited = replace(auto, start=(*auto.start[:-1], -most), units=(*auto.units[:-1], most))
        reach = Reach(limited, eta=eta)
        if not reach.run(budget):
            return None
        apart = [
            reach.form(row, room * unit) >= 0 for row, unit in zip(auto.normals, limited.units, strict=True)
        ]
        ended = [piece.poly for cell in reach.cells.values() for piece in cell.pieces]
        whole = reach.ppl.C_Polyhedron(own, "empty")
        for poly in (reach.point(limited.start), *ended):
            part = reach.ppl.C_Polyhedron(poly)
            for constraint in apart[:-1]:
                part.add_constraint(constraint)
            part.remove_higher_space_dimensions(own)
            whole.poly_hull_assign(part)
        return whole if whole.is_bounded() and not whole.is_empty() else None


def grouped_bound(
    auto: Automaton, groups: Sequence[Sequence[int]], eta: Fraction, room: Fraction, budget: Budget
) -> C_Polyhedron | None:
    """A polytope in z that holds every outcome of the automaton; None where the budget is spent before.

    ``room`` is what normal velocities may be off by in the end, as a share of the contacts' units.
    """
    parts = [_group(auto, group) for group in groups]
    sets = [_box(auto, part) for part in parts]
    found: list[C_Polyhedron] = []
    before = [math.inf] * len(parts)
    for _ in range(_ROUNDS):
        most = [_most(part, parts, sets) for part in parts]
        if not all(map(math.isfinite, most)) or all(
            a > _SETTLED * b for a, b in zip(most, before, strict=True)
        ):
            break
        hulls = [
            part.reached(simplest(1.001 * x, 0.001 * x), eta, room, budget)
            for part, x in zip(parts, most, strict=True)
        ]
        whole = [hull for hull in hulls if hull is not None]
        if len(whole) < len(parts):
            break
        found, before = whole, most
        sets = [Piece(hull, np.eye(len(part.rows))).points for hull, part in zip(found, parts, strict=True)]
    if not found:
        return None
    tools = Reach(auto)
    bound = tools.ppl.C_Polyhedron(auto.dim)
    for hull, part in zip(found, parts, strict=True):
        for c in hull.minimized_constraints():
            row = tuple(
                sum(int(a) * x for a, x in zip(c.coefficients(), column, strict=True))
                for column in zip(*part.rows, strict=True)
            )
            form = tools.ppl.Linear_Expression(list(row), c.inhomogeneous_term())
            bound.add_constraint(form == 0 if c.is_equality() else form >= 0)
    return bound if bound.is_bounded() else None


def _group(auto: Automaton, group: Sequence[int]) -> _Group:
    forms = [
        row
        for i in group
        for row in (auto.normals[i], *(r for m in auto.modes[i] for r in (*m.inside, *m.zero)))
    ]
    exact: Matrix = tuple(tuple(map(Fraction, row)) for row in forms)
    rows = tuple(forms[k] for k in independent_rows(exact))
    basis: Matrix = tuple(tuple(map(Fraction, row)) for row in rows)
    gram = product(basis, transpose(basis))

    def own(form: Row) -> Vector:  # in the group's coordinates
        return (
            *(x for (x,) in solve(gram, [(dot(row, tuple(map(Fraction, form))),) for row in basis])),
            Fraction(0),
        )

    def moved(ray: Row) -> Vector:
        return times(basis, tuple(map(Fraction, ray)))

    metric = floats(product(product(basis, auto.metric), transpose(basis)))
    lower = np.linalg.cholesky(metric)
    rays = [
        (i, ray)
        for i, modes in enumerate(auto.modes)
        for ray in dict.fromkeys(r for m in modes for r in m.forces)
    ]
    effects = floats([moved(ray) for _, ray in rays])
    weight = np.linalg.norm(np.linalg.solve(lower, effects.T), axis=0)
    weight[[i in group for i, _ in rays]] = 0.0
    others = [
        integers((*moved(ray), simplest(0.999 * w, 0.001 * w)))
        for (_, ray), w in zip(rays, weight, strict=True)
        if w
    ]
    modes = [
        tuple(
            Mode(
                m.pushing,
                tuple(integers(own(r)) for r in m.inside),
                tuple(integers(own(r)) for r in m.zero),
                tuple(integers((*moved(r), Fraction(0))) for r in m.forces),
            )
            for m in auto.modes[i]
        )
        for i in group
    ]
    modes.append((Mode(False), Mode(True, forces=tuple(others))))
    normals = [own(auto.normals[i]) for i in group]
    scaled = [integers(row) for row in normals]
    stretch = [
        next(Fraction(a) / b for a, b in zip(whole, row, strict=True) if b)
        for whole, row in zip(scaled, normals, strict=True)
    ]
    last = (0,) * len(rows) + (1,)
    size = np.eye(len(rows) + 1)
    size[:-1, :-1] = metric * float(auto.energy)
    projected = replace(
        auto,
        dim=len(rows) + 1,
        start=(*times(basis, auto.start), Fraction(-1)),
        normals=(*scaled, last),
        modes=tuple(modes),
        units=(*(auto.units[i] * s for i, s in zip(group, stretch, strict=True)), Fraction(1)),
        gram=size,
    )
    return _Group(rows, projected, effects, weight)


def _box(auto: Automaton, part: _Group) -> Array:
    """Corners of what energy allows for a group's velocities, (2^k, k)."""
    rows = np.array(part.rows, dtype=np.float64)
    width = np.sqrt(np.einsum("ij,jk,ik->i", rows, auto.gram, rows))
    return np.array(np.meshgrid(*([-x, x] for x in width))).reshape(len(rows), -1).T


def _most(part: _Group, parts: Sequence[_Group], sets: Sequence[Array]) -> float:
    """A bound on what the others' impulses do to a group in all; infinite where none is found."""
    from scipy.optimize import linprog

    rays, start = np.hstack([one.rays for one in parts]), np.concatenate([one.start for one in parts])
    size = np.linalg.norm(rays, axis=1)
    rays, weight = rays / size[:, None], part.weight / size
    largest = float(weight.max()) or 1.0
    weight = weight / largest
    ends = np.cumsum([0, *(len(one.rows) for one in parts)])
    own = [slice(a, b) for a, b in pairwise(ends)]
    tops = []
    for k, (points, place) in enumerate(zip(sets, own, strict=True)):
        block = np.zeros((len(points), len(start) + len(parts)))
        block[:, place], block[:, len(start) + k] = points, -1.0
        tops.append(block)
    table = np.vstack([np.hstack([-rays, np.zeros((len(rays), len(parts)))]), *tops])
    limit = np.concatenate([-weight - 2.0 * _MARGIN, np.zeros(len(table) - len(rays))])
    cost = np.concatenate([-start, np.ones(len(parts))])
    answer = linprog(cost, A_ub=table, b_ub=limit, bounds=(None, None))
    if answer.x is None:
        return math.inf
    g = answer.x[: len(start)]
    if np.any(rays @ g < weight + _MARGIN):  # proves nothing
        return math.inf
    top = sum((points @ g[place]).max() for points, place in zip(sets, own, strict=True))
    return largest * float(top - g @ start)
