"""Equal seeds, equal outcomes: step limits, batches, budgets and compilation change nothing."""

import numpy as np
import pytest

from problems import family_problem
from routh.base.status import Status
from routh.compiling import interpreted
from routh.kernels.algorithm1 import sampling
from routh.kernels.algorithm1.sampling import run
from routh.problem.friction import facet_directions, friction_polygon
from routh.systems import get


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
    compiled = run(system.problem, 12, **settings(system))
    monkeypatch.setattr(sampling, "run_range", interpreted(sampling.run_range))
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
        "directions": friction_polygon(friction, None, 2),
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
