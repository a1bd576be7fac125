"""One implicit increment of an impact with restitution: HP23 (72) with a ledger of work per contact.

The state is the velocity and each contact's *budget*: what it may still return. A contact with restitution
that approaches, or that has a budget and no longer approaches, pushes with its full ``lambda_max``, which is
then a floor of its normal impulse; all others are treated as in HP23 (72). The increment is shortened to its
first event: a budget is used up, or a compression ends. So budgets never become negative.

Work is that of the straight path from v to v', on which ``K' - K = sum_i lambda_i . (c_i + c_i') / 2``
exactly; what friction and contacts without a budget seem to return there (an error of the step) is taken
from what is stored, and then from the budgets. Hence ``K + sum(budget)`` never rises, at any step size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routh import tolerances
from routh.problem import HYPOTHESES, ImpactProblem
from routh.status import Status
from routh.step.base import PushingStep, StepResult
from routh.validation import Array, choice

ENERGETIC, POISSON, _ = HYPOTHESES
#: Newton's speaks of the end alone: no step of an impulse can follow it.
STEP_HYPOTHESES = (ENERGETIC, POISSON)

# Solves before the search for an event is content with what it has; each third one halves the interval.
EVENT_SOLVES = 60


@dataclass(frozen=True, eq=False)
class Ledger:
    """What one increment did at each contact, (nc,) each."""

    stored: Array  # J, work taken up while approaching
    returned: Array  # J, work given back while separating
    earned: Array  # added to the budget: J (energetic) or N s (Poisson)
    spent: Array  # taken from the budget


@dataclass(frozen=True, eq=False)
class ElasticIncrement:
    """An increment, what it did, and how much of the rates' interval it used up."""

    step: StepResult
    ledger: Ledger
    budget: Array  # (nc,) afterwards
    share: float  # in (0, 1]: of the lambda_max given


class ElasticStep:
    """Increments of an impact with restitution, for one problem.

    Parameters
    ----------
    solver : solves HP23 (72), see `routh.step.make_step`.
    hypothesis : "energetic" (Stronge: the share e^2 of the work is returned) or "poisson" (the share e of
        the normal impulse).
    """

    def __init__(self, problem: ImpactProblem, solver: PushingStep, hypothesis: str = ENERGETIC) -> None:
        self.problem = problem
        self.solver = solver
        self.hypothesis = choice("hypothesis", hypothesis, STEP_HYPOTHESES)
        unit = problem.scaling
        self._rest = tolerances.APPROACH * unit.velocity
        if hypothesis == ENERGETIC:
            self._share = problem.restitution**2
            self._unit = np.full(problem.nc, 0.5 * unit.speed**2)
            self._least = tolerances.BUDGET * self._unit
        else:
            self._share = problem.restitution
            self._unit = unit.impulse
            self._least = tolerances.BUDGET_IMPULSE * self._unit

    def has_ended(self, v: Array, budget: Array) -> bool:
        """Whether no contact approaches and every budget is used up."""
        return bool(np.all(self.problem.Jn @ v >= -self._rest) and np.all(budget == 0.0))

    def solve(self, v: Array, budget: Array, lambda_max: Array) -> ElasticIncrement:
        """The increment from ``v`` (nv,), ``budget`` (nc,) with normal impulses to ``lambda_max`` (nc,) N s.

        It ends at its first event; ``share`` says how much of ``lambda_max`` was used up.
        """
        y = self.problem.Jn @ v
        pushing = (budget > 0.0) & (y >= -self._rest)
        compressing = (self.problem.restitution > 0.0) & (y < -self._rest)
        low, high = 0.0, 1.0
        below = np.where(pushing, -budget / self._unit, 0.0)  # of the event functions, at ``low``
        below[compressing] = (y / self.problem.scaling.velocity)[compressing]
        watched = pushing | compressing
        quadratic = pushing & (self.hypothesis == ENERGETIC)
        trial, slope = 1.0, np.where(quadratic, lambda_max * np.maximum(y, 0.0) / self._unit, np.nan)
        best: ElasticIncrement | None = None
        for count in range(1, EVENT_SOLVES + 1):
            found = self._attempt(v, budget, lambda_max, trial, pushing, watched)
            if found.step.status is not Status.SOLVED:
                return found
            value = self._events(found, budget, pushing)
            over = watched & (value > self._precision(pushing))
            if not np.any(over):
                best, low, below = found, trial, value
                if trial == 1.0 or np.any(watched & (value >= -self._precision(pushing))):
                    break
            else:
                high, above = trial, value
            trial = _next_trial(low, high, below, above, slope, watched, count)
            if not low < trial < high:
                break
        if best is None:  # not even a vanishing increment is allowed: rounding
            best = found
        return self._snapped(best)

    def _attempt(
        self,
        v: Array,
        budget: Array,
        lambda_max: Array,
        share: float,
        pushing: np.ndarray,
        watched: np.ndarray,
    ) -> ElasticIncrement:
        bound = share * lambda_max
        floor = np.where(watched, bound, 0.0) if np.any(watched) else None
        step = self.solver.solve(v, bound, floor)
        ledger = self._ledger(v, step, pushing)
        return ElasticIncrement(step, ledger, budget + ledger.earned - ledger.spent, share)

    def _precision(self, pushing: np.ndarray) -> Array:
        """How near to an event is at the event; budgets must not be overdrawn, compression ends softly."""
        return np.where(pushing, self._least / self._unit, 0.1 * tolerances.APPROACH)

    def _events(self, found: ElasticIncrement, budget: Array, pushing: np.ndarray) -> Array:
        """Negative before a contact's event, positive after it, dimensionless, (nc,)."""
        after = self.problem.Jn @ found.step.v / self.problem.scaling.velocity
        return np.where(pushing, (found.ledger.spent - budget) / self._unit, after)

    def _snapped(self, found: ElasticIncrement) -> ElasticIncrement:
        """Budgets below their least amount are used up."""
        budget = np.where(found.budget > self._least, found.budget, 0.0)
        return ElasticIncrement(found.step, found.ledger, budget, found.share)

    def _ledger(self, v: Array, step: StepResult, pushing: np.ndarray) -> Ledger:
        before, after = self.problem.contact_velocity(v), self.problem.contact_velocity(step.v)
        normal, friction = step.impulse[:, 0], step.impulse[:, 1:]
        y0, y1 = before[:, 0], after[:, 0]
        positive, negative = path_parts(y0, y1)
        net = 0.5 * (y0 + y1) * normal
        stored = np.where(pushing, normal * negative, np.maximum(-net, 0.0))
        returned = np.where(pushing, normal * positive, 0.0)
        if self.hypothesis == POISSON:
            rest = [np.where(np.abs(y) <= self._rest, 0.0, y) for y in (y0, y1)]  # rounding has no sign
            apart, near = path_shares(*rest)
            spent = np.where(pushing, normal * apart, 0.0)
            earned = self._share * normal * np.where(pushing, 1.0 - apart, near)
            unbudgeted = np.where(pushing, 0.0, np.maximum(net, 0.0))
            return Ledger(stored, returned + unbudgeted, earned, spent)
        seeming = np.where(pushing, 0.0, np.maximum(net, 0.0)).sum()
        seeming += 0.5 * np.sum(friction * (before[:, 1:] + after[:, 1:]))
        most = np.where(pushing, normal * np.maximum(y1, 0.0), 0.0)
        stored, returned = balance(stored, returned, np.maximum(most, returned), float(seeming))
        return Ledger(stored, returned, self._share * stored, returned)


def path_parts(y0: Array, y1: Array) -> tuple[Array, Array]:
    """Means of ``max(y, 0)`` and ``max(-y, 0)`` on the straight path from y0 to y1, (nc,) each."""
    span = np.abs(y1 - y0)
    crossing = y0 * y1 < 0.0
    divisor = np.where(crossing, 2.0 * span, 1.0)
    mean = 0.5 * (y0 + y1)
    high, low = np.maximum(y0, y1), np.minimum(y0, y1)
    positive = np.where(crossing, high**2 / divisor, np.maximum(mean, 0.0))
    negative = np.where(crossing, low**2 / divisor, np.maximum(-mean, 0.0))
    return positive, negative


def path_shares(y0: Array, y1: Array) -> tuple[Array, Array]:
    """The shares of the straight path from y0 to y1 on which y >= 0, and on which y <= 0, (nc,) each.

    Both are one where a contact is held at rest: it is compressed, or returns, as it is asked.
    """
    crossing = y0 * y1 < 0.0
    divisor = np.where(crossing, np.abs(y1 - y0), 1.0)
    apart = np.where(crossing, np.maximum(y0, y1) / divisor, np.where(y0 + y1 >= 0.0, 1.0, 0.0))
    near = np.where(crossing, -np.minimum(y0, y1) / divisor, np.where(y0 + y1 <= 0.0, 1.0, 0.0))
    return apart, near


def balance(stored: Array, returned: Array, most: Array, seeming: float) -> tuple[Array, Array]:
    """Take energy that seems to come from nowhere out of what is stored, then out of the budgets.

    ``most`` (nc,) is what implicit accounting, with the velocity after the step, would charge: by HP23's
    argument for (76) the kinetic energy rises by no more than its sum.
    """
    total = float(stored.sum())
    if not seeming > 0.0:
        return stored, returned
    if seeming <= total:
        return stored * (1.0 - seeming / total), returned
    room = float((most - returned).sum())
    share = min((seeming - total) / room, 1.0) if room > 0.0 else 0.0
    return np.zeros_like(stored), returned + share * (most - returned)


def _next_trial(
    low: float, high: float, below: Array, above: Array, slope: Array, watched: np.ndarray, count: int
) -> float:
    """Where the first event should be: by interpolation, halving the interval every third time."""
    if count % 3 == 0:
        return 0.5 * (low + high)
    guess = high
    for i in np.flatnonzero(watched & (above > 0.0)):
        if low == 0.0 and np.isfinite(slope[i]):  # work is quadratic along a straight path
            curve = (above[i] - below[i] - slope[i] * high) / high**2
            root = _first_root(below[i], slope[i], curve)
        else:
            root = low - below[i] * (high - low) / (above[i] - below[i])
        guess = min(guess, root)
    return guess if low < guess < high else 0.5 * (low + high)


def _first_root(constant: float, slope: float, curve: float) -> float:
    """The smallest positive root of ``constant + slope x + curve x^2`` with a negative constant."""
    discriminant = slope**2 - 4.0 * curve * constant
    if not (discriminant >= 0.0 and slope + discriminant > 0.0):
        return float("inf")
    return float(-2.0 * constant / (slope + np.sqrt(discriminant)))
