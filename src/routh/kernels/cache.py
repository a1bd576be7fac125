"""Pivoting that remembers: vertices of Lemke's path, with all that does not depend on the sample.

M, J and mu are the same for all samples of a problem, so at a vertex (a basis with the quantity that enters
it) the dictionary, the direction of travel, the rates of all quantities and the winners of ties are fixed.
Only the values along the way change. A known vertex therefore costs a few sparse sums and one step along a
stored direction instead of an exchange; an unknown one is pivoted, and remembered while the table grows.
Once the table is frozen it is only read, so results depend neither on threads nor on the order of samples.
"""

from __future__ import annotations

from typing import Any

from routh.kernels.compiling import kernel
from routh.kernels.dictionary import (
    LD,
    SB,
    SN,
    A,
    B,
    T,
    complement,
    enter_complement,
    exchange,
    start,
    terms,
)
from routh.kernels.pivoting import (
    LOST,
    PIVOT_LIMIT,
    PIVOTS_PER_ROW,
    RAY,
    SOLVED,
    TIE,
    candidates,
    collect_ties,
    first_quantity,
    read_impulses,
)
from routh.kernels.ties import break_ties


@kernel
def solve_remembering(
    shape: Any, data: Any, c: Any, bound: Any, p: Any, work: Any, table: Any, grow: bool
) -> tuple[int, int]:
    """Solve one step like `routh.kernels.pivoting.solve_step`, using (and, if told so, growing) the table.

    Returns (outcome, vertex): the last vertex, or -1 where the dictionary in ``work`` is the current one.
    """
    _, dirs, mu, cover = data
    state, columns, which, frame, D, x, g, found = work
    roots, slots, states, frames, directions, counts = (
        table[0], table[2], table[5], table[7], table[9], table[10],
    )  # fmt: skip
    kinds, places, factors, children = table[11], table[12], table[13], table[14]
    nc, nt = shape
    n, k = nc * (1 + nt), dirs.shape[0]
    kind, at, towards = first_quantity(shape, dirs, cover, c, x)
    size = _size(shape, c, bound)
    for i in range(nc):
        x[2 * n + 1 + i] = bound[i]
    outcome, node, row, made, pivots = SOLVED, -1, -1, n, 0
    root = at if kind == SN else nc + at * k + towards
    known = roots[root] if kind != T else -1
    count, measure, step = 0, 0.0, 0.0
    limit = PIVOTS_PER_ROW * nc * (3 + k)
    while kind != T:
        if pivots >= limit:
            outcome = PIVOT_LIMIT
            break
        if known < 0:  # pivot to the next vertex
            if node >= 0:
                made = restore(shape, table, node, work)
            elif pivots == 0:
                start(shape, data, state, frame, columns, D)
            if not exchange(shape, data, state, kind, at, towards, made, D, g):
                outcome, node = LOST, -1
                break
            made = enter_complement(shape, dirs, state, frame, columns, kind, at, towards, made, D, x)
            kind = complement(kind)
            if made < 0:
                outcome, node = LOST, -1
                break
            place = _find(shape, k, state, kind, at, towards, table)
            known = slots[place]
            if known < 0 and grow:
                known = _remember(shape, data, bound, work, table, made, kind, at, towards, place)
            if known >= 0 and grow:
                if pivots == 0:
                    roots[root] = known
                elif node >= 0:
                    children[node, row] = known
        pivots += 1
        if known >= 0:
            node = known
            while True:  # along known vertices
                # rows stand in the order in which ties are won: a later one must be clearly smaller
                row, step, lowest = -1, 0.0, 1e300
                for r in range(counts[node]):
                    value = factors[node, r, 0] * x[places[node, r, 0]]
                    value += factors[node, r, 1] * x[places[node, r, 1]]
                    value += factors[node, r, 2] * x[places[node, r, 2]]
                    if nt == 2:
                        value += factors[node, r, 3] * x[places[node, r, 3]]
                    value = max(value, 0.0)
                    slack = size * factors[node, r, 4]
                    if value + slack < lowest:
                        row, step, lowest = r, value, value - slack
                if row < 0:
                    outcome = LOST
                    break
                for r in range(2 * n + 1):
                    x[r] += step * directions[node, r]
                known = children[node, row]
                pivots += 1
                if known < 0 or pivots >= limit:
                    break
                if nt == 2:
                    _follow_swap(states, kinds, node, row, x)
                node = known
            if outcome != SOLVED:
                break
            kind, at, towards = kinds[node, row, 0], kinds[node, row, 1], kinds[node, row, 2]
            continue
        node = -1
        count, measure, step = candidates(
            shape, dirs, mu, cover, bound, state, kind, at, towards, x, D[made], found, which
        )
        ties = collect_ties(count, measure, step, found, which)
        if ties == 0:
            outcome = RAY if count == 0 else LOST
            break
        winner = 0
        if ties > 1:
            winner = break_ties(
                shape, data, state, columns, kind, at, towards, made, found, which, ties, D, g
            )
        for r in range(2 * n + 1):
            x[r] += step * D[made, r]
        kind, at, towards = which[winner, 0], which[winner, 1], which[winner, 2]
    if node >= 0:
        read_impulses(shape, mu, bound, states[node], frames[node], x, p)
    else:
        read_impulses(shape, mu, bound, state, frame, x, p)
        which[0, 3] = made  # for `routh.kernels.pivoting.refine`
    return outcome, node


@kernel
def _size(shape: Any, c: Any, bound: Any) -> float:
    size = 1.0
    for row in range(shape[0] * (1 + shape[1])):
        size = max(size, abs(c[row]))
    for i in range(shape[0]):
        size = max(size, bound[i])
    return size


@kernel
def _follow_swap(states: Any, kinds: Any, node: int, row: int, x: Any) -> None:
    """Of two directions that push the first one stops: the second takes its name."""
    i = kinds[node, row, 1]
    stops = kinds[node, row, 0] == LD and kinds[node, row, 2] == states[node, i, A]
    if stops and states[node, i, B] >= 0:
        x[3 * i + 1], x[3 * i + 2] = x[3 * i + 2], x[3 * i + 1]


@kernel
def restore(shape: Any, table: Any, node: int, work: Any) -> int:
    """Copy a vertex's state and dictionary into the workspace; the row of its entering quantity."""
    entering, states, all_columns, frames, Ds = table[4], table[5], table[6], table[7], table[8]
    state, columns, frame, D = work[0], work[1], work[3], work[4]
    nc, nt = shape
    n = nc * (1 + nt)
    for i in range(nc):
        for j in range(4):
            state[i, j] = states[node, i, j]
        for j in range(1 + nt):
            columns[i, j] = all_columns[node, i, j]
        for j in range(nt):
            for d in range(nt):
                frame[i, j, d] = frames[node, i, j, d]
    for c in range(n + 1):
        for r in range(2 * n + 1):
            D[c, r] = Ds[node, c, r]
    return entering[node]


@kernel
def _find(shape: Any, k: int, state: Any, kind: int, at: int, towards: int, table: Any) -> int:
    """The place of a vertex in the hash table, or the free place where it would go."""
    keys, slots = table[1], table[2]
    key = kind + 9 * (at + shape[0] * towards)
    for i in range(shape[0]):
        key = key * 3 + state[i, 0]
        key = key * (k + 1) + state[i, 1] + 1
        key = key * (k + 1) + state[i, 2] + 1
        key = key * 2 + state[i, 3]
    mask = keys.shape[0] - 1
    place = (key ^ (key >> 29) ^ (key >> 13) * 31) & mask
    while slots[place] >= 0 and keys[place] != key:
        place = (place + 1) & mask
    if slots[place] < 0 and table[3][1] == 0:  # still growing
        keys[place] = key
    return place


@kernel
def _remember(
    shape: Any, data: Any, bound: Any, work: Any, table: Any, made: int, kind: int, at: int, towards: int,
    place: int,
) -> int:  # fmt: skip
    """Store the vertex in ``work``; its number, or -1 where the table is full or nothing falls."""
    _, dirs, mu, cover = data
    state, columns, which, frame, D, x, g, found = work
    slots, used, entering = table[2], table[3], table[4]
    states, all_columns, frames, Ds, directions, counts = (
        table[5], table[6], table[7], table[8], table[9], table[10],
    )  # fmt: skip
    nc, nt = shape
    n = nc * (1 + nt)
    count, _, _ = candidates(
        shape, dirs, mu, cover, bound, state, kind, at, towards, x, D[made], found, which
    )
    node = used[0]
    if count == 0 or node >= counts.shape[0] or count > table[14].shape[1]:
        return -1
    used[0] += 1
    slots[place] = node
    entering[node] = made
    for i in range(nc):
        for j in range(4):
            states[node, i, j] = state[i, j]
        for j in range(1 + nt):
            all_columns[node, i, j] = columns[i, j]
        for j in range(nt):
            for d in range(nt):
                frames[node, i, j, d] = frame[i, j, d]
    for c in range(n + 1):
        for r in range(2 * n + 1):
            Ds[node, c, r] = D[c, r]
    for r in range(2 * n + 1):
        directions[node, r] = D[made, r]
    counts[node] = count
    for r in range(count):  # the winners of ties in turn
        left = count - r
        winner = 0
        if which[0, 0] != T:
            winner = break_ties(
                shape, data, state, columns, kind, at, towards, made, found, which, left, D, g
            )
        _store_row(shape, data, state, table, node, r, which, winner, found[winner, 1])
        found[winner, 1] = found[left - 1, 1]
        for j in range(3):
            which[winner, j] = which[left - 1, j]
    return node


@kernel
def _store_row(
    shape: Any, data: Any, state: Any, table: Any, node: int, r: int, which: Any, winner: int, fall: float
) -> None:
    """One row of a vertex's ratio test: a sparse sum divided by its rate."""
    kinds, places, factors, children = table[11], table[12], table[13], table[14]
    kind, i, direction = which[winner, 0], which[winner, 1], which[winner, 2]
    i0, i1, i2, i3, f0, f1, f2, f3 = terms(shape, data[1], data[2], data[3], state, kind, i, direction)
    if kind == SB:
        i2, f2 = 2 * shape[0] * (1 + shape[1]) + 1 + i, 1.0
    scale = -1.0 / fall
    places[node, r, 0], places[node, r, 1], places[node, r, 2], places[node, r, 3] = i0, i1, i2, i3
    factors[node, r, 0], factors[node, r, 1] = f0 * scale, f1 * scale
    factors[node, r, 2], factors[node, r, 3] = f2 * scale, f3 * scale
    factors[node, r, 4] = TIE * scale * (1.0 + abs(f0) + abs(f1) + abs(f2) + abs(f3))
    kinds[node, r, 0], kinds[node, r, 1], kinds[node, r, 2] = kind, i, direction
    children[node, r] = -1
