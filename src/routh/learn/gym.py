"""What is asked of Gymnasium: its classes, and the simulation inside an environment."""

from __future__ import annotations

import numpy as np

from routh.compiling.foreign import Foreign
from routh.status import MissingExtraError

try:
    from gymnasium import Env, Wrapper
    from gymnasium.utils import RecordConstructorArgs as Recorded
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
        raise ValueError(
            f"env: got {type(inside).__name__}, which does not step as gymnasium's MujocoEnv does; wanted "
            "one that does, or routh.learn.hook(model, data).step(n) in place of its calls of mujoco.mj_step"
        )
    if "_step_mujoco_simulation" in vars(inside):
        raise ValueError("env: another wrapper replaces its impacts already; wanted one such wrapper")
    return inside.model, inside.data


def draws_seed(seed: int) -> int:
    """For draws of a wrapper: another stream than the environment's own of the same seed."""
    return int(np.random.SeedSequence([seed, 0x6F757463]).generate_state(1, np.uint64)[0])
