"""Samples in space from step to step as columns, as on the GPU, against those in one workspace."""

import numpy as np
import pytest
from from_the_front import FromTheFront

from problems import family_problem, random_problem
from routh.compiling import compiled, interpreted
from routh.kernels.arrays import MU as ROW_MU
from routh.kernels.arrays import RATES, Outputs, Rows, make_draw, make_outputs, make_rows
from routh.kernels.events_space import run_range
from routh.kernels.space_crew import Crew, SeveralWork, several_work
from routh.kernels.space_ends import begin_sample, end_sample
from routh.kernels.space_lone import LoneWork, lone_step, lone_work
from routh.kernels.space_names import (
    CURVES,
    DRAWS,
    NEXT,
    NO_RATES,
    PUSHING,
    REDRAWS,
    STEPS,
    UNENDED,
    workspace,
)
from routh.kernels.space_names import RATES as RATES_AGAIN
from routh.kernels.space_rates import MOST_SWEEPS, SWEEP_COST
from routh.kernels.space_several import several_step
from routh.kernels.space_state import (
    LEFT,
    Column,
    course_row,
    global_row,
    move_row,
    state_rows,
)
from routh.kernels.space_stops import StopWork, stop_step, stop_work, straight_draw
from routh.kernels.space_usual_draws import AGAIN, AND_HELD, ENDS, STANDS, usual_draw
from routh.kernels.space_usual_rates import DrawWork, draw_work
from routh.kernels.space_waves import (
    DREW,
    ELSEWHERE,
    ENDED,
    FRESH,
    HARD,
    KINDS,
    LONE,
    SEVERAL,
    STOOD,
    STOPS,
    TO_THE_END,
    advance_sample,
    kind_after,
    kind_drawn,
)

advanced = compiled(advance_sample)


def forget(arrays):
    """What a thread of the GPU finds in its memory: anything."""
    for array in arrays:
        anything = np.iinfo(array.dtype).min // 2 if array.dtype.kind == "i" else True
        array[...] = np.nan if array.dtype == np.float64 else anything


def by_columns(
    rows, draw, most_steps=10**6, one=lone_step, some=several_step, drawn=usual_draw,
    before=begin_sample, after=end_sample, stops=stop_step, stood=straight_draw, watched=np.asarray,
    at_once=1,
):  # fmt: skip
    """Outputs of all samples, each step in memory that holds anything; steps of each kind; how many left.

    ``at_once``: steps that are not usual, one after the other.
    """
    nc = rows.contact.shape[2]
    outputs = make_outputs(rows, draw.n, elastic=False)
    work, lone, several, draws = workspace(nc), lone_work(nc), several_work(nc, nc), draw_work(nc)
    equations = stop_work()
    states, totals = np.full((state_rows(nc), 3), np.nan), np.zeros(3 * nc)
    taken, left, undrawn = np.zeros(KINDS, dtype=int), 0, 0
    for number in range(len(rows.nc) * draw.n):
        kind, steps, row = FRESH, 0, number // draw.n
        while kind != ELSEWHERE:
            forget([*work[:4], *several, *lone, *draws, *equations, totals])
            taken[kind] += 1
            steps += 1
            at = watched(states), 1, int(rows.nc[row]), watched(rows.G), watched(rows.contact), row
            column = Column(*at, draw.tolerance)
            if kind in (LONE, STOPS) or SEVERAL <= kind < HARD:
                if kind == LONE:
                    following = one(column, LoneWork(*map(watched, lone)))
                elif kind == STOPS:
                    scratch = LoneWork(*map(watched, lone)), StopWork(*map(watched, equations))
                    following = stops(column, *scratch)
                else:
                    pushing = int(states[move_row(rows.nc[row], PUSHING), 1])
                    following = some(
                        column, SeveralWork(*map(watched, several)), Crew(0, 1, 0, 0), pushing, True
                    )
                left += following == LEFT
                kind = kind_after(following, kind)
            elif kind in (DREW, STOOD):
                one_draw = drawn if kind == DREW else stood
                pushing = one_draw(column, DrawWork(*map(watched, draws)), draw, number - row * draw.n)
                undrawn += kind == DREW and pushing == LEFT
                kind = kind_drawn(pushing)
            elif kind == FRESH and steps <= most_steps:
                kind = DREW if before(column, watched(rows.start)) == UNENDED else ENDED
            elif kind == ENDED and steps <= most_steps:
                at_the_end = Rows(*map(watched, rows)), Outputs(*map(watched, outputs)), watched(totals)
                after(column, *at_the_end, number - row * draw.n)
                kind = ELSEWHERE
            else:
                rest = TO_THE_END if steps > most_steps else at_once
                kind = advanced(rows, draw, outputs, work, states, 1, kind, number, rest)
    assert np.isnan(states[:, [0, 2]]).all()  # nobody else's columns
    assert undrawn < taken[DREW] or np.all(rows.contact[:, ROW_MU] == 0.0) or taken[DREW] == 0
    return outputs, taken, left


def same(rows, n, rtol=0.0, rates=0, persistence=0.6, tolerance=1e-6, keys=None, **options):
    draw = make_draw(
        n, seed=4, row=3, rates=rates, persistence=persistence, poisson=False, tolerance=tolerance, keys=keys
    )
    expected = make_outputs(rows, n, elastic=False)
    run_range(rows, draw, expected, workspace(rows.contact.shape[2]), None, None, None, 0, len(rows.nc) * n)
    found, taken, left = by_columns(rows, draw, **options)
    for one, other, name in zip(found, expected, found._fields, strict=True):
        np.testing.assert_allclose(one, other, rtol=rtol, atol=0.0, err_msg=name)
    return taken, left


@pytest.mark.parametrize("mu", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("nc", [1, 2, 4, 6])
def test_bodies_on_some_contacts(nc, mu):
    rng = np.random.default_rng(nc)
    problems = [random_problem(rng, nt=2, nc=nc, nv=3 * nc + 2, mu=mu) for _ in range(12)]
    taken, left = same(make_rows(problems), 3)
    assert taken[ENDED] == taken[FRESH] == 36
    assert (taken[LONE] > 36) == (mu > 0.0)
    assert (taken[SEVERAL:HARD].sum() > 20) == (mu > 0.0 and nc > 1)
    assert np.all(taken[SEVERAL:HARD] > 0) or mu < 1.0 or nc < 4
    assert left > 0 or mu < 1.0


@pytest.mark.parametrize(
    "family", ["spatial-1", "spatial-3", "spatial-3-rough", "spatial-one-body", "spatial-duplicate"]
)
def test_hard_families(family):
    for seed in range(4):
        same(make_rows([family_problem(family, seed)[0]]), 4)


@pytest.mark.parametrize("persistence", [1e-3, 1.0])
@pytest.mark.parametrize("rates", range(len(RATES)))
def test_other_draws(rates, persistence):
    rng = np.random.default_rng(11)
    rows = make_rows([random_problem(rng, nt=2, nc=3, nv=8, mu=0.4) for _ in range(8)])
    rows.start[:4, 3] = 0.0  # contacts that may be held at once
    keys = rng.integers(0, 2**64, size=(1, 3), dtype=np.uint64)
    same(rows, 2, rates=rates, persistence=persistence, keys=keys)
    same(rows, 1, rates=rates, persistence=persistence, tolerance=1e-9)


def test_draws_that_are_usual():
    """Contacts at rest that are driven, or held together; fewer roles after that; rates of further pieces."""
    seen = set()

    def noted(column, work, draw, sample):
        state = int(column.states[course_row(column.nc, NEXT), column.slot])
        steps = column.states[global_row(column.nc, STEPS), column.slot]
        pushing = usual_draw(column, work, draw, sample)
        sweeps = (column.states[global_row(column.nc, STEPS), column.slot] - steps) / SWEEP_COST
        names = {LEFT: "left", STANDS: "stands", ENDS: "ends", AGAIN: "again"}
        what = names.get(pushing, "held" if pushing > AND_HELD else "driven")
        seen.add((state, what, min(sweeps, 2.0)))
        if sweeps == MOST_SWEEPS and pushing == AGAIN:
            seen.add((state, NO_RATES))
        return pushing

    for seed in (37, 148):
        rng = np.random.default_rng(seed)
        same(make_rows([random_problem(rng, nt=2, nc=5, nv=6, mu=1.5) for _ in range(10)]), 4, drawn=noted)
    assert seen >= {
        *((DRAWS, "again", sweeps) for sweeps in range(3)),
        (DRAWS, NO_RATES),
        (DRAWS, "held", 2),
        (REDRAWS, "again", 0),
        (REDRAWS, "driven", 0),
        (REDRAWS, "stands", 0),
        (RATES_AGAIN, "driven", 0),
        (RATES_AGAIN, "held", 1),
        (RATES_AGAIN, "held", 2),
        (RATES_AGAIN, "again", 2),
    }


def test_one_contact_that_stops():
    """It stops, or another event comes first, or it does not; then it sticks or slips, or is left."""
    seen = set()

    def noted_stop(column, work, equations):
        following = stop_step(column, work, equations)
        seen.add(("stops", int(following)))
        return following

    def noted_draw(column, work, draw, sample):
        state = int(column.states[course_row(column.nc, NEXT), column.slot])
        pushing = straight_draw(column, work, draw, sample)
        seen.add((state, int(pushing)))
        return pushing

    for seed, nc, nv, mu in ((0, 3, 6, 1.5), (1, 3, 6, 20.0), (18, 3, 4, 0.7)):
        rng = np.random.default_rng(seed)
        rows = make_rows([random_problem(rng, nt=2, nc=nc, nv=nv, mu=mu) for _ in range(12)])
        same(rows, 4, stops=noted_stop, stood=noted_draw)
        rows.start[:6, 1:3] = 0.0
        same(rows, 4, stops=noted_stop, stood=noted_draw)
    assert seen == {
        *(("stops", int(after)) for after in (RATES_AGAIN, DRAWS, CURVES)),
        *((int(state), int(AGAIN)) for state in (DRAWS, REDRAWS, RATES_AGAIN)),
        (int(DRAWS), int(LEFT)),
    }


@pytest.mark.parametrize("at_once", [4, 16])
def test_several_steps_that_are_not_usual_in_one_go(at_once):
    rng = np.random.default_rng(12)
    rows = make_rows([random_problem(rng, nt=2, nc=4, nv=6, mu=1.5) for _ in range(16)])
    taken, _ = same(rows, 4, at_once=at_once)
    one_by_one, _ = same(rows, 4)
    assert taken[HARD:FRESH].sum() < one_by_one[HARD:FRESH].sum()


def test_rows_of_different_sizes_and_one_that_nothing_approaches():
    rng = np.random.default_rng(8)
    problems = [random_problem(rng, nt=2, nc=4, nv=9, mu=0.5) for _ in range(4)]
    rows = make_rows(problems)
    rows.nc[1] = 2
    rows.start[2] = np.abs(rows.start[2])
    same(rows, 2)


@pytest.mark.parametrize("most_steps", [0, 5, 20])
def test_the_rest_of_a_sample_by_one_thread(most_steps):
    rng = np.random.default_rng(9)
    same(
        make_rows([random_problem(rng, nt=2, nc=3, nv=8, mu=0.5) for _ in range(8)]), 2, most_steps=most_steps
    )


def test_no_index_is_negative():
    """The GPU's code is written without what a negative index would need."""
    rng = np.random.default_rng(10)
    rows = make_rows([random_problem(rng, nt=2, nc=3, nv=8, mu=0.7) for _ in range(4)])
    with np.errstate(all="ignore"):
        taken, _ = same(
            rows,
            1,
            rtol=1e-14,  # powers of Python
            one=interpreted(lone_step),
            some=interpreted(several_step),
            drawn=interpreted(usual_draw),
            stops=interpreted(stop_step),
            stood=interpreted(straight_draw),
            before=interpreted(begin_sample),
            after=interpreted(end_sample),
            watched=lambda array: array.view(FromTheFront),
        )
    assert np.all(taken[[LONE, STOPS, STOOD]] > 0)
    assert taken[SEVERAL:HARD].sum() > 0
