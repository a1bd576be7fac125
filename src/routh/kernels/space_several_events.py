"""Events of the steps of `routh.kernels.space_several`, as `routh.kernels.space_events` finds them."""

from __future__ import annotations

import math

from routh.compiling import kernel, written_out
from routh.kernels.space_crew import (
    NOTES,
    OTHER,
    ROWS,
    SUM,
    TRY,
    Crew,
    L,
    Pushing,
    S,
    SeveralWork,
    any_of,
    least_for_all,
    least_of,
    normal_effect,
    own_of,
    show,
    wait,
)
from routh.kernels.space_events import (
    EARLY,
    END,
    END_AGAIN,
    LOOKS,
    MIDDLE,
    PEAK,
    PLACED,
    PLACINGS,
    SHORTER,
    TINY,
    find_root,
    peak_of,
)
from routh.kernels.space_lone import BEFORE, NOW, THEN, look_at_normal
from routh.kernels.space_names import (
    CUT,
    CUT_SHORT,
    DRIVEN,
    GO_ON,
    HELD,
    JAMMED,
    JAMS,
    LET_GO,
    NORMAL_ZERO,
    ORDER,
)
from routh.kernels.space_state import Column, global_row, pusher, role

NOWHERE = LOOKS + 1  # behind all points of a step


@written_out
def look_at_three(
    work: SeveralWork, by: Pushing, crew: Crew, x: float, y: float, z: float, degree: int
) -> None:
    """SUM: sizes of the slips at three points of the step, OTHER: normal rates of contacts that are held."""
    powers, numbers = work.powers, work.numbers
    for column in range(3 * own_of(work)):
        numbers[SUM, column], numbers[OTHER, column] = 0.0, 0.0
    for k in range(ORDER, -1, -1):
        for o in range(own_of(work)):
            a, at = crew.first + crew.apart * o, 3 * o
            size = powers[k, ROWS * o + S] if a < by.m and k <= degree else 0.0
            numbers[SUM, at] = numbers[SUM, at] * x + size
            numbers[SUM, at + 1] = numbers[SUM, at + 1] * y + size
            numbers[SUM, at + 2] = numbers[SUM, at + 2] * z + size
            if by.held <= a < by.m:
                rate = powers[k, ROWS * o + L] if k < degree else 0.0
                numbers[OTHER, at] = numbers[OTHER, at] * x + rate
                numbers[OTHER, at + 1] = numbers[OTHER, at + 1] * y + rate
                numbers[OTHER, at + 2] = numbers[OTHER, at + 2] * z + rate


@written_out
def is_clear_at_three(work: SeveralWork, by: Pushing, crew: Crew) -> bool:
    """Whether, after `look_at_three`, all contacts of this thread slide and push."""
    clear = True
    for o in range(own_of(work)):
        a = crew.first + crew.apart * o
        if a < by.m:
            for part in range(3):
                slides = work.numbers[SUM, 3 * o + part] > 0.0
                clear = clear and slides and (a < by.held or work.numbers[OTHER, 3 * o + part] > 0.0)
    return clear


@kernel
def is_clear(work: SeveralWork, by: Pushing, crew: Crew, h: float, degree: int) -> bool:
    """Whether nothing of this thread's contacts shows at all the points of a step."""
    clear = True
    for point in range(0, LOOKS + 1, 3):
        x, y, z = h * max(point, EARLY) / LOOKS, h * (point + 1) / LOOKS, h * (point + 2) / LOOKS
        look_at_three(work, by, crew, x, y, z, degree)
        clear = clear and is_clear_at_three(work, by, crew)
    return clear


@written_out
def clear_up_to(work: SeveralWork, by: Pushing, crew: Crew, before: float, at: float, h: float) -> float:
    """How far it is clear, after `look_at_three` of one point behind another: h if it is there, too."""
    for o in range(own_of(work)):
        a = crew.first + crew.apart * o
        if a < by.m:
            if not work.numbers[SUM, 3 * o] > 0.0:
                h = min(h, before)
            if a >= by.held and work.numbers[OTHER, 3 * o] < -TINY:
                h = min(h, at)
    return h


@kernel
def clear_before(work: SeveralWork, by: Pushing, crew: Crew, h: float, degree: int) -> tuple[int, float]:
    """The first point at which something of this thread's contacts shows, and how far it is clear then."""
    for point in range(LOOKS + 1):
        at = h * max(point, EARLY) / LOOKS
        look_at_three(work, by, crew, at, at, at, degree)
        shorter = clear_up_to(work, by, crew, h * max(point - 1, 0) / LOOKS, at, h)
        if shorter < h:
            return point, shorter
    return NOWHERE, h


@kernel
def shorten(work: SeveralWork, crew: Crew, point: int, length: float, h: float) -> float:
    """How far it is clear by the first points that threads have found."""
    first = least_for_all(work, crew, float(point))
    return least_for_all(work, crew, length if point == first else h)


@kernel
def clear_length(
    work: SeveralWork, by: Pushing, crew: Crew, h: float, degree: int, clear: bool, going: bool
) -> float:
    """See `routh.kernels.space_events.clear_length`; ``clear``: nothing shows."""
    searching, tries = going and not clear, 0
    while any_of(searching):
        point, shorter = clear_before(work, by, crew, h, degree)
        shorter = shorten(work, crew, point, shorter, h)
        if searching:
            tries += 1
            h = shorter if shorter > 0.0 else h / LOOKS
            searching = not shorter > 0.0 and tries < SHORTER
    return h


@written_out
def impulses_at(work: SeveralWork, by: Pushing, crew: Crew, at: float, degree: int) -> float:
    """TRY: the impulses up to a point of the step, SUM: normal rates of contacts that are held there.

    Returns the length of the path to there.
    """
    powers, numbers, path = work.powers, work.numbers, 0.0
    for o in range(own_of(work)):
        numbers[SUM, o] = 0.0
        for part in range(3):
            numbers[TRY, 3 * o + part] = 0.0
    for k in range(ORDER - 1, -1, -1):
        share = 1.0 / (k + 1)
        path = path * at + (share * work.pace[crew.column, k] if k < degree else 0.0)
        for o in range(own_of(work)):
            for part in range(3):
                place = 3 * o + part
                power = share * work.series[k, 3 * o + part, crew.thread] if k < degree else 0.0
                numbers[TRY, place] = numbers[TRY, place] * at + power
            if crew.first + crew.apart * o >= by.held:
                numbers[SUM, o] = numbers[SUM, o] * at + (powers[k, ROWS * o + L] if k < degree else 0.0)
    for column in range(3 * own_of(work)):
        numbers[TRY, column] *= at
    return path * at


@written_out
def look(
    of: Column, work: SeveralWork, by: Pushing, crew: Crew, at: float, degree: int
) -> tuple[float, int, int, float]:
    """See `routh.kernels.space_events.look`; and `turning_point`, after a look at the middle and the end."""
    path, points, column = impulses_at(work, by, crew, at, degree), work.points, crew.column
    show(work, crew, by.m, TRY)
    peak = math.inf
    for q in range(points.shape[1]):
        j = crew.first + crew.apart * q
        if j < of.nc:
            does = role(of, j)
            if does == HELD:
                points[THEN, q], points[NOW, q] = points[NOW, q], -math.inf
            else:
                look_at_normal(points, q, does == DRIVEN, normal_effect(work, crew, q, by.m))
            work.heights[j, column] = points[NOW, q]
            peak = min(peak, peak_of(-abs(points[BEFORE, q]), points[THEN, q], points[NOW, q]))
    work.nearest[crew.first, column] = peak
    for o in range(own_of(work)):
        a = crew.first + crew.apart * o
        if by.held <= a < by.m:
            work.notes[NOTES * a, column] = work.numbers[SUM, o]
    wait()
    value, kind, who = path - of.states[global_row(of.nc, CUT), of.slot] - 1e-14, CUT_SHORT, -1
    for j in range(work.heights.shape[0]):
        if j < of.nc and work.heights[j, column] > value:
            value, kind, who = work.heights[j, column], NORMAL_ZERO, j
    for a in range(by.m):
        if a >= by.held:
            normal = work.notes[NOTES * a, column]
            if -normal > value:
                value, kind, who = -normal, LET_GO, work.who[a]
            growth = normal / of.states[global_row(of.nc, JAMMED), of.slot] - 1.0
            if growth > value:
                value, kind, who = growth, JAMS, work.who[a]
    peak = least_of(work, crew)
    return value, kind, who, (peak if peak < math.inf else 0.0)


@written_out
def path_polynomial(of: Column, work: SeveralWork, crew: Crew, degree: int) -> None:
    """Of the length of the path to the cut."""
    events, column = work.events, crew.column
    events[column, 0] = -of.states[global_row(of.nc, CUT), of.slot]
    for k in range(1, ORDER + 1):
        events[column, k] = 1.0 / k * work.pace[column, k - 1] if k <= degree else 0.0


@written_out
def rate_polynomial(
    of: Column, work: SeveralWork, by: Pushing, crew: Crew, kind: int, who: int, degree: int
) -> None:
    """Of the normal rate of a contact that is held, if this thread has it."""
    powers, events, column = work.powers, work.events, crew.column
    jammed = of.states[global_row(of.nc, JAMMED), of.slot]
    for o in range(own_of(work)):
        a = crew.first + crew.apart * o
        for b in range(by.m):
            if b == a and by.held <= a and work.who[b] == who:
                for k in range(ORDER + 1):
                    power = powers[k, ROWS * o + L] if k < degree else 0.0
                    events[column, k] = -power if kind == LET_GO else power / jammed
                if kind == JAMS:
                    events[column, 0] -= 1.0


@written_out
def normal_polynomial(
    of: Column, work: SeveralWork, by: Pushing, crew: Crew, b: int, who: int, degree: int
) -> None:
    """Of a normal velocity: what the b-th contact that pushes adds, if this thread has it."""
    events, column = work.events, crew.column
    before = of.states[3 * who, of.slot]
    for o in range(own_of(work)):
        if crew.first + crew.apart * o == b:
            at, entry = 3 * pusher(of, b), 3 * who
            g0, g1, g2 = (
                of.G[of.row, at, entry],
                of.G[of.row, at + 1, entry],
                of.G[of.row, at + 2, entry],
            )
            events[column, 0] = -abs(before)
            for k in range(1, ORDER + 1):
                share, value = 1.0 / k, events[column, k] if b > 0 else 0.0
                if k <= degree:
                    value += g0 * (share * work.series[k - 1, 3 * o, crew.thread])
                    value += g1 * (share * work.series[k - 1, 3 * o + 1, crew.thread]) + g2 * (
                        share * work.series[k - 1, 3 * o + 2, crew.thread]
                    )
                events[column, k] = -value if b == by.m - 1 and before > TINY else value


@kernel
def event_polynomial(
    of: Column, work: SeveralWork, by: Pushing, crew: Crew, kind: int, who: int, degree: int, wanted: bool
) -> None:
    """See `routh.kernels.space_events.event_polynomial`; powers beyond the highest are zero."""
    if wanted and kind == CUT_SHORT and crew.first == 0:
        path_polynomial(of, work, crew, degree)
    if wanted and (kind == LET_GO or kind == JAMS):
        rate_polynomial(of, work, by, crew, kind, who, degree)
    for b in range(work.who.shape[0]):  # one after the other, in the order of their sum
        if wanted and kind == NORMAL_ZERO and b < by.m:
            normal_polynomial(of, work, by, crew, b, who, degree)
        wait()


@kernel
def event_of_several(
    of: Column, work: SeveralWork, by: Pushing, crew: Crew, h: float, degree: int, going: bool
) -> tuple[float, int, int]:
    """See `routh.kernels.space_events.first_event`; TRY belongs to what is returned."""
    kind, who, placings = GO_ON, -1, 0
    at, place = 0.5 * h, MIDDLE
    while any_of(going):
        value, found, contact, peak = look(of, work, by, crew, at, degree)
        wanted = False
        if going and kind == GO_ON and not value > 0.0:
            if place == MIDDLE or place == PEAK:
                at, place = h, (END if place == MIDDLE else END_AGAIN)
            elif place == END and peak > 0.0:
                at, place = peak * h, PEAK
            else:
                going = False
        elif going:
            again = found == kind and contact == who
            if kind != GO_ON and (not value > PLACED or again or at == 0.0):
                going = False
            else:
                kind, who, placings = found, contact, placings + 1
                wanted = going = placings <= PLACINGS
        if any_of(wanted):
            event_polynomial(of, work, by, crew, kind, who, degree, wanted)
            if wanted:
                at = find_root(work.events, crew.column, at, ORDER)
    return at, kind, who
