"""Walking along known vertices of Lemke's path.

M, J and mu are the same for all samples of a problem, so at a vertex (a basis with the quantity that enters
it) the direction of travel, the rates of all quantities and the winners of ties are fixed; only values
change. A known vertex therefore costs a ratio test and one step along a stored direction.

Values stand in the places of `routh.kernels.places`; `routh.kernels.step_arrays.Vertices` says what is known.
Rows that win often come first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from routh.compiling import inlined

if TYPE_CHECKING:
    from routh.kernels.step_arrays import Sizes, Step, Vertices
    from routh.validation import Array


UNKNOWN, END, FIRST = 0, 1, 2  # numbers of vertices: not in the table, the end t = 0, the first one
PLACE_BITS, RANK_BITS = 7, 7
PLACE_MASK, LOW_MASK = 2**PLACE_BITS - 1, 2 ** (PLACE_BITS + RANK_BITS) - 1
VERTEX_SHIFT = PLACE_BITS + RANK_BITS
TIE = 1e-13  # of the largest quantity: what would become smaller than this becomes zero


@inlined
def first_ray(sizes: Sizes, step: Step, inputs: Array, values: Array) -> int:
    """Fill the places at the end of the first ray, where t is what the worst velocity asks for.

    Returns the place that leaves: of equal ones the last, by the lexicographic rule; that of t if none.
    """
    nc, nt, k = sizes
    cover, c, w = step.cover, inputs, values
    t, first = 0.0, (3 + k) * nc
    for i in range(nc):
        w[nc + i] = c[i * (1 + nt)]
        needed = -w[nc + i] * cover[i, 2]
        if needed > 0.0 and needed >= t - TIE * t:
            t, first = max(t, needed), nc + i
    for i in range(nc):
        for j in range(k):
            slip = step.directions[j, 0] * c[i * (1 + nt) + 1]
            if nt == 2:
                slip += step.directions[j, 1] * c[i * (1 + nt) + 2]
            w[2 * nc + i * k + j] = slip
            needed = -slip * cover[i, 2]
            if needed > 0.0 and needed >= t - TIE * t:
                t, first = max(t, needed), 2 * nc + i * k + j
    for i in range(nc):
        w[i] = inputs[nc * (1 + nt) + i] + cover[i, 1] * t
        w[nc + i] += cover[i, 0] * t
        w[(2 + k) * nc + i] = cover[i, 1] * t
        for j in range(k):
            w[2 * nc + i * k + j] += cover[i, 0] * t
    w[(3 + k) * nc] = t
    return first


@inlined
def extents(sizes: Sizes) -> tuple[int, int]:
    """The number of places, rounded up to a multiple of four, and the most rows of a ratio test."""
    nc, nt, k = sizes
    return ((3 + k) * nc + 4) // 4 * 4, (4 if nt == 1 else 3 + k) * nc


@inlined
def offset(vertex: int, width: int) -> np.uint64:
    """Where a vertex begins in an array that is so wide for each (unsigned: no such index is negative)."""
    return np.uint64(vertex) * np.uint64(width)


@inlined
def walk(sizes: Sizes, vertices: Vertices, w: Array, vertex: int, limit: int) -> tuple[int, int]:
    """Follow the path through at most ``limit`` known vertices: the last one and the link that it left by."""
    length, rows = extents(sizes)
    records, links = vertices.records, vertices.links
    counts = vertices.wins.shape[0] > 0
    best = vertex << VERTEX_SHIFT
    for _ in range(limit):
        vertex = best >> VERTEX_SHIFT
        record, link = records[offset(vertex, length + 2 * rows) :], links[offset(vertex, 1 + rows) :]
        best = link[1]
        step, slack = w[best & PLACE_MASK] * record[length], record[length + rows]
        low, high = step - slack, step + slack
        for r in range(1, link[0]):
            other = link[1 + r]
            ratio, slack = w[other & PLACE_MASK] * record[length + r], record[length + rows + r]
            if ratio - slack < high and (
                ratio + slack < low or (other & LOW_MASK) >> PLACE_BITS < (best & LOW_MASK) >> PLACE_BITS
            ):  # clearly smaller, or a tie that it wins
                best, step, low, high = other, ratio, ratio - slack, ratio + slack
        if counts:
            vertices.wins[offset(vertex, length) + np.uint64(best & PLACE_MASK)] += 1
        step = max(step, 0.0)
        for place in range(length):
            w[place] += step * record[place]
        if best >> VERTEX_SHIFT < FIRST:
            break
    return vertex, best
