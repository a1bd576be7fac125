"""The impact inclusion HP23 (39) as a linear hybrid automaton in integer coordinates.

With ``y_i = Jn_i v`` and ``t_i = Jt_i v`` the right-hand side of (39) is the same polytope throughout each
cell of the arrangement of the hyperplanes ``y_i = 0`` and the walls of the friction fans of ``t_i``. Only the
image of v under the independent rows of J moves by itself: ``z = B v``; v follows from z, because v changes
only within the range of ``M^-1 J^T``. Where a row nearly depends on others (heel and toe of one foot, with
noise), B has what it adds to them in its place, scaled to its length: z stays a good coordinate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from routh.base.status import CapacityError, optional
from routh.base.validation import Array
from routh.exact.rational import (
    Matrix,
    RationalProblem,
    Vector,
    difference,
    dot,
    friction_directions,
    independent_rows,
    integers,
    product,
    simplest,
    solve,
    times,
    transpose,
)
from routh.problem.friction import DEFAULT_FACETS

Row = tuple[int, ...]

_LARGEST = 12  # dimensions; beyond, single polyhedral operations can outlast any budget
_USUAL = Fraction(10) ** -100, Fraction(10) ** 100  # energies, J
_NEAR = Fraction(1, 64)  # share of its length: a row this near to the span of others is not a coordinate


@dataclass(frozen=True)
class Mode:
    """One status of a contact: where its velocity lies and which forces act.

    ``inside`` and ``zero`` are linear forms in z that are >= 0 and = 0 throughout the cell; where ``zero``
    is not empty its derivative stays zero too. ``forces`` are the directions of z' that span the contact's
    force cone. ``walls`` are forms that are >= 0 in a cell that overlaps with others.
    """

    pushing: bool
    inside: tuple[Row, ...] = ()
    zero: tuple[Row, ...] = ()
    forces: tuple[Row, ...] = ()
    walls: tuple[Row, ...] = ()


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
    mass: Matrix  # (nv, nv), M
    metric: Matrix  # (dim, dim): B M^-1 B^T, the squared dual norm of forms in z
    energy: Fraction  # v^T M v before, the squared speed; 1 where that is 0
    gram: Array  # (dim, dim): metric times energy in floating point


def automaton(problem: RationalProblem, *, facets: int | None = None) -> Automaton:
    """Translate a rational impact problem; ``facets`` are those of friction polygons in space."""
    J, M, (v, mu) = _fast(problem.rows), _fast(problem.M), _fast([problem.v, problem.mu])
    chosen = independent_rows(J)
    if len(chosen) > _LARGEST:
        raise CapacityError(
            "problem",
            wrong=(
                f"its contacts span {len(chosen)} dimensions; exact sets go up to {_LARGEST}, "
                "and routh.outer_bound takes any problem"
            ),
        )
    response = solve(M, transpose(J))  # M^-1 J^T, (nv, rows)
    delassus = product(J, response)
    energy = dot(v, times(M, v)) or v[0] * 0 + 1
    mix = _coordinates(tuple(tuple(delassus[i][j] for j in chosen) for i in chosen))
    if not _USUAL[0] < energy < _USUAL[1]:  # squares of such velocities are no floating-point numbers
        mix = tuple(tuple(x / _root(energy) for x in row) for row in mix)
    B = product(mix, [J[i] for i in chosen])
    image = transpose(product(mix, [delassus[i] for i in chosen]))  # per row of J: z' for a unit impulse
    span = transpose(product(mix, [transpose(response)[i] for i in chosen]))  # M^-1 B^T
    metric = product(B, span)
    back = transpose(solve(metric, transpose(span)))
    start = times(B, v)
    base = tuple(x - dot(row, start) for x, row in zip(v, back, strict=True))
    forms = product(J, back)  # every row of J as a linear form in z, since J_i base = 0
    width = 1 + problem.nt
    directions = _fast(friction_directions(problem.nt, facets or DEFAULT_FACETS))
    unit_speed = _root(energy)
    speed = float(unit_speed) * float(energy / unit_speed / unit_speed) ** 0.5
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
        M,
        metric,
        energy,
        np.array([[float(x * energy) for x in row] for row in metric]),
    )


def _coordinates(gram: Matrix) -> Matrix:
    """How to mix independent rows of the Gram matrix (n, n) so that none nearly depends on those before.

    A row whose distance from the span of those before is below `_NEAR` of its length becomes what it adds to
    them, up to a tenth, times a power of two that gives it its length again. All others stay as they are.
    """
    zero, n = gram[0][0] * 0, len(gram)
    mix = tuple(tuple(zero + int(i == j) for j in range(n)) for i in range(n))
    if _clearly_apart(gram):
        return mix
    for i in range(1, n):
        now = product(product(mix, gram), transpose(mix))
        before = [row[:i] for row in now[:i]]
        weights = [w for (w,) in solve(before, [(x,) for x in now[i][:i]])]
        new = now[i][i] - dot(weights, now[i][:i])  # squared distance from the span
        if new >= _NEAR**2 * now[i][i]:
            continue
        steps = [_root(new / (100 * i * row[j])) for j, row in enumerate(before)]
        rounded = [round(w / step) * step for w, step in zip(weights, steps, strict=True)]
        known = times(transpose(mix[:i]), rounded)
        length = _root(now[i][i] / new)
        mix = (*mix[:i], tuple(length * x for x in difference(mix[i], known)), *mix[i + 1 :])
    return mix


def _clearly_apart(gram: Matrix) -> bool:
    """Whether floating point already tells that no row nearly depends on those before it."""
    lengths = [float(row[i]) ** 0.5 for i, row in enumerate(gram)]
    cosines = [
        [float(x) / (a * b) for x, b in zip(row, lengths, strict=True)]
        for row, a in zip(gram, lengths, strict=True)
    ]
    try:
        return bool(np.diag(np.linalg.cholesky(np.array(cosines))).min() > 2 * _NEAR)
    except np.linalg.LinAlgError:  # they depend, up to rounding
        return False


def _root(square: Fraction) -> Fraction:
    """A power of two within a factor of two of the root of a positive number."""
    exponent = (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    return square * 0 + (Fraction(2) ** exponent)


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
