"""The adversary: of some outcomes of every impact, the one that is worst for a policy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from routh.compiling.foreign import Foreign
from routh.learn.gym import Env
from routh.learn.options import HookOptions
from routh.learn.wrapper import OutcomeRandomization
from routh.validation import Array


class AdversarialOutcomes(OutcomeRandomization):
    """`OutcomeRandomization` that takes the worst of ``k`` outcomes.

    Parameters
    ----------
    env : as for `OutcomeRandomization`.
    objective : the larger the worse: (nv,) or a function (k, nv) of velocities after to (k,).
    value : in its place, a value function (k, n) of observations to (k,): the worst outcome is the one with
        the lowest value. Observations are those of ``env.unwrapped`` at the moment of the impact; wrappers
        that change observations are not asked.
    seed, options : k and the others, as for `OutcomeRandomization`.
    """

    def __init__(
        self,
        env: Env,
        *,
        value: Callable[[Array], ArrayLike] | None = None,
        seed: int = 0,
        **options: Unpack[HookOptions],
    ) -> None:
        if (options.get("objective") is None) == (value is None):
            raise ValueError("objective, value: got both or none of them; wanted one")
        if value is not None:
            options["objective"] = _worth(env, value)
        options["mode"] = "worst"
        super().__init__(env, seed=seed, **options)


def _worth(env: Env, value: Callable[[Array], ArrayLike]) -> Callable[[Array], Array]:
    """The negative value of what would be observed after each outcome: velocities (k, nv) to (k,)."""
    inside: Foreign = env.unwrapped
    if not hasattr(inside, "_get_obs"):
        raise ValueError(f"value: {type(inside).__name__} has no _get_obs; wanted an objective")

    def objective(v: Array) -> Array:
        data = inside.data
        before = np.array(data.qvel)
        seen = []
        try:
            for velocity in v:
                data.qvel[:] = velocity
                seen.append(np.array(inside._get_obs()))
        finally:
            data.qvel[:] = before
        return -np.asarray(value(np.stack(seen)), dtype=np.float64).reshape(len(v))

    return objective
