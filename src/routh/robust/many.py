"""The worst outcomes of many impacts: arrays with a leading axis, and the path of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Unpack

import numpy as np

from routh.batch import ImpactBatch
from routh.paths import ImpactPath, PathKind
from routh.results import Column, Tabular
from routh.robust.objectives import Linear, Objective, Own
from routh.robust.worst import Wanted, WorstCase, WorstOptions, worst_case
from routh.status import CapacityError, Status
from routh.validation import Array, integer


@dataclass(frozen=True, eq=False)
class WorstCases(Tabular):
    """The worst outcome of every row of a batch; a row that has none says so in ``status``."""

    value: Array  # (n,) the objective in the worst outcome; NaN where no outcome was found
    v: Array = field(repr=False)  # (n, nv) velocities after; NaN where there is none, and in the padding
    bound: Array = field(repr=False)  # (n,) no outcome is worse than this; infinite where nothing is proved
    # (n,) int8, see `WorstCase`; REFUSED; NO_CONTACT where nothing touches, or not what the objective names
    status: np.ndarray
    paths: tuple[ImpactPath | None, ...] = field(repr=False)
    methods: tuple[str, ...] = field(repr=False)  # "exact", "fill", or "" where nothing was to be done

    @property
    def gap(self) -> Array:
        """How much worse an outcome could still be, (n,): infinite without a bound, NaN without a value."""
        return np.where(np.isnan(self.value), np.nan, np.maximum(self.bound - self.value, 0.0))

    def __len__(self) -> int:
        return len(self.value)

    def __getitem__(self, row: int) -> WorstCase:
        k = integer("row", row, at_least=-len(self), at_most=len(self) - 1) % max(len(self), 1)
        bound = float(self.bound[k])
        v = self.v[k][~np.isnan(self.v[k])]
        return WorstCase(
            float(self.value[k]),
            v if len(v) else self.v[k],
            self.paths[k],
            bound if np.isfinite(bound) else None,
            Status(int(self.status[k])),
            self.methods[k],
        )

    def _columns(self) -> Mapping[str, Column]:
        meaning = ", ".join(f"{status.value} {status.name}" for status in Status)
        return {
            "value": Column(("problem",), self.value, "of the objective", "worst outcome"),
            "bound": Column(("problem",), self.bound, "of the objective", "no outcome is worse"),
            "gap": Column(("problem",), self.gap, "of the objective", "bound less value"),
            "status": Column(("problem",), self.status, "1", meaning),
            "v": Column(("problem", "velocity"), self.v, "m/s or rad/s", "generalized velocity after"),
        }


def worst_cases(batch: ImpactBatch, objective: Wanted, **options: Unpack[WorstOptions]) -> WorstCases:
    """`worst_case` of every row of a batch.

    Parameters
    ----------
    objective : as in `worst_case`, the same for all rows; or (n, nv), a linear function for each.
    options : of `worst_case`. Where ``method="exact"`` runs out of time a row is INCOMPLETE, without a value.
    """
    each = _per_row(batch, objective)
    found = [worst_of_row(batch, row, wanted, options) for row, wanted in enumerate(each)]
    v = np.full((len(batch), batch.nv), np.nan)
    for row, case in enumerate(found):
        v[row, : len(case.v)] = case.v
    return WorstCases(
        value=np.array([case.value for case in found]),
        v=v,
        bound=np.array([np.inf if case.bound is None else case.bound for case in found]),
        status=np.array([case.status for case in found], dtype=np.int8),
        paths=tuple(case.path for case in found),
        methods=tuple(case.method for case in found),
    )


def _per_row(batch: ImpactBatch, objective: Wanted) -> list[Wanted]:
    if isinstance(objective, (Objective, str, tuple)) or callable(objective):
        return [objective] * len(batch)
    given = np.asarray(objective, dtype=np.float64)
    if given.ndim < 2:
        return [given] * len(batch)
    if given.shape != (len(batch), batch.nv):
        raise ValueError(
            f"objective: got shape {given.shape}; wanted ({batch.nv},) or ({len(batch)}, {batch.nv})"
        )
    return [row[:nv] for row, nv in zip(given, batch.size[:, 0], strict=True)]


def worst_of_row(batch: ImpactBatch, row: int, wanted: Wanted, options: WorstOptions) -> WorstCase:
    """`worst_case` of one row; a row that has none, or could not be done, says so in its status."""
    status = Status(int(batch.status[row]))
    unknown = np.full(batch.size[row, 0], np.nan)
    if status is Status.REFUSED or not len(unknown):
        return WorstCase(np.nan, unknown, None, None, status, "")
    if status is Status.NO_CONTACT:  # the velocity stays; a contact that is not there has no velocity
        v = batch.v[row, : len(unknown)]
        value = _value_at(wanted, v)
        nothing = ImpactPath(v[None], np.zeros((0, 0, 1 + batch.nt)), PathKind.STRAIGHT)
        known = not np.isnan(value)
        return WorstCase(value, v, nothing if known else None, value if known else None, status, "")
    if _is_elsewhere(batch, row, wanted):
        return WorstCase(np.nan, unknown, None, None, Status.NO_CONTACT, "")
    try:
        return worst_case(batch[row], wanted, **options)
    except CapacityError:
        return WorstCase(np.nan, unknown, None, None, Status.INCOMPLETE, "exact")


def _is_elsewhere(batch: ImpactBatch, row: int, wanted: Wanted) -> bool:
    """Whether an objective names a contact that this row does not have, but another one has."""
    named = (
        wanted[0] if isinstance(wanted, tuple) and len(wanted) == 2 and np.ndim(wanted[1]) == 1 else wanted
    )
    if isinstance(named, str):
        rows = range(len(batch))
        return named not in batch.names_of(row) and any(named in batch.names_of(k) for k in rows)
    return isinstance(named, int) and len(batch.names_of(row)) <= named < batch.nc


def _value_at(wanted: Wanted, v: Array) -> float:
    if not isinstance(wanted, (Objective, str, tuple)) and not callable(wanted):
        wanted = Linear(np.asarray(wanted, dtype=np.float64))
    elif callable(wanted):
        wanted = Own(wanted)
    return float(wanted.values(v[None])[0]) if isinstance(wanted, Objective) else np.nan
