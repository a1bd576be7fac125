"""The data of a pass backwards, and its way through the rates of an entry; see `reverse`.

The rates solve linear equations: ``r = r0 + sum_e z_e col_e`` with ``row_e . G r = 0``, one unknown z for the
normal rate of a held contact (or one on its edge) and for each direction in which friction is free. Columns
and given rates contain friction coefficients, rows do not. With the true cone a contact that begins to slip
turns by an unknown, too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from routh.base.validation import Array
from routh.compiling import apart, kernel
from routh.compiling.rows import count_rows, rows
from routh.kernels.common import record as rec
from routh.kernels.common.record import GAMMA, Record, make_record, slip_of
from routh.kernels.common.small_linear import invert_rows, solve_linear
from routh.problem.rows import dot

NODES = 4  # of a step
LEAST_CREEPING = 1e-6  # the least friction that counts for how a contact creeps
DEPENDS = 1e-10  # pivots below this share of the largest entry are none: rates depend on each other


class Given(NamedTuple):
    """The problem in its own units, as far as a path depends on it."""

    G: Array  # (n, n)
    mu: Array  # (nc,)
    bounce: Array  # (nc,) restitution
    corners: Array  # (k, nt) of the friction polygon; in the plane +1 and -1
    poisson: int


class Nodes(NamedTuple):
    """Points of a step along a curve; leading axis NODES."""

    rates: Array  # (NODES, n)
    units: Array  # (NODES, n) of slips: size, then direction
    given: Array  # (NODES, n) bars of rates that do not depend on the state's own
    direct: Array  # (NODES, n) bars of the state that do not, either
    bar: Array  # (NODES, n) the state's own
    turned_rates: Array  # (NODES, nc, n) how a turning slip changes the rates
    turned_changes: Array  # (NODES, nc, n) how it changes the velocities


class ReverseArrays(NamedTuple):
    """The arrays of `ReverseWork`."""

    bars: Array  # (rows named below, n)
    of_G: Array  # (n, n)
    units: Array  # (nc, width - 1) directions against which friction acts where it is given
    rows: Array  # (n, width) equations of the unknown rates, at their contacts
    columns: Array  # (n, width)
    system: Array  # (n, n + 1)
    equations: Array  # (n, n)
    inverse: Array  # (n, n)
    stages: Array  # (NODES nc, NODES nc + 1) linear equations for the bars of the angles of slips
    paces: Array  # (NODES,) how fast the curve is followed in a node
    whose: np.ndarray  # (n,) int64: contacts of the unknowns
    order: np.ndarray  # (n,) int64: unknowns, those that are zero last
    slides: np.ndarray  # (nc,) int64: contacts that slide
    nodes: Nodes
    aim: Record  # one entry: an impulse that weights were aimed at, as rates


class ReverseWork(ReverseArrays):
    """Scratch and results of one thread; bars are ``of_`` what they belong to."""

    __slots__ = ()
    of_state, of_push, of_rate, of_change = rows("bars", 4)  # of rates and of what they change, too
    of_budget, of_mu, of_bounce, of_weight = rows("bars", 4)  # of contacts
    of_stage, fallen, aimed = rows("bars", 3)  # of the length of a stage; how many e-folds the bars
    # of angles fell since an event; whether weights were aimed: all three in their first entries
    lever, whole = rows("bars", 2)  # what G is multiplied with; a solution
    point, point_rate = rows("bars", 2)  # the state at a point of a curve, and its rates
    (grows,) = rows("bars", 1)  # of an unknown that turns a slip which begins: its rate; else 0


def reverse_workspace(nc: int, width: int) -> ReverseWork:
    """Scratch arrays of one thread."""
    n, square = nc * width, NODES * nc
    shapes: list[tuple[int, ...]] = [
        (count_rows(ReverseWork, "bars"), n),
        (n, n),
        (nc, width - 1),
        (n, width),
        (n, width),
        (n, n + 1),
        (n, n),
        (n, n),
    ]
    shapes += [(square, square + 1), (NODES,)]
    arrays: list[Any] = [np.zeros(shape) for shape in shapes]
    arrays += [np.zeros(length, dtype=np.int64) for length in (n, n, nc)]
    arrays += [Nodes(*np.zeros((5, NODES, n)), *np.zeros((2, NODES, nc, n))), make_record(1, nc, width)]
    return ReverseWork(*arrays)


@kernel
def add_unknown(own: ReverseWork, m: int, i: int, row: int, column: int) -> None:
    """An unknown of contact i along coordinate ``column``, for which coordinate ``row`` rests."""
    # reads rows; writes columns, grows, rows, whose
    own.whose[m], own.grows[m] = i, 0.0
    for part in range(own.rows.shape[1]):
        own.rows[m, part] = 1.0 if part == row else 0.0
        own.columns[m, part] = 1.0 if part == column else 0.0


@kernel
def find_units(record: Record, k: int, given: Given, own: ReverseWork) -> None:
    """Directions of friction of an entry, as its faces say."""
    # reads given.corners, given.mu, own.units, record.c, record.change, record.face; writes own.units
    for i in range(len(given.mu)):
        face, parts = record.face[k, i], own.units.shape[1]
        if face >= 0:
            base = face - rec.WALLS if face >= rec.WALLS else face
            for part in range(parts):
                own.units[i, part] = given.corners[base, part]
        elif face == rec.TURNS or face == rec.SLIDES:
            first, slip = (parts + 1) * i + 1, record.change[k] if face == rec.TURNS else record.c[k]
            for part in range(parts):
                own.units[i, part] = slip[first + part] / slip_of(slip, parts + 1, i)


@kernel
def is_given(face: int) -> bool:
    """Whether friction acts against a direction in `ReverseWork.units`."""
    return face >= 0 or face == rec.SLIDES or face == rec.TURNS


@apart
def list_unknowns(record: Record, k: int, given: Given, own: ReverseWork) -> int:
    """The unknown rates of an entry; how many there are."""
    # reads given.corners, given.mu, own.rows, own.units, record.change, record.event, record.face,
    #   record.length, record.rate, record.role, record.share
    # writes own.columns, own.grows, own.rows
    # hands on own
    nc, width, corners = len(given.mu), own.rows.shape[1], given.corners
    m = nc - nc
    for i in range(nc):
        role, face = record.role[k, i], record.face[k, i]
        if role == rec.FREE:
            continue
        if role == rec.HELD or role == rec.EDGE:  # in the plane only: on the edge its slip rests
            add_unknown(own, m, i, 0 if role == rec.HELD else 1, 0)
            if is_given(face):
                for part in range(1, width):
                    own.columns[m, part] = -given.mu[i] * own.units[i, part - 1]
            m += 1
        if face == rec.STICKS:
            for part in range(1, width):
                add_unknown(own, m, i, part, part)
                if record.event[k] == rec.SOLVE:  # what sticks creeps, in proportion to its friction
                    most = max(given.mu[i] * record.rate[k, width * i], LEAST_CREEPING)
                    own.grows[m] = -record.share[k] / (GAMMA * record.length[k] * most)
                m += 1
        elif face >= rec.WALLS:
            base = face - rec.WALLS
            following = base + 1 if base + 1 < corners.shape[0] else 0
            add_unknown(own, m, i, 0, 0)
            own.rows[m, 0] = own.columns[m, 0] = 0.0
            for part in range(1, width):
                along = corners[following, part - 1] - corners[base, part - 1]
                own.rows[m, part] = own.columns[m, part] = along
            m += 1
        elif face == rec.TURNS and record.rate[k, width * i] != 0.0:  # friction and slip rate turn together
            friction = -given.mu[i] * record.rate[k, width * i]
            u0, u1, at = own.units[i, 0], own.units[i, 1], width * i + 1
            add_unknown(own, m, i, 0, 0)
            own.rows[m, 0], own.rows[m, 1], own.rows[m, 2] = 0.0, -u1, u0
            own.columns[m, 0], own.columns[m, 1], own.columns[m, 2] = 0.0, -friction * u1, friction * u0
            own.grows[m] = u0 * record.change[k, at] + u1 * record.change[k, at + 1]
            m += 1
    return m


@kernel
def times_G(given: Given, of: Array, a: int) -> float:
    """Coordinate a of ``G`` times a vector."""
    # reads G
    return dot(given.G[a], of, len(of))


@kernel
def clear_rates(own: ReverseWork) -> None:
    """Forget the bars of rates and of what they change."""
    # reads of_rate; writes of_change, of_rate
    for a in range(len(own.of_rate)):
        own.of_rate[a] = own.of_change[a] = 0.0


@kernel
def back_through_rates(record: Record, k: int, given: Given, own: ReverseWork) -> None:
    """Turn the bars of an entry's rates and changes into those of G, friction and, by slips, the state."""
    # reads given.mu, own.of_rate, own.of_state, own.rows, own.units, record.c, record.face, record.rate,
    #   record.role
    # writes own.of_state
    # hands on given, own, record
    find_units(record, k, given, own)
    m = list_unknowns(record, k, given, own)
    pull_rates(record, k, given, own, record.rate[k], 1.0, m)
    for i in range(len(given.mu)):
        if record.face[k, i] == rec.SLIDES and record.role[k, i] != rec.FREE:
            first = own.rows.shape[1] * i + 1
            u0, u1 = own.units[i, 0], own.units[i, 1]
            across = u0 * own.of_rate[first + 1] - u1 * own.of_rate[first]
            across *= -given.mu[i] * record.rate[k, first - 1] / slip_of(record.c[k], 3, i)
            own.of_state[first] -= u1 * across
            own.of_state[first + 1] += u0 * across


@apart
def pull_rates(
    record: Record, k: int, given: Given, own: ReverseWork, rate: Array, weight: float, m: int
) -> None:
    """The bars of G and friction, times ``weight``; m unknowns. `of_rate` becomes that of given friction."""
    # reads given.mu, own.aimed, own.lever, own.of_mu, own.of_rate, own.rows, own.units, record.face,
    #   record.role
    # writes own.of_mu, own.of_rate
    # hands on given, own, record
    width = own.rows.shape[1]
    find_lever(given, own, rate, weight, m)
    for i in range(len(given.mu)):
        if is_given(record.face[k, i]) and record.role[k, i] != rec.FREE:
            for part in range(1, width):
                a = width * i + part
                own.of_rate[a] += times_G(given, own.lever, a)
                own.of_mu[i] -= weight * rate[width * i] * (own.units[i, part - 1] * own.of_rate[a])
    if own.aimed[0] > 0.0:
        pull_weights(record, k, given, own, weight)


@kernel
def find_lever(given: Given, own: ReverseWork, rate: Array, weight: float, m: int) -> None:
    """The lever of m unknowns, by the transposed equations; with the rates and ``weight`` it is G's bar."""
    # reads own.lever, own.of_G, own.of_change, own.of_state, own.rows, own.system, own.whose
    # writes own.lever, own.of_G, own.system
    # hands on given, own
    n, width = len(own.of_state), own.rows.shape[1]
    for a in range(n):
        own.lever[a] = own.of_change[a]
    if m > 0:
        list_equations(given, own, m)
        if not solve_linear(own.system, m):
            list_equations(given, own, m)
            solve_dependent(own, rate, m)
    for e in range(m):
        at = width * own.whose[e]
        for part in range(width):
            own.lever[at + part] -= own.rows[e, part] * own.system[e, m]
    for a in range(n):
        if own.lever[a] != 0.0:
            lever = weight * own.lever[a]
            for b in range(n):
                own.of_G[a, b] += lever * rate[b]


@kernel
def pull_weights(record: Record, k: int, given: Given, own: ReverseWork, weight: float) -> None:
    """The bars of the weights of driven contacts, times ``weight``, at the end of `pull_rates`."""
    # reads given.mu, own.lever, own.of_rate, own.of_weight, own.rows, own.units, record.face, record.role
    # writes own.of_weight
    # hands on given
    width = own.rows.shape[1]
    for i in range(len(given.mu)):
        if record.role[k, i] == rec.DRIVEN:
            at = width * i
            value = own.of_rate[at] + times_G(given, own.lever, at)
            if is_given(record.face[k, i]):
                for part in range(1, width):
                    value -= given.mu[i] * own.units[i, part - 1] * own.of_rate[at + part]
            own.of_weight[i] += weight * value


@kernel
def list_equations(given: Given, own: ReverseWork, m: int) -> None:
    """The transposed equations of the m unknowns, from the bars of rates and changes, into `system`."""
    # reads own.columns, own.grows, own.of_change, own.of_rate, own.rows, own.system, own.whose
    # writes own.system
    # hands on given, own
    width = own.rows.shape[1]
    for e in range(m):
        at, right = width * own.whose[e], 0.0
        for part in range(width):
            if own.columns[e, part] != 0.0:
                wanted = own.of_rate[at + part] + times_G(given, own.of_change, at + part)
                right += own.columns[e, part] * wanted
        own.system[e, m] = right
        for f in range(m):  # transposed
            own.system[e, f] = coupling(given, own, f, e)
        own.system[e, e] -= own.grows[e]  # a slip turns by less the longer it is


@kernel
def solve_dependent(own: ReverseWork, rate: Array, m: int) -> None:
    """The same where rates depend on each other, by the inverse of the equations of the rates themselves.

    Of rates that depend on each other the sampler keeps some at zero: these are the ones that stay so.
    """
    # reads columns, equations, inverse, order, rows, system, whole, whose
    # writes equations, inverse, order, system, whole
    order, found = own.order, m - m
    for pass_number in range(2):
        for e in range(m):
            at, moves = own.rows.shape[1] * own.whose[e], False
            for part in range(own.rows.shape[1]):
                moves = moves or (own.columns[e, part] != 0.0 and rate[at + part] != 0.0)
            if moves == (pass_number == 0):
                order[found] = e
                found += 1
    for e in range(m):
        own.whole[e] = own.system[e, m]
        for f in range(m):
            own.equations[e, f] = own.system[order[f], e]
    invert_rows(own.equations, own.inverse, m, DEPENDS)
    for e in range(m):
        own.system[e, m] = 0.0
        for f in range(m):
            own.system[e, m] += own.inverse[f, e] * own.whole[order[f]]


@apart
def add_unknown_rates(given: Given, own: ReverseWork, of: Array, rate: Array, m: int) -> bool:
    """Add to rates those of m unknowns that bring to rest what moves by ``of``; whether they are known."""
    # reads own.columns, own.rows, own.system, own.whose; writes own.system; hands on given, own
    width = own.rows.shape[1]
    for e in range(m):
        at, right = width * own.whose[e], 0.0
        for part in range(width):
            right -= own.rows[e, part] * of[at + part]
        own.system[e, m] = right
        for f in range(m):
            own.system[e, f] = coupling(given, own, e, f)
    known = solve_linear(own.system, m)
    for e in range(m):
        for part in range(width):
            rate[width * own.whose[e] + part] += own.columns[e, part] * own.system[e, m]
    return known


@kernel
def coupling(given: Given, own: ReverseWork, e: int, f: int) -> float:
    """``row_e . G col_f``."""
    # reads given.G, own.columns, own.rows, own.whose
    width = own.rows.shape[1]
    i, j, value = width * own.whose[e], width * own.whose[f], 0.0
    for p in range(width):
        if own.rows[e, p] != 0.0:
            for q in range(width):
                value += own.rows[e, p] * given.G[i + p, j + q] * own.columns[f, q]
    return value
