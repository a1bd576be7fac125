"""Does training with every outcome make stiff landings safe? What counts was written down before: plan.md.

    python benchmarks/learn_landings.py run --processes 16 --seconds 540 --folder results/landings
    python benchmarks/learn_landings.py progress --folder results/landings
    python benchmarks/learn_landings.py table [--results benchmarks/learning/landings.json]
    python benchmarks/learn_landings.py figure [--output landings.png]
    python benchmarks/learn_landings.py collect --output benchmarks/learning/landings.json
    python benchmarks/learn_landings.py cost          # of an episode, and of the wrappers, processor time

``run`` trains what is not trained and tries what was not tried, one run after the other in each of the
processes, ends after ``--seconds`` at the latest and goes on from there when it is started again. ``--size``
is full (2 x 9 minutes of 16 cores), small (twenty minutes of two) or tiny (a minute: does it run?). Needs the
extra ``learn``; the learner is `learning/ppo.py`. ``--results`` shows what `collect` kept, without training.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from learning import landing_reports as reports
from learning import landing_runs, landings
from learning.runs import Run, work_off
from measure import Table, command_line, timed

END_BEFORE = 30.0  # s: the longest that a test or a rollout takes


@dataclass(frozen=True)
class Share:
    """What is done of a task."""

    conditions: tuple[str, ...]
    seeds: int
    steps: int
    episodes: int


SIZES = {
    "full": {
        "lander": Share(landings.CONDITIONS, 10, 150_000, 300),
        "quadruped": Share(landings.FEW, 6, 100_000, 200),
    },
    "small": {
        "lander": Share(landings.CONDITIONS, 2, 100_000, 100),
    },
    "tiny": {
        "lander": Share(("nominal", "adversary"), 1, 4096, 10),
        "quadruped": Share(("outcomes",), 1, 4096, 10),
    },
}


def runs(given: argparse.Namespace) -> list[Run]:
    """Task by task and seed by seed, so that what was interrupted is balanced."""
    return [
        Run(task, condition, seed, Path(given.folder))
        for task, share in SIZES[given.size].items()
        if task in given.tasks
        for seed in range(share.seeds)
        for condition in share.conditions
    ]


def is_left(given: argparse.Namespace, run: Run) -> bool:
    """Whether a run is to be trained or tried."""
    share = SIZES[given.size][run.task]
    return run.state()["steps"] < share.steps or bool(landing_runs.missing(run, share.episodes))


def work(given: argparse.Namespace) -> None:
    """One of the processes."""

    def one(run: Run, end: float) -> None:
        share = SIZES[given.size][run.task]
        landing_runs.train(run, share.steps, end)
        if run.state()["steps"] >= share.steps:
            landing_runs.evaluate(run, share.episodes, end)
            known = reports.read(run.place / "tests.json").get(landings.PRIMARY, {})
            told = f"{known.get('falls')} of {known.get('episodes')} fall, {landings.PRIMARY}"
            print(f"{run}: {run.state()['seconds']:.0f} s, {told}", flush=True)

    work_off(given.runs, given.seconds - END_BEFORE, lambda run: is_left(given, run), one)


def run(given: argparse.Namespace) -> None:
    """Compile once, then as many processes as were asked for."""
    end = time.monotonic() + given.seconds
    warm()
    print(f"compiled after {given.seconds - (end - time.monotonic()):.0f} s", flush=True)
    command = [sys.executable, __file__, "work", "--folder", given.folder, "--size", given.size]
    command += ["--tasks", *given.tasks, "--seconds", str(end - time.monotonic())]
    one_core = os.environ | dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    workers = [subprocess.Popen(command, env=one_core) for _ in range(given.processes)]
    failed = sum(worker.wait() != 0 for worker in workers)
    progress(given)
    if failed:
        raise SystemExit(f"{failed} of {given.processes} processes failed")


def warm() -> None:
    """A little of everything that compiles, so that it lies on disk for the processes."""
    agents = {}
    for task in landings.TASKS:
        for condition in ("outcomes", "adversary"):
            env = landings.training_env(task, condition, 0, lambda seen: np.zeros(len(seen)))
            for seed in range(3):
                env.reset(seed=seed)
                ended = False
                while not ended:
                    _, _, terminated, truncated, _ = env.step(np.zeros(env.action_space.shape))
                    ended = terminated or truncated
        size, actions = env.observation_space.shape[0], env.action_space.shape[0]
        options = landing_runs.OPTIONS[task]
        agents[task] = landing_runs.Agent.new(size, actions, np.random.default_rng(0), options)
        for name in landings.TESTS:
            landing_runs.tried_on(agents[task], task, name, 1, 0)


def progress(given: argparse.Namespace) -> None:
    """How much is done."""
    for task in dict.fromkeys(run.task for run in given.runs):
        share, those = SIZES[given.size][task], [run for run in given.runs if run.task == task]
        trained = sum(run.state()["steps"] >= share.steps for run in those)
        whole = sum(not is_left(given, run) for run in those)
        steps = sum(min(run.state()["steps"], share.steps) for run in those) / (len(those) * share.steps)
        training = sum(run.state().get("processor_seconds", 0.0) for run in those)
        tests = [test for run in those for test in reports.read(run.place / "tests.json").values()]
        trying = sum(1e-3 * test["ms_an_episode"] * test["episodes"] for test in tests)
        print(f"{task}: {whole} of {len(those)} runs whole, {trained} trained, {steps:.0%} of all steps")
        print(f"{task}: {training:.0f} s of a processor for training, {trying:.0f} s for tests")


def cost(given: argparse.Namespace) -> None:
    """Processor time of episodes and of steps, in turns, the fastest of some rounds."""
    columns = {"task": "<10", "episode, ms": ".1f", "steps": ".0f", "step, us": ".0f"}
    columns |= {"random outcomes, ratio": ".2f", "worst of 16, ratio": ".2f", "impacts": ".1f"}
    table, episodes = Table(columns), 40
    for task in landings.TASKS:
        envs = {
            kind: landings.training_env(task, kind, 0, lambda seen: -np.abs(seen).sum(axis=1))
            for kind in ("nominal", "outcomes", "adversary")
        }
        best, steps, impacts = dict.fromkeys(envs, math.inf), {}, {}
        for _ in range(5):
            for kind, env in envs.items():
                (steps[kind], impacts[kind]), seconds = timed(random_episodes, env, episodes)
                best[kind] = min(best[kind], seconds)
        plain, outcomes, adversary = (1e6 * best[kind] / steps[kind] for kind in envs)
        of_episode = 1e3 * best["nominal"] / episodes, steps["nominal"] / episodes
        ratios = outcomes / plain, adversary / plain
        table.row(task, *of_episode, plain, *ratios, impacts["outcomes"] / episodes)


def random_episodes(env, count: int) -> tuple[int, int]:
    """The steps and impacts of some episodes of random actions."""
    rng, steps, met = np.random.default_rng(0), 0, 0
    for k in range(count):
        env.reset(seed=k)
        ended = False
        while not ended:
            _, _, terminated, truncated, info = env.step(rng.normal(size=env.action_space.shape) * 0.3)
            met += len(info.get("impacts", ()))
            steps, ended = steps + 1, terminated or truncated
    return steps, met


def main() -> None:
    told = reports.table, reports.figure, reports.collect
    parser = command_line(__doc__, run, work, progress, cost, *told)
    parser.add_argument("--folder", default="results/landings")
    parser.add_argument("--size", choices=SIZES, default="full")
    parser.add_argument("--tasks", nargs="+", choices=landings.TASKS, default=list(landings.TASKS))
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=math.inf, help="after which it ends by itself")
    parser.add_argument("--results", help="a file of `collect` to report on, in place of the folder")
    parser.add_argument("--output", default="landings.png")
    given = parser.parse_args()
    given.runs = runs(given)
    given.parts[given.part](given)


if __name__ == "__main__":
    main()
