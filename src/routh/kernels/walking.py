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

from routh.compiling import fused, inlined

if TYPE_CHECKING:
    from routh.kernels.step_arrays import Sizes, Step, Vertices
    from routh.validation import Array


UNKNOWN, END, FIRST = 0, 1, 2  # numbers of vertices: not in the table, the end t = 0, the first one
PLACE_BITS, RANK_BITS = 7, 7
PLACE_MASK, LOW_MASK = 2**PLACE_BITS - 1, 2 ** (PLACE_BITS + RANK_BITS) - 1
VERTEX_SHIFT = PLACE_BITS + RANK_BITS
TIE = 1e-13  # of the largest quantity: what would become smaller than this becomes zero


@fused
def first_ray(sizes: Sizes, step: Step, inputs: Array, values: Array) -> int:
    """Fill the places at the end of the first ray, where t is what the worst velocity asks for.

    Returns the place that leaves: of equal ones the last, by the lexicographic rule; that of t if none.
    """
    nc, nt, k = sizes
    cover, c, w = step.cover, inputs, values
    t = 0.0
    for i in range(nc):
        w[nc + i] = c[i * (1 + nt)]
        own = -w[nc + i] * cover[i, 2]  # of each contact for itself: none waits for all before it
        for j in range(k):
            slip = step.directions[j, 0] * c[i * (1 + nt) + 1]
            if nt == 2:
                slip += step.directions[j, 1] * c[i * (1 + nt) + 2]
            w[2 * nc + i * k + j] = slip
            own = max(own, -slip * cover[i, 2])
        t = max(t, own)
    least, first = t - TIE * t, (3 + k) * nc
    if t > 0.0:
        for place in range(nc, (2 + k) * nc):
            i = place - nc if place < 2 * nc else (place - 2 * nc) // k
            first = place if -w[place] * cover[i, 2] >= least else first
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


@fused
def walk(sizes: Sizes, vertices: Vertices, w: Array, vertex: int, limit: int) -> tuple[int, int]:
    """Follow the path through at most ``limit`` known vertices: the last one and the link that it left by."""
    length, rows = extents(sizes)
    records, links = vertices.records, vertices.links
    counts = vertices.wins.shape[0] > 0
    best = vertex << VERTEX_SHIFT
    for _ in range(limit):
        vertex = best >> VERTEX_SHIFT
        record, link = offset(vertex, length + 2 * rows), offset(vertex, 1 + rows)
        best = links[link + np.uint64(1)]
        step = w[best & PLACE_MASK] * records[record + np.uint64(length)]
        slack = records[record + np.uint64(length + 1)]
        low, high = step - slack, step + slack
        for r in range(1, links[link]):
            other, row = links[link + np.uint64(1 + r)], record + np.uint64(length + 2 * r)
            slack = records[row + np.uint64(1)]
            least = w[other & PLACE_MASK] * records[row] - slack
            if least < high and (
                least + (slack + slack) < low
                or (other & LOW_MASK) >> PLACE_BITS < (best & LOW_MASK) >> PLACE_BITS
            ):  # clearly smaller, or a tie that it wins
                best, step, low, high = other, least + slack, least, least + (slack + slack)
        if counts:
            vertices.wins[offset(vertex, length) + np.uint64(best & PLACE_MASK)] += 1
        _travel(length, max(0.0, step), records, record, w)
        if best >> VERTEX_SHIFT < FIRST:
            break
    return vertex, best


@fused
def _travel(length: int, step: float, records: Array, record: np.uint64, w: Array) -> None:
    """One step along the direction of a vertex; four places at a time, so that they need not wait."""
    for quarter in range(length // 4):
        a, b, c, d = 4 * quarter, 4 * quarter + 1, 4 * quarter + 2, 4 * quarter + 3
        w[a], w[b], w[c], w[d] = (
            w[a] + step * records[record + np.uint64(a)],
            w[b] + step * records[record + np.uint64(b)],
            w[c] + step * records[record + np.uint64(c)],
            w[d] + step * records[record + np.uint64(d)],
        )
