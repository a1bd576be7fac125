"""One planar sample by events, as plainly as possible: the reference of `routh.kernels.plane.sample`.

In the problem's own units the velocities c = (y1, t1, y2, ...) of contacts, normal and tangential, change by
c' = G r with the rates r = (n1, f1, ...) of their impulses. A sample is a chain of straight pieces:

    until nothing approaches and nothing is left to return:
        draw who pushes                        `draw_roles`
        find rates that obey the laws          `find_rates`
        go to the next event, or less far      `length_to_event`, `cut_short`
        move                                   `advance`

Random numbers are those of `routh.base.rng`, so that the kernel's samples are drawn again, decision by
decision.
"""

from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from routh.base import tolerances
from routh.base.rng import event_key, event_number, event_word
from routh.base.status import Status

NONE, DRIVEN, HELD, EDGE = range(4)
FREELY, IN_TURN, TOGETHER = range(3)  # everything is drawn; one at a time; all driven
ZERO, ROUNDING = 1e-12, 1e-11


def field(bits, k):
    """The k-th 16 bits as a number in [0, 1)."""
    return ((bits >> 16 * k) & 0xFFFF) / 2**16


@dataclass
class Role:
    """What a contact does on a piece."""

    kind: int = NONE
    weight: float = 1.0  # its normal rate where it is driven
    slip: int = 0  # the side to which it slides: friction is against it; 0: friction is found
    free: bool = False  # whether ``slip`` is a guess that the laws may change
    ceiling: bool = False  # at rest: it may push only as long as it does not separate


class Path:
    """A sample on its way: velocities, impulses, and what contacts have left to return."""

    def __init__(self, problem, *, poisson=False):
        J = problem.J.reshape(-1, problem.nv)
        velocity, impulse = (np.repeat(x, 2) for x in (problem.scaling.velocity, problem.scaling.impulse))
        self.nc, self.mu, self.e, self.poisson = problem.nc, problem.mu, problem.restitution, poisson
        self.G = (J / velocity[:, None]) @ np.linalg.solve(problem.M, J.T * impulse)
        self.c = J @ problem.v / velocity
        self.c[np.abs(self.c) <= ZERO] = 0.0
        self.data = tell_apart(self)
        self.budget, self.pieces = np.zeros(self.nc), []

    @property
    def y(self):
        """Normal velocities (nc,)."""
        return self.c[0::2]

    @property
    def t(self):
        """Slips (nc,)."""
        return self.c[1::2]

    def role(self, i, kind, *, slip=0, weight=1.0):
        """A role of contact i; ``slip`` counts where it does not slide."""
        slides = int(np.sign(self.t[i])) if self.mu[i] > 0.0 else 0
        free = self.t[i] == 0.0 and self.mu[i] > 0.0
        ceiling = self.y[i] == 0.0 and not self.budget[i] > 0.0
        return Role(kind, weight, slip if free else slides, free, ceiling)


def tell_apart(path):
    """Contacts with equal numbers (nc,) have equal data, or are mirror images."""
    square = path.G**2 / (1.0 + path.G**2)
    sizes = path.y**2 + path.t**2 + path.e + path.mu / (1.0 + path.mu)
    sizes = sizes + square[0::2, 0::2].sum(axis=1) + square[1::2, 1::2].sum(axis=1)
    return [int(np.count_nonzero(sizes < size - 1e-9)) for size in sizes]


def draw_roles(path, key, phase, rates):
    """The roles of all contacts; and the one that is driven alone, None where several are."""
    draws = phase == FREELY and rates in ("mixed", "extreme")
    kind = field(key, 1)
    alone = phase == IN_TURN or (draws and (rates == "extreme" or kind < 0.97))
    roles, numbers = [Role() for _ in range(path.nc)], {}
    for i in range(path.nc):
        word = event_word(key, i)
        choice, pattern, number = field(word, 0), field(word, 1), (word >> 32) / 2**32
        pushes, rests = path.y[i] < 0.0 or path.budget[i] > 0.0, path.y[i] == 0.0
        if rests and (choice < 0.3 if draws else not pushes):
            guess = int(3 * number) - 1 if phase == FREELY or pattern < 0.05 else 0
            roles[i] = path.role(i, HELD, slip=guess)
        elif pushes or (rests and draws and choice < 0.35):
            numbers[i] = number
            weight = max(2 * number - 1, 0) if draws and kind < 0.985 else number  # some, or all
            roles[i] = path.role(i, DRIVEN, weight=1.0 if phase == TOGETHER else weight)
    chosen = min(numbers, key=numbers.get) if numbers and (alone or len(numbers) == 1) else None
    for i in numbers:
        if i == chosen:
            roles[i].weight = 1.0
        elif chosen is not None or not roles[i].weight > 0.0:
            roles[i] = Role()
    for i in range(path.nc):  # on the edge of its cone, either side alike
        edge = field(event_word(key, i), 1)
        waits = path.y[i] <= 0.0 or path.budget[i] > 0.0
        if draws and roles[i].kind == NONE and path.t[i] == 0.0 and path.mu[i] > 0.0 and edge < 0.7 and waits:
            roles[i] = path.role(i, EDGE, slip=-1 if edge < 0.35 else 1)
    return roles, chosen


def find_rates(path, roles, key):
    """Rates r and changes c' that obey the laws; None where nothing pushes.

    Roles and guesses are mended, one contact at a time, until no law is broken.
    """
    roles = [replace(role) for role in roles]
    alike = [
        -1
        if role.kind == NONE
        else (role.kind, role.slip != 0, path.data[i], role.ceiling and role.kind != HELD)
        for i, role in enumerate(roles)
    ]
    pushing = sorted((i for i in range(path.nc) if roles[i].kind != NONE), key=lambda i: alike[i])
    groups = [list(group) for _, group in groupby(pushing, key=lambda i: alike[i])]
    drawn = all(len(group) == 1 for group in groups)
    for attempt in range(3):
        wait = attempt > 0
        for _ in range(8 + 2 * path.nc):
            if wait and not drawn:
                drawn, groups = True, draw_orders(groups, key, path.nc - len(pushing))
            order = [i for group in groups for i in group]
            r, change, noise, regular = rates_of(path, roles, order)
            wait = not regular
            if drawn or not wait:
                broken = [(i, mended(path, roles[i], i, r, change, noise)) for i in reversed(order)]
                broken = [(i, role) for i, role in broken if role is not None]
                if not broken:
                    return rounded(path, r, change, noise)
                first, role = broken[0]
                wait = not drawn and any(alike[i] == alike[first] for i, _ in broken[1:])
                if not wait:
                    roles[first] = role
        keeps = [i for i in order if roles[i].kind == DRIVEN][: 1 if attempt == 1 else None]
        for i in order:
            roles[i] = replace(roles[i], slip=0) if roles[i].free else roles[i]
            roles[i] = roles[i] if i in keeps else Role(slip=roles[i].slip, free=roles[i].free)
    return None


def draw_orders(groups, key, at):
    """Every order of those that are alike with the same probability."""
    drawn = []
    for group in groups:
        rest = list(group)
        for k in range(len(rest) - 1):
            pick = k + int((len(rest) - k) * event_number(key, 3000 + at + k))
            rest[k], rest[pick] = rest[pick], rest[k]
        drawn.append(rest)
        at += len(rest)
    return drawn


def rates_of(path, roles, order):
    """Rates, changes and their rounding where roles and slips are as they stand; whether they are unique.

    An unknown normal rate keeps a held contact at rest, or the slip of one on its edge zero; an unknown
    friction rate keeps slip zero.
    """
    n = 2 * path.nc
    given, columns, kept = np.zeros(n), [], []
    for i in order:
        role, push = roles[i], np.zeros(n)
        push[2 * i], push[2 * i + 1] = 1.0, -path.mu[i] * role.slip
        if role.kind == DRIVEN:
            given += role.weight * push
        elif role.kind in (HELD, EDGE):
            columns.append(push)
            kept.append(2 * i if role.kind == HELD else 2 * i + 1)
        if role.kind in (DRIVEN, HELD) and path.mu[i] > 0.0 and role.slip == 0:
            columns.append(np.eye(n)[2 * i + 1])
            kept.append(2 * i + 1)
    C = np.array(columns).reshape(-1, n).T
    found, regular = eliminate(path.G[kept] @ C, -path.G[kept] @ given)
    r = given + C @ found
    return r, path.G @ r, ROUNDING * (np.abs(path.G) @ np.abs(r)), regular


def eliminate(A, b):
    """Gauss; unknowns for which those before them can stand are zero. Whether there were none."""
    m, rank, pivots = len(b), 0, []
    size = np.abs(A).max(axis=1, initial=0.0)
    A = np.column_stack([A, b]) / np.where(size > 0.0, size, 1.0)[:, None]
    for k in range(m):
        best = rank + int(np.argmax(np.abs(A[rank:, k])))
        if not abs(A[best, k]) > ROUNDING:
            continue
        A[[rank, best]] = A[[best, rank]]
        A[rank + 1 :, k + 1 :] -= np.outer(A[rank + 1 :, k] / A[rank, k], A[rank, k + 1 :])
        pivots.append(k)
        rank += 1
    x = np.zeros(m)
    for row in reversed(range(rank)):
        k = pivots[row]
        x[k] = (A[row, m] - A[row, k + 1 : m] @ x[k + 1 :]) / A[row, k]
    return x, rank == m


def mended(path, role, i, r, change, noise):
    """The role that a contact gets because it breaks a law; None where it breaks none."""
    (n, f), (rise, slide), (level, still) = (x[2 * i : 2 * i + 2] for x in (r, change, noise))
    tiny = ROUNDING * max(r[0::2].max(), 0.0)
    separates = role.ceiling and rise > level
    if role.kind == NONE:
        return None
    if role.kind == DRIVEN and separates:
        return replace(role, kind=HELD)
    if role.kind != DRIVEN and (separates or not n >= -tiny):
        return replace(role, kind=NONE)
    if (role.kind == HELD and abs(rise) > level) or (role.kind == EDGE and abs(slide) > still):
        return replace(role, kind=NONE)
    if role.kind == EDGE or path.mu[i] == 0.0:
        return None
    if role.slip == 0 and not abs(f) <= path.mu[i] * (n + tiny):
        return replace(role, slip=-1 if f > 0.0 else 1)
    if role.slip == 0 and abs(slide) > still:  # the equations contradict each other
        return replace(role, slip=1 if slide > 0.0 else -1)
    if role.free and role.slip * slide < -still:
        return replace(role, slip=0)
    return None


def rounded(path, r, change, noise):
    """Rates in their cones, and changes that are rounding zero; None where nothing pushes."""
    n = np.maximum(r[0::2], 0.0)
    f = np.clip(r[1::2], -path.mu * n, path.mu * n)
    exact = np.where(np.abs(change) <= noise, 0.0, change)
    return (np.column_stack([n, f]).ravel(), exact) if n.max() > 0.0 else None


def length_to_event(path, r, change, watch):
    """To the first zero of a normal velocity or a slip, or to where a contact has returned everything.

    Slip counts where a contact pushes, and with ``watch`` where one approaches.
    """
    lengths = [np.inf]
    for i in range(path.nc):
        (y, t), (rise, slide), n, budget = *pair(path.c, change, i), r[2 * i], path.budget[i]
        if y * rise < 0.0:
            lengths.append(-y / rise)
        if t * slide < 0.0 and (n > 0.0 or (watch and y < 0.0)):
            lengths.append(-t / slide)
        if budget > 0.0 and n > 0.0 and (y > 0.0 or (y == 0.0 and rise >= 0.0)):
            root = y * y + 2.0 * rise * budget / n  # of y s + y' s^2 / 2 = budget / n
            if path.poisson:
                lengths.append(budget / n)
            elif root >= 0.0 and y + np.sqrt(root) > 0.0:
                lengths.append(2.0 * budget / n / (y + np.sqrt(root)))
    return min(lengths)


def pair(c, change, i):
    """Velocities of a contact, and their changes."""
    return c[2 * i : 2 * i + 2], change[2 * i : 2 * i + 2]


def cut_short(path, change, key, length, alone, corners, *, uncut):
    """A shorter length; and the contact that is to push alone next, None: as it will be drawn.

    Most cuts are at a corner: from there two velocities vanish together while the next contact pushes.
    Those that find none are not made with probability ``uncut``.
    """
    fraction = length * event_number(key, 1000)
    y, rise, n = path.y, change[0::2], len(path.c)
    may = [
        i
        for i in range(path.nc)
        if i != alone and (y[i] < 0.0 or (y[i] == 0.0 and rise[i] < 0.0) or path.budget[i] > 0.0)
    ]
    if not corners or field(key, 2) >= 0.9:
        return fraction, None
    if event_number(key, 1001) < uncut:
        fraction = length
    if not may:
        return fraction, None
    chosen = min(may, key=lambda i: event_number(key, 2000 + i))
    role = replace(path.role(chosen, DRIVEN), ceiling=False)
    starts = change[2 * chosen + 1]
    if path.t[chosen] == 0.0 and starts != 0.0 and path.mu[chosen] > 0.0:  # it will slide by then
        role = replace(role, slip=int(np.sign(starts)), free=False)
    then = find_rates(path, [role if i == chosen else Role() for i in range(path.nc)], key)
    if then is None:
        return fraction, None
    order, word = list(range(n)), event_word(key, 4000)
    for turn in range(n):
        pick = turn + (((word >> 48) * (n - turn)) >> 16)
        word = word * 0x9E3779B97F4A7C15 % 2**64
        order[turn], order[pick] = order[pick], order[turn]
        cuts = [corner(path.c, change, then[1], length, order[turn], b) for b in range(n)]
        cuts = [cut for cut in cuts if cut is not None]
        if cuts:
            picked = [k for k in range(1, len(cuts) + 1) if k == 1 or event_number(key, 1002 + k) * k < 1.0]
            return cuts[picked[-1] - 1], chosen
    return fraction, None


def corner(c, d, e, length, a, b):
    """s such that c + s d + u e vanishes in a and b for a later u; None where there is none ahead."""
    det = d[a] * e[b] - d[b] * e[a]
    if a == b or not abs(det) > ROUNDING * (abs(d[a] * e[b]) + abs(d[b] * e[a])):
        return None
    s, u = (c[b] * e[a] - c[a] * e[b]) / det, (c[a] * d[b] - c[b] * d[a]) / det
    later = (abs(e[a]) + abs(e[b])) / (abs(d[a]) + abs(d[b]))
    inside = 1e-9 * length < s < (1 - 1e-9) * length and u * later > 1e-9 * length
    return s if inside else None


def advance(path, r, change, length, *, whole):
    """Move along a piece; its impulses are added, and what it stored or returned is booked."""
    before, steps = path.y.copy(), length * r
    after = path.c + length * change
    ends = [whole and c * d < 0.0 and -c / d == length for c, d in zip(path.c, change, strict=True)]
    path.c = np.where((np.abs(after) <= ZERO) | ends, 0.0, after)
    path.pieces.append(steps.reshape(-1, 2))
    for i in range(path.nc):
        y, then, push, e = before[i], path.y[i], steps[2 * i], path.e[i]
        work = 0.5 * (y + then) * push
        if push == 0.0 or e == 0.0:
            continue
        if y < 0.0 or then < 0.0:
            path.budget[i] += e * push if path.poisson else -e * e * work
        elif path.poisson and y == then == 0.0 and not path.budget[i] > 0.0:
            path.budget[i] += e * push
        elif path.budget[i] > 0.0:
            path.budget[i] -= push if path.poisson else work
        path.budget[i] = path.budget[i] if path.budget[i] > 0.5 * tolerances.BUDGET else 0.0


def still_hold(path, r, change):
    """Whether the rates obey the laws from here on, too."""
    for i in range(path.nc):
        (y, t), (rise, slide), (n, f) = *pair(path.c, change, i), r[2 * i : 2 * i + 2]
        pushes = y < 0.0 or path.budget[i] > 0.0 or (y == 0.0 and rise <= 0.0)
        slip = np.sign(t if t != 0.0 else slide)
        if n > 0.0 and not (pushes and (slip == 0.0 or f == -slip * path.mu[i] * n)):
            return False
    return True


def follow(problem, seed, sample, *, row=0, rates="mixed", persistence=None, poisson=False):
    """Status and impulses (k, nc, 2) of the pieces, in the problem's own units, of one sample."""
    path, elastic = Path(problem, poisson=poisson), bool(np.any(problem.restitution > 0.0))
    if not np.any(path.y < -tolerances.APPROACH):
        return Status.NO_IMPACT, np.zeros((0, path.nc, 2))
    persistence = persistence or (0.8 if elastic else 0.6)
    freely = int((16.0 if elastic else 4.5) / persistence)
    kept, forced, alone = None, None, None
    for stage in range(freely + 48 + 32 * path.nc):
        if np.all(path.y >= 0.0) and not np.any(path.budget > 0.0):
            known = not elastic or np.sum(path.pieces, axis=0)[:, 0].max() <= 5e3
            return (Status.SOLVED if known else Status.NUMERICAL), np.array(path.pieces)
        single = stage < freely + 8 or (poisson and stage % 4 == 0)
        phase = FREELY if stage < freely else IN_TURN if single else TOGETHER
        key, aimed = event_key(seed, row, sample, stage), forced is not None
        if kept is None:
            alone = forced
            if forced is None:
                roles, alone = draw_roles(path, key, phase, rates)
            else:
                roles = [path.role(i, DRIVEN) if i == forced else Role() for i in range(path.nc)]
            kept = find_rates(path, roles, key)
        forced = None
        if kept is None:
            continue
        r, change = kept
        length = to_event = length_to_event(path, r, change, phase == FREELY and field(key, 3) < 0.25)
        if not to_event < np.inf:
            kept = None
            continue
        whole = aimed or phase != FREELY or field(key, 0) < persistence
        if not whole:
            corners, uncut = rates == "mixed", 0.0 if elastic else persistence
            length, forced = cut_short(path, change, key, to_event, alone, corners, uncut=uncut)
            whole = length == to_event
        advance(path, r, change, length, whole=whole)
        stay = whole and phase == FREELY and field(key, 2) < (0.7 if elastic else 0.1)
        kept = kept if stay and still_hold(path, r, change) else None
    return Status.MAX_STEPS, np.array(path.pieces)
