"""Solutions of HP23 (39) with given contact statuses, segment by segment, as linear conditions (plane)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from routh.validation import Array

NOT_ENDED = 1e-7  # scaled: how far some pushing contact is from rest when a segment begins

STICK, APART, SMOOTH = 0, 2, 3  # beside +1 and -1, the signs of slip
Statuses = tuple[int, ...]  # per contact


@dataclass(frozen=True, eq=False)
class Program:
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
        """Of the unknowns."""
        return [(0.0 if normal else None, None) for normal in self.positive]

    @cached_property
    def effects(self) -> Array:
        """(2 nc, n): the impulse of a unit of each unknown; friction of a sliding contact goes with it."""
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
