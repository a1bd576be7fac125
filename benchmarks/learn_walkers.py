"""Do policies that were trained with outcome randomisation survive what others do not?

pip install -r benchmarks/requirements-learn.txt
python benchmarks/learn_walkers.py warm                       # compiles what the others need, once
python benchmarks/learn_walkers.py train [--tasks Hopper-v5 Walker2d-v5] [--seeds 10] [--steps 300000]
python benchmarks/learn_walkers.py evaluate [--episodes 10]   # of the runs that have all their steps
python benchmarks/learn_walkers.py impacts                    # how ambiguous those are that policies meet
python benchmarks/learn_walkers.py table
python benchmarks/learn_walkers.py compare                    # outcomes against the others, by ranks
python benchmarks/learn_walkers.py picture [--output learn.png]
python benchmarks/learn_walkers.py collect --output benchmarks/learning/returns.json

Everything lies under ``--folder`` (results/learn): one folder for each task, condition and seed. Training and
evaluation do what is missing, end after ``--seconds`` and can be stopped and started again: training goes on
from its last checkpoint, at most half a minute back, with new episodes. Start as many processes on one folder
as there are cores: each takes the next run that nobody works on, one thread each (OMP_NUM_THREADS=1).

``--returns benchmarks/learning/returns.json`` lets table, compare and picture show what was measured, without
any training: mean returns of all seeds, as `collect` wrote them.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from pathlib import Path

import numpy as np

from learning import walker_reports as reports
from learning.runs import CONDITIONS, Run, read, runs, work_off, write
from measure import Table, command_line, run_part, timed


def train(given: argparse.Namespace) -> None:
    """What is left of all runs."""
    from learning import walker_training as training

    one_thread()
    work_off(
        runs(given),
        given.seconds,
        lambda run: run.state()["steps"] < given.steps,
        lambda run, end: training.train(run, given.steps, end),
    )


def evaluate(given: argparse.Namespace) -> None:
    """Runs that have all their steps, on every test that they have not been tried on."""
    from learning import walker_trials as trials

    one_thread()

    def missing(run: Run) -> list[str]:
        steps = run.state()["steps"]
        known = read(run.place / f"returns-{steps}.json")
        short = [name for name in trials.TESTS if len(known.get(name, ())) < given.episodes]
        return short if steps >= given.steps else []

    def work(run: Run, end: float) -> None:
        file = run.place / f"returns-{run.state()['steps']}.json"
        for name in missing(run):
            if time.monotonic() >= end:
                return
            write(file, {**read(file), name: trials.returns(run, name, given.episodes)})
        means = {name: round(float(np.mean(values))) for name, values in read(file).items()}
        print(f"{run}: {means}", flush=True)

    work_off(runs(given), given.seconds, lambda run: bool(missing(run)), work)


def impacts(given: argparse.Namespace) -> None:
    """Of the policies that were trained on the plain task: how many impacts they meet, and how ambiguous."""
    from learning import walker_trials as trials

    one_thread()
    columns = {
        "task": "<12",
        "policies": "d",
        "impacts in 1000 steps: median": ".0f",
        "fewest": ".0f",
        "most": ".0f",
    }
    table = Table({**columns, "ambiguity above 0.01": ".0%", "median": ".3f", "90 %": ".3f"})
    for task in given.tasks:
        rates, found = [], []
        for run in runs(given):
            if (run.task, run.condition) == (task, CONDITIONS[0]) and run.state()["steps"] >= given.steps:
                met, steps = trials.impacts(run)
                rates.append(1000.0 * len(met) / steps)
                found += met
        spread = np.array(found)
        numbers = np.median(rates), min(rates), max(rates), np.mean(spread > 0.01)
        table.row(task, len(rates), *numbers, np.median(spread), np.quantile(spread, 0.9))


def warm(given: argparse.Namespace) -> None:
    """One rollout and one episode of everything: compiles, and tells how fast this machine is."""
    from learning import walker_training as training
    from learning import walker_trials as trials

    one_thread()
    for task in given.tasks:
        with tempfile.TemporaryDirectory() as folder:
            for condition in CONDITIONS:
                run = Run(task, condition, 0, Path(folder))
                run.place.mkdir(parents=True)
                training.train(run, training.ROLLOUT, math.inf)
            for name in trials.TESTS:
                _, seconds = timed(trials.returns, run, name, 1)
                print(f"{task}, {name}: an episode, {seconds:.2f} s", flush=True)


def one_thread() -> None:
    """For each process; the others have the other cores."""
    import torch

    torch.set_num_threads(1)


def main() -> None:
    told = reports.table, reports.compare, reports.picture, reports.collect
    parser = command_line(__doc__, train, evaluate, warm, impacts, *told)
    parser.add_argument("--tasks", nargs="+", default=["Hopper-v5", "Walker2d-v5"])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--steps", type=int, default=300_000)
    parser.add_argument("--episodes", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=math.inf, help="after which it ends by itself")
    parser.add_argument("--folder", default="results/learn")
    parser.add_argument("--returns", help="a file of `collect` to report on, in place of the folder")
    parser.add_argument("--output", default="learn.png")
    run_part(parser)


if __name__ == "__main__":
    main()
