"""The Gymnasium wrapper: every impact of a MuJoCo environment gets an outcome that it can have.

The adversary takes, of some outcomes of every impact, the one that is worst for a policy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from routh.compiling.foreign import Foreign
from routh.learn.gym import Env, Info, Recorded, Step, Wrapper, draws_seed, simulation_of
from routh.learn.hooking import Hook
from routh.learn.records import Impact
from routh.learn.settings import HookOptions, Settings
from routh.models.mujoco.engine import engine
from routh.validation import Array


class OutcomeRandomization(Wrapper, Recorded):
    """Replaces outcomes of impacts inside the substeps of a Gymnasium MuJoCo environment.

    Parameters
    ----------
    env : environment that steps as Gymnasium's `MujocoEnv` does; wrappers around it are kept.
    seed : of the draws, until ``reset(seed=...)`` gives another.
    options : those of `Settings`: mode, share, rates, threshold, window, gap, single, limits,
        restitution, objective, k.

    ``info["impacts"]`` of each step is a tuple of `Impact`: what was replaced, when, and by what.
    """

    def __init__(self, env: Env, *, seed: int = 0, **options: Unpack[HookOptions]) -> None:
        Recorded.__init__(self, seed=seed, **options)
        Wrapper.__init__(self, env)
        model, data = simulation_of(env)
        self.hook = hook = Hook(model, data, Settings(**options), seed)
        self._impacts: list[Impact] = []  # of this step, in which the environment may simulate several times
        after = engine().mj_rnePostConstraint

        def step(ctrl: Foreign, n_frames: int) -> None:
            data.ctrl[:] = ctrl
            hook.step(n_frames)
            self._impacts += hook.impacts
            after(model, data)  # as MujocoEnv does: forces on bodies, for observations

        inside: Foreign = env.unwrapped
        inside._step_mujoco_simulation = step  # an attribute of the instance, before its class's

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Foreign, Info]:
        """Of the environment; a seed starts the draws anew too."""
        observation, info = self.env.reset(seed=seed, options=options)
        self.hook.reset(None if seed is None else draws_seed(seed))
        return observation, {**info, "impacts": ()}

    def step(self, action: Foreign) -> Step:
        """Of the environment, with ``info["impacts"]``."""
        self._impacts.clear()
        observation, reward, terminated, truncated, info = self.env.step(action)
        info["impacts"] = tuple(self._impacts)
        return observation, reward, terminated, truncated, info


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
