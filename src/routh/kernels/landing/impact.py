"""One outcome of the set at an impact of a motion: the contacts that close within the window, together."""

from __future__ import annotations

from routh.base.status import Status
from routh.compiling import kernel
from routh.kernels.constraints.data import Layout, Terms
from routh.kernels.landing.data import FallRules, Hands
from routh.kernels.space.sample import load_row, run_sample, write_sample
from routh.problem.rows import prepare_row

SOLVED, NO_IMPACT = int(Status.SOLVED), int(Status.NO_IMPACT)
AGAIN = 8  # outcomes that are drawn where one is not solved
DRAWS = 4096  # numbers of a run's impacts


@kernel
def closes(rules: FallRules, gap: float, rate: float) -> bool:
    """Whether a contact takes part in an impact: it touches, or closes within the window."""
    # reads skin, window
    return gap <= rules.skin or gap <= -rate * rules.window


@kernel
def gather(rules: FallRules, layout: Layout, terms: Terms, hands: Hands) -> None:
    """The impact of the present state, from the rows of the step."""
    # reads hands.course.v, hands.marks, hands.numbers, layout.nc, terms.G, terms.M, terms.mu
    # writes hands.marks, hands.problems.Jn, hands.problems.Jt, hands.problems.M, hands.problems.mu,
    #   hands.problems.present, hands.problems.size, hands.problems.v
    # hands on rules
    nc, count, problem = layout.nc, 0, hands.problems
    for c in range(nc):
        hands.marks[c] = closes(rules, hands.numbers[0, c], hands.numbers[1, c])
        problem.present[0, c], problem.mu[0, c] = hands.marks[c], terms.mu[c]
        count += int(hands.marks[c])
        for j in range(6):
            problem.Jn[0, c, j] = terms.G[c, j]
            problem.Jt[0, c, 0, j] = terms.G[nc + 2 * c, j]
            problem.Jt[0, c, 1, j] = terms.G[nc + 2 * c + 1, j]
    for j in range(6):
        problem.M[0, j, j], problem.v[0, j] = terms.M[j, 0], hands.course.v[0, j]
    problem.size[0, 0], problem.size[0, 1], problem.size[0, 2] = 6, count, 2


@kernel
def strike(rules: FallRules, layout: Layout, terms: Terms, hands: Hands, row: int, sample: int) -> bool:
    """An impact, drawn with these numbers: the velocity after into the course; False if none was solved."""
    # reads hands.outputs.impulse, hands.outputs.status, hands.outputs.v, hands.rows.nc, layout.nc
    # writes hands.course.v, hands.impulse, hands.outputs.impulse
    # hands on hands, hands.draw, hands.outputs, hands.problems, hands.rows, hands.scratch, hands.work,
    #   layout, rules, terms
    gather(rules, layout, terms, hands)
    prepare_row(hands.problems, 0, hands.scratch, hands.rows, 0)
    for c in range(layout.nc):
        for j in range(3):
            hands.outputs.impulse[0, 0, c, j] = 0.0
    for turn in range(AGAIN):
        load_row(hands.rows, 0, hands.work)
        number = sample * AGAIN + turn
        status = run_sample(hands.work, hands.rows.nc[0], None, 0, None, hands.draw, None, row, number)
        write_sample(hands.rows, hands.outputs, hands.work, 0, 0, 0, status)
        ended = hands.outputs.status[0, 0]
        if ended == NO_IMPACT:
            for c in range(layout.nc):
                for j in range(3):
                    hands.impulse[c, j] = 0.0
            return True
        if ended == SOLVED:
            for k in range(6):
                hands.course.v[0, k] = hands.outputs.v[0, 0, k]
            for c in range(layout.nc):
                for j in range(3):
                    hands.impulse[c, j] = hands.outputs.impulse[0, 0, c, j]
            return True
    return False
