"""What is drawn at one event of a planar path: who is driven, held, on the edge or left alone.

The 64 bits of the event's key decide about the event as a whole, in fields of 16 bits; a word for each
contact, mixed from the key, decides about the contact. A contact is chosen by having the smallest number
among those that may be, so that a small change of the problem, or a contact more, leaves the choice as it is.
"""

from __future__ import annotations

import numpy as np

from routh.base.validation import Array
from routh.compiling import inlined, kernel
from routh.kernels.common.arrays import CUSTOM, EXTREME, UNIFORM
from routh.kernels.common.callback import call_rates
from routh.kernels.common.random import GOLDEN, event_word
from routh.kernels.plane import rates
from routh.kernels.plane.rates import DRIVEN, EDGE, HELD, NONE, PlaneWork, draw_order, order_contacts

HOLD, JOIN = 0.3, 0.05  # a contact at y = 0 is held, or may be driven, with these probabilities
SINGLE, FACE = 0.97, 0.985  # one contact by itself; else some of them; else (beyond the second) all that may
SLIPS_ANYWAY = 0.05  # how often a contact that is held starts from a drawn slip once not all is drawn
ON_EDGE = 0.7  # a contact without slip that is left alone pushes on the edge of its cone

STUCK, MINUS, PLUS = 0, -1, 1  # slip to start from where it is zero
NOWHERE = -1  # no place in use

# phases of a sample: everything is drawn; one contact at a time, what rests is held; all driven alike
FREELY, ONE_BY_ONE, TOGETHER = 0, 1, 2

NAMED, ORDERED = 16, 10  # contacts whose pattern fits into 64 bits; with a drawn order
NOTHING, PUSHES, HANGS = 0.0, 1.0, 2.0  # of a pattern: rates where anything pushes; they hang on the order
TABLE_BITS = 12
TABLE_SHIFT = np.uint64(64 - TABLE_BITS)
LOW, SIXTEEN, THIRTY_TWO = np.uint64(0xFFFF), 2.0**-16, 2.0**-32


@inlined
def field(word: np.uint64, number: int) -> float:
    """One of the four fields of 16 bits of a word, the lowest first, as a number in [0, 1)."""
    return float((word >> np.uint64(16 * number)) & LOW) * SIXTEEN


@inlined
def upper_half(word: np.uint64) -> float:
    """The upper 32 bits of a word as a number in [0, 1)."""
    return float(word >> np.uint64(32)) * THIRTY_TWO


@kernel
def drive(work: PlaneWork, i: int, role: int, slip: int) -> None:
    """Give a contact its role; ``slip`` is the first guess where its slip is zero and friction free.

    Without friction it makes no difference where a contact slides to, so SLIP is zero.
    """
    # reads budget, mu, now; writes ceiling, free, role, slip, weight
    t, rough = work.now[2 * i + 1], work.mu[i] > 0.0
    sliding = int(rough and t > 0.0) - int(rough and t < 0.0)
    free = int(rough and sliding == 0)
    work.role[i] = role
    work.slip[i] = slip if free == 1 else sliding
    work.free[i] = free
    work.ceiling[i] = int(work.now[2 * i] == 0.0 and not work.budget[i] > 0.0)
    work.weight[i] = 1.0


@kernel
def choose_roles(
    work: PlaneWork, nc: int, kind_of_rates: int, custom: int | None, key: np.uint64, phase: int
) -> int:
    """ROLE, WEIGHT and first guesses of slip. Returns the contact if one is driven alone, else -1.

    ``custom``: the address of a user's own function for the weights, or None.
    """
    # reads approaching, budget, mu, now, role, uniforms, weight
    # writes approaching, role, uniforms, weight
    # hands on work
    kind = field(key, 1)
    single = phase == FREELY and (kind_of_rates == EXTREME or (kind_of_rates != UNIFORM and kind < SINGLE))
    single = (single and kind_of_rates != CUSTOM) or phase == ONE_BY_ONE
    draws = phase == FREELY and kind_of_rates != UNIFORM and kind_of_rates != CUSTOM
    chosen, lowest, candidates = -1, 2.0, 0
    for i in range(nc):
        word = event_word(key, i)
        choice, pattern = field(word, 0), field(word, 1)
        pushes = work.now[2 * i] < 0.0 or work.budget[i] > 0.0
        at_rest = work.now[2 * i] == 0.0
        work.role[i] = NONE
        if at_rest and ((draws and choice < HOLD) or not (draws or pushes)):
            # later on few patterns, which are known from before, are worth more than many
            drawn = phase == FREELY or pattern < SLIPS_ANYWAY
            drive(work, i, HELD, int(3.0 * upper_half(word)) - 1 if drawn else STUCK)
        elif pushes or (at_rest and draws and choice < HOLD + JOIN):
            drive(work, i, DRIVEN, STUCK)
            candidates += 1
            priority = upper_half(word)
            if priority < lowest:
                chosen, lowest = i, priority
            if phase != TOGETHER:  # on a face about every second contact has no weight
                work.weight[i] = max(2.0 * priority - 1.0, 0.0) if draws and kind < FACE else priority
    if candidates > 1 and not single:
        chosen = -1
    if custom is not None and chosen < 0 and phase == FREELY:
        for i in range(nc):
            work.approaching[i] = work.role[i] == DRIVEN
            work.uniforms[i] = upper_half(event_word(key, i))
        call_rates(custom, work.uniforms, work.approaching, work.weight, nc)
    for i in range(nc):
        if work.role[i] == DRIVEN:
            if chosen == i:
                work.weight[i] = 1.0
            elif chosen >= 0 or not work.weight[i] > 0.0:
                work.role[i] = NONE
        if draws and work.role[i] == NONE and work.now[2 * i + 1] == 0.0 and work.mu[i] > 0.0:
            edge = field(event_word(key, i), 1)
            if edge < ON_EDGE and (work.now[2 * i] <= 0.0 or work.budget[i] > 0.0):
                drive(work, i, EDGE, MINUS if edge < 0.5 * ON_EDGE else PLUS)
    return chosen


@kernel
def pattern_name(work: PlaneWork, nc: int) -> np.uint64:
    """Roles, slips and ceilings of at most NAMED contacts: four bits a contact.

    All that `find_rates` reads of the marks is in it; a ceiling says nothing about one that is held.
    """
    # reads ceiling, free, role, slip
    name = np.uint64(0)
    for i in range(nc):
        role, slip = work.role[i], work.slip[i]
        code = 0
        if role == DRIVEN:
            code = 2 + slip + 3 * work.ceiling[i]  # 1 to 6
        elif role == HELD:
            fixed = work.free[i] == 0 and slip != 0
            code = 7 + (slip > 0) if fixed else 10 + slip  # 7 and 8, 9 to 11
        elif role == EDGE:
            code = 12 + (slip > 0) + 2 * work.ceiling[i]  # 12 to 15
        name |= np.uint64(code) << np.uint64(4 * i)
    return name


@kernel
def slot_of(name: np.uint64) -> int:
    """The slot of the table in which a pattern is kept."""
    return int((name * GOLDEN) >> TABLE_SHIFT)


@kernel
def ordered_name(name: np.uint64, nc: int, number: np.uint64) -> np.uint64:
    """The name of a pattern with this order of contacts that are alike; 0, which is none, without room."""
    return name | (number << np.uint64(4 * nc)) if nc <= ORDERED else np.uint64(0)


@kernel
def find_slot(work: PlaneWork, table: Array, nc: int, key: np.uint64) -> int:
    """The slot of the pattern, and of the order of contacts where rates hang on it; -1: not in the table."""
    # reads names; hands on work
    name = pattern_name(work, nc)
    slot = slot_of(name)
    if work.names[slot] == name and table[slot, 4 * nc] == HANGS:
        order_contacts(work, nc)
        name = ordered_name(name, nc, draw_order(work, nc, key))
        slot = slot_of(name)
    return slot if name != 0 and work.names[slot] == name else NOWHERE


@kernel
def find_new_rates(work: PlaneWork, nc: int, kept: bool, busy: int, key: np.uint64) -> int:
    """`find_known_rates` of a pattern that is not known yet, or whose rates hang on the order of contacts.

    They are kept, where ``kept``, for the next time.
    """
    # reads known, names, role, slip; writes known, names; hands on work
    names, known = work.names, work.known
    at, column = len(names) + int(busy >= 0), 4 * nc
    name = np.uint64(0)
    if kept:
        slot = find_slot(work, known, nc, key)
        if slot >= 0:
            return slot if known[slot, column] == PUSHES else NOWHERE
        name = pattern_name(work, nc)
    found, number = rates.find_rates(work, nc, at, key)
    known[at, column] = PUSHES if found else NOTHING
    for i in range(nc):
        known[at, column + rates.CODES + i] = rates.SLIPS * work.role[i] + work.slip[i] + 1
    slot = slot_of(name)
    if number != rates.ANY_ORDER and name != 0:
        if slot != busy:
            names[slot], known[slot, column] = name, HANGS
        name = ordered_name(name, nc, number)
        slot = slot_of(name)
    if slot != busy and name != 0:
        names[slot] = name
        for b in range(known.shape[1]):
            known[slot, b] = known[at, b]
    return at if found else NOWHERE


@inlined
def find_known_rates(work: PlaneWork, nc: int, unit: bool, busy: int, key: np.uint64) -> int:
    """The place in ``known`` of the rates, -1 where nothing pushes.

    Where all that are driven have ``unit`` weight, rates depend only on the pattern, and where they hang on
    the order of contacts that are alike on that. What was found before is looked up. ``busy`` is a place
    still in use (-1: none).
    """
    # reads known, names; hands on work
    kept = unit and len(work.names) > 0 and nc <= NAMED
    if kept:
        name = pattern_name(work, nc)
        slot = slot_of(name)
        told = work.known[slot, 4 * nc]
        if work.names[slot] == name and told != HANGS:
            return slot if told == PUSHES else NOWHERE
    return find_new_rates(work, nc, kept, busy, key)
