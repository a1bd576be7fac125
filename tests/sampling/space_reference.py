"""One sample in space by events, as plainly as possible: the reference of `routh.kernels.space.sample`.

In the problem's own units the velocities c = (y1, t1, t1', y2, ...) of contacts, normal and two tangential,
change by c' = G r with the rates r = (n1, f1, f1', ...) of their impulses. A sample is a chain of stages, a
stage a chain of pieces:

    until nothing approaches and nothing is left to return:
        draw who pushes, at which normal rate, and how far    `draw_roles`
        until a normal velocity vanishes, a contact has returned everything, or the drawn length is over:
            find rates that obey the laws                     `find_rates`
            go on until they no longer do                     `straight`, `curve`

On a piece every contact keeps its role: it is *driven* at a drawn normal rate, *held* (its normal velocity
stays zero, and its normal rate is found) or free; and its way: it sticks, slides against the friction of its
slip, or (on a polygon) follows the wall between two corners. With polygons pieces are straight. With the
true cone slip turns, and SciPy follows it.

Random numbers are those of `routh.base.rng`, so that the kernel's samples are drawn again, decision by
decision.
"""

import math

import numpy as np
from scipy.integrate import solve_ivp

from routh.base import tolerances
from routh.base.rng import event_key, event_number
from routh.base.status import Status

FREE, DRIVEN, HELD = range(3)
AS_DRAWN, ONE_BY_ONE, AIMED, NOTHING_HELD = range(4)  # phases of a sample
GO_ON, STAGE_ENDS, BROKEN = range(3)  # why a piece ended
KEEP, KIND, CUT, CUT_AT, PER_CONTACT = range(5)  # numbers of an event's key; then three for each contact
ZERO = 1e-9  # velocities below this are none: more than SciPy's errors, less than what matters
STILL = 1e-9  # slip rates below this share of the largest rate are none
AIMS, FINE_AIMS = 60, 10**5  # sweeps for aimed weights; where curves are followed finely
RTOL, ATOL = 1e-11, 1e-13  # of SciPy


class Path:
    """A sample on its way: velocities, roles, weights, and what contacts have left to return."""

    def __init__(self, problem, corners=None):
        J = problem.J.reshape(-1, problem.nv)
        velocity, impulse = (np.repeat(x, 3) for x in (problem.scaling.velocity, problem.scaling.impulse))
        self.nc, self.mu, self.e, self.corners = problem.nc, problem.mu, problem.restitution, corners
        self.G = (J / velocity[:, None]) @ np.linalg.solve(problem.M, J.T * impulse)
        self.c = J @ problem.v / velocity
        self.role = np.zeros(self.nc, dtype=int)
        self.weight, self.kept, self.budget = (np.zeros(self.nc) for _ in range(3))
        self.pieces = []  # impulses (3 nc,)

    @property
    def y(self):
        """Normal velocities (nc,), to be written to."""
        return self.c[0::3]

    def slip(self, i):
        """The slip (2,) of contact i."""
        return self.c[3 * i + 1 : 3 * i + 3]

    def pushing(self):
        """Contacts that are driven or held."""
        return [i for i in range(self.nc) if self.role[i] != FREE]

    def round(self):
        """Velocities that are rounding become none; slips beside a wall go onto it."""
        self.y[np.abs(self.y) <= ZERO] = 0.0
        for i in range(self.nc):
            face = allowed_corners(self, i)
            if np.linalg.norm(self.slip(i)) <= ZERO:
                self.slip(i)[:] = 0.0
            elif face is not None and len(face) == 2:
                wall = unit(face.sum(axis=0))
                self.slip(i)[:] = wall * (wall @ self.slip(i))


def unit(x):
    """The direction of a vector."""
    return x / np.linalg.norm(x)


# What is drawn


def draw_roles(path, key, phase, rates):
    """Roles and weights of one stage; whether anything is driven.

    AS_DRAWN; ONE_BY_ONE: one contact at a time, zeros held; AIMED: all that approach, such that they come to
    rest together; NOTHING_HELD: one contact at a time and nothing held.
    """
    drawn = phase == AS_DRAWN and rates != "uniform"
    path.role[:] = FREE
    may = (path.y < 0.0) | (path.budget > 0.0)
    for i in range(path.nc):
        number = event_number(key, PER_CONTACT + 3 * i)
        if may[i]:
            path.role[i] = DRIVEN
        elif path.y[i] == 0.0 and phase < AIMED and (not drawn or number < 0.3):
            path.role[i] = HELD
        elif path.y[i] == 0.0 and drawn and number < 0.4:
            path.role[i] = DRIVEN
    if not may.any():
        return False
    if phase == AIMED:
        return share_weights(path, aim(path))
    driven, kind = path.role == DRIVEN, event_number(key, KIND)
    if drawn and event_number(key, KEEP) < 0.1 and path.kept[driven].sum() > 0.0:
        return share_weights(path, path.kept)
    if phase in (ONE_BY_ONE, NOTHING_HELD) or (drawn and (kind < 0.9 or rates == "extreme")):
        choose_one(path, key)
        return True
    numbers = np.array([event_number(key, PER_CONTACT + 3 * i + 1) for i in range(path.nc)])
    path.weight[:] = numbers if rates == "uniform" else (-np.log(numbers)) ** (4.0 if kind < 0.95 else 1.0)
    return share_weights(path, path.weight)


def choose_one(path, key):
    """Of the driven contacts the one with the smallest number of its own."""
    driven = np.flatnonzero(path.role == DRIVEN)
    path.role[driven] = FREE
    chosen = min(driven, key=lambda i: event_number(key, PER_CONTACT + 3 * int(i) + 2))
    path.role[chosen], path.weight[chosen] = DRIVEN, 1.0


def share_weights(path, of):
    """Weights of the driven contacts with sum one; who has none is free. Whether any has."""
    path.role[(path.role == DRIVEN) & ~(of > 0.0)] = FREE
    driven = path.role == DRIVEN
    total = of[driven].sum()
    path.weight[driven] = of[driven] / total
    return 0.0 < total < math.inf


def fewer_roles(path, key):
    """One approaching contact alone and nothing held: rates that always exist."""
    path.role[:] = np.where((path.y < 0.0) | (path.budget > 0.0), DRIVEN, FREE)
    choose_one(path, key)


def aim(path):
    """Weights with which all driven contacts come to rest together while slips keep their directions.

    Sweeps for normal impulses with ``y >= 0`` after them, complementary; contacts without slip stick as far
    as their cones let them.
    """
    p = np.zeros((path.nc, 3))
    driven = np.flatnonzero(path.role == DRIVEN)
    for _ in range(AIMS if path.corners is not None else FINE_AIMS):
        before = p.copy()
        for i in driven:
            own, slip, block = path.G[3 * i : 3 * i + 3], path.slip(i), slice(3 * i, 3 * i + 3)
            slides = bool(slip.any())
            push = np.array([1.0, *(-path.mu[i] * unit(slip) if slides else (0.0, 0.0))])
            yields = own[0, block] @ push
            if not yields > 0.0:
                continue
            effect = own @ p.ravel()
            normal = max(p[i, 0] - (path.y[i] + effect[0]) / yields, 0.0)
            friction, inertia = normal * push[1:], np.trace(path.G[block, block][1:, 1:])
            if not slides and inertia > 0.0:
                friction = p[i, 1:] - effect[1:] / inertia
                friction *= min(1.0, path.mu[i] * normal / max(np.linalg.norm(friction), 1e-300))
            p[i] = [normal, *friction]
        if not np.abs(p - before).sum(axis=1).max() > 1e-12 * p[:, 0].max():
            break
    return p[:, 0]


# What rates obey


def allowed_corners(path, i):
    """The corners of the polygon against which friction of contact i may act (k, 2); None: any in the
    disc."""
    slip = path.slip(i)
    if path.corners is None:
        return None if np.linalg.norm(slip) <= ZERO else unit(slip)[None]
    along = path.corners @ slip
    if np.linalg.norm(slip) <= ZERO:
        return path.corners
    k, best = len(along), int(np.argmax(along))
    for first in (best, (best - 1) % k):  # a wall lies between two corners, the first in the order of angles
        pair = [first, (first + 1) % k]
        if along[best] - along[pair].min() <= ZERO:
            return path.corners[pair]
    return path.corners[[best]]


def nearest(corners, z):
    """The point of the hull of corners (None: of the unit disc) that is nearest to z, and its derivative."""
    if corners is None:
        length = max(np.linalg.norm(z), 1.0)
        across = np.eye(2) - np.outer(z, z) / length**2 if length > 1.0 else np.eye(2)
        return z / length, across / length
    if len(corners) > 2:
        edges = np.roll(corners, -1, axis=0) - corners
        if np.all(edges[:, 0] * (z - corners)[:, 1] >= edges[:, 1] * (z - corners)[:, 0]):
            return z, np.eye(2)
    found, least = (corners[0], np.zeros((2, 2))), np.linalg.norm(z - corners[0])
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        share = np.clip((z - a) @ (b - a) / max((b - a) @ (b - a), 1e-300), 0.0, 1.0)
        if np.linalg.norm(z - a - share * (b - a)) < least - 1e-15:
            least, inside = np.linalg.norm(z - a - share * (b - a)), 0.0 < share < 1.0
            found = a + share * (b - a), np.outer(unit(b - a), unit(b - a)) * inside
    return found


def find_rates(path):
    """Rates (3 nc,) that obey the laws for the roles; None where none are found.

    Friction takes the most out of the slip rate that its corners allow, so it stays what it is when a little
    of the slip rate is taken from it and it is brought back to its set; held contacts have ``n >= 0``, ``y'
    >= 0`` and one of them zero, so ``n = max(n - y', 0)``. Steps of that kind, then Newton's method.
    """
    faces = [allowed_corners(path, i) for i in range(path.nc)]
    step = 1.0 / np.linalg.norm(path.G, 2)
    r = np.zeros(3 * path.nc)
    r[0::3] = np.where(path.role == DRIVEN, path.weight, 0.0)
    for _ in range(50):
        for _ in range(20):
            r = r - missing_in(path, faces, r, step)[0]
        x, least = r, math.inf
        for _ in range(30):
            missing, slope = missing_in(path, faces, x, step)
            off = np.abs(missing).max() / np.abs(x).max()
            if off <= 1e-14 or not off < least:
                break
            least, best = off, x
            x = x - np.linalg.lstsq(slope, missing, rcond=1e-13)[0]
        if min(off, least) <= 1e-12:
            return x if off <= least else best
    return None


def missing_in(path, faces, r, step):
    """What the rates (3 nc,) miss of their laws, and its derivative."""
    change, missing, slope = path.G @ r, r.copy(), np.eye(len(r))
    for i in path.pushing():
        at, f, n, mu = 3 * i, slice(3 * i + 1, 3 * i + 3), r[3 * i], path.mu[i]
        if path.role[i] == DRIVEN:
            missing[at] = n - path.weight[i]
        elif n - step * change[at] > 0.0:
            missing[at], slope[at] = step * change[at], step * path.G[at]
        if mu * n > 0.0:
            z = (step * change[f] - r[f]) / (mu * n)
            point, turn = nearest(faces[i], z)
            missing[f] = r[f] + mu * n * point
            slope[f] += step * turn @ path.G[f]
            slope[f, f] -= turn
            slope[f, at] += mu * (point - turn @ z)
    return missing, slope


# Pieces


def follow_stage(path, share, stays):
    """Go along a stage, cut short at a share of the way to the next zero; whether it could begin.

    ``stays``: the stage goes on where a slip ends.
    """
    cut = math.inf
    for piece in range(32):
        path.round()
        r = find_rates(path)
        if r is None:
            return piece > 0
        largest, change = np.abs(r).max(), path.G @ r
        path.role[(path.role == HELD) & ~(r[0::3] > STILL * largest)] = FREE
        rests = (path.role == DRIVEN) & (path.y >= 0.0) & ~(path.budget > 0.0)
        if np.any(change[0::3][rests] > STILL * largest):
            return piece > 0  # it would push while it separates
        exact = made_exact(path, r, change, largest)
        if piece == 0 and share < 1.0:
            cut = share * min(length_to_zero(path, exact), 4.0)
        slides = [i for i in path.pushing() if path.mu[i] > 0.0 and path.slip(i).any()]
        if path.corners is None and slides:
            why, length = curve(path, r, exact, cut, stays)
        else:
            why, length = straight(path, r, exact, cut)
        cut -= length
        if why != GO_ON or not cut > 0.0:
            return why != BROKEN or piece > 0
    return True


def made_exact(path, r, change, largest):
    """The change of velocities without the rounding of contacts that rest, stick or follow a wall."""
    exact = change.copy()
    for i in path.pushing():
        d = exact[3 * i + 1 : 3 * i + 3]
        if path.role[i] == HELD or (path.y[i] == 0.0 and not path.budget[i] > 0.0):
            exact[3 * i] = min(exact[3 * i], 0.0) if path.role[i] == DRIVEN else 0.0
        if path.slip(i).any() or not path.mu[i] > 0.0:
            face = allowed_corners(path, i)
        else:
            if np.linalg.norm(d) <= STILL * largest:
                d[:] = 0.0
            if path.corners is None:
                continue
            along = path.corners @ d
            face = path.corners[along >= along.max() - STILL * largest]
        if path.corners is not None and face is not None and len(face) == 2:
            across = unit(face[0] - face[1])
            if abs(across @ d) <= STILL * largest:
                d -= across * (across @ d)
    return exact


def length_to_zero(path, change):
    """To the first zero of a normal velocity on a straight line."""
    rate = change[0::3]
    return min((-y / d for y, d in zip(path.y, rate, strict=True) if y * d < 0.0), default=math.inf)


def length_to_wall(path, i, change):
    """Until the slip of contact i meets a wall of its polygon, or vanishes on one."""
    d, slip = change[3 * i + 1 : 3 * i + 3], path.slip(i)
    if not slip.any() and not d.any():
        return math.inf
    along, faster = path.corners @ slip, path.corners @ d
    best = max(np.flatnonzero(along >= along.max() - ZERO), key=lambda j: faster[j])
    gap, closing = along[best] - along, faster - faster[best]
    ahead = (gap > ZERO) & (closing > STILL)
    return float(np.min(gap[ahead] / closing[ahead])) if ahead.any() else math.inf


def straight(path, r, change, cut):
    """A straight piece: why it ended, and its length."""
    lengths = [(cut, STAGE_ENDS), (length_to_zero(path, change), STAGE_ENDS)]
    for i in path.pushing():
        if path.corners is not None and path.mu[i] > 0.0:
            lengths.append((length_to_wall(path, i, change), GO_ON))
        y, rate, left = path.y[i], change[3 * i], path.budget[i] / max(r[3 * i], 1e-300)
        if path.role[i] == DRIVEN and left > 0.0 and (y > 0.0 or (y == 0.0 and rate > 0.0)):
            square = y * y + 2.0 * rate * left  # of y s + y' s^2 / 2 = left
            lengths.append((2.0 * left / (y + math.sqrt(square)) if square > 0.0 else math.inf, STAGE_ENDS))
    length, why = min(lengths)
    if not length < math.inf:
        return BROKEN, 0.0
    before = path.y.copy()
    path.c = path.c + length * change
    path.y[np.abs(path.y) <= ZERO] = 0.0
    advance(path, before, length * r, 0.5 * length * r[0::3] * (before + path.y))
    return why, length


def advance(path, before, impulse, work):
    """The books of a piece: its impulse, and what contacts stored or returned on it."""
    path.pieces.append(impulse.reshape(-1, 3))
    for i in path.pushing():
        y = before[i]
        if y < 0.0 or (y == 0.0 and work[i] < 0.0):
            path.budget[i] -= path.e[i] ** 2 * work[i]
        elif path.role[i] == DRIVEN:
            path.budget[i] -= work[i]
        if not path.budget[i] > 1e-11:
            path.budget[i] = 0.0


class Curve:
    """A piece along which slips turn: who sticks sticks, the others slide; x = (impulse, normal work)."""

    def __init__(self, path, r, change):
        self.path, self.pushing, self.start, self.n = path, path.pushing(), path.c.copy(), 3 * path.nc
        self.change = change
        rubs = [i for i in self.pushing if path.mu[i] * r[3 * i] > 0.0]
        still = [i for i in rubs if not (path.slip(i).any() or change[3 * i + 1 : 3 * i + 3].any())]
        self.sticks, self.slides = still, [i for i in rubs if i not in still]
        self.first = {i: -unit(r[3 * i + 1 : 3 * i + 3]) for i in self.slides}  # where slips begin
        self.jammed = 100.0  # normal rate at which a held contact jams; ten times that if it begins beyond
        while any(self.jammed < 2.0 * r[3 * i] for i in self.pushing if path.role[i] == HELD):
            self.jammed *= 10.0

    def velocities(self, x):
        """Of the contacts, (3 nc,)."""
        return self.start + self.path.G @ x[: self.n]

    def slip(self, x, i):
        """Of one contact, (2,)."""
        return self.velocities(x)[3 * i + 1 : 3 * i + 3]

    def rates(self, x):
        """Rates (3 nc,): unknown ones keep held contacts at rest, and those that stick without slip."""
        path, c, axes = self.path, self.velocities(x), np.eye(self.n)
        given, columns, rows = np.zeros(self.n), [], []
        for i in self.pushing:
            push = axes[3 * i].copy()
            if i in self.slides:
                slip = c[3 * i + 1 : 3 * i + 3]
                along = unit(slip) if np.linalg.norm(slip) > 1e-10 else self.first[i]
                push[3 * i + 1 : 3 * i + 3] = -path.mu[i] * along
            if path.role[i] == DRIVEN:
                given += path.weight[i] * push
            else:
                columns.append(push)
                rows.append(3 * i)
            if i in self.sticks:
                columns += [axes[3 * i + 1], axes[3 * i + 2]]
                rows += [3 * i + 1, 3 * i + 2]
        if not columns:
            return given
        C = np.array(columns).T
        return given + C @ np.linalg.lstsq((path.G @ C)[rows], -(path.G @ given)[rows], rcond=1e-11)[0]

    def slope(self, _, x):
        """Of x along the path."""
        rates = self.rates(x)
        return np.concatenate([rates, rates[0::3] * self.velocities(x)[0::3]])

    def outside(self, x, i):
        """By how much the friction that keeps contact i sticking is outside its cone."""
        r = self.rates(x)[3 * i : 3 * i + 3]
        return np.linalg.norm(r[1:]) - self.path.mu[i] * r[0] * (1.0 + 1e-9)

    def events(self):
        """(what, who, the side from which zero is reached, value)."""
        path, role = self.path, self.path.role
        for i in range(path.nc):
            y = path.y[i]
            if role[i] == HELD:
                yield "lets go", i, -1.0, lambda x, i=i: self.rates(x)[3 * i]
                yield "jams", i, 1.0, lambda x, i=i: self.rates(x)[3 * i] - self.jammed
            elif y != 0.0 or (role[i] == DRIVEN and (not path.budget[i] > 0.0 or self.change[3 * i] < -ZERO)):
                yield "rests", i, 1.0 if y <= 0.0 else -1.0, lambda x, i=i: self.velocities(x)[3 * i]
            if i in self.sticks:
                yield "slips", i, 1.0, lambda x, i=i: self.outside(x, i)
            if i in self.slides:
                yield "slip ends", i, -1.0, lambda x, i=i: np.linalg.norm(self.slip(x, i)) - ZERO
            if role[i] == DRIVEN and path.budget[i] > 0.0:
                yield "returned", i, 1.0, lambda x, i=i: x[self.n + i] - path.budget[i]


def curve(path, r, change, cut, stays):
    """A piece along which slips turn: why it ended, and its length."""
    piece, before, events = Curve(path, r, change), path.y.copy(), []
    known = list(piece.events())
    for _, _, side, value in known:
        event = lambda _, x, value=value: value(x)  # noqa: E731
        event.terminal, event.direction = True, side
        events.append(event)
    found = solve_ivp(
        piece.slope, (0.0, min(cut, 1e3)), np.zeros(4 * path.nc), method="LSODA",
        events=events, rtol=RTOL, atol=ATOL,
    )  # fmt: skip
    ended = [(what, who) for (what, who, _, _), at in zip(known, found.t_events, strict=True) if len(at)]
    what, who = ended[0] if ended else ("cut short", -1)
    x, length = found.y[:, -1], float(found.t[-1])
    path.c = piece.velocities(x)
    path.y[path.role == HELD] = before[path.role == HELD]
    ends = [i for i in piece.slides if what == "slip ends" and np.linalg.norm(path.slip(i)) <= 20.0 * ZERO]
    for i in [*piece.sticks, *ends]:  # slips of one body often end together, up to SciPy's errors
        path.slip(i)[:] = 0.0
    if what == "rests":
        path.y[who] = 0.0
    advance(path, before, x[: piece.n], x[piece.n :])
    if what == "returned":
        path.budget[who] = 0.0
    if what in ("lets go", "slips") and path.role[who] == HELD:
        path.role[who] = FREE
        return GO_ON, length
    return (GO_ON if what == "slip ends" and stays else STAGE_ENDS), length


def follow(problem, seed, sample, *, row=0, rates="mixed", persistence=0.6, corners=None):
    """Status and impulses (k, nc, 3) of the pieces, in the problem's own units, of one sample.

    ``corners``: of the friction polygon; None: the true cone.
    """
    path = Path(problem, corners)
    if not np.any(path.y < -tolerances.APPROACH):
        return Status.NO_IMPACT, np.zeros((0, path.nc, 3))
    scale = max(1.0, path.nc / 4.0)  # stages as drawn; one contact at a time; then the closing phase
    as_drawn, closing = int(16 * scale), 0
    stages = as_drawn + int(16 * scale)
    for event in range(stages + int(400 * scale) + 1):
        phase = AS_DRAWN if event < as_drawn else ONE_BY_ONE
        if event >= stages:
            closing += 1
            number = (closing + 1) % 10
            phase = ONE_BY_ONE if number == 0 else NOTHING_HELD if number == 1 else AIMED
        path.round()
        if np.all(path.y >= 0.0) and not np.any(path.budget > 0.0):
            return Status.SOLVED, np.array(path.pieces)
        key = event_key(seed, row, sample, event)
        share = 1.0
        if phase == AS_DRAWN and event_number(key, CUT) > persistence:
            share = event_number(key, CUT_AT)
        began = draw_roles(path, key, phase, rates)
        began = began and follow_stage(path, share, phase == AS_DRAWN)
        if not began:
            fewer_roles(path, key)
            if not follow_stage(path, share, phase == AS_DRAWN):
                return Status.NUMERICAL, np.array(path.pieces)
        path.kept[:] = path.weight
    return Status.MAX_STEPS, np.array(path.pieces)
