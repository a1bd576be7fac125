"""Implicit steps where contacts stick or slip slowly beside each other.

Slips much smaller than the others change much more quickly: a stiff equation. Steps are Alexander's SDIRK2
(L-stable, positive weights, so impulses stay in their cones; a step ends with its second stage, so the laws
hold there), each stage one solve of `routh.kernels.space.newton`. The error is that of a quadrature of order
three over the rates at the beginning and at both stages, taken through Newton's matrix: what stiff friction
corrects at once is no error. Letting go of a held contact is no event, and neither is the end of a slip.
"""

from __future__ import annotations

import math

from routh.base.validation import Array
from routh.compiling import apart, kernel
from routh.kernels.common import record as rec
from routh.kernels.common.record import GAMMA, Record, end_margin, note_margin, slip_of
from routh.kernels.common.small_linear import factorise, substitute
from routh.kernels.space.advance import advance, write_trace
from routh.kernels.space.newton import (
    FINEST,
    NEARLY_CLOSED,
    SMOOTH,
    disc,
    gather,
    list_wanted,
    move_by,
    pick,
    project,
    put,
    solve,
)
from routh.kernels.space.record import write_instant, write_solve
from routh.kernels.space.straight import normal_length
from routh.kernels.space.workspace import (
    BROKEN,
    BUDGET_ZERO,
    CUT,
    CUT_SHORT,
    DRIVEN,
    ERROR,
    FREE,
    GO_ON,
    HELD,
    LENGTH,
    NORMAL_ZERO,
    STEPPED,
    STEPS,
    TAKEN,
    VIOLATED,
    Books,
    SpaceWork,
)

# quadrature of order three with nodes 0, GAMMA and 1, less the weights of the step
OFF0 = 0.5 - 1.0 / (6.0 * GAMMA)
OFF1 = 1.0 / (6.0 * GAMMA * (1.0 - GAMMA)) - (1.0 - GAMMA)
OFF2 = (2.0 - 3.0 * GAMMA) / (6.0 * (1.0 - GAMMA)) - GAMMA
WEIGHT1 = 1.0 / (6.0 * GAMMA * (1.0 - GAMMA))  # that quadrature's, of the first stage
# velocities at the first stage by a parabola through the three rates, less those of the stage; for a contact
# that sticks by a line through the rates of the stages, since those at the beginning may be of its slip
PATH0 = GAMMA / 2.0 - GAMMA**2 / 6.0
PATH1 = GAMMA * (0.5 - GAMMA / 3.0) / (1.0 - GAMMA) - GAMMA
PATH2 = -(GAMMA**3) / (6.0 * (1.0 - GAMMA))
STUCK = GAMMA**2 / (2.0 * (1.0 - GAMMA))

SHORTEST, FARTHEST = 1e-10, 1e3  # lengths of a step, and of a piece
MOST_STEPS = 200.0  # of a piece; then it is cut short, which is always allowed
GROWS, SHRINKS, SAFETY = 8.0, 0.1, 0.85
LOCAL = 10.0  # times the tolerance: what one step may miss by its estimate
UNSURE = 2.0  # times its estimate: what a step reports
PLACED, PLACED_FINELY = 1e-6, 1e-10  # an event this near is reached on a straight line; for derivatives
CREEP = 10.0  # times eps: slips below this are none at the end of a piece
KINK, SMALL = 1e-5, 3e-4  # slips above the first are followed to their end, larger ones in shorter steps
NEARLY, HALFWAY = 0.9, 0.6  # how far to that end a step may go
HALVINGS = 6  # of a step in which larger ones end, or turn far
TURNS, KINKED = 0.1, 0.5  # KINKED: times what `missed_slips` finds, what the velocity may be off by
TINY = 1e-11
TURNED = 0.9  # cosine of the angle beyond which a slip that turns in a step may have ended


@kernel
def both_stages(work: SpaceWork, m: int, h: float, eps: float) -> bool:
    """A step of length h: rates `stage1`, `stage2`, at its end `speed`; whether it could be solved.

    `pushed` are its impulses, `pushed1` those of the first stage.
    """
    # reads base, begin, now, pushed1, stage1, stage2
    # writes base, pushed, pushed1, stage1, stage2
    # hands on work
    pick(work, m, work.now, work.base)
    for row in range(3 * m):
        work.stage1[row] = work.begin[row]
    if not solve(work, m, None, work.stage1, GAMMA * h, eps, False) <= NEARLY_CLOSED:
        return False
    move_by(work, m, work.stage1, work.base, work.base, (1.0 - GAMMA) * h)
    for row in range(3 * m):
        work.stage2[row] = work.stage1[row]
    if not solve(work, m, None, work.stage2, GAMMA * h, eps, False) <= NEARLY_CLOSED:
        return False
    for row in range(3 * m):
        work.pushed1[row] = (1.0 - GAMMA) * h * work.stage1[row]
        work.pushed[row] = work.pushed1[row] + GAMMA * h * work.stage2[row]
    return True


@kernel
def rests(work: SpaceWork, a: int, eps: float) -> bool:
    """Whether the contact with place a in `pushing` does not slip with the velocities `speed`."""
    # reads speed
    t0, t1 = work.speed[3 * a + 1], work.speed[3 * a + 2]
    return t0 * t0 + t1 * t1 <= (CREEP * eps) ** 2


@kernel
def estimate(work: SpaceWork, m: int, h: float, eps: float) -> float:
    """What the step misses, in the norm of the energy; what friction corrects at once is left out.

    Two things: the quadrature's, and that the rates of the first stage belong to other velocities than those
    of the path there, where friction turns with the slip.
    """
    # reads before, begin, equations, missed, mu, pivot, pushing, pushing_gram, right, role, speed, stage1,
    #   stage2, whose
    # writes before, equations, missed, pivot, right
    # hands on work
    size = list_wanted(work, m)
    project(work, m, None, work.stage2, GAMMA * h, eps, False)
    for a in range(m):
        at = 3 * a
        sticks = rests(work, a, eps)
        for row in range(at, at + 3):
            begin, first, second = work.begin[row], work.stage1[row], work.stage2[row]
            work.missed[row] = h * (OFF0 * begin + OFF1 * first + OFF2 * second)
            beside = STUCK * (first - second) if sticks else PATH0 * begin + PATH1 * first + PATH2 * second
            work.before[row] = WEIGHT1 * h * h * beside
    e = 0
    for a in range(m):
        i, at, normal = work.pushing[a], 3 * a, 0.0
        if work.role[i] == HELD:
            n, y = work.stage2[at], work.speed[at] / (GAMMA * h * work.pushing_gram[at, at])
            normal = work.missed[at]
            work.right[e] = (1.0 - n / math.sqrt(n * n + y * y + 2.0 * FINEST * FINEST)) * normal
            normal *= work.mu[i]
            e += 1
        d00, d01, d10, d11, p00, p01, p10, p11, u0, u1, _, _ = disc(
            work, None, a, work.stage2, GAMMA * h, eps, False
        )
        t0, t1 = 0.0, 0.0
        if not rests(work, a, eps):
            for column in range(3 * m):
                t0 += work.pushing_gram[at + 1, column] * work.before[column]
                t1 += work.pushing_gram[at + 2, column] * work.before[column]
        f0, f1 = work.missed[at + 1], work.missed[at + 2]
        work.right[e] = d00 * f0 + d01 * f1 - u0 * normal - p00 * t0 - p01 * t1
        work.right[e + 1] = d10 * f0 + d11 * f1 - u1 * normal - p10 * t0 - p11 * t1
        e += 2
    if not factorise(work.equations, work.pivot, size):
        return math.inf
    substitute(work.equations, work.pivot, work.right, size)
    for row in range(3 * m):
        work.missed[row] = 0.0
    for q in range(size):
        work.missed[work.whose[q]] = work.right[q]
    square = 0.0
    for row in range(3 * m):
        for column in range(3 * m):
            square += work.missed[row] * work.pushing_gram[row, column] * work.missed[column]
    return math.sqrt(square) if square > 0.0 else (0.0 if square == square else math.inf)


@kernel
def changed_by(work: SpaceWork, m: int, of: Array, row: int, share: float) -> float:
    """What ``share`` times the impulses ``of`` change contact coordinate ``row`` by."""
    # reads gram, pushing
    value = 0.0
    for a in range(m):
        at = 3 * work.pushing[a]
        value += work.gram[row, at] * of[3 * a]
        value += work.gram[row, at + 1] * of[3 * a + 1]
        value += work.gram[row, at + 2] * of[3 * a + 2]
    return share * value


@kernel
def worked(work: SpaceWork, m: int, a: int, h: float) -> float:
    """Work of the normal impulse of the contact with place a in `pushing`, by the step's own quadrature."""
    # reads now, pushed, pushing, stage1, stage2; hands on work
    i = work.pushing[a]
    y1 = work.now[3 * i] + changed_by(work, m, work.stage1, 3 * i, GAMMA * h)
    y2 = work.now[3 * i] + changed_by(work, m, work.pushed, 3 * i, 1.0)
    return h * ((1.0 - GAMMA) * work.stage1[3 * a] * y1 + GAMMA * work.stage2[3 * a] * y2)


@kernel
def direction(work: SpaceWork, m: int, i: int) -> float:
    """1: contact i approaches, and its event is that it stops; -1: it separates; 0: it has none."""
    # reads begin, budget, now, role; hands on work
    y, role = work.now[3 * i], work.role[i]
    if role == HELD:
        return 0.0
    rests = role == DRIVEN and y <= TINY
    if y < -TINY or (rests and not work.budget[i] > 0.0):
        return 1.0
    if rests and changed_by(work, m, work.begin, 3 * i, 1.0) < -TINY:
        return 1.0  # it sinks before it returns anything
    return -1.0 if y > TINY else 0.0


@kernel
def comes_first(now: float, earlier: float, value: float, first: float) -> tuple[bool, float]:
    """Whether an event comes before the one found so far, whose value is ``value``, and where the first is.

    Values above 0 are passed, at a share of the step on a line from what they were before; ``first`` is the
    least share. Before any is passed the value counts.
    """
    if not now > 0.0:
        return value <= 0.0 and now > value, first
    at = earlier / (earlier - now) if earlier < 0.0 else 0.0
    return at < first, (at if at < first else first)


@kernel
def farthest_event(
    work: SpaceWork, nc: int, m: int, books: Books, h: float, keep: bool
) -> tuple[float, int, int, float]:
    """The event that the step has passed most: (value, kind, contact, its rate), see `comes_first`.

    ``keep``: `earlier` keeps all values.
    """
    # reads budget, earlier, now, pushed, pushing, role, stage2; writes earlier; hands on work
    value, kind, who, rate, first = -math.inf, GO_ON, -1, 0.0, 2.0
    for i in range(nc):
        sign = direction(work, m, i)
        if sign == 0.0:
            continue
        y = sign * (work.now[3 * i] + changed_by(work, m, work.pushed, 3 * i, 1.0))
        if keep:
            work.earlier[i] = y
        comes, first = comes_first(y, work.earlier[i], value, first)
        if comes:
            value, kind, who = y, NORMAL_ZERO, i
            rate = sign * changed_by(work, m, work.stage2, 3 * i, 1.0)
    if books is not None:
        for a in range(m):
            i = work.pushing[a]
            if work.role[i] != DRIVEN or not work.budget[i] > 0.0:
                continue
            spent, slope = worked(work, m, a, h), work.stage2[3 * a]
            if books == 1:
                spent = work.pushed[3 * a] if work.now[3 * i] >= 0.0 else -1.0
            else:
                slope *= work.now[3 * i] + changed_by(work, m, work.pushed, 3 * i, 1.0)
            left = spent - work.budget[i]
            if keep:
                work.earlier[nc + i] = left
            comes, first = comes_first(left, work.earlier[nc + i], value, first)
            if comes:
                value, kind, who, rate = left, BUDGET_ZERO, i, slope
    return value, kind, who, rate


@kernel
def begin_events(work: SpaceWork, nc: int) -> None:
    """`earlier`: how far events are before the step."""
    # reads budget, now; writes earlier
    for i in range(nc):
        work.earlier[i] = -abs(work.now[3 * i])
        work.earlier[nc + i] = -work.budget[i]


@kernel
def place_event(
    work: SpaceWork, nc: int, m: int, books: Books, h: float, eps: float, placed: float
) -> tuple[float, int, int, bool]:
    """The first event within a step of length h that `both_stages` took: (length, kind, contact, solved).

    `pushed` belongs to that length. GO_ON: there is none. ``placed``: see PLACED.
    """
    # reads course, earlier, pushed, stage2; writes course, pushed; hands on work
    value, kind, who, rate = farthest_event(work, nc, m, books, h, False)
    if not value > 0.0:
        return h, GO_ON, -1, True
    low, high = 0.0, h
    for number in range(60):
        row = who if kind == NORMAL_ZERO else nc + who
        near = -value / rate if rate != 0.0 else math.inf
        if abs(value) <= placed and abs(near) <= 0.02 * h and abs(near) <= 1e-3:
            for at in range(3 * m):
                work.pushed[at] += near * work.stage2[at]
            work.course[ERROR] += near * near / max(h, 1e-12)
            return h + near, kind, who, True
        if value > 0.0:
            high = h
        guess = h + near
        if value > 0.0 and work.earlier[row] < 0.0 and not low < guess < high:
            guess = low + (high - low) * work.earlier[row] / (work.earlier[row] - value)
        if not low < guess < high or number % 6 == 5:
            guess = 0.5 * (low + high)
        h = guess
        if not both_stages(work, m, h, eps):
            return h, kind, who, False
        value, kind, who, rate = farthest_event(work, nc, m, books, h, False)
        if not value > 0.0:
            low = h
            farthest_event(work, nc, m, books, h, True)
    return h, kind, who, high - low <= 1e-9


@kernel
def check_stages(work: SpaceWork, m: int, h: float) -> None:
    """VIOLATED: by how much friction does not oppose the slip at a stage, recomputed from its rates."""
    # reads course, now, pushed, pushing, stage1, stage2; writes course; hands on work
    for a in range(m):
        power, at = 0.0, 3 * work.pushing[a]
        for part in range(1, 3):
            t = work.now[at + part] + changed_by(work, m, work.stage1, at + part, GAMMA * h)
            power += (1.0 - GAMMA) * h * work.stage1[3 * a + part] * t
            t = work.now[at + part] + changed_by(work, m, work.pushed, at + part, 1.0)
            power += GAMMA * h * work.stage2[3 * a + part] * t
        if not power <= work.course[VIOLATED]:
            work.course[VIOLATED] = power


@kernel
def walk(work: SpaceWork, nc: int, m: int, books: Books, h: float, who: int) -> None:
    """Move by `pushed`; contact ``who`` comes to rest normally."""
    # reads pushed, pushing; writes impulse, worked; hands on work
    if books is not None:
        for a in range(m):
            work.worked[work.pushing[a]] = worked(work, m, a, h)
    put(work, m, work.pushed, work.impulse)
    check_stages(work, m, h)
    advance(work, nc, m, books, 0.0, who, False)


@kernel
def write_stages(work: SpaceWork, m: int) -> None:
    """The step to the trace, stage by stage: the friction of each is against a slip on its straight way."""
    # reads impulse, missed, pushed, pushed1; writes impulse, missed; hands on work
    put(work, m, work.pushed1, work.impulse)
    write_trace(work, m, work.impulse)
    for row in range(3 * m):
        work.missed[row] = work.pushed[row] - work.pushed1[row]
    put(work, m, work.missed, work.impulse)
    write_trace(work, m, work.impulse)


@kernel
def write_rates(work: SpaceWork, nc: int, m: int, of: Array) -> None:
    """`rate` and `change` of the rates ``of``."""
    # writes change, rate; hands on work
    for row in range(3 * nc):
        work.rate[row], work.change[row] = 0.0, changed_by(work, m, of, row, 1.0)
    put(work, m, of, work.rate)


@kernel
def write_reversal(record: Record, work: SpaceWork, nc: int, m: int, h: float, eps: float) -> None:
    """The end of a slip that begins anew within the step, to the record, as an event before the step.

    A step has no place for it: how far it is decides for how long friction has which direction.
    """
    # reads work.begin, work.now, work.point, work.pushing; writes record.direction; hands on record, work
    ended = 0
    for a in range(m):
        i = work.pushing[a]
        at = 3 * i + 1
        t0, t1, e0, e1 = work.now[at], work.now[at + 1], work.point[at], work.point[at + 1]
        slip, after, along = math.sqrt(t0 * t0 + t1 * t1), math.sqrt(e0 * e0 + e1 * e1), t0 * e0 + t1 * e1
        if min(slip, after) <= CREEP * eps or along >= TURNED * slip * after:
            continue
        ended += 1
        closing = -(t0 * changed_by(work, m, work.begin, at, 1.0)) / slip
        closing -= t1 * changed_by(work, m, work.begin, at + 1, 1.0) / slip
        if ended > 1 or along > 0.0 or not closing * h > slip:
            note_margin(record, 0.0)  # it turns, or another one ends as well
            return
        write_rates(work, nc, m, work.begin)
        k = write_instant(record, work, nc, rec.VANISHES, i)
        record.direction[k, 0], record.direction[k, 1], record.direction[k, 2] = 0.0, t0 / slip, t1 / slip


@kernel
def write_step(record: Record, work: SpaceWork, nc: int, m: int, books: Books, h: float, eps: float) -> None:
    """Both solves of a step to the record."""
    # reads work.now, work.pushed, work.stage1, work.stage2; writes work.point; hands on record, work
    for row in range(3 * nc):
        work.point[row] = work.now[row] + changed_by(work, m, work.pushed, row, 1.0)
    write_reversal(record, work, nc, m, h, eps)
    for row in range(3 * nc):
        work.point[row] = work.now[row] + changed_by(work, m, work.stage1, row, GAMMA * h)
    write_solve(record, work, nc, m, work.stage1, h, GAMMA * h, 1, eps)
    for row in range(3 * nc):
        work.point[row] = work.now[row] + changed_by(work, m, work.pushed, row, 1.0)
    write_solve(record, work, nc, m, work.stage2, h, GAMMA * h, 2, eps)
    if books is not None:
        note_margin(record, 0.0)  # what is stored and returned on the way is not gone through


@kernel
def write_end(record: Record, work: SpaceWork, nc: int, m: int, kind: int, who: int) -> None:
    """The event that ended the steps to the record, after the last of them was walked."""
    # reads record.c, record.event, record.face, record.total, work.now, work.stage2; hands on record, work
    last = min(int(record.total[rec.ENTRIES]), len(record.event)) - 1
    write_rates(work, nc, m, work.stage2)
    k = write_instant(record, work, nc, rec.VANISHES if kind == NORMAL_ZERO else rec.LENGTH_OVER, who)
    for i in range(nc):
        moves = work.now[3 * i] != record.c[last, 3 * i]
        slip, slides = slip_of(work.now, 3, i), record.face[last, i] == rec.TURNS
        end_margin(record, k, i, work.now[3 * i], slip, moves, slides)


@kernel
def stop_creeping(work: SpaceWork, m: int, snap: float) -> None:
    """Slips of contacts that stick are none; what that changes counts as error."""
    # reads course, now, pushing; writes course, now
    for a in range(m):
        at = 3 * work.pushing[a]
        slip = math.sqrt(work.now[at + 1] ** 2 + work.now[at + 2] ** 2)
        if slip <= snap:
            work.course[ERROR] += slip
            work.now[at + 1] = work.now[at + 2] = 0.0


@kernel
def begin_stiff(work: SpaceWork, nc: int, m: int) -> None:
    """A piece by implicit steps, after its rates are known: where they begin, and the first step's length."""
    # reads rate; writes begin, course; hands on work
    gather(work, m)
    pick(work, m, work.rate, work.begin)
    work.course[LENGTH] = min(0.2 * normal_length(work, nc)[0], 1.0)


@kernel
def slip_unit(work: SpaceWork, i: int) -> float:
    """What a slip of contact i is divided by to tell how far, by its energy, its end moves the velocity."""
    # reads gram
    g, h = 3 * i + 1, 3 * i + 2
    return math.sqrt(max(0.5 * (work.gram[g, g] + work.gram[h, h]), 1e-300))


@kernel
def before_kink(work: SpaceWork, m: int) -> float:
    """The length at which a first slip above KINK nearly ends, by the rates `begin`."""
    # reads begin, now, pushing; hands on work
    least = math.inf
    for a in range(m):
        i = work.pushing[a]
        at, unit = 3 * i, slip_unit(work, i)
        t0, t1 = work.now[at + 1], work.now[at + 2]
        square = t0 * t0 + t1 * t1
        if square > (KINK * unit) ** 2:
            closing = -t0 * changed_by(work, m, work.begin, at + 1, 1.0)
            closing -= t1 * changed_by(work, m, work.begin, at + 2, 1.0)
            if closing > 0.0:
                share = NEARLY if square < (SMALL * unit) ** 2 else HALFWAY
                least = min(least, share * square / closing)
    return least


@kernel
def missed_slips(work: SpaceWork, m: int, eps: float) -> float:
    """The sum of the slips that end within the step, and of shares of those that turn: angle cubed.

    A slip that ends and begins anew the other way has ended, however little of the new one there is; a held
    contact that was let go and comes down again has an end of its own.
    """
    # reads gram, now, pushed, pushing, role; hands on work
    missed = 0.0
    for a in range(m):
        i = work.pushing[a]
        at, unit = 3 * i, slip_unit(work, i)
        if work.role[i] == HELD and work.pushed[3 * a] * work.gram[at, at] > TINY:  # less is rounding
            missed += max(work.now[at], 0.0) / math.sqrt(work.gram[at, at])
        t0, t1 = work.now[at + 1], work.now[at + 2]
        e0 = t0 + changed_by(work, m, work.pushed, at + 1, 1.0)
        e1 = t1 + changed_by(work, m, work.pushed, at + 2, 1.0)
        before, after = math.sqrt(t0 * t0 + t1 * t1), math.sqrt(e0 * e0 + e1 * e1)
        if after <= CREEP * eps:
            missed += before / unit
        else:
            cosine = (t0 * e0 + t1 * e1) / max(before * after, 1e-300)
            turning = before if cosine < 0.0 else min(before, after)
            missed += TURNS * turning / unit * math.pow(max(2.0 - 2.0 * cosine, 0.0), 1.5)
    return missed


@apart
def step_stiff(
    work: SpaceWork, nc: int, m: int, books: Books, record: Record | None, tolerance: float
) -> tuple[int, int]:
    """One implicit step: (why the piece ended, contact); STEPPED: it has not.

    A solve that fails is tried with shorter steps; then what is held is let go, which is always allowed.
    """
    # reads work.course, work.stage2, work.trace; writes work.begin, work.course; hands on record, work
    eps = min(SMOOTH, 1e-3 * tolerance)
    allowed = LOCAL * tolerance
    h, error, before, solved, turns = work.course[LENGTH], 0.0, math.inf, False, 0
    h = min(h, before_kink(work, m))
    while True:
        h = min(h, work.course[CUT])
        work.course[STEPS] += 1.0
        solved = both_stages(work, m, h, eps)
        error = estimate(work, m, h, eps) if solved else math.inf
        missed = solved and turns < HALVINGS and missed_slips(work, m, eps) > 4.0 * KINK
        if solved and error <= allowed and not missed:
            break
        kink = turns > 0 and error > 0.5 * before  # where a slip ends the error does not fall with h
        shorter = SAFETY * math.pow(allowed / max(error, 1e-300), 1.0 / 3.0) if solved and not kink else 0.0
        h *= max(SHRINKS, min(shorter, 0.5 if missed else 1.0))
        turns, before = turns + 1, error
        if not h > SHORTEST or turns > 60:
            return let_go(work, m), -1
    following = h * min(GROWS, SAFETY * math.pow(allowed / max(error, 1e-300), 1.0 / 3.0))
    begin_events(work, nc)
    ends_at_cut = h >= work.course[CUT]
    placed = PLACED if record is None else PLACED_FINELY
    h, kind, who, solved = place_event(work, nc, m, books, h, eps, placed)
    if not solved:
        return let_go(work, m), -1
    if record is not None:
        write_step(record, work, nc, m, books, h, eps)
    work.course[ERROR] += UNSURE * error + KINKED * missed_slips(work, m, eps)
    if work.trace.shape[0] > 0:
        write_stages(work, m)
    walk(work, nc, m, books, h, who if kind == NORMAL_ZERO else -1)
    work.course[CUT] -= h
    work.course[TAKEN] += 1.0
    for row in range(3 * m):
        work.begin[row] = work.stage2[row]
    work.course[LENGTH] = following
    if kind == GO_ON:
        if ends_at_cut or work.course[TAKEN] >= MOST_STEPS or following > FARTHEST:
            kind = CUT_SHORT
            if record is not None and not ends_at_cut:
                note_margin(record, 0.0)  # where the last step ends is no event
        else:
            return STEPPED, -1
    stop_creeping(work, m, CREEP * eps)
    if record is not None:
        write_end(record, work, nc, m, kind, who)
    return kind, who


@kernel
def let_go(work: SpaceWork, m: int) -> int:
    """After a solve that failed: GO_ON without what was held; BROKEN where nothing was."""
    # reads pushing, role; writes role
    found = BROKEN
    for a in range(m):
        i = work.pushing[a]
        if work.role[i] == HELD:
            work.role[i] = FREE
            found = GO_ON
    return found
