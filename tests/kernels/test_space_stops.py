"""Steps of one contact that stops sliding against those in a workspace, one by one, from states made up."""

import numpy as np
import pytest
from test_space_columns import advanced, forget

from problems import random_problem
from routh.kernels.arrays import MU as ROW_MU
from routh.kernels.arrays import make_draw, make_outputs, make_rows
from routh.kernels.space_ends import begin_sample
from routh.kernels.space_lone import lone_work
from routh.kernels.space_names import (
    AIMED_BY,
    CURVES,
    CUT,
    DRAWS,
    DRIVEN,
    ERROR,
    EVENT,
    JAMMED,
    LATE,
    MAY_END,
    NEXT,
    PIECE,
    PIECES,
    PUSHING,
    REDRAWN,
    REDRAWS,
    SHARE,
    SLIDE,
    STAYS,
    STEPS,
    TAKEN,
    workspace,
)
from routh.kernels.space_names import RATES as RATES_AGAIN
from routh.kernels.space_state import (
    CONTACTS,
    EACH,
    KEEPS,
    LEFT,
    MARKS,
    WEIGHTS,
    Column,
    course_row,
    global_row,
    move_row,
    state_rows,
)
from routh.kernels.space_stops import stop_step, stop_work, straight_draw
from routh.kernels.space_usual_draws import AGAIN, STANDS, usual_draw
from routh.kernels.space_usual_rates import draw_work
from routh.kernels.space_waves import HARD, REDREW

NC, PADDED = 3, 4


class Made:
    """A row with a contact less than others, and a state in which contact i pushes alone."""

    def __init__(self, seed):
        self.rng = rng = np.random.default_rng(seed)
        mu, nv = float(rng.choice([0.05, 0.5, 1.5, 100.0])), int(rng.integers(3, 13))
        self.rows = make_rows([random_problem(rng, nt=2, nc=PADDED, nv=nv, mu=mu)])
        self.rows.nc[0], self.mu, self.i = NC, mu, int(rng.integers(NC))
        tolerance, persistence = (
            float(rng.choice([1e-2, 1e-3, 1e-6, 1e-9])),
            float(rng.choice([0.01, 0.6, 1.0])),
        )
        self.draw = make_draw(
            4,
            seed=seed,
            row=1,
            rates=int(rng.integers(3)),
            persistence=persistence,
            poisson=False,
            tolerance=tolerance,
        )
        self.states = np.full((state_rows(PADDED), 1), np.nan)
        begin_sample(self.column(self.states), self.rows.start)
        self.fill()

    def column(self, states):
        return Column(states, 0, NC, self.rows.G, self.rows.contact, 0, self.draw.tolerance)

    def fill(self):
        rng, s, i = self.rng, self.states, self.i
        s[: 3 * NC, 0] = rng.normal(size=3 * NC)
        s[0 : 3 * NC : 3, 0] *= 10.0 ** rng.choice([0, 0, -6, -10, -13])
        s[3 * i, 0] = 0.0 if rng.random() < 0.1 else -abs(s[3 * i, 0])
        for j in range(NC):
            at = CONTACTS * NC + EACH * j
            s[at + WEIGHTS, 0], s[at + KEEPS, 0] = rng.choice([1.0, 0.3, 1e-8]), rng.random()
            s[at + MARKS, 0] = (DRIVEN if j == i else 0) + 20 * SLIDE + 64 * (i if j == 0 else 0)
        s[[global_row(NC, STAYS), global_row(NC, STEPS)], 0] = rng.integers(2), rng.choice([0, 50, 900])
        s[global_row(NC, CUT), 0] = rng.choice([np.inf, rng.random(), 1e-9, 0.0, -1e-12, 10.0])
        s[[global_row(NC, AIMED_BY), global_row(NC, JAMMED)], 0] = 60.0, 100.0
        s[[course_row(NC, PIECE), course_row(NC, REDRAWN)], 0] = rng.choice([1, 5, 30, 31, 32]), 0.0
        s[[course_row(NC, EVENT), course_row(NC, SHARE)], 0] = (
            rng.choice([0, 15, 16, 31]),
            rng.choice([1.0, 0.4]),
        )
        s[[move_row(NC, PUSHING), move_row(NC, TAKEN), move_row(NC, MAY_END)], 0] = (
            1.0,
            rng.choice([0, 159]),
            1.0,
        )

    def slide_to_the_end(self):
        """A slip that is small, or along its own rate: the direction in which it closes without turning."""
        rng, s, i = self.rng, self.states, self.i
        block, u = self.rows.G[0][3 * i : 3 * i + 3, 3 * i : 3 * i + 3], rng.normal(size=2)
        u /= np.linalg.norm(u)
        for _ in range(int(rng.choice([2, 50, 400]))):
            d = block[1:, 0] - self.mu * block[1:, 1:] @ u
            u = u - 0.1 * (d - (d @ u) * u) / max(np.linalg.norm(d), 1e-9)
            u /= np.linalg.norm(u)
        s[3 * i + 1 : 3 * i + 3, 0] = 10.0 ** rng.integers(-12, 1) * (u + rng.normal(size=2) * 1e-12)
        s[course_row(NC, NEXT), 0] = CURVES

    def stand(self, state):
        rng, s, i = self.rng, self.states, self.i
        s[course_row(NC, NEXT), 0] = state
        if state != RATES_AGAIN:
            s[course_row(NC, PIECE), 0] = 0.0
        s[3 * i + 1 : 3 * i + 3, 0] = rng.choice([0.0, 1e-12, 1e-14])
        if rng.random() < 0.5:
            s[1 : 3 * NC : 3, 0] = s[2 : 3 * NC : 3, 0] = 0.0

    def agrees(self, found, kind, sample):
        """Whether a step of the workspace leaves what the next one needs as it was found."""
        expected, outputs = self.states.copy(), make_outputs(self.rows, 4, elastic=False)
        work = workspace(PADDED)
        forget(work[:4])
        advanced(self.rows, self.draw, outputs, work, expected, 0, kind, sample, 1)
        rows = [*range(6 * NC)]
        rows += [CONTACTS * NC + EACH * j + entry for j in range(NC) for entry in (WEIGHTS, KEEPS)]
        rows += [global_row(NC, ERROR), global_row(NC, STEPS)]
        rows += [course_row(NC, entry) for entry in (NEXT, EVENT, PIECES, LATE)]
        if kind == HARD:
            rows += [global_row(NC, CUT), course_row(NC, PIECE), move_row(NC, TAKEN), move_row(NC, MAY_END)]
        np.testing.assert_array_equal(found[rows], expected[rows])


def test_ends_of_slips():
    seen = set()
    for seed in range(600):
        made = Made(seed)
        made.slide_to_the_end()
        found = made.states.copy()
        after = int(stop_step(made.column(found), lone_work(PADDED), stop_work()))
        seen.add(after)
        if after == LEFT:
            np.testing.assert_array_equal(found, made.states)
        else:
            made.agrees(found, HARD, 0)
    assert seen >= {int(LEFT), int(RATES_AGAIN), int(DRAWS)}


@pytest.mark.parametrize("may_end", [0.0, 1.0])
def test_a_slip_that_may_not_end_is_left(may_end):
    for seed in range(600):
        made = Made(seed)
        made.slide_to_the_end()
        if stop_step(made.column(made.states.copy()), lone_work(PADDED), stop_work()) != LEFT:
            break
    made.states[move_row(NC, MAY_END), 0] = may_end
    after = stop_step(made.column(made.states), lone_work(PADDED), stop_work())
    assert (after == LEFT) == (may_end == 0.0)


@pytest.mark.parametrize("state", [DRAWS, REDRAWS, RATES_AGAIN])
def test_pieces_without_slip(state):
    seen = set()
    for seed in range(400):
        made = Made(seed)
        made.stand(state)
        found, sample = made.states.copy(), seed % 4
        if state == DRAWS:  # not all draws let one contact push alone
            drawn = usual_draw(made.column(found.copy()), draw_work(PADDED), made.draw, sample)
            if drawn != STANDS:
                continue
        after = int(straight_draw(made.column(found), draw_work(PADDED), made.draw, sample))
        seen.add(after)
        if after == LEFT:
            np.testing.assert_array_equal(found, made.states)
        else:
            made.agrees(found, REDREW, sample)
    assert int(AGAIN) in seen


def test_one_contact_without_friction_is_no_such_case():
    made = Made(0)
    made.stand(RATES_AGAIN)
    made.rows.contact[0, ROW_MU] = 0.0
    before = made.states.copy()
    assert usual_draw(made.column(made.states), draw_work(PADDED), made.draw, 0) == LEFT
    assert straight_draw(made.column(made.states), draw_work(PADDED), made.draw, 0) == LEFT
    np.testing.assert_array_equal(made.states, before)
