"""The Gymnasium wrapper: every impact of a MuJoCo environment gets an outcome that it can have."""

from __future__ import annotations

from typing import Unpack

from routh.compiling.foreign import Foreign
from routh.learn.gym import Env, Info, Recorded, Step, Wrapper, draws_seed, simulation_of
from routh.learn.hooking import Hook
from routh.learn.options import HookOptions
from routh.learn.settings import Settings
from routh.models.mujoco.engine import engine


class OutcomeRandomization(Wrapper, Recorded):
    """Replaces outcomes of impacts inside the substeps of a Gymnasium MuJoCo environment.

    Parameters
    ----------
    env : environment that steps as Gymnasium's `MujocoEnv` does; wrappers around it are kept.
    seed : of the draws, until ``reset(seed=...)`` gives another.
    options : those of `Settings`: mode, share, rates, threshold, gap, single, limits,
        restitution, objective, k.

    ``info["impacts"]`` of each step is a tuple of `Impact`: what was replaced, when, and by what.
    """

    def __init__(self, env: Env, *, seed: int = 0, **options: Unpack[HookOptions]) -> None:
        Recorded.__init__(self, seed=seed, **options)
        Wrapper.__init__(self, env)
        model, data = simulation_of(env)
        self.hook = hook = Hook(model, data, Settings(**options), seed)
        after = engine().mj_rnePostConstraint

        def step(ctrl: Foreign, n_frames: int) -> None:
            data.ctrl[:] = ctrl
            hook.step(n_frames)
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
        observation, reward, terminated, truncated, info = self.env.step(action)
        info["impacts"] = tuple(self.hook.impacts)
        return observation, reward, terminated, truncated, info
