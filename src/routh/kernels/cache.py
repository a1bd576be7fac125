"""Pivoting that remembers: one step of HP23 (75) along known vertices, and by exchanges where there are none.

An unknown vertex is pivoted to, and remembered while the table grows. Once the table is frozen it is only
read, so results depend neither on threads nor on the order of samples.
"""

from __future__ import annotations

from typing import Any

from routh.compiling import kernel
from routh.kernels.dictionary import (
    T,
    change_state,
    complement,
    enter_complement,
    exchange,
    start,
    wide,
)
from routh.kernels.pivoting import (
    LOST,
    PIVOT_LIMIT,
    PIVOTS_PER_ROW,
    RAY,
    SOLVED,
    candidates,
    collect_ties,
    refine,
)
from routh.kernels.residual import step_residual, velocity_after
from routh.kernels.slots import fill_primitives, fill_slots, quantity_in, slot_of
from routh.kernels.ties import break_ties
from routh.kernels.walking import (
    END,
    FIRST,
    PLACE_BITS,
    PLACE_MASK,
    UNKNOWN,
    VERTEX_SHIFT,
    extents,
    first_ray,
    offset,
    read_impulses,
    walk,
)

ROUGH = 1e-12  # a residual above this is refined once
ACCURATE = 1e-12  # a dictionary that is less so is not remembered: friction of 1e5 can cost all digits


@kernel
def solve(
    shape: Any, data: Any, normals: Any, table: Any, grow: bool, x: Any, p: Any, after: Any, work: Any
) -> tuple[int, float]:
    """One step from inputs x = (c, lambda_max): impulses p, velocities after; (outcome, residual)."""
    G, dirs, mu, cover = data
    vertices, wins = table[0], table[1][7]
    state, w = work[0], work[8]
    nc, nt = shape
    n, sizes = nc * (1 + nt), (nc, nt, dirs.shape[0])
    bound = x[n:]
    place = wide(first_ray(sizes, dirs, cover, x, bound, w))
    vertex, following = wide(0), wide(vertices[0][place])
    if place == (3 + sizes[2]) * nc:  # nothing asks for an impulse
        start(shape, data, state, work[3], work[1], work[4])
        following = END
    outcome, left = SOLVED, PIVOTS_PER_ROW * nc * (3 + sizes[2])
    while following != END and outcome == SOLVED:
        if left == 0 or (following >= FIRST and not grow and vertex >= FIRST):
            outcome = PIVOT_LIMIT
        elif following == UNKNOWN:
            outcome, following = pivot_on(shape, data, x, bound, work, table, grow, vertex, place)
            vertex = wide(0)
        else:
            vertex, link = walk(sizes, vertices, w, following, 1 if grow else left)
            following, place = link >> VERTEX_SHIFT, link & PLACE_MASK
            if grow:
                wins[vertex, _row(vertices[2][offset(vertex, 1 + extents(sizes)[1]) :], place)] += 1
        left -= 1
    read_impulses(sizes, dirs, mu, bound, vertices[3][vertex] if vertex >= FIRST else state, w, p)
    velocity_after(n, G, x, p, after)
    residual = step_residual(sizes, dirs, normals, mu, bound, p, after)
    if outcome == SOLVED and not residual <= ROUGH:
        made = restore(shape, data, x, table, vertex, work) if vertex >= FIRST else work[2][0, 3]
        refine(shape, data, x, bound, made, p, work)
        velocity_after(n, G, x, p, after)
        residual = step_residual(sizes, dirs, normals, mu, bound, p, after)
    return outcome, residual


@kernel
def pivot_on(
    shape: Any, data: Any, c: Any, bound: Any, work: Any, table: Any, grow: bool, vertex: int, place: int
) -> tuple[int, int]:
    """Leave a vertex (0: the first ray) by the pair at ``place`` and exchange until a known one or the end.

    Returns (outcome, vertex). The row of the quantity that entered last goes to ``work[2][0, 3]``.
    """
    _, dirs, mu, cover = data
    state, columns, which, frame, D, x, g, found, w = work
    vertices, slots = table[0], table[1][1]
    nc, nt = shape
    n, k = nc * (1 + nt), dirs.shape[0]
    if vertex >= FIRST:
        made = restore(shape, data, c, table, vertex, work)
    else:
        made = n
        start(shape, data, state, frame, columns, D)
        fill_primitives(shape, data, state, frame, c, w, x)
    kind, at, towards = quantity_in(nc, k, state, place)
    for pivot in range(PIVOTS_PER_ROW * nc * (3 + k)):
        if not exchange(shape, data, state, kind, at, towards, made, D, g):
            return LOST, UNKNOWN
        made = enter_complement(shape, dirs, state, frame, columns, kind, at, towards, made, D, x)
        kind = complement(kind)
        if made < 0:
            return LOST, UNKNOWN
        spot = _find(shape, k, state, kind, at, towards, table)
        known = wide(slots[spot])
        if known == UNKNOWN and grow:
            known = _remember(shape, data, bound, work, table, made, kind, at, towards, spot)
        if known != UNKNOWN:
            if grow and pivot == 0:
                _link((nc, nt, k), vertices, vertex, place, known)
            fill_slots(shape, data, state, x, 1.0, bound, w)
            return SOLVED, known
        count, size, step = candidates(
            shape, dirs, mu, cover, bound, state, kind, at, towards, x, D[made], found, which
        )
        ties = collect_ties(count, size, step, found, which)
        if ties == 0:
            return (RAY if count == 0 else LOST), UNKNOWN
        winner = 0
        if ties > 1:
            winner = break_ties(
                shape, data, state, columns, kind, at, towards, made, found, which, ties, D, g
            )
        for row in range(2 * n + 1):
            x[row] += step * D[made, row]
        kind, at, towards = which[winner, 0], which[winner, 1], which[winner, 2]
        if kind == T:
            fill_slots(shape, data, state, x, 1.0, bound, w)
            which[0, 3] = made  # for `routh.kernels.pivoting.refine`
            return SOLVED, END
    return PIVOT_LIMIT, UNKNOWN


@kernel
def restore(shape: Any, data: Any, c: Any, table: Any, vertex: int, work: Any) -> int:
    """Copy a vertex's state and dictionary into the workspace; the row of its entering quantity."""
    states = table[0][3]
    entering, all_columns, frames, Ds = table[1][3], table[1][4], table[1][5], table[1][6]
    state, columns, frame, D = work[0], work[1], work[3], work[4]
    nc, nt = shape
    n = nc * (1 + nt)
    for i in range(nc):
        for j in range(4):
            state[i, j] = states[vertex, i, j]
        for j in range(1 + nt):
            columns[i, j] = all_columns[vertex, i, j]
        for j in range(nt):
            for d in range(nt):
                frame[i, j, d] = frames[vertex, i, j, d]
    for column in range(n + 1):
        for row in range(2 * n + 1):
            D[column, row] = Ds[vertex, column, row]
    fill_primitives(shape, data, state, frame, c, work[8], work[5])
    return entering[vertex]


@kernel
def complete_links(shape: Any, k: int, table: Any, state: Any) -> None:
    """Link known vertices that follow on each other although no sample has gone that way yet."""
    nc, nt = shape
    links, states = table[0][2], table[0][3]
    for vertex in range(FIRST, table[1][2][0]):
        link = links[offset(vertex, 1 + extents((nc, nt, k))[1]) :]
        for r in range(1, 1 + link[0]):
            if link[r] >> VERTEX_SHIFT == UNKNOWN:
                for i in range(nc):
                    for j in range(4):
                        state[i, j] = states[vertex, i, j]
                kind, at, towards = quantity_in(nc, k, state, link[r] & PLACE_MASK)
                if change_state(nt, state, kind, at, towards):
                    spot = _find(shape, k, state, complement(kind), at, towards, table)
                    link[r] |= table[1][1][spot] << VERTEX_SHIFT


@kernel
def _row(link: Any, place: int) -> int:
    """The row of a vertex's ratio test that belongs to a place."""
    row = 0
    while link[1 + row] & PLACE_MASK != place:
        row += 1
    return row


@kernel
def _link(sizes: Any, vertices: Any, vertex: int, place: int, known: int) -> None:
    """Write down which vertex follows when a pair leaves."""
    if vertex < FIRST:
        vertices[0][place] = known
    else:
        link = vertices[2][offset(vertex, 1 + extents(sizes)[1]) :]
        link[1 + _row(link, place)] |= known << VERTEX_SHIFT


@kernel
def _find(shape: Any, k: int, state: Any, kind: int, at: int, towards: int, table: Any) -> int:
    """The place of a vertex in the hash table, or the free place where it would go."""
    keys, slots, used = table[1][0], table[1][1], table[1][2]
    key = kind + 9 * (at + shape[0] * towards)
    for i in range(shape[0]):
        key = key * 3 + state[i, 0]
        key = key * (k + 1) + state[i, 1] + 1
        key = key * (k + 1) + state[i, 2] + 1
        key = key * 2 + state[i, 3]
    mask = keys.shape[0] - 1
    spot = (key ^ (key >> 29) ^ (key >> 13) * 31) & mask
    while slots[spot] != UNKNOWN and keys[spot] != key:
        spot = (spot + 1) & mask
    if slots[spot] == UNKNOWN and used[1] == 0:  # still growing
        keys[spot] = key
    return spot


@kernel
def _inaccuracy(shape: Any, G: Any, frame: Any, dx: Any) -> float:
    """How far the velocities of a direction are from those of its impulses, relative to the largest."""
    nc, nt = shape
    n = nc * (1 + nt)
    worst, size = 0.0, 0.0
    for row in range(n):
        size = max(size, max(abs(dx[row]), abs(dx[n + row])))
        error = -dx[n + row]
        for i in range(nc):
            own = i * (1 + nt)
            error += G[row, own] * dx[own]
            for d in range(nt):
                for part in range(nt):
                    error += G[row, own + 1 + d] * frame[i, part, d] * dx[own + 1 + part]
        worst = max(worst, abs(error))
    return worst / size


@kernel
def _remember(
    shape: Any, data: Any, bound: Any, work: Any, table: Any, made: int, kind: int, at: int, towards: int,
    spot: int,
) -> int:  # fmt: skip
    """Store the vertex in ``work``; its number, or UNKNOWN where the table is full or nothing falls."""
    _, dirs, mu, cover = data
    state, columns, which, frame, D, x, g, found, w = work
    _, records, links, states, _ = table[0]
    slots, used, entering, all_columns, frames, Ds = table[1][1:7]
    nc, nt = shape
    n = nc * (1 + nt)
    count, _, _ = candidates(
        shape, dirs, mu, cover, bound, state, kind, at, towards, x, D[made], found, which
    )
    vertex = used[0]
    length, rows = extents((nc, nt, dirs.shape[0]))
    if count == 0 or vertex >= len(states) or count > rows:
        return wide(UNKNOWN)
    if not _inaccuracy(shape, data[0], frame, D[made]) <= ACCURATE:
        return wide(UNKNOWN)
    used[0] += 1
    slots[spot] = vertex
    entering[vertex] = made
    for i in range(nc):
        for j in range(4):
            states[vertex, i, j] = state[i, j]
        for j in range(1 + nt):
            all_columns[vertex, i, j] = columns[i, j]
        for j in range(nt):
            for d in range(nt):
                frames[vertex, i, j, d] = frame[i, j, d]
    for column in range(n + 1):
        for row in range(2 * n + 1):
            Ds[vertex, column, row] = D[column, row]
    record, link = records[offset(vertex, length + rows) :], links[offset(vertex, 1 + rows) :]
    fill_slots(shape, data, state, D[made], 0.0, bound, record)
    link[0] = count
    for r in range(count):  # the winners of ties in turn
        left = count - r
        winner = 0
        if which[0, 0] != T:
            winner = break_ties(
                shape, data, state, columns, kind, at, towards, made, found, which, left, D, g
            )
        place = slot_of(nc, dirs.shape[0], which[winner, 0], which[winner, 1], which[winner, 2])
        record[length + r] = -1.0 / record[place]
        link[1 + r] = (END << VERTEX_SHIFT if which[winner, 0] == T else 0) | r << PLACE_BITS | place
        found[winner, 1] = found[left - 1, 1]
        for j in range(3):
            which[winner, j] = which[left - 1, j]
    return vertex
