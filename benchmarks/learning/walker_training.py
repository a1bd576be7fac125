"""PPO of stable-baselines3 on several environments in one process, with checkpoints."""

from __future__ import annotations

import time

import gymnasium
import numpy as np
from stable_baselines3 import PPO
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

import routh.learn
from learning.runs import Run, write

GAP = 1e-3  # m: contacts this near take part in an impact
ENVIRONMENTS = 16  # in one process: torch's overhead of a call is shared by them
ROLLOUT = 2048  # steps of all environments between two updates
#: the same for all tasks and conditions
PPO_OPTIONS = {"n_steps": ROLLOUT // ENVIRONMENTS, "batch_size": 256, "n_epochs": 10, "learning_rate": 5e-4}
CHECKPOINT = 15.0  # s between two checkpoints


class Together(DummyVecEnv):
    """Environments in turns. Other than its parent it does not copy what each step tells beside numbers."""

    def step_wait(self):
        """One step of each."""
        infos = []
        for k, env in enumerate(self.envs):
            seen, self.buf_rews[k], terminated, truncated, info = env.step(self.actions[k])
            self.buf_dones[k] = terminated or truncated
            info["TimeLimit.truncated"] = truncated and not terminated
            if self.buf_dones[k]:
                info["terminal_observation"] = seen
                seen, self.reset_infos[k] = env.reset()
            self._save_obs(k, seen)
            infos.append(info)
        return self._obs_from_buf(), self.buf_rews.copy(), self.buf_dones.copy(), infos


def training_env(task: str, condition: str, seed: int) -> gymnasium.Env:
    """An environment as the condition wants it."""
    env = gymnasium.make(task, disable_env_checker=True)
    if condition == "outcomes":
        return routh.learn.OutcomeRandomization(env, gap=GAP, seed=seed)
    if condition == "noise":
        return routh.learn.OutcomeRandomization(env, gap=GAP, mode="noise", seed=seed)
    if condition == "parameters":
        return routh.learn.ParameterRandomization(env, seed=seed)
    return env


def load(run: Run, env) -> tuple[PPO, VecNormalize]:
    """Model and normalised environment of a run as far as it has come; new ones where it has not begun."""
    steps = run.state()["steps"]
    if not steps:
        normalised = VecNormalize(env)
        return PPO("MlpPolicy", normalised, seed=run.seed, device="cpu", **PPO_OPTIONS), normalised
    normalised = VecNormalize.load(str(run.place / f"{steps}.pkl"), env)
    model = PPO.load(run.place / f"{steps}.zip", normalised, device="cpu")
    model.set_random_seed(1000 * run.seed + steps)
    return model, normalised


def train(run: Run, steps: int, end: float) -> None:
    """Go on with a run until it has so many steps or the moment ``end`` has come."""
    state = run.state()
    makers = [
        lambda k=k: Monitor(training_env(run.task, run.condition, 1000 * run.seed + k))
        for k in range(ENVIRONMENTS)
    ]
    env = Together(makers)
    env.seed(10_000_000 * run.seed + ENVIRONMENTS * state["steps"])
    model, normalised = load(run, env)
    while state["steps"] < steps and time.monotonic() < end:
        start, worked, before = time.monotonic(), time.process_time(), model.num_timesteps
        while model.num_timesteps < steps and time.monotonic() < min(start + CHECKPOINT, end):
            model.learn(ROLLOUT, reset_num_timesteps=False)
        state = save(run, state, model, normalised, time.monotonic() - start)
        speed = (model.num_timesteps - before) / (time.process_time() - worked)
        steps_and_return = "{} steps, return {}".format(*state["curve"][-1])
        print(f"{run}: {steps_and_return}; {speed:.0f} steps a second of processor time", flush=True)
    env.close()


def save(run: Run, state: dict, model: PPO, normalised: VecNormalize, seconds: float) -> dict:
    """A checkpoint; the last one goes once the new one counts."""
    now = int(model.num_timesteps)
    model.save(run.place / f"{now}.zip")
    normalised.save(str(run.place / f"{now}.pkl"))
    episodes = [episode["r"] for episode in model.ep_info_buffer or ()]
    curve = [*state["curve"], [now, round(float(np.mean(episodes)), 1) if episodes else None]]
    made = {"steps": now, "seconds": state["seconds"] + seconds, "curve": curve}
    write(run.place / "state.json", made)
    if state["steps"] != now:
        for suffix in ("zip", "pkl"):
            (run.place / f"{state['steps']}.{suffix}").unlink(missing_ok=True)
    return made
