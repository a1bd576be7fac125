"""How the worst case of an impact changes with the problem: what to change to make it better.

By the envelope theorem the slope of a largest value is that of the outcome which has it, with the decisions
that lead there held. In the plane without restitution they are the contact statuses along its path, and the
farthest outcome of these statuses is a linear program (`routh.robust.envelope`). Elsewhere they are those of
the sample that was found (`routh.Outcomes.vjp`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Unpack

import numpy as np

from routh.problem import ImpactProblem
from routh.robust.envelope import envelope
from routh.robust.objectives import as_objective
from routh.robust.worst import Wanted, WorstCase, WorstOptions, worst_case
from routh.sampling.outcomes import DATA
from routh.sampling.status_sequences import Polisher
from routh.status import RouthError, Status
from routh.validation import Array

_NEAR = 1e-9  # a sample this near to a change of piece has a one-sided derivative
_SMALL = 4  # dimensions of an exact set that is worth the wait


@dataclass(frozen=True, eq=False)
class Sensitivity:
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
    def value(self) -> float:
        """The objective in the worst outcome."""
        return self.worst.value

    def along(self, **changes: Array | float) -> float:
        """The change of the worst case, to first order, for changes of the problem's fields by name."""
        for name in changes:
            if name not in self.gradient:
                raise ValueError(f"changes: got {name!r}; wanted one of {', '.join(self.gradient)}")
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
        raise RouthError("sensitivity: no outcome was found, so there is nothing to differentiate")
    direction = wanted.gradient(found.v, max(problem.speed, 1e-300))
    if found.status is Status.NO_IMPACT:
        fields = [name for name in DATA if name != "restitution" or np.any(problem.restitution > 0.0)]
        zeros = {name: np.zeros_like(getattr(problem, name)) for name in fields if name != "v"}
        result = Sensitivity(found, {"v": direction, **zeros}, False, "envelope")
    else:
        result = _by_statuses(problem, found, direction) or _by_sample(problem, found, direction, options)
    _add_own(problem, objective, found.v, result.gradient)
    return result


def _by_statuses(problem: ImpactProblem, worst: WorstCase, direction: Array) -> Sensitivity | None:
    """By the linear program of the path's statuses; None where there is no path, or none of that kind."""
    if problem.nt != 1 or np.any(problem.restitution > 0.0) or worst.path is None:
        return None
    impulse = worst.path.impulse / problem.scaling.impulse[:, None]
    walk = Polisher(problem).walk(impulse.reshape(len(impulse), -1))
    found = envelope(problem, walk, direction)
    if found is None:
        return None
    return Sensitivity(worst, found.gradient, not found.unique or worst.tied, "envelope")


def _by_sample(
    problem: ImpactProblem, worst: WorstCase, direction: Array, options: WorstOptions
) -> Sensitivity:
    """By the derivative of the sample that was found, its decisions held."""
    if worst.sample is None:  # a vertex that outcomes only approach: the sample that came nearest
        filled: WorstOptions = {**options, "method": "fill"}
        near = worst_case(problem, direction, **filled)
        found = _by_statuses(problem, near, direction)
        if found is not None:
            return Sensitivity(worst, found.gradient, found.one_sided, "envelope")
        worst = near
    if worst.sample is None:
        raise RouthError("sensitivity: no outcome was found, so there is nothing to differentiate")
    outcomes, index = worst.sample
    parts = outcomes.vjp(direction, near=_NEAR)
    gradient = {name: np.array(parts[name][index]) for name in DATA}
    if not all(np.isfinite(part).all() for part in gradient.values()):
        raise RouthError("sensitivity: the derivative of the worst outcome that was found is not known")
    if not np.any(problem.restitution > 0.0):
        del gradient["restitution"]
    return Sensitivity(worst, gradient, bool(parts["one_sided"][index]), "sample")


def _add_own(problem: ImpactProblem, objective: Wanted, v: Array, gradient: dict[str, Array]) -> None:
    """An objective that names a contact depends on the contact's rows itself."""
    if isinstance(objective, str):
        gradient["Jn"][problem.index(objective)] += v
    elif isinstance(objective, tuple) and len(objective) == 2 and np.ndim(objective[1]) == 1:
        i, weights = problem.index(objective[0]), np.asarray(objective[1], dtype=np.float64)
        gradient["Jn"][i] += weights[0] * v
        gradient["Jt"][i] += weights[1:, None] * v
