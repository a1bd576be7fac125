"""Impact problems made ready for the kernels, row by row in compiled code: checks, factors, own units.

One row or a million: the same instructions in the same order, over the row's own sizes only. So a problem on
its own and the same problem as a row of a padded batch give equal bits.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from routh.compiling import kernel
from routh.validation import Array

# What `check` can find in a row: the field that is wrong, or nothing.
GOOD, NOT_FINITE, ASYMMETRIC, INDEFINITE, ZERO_NORMAL, BAD_FRICTION, BAD_RESTITUTION = range(7)


# rows of `Rows.contact`
MU, RESTITUTION, IMPULSE = 0, 1, 2


class Problems(NamedTuple):
    """Impact problems as arrays, padded; ``size`` says how much of a row counts."""

    M: Array  # (rows, nv, nv)
    Jn: Array  # (rows, nc, nv)
    Jt: Array  # (rows, nc, nt, nv)
    mu: Array  # (rows, nc)
    restitution: Array  # (rows, nc)
    v: Array  # (rows, nv)
    present: np.ndarray  # (rows, nc) bool: contacts that there are
    size: np.ndarray  # (rows, 3) int32: velocities, contacts that there are, tangents


class Rows(NamedTuple):
    """Impact problems in their own units (`routh.problem.Scaling`); beyond a row's sizes there is padding."""

    G: Array  # (rows, n, n) scaled Delassus matrices, n = nc (1 + nt), unit normal diagonal
    response: Array  # (rows, nv, n) velocity in SI units per unit of scaled impulse
    start: Array  # (rows, n) scaled contact velocities before
    before: Array  # (rows, nv) velocities before, SI
    contact: Array  # (rows, 3, nc): MU friction, RESTITUTION coefficient, IMPULSE unit in N s
    nc: np.ndarray  # (rows,) int64: contacts of each row, the rest is padding; 0 where nothing touches


def empty_rows(rows: int, nv: int, nc: int, nt: int) -> Rows:
    """Room for so many problems."""
    n = nc * (1 + nt)
    return Rows(
        np.zeros((rows, n, n)),
        np.zeros((rows, nv, n)),
        np.zeros((rows, n)),
        np.zeros((rows, nv)),
        np.zeros((rows, 3, nc)),
        np.zeros(rows, dtype=np.int64),
    )


class Scratch(NamedTuple):
    """What one thread needs to prepare a row."""

    factor: Array  # (nv, nv) lower Cholesky factor
    half: Array  # (nc (1 + nt), nv): L^-1 J^T, transposed
    root: Array  # (nc,) square roots of effective masses


def scratch(problems: Problems) -> Scratch:
    """A workspace for the largest row."""
    _, nc, nt, nv = problems.Jt.shape
    return Scratch(np.empty((nv, nv)), np.empty((max(nc * (1 + nt), 1), nv)), np.empty(max(nc, 1)))


@kernel
def factorise(M: Array, row: int, nv: int, factor: Array) -> bool:
    """The lower Cholesky factor of one mass matrix; False where it is not positive definite."""
    for j in range(nv):
        value = M[row, j, j]
        for k in range(j):
            value -= factor[j, k] * factor[j, k]
        if not value > 0.0:
            return False  # NaN too
        factor[j, j] = math.sqrt(value)
        share = 1.0 / factor[j, j]  # a division takes as long as a dozen products
        for i in range(j + 1, nv):
            value = M[row, i, j]
            for k in range(j):
                value -= factor[i, k] * factor[j, k]
            factor[i, j] = value * share
    return True


@kernel
def forward(factor: Array, nv: int, J: Array, half: Array, place: int) -> None:
    """``L^-1 J^T`` of one row of a Jacobian, into ``half[place]``."""
    for i in range(nv):
        value = J[i]
        for k in range(i):
            value -= factor[i, k] * half[place, k]
        half[place, i] = value * (1.0 / factor[i, i])  # with the bits of `forward_three`


@kernel
def forward_three(factor: Array, nv: int, Jn: Array, Jt: Array, half: Array, place: int) -> None:
    """`forward` of a contact's normal and two tangents, side by side: a third of the time, equal bits."""
    for i in range(nv):
        x, y, z = Jn[i], Jt[0, i], Jt[1, i]
        for k in range(i):
            scale = factor[i, k]
            x -= scale * half[place, k]
            y -= scale * half[place + 1, k]
            z -= scale * half[place + 2, k]
        share = 1.0 / factor[i, i]
        half[place, i], half[place + 1, i], half[place + 2, i] = x * share, y * share, z * share


@kernel
def backward_three(factor: Array, nv: int, half: Array, place: int) -> None:
    """``L^-T`` times three rows of ``half``, in place."""
    for i in range(nv - 1, -1, -1):
        x, y, z = half[place, i], half[place + 1, i], half[place + 2, i]
        for k in range(i + 1, nv):
            scale = factor[k, i]
            x -= scale * half[place, k]
            y -= scale * half[place + 1, k]
            z -= scale * half[place + 2, k]
        share = 1.0 / factor[i, i]
        half[place, i], half[place + 1, i], half[place + 2, i] = x * share, y * share, z * share


@kernel
def three_dots(half: Array, a: int, b: int, nv: int) -> tuple[float, float, float]:
    """The scalar products of row a with rows b, b + 1 and b + 2."""
    x, y, z = 0.0, 0.0, 0.0
    for i in range(nv):
        value = half[a, i]
        x += value * half[b, i]
        y += value * half[b + 1, i]
        z += value * half[b + 2, i]
    return x, y, z


@kernel
def dot(left: Array, right: Array, length: int) -> float:
    """The scalar product of the first entries, in order."""
    value = 0.0
    for i in range(length):
        value += left[i] * right[i]
    return value


@kernel
def speed_of(factor: Array, v: Array, nv: int) -> float:
    """``|v|_M = |L^T v|``, sqrt(J)."""
    total = 0.0
    for j in range(nv):
        value = 0.0
        for i in range(j, nv):
            value += factor[i, j] * v[i]
        total += value * value
    return math.sqrt(total)


@kernel
def finite_row(problems: Problems, row: int) -> bool:
    """Whether everything that counts in a row is a number."""
    nv, nt = problems.size[row, 0], problems.size[row, 2]
    for i in range(nv):
        if not math.isfinite(problems.v[row, i]):
            return False
        for j in range(nv):
            if not math.isfinite(problems.M[row, i, j]):
                return False
    for i in range(problems.present.shape[1]):
        if problems.present[row, i]:
            if not (math.isfinite(problems.mu[row, i]) and math.isfinite(problems.restitution[row, i])):
                return False
            for j in range(nv):
                if not math.isfinite(problems.Jn[row, i, j]):
                    return False
                for d in range(nt):
                    if not math.isfinite(problems.Jt[row, i, d, j]):
                        return False
    return True


@kernel
def symmetric_row(problems: Problems, row: int, tolerance: float) -> bool:
    """Whether a mass matrix is symmetric up to a share of its largest entry."""
    nv = problems.size[row, 0]
    largest, worst = 0.0, 0.0
    for i in range(nv):
        for j in range(nv):
            largest = max(largest, abs(problems.M[row, i, j]))
            worst = max(worst, abs(problems.M[row, i, j] - problems.M[row, j, i]))
    return worst <= tolerance * largest


@kernel
def check_row(
    problems: Problems, row: int, symmetry: float, approach: float, own: Scratch
) -> tuple[int, int]:
    """What is wrong with a row, and how many of its contacts approach faster than a share of its speed."""
    nv = problems.size[row, 0]
    if not finite_row(problems, row):
        return NOT_FINITE, 0
    if not symmetric_row(problems, row, symmetry):
        return ASYMMETRIC, 0
    if not factorise(problems.M, row, nv, own.factor):
        return INDEFINITE, 0
    speed = speed_of(own.factor, problems.v[row], nv)
    if speed == 0.0:
        speed = 1.0
    approaching = 0
    for i in range(problems.present.shape[1]):
        if not problems.present[row, i]:
            continue
        if not problems.mu[row, i] >= 0.0:
            return BAD_FRICTION, 0
        if not (0.0 <= problems.restitution[row, i] <= 1.0):
            return BAD_RESTITUTION, 0
        forward(own.factor, nv, problems.Jn[row, i], own.half, 0)
        inverse_mass = dot(own.half[0], own.half[0], nv)
        if not inverse_mass > 0.0:
            return ZERO_NORMAL, 0
        if dot(problems.Jn[row, i], problems.v[row], nv) < -approach * speed * math.sqrt(inverse_mass):
            approaching += 1
    return GOOD, approaching


@kernel
def check(
    problems: Problems,
    skip: np.ndarray,
    limits: tuple[float, float],
    own: Scratch,
    found: np.ndarray,
    approaching: np.ndarray,
) -> None:
    """`check_row` for every row but those with ``skip``, into ``found`` and ``approaching`` (rows,)."""
    for row in range(problems.size.shape[0]):
        if not skip[row]:
            found[row], approaching[row] = check_row(problems, row, limits[0], limits[1], own)


@kernel
def prepare_row(problems: Problems, row: int, own: Scratch, out: Rows, place: int) -> None:
    """One row in its own units (`routh.problem.Scaling`), into row ``place`` of `Rows`."""
    nv, nt = problems.size[row, 0], problems.size[row, 2]
    width, count = 1 + nt, 0
    factorise(problems.M, row, nv, own.factor)
    v = problems.v[row]
    speed = speed_of(own.factor, v, nv)
    if speed == 0.0:
        speed = 1.0
    for i in range(problems.present.shape[1]):
        if not problems.present[row, i]:
            continue
        first = count * width
        if nt == 2:
            forward_three(own.factor, nv, problems.Jn[row, i], problems.Jt[row, i], own.half, first)
        else:
            forward(own.factor, nv, problems.Jn[row, i], own.half, first)
            for d in range(nt):
                forward(own.factor, nv, problems.Jt[row, i, d], own.half, first + 1 + d)
        root = 1.0 / math.sqrt(dot(own.half[first], own.half[first], nv))
        own.root[count] = root
        out.start[place, first] = dot(problems.Jn[row, i], v, nv) * root / speed
        for d in range(nt):
            out.start[place, first + 1 + d] = dot(problems.Jt[row, i, d], v, nv) * root / speed
        out.contact[place, MU, count] = problems.mu[row, i]
        out.contact[place, RESTITUTION, count] = problems.restitution[row, i]
        out.contact[place, IMPULSE, count] = speed * root
        count += 1
    out.nc[place] = count
    for i in range(out.before.shape[1]):
        out.before[place, i] = v[i]
    for a in range(count * width):
        scale = own.root[a // width]
        if nt == 2:
            for b in range(0, a + 1, 3):
                x, y, z = three_dots(own.half, a, b, nv)
                other = own.root[b // 3]
                x, y, z = x * scale * other, y * scale * other, z * scale * other
                out.G[place, a, b], out.G[place, a, b + 1], out.G[place, a, b + 2] = x, y, z
                out.G[place, b, a], out.G[place, b + 1, a], out.G[place, b + 2, a] = x, y, z
        else:
            for b in range(a + 1):
                value = dot(own.half[a], own.half[b], nv) * scale * own.root[b // width]
                out.G[place, a, b] = value
                out.G[place, b, a] = value
    respond(own, nv, count, width, speed, out.response, place)


@kernel
def respond(own: Scratch, nv: int, count: int, width: int, speed: float, response: Array, place: int) -> None:
    """``M^-1 J^T`` per unit of scaled impulse: backward substitution, in place, of what `forward` left."""
    for a in range(count * width):
        unit = speed * own.root[a // width]
        if width == 3:
            if a % 3 == 0:
                backward_three(own.factor, nv, own.half, a)
        else:
            for i in range(nv - 1, -1, -1):
                value = own.half[a, i]
                for k in range(i + 1, nv):
                    value -= own.factor[k, i] * own.half[a, k]
                own.half[a, i] = value / own.factor[i, i]
        for i in range(response.shape[1]):
            response[place, i, a] = own.half[a, i] * unit if i < nv else 0.0  # padding does not move


@kernel
def prepare(problems: Problems, begin: int, end: int, skip: np.ndarray, own: Scratch, out: Rows) -> None:
    """Rows ``begin`` to ``end`` into rows 0, 1, ... of ``out``; those with ``skip`` get no contacts."""
    for row in range(begin, end):
        place = row - begin
        if skip[row]:
            out.nc[place] = 0
            for i in range(out.before.shape[1]):
                out.before[place, i] = problems.v[row, i]
        else:
            prepare_row(problems, row, own, out, place)
