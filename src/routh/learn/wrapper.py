"""The Gymnasium wrapper: every impact of a MuJoCo environment gets an outcome that it can have.

The adversary takes, of some outcomes of every impact, the one that is worst for a policy; `make_vec` wraps
many environments.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from routh.base.status import InputError, MissingExtraError
from routh.base.validation import Array, integer
from routh.compiling.foreign import Foreign
from routh.learn.hooks import Hook, Impact
from routh.learn.settings import HookOptions, Settings
from routh.models.mujoco.engine import engine

try:
    import gymnasium
    from gymnasium import Env, Wrapper
    from gymnasium.utils import RecordConstructorArgs as Recorded
    from gymnasium.vector import AutoresetMode, SyncVectorEnv
except ImportError:
    raise MissingExtraError("gymnasium", "learn") from None

__all__ = ["Env", "Info", "Recorded", "Step", "Wrapper", "draws_seed", "simulation_of"]

Info = dict[str, Foreign]
Step = tuple[Foreign, Foreign, bool, bool, Info]  # observation, reward, terminated, truncated, info


def simulation_of(env: Env) -> tuple[Foreign, Foreign]:
    """The MjModel and MjData of an environment that steps as `MujocoEnv` does; raises where it does not."""
    from gymnasium.envs.mujoco.mujoco_env import MujocoEnv

    inside = env.unwrapped
    usual = getattr(type(inside), "_step_mujoco_simulation", None) is MujocoEnv._step_mujoco_simulation
    if not (isinstance(inside, MujocoEnv) and usual):
        raise InputError(
            "env",
            got=f"{type(inside).__name__}, which does not step as gymnasium's MujocoEnv does",
            wanted=(
                "one that does, or routh.learn.hook(model, data).step(n) in place of its calls "
                "of mujoco.mj_step"
            ),
        )
    if "_step_mujoco_simulation" in vars(inside):
        raise InputError("env", wrong="another wrapper already replaces its impacts", wanted="only one")
    return inside.model, inside.data


def draws_seed(seed: int) -> int:
    """Seed for a wrapper's draws: another stream than the environment's own of the same seed."""
    return int(np.random.SeedSequence([seed, 0x6F757463]).generate_state(1, np.uint64)[0])


class OutcomeRandomization(Wrapper, Recorded):
    """Replaces outcomes of impacts inside the substeps of a Gymnasium MuJoCo environment.

    ``info["impacts"]`` of each step is a tuple of `Impact`: what was replaced, when, and by what.

    Parameters
    ----------
    env : environment that steps as Gymnasium's `MujocoEnv` does; wrappers around it are kept.
    seed : of the draws, until ``reset(seed=...)`` gives another.
    options : those of `Settings`: mode, share, rates, threshold, window, gap, single, limits,
        restitution, objective, k.
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
        """Reset the environment; a seed starts the draws anew too."""
        observation, info = self.env.reset(seed=seed, options=options)
        self.hook.reset(None if seed is None else draws_seed(seed))
        return observation, {**info, "impacts": ()}

    def step(self, action: Foreign) -> Step:
        """Step the environment, with ``info["impacts"]``."""
        self._impacts.clear()
        observation, reward, terminated, truncated, info = self.env.step(action)
        info["impacts"] = tuple(self._impacts)
        return observation, reward, terminated, truncated, info


class AdversarialOutcomes(OutcomeRandomization):
    """`OutcomeRandomization` that takes the worst of ``k`` outcomes.

    Parameters
    ----------
    env : as for `OutcomeRandomization`.
    value : a value function (k, n) of observations to (k,): the worst outcome is the one with the lowest
        value. Observations are those of ``env.unwrapped`` at the moment of the impact; wrappers that change
        observations are not asked.
    seed : as for `OutcomeRandomization`.
    options : in place of ``value``, ``objective``, the larger the worse: (nv,) or a function (k, nv) of
        velocities after to (k,); ``k`` and the others as for `OutcomeRandomization`.
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
            raise InputError("objective, value", got="both or neither", wanted="exactly one")
        if value is not None:
            options["objective"] = _worth(env, value)
        options["mode"] = "worst"
        super().__init__(env, seed=seed, **options)


def _worth(env: Env, value: Callable[[Array], ArrayLike]) -> Callable[[Array], Array]:
    """The negative value of what would be observed after each outcome: velocities (k, nv) to (k,)."""
    inside: Foreign = env.unwrapped
    if not hasattr(inside, "_get_obs"):
        raise InputError("value", wrong=f"{type(inside).__name__} has no _get_obs", wanted="an objective")

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


class OutcomeVectorEnv(SyncVectorEnv):
    """Gymnasium's `SyncVectorEnv` of `OutcomeRandomization`; see `make_vec`.

    Sub-environment i gives the episodes that it would give alone with the same seed.
    """


def make_vec(
    name: str | Callable[[], Env],
    num_envs: int,
    *,
    seed: int = 0,
    autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
    make: Info | None = None,
    **options: Unpack[HookOptions],
) -> OutcomeVectorEnv:
    """Environments side by side in one process, each with `OutcomeRandomization`.

    Parameters
    ----------
    name : of an environment, for `gymnasium.make`; or a function that makes one.
    num_envs : how many.
    seed : environment i draws with ``seed + i``, until ``reset(seed=...)`` gives others.
    autoreset_mode : Gymnasium's.
    make : keywords for `gymnasium.make`.
    options : those of `OutcomeRandomization`.
    """
    count = integer("num_envs", num_envs, at_least=1)
    build = name if callable(name) else partial(gymnasium.make, name, **(make or {}))

    def made(number: int) -> Env:
        return OutcomeRandomization(build(), seed=seed + number, **options)

    makers = [partial(made, number) for number in range(count)]
    return OutcomeVectorEnv(makers, autoreset_mode=autoreset_mode)
