"""Touch-downs as impact problems that know their support: for scans, sweeps and designs of `tipping`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from routh.base.status import InputError, Status
from routh.base.validation import Array, Options, integer, real
from routh.compiling.foreign import Foreign
from routh.models.landings import Landing
from routh.models.robot import RobotProblem
from routh.models.robots.landing import landing_of, touchdowns
from routh.models.simultaneity import RESTITUTION
from routh.problem.impact import ImpactProblem
from routh.robust.candidates import Constraint, Made
from routh.robust.support import Support, support_of
from routh.robust.touchdowns import restitution_at, restitution_given
from routh.robust.verdicts import MOST, SAMPLES, short
from routh.sampling import sample
from routh.sampling.outcomes import Outcomes

_SEEDS = 3  # with which the answer of a design must keep the limit


class StandingProblem(RobotProblem):
    """The impact of a touch-down with joints held, and the edges over which the body may turn."""

    support: Support

    def __init__(self, problem: RobotProblem, support: Support) -> None:
        super().__init__(problem, problem.contacts, problem.basis, problem.qvel, problem.unrepresented)
        object.__setattr__(self, "support", support)

    @property
    def edge_rates(self) -> Array:
        """Rates about the edges over the critical ones, (edges, nv) per velocity."""
        return self.support.rates


def standing_problem(
    landing: Landing,
    *,
    restitution: str | float = RESTITUTION,
    unevenness: float | None = None,
    **options: Foreign,
) -> StandingProblem:
    """The touch-down of a landing, as `routh.robust.tipping` sees it; a ValueError where it has no support.

    ``restitution`` and ``unevenness`` are those of `routh.robust.tipping`, and so are ``options`` for
    Pinocchio: ground, points, geometry and mu.
    """
    model: Foreign = landing.model
    state = landing.qpos[None], landing.qvel[None]
    named: Options = {"body": landing.body, **options} if landing.body else dict(options)
    down = next(iter(touchdowns(model, *state, window=landing.window, **named)))
    if isinstance(down, ValueError):
        raise down
    support = support_of(down, unevenness)
    counting = np.flatnonzero(down.closing(unevenness=unevenness) <= landing.window)
    elastic = restitution_at(down, counting, restitution_given(restitution))
    return StandingProblem(down.impact(counting, elastic), support)


def touchdown_problem(
    file: str, *, restitution: str | float = RESTITUTION, **point: Foreign
) -> StandingProblem | None:
    """`landing_problem` of `routh.models` for the measure "tipping"; None where there is no support."""
    found = landing_of(file, **point)
    if found is None:
        return None
    try:
        return standing_problem(found, restitution=restitution)
    except ValueError:
        return None


def tipping_ratio(outcomes: Outcomes) -> float:
    """The worst rate about an edge over the critical one, of a `StandingProblem`'s outcomes; NaN without any.

    A measure for `routh.scan` and an objective for `routh.robust.design`.
    """
    problem = standing(outcomes.problem)
    ended = outcomes.status <= Status.NO_IMPACT
    return float(problem.support.ratios(outcomes.v[ended]).max()) if ended.any() else np.nan


def standing(problem: ImpactProblem) -> StandingProblem:
    """The problem, if it knows its support."""
    if not isinstance(problem, StandingProblem):
        raise InputError(
            "problem",
            got=f"{type(problem).__name__}, which has no support",
            wanted="a touch-down of routh.robust.standing_problem(landing)",
        )
    return problem


def no_tipping(*, limit: float = 1.0, n: int = SAMPLES, seed: int = 0, within: float = 1e-3) -> Constraint:
    """A constraint for `routh.robust.design`: no sampled outcome is above ``limit`` of a critical rate.

    The design is made of landings, or of what `standing_problem` makes of them. The answer has to keep it
    with three seeds, and as surely as `routh.robust.tipping` says go.
    """
    count, most = integer("n", n, at_least=1), real("limit", limit, above=0.0)

    def worst(made: Made, n: int = count, other: int = 0) -> float:
        problem = standing_problem(made) if isinstance(made, Landing) else made
        assert problem is not None
        return tipping_ratio(sample(standing(problem), n, rates="extreme", seed=seed + other))

    def surely(made: Made) -> bool:
        def share(other: int, n: int) -> float:
            return worst(made, n, other) / most

        return all(_is_go(partial(share, other)) for other in range(_SEEDS))

    return Constraint(worst, -np.inf, most, within=within, name="no tipping", surely=surely)


def _is_go(worst: Callable[[int], float]) -> bool:
    """Whether the worst ratio of enough samples is so far below 1 that no more are needed."""
    n = SAMPLES
    while n <= MOST:
        ratio = worst(n)
        if not ratio <= 1.0:
            return False
        if ratio <= 1.0 - short(n):
            return True
        n *= 2
    return False
