"""Many outcomes of one impact: velocities, impulses, statuses, and what they say per contact."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from routh.base import tolerances
from routh.base.results import DIRECTIONS, Column, Drawable, ImpactPath, Tabular
from routh.base.status import InputError, Status
from routh.base.storage import Stored
from routh.base.text import percent
from routh.base.validation import Array, Options, real, real_array
from routh.problem.friction import ContactMode
from routh.problem.impact import FIELDS, ImpactProblem, soon_sentence
from routh.problem.pointedness import is_pointed
from routh.sampling.ambiguity import (
    Direction,
    Extreme,
    Principal,
    covariance,
    extreme,
    measure_ambiguity,
    principal,
)
from routh.sampling.answers import (
    SAME_MODE,
    Answer,
    combinations,
    contact_modes,
    make_answer,
    merged_modes,
    nothing_approaches,
    numbers_beside,
)

DATA = ("v", "mu", "M", "Jn", "Jt", "restitution")  # what an outcome depends on

_KEPT = ("v", "impulse", "steps", "status", "residual", "stored", "returned", "error")
_OK = np.array([code in set(Status) and Status(code).ok for code in range(max(Status) + 1)])  # by status


@dataclass(frozen=True)
class ModeRow:
    """One combination of contact modes and how often it occurred."""

    modes: tuple[str, ...]  # "separates", "sticks" or "slides" per contact
    count: int
    share: float
    kinetic_energy: tuple[float, float]  # smallest and largest after, J
    combinations: int = 1  # how many that differ by less than the threshold of `Outcomes.summary`


@dataclass(frozen=True, eq=False)
class Outcomes(Drawable, Tabular, Stored):
    """The sampled set of outcomes of one impact. No sample is ever left out: see ``status``."""

    problem: ImpactProblem
    v: Array = field(repr=False)  # (n, nv) velocities after
    impulse: Array = field(repr=False)  # (n, nc, 1 + nt) total impulses, N s, normal first
    steps: np.ndarray = field(repr=False)  # (n,) increments taken; by events: straight pieces
    status: np.ndarray = field(repr=False)  # (n,) int8, see routh.Status
    residual: Array = field(repr=False)  # (n,) largest scaled residual of a sample's steps
    jam_known: bool | None = field(default=None, repr=False)  # where `jammed` was decided while drawing
    settings: Options = field(default_factory=dict)  # how the samples were drawn
    stored: Array | None = field(default=None, repr=False)  # (n, nc) J, taken up while approaching
    returned: Array | None = field(default=None, repr=False)  # (n, nc) J; both None without restitution
    # (n,) sum of the local errors along a curved path, a share of the speed; None where paths are straight
    error: Array | None = field(default=None, repr=False)
    replay: Callable[[Outcomes, int], ImpactPath] | None = field(default=None, repr=False)  # see `path`

    _kind: ClassVar = "set of outcomes"

    def __len__(self) -> int:
        return len(self.v)

    @cached_property
    def jammed(self) -> bool:
        """Whether the friction cone is not pointed: no termination was promised. Decided when asked."""
        if self.jam_known is not None:
            return self.jam_known
        friction, facets = self.settings.get("friction", "cone"), self.settings.get("facets")
        return not is_pointed(
            self.problem, friction=friction, facets=facets if friction == "polyhedral" else None
        )

    @cached_property
    def terminated(self) -> np.ndarray:
        """Samples in which no contact approaches any more, (n,) bool; judged by the velocity itself."""
        limit = -tolerances.APPROACH * self.problem.scaling.velocity
        return np.all(self.v @ self.problem.Jn.T >= limit, axis=1)

    @property
    def solved(self) -> np.ndarray:
        """Samples that are outcomes, (n,) bool: their status is SOLVED, or there was nothing to solve.

        All others are left out of every set, picture and number that is made of the samples.
        """
        return are_outcomes(self.status)

    @property
    def events(self) -> np.ndarray:
        """Events of each sample, (n,): ends of straight pieces, or increments of Algorithm 1."""
        return self.steps

    def path(self, sample: int) -> ImpactPath:
        """The pieces of one sample drawn by events: velocities passed through, impulses between.

        Pieces are straight, but with the true cone in space they are points along curves.

        The sample is drawn again. Outcomes from a file have no `replay`: see `routh.sampling.events.path_of`.
        """
        if self.replay is None:
            raise self._not_again("path")
        return self.replay(self, sample)

    def _not_again(self, what: str) -> ValueError:
        by = self.settings.get("method", "algorithm1")
        if by != "events":
            return InputError(
                what, wrong=f"these samples were drawn by {by!r}", wanted="samples drawn by 'events'"
            )
        tool = "events.path_of" if what == "path" else "derivatives.pull"
        told = "these samples come from a file, without what drew them"
        return InputError(what, wrong=f"{told}; routh.sampling.{tool} draws them again")

    def jacobian(
        self,
        wrt: Sequence[str] = DATA,
        *,
        near: float | None = None,
        side: ArrayLike | None = None,
        threads: int | None = None,
    ) -> dict[str, np.ndarray]:
        """Derivatives of every sample's velocity after by the data of the problem, decisions held fixed.

        The samples must have been drawn by events; they are drawn again, see `routh.sampling.derivatives` for
        what the decisions are. A dictionary with the arrays asked for, derivatives of ``v[k, i]`` in
        ``[k, i, ...]``: "v" (n, nv, nv), "mu" and "restitution" (n, nv, nc), "Jn" (n, nv, nc, nv), "Jt"
        (n, nv, nc, nt, nv), and "M" (n, nv, nv, nv), symmetric in its last two axes: its sum over the entries
        of a symmetric change of M is the change of the velocity. Further "margin" (n,), the least distance
        of a sample from a change of piece in the problem's own units, and "one_sided" (n,) bool: margins
        below ``near`` (1e-9), where the derivative holds along changes that keep the coincidence.

        ``side`` (nv,): a change of the velocity; one-sided samples get the derivative to that side of the
        change of piece where they go on as they were, which "to_side" (n,) bool tells. NaN where a sample has
        no outcome, or its derivative misses Euler's theorem on homogeneous functions. A contact with
        restitution 0 has no piece in which it returns anything: its column is 0.
        """
        return self._pull(np.eye(self.problem.nv)[None], wrt, near=near, side=side, threads=threads)

    def vjp(
        self,
        cotangent: ArrayLike,
        wrt: Sequence[str] = DATA,
        *,
        near: float | None = None,
        side: ArrayLike | None = None,
        threads: int | None = None,
    ) -> dict[str, np.ndarray]:
        """Derivatives of ``cotangent . v`` of every sample, one pass backwards; see `jacobian`.

        ``cotangent``: (nv,) or one for each sample, (n, nv). The arrays are those of `jacobian` without their
        second axis.
        """
        n, nv = len(self), self.problem.nv
        given = real_array("cotangent", cotangent, [(nv,), (n, nv)], f"shape ({nv},) or ({n}, {nv})")
        found = self._pull(given.reshape(-1, 1, nv), wrt, near=near, side=side, threads=threads)
        return {name: array[:, 0] if name in DATA else array for name, array in found.items()}

    def _pull(self, cotangents: Array, wrt: Sequence[str], **options: Any) -> dict[str, np.ndarray]:
        """See `routh.sampling.derivatives.pull`, which also takes outcomes from files."""
        pull = getattr(self.replay, "pull", None)
        if pull is None:
            raise self._not_again("jacobian")
        given = {k: v for k, v in options.items() if v is not None or k == "threads"}
        found: dict[str, np.ndarray] = pull(self, cotangents, wrt=wrt, **given)
        return found

    @property
    def contact_velocity(self) -> Array:
        """Contact velocities after, (n, nc, 1 + nt), m/s, normal first."""
        return self.problem.contact_velocity(self.v)

    @cached_property
    def kinetic_energy(self) -> Array:
        """Kinetic energies after, (n,) J."""
        return self.problem.kinetic_energy(self.v)

    @property
    def created(self) -> Array:
        """Work that contacts returned beyond what they had stored, (n,) J: only Poisson's hypothesis can."""
        if self.stored is None or self.returned is None:
            return np.zeros(len(self))
        return np.maximum(self.returned - self.stored, 0.0).sum(axis=1)

    @cached_property
    def modes(self) -> np.ndarray:
        """What each contact does after, (n, nc) int8, see `routh.problem.friction.ContactMode`."""
        return contact_modes(self.problem, self.v)

    def summary(self, threshold: float = 0.0) -> list[ModeRow]:
        """Combinations of contact modes among the solved samples, the most frequent first.

        Combinations that differ by velocities below ``threshold``, a share of the speed before, are one row;
        see `routh.sampling.answers.merged_modes`.
        """
        rows = slice(None) if self.solved.all() else self.solved  # no copies
        modes, which = combinations(self.merged_modes(threshold)[rows])
        energies = self.kinetic_energy[rows]
        low, high = np.full(len(modes), np.inf), np.full(len(modes), -np.inf)
        np.minimum.at(low, which, energies)
        np.maximum.at(high, which, energies)
        counts = np.bincount(which, minlength=len(modes))
        table = np.stack([counts, low, high], axis=1)
        if threshold <= tolerances.STICK:
            return mode_rows(modes, table, len(self))
        finest, fine = combinations(self.modes[rows])
        return mode_rows(modes, table, len(self), numbers_beside(which, fine, len(modes), len(finest)))

    def merged_modes(self, threshold: float) -> np.ndarray:
        """`modes` in which combinations that differ by less than ``threshold`` are one, (n, nc) int8.

        Judged by the solved samples; see `routh.sampling.answers.merged_modes`.
        """
        if real("threshold", threshold, at_least=0.0) <= tolerances.STICK:
            return self.modes
        if threshold not in self._merged:
            solved = self.solved
            if solved.all():  # no copies
                found = merged_modes(self.problem, self.v, threshold, self.modes)
            else:
                found = self.modes.copy()
                found[solved] = merged_modes(self.problem, self.v[solved], threshold, found[solved])
            self._merged[threshold] = found
        return self._merged[threshold]

    @cached_property
    def _merged(self) -> dict[float, np.ndarray]:
        """What `merged_modes` found, by the threshold: answers, tables and pictures ask for the same."""
        return {}

    @cached_property
    def pictured(self) -> dict[object, Any]:
        """What pictures have computed beside the samples, for the next picture of them."""
        return {}

    @cached_property
    def _answers(self) -> dict[float, Answer]:
        return {}

    def answer(self, threshold: float = SAME_MODE) -> Answer:
        """How ambiguous the impact is, between which two outcomes, and which contact is least certain.

        Made of the solved samples; where they are too few, it says so first. ``threshold``: a share of the
        speed before, see `summary`.
        """
        if threshold not in self._answers:
            self._answers[threshold] = self._answer(threshold)
        return self._answers[threshold]

    def _answer(self, threshold: float) -> Answer:
        counts = self.status_counts()
        if set(counts) == {Status.NO_IMPACT}:
            return nothing_approaches(self.problem, self.rounding)
        rows, v, modes = np.flatnonzero(self.solved), self.v, self.merged_modes(threshold)
        if len(rows) < len(v):
            v, modes = v[rows], modes[rows]
        found = make_answer(self.problem, v, modes, rows, rounding=self.rounding)
        failed = {status: count for status, count in counts.items() if not status.ok}
        return replace(found, n=len(self), failed=failed, drawn={"nt": self.problem.nt, **self.settings})

    @property
    def rounding(self) -> float:
        """Ambiguity up to here is none: rounding, or the error of curved paths; a share of the speed."""
        error = 0.0 if self.error is None else float(self.error[self.solved].max(initial=0.0))
        return max(tolerances.AMBIGUOUS, 2.0 * error)

    def status_counts(self) -> dict[Status, int]:
        """How many samples ended with which status."""
        return status_counts(self.status)

    @cached_property
    def ambiguity(self) -> float:
        """Diameter of the set over the speed before, in the kinetic-energy norm."""
        return measure_ambiguity(self).score

    def covariance(self) -> Array:
        """Covariance of the velocities after, (nv, nv), over the solved samples.

        It depends on how the rates were drawn: no probability of what a real impact does.
        """
        return covariance(self)

    def principal(self, k: int | None = None) -> Principal:
        """The ``k`` widest directions and their widths, in the kinetic-energy norm; of the samples, too."""
        return principal(self, k)

    def extreme(self, direction: Direction) -> Extreme:
        """The outcome farthest along a velocity (nv,), a contact's normal (name), or (contact, direction).

        See `routh.sampling.ambiguity.extreme`.
        """
        return extreme(self, direction)

    def parts(self) -> tuple[Options, dict[str, np.ndarray]]:
        """What a file keeps: the problem, the settings and the samples."""
        problem = {f"problem_{name}": getattr(self.problem, name) for name in FIELDS}
        samples = {name: getattr(self, name) for name in _KEPT if getattr(self, name) is not None}
        told = {"names": self.problem.names, "jammed": bool(self.jammed), "settings": self.settings}
        return told, {**problem, **samples}

    @classmethod
    def of_parts(cls, told: Options, arrays: dict[str, np.ndarray]) -> Self:
        """The inverse of `parts`; arrays that do not belong to the problem beside them are refused."""
        fields = (arrays[f"problem_{name}"] for name in FIELDS[:-1])
        problem = ImpactProblem(*fields, restitution=arrays[f"problem_{FIELDS[-1]}"], names=told["names"])
        samples = {name: arrays[name] for name in _KEPT if name in arrays}
        n, nc = len(np.atleast_1d(samples["status"])), problem.nc
        shapes = {"v": (n, problem.nv), "impulse": (n, nc, 1 + problem.nt)}
        shapes |= {"stored": (n, nc), "returned": (n, nc)}
        kinds = dict.fromkeys(samples, "f") | {"steps": "i", "status": "i"}
        check_arrays(samples, {name: (shapes.get(name, (n,)), kind) for name, kind in kinds.items()})
        settings, jammed = told["settings"], told["jammed"]
        if not (isinstance(settings, dict) and isinstance(jammed, bool)):
            got = f"settings, jammed: got {type(settings).__name__}, {type(jammed).__name__}"
            raise InputError(wrong=got, wanted="a dictionary and a truth")
        given: Options = samples
        return cls(problem, **given, jam_known=jammed, settings=settings)

    def __repr__(self) -> str:
        return f"Outcomes(n={len(self)}, solved={int(np.count_nonzero(self.solved))}, {self.problem!r})"

    def _facts(self) -> list[tuple[object, ...]]:
        rows: list[tuple[object, ...]] = [(*self.problem.names, "share", "energy after, J")]
        for row in self.summary(SAME_MODE):
            low, high = row.kinetic_energy
            rows.append((*row.modes, percent(row.share), f"{low:.3g} to {high:.3g}"))
        return rows

    def _sentences(self) -> list[str]:
        return [*self.answer().lines(), *soon_sentence(self.problem.soon)]

    def _coordinates(self) -> dict[str, object]:
        return {"contact": list(self.problem.names), "direction": list(DIRECTIONS[1 + self.problem.nt])}

    def _columns(self) -> dict[str, Column]:
        meaning = ", ".join(f"{status.value} {status.name}" for status in Status)
        modes = ", ".join(f"{mode.value} {mode.word}" for mode in ContactMode)
        at_contacts = ("sample", "contact", "direction")
        return {
            "v": Column(("sample", "velocity"), self.v, "m/s or rad/s", "generalized velocity after"),
            "contact_velocity": Column(at_contacts, self.contact_velocity, "m/s", "after"),
            "impulse": Column(at_contacts, self.impulse, "N s", "total"),
            "mode": Column(("sample", "contact"), self.modes, "1", modes),
            "kinetic_energy": Column(("sample",), self.kinetic_energy, "J", "after"),
            "terminated": Column(("sample",), self.terminated, "1", "no contact approaches any more"),
            "status": Column(("sample",), self.status, "1", meaning),
            "events": Column(("sample",), self.steps, "1", "pieces of the path, or increments"),
            "residual": Column(("sample",), self.residual, "1", "largest scaled residual"),
        }


def with_jams(found: Outcomes) -> Outcomes:
    """The same outcomes: samples that ran out of steps are called jammed where the cone is not pointed."""
    stopped = found.status == Status.MAX_STEPS
    if not stopped.any() or not found.jammed:
        return found
    return replace(found, status=np.where(stopped, np.int8(Status.JAMMED), found.status), jam_known=True)


def are_outcomes(status: np.ndarray) -> np.ndarray:
    """Whether statuses (...) are those of outcomes: solved, or nothing to solve."""
    return np.asarray(_OK.take(status))


def status_counts(status: np.ndarray) -> dict[Status, int]:
    """How many samples ended with which status."""
    return {Status(code): int(count) for code, count in enumerate(np.bincount(status.ravel())) if count}


def check_arrays(arrays: dict[str, np.ndarray], wanted: dict[str, tuple[tuple[int, ...], str]]) -> None:
    """Raise where arrays of a file have other shapes or kinds than ``wanted``, or statuses are none."""
    for name, (shape, kind) in wanted.items():
        if name in arrays and (arrays[name].shape != shape or arrays[name].dtype.kind != kind):
            got = f"shape {arrays[name].shape} of {arrays[name].dtype}"
            raise InputError(name, got=got, wanted=f"shape {shape} of kind {kind!r}")
    unknown = set(np.unique(arrays["status"]).tolist()) - set(map(int, Status))
    if unknown:
        raise InputError("status", got=f"{min(unknown)}, which is no status", wanted=f"0 to {max(Status):d}")


def mode_rows(
    modes: np.ndarray, table: Array, samples: int, merged: np.ndarray | None = None
) -> list[ModeRow]:
    """Combinations of modes (k, nc), the most frequent first; ``table`` (k, 3): counts, energy from, to.

    ``merged`` (k,): how many combinations each of them stands for.
    """
    rows = []
    for place in np.argsort(-table[:, 0], kind="stable"):
        count, low, high = table[place]
        words = tuple(ContactMode(int(mode)).word for mode in modes[place])
        several = 1 if merged is None else int(merged[place])
        rows.append(ModeRow(words, int(count), float(count) / samples, (float(low), float(high)), several))
    return rows
