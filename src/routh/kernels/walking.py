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
    """The number of places and the most rows of a ratio test."""
    nc, nt, k = sizes
    return (3 + k) * nc + 1, (4 if nt == 1 else 3 + k) * nc


@inlined
def offset(vertex: int, width: int) -> np.uint64:
    """Where a vertex begins in an array that is so wide for each (unsigned: no such index is negative)."""
    return np.uint64(vertex) * np.uint64(width)


@fused
def walk(sizes: Sizes, vertices: Vertices, w: Array, vertex: int, limit: int) -> tuple[int, int]:
    """Follow the path through at most ``limit`` known vertices: the last one and the link that it left by."""
    places, rows = extents(sizes)
    records, links = vertices.records, vertices.links
    counts = vertices.wins.shape[0] > 0
    best = vertex << VERTEX_SHIFT
    for _ in range(limit):
        vertex = best >> VERTEX_SHIFT
        record, link = offset(vertex, places + 2 * rows), offset(vertex, 1 + rows)
        best = links[link + np.uint64(1)]
        step = w[best & PLACE_MASK] * records[record + np.uint64(places)]
        slack = records[record + np.uint64(places + 1)]
        low, high = step - slack, step + slack
        for r in range(1, links[link]):
            other, row = links[link + np.uint64(1 + r)], record + np.uint64(places + 2 * r)
            slack = records[row + np.uint64(1)]
            least = w[other & PLACE_MASK] * records[row] - slack
            if least < high and (
                least + (slack + slack) < low
                or (other & LOW_MASK) >> PLACE_BITS < (best & LOW_MASK) >> PLACE_BITS
            ):  # clearly smaller, or a tie that it wins
                best, step, low, high = other, least + slack, least, least + (slack + slack)
        if counts:
            vertices.wins[offset(vertex, places) + np.uint64(best & PLACE_MASK)] += 1
        step = max(0.0, step)
        for place in range(places):
            w[place] += step * records[record + np.uint64(place)]
        if best >> VERTEX_SHIFT < FIRST:
            break
    return vertex, best
