"""What samples of many impacts say, row by row: who ended, how contacts leave, how far apart they are.

``begin`` and ``end``: which rows are looked at; on a GPU each thread looks at one.

The readable counterparts are the properties of `routh.sampling.outcomes.Outcomes`; tests hold them together.
"""

from __future__ import annotations

import math

import numpy as np

from routh.base.validation import Array
from routh.compiling import kernel
from routh.problem.friction import ContactMode
from routh.problem.rows import Problems, RowScratch, dot, factorise, forward, speed_of

SEPARATES, STICKS, SLIDES = int(ContactMode.SEPARATES), int(ContactMode.STICKS), int(ContactMode.SLIDES)
ABSENT = -1


@kernel
def mode_of(normal: float, Jt: Array, nt: int, v: Array, nv: int, unit: float, stick: float) -> int:
    """Whether a contact separates, sticks or slides at velocity v; normal velocity and ``unit`` in m/s."""
    if normal / unit > stick:
        return SEPARATES
    slip = 0.0
    for d in range(nt):
        along = dot(Jt[d], v, nv) / unit
        slip += along * along
    return SLIDES if math.sqrt(slip) > stick else STICKS


@kernel
def speed_before(problems: Problems, row: int, own: RowScratch) -> float:
    """``|v|_M`` of a row, 1 where nothing moves; its mass matrix is factorised in the scratch."""
    # reads own.factor, problems.M, problems.size, problems.v; writes own.factor
    nv = problems.size[row, 0]
    factorise(problems.M, row, nv, own.factor)
    speed = speed_of(own.factor, problems.v[row], nv)
    return 1.0 if speed == 0.0 else speed


@kernel
def judge(
    problems: Problems,
    skip: np.ndarray,
    tolerances: tuple[float, float],
    own: RowScratch,
    v: Array,
    ended: np.ndarray,
    modes: np.ndarray,
    begin: int,
    end: int,
) -> None:
    """Whether samples v (rows, n, nv) have ended, (rows, n), and what contacts do after, (rows, n, nc).

    ``tolerances``: the share of a contact's own velocity unit that is no approach, and that is no motion.
    """
    # reads own.factor, own.half, problems.Jn, problems.Jt, problems.present, problems.size
    # writes own.half
    # hands on own, problems
    approach, stick = tolerances
    for row in range(begin, end):
        if skip[row]:
            continue
        nv, nt, speed = problems.size[row, 0], problems.size[row, 2], speed_before(problems, row, own)
        for sample in range(v.shape[1]):
            ended[row, sample] = True
        for i in range(problems.present.shape[1]):
            if not problems.present[row, i]:
                continue
            forward(own.factor, nv, problems.Jn[row, i], own.half, 0)
            unit = speed * math.sqrt(dot(own.half[0], own.half[0], nv))
            for sample in range(v.shape[1]):
                after = v[row, sample]
                normal = dot(problems.Jn[row, i], after, nv)
                if not normal >= -approach * unit:
                    ended[row, sample] = False
                modes[row, sample, i] = mode_of(normal, problems.Jt[row, i], nt, after, nv, unit, stick)


@kernel
def diameters(
    problems: Problems,
    skip: np.ndarray,
    own: RowScratch,
    v: Array,
    ended: np.ndarray,
    points: Array,
    found: Array,
    begin: int,
    end: int,
) -> None:
    """Largest distance between ended samples over the speed before, in the kinetic-energy norm, (rows,).

    Every pair is looked at; NaN where none ended. ``points`` (n, nv) is scratch.
    """
    # reads own.factor, problems.size; hands on own, problems
    for row in range(begin, end):
        if skip[row]:
            continue
        nv, count, speed = problems.size[row, 0], 0, speed_before(problems, row, own)
        for sample in range(v.shape[1]):
            if not ended[row, sample]:
                continue
            for j in range(nv):  # L^T v makes the norm Euclidean
                value = 0.0
                for i in range(j, nv):
                    value += own.factor[i, j] * v[row, sample, i]
                points[count, j] = value
            count += 1
        largest = 0.0 if count else math.nan
        for first in range(count):
            for second in range(first):
                total = 0.0
                for j in range(nv):
                    gap = points[first, j] - points[second, j]
                    total += gap * gap
                largest = max(largest, total)
        found[row] = math.sqrt(largest) / speed


@kernel
def energies(problems: Problems, v: Array, found: Array, begin: int, end: int) -> None:
    """Kinetic energies of velocities v (rows, n, nv), (rows, n) J."""
    # reads M, size
    for row in range(begin, end):
        nv = problems.size[row, 0]
        for sample in range(v.shape[1]):
            total = 0.0
            for i in range(nv):
                total += v[row, sample, i] * dot(problems.M[row, i], v[row, sample], nv)
            found[row, sample] = 0.5 * total


@kernel
def keep_laws(
    M: Array,
    Jn: Array,
    before: Array,
    unit: Array,
    tolerances: tuple[float, float],
    v: Array,
    good: np.ndarray,
) -> None:
    """Which velocities v (n, nv) have no more energy than the one before and leave no contact approaching.

    ``unit`` (nc,): the contacts' units of impulse, N s; a contact's unit of velocity times it is twice the
    energy before. ``tolerances``: shares of that energy, and of that unit of velocity.
    """
    nv = before.shape[0]
    energy = 0.0
    for i in range(nv):
        energy += before[i] * dot(M[i], before, nv)
    for sample in range(v.shape[0]):
        after = 0.0
        for i in range(nv):
            after += v[sample, i] * dot(M[i], v[sample], nv)
        good[sample] = after <= energy * (1.0 + tolerances[0])
        for i in range(Jn.shape[0]):
            if not -dot(Jn[i], v[sample], nv) * unit[i] <= tolerances[1] * energy:
                good[sample] = False
