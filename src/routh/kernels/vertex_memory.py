"""Known vertices: found by name, remembered while the table grows, restored to pivot on from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from routh.compiling import kernel
from routh.kernels.dictionary import NONE, Quantity, T, change_state, complement, wide
from routh.kernels.pivoting import candidate, candidates
from routh.kernels.places import place_of, quantity_in
from routh.kernels.solution import find_operator
from routh.kernels.ties import Entering, break_ties
from routh.kernels.walking import (
    END,
    FIRST,
    PLACE_BITS,
    PLACE_MASK,
    UNKNOWN,
    VERTEX_SHIFT,
    extents,
    offset,
)

if TYPE_CHECKING:
    from routh.kernels.step_arrays import Dictionaries, Pivoting, Sizes, Step, Table, Vertices
    from routh.validation import Array

ACCURATE = 1e-12  # a dictionary that is less so is not remembered: friction of 1e5 can cost all digits


@kernel
def find(k: int, state: Array, entering: Quantity, dictionaries: Dictionaries) -> int:
    """The place of a vertex in the hash table, or the free place where it would go.

    With the artificial variable as the entering quantity it is the name of a final state.
    """
    nc = state.shape[0]
    name = entering.kind + 9 * (entering.contact + nc * entering.direction)
    for i in range(nc):
        name = name * 3 + state[i, 0]
        name = name * (k + 1) + state[i, 1] + 1
        name = name * (k + 1) + state[i, 2] + 1
        name = name * 2 + state[i, 3]
    mask = dictionaries.names.shape[0] - 1
    spot = (name ^ (name >> 29) ^ (name >> 13) * 31) & mask
    while dictionaries.slots[spot] != UNKNOWN and dictionaries.names[spot] != name:
        spot = (spot + 1) & mask
    if dictionaries.slots[spot] == UNKNOWN and dictionaries.frozen[0] == 0:
        dictionaries.names[spot] = name
    return spot


@kernel
def restore(dictionaries: Dictionaries, vertex: int, work: Pivoting) -> int:
    """Copy a vertex's state and dictionary into the workspace; the row of its entering quantity."""
    nc, nt = work.frame.shape[0], work.frame.shape[1]
    for i in range(nc):
        for j in range(4):
            work.state[i, j] = dictionaries.states[vertex, i, j]
        for j in range(1 + nt):
            work.columns[i, j] = dictionaries.columns[vertex, i, j]
        for j in range(nt):
            for d in range(nt):
                work.frame[i, j, d] = dictionaries.frames[vertex, i, j, d]
    for column in range(work.D.shape[0]):
        for row in range(work.D.shape[1]):
            work.D[column, row] = dictionaries.D[vertex, column, row]
    return dictionaries.entering[vertex]


@kernel
def link(step: Step, vertices: Vertices, vertex: int, place: int, known: int) -> None:
    """Write down which vertex follows when a pair leaves."""
    if vertex < FIRST:
        vertices.roots[place] = known
    else:
        sizes = (len(step.mu), step.directions.shape[1], step.directions.shape[0])
        links = vertices.links[offset(vertex, 1 + extents(sizes)[1]) :]
        row = 1
        while links[row] & PLACE_MASK != place:
            row += 1
        links[row] |= known << VERTEX_SHIFT


@kernel
def remember(step: Step, work: Pivoting, table: Table, entering: Entering, spot: int) -> int:
    """Store the vertex in ``work``; its number, or UNKNOWN where the table is full or nothing falls."""
    vertices, dictionaries = table.vertices, table.dictionaries
    sizes = (len(step.mu), step.directions.shape[1], step.directions.shape[0])
    places, rows = extents(sizes)
    count = wide(candidates(step, work, entering))
    vertex = wide(dictionaries.used[0])
    if count == 0 or vertex >= len(vertices.finals) or count > rows:
        return wide(UNKNOWN)
    if not _inaccuracy(step, work, entering.row) <= ACCURATE:
        return wide(UNKNOWN)
    dictionaries.used[0] += 1
    dictionaries.slots[spot] = vertex
    dictionaries.entering[vertex] = entering.row
    _copy_dictionary(dictionaries, vertex, work)
    record = vertices.records[offset(vertex, places + 2 * rows) :]
    for place in range((3 + sizes[2]) * sizes[0] + 1):
        record[place] = work.rates[place]
    if work.which[0, 0] == T:
        vertices.finals[vertex] = _remember_solution(step, work, table)
    _rank_rows(step, work, vertices, entering, vertex, count)
    return vertex


@kernel
def _rank_rows(
    step: Step, work: Pivoting, vertices: Vertices, entering: Entering, vertex: int, count: int
) -> None:
    """The rows of a vertex's ratio test, the winners of ties in turn."""
    sizes = (len(step.mu), step.directions.shape[1], step.directions.shape[0])
    places, rows = extents(sizes)
    record = vertices.records[offset(vertex, places + 2 * rows) :]
    links = vertices.links[offset(vertex, 1 + rows) :]
    which, found = work.which, work.found
    links[0] = count
    for r in range(count):
        left = count - r
        winner = wide(0)
        if which[0, 0] != T:
            winner = wide(break_ties(step, work, entering, left))
        place = place_of(sizes[0], sizes[2], candidate(work, winner))
        inverse = -1.0 / record[place]
        record[places + 2 * r], record[places + 2 * r + 1] = inverse, vertices.rounding[place] * inverse
        links[1 + r] = (END << VERTEX_SHIFT if which[winner, 0] == T else 0) | r << PLACE_BITS | place
        found[winner, 1] = found[left - 1, 1]
        for j in range(3):
            which[winner, j] = which[left - 1, j]


@kernel
def known_solution(step: Step, work: Pivoting, table: Table) -> int:
    """The number of the solution of the state in ``work``, -1 where it is not known."""
    spot = find(step.directions.shape[0], work.state, Quantity(T, NONE, NONE), table.dictionaries)
    return wide(table.dictionaries.slots[spot]) - 1


@kernel
def _remember_solution(step: Step, work: Pivoting, table: Table) -> int:
    """The number of the solution of the state in ``work``, stored where it is new."""
    vertices, dictionaries = table.vertices, table.dictionaries
    spot = find(step.directions.shape[0], work.state, Quantity(T, NONE, NONE), dictionaries)
    if dictionaries.slots[spot] != UNKNOWN:
        return wide(dictionaries.slots[spot]) - 1
    solution = wide(dictionaries.used[1])
    dictionaries.used[1] += 1
    dictionaries.slots[spot] = solution + 1
    find_operator(step, work)
    for i in range(work.state.shape[0]):
        for j in range(4):
            vertices.states[solution, i, j] = work.state[i, j]
    for row in range(work.operator.shape[0]):
        for column in range(work.operator.shape[1]):
            vertices.operators[solution, row, column] = work.operator[row, column]
    return solution


@kernel
def _copy_dictionary(dictionaries: Dictionaries, vertex: int, work: Pivoting) -> None:
    nc, nt = work.frame.shape[0], work.frame.shape[1]
    for i in range(nc):
        for j in range(4):
            dictionaries.states[vertex, i, j] = work.state[i, j]
        for j in range(1 + nt):
            dictionaries.columns[vertex, i, j] = work.columns[i, j]
        for j in range(nt):
            for d in range(nt):
                dictionaries.frames[vertex, i, j, d] = work.frame[i, j, d]
    for column in range(work.D.shape[0]):
        for row in range(work.D.shape[1]):
            dictionaries.D[vertex, column, row] = work.D[column, row]


@kernel
def _inaccuracy(step: Step, work: Pivoting, made: int) -> float:
    """How far the velocities of a direction are from those of its impulses, relative to the largest."""
    nc, nt = work.frame.shape[0], work.frame.shape[1]
    n, moved = nc * (1 + nt), work.D[made]
    worst, size = 0.0, 0.0
    for row in range(n):
        size = max(size, max(abs(moved[row]), abs(moved[n + row])))
        error = -moved[n + row]
        for i in range(nc):
            own = i * (1 + nt)
            error += step.G[row, own] * moved[own]
            for d in range(nt):
                for part in range(nt):
                    error += step.G[row, own + 1 + d] * work.frame[i, part, d] * moved[own + 1 + part]
        worst = max(worst, abs(error))
    return worst / size


@kernel
def complete_links(sizes: Sizes, table: Table, state: Array) -> None:
    """Link known vertices that follow on each other although no sample has gone that way yet."""
    nc, nt, k = sizes
    vertices, dictionaries = table.vertices, table.dictionaries
    for vertex in range(FIRST, dictionaries.used[0]):
        links = vertices.links[offset(vertex, 1 + extents(sizes)[1]) :]
        for r in range(1, 1 + links[0]):
            if links[r] >> VERTEX_SHIFT == UNKNOWN:
                for i in range(nc):
                    for j in range(4):
                        state[i, j] = dictionaries.states[vertex, i, j]
                q = quantity_in(nc, k, state, wide(links[r] & PLACE_MASK))
                if change_state(nt, state, q):
                    spot = find(k, state, complement(q), dictionaries)
                    links[r] |= dictionaries.slots[spot] << VERTEX_SHIFT
