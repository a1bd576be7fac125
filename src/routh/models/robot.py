"""Impacts of robots: problems that know their contacts in the world and their velocities in full.

First what adapters hand over (`RobotContact`, `ContactRow`), then one problem (`RobotProblem`, made by
`assemble`), then those of many states (`RobotBatch`).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import compress
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from routh.base import text, tolerances
from routh.base.processes import in_processes, parts_of
from routh.base.status import InputError, ModelError, StateError, no_such
from routh.base.text import for_terminal
from routh.base.validation import Array, frozen, real, real_array
from routh.models.regime import restitution_of_contacts
from routh.models.simultaneity import RESTITUTION, Rules, time_to_contact
from routh.problem.batch import ImpactBatch, padded
from routh.problem.impact import ImpactProblem


class UnrepresentedWarning(UserWarning):
    """A robot's model holds something that an impact problem cannot represent; the message names it."""


def tell_unrepresented(where: str, notes: Sequence[str]) -> None:
    """Warn of what the model holds and the impact, the impacts or the motion does not."""
    if notes:
        text = f"not represented in the {where}: {'; '.join(notes)}"
        warnings.warn(text, UnrepresentedWarning, stacklevel=3)


class NoContactError(InputError):
    """Nothing is near in a state; ``v`` is its velocity, in coordinates that equality constraints allow."""

    def __init__(self, wrong: str, v: Array, basis: Array) -> None:
        super().__init__("state", wrong=wrong)
        self.v, self.basis = v, basis


@dataclass(frozen=True, eq=False)
class RobotContact:
    """One contact, or one limit that is reached, where it is in the world.

    The normal (first row of ``frame``) points from ``geom1`` to ``geom2``; contact velocities are those of
    ``geom2`` relative to ``geom1``. Limits have no place: their ``pos`` and ``frame`` are NaN.
    """

    name: str
    kind: str  # "contact", "joint-limit" or "tendon-limit"
    geom1: str
    geom2: str
    dist: float  # signed distance: m, or rad for the limit of a hinge
    pos: Array = field(default_factory=lambda: np.full(3, np.nan))  # (3,) m, world: the middle of the gap
    frame: Array = field(default_factory=lambda: np.full((3, 3), np.nan))  # rows: normal, two tangents, world
    unit: str = "m"  # of the distance: "m" or "rad"


@dataclass(frozen=True, eq=False)
class ContactRow:
    """A contact with its Jacobian in the velocities of the whole robot: what adapters collect."""

    contact: RobotContact
    J: Array  # (3, nv) normal, then tangents
    mu: float
    damping_ratio: float = np.nan  # of its spring; NaN where the model says nothing


@dataclass(frozen=True, eq=False, init=False, repr=False)
class RobotProblem(ImpactProblem):
    """An `ImpactProblem` of a robot.

    Its velocities are coordinates of those that the equality constraints allow: ``qvel = basis @ v``. Without
    equality constraints the basis is the identity and v is qvel itself.
    """

    contacts: tuple[RobotContact, ...]
    basis: Array  # (nv of the robot, nv)
    qvel: Array  # (nv of the robot,) velocity before, as the state had it
    unrepresented: tuple[str, ...]  # what the model holds and this problem does not

    def __init__(
        self,
        problem: ImpactProblem,
        contacts: Sequence[RobotContact],
        basis: Array,
        qvel: Array,
        unrepresented: Sequence[str] = (),
    ) -> None:
        self._adopt(problem)
        self.__dict__.update(contacts=tuple(contacts), unrepresented=tuple(unrepresented))
        self.__dict__.update(basis=frozen(basis), qvel=frozen(qvel))

    @property
    def reduced(self) -> bool:
        """Whether equality constraints removed some of the robot's velocities."""
        return self.basis.shape[0] != self.basis.shape[1]

    @property
    def velocity_units(self) -> tuple[str, ...]:
        """Units of the contact velocities, (nc,): "m/s", for limits of hinges "rad/s"."""
        return tuple(f"{contact.unit}/s" for contact in self.contacts)

    @property
    def dist(self) -> Array:
        """Signed distances, (nc,) m; rad for limits of hinges."""
        return np.array([contact.dist for contact in self.contacts])

    @property
    def time_to_contact(self) -> Array:
        """Time at which each gap closes at the velocity before, (nc,) s; 0: closed, infinite: it opens."""
        return time_to_contact(self.dist, self.Jn @ self.v)

    def lift(self, v: ArrayLike) -> Array:
        """Velocities of the whole robot, (..., nv of the robot), from the problem's (..., nv)."""
        return np.asarray(v, dtype=np.float64) @ self.basis.T

    def allowed(self, qvel: ArrayLike) -> Array:
        """The problem's velocity (nv,) of an allowed velocity of the robot; the nearest one of any other."""
        return np.asarray(qvel, dtype=np.float64) @ self.basis

    def functional(self, direction: ArrayLike) -> Array:
        """``direction . qvel`` as a direction of the problem's own velocities, (nv,)."""
        return np.asarray(direction, dtype=np.float64) @ self.basis

    def replace(self, **changes: Any) -> ImpactProblem:
        """A new problem with some fields changed; it stays a robot's while its contacts are known."""
        plain = super().replace(**changes)
        known = {contact.name: contact for contact in self.contacts}
        if plain.nv != self.nv or any(name not in known for name in plain.names):
            return plain
        contacts = [known[name] for name in plain.names]
        return RobotProblem(plain, contacts, self.basis, self.qvel, self.unrepresented)

    def __repr__(self) -> str:
        reduced = f" of {len(self.qvel)}" if self.reduced else ""
        names = for_terminal(", ".join(self.names))
        return f"RobotProblem(nv={self.nv}{reduced}, nt={self.nt}, contacts={names})"


def assemble(
    M: Array,
    qvel: Array,
    rows: Sequence[ContactRow],
    rules: Rules,
    *,
    equality: Array,
    later: Sequence[ContactRow] = (),
) -> RobotProblem:
    """The impact of the simultaneous contacts among ``rows``, reduced to what ``equality`` allows.

    Parameters
    ----------
    M : (nv, nv) mass matrix.
    qvel : (nv,) velocity before.
    equality : (ne, nv) rows that velocities must be orthogonal to.
    later : rows among which are those that close soon, looked for from farther away.
    """
    basis = allowed_velocities(equality)
    reduced_mass = basis.T @ M @ basis
    v, notes = np.array(qvel, dtype=np.float64), []
    if basis.shape[0] != basis.shape[1]:  # the nearest allowed velocity in the kinetic-energy norm
        v = np.asarray(np.linalg.solve(reduced_mass, basis.T @ (M @ qvel)), dtype=np.float64)
    drift, size = (math.sqrt(max(float(w @ M @ w), 0.0)) for w in (qvel - basis @ v, qvel))
    if drift > tolerances.CONSTRAINT_DRIFT * size:
        notes.append(
            f"a velocity that breaks the equality constraints (by {drift:.2g} of {size:.2g} "
            "in the kinetic-energy norm): its nearest allowed one is taken"
        )
    kept = _simultaneous(rows, basis, v, rules)
    for worst in sorted((row.contact for row in kept), key=lambda contact: (contact.unit, contact.dist)):
        if not -worst.dist <= rules.most(worst.unit, worst.kind):
            raise impossible(worst, rules)
    J = np.array([row.J for row in kept]) @ basis  # (nc, 3, nv)
    contacts, tangents = planar_tangents(kept, J[:, 1:])
    names, mu = [contact.name for contact in contacts], [row.mu for row in kept]
    elastic = _restitution(rules, kept, names)
    soon = _closing_soon(later, basis, v, rules, names)
    plain = ImpactProblem(reduced_mass, J[:, 0], tangents, mu, v, restitution=elastic, names=names, soon=soon)
    return RobotProblem(plain, contacts, basis, np.array(qvel), notes)


def _restitution(rules: Rules, rows: Sequence[ContactRow], names: Sequence[str]) -> ArrayLike:
    """The restitution of these contacts; limits have no spring that is known, and return nothing."""
    given = rules.restitution
    if isinstance(given, Mapping):
        return restitution_of(given, [names])[0]
    if not isinstance(given, str):
        return given
    if given != RESTITUTION:
        raise InputError("restitution", got=repr(given), wanted=f"numbers in [0, 1], or {RESTITUTION!r}")
    elastic = restitution_of_contacts([row.damping_ratio for row in rows])
    return np.where([row.contact.kind == "contact" for row in rows], elastic, 0.0)


def impossible(worst: RobotContact, rules: Rules) -> StateError:
    """Why a state cannot be that has this contact or limit."""
    unit, how = worst.unit, "deep" if worst.kind == "contact" else "past its limit"
    overlap = unit == "m" and worst.kind != "tendon-limit"
    return StateError(
        "impossible state",
        wrong=f"{worst.name} is {-worst.dist:.3g} {unit} {how}",
        wanted=f"at most {rules.most(unit, worst.kind):g} {unit}",
        by="deepest" if overlap else "past_limit",
    )


def allowed_velocities(equality: Array) -> Array:
    """An orthonormal basis (nv, k) of the velocities with ``equality @ v = 0``; the identity without rows."""
    nv = equality.shape[1]
    if not np.any(equality):
        return np.eye(nv)
    scaled = equality / np.maximum(np.linalg.norm(equality, axis=1, keepdims=True), 1e-300)
    _, values, directions = np.linalg.svd(scaled)
    rank = int(np.count_nonzero(values > tolerances.RANK * values[0]))
    if rank == nv:
        raise ModelError(
            "equality", wrong="the constraints allow no velocity at all", wanted="a mechanism that can move"
        )
    return np.ascontiguousarray(directions[rank:].T)


def planar_tangents(rows: Sequence[ContactRow], Jt: Array) -> tuple[list[RobotContact], Array]:
    """The contacts and their tangents, (nc, 1, nv) where none can slide in more than one direction.

    A planar robot in a spatial world has such contacts: each tangent pair (2, nv) is turned, in the frame
    too, so that the second one vanishes. That changes neither Coulomb's cone nor what it does.
    """
    contacts = [row.contact for row in rows]
    turned, frames = np.empty((len(Jt), 1, Jt.shape[2])), []
    for i, pair in enumerate(Jt):
        left, values, _ = np.linalg.svd(pair)
        if len(values) > 1 and values[1] > tolerances.RANK * max(values[0], 1.0):
            return contacts, Jt
        first = left[:, 0] * np.sign(left[np.argmax(np.abs(left[:, 0])), 0])
        rotation = np.array([first, [-first[1], first[0]]])
        turned[i, 0] = first @ pair
        frames.append(np.vstack([contacts[i].frame[0], rotation @ contacts[i].frame[1:]]))
    return [replace(c, frame=frame) for c, frame in zip(contacts, frames, strict=True)], turned


def _simultaneous(rows: Sequence[ContactRow], basis: Array, v: Array, rules: Rules) -> list[ContactRow]:
    """The rows that take part, with distinct names."""
    normals, dist, movable = _normals(rows, basis)
    kept = movable & rules.counts(dist, normals @ v)
    if not kept.any():
        found = f"the smallest distance is {dist[movable].min():g}" if movable.any() else "nothing is near"
        immovable = int(np.count_nonzero(~movable))
        if immovable:
            found += f" but {immovable} contact{'s' * (immovable > 1)} that no velocity can change"
        raise NoContactError(f"no contact {rules}; {found}", v, basis)
    taken = list(compress(rows, kept))
    # points of a pair are numbered here: how many were looked at depends on how far one looks
    names = distinct_names([row.contact.name for row in taken])
    named = (replace(row.contact, name=name) for row, name in zip(taken, names, strict=True))
    return [replace(row, contact=contact) for row, contact in zip(taken, named, strict=True)]


def _closing_soon(
    rows: Sequence[ContactRow], basis: Array, v: Array, rules: Rules, taken: Sequence[str]
) -> dict[str, float]:
    """Which rows take no part and close soon, name -> s; names are distinct from those ``taken``."""
    normals, dist, movable = _normals(rows, basis)
    late = movable & rules.closes_soon(dist, normals @ v)
    plain = [name.split("#")[0] for name in taken]
    names = distinct_names([*plain, *(row.contact.name.split("#")[0] for row in compress(rows, late))])
    times = time_to_contact(dist, normals @ v)[late]
    return dict(zip(names[len(plain) :], times.tolist(), strict=True))


def _normals(rows: Sequence[ContactRow], basis: Array) -> tuple[Array, Array, np.ndarray]:
    """Normals (n, k) in allowed velocities, distances (n,), and where some velocity moves along a normal."""
    whole = np.array([row.J[0] for row in rows]).reshape(-1, len(basis))
    normals, dist = whole @ basis, np.array([row.contact.dist for row in rows])
    sizes, least = (np.linalg.norm(J, axis=1) for J in (normals, whole))
    return normals, dist, sizes > tolerances.RANK * np.maximum(least, 1.0)


def restitution_of(given: Mapping[str, float], rows: Sequence[Sequence[str]]) -> list[list[float]]:
    """The coefficients of contacts in some rows by their names; what is not named has 0."""
    for key, value in given.items():
        real(f"restitution[{key!r}]", value, at_least=0.0, at_most=1.0)
    names = dict.fromkeys(name for row in rows for name in row)
    known = {*names, *(name.split("#")[0] for name in names)}  # "foot/floor" speaks for "foot/floor#2" too
    unknown = [name for name in given if name not in known]
    if unknown:
        raise no_such("restitution", unknown[0], names)
    return [[given.get(name, given.get(name.split("#")[0], 0.0)) for name in row] for row in rows]


def distinct_names(wanted: Sequence[str]) -> list[str]:
    """The same names, with ``#2``, ``#3``, ... behind those that come again."""
    counts: dict[str, int] = {}
    names = []
    for name in wanted:
        counts[name] = counts.get(name, 0) + 1
        names.append(name if counts[name] == 1 else f"{name}#{counts[name]}")
    return names


def listed(where: Iterable[str]) -> str:
    """Some of the names, each once, and how many more there are."""
    return text.listed(list(dict.fromkeys(where)), 4)


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
    of_model: tuple[str, ...] = ()  # the same of the model, whatever touches

    def unrepresented(self, pairs: Collection[str] | None = None) -> list[str]:
        """One sentence part for each thing that contacts of these pairs (default: all) have."""
        kept = {
            what: sorted(where if pairs is None else where & set(pairs)) for what, where in self.notes.items()
        }
        return [*(f"{what} ({listed(where)})" for what, where in kept.items() if where), *self.of_model]

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
        batch.__dict__.update({name: frozen(arrays[name]) for name in _PLACES})
        batch.__dict__.update(_labels=labels, unrepresented=tuple(labels.unrepresented()))
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
        batch.__dict__.update(dist=dist, unrepresented=tuple(notes), _problems=tuple(problems), _basis=basis)
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
        self.__dict__["restitution"] = values
        if (known := self.__dict__.get("_problems")) is not None:
            changed = (p and p.replace(restitution=values[k, : p.nc]) for k, p in enumerate(known))
            self.__dict__["_problems"] = tuple(changed)


def _made_of(
    build: Callable[[Array, Array], RobotProblem], q: Array, v: Array, part: range
) -> list[RobotProblem | NoContactError | str]:
    """What becomes of some of the states; text: why one is refused."""
    found: list[RobotProblem | NoContactError | str] = []
    for k in part:
        try:
            finite = np.isfinite(q[k]).all() and np.isfinite(v[k]).all()
            found.append(build(q[k], v[k]) if finite else NOT_FINITE)
        except NoContactError as nothing:
            found.append(nothing)
        except StateError as refused:
            found.append(str(refused))
    return found


def state_arrays(given: Mapping[str, tuple[ArrayLike, int]]) -> list[Array]:
    """Arrays (n, width) of as many states each, by field; NaN is left to whoever judges the rows."""
    arrays: list[Array] = []
    for name, (values, width) in given.items():
        found = real_array(name, values, [(None, width)], f"shape (n, {width})", finite=False)
        if not len(found) or (arrays and len(found) != len(arrays[0])):
            wanted = f"{len(arrays[0])}, as many as in {next(iter(given))}" if arrays else "at least one"
            raise InputError(name, got=f"{len(found)} states", wanted=wanted)
        arrays.append(found)
    return arrays
