"""What the checkers of exact sets share: statuses of friction, velocities after impulses, exact elimination.

Written down again from HP23 (36) to (40), in velocity space and in fractions; nothing of the construction in
`routh.exact` is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from routh.exact.rational import RationalProblem

Vector = tuple[Fraction, ...]
Impulse = tuple[Fraction, ...]  # of one contact: normal, then one or two tangential
LINE: tuple[Vector, ...] = ((Fraction(1),), (Fraction(-1),))  # the friction polygon in the plane


@dataclass(frozen=True)
class CheckedPath:
    """Breakpoints and the impulses (normal, tangential) of every contact between them, all exact."""

    v: tuple[Vector, ...]  # (k + 1)
    impulses: tuple[tuple[Impulse, ...], ...]  # (k, nc, 1 + nt)


@dataclass(frozen=True)
class Proof:
    """Whether a claim holds, and if not, why not."""

    holds: bool
    why: str = ""

    def __bool__(self) -> bool:
        return self.holds


Form = Sequence[Fraction]  # in the tangential velocity of one contact


def friction_status(word: str, polygon: Sequence[Vector]) -> tuple[list[Vector], list[Form], list[Form]]:
    """Directions that friction opposes, forms in the slip that are zero, and forms that are not negative.

    In space "slides 2k" is the sector in which direction k opposes most, "slides 2k + 1" the ray on which it
    and the next one oppose equally.
    """
    count, nt = len(polygon), len(polygon[0])
    if word == "sticks":
        return list(polygon), [[Fraction(int(i == j)) for j in range(nt)] for i in range(nt)], []
    if nt == 1:
        d = polygon[0] if word == "slides +" else polygon[1]
        return [d], [], [d]
    k, between = divmod(int(word.split()[1]), 2)
    d, before, after = polygon[k], polygon[k - 1], polygon[(k + 1) % count]
    if between:
        return [d, after], [_minus(d, after)], [[a + b for a, b in zip(d, after, strict=True)]]
    return [d], [], [_minus(d, before), _minus(d, after)]


def _minus(a: Form, b: Form) -> Form:
    return [x - y for x, y in zip(a, b, strict=True)]


def along(form: Form, tangents: Sequence[Vector]) -> Vector:
    """A form in the slip as a form in v."""
    return tuple(rate(form, column) for column in zip(*tangents, strict=True))


def velocity_after(problem: RationalProblem, v: Vector, impulses: Sequence[Impulse]) -> Vector:
    """``v + M^-1 J^T impulses``."""
    return tuple(a + b for a, b in zip(v, velocity_change(problem, impulses), strict=True))


def velocity_change(problem: RationalProblem, impulses: Sequence[Impulse]) -> Vector:
    """``M^-1 J^T impulses``."""
    force = [Fraction(0)] * problem.nv
    for i, impulse in enumerate(impulses):
        for share, row in zip(impulse, (problem.Jn[i], *problem.Jt[i]), strict=True):
            if share:
                force = [f + share * x for f, x in zip(force, row, strict=True)]
    return solve_exact([list(row) for row in problem.M], force)


def effect(problem: RationalProblem, i: int, impulse: Impulse) -> Vector:
    """What an impulse at contact i alone does to the velocity."""
    none = (Fraction(0),) * len(impulse)
    return velocity_change(problem, [impulse if j == i else none for j in range(problem.nc)])


def rate(row: Sequence[Fraction], v: Sequence[Fraction]) -> Fraction:
    """``row . v``."""
    total = Fraction(0)
    for a, b in zip(row, v, strict=True):
        if a and b:
            total += a * b
    return total


def energy(problem: RationalProblem, v: Vector) -> Fraction:
    """Twice the kinetic energy."""
    return rate(v, [rate(row, v) for row in problem.M])


def solve_exact(rows: list[list[Fraction]], right: Sequence[Fraction]) -> Vector:
    """The solution of a square system by elimination."""
    table = [[*row, b] for row, b in zip(rows, right, strict=True)]
    solution = eliminate(table, len(rows), None)
    if solution is None:
        raise ValueError("M: is singular; wanted a positive definite mass matrix")
    return tuple(solution)


def eliminate(
    table: list[list[Fraction]], unknowns: int, guess: list[Fraction] | None
) -> list[Fraction] | None:
    """Solve ``table[:, :-1] x = table[:, -1]`` exactly; None where inconsistent.

    Unknowns that the equations leave open keep their guess (without one: None).
    """
    rows = [list(row) for row in table]
    pivots: list[int] = []
    for column in range(unknowns):
        top = len(pivots)
        pivot = next((i for i in range(top, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[top], rows[pivot] = rows[pivot], rows[top]
        lead = rows[top][column]
        rows[top] = [x / lead if x else x for x in rows[top]]
        for i in range(len(rows)):
            if i != top and rows[i][column]:
                factor = rows[i][column]
                rows[i] = [a - factor * b if b else a for a, b in zip(rows[i], rows[top], strict=True)]
        pivots.append(column)
    if any(row[-1] for row in rows[len(pivots) :]):
        return None
    if guess is None and len(pivots) < unknowns:
        return None
    solution = list(guess) if guess is not None else [Fraction(0)] * unknowns
    for k, column in enumerate(pivots):
        open_part = sum(
            (rows[k][j] * solution[j] for j in range(unknowns) if j not in pivots and rows[k][j]), Fraction(0)
        )
        solution[column] = rows[k][-1] - open_part
    return solution
