"""Which side of its facets a velocity is on: floating point where that tells, fractions where it does not.

A facet is ``form . v + constant >= 0`` with rational numbers, and its distance from v is that over the dual
norm of the form. Numbers are rounded only after the form has its length, so that a facet between nearly equal
rows of J is as good as any other. What rounding can do to a distance is bounded, and where the bound does not
tell a distance from a limit, their squares are compared in fractions: nothing stays undecided.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from routh.base.validation import Array
from routh.exact.automaton import Automaton
from routh.exact.rational import Vector, difference, dot, factors, floats, product, times, transpose

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ppl import C_Polyhedron

_ROUNDING = 4.0 * np.finfo(float).eps  # of one operation, with room for those that the bounds leave out
_CHUNK = 2**18  # slacks computed at a time


@dataclass(frozen=True)
class Facet:
    """``form . v + constant >= 0``, exactly."""

    form: Vector  # (nv,)
    constant: Fraction
    square: Fraction  # the form's dual norm times the speed before, squared

    def beyond(self, v: Vector, limit: Fraction) -> bool:
        """Whether v is farther than ``limit`` (a share of the speed before) on the wrong side."""
        slack = dot(self.form, v) + self.constant
        return slack < 0 and slack * slack > limit * limit * self.square

    def other_side(self) -> Facet:
        """The opposite inequality: both together are an equation."""
        return Facet(tuple(-x for x in self.form), -self.constant, self.square)


def exact_facets(poly: C_Polyhedron, automaton: Automaton) -> tuple[tuple[Facet, ...], np.ndarray]:
    """The facets of a polyhedron in z as facets in v, and which of them are equations, (m,) bool."""
    number, columns = type(automaton.start[0]), transpose(automaton.rows)
    constraints = list(poly.minimized_constraints())
    found = []
    for c in constraints:
        a = tuple(number(x) for x in c.coefficients())
        square = dot(a, times(automaton.metric, a)) * automaton.energy
        found.append(Facet(times(columns, a), number(c.inhomogeneous_term()), square))
    return tuple(found), np.array([c.is_equality() for c in constraints], dtype=bool)


def rounded(facets: Sequence[Facet], nv: int) -> tuple[Array, Array]:
    """Forms of unit dual norm (m, nv) over the speed before, and constants (m,), rounded once."""
    table = []
    for facet in facets:
        size = _root(facet.square)
        table.append([float(x / size) for x in (*facet.form, facet.constant)])
    values = np.array(table).reshape(-1, nv + 1)
    return values[:, :-1], values[:, -1]


def _root(square: Fraction) -> Fraction:
    """The root of a positive number to the precision of floats, whatever its size."""
    shift = (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    unit = Fraction(2) ** shift
    return square * 0 + Fraction(math.sqrt(square / unit / unit)) * unit


@dataclass(frozen=True, eq=False)
class Facets:
    """The facets of several polytopes in one plane of velocity space, each equation as two."""

    automaton: Automaton
    pieces: tuple[tuple[Facet, ...], ...]  # at least one

    @cached_property
    def _table(self) -> tuple[Array, Array, np.ndarray]:
        """All forms (m, nv), constants (m,), and where the pieces begin among them."""
        forms, constants = rounded(
            [facet for piece in self.pieces for facet in piece], len(self.automaton.base)
        )
        return forms, constants, np.cumsum([0, *(len(piece) for piece in self.pieces)])[:-1]

    @cached_property
    def _plane(self) -> tuple[Array, Array]:
        """The length of ``matrix v - offset`` is how far v is off the plane, a share of the speed before.

        With ``M = L D L^T`` that is ``sqrt(D) L^T (v - base - back rows v)``, rounded once.
        """
        auto, nv = self.automaton, len(self.automaton.base)
        onto = product(auto.back, auto.rows)
        off = [[int(i == j) - onto[i][j] for j in range(nv)] for i in range(nv)]
        lower, squares = factors(auto.mass)
        sizes = [_root(square / auto.energy) for square in squares]
        parts = product(transpose(lower), [(*row, x) for row, x in zip(off, auto.base, strict=True)])
        table = floats([[x * size for x in row] for row, size in zip(parts, sizes, strict=True)])
        return table[:, :-1], table[:, -1]

    @cached_property
    def _sizes(self) -> Array:
        """``|v| . sizes[:-1] + sizes[-1]`` bounds the terms that rounding is a share of, (nv + 1,)."""
        forms, constants, _ = self._table
        sizes = np.abs(np.column_stack([forms, constants])).max(axis=0, initial=0.0)
        if self.automaton.dim < len(self.automaton.base):
            sizes = np.maximum(sizes, np.linalg.norm(np.column_stack(self._plane), axis=0))
        return np.asarray(sizes)

    def _distances(self, v: Array) -> tuple[Array, Array]:
        """Distances of velocities (n, nv) beyond a facet of each piece, (n, pieces), and rounding, (n,)."""
        forms, constants, begin = self._table
        far = np.maximum.reduceat(-(v @ forms.T + constants), begin, axis=1)
        if self.automaton.dim < v.shape[1]:
            matrix, offset = self._plane
            far = np.maximum(far, np.linalg.norm(v @ matrix.T - offset, axis=1)[:, None])
        return far, (v.shape[1] + 4) * _ROUNDING * (np.abs(v) @ self._sizes[:-1] + self._sizes[-1])

    def _parts(self, v: Array) -> Iterator[tuple[slice, Array]]:
        """Some velocities at a time, to save memory."""
        step = max(_CHUNK // len(self._table[0]), 1)
        for first in range(0, len(v), step):
            part = slice(first, first + step)
            yield part, v[part]

    @np.errstate(over="ignore", invalid="ignore")
    def violation(self, v: Array) -> Array:
        """How far each of (n, nv) is beyond facets of all pieces for certain, (n,); infinite for NaN."""
        result = np.empty(len(v))
        for part, some in self._parts(v):
            far, room = self._distances(some)
            least = np.where(np.isfinite(some).all(axis=1), far.min(axis=1) - room, np.nan)
            result[part] = np.where(np.isnan(least), np.inf, np.maximum(least, 0.0))
        return result

    @np.errstate(over="ignore", invalid="ignore")
    def inside(self, v: Array, limit: Fraction) -> np.ndarray:
        """Whether each of (n, nv) is beyond no facet of a piece by more than ``limit``, (n,); NaN is not."""
        result = np.empty(len(v), dtype=bool)
        border = float(limit)
        for part, some in self._parts(v):
            far, room = self._distances(some)
            room += _ROUNDING * border
            least = far.min(axis=1)
            inside = least + room <= border
            unclear = ~(inside | (least - room > border)) & np.isfinite(some).all(axis=1)  # overflow is, too
            for k in np.flatnonzero(unclear):
                inside[k] = self._inside(some[k], np.flatnonzero(~(far[k] - room[k] > border)), limit)
            result[part] = inside
        return result

    def _inside(self, v: Array, near: np.ndarray, limit: Fraction) -> bool:
        """The same of one velocity and some pieces, in fractions."""
        auto = self.automaton
        number = type(auto.start[0])
        exact = tuple(number(*float(x).as_integer_ratio()) for x in v)
        bound = number(limit.numerator, limit.denominator)
        off = difference(difference(exact, auto.base), times(auto.back, times(auto.rows, exact)))
        if dot(off, times(auto.mass, off)) > bound * bound * auto.energy:
            return False
        return any(not any(facet.beyond(exact, bound) for facet in self.pieces[p]) for p in near)
