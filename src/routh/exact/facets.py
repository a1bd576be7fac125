"""Rational directions for polyhedral friction."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

from routh.exact.algebra import Vector
from routh.exact.rational import unit_circle
from routh.validation import integer


@cache
def friction_directions(nt: int, facets: int) -> tuple[Vector, ...]:
    """Unit directions with rational coordinates: ``{+1, -1}`` in the plane, near-regular in space.

    In space the angle of each differs from ``2 pi k / facets`` by at most 1e-3 rad (that of an eighth of a
    turn cannot be rational); all lie exactly on the unit circle and come in opposite pairs.
    """
    if nt == 1:
        return ((Fraction(1),), (Fraction(-1),))
    integer("facets", facets, at_least=4)
    if facets % 2:
        raise ValueError(f"facets: got {facets}; wanted an even number, so that directions come in pairs")
    half = [unit_circle(2 * math.pi * k / facets, tolerance=1e-3) for k in range(facets // 2)]
    return tuple(half + [(-c, -s) for c, s in half])
