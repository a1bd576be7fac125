"""Walking along known vertices of Lemke's path.

M, J and mu are the same for all samples of a problem, so at a vertex (a basis with the quantity that enters
it) the direction of travel, the rates of all quantities and the winners of ties are fixed; only values
change. A known vertex therefore costs a ratio test and one step along a stored direction.

Values stand in the places of `routh.kernels.slots`. ``vertices`` is (roots, records, links, states,
rounding): the vertex behind the first ray for each place that may leave there; per vertex the direction of
travel, then per row of its ratio test the inverse of the rate; the number of rows, then per row its place,
its rank among rows that tie and the vertex behind it; the state of the contacts; and the rounding of each
place's values. Rows that win often come first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from routh.compiling import inlined
from routh.kernels.dictionary import NORMAL, OPEN, SLIDING, UPPER, A, B

UNKNOWN, END, FIRST = 0, 1, 2  # numbers of vertices: not in the table, the end t = 0, the first one
PLACE_BITS, RANK_BITS = 7, 7
PLACE_MASK, LOW_MASK = 2**PLACE_BITS - 1, 2 ** (PLACE_BITS + RANK_BITS) - 1
VERTEX_SHIFT = PLACE_BITS + RANK_BITS
TIE = 1e-13  # of the largest quantity: what would become smaller than this becomes zero


@inlined
def first_ray(sizes: Any, dirs: Any, cover: Any, c: Any, bound: Any, w: Any) -> int:
    """Fill the places at the end of the first ray, where t is what the worst velocity asks for.

    Returns the place that leaves: of equal ones the last, by the lexicographic rule; that of t if none.
    """
    nc, nt, k = sizes
    t, first = 0.0, (3 + k) * nc
    for i in range(nc):
        w[nc + i] = c[i * (1 + nt)]
        needed = -w[nc + i] * cover[i, 2]
        if needed > 0.0 and needed >= t - TIE * t:
            t, first = max(t, needed), nc + i
    for i in range(nc):
        for j in range(k):
            slip = dirs[j, 0] * c[i * (1 + nt) + 1]
            if nt == 2:
                slip += dirs[j, 1] * c[i * (1 + nt) + 2]
            w[2 * nc + i * k + j] = slip
            needed = -slip * cover[i, 2]
            if needed > 0.0 and needed >= t - TIE * t:
                t, first = max(t, needed), 2 * nc + i * k + j
    for i in range(nc):
        w[i] = bound[i] + cover[i, 1] * t
        w[nc + i] += cover[i, 0] * t
        w[(2 + k) * nc + i] = cover[i, 1] * t
        for j in range(k):
            w[2 * nc + i * k + j] += cover[i, 0] * t
    w[(3 + k) * nc] = t
    return first


@inlined
def extents(sizes: Any) -> tuple[int, int]:
    """The number of places, rounded up to a multiple of four, and the most rows of a ratio test."""
    nc, nt, k = sizes
    return ((3 + k) * nc + 4) // 4 * 4, (4 if nt == 1 else 3 + k) * nc


@inlined
def offset(vertex: int, width: int) -> Any:
    """Where a vertex begins in an array that is so wide for each (unsigned: no such index is negative)."""
    return np.uint64(vertex) * np.uint64(width)


@inlined
def walk(sizes: Any, vertices: Any, w: Any, vertex: int, limit: int) -> tuple[int, int]:
    """Follow the path through at most ``limit`` known vertices: the last one and the link that it left by."""
    length, rows = extents(sizes)
    _, records, links, _, rounding = vertices
    best = vertex << VERTEX_SHIFT
    for _ in range(limit):
        vertex = best >> VERTEX_SHIFT
        record, link = records[offset(vertex, length + rows) :], links[offset(vertex, 1 + rows) :]
        best = link[1]
        value, slack = w[best & PLACE_MASK], rounding[best & PLACE_MASK]
        step = value * record[length]
        low, high = (value - slack) * record[length], (value + slack) * record[length]
        for r in range(1, link[0]):
            value, slack = w[link[1 + r] & PLACE_MASK], rounding[link[1 + r] & PLACE_MASK]
            inverse = record[length + r]
            if (value - slack) * inverse < high and (
                (value + slack) * inverse < low
                or (link[1 + r] & LOW_MASK) >> PLACE_BITS < (best & LOW_MASK) >> PLACE_BITS
            ):  # clearly smaller, or a tie that it wins
                best, step = link[1 + r], value * inverse
                low, high = (value - slack) * inverse, (value + slack) * inverse
        step = max(step, 0.0)
        for place in range(length):
            w[place] += step * record[place]
        if best >> VERTEX_SHIFT < FIRST:
            break
    return vertex, best


@inlined
def read_impulses(sizes: Any, dirs: Any, mu: Any, bound: Any, state: Any, w: Any, p: Any) -> None:
    """Impulses at t = 0, with those at a bound exactly on it."""
    nc, nt, k = sizes
    for i in range(nc):
        own, friction = i * (1 + nt), 2 * nc + i * k
        normal = min(max(w[nc + i], 0.0), bound[i])
        normal = 0.0 if state[i, NORMAL] == OPEN else normal
        normal = bound[i] if state[i, NORMAL] == UPPER else normal
        p[own] = normal
        largest, second, b = mu[i] * normal, 0.0, max(state[i, B], 0)
        if nt == 2:
            second = max(w[friction + b], 0.0) if state[i, B] >= 0 else 0.0
            largest = max(largest - second, 0.0)
        a = max(state[i, A], 0)
        first = max(w[friction + a], 0.0) if state[i, A] >= 0 else 0.0
        first = largest if state[i, SLIDING] else first
        p[own + 1] = first * dirs[a, 0]
        if nt == 2:
            p[own + 1] += second * dirs[b, 0]
            p[own + 2] = first * dirs[a, 1] + second * dirs[b, 1]
