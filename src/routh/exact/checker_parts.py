"""What the checkers of exact sets share: statuses of friction, and velocities after impulses.

Written down again from HP23 (36) to (40), in velocity space and in fractions; nothing of the construction in
`routh.exact` is used but the arithmetic of fractions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from routh.exact.algebra import Vector, difference, dot
from routh.exact.rational import RationalProblem

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
        return [d, after], [difference(d, after)], [[a + b for a, b in zip(d, after, strict=True)]]
    return [d], [], [difference(d, before), difference(d, after)]


def along(form: Form, tangents: Sequence[Vector]) -> Vector:
    """A form in the slip as a form in v."""
    return tuple(dot(form, column) for column in zip(*tangents, strict=True))


def velocity_after(problem: RationalProblem, v: Vector, impulses: Sequence[Impulse]) -> Vector:
    """``v + M^-1 J^T impulses``."""
    pushes = [share for impulse in impulses for share in impulse]
    return tuple(x + dot(row, pushes) for x, row in zip(v, problem.response, strict=True))


def effect(problem: RationalProblem, i: int, impulse: Impulse) -> Vector:
    """What an impulse at contact i alone does to the velocity."""
    own = slice(i * len(impulse), (i + 1) * len(impulse))
    return tuple(dot(row[own], impulse) for row in problem.response)
