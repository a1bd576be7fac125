"""What policies are tried on, and their returns there."""

from __future__ import annotations

from collections.abc import Callable

import gymnasium
import mujoco
import numpy as np
import torch

import routh.learn
from learning.rigid import RigidContacts
from learning.runs import Run
from learning.walker_training import GAP, Together, load

Value = Callable[[np.ndarray], np.ndarray]  # observations (k, n) to values (k,)


def plain(task: str) -> gymnasium.Env:
    """The task as it is."""
    return gymnasium.make(task, disable_env_checker=True)


def changed(change: Callable[[gymnasium.Env], None]) -> Callable[[str, Value], gymnasium.Env]:
    """The task with a change of its model."""

    def make(task: str, value: Value) -> gymnasium.Env:
        env = plain(task)
        change(env.unwrapped)
        return env

    return make


def scaled_softness(factor: float) -> Callable[[gymnasium.Env], None]:
    """Time constants of contacts, times a factor."""

    def change(env) -> None:
        env.model.geom_solref[:, 0] *= factor

    return change


def half_step(env) -> None:
    """Half the time step, as many more of them."""
    env.model.opt.timestep *= 0.5
    env.frame_skip *= 2


def other_solver(env) -> None:
    """Gauss-Seidel, elliptic cones, implicit integration."""
    env.model.opt.solver = mujoco.mjtSolver.mjSOL_PGS
    env.model.opt.iterations = 30
    env.model.opt.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    env.model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST


def randomised(**options) -> Callable[[str, Value | None], gymnasium.Env]:
    """Random outcomes."""
    return lambda task, value: routh.learn.OutcomeRandomization(plain(task), gap=GAP, seed=1, **options)


def adversarial(task: str, value: Value) -> gymnasium.Env:
    """Of 16 outcomes the one that the policy's own value function likes least."""
    return routh.learn.AdversarialOutcomes(plain(task), value=value, k=16, gap=GAP, seed=1)


#: what a policy is tried on: name -> (task, its value function) -> environment
TESTS: dict[str, Callable[[str, Value], gymnasium.Env]] = {
    "nominal": lambda task, value: plain(task),
    "random outcomes": randomised(),
    "adversarial outcomes": adversarial,
    "every impact rigid": randomised(single=True),
    "half as soft": changed(scaled_softness(0.5)),
    "four times as soft": changed(scaled_softness(4.0)),
    "half the time step": changed(half_step),
    "other solver": changed(other_solver),
    "rigid contacts": lambda task, value: RigidContacts(plain(task)),
}


def returns(run: Run, name: str, episodes: int) -> list[float]:
    """Of some episodes, side by side, of the policy without its exploration."""
    model, normalised = load(run, Together([lambda: plain(run.task)]))

    def value(observations: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            seen = torch.as_tensor(normalised.normalize_obs(observations), dtype=torch.float32)
            return model.policy.predict_values(seen).numpy()[:, 0]

    envs = [TESTS[name](run.task, value) for _ in range(episodes)]
    seen = [env.reset(seed=10_000 + k)[0] for k, env in enumerate(envs)]
    totals, going = np.zeros(episodes), list(range(episodes))
    while going:
        stacked = normalised.normalize_obs(np.stack([seen[k] for k in going]))
        actions, _ = model.predict(stacked, deterministic=True)
        still = []
        for k, action in zip(going, actions, strict=True):
            seen[k], reward, terminated, truncated, _ = envs[k].step(action)
            totals[k] += float(reward)
            if not (terminated or truncated):
                still.append(k)
        going = still
    for env in envs:
        env.close()
    return totals.tolist()


def impacts(run: Run, seed: int = 20_000) -> tuple[list[float], int]:
    """The ambiguities of all impacts of one episode with random outcomes, and its steps."""
    model, normalised = load(run, Together([lambda: plain(run.task)]))
    env = randomised()(run.task, None)
    seen, _ = env.reset(seed=seed)
    found, steps, ended = [], 0, False
    while not ended:
        action, _ = model.predict(normalised.normalize_obs(seen), deterministic=True)
        seen, _, terminated, truncated, info = env.step(action)
        found += [impact.ambiguity for impact in info["impacts"]]
        steps, ended = steps + 1, terminated or truncated
    env.close()
    return found, steps
