"""Measured impacts: what was before and after, and how parameters make the impact problems between."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from routh.base.status import InputError, Status, no_such
from routh.base.validation import Array, real, real_array
from routh.problem.batch import ImpactBatch
from routh.problem.impact import ImpactProblem
from routh.sampling.outcomes import DATA

Values = Mapping[str, float]
Build = Callable[[Values], ImpactBatch]

#: Name of the parameter that multiplies the noise of the measurement.
NOISE = "noise"

_FIELD = re.compile(r"(mu|restitution)(?:\[(.+)\])?")
_STEP = 1e-5  # of a parameter's range: the central difference of a builder


@dataclass(frozen=True, eq=False, init=False)
class MeasuredImpacts:
    """Impacts with the velocities that were measured after them.

    Parameters
    ----------
    impacts : an `ImpactBatch`, or problems, with the velocities before. The parameters are then "mu" and
        "restitution" of all contacts, or "mu[NAME]", "restitution[NAME]" of the contacts of a name. Or a
        function ``build(values) -> ImpactBatch`` of a dictionary with a number for each parameter: masses,
        inertia, contact points, anything. Rows, velocities and contacts must be the same for all values.
    after : (n, nv) velocities measured after, in the coordinates of the problems.
    groups : (n,) impacts with equal numbers are not independent (those of one toss); default: all are.
    """

    build: Build = field(repr=False)
    after: Array = field(repr=False)
    groups: np.ndarray = field(repr=False)

    def __init__(
        self,
        impacts: ImpactBatch | Sequence[ImpactProblem] | Build,
        after: ArrayLike,
        *,
        groups: ArrayLike | None = None,
    ) -> None:
        velocities = real_array("after", after, [(None, None)], "shape (n, nv)")
        if not len(velocities):
            raise InputError("after", got="no rows", wanted="at least one impact")
        if not callable(impacts):
            batch = impacts if isinstance(impacts, ImpactBatch) else ImpactBatch.from_problems(impacts)
            _check_rows(batch, velocities)
            impacts = _Fields(batch)
        numbers = np.arange(len(velocities)) if groups is None else np.asarray(groups)
        if numbers.shape != (len(velocities),):
            raise InputError("groups", got=f"shape {numbers.shape}", wanted=f"({len(velocities)},)")
        velocities.setflags(write=False)
        for name, value in (("build", impacts), ("after", velocities), ("groups", numbers)):
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.after)

    def batch(self, values: Values) -> ImpactBatch:
        """The problems for some values of the parameters, checked against what was measured."""
        batch = self.build({name: value for name, value in values.items() if name != NOISE})
        if not isinstance(batch, ImpactBatch):
            raise InputError("build", got=type(batch).__name__, wanted="an ImpactBatch")
        _check_rows(batch, self.after)
        return batch


def _check_rows(batch: ImpactBatch, after: Array) -> None:
    if after.shape != (len(batch), batch.nv):
        raise InputError(
            "after", got=f"shape {after.shape}", wanted=f"{(len(batch), batch.nv)}, as the impacts"
        )
    if np.any(batch.size[:, 0] != batch.nv):
        few = int(batch.size[:, 0].min())
        raise InputError("impacts", got=f"one with {few} velocities", wanted=f"{batch.nv} in all of them")
    refused = np.flatnonzero(batch.status == Status.REFUSED)
    if refused.size:
        raise InputError(
            "impacts", wrong=f"row {refused[0]} is not an impact problem: {batch.reason(int(refused[0]))}"
        )


@dataclass(frozen=True, eq=False)
class _Fields:
    """Friction and restitution by name, of all contacts or of those with a name."""

    given: ImpactBatch

    def __call__(self, values: Values) -> ImpactBatch:
        batch = self.given
        arrays = {"mu": batch.mu.copy(), "restitution": batch.restitution.copy()}
        for name, value in values.items():
            match = _FIELD.fullmatch(name)
            if match is None:
                raise InputError(
                    "parameters",
                    got=repr(name),
                    wanted=(
                        "'mu', 'restitution', 'mu[CONTACT]' or 'restitution[CONTACT]', or impacts "
                        "given by a function that knows it"
                    ),
                )
            chosen = batch.present if match[2] is None else self._named(match[2])
            arrays[match[1]][chosen] = value
        mu, e = arrays["mu"], arrays["restitution"]
        return ImpactBatch(batch.M, batch.Jn, batch.Jt, mu, batch.v, present=batch.present, restitution=e)

    def _named(self, contact: str) -> np.ndarray:
        chosen = np.zeros_like(self.given.present)
        for row in range(len(self.given)):
            there = np.flatnonzero(self.given.present[row])
            chosen[row, there] = [name == contact for name in self.given.names_of(row)]
        if not chosen.any():
            raise InputError(
                "parameters", wrong=f"no impact has a contact {contact!r}", wanted="the name of one"
            )
        return chosen


@dataclass(frozen=True, eq=False)
class Bounds:
    """Names and ranges of the parameters; inside, each is a share of its range, 0 to 1."""

    names: tuple[str, ...]
    low: Array  # (p,)
    high: Array  # (p,)

    @classmethod
    def of(cls, parameters: Mapping[str, tuple[float, float]]) -> Bounds:
        """Checked ranges by name."""
        if not isinstance(parameters, Mapping) or not parameters:
            raise InputError("parameters", got=repr(parameters), wanted="ranges (low, high) by name")
        ends = []
        for name, given in parameters.items():
            pair = real_array(f"parameters[{name!r}]", given, [(2,)], "a range (low, high)")
            if not pair[0] < pair[1]:
                raise InputError(f"parameters[{name!r}]", got=tuple(pair), wanted="low < high")
            ends.append(pair)
        low, high = np.array(ends).T
        return cls(tuple(parameters), low, high)

    def values(self, shares: Array) -> dict[str, float]:
        """Numbers by name."""
        numbers = self.low + np.clip(shares, 0.0, 1.0) * (self.high - self.low)
        return dict(zip(self.names, map(float, numbers), strict=True))

    def shares(self, start: Values | None) -> Array:
        """Shares of the ranges for a start; the middle where nothing is given."""
        shares = np.full(len(self.names), 0.5)
        for name, value in (start or {}).items():
            if name not in self.names:
                raise no_such("start", name, self.names)
            k = self.names.index(name)
            number = real(f"start[{name!r}]", value, at_least=self.low[k], at_most=self.high[k])
            shares[k] = (number - self.low[k]) / (self.high[k] - self.low[k])
        return shares


def slopes_of(impacts: MeasuredImpacts, bounds: Bounds, shares: Array) -> list[dict[str, Array]]:
    """Derivatives of the problems' arrays by each parameter's share, by differences of the builder alone.

    They are central inside a range and lean inwards at its ends, where the builder may not be defined beyond.
    """
    found: list[dict[str, Array]] = []
    for k, name in enumerate(bounds.names):
        if name == NOISE:
            found.append({})
            continue
        ends = [np.array(shares), np.array(shares)]
        ends[0][k], ends[1][k] = max(shares[k] - _STEP, 0.0), min(shares[k] + _STEP, 1.0)
        less, more = (impacts.batch(bounds.values(end)) for end in ends)
        if not np.array_equal(less.present, more.present):
            raise InputError(
                "build", wrong=f"the contacts change with {name!r}", wanted="the same for all values"
            )
        width = ends[1][k] - ends[0][k]
        slopes = {
            data: (getattr(more, data) - getattr(less, data)) / width
            for data in DATA
            if not np.array_equal(getattr(more, data), getattr(less, data))
        }
        found.append(slopes)
    return found
