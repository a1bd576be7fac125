"""An outer set by groups of contacts that hardly feel each other, where the set itself takes too long.

The two feet of a biped push each other's contacts a little only. Let p be impulses in coordinates of which
each group's forces change its own part alone. The velocity of a contact is a form in p, and but for what the
other groups' impulses add to it, one in its own group's part. Let that addition be anything between the
bounds that are known of it: then a contact may push, and slip in a direction, wherever some such addition
lets it, and each group is an automaton of few dimensions by itself, explored as any other. What it reaches
bounds what it adds to the others, so all shrink in turn, from what energy allows on.

Then once more with one impulse of the others as a coordinate beside the group's own: the one that changes its
velocities most, of those that only grow. What it has added stays, where a bound would let it come and go.

Two groups that follow each other in this way know the same two impulses. Every solution passes a moment at
which the first has a certain value, and the second is in some part of its range then: in each such case both
groups are explored from there on. Either foot may be lifted by what the other one pushes late, but not both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise, permutations
from typing import TYPE_CHECKING

import numpy as np

from routh.base.validation import Array
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
from routh.problem.impact import ImpactProblem

if TYPE_CHECKING:
    from ppl import C_Polyhedron, Linear_Expression

_FELT = 0.25  # of the contacts' own response: what feels less of each other belongs to different groups
_BITS = 32  # of the numbers of a shortened problem
_ROUNDS = 8  # times that each group follows from the others
_SETTLED = 0.98  # share of its width: a round that leaves more of all sets is the last
_MARGIN = 1e-4  # share of the range of an addition, by which it is widened to a short number
_PASSED = 0.9  # share of the least that the first of two impulses comes to: its value at the moment of cases
_PARTS = [Fraction(k, 4) for k in (0, 2, 3, 4)]  # of the second one's range; what is high matters more
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
    pieces: Sequence[C_Polyhedron]  # on the way there, as they are: with a last coordinate that is 1

    @property
    def points(self) -> Array:
        """Corners of the pieces, (k, n)."""
        return np.vstack([Piece(piece, np.eye(0)).points[:, :-1] for piece in self.pieces])


class _Impulses:
    """Coordinates p of impulses, of which each group has its own: ``x = x0 + G p``.

    x are the velocities of all groups' contacts, as many as are independent, and G is their response.
    """

    def __init__(
        self, auto: Automaton, groups: Sequence[Sequence[int]], eta: Fraction, room: Fraction
    ) -> None:
        self.auto, self.groups, self.tools = auto, groups, Reach(auto)
        self.eta, self.room = eta, room
        self.own: list[slice] = []
        forms: list[Vector] = []
        for group in groups:
            rows = [_exact(row) for i in group for row in _forms(auto, i)]
            independent = [rows[k] for k in independent_rows(rows)]
            self.own.append(slice(len(forms), len(forms) + len(independent)))
            forms += independent
        self.forms: Matrix = tuple(forms)
        self.owner = [k for k, own in enumerate(self.own) for _ in range(own.start, own.stop)]
        self.response = product(product(forms, auto.metric), transpose(forms))
        self.effect = solve(self.forms, self.response)  # z = start + effect p
        self.cause = solve(self.response, self.forms)  # its inverse

    def form(self, row: Row) -> Vector:
        """A form in z as one in (p, 1)."""
        return (*times(transpose(self.effect), _exact(row)), dot(_exact(row), self.auto.start))

    def force(self, ray: Row) -> Vector:
        """A direction of z' as one of p'."""
        return times(self.cause, _exact(ray))

    def expression(self, row: Row, constant: Fraction = Fraction(0)) -> Linear_Expression:
        """A positive multiple of ``row . z + constant`` in p."""
        *form, before = self.form(row)
        *whole, last = integers((*form, before + constant))
        return self.tools.ppl.Linear_Expression(whole, last)

    def energy_box(self, k: int) -> Array:
        """Corners (2^n, n) of what energy allows for the impulses of group k."""
        back = self.cause[self.own[k]]
        rows, before = floats(back), floats([times(back, self.auto.start)])[0]
        width = _ENERGY * np.sqrt(np.einsum("ij,jk,ik->i", rows, self.auto.gram, rows))
        return (
            np.array(np.meshgrid(*np.transpose([-width - before, width - before]))).reshape(len(rows), -1).T
        )

    def added(self, k: int, form: Vector, points: Sequence[Array]) -> tuple[Fraction, Fraction]:
        """Least and most that other groups add to a form in (p, 1): the form of group k alone, and 1."""
        low = high = float(form[-1])
        for j, (own, corners) in enumerate(zip(self.own, points, strict=True)):
            if j != k:
                values = corners @ floats([form[own]])[0]
                low, high = low + values.min(), high + values.max()
        margin = _MARGIN * (high - low) + 1e-9 * max(abs(low), abs(high), 1e-300)
        return simplest(low - margin, 0.5 * margin), simplest(high + margin, 0.5 * margin)

    def followed(self, k: int, points: Sequence[Array]) -> int | None:
        """The coordinate of the others' impulses that changes group k most, of those that only grow."""
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
                    best, found = worth, j
        return found

    def reached(
        self,
        k: int,
        points: Sequence[Array],
        budget: Budget,
        *,
        follow: int | None = None,
        start: Sequence[Vector] = (),
    ) -> _Reached | None:
        """What group k reaches where the others' impulses are within the hulls of ``points``.

        ``follow``: beside this coordinate of them, see `followed`. ``start``: from the hull of these states.
        """
        auto, own = self.auto, self.own[k]
        columns = (*range(own.start, own.stop), *(() if follow is None else (follow,)))
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
            apart.append((*most[:-1], most[-1] + self.room * auto.units[i]))
            relaxed = []
            for mode in auto.modes[i]:
                sliding = len(mode.inside) == 1 and not mode.zero  # in the plane: sticking has the rest
                walls = [bounds(row)[0 if sliding else 1] for row in (*mode.inside, *mode.zero)]
                walls += [tuple(-x for x in bounds(row)[0]) for row in mode.zero]
                forces = tuple(integers((*self.force(ray)[own], *no_force)) for ray in mode.forces)
                relaxed.append(Mode(mode.pushing, forces=forces, walls=tuple(map(integers, walls))))
            modes.append(tuple(relaxed))
        if follow is not None:  # as a contact, which pushes as long as that impulse is not the largest
            row = (*[Fraction(0)] * n, Fraction(1))
            largest = self.largest(follow, points)
            normals.append(integers((*row, -largest)))
            units.append(largest * normals[-1][n])
            modes.append((Mode(pushing=False), Mode(pushing=True, forces=(integers((*row, Fraction(0))),))))
        gram = np.eye(dim + 1)
        gram[:n, :n] = np.linalg.inv(floats([row[own] for row in self.response[own]])) * float(auto.energy)
        nothing = (*[Fraction(0)] * dim, Fraction(1))
        reach = Reach(
            replace(
                auto,
                dim=dim + 1,
                start=nothing,
                normals=tuple(normals),
                modes=tuple(modes),
                units=tuple(units),
                gram=gram,
            ),
            eta=self.eta,
            start=start or [nothing],
        )
        if not reach.run(budget):
            return None
        pieces = [hull(reach.ppl, start or [nothing])]
        pieces += [piece.poly for cell in reach.cells.values() for piece in cell.pieces]
        ends = reach.ppl.C_Polyhedron(dim, "empty")
        for piece in pieces:
            part = reach.ppl.C_Polyhedron(piece)
            for form in apart:
                part.add_constraint(reach.form(integers(form)) >= 0)
            part.remove_higher_space_dimensions(dim)
            ends.poly_hull_assign(part)
        return _Reached(columns, ends, pieces) if all(piece.is_bounded() for piece in pieces) else None

    def largest(self, j: int, points: Sequence[Array]) -> Fraction:
        """A little more than the largest value of a coordinate of p."""
        k = self.owner[j]
        most = points[k][:, j - self.own[k].start].max()
        return simplest(most * (1.0 + 2.0 * _MARGIN), most * _MARGIN)

    def states(self, reached: _Reached, limits: Mapping[int, tuple[Fraction, Fraction]]) -> list[Vector]:
        """Corners of the states on the way in which those coordinates of p that are known lie in limits."""
        ppl, corners = self.tools.ppl, []
        for piece in reached.pieces:
            part = ppl.C_Polyhedron(piece)
            for j, (low, high) in limits.items():
                if j in reached.columns:
                    x = ppl.Variable(reached.columns.index(j))
                    part.add_constraint(x * low.denominator >= low.numerator)
                    part.add_constraint(x * high.denominator <= high.numerator)
            corners += self.corners(part)
        return corners

    def corners(self, part: C_Polyhedron) -> list[Vector]:
        """Corners of a polytope, exact."""
        number = type(self.auto.start[0])
        return [
            tuple(number(x) / number(corner.divisor()) for x in corner.coefficients())
            for corner in part.minimized_generators()
        ]

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

    def cases(
        self,
        passed: Sequence[_Reached],
        follows: Sequence[int | None],
        points: Sequence[Array],
        budget: Budget,
    ) -> list[list[_Reached]]:
        """What two groups that follow each other's impulses reach, in cases of which every solution is one.

        The first impulse is the one that is known best in the end. A case is how far the second one has come
        at the moment at which the first has a value that it always passes. One case without anything
        where no two groups follow each other, or time runs out.
        """
        best, chosen = 0.0, None
        for first, second in permutations(range(len(passed)), 2):
            i, j = follows[second], follows[first]
            if i is not None and j is not None and (self.owner[i], self.owner[j]) == (first, second):
                at = passed[first].columns.index(i)
                least = min((float(corner[at]) for corner in self.corners(passed[first].ends)), default=0.0)
                share = least / float(self.largest(i, points))
                if share > best:
                    best, chosen = share, (first, second, i, j, simplest(_PASSED * least, 0.01 * least))
        if chosen is None:
            return [[]]
        first, second, i, j, moment = chosen
        found = []
        for parts in pairwise(self.largest(j, points) * part for part in _PARTS):
            starts = [self.states(reached, {i: (moment, moment), j: parts}) for reached in passed]
            known, now = [], list(points)
            for k in (second, first) if starts[first] and starts[second] else ():
                n = self.own[k].stop - self.own[k].start
                follow = follows[k] if len(passed[k].columns) > n else None
                after = self.reached(k, now, budget, follow=follow, start=starts[k])
                if after is None:
                    return [[]]
                known.append(after)
                now[k] = after.points[:, :n]
            found += [known] if known else []
        return found

    def velocities(self, part: C_Polyhedron) -> C_Polyhedron:
        """A polytope in p as one in z: its facets, which are far fewer than its corners."""
        ppl, back = self.tools.ppl, transpose(self.cause)
        whole = ppl.C_Polyhedron(self.auto.dim)
        for c in part.minimized_constraints():
            form_in_z = times(back, [Fraction(int(x)) for x in c.coefficients()])
            *row, last = integers((*form_in_z, int(c.inhomogeneous_term()) - dot(form_in_z, self.auto.start)))
            form = ppl.Linear_Expression(row, last)
            whole.add_constraint(form == 0 if c.is_equality() else form >= 0)
        return whole


def grouped_bound(
    auto: Automaton, groups: Sequence[Sequence[int]], eta: Fraction, room: Fraction, budget: Budget
) -> list[C_Polyhedron]:
    """Polytopes in z that hold every outcome of the automaton; none where no bound is found in time.

    ``room`` is what normal velocities may be off by in the end, as a share of the contacts' units.
    """
    frame = _Impulses(auto, groups, eta, room)
    if len(frame.forms) != auto.dim:
        return []  # the groups' velocities depend on each other
    points = [frame.energy_box(k) for k in range(len(groups))]
    found: list[_Reached] = []
    for _ in range(_ROUNDS):
        parts = [frame.reached(k, points, budget) for k in range(len(groups))]
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
        return []
    follows = [frame.followed(k, points) for k in range(len(groups))]
    finer = [
        None if j is None else frame.reached(k, points, budget.half, follow=j) for k, j in enumerate(follows)
    ]
    passed = [part or coarser for part, coarser in zip(finer, found, strict=True)]
    bounds = []
    for case in frame.cases(passed, follows, points, budget):
        bound = frame.joined([(part.columns, part.ends) for part in (*found, *passed, *case)])
        for row, unit in zip(auto.normals, auto.units, strict=True):
            bound.add_constraint(frame.expression(row, room * unit) >= 0)
        if not bound.is_empty():
            bounds.append(frame.velocities(bound))
    return bounds


def _forms(auto: Automaton, contact: int) -> list[Row]:
    """The forms in z that a contact's modes look at."""
    return [auto.normals[contact], *(r for mode in auto.modes[contact] for r in (*mode.inside, *mode.zero))]


def _exact(row: Row) -> Vector:
    return tuple(map(Fraction, row))
