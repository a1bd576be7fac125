"""The rows that act in given modes, and their linear system ``y + N x = c``, ``x = F^T y``.

``N`` measures and ``F`` pushes; a sliding contact's normal row pushes along ``G_n + mu d.G_t``, and in space
a weakened damper across the slip stays. For few rows both unknowns are in one elimination, with rows brought
to unit size and a step of refinement, so that stiff rows do not drown soft ones; many rows on few velocities
are summed up in ``(I + F^T N) x = F^T c``, where that keeps enough digits.
"""

from __future__ import annotations

import math

from routh.base.validation import Array
from routh.compiling import distinct, kernel
from routh.kernels.common.small_linear import factorise, substitute
from routh.kernels.constraints.data import (
    ACCELERATION,
    DENSE,
    DIAGONAL,
    FEW_ROWS,
    FORCE,
    RIGHT,
    SEPARATES,
    SLIDES,
    SPARSE,
    STICKS,
    WHITE,
    WISH,
    C,
    Layout,
    Modes,
    S,
    Scratch,
    Terms,
    X,
    Y,
)
from routh.kernels.constraints.elimination import eliminate
from routh.kernels.constraints.scaling import can_stick, row_times, unwhiten

MANY_ROWS = 4  # rows per velocity above which they are certainly redundant
GRAM_STIFFNESS = 1e10  # sum of the squares of N up to which ``N^T N`` keeps six digits, before refinement
LIKE_SIZES = 1e-4  # and the smallest of these squares, as a share of the largest


@kernel
def solve_modes(layout: Layout, terms: Terms, own: Scratch, modes: Modes) -> bool:
    """Forces, acceleration and the springs' wishes in given modes; False where they cannot be told."""
    # reads layout.nc, layout.pattern, layout.way, own.motion, own.rows, own.scaled, terms.G, terms.half
    # writes own.motion, own.rows
    # hands on layout, modes, own, terms
    x, acceleration, y = own.motion[WHITE], own.motion[ACCELERATION], own.rows[Y]
    if layout.way == DENSE and layout.nc == 0 and _one_sided(layout, own, modes):
        unwhiten(layout, terms.half, x, acceleration)
        return True
    k = _gather(layout, terms, own, modes)
    if k == 0:
        for j in range(len(x)):
            x[j] = 0.0
    elif layout.way == SPARSE:
        if not eliminate(layout, own, k):
            return False
    else:
        frictionless = layout.nc == 0 or _rough(terms) == 0
        many = k > FEW_ROWS or (frictionless and k >= MANY_ROWS * len(x))
        if not (many and _many(layout, own, k, frictionless)) and not _few(layout, own, k):
            return False
    unwhiten(layout, terms.half, x, acceleration)
    for i in range(len(layout.pattern)):
        own.rows[FORCE, i] = 0.0
        if _asked(layout, own, modes, i):
            root = own.scaled[S, i]
            moved = 0.0 if root == 0.0 else root * row_times(layout, terms.G, i, acceleration)
            own.rows[WISH, i] = root * (own.scaled[C, i] - moved)
    _spread(layout, terms, own, modes, y)
    return True


@kernel
def _asked(layout: Layout, own: Scratch, modes: Modes, i: int) -> bool:
    """Whether what the spring of row i wishes decides what it does next: unless its own force does."""
    # reads layout.nb, layout.nc, layout.nt, layout.nu, modes.acts, own.rows
    first, tangent = layout.nb + layout.nu, i - layout.nb - layout.nu - layout.nc
    if tangent >= 0:
        c = tangent // layout.nt
        does = modes.acts[layout.nu + c]
        return does == SLIDES or (does == SEPARATES and own.rows[WISH, first + c] > 0.0)
    return i >= layout.nb and modes.acts[i - layout.nb] == SEPARATES


@kernel
def _rough(terms: Terms) -> int:
    """How many contacts have friction."""
    # reads mu
    count = 0
    for i in range(len(terms.mu)):
        count += int(terms.mu[i] > 0.0)
    return count


@kernel
def _gather(layout: Layout, terms: Terms, own: Scratch, modes: Modes) -> int:
    """Write down the rows that act; how many there are."""
    # reads layout.nb, layout.nc, layout.nt, layout.nu, layout.pattern, layout.width, modes.acts,
    #   modes.direction, modes.weakening, own.push, own.scaled, own.white, terms.mu
    # writes own.home, own.measure, own.push, own.rows
    # hands on layout, own, terms
    nb, nu, nc, nt = layout.nb, layout.nu, layout.nc, layout.nt
    root, c, k = own.scaled[S], own.scaled[C], 0
    for i in range(nb + nu + nc):
        if i >= nb and modes.acts[i - nb] == SEPARATES:
            continue
        width = layout.width[layout.pattern[i]]
        for a in range(width):
            own.measure[k, a] = own.push[k, a] = root[i] * own.white[i, a]
        own.home[k], own.rows[RIGHT, k] = i, c[i]
        k += 1
        contact, t = i - nb - nu, nb + nu + nc + (i - nb - nu) * nt
        if contact < 0 or not can_stick(layout, terms, own, contact):
            continue
        if modes.acts[i - nb] == STICKS:
            for j in range(nt):
                for a in range(width):
                    own.measure[k, a] = own.push[k, a] = root[t + j] * own.white[t + j, a]
                own.home[k], own.rows[RIGHT, k] = t + j, c[t + j]
                k += 1
            continue
        for j in range(nt):
            tilt = root[i] * terms.mu[contact] * modes.direction[contact, j]
            if tilt != 0.0:
                for a in range(width):
                    own.push[k - 1, a] += tilt * own.white[t + j, a]
        if nt == 2:
            weak = math.sqrt(modes.weakening[contact])
            one, two = -weak * modes.direction[contact, 1], weak * modes.direction[contact, 0]
            for a in range(width):
                across = root[t] * (one * own.white[t, a] + two * own.white[t + 1, a])
                own.measure[k, a] = own.push[k, a] = across
            own.home[k], own.rows[RIGHT, k] = t, one * c[t] + two * c[t + 1]
            k += 1
    return k


@kernel
def _spread(layout: Layout, terms: Terms, own: Scratch, modes: Modes, y: Array) -> None:
    """All forces from those of the rows that act, which are in the order of `_gather`."""
    # reads layout.nb, layout.nc, layout.nt, layout.nu, modes.acts, modes.direction, modes.weakening,
    #   own.rows, own.scaled, terms.mu
    # writes own.rows
    # hands on layout, own, terms
    nb, nu, nc, nt = layout.nb, layout.nu, layout.nc, layout.nt
    root, force, k = own.scaled[S], own.rows[FORCE], 0
    for i in range(nb + nu + nc):
        if i >= nb and modes.acts[i - nb] == SEPARATES:
            continue
        force[i] = root[i] * y[k]
        k += 1
        contact, t = i - nb - nu, nb + nu + nc + (i - nb - nu) * nt
        if contact < 0 or not can_stick(layout, terms, own, contact):
            continue
        if modes.acts[i - nb] == STICKS:
            for j in range(nt):
                force[t + j] = root[t + j] * y[k]
                k += 1
            continue
        for j in range(nt):
            force[t + j] = terms.mu[contact] * modes.direction[contact, j] * force[i]
        if nt == 2:
            weak = math.sqrt(modes.weakening[contact]) * root[t] * y[k]
            force[t] -= weak * modes.direction[contact, 1]
            force[t + 1] += weak * modes.direction[contact, 0]
            k += 1


@kernel
def _few(layout: Layout, own: Scratch, k: int) -> bool:
    """Both unknowns in one elimination, y first; False where they are too many, or no pivot is left.

    Rows that are softer than what they push are eliminated beforehand: they are their own pivots.
    """
    # reads layout.columns, layout.pattern, layout.start, layout.width, own.dense, own.home, own.measure,
    #   own.motion, own.pivots, own.push, own.right, own.rows
    # writes own.dense, own.motion, own.pivots, own.right, own.rows
    nv = len(layout.start)
    if k > FEW_ROWS:
        return False
    given, A, b, y, x, hard = own.dense[0], own.dense[1], own.right, own.rows[Y], own.motion[WHITE], 0
    for i in range(k):
        size, push = 1.0, 1.0
        for a in range(layout.width[layout.pattern[own.home[i]]]):
            size, push = max(size, abs(own.measure[i, a])), max(push, abs(own.push[i, a]))
        y[i] = size if max(size, push) > 1.0 else 0.0
        hard += int(y[i] > 0.0)
    m, at = hard + nv, 0
    for i in range(m):
        b[0, i] = 0.0
        for j in range(m):
            given[i, j] = 0.0
        given[i, i] = -1.0
    for i in range(k):
        p = layout.pattern[own.home[i]]
        width, right = layout.width[p], own.rows[RIGHT, i]
        if y[i] > 0.0:
            share = 1.0 / y[i]  # rows to unit size
            for a in range(width):
                column = hard + layout.columns[p, a]
                given[at, column], given[column, at] = share * own.measure[i, a], own.push[i, a]
            b[0, at], given[at, at] = share * right, share
            at += 1
            continue
        for a in range(width):
            row, push = hard + layout.columns[p, a], own.push[i, a]
            b[0, row] -= push * right
            if push != 0.0:
                for other in range(width):
                    given[row, hard + layout.columns[p, other]] -= push * own.measure[i, other]
    for i in range(hard, m):
        size = 0.0
        for j in range(m):
            size = max(size, abs(given[i, j]))
        share = 1.0 / size
        b[0, i] *= share
        for j in range(m):
            given[i, j] *= share
    for i in range(m):
        for j in range(m):
            A[i, j] = given[i, j]
    if not factorise(A, own.pivots, m):
        return False
    for i in range(m):
        b[1, i] = b[0, i]
    substitute(A, own.pivots, b[1], m)
    for i in range(m):  # one step of refinement makes the solution right row by row (Skeel 1980)
        total = b[0, i] - (given[i, i] * b[1, i] if i < hard else 0.0)
        for j in range(hard if i < hard else 0, m):
            total -= given[i, j] * b[1, j]
        b[2, i] = total
    substitute(A, own.pivots, b[2], m)
    for j in range(nv):
        x[j] = b[1, hard + j] + b[2, hard + j]
    at = 0
    for i in range(k):
        if y[i] > 0.0:
            y[i] = b[1, at] + b[2, at]
            at += 1
        else:
            y[i], p = own.rows[RIGHT, i], layout.pattern[own.home[i]]
            for a in range(layout.width[p]):
                y[i] -= own.measure[i, a] * x[layout.columns[p, a]]
    return True


@kernel
def _one_sided(layout: Layout, own: Scratch, modes: Modes) -> bool:
    """Solve without contacts: forces and wishes in ``(I + F^T F) x = F^T c``, refined; False as `_many`.

    The sums over rows stay from one set of rows to the next, which differ in few.
    """
    # reads layout.nb, layout.pattern, layout.start, modes.acts, own.dense, own.motion, own.pivots, own.right,
    #   own.rows, own.scaled, own.sums, own.weight, own.white
    # writes own.dense, own.motion, own.pivots, own.right, own.rows, own.sums, own.weight
    # hands on own
    nv, nb, n, scaled = len(layout.start), layout.nb, len(layout.pattern), own.scaled
    acting, changed = 0, 0
    for i in range(n):
        acts = int(i < nb or modes.acts[i - nb] != SEPARATES)
        acting, changed = acting + acts, changed + int(int(own.weight[i] > 0.0) != acts)
    if acting < MANY_ROWS * nv or (changed > n // 8 and not _alike(own)):
        return False
    ratio, x, A, side = own.rows[RIGHT], own.motion[WHITE], own.dense[0], own.right[0]
    anew = changed > n // 8
    for i in range(n):
        acts = i < nb or modes.acts[i - nb] != SEPARATES
        before, own.weight[i] = own.weight[i], scaled[X, i] if acts else 0.0
        if anew:
            ratio[i] = scaled[C, i] / scaled[S, i] if scaled[S, i] > 0.0 else 0.0
        elif own.weight[i] != before:
            for a in range(nv):
                push = (own.weight[i] - before) * own.white[i, a]
                own.sums[nv, a] += push * ratio[i]
                for b in range(nv):
                    own.sums[a, b] += push * own.white[i, b]
    if anew:
        _sum_up(own.white, own.weight, ratio, own.sums)
    for i in range(nv):
        side[i] = own.sums[nv, i]
        for j in range(nv):
            A[i, j] = own.sums[i, j] + (1.0 if i == j else 0.0)
        x[i] = 0.0
    if not factorise(A, own.pivots, nv):
        return False
    for turn in range(2):
        substitute(A, own.pivots, side, nv)
        for j in range(nv):
            x[j] += side[j]
        _pull(own.white, scaled[X], own.weight, ratio, x, turn == 1, own.rows[FORCE], own.rows[WISH], side)
        for j in range(nv):
            side[j] -= x[j]
    return True


@kernel
def _alike(own: Scratch) -> bool:
    """Whether sums over rows keep enough digits: all are of like size, and together not too stiff."""
    # reads scaled, weight
    total, least, most = 0.0, math.inf, 0.0
    for i in range(len(own.weight)):
        square = own.scaled[X, i] * own.scaled[DIAGONAL, i]
        total, least, most = total + square, min(least, square), max(most, square)
    return total < GRAM_STIFFNESS and least > LIKE_SIZES * most


@distinct
def _sum_up(white: Array, weight: Array, ratio: Array, sums: Array) -> None:
    """Sums of ``weight w w^T`` and, in the last row, ``weight ratio w`` over rows w, four at a time."""
    n, width = white.shape
    for a in range(width + 1):
        for b in range(width):
            sums[a, b] = 0.0
    for begin in range(0, n, 4):
        i, j, k, m = begin, min(begin + 1, n - 1), min(begin + 2, n - 1), min(begin + 3, n - 1)
        left = n - begin
        one, two = weight[i], weight[j] if left > 1 else 0.0
        three, four = weight[k] if left > 2 else 0.0, weight[m] if left > 3 else 0.0
        for a in range(width):
            p, q, r, s = one * white[i, a], two * white[j, a], three * white[k, a], four * white[m, a]
            sums[width, a] += (p * ratio[i] + q * ratio[j]) + (r * ratio[k] + s * ratio[m])
            for b in range(width):
                sums[a, b] += (p * white[i, b] + q * white[j, b]) + (r * white[k, b] + s * white[m, b])


@distinct
def _pull(
    white: Array,
    X: Array,
    weight: Array,
    ratio: Array,
    x: Array,
    keep: bool,
    force: Array,
    wish: Array,
    sums: Array,
) -> None:
    """The sum of what the rows that act push; to ``keep``: their forces, and the wishes of all."""
    n, width = white.shape
    for a in range(width):
        sums[a] = 0.0
    for begin in range(0, n, 4):  # four at a time, the last again where there are fewer
        i, j, k, m = begin, min(begin + 1, n - 1), min(begin + 2, n - 1), min(begin + 3, n - 1)
        p, q, r, s = ratio[i], ratio[j], ratio[k], ratio[m]
        for a in range(width):
            p -= white[i, a] * x[a]
            q -= white[j, a] * x[a]
            r -= white[k, a] * x[a]
            s -= white[m, a] * x[a]
        if keep:
            wish[i], wish[j], wish[k], wish[m] = X[i] * p, X[j] * q, X[k] * r, X[m] * s
        p, q, r, s = weight[i] * p, weight[j] * q, weight[k] * r, weight[m] * s
        if keep:
            force[i], force[j], force[k], force[m] = p, q, r, s
        left = n - begin
        q, r, s = q if left > 1 else 0.0, r if left > 2 else 0.0, s if left > 3 else 0.0
        for a in range(width):
            sums[a] += (white[i, a] * p + white[j, a] * q) + (white[k, a] * r + white[m, a] * s)


@distinct
def _products(
    measure: Array, push: Array, right: Array, begin: int, end: int, out: Array, side: Array
) -> tuple[float, float, float]:
    """``F^T N`` (w, w), ``F^T c`` (w,) of some rows; sum, smallest and largest of the squares of N's rows."""
    width = len(side)
    for a in range(width):
        side[a] = 0.0
        for b in range(width):
            out[a, b] = 0.0
    total, least, most = 0.0, math.inf, 0.0
    whole = begin + (end - begin) // 4 * 4
    for i in range(begin, whole, 4):  # four at a time: sums are written a quarter as often
        one, two, three, four = 0.0, 0.0, 0.0, 0.0
        for a in range(width):
            p, q, r, s = push[i, a], push[i + 1, a], push[i + 2, a], push[i + 3, a]
            side[a] += (p * right[i] + q * right[i + 1]) + (r * right[i + 2] + s * right[i + 3])
            one, two = one + measure[i, a] ** 2, two + measure[i + 1, a] ** 2
            three, four = three + measure[i + 2, a] ** 2, four + measure[i + 3, a] ** 2
            for b in range(width):
                few, more = (
                    p * measure[i, b] + q * measure[i + 1, b],
                    r * measure[i + 2, b] + s * measure[i + 3, b],
                )
                out[a, b] += few + more
        total += (one + two) + (three + four)
        least, most = min(least, one, two, three, four), max(most, one, two, three, four)
    for i in range(whole, end):
        square = 0.0
        for a in range(width):
            square += measure[i, a] ** 2
            side[a] += push[i, a] * right[i]
            for b in range(width):
                out[a, b] += push[i, a] * measure[i, b]
        total, least, most = total + square, min(least, square), max(most, square)
    return total, least, most


@kernel
def _many(layout: Layout, own: Scratch, k: int, frictionless: bool) -> bool:
    """``(I + F^T N) x = F^T c``, then ``y = c - N x``, refined; False where that would lose digits.

    Without friction it must keep digits, as rows of like size do that are many on few velocities.
    """
    # reads layout.columns, layout.pattern, layout.start, layout.width, own.dense, own.home, own.measure,
    #   own.motion, own.pivots, own.push, own.right, own.rows
    # writes own.dense, own.motion, own.pivots, own.right
    # hands on layout, own
    nv, A, x, side = len(layout.start), own.dense[0], own.motion[WHITE], own.right[0]
    for i in range(nv):
        side[i] = 0.0
        for j in range(nv):
            A[i, j] = 0.0
    total, least, most, begin = 0.0, math.inf, 0.0, 0
    while begin < k:  # rows on the same velocities are summed up first
        p, end = layout.pattern[own.home[begin]], _run(layout, own, begin, k)
        width = layout.width[p]
        gram, sums = own.dense[1], own.right[1, :width]
        found = _products(own.measure, own.push, own.rows[RIGHT], begin, end, gram, sums)
        total, least, most = total + found[0], min(least, found[1]), max(most, found[2])
        for a in range(width):
            side[layout.columns[p, a]] += sums[a]
            for b in range(width):
                A[layout.columns[p, a], layout.columns[p, b]] += own.dense[1, a, b]
        begin = end
    if frictionless and not (total < GRAM_STIFFNESS and least > LIKE_SIZES * most):
        return False
    for j in range(nv):
        A[j, j] += 1.0
    if not factorise(A, own.pivots, nv):
        return False
    substitute(A, own.pivots, side, nv)
    for j in range(nv):
        x[j] = side[j]
    _leave(layout, own, k)
    for j in range(nv):
        side[j] -= x[j]
    substitute(A, own.pivots, side, nv)
    for j in range(nv):
        x[j] += side[j]
    _leave(layout, own, k)
    return True


@kernel
def _run(layout: Layout, own: Scratch, begin: int, k: int) -> int:
    """The end of the acting rows that are on the same velocities as ``begin``."""
    # reads layout.pattern, own.home
    p, end = layout.pattern[own.home[begin]], begin + 1
    while end < k and layout.pattern[own.home[end]] == p:
        end += 1
    return end


@kernel
def _leave(layout: Layout, own: Scratch, k: int) -> None:
    """``y = c - N x`` and, in `right`, ``F^T y``; rows on the same velocities at a time."""
    # reads layout.columns, layout.pattern, layout.start, layout.width, own.home, own.measure, own.motion,
    #   own.push, own.right, own.rows
    # writes own.right, own.rows
    # hands on layout, own
    side, local, sums, begin = own.right[0], own.right[2], own.right[1], 0
    for j in range(len(layout.start)):
        side[j] = 0.0
    while begin < k:
        p, end = layout.pattern[own.home[begin]], _run(layout, own, begin, k)
        for a in range(layout.width[p]):
            local[a], sums[a] = own.motion[WHITE, layout.columns[p, a]], 0.0
        x = local[: layout.width[p]]
        _subtract(own.measure, own.push, own.rows[RIGHT], begin, end, x, own.rows[Y], sums)
        for a in range(layout.width[p]):
            side[layout.columns[p, a]] += sums[a]
        begin = end


@distinct
def _subtract(
    measure: Array, push: Array, right: Array, begin: int, end: int, x: Array, out: Array, sums: Array
) -> None:
    """``y = c - N x`` of some rows, and their ``F^T y``, on as many velocities as x has; four at a time."""
    whole = begin + (end - begin) // 4 * 4
    for i in range(begin, whole, 4):
        p, q, r, s = right[i], right[i + 1], right[i + 2], right[i + 3]
        for a in range(len(x)):
            p -= measure[i, a] * x[a]
            q -= measure[i + 1, a] * x[a]
            r -= measure[i + 2, a] * x[a]
            s -= measure[i + 3, a] * x[a]
        out[i], out[i + 1], out[i + 2], out[i + 3] = p, q, r, s
        for a in range(len(x)):
            two, more = push[i, a] * p + push[i + 1, a] * q, push[i + 2, a] * r + push[i + 3, a] * s
            sums[a] += two + more
    for i in range(whole, end):
        total = right[i]
        for a in range(len(x)):
            total -= measure[i, a] * x[a]
        out[i] = total
        for a in range(len(x)):
            sums[a] += push[i, a] * total
