"""The loop over what a motion does next: fly, strike, or go on in contact, until it rests or has tipped."""

from __future__ import annotations

import math

from routh.base.validation import Array
from routh.compiling import apart, kernel
from routh.kernels.constraints.data import PHI, Layout, Terms
from routh.kernels.constraints.march import DONE, GOING, STATE, step
from routh.kernels.constraints.place import move_bodies, place_bodies, yield_of
from routh.kernels.landing.books import check_push, energy_of
from routh.kernels.landing.data import (
    AT_REST,
    BEGIN,
    DEPTH,
    FLIGHT,
    GAINED,
    IMPACT,
    MOVING,
    NOT_SOLVED,
    RESIDUAL,
    STEP,
    TIPPED,
    Bulk,
    Ends,
    FallRules,
    Hands,
    Runs,
    Trace,
)
from routh.kernels.landing.flight import closest_touch, fly
from routh.kernels.landing.impact import DRAWS, strike
from routh.models.spatial.kinematics import SpatialArrays

NEARLY = 0.999  # share of the time to the next touch that a step in contact takes
CLOSE = 1e-8  # s: what would close within it touches
SHORTEST = 1e-8  # s, of a step in contact
TEETERING = 30.0  # how much longer a body on fewer than three points has to be still
TOUCHES = 1e-4  # of the size: at rest what is this near touches
SHORTER = 6  # times that a step which is not solved is halved
TURN = 4e-3  # rad: what turns faster in a step gains energy and sinks in
FLY, STRIKE, GO_ON = range(3)


@kernel
def land(first: int, last: int, rules: FallRules, runs: Runs, ends: Ends, hands: Hands) -> None:
    """Motions ``first`` to ``last``."""
    # hands on ends, hands, rules, runs
    for e in range(first, last):
        one_landing(e, rules, runs, ends, hands, None)


@kernel
def trace_one(e: int, rules: FallRules, runs: Runs, ends: Ends, hands: Hands, trace: Trace) -> None:
    """Motion e again, written down."""
    # hands on ends, hands, rules, runs, trace
    one_landing(e, rules, runs, ends, hands, trace)


@apart
def one_landing(e: int, rules: FallRules, runs: Runs, ends: Ends, hands: Hands, trace: Trace | None) -> None:
    """Motion e, from its state to its end."""
    # reads ends.worst, hands.course.force, hands.course.memory, hands.course.q, hands.course.v,
    #   hands.course.worst, hands.impulse, hands.layout.nc, hands.numbers, hands.outputs.residual,
    #   hands.plan.bodies.frames, hands.plan.bodies.weights, hands.plan.tolerance, hands.room.space.R,
    #   hands.room.terms.M, hands.room.terms.mu, rules.duration, rules.flat, rules.most, rules.patience,
    #   rules.size, rules.soft, rules.still, runs.row, runs.sample
    # writes ends.worst, hands.course.q, hands.course.stage, hands.course.v, hands.impulse, hands.numbers
    # hands on ends, hands, hands.course, hands.layout, hands.numbers, hands.plan.bodies, hands.plan.surface,
    #   hands.room.scratch, hands.room.space, hands.room.terms, hands.room.terms.M, rules, rules.size, runs,
    #   trace
    plan, layout, room, course = hands.plan, hands.layout, hands.room, hands.course
    bodies, space, terms = plan.bodies, room.space, room.terms
    if bodies is None or space is None:
        return
    nc = layout.nc
    begin(e, rules, runs, ends, hands)
    q, v, gap, rate, before = course.q[0], course.v[0], hands.numbers[0], hands.numbers[1], hands.numbers[2]
    bulk = Bulk(terms.M[0, 0], hands.numbers[3], hands.numbers[4], rules.size)
    for j in range(3):
        bulk.inertia[j], bulk.gravity[j] = terms.M[3 + j, 0], -bodies.weights[0, j] / bulk.mass
    worst = ends.worst[e]
    t, quiet, turns, impacts, status = 0.0, 0.0, 0, 0, MOVING
    lowest = energy_of(bulk, q, v)
    scale = 0.0
    for j in range(3):
        scale += 0.5 * bulk.mass * v[j] * v[j] + 0.5 * bulk.inertia[j] * v[3 + j] * v[3 + j]
        scale += bulk.mass * abs(bulk.gravity[j]) * rules.size
    if trace is not None:
        note(trace, BEGIN, t, course.q[0], course.v[0], hands.impulse, False)
    while t < rules.duration:
        turns += 1
        if turns > rules.most:
            status = NOT_SOLVED
            break
        place_bodies(bodies, q, v, space, layout, terms)
        what, length, deepest = next_of(rules, layout, hands)
        if rules.soft == 0:
            worst[DEPTH] = max(worst[DEPTH], -deepest)
        for k in range(6):
            before[k] = v[k]
        if what == STRIKE:
            if not strike(rules, layout, terms, hands, runs.row[e], runs.sample[e] * DRAWS + impacts):
                status = NOT_SOLVED
                break
            impacts += 1
            worst[RESIDUAL] = max(worst[RESIDUAL], hands.outputs.residual[0, 0])
            check_push(bulk, bodies, space.R[0], before, v, hands.impulse, terms.mu, 0.0, worst)
            quiet = 0.0
            if trace is not None:
                note(trace, IMPACT, t, course.q[0], course.v[0], hands.impulse, True)
        elif what == FLY:
            length = min(closest_touch(bodies, bulk, v, gap[:nc], rate[:nc]), rules.duration - t)
            if rules.soft == 1:
                length = max(length, SHORTEST)
            fly(bulk, q, v, length)
            t += length
            quiet = 0.0
            if trace is not None:
                note(trace, FLIGHT, t, course.q[0], course.v[0], hands.impulse, False)
        else:
            length = min(length, max(rules.duration - t, SHORTEST))
            yield_of(layout, terms, plan.surface, course.memory[0])
            solved = step(0, length, plan.tolerance, layout, terms, room.scratch, course)
            for _ in range(SHORTER):  # modes that Newton's method does not settle: a shorter step, begun anew
                if not solved:
                    length, course.stage[0, DONE] = 0.5 * length, 0
                    solved = step(0, length, plan.tolerance, layout, terms, room.scratch, course)
            if not solved:
                status = NOT_SOLVED
                break
            for c in range(nc):
                hands.impulse[c, 0] = length * course.force[0, c]
                hands.impulse[c, 1] = length * course.force[0, nc + 2 * c]
                hands.impulse[c, 2] = length * course.force[0, nc + 2 * c + 1]
            check_push(bulk, bodies, space.R[0], before, v, hands.impulse, terms.mu, length, worst)
            worst[RESIDUAL] = max(worst[RESIDUAL], course.worst[0])
            move_bodies(q, v, length)
            t += length
            if trace is not None:
                note(trace, STEP, t, course.q[0], course.v[0], hands.impulse, True)
            quiet = quiet + length if speed_of(rules, v) < rules.still else 0.0
        energy = energy_of(bulk, q, v)
        if not energy < math.inf:
            status = NOT_SOLVED
            break
        worst[GAINED] = max(worst[GAINED], (energy - lowest) / scale)
        lowest = min(lowest, energy)
        place_bodies(bodies, q, v, space, layout, terms)
        if has_tipped(what, rules, bodies, q, space.R[0]):
            status = TIPPED
            break
        if quiet >= rules.patience * (1.0 if stands(rules, layout, terms) else TEETERING):
            face, cosine = lies_on(rules, bodies.frames[0, 0], space.R[0])
            if face < 0 or cosine > rules.flat:
                status = AT_REST
                break
    finish(e, t, status, impacts, rules, ends, hands)


@kernel
def begin(e: int, rules: FallRules, runs: Runs, ends: Ends, hands: Hands) -> None:
    """The body as motion e has it, and its state."""
    # reads ends.worst, hands.centres, hands.layout.nc, rules.up, runs.height, runs.mu, runs.q,
    #   runs.restitution, runs.spring, runs.v
    # writes ends.worst, hands.course.impulse, hands.course.memory, hands.course.q, hands.course.stage,
    #   hands.course.v, hands.course.worst, hands.impulse, hands.plan.bodies.centres,
    #   hands.plan.surface.normal, hands.problems.restitution, hands.room.terms.mu
    course, bodies, terms, surface = hands.course, hands.plan.bodies, hands.room.terms, hands.plan.surface
    nc = hands.layout.nc
    for k in range(7):
        course.q[0, k] = runs.q[e, k]
    for k in range(6):
        course.v[0, k] = runs.v[e, k]
    course.stage[0, DONE], course.stage[0, STATE], course.worst[0] = 0, GOING, 0.0
    for k in range(ends.worst.shape[1]):
        ends.worst[e, k] = 0.0
    for c in range(nc):
        if bodies is not None:
            for j in range(3):
                bodies.centres[c, j] = hands.centres[c, j] - runs.height[e, c] * rules.up[j]
        terms.mu[c], hands.problems.restitution[0, c] = runs.mu[e, c], runs.restitution[e, c]
        surface.normal[0, c], surface.normal[1, c] = runs.spring[e, 0, c], runs.spring[e, 1, c]
        course.memory[0, c, 0] = course.memory[0, c, 1] = 0.0
        for j in range(3):
            hands.impulse[c, j] = course.impulse[0, c, j] = 0.0


@kernel
def next_of(rules: FallRules, layout: Layout, hands: Hands) -> tuple[int, float, float]:
    """What comes next, how long a step in contact is, and the smallest gap; gaps and rates are written."""
    # reads hands.course.v, hands.numbers, hands.room.terms.G, hands.room.terms.numbers, layout.nc, rules.h,
    #   rules.skin, rules.slow, rules.soft
    # writes hands.numbers
    gap, rate, terms, v = hands.numbers[0], hands.numbers[1], hands.room.terms, hands.course.v[0]
    strikes, holds, length, deepest = False, False, rules.h, math.inf
    spin = math.sqrt(v[3] * v[3] + v[4] * v[4] + v[5] * v[5])
    if rules.soft == 0 and spin * length > TURN:
        length = TURN / spin
    for c in range(layout.nc):
        gap[c], rate[c] = terms.numbers[PHI, c], 0.0
        for j in range(6):
            rate[c] += terms.G[c, j] * v[j]
        deepest = min(deepest, gap[c])
        if rules.soft == 1:
            holds = holds or gap[c] + rules.h * rate[c] <= 0.0
            continue
        fast = rate[c] < -rules.slow
        if fast and (gap[c] <= rules.skin or gap[c] <= -rate[c] * CLOSE):
            strikes = True
        elif gap[c] <= rules.skin:
            holds = holds or rate[c] <= rules.slow
        elif fast:
            length = min(length, max(NEARLY * gap[c] / -rate[c], SHORTEST))
    if strikes:
        return STRIKE, 0.0, deepest
    return GO_ON if holds else FLY, length, deepest


@kernel
def speed_of(rules: FallRules, v: Array) -> float:
    """How fast a point of the body moves at most, m/s."""
    # reads size
    linear = math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    return linear + rules.size * math.sqrt(v[3] * v[3] + v[4] * v[4] + v[5] * v[5])


@kernel
def tilt_of(direction: Array, normal: Array, R: Array) -> float:
    """The cosine between a direction of the body and the ground's normal."""
    total = 0.0
    for j in range(3):
        for k in range(3):
            total += normal[j] * R[j, k] * direction[k]
    return total


@kernel
def has_tipped(what: int, rules: FallRules, bodies: SpatialArrays, q: Array, R: Array) -> bool:
    """Whether a body that cannot rest on another side leans too far, or is below the ground."""
    # reads bodies.frames, bodies.points, rules.leaning, rules.up
    if rules.leaning < -1.0:
        return False
    height = 0.0
    for j in range(3):
        height += bodies.frames[0, 0, j] * (q[j] - bodies.points[0, j])
    leans = tilt_of(rules.up, bodies.frames[0, 0], R) < rules.leaning
    return height <= 0.0 or (leans and what != FLY)


@kernel
def stands(rules: FallRules, layout: Layout, terms: Terms) -> bool:
    """Whether three points touch."""
    # reads layout.nc, terms.numbers; hands on rules
    count = 0
    for c in range(layout.nc):
        count += int(touches_at(rules, terms.numbers[PHI, c]))
    return count >= 3


@kernel
def touches_at(rules: FallRules, gap: float) -> bool:
    """Whether a point of a body at rest touches."""
    # reads size, skin
    return gap <= max(rules.skin, TOUCHES * rules.size)


@kernel
def lies_on(rules: FallRules, normal: Array, R: Array) -> tuple[int, float]:
    """The face that is nearest to lying on the ground, and the cosine of what it is off; -1 without faces."""
    # reads faces
    best, cosine = -1, -2.0
    for f in range(len(rules.faces)):
        found = -tilt_of(rules.faces[f], normal, R)
        if found > cosine:
            best, cosine = f, found
    return best, cosine


@kernel
def finish(e: int, t: float, status: int, impacts: int, rules: FallRules, ends: Ends, hands: Hands) -> None:
    """How motion e has ended."""
    # reads hands.course.q, hands.course.v, hands.layout.nc, hands.plan.bodies.frames, hands.room.space.R,
    #   hands.room.terms.numbers
    # writes ends.face, ends.impacts, ends.q, ends.status, ends.t, ends.touching, ends.v
    # hands on rules
    bodies, space = hands.plan.bodies, hands.room.space
    ends.status[e], ends.t[e], ends.impacts[e] = status, t, impacts
    for k in range(7):
        ends.q[e, k] = hands.course.q[0, k]
    for k in range(6):
        ends.v[e, k] = hands.course.v[0, k]
    for c in range(hands.layout.nc):
        ends.touching[e, c] = touches_at(rules, hands.room.terms.numbers[PHI, c])
    if bodies is not None and space is not None:
        ends.face[e] = lies_on(rules, bodies.frames[0, 0], space.R[0])[0]


@kernel
def note(trace: Trace, kind: int, t: float, q: Array, v: Array, impulse: Array, pushed: bool) -> None:
    """Write a state down, and what led to it."""
    # reads filled, t; writes filled, impulse, kind, q, t, v
    k = trace.filled[0]
    trace.filled[0] = k + 1
    if k >= len(trace.t):
        return
    trace.t[k], trace.kind[k] = t, kind
    for j in range(7):
        trace.q[k, j] = q[j]
    for j in range(6):
        trace.v[k, j] = v[j]
    for c in range(impulse.shape[0]):
        for j in range(3):
            trace.impulse[k, c, j] = impulse[c, j] if pushed else 0.0
