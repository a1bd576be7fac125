"""Threads that take one step of a sample together: each has some of its contacts, and a board has the rest.

One thread with all contacts is a crew, too: that is how steps are tested on the CPU. No function of such a
step returns early: what a crew need not do, those beside it in a GPU's warp may have to, and wait for it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from routh.compiling import kernel, written_out
from routh.kernels.space_lone import POINTS
from routh.kernels.space_names import ORDER, PIVOT, RIGHT, named
from routh.validation import Array

# columns of powers of a thread's o-th contact, behind ROWS o: slip, its size and direction, and the normal
# rate by the length of the path
ROWS = 6
T, R, S, U, W, L = named(6)
# rows of numbers, some with three columns for each contact of a thread: friction and weight; slip rate, and
# one over the slip; impulses of one power and up to a point; sums
MU, WEIGHT, D0, D1, INVERSE, PUSH, TRY, SUM, OTHER = named(9)
NUMBERS = 9
NOTES = 4  # of each contact
(EQUATIONS,) = named(1, int(RIGHT) + 1)


class SeveralWork(NamedTuple):
    """Scratch of one thread, then of all threads of a block; nc contacts of which at most m push.

    A thread has at most ``own`` of those that push, and ``side`` of all.
    """

    powers: Array  # (ORDER + 1, ROWS own)
    normals: Array  # (side, 3 m): what those change normal velocities by
    numbers: Array  # (NUMBERS, 3 own)
    points: Array  # (POINTS, side), see `look_at_normal`
    who: np.ndarray  # (m,) int64: the contacts that push
    values: Array  # (EQUATIONS + 2 m, m) equations of contacts that are held, and their inverse
    marks: np.ndarray  # (PIVOT + 1, m) int64
    gram: Array  # (3 own, 3 m, threads): G of the contacts that push
    series: Array  # (ORDER, 3 own, threads): powers of the rates
    pace: Array  # (crews, ORDER + 1): powers of the length of the path by the measure of the step
    events: Array  # (crews, ORDER + 1): powers of what vanishes at an event
    push: Array  # (3 m, crews): impulses, or rates, of all contacts that push
    notes: Array  # (NOTES m, crews)
    heights: Array  # (nc, crews): how far contacts are beyond the zero of their normal velocity
    nearest: Array  # (threads of a crew, crews): the least of what each has found
    equations: Array  # (m m, crews)


class Crew(NamedTuple):
    """Which thread this is: its contacts are ``first``, ``first + apart``, and so on."""

    first: int
    apart: int  # threads of the crew
    column: int  # of the board
    thread: int  # of the block


class Pushing(NamedTuple):
    """The contacts that push in a step."""

    m: int  # how many
    held: int  # the first that is held; m: none is
    clock: int  # the one whose slip is the measure of the step; -1: the length of the path is


def several_work(nc: int, m: int, apart: int = 1, crews: int = 1, threads: int = 1) -> SeveralWork:
    """Scratch for so many contacts of which at most m push; ``apart``: threads of a crew."""
    own, side = -(-m // apart), -(-nc // apart)
    return SeveralWork(
        np.zeros((ORDER + 1, ROWS * own)),
        np.zeros((side, 3 * m)),
        np.zeros((NUMBERS, 3 * own)),
        np.zeros((int(POINTS), side)),
        np.zeros(m, dtype=np.int64),
        np.zeros((int(EQUATIONS) + 2 * m, m)),
        np.zeros((int(PIVOT) + 1, m), dtype=np.int64),
        np.zeros((3 * own, 3 * m, threads)),
        np.zeros((ORDER, 3 * own, threads)),
        np.zeros((crews, ORDER + 1)),
        np.zeros((crews, ORDER + 1)),
        np.zeros((3 * m, crews)),
        np.zeros((NOTES * m, crews)),
        np.zeros((nc, crews)),
        np.zeros((apart, crews)),
        np.zeros((m * m, crews)),
    )


@kernel
def wait() -> None:
    """Until all threads of the crew have come here: nothing to do for one. GPUs have another."""
    return


@kernel
def any_of(here: bool) -> bool:
    """Whether it is so here, or for any other thread of the warp: there is none. GPUs have another."""
    return here


@kernel
def own_of(work: SeveralWork) -> int:
    """How many of the contacts that push a thread has at most."""
    return work.powers.shape[1] // ROWS


@written_out
def pushed(work: SeveralWork, crew: Crew, line: int, m: int) -> float:
    """What the impulses, or rates, on the board change a coordinate of this thread's contacts by."""
    value, gram, push, column, thread = 0.0, work.gram, work.push, crew.column, crew.thread
    for b in range(m):
        value += (
            gram[line, 3 * b, thread] * push[3 * b, column]
            + gram[line, 3 * b + 1, thread] * push[3 * b + 1, column]
            + gram[line, 3 * b + 2, thread] * push[3 * b + 2, column]
        )
    return value


@written_out
def normal_effect(work: SeveralWork, crew: Crew, q: int, m: int) -> float:
    """What they change the normal velocity of any contact by."""
    value, normals, push, column = 0.0, work.normals, work.push, crew.column
    for b in range(m):
        value += (
            normals[q, 3 * b] * push[3 * b, column]
            + normals[q, 3 * b + 1] * push[3 * b + 1, column]
            + normals[q, 3 * b + 2] * push[3 * b + 2, column]
        )
    return value


@written_out
def show(work: SeveralWork, crew: Crew, m: int, row: int) -> None:
    """A row of numbers, impulses or rates, onto the board; all may read it then."""
    for o in range(own_of(work)):
        a = crew.first + crew.apart * o
        if a < m:
            for part in range(3):
                work.push[3 * a + part, crew.column] = work.numbers[row, 3 * o + part]
    wait()


@written_out
def least_of(work: SeveralWork, crew: Crew) -> float:
    """The least of what all threads have found."""
    least = work.nearest[0, crew.column]
    for thread in range(1, work.nearest.shape[0]):
        least = min(least, work.nearest[thread, crew.column])
    return least


@kernel
def least_for_all(work: SeveralWork, crew: Crew, found: float) -> float:
    """The least of what this and the other threads have found."""
    wait()
    work.nearest[crew.first, crew.column] = found
    wait()
    return least_of(work, crew)
