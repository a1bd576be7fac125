"""Where Lemke's path has ended, the impulses follow from the state alone: one linear map of the inputs.

So a step's result does not depend on the way to it: whether its vertices were known, in which order they
were met, or what else was sampled. For each contact the map gives the normal impulse and the sizes of
friction along the directions that push (see `routh.kernels.dictionary` for the state).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from routh.compiling import finite, inlined, kernel
from routh.kernels.dictionary import FREE, NORMAL, SLIDING, UPPER, A, B

if TYPE_CHECKING:
    from routh.kernels.step_arrays import Pivoting, Sizes, Step
    from routh.validation import Array

BEYOND = 1e300  # times its bound: the size of friction that slides, so that what is left for it decides


@kernel
def find_operator(step: Step, work: Pivoting) -> None:
    """``work.operator`` (n + nc, n) of ``work.state``: sizes of impulses from velocities and lambda_max.

    One equation a size: it is zero, at its bound, or what it moves stands still.
    """
    nc, nt = len(step.mu), step.directions.shape[1]
    n = nc * (1 + nt)
    matrix, state = work.matrix, work.state
    for row in range(n):
        for column in range(2 * n + nc):
            matrix[row, column] = 0.0
    for i in range(nc):
        own = i * (1 + nt)
        if state[i, NORMAL] == FREE:
            _velocity_row(step, work, own, own, -1, 1.0)
        else:
            matrix[own, own] = 1.0
            if state[i, NORMAL] == UPPER:
                matrix[own, 2 * n + i] = 1.0
        for part in range(nt):
            row, pushing = own + 1 + part, state[i, A + part]
            if pushing < 0:
                matrix[row, row] = 1.0
            elif not state[i, SLIDING]:
                _velocity_row(step, work, row, own, pushing, 1.0)
            elif part == 0:  # s_a + s_b = mu lambda_n
                matrix[row, row], matrix[row, own] = 1.0, -step.mu[i]
                if nt == 2:
                    matrix[row, row + 1] = 1.0
            else:  # both slip alike
                _velocity_row(step, work, row, own, pushing, 1.0)
                _velocity_row(step, work, row, own, state[i, A], -1.0)
    _eliminate(n, nc, matrix, work.operator)
    for i in range(nc):
        own = i * (1 + nt)
        if state[i, NORMAL] != FREE:
            _make_exact(work, own, n + i, 1.0 if state[i, NORMAL] == UPPER else 0.0)
        for part in range(nt):
            if state[i, A + part] < 0:
                _make_exact(work, own + 1 + part, n + i, 0.0)
        if state[i, SLIDING]:
            _make_exact(work, own + 1, n + i, BEYOND)


@kernel
def _make_exact(work: Pivoting, row: int, bound: int, factor: float) -> None:
    """A size that is a factor times a bound, and nothing else."""
    for column in range(work.operator.shape[0]):
        work.operator[column, row] = factor if column == bound else 0.0


@kernel
def _velocity_row(step: Step, work: Pivoting, row: int, own: int, direction: int, sign: float) -> None:
    """Add to an equation: the normal velocity (direction -1) or the slip of a contact is zero."""
    nc, nt = len(step.mu), step.directions.shape[1]
    n = nc * (1 + nt)
    for d in range(1 + nt):
        if (d == 0) != (direction < 0):
            continue
        factor = sign if d == 0 else sign * step.directions[direction, d - 1]
        work.matrix[row, n + own + d] -= factor
        for j in range(nc):
            other = j * (1 + nt)
            work.matrix[row, other] += factor * step.G[own + d, other]
            for part in range(nt):
                pushing = work.state[j, A + part]
                if pushing >= 0:
                    value = step.G[own + d, other + 1] * step.directions[pushing, 0]
                    if nt == 2:
                        value += step.G[own + d, other + 2] * step.directions[pushing, 1]
                    work.matrix[row, other + 1 + part] += factor * value


@kernel
def _eliminate(n: int, nc: int, matrix: Array, operator: Array) -> None:
    """Gauss with row pivoting; a singular system gives numbers that are not finite."""
    width = 2 * n + nc
    for c in range(n):
        best = c
        for row in range(c + 1, n):
            if abs(matrix[row, c]) > abs(matrix[best, c]):
                best = row
        if best != c:
            for column in range(c, width):
                matrix[c, column], matrix[best, column] = matrix[best, column], matrix[c, column]
        inverse = 1.0 / matrix[c, c] if matrix[c, c] != 0.0 else 1e300
        for row in range(c + 1, n):
            factor = matrix[row, c] * inverse
            if factor != 0.0:
                for column in range(c + 1, width):
                    matrix[row, column] -= factor * matrix[c, column]
    for c in range(n + nc):
        for row in range(n - 1, -1, -1):
            value = matrix[row, n + c]
            for column in range(row + 1, n):
                value -= matrix[row, column] * operator[c, column]
            operator[c, row] = value / matrix[row, row] if matrix[row, row] != 0.0 else 1e300


@inlined
def apply_operator(
    sizes: Sizes,
    step: Step,
    state: Array,
    operator: Array,
    inputs: Array,
    sized: Array,
    p: Array,
) -> None:
    """Impulses p (n,) of a solution; ``sized`` (n,) is scratch. Those at a bound are exactly on it."""
    nc, nt, _ = sizes
    n = nc * (1 + nt)
    for half in range(n // 2):  # two rows at a time fit into one instruction
        row = 2 * half
        first, second = operator[0, row] * inputs[0], operator[0, row + 1] * inputs[0]
        for column in range(1, n + nc):
            value = inputs[column]
            first, second = first + operator[column, row] * value, second + operator[column, row + 1] * value
        sized[row], sized[row + 1] = first, second
    if n % 2 == 1:
        value = 0.0
        for column in range(n + nc):
            value += operator[column, n - 1] * inputs[column]
        sized[n - 1] = value
    read_sizes(sizes, step, state, inputs, sized, p)


@finite
def read_sizes(sizes: Sizes, step: Step, state: Array, inputs: Array, sized: Array, p: Array) -> None:
    """Impulses from their sizes, none beyond its bounds."""
    nc, nt, _ = sizes
    n = nc * (1 + nt)
    for i in range(nc):
        own = i * (1 + nt)
        bound = inputs[n + i]
        normal = min(max(0.0, sized[own]), bound)
        p[own] = normal
        largest, second, b = step.mu[i] * normal, 0.0, max(state[i, B], 0)
        if nt == 2:
            second = min(max(0.0, sized[own + 2]), largest)
            largest = largest - second
        a = max(state[i, A], 0)
        first = min(max(0.0, sized[own + 1]), largest)
        p[own + 1] = first * step.directions[a, 0]
        if nt == 2:
            p[own + 1] += second * step.directions[b, 0]
            p[own + 2] = first * step.directions[a, 1] + second * step.directions[b, 1]
