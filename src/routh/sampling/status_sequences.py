"""The farthest outcome of all solutions that pass through the same contact statuses as a given one (plane).

Solutions of HP23 (39) whose segments have given statuses (who pushes, who sticks, who slides which way)
form a convex set: impulses enter linearly and the statuses are linear conditions at the ends of each segment
(`StatusProgram`). So the farthest outcome in a direction is a linear program; whether a solution is that one
already, its multipliers tell, which is much cheaper (`Polisher`). The sequence of statuses itself is found by
hill climbing (`climb`): segments are changed, put in or left out of the best sequences so far.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np

from routh.base import tolerances
from routh.base.results import ImpactPath
from routh.base.validation import Array
from routh.kernels.events import piecewise_path
from routh.problem.impact import ImpactProblem
from routh.sampling.path_residual import path_residual
from routh.step.base import scaled_delassus

NOT_ENDED = 1e-7  # scaled: how far some pushing contact is from rest when a segment begins

_FEASIBLE = 1e-10  # scaled violation beyond which a solution of the linear program is not used
_ROUNDING = 1e-11  # the same of velocities that are recomputed from impulses
_ACTIVE = 1e-10  # conditions that are met with less room than this may have a multiplier
_OPTIMAL = 1e-9  # share of the cost that multipliers may leave unexplained
_POOL = 32  # sequences that are kept and changed by climbing
_SAME = 1e-9  # share of the largest reach: closer ones are the same outcome

STICK, APART, SMOOTH = 0, 2, 3  # beside +1 and -1, the signs of slip
Statuses = tuple[int, ...]  # per contact


@dataclass(frozen=True, eq=False)
class StatusProgram:
    """Conditions on impulses x: of pushing contacts the normal ones, of sticking ones friction too."""

    G: Array  # (2 nc, 2 nc) scaled Delassus matrix
    start: Array  # (2 nc,) scaled contact velocity (y_1, t_1, ...) before
    mu: Array  # (nc,)
    sequence: tuple[Statuses, ...]  # of the segments

    @cached_property
    def places(self) -> list[tuple[int, int, int]]:
        """Segment, place of the impulse in (n_1, f_1, ...) and status, one for each unknown."""
        found = []
        for k, statuses in enumerate(self.sequence):
            for i, status in enumerate(statuses):
                if status != APART:
                    found.append((k, 2 * i, status))
                if self._sticks(i, status):
                    found.append((k, 2 * i + 1, status))
        return found

    def _sticks(self, contact: int, status: int) -> bool:
        return status == STICK and bool(self.mu[contact] > 0.0)

    @cached_property
    def segments(self) -> np.ndarray:
        """The segment of each unknown, (n,)."""
        return np.array([k for k, _, _ in self.places], dtype=np.int64)

    @cached_property
    def positive(self) -> np.ndarray:
        """Which unknowns are normal impulses, (n,) bool; friction may have either sign."""
        return np.array([place % 2 == 0 for _, place, _ in self.places], dtype=bool)

    @property
    def bounds(self) -> list[tuple[float | None, None]]:
        """Bounds of the unknowns."""
        return [(0.0 if normal else None, None) for normal in self.positive]

    @cached_property
    def effects(self) -> Array:
        """Impulses of a unit of each unknown, (2 nc, n); friction of a sliding contact goes with it."""
        columns = np.zeros((len(self.start), len(self.places)))
        for column, (_, place, status) in enumerate(self.places):
            columns[place, column] = 1.0
            if status in (1, -1):
                columns[place + 1, column] = -self.mu[place // 2] * status
        return columns

    @cached_property
    def zeros(self) -> list[tuple[int, int, float]]:
        """Place in (y_1, t_1, ...), breakpoint and sign of what must vanish: slip of sticking contacts."""
        return [
            (2 * i + 1, end, 1.0)
            for k, statuses in enumerate(self.sequence)
            for i, status in enumerate(statuses)
            if self._sticks(i, status)
            for end in (k, k + 1)
        ]

    @cached_property
    def signs(self) -> list[tuple[int, int, float]]:
        """The same of what must not be positive: who pushes approaches, slips have their signs, it ends."""
        rows = []
        for k, statuses in enumerate(self.sequence):
            for i in self.pushing(k):
                for end in (k, k + 1):
                    rows.append((2 * i, end, 1.0))
                    if statuses[i] in (1, -1):
                        rows.append((2 * i + 1, end, -float(statuses[i])))
        return rows + [(2 * i, len(self.sequence), -1.0) for i in range(len(self.mu))]

    def pushing(self, segment: int) -> list[int]:
        """The contacts that push in a segment; when it begins they are not all at rest."""
        return [i for i, status in enumerate(self.sequence[segment]) if status != APART]

    @cached_property
    def equal(self) -> tuple[Array, Array]:
        """``A x = b``: slip of sticking contacts is zero when their segments begin and end."""
        return self._conditions(self.zeros)

    @cached_property
    def below(self) -> tuple[Array, Array]:
        """``A x <= b``: those of `signs`, that no segment begins after the end, and the friction cones."""
        A, b = self._conditions(self.signs)
        begins = [[2 * i for i in self.pushing(k)] for k in range(len(self.sequence))]
        some = np.array([self._row(places, k) for k, places in enumerate(begins)])
        least = np.array([-NOT_ENDED - self.start[places].sum() for places in begins])
        cone = self._cones
        return np.concatenate([A, some, cone]), np.concatenate([b, least, np.zeros(len(cone))])

    def pieces(self, x: Array) -> Array:
        """The impulses (k, 2 nc) of the segments."""
        inside = np.arange(len(self.sequence))[:, None] == self.segments
        return (inside * x) @ self.effects.T

    def unknowns(self, pieces: Array) -> Array:
        """The unknowns of impulses (k, 2 nc) with these statuses."""
        return np.array([pieces[k, place] for k, place, _ in self.places])

    @cached_property
    def _moved(self) -> Array:
        return self.G @ self.effects  # (2 nc, n)

    def _row(self, places: list[int], end: int) -> Array:
        """The sum of these coordinates at a breakpoint, as coefficients of the unknowns."""
        return np.asarray(self._moved[places].sum(axis=0) * (self.segments < end))

    def _conditions(self, rows: list[tuple[int, int, float]]) -> tuple[Array, Array]:
        """``sign c[place]`` at breakpoints: coefficients, and what they may be at most for it to be <= 0."""
        places = np.array([place for place, _, _ in rows], dtype=np.int64)
        ends = np.array([end for _, end, _ in rows], dtype=np.int64)
        signs = np.array([sign for _, _, sign in rows])
        A = self._moved[places] * (self.segments < ends[:, None]) * signs[:, None]
        return A.reshape(len(rows), len(self.segments)), -signs * self.start[places]

    @cached_property
    def _cones(self) -> Array:
        """``|friction| <= mu normal`` of sticking contacts, the normal impulse standing before friction."""
        rows = []
        for column, (_, place, _) in enumerate(self.places):
            if place % 2:
                for sign in (1.0, -1.0):
                    row = np.zeros(len(self.places))
                    row[column - 1], row[column] = -self.mu[place // 2], sign
                    rows.append(row)
        return np.array(rows).reshape(len(rows), len(self.places))


@dataclass(frozen=True, eq=False)
class Walk:
    """A solution of straight segments, and its statuses segment by segment."""

    problem: ImpactProblem
    pieces: Array  # (k, 2 nc) scaled impulses (n_1, f_1, n_2, ...) of the segments
    sequence: tuple[Statuses, ...]  # of the segments

    @cached_property
    def path(self) -> ImpactPath:
        """Velocities passed through and impulses between, SI."""
        return piecewise_path(self.problem, self.pieces)

    @property
    def v(self) -> Array:
        """Velocity after, (nv,)."""
        return self.path.v[-1]

    @cached_property
    def residual(self) -> float:
        """Residual of the model, recomputed from the pieces."""
        return path_residual(self.problem, self.path)


class Polisher:
    """Solutions of one planar inelastic problem with given statuses."""

    def __init__(self, problem: ImpactProblem) -> None:
        self.problem = problem
        self.G, self.mu = scaled_delassus(problem), problem.mu
        start = (problem.contact_velocity() / problem.scaling.velocity[:, None]).ravel()
        self.start = np.where(np.abs(start) > tolerances.ZERO_SPEED, start, 0.0)
        self._worth = problem.response * np.repeat(problem.scaling.impulse, 2)  # (nv, 2 nc)

    def walk(self, pieces: Array) -> Walk:
        """The solution with these scaled impulses (k, 2 nc), segments of equal statuses joined."""
        moved = np.cumsum(pieces @ self.G.T, axis=0)
        c = np.concatenate([np.zeros((1, len(self.start))), moved]) + self.start
        t = np.where(np.abs(c) > _ROUNDING, c, 0.0)[:, 1::2]
        slip = np.sign(t[:-1] + t[1:]).astype(int)
        statuses = np.where(self.mu > 0.0, slip, SMOOTH)
        statuses = np.where(pieces[:, ::2] > 0.0, statuses, APART)
        numbered = zip(map(tuple, statuses.tolist()), pieces, strict=True)
        joined = [(key, sum(p for _, p in group)) for key, group in groupby(numbered, lambda pair: pair[0])]
        sequence = tuple(key for key, _ in joined)
        return Walk(self.problem, np.array([p for _, p in joined]).reshape(-1, len(self.start)), sequence)

    def improved(self, walk: Walk, directions: Array) -> list[Walk]:
        """Farther solutions with a walk's statuses, for those directions (k, nv) in which there are any."""
        program = StatusProgram(self.G, self.start, self.mu, walk.sequence)
        wanting = [d for d in directions if not is_farthest(program, walk.pieces, d @ self._worth)]
        return [found for d in wanting if (found := self._solved(program, d)) is not None]

    def extreme(self, sequence: tuple[Statuses, ...], direction: Array) -> Walk | None:
        """The farthest solution in a direction (nv,) with these statuses; None where there is none."""
        return self._solved(StatusProgram(self.G, self.start, self.mu, sequence), direction)

    def _solved(self, program: StatusProgram, direction: Array) -> Walk | None:
        pieces = farthest(program, direction @ self._worth)
        if pieces is None:
            return None
        moving = np.abs(pieces).sum(axis=1) > 0.0
        moves = tuple(s for s, moved in zip(program.sequence, moving, strict=True) if moved)
        walk = Walk(self.problem, pieces[moving], moves)
        return walk if walk.residual <= tolerances.RESIDUAL else None


def farthest(program: StatusProgram, cost: Array) -> Array | None:
    """The impulses (k, 2 nc) of the segments that maximise ``cost . impulse``; None where there are none.

    ``cost`` (2 nc,) is what one unit of each scaled impulse is worth.
    """
    from scipy.optimize import linprog  # slow to load, and pictures of outcomes do not need it

    A_eq, b_eq = program.equal
    A_ub, b_ub = program.below
    result = linprog(
        -(cost @ program.effects),
        *(A_ub, b_ub),
        *((A_eq, b_eq) if len(A_eq) else (None, None)),
        bounds=program.bounds,
        method="highs-ds",
        options={"primal_feasibility_tolerance": _FEASIBLE},
    )
    if result.status != 0:
        return None
    violation = np.concatenate([np.abs(A_eq @ result.x - b_eq), A_ub @ result.x - b_ub])
    return program.pieces(result.x) if np.all(violation <= _FEASIBLE) else None


def is_farthest(program: StatusProgram, pieces: Array, cost: Array) -> bool:
    """Whether these impulses are optimal: the cost is a sum of the conditions that hold with equality."""
    x = program.unknowns(pieces)
    A_eq, _ = program.equal
    A_ub, b_ub = program.below
    active = A_ub[b_ub - A_ub @ x <= _ACTIVE]
    walls = -np.eye(len(x))[program.positive & (x <= _ACTIVE)]
    wanted = cost @ program.effects
    from scipy.optimize import nnls

    columns = np.concatenate([A_eq, -A_eq, active, walls]).T
    if not columns.shape[1]:
        return not wanted.any()
    try:
        _, left = nnls(columns, wanted)
    except RuntimeError:  # too many iterations: not known
        return False
    return bool(left <= _OPTIMAL * np.linalg.norm(wanted))


def joined(sequence: Sequence[Statuses]) -> tuple[Statuses, ...]:
    """Neighbours of equal statuses as one, segments in which nobody pushes left out."""
    pushing = [statuses for statuses in sequence if any(status != APART for status in statuses)]
    return tuple(statuses for statuses, _ in groupby(pushing))


def climb(
    extreme: Callable[[tuple[Statuses, ...], Array], Walk | None],
    seeds: Sequence[Walk],
    direction: Array,
    tries: int,
    rng: np.random.Generator,
) -> list[Walk]:
    """The best outcomes in a direction (nv,), from samples that have ended and ``tries`` changes.

    ``extreme`` finds the farthest outcome of a sequence in a direction, or None.
    """
    smooth = frozenset(i for s in seeds for x in s.sequence for i, status in enumerate(x) if status == SMOOTH)
    pool: list[tuple[float, Walk]] = []
    seen: set[tuple[Statuses, ...]] = set()

    def attempt(sequence: tuple[Statuses, ...]) -> None:
        seen.add(sequence)
        found = extreme(sequence, direction)
        if found is None or not found.sequence:
            return
        value = float(direction @ found.v)
        if any(abs(value - other) <= _SAME * abs(other) for other, _ in pool):
            return
        pool.append((value, found))
        pool.sort(key=lambda entry: -entry[0])
        del pool[_POOL:]

    best = sorted(seeds, key=lambda seed: -float(direction @ seed.v))[:_POOL]
    others = [seeds[k] for k in rng.permutation(len(seeds))[:_POOL]]  # so as not to see one kind only
    for seed in (*best, *others):
        if seed.sequence not in seen:
            attempt(seed.sequence)
    for _ in range(tries if pool else 0):
        sequence = pool[int(len(pool) * rng.random() ** 2)][1].sequence  # the better ones more often
        for _ in range(1 + int(rng.integers(3))):
            sequence = _changed(sequence, smooth, rng)
        if sequence and sequence not in seen:
            attempt(sequence)
    return [found for _, found in pool]


def _changed(
    sequence: tuple[Statuses, ...], smooth: frozenset[int], rng: np.random.Generator
) -> tuple[Statuses, ...]:
    """A segment less, a segment more beside one that it resembles, or a segment with other statuses."""
    if not sequence:
        return sequence
    segments, kind = list(sequence), rng.random()
    place = int(rng.integers(len(segments)))
    if kind < 0.2:
        del segments[place]
    elif kind < 0.6:
        segments.insert(place + int(rng.integers(2)), _other(segments[place], smooth, rng))
    else:
        segments[place] = _other(segments[place], smooth, rng)
    return joined(segments)


def _other(statuses: Statuses, smooth: frozenset[int], rng: np.random.Generator) -> Statuses:
    """One or two contacts changed; ``smooth`` ones have no friction."""
    changed = list(statuses)
    for _ in range(1 + int(rng.random() < 0.4)):
        i = int(rng.integers(len(changed)))
        changed[i] = int(rng.choice([APART, SMOOTH] if i in smooth else [APART, STICK, 1, -1]))
    return tuple(changed)
