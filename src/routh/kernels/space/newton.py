"""Friction that is nearly singular: the rates of several contacts at once, by Newton's method.

Contacts of one rigid body that differ a little in height nearly share a direction of friction: they squeeze
against each other, which moves almost nothing. There sweeps contact by contact need thousands of turns.

Given velocities ``b`` and a length h, find rates r with ``v = b + h G r`` such that friction opposes the slip
*at the end*: ``f |t| + mu n t = 0``. The normal rate n of a driven contact is given; a held one has
``n >= 0``, ``y >= 0``, one of them zero (Fischer and Burmeister). With driven contacts alone this minimises a
convex function, so slips are unique however singular G is. Rates at zero slip are the same equations with
slip rates in the place of slips.

Friction is a projection onto its disc or polygon (Alart and Curnier), and Newton's method on that takes three
steps as a rule, from the rates before. Where it does not end, a shorter step begins nearer to its end, and
for rates other roles are drawn. Where several rates of held contacts are solutions, the one found from there
is taken, which depends on no order of contacts.
"""

from __future__ import annotations

import math

from routh.base.validation import Array
from routh.compiling import apart, kernel
from routh.kernels.common.one_contact import Pull, pulled_to_disc
from routh.kernels.common.small_linear import factorise, substitute
from routh.kernels.space.straight import LONGEST
from routh.kernels.space.workspace import DRIVEN, ERROR, HELD, SLIDE, WALL, Corners, SpaceWork

SMOOTH = 1e-10  # slip, as a share of the speed, below which a contact sticks
FINEST, FINE = 1e-12, 1e-10  # the same for slip rates; and where rounding ends a solve with that
CLOSED = 1e-12  # residual of a solve that is done
NEARLY_CLOSED = 1e-8  # and of one that rounding ends
MOST = 12  # steps of Newton's method


@kernel
def gather(work: SpaceWork, m: int) -> None:
    """G of the contacts that push, side by side."""
    # reads gram, pushing; writes pushing_gram
    for a in range(m):
        for part in range(3):
            row, to = work.gram[3 * work.pushing[a] + part], work.pushing_gram[3 * a + part]
            for b in range(m):
                at = 3 * work.pushing[b]
                to[3 * b], to[3 * b + 1], to[3 * b + 2] = row[at], row[at + 1], row[at + 2]


@kernel
def pick(work: SpaceWork, m: int, of: Array, to: Array) -> None:
    """Coordinates of the contacts that push side by side, from those of all contacts."""
    # reads pushing
    for a in range(m):
        at = 3 * work.pushing[a]
        to[3 * a], to[3 * a + 1], to[3 * a + 2] = of[at], of[at + 1], of[at + 2]


@kernel
def put(work: SpaceWork, m: int, of: Array, to: Array) -> None:
    """The way back from `pick`."""
    # reads pushing
    for a in range(m):
        at = 3 * work.pushing[a]
        to[at], to[at + 1], to[at + 2] = of[3 * a], of[3 * a + 1], of[3 * a + 2]


@kernel
def move_by(work: SpaceWork, m: int, of: Array, to: Array, start: Array, h: float) -> None:
    """``to`` = ``start`` + h G ``of``."""
    # reads pushing_gram
    for row in range(3 * m):
        value = 0.0
        for column in range(3 * m):
            value += work.pushing_gram[row, column] * of[column]
        to[row] = start[row] + h * value


@kernel
def slides_on(work: SpaceWork, i: int, rates: bool) -> bool:
    """Whether the direction of friction of contact i is known: it slides, and rates are asked for."""
    # reads slip
    return rates and work.slip[i] == SLIDE


@kernel
def list_wanted(work: SpaceWork, m: int) -> int:
    """`whose`: the coordinates of the unknown rates; how many."""
    # reads pushing, role; writes whose
    size = 0
    for a in range(m):
        if work.role[work.pushing[a]] == HELD:
            work.whose[size] = 3 * a
            size += 1
        work.whose[size], work.whose[size + 1] = 3 * a + 1, 3 * a + 2
        size += 2
    return size


@kernel
def hold(work: SpaceWork, e: int, at: int, n: float, h: float, size: int) -> float:
    """Row e of the equations: ``n + y = sqrt(n^2 + y^2)`` of a held contact at coordinate ``at``, its corner
    rounded; y in units of its rate n. Returns by how much it is not so."""
    # reads equations, pushing_gram, speed, whose; writes equations
    scale = 1.0 / (h * work.pushing_gram[at, at])
    y = work.speed[at] * scale
    root = math.sqrt(n * n + y * y + 2.0 * FINEST * FINEST)
    slope = (1.0 - y / root) * scale * h
    for q in range(size):
        work.equations[e, q] = slope * work.pushing_gram[at, work.whose[q]]
    work.equations[e, e] += 1.0 - n / root
    return root - n - y


@kernel
def keep_in_cones(work: SpaceWork, m: int, of: Array) -> None:
    """Normal rates of held contacts not below zero, friction not above its most."""
    # reads mu, pushing, role
    for a in range(m):
        i, at = work.pushing[a], 3 * a
        if work.role[i] == HELD and of[at] < 0.0:
            of[at] = 0.0
        most = work.mu[i] * of[at]
        friction = math.sqrt(of[at + 1] ** 2 + of[at + 2] ** 2)
        if friction > most:
            of[at + 1] *= most / friction
            of[at + 2] *= most / friction


@kernel
def project(work: SpaceWork, m: int, corners: Corners, of: Array, h: float, eps: float, rates: bool) -> float:
    """Equations of a Newton step on friction as a projection onto its disc, at the rates ``of``.

    Alart and Curnier's: ``f`` is ``f - rho t`` brought back to the disc (polygon) of radius ``mu n``, so a
    contact that sticks has the linear equation ``t + eps f / (mu n) = 0``. Writes `speed`, the matrix and the
    right-hand side `right`; returns the largest residual.
    """
    # reads base, equations, mu, pushing, pushing_gram, right, role, whose
    # writes equations, right, speed
    # hands on work
    size, worst = list_wanted(work, m), 0.0
    move_by(work, m, of, work.speed, work.base, h)
    e = 0
    for a in range(m):
        i, at = work.pushing[a], 3 * a
        held, own, mu = work.role[i] == HELD, e, work.mu[i]
        n = of[at]
        if held:
            work.right[e] = hold(work, e, at, n, h, size)
            worst = max(worst, abs(work.right[e]))
            e += 1
        d00, d01, d10, d11, p00, p01, p10, p11, u0, u1, r0, r1 = disc(work, corners, a, of, h, eps, rates)
        for q in range(size):
            g0, g1 = work.pushing_gram[at + 1, work.whose[q]], work.pushing_gram[at + 2, work.whose[q]]
            work.equations[e, q] = h * (p00 * g0 + p01 * g1)
            work.equations[e + 1, q] = h * (p10 * g0 + p11 * g1)
        work.equations[e, e] += d00
        work.equations[e, e + 1] += d01
        work.equations[e + 1, e] += d10
        work.equations[e + 1, e + 1] += d11
        if held:
            work.equations[e, own] -= mu * u0
            work.equations[e + 1, own] -= mu * u1
        work.right[e], work.right[e + 1] = -r0, -r1
        worst = max(worst, max(abs(r0), abs(r1)))
        e += 2
    return worst if worst == worst else math.inf


@kernel
def disc(work: SpaceWork, corners: Corners, a: int, of: Array, h: float, eps: float, rates: bool) -> Pull:
    """`pulled_to_disc` of the contact with place a in `pushing`; or to its polygon."""
    # reads corner, mu, pushing, pushing_gram, slide0, slide1, slip, speed; hands on work
    i, at = work.pushing[a], 3 * a
    n, f0, f1 = of[at], of[at + 1], of[at + 2]
    t0, t1, most = work.speed[at + 1], work.speed[at + 2], work.mu[i] * n
    if slides_on(work, i, rates):
        u0, u1 = -work.slide0[i], -work.slide1[i]
        return 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, u0, u1, f0 - most * u0, f1 - most * u1
    inertia = 0.5 * (work.pushing_gram[at + 1, at + 1] + work.pushing_gram[at + 2, at + 2])
    rho = 1.0 / (h * max(inertia, 1e-6 * work.pushing_gram[at, at]))
    creeps = eps / max(most, 1e-6)
    if corners is None:
        return pulled_to_disc(f0, f1, t0, t1, most, rho, creeps)
    z0, z1 = f0 - rho * (t0 + creeps * f0), f1 - rho * (t1 + creeps * f1)
    wall = work.corner[i] if work.slip[i] == WALL else -1
    p0, p1, e0, e1, inside = on_rim(corners, z0, z1, most, wall)
    if inside:
        own = rho * creeps
        return own, 0.0, 0.0, own, rho, 0.0, 0.0, rho, 0.0, 0.0, rho * t0 + own * f0, rho * t1 + own * f1
    u0, u1 = (p0 / most, p1 / most) if most > 0.0 else (0.0, 0.0)
    along = e0 * u0 + e1 * u1  # a radius that grows moves an edge outwards, not along itself
    if wall < 0:
        u0, u1 = u0 - along * e0, u1 - along * e1
    own = 1.0 - rho * creeps
    return (
        1.0 - own * e0 * e0, -own * e0 * e1, -own * e0 * e1, 1.0 - own * e1 * e1,
        rho * e0 * e0, rho * e0 * e1, rho * e0 * e1, rho * e1 * e1,
        u0, u1, f0 - p0, f1 - p1,
    )  # fmt: skip


@kernel
def on_rim(
    corners: Array, z0: float, z1: float, radius: float, wall: int
) -> tuple[float, float, float, float, bool]:
    """The point of a friction polygon, or of one edge (``wall`` >= 0), next to z; the direction of the edge
    on which it lies (zero at a corner); whether z is inside."""
    count, inside, nearest = corners.shape[0], wall < 0, math.inf
    p0, p1, d0, d1 = 0.0, 0.0, 0.0, 0.0
    for j in range(count):
        if wall >= 0 and j != wall:
            continue
        following = j + 1 if j + 1 < count else 0
        x0, x1 = -radius * corners[j, 0], -radius * corners[j, 1]
        e0, e1 = corners[j, 0] - corners[following, 0], corners[j, 1] - corners[following, 1]
        edge = math.sqrt(e0 * e0 + e1 * e1)
        e0, e1 = e0 / edge, e1 / edge
        inside = inside and e0 * (z1 - x1) - e1 * (z0 - x0) >= 0.0
        along = e0 * (z0 - x0) + e1 * (z1 - x1)
        kept = min(max(along, 0.0), radius * edge)
        w0, w1 = x0 + kept * e0, x1 + kept * e1
        square = (z0 - w0) ** 2 + (z1 - w1) ** 2
        if square < nearest:
            nearest, p0, p1, d0, d1 = square, w0, w1, 0.0, 0.0
            if kept == along:
                d0, d1 = e0, e1
    return p0, p1, d0, d1, inside


@apart
def solve(work: SpaceWork, m: int, corners: Corners, of: Array, h: float, eps: float, rates: bool) -> float:
    """Rates of an implicit step of length h from `base`, from those ``of``: the largest residual.

    Infinite where a contact pushes at a rate beyond LONGEST, against one that faces it.
    """
    # reads equations, pivot, pushing, right, role, whose; writes equations, pivot, right; hands on work
    size, worst = list_wanted(work, m), math.inf
    for number in range(MOST + 1):
        worst = project(work, m, corners, of, h, eps, rates)
        if not worst > CLOSED or number == MOST or not worst < math.inf:
            break
        if not factorise(work.equations, work.pivot, size):
            return math.inf
        substitute(work.equations, work.pivot, work.right, size)
        for q in range(size):
            of[work.whose[q]] += work.right[q]
        for a in range(m):
            if work.role[work.pushing[a]] == HELD:
                of[3 * a] = max(of[3 * a], 0.0)
    for a in range(m):
        if not of[3 * a] < LONGEST:
            return math.inf
    return worst


@kernel
def rates_within(work: SpaceWork, m: int, corners: Corners, eps: float) -> float:
    """`stage1`, the rates next to `rate`, with slip rates below eps for contacts that stick: residual."""
    # reads pushing, rate, role, stage1, weight; writes stage1; hands on work
    pick(work, m, work.rate, work.stage1)
    for a in range(m):  # what is given of driven contacts that slide stays; the others are found
        i = work.pushing[a]
        if work.role[i] == DRIVEN:
            work.stage1[3 * a] = work.weight[i]
    keep_in_cones(work, m, work.stage1)
    return solve(work, m, corners, work.stage1, 1.0, eps, True)


@kernel
def find_rates(work: SpaceWork, m: int, corners: Corners) -> bool:
    """`rate` of the contacts in `pushing` where sweeps do not end; whether there are any."""
    # reads course, pushing, pushing_gram, role, speed, stage1; writes base, course, rate; hands on work
    gather(work, m)
    for row in range(3 * m):
        work.base[row] = 0.0
    worst = rates_within(work, m, corners, FINEST)
    if FINE < worst <= NEARLY_CLOSED:  # rounding grows by one over eps where contacts squeeze each other
        worst = rates_within(work, m, corners, FINE)
    if not worst <= NEARLY_CLOSED:
        return False
    if worst > FINE:  # a straight piece with these rates knows no other error
        work.course[ERROR] += worst
    for a in range(m):
        i, at = work.pushing[a], 3 * a
        # of two numbers with product zero the smaller is rounding
        idle = work.role[i] == HELD and work.stage1[at] <= work.speed[at] / work.pushing_gram[at, at]
        for part in range(3):
            work.rate[3 * i + part] = 0.0 if idle else work.stage1[at + part]
    return True
