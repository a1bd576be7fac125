"""How the worst case of an impact changes with the problem: what to change to make it better.

By the envelope theorem the slope of a largest value is that of the outcome which has it, with the decisions
that lead there held. In the plane without restitution they are the contact statuses along its path. Solutions
of HP23 (39) with given statuses are those of a linear program (`routh.sampling.status_sequences`), and the
slope of its value is that of the Lagrangian with the solution and the multipliers held: breakpoints
``v_k = v + M^-1 J^T P_k`` depend on the data, and so do the conditions on them. Elsewhere the decisions are
those of the sample that was found (`routh.Outcomes.vjp`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Unpack

import numpy as np
from scipy.optimize import linprog

from routh.base.results import Result
from routh.base.status import RouthError, Status, no_such
from routh.base.validation import Array
from routh.problem.impact import ImpactProblem
from routh.robust.objectives import as_objective
from routh.robust.worst import Wanted, WorstCase, WorstOptions, worst_case
from routh.sampling.outcomes import DATA
from routh.sampling.status_sequences import NOT_ENDED, SMOOTH, Polisher, StatusProgram

_NEAR = 1e-9  # a sample this near to a change of piece has a one-sided derivative
_SMALL = 4  # dimensions of an exact set that is worth the wait
_ACTIVE = 1e-9  # scaled room below which a condition may have a multiplier
_FEASIBLE = 1e-10
_SAME = 1e-6  # share of the reach by which the program may miss the solution's value


class NoOutcomeError(RouthError):
    """There is no outcome that could be differentiated, or its derivative is not known."""


@dataclass(frozen=True, eq=False)
class Sensitivity(Result):
    """The derivative of a worst case with respect to the problem's data.

    Parameters
    ----------
    worst : the worst case.
    gradient : "v" (nv,), "M" (nv, nv), "Jn" (nc, nv), "Jt" (nc, nt, nv), "mu" (nc,) and, where some contact
        has restitution, "restitution" (nc,): each shaped like the problem's field of that name. ``M`` is for
        symmetric changes.
    one_sided : whether the derivative holds to one side only, or only for this one of several worst vertices
        of the exact set. Of equally bad outcomes that filling found nothing is known.
    method : "envelope" for the worst outcome of its contact statuses; "sample" for the outcome that filling
        found, which may be a little less than the worst.
    """

    worst: WorstCase
    gradient: dict[str, Array] = field(repr=False)
    one_sided: bool
    method: str

    @property
    def status(self) -> Status:
        """How the worst case was found."""
        return self.worst.status

    @property
    def value(self) -> float:
        """The objective in the worst outcome."""
        return self.worst.value

    def along(self, **changes: Array | float) -> float:
        """The change of the worst case, to first order, for changes of the problem's fields by name."""
        for name in changes:
            if name not in self.gradient:
                raise no_such("changes", name, self.gradient)
        return float(sum(np.sum(self.gradient[name] * change) for name, change in changes.items()))


def sensitivity(
    problem: ImpactProblem,
    objective: Wanted,
    *,
    worst: WorstCase | None = None,
    **options: Unpack[WorstOptions],
) -> Sensitivity:
    """The derivative of `worst_case` with respect to everything that the problem is made of.

    Parameters
    ----------
    problem : the impact.
    objective : as in `worst_case`. A contact's name, or (contact, direction), moves with the contact: its
        dependence on ``Jn`` and ``Jt`` counts.
    worst : the worst case, where it is known already.
    options : of `worst_case`; by default ``level`` 0 and 16 ``climbs``, for a slope needs no bound, and
        ``method="fill"`` where the exact set has more than four dimensions, for it seldom ends in time.
    """
    usual: WorstOptions = {"level": 0, "climbs": 16}
    if np.linalg.matrix_rank(problem.J.reshape(-1, problem.nv)) > _SMALL:
        usual["method"] = "fill"
    options = {**usual, **options}
    found = worst_case(problem, objective, **options) if worst is None else worst
    wanted = as_objective(problem, objective)
    if not np.isfinite(found.value):
        raise NoOutcomeError("sensitivity: no outcome was found, so there is nothing to differentiate")
    direction = wanted.gradient(found.v, max(problem.speed, 1e-300))
    if found.status is Status.NO_IMPACT:
        fields = [name for name in DATA if name != "restitution" or np.any(problem.restitution > 0.0)]
        zeros = {name: np.zeros_like(getattr(problem, name)) for name in fields if name != "v"}
        result = Sensitivity(found, {"v": direction, **zeros}, False, "envelope")
    else:
        result = _by_statuses(problem, found, direction) or _by_sample(problem, found, direction, options)
    # an objective that names a contact depends on the contact's rows itself
    if isinstance(objective, str):
        result.gradient["Jn"][problem.index(objective)] += found.v
    elif isinstance(objective, tuple) and len(objective) == 2 and np.ndim(objective[1]) == 1:
        i, weights = problem.index(objective[0]), np.asarray(objective[1], dtype=np.float64)
        result.gradient["Jn"][i] += weights[0] * found.v
        result.gradient["Jt"][i] += weights[1:, None] * found.v
    return result


def _by_statuses(problem: ImpactProblem, worst: WorstCase, direction: Array) -> Sensitivity | None:
    """Sensitivity by the linear program of the path's statuses.

    None where there is no path, none of that kind, or the program does not give its value back.
    """
    if problem.nt != 1 or np.any(problem.restitution > 0.0) or worst.path is None:
        return None
    impulse = worst.path.impulse / problem.scaling.impulse[:, None]
    polisher = Polisher(problem)
    walk = polisher.walk(impulse.reshape(len(impulse), -1))
    if not walk.sequence:
        return None
    program = StatusProgram(polisher.G, polisher.start, polisher.mu, walk.sequence)
    near = _SAME * float(np.linalg.norm(np.linalg.solve(problem.cholesky, direction))) * problem.scaling.speed
    for slack in (0.0, NOT_ENDED):  # the set is closed; but without slack a segment may begin after the end
        found = _farthest(problem, program, direction, slack)
        if found is not None and abs(found[0] - float(direction @ walk.v)) <= near:
            _, gradient, unique = found
            return Sensitivity(worst, gradient, not unique or worst.tied, "envelope")
    return None


def _by_sample(
    problem: ImpactProblem, worst: WorstCase, direction: Array, options: WorstOptions
) -> Sensitivity:
    """Sensitivity by the derivative of the sample that was found, its decisions held."""
    if worst.sample is None:  # a vertex that outcomes only approach: the sample that came nearest
        filled: WorstOptions = {**options, "method": "fill"}
        near = worst_case(problem, direction, **filled)
        found = _by_statuses(problem, near, direction)
        if found is not None:
            return Sensitivity(worst, found.gradient, found.one_sided, "envelope")
        worst = near
    if worst.sample is None:
        raise NoOutcomeError("sensitivity: no outcome was found, so there is nothing to differentiate")
    outcomes, index = worst.sample
    parts = outcomes.vjp(direction, near=_NEAR)
    gradient = {name: np.array(parts[name][index]) for name in DATA}
    if not all(np.isfinite(part).all() for part in gradient.values()):
        raise NoOutcomeError("sensitivity: the derivative of the worst outcome that was found is not known")
    if not np.any(problem.restitution > 0.0):
        del gradient["restitution"]
    return Sensitivity(worst, gradient, bool(parts["one_sided"][index]), "sample")


def _farthest(
    problem: ImpactProblem, program: StatusProgram, direction: Array, slack: float
) -> tuple[float, dict[str, Array], bool] | None:
    """The largest ``direction . v`` of some statuses, its derivatives, and whether multipliers are unique."""
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
    return float(direction @ problem.v - found.fun), lagrangian.gradient(direction), unique


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
    """Derivatives of the Lagrangian with respect to the problem, impulses and multipliers held."""

    def __init__(
        self, problem: ImpactProblem, program: StatusProgram, x: Array, below: Array, equal: Array
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
