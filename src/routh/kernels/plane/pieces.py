"""One straight piece of a planar path: how far it goes, what it does, and whether it obeys the model."""

from __future__ import annotations

import math

import numpy as np

from routh.base import tolerances
from routh.compiling import inlined, kernel
from routh.kernels.common.random import GOLDEN, event_number, event_word
from routh.kernels.plane.rates import DRIVEN, NONE, ROUNDING, PlaneWork
from routh.kernels.plane.roles import STUCK, drive, field, find_known_rates

ZERO = 1e-12  # scaled velocities below this are zero: rounding of a few dozen pieces
LEAST = 0.5 * tolerances.BUDGET  # what is left of a budget below this is rounding
FOREVER = 1e300
DISTINCT = 1e-9  # share of a piece by which a corner cut keeps away from its ends
CORNERS = 0.9  # share of the cuts that look for a corner
# kinds of pairs of `pass_by`: slips that are one for all velocities; normals, or a normal and a slip, that
# are; those that only meet on this path
SLIPS_ALIKE, NORMALS_ALIKE, MET = 1, 2, 4
# numbers of an event beyond the words of its contacts
FRACTION, ANYWAY, PARTNER, NEXT, COORDINATE = 1000, 1001, 1002, 2000, 4000


@inlined
def budget_length(y: float, rise: float, rate: float, budget: float, poisson: int) -> float:
    """How far it is to where a contact that separates has returned its budget; energetic: the root of work.

    That is ``rate (y s + rise s^2 / 2) = budget``, which has none where it stops separating first.
    """
    if not (budget > 0.0 and rate > 0.0 and (y > 0.0 or (y == 0.0 and rise >= 0.0))):
        return math.inf
    left = budget / rate
    if poisson == 1:
        return left
    root = y * y + 2.0 * rise * left
    bottom = y + math.sqrt(root) if root > 0.0 else y
    return 2.0 * left / bottom if root >= 0.0 and bottom > 0.0 else math.inf


@kernel
def length_to_event(work: PlaneWork, nc: int, at: int, poisson: int, watch: bool) -> float:
    """How far the piece goes: to the first zero of a normal velocity or slip, or the end of a budget.

    Slip counts where a contact pushes, and with ``watch`` also where one approaches.
    """
    # reads budget, known, now
    rates = work.known
    length = FOREVER
    for i in range(nc):
        y, rise = work.now[2 * i], rates[at, 2 * nc + 2 * i]
        t, slide = work.now[2 * i + 1], rates[at, 2 * nc + 2 * i + 1]
        normal = rates[at, 2 * i]
        if y * rise < 0.0:
            length = min(length, -y / rise)
        if t * slide < 0.0 and (normal > 0.0 or (watch and y < 0.0)):
            length = min(length, -t / slide)
        length = min(length, budget_length(y, rise, normal, work.budget[i], poisson))
    return length


@kernel
def still_hold(work: PlaneWork, nc: int, at: int) -> bool:
    """Whether the rates obey the laws from where the path is now on."""
    # reads budget, known, mu, now
    rates = work.known
    for i in range(nc):
        normal, friction = rates[at, 2 * i], rates[at, 2 * i + 1]
        if not normal > 0.0:
            continue
        y, rise = work.now[2 * i], rates[at, 2 * nc + 2 * i]
        if not (y < 0.0 or work.budget[i] > 0.0 or (y == 0.0 and rise <= 0.0)):
            return False
        t, slide = work.now[2 * i + 1], rates[at, 2 * nc + 2 * i + 1]
        slip, limit = t if t != 0.0 else slide, work.mu[i] * normal
        if (slip > 0.0 and friction != -limit) or (slip < 0.0 and friction != limit):
            return False
    return True


@inlined
def pass_by(
    work: PlaneWork, a: int, b: int, now: tuple[float, float], later: tuple[float, float], length: float
) -> None:
    """Remember a pair of coordinates that vanish together wherever one does, as slips of feet on one level.

    It is no corner, but one anywhere within ``length`` as soon as data change so that they differ a little.
    ``now`` and ``later``: changes of both in this piece, and in the next one.
    """
    # reads gram, now, passed; writes passed
    ca, cb, (da, db), (ea, eb) = work.now[a], work.now[b], now, later
    moves = abs(da * eb) + abs(db * ea) > 0.0
    together = abs(cb * ea - ca * eb) <= ROUNDING * (abs(cb * ea) + abs(ca * eb))
    if moves and together and (ca * ea < 0.0 or (ca + length * da) * ea < 0.0):
        kind = SLIPS_ALIKE if a % 2 == 1 and b % 2 == 1 else NORMALS_ALIKE
        alike = work.gram[a, b] ** 2 >= (1.0 - ROUNDING) * work.gram[a, a] * work.gram[b, b]
        work.passed[0] |= kind if alike else MET


@kernel
def cut_short(
    work: PlaneWork, nc: int, at: int, key: np.uint64, length: float, pushes: int, corners: bool, uncut: float
) -> tuple[float, int]:
    """A shorter length, and the contact that is to push alone next (-1: as it is drawn).

    At a corner cut two coordinates will vanish together in the next piece, which is how the extreme points of
    the set are reached. Coordinates are tried in a drawn order; of the partners of the first that has any one
    is drawn. Without any the piece keeps its length with probability ``uncut``: a cut anywhere reaches no
    end of the set.
    """
    # reads budget, known, mu, now, unknown
    # writes ceiling, cut_at, free, passed, role, slip, unknown
    # hands on work
    rates = work.known
    work.passed[0] = 0
    fraction = length * event_number(key, FRACTION)
    if not corners or field(key, 2) >= CORNERS:
        return fraction, -1
    if event_number(key, ANYWAY) < uncut:
        fraction = length
    chosen, lowest = -1, 2.0
    for i in range(nc):
        y, rise = work.now[2 * i], rates[at, 2 * nc + 2 * i]
        if i != pushes and (y < 0.0 or (y == 0.0 and rise < 0.0) or work.budget[i] > 0.0):
            number = event_number(key, NEXT + i)
            if number < lowest:
                chosen, lowest = i, number
    if chosen < 0:
        return fraction, -1
    for i in range(nc):
        work.role[i] = NONE
    drive(work, chosen, DRIVEN, STUCK)
    work.ceiling[chosen] = 0  # where it rests it will approach by then
    starts = rates[at, 2 * nc + 2 * chosen + 1]
    if work.now[2 * chosen + 1] == 0.0 and starts != 0.0 and work.mu[chosen] > 0.0:  # it will slide
        work.slip[chosen] = 1 if starts > 0.0 else -1
        work.free[chosen] = 0
    then = find_known_rates(work, nc, True, at, key)
    if then < 0:
        return fraction, -1
    n = 2 * nc
    for a in range(n):
        work.unknown[a] = a
    word = event_word(key, COORDINATE)
    for first in range(n):
        pick = first + int(((word >> np.uint64(48)) * np.uint64(n - first)) >> np.uint64(16))
        word *= GOLDEN
        a = work.unknown[pick]
        work.unknown[pick] = work.unknown[first]
        count, cut = 0, 0.0
        ca, da, ea = work.now[a], rates[at, n + a], rates[then, n + a]
        if not (da * ca < 0.0 or ea * ca < 0.0 or da * ea < 0.0):
            continue  # it does not come to zero
        for b in range(n):  # c + s d + u e = 0 in a and b, d the motion now and e the next one
            db, eb = rates[at, n + b], rates[then, n + b]
            det = da * eb - db * ea
            if b == a:
                continue
            if not abs(det) > ROUNDING * (abs(da * eb) + abs(db * ea)):
                pass_by(work, a, b, (da, db), (ea, eb), length)
                continue
            s = work.now[b] * ea - ca * eb  # times det
            u = ca * db - work.now[b] * da
            # a corner that is here already, or at the end of this piece, is one only up to rounding
            reach, now, later = length * abs(det), abs(da) + abs(db), abs(ea) + abs(eb)
            near, far = DISTINCT * reach, (1.0 - DISTINCT) * reach
            ahead = s * det > 0.0 and u * det > 0.0 and near < abs(s) < far
            if ahead and abs(u) * later > near * now:
                count += 1
                if count == 1 or event_number(key, PARTNER + count) * count < 1.0:
                    cut = s / det
                    work.cut_at[1] = b
        if count > 0:
            work.cut_at[0], work.cut_at[2] = a, then
            return cut, chosen
    return fraction, -1


@kernel
def advance(
    work: PlaneWork, nc: int, at: int, length: float, whole: bool, elastic: bool, poisson: int
) -> float:
    """Move to the end of the piece. Returns how far the piece is from the laws of the model.

    Where the piece ends by an event, that coordinate is zero. Budgets, stored and returned work follow:
    along a piece work is quadratic in the length.
    """
    # reads bounce, budget, known, mu, now, returned, stored, then, total
    # writes budget, now, returned, stored, then, total
    rates = work.known
    worst = 0.0
    for a in range(2 * nc):
        c, change = work.now[a], rates[at, 2 * nc + a]
        after = c + length * change
        if not abs(after) > ZERO or (whole and c * change < 0.0 and -c / change == length):
            after = 0.0
        work.then[a] = after
    for i in range(nc):
        push, friction = length * rates[at, 2 * i], length * rates[at, 2 * i + 1]
        y, t = work.now[2 * i], work.now[2 * i + 1]
        y_after, t_after = work.then[2 * i], work.then[2 * i + 1]
        work.now[2 * i], work.now[2 * i + 1] = y_after, t_after
        if push == 0.0 and friction == 0.0:
            continue
        work.total[2 * i] += push
        work.total[2 * i + 1] += friction
        limit, budget = work.mu[i] * push, work.budget[i]
        worst = max(worst, -push, abs(friction) - limit)  # the cone
        worst = max(worst, min(max(t, t_after), limit + friction))  # friction against slip
        worst = max(worst, min(max(-t, -t_after), limit - friction))
        if not budget > 0.0:
            worst = max(worst, min(push, max(y, y_after)))  # pushing only while approaching
        if elastic:
            done, e = 0.5 * (y + y_after) * push, work.bounce[i]
            if y < 0.0 or y_after < 0.0:
                work.stored[i] -= done
                budget += e * push if poisson == 1 else -e * e * done
            elif poisson == 1 and y == 0.0 and y_after == 0.0 and not budget > 0.0:
                budget += e * push  # held at rest: compressed as long as there is nothing to return
            elif budget > 0.0:
                work.returned[i] += done
                budget -= push if poisson == 1 else done
            work.budget[i] = budget if budget > LEAST else 0.0
    return worst
