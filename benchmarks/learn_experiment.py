"""Do policies that were trained with outcome randomisation survive what others do not?

pip install -r benchmarks/requirements-learn.txt
python benchmarks/learn_experiment.py train [--tasks Hopper-v5 Walker2d-v5] [--seeds 10] [--steps 300000]
python benchmarks/learn_experiment.py evaluate [--episodes 10]
python benchmarks/learn_experiment.py table
python benchmarks/learn_experiment.py picture [--output learn.png]

Everything lies under ``--folder`` (results/learn): one folder for each task, condition and seed. Each command
does what is missing and can be stopped and started again; training goes on from its last checkpoint. Several
processes may work on one folder: ``--share 0/2`` and ``--share 1/2`` take turns at the runs; give each one
thread (OMP_NUM_THREADS=1).
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import gymnasium
import mujoco
import numpy as np

import routh.learn

CONDITIONS = ("nominal", "outcomes", "noise", "parameters")
CHECKPOINT = 50_000  # steps


@dataclass(frozen=True)
class Run:
    """One training."""

    task: str
    condition: str
    seed: int
    folder: Path

    @property
    def place(self) -> Path:
        """Where its files are."""
        return self.folder / self.task / self.condition / str(self.seed)

    def state(self) -> dict:
        """Steps done so far, and how long they took."""
        file = self.place / "state.json"
        return json.loads(file.read_text()) if file.exists() else {"steps": 0, "seconds": 0.0}


def training_env(task: str, condition: str, seed: int) -> gymnasium.Env:
    env = gymnasium.make(task)
    if condition == "outcomes":
        return routh.learn.OutcomeRandomization(env, seed=seed)
    if condition == "noise":
        return routh.learn.OutcomeRandomization(env, mode="noise", seed=seed)
    if condition == "parameters":
        return routh.learn.ParameterRandomization(env, seed=seed)
    return env


def changed(task: str, change: Callable[[gymnasium.Env], None]) -> gymnasium.Env:
    env = gymnasium.make(task)
    change(env.unwrapped)
    return env


def scaled_softness(factor: float) -> Callable[[gymnasium.Env], None]:
    def change(env) -> None:
        env.model.geom_solref[:, 0] *= factor

    return change


def half_step(env) -> None:
    env.model.opt.timestep *= 0.5
    env.frame_skip *= 2


def other_solver(env) -> None:
    env.model.opt.solver = mujoco.mjtSolver.mjSOL_PGS
    env.model.opt.iterations = 30
    env.model.opt.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    env.model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST


#: what a policy is tried on: name -> (task, its value function) -> environment
TESTS: dict[str, Callable[[str, Callable], gymnasium.Env]] = {
    "nominal": lambda task, value: gymnasium.make(task),
    "random outcomes": lambda task, value: routh.learn.OutcomeRandomization(gymnasium.make(task), seed=1),
    "adversarial outcomes": lambda task, value: routh.learn.AdversarialOutcomes(
        gymnasium.make(task), value=value, k=16, seed=1
    ),
    "every impact rigid": lambda task, value: routh.learn.OutcomeRandomization(
        gymnasium.make(task), single=True, seed=1
    ),
    "half as soft": lambda task, value: changed(task, scaled_softness(0.5)),
    "four times as soft": lambda task, value: changed(task, scaled_softness(4.0)),
    "half the time step": lambda task, value: changed(task, half_step),
    "other solver": lambda task, value: changed(task, other_solver),
}


def runs(given: argparse.Namespace) -> Iterator[Run]:
    """All runs that were asked for, seed by seed, so that an interrupted study is balanced."""
    number, of = (int(part) for part in given.share.split("/"))
    every = [
        Run(task, condition, seed, Path(given.folder))
        for seed in range(given.seeds)
        for task in given.tasks
        for condition in CONDITIONS
    ]
    yield from every[number::of]


def write(file: Path, content: dict) -> None:
    """Whole or not at all."""
    part = file.with_suffix(".part")
    part.write_text(json.dumps(content, indent=1))
    part.replace(file)


def load(run: Run, env):
    """Model and normalised environment of a run as far as it has come; new ones where it has not begun."""
    from stable_baselines3 import PPO
    from stable_baselines3.common.vec_env import VecNormalize

    if run.state()["steps"]:
        steps = run.state()["steps"]
        normalised = VecNormalize.load(str(run.place / f"{steps}.pkl"), env)
        return PPO.load(run.place / f"{steps}.zip", normalised, device="cpu"), normalised
    normalised = VecNormalize(env)
    return PPO("MlpPolicy", normalised, seed=run.seed, device="cpu"), normalised


def train_one(run: Run, steps: int) -> None:
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import DummyVecEnv

    state = run.state()
    if state["steps"] >= steps:
        return
    run.place.mkdir(parents=True, exist_ok=True)
    env = DummyVecEnv([lambda: Monitor(training_env(run.task, run.condition, run.seed))])
    env.seed(1000 * run.seed + state["steps"])
    model, normalised = load(run, env)
    while state["steps"] < steps:
        start, before = time.perf_counter(), model.num_timesteps
        part = min(CHECKPOINT, steps - state["steps"])
        model.learn(part, reset_num_timesteps=False)
        now = state["steps"] + part
        model.save(run.place / f"{now}.zip")
        normalised.save(str(run.place / f"{now}.pkl"))
        seconds = time.perf_counter() - start
        speed = (model.num_timesteps - before) / seconds
        last = state["steps"]
        state = {"steps": now, "seconds": state["seconds"] + seconds, "collected": int(model.num_timesteps)}
        write(run.place / "state.json", state)
        for suffix in ("zip", "pkl"):
            (run.place / f"{last}.{suffix}").unlink(missing_ok=True)
        print(f"{run.task} {run.condition} {run.seed}: {now} steps, {speed:.0f} a second", flush=True)
    env.close()


def train(given: argparse.Namespace) -> None:
    import torch

    torch.set_num_threads(1)
    for run in runs(given):
        train_one(run, given.steps)


def evaluate_one(run: Run, name: str, episodes: int) -> list[float]:
    """Returns of some episodes of the policy without its exploration."""
    import torch
    from stable_baselines3.common.vec_env import DummyVecEnv

    model, normalised = load(run, DummyVecEnv([lambda: gymnasium.make(run.task)]))

    def value(observations: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            seen = torch.as_tensor(normalised.normalize_obs(observations), dtype=torch.float32)
            return model.policy.predict_values(seen).numpy()[:, 0]

    env = TESTS[name](run.task, value)
    found = []
    for episode in range(episodes):
        observation, _ = env.reset(seed=10_000 + episode)
        total, ended = 0.0, False
        while not ended:
            action, _ = model.predict(normalised.normalize_obs(observation), deterministic=True)
            observation, reward, terminated, truncated, _ = env.step(action)
            total, ended = total + float(reward), terminated or truncated
        found.append(total)
    env.close()
    return found


def evaluate(given: argparse.Namespace) -> None:
    import torch

    torch.set_num_threads(1)
    for run in runs(given):
        steps = run.state()["steps"]
        if not steps:
            continue
        file = run.place / f"returns-{steps}.json"
        known = json.loads(file.read_text()) if file.exists() else {}
        for name in TESTS:
            if len(known.get(name, ())) < given.episodes:
                known[name] = evaluate_one(run, name, given.episodes)
                write(file, known)
        print(f"{run.task} {run.condition} {run.seed}: evaluated after {steps} steps", flush=True)


def results(given: argparse.Namespace) -> dict[tuple[str, str, str], list[float]]:
    """(task, condition, test) -> the mean return of each seed that was evaluated."""
    found: dict[tuple[str, str, str], list[float]] = {}
    for run in runs(given):
        file = run.place / f"returns-{run.state()['steps']}.json"
        for name, values in (json.loads(file.read_text()) if file.exists() else {}).items():
            found.setdefault((run.task, run.condition, name), []).append(float(np.mean(values)))
    return found


def interval(values: list[float]) -> tuple[float, float, float]:
    """Median over seeds, and an interval of 95 % for it by resampling the seeds."""
    rng = np.random.default_rng(0)
    again = np.median(rng.choice(values, (4000, len(values))), axis=1)
    low, high = np.quantile(again, [0.025, 0.975])
    return float(np.median(values)), float(low), float(high)


def table(given: argparse.Namespace) -> None:
    found = results(given)
    for task in given.tasks:
        counts = {condition: len(found.get((task, condition, "nominal"), ())) for condition in CONDITIONS}
        print(f"\n{task}: return, median over seeds (95 % of the median); seeds {counts}\n")
        print("| tried on | " + " | ".join(CONDITIONS) + " |")
        print("|---" * (1 + len(CONDITIONS)) + "|")
        for name in TESTS:
            cells = []
            for condition in CONDITIONS:
                values = found.get((task, condition, name))
                cells.append("{:.0f} ({:.0f}, {:.0f})".format(*interval(values)) if values else "")
            print(f"| {name} | " + " | ".join(cells) + " |")


def picture(given: argparse.Namespace) -> None:
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    found = results(given)
    figure, axes = plt.subplots(1, len(given.tasks), figsize=(5.5 * len(given.tasks), 4.5), squeeze=False)
    places = np.arange(len(TESTS))
    for axis, task in zip(axes[0], given.tasks, strict=True):
        for k, condition in enumerate(CONDITIONS):
            keys = [(place, (task, condition, name)) for place, name in enumerate(TESTS)]
            known = [(place, found[key]) for place, key in keys if key in found]
            if not known:
                continue
            middle, low, high = np.array([interval(values) for _, values in known]).T
            at = np.array([place for place, _ in known]) + 0.18 * (k - 1.5)
            axis.errorbar(middle, at, xerr=[middle - low, high - middle], fmt="o", ms=4, label=condition)
        axis.set_yticks(places, TESTS)
        axis.invert_yaxis()
        axis.set_xlabel("return, median over seeds with its 95 % interval")
        axis.set_title(task)
    axes[0][0].legend(title="trained with")
    figure.tight_layout()
    figure.savefig(given.output, dpi=150)
    print(f"wrote {given.output}")


def main() -> None:
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("what", choices=("train", "evaluate", "table", "picture"))
    parser.add_argument("--tasks", nargs="+", default=["Hopper-v5", "Walker2d-v5"])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--steps", type=int, default=300_000)
    parser.add_argument("--episodes", type=int, default=10)
    parser.add_argument("--share", default="0/1")
    parser.add_argument("--folder", default="results/learn")
    parser.add_argument("--output", default="learn.png")
    given = parser.parse_args()
    {"train": train, "evaluate": evaluate, "table": table, "picture": picture}[given.what](given)


if __name__ == "__main__":
    main()
