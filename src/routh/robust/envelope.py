"""How the farthest outcome of an inelastic impact in the plane moves with the problem's data.

Solutions of HP23 (39) with given contact statuses are those of a linear program
(`routh.sampling.status_sequences`). By the envelope theorem the slope of its value is that of the
Lagrangian with the solution and the multipliers held: breakpoints ``v_k = v + M^-1 J^T P_k`` depend on the
data, and so do the conditions on them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from routh.problem import ImpactProblem
from routh.sampling.status_sequences import NOT_ENDED, SMOOTH, Polisher, Program, Walk
from routh.validation import Array

_ACTIVE = 1e-9  # scaled room below which a condition may have a multiplier
_FEASIBLE = 1e-10
_SAME = 1e-6  # share of the reach by which the program may miss the solution's value


@dataclass(frozen=True, eq=False)
class Envelope:
    """The largest ``direction . v`` of some statuses, and its derivatives."""

    value: float
    gradient: dict[str, Array]  # "v", "M", "Jn", "Jt", "mu", shaped like the problem's
    unique: bool  # whether multipliers are; otherwise the derivative is one-sided


def envelope(problem: ImpactProblem, walk: Walk, direction: Array) -> Envelope | None:
    """For the statuses of a solution; None where their linear program does not give its value back."""
    polisher = Polisher(problem)
    program = Program(polisher.G, polisher.start, polisher.mu, walk.sequence)
    if not walk.sequence:
        return None
    near = _SAME * float(np.linalg.norm(np.linalg.solve(problem.cholesky, direction))) * problem.scaling.speed
    for slack in (0.0, NOT_ENDED):  # the set is closed; but without slack a segment may begin after the end
        found = _solved(problem, program, direction, slack)
        if found is not None and abs(found.value - float(direction @ walk.v)) <= near:
            return found
    return None


def _solved(problem: ImpactProblem, program: Program, direction: Array, slack: float) -> Envelope | None:
    cost = direction @ (problem.response * np.repeat(problem.scaling.impulse, 2)) @ program.effects
    A_eq, b_eq = program.equal
    A_ub, b_ub = program.below
    begins = slice(len(program.signs), len(program.signs) + len(program.sequence))
    b_ub = b_ub.copy()
    b_ub[begins] += NOT_ENDED - slack
    equal = (A_eq, b_eq) if len(A_eq) else (None, None)
    options = {"primal_feasibility_tolerance": _FEASIBLE, "dual_feasibility_tolerance": _FEASIBLE}
    found = linprog(-cost, A_ub, b_ub, *equal, bounds=program.bounds, method="highs-ds", options=options)
    if found.status != 0:
        return None
    active = A_ub[b_ub - A_ub @ found.x <= _ACTIVE]
    walls = np.eye(len(found.x))[program.positive & (found.x <= _ACTIVE)]
    unique = _independent(np.concatenate([A_eq, active, walls]))
    lagrangian = _Lagrangian(problem, program, found.x, -found.ineqlin.marginals, -found.eqlin.marginals)
    return Envelope(float(direction @ problem.v - found.fun), lagrangian.gradient(direction), unique)


def _independent(rows: Array) -> bool:
    """Whether conditions, each counted once, are independent."""
    size = np.abs(rows).max(axis=1, initial=0.0)
    rows = rows[size > 0.0] / size[size > 0.0, None]
    if not len(rows):
        return True
    first = np.sign(rows[np.arange(len(rows)), np.argmax(np.abs(rows), axis=1)])
    once = np.unique(np.round(rows * first[:, None], 9), axis=0)
    return int(np.linalg.matrix_rank(once, tol=1e-9)) == len(once)


class _Lagrangian:
    """Its derivatives with respect to the problem, impulses and multipliers held."""

    def __init__(
        self, problem: ImpactProblem, program: Program, x: Array, below: Array, equal: Array
    ) -> None:
        self.problem, self.program, self.x = problem, program, x
        self.below, self.equal = below, equal  # multipliers of the program's conditions
        self.J = problem.J.reshape(-1, problem.nv)
        self.pieces = program.pieces(x) * np.repeat(problem.scaling.impulse, 2)  # (k, 2 nc) N s
        self.sums = np.concatenate([np.zeros((1, len(self.J))), np.cumsum(self.pieces, axis=0)])
        self.v = problem.v + self.sums @ problem.response.T  # (k + 1, nv) at the breakpoints

    def gradient(self, direction: Array) -> dict[str, Array]:
        worth = np.zeros_like(self.v)  # of the velocities at the breakpoints
        worth[-1] = direction
        on_J = np.zeros_like(self.J)
        unit = np.repeat(self.problem.scaling.velocity, 2)
        for place, end, weight in self._weights():
            worth[end] -= weight / unit[place] * self.J[place]
            on_J[place] -= weight / unit[place] * self.v[end]
        pushed = np.linalg.solve(self.problem.M, worth.T).T
        on_J += self.sums.T @ pushed
        on_M = -(pushed.T @ (self.v - self.problem.v))
        shaped = on_J.reshape(self.problem.nc, 2, self.problem.nv)
        return {
            "v": worth.sum(axis=0),
            "M": 0.5 * (on_M + on_M.T),
            "Jn": shaped[:, 0],
            "Jt": shaped[:, 1:],
            "mu": self._on_friction(pushed @ self.J.T),
        }

    def _weights(self) -> list[tuple[int, int, float]]:
        """Multipliers of the conditions on velocities: place, breakpoint, signed multiplier."""
        program = self.program
        found = [(p, end, sign * y) for (p, end, sign), y in zip(program.zeros, self.equal, strict=False)]
        found += [(p, end, sign * y) for (p, end, sign), y in zip(program.signs, self.below, strict=False)]
        for k, y in enumerate(self.below[len(program.signs) : len(program.signs) + len(program.sequence)]):
            found += [(2 * i, k, y) for i in program.pushing(k)]
        return found

    def _on_friction(self, on_sums: Array) -> Array:
        """Friction of sliding contacts goes with mu, and that of sticking ones may have more room."""
        program = self.program
        later = np.cumsum(on_sums[:0:-1], axis=0)[::-1]  # (k, 2 nc): of an impulse in segment k
        on_mu = np.zeros(self.problem.nc)
        for k, statuses in enumerate(program.sequence):
            for i in program.pushing(k):
                slip = self._slip(k, i) if statuses[i] == SMOOTH else float(statuses[i])
                on_mu[i] -= slip * self.pieces[k, 2 * i] * later[k, 2 * i + 1]
        cones = iter(self.below[len(program.signs) + len(program.sequence) :])
        for column, (_, place, _) in enumerate(program.places):
            if place % 2:
                on_mu[place // 2] += (next(cones) + next(cones)) * self.x[column - 1]
        return on_mu

    def _slip(self, k: int, i: int) -> float:
        """The mean sign of a smooth contact's slip in a segment: where friction, were there any, points."""
        before, after = self.J[2 * i + 1] @ self.v[k], self.J[2 * i + 1] @ self.v[k + 1]
        if before * after >= 0.0:
            return float(np.sign(before + after))
        share = before / (before - after)
        return float(np.sign(before) * share + np.sign(after) * (1.0 - share))
