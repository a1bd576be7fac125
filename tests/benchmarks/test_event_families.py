"""Shares of benchmarks/events.py: families of planar problems, exact sets and the exact checker."""

import numpy as np
import pytest

import event_families
import events
import routh
from routh import systems
from routh.exact.checker import verify_path
from routh.exact.checker_paths import exact_path
from routh.paths import ImpactPath


@pytest.mark.parametrize("name", [*event_families.FAMILIES, *event_families.RELATIONS])
def test_no_sample_that_says_solved_is_wrong(name):
    _, tally = event_families.chunk((name, 0, 12))
    assert tally.problems == 12
    assert tally.wrong == 0
    assert tally.statuses["SOLVED"] > 80


def test_a_wrong_sample_is_noticed():
    problem = event_families.planar_body(np.random.default_rng(0), 2)
    outcomes = routh.sample(problem, 4, threads=1)
    outcomes.v[1] += 1e-6 * problem.v
    outcomes.impulse[2, 0, 1] += 1e-3
    outcomes.v[3] = np.nan
    tally = event_families.Tally()
    tally.add(outcomes.status, event_families.faults(problem, outcomes, "energetic"), 0)
    assert tally.wrong == 3


@pytest.mark.parametrize(("name", "seed"), [("box-wall", 0), ("body", 2), ("matrices", 1)])
def test_samples_lie_in_exact_sets_and_their_paths_are_proved(name, seed):
    pytest.importorskip("ppl")
    _, tally = events._judge((name, seed, 200))
    assert tally["exact"] == 1
    assert (tally["outside"], tally["unended"], tally["paths wrong"]) == (0, 0, 0)
    assert tally["proved"] == tally["tried"] == events.PROVED


def test_the_checker_refuses_a_path_that_is_none():
    rational = systems.get("rocking-block").rational
    path = routh.sample(rational.problem, 8, seed=1).path(0)
    found = exact_path(rational, path)
    assert verify_path(rational, found, found.v[-1])
    backwards = path.impulse.copy()
    backwards[..., 1] *= -1.0  # friction that drives
    wrong = exact_path(rational, ImpactPath(path.v, backwards, path.kind))
    assert wrong is None or not verify_path(rational, wrong, path.v[-1])
    longer = exact_path(rational, ImpactPath(path.v, 2.0 * path.impulse, path.kind))
    assert longer is None or not verify_path(rational, longer, longer.v[-1])
