"""Does one of several contacts stay in every outcome? "C or D" limits the smaller of two velocities.

The least of several normal velocities is concave, so it is largest over a polytope inside, not at a vertex:
with weights w >= 0 that sum to one, no outcome has a larger least one than the largest ``sum_i w_i y_i`` over
the vertices, and the best weights make that bound exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

import numpy as np

from routh.base import tolerances
from routh.base.status import InputError, Status
from routh.base.validation import Array, Options
from routh.exact.result import ExactSet
from routh.problem.impact import ImpactProblem
from routh.robust.worst import WorstCase, WorstOptions
from routh.sampling import sample

_SAMPLES = 2**13  # as in `worst_case` in space
_PIECES = 200  # of an exact set, as in `worst_case`


def least_separation(problem: ImpactProblem, contacts: Sequence[str], options: WorstOptions) -> WorstCase:
    """The outcome in which the slowest of these contacts separates the fastest, and a bound on it, in m/s.

    The bound is that of the exact set's outer polytopes, which hold where the set is incomplete, too; None in
    space, with restitution and without the extra ``exact``. The outcome comes from samples by events.
    """
    if len(set(contacts)) < 2:
        raise InputError("conditions", got=repr(contacts), wanted="at least two different contacts")
    at = [problem.index(name) for name in contacts]
    rows = problem.Jn[at]
    known: Options = {
        name: options.get(name) for name in ("seed", "friction", "hypothesis") if name in options
    }
    found = sample(problem, options.get("max_samples") or _SAMPLES, **known)
    separation = found.v @ rows.T
    separation[np.abs(separation) <= tolerances.RESIDUAL * problem.scaling.velocity[at]] = 0.0  # rounding
    least = np.where(found.solved, separation.min(axis=1), -np.inf)
    best = int(np.argmax(least))
    bound, status = None, Status.INCOMPLETE
    planar = problem.nt == 1 and not np.any(problem.restitution > 0.0)
    if planar and options.get("method", "auto") != "fill" and find_spec("ppl") is not None:
        from routh.exact.build import exact_set

        exact = exact_set(problem, budget=options.get("budget"), pieces=_PIECES)
        bound, status = _bound(exact, rows), exact.status
    if not np.isfinite(least[best]):
        return WorstCase(np.nan, np.full(problem.nv, np.nan), None, bound, status, "fill")
    return WorstCase(
        float(least[best]), found.v[best], found.path(best), bound, status, "fill", sample=(found, best)
    )


def _bound(exact: ExactSet, rows: Array) -> float:
    """The largest least ``rows . v`` over the outer set."""
    union = exact.outer
    wider = union.radius * union[0].frame.dual_norm(rows) if union.radius else np.zeros(len(rows))
    return max(_largest_least(piece.points @ rows.T + wider) for piece in union)


def _largest_least(values: Array) -> float:
    """The largest least coordinate over the hull of points (n, k), from above whatever the rounding."""
    from scipy.optimize import linprog

    n, k = values.shape
    answer = linprog(  # the weights w: least b with values w <= b
        np.append(np.zeros(k), 1.0),
        np.hstack([values, -np.ones((n, 1))]),
        np.zeros(n),
        np.append(np.ones(k), 0.0)[None],
        [1.0],
        bounds=[(0.0, 1.0)] * k + [(None, None)],
    )
    weights = np.maximum(answer.x[:k], 0.0) if answer.success else np.ones(k)
    return float((values @ (weights / weights.sum())).max())
