"""An outer set by groups of contacts that hardly feel each other, where the set itself takes too long.

The two feet of a biped push each other's contacts a little only. Let p be impulses in coordinates of which
each group's forces change its own part alone. The velocity of a contact is a form in p, and but for what the
other groups' impulses add to it, one in its own group's part. Let that addition be anything between the
bounds that are known of it: then a contact may push, and slip in a direction, wherever some such addition
lets it, and each group is an automaton of few dimensions by itself, explored as any other. What it reaches
bounds what it adds to the others, so all shrink in turn, from what energy allows on.

Then once more with one impulse of the others as a coordinate beside the group's own: the one that changes its
velocities most, of those that only grow. What it has added stays, where a bound would let it come and go.

The product of the sets in p is cut by what holds of all groups together: nothing penetrates in the end; and
of two contacts of different groups one is the last to push, which stops there, and then only others push.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from itertools import product as pairs_of
from typing import TYPE_CHECKING

import numpy as np

from routh.exact.automaton import Automaton, Mode, Row
from routh.exact.polyhedra import Piece, hull
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
    from ppl import C_Polyhedron, Linear_Expression

_FELT = 0.25  # of the contacts' own response: what feels less of each other belongs to different groups
_BITS = 32  # of the numbers of a shortened problem
_ROUNDS = 8  # times that each group follows from the others
_SETTLED = 0.98  # share of its width: a round that leaves more of all sets is the last
_MARGIN = 1e-4  # share of the range of an addition, by which it is widened to a short number
_ENERGY = 1.01  # times what energy allows: relaxed contacts may gain a little


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
class _Reached:
    """What the impulses of one group can be, and one of another group with them: convex hulls."""

    columns: tuple[int, ...]  # the coordinates of p
    ends: C_Polyhedron
    passed: C_Polyhedron  # on the way there

    @property
    def points(self) -> Array:
        """Corners of ``passed``, (k, n)."""
        return Piece(self.passed, np.eye(len(self.columns))).points


class _Impulses:
    """Coordinates p of impulses, of which each group has its own: ``x = x0 + G p``.

    x are the velocities of all groups' contacts, as many as are independent, and G is their response.
    """

    def __init__(self, auto: Automaton, groups: Sequence[Sequence[int]]) -> None:
        self.auto, self.groups, self.tools = auto, groups, Reach(auto)
        self.own: list[slice] = []
        forms: list[Vector] = []
        for group in groups:
            rows = [_exact(row) for i in group for row in _forms(auto, i)]
            independent = [rows[k] for k in independent_rows(rows)]
            self.own.append(slice(len(forms), len(forms) + len(independent)))
            forms += independent
        self.forms: Matrix = tuple(forms)
        self.response = product(product(forms, auto.metric), transpose(forms))

    def form(self, row: Row) -> Vector:
        """A form in z as one in (p, 1)."""
        weights = [x for (x,) in solve(transpose(self.forms), [(x,) for x in _exact(row)])]
        return (*times(self.response, weights), dot(_exact(row), self.auto.start))

    def force(self, ray: Row) -> Vector:
        """A direction of z' as one of p'."""
        return tuple(x for (x,) in solve(self.response, [(x,) for x in times(self.forms, _exact(ray))]))

    def expression(self, row: Row, constant: Fraction = Fraction(0)) -> Linear_Expression:
        """A positive multiple of ``row . z + constant`` in p."""
        *form, before = self.form(row)
        *whole, last = integers((*form, before + constant))
        return self.tools.ppl.Linear_Expression(whole, last)

    def energy_box(self, k: int) -> Array:
        """Corners (2^n, n) of what energy allows for the impulses of group k."""
        back = solve(self.response, self.forms)[self.own[k]]
        rows, before = floats(back), floats([times(back, self.auto.start)])[0]
        width = _ENERGY * np.sqrt(np.einsum("ij,jk,ik->i", rows, self.auto.gram, rows))
        return (
            np.array(np.meshgrid(*np.transpose([-width - before, width - before]))).reshape(len(rows), -1).T
        )

    def added(self, k: int, form: Vector, points: Sequence[Array]) -> tuple[Fraction, Fraction]:
        """Between what the other groups can bring a form in (p, 1): the form of group k alone, and 1."""
        low = high = float(form[-1])
        for j, (own, corners) in enumerate(zip(self.own, points, strict=True)):
            if j != k:
                values = corners @ floats([form[own]])[0]
                low, high = low + values.min(), high + values.max()
        margin = _MARGIN * (high - low) + 1e-9 * max(abs(low), abs(high), 1e-300)
        return simplest(low - margin, 0.5 * margin), simplest(high + margin, 0.5 * margin)

    def followed(self, k: int, points: Sequence[Array]) -> tuple[int, Fraction] | None:
        """The coordinate of the others' impulses that changes group k most, and the largest that it can be.

        Of those that only grow; None where there is none.
        """
        forces = [self.force(ray) for modes in self.auto.modes for mode in modes for ray in mode.forces]
        forms = [
            floats([self.form(row)])[0] / float(self.auto.units[i])
            for i in self.groups[k]
            for row in _forms(self.auto, i)
        ]
        best, found = 0.0, None
        for other, (own, corners) in enumerate(zip(self.own, points, strict=True)):
            for j, most in zip(range(own.start, own.stop), corners.max(axis=0), strict=True):
                worth = float(most) * max(abs(form[j]) for form in forms)
                if other != k and worth > best and all(force[j] >= 0 for force in forces):
                    best, found = worth, (j, simplest(most * (1.0 + 2.0 * _MARGIN), most * _MARGIN))
        return found

    def reached(
        self,
        k: int,
        points: Sequence[Array],
        eta: Fraction,
        room: Fraction,
        budget: Budget,
        *,
        follow: bool = False,
    ) -> _Reached | None:
        """What group k reaches where the others' impulses are within the hulls of ``points``.

        ``follow``: beside one of those impulses, see `followed`.
        """
        auto, own = self.auto, self.own[k]
        other = self.followed(k, points) if follow else None
        columns = (*range(own.start, own.stop), *(() if other is None else other[:1]))
        n, dim = own.stop - own.start, len(columns)

        def bounds(row: Row) -> tuple[Vector, Vector]:  # forms in these coordinates and 1
            form = self.form(row)
            rest = tuple(x * (j not in columns) for j, x in enumerate(form))
            seen = tuple(form[j] for j in columns)
            low, high = self.added(k, rest, points)
            return (*seen, low), (*seen, high)

        normals, units, apart, modes = [], [], [], []
        no_force = (Fraction(0),) * (dim - n + 1)
        for i in self.groups[k]:
            least, most = bounds(auto.normals[i])
            normals.append(integers(least))
            stretch = next(Fraction(a) / b for a, b in zip(normals[-1], least, strict=True) if b)
            units.append(auto.units[i] * stretch)
            apart.append((*most[:-1], most[-1] + room * auto.units[i]))
            relaxed = []
            for mode in auto.modes[i]:
                sliding = len(mode.inside) == 1 and not mode.zero  # in the plane: sticking has the rest
                walls = [bounds(row)[0 if sliding else 1] for row in (*mode.inside, *mode.zero)]
                walls += [tuple(-x for x in bounds(row)[0]) for row in mode.zero]
                forces = tuple(integers((*self.force(ray)[own], *no_force)) for ray in mode.forces)
                relaxed.append(Mode(mode.pushing, forces=forces, walls=tuple(map(integers, walls))))
            modes.append(tuple(relaxed))
        if other is not None:  # as a contact, which pushes as long as that impulse is not the largest
            row = (*[Fraction(0)] * n, Fraction(1))
            normals.append(integers((*row, -other[1])))
            units.append(other[1] * normals[-1][n])
            modes.append((Mode(pushing=False), Mode(pushing=True, forces=(integers((*row, Fraction(0))),))))
        gram = np.eye(dim + 1)
        gram[:n, :n] = np.linalg.inv(floats([row[own] for row in self.response[own]])) * float(auto.energy)
        start = (*[Fraction(0)] * dim, Fraction(1))
        reach = Reach(
            replace(
                auto,
                dim=dim + 1,
                start=start,
                normals=tuple(normals),
                modes=tuple(modes),
                units=tuple(units),
                gram=gram,
            ),
            eta=eta,
        )
        if not reach.run(budget):
            return None
        passed, ends = (reach.ppl.C_Polyhedron(dim, "empty") for _ in range(2))
        pieces = [piece.poly for cell in reach.cells.values() for piece in cell.pieces]
        for poly in (reach.point(start), *pieces):
            for whole, kept in ((passed, ()), (ends, apart)):
                part = reach.ppl.C_Polyhedron(poly)
                for form in kept:
                    part.add_constraint(reach.form(integers(form)) >= 0)
                part.remove_higher_space_dimensions(dim)
                whole.poly_hull_assign(part)
        if not passed.is_bounded() or ends.is_empty():
            return None
        return _Reached(columns, ends, passed)

    def joined(self, parts: Sequence[tuple[Sequence[int], C_Polyhedron]]) -> C_Polyhedron:
        """What sets of some coordinates each leave of p."""
        ppl = self.tools.ppl
        whole = ppl.C_Polyhedron(self.auto.dim)
        for columns, part in parts:
            for c in part.minimized_constraints():
                row = [0] * self.auto.dim
                for j, x in zip(columns, c.coefficients(), strict=True):
                    row[j] = int(x)
                form = ppl.Linear_Expression(row, c.inhomogeneous_term())
                whole.add_constraint(form == 0 if c.is_equality() else form >= 0)
        return whole

    def cut_after_the_last_of(
        self, pair: Sequence[int], bound: C_Polyhedron, passed: C_Polyhedron, eta: Fraction
    ) -> None:
        """Cut the bound at the contacts' largest velocities once neither of the pair pushes any more."""
        auto, ppl = self.auto, self.tools.ppl
        if all(dot(_exact(auto.normals[i]), auto.start) > 0 for i in pair):
            return  # they may never push
        rays = ppl.Generator_System()
        for i, modes in enumerate(auto.modes):
            for ray in dict.fromkeys(ray for mode in modes for ray in mode.forces) if i not in pair else ():
                rays.insert(ppl.ray(ppl.Linear_Expression(integers(self.force(ray)), 0)))
        cases = []
        for last in pair:
            part = ppl.C_Polyhedron(passed)
            part.add_constraint(self.expression(auto.normals[last], -eta * auto.units[last]) <= 0)
            if not part.is_empty():
                part.add_generators(rays)
                part.intersection_assign(bound)
                cases.append(part)
        looked_at = dict.fromkeys(row for i in range(len(auto.modes)) for row in _forms(auto, i))
        for row in looked_at:
            form = self.expression(row)
            for side in (form, -form):
                tops = [case.maximize(side) for case in cases if not case.is_empty()]
                if tops:
                    top = max(Fraction(int(top["sup_n"]), int(top["sup_d"])) for top in tops)
                    bound.add_constraint(side * top.denominator <= top.numerator)

    def velocities(self, part: C_Polyhedron) -> C_Polyhedron:
        """A polytope in p as one in z."""
        back, number = solve(self.forms, self.response), type(self.auto.start[0])
        corners = []
        for corner in part.minimized_generators():
            moved = times(back, [number(x) / number(corner.divisor()) for x in corner.coefficients()])
            corners.append(tuple(a + b for a, b in zip(self.auto.start, moved, strict=True)))
        return hull(self.tools.ppl, corners)


def grouped_bound(
    auto: Automaton, groups: Sequence[Sequence[int]], eta: Fraction, room: Fraction, budget: Budget
) -> C_Polyhedron | None:
    """A polytope in z that holds every outcome of the automaton; None where none is found in time.

    ``room`` is what normal velocities may be off by in the end, as a share of the contacts' units.
    """
    frame = _Impulses(auto, groups)
    if len(frame.forms) != auto.dim:
        return None  # the groups' velocities depend on each other
    points = [frame.energy_box(k) for k in range(len(groups))]
    found: list[_Reached] = []
    for _ in range(_ROUNDS):
        parts = [frame.reached(k, points, eta, room, budget) for k in range(len(groups))]
        whole = [part for part in parts if part is not None]
        if len(whole) < len(groups):
            break
        found, before, points = whole, points, [part.points for part in whole]
        if all(
            (np.ptp(a, axis=0) > _SETTLED * np.ptp(b, axis=0)).all()
            for a, b in zip(points, before, strict=True)
        ):
            break
    if not found:
        return None
    finer = [frame.reached(k, points, eta, room, budget.half, follow=True) for k in range(len(groups))]
    known = [*found, *(part for part in finer if part is not None)]
    bound = frame.joined([(part.columns, part.ends) for part in known])
    for row, unit in zip(auto.normals, auto.units, strict=True):
        bound.add_constraint(frame.expression(row, room * unit) >= 0)
    passed = frame.joined([(part.columns, part.passed) for part in found])
    for first, second in combinations(groups, 2):
        for pair in pairs_of(first, second):
            if not budget.spent(0):
                frame.cut_after_the_last_of(pair, bound, passed, eta)
    return None if bound.is_empty() else frame.velocities(bound)


def _forms(auto: Automaton, contact: int) -> list[Row]:
    """The forms in z that a contact's modes look at."""
    return [auto.normals[contact], *(r for mode in auto.modes[contact] for r in (*mode.inside, *mode.zero))]


def _exact(row: Row) -> Vector:
    return tuple(map(Fraction, row))
