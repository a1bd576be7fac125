"""Impact problems made ready for the kernels, row by row in compiled code: checks, factors, own units.

One row or a million: the same instructions in the same order, over the row's own sizes only. So a problem on
its own and the same problem as a row of a padded batch give equal bits.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from routh.base import tolerances
from routh.base.validation import Array
from routh.compiling import kernel

# What `check` can find in a row: the field that is wrong, or nothing.
GOOD, NOT_FINITE, ASYMMETRIC, INDEFINITE, ZERO_NORMAL, BAD_FRICTION, BAD_RESTITUTION = range(7)
TINY_MASS, TINY_SPEED = 7, 8  # of batches on the GPU, whose numbers nothing else has looked at


# rows of `Rows.contact`
MU, RESTITUTION, IMPULSE, ROOT_MASS, SLOT = range(5)


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
    """Impact problems in their own units (`Scaling` of a problem); beyond a row's sizes there is padding."""

    G: Array  # (rows, n, n) scaled Delassus matrices, n = nc (1 + nt), unit normal diagonal
    response: Array  # (rows, nv, n) velocity in SI units per unit of scaled impulse
    start: Array  # (rows, n) scaled contact velocities before
    before: Array  # (rows, nv) velocities before, SI
    contact: Array  # (rows, 5, nc): MU friction, RESTITUTION, IMPULSE unit in N s, ROOT_MASS in sqrt(kg),
    # SLOT its place in the problem, where contacts that are absent may lie between
    nc: np.ndarray  # (rows,) int64: contacts of each row, the rest is padding; 0 where nothing touches


def row_shapes(rows: int, nv: int, nc: int, nt: int) -> list[tuple[tuple[int, ...], type]]:
    """Shapes and types of `Rows`."""
    n = nc * (1 + nt)
    shapes: list[tuple[int, ...]] = [(n, n), (nv, n), (n,), (nv,), (5, nc), ()]
    return [((rows, *shape), np.float64 if shape else np.int64) for shape in shapes]


def empty_rows(rows: int, nv: int, nc: int, nt: int) -> Rows:
    """Room for so many problems."""
    return Rows(*(np.zeros(*each) for each in row_shapes(rows, nv, nc, nt)))


class RowScratch(NamedTuple):
    """What one thread needs to prepare a row."""

    factor: Array  # (nv, nv) lower Cholesky factor L, and L^T above the diagonal
    half: Array  # (1, nv): L^-1 J^T of one row of a Jacobian
    columns: Array  # (nv + 2, padded(nc (1 + nt))): L^-1 J^T of all of them, two lines of scratch


def padded(columns: int) -> int:
    """Columns are worked on four at a time."""
    return -(-columns // 4) * 4


def scratch(problems: Problems) -> RowScratch:
    """A workspace for the largest row."""
    return scratch_for(*problems.Jt.shape[1:])


def scratch_for(nc: int, nt: int, nv: int) -> RowScratch:
    """A workspace for rows of these sizes."""
    wide = padded(max(nc * (1 + nt), 1))
    return RowScratch(np.empty((nv, nv)), np.empty((1, nv)), np.empty((nv + 2, wide)))


@kernel
def factorise(M: Array, row: int, nv: int, factor: Array) -> bool:
    """The lower Cholesky factor of one mass matrix; False where it is not positive definite, or hardly.

    Beside each other as above the diagonal, four entries are worked out at a time.
    """
    for j in range(nv):
        value = M[row, j, j]
        for k in range(j):
            value -= factor[j, k] * factor[j, k]
        if not value > tolerances.INERTIA_LEFT * M[row, j, j]:
            return False  # zero and NaN too
        factor[j, j] = math.sqrt(value)
        share = 1.0 / factor[j, j]  # a division takes as long as a dozen products
        last = j + 1 + (nv - j - 1) // 4 * 4
        for i in range(j + 1, last, 4):
            x, y, z, w = M[row, i, j], M[row, i + 1, j], M[row, i + 2, j], M[row, i + 3, j]
            for k in range(j):
                scale = factor[j, k]
                x -= factor[k, i] * scale
                y -= factor[k, i + 1] * scale
                z -= factor[k, i + 2] * scale
                w -= factor[k, i + 3] * scale
            x, y, z, w = x * share, y * share, z * share, w * share
            factor[j, i], factor[j, i + 1], factor[j, i + 2], factor[j, i + 3] = x, y, z, w
            factor[i, j], factor[i + 1, j], factor[i + 2, j], factor[i + 3, j] = x, y, z, w
        for i in range(last, nv):
            value = M[row, i, j]
            for k in range(j):
                value -= factor[i, k] * factor[j, k]
            factor[j, i] = factor[i, j] = value * share
    return True


@kernel
def forward(factor: Array, nv: int, J: Array, half: Array, place: int) -> None:
    """``L^-1 J^T`` of one row of a Jacobian, into ``half[place]``."""
    for i in range(nv):
        value = J[i]
        for k in range(i):
            value -= factor[i, k] * half[place, k]
        half[place, i] = value * (1.0 / factor[i, i])  # with the bits of `eliminate`


@kernel
def eliminate(factor: Array, i: int, begin: int, end: int, columns: Array, count: int) -> None:
    """Row i of the first columns from the rows ``begin`` to ``end``, in place: four columns at a time."""
    share = 1.0 / factor[i, i]
    for c in range(0, count, 4):
        x, y, z, w = columns[i, c], columns[i, c + 1], columns[i, c + 2], columns[i, c + 3]
        for k in range(begin, end):
            scale = factor[i, k]
            x -= scale * columns[k, c]
            y -= scale * columns[k, c + 1]
            z -= scale * columns[k, c + 2]
            w -= scale * columns[k, c + 3]
        columns[i, c], columns[i, c + 1] = x * share, y * share
        columns[i, c + 2], columns[i, c + 3] = z * share, w * share


@kernel
def products(columns: Array, a: int, nv: int) -> None:
    """The scalar products of column a with itself and those before it, into the line behind the columns."""
    for c in range(0, a + 1, 4):
        x, y, z, w = 0.0, 0.0, 0.0, 0.0
        for i in range(nv):
            value = columns[i, a]
            x += value * columns[i, c]
            y += value * columns[i, c + 1]
            z += value * columns[i, c + 2]
            w += value * columns[i, c + 3]
        columns[nv, c], columns[nv, c + 1], columns[nv, c + 2], columns[nv, c + 3] = x, y, z, w


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
    total, largest = 0.0, 0.0
    for j in range(nv):
        value = 0.0
        for i in range(j, nv):
            value += factor[j, i] * v[i]
        largest = max(largest, abs(value))
        total += value * value
    if largest > 1e-100 or largest == 0.0:
        return math.sqrt(total)
    total = 0.0  # squares would vanish
    for j in range(nv):
        value = 0.0
        for i in range(j, nv):
            value += factor[j, i] * v[i]
        total += (value / largest) * (value / largest)
    return largest * math.sqrt(total)


@kernel
def finite_row(problems: Problems, row: int) -> bool:
    """Whether everything that counts in a row is a number."""
    # reads Jn, Jt, M, mu, present, restitution, size, v
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
    # reads M, size
    nv = problems.size[row, 0]
    largest, worst = 0.0, 0.0
    for i in range(nv):
        for j in range(nv):
            largest = max(largest, abs(problems.M[row, i, j]))
            worst = max(worst, abs(problems.M[row, i, j] - problems.M[row, j, i]))
    return worst <= tolerance * largest


@kernel
def check_row(
    problems: Problems, row: int, symmetry: float, approach: float, own: RowScratch
) -> tuple[int, int]:
    """What is wrong with a row, and how many of its contacts approach faster than a share of its speed."""
    # reads own.factor, own.half, problems.Jn, problems.M, problems.mu, problems.present,
    #   problems.restitution, problems.size, problems.v
    # writes own.factor, own.half
    # hands on problems
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
    own: RowScratch,
    found: np.ndarray,
    approaching: np.ndarray,
) -> None:
    """`check_row` for every row but those with ``skip``, into ``found`` and ``approaching`` (rows,)."""
    # reads problems.size; hands on own, problems
    for row in range(problems.size.shape[0]):
        if not skip[row]:
            found[row], approaching[row] = check_row(problems, row, limits[0], limits[1], own)


@kernel
def tiny_row(problems: Problems, row: int, least_mass: float, least_speed: float) -> int:
    """Whether numbers of a row are so small that products of them vanish."""
    # reads M, size, v
    fastest = 0.0
    for i in range(problems.size[row, 0]):
        fastest = max(fastest, abs(problems.v[row, i]))
        if 0.0 < abs(problems.M[row, i, i]) < least_mass:
            return TINY_MASS
    return TINY_SPEED if 0.0 < fastest < least_speed else GOOD


@kernel
def bounces(problems: Problems, row: int) -> bool:
    """Whether a contact of a row has restitution."""
    # reads present, restitution
    for i in range(problems.present.shape[1]):
        if problems.present[row, i] and problems.restitution[row, i] > 0.0:
            return True
    return False


@kernel
def load_column(J: Array, nv: int, columns: Array, c: int) -> None:
    """A row of a Jacobian as a column."""
    for j in range(nv):
        columns[j, c] = J[j]


@kernel
def load_columns(problems: Problems, row: int, columns: Array) -> int:
    """The Jacobian of a row, contact by contact, as columns, and zeros up to four; how many contacts."""
    # reads Jn, Jt, present, size
    nv, nt = problems.size[row, 0], problems.size[row, 2]
    first, count = 0, 0
    for i in range(problems.present.shape[1]):
        if problems.present[row, i]:
            load_column(problems.Jn[row, i], nv, columns, first)
            for d in range(nt):
                load_column(problems.Jt[row, i, d], nv, columns, first + 1 + d)
            first += 1 + nt
            count += 1
    while first % 4 != 0:
        for j in range(nv):
            columns[j, first] = 0.0
        first += 1
    return count


@kernel
def prepare_row(problems: Problems, row: int, own: RowScratch, out: Rows, place: int) -> None:
    """One row in its own units (`routh.problem.impact.Scaling`), into row ``place`` of `Rows`."""
    # reads out.before, out.response, own.columns, own.factor, problems.Jn, problems.Jt, problems.M,
    #   problems.mu, problems.present, problems.restitution, problems.size, problems.v
    # writes out.G, out.before, out.contact, out.nc, out.response, out.start, own.columns, own.factor
    # hands on own, problems
    nv, nt = problems.size[row, 0], problems.size[row, 2]
    width, count, columns = 1 + nt, 0, own.columns
    factorise(problems.M, row, nv, own.factor)
    v = problems.v[row]
    speed = speed_of(own.factor, v, nv)
    if speed == 0.0:
        speed = 1.0
    size = width * load_columns(problems, row, columns)
    for i in range(nv):  # L^-1 J^T: `forward` of all columns, equal bits
        eliminate(own.factor, i, 0, i, columns, size)
    for i in range(problems.present.shape[1]):
        if not problems.present[row, i]:
            continue
        first, square = count * width, 0.0
        for j in range(nv):
            square += columns[j, first] * columns[j, first]
        root = 1.0 / math.sqrt(square)  # of the effective mass
        out.start[place, first] = dot(problems.Jn[row, i], v, nv) * root / speed
        for d in range(nt):
            out.start[place, first + 1 + d] = dot(problems.Jt[row, i, d], v, nv) * root / speed
        for d in range(width):
            columns[nv + 1, first + d] = root
        out.contact[place, MU, count] = problems.mu[row, i]
        out.contact[place, RESTITUTION, count] = problems.restitution[row, i]
        out.contact[place, IMPULSE, count] = speed * root
        out.contact[place, ROOT_MASS, count] = root
        out.contact[place, SLOT, count] = i
        count += 1
    out.nc[place] = count
    for i in range(out.before.shape[1]):
        out.before[place, i] = v[i]
    for a in range(size):
        products(columns, a, nv)
        scale = columns[nv + 1, a]
        for b in range(a + 1):
            value = columns[nv, b] * scale * columns[nv + 1, b]
            out.G[place, a, b] = value
            out.G[place, b, a] = value
    respond(own, nv, size, speed, out.response, place)


@kernel
def respond(own: RowScratch, nv: int, size: int, speed: float, response: Array, place: int) -> None:
    """``M^-1 J^T`` per unit of scaled impulse: backward substitution, in place, of what is in the columns."""
    # reads columns, factor; writes columns
    columns = own.columns
    for i in range(nv - 1, -1, -1):
        eliminate(own.factor, i, i + 1, nv, columns, size)
    for a in range(size):
        columns[nv, a] = speed * columns[nv + 1, a]
    for i in range(nv):
        for a in range(size):
            response[place, i, a] = columns[i, a] * columns[nv, a]
    for i in range(nv, response.shape[1]):  # padding does not move
        for a in range(size):
            response[place, i, a] = 0.0


@kernel
def prepare(problems: Problems, begin: int, end: int, skip: np.ndarray, own: RowScratch, out: Rows) -> None:
    """Rows ``begin`` to ``end`` into rows 0, 1, ... of ``out``; those with ``skip`` get no contacts."""
    # reads out.before, problems.v; writes out.before, out.nc; hands on out, own, problems
    for row in range(begin, end):
        place = row - begin
        if skip[row]:
            out.nc[place] = 0
            for i in range(out.before.shape[1]):
                out.before[place, i] = problems.v[row, i]
        else:
            prepare_row(problems, row, own, out, place)
