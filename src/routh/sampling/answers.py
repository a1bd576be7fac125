"""The answer in words: how ambiguous an impact is, between which two outcomes, and at which contact.

`routh.Outcomes.answer` and `routh.ExactSet.answer` make it; the command line, notebooks and JSON show it.
After the answer itself: what contacts do (their modes, and combinations of modes), and how contacts are named
in sentences.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from routh.base import tolerances
from routh.base.results import DIRECTIONS
from routh.base.status import Status
from routh.base.text import by_body, for_terminal, listed, toucher
from routh.base.validation import Array, Options, real
from routh.problem.friction import ContactMode
from routh.problem.impact import ImpactProblem
from routh.sampling.ambiguity import Sampled, distinct, farthest_pair

#: Combinations of contact modes that differ by velocities below this share of the speed are told as one.
SAME_MODE = 1e-3

#: Where a smaller share of the samples is solved, the answer begins with that, and with what to try.
ENOUGH = 0.99

#: Contacts whose spread is at least this share of the largest one are told together.
ALIKE = 0.95

#: The first line of an answer has at most so many characters.
LONGEST_LINE = 100

_SPREAD_PAIRS = 2**24  # pairs looked at for the spread of one contact: a tenth of a second
_MOST_CONTACTS = 3  # contacts named in a sentence
_COUNTED_CONTACTS = 10  # up to here combinations of modes are counted in a table of all of them


@dataclass(frozen=True, eq=False)
class OneOutcome:
    """One outcome of the two that lie farthest apart."""

    index: int  # which sample, or vertex of the exact set
    v: Array  # (nv,) velocity after
    contact_velocity: Array  # (nc, 1 + nt), m/s (rad/s for limits of hinges), normal first
    modes: tuple[str, ...]  # (nc,) "separates", "sticks" or "slides"
    kinetic_energy: float  # J


@dataclass(frozen=True, eq=False)
class ContactRange:
    """What one contact may do after the impact."""

    name: str
    unit: str  # of its velocities: "m/s", or "rad/s" for the limit of a hinge
    modes: dict[str, tuple[float, float]]  # those that occur -> slowest and fastest: slip, or separation
    scale: float  # what the speed before is at this contact, `Scaling.velocity`
    spread: float  # diameter of its velocities over the scale

    @property
    def body(self) -> str:
        """What touches, by the contact's name: "foot" of "foot.3/floor#2"."""
        return toucher(self.name)

    def __str__(self) -> str:
        return ", or ".join(self._in_words(mode) for mode in self.modes)

    def _in_words(self, mode: str) -> str:
        low, high = self.modes[mode]
        if mode == "sticks":
            return mode
        if len(self.modes) == 1:
            return f"{mode} at {_number(low)} to {_number(high)} {self.unit}"
        return f"{mode} at up to {_number(high)} {self.unit}"


@dataclass(frozen=True, eq=False)
class Answer:
    """How ambiguous an impact is, between which two outcomes, and which contact is least certain.

    Made of the solved samples, or of the vertices of the exact set. ``str(answer)`` is its lines in a row.
    """

    score: float  # largest distance between two outcomes over the speed before; NaN where none is known
    between: tuple[OneOutcome, OneOutcome] | None  # None where no outcome is known
    contacts: tuple[ContactRange, ...]  # (nc,)
    rounding: float  # scores up to here are no ambiguity: rounding, or the error of curved paths
    single: bool = False  # whether one sample is all that is known
    n: int = 0  # that were drawn, those that are not solved too; 0 of an exact set
    failed: Mapping[Status, int] = field(default_factory=dict)  # why some are not solved -> how many
    drawn: Options = field(default_factory=dict)  # how the samples were drawn
    incomplete: bool = False  # of an exact set: whether only a part of it may have been found
    smallest: str = ""  # where nothing approaches: the contact that comes nearest to it

    @property
    def share_solved(self) -> float:
        """The share of the samples that are solved; 1 of an exact set."""
        return 1.0 - sum(self.failed.values()) / self.n if self.n else 1.0

    @property
    def enough(self) -> bool:
        """Whether so many samples are solved (99 %) that the rest does not matter for the answer."""
        return self.share_solved >= ENOUGH

    @property
    def ambiguous(self) -> bool:
        """Whether the outcomes differ by more than rounding."""
        return self.score > self.rounding

    @property
    def least_certain(self) -> tuple[str, ...]:
        """The contact whose velocity after spreads most, and those that spread as much; () without."""
        largest = max((contact.spread for contact in self.contacts), default=0.0)
        if not self.ambiguous or not largest > self.rounding:
            return ()
        return tuple(contact.name for contact in self.contacts if contact.spread >= ALIKE * largest)

    def lines(self) -> list[str]:
        """How ambiguous and between what; which contact is least certain, where one is.

        The first line has at most 100 characters. Of many contacts the bodies are named: all their names are
        in `contacts`, `between` and `least_certain`.
        Before that, where fewer than 99 % of the samples are solved: how many, why not, and what to try; and
        where an exact set may not be complete, that it may not.
        Names of contacts are shown, not obeyed: what would command a terminal is written out.
        """
        return [for_terminal(line) for line in (*self._too_few(), *self._lines())]

    def _too_few(self) -> list[str]:
        if self.incomplete:
            return [
                "Perhaps only part of the set was found (INCOMPLETE): it may be more ambiguous than this."
            ]
        if self.enough:
            return []
        solved = self.n - sum(self.failed.values())
        why = ", ".join(f"{count} {status.name}" for status, count in sorted(self.failed.items()))
        are = "is" if solved == 1 else "are"
        only = f"Only {solved} of {self.n} samples {are} solved" if solved else "No sample is solved"
        left = " What follows is made of the solved ones alone." if solved else ""
        return [f"{only} ({why}).", f"Try {self._to_try()}.{left}"]

    def _to_try(self) -> str:
        """What helps against the most frequent failure: not more time, where every finished sample failed."""
        ended = [one for one in self.failed if one is not Status.OUT_OF_TIME]
        solved = sum(self.failed.values()) < self.n
        status = max(self.failed if solved or not ended else ended, key=lambda one: self.failed[one])
        by_steps = self.drawn.get("method", "algorithm1") == "algorithm1"
        if status is Status.OUT_OF_TIME:
            return "a larger budget, or fewer samples"
        if status is Status.JAMMED:
            return "less friction: the friction cone is not pointed, so that the contacts may jam"
        if status is Status.MAX_STEPS and by_steps:
            return "more steps (max_steps) or a larger step"
        if by_steps:
            return "to draw by events (routh.sample)"
        if self.drawn.get("friction") == "cone" and self.drawn.get("nt", 2) == 2:
            return 'polygons in place of the true cone (friction="polyhedral")'
        return "Algorithm 1 (routh.sampling.sample_by_steps, on the command line --step)"

    def _lines(self) -> list[str]:
        if self.smallest:
            none = "no contact has a normal velocity below zero"
            return [f"Nothing approaches: {none} (the smallest: {self.smallest})."]
        if self.between is None:
            return ["Ambiguity unknown: no sample is solved."]
        if self.single:
            return ["Ambiguity unknown: only one outcome is known; draw more."]
        if not self.ambiguous:
            agree = f"all outcomes agree to {_number(max(self.score, 1e-15))} of the speed before"
            return [f"Not ambiguous: {agree}."]
        first, second = self._words()
        size = f"{self.score:.2f}" if self.score >= 0.1 else f"{self.score:.2g}"
        found = [f'Ambiguity {size} of the speed before: from "{first}" to "{second}".']
        if len(found[0]) > LONGEST_LINE:
            told = f"Ambiguity {size}: two outcomes can differ by {size} of the speed before the impact."
            found = [told, f'From "{first}" to "{second}".']
        names = self.least_certain
        if names:
            alike = [contact for contact in self.contacts if contact.name in names]
            line = f"Least certain: {_listed(names)} ({_together(alike)})."
            if len(names) > _few(len(names)) or len(line) > LONGEST_LINE:
                line = f"Least certain: {_listed(by_body(names))} ({_together(alike)})."
            found.append(line)
        return found

    def __str__(self) -> str:
        return " ".join(self.lines())

    def as_data(self) -> dict[str, object]:
        """Numbers, lists and dictionaries, as ``--json`` prints them."""
        return {
            "score": self.score,
            "share_solved": self.share_solved,
            "ambiguous": self.ambiguous,
            "sentences": self.lines(),
            "between": None if self.between is None else [self._outcome(one) for one in self.between],
            "least_certain": list(self.least_certain),
            "contacts": [
                {
                    "contact": contact.name,
                    "unit": contact.unit,
                    "modes": {mode: list(speeds) for mode, speeds in contact.modes.items()},
                    "scale": contact.scale,
                    "spread": contact.spread,
                }
                for contact in self.contacts
            ],
        }

    def _outcome(self, one: OneOutcome) -> dict[str, object]:
        names = [contact.name for contact in self.contacts]
        return {
            "sample": one.index,
            "modes": dict(zip(names, one.modes, strict=True)),
            "v": one.v,
            "contact_velocity": one.contact_velocity,
            "kinetic_energy": one.kinetic_energy,
        }

    def _words(self) -> tuple[str, str]:
        """Both outcomes, told by the contacts at which they differ."""
        assert self.between is not None
        first, second = self.between
        differ = [i for i, (a, b) in enumerate(zip(first.modes, second.modes, strict=True)) if a != b]
        if not differ:
            return self._same_modes()
        if len(differ) > _few(len(differ)):
            return self._by_body(first, differ), self._by_body(second, differ)
        low, high = (
            ", ".join(f"{self.contacts[i].name} {one.modes[i]}" for i in differ) for one in self.between
        )
        return low, high

    def _by_body(self, one: OneOutcome, differ: Sequence[int]) -> str:
        """What the contacts of each body do, among those at which the outcomes differ; the farthest first."""
        apart = self._apart().max(axis=1)
        bodies: dict[str, list[int]] = {}
        for i in sorted(differ, key=lambda i: -apart[i]):
            bodies.setdefault(self.contacts[i].body, []).append(i)
        words = []
        for body, places in bodies.items():
            modes = Counter(one.modes[i] for i in sorted(places))
            if len(modes) == 1:
                words.append(f"{body} {one.modes[places[0]]}")
            else:
                told = (f"{n} {mode if n == 1 else mode[:-1]}" for mode, n in modes.items())
                words.append(f"{body}: " + ", ".join(told))
        return listed(words, _few(len(words)))

    def _apart(self) -> Array:
        """How far the two outcomes are apart at each contact, (nc, 1 + nt), as shares of the scales."""
        assert self.between is not None
        first, second = self.between
        scale = np.array([contact.scale for contact in self.contacts])
        return np.abs(first.contact_velocity - second.contact_velocity) / scale[:, None]

    def _same_modes(self) -> tuple[str, str]:
        """Outcomes whose contacts do the same, told by the contact velocity that differs most."""
        assert self.between is not None
        apart = self._apart()
        i, k = (int(place) for place in np.unravel_index(int(np.argmax(apart)), apart.shape))
        contact, direction = self.contacts[i], DIRECTIONS[apart.shape[1]][k]
        if not contact.spread > self.rounding:
            low, high = (f"energy {_number(one.kinetic_energy)} J" for one in self.between)
            return f"{low}, the same at every contact", high
        low, high = (
            f"{contact.name} {one.modes[i]}, {direction} {_number(one.contact_velocity[i, k])} {contact.unit}"
            for one in self.between
        )
        return low, high


def nothing_approaches(problem: ImpactProblem, rounding: float = tolerances.AMBIGUOUS) -> Answer:
    """The answer where there is no impact: the velocity stays, and so it is not ambiguous."""
    normal = problem.Jn @ problem.v
    nearest = int(np.argmin(normal / problem.scaling.velocity))
    smallest = f"{normal[nearest]:.3g} {problem.velocity_units[nearest]}, at {problem.names[nearest]}"
    return Answer(0.0, None, (), rounding, smallest=smallest)


def make_answer(
    problem: ImpactProblem,
    v: Array,
    modes: np.ndarray,
    rows: np.ndarray | None = None,
    *,
    rounding: float = tolerances.AMBIGUOUS,
    whole: bool = False,
) -> Answer:
    """The answer of outcomes (n, nv) with their modes (n, nc); ``rows`` (n,) are their numbers elsewhere.

    ``rounding``: scores up to here are no ambiguity. ``whole``: whether they are all that there is, not
    samples.
    """
    if len(v) == 0:
        return Answer(float("nan"), None, (), rounding)
    single = len(v) == 1 and not whole
    points = v @ problem.cholesky
    kept = distinct(points)  # many samples end at the same place: one of each says what it does
    v, modes, points = v[kept], modes[kept], points[kept]
    places = kept if rows is None else rows[kept]
    velocity = _by_contact(problem, v)
    _, i, j, _, _ = farthest_pair(points)
    apart = np.abs(velocity[..., i] - velocity[..., j]).argmax()
    # which of many alike samples come out is a matter of last bits: their order must not be
    pair = tuple(
        _one(problem, v[k], modes[k], int(places[k]))
        for k in sorted((i, j), key=lambda k: (*modes[k], velocity[..., k].flat[apart], k))
    )
    score = float(np.linalg.norm((v[i] - v[j]) @ problem.cholesky)) / problem.scaling.speed
    contacts = [_range(problem, velocity[k], modes[:, k], k) for k in range(problem.nc)]
    return Answer(score, (pair[0], pair[1]), tuple(contacts), rounding, single)


def contact_modes(problem: ImpactProblem, v: Array, threshold: float = 0.0) -> np.ndarray:
    """What each contact does, (..., nc) int8 of `ContactMode`, for velocities (..., nv).

    A contact at rest moves by less than ``threshold``, a share of the speed before (`Scaling.velocity`).
    """
    velocity = np.asarray(v, dtype=np.float64)
    found = _modes(problem, _by_contact(problem, velocity.reshape(-1, problem.nv)), threshold)
    return found.reshape(*velocity.shape[:-1], problem.nc)


def _by_contact(problem: ImpactProblem, v: Array) -> Array:
    """Contact velocities (nc, 1 + nt, n) of velocities (n, nv): each one's values in a row."""
    rows = problem.J.reshape(-1, problem.nv) @ v.T
    return rows.reshape(problem.nc, 1 + problem.nt, -1)


def _modes(problem: ImpactProblem, velocity: Array, threshold: float) -> np.ndarray:
    """`contact_modes` of contact velocities (nc, 1 + nt, n)."""
    least = max(tolerances.STICK, real("threshold", threshold, at_least=0.0)) * problem.scaling.velocity
    found = np.empty((velocity.shape[2], problem.nc), dtype=np.int8)
    separates, sticks, slides = map(np.int8, ContactMode)
    for i, (normal, *tangents) in enumerate(velocity):
        touching = np.where(_length(tangents) > least[i], slides, sticks)
        found[:, i] = np.where(normal > least[i], separates, touching)
    return found


def _length(rows: Sequence[Array]) -> Array:
    """Lengths of vectors whose coordinates stand in one or two rows (n,)."""
    return np.abs(rows[0]) if len(rows) == 1 else np.hypot(rows[0], rows[1])


def merged_modes(
    problem: ImpactProblem, v: Array, threshold: float, fine: np.ndarray | None = None
) -> np.ndarray:
    """Contact modes (n, nc) in which combinations that differ by less than ``threshold`` are one.

    A combination is another one if *all* its outcomes are, once velocities below ``threshold`` (a share of
    the speed before) count as zero: a rare "slides" at 1e-6 becomes "sticks", but a foot that lifts at any
    speed from 0 upwards keeps its row, and so does the outcome in which it rests. ``fine``: the modes
    (n, nc) themselves, where they are known.
    """
    velocity = _by_contact(problem, v)
    fine = _modes(problem, velocity, 0.0) if fine is None else fine
    coarse = _modes(problem, velocity, threshold)
    if threshold <= tolerances.STICK or len(v) == 0:
        return fine
    (rows, row), (others, other) = combinations(fine), combinations(coarse)
    single = numbers_beside(row, other, len(rows), len(others)) == 1
    return np.where(single[row][:, None], coarse, fine)


def combinations(modes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different rows (k, nc) of modes (n, nc), and which of them each row is, (n,)."""
    if modes.shape[1] <= _COUNTED_CONTACTS:
        code = _code(modes)
        seen = np.flatnonzero(np.bincount(code, minlength=1))
        number = np.zeros(3 ** modes.shape[1], dtype=np.intp)
        number[seen] = np.arange(len(seen))
        return (seen[:, None] // 3 ** np.arange(modes.shape[1]) % 3).astype(np.int8), number[code]
    width = 30  # contacts whose modes are the digits of one number
    codes = np.stack([_code(modes[:, k : k + width]) for k in range(0, modes.shape[1], width)], axis=1)
    one = codes.shape[1] == 1
    found = np.unique(codes[:, 0] if one else codes, axis=0, return_index=True, return_inverse=True)
    return modes[found[1]], found[2].ravel()


def _code(modes: np.ndarray) -> np.ndarray:
    """Modes (n, nc) as the digits of one number each, (n,), the first one the least."""
    code = np.zeros(len(modes), dtype=np.int64)
    for column in modes.T[::-1]:
        code *= 3
        code += column
    return code


def numbers_beside(first: np.ndarray, second: np.ndarray, firsts: int, seconds: int) -> np.ndarray:
    """How many different numbers of ``second`` (n,) stand beside each one of ``first`` (n,): (firsts,)."""
    pairs = first * seconds + second
    if firsts * seconds <= max(len(pairs), 2**16):
        table = np.bincount(pairs, minlength=firsts * seconds).reshape(firsts, seconds)
        return np.count_nonzero(table, axis=1)
    return np.bincount(np.unique(pairs) // seconds, minlength=firsts)


def _one(problem: ImpactProblem, v: Array, modes: np.ndarray, index: int) -> OneOutcome:
    words = tuple(ContactMode(int(mode)).word for mode in modes)
    return OneOutcome(index, v, problem.contact_velocity(v), words, float(problem.kinetic_energy(v)))


def _range(problem: ImpactProblem, velocity: Array, modes: np.ndarray, contact: int) -> ContactRange:
    """Range of one contact: velocities (1 + nt, n) and modes (n,)."""
    speed = np.where(modes == ContactMode.SEPARATES, velocity[0], _length(list(velocity[1:])))
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    np.minimum.at(low, modes.astype(np.intp), speed)
    np.maximum.at(high, modes.astype(np.intp), speed)
    seen = {
        mode.word: (float(low[mode]), float(high[mode]))
        for mode in (ContactMode.STICKS, ContactMode.SLIDES, ContactMode.SEPARATES)
        if low[mode] <= high[mode]
    }
    distance = farthest_pair(velocity.T, pairs=_SPREAD_PAIRS)[0]
    scale = float(problem.scaling.velocity[contact])
    return ContactRange(
        problem.names[contact], problem.velocity_units[contact], seen, scale, distance / scale
    )


def _together(contacts: Sequence[ContactRange]) -> ContactRange:
    """What any of several contacts may do; with different units only the first one's."""
    first = contacts[0]
    if any(contact.unit != first.unit for contact in contacts):
        return first
    modes = {}
    for mode in ("sticks", "slides", "separates"):
        found = [contact.modes[mode] for contact in contacts if mode in contact.modes]
        if found:
            modes[mode] = (min(low for low, _ in found), max(high for _, high in found))
    return replace(first, modes=modes)


def mode_names(outcomes: Sampled, contacts: Sequence[str] = ()) -> tuple[list[str], np.ndarray]:
    """Combinations of contact modes, the most frequent first, and which one each sample has, (n,) int.

    ``contacts``: what they are called; default: their names without the end that all have. Names that repeat
    are numbered: a choice in a panel must be one.
    """
    rows = [tuple(row) for row in outcomes.modes.tolist()]
    place = {row: k for k, (row, _) in enumerate(Counter(rows).most_common())}
    short, names, seen = contacts or _without_common_end(outcomes.problem.names), [], Counter[str]()
    for row in place:
        name = _combination(row, short)
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return names, np.array([place[row] for row in rows])


def _combination(modes: tuple[int, ...], names: Sequence[str]) -> str:
    """What the contacts do, those that touch by name: "LF, RH stick, 2 others separate"."""
    parts: dict[int, list[str]] = {}
    for mode, name in zip(modes, names, strict=True):
        parts.setdefault(mode, []).append(name)
    told: list[str] = []
    for mode, who in sorted(parts.items(), reverse=True):
        word = ContactMode(mode).word
        by_name = len(who) == 1 or (mode != ContactMode.SEPARATES and len(who) <= _MOST_CONTACTS)
        # "foot 2 sticks, 3 separate" has two readings
        counted = f"{len(who)} others" if told else str(len(who))
        told.append(f"{', '.join(who) if by_name else counted} {word if len(who) == 1 else word[:-1]}")
    return ", ".join(told)


def _without_common_end(names: Sequence[str]) -> list[str]:
    """Names without the "/ground" that all of them end with."""
    ends = {name.rpartition("/")[2] for name in names}
    same = len(ends) == 1 and len(names) > 1 and all("/" in name for name in names)
    return [name.rpartition("/")[0] for name in names] if same else list(names)


def _listed(names: Sequence[str]) -> str:
    few = _few(len(names))
    if len(names) > few:
        return listed(names, few)
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _few(count: int) -> int:
    """How many of so many contacts a sentence names; one more than usual, before one is left out."""
    return count if count <= _MOST_CONTACTS + 1 else _MOST_CONTACTS


def _number(value: float) -> str:
    return f"{value:.3g}"
