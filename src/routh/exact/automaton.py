"""The impact inclusion HP23 (39) as a linear hybrid automaton in integer coordinates.

With ``y_i = Jn_i v`` and ``t_i = Jt_i v`` the right-hand side of (39) is the same polytope throughout each
cell of the arrangement of the hyperplanes ``y_i = 0`` and the walls of the friction fans of ``t_i``. Only the
image of v under the independent rows of J moves by itself: ``z = B v``; v follows from z, because v changes
only within the range of ``M^-1 J^T``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from routh.exact.algebra import (
    Matrix,
    Vector,
    difference,
    dot,
    independent_rows,
    integers,
    product,
    simplest,
    solve,
    times,
    transpose,
)
from routh.exact.rational import RationalProblem, friction_directions
from routh.status import optional
from routh.validation import Array

Row = tuple[int, ...]


@dataclass(frozen=True)
class Mode:
    """One status of a contact: where its velocity lies and which forces act.

    ``inside`` and ``zero`` are linear forms in z that are >= 0 and = 0 throughout the cell; where ``zero``
    is not empty its derivative stays zero too. ``forces`` are the directions of z' that span the contact's
    force cone.
    """

    pushing: bool
    inside: tuple[Row, ...] = ()
    zero: tuple[Row, ...] = ()
    forces: tuple[Row, ...] = ()


@dataclass(frozen=True)
class Automaton:
    """Everything the reachability needs, in z coordinates. Numbers are ``gmpy2.mpq``."""

    dim: int  # dimension of z, the rank of J
    start: Vector  # z before the impact
    normals: tuple[Row, ...]  # y_i as integer forms in z, positive multiples of Jn_i v
    modes: tuple[tuple[Mode, ...], ...]  # per contact: first separated, then pushing
    units: tuple[Fraction, ...]  # per contact: its velocity unit in the scale of its integer form
    stretches: tuple[Fraction, ...]  # per contact: its integer form over Jn_i v
    back: Matrix  # (nv, dim): v = base + back z
    base: Vector  # (nv,)
    rows: Matrix  # (dim, nv): z = rows v
    gram: Array  # (dim, dim): B M^-1 B^T times the squared speed before, the dual norm of forms in z


def automaton(problem: RationalProblem, *, facets: int = 8) -> Automaton:
    """Translate a rational impact problem."""
    J, M, (v, mu) = _fast(problem.rows), _fast(problem.M), _fast([problem.v, problem.mu])
    chosen = independent_rows(J)
    B = tuple(J[i] for i in chosen)
    response = solve(M, transpose(J))  # M^-1 J^T, (nv, rows)
    delassus = product(J, response)
    image = transpose([delassus[i] for i in chosen])  # per row of J: z' for a unit impulse along it
    span = tuple(tuple(row[i] for i in chosen) for row in response)  # M^-1 B^T
    gram = tuple(tuple(delassus[i][j] for j in chosen) for i in chosen)  # B M^-1 B^T
    back = transpose(solve(gram, transpose(span)))
    start = times(B, v)
    base = tuple(x - dot(row, start) for x, row in zip(v, back, strict=True))
    forms = product(J, back)  # every row of J as a linear form in z, since J_i base = 0
    width = 1 + problem.nt
    directions = _fast(friction_directions(problem.nt, facets))
    speed = float(dot(v, times(M, v))) ** 0.5 or 1.0
    modes, normals, units, stretches = [], [], [], []
    for i in range(problem.nc):
        first = i * width
        normal = integers(forms[first])
        stretch = next(a / b for a, b in zip(normal, forms[first], strict=True) if b)
        unit = speed * float(delassus[first][first]) ** 0.5 * float(stretch)
        normals.append(normal)
        stretches.append(Fraction(int(stretch.numerator), int(stretch.denominator)))
        units.append(simplest(unit, 1e-5 * unit))
        block = slice(first, first + width)
        modes.append(_modes(mu[i], forms[block], image[block], directions))
    return Automaton(
        len(B),
        start,
        tuple(normals),
        tuple(modes),
        tuple(units),
        tuple(stretches),
        back,
        base,
        B,
        np.array([[float(x) for x in row] for row in gram]) * speed**2,
    )


def _fast(rows: Sequence[Sequence[Fraction]]) -> Matrix:
    """The same numbers in the arithmetic of GMP, which is what PPL computes with."""
    mpq = optional("gmpy2", "exact").mpq
    return tuple(tuple(mpq(x.numerator, x.denominator) for x in row) for row in rows)


def _modes(
    mu: Fraction, forms: Sequence[Vector], image: Sequence[Vector], directions: Sequence[Vector]
) -> tuple[Mode, ...]:
    """Separated, then one pushing status for each cell of the friction fan."""
    normal, tangents = image[0], transpose(image[1:])
    slips = transpose(forms[1:])

    def force(direction: Sequence[Fraction]) -> Row:
        return integers(n - mu * dot(direction, t) for n, t in zip(normal, tangents, strict=True))

    def form(direction: Sequence[Fraction]) -> Row:
        return integers(dot(direction, column) for column in slips)

    separated = Mode(pushing=False)
    slipping = tuple(integers(row) for row in forms[1:] if any(row))
    if mu == 0 or not slipping:
        return (separated, Mode(pushing=True, forces=(integers(normal),)))
    every = tuple(force(d) for d in directions)
    sticking = Mode(True, (), slipping, every)
    if len(forms) == 2:
        sliding = tuple(Mode(True, (form(d),), (), (f,)) for d, f in zip(directions, every, strict=True))
        return (separated, sticking, *sliding)
    cells = [separated, sticking]
    for k, d in enumerate(directions):
        before, after = directions[k - 1], directions[(k + 1) % len(directions)]
        # the sector in which friction along d does the most work
        walls = (form(difference(d, before)), form(difference(d, after)))
        cells.append(Mode(True, walls, (), (every[k],)))
        # the ray on which d and its neighbour do equal work
        ray = form([x + y for x, y in zip(d, after, strict=True)])
        cells.append(Mode(True, (ray,), (walls[1],), (every[k], every[(k + 1) % len(every)])))
    return tuple(cells)
