"""The outcome nearest to a given velocity: samples bred towards it, and the best of their kind.

In the plane, without restitution, solutions with the contact statuses of a sample form a convex set, and the
nearest of them is found by a cone program (`routh.sampling.polishing`).
"""

from __future__ import annotations

import numpy as np

from routh.kernels.arrays import make_rows
from routh.problem import ImpactProblem
from routh.sampling.breeding import EVENTS, changed_keys, fresh_keys
from routh.sampling.events import event_samples, make_settings, scaled_pieces
from routh.sampling.polishing import Polisher
from routh.status import Status
from routh.validation import Array, Options

_ROUND = 64  # samples between two looks at what is nearest
_KEPT = 16  # of the nearest samples, which are changed
_POLISHED = 4  # of the nearest, whose statuses are tried


def nearest_outcome(
    problem: ImpactProblem,
    target: Array,
    tries: int,
    *,
    seed: int = 0,
    hypothesis: str = "energetic",
    friction: str = "cone",
    facets: int | None = None,
) -> tuple[Array, float]:
    """The nearest of ``tries`` outcomes to a velocity (nv,), and its distance in the energy norm, sqrt(J).

    NaN and infinity where none of the samples ended.
    """
    search = _Search(problem, target, {"seed": seed, "hypothesis": hypothesis})
    search.options = {"friction": friction, "facets": facets}
    for begin in range(0, tries, _ROUND):
        search.draw(min(_ROUND, tries - begin))
    if problem.nt == 1 and not np.any(problem.restitution > 0.0):
        search.polish()
    return search.v, search.distance


class _Search:
    """The nearest samples so far, by their keys."""

    def __init__(self, problem: ImpactProblem, target: Array, settings: Options) -> None:
        self.problem, self.target, self.settings = problem, target, settings
        self.options: Options = {}
        self.v, self.distance = np.full(problem.nv, np.nan), np.inf
        self._rng, self._rows = np.random.default_rng(settings["seed"]), make_rows([problem])
        self._keys = np.zeros((0, EVENTS), dtype=np.uint64)
        self._events, self._distances = np.zeros(0, dtype=np.int64), np.zeros(0)

    def draw(self, size: int) -> None:
        """A round of samples."""
        keys = fresh_keys(size, self._rng)
        if len(self._keys):
            parent = self._rng.integers(len(self._keys), size=size)
            keys = changed_keys(self._keys[parent], self._events[parent], self._rng)
        out = event_samples(
            self._rows, make_settings(size, keys=keys, **self.settings), threads=1, **self.options
        )
        ended = np.flatnonzero(out.status[0] <= Status.NO_IMPACT)
        far = self._far(out.v[0, ended])
        if len(ended) and far.min() < self.distance:
            self.v, self.distance = out.v[0, ended[np.argmin(far)]].copy(), float(far.min())
        distances = np.append(self._distances, far)
        best = np.argsort(distances, kind="stable")[:_KEPT]
        self._distances = distances[best]
        self._keys = np.concatenate([self._keys, keys[ended]])[best]
        self._events = np.append(self._events, out.events[0, ended])[best]

    def polish(self) -> None:
        """The nearest solutions with the statuses of the nearest samples."""
        polisher, seen = Polisher(self.problem), set()
        settings = make_settings(max(len(self._keys), 1), keys=self._keys, **self.settings)
        for k in range(min(_POLISHED, len(self._keys))):
            walk = polisher.walk(scaled_pieces(self._rows, settings, k, **self.options))
            if walk.sequence and walk.sequence not in seen:
                seen.add(walk.sequence)
                found = polisher.nearest(walk, self.target)
                if found is not None and (far := float(self._far(found.v))) < self.distance:
                    self.v, self.distance = found.v, far

    def _far(self, v: Array) -> Array:
        """Distances of velocities (..., nv) from the target, sqrt(J)."""
        return np.asarray(np.linalg.norm((v - self.target) @ self.problem.cholesky, axis=-1))
