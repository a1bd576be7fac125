"""From a Pinocchio model and many states to a batch of impact problems."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from routh.models.pinocchio.points import Points
from routh.models.pinocchio.problem import DEFAULT_MU, build, look_up
from routh.models.robot_batch import RobotBatch, state_arrays
from routh.models.simultaneity import DEEPEST_OF_MANY, DEFAULT_GAP, PAST_LIMIT_OF_MANY, Rules

if TYPE_CHECKING:
    from pinocchio import GeometryModel, Model


def problems(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    ground: float | None = 0.0,
    gap: float = DEFAULT_GAP,
    window: float | None = None,
    points: Points | None = None,
    geometry: GeometryModel | None = None,
    mu: float | Mapping[str, float] = DEFAULT_MU,
    limits: bool = True,
    restitution: float | Mapping[str, float] = 0.0,
    deepest: float | None = DEEPEST_OF_MANY,
    past_limit: float | None = PAST_LIMIT_OF_MANY,
) -> RobotBatch:
    """The impacts of many states: row k is `routh.models.pinocchio.problem` of the k-th state.

    States in which nothing touches, nothing approaches, or which cannot be, are rows with a status.

    Parameters
    ----------
    q, v : (n, nq) and (n, nv).
    restitution : a number, or a mapping from contact names.
    deepest, past_limit : rows in which bodies overlap by more (m) or joints are farther past their limits
        (rad) are REFUSED; None: any. The defaults let soft contacts of simulators pass.

    The others are those of `routh.models.pinocchio.problem`.
    """
    configurations, velocities = state_arrays({"q": (q, int(model.nq)), "v": (v, int(model.nv))})
    around = look_up(model, ground=ground, points=points, geometry=geometry, mu=mu)
    rules = Rules(gap, window, limits, deepest=deepest, past_limit=past_limit)
    build_at = partial(build, around, rules=rules)
    batch = RobotBatch.one_by_one(configurations, velocities, int(model.nv), build_at)
    batch.set_restitution(restitution)
    return batch
