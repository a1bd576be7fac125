"""One step of HP23 (75): along known vertices, and by exchanges where there are none.

An unknown vertex is pivoted to, and remembered while the table grows. What is known changes the speed of a
step and not its result: both ways decide alike, and the impulses follow from the last state alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from routh.compiling import inlined, kernel, seldom
from routh.kernels.dictionary import T, complement, enter_complement, exchange, start, wide
from routh.kernels.pivoting import candidate, candidates, first_to_vanish
from routh.kernels.places import place_of, quantity_in
from routh.kernels.residual import step_residual, velocity_after
from routh.kernels.solution import apply_operator, find_operator, read_sizes
from routh.kernels.ties import Entering
from routh.kernels.vertex_memory import find, known_solution, link, remember, restore
from routh.kernels.walking import (
    END,
    FIRST,
    PLACE_MASK,
    UNKNOWN,
    VERTEX_SHIFT,
    first_ray,
    walk,
)
from routh.status import Status

if TYPE_CHECKING:
    from routh.kernels.step_arrays import Pivoting, Sizes, Step, Table, Vectors
    from routh.validation import Array

# How the pivoting ended; SOLVED only says that t reached zero, the residual decides.
SOLVED, RAY, MAX_PIVOTS = int(Status.SOLVED), int(Status.RAY), int(Status.MAX_PIVOTS)
LOST = int(Status.NUMERICAL)
PIVOTS_PER_ROW = 20
ROUGH = 1e-12  # a residual above this is refined once


@kernel
def solve(
    step: Step, before: Array, table: Table, grow: bool, vectors: Vectors, work: Pivoting
) -> tuple[int, float]:
    """One step from ``vectors.inputs``: fills impulse, reached and after; (outcome, residual)."""
    vertices, values = table.vertices, vectors.values
    nc, nt, k = len(step.mu), step.directions.shape[1], step.directions.shape[0]
    sizes = (nc, nt, k)
    place = wide(first_ray(sizes, step, vectors.inputs, values))
    vertex, following = wide(0), wide(vertices.roots[place])
    if place == (3 + k) * nc:  # nothing asks for an impulse
        start(step, work)
        following = wide(END)
    outcome, left = wide(SOLVED), PIVOTS_PER_ROW * nc * (3 + k)
    while following != END and outcome == SOLVED:
        if left == 0 or (following >= FIRST and vertex >= FIRST):
            outcome = wide(MAX_PIVOTS)
        elif following == UNKNOWN:
            outcome, following = pivot_on(step, table, grow, values, work, vertex, place)
            vertex = wide(0)
        else:
            vertex, found = walk(sizes, vertices, values, following, left)
            following, place = wide(found >> VERTEX_SHIFT), wide(found & PLACE_MASK)
        left -= 1
    final = wide(-1)
    if vertex >= FIRST:
        final = wide(vertices.finals[vertex])
    elif outcome == SOLVED:
        final = wide(known_solution(step, work, table))
    if final >= 0:
        residual = read_solution(
            sizes, step, before, vertices.states[final], vertices.operators[final], vectors
        )
    else:
        find_operator(step, work)
        residual = read_solution(sizes, step, before, work.state, work.operator, vectors)
    return outcome, residual


@inlined
def read_solution(
    sizes: Sizes, step: Step, before: Array, state: Array, operator: Array, vectors: Vectors
) -> float:
    """Impulses and velocities after of a final state, refined where they are rough; the residual.

    Velocities follow from those ``before`` the impact and the sum of all impulses.
    """
    n = sizes[0] * (1 + sizes[1])
    inputs, p, after, sized = vectors.inputs, vectors.impulse, vectors.after, vectors.sized
    apply_operator(sizes, step, state, operator, inputs, sized, p)
    _move(n, step, before, vectors)
    residual = step_residual(sizes, step, inputs, p, after)
    return residual if residual <= ROUGH else refine(step, before, state, operator, vectors)


@seldom
def refine(step: Step, before: Array, state: Array, operator: Array, vectors: Vectors) -> float:
    """What should stand still and moves, mapped to impulses that stop it; the residual then."""
    sizes = (len(step.mu), step.directions.shape[1], step.directions.shape[0])
    n = sizes[0] * (1 + sizes[1])
    for column in range(n):
        for row in range(n):
            vectors.sized[row] += operator[column, row] * vectors.after[column]
    read_sizes(sizes, step, state, vectors.inputs, vectors.sized, vectors.impulse)
    _move(n, step, before, vectors)
    return step_residual(sizes, step, vectors.inputs, vectors.impulse, vectors.after)


@inlined
def _move(n: int, step: Step, before: Array, vectors: Vectors) -> None:
    """All impulses with this step's, and the velocities that they bring."""
    for j in range(n):
        vectors.reached[j] = vectors.total[j] + vectors.impulse[j]
    velocity_after(n, step.G, before, vectors.reached, vectors.after)


@kernel
def pivot_on(
    step: Step, table: Table, grow: bool, values: Array, work: Pivoting, vertex: int, place: int
) -> tuple[int, int]:
    """Leave a vertex (0: the first ray) by the pair at ``place`` and exchange until a known one or the end.

    Returns (outcome, vertex).
    """
    vertices, dictionaries = table.vertices, table.dictionaries
    nc, k = len(step.mu), step.directions.shape[0]
    if vertex >= FIRST:
        made = wide(restore(dictionaries, vertex, work))
    else:
        made = wide(len(step.G))
        start(step, work)
    q = quantity_in(nc, k, work.state, place)
    for pivot in range(PIVOTS_PER_ROW * nc * (3 + k)):
        if not exchange(step, work, q, made):
            return LOST, UNKNOWN
        made = wide(enter_complement(step, work, q, made))
        if made < 0:
            return LOST, UNKNOWN
        entering = Entering(complement(q), made)
        spot = find(k, work.state, entering.quantity, dictionaries)
        known = wide(dictionaries.slots[spot])
        if known == UNKNOWN and grow:
            known = wide(remember(step, work, table, entering, spot))
        if known != UNKNOWN:
            if grow and pivot == 0:
                link(step, vertices, vertex, place, known)
            return SOLVED, known
        count = candidates(step, work, entering)
        if count == 0:
            return RAY, UNKNOWN
        q = candidate(work, first_to_vanish(step, work, entering, count, values, vertices.rounding))
        leaving = place_of(nc, k, q)
        length = max(values[leaving] * (-1.0 / work.rates[leaving]), 0.0)
        for other in range((3 + k) * nc + 1):
            values[other] += length * work.rates[other]
        if q.kind == T:
            return SOLVED, END
    return MAX_PIVOTS, UNKNOWN
