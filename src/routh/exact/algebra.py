"""Small exact linear algebra over the rational numbers: what the exact sets need and no more.

Matrices are tuples of rows, rows are tuples of `fractions.Fraction`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import gcd, lcm

Vector = tuple[Fraction, ...]
Matrix = tuple[Vector, ...]


def dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    """Inner product, in the arithmetic of the first vector."""
    return sum((x * y for x, y in zip(a, b, strict=True) if x and y), a[0] * 0 if a else Fraction(0))


def difference(a: Sequence[Fraction], b: Sequence[Fraction]) -> Vector:
    """``a - b``."""
    return tuple(x - y for x, y in zip(a, b, strict=True))


def times(A: Sequence[Sequence[Fraction]], x: Sequence[Fraction]) -> Vector:
    """``A x``."""
    return tuple(dot(row, x) for row in A)


def product(A: Sequence[Sequence[Fraction]], B: Sequence[Sequence[Fraction]]) -> Matrix:
    """``A B``."""
    columns = tuple(zip(*B, strict=True))
    return tuple(tuple(dot(row, column) for column in columns) for row in A)


def transpose(A: Sequence[Sequence[Fraction]]) -> Matrix:
    """``A^T``."""
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
        raise ValueError("A: is singular; wanted an invertible matrix")
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


def _simplest_between(low: Fraction, high: Fraction) -> Fraction:
    whole = low.numerator // low.denominator
    if whole == low or whole + 1 <= high:
        return Fraction(whole if whole == low else whole + 1)
    rest = _simplest_between(1 / (high - whole), 1 / (low - whole))
    return whole + 1 / rest
