"""The learning experiment's queue of runs and its report; training needs packages that tests do without."""

import argparse
import math

import numpy as np
import pytest

from learning import walker_reports as reports
from learning.runs import CONDITIONS, alone, runs, work_off, write


@pytest.fixture
def given(tmp_path):
    return argparse.Namespace(
        tasks=["A", "B"], seeds=2, steps=100, seconds=math.inf, folder=str(tmp_path), returns=None
    )


def finish(run, steps=100, **tests):
    run.place.mkdir(parents=True, exist_ok=True)
    write(run.place / "state.json", {"steps": steps, "seconds": 1.0, "curve": []})
    write(run.place / f"returns-{steps}.json", tests)


def test_one_task_is_whole_before_the_next_begins(given):
    order = [(run.task, run.seed) for run in runs(given)]
    assert order == sorted(order)
    assert len(order) == 2 * 2 * len(CONDITIONS)


def test_a_run_belongs_to_one_process_at_a_time(given):
    run, other = runs(given)[:2]
    with alone(run) as mine, alone(run) as again, alone(other) as different:
        assert (mine, again, different) == (True, False, True)
    with alone(run) as mine:
        assert mine


def test_work_goes_on_where_it_ended_and_ends_in_time(given):
    done = []
    work_off(runs(given), 0.0, lambda run: True, lambda run, end: done.append(run))
    assert done == []
    finish(runs(given)[0])
    work_off(runs(given), math.inf, lambda run: run.state()["steps"] < 100, lambda run, end: done.append(run))
    assert done == runs(given)[1:]


def test_only_finished_runs_with_all_tests_count(given):
    every = runs(given)
    for run in every[:4]:
        finish(run, nominal=[1.0, 3.0], hard=[0.5, 0.5])
    finish(every[4], nominal=[9.0])
    finish(every[5], steps=50, nominal=[9.0], hard=[9.0])
    found = reports.results(given)
    assert {key: values.tolist() for key, values in found.items()} == {
        ("A", condition, test): [value]
        for condition in CONDITIONS
        for test, value in (("nominal", 2.0), ("hard", 0.5))
    }
    assert reports.kept(found)["A", "noise", "hard"] == pytest.approx([0.25])


def test_the_interval_of_a_median_holds_it_and_is_that_of_the_seeds():
    middle, low, high = reports.median(np.arange(11.0))
    assert low < middle == 5.0 < high
    assert reports.median(np.full(10, 7.0)) == (7.0, 7.0, 7.0)
