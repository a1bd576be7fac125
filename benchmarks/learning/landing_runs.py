"""Training and trying one policy for touch-downs; both go on where they ended."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import gymnasium
import numpy as np

from learning.landings import PRIMARY, TESTS, episodes_of, test_env, training_env
from learning.ppo import Agent, Options, Steps, advantages, forward, improve, likelihood
from learning.runs import Run, read, write

PROBES, PROBED = 10, 40  # times during a training that the policy is tried, and episodes each
FIRST_TEST, FIRST_PROBE = 100_000, 200_000  # seeds of episodes
#: frozen before the runs, see plan.md
OPTIONS = {"lander": Options(), "quadruped": Options(spread=0.2)}


@dataclass
class Beside:
    """Environments of one training, in turns, and how their last episodes went."""

    envs: list[gymnasium.Env]
    seen: np.ndarray

    @classmethod
    def begin(cls, run: Run, count: int, part: int, value: Callable) -> Beside:
        """New episodes."""
        first = 1_000_000 * (1 + run.seed) + count * part
        envs = [training_env(run.task, run.condition, first + k, value) for k in range(count)]
        return cls(envs, np.stack([env.reset(seed=first + k)[0] for k, env in enumerate(envs)]))


def train(run: Run, steps: int, end: float) -> None:
    """Go on until the run has so many steps, or the moment ``end`` has come."""
    options, state = OPTIONS[run.task], run.state()
    rng = np.random.default_rng([run.seed, state["steps"]])
    agent = load(run, options)
    holder = [agent]  # the adversary asks the value as it is at each moment
    part = state["steps"] // (options.rollout * options.environments)
    beside = Beside.begin(run, options.environments, part, lambda seen: holder[0].value(seen))
    if agent is None:
        size, actions = beside.envs[0].observation_space.shape[0], beside.envs[0].action_space.shape[0]
        agent = holder[0] = Agent.new(size, actions, rng, options)
        agent.watch(beside.seen)
    began, worked = time.monotonic(), time.process_time()
    recent: list[tuple[float, bool]] = []
    while state["steps"] < steps:
        done = state["steps"] + options.rollout * options.environments
        ended = rollout(agent, beside, state["steps"] / steps, rng, recent)
        state["episodes"] = state.get("episodes", 0) + ended
        state["steps"] = done
        late = time.monotonic() >= end
        if late or done >= steps or done * PROBES // steps > len(state["curve"]):
            now, used = time.monotonic(), time.process_time()
            state["seconds"] += now - began
            state["processor_seconds"] = state.get("processor_seconds", 0.0) + used - worked
            if not late or done >= steps:
                state["curve"].append(point(run, agent, state, recent))
                recent.clear()
            began, worked = time.monotonic(), time.process_time()
            save(run, agent, state, whole=done >= steps)
        if late:
            break


def rollout(agent: Agent, beside: Beside, share: float, rng: np.random.Generator, recent: list) -> int:
    """Steps of all environments, then an update; returns how many episodes ended."""
    options, n = agent.options, len(beside.envs)
    shape = options.rollout, n
    actions = np.zeros((*shape, beside.envs[0].action_space.shape[0]), dtype=np.float32)
    observations = np.zeros((*shape, beside.seen.shape[1]))
    rewards, after, logs = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    ended, counts = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    going_on = []  # (t, k, observation) of episodes that were cut off
    spread, episodes = agent.weights["spread"], 0
    for t in range(options.rollout):
        observations[t] = beside.seen
        middle = agent.act(beside.seen)
        actions[t] = middle + np.exp(spread) * rng.normal(size=middle.shape)
        logs[t] = likelihood(actions[t], middle, spread)
        for k, env in enumerate(beside.envs):
            seen, rewards[t, k], terminated, truncated, info = env.step(actions[t, k])
            counts[t, k] = info["powered"]
            ended[t, k] = terminated or truncated
            if truncated and not terminated:
                going_on.append((t, k, seen))
            if ended[t, k]:
                episodes += 1
                recent.append((info["cost"], info["verdict"] not in ("", "stands")))
                seen, _ = env.reset()
            beside.seen[k] = seen
    scaled = agent.scaled(observations.reshape(-1, observations.shape[2]))
    values = forward(agent.weights, "v", scaled)[-1].reshape(shape).astype(np.float64)
    after[:-1], after[-1] = values[1:], agent.value(beside.seen)
    after[ended] = 0.0
    for t, k, seen in going_on:
        after[t, k] = agent.value(seen[None])[0]
    gain = advantages(rewards, values, after, ended, options)
    batch = Steps(
        scaled,
        actions.reshape(len(scaled), -1),
        logs.ravel().astype(np.float32),
        gain.ravel().astype(np.float32),
        (gain + values).ravel().astype(np.float32),
        counts.ravel(),
    )
    improve(agent, batch, share, rng)
    agent.watch(observations.reshape(len(scaled), -1))
    return episodes


def point(run: Run, agent: Agent, state: dict, recent: list) -> dict:
    """Of the learning curve: how training episodes went, and untrained ones on the primary test."""
    tried = tried_on(agent, run.task, PRIMARY, PROBED, FIRST_PROBE)
    cost, falls = np.array(recent, dtype=np.float64).reshape(-1, 2).mean(axis=0) if recent else (None, None)
    return {
        "steps": state["steps"],
        "episodes": state["episodes"],
        "training_cost": cost,
        "training_falls": falls,
        "falls": tried["falls"] / tried["episodes"],
        "return": tried["return"],
        "cost": tried["cost"],
        "spread": float(np.exp(agent.weights["spread"]).mean()),
        "seconds": round(state["seconds"], 1),
    }


def tried_on(agent: Agent, task: str, name: str, episodes: int, first: int) -> dict:
    """How a policy without its exploration does on a test, with equal episodes for all policies."""
    env = test_env(task, name)
    verdicts: dict[str, int] = {}
    costs, returns, began = [], [], time.process_time()
    for k in range(episodes):
        seen, _ = env.reset(seed=first + k)
        total, ended = 0.0, False
        while not ended:
            seen, reward, terminated, truncated, info = env.step(agent.act(seen[None])[0])
            total, ended = total + reward, terminated or truncated
        verdicts[info["verdict"] or "late"] = verdicts.get(info["verdict"] or "late", 0) + 1
        costs.append(info["cost"])
        returns.append(total)
    env.close()
    return {
        "episodes": episodes,
        "falls": episodes - verdicts.get("stands", 0) - verdicts.get("late", 0),
        "verdicts": verdicts,
        "return": float(np.mean(returns)),
        "cost": float(np.mean(costs)),
        "ms_an_episode": round(1e3 * (time.process_time() - began) / episodes, 2),
    }


def evaluate(run: Run, episodes: int, end: float) -> None:
    """On every test that the run was not tried on."""
    agent, file = load(run, OPTIONS[run.task]), run.place / "tests.json"
    assert agent is not None
    for name in missing(run, episodes):
        if time.monotonic() >= end:
            return
        count = episodes_of(run.task, name, episodes)
        write(file, {**read(file), name: tried_on(agent, run.task, name, count, FIRST_TEST)})


def missing(run: Run, episodes: int) -> list[str]:
    """Tests that are left to do."""
    known = read(run.place / "tests.json")
    tried = {name: known.get(name, {}).get("episodes", 0) for name in TESTS}
    return [name for name in TESTS if tried[name] < episodes_of(run.task, name, episodes)]


def load(run: Run, options: Options) -> Agent | None:
    """The policy as far as it has come; None where it has not begun."""
    file = run.place / "policy.npz"
    if not file.exists():
        return None
    with np.load(file) as given:
        return Agent.from_arrays(dict(given), options)


def save(run: Run, agent: Agent, state: dict, *, whole: bool) -> None:
    """Whole or not at all; what only the training needs goes with its end."""
    part = Path(f"{run.place / 'policy'}.part.npz")
    arrays = agent.arrays()
    if whole:
        arrays = {k: v[..., :0] if k.startswith(("first_", "second_")) else v for k, v in arrays.items()}
    np.savez(part, **arrays)
    os.replace(part, run.place / "policy.npz")
    write(run.place / "state.json", state)
