"""The Parma Polyhedra Library, an optional dependency under the GPL."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from types import ModuleType
from typing import TYPE_CHECKING

from routh.exact.algebra import Vector, integers
from routh.status import optional

if TYPE_CHECKING:
    from ppl import C_Polyhedron


def load_ppl() -> ModuleType:
    """The Parma Polyhedra Library, or an error that says how to get it."""
    ppl = optional("ppl", "exact", "ppl (passagemath-ppl)")
    # Other builds of it (pplpy on x86-64) leave the processor rounding upwards, for everything that follows.
    if not _rounds_to_nearest():
        ppl.restore_pre_PPL_rounding()
    return ppl


def _rounds_to_nearest() -> bool:
    half_a_unit = 2.0**-54
    return 1.0 + half_a_unit == 1.0 and -1.0 - half_a_unit == -1.0


def hull(ppl: ModuleType, points: Iterable[Vector]) -> C_Polyhedron:
    """The convex hull of points."""
    corners = ppl.Generator_System()
    for point in points:
        *numerators, scale = integers((*point, Fraction(1)))
        corners.insert(ppl.point(ppl.Linear_Expression(numerators, 0), scale))
    return ppl.C_Polyhedron(corners)
