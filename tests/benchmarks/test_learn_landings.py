"""The experiment with landings: its learner, that it goes on where it ended, and its verdicts."""

import argparse
import math
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("gymnasium")
pytest.importorskip("mujoco")

from learning import landing_reports, landing_runs
from learning.ppo import Agent, Options, Steps, advantages, forward, likelihood, slopes
from learning.runs import Run, read, write


def some_steps(agent, rng, n=40):
    seen, actions = rng.normal(size=(n, 4)), rng.normal(size=(n, 2))
    middle = forward(agent.weights, "p", seen)[-1]
    logs = likelihood(actions, middle, agent.weights["spread"]) + 0.3 * rng.normal(size=n)
    return Steps(seen, actions, logs, rng.normal(size=n), rng.normal(size=n), rng.random(n) < 0.7)


def loss(agent, steps):
    """PPO's, as the paper has it, on the steps whose action did something; and the value's error on all."""
    ours, weights, clip = steps.counts, agent.weights, agent.options.clip
    middle = forward(weights, "p", steps.observations)[-1]
    ratio = np.exp(likelihood(steps.actions, middle, weights["spread"]) - steps.likelihood)[ours]
    gain = steps.advantage[ours]
    gain = (gain - gain.mean()) / (gain.std() + 1e-8)
    surrogate = np.minimum(ratio * gain, np.clip(ratio, 1.0 - clip, 1.0 + clip) * gain).mean()
    value = forward(weights, "v", steps.observations)[-1][:, 0]
    return -surrogate + 0.5 * ((value - steps.returns) ** 2).mean()


def test_the_gradient_is_that_of_ppos_loss():
    rng = np.random.default_rng(0)
    agent = Agent.new(4, 2, rng, Options(units=6))
    agent.weights = {
        k: w.astype(np.float64) + 0.1 * rng.normal(size=w.shape) for k, w in agent.weights.items()
    }
    steps = some_steps(agent, rng)
    found = slopes(agent, steps, np.arange(40))
    assert found.keys() == agent.weights.keys()
    for name, weight in agent.weights.items():
        place = tuple(rng.integers(size) for size in weight.shape)
        values = []
        for change in (1e-5, -2e-5):
            weight[place] += change
            values.append(loss(agent, steps))
        weight[place] += 1e-5
        assert found[name][place] == pytest.approx((values[0] - values[1]) / 2e-5, rel=1e-4, abs=1e-6), name


def test_advantages_end_with_their_episode():
    options = replace(Options(), discount=0.5, trace=0.5)
    rewards, values = np.ones((3, 1)), np.zeros((3, 1))
    ended = np.array([[False], [True], [False]])
    found = advantages(rewards, values, np.zeros((3, 1)), ended, options)
    assert found.ravel() == pytest.approx([1.25, 1.0, 1.0])


def test_a_training_goes_on_where_it_ended(tmp_path, monkeypatch):
    few = Options(rollout=8, environments=2, minibatch=8, epochs=1)
    monkeypatch.setitem(landing_runs.OPTIONS, "lander", few)
    monkeypatch.setattr(landing_runs, "PROBES", 1)
    monkeypatch.setattr(landing_runs, "PROBED", 1)
    run = Run("lander", "adversary", 0, tmp_path)
    run.place.mkdir(parents=True)
    landing_runs.train(run, 48, end=-math.inf)
    first, state = landing_runs.load(run, few), run.state()
    assert (state["steps"], state["curve"]) == (16, [])
    landing_runs.train(run, 48, end=math.inf)
    last, state = landing_runs.load(run, few), run.state()
    assert (state["steps"], len(state["curve"]), state["curve"][0]["steps"]) == (48, 1, 48)
    assert (first.updates, last.updates) == (2, 6)
    assert last.seen > first.seen
    landing_runs.train(run, 48, end=math.inf)
    assert run.state() == state


@pytest.mark.parametrize(
    ("numbers", "wanted"),
    [
        ((-0.05, -0.08, -0.02, 0.01), "better"),
        ((0.05, 0.02, 0.08, 0.01), "worse"),
        ((-0.01, -0.019, 0.0, 0.001), "tie"),
        ((-0.05, -0.12, 0.02, 0.2), "not decided"),
    ],
)
def test_verdicts_are_those_of_the_plan(numbers, wanted):
    assert landing_reports.verdict(*numbers) == wanted


def test_only_whole_runs_are_reported(tmp_path, capsys):
    runs = [Run("lander", how, seed, tmp_path) for how in ("feet alike", "outcomes") for seed in range(6)]
    for run in runs:
        run.place.mkdir(parents=True)
        fallen = (20 if run.condition == "feet alike" else 2) + run.seed
        curve = [{"steps": 100 * (1 + k), "falls": 0.1 - 0.05 * k} for k in range(2)]
        numbers = {"episodes": 9, "seconds": 1.0, "processor_seconds": 1.0}
        write(run.place / "state.json", {"steps": 200, "curve": curve, **numbers})
        tried = {"episodes": 100, "falls": fallen, "return": -1.0, "cost": 0.5}
        names = list(landing_reports.TESTS)[: 2 if run.seed == 5 else None]
        write(run.place / "tests.json", dict.fromkeys(names, tried))
    given = argparse.Namespace(runs=runs, results=None, output=str(tmp_path / "all.json"))
    landing_reports.collect(given)
    assert [len(seeds) for seeds in read(tmp_path / "all.json")["lander"].values()] == [5, 5]
    landing_reports.table(given)
    told = " ".join(capsys.readouterr().out.split())
    assert "22.0 (20." in told
    assert "200 (200, 200); 5 of 5" in told
    assert "| outcomes - feet alike | -18.0" in told
    assert "better |" in told
