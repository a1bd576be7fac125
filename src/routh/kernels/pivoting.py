"""Lemke's method on the impact step HP23 (75) without beta and gamma: bounded-variable pivoting.

Lemke's path is the set of solutions of the step with ``lambda_max + t``, friction bounds ``mu lambda_n + t``
and velocities ``+ t``, followed from large t down to t = 0 (it may turn on the way). On it, at most two
neighbouring friction directions of a contact push at a time, so a step with nc contacts and k directions
needs matrices of size 2 nc (plane) or 3 nc (space) instead of (3 + k) nc, and yet ends in the very solution
that Lemke's method with the all-ones covering vector and lexicographic ties finds.
"""

from __future__ import annotations

from typing import Any

from routh.kernels.basis import (
    FREE,
    NORMAL,
    OPEN,
    SLIDING,
    UPPER,
    A,
    B,
    assemble,
    contact_impulse,
    eliminate,
    equation,
    expand,
    list_unknowns,
    particular,
    refresh_columns,
    tangent,
)
from routh.kernels.compiling import kernel
from routh.kernels.quantities import BETA, GAMMA, LD, LN, SB, SD, SG, SN, T, complement, rate
from routh.kernels.ties import break_ties

# How the pivoting ended; SOLVED only says that t reached zero, the residual decides.
SOLVED, RAY, PIVOT_LIMIT, LOST = 0, 4, 5, 6  # the numbers of routh.status.Status
PIVOTS_PER_ROW = 20
SMALL_RATE = 1e-11  # of the largest rate: smaller ones are rounding (routh.tolerances.PIVOT)
TIE = 1e-13  # of the largest quantity: what would become smaller than this becomes zero


@kernel
def solve_step(shape: Any, data: Any, c: Any, bound: Any, p: Any, work: Any) -> tuple[int, int]:
    """Solve one step: contact velocities c (n,), bounds (nc,) -> impulses p (n,); (outcome, pivots).

    ``work`` holds the final state and sizes of friction as well, for the residual.
    """
    G, dirs, mu, cover = data
    (state, s, u, ds, du, DU, DT, DUt, mat, order, unknown, z, found, which, z2, ds2, du2, right) = work
    nc, nt = shape[0], shape[1]
    n, k = nc * (1 + nt), dirs.shape[0]
    leaving, i, direction, t = _start(shape, dirs, cover, c, state, s, u)
    first_t = t
    outcome, pivots = SOLVED, 0
    if leaving == T:
        for row in range(n):
            p[row] = 0.0
        return outcome, pivots
    for j in range(nc):
        refresh_columns(shape, G, dirs, mu, cover, state, j, DU, DT)
    limit = PIVOTS_PER_ROW * nc * (3 + k)
    while True:
        if not _exchange(state, s, leaving, i, direction):
            outcome = LOST
            break
        entering = complement(leaving)
        refresh_columns(shape, G, dirs, mu, cover, state, i, DU, DT)
        m = list_unknowns(shape, state, unknown)
        assemble(shape, dirs, cover, state, unknown, m, DU, DT, DUt, mat)
        if not eliminate(mat, m, m + 1, order):
            outcome = LOST
            break
        tangent(mat, m, order, z)
        expand(shape, dirs, mu, cover, state, unknown, m, z, z[m], ds)
        _velocity_change(n, unknown, m, z, z[m], DU, DUt, du)
        speed = rate(shape, dirs, mu, cover, state, entering, i, direction, ds, du, z[m])
        if speed < 0.0:
            speed = -speed
            for j in range(m + 1):
                z[j] = -z[j]
            for j in range(nc):
                for kind in range(3):
                    ds[j, kind] = -ds[j, kind]
            for row in range(n):
                du[row] = -du[row]
        count, size, step = _candidates(
            shape, dirs, mu, cover, bound, state, entering, i, direction, s, u, t, ds, du, z[m], found, which
        )
        pivots += 1
        if count == 0 or not speed > 0.0:
            outcome = RAY if count == 0 else LOST
            break
        winner = -1
        ties = 0
        for q in range(count):
            if found[q, 0] + step * found[q, 1] <= TIE * (size + found[q, 0]):
                if which[q, 0] == T:
                    winner = q
                    ties = 1
                    break
                for j in range(3):
                    which[ties, j] = which[q, j]
                found[ties, 1] = found[q, 1]
                ties += 1
        if winner < 0:
            if ties == 0:  # not a number somewhere
                outcome = LOST
                break
            winner = 0
            if ties > 1:
                winner = break_ties(
                    shape, data, state, unknown, m, mat, order, z, speed, entering, i, direction,
                    DU, DUt, found, which, ties, z2, ds2, du2, right,
                )  # fmt: skip
        for j in range(nc):
            for kind in range(3):
                s[j, kind] += step * ds[j, kind]
        for row in range(n):
            u[row] += step * du[row]
        t += step * z[m]
        leaving, i, direction = which[winner, 0], which[winner, 1], which[winner, 2]
        if leaving == T or t <= TIE * first_t:
            break
        if pivots >= limit:
            outcome = PIVOT_LIMIT
            break
    _finish(shape, data, c, bound, outcome == SOLVED, p, work)
    return outcome, pivots


@kernel
def _start(shape: Any, dirs: Any, cover: Any, c: Any, state: Any, s: Any, u: Any) -> Any:
    """The end of the first ray: all impulses zero, t as large as the worst velocity asks for.

    Of equal rows the last one in the order [lambda_n; lambda_D] leaves: the lexicographic rule.
    """
    nc, nt, k = shape[0], shape[1], dirs.shape[0]
    for row in range(nc * (1 + nt)):
        u[row] = c[row]
    for i in range(nc):
        state[i, NORMAL] = OPEN
        state[i, A] = -1
        state[i, B] = -1
        state[i, SLIDING] = 0
        for kind in range(3):
            s[i, kind] = 0.0
    t, leaving, contact, direction = 0.0, T, 0, 0
    for i in range(nc):
        needed = -u[i * (1 + nt)] / cover[i, 0]
        if needed > 0.0 and needed >= t - TIE * abs(t):
            t, leaving, contact = max(t, needed), SN, i
    for i in range(nc):
        for j in range(k):
            along = 0.0
            for d in range(nt):
                along += dirs[j, d] * u[i * (1 + nt) + 1 + d]
            needed = -along / cover[i, 0]
            if needed > 0.0 and needed >= t - TIE * abs(t):
                t, leaving, contact, direction = max(t, needed), SD, i, j
    return leaving, contact, direction, t


@kernel
def _exchange(state: Any, s: Any, leaving: int, i: int, direction: int) -> bool:
    """Let the complement of the quantity that became zero enter; False where the path cannot be so."""
    if leaving == SN or leaving == BETA:
        state[i, NORMAL] = FREE
    elif leaving == LN:
        state[i, NORMAL] = OPEN
        s[i, 0] = 0.0
    elif leaving == SB:
        state[i, NORMAL] = UPPER
    elif leaving == SG:
        if state[i, A] < 0:
            return False
        state[i, SLIDING] = 1
    elif leaving == GAMMA:
        state[i, SLIDING] = 0
    elif leaving == SD:
        if state[i, A] < 0:
            state[i, A] = direction
            s[i, 1] = 0.0
        elif state[i, B] < 0:
            state[i, B] = direction
            s[i, 2] = 0.0
        else:
            return False
    else:  # LD: a friction direction stops pushing
        if direction == state[i, A]:
            if state[i, B] < 0 and state[i, SLIDING]:
                return False
            state[i, A] = state[i, B]
            s[i, 1] = s[i, 2]
        state[i, B] = -1
        s[i, 2] = 0.0
    return True


@kernel
def _velocity_change(n: int, unknown: Any, m: int, z: Any, t: float, DU: Any, DUt: Any, du: Any) -> None:
    for row in range(n):
        du[row] = t * DUt[row]
    for j in range(m):
        column, size = unknown[j], z[j]
        for row in range(n):
            du[row] += size * DU[column, row]


@kernel
def _candidates(
    shape: Any, dirs: Any, mu: Any, cover: Any, bound: Any, state: Any, entering: int, at: int,
    entering_dir: int, s: Any, u: Any, t: float, ds: Any, du: Any, dt: float, found: Any, which: Any,
) -> tuple[int, float, float]:  # fmt: skip
    """Quantities that fall along the way: ``found`` (value, rate), ``which`` (kind, contact, direction).

    Returns their number, the size that rounding is measured by, and the smallest ratio.
    """
    nc, nt, k = shape[0], shape[1], dirs.shape[0]
    largest, size = abs(dt), abs(t)
    for i in range(nc):
        for kind in range(3):
            largest = max(largest, abs(ds[i, kind]))
            size = max(size, abs(s[i, kind]))
        for d in range(1 + nt):
            largest = max(largest, abs(du[i * (1 + nt) + d]))
            size = max(size, abs(u[i * (1 + nt) + d]))
    least = -SMALL_RATE * largest
    count, step = 0, 1e300
    if dt < 0.0:
        found[0, 0], found[0, 1] = t, dt
        which[0, 0], which[0, 1], which[0, 2] = T, 0, 0
        count, step = 1, max(t, 0.0) / -dt
    for i in range(nc):
        first = i * (1 + nt)
        normal = state[i, NORMAL]
        for part in range(2):
            if part == 1 and normal != FREE:
                break
            if normal == OPEN:
                kind = SN
                value, fall = u[first] + cover[i, 0] * t, du[first] + cover[i, 0] * dt
            elif normal == UPPER:
                kind = BETA
                value, fall = -u[first] - cover[i, 0] * t, -du[first] - cover[i, 0] * dt
            elif part == 0:
                kind = LN
                value, fall = s[i, 0], ds[i, 0]
            else:
                kind = SB
                value, fall = bound[i] + cover[i, 1] * t - s[i, 0], cover[i, 1] * dt - ds[i, 0]
            if fall < least and not (kind == entering and i == at):
                found[count, 0], found[count, 1] = max(value, 0.0), fall
                which[count, 0], which[count, 1], which[count, 2] = kind, i, 0
                step = min(step, found[count, 0] / -fall)
                count += 1
        a, b, sliding = state[i, A], state[i, B], state[i, SLIDING]
        base, base_fall = cover[i, 0] * t, cover[i, 0] * dt
        if sliding:
            base, base_fall = 0.0, 0.0
            for d in range(nt):
                base -= dirs[a, d] * u[first + 1 + d]
                base_fall -= dirs[a, d] * du[first + 1 + d]
            kind = GAMMA
            value, fall = base - cover[i, 0] * t, base_fall - cover[i, 0] * dt
        else:
            kind = SG
            value = mu[i] * s[i, 0] + cover[i, 1] * t - s[i, 1] - s[i, 2]
            fall = mu[i] * ds[i, 0] + cover[i, 1] * dt - ds[i, 1] - ds[i, 2]
        if a >= 0 and fall < least and not (kind == entering and i == at):
            found[count, 0], found[count, 1] = max(value, 0.0), fall
            which[count, 0], which[count, 1], which[count, 2] = kind, i, 0
            step = min(step, found[count, 0] / -fall)
            count += 1
        for part in range(1, 3):
            j = a if part == 1 else b
            if j < 0 or (part == 1 and sliding and b < 0):
                continue
            if ds[i, part] < least and not (entering == LD and i == at and j == entering_dir):
                found[count, 0], found[count, 1] = max(s[i, part], 0.0), ds[i, part]
                which[count, 0], which[count, 1], which[count, 2] = LD, i, j
                step = min(step, found[count, 0] / -ds[i, part])
                count += 1
        if b >= 0:
            continue  # on the path no third direction of unit length can have the same slip
        for j in range(k):
            if j == a:
                continue
            value, fall = base, base_fall
            for d in range(nt):
                value += dirs[j, d] * u[first + 1 + d]
                fall += dirs[j, d] * du[first + 1 + d]
            if fall < least and not (entering == SD and i == at and j == entering_dir):
                found[count, 0], found[count, 1] = max(value, 0.0), fall
                which[count, 0], which[count, 1], which[count, 2] = SD, i, j
                step = min(step, found[count, 0] / -fall)
                count += 1
    return count, size, step


@kernel
def _finish(shape: Any, data: Any, c: Any, bound: Any, solved: bool, p: Any, work: Any) -> None:
    """At t = 0: put bound impulses exactly on their bounds and solve the equations once more."""
    G, dirs, mu, cover = data
    (state, s, u, ds, du, DU, DT, DUt, mat, order, unknown, z, found, which, z2, ds2, du2, right) = work
    n = shape[0] * (1 + shape[1])
    _snap(shape, mu, bound, state, s)
    contact_impulse(shape, dirs, state, s, p)
    if not solved:
        return
    m = list_unknowns(shape, state, unknown)
    for i in range(shape[0]):
        refresh_columns(shape, G, dirs, mu, cover, state, i, DU, DT)
    assemble(shape, dirs, cover, state, unknown, m, DU, DT, DUt, mat)
    if not eliminate(mat, m, m, order):
        return
    for row in range(n):
        value = c[row]
        for j in range(n):
            value += G[row, j] * p[j]
        u[row] = value
    for r in range(m):
        right[r] = -equation(shape, dirs, state, unknown[r], u)
    particular(mat, m, order, m, right, z)
    expand(shape, dirs, mu, cover, state, unknown, m, z, 0.0, ds)
    for i in range(shape[0]):
        for kind in range(3):
            s[i, kind] += ds[i, kind]
    _snap(shape, mu, bound, state, s)
    contact_impulse(shape, dirs, state, s, p)


@kernel
def _snap(shape: Any, mu: Any, bound: Any, state: Any, s: Any) -> None:
    for i in range(shape[0]):
        if state[i, NORMAL] == OPEN:
            s[i, 0] = 0.0
        elif state[i, NORMAL] == UPPER:
            s[i, 0] = bound[i]
        else:
            s[i, 0] = min(max(s[i, 0], 0.0), bound[i])
        if state[i, A] < 0:
            s[i, 1] = 0.0
        if state[i, B] < 0:
            s[i, 2] = 0.0
        s[i, 2] = max(s[i, 2], 0.0)
        if state[i, SLIDING]:
            s[i, 1] = mu[i] * s[i, 0] - s[i, 2]
        s[i, 1] = max(s[i, 1], 0.0)
