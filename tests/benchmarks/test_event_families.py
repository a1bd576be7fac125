"""Shares of benchmarks/events_plane.py: families of planar problems, exact sets and the exact checker."""

import math

import numpy as np
import pytest

import event_families
import events_plane
import events_space
import routh
from exact_paths import exact_path
from problems import planar_body
from routh import systems
from routh.base.results import ImpactPath
from routh.exact.checker import verify_path
from routh.sampling.path_residual import path_residual


def tally_of(name, seeds):
    tally = event_families.Tally()
    for seed in seeds:
        event_families.examine(name, seed, tally)
    return tally


@pytest.mark.parametrize("name", [*event_families.FAMILIES, *event_families.RELATIONS])
def test_no_sample_that_says_solved_is_wrong(name):
    tally = tally_of(name, range(12))
    assert tally.problems == 12
    assert tally.wrong == 0
    assert tally.statuses["SOLVED"] > 80


@pytest.mark.parametrize("seed", [872, 2494])
def test_impulses_at_rest_up_to_rounding_may_compress_or_return(seed):
    tally = tally_of("Poisson's restitution", [seed])
    assert tally.wrong == 0
    assert tally.statuses["SOLVED"] > 0


@pytest.mark.parametrize("seed", [64312, 87940])
def test_contacts_that_jam_beyond_rounding_are_no_outcome(seed):
    """Impulses of 1e5 leave velocities of 1e-11, whose signs decide who is compressed and who returns."""
    tally = tally_of("Poisson's restitution", [seed])
    assert tally.wrong == 0
    assert tally.statuses["NUMERICAL"] > 0


def test_restitution_out_of_nothing_is_noticed():
    problem = planar_body(np.random.default_rng(0), 1).replace(restitution=0.5)
    path = routh.sample(problem, 1, hypothesis="poisson", threads=1).path(0)
    assert path_residual(problem, path, hypothesis="poisson") < 1e-12
    more = 1.5 * path.impulse[-1:]
    v = np.concatenate([path.v, problem.apply(more, path.v[-1:])])
    longer = ImpactPath(v, np.concatenate([path.impulse, more]), path.kind)
    assert path_residual(problem, longer, hypothesis="poisson") > 1e-3


def test_a_curve_whose_error_is_large_is_no_outcome():
    problem = events_space.KINDS["jammed"](np.random.default_rng([7504, 7]))
    out, _ = events_space.samples([problem], 4, seed=7504)
    solved = out.status[0] == routh.Status.SOLVED
    assert solved.any()
    assert out.error[0][solved].max() <= 0.01
    assert np.all(events_space.faults(problem, out, False) <= 1.0)


def test_a_wrong_sample_is_noticed():
    problem = planar_body(np.random.default_rng(0), 2)
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
    _, tally = events_plane._judge((name, seed, 200, math.inf))
    assert tally["exact"] == 1
    assert (tally["outside"], tally["unended"], tally["paths wrong"]) == (0, 0, 0)
    assert tally["proved"] == tally["tried"] == events_plane.PROVED


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
