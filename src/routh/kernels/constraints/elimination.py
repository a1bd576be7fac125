"""Many bodies: the linear system of the rows that act by sparse elimination with row pivoting.

Gilbert and Peierls' method (1988): each column of the matrix is a sparse triangular solve with the columns of
``L`` before it, whose pattern is found by a search through them first, so that time is that of the products
which are not zero. Columns come in the order of `Layout.order`, which keeps the factors sparse.
"""

from __future__ import annotations

from routh.base.validation import Array
from routh.compiling import kernel
from routh.kernels.constraints.data import RIGHT, WHITE, Factors, Layout, Scratch, Y

MATRIX, LOWER, UPPER = range(3)  # rows of `Factors.start`, `row` and `value`
#: rows of `Factors.integers`: unknowns in order, place of a row as pivot, rows that a search finds, where the
#: search stands, its stack, the column that found a row last, row and column of a slot
ORDER, PIVOT, FOUND, STACK, AT, SEEN, OWNER = range(7)
SIZE, WORK, SIDE, ANSWER, TOTAL = range(5)  # rows of `Factors.numbers`
NOWHERE = -1


@kernel
def eliminate(layout: Layout, own: Scratch, k: int) -> bool:
    """Scaled forces y (k,) and the acceleration x (nv,); False where there is no room or no solution."""
    # reads layout.start, own.factors.numbers, own.factors.row, own.factors.start, own.factors.value, own.rows
    # writes own.factors.numbers, own.motion, own.rows
    # hands on layout, own, own.factors
    nv, factors = len(layout.start), own.factors
    m, numbers = k + nv, factors.numbers
    if not _assemble(layout, own, k) or not _factor(factors, m):
        return False
    side, answer = numbers[SIDE], numbers[ANSWER]
    for i in range(m):
        side[i], numbers[TOTAL, i] = (own.rows[RIGHT, i] if i < k else 0.0) / numbers[SIZE, i], 0.0
    for turn in range(2):  # the second is a step of refinement (Skeel 1980)
        if turn == 1:
            for i in range(m):
                side[i] = (own.rows[RIGHT, i] if i < k else 0.0) / numbers[SIZE, i]
            for u in range(m):
                for e in range(factors.start[MATRIX, u], factors.start[MATRIX, u + 1]):
                    side[factors.row[MATRIX, e]] -= factors.value[MATRIX, e] * answer[u]
        _back(factors, side, answer, m)
        for u in range(m):
            numbers[TOTAL, u] += answer[u]
    for u in range(m):
        if u < k:
            own.rows[Y, u] = numbers[TOTAL, u]
        else:
            own.motion[WHITE, u - k] = numbers[TOTAL, u]
    return True


@kernel
def _assemble(layout: Layout, own: Scratch, k: int) -> bool:
    """The matrix of ``y + N x = c``, ``x - F^T y = 0`` by columns, rows brought to unit size.

    Zeros are left out: what nothing couples stays exactly apart.
    """
    # reads layout.columns, layout.order, layout.pattern, layout.start, layout.width, own.factors.integers,
    #   own.factors.numbers, own.factors.row, own.factors.start, own.home, own.measure, own.push
    # writes own.factors.integers, own.factors.numbers, own.factors.row, own.factors.start, own.factors.value
    nv, factors = len(layout.start), own.factors
    n, m = len(layout.pattern), k + nv
    start, index, value = factors.start[MATRIX], factors.row[MATRIX], factors.value[MATRIX]
    size, where, integers = factors.numbers[SIZE], factors.integers[AT], factors.integers
    for i in range(m):
        size[i], where[i] = 1.0, 1
    entries = m
    for i in range(k):
        p = layout.pattern[own.home[i]]
        for a in range(layout.width[p]):
            j = k + layout.columns[p, a]
            if own.measure[i, a] != 0.0:
                size[i] = max(size[i], abs(own.measure[i, a]))
                where[j] += 1
                entries += 1
            if own.push[i, a] != 0.0:
                size[j] = max(size[j], abs(own.push[i, a]))
                where[i] += 1
                entries += 1
    if entries > len(index):
        return False
    start[0] = 0
    for u in range(m):
        start[u + 1] = start[u] + where[u]
        where[u] = start[u] + 1
        index[start[u]], value[start[u]] = u, 1.0 / size[u]
    for i in range(k):
        p = layout.pattern[own.home[i]]
        for a in range(layout.width[p]):
            j = k + layout.columns[p, a]
            if own.measure[i, a] != 0.0:
                index[where[j]], value[where[j]] = i, own.measure[i, a] / size[i]
                where[j] += 1
            if own.push[i, a] != 0.0:
                index[where[i]], value[where[i]] = j, -own.push[i, a] / size[j]
                where[i] += 1
    for slot in range(n + nv):
        integers[OWNER, slot] = slot - n + k if slot >= n else NOWHERE
    for i in range(k):
        integers[OWNER, own.home[i]] = i
    u = 0
    for place in range(n + nv):
        unknown = integers[OWNER, layout.order[place]]
        if unknown >= 0:
            integers[ORDER, u] = unknown
            u += 1
    return True


@kernel
def _factor(factors: Factors, m: int) -> bool:
    """L and U of the matrix of m unknowns; False where there is no room or a pivot is zero or no number."""
    # reads integers, numbers, row, start, value
    # writes integers, numbers, row, start, value
    # hands on factors
    start, index, value, integers = factors.start, factors.row, factors.value, factors.integers
    x, room = factors.numbers[WORK], len(factors.row[0])
    for i in range(m):
        integers[PIVOT, i], integers[SEEN, i], x[i] = NOWHERE, NOWHERE, 0.0
    lower, upper = 0, 0
    start[LOWER, 0], start[UPPER, 0] = 0, 0
    for step in range(m):
        column = integers[ORDER, step]
        top = m
        for e in range(start[MATRIX, column], start[MATRIX, column + 1]):
            if integers[SEEN, index[MATRIX, e]] != step:
                top = _search(factors, index[MATRIX, e], step, top)
            x[index[MATRIX, e]] = value[MATRIX, e]
        if lower + m - top > room or upper + m - top > room:
            return False
        for place in range(top, m):
            row = integers[FOUND, place]
            before, share = integers[PIVOT, row], x[row]
            if before >= 0 and share != 0.0:
                for e in range(start[LOWER, before], start[LOWER, before + 1]):
                    x[index[LOWER, e]] -= value[LOWER, e] * share
        pivot, largest = NOWHERE, 0.0
        for place in range(top, m):
            row = integers[FOUND, place]
            if integers[PIVOT, row] < 0 and abs(x[row]) > largest:
                largest, pivot = abs(x[row]), row
        if pivot < 0:
            return False
        divide = 1.0 / x[pivot]
        for place in range(top, m):
            row = integers[FOUND, place]
            if integers[PIVOT, row] >= 0:
                if x[row] != 0.0:
                    index[UPPER, upper], value[UPPER, upper] = integers[PIVOT, row], x[row]
                    upper += 1
            elif row != pivot and x[row] != 0.0:
                index[LOWER, lower], value[LOWER, lower] = row, x[row] * divide
                lower += 1
        index[UPPER, upper], value[UPPER, upper] = step, x[pivot]
        upper += 1
        integers[PIVOT, pivot] = step
        for place in range(top, m):
            x[integers[FOUND, place]] = 0.0
        start[LOWER, step + 1], start[UPPER, step + 1] = lower, upper
    return True


@kernel
def _search(factors: Factors, row: int, step: int, top: int) -> int:
    """All rows that a row changes through the columns of L, put before those at ``top`` in `FOUND`.

    A row stands before those that it changes.
    """
    # reads integers, row, start; writes integers
    start, index, integers = factors.start, factors.row, factors.integers
    head = 0
    integers[STACK, 0] = row
    while head >= 0:
        now = integers[STACK, head]
        before = integers[PIVOT, now]
        if integers[SEEN, now] != step:
            integers[SEEN, now] = step
            integers[AT, head] = 0 if before < 0 else start[LOWER, before]
        done = True
        if before >= 0:
            for e in range(integers[AT, head], start[LOWER, before + 1]):
                other = index[LOWER, e]
                if integers[SEEN, other] != step:
                    integers[AT, head] = e + 1
                    head += 1
                    integers[STACK, head] = other
                    done = False
                    break
        if done:
            head -= 1
            top -= 1
            integers[FOUND, top] = now
    return top


@kernel
def _back(factors: Factors, b: Array, x: Array, m: int) -> None:
    """The solution x (m,) for a right side b (m,), which is used up."""
    # reads integers, numbers, row, start, value; writes integers, numbers
    start, index, value, integers = factors.start, factors.row, factors.value, factors.integers
    rows, work = integers[STACK], factors.numbers[WORK]
    for i in range(m):
        rows[integers[PIVOT, i]] = i
    for step in range(m):
        share = b[rows[step]]
        work[step] = share
        if share != 0.0:
            for e in range(start[LOWER, step], start[LOWER, step + 1]):
                b[index[LOWER, e]] -= value[LOWER, e] * share
    for step in range(m - 1, -1, -1):
        last = start[UPPER, step + 1] - 1
        share = work[step] / value[UPPER, last]
        x[integers[ORDER, step]] = share
        if share != 0.0:
            for e in range(start[UPPER, step], last):
                work[index[UPPER, e]] -= value[UPPER, e] * share
