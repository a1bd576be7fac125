"""Outcomes of many impacts: arrays with a leading axis of rows, and what they say of each row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from routh.base import tolerances
from routh.base.results import DIRECTIONS, Column, ImpactPath, Result, Tabular
from routh.base.status import InputError, Status
from routh.base.storage import Stored
from routh.base.validation import Array, Options, real_array
from routh.kernels.common.judge import ABSENT, diameters, energies, judge
from routh.problem.batch import ImpactBatch
from routh.problem.rows import scratch
from routh.sampling.ambiguity import as_functional, measure_ambiguity
from routh.sampling.outcomes import DATA, Outcomes, are_outcomes, check_arrays, status_counts

_KEPT = ("v", "impulse", "steps", "status", "residual", "error", "stored", "returned")
FEW = 256  # samples of a row up to which all pairs are compared


@dataclass(frozen=True, eq=False)
class BatchOutcomes(Result, Tabular, Stored):
    """Outcomes of every row of a batch. No row and no sample is ever left out: see ``status``.

    Where there is nothing to solve (NO_IMPACT, NO_CONTACT) the velocity is the one before; where a state was
    REFUSED it is NaN.
    """

    batch: ImpactBatch
    v: Array = field(repr=False)  # (rows, n, nv) velocities after
    impulse: Array = field(repr=False)  # (rows, n, nc, 1 + nt) total impulses, N s, normal first
    steps: np.ndarray = field(repr=False)  # (rows, n) pieces of the path, or increments
    status: np.ndarray = field(repr=False)  # (rows, n) int8, see routh.Status
    residual: Array = field(repr=False)  # (rows, n) largest scaled residual of a sample
    error: Array = field(repr=False)  # (rows, n) sum of local errors, a share of the speed; 0 if straight
    settings: Options = field(default_factory=dict)  # how the samples were drawn
    stored: Array | None = field(default=None, repr=False)  # (rows, n, nc) J, taken up while approaching
    returned: Array | None = field(default=None, repr=False)  # (rows, n, nc) J; None without restitution
    replay: Callable[[Outcomes, int], ImpactPath] | None = field(default=None, repr=False)  # of every row
    _kind: ClassVar = "batch of outcomes"

    def __len__(self) -> int:
        return len(self.v)

    def __getitem__(self, row: int) -> Outcomes:
        """The outcomes of one row, which must be an impact problem."""
        problem = self.batch[row]
        there = np.flatnonzero(self.batch.present[row])
        nv, width = problem.nv, 1 + problem.nt
        of_plane = {"facets": None} if problem.nt == 1 and "facets" in self.settings else {}
        work = {
            name: None if given is None else given[row][:, there]
            for name, given in (("stored", self.stored), ("returned", self.returned))
        }
        return Outcomes(
            problem,
            self.v[row][:, :nv],
            self.impulse[row][:, there, :width],
            self.steps[row],
            self.status[row],
            self.residual[row],
            True if np.any(self.status[row] == Status.JAMMED) else None,
            {**self.settings, **of_plane, "row": self.settings.get("row", 0) + int(row) % len(self)},
            **work,
            replay=self.replay,
        )

    @cached_property
    def _judged(self) -> tuple[np.ndarray, np.ndarray]:
        rows = self.batch.arrays
        ended = np.zeros(self.status.shape, dtype=bool)
        modes = np.full((*self.status.shape, self.batch.nc), ABSENT, dtype=np.int8)
        limits = (tolerances.APPROACH, tolerances.STICK)
        judge(rows, self._unknown, limits, scratch(rows), self.v, ended, modes, 0, len(self.v))
        return ended, modes

    @property
    def _unknown(self) -> np.ndarray:
        return np.asarray(self.batch.status == Status.REFUSED)

    @property
    def terminated(self) -> np.ndarray:
        """Samples in which no contact approaches any more, (rows, n) bool; judged by the velocity itself."""
        return self._judged[0]

    @property
    def solved(self) -> np.ndarray:
        """Samples that are outcomes, (rows, n) bool: SOLVED, or nothing to solve; see `Outcomes.solved`."""
        return are_outcomes(self.status)

    @property
    def modes(self) -> np.ndarray:
        """What contacts do after, (rows, n, nc) int8 of `ContactMode`; -1: no contact."""
        return self._judged[1]

    @property
    def mode_probability(self) -> Array:
        """Shares of the solved samples in which a contact separates, sticks, slides, (rows, nc, 3)."""
        ended = self.solved[:, :, None]
        counts = [np.sum((self.modes == mode) & ended, axis=1) for mode in range(3)]
        total = np.maximum(ended.sum(axis=1), 1)
        return np.stack([count / total for count in counts], axis=-1)

    @property
    def kinetic_energy(self) -> Array:
        """Kinetic energies after, (rows, n) J."""
        found = np.zeros(self.status.shape)
        energies(self.batch.arrays, self.v, found, 0, len(found))
        return found

    @property
    def energy_gained(self) -> Array:
        """Kinetic energy after less that before, as a share of it, (rows, n); 0 if nothing moved before."""
        before = np.zeros((len(self), 1))
        energies(self.batch.arrays, self.batch.v[:, None], before, 0, len(before))
        return np.asarray((self.kinetic_energy - before) / np.where(before > 0.0, before, 1.0))

    @cached_property
    def ambiguity(self) -> Array:
        """Diameter of each row's outcomes over its speed before, in the kinetic-energy norm, (rows,).

        0 where there is one outcome only, NaN where no sample is solved.
        """
        found = np.full(len(self), np.nan)
        found[np.isin(self.batch.status, (Status.NO_CONTACT, Status.NO_IMPACT))] = 0.0
        impacts = self.batch.status == Status.SOLVED
        if self.status.shape[1] > FEW:
            for row in np.flatnonzero(impacts):
                found[row] = measure_ambiguity(self[int(row)]).score
            return found
        rows = self.batch.arrays
        points = np.empty(self.v.shape[1:])
        diameters(rows, ~impacts, scratch(rows), self.v, self.solved, points, found, 0, len(found))
        return found

    def jacobian(
        self, wrt: Sequence[str] = DATA, *, near: float | None = None, threads: int | None = None
    ) -> dict[str, np.ndarray]:
        """`routh.Outcomes.jacobian` of every row, with an axis of rows in front: "v" (rows, n, nv, nv), ...

        Derivatives by what a row does not have are 0; where there is no contact the velocity after is the one
        before, and where a state was REFUSED all is NaN.
        """
        each = np.broadcast_to(np.eye(self.batch.nv), (len(self), 1, *self.batch.M.shape[1:]))
        return self._pull(each, wrt, near, threads)

    def vjp(
        self,
        cotangent: ArrayLike,
        wrt: Sequence[str] = DATA,
        *,
        near: float | None = None,
        threads: int | None = None,
    ) -> dict[str, np.ndarray]:
        """Derivatives of ``cotangent . v`` of every sample of every row, one pass backwards; see `jacobian`.

        ``cotangent``: (nv,), (rows, 1, nv) or one for each sample, (rows, n, nv). The arrays are those of
        `jacobian` without their third axis.
        """
        (rows, n), nv = self.status.shape, self.batch.nv
        shapes = [(nv,), (rows, 1, nv), (rows, n, nv)]
        given = real_array("cotangent", cotangent, shapes, " or ".join(f"shape {shape}" for shape in shapes))
        samples = n if given.ndim == 3 and given.shape[1] == n else 1
        found = self._pull(np.broadcast_to(given, (rows, samples, nv))[:, :, None], wrt, near, threads)
        return {name: array[:, :, 0] if name in DATA else array for name, array in found.items()}

    def _pull(
        self, cotangents: Array, wrt: Sequence[str], near: float | None, threads: int | None
    ) -> dict[str, np.ndarray]:
        """See `routh.sampling.derivatives.pull_batch`."""
        pull = getattr(self.replay, "pull_batch", None)
        if pull is None:
            raise InputError(
                "jacobian", wrong="these samples cannot be drawn again", wanted="samples drawn by 'events'"
            )
        options = {} if near is None else {"near": near}
        found: dict[str, np.ndarray] = pull(self, cotangents, wrt=wrt, threads=threads, **options)
        return found

    def extreme(self, direction: ArrayLike | str | tuple[int | str, ArrayLike]) -> BatchExtreme:
        """The solved outcome of each row that is farthest along a direction.

        Parameters
        ----------
        direction : (nv,) or (rows, nv), the outcome maximizes ``direction . v``; or the name of a contact,
            whose normal velocity is maximized; or (contact, (1 + nt,)), normal first. Rows without this
            contact have index -1 and value NaN.
        """
        along = self._functionals(direction)
        values = np.einsum("kij,kj->ki", self.v, along)
        values = np.where(self.solved, values, -np.inf)
        index = np.argmax(values, axis=1)
        best = np.take_along_axis(values, index[:, None], axis=1)[:, 0]
        known = np.isfinite(best)
        v = np.take_along_axis(self.v, index[:, None, None], axis=1)[:, 0]
        index, best = np.where(known, index, -1), np.where(known, best, np.nan)
        return BatchExtreme(index, np.where(known[:, None], v, np.nan), best, along)

    def _functionals(self, direction: str | tuple[int | str, ArrayLike] | ArrayLike) -> Array:
        """A direction for each row, (rows, nv); NaN where the row has no such contact."""
        nv, n = self.batch.nv, len(self)
        if not isinstance(direction, (str, tuple)):
            given = real_array("direction", direction, [(nv,), (n, nv)], f"shape ({nv},) or ({n}, {nv})")
            return np.array(np.broadcast_to(given, (n, nv)))
        contact = direction if isinstance(direction, str) else direction[0]
        along = np.full((n, nv), np.nan)
        for row in np.flatnonzero(np.isin(self.batch.status, (Status.SOLVED, Status.NO_IMPACT))):
            if not isinstance(contact, str) or contact in self.batch.names_of(int(row)):
                problem = self.batch[int(row)]
                along[row] = 0.0
                along[row, : problem.nv] = as_functional(problem, direction)
        return along

    def status_counts(self) -> dict[Status, int]:
        """How many samples ended with which status."""
        return status_counts(self.status)

    def _coordinates(self) -> dict[str, object]:
        return {"direction": list(DIRECTIONS[1 + self.batch.nt])}

    def _columns(self) -> dict[str, Column]:
        meaning = ", ".join(f"{status.value} {status.name}" for status in Status)
        each = ("row", "sample")
        return {
            "ambiguity": Column(("row",), self.ambiguity, "1", "diameter of the outcomes over the speed"),
            "contacts": Column(("row",), self.batch.size[:, 1], "1", "number of contacts"),
            "v": Column((*each, "velocity"), self.v, "m/s or rad/s", "generalized velocity after"),
            "impulse": Column((*each, "contact", "direction"), self.impulse, "N s", "total"),
            "kinetic_energy": Column(each, self.kinetic_energy, "J", "after"),
            "terminated": Column(each, self.terminated, "1", "no contact approaches any more"),
            "status": Column(each, self.status, "1", meaning),
        }

    def parts(self) -> tuple[Options, dict[str, np.ndarray]]:
        """What a file keeps: the batch, the settings and the outcomes."""
        told, batch = self.batch.parts()
        own = {name: getattr(self, name) for name in _KEPT if getattr(self, name) is not None}
        arrays = {**{f"batch_{name}": array for name, array in batch.items()}, **own}
        return {"batch": told, "settings": self.settings}, arrays

    @classmethod
    def of_parts(cls, told: Options, arrays: dict[str, np.ndarray]) -> Self:
        """The inverse of `parts`; arrays that do not belong to the batch beside them are refused."""
        start = "batch_"
        given = {name.removeprefix(start): a for name, a in arrays.items() if name.startswith(start)}
        batch = ImpactBatch.of_parts(told["batch"], given)
        own: Options = {name: arrays[name] for name in _KEPT if name in arrays}
        each = (len(batch), own["status"].shape[-1] if own["status"].ndim == 2 else 0)
        further = {"v": (batch.nv,), "impulse": (batch.nc, 1 + batch.nt)}
        further |= {"stored": (batch.nc,), "returned": (batch.nc,)}
        kinds = dict.fromkeys(own, "f") | {"steps": "i", "status": "i"}
        check_arrays(own, {name: ((*each, *further.get(name, ())), kind) for name, kind in kinds.items()})
        return cls(batch, settings=dict(told["settings"]), **own)

    def __repr__(self) -> str:
        return f"BatchOutcomes(rows={len(self)}, n={self.status.shape[1]}, {self.batch!r})"


@dataclass(frozen=True, eq=False)
class BatchExtreme:
    """The outcome of each row that is farthest along a direction."""

    index: np.ndarray  # (rows,) sample; -1 where there is none
    v: Array  # (rows, nv) velocity after
    value: Array  # (rows,) how far along the direction
    direction: Array  # (rows, nv) so that value = direction . v
