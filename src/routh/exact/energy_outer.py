"""The bound from energy and momentum as polyhedra: what stands in for an outer set that was not completed."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from routh.bounds import EnergyBound
from routh.exact.algebra import simplest
from routh.exact.automaton import Automaton
from routh.exact.reach import Reach
from routh.problem import ImpactProblem

if TYPE_CHECKING:
    from ppl import C_Polyhedron

_PROGRAMS = 256  # cone programs that a bound in place of an incomplete set may cost


def outer_polytopes(problem: ImpactProblem, automaton: Automaton, room: Fraction) -> list[C_Polyhedron]:
    """The bound as PPL polyhedra in z, one per contact that may stop last: boxes in contact velocities.

    ``room`` is what normal velocities by the automaton's rows may be off from the problem's.
    """
    tools = Reach(automaton)
    bound = EnergyBound(problem)
    forms = np.array([[float(x) for x in row] for row in automaton.rows])  # z = rows v
    parts = []
    refined = 2 * automaton.dim * problem.nc <= _PROGRAMS
    for last in range(problem.nc):
        part = tools.ppl.C_Polyhedron(automaton.dim)
        widths = [room * unit for unit in automaton.units]
        for row, width in zip(automaton.normals, widths, strict=True):
            part.add_constraint(tools.form(row, width) >= 0)
        part.add_constraint(tools.form(automaton.normals[last], -widths[last]) <= 0)
        for k, row in enumerate(forms):
            for sign in (1, -1):
                direction = sign * row
                value = problem.speed * bound.dual_norm(direction)  # from energy alone
                if refined:
                    value = min(value, bound.bound(direction, last))
                size = problem.speed * bound.dual_norm(row)
                unit = tuple(-sign * int(j == k) for j in range(automaton.dim))
                limit = simplest(value + 3e-9 * size, 1e-9 * size)
                part.add_constraint(tools.form(unit, limit) >= 0)
        if not part.is_empty():
            parts.append(part)
    return parts
