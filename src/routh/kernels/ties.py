"""Lexicographic ties: which of several quantities that reach zero together would do so first if the right
side of HP23 (75) were perturbed by (eps, eps^2, ...) in the order [beta; lambda_n; lambda_D; gamma]."""

from __future__ import annotations

from typing import Any

from routh.kernels.basis import FREE, NORMAL, OPEN, SLIDING, UPPER, A, B, expand, particular
from routh.kernels.compiling import kernel
from routh.kernels.quantities import BETA, GAMMA, LD, SB, SD, SG, SN, rate

DIFFERENT = 1e-11  # of the larger: closer ones are equal up to rounding


@kernel
def break_ties(
    shape: Any, data: Any, state: Any, unknown: Any, m: int, mat: Any, order: Any, z: Any, speed: float,
    entering: int, at: int, entering_dir: int, DU: Any, DUt: Any, found: Any, which: Any, ties: int,
    z2: Any, ds2: Any, du2: Any, right: Any,
) -> int:  # fmt: skip
    """The index of the winner among the first ``ties`` rows of ``which``; found[:, 1] holds their rates."""
    G, dirs, mu, cover = data
    nc, k = shape[0], dirs.shape[0]
    remaining = ties
    for q in range(ties):
        which[q, 3] = q
    for row in range(nc * (3 + k)):
        family, i, direction = _row(nc, k, row)
        if not _matters(state, family, i):
            continue
        _perturbed(
            shape, data, state, unknown, m, mat, order, z, speed, entering, at, entering_dir, DU, DUt,
            family, i, direction, z2, ds2, du2, right,
        )  # fmt: skip
        best = 1e300
        for q in range(remaining):
            j = which[q, 3]
            kind, contact, d = which[j, 0], which[j, 1], which[j, 2]
            change = rate(shape, dirs, mu, cover, state, kind, contact, d, ds2, du2, z2[m])
            change += _direct(state, kind, contact, d, family, i, direction)
            found[j, 0] = change / -found[j, 1]
            best = min(best, found[j, 0])
        kept = 0
        for q in range(remaining):
            j = which[q, 3]
            if found[j, 0] - best <= DIFFERENT * (abs(best) + abs(found[j, 0])):
                which[kept, 3] = j
                kept += 1
        remaining = kept
        if remaining == 1:
            break
    return which[0, 3]


@kernel
def _row(nc: int, k: int, row: int) -> tuple[int, int, int]:
    """A row of the LCP as (quantity whose right side it is, contact, direction)."""
    if row < nc:
        return SB, row, 0
    if row < 2 * nc:
        return SN, row - nc, 0
    if row < (2 + k) * nc:
        place = row - 2 * nc
        return SD, place // k, place - (place // k) * k
    return SG, row - (2 + k) * nc, 0


@kernel
def _matters(state: Any, family: int, i: int) -> bool:
    """An open contact's bound on lambda_n appears nowhere; nor does friction's where nothing pushes."""
    if family == SB:
        return state[i, NORMAL] != OPEN
    return family != SG or state[i, A] >= 0


@kernel
def _direct(state: Any, kind: int, contact: int, d: int, family: int, i: int, direction: int) -> float:
    """How a perturbed right side enters a quantity other than through the unknowns."""
    if contact != i or kind == LD:
        return 0.0
    if family in (SB, SN):
        if kind == family:
            return 1.0
        return -1.0 if family == SN and kind == BETA else 0.0
    if family == SG:
        return 1.0 if kind == SG else 0.0
    if kind == GAMMA:
        return -1.0 if direction == state[i, A] else 0.0
    if kind == SD:
        if direction == d:
            return 1.0
        return -1.0 if state[i, SLIDING] and direction == state[i, A] else 0.0
    return 0.0


@kernel
def _perturbed(
    shape: Any, data: Any, state: Any, unknown: Any, m: int, mat: Any, order: Any, z: Any, speed: float,
    entering: int, at: int, entering_dir: int, DU: Any, DUt: Any, family: int, i: int, direction: int,
    z2: Any, ds2: Any, du2: Any, right: Any,
) -> None:  # fmt: skip
    """Changes of the vertex (the entering quantity held at zero) per unit of one right side."""
    G, dirs, mu, cover = data
    nc, nt = shape[0], shape[1]
    n = nc * (1 + nt)
    first = i * (1 + nt)
    # impulses that the perturbation changes directly: a bound that is reached
    normal = 1.0 if family == SB and state[i, NORMAL] == UPPER else 0.0
    friction = mu[i] * normal if state[i, SLIDING] else 0.0
    if family == SG and state[i, SLIDING]:
        friction = 1.0
    for row in range(n):
        value = G[row, first] * normal
        for d in range(nt):
            if friction != 0.0:
                value += G[row, first + 1 + d] * dirs[state[i, A], d] * friction
        du2[row] = value
    for r in range(m):
        right[r] = -_row_change(shape, dirs, state, unknown[r], du2, family, i, direction)
    particular(mat, m, order, m + 1, right, z2)
    # du2 and ds2 of the whole change, then remove the entering quantity's
    for row in range(n):
        du2[row] += z2[m] * DUt[row]
    for j in range(m):
        for row in range(n):
            du2[row] += z2[j] * DU[unknown[j], row]
    expand(shape, dirs, mu, cover, state, unknown, m, z2, z2[m], ds2)
    ds2[i, 0] += normal
    ds2[i, 1] += friction
    moved = rate(shape, dirs, mu, cover, state, entering, at, entering_dir, ds2, du2, z2[m])
    moved += _direct(state, entering, at, entering_dir, family, i, direction)
    back = -moved / speed
    for j in range(m + 1):
        right[j] = z[j] * back
        z2[j] += right[j]
    for row in range(n):
        value = right[m] * DUt[row]
        for j in range(m):
            value += right[j] * DU[unknown[j], row]
        du2[row] += value
    expand(shape, dirs, mu, cover, state, unknown, m, z2, z2[m], ds2)
    ds2[i, 0] += normal
    ds2[i, 1] += friction


@kernel
def _row_change(
    shape: Any, dirs: Any, state: Any, code: int, u: Any, family: int, i: int, direction: int
) -> float:
    """How much an unknown's equation is off after velocities u and the perturbation."""
    nt = shape[1]
    contact = code // 3
    kind = code - 3 * contact
    first = contact * (1 + nt)
    a, b, sliding = state[contact, A], state[contact, B], state[contact, SLIDING]
    here = contact == i
    if kind == 0:
        return u[first] + (1.0 if here and family == SN and state[contact, NORMAL] == FREE else 0.0)
    value = 0.0
    own = a if kind == 1 else b
    for d in range(nt):
        value += dirs[own, d] * u[first + 1 + d]
    if here and family == SD and direction == own:
        value += 1.0
    if kind == 2 and sliding:
        for d in range(nt):
            value -= dirs[a, d] * u[first + 1 + d]
        if here and family == SD and direction == a:
            value -= 1.0
    return value
