"""Impacts of a robot in many states: a batch whose rows know their contacts in the world."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from routh.batch import ImpactBatch, padded
from routh.models.robot import (
    NoContactError,
    RobotContact,
    RobotProblem,
    distinct_names,
    listed,
    restitution_of,
)
from routh.problem import ImpactProblem
from routh.status import StateError
from routh.validation import Array, frozen, real, real_array
from routh.workers import in_processes, parts_of

CONTACT, JOINT_LIMIT = 0, 1
SIDES = ("lower", "upper")  # of a joint's range
_SHARE = 256  # states of which a process makes problems before it sends them
_PLACES = ("kind", "pair", "ordinal", "dist", "pos", "frame")

Place = tuple[Array, Array]  # position (3,) m and frame (3, 3) of a contact
_NOWHERE: Place = (np.full(3, np.nan), np.full((3, 3), np.nan))

#: Why a row with a NaN in it is refused.
NOT_FINITE = "impossible state: it holds a number that is not finite"


@dataclass(frozen=True, eq=False)
class Labels:
    """What a batch's numbers mean: names of geoms, and of joints with the unit of their limits."""

    geoms: tuple[str, ...]
    joints: tuple[str, ...]
    units: tuple[str, ...]  # of the joints' limits: "m" or "rad"
    notes: Mapping[str, frozenset[str]]  # what cannot be represented -> the pairs "geom2/geom1" that have it
    adhesion: tuple[str, ...] = ()  # actuators, which no row can represent

    def unrepresented(self, pairs: Collection[str] | None = None) -> list[str]:
        """One sentence part for each thing that contacts of these pairs (default: all) have."""
        kept = {
            what: sorted(where if pairs is None else where & set(pairs)) for what, where in self.notes.items()
        }
        found = {**kept, "adhesion": list(self.adhesion)}
        return [f"{what} ({listed(where)})" for what, where in found.items() if where]

    def name(self, kind: int, pair: np.ndarray, ordinal: int) -> str:
        """What a contact or limit is called."""
        if kind == JOINT_LIMIT:
            return f"{self.joints[pair[0]]}:{SIDES[pair[1]]}"
        return f"{self.geoms[pair[1]]}/{self.geoms[pair[0]]}" + (f"#{ordinal}" if ordinal > 1 else "")

    def contact(
        self, kind: int, pair: np.ndarray, ordinal: int, dist: float, place: Place = _NOWHERE
    ) -> RobotContact:
        """A contact, at its position and with its frame where they are given, or a limit."""
        name, (first, second) = self.name(kind, pair, ordinal), pair
        if kind == JOINT_LIMIT:
            owner, unit = self.joints[first], self.units[first]
            return RobotContact(name, "joint-limit", owner, SIDES[second], dist, unit=unit)
        return RobotContact(name, "contact", self.geoms[first], self.geoms[second], dist, *place)


@dataclass(frozen=True, eq=False, init=False, repr=False)
class RobotBatch(ImpactBatch):
    """An `ImpactBatch` of states of one robot; ``batch[k]`` is a `RobotProblem`.

    Without equality constraints ``v`` are the robot's own velocities, ``qvel``. With them they are
    coordinates of what the constraints allow, different ones in each row: `lift` gives the robot's.
    """

    dist: Array  # (n, nc) signed distances, m or rad; NaN where there is no contact
    unrepresented: tuple[str, ...]  # what the model holds and these problems do not

    _PER_ROW: ClassVar[tuple[str, ...]] = (*ImpactBatch._PER_ROW, *_PLACES, "_basis")

    @classmethod
    def from_places(
        cls, arrays: dict[str, np.ndarray], labels: Labels, reasons: dict[int, str]
    ) -> RobotBatch:
        """Rows whose contacts are numbers: ``arrays`` has kind, pair, ordinal, dist, pos and frame too."""
        batch = cls._from_parts(arrays, reasons)
        values = {name: frozen(arrays[name]) for name in _PLACES}
        told = {"_labels": labels, "unrepresented": tuple(labels.unrepresented())}
        for name, value in {**values, **told}.items():
            object.__setattr__(batch, name, value)
        return batch

    @classmethod
    def one_by_one(
        cls, q: Array, v: Array, nv: int, build: Callable[[Array, Array], RobotProblem], workers: int
    ) -> RobotBatch:
        """States (n, nq) and (n, nv), each by the code for a single one, in so many processes.

        ``nv`` is the robot's number of velocities, which bounds those of each row.
        """
        make, found = partial(_made_of, build, q, v), list[RobotProblem | NoContactError | str]()
        if workers == 1:
            found = make(range(len(q)))
        else:
            parts = parts_of(len(q), max(min(len(q) // (4 * workers), _SHARE), 1))
            in_processes(make, parts, workers, found.extend)
        rows = {k: row for k, row in enumerate(found) if not isinstance(row, str)}
        reasons = {k: row for k, row in enumerate(found) if isinstance(row, str)}
        known = {k: row for k, row in rows.items() if isinstance(row, RobotProblem)}
        problems = [known.get(k) for k in range(len(q))]
        widest = max((row.basis.shape[1] for row in rows.values()), default=nv)
        arrays = padded(problems, at_least=widest)
        basis = np.zeros((len(q), nv, widest))
        dist = np.full(arrays["mu"].shape, np.nan)
        for k, row in rows.items():
            basis[k, :, : row.basis.shape[1]] = row.basis
            if isinstance(row, RobotProblem):
                dist[k, : row.nc] = row.dist
            else:
                arrays["v"][k] = 0.0
                arrays["v"][k, : len(row.v)], arrays["size"][k, 0] = row.v, len(row.v)
        notes = dict.fromkeys(note for problem in known.values() for note in problem.unrepresented)
        batch = cls._from_parts(arrays, reasons)
        values = {"dist": dist, "unrepresented": tuple(notes), "_problems": tuple(problems), "_basis": basis}
        for name, value in values.items():
            object.__setattr__(batch, name, value)
        return batch

    def names_of(self, row: int) -> tuple[str, ...]:
        """The names of the contacts that are present in a row."""
        if "_problems" in self.__dict__:
            return super().names_of(row)
        return tuple(contact.name for contact in self.contacts_of(row))

    def contacts_of(self, row: int) -> tuple[RobotContact, ...]:
        """The contacts of a row where they are in the world."""
        if "_problems" in self.__dict__:
            problem = self.__dict__["_problems"][row]
            return () if problem is None else problem.contacts
        labels: Labels = self.__dict__["_labels"]
        made = []
        for i in np.flatnonzero(self.present[row]):
            kind, pair, ordinal, dist, pos, frame = (self.__dict__[name][row, i] for name in _PLACES)
            made.append(labels.contact(kind, pair, int(ordinal), float(dist), (pos.copy(), frame.copy())))
        names = distinct_names([contact.name for contact in made])
        return tuple(replace(contact, name=name) for contact, name in zip(made, names, strict=True))

    def _problem(self, k: int) -> ImpactProblem:
        if "_problems" in self.__dict__:
            return super()._problem(k)
        contacts = self.contacts_of(k)
        plain = super()._problem(k)
        labels: Labels = self.__dict__["_labels"]
        notes = labels.unrepresented({f"{c.geom2}/{c.geom1}" for c in contacts})
        return RobotProblem(plain, contacts, np.eye(self.nv), np.array(self.v[k]), notes)

    def lift(self, v: ArrayLike) -> Array:
        """Velocities of the whole robot, (n, ..., nv of the robot), from the batch's (n, ..., nv)."""
        velocity = np.asarray(v, dtype=np.float64)
        basis = self.__dict__.get("_basis")
        return velocity if basis is None else np.einsum("k...j,kij->k...i", velocity, basis)

    def set_restitution(self, given: float | Mapping[str, float]) -> None:
        """Write coefficients into a batch that nobody has seen yet: a number, or by the names of contacts."""
        values = np.zeros(self.mu.shape)
        if isinstance(given, Mapping):
            rows = restitution_of(given, [self.names_of(row) for row in range(len(self))])
            values[self.present] = [coefficient for row in rows for coefficient in row]
        else:
            values[self.present] = real("restitution", given, at_least=0.0, at_most=1.0)
        if not values.any():
            return
        values.setflags(write=False)
        object.__setattr__(self, "restitution", values)
        known = self.__dict__.get("_problems")
        if known is not None:
            changed = [p and p.replace(restitution=values[k, : p.nc]) for k, p in enumerate(known)]
            object.__setattr__(self, "_problems", tuple(changed))


def _made_of(
    build: Callable[[Array, Array], RobotProblem], q: Array, v: Array, part: range
) -> list[RobotProblem | NoContactError | str]:
    """What becomes of some of the states; text: why one is refused."""
    found: list[RobotProblem | NoContactError | str] = []
    for k in part:
        if not (np.isfinite(q[k]).all() and np.isfinite(v[k]).all()):
            found.append(NOT_FINITE)
            continue
        try:
            found.append(build(q[k], v[k]))
        except NoContactError as nothing:
            found.append(nothing)
        except StateError as refused:
            found.append(str(refused))
    return found


def state_arrays(given: Mapping[str, tuple[ArrayLike, int]]) -> list[Array]:
    """Arrays (n, width) of as many states each, by field; NaN is left to whoever judges the rows."""
    arrays: list[Array] = []
    for field, (values, width) in given.items():
        found = real_array(field, values, [(None, width)], f"shape (n, {width})", finite=False)
        if not len(found) or (arrays and len(found) != len(arrays[0])):
            wanted = f"{len(arrays[0])}, as many as in {next(iter(given))}" if arrays else "at least one"
            raise ValueError(f"{field}: got {len(found)} states; wanted {wanted}")
        arrays.append(found)
    return arrays
