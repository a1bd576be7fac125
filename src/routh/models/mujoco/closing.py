"""Which contacts of a moving MuJoCo state are about to close, in compiled code that suits every substep.

A contact is *open* while its distance exceeds the one at which MuJoCo's force begins (``includemargin``). An
event is an open contact that closes within the horizon faster than a threshold, or one that has closed since
the last look (its motion was accelerated). What was open before is remembered from look to look by the pair
of geoms and the place, so that a contact that stays closed is never an event, and one that was handled is not
handled twice: closed or handled, it can close again only after it has opened by more than `REOPEN`.
"""

from __future__ import annotations

import math

import numpy as np

from routh.compiling import kernel
from routh.validation import Array

# columns of the memory
KEY, X, Y, Z, DEPTH, HANDLED, SPEED, TIME = range(8)
COLUMNS = 8
# places in the rules
THRESHOLD = 0  # m/s: what closes more slowly is no event
HORIZON = 1  # s: what closes later is none yet
AIM = 2  # m: an event is put where the gap is still so wide, so that no force acts before it
REOPEN = 3  # m: what has closed can close again after it has opened so far
LEAST = 4  # contacts that an event needs
ACCELERATION = 5  # m/s^2: no contact is accelerated more, for how long nothing can close
UNSEEN = 6  # s: what is out of reach cannot close earlier
NEAR = 7  # m: contacts that are as near when an event begins take part in it
WINDOW = 8  # s: ... and those that close so soon after
RULES = 9

Around = tuple[Array, Array, Array, Array, np.ndarray]  # dist (c,), includemargin (c,), pos, frame, geom
Motion = tuple[Array, Array, Array]  # cdof (nv, 6), subtree_com (nbody, 3), qvel
Books = tuple[Array, Array, np.ndarray]  # memory (rows, COLUMNS), room for the next one, rows known (1,)


@kernel
def normal_speed(paths: np.ndarray, contact: int, around: Around, motion: Motion) -> float:
    """Rate of a contact's distance, m/s.

    ``paths`` (ngeom, k): the body at the root of a geom's tree, the velocities that move it, then -1.
    """
    pos, normal, geom = around[2][contact], around[3][contact], around[4][contact]
    cdof, centre, qvel = motion
    total = 0.0
    for side in range(2):
        own = paths[geom[side]]
        x, y, z = pos[0] - centre[own[0], 0], pos[1] - centre[own[0], 1], pos[2] - centre[own[0], 2]
        place = 1
        sign = 1.0 if side == 1 else -1.0
        while own[place] >= 0:
            c = cdof[own[place]]
            along = (
                normal[0] * (c[3] + c[1] * z - c[2] * y)
                + normal[1] * (c[4] + c[2] * x - c[0] * z)
                + normal[2] * (c[5] + c[0] * y - c[1] * x)
            )
            total += sign * qvel[own[place]] * along
            place += 1
    return total


@kernel
def matched(memory: Array, known: int, row: Array) -> tuple[int, bool]:
    """The remembered row of the same pair that is nearest (-1: none), and whether the pair touched."""
    nearest, best, touched = -1, math.inf, False
    for k in range(known):
        if memory[k, KEY] == row[KEY]:
            dx, dy, dz = memory[k, X] - row[X], memory[k, Y] - row[Y], memory[k, Z] - row[Z]
            apart = dx * dx + dy * dy + dz * dz
            touched = touched or memory[k, DEPTH] <= 0.0
            if apart < best:
                nearest, best = k, apart
    return nearest, touched


@kernel
def judge_row(memory: Array, known: int, row: Array, rules: Array) -> None:
    """Fill in whether a row was handled, and when it closes (infinite: it does not, or it is no event).

    ``known`` is negative at the first look of an episode: what is closed then has not closed since.
    """
    nearest, touched = matched(memory, known, row)
    row[HANDLED], row[TIME] = 0.0, math.inf
    if nearest >= 0 and (row[SPEED] < 0.0 or row[DEPTH] <= rules[REOPEN]):
        row[HANDLED] = memory[nearest, HANDLED]
    closed = row[DEPTH] <= 0.0
    if row[SPEED] < -rules[THRESHOLD] and row[HANDLED] == 0.0:
        if not closed:
            if row[DEPTH] + row[SPEED] * rules[HORIZON] <= 0.0:
                row[TIME] = max(row[DEPTH] - rules[AIM], 0.0) / -row[SPEED]
        elif known >= 0 and ((nearest >= 0 and memory[nearest, DEPTH] > 0.0) or not touched):
            row[TIME] = 0.0  # of a pair that touched elsewhere, a point that was not there is no evidence
    if closed and row[TIME] == math.inf:
        row[HANDLED] = 1.0


@kernel
def earliest(row: Array, rules: Array) -> float:
    """The time in which an open contact can close for an event, s: one that was handled opens first."""
    speed, most, gap = row[SPEED], rules[ACCELERATION], rules[REOPEN]
    if row[HANDLED] == 0.0:
        return (speed + math.sqrt(speed * speed + 2.0 * most * row[DEPTH])) / most
    back = math.sqrt(2.0 * gap / most)
    if row[DEPTH] > gap:
        return abs(speed) / most + back
    return (math.sqrt(speed * speed + 2.0 * most * (gap - row[DEPTH])) - abs(speed)) / most + back


@kernel
def look_at_rows(
    paths: np.ndarray, around: Around, motion: Motion, rules: Array, books: Books
) -> tuple[int, float]:
    """Fill in the rows of now; their number, and for how long no open one can close, s."""
    memory, now, known = books
    dist, margin, pos, _, geom = around
    count, safe = 0, rules[UNSEEN]
    for contact in range(dist.shape[0]):
        first, second = geom[contact, 0], geom[contact, 1]
        if first < 0 or second < 0:
            continue
        row = now[count]
        row[KEY] = float(first) * paths.shape[0] + float(second)
        row[X], row[Y], row[Z] = pos[contact, 0], pos[contact, 1], pos[contact, 2]
        row[DEPTH] = dist[contact] - margin[contact]
        row[SPEED] = normal_speed(paths, contact, around, motion)
        judge_row(memory, known[0], row, rules)
        if row[DEPTH] > 0.0:
            safe = min(safe, earliest(row, rules))
        count += 1
    return count, safe


@kernel
def next_event(
    paths: np.ndarray, around: Around, motion: Motion, rules: Array, books: Books
) -> tuple[float, float]:
    """When the first event begins, s from now (infinite: none within the horizon), and the safe time, s.

    The contacts that close then are remembered as handled; so are those of events with too few contacts.
    """
    count, safe = look_at_rows(paths, around, motion, rules, books)
    memory, now, known = books
    found = math.inf
    while found == math.inf:
        first = math.inf
        for k in range(count):
            if now[k, HANDLED] == 0.0:
                first = min(first, now[k, TIME])
        if first == math.inf:
            break
        taking_part = 0
        for k in range(count):
            left = now[k, DEPTH] + min(now[k, SPEED], 0.0) * first
            if left <= rules[NEAR] or left + now[k, SPEED] * rules[WINDOW] <= 0.0:
                taking_part += 1
                if now[k, TIME] < math.inf:
                    now[k, HANDLED] = 1.0
            if now[k, TIME] <= first:
                now[k, HANDLED] = 1.0
        if taking_part >= rules[LEAST]:
            found = first
    for k in range(count):
        for column in range(COLUMNS):
            memory[k, column] = now[k, column]
    known[0] = count
    return found, safe
