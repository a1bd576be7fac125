"""Equal seeds, equal outcomes: tables, step limits, batches, budgets and compilation change nothing."""

import numpy as np
import pytest

from problems import family_problem
from routh.friction import facet_directions
from routh.kernels import algorithm1_host
from routh.kernels.algorithm1_host import run
from routh.status import Status
from routh.systems import get

SYSTEMS = ["rocking-block", "compass-gait", "ramone", "box-wall"]


def settings(system, **changes):
    problem = system.problem
    chosen = {
        "step": np.full(problem.nc, system.paper.step),
        "max_steps": 40,
        "seed": 3,
        "directions": facet_directions(problem.nt),
        "threads": 1,
    }
    return chosen | changes


def equal(one, other, rows=slice(None)):
    return all(a[rows].tobytes() == b[rows].tobytes() for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_table_changes_no_bit(name):
    system = get(name)  # a new problem: its table is not grown yet
    walked = run(system.problem, 1500, **settings(system), tabled=True)
    pivoted = run(system.problem, 1500, **settings(system), tabled=False)
    assert equal(walked, pivoted)


@pytest.mark.parametrize("family", ["planar-3-rough", "spatial-3-rough", "planar-duplicate"])
def test_nor_where_steps_have_several_solutions(family):
    for seed in range(3):
        problem, bound = family_problem(family, seed)
        chosen = {"step": bound, "max_steps": 30, "seed": 1, "directions": facet_directions(problem.nt)}
        walked = run(problem, 40, **chosen, tabled=True)
        pivoted = run(problem, 40, **chosen, tabled=False)
        assert (walked.status == pivoted.status).all()
        np.testing.assert_allclose(walked.v, pivoted.v, rtol=0, atol=1e-9 * np.abs(problem.v).max())


def test_the_limit_of_steps_is_not_part_of_what_is_drawn():
    for name in ("compass-gait", "box-wall"):
        system = get(name)
        long = run(system.problem, 1200, **settings(system, max_steps=300))
        short = run(get(name).problem, 1200, **settings(system, max_steps=1))
        ended = long.steps == 1
        assert ended.any()
        assert (short.steps == 1).all()
        assert equal(long._replace(status=long.status * 0), short._replace(status=short.status * 0), ended)


def test_interpreted_and_compiled_steps_are_the_same_bits(monkeypatch):
    system = get("compass-gait")
    monkeypatch.setattr(algorithm1_host, "INTERPRETED", 0)
    compiled = run(system.problem, 12, **settings(system))
    monkeypatch.setattr(algorithm1_host, "INTERPRETED", 10**9)
    monkeypatch.setattr(algorithm1_host, "is_ready", lambda *arguments: False)
    assert equal(run(system.problem, 12, **settings(system)), compiled)


def test_a_row_draws_numbers_of_its_own():
    system = get("rocking-block")
    first = run(system.problem, 5, **settings(system))
    second = run(system.problem, 5, **settings(system), row=1)
    assert np.abs(first.v - second.v).max() > 1e-3
    assert equal(run(system.problem, 5, **settings(system), row=1), second)


@pytest.mark.usefixtures("ticking")
@pytest.mark.parametrize("friction", ["polyhedral", "cone"])
def test_a_budget_ends_early_and_what_is_finished_keeps_its_bits(friction):
    problem, bound = family_problem("spatial-3", 0)
    chosen = {
        "step": bound,
        "max_steps": 50,
        "seed": 1,
        "directions": facet_directions(2),
        "friction": friction,
    }
    whole = run(problem, 400, **chosen)
    none = run(problem, 400, **chosen, budget=1e-9)
    assert (none.status == Status.OUT_OF_TIME).all()
    assert (none.v == problem.v).all()
    assert not none.impulse.any()
    part = run(problem, 20000, **chosen, budget=0.3, threads=2)
    late = part.status == Status.OUT_OF_TIME
    assert late.any()
    finished = np.flatnonzero(~late[:400])
    assert finished.size > 0
    assert equal(tuple(array[:400] for array in part), whole, finished)


def vertices(problem):
    (grown,) = algorithm1_host._TABLES[problem].values()
    return int(grown.table.dictionaries.used[0])


def test_few_samples_first_leave_a_table_that_grows_on():
    system = get("disk-stack")
    few_first, at_once = system.problem, get("disk-stack").problem
    run(few_first, 1024, **settings(system))
    few = vertices(few_first)
    grown = run(few_first, 8192, **settings(system))
    straight = run(at_once, 8192, **settings(system))
    assert few < 0.8 * vertices(at_once)  # else there was nothing to grow
    assert vertices(few_first) >= 0.95 * vertices(at_once)
    assert equal(grown, straight)


def test_a_table_that_has_seen_as_many_samples_is_left_alone():
    system = get("compass-gait")
    run(system.problem, 4096, **settings(system))
    (before,) = algorithm1_host._TABLES[system.problem].values()
    run(system.problem, 2048, **settings(system, seed=11))
    (after,) = algorithm1_host._TABLES[system.problem].values()
    assert after.table is before.table
