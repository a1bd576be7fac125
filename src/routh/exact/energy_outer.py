"""The bound from energy and momentum as polyhedra: what stands in for an outer set that was not completed."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from routh.bounds import EnergyBound
from routh.exact.automaton import Automaton
from routh.exact.reach import Reach
from routh.problem import ImpactProblem

_PROGRAMS = 256  # cone programs that a bound in place of an incomplete set may cost


def outer_polytopes(problem: ImpactProblem, automaton: Automaton) -> list[Any]:
    """The bound as PPL polyhedra in z, one per contact that may stop last: boxes in contact velocities."""
    tools = Reach(automaton)
    bound = EnergyBound(problem)
    forms = np.array([[float(x) for x in row] for row in automaton.rows])  # z = rows v
    parts = []
    refined = 2 * automaton.dim * problem.nc <= _PROGRAMS
    for last in range(problem.nc):
        part = tools.ppl.C_Polyhedron(automaton.dim)
        for form in tools._normals:
            part.add_constraint(form >= 0)
        part.add_constraint(tools.at_rest[last])
        for k, row in enumerate(forms):
            for sign in (1, -1):
                direction = sign * row
                value = problem.speed * bound.dual_norm(direction)  # from energy alone
                if refined:
                    value = min(value, bound.bound(direction, last))
                slack = 1e-9 * (abs(value) + problem.speed * bound.dual_norm(row))
                unit = tuple(-sign * int(j == k) for j in range(automaton.dim))
                limit = Fraction(value + slack).limit_denominator(10**15) + Fraction(1, 10**14)
                part.add_constraint(tools.form(unit, limit) >= 0)
        if not part.is_empty():
            parts.append(part)
    return parts
