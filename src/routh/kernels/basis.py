"""The linear algebra of one complementary basis of the impact step HP23 (75), with beta and gamma gone.

A contact's state is a row of ``state`` (nc, 4): the normal impulse is OPEN (zero), FREE or UPPER (at
``lambda_max``); two friction directions a and b (-1: none) may push; SLIDING says that friction is at its
bound. Unknowns: the normal impulse where FREE, the sizes ``s_a`` and ``s_b`` of friction where not bound, and
``s_b`` where it is (then ``s_a`` is what the bound leaves). Each unknown brings one equation: its row of
``W z + w + t d = 0``. With the artificial variable t the solutions of the equations form a line.

All quantities are in the problem's own units; ``cover`` (nc, 2) holds Lemke's all-ones covering vector of SI
units in these: for velocity rows, then for impulse rows.
"""

from __future__ import annotations

from typing import Any

from routh.kernels.compiling import kernel

OPEN, FREE, UPPER = 0, 1, 2
NORMAL, A, B, SLIDING = 0, 1, 2, 3  # columns of the state
SINGULAR = 1e-14  # of the largest pivot so far: a smaller one is rounding


@kernel
def refresh_columns(
    shape: Any, G: Any, dirs: Any, mu: Any, cover: Any, state: Any, i: int, DU: Any, DT: Any
) -> None:
    """Velocity changes per unit of contact i's unknowns, ``DU[3 i + (0: normal, 1: a, 2: b)]``, and of t."""
    nt = shape[1]
    n = shape[0] * (1 + nt)
    first = i * (1 + nt)
    a, b, sliding = state[i, A], state[i, B], state[i, SLIDING]
    per_t = cover[i, 1] if state[i, NORMAL] == UPPER else 0.0  # d lambda_n / dt
    friction_per_t = mu[i] * per_t + cover[i, 1] if sliding else 0.0  # d s_a / dt
    along_a = 0.0
    for row in range(n):
        normal = G[row, first]
        if a >= 0:
            along_a = 0.0
            for d in range(nt):
                along_a += G[row, first + 1 + d] * dirs[a, d]
            DU[3 * i + 1, row] = along_a
        if b >= 0:
            along_b = 0.0
            for d in range(nt):
                along_b += G[row, first + 1 + d] * dirs[b, d]
            DU[3 * i + 2, row] = along_b - along_a if sliding else along_b
        DU[3 * i, row] = normal + mu[i] * along_a if sliding else normal
        DT[i, row] = normal * per_t + along_a * friction_per_t


@kernel
def list_unknowns(shape: Any, state: Any, unknown: Any) -> int:
    """Fill ``unknown`` with the codes ``3 i + kind`` of this basis; their number."""
    m = 0
    for i in range(shape[0]):
        if state[i, NORMAL] == FREE:
            unknown[m] = 3 * i
            m += 1
        if state[i, A] >= 0 and not state[i, SLIDING]:
            unknown[m] = 3 * i + 1
            m += 1
        if state[i, B] >= 0:
            unknown[m] = 3 * i + 2
            m += 1
    return m


@kernel
def equation(shape: Any, dirs: Any, state: Any, code: int, u: Any) -> float:
    """The equation of an unknown, applied to contact velocities u (n,)."""
    nt = shape[1]
    i = code // 3
    kind = code - 3 * i
    first = i * (1 + nt)
    if kind == 0:
        return u[first]
    value = 0.0
    if kind == 1:
        for d in range(nt):
            value += dirs[state[i, A], d] * u[first + 1 + d]
    elif state[i, SLIDING]:
        for d in range(nt):
            value += (dirs[state[i, B], d] - dirs[state[i, A], d]) * u[first + 1 + d]
    else:
        for d in range(nt):
            value += dirs[state[i, B], d] * u[first + 1 + d]
    return value


@kernel
def has_cover(state: Any, code: int) -> bool:
    """Whether the artificial variable stands in an unknown's equation (it cancels between two directions)."""
    return code % 3 < 2 or not state[code // 3, SLIDING]


@kernel
def assemble(
    shape: Any, dirs: Any, cover: Any, state: Any, unknown: Any, m: int, DU: Any, DT: Any, DUt: Any, mat: Any
) -> None:
    """The equations' matrix: columns the m unknowns, then t. Also ``DUt`` (n,), velocity change per t."""
    nc = shape[0]
    for row in range(nc * (1 + shape[1])):
        total = 0.0
        for i in range(nc):
            total += DT[i, row]
        DUt[row] = total
    for r in range(m):
        code = unknown[r]
        for j in range(m):
            mat[r, j] = equation(shape, dirs, state, code, DU[unknown[j]])
        mat[r, m] = equation(shape, dirs, state, code, DUt)
        if has_cover(state, code):
            mat[r, m] += cover[code // 3, 0]


@kernel
def eliminate(mat: Any, m: int, columns: int, order: Any) -> bool:
    """LU factors of the first m rows in place, choosing the largest of ``columns`` columns for each row.

    ``order`` tells which unknown stands in which column afterwards. False where a row has no pivot.
    """
    for j in range(columns):
        order[j] = j
    largest = 0.0
    for r in range(m):
        best, at = 0.0, r
        for j in range(r, columns):
            size = abs(mat[r, j])
            if size > best:
                best, at = size, j
        if not best > SINGULAR * largest:
            return False
        largest = max(largest, best)
        if at != r:
            for q in range(m):
                mat[q, r], mat[q, at] = mat[q, at], mat[q, r]
            order[r], order[at] = order[at], order[r]
        inverse = 1.0 / mat[r, r]
        for q in range(r + 1, m):
            factor = mat[q, r] * inverse
            mat[q, r] = factor
            if factor != 0.0:
                for j in range(r + 1, columns):
                    mat[q, j] -= factor * mat[r, j]
    return True


@kernel
def tangent(mat: Any, m: int, order: Any, z: Any) -> None:
    """The direction of the line of solutions, z (m + 1), from the factors of `eliminate`; any sign."""
    z[order[m]] = 1.0
    for r in range(m - 1, -1, -1):
        value = mat[r, m]
        for j in range(r + 1, m):
            value += mat[r, j] * z[order[j]]
        z[order[r]] = -value / mat[r, r]


@kernel
def particular(mat: Any, m: int, order: Any, columns: int, right: Any, z: Any) -> None:
    """A solution z of ``mat z = right`` from the factors, zero in the columns left over; uses up right."""
    for r in range(m):
        for q in range(r + 1, m):
            right[q] -= mat[q, r] * right[r]
    for j in range(m, columns):
        z[order[j]] = 0.0
    for r in range(m - 1, -1, -1):
        value = right[r]
        for j in range(r + 1, m):
            value -= mat[r, j] * z[order[j]]
        z[order[r]] = value / mat[r, r]


@kernel
def expand(
    shape: Any, dirs: Any, mu: Any, cover: Any, state: Any, unknown: Any, m: int, z: Any, t: float, dp: Any
) -> None:
    """Impulse changes ``dp`` (nc, 3) = (lambda_n, s_a, s_b) from the unknowns' and t's."""
    for i in range(shape[0]):
        dp[i, 0] = cover[i, 1] * t if state[i, NORMAL] == UPPER else 0.0
        dp[i, 1] = 0.0
        dp[i, 2] = 0.0
    for j in range(m):
        i = unknown[j] // 3
        dp[i, unknown[j] - 3 * i] = z[j]
    for i in range(shape[0]):
        if state[i, SLIDING]:
            dp[i, 1] = mu[i] * dp[i, 0] + cover[i, 1] * t - dp[i, 2]


@kernel
def contact_impulse(shape: Any, dirs: Any, state: Any, s: Any, p: Any) -> None:
    """Impulses p (n,), normal first, from ``s`` (nc, 3) = (lambda_n, s_a, s_b)."""
    nt = shape[1]
    for i in range(shape[0]):
        first = i * (1 + nt)
        p[first] = s[i, 0]
        for d in range(nt):
            value = 0.0
            if state[i, A] >= 0:
                value += s[i, 1] * dirs[state[i, A], d]
            if state[i, B] >= 0:
                value += s[i, 2] * dirs[state[i, B], d]
            p[first + 1 + d] = value
