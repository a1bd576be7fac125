"""An impact problem in exact rational numbers; `routh.exact.snap` leads to it from floating point.

First the small exact linear algebra that exact sets need: matrices are tuples of rows, rows are tuples of
`fractions.Fraction`. Then `RationalProblem`, and friction directions with rational coordinates.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from math import gcd, lcm

import numpy as np

from routh.base import tolerances
from routh.base.status import InputError
from routh.base.validation import Array, integer, real
from routh.problem.impact import ImpactProblem

Vector = tuple[Fraction, ...]
Matrix = tuple[Vector, ...]
Row = Sequence[object] | np.ndarray  # numbers of any kind that `Fraction` takes
Table = Sequence[Row] | np.ndarray


def dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    """Inner product, in the arithmetic of the first vector."""
    return sum((x * y for x, y in zip(a, b, strict=True) if x and y), a[0] * 0 if a else Fraction(0))


def difference(a: Sequence[Fraction], b: Sequence[Fraction]) -> Vector:
    """``a - b``."""
    return tuple(x - y for x, y in zip(a, b, strict=True))


def times(A: Sequence[Sequence[Fraction]], x: Sequence[Fraction]) -> Vector:
    """Product ``A x``."""
    return tuple(dot(row, x) for row in A)


def product(A: Sequence[Sequence[Fraction]], B: Sequence[Sequence[Fraction]]) -> Matrix:
    """Product ``A B``."""
    columns = tuple(zip(*B, strict=True))
    return tuple(tuple(dot(row, column) for column in columns) for row in A)


def transpose(A: Sequence[Sequence[Fraction]]) -> Matrix:
    """Transpose ``A^T``."""
    return tuple(zip(*A, strict=True))


def reduced(rows: Iterable[Iterable[Fraction]], columns: int) -> tuple[list[list[Fraction]], list[int]]:
    """Gauss-Jordan on the first columns: the rows, and the columns in which the first of them have pivots."""
    table = [list(row) for row in rows]
    pivots: list[int] = []
    for column in range(columns):
        top = len(pivots)
        pivot = next((i for i in range(top, len(table)) if table[i][column]), None)
        if pivot is None:
            continue
        table[top], table[pivot] = table[pivot], table[top]
        inverse = 1 / table[top][column]
        table[top] = [x * inverse if x else x for x in table[top]]
        for i, row in enumerate(table):
            if i != top and row[column]:
                factor = row[column]
                table[i] = [x - factor * y if y else x for x, y in zip(row, table[top], strict=True)]
        pivots.append(column)
    return table, pivots


def solve(A: Sequence[Sequence[Fraction]], B: Sequence[Sequence[Fraction]]) -> Matrix:
    """``A^-1 B`` for a square A; raises ``ValueError`` where A is singular."""
    n = len(A)
    rows, pivots = reduced(((*a, *b) for a, b in zip(A, B, strict=True)), n)
    if len(pivots) < n:
        raise InputError("A", wrong="is singular", wanted="an invertible matrix")
    return tuple(tuple(row[n:]) for row in rows)


def factors(A: Matrix) -> tuple[Matrix, Vector]:
    """``(L, D)`` with ``A = L diag(D) L^T``, L unit lower triangular, for a positive definite A."""
    zero, n = A[0][0] * 0, len(A)
    L, D = [[zero + int(i == j) for j in range(n)] for i in range(n)], [zero] * n
    for j in range(n):
        scaled = [x * d for x, d in zip(L[j][:j], D[:j], strict=True)]
        D[j] = A[j][j] - sum((x * y for x, y in zip(L[j][:j], scaled, strict=True)), zero)
        for i in range(j + 1, n):
            L[i][j] = (A[i][j] - sum((x * y for x, y in zip(L[i][:j], scaled, strict=True)), zero)) / D[j]
    return tuple(map(tuple, L)), tuple(D)


def independent_rows(A: Sequence[Sequence[Fraction]]) -> list[int]:
    """Indices of the first rows that span the row space."""
    return reduced(transpose(A), len(A))[1]


def integers(row: Iterable[Fraction]) -> tuple[int, ...]:
    """The primitive integer vector in the direction of a rational one; zero stays zero."""
    values = tuple(row)
    scale = lcm(*(x.denominator for x in values))
    whole = [int(x * scale) for x in values]
    divisor = gcd(*whole)
    return tuple(x // divisor for x in whole) if divisor else tuple(whole)


def simplest(value: float, tolerance: float) -> Fraction:
    """The rational with the smallest denominator within ``tolerance`` of ``value`` (Stern-Brocot)."""
    exact, width = Fraction(value), Fraction(tolerance)
    low, high = exact - width, exact + width
    if low <= 0 <= high:
        return Fraction(0)
    if high < 0:
        return -_simplest_between(-high, -low)
    return _simplest_between(low, high)


def floats(rows: Sequence[Sequence[Fraction]]) -> Array:
    """A rational matrix in floating point."""
    return np.array([[float(x) for x in row] for row in rows])


def _simplest_between(low: Fraction, high: Fraction) -> Fraction:
    whole = low.numerator // low.denominator
    if whole == low or whole + 1 <= high:
        return Fraction(whole if whole == low else whole + 1)
    rest = _simplest_between(1 / (high - whole), 1 / (low - whole))
    return whole + 1 / rest


@dataclass(frozen=True, eq=False, init=False)
class RationalProblem:
    """One impact in rational numbers; the fields mean what they mean in `ImpactProblem`.

    Entries may be given as ``Fraction``, ``int`` or strings such as ``"5/12"``; floats are taken literally
    (every float is a rational number). Restitution is not part of the set-valued model and has no field.
    """

    M: Matrix  # (nv, nv) kg, symmetric positive definite
    Jn: Matrix  # (nc, nv)
    Jt: tuple[Matrix, ...]  # (nc, nt, nv)
    mu: Vector  # (nc,)
    v: Vector  # (nv,)
    names: tuple[str, ...]

    def __init__(
        self, M: Table, Jn: Table, Jt: Sequence[Table], mu: Row, v: Row, names: Sequence[str] = ()
    ) -> None:
        self.__dict__.update(
            M=_matrix("M", M),
            Jn=_matrix("Jn", Jn),
            Jt=tuple(_matrix("Jt", rows) for rows in Jt),
            mu=_vector("mu", mu),
            v=_vector("v", v),
            names=tuple(names) or tuple(f"contact {i}" for i in range(len(Jn))),
        )
        _ = self.problem  # refuses wrong shapes and signs, and a mass that is not positive definite
        if transpose(self.M) != self.M:
            raise InputError("M", wrong="is not symmetric", wanted="a symmetric matrix, exactly")

    @property
    def nv(self) -> int:
        """Number of generalized velocities."""
        return len(self.M)

    @property
    def nc(self) -> int:
        """Number of contacts."""
        return len(self.Jn)

    @property
    def nt(self) -> int:
        """Tangential directions per contact: 1 in the plane, 2 in space."""
        return len(self.Jt[0])

    @cached_property
    def problem(self) -> ImpactProblem:
        """The same impact in floating point."""
        return ImpactProblem(
            [[float(x) for x in row] for row in self.M],
            [[float(x) for x in row] for row in self.Jn],
            [[[float(x) for x in row] for row in rows] for rows in self.Jt],
            [float(m) for m in self.mu],
            [float(x) for x in self.v],
            names=self.names,
        )

    @cached_property
    def rows(self) -> Matrix:
        """All rows of J, contact by contact with the normal first, (nc (1 + nt), nv)."""
        return tuple(
            row for normal, tangents in zip(self.Jn, self.Jt, strict=True) for row in (normal, *tangents)
        )

    @cached_property
    def response(self) -> Matrix:
        """``M^-1 J^T``: velocity change per unit impulse, (nv, nc (1 + nt))."""
        return solve(self.M, transpose(self.rows))


def unit_circle(angle: float, *, tolerance: float = tolerances.SNAP) -> tuple[Fraction, Fraction]:
    """``(cos, sin)`` of an angle near ``angle`` (rad) as a rational point exactly on the unit circle.

    The angle is first turned into (-pi/4, pi/4] by quarter turns, which are exact, so that mirror images and
    quarter turns of an angle get the same numbers.
    """
    quarter = round(real("angle", angle) / (np.pi / 2))
    rest = angle - quarter * np.pi / 2
    t = simplest(float(np.tan(rest / 2)), tolerance)
    c, s = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
    return [(c, s), (-s, c), (-c, -s), (s, -c)][quarter % 4]


@cache
def friction_directions(nt: int, facets: int) -> Matrix:
    """Unit directions with rational coordinates: ``{+1, -1}`` in the plane, near-regular in space.

    In space the angle of each differs from ``2 pi k / facets`` by at most 1e-3 rad (that of an eighth of a
    turn cannot be rational); all lie exactly on the unit circle and come in opposite pairs.
    """
    if nt == 1:
        return ((Fraction(1),), (Fraction(-1),))
    integer("facets", facets, at_least=4)
    if facets % 2:
        raise InputError("facets", got=facets, wanted="an even number, so that directions come in pairs")
    half = [unit_circle(2 * np.pi * k / facets, tolerance=1e-3) for k in range(facets // 2)]
    return tuple(half + [(-c, -s) for c, s in half])


def _vector(field: str, values: Row) -> Vector:
    return tuple(x if isinstance(x, Fraction) else _fraction(field, x) for x in values)


def _matrix(field: str, rows: Table) -> Matrix:
    return tuple(_vector(field, row) for row in rows)


def _fraction(field: str, value: object) -> Fraction:
    try:
        return Fraction(value)  # type: ignore[call-overload]
    except (ValueError, TypeError, OverflowError, ZeroDivisionError):
        raise InputError(field, got=repr(value), wanted="finite numbers, or strings such as '5/12'") from None
