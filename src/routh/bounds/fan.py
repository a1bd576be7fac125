"""The cells of an impact's contact velocities, as signs of linear forms (planar contacts).

Coordinates z of the velocity are the normal and tangential velocities of the contacts, and any further forms.
The right-hand side of HP23 (39) is the same throughout each cell of their signs, with a cell of its own for
contacts that push without slip. J may have dependent rows: then z lies in a subspace, and some signs are
impossible or leave coordinates at zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, product

import numpy as np
from scipy.optimize import linprog

from routh.problem import ImpactProblem
from routh.validation import Array

_DEPENDENT = 1e-10  # singular values of unit forms below this share of the largest count as zero
Ray = tuple[int, int]  # contact, sign of slip (0: without friction)


@dataclass(frozen=True, eq=False)
class FanCell:
    """Signs of the coordinates (0: held at zero throughout the cell), and the force rays that act."""

    signs: np.ndarray  # (m,)
    rays: tuple[Ray, ...]

    @cached_property
    def live(self) -> np.ndarray:
        """Coordinates that are not held at zero."""
        return np.flatnonzero(self.signs)

    @cached_property
    def held(self) -> np.ndarray:
        """Coordinates that are."""
        return np.flatnonzero(self.signs == 0)


@dataclass(frozen=True, eq=False)
class Fan:
    """Coordinates, force rays and cells, in the scaled velocity u with ``|u| <= 1`` and ``v = back u``."""

    problem: ImpactProblem = field(repr=False)
    splits: Array  # (k, nv): further forms in v whose signs split the cells

    @cached_property
    def back(self) -> Array:
        """``v = back u``."""
        return np.asarray(np.linalg.inv(self.problem.cholesky.T), dtype=np.float64) * self.problem.speed

    @cached_property
    def start(self) -> Array:
        """u before the impact."""
        return self.problem.cholesky.T @ self.problem.v / self.problem.speed

    @cached_property
    def slips(self) -> dict[int, int]:
        """The coordinate of each contact's tangential velocity, where it has friction."""
        tangent = np.linalg.norm(self.problem.Jt[:, 0] @ self.back, axis=1)
        rough = np.flatnonzero(self.problem.mu * tangent > 0.0)
        return {int(i): self.problem.nc + k for k, i in enumerate(rough)}

    @cached_property
    def forms(self) -> Array:
        """``z = forms u``, (m, nv), rows of unit length: normal velocities, slips, splits."""
        rows = np.vstack([self.problem.Jn, self.problem.Jt[list(self.slips), 0], self.splits]) @ self.back
        return rows / np.linalg.norm(rows, axis=1)[:, None]

    @cached_property
    def rays(self) -> dict[Ray, Array]:
        """Unit directions of u' for a contact that pushes and slips with a sign."""
        normal, tangent = self.problem.Jn @ self.back, self.problem.Jt[:, 0] @ self.back
        found = {}
        for i, mu in enumerate(self.problem.mu):
            for sign in (1, -1) if i in self.slips else (0,):
                ray = normal[i] - sign * mu * tangent[i]
                found[i, sign] = ray / np.linalg.norm(ray)
        return found

    @cached_property
    def relations(self) -> Array:
        """Rows with ``relations z = 0`` for every velocity, (k, m)."""
        left, values, _ = np.linalg.svd(self.forms)
        rank = int(np.sum(values > _DEPENDENT * values[0]))
        return left[:, rank:].T

    @cached_property
    def constant(self) -> Array:
        """The part of u that no contact force changes, (nv,)."""
        seen, *_ = np.linalg.lstsq(self.forms, self.forms @ self.start, rcond=_DEPENDENT)
        return self.start - seen

    @cached_property
    def cells(self) -> tuple[FanCell, ...]:
        """Every cell in which something may push."""
        found: dict[tuple[tuple[int, ...], tuple[Ray, ...]], FanCell] = {}
        for signs, rays in self._patterns(ended=False):
            held = self.forced(signs)
            slides = [self.slips[i] for i, slip in rays if i in self.slips and signs[self.slips[i]] != 0]
            if held[slides].any():
                continue  # a sliding contact without slip: the cell in which it sticks holds these points
            signs = np.where(held, 0, signs)
            found.setdefault((tuple(signs), rays), FanCell(signs, rays))
        return tuple(found.values())

    @cached_property
    def first_walls(self) -> Array:
        """Forms in v whose sign tells which of two coordinates a ray brings to zero first, (k, nv).

        Where one ray acts, what follows changes there, and so does the slope of the farthest outcome.
        """
        rows = np.vstack([self.problem.Jn, self.problem.Jt[list(self.slips), 0]])
        found = []
        for ray in self.rays.values():
            rate = rows @ (self.back @ ray)
            moved = np.flatnonzero(np.abs(rate) > _DEPENDENT * np.abs(rate).max())
            for a, b in combinations(moved, 2):
                form = rows[a] * rate[b] - rows[b] * rate[a]
                size = float(np.linalg.norm(form))
                if size > _DEPENDENT * np.linalg.norm(rows) * np.abs(rate).max():
                    found.append(form / size)
        return np.array(found).reshape(len(found), self.problem.nv)

    def ends(self, last: int) -> tuple[np.ndarray, ...]:
        """Signs of the cells in which nothing approaches and the contact ``last`` is at rest."""
        found = {}
        for signs, _ in self._patterns(ended=True):
            signs[last] = 0
            signs = np.where(self.forced(signs), 0, signs)
            found[tuple(signs)] = signs
        return tuple(found.values())

    def _patterns(self, *, ended: bool) -> Iterator[tuple[np.ndarray, tuple[Ray, ...]]]:
        """Signs and rays: each contact separated, sliding one way or sticking; each split either way."""
        nc, m = self.problem.nc, len(self.forms)
        apart, pushing = [(1, 1), (1, -1)], [(-1, 1), (-1, -1), (-1, 0)]
        rough = apart if ended else apart + pushing
        smooth = [(1, 0)] if ended else [(1, 0), (-1, 0)]
        options = [rough if i in self.slips else smooth for i in range(nc)]
        for statuses in product(*options):
            rays: list[Ray] = []
            signs = np.zeros(m, dtype=int)
            for i, (normal, slip) in enumerate(statuses):
                signs[i] = normal
                if i in self.slips:
                    signs[self.slips[i]] = slip
                if normal < 0:
                    both = slip == 0 and i in self.slips
                    rays += [(i, 1), (i, -1)] if both else [(i, slip)]
            if not rays and not ended:
                continue
            for sides in product((1, -1), repeat=len(self.splits)):
                signs[m - len(sides) :] = sides
                yield signs.copy(), tuple(rays)

    def forced(self, signs: np.ndarray) -> np.ndarray:
        """Which coordinates vanish wherever z has these signs, because rows of J depend on each other."""
        if not len(self.relations):
            return np.zeros(len(signs), dtype=bool)
        if len(self.relations) == 1:
            terms = self.relations[0] * signs
            terms[np.abs(terms) < _DEPENDENT] = 0.0
            return (terms != 0.0) if (terms.min() >= 0.0) != (terms.max() <= 0.0) else terms > np.inf
        live = np.flatnonzero(signs)
        rows = self.forms * np.where(signs == 0, 1, signs)[:, None]
        n, k = rows.shape[1], len(live)
        held = np.flatnonzero(signs == 0)
        result = linprog(  # how many coordinates can be 1 or more at the same time
            np.append(np.zeros(n), -np.ones(k)),
            np.hstack([-rows[live], np.eye(k)]),
            np.zeros(k),
            np.hstack([rows[held], np.zeros((len(held), k))]) if len(held) else None,
            np.zeros(len(held)) if len(held) else None,
            bounds=[(None, None)] * n + [(0.0, 1.0)] * k,
        )
        vanish = np.zeros(len(signs), dtype=bool)
        vanish[live] = result.x[n:] < 0.5
        return vanish
