"""Many steps of many motions in one call: D19 (36)-(39), compiled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from routh.base.validation import Array
from routh.compiling import kernel
from routh.kernels.constraints.data import (
    BEST,
    FREE,
    KEPT,
    PHI,
    STIFFNESS,
    Layout,
    Modes,
    Scratch,
    Terms,
    make_modes,
)
from routh.kernels.constraints.place import (
    Limits,
    Space,
    Surface,
    move_bodies,
    place_bed,
    place_bodies,
    place_limits,
    place_plane,
    place_robot,
    yield_of,
)
from routh.kernels.constraints.scaling import factorise, prepare
from routh.kernels.constraints.settle import begin, largest, settle, stretch
from routh.kernels.motion.place import Place
from routh.models.mujoco.steps import Seen
from routh.models.planar.kinematics import PlanarArrays
from routh.models.spatial.kinematics import SpatialArrays

GOING, STUCK, LOST = range(3)  # of a motion: `Marching.stage`, second column
DONE, STATE = range(2)  # columns of `Marching.stage`
BEYOND = 1e9  # m and m/s, rad and rad/s: models of robots say nothing of such states


class Plan(NamedTuple):
    """What moves, in which steps, and what is written down."""

    h: float  # s
    steps: int
    every: int  # steps between states that are written down; the last one always is
    tolerance: float  # residual above which a step is not solved
    bodies: SpatialArrays | None  # one of these two
    planar: PlanarArrays | None
    limits: Limits  # unilateral rows, then
    bed: Array  # (m, 3) points of an elastic foundation, unilateral rows too
    surface: Surface


class Room(NamedTuple):
    """What a thread has of its own."""

    terms: Terms
    space: Space | None
    plane: Place | None
    scratch: Scratch


class Marching(NamedTuple):
    """The motions as they stand, a leading axis of E."""

    q: Array  # (E, nq)
    v: Array  # (E, nv)
    extra: Array  # (E, P, nv) further forces of the first P steps; later ones have the last
    memory: Array  # (E, nc, nt) of friction's springs
    modes: Modes  # of the last step
    stage: np.ndarray  # (E, 2) int64: steps done, GOING or STUCK
    force: Array  # (E, n) of the last step, N
    impulse: Array  # (E, nc, 1 + nt) since the last state that was written down, N s
    worst: Array  # (E,) residual since then
    elastic: np.ndarray  # (n,) bool: rows whose springs hold energy of the mechanism


class Track(NamedTuple):
    """What is written down at T states."""

    q: Array  # (E, T, nq)
    v: Array  # (E, T, nv)
    force: Array  # (E, T, n) N
    deformation: Array  # (E, T, n) m or rad
    impulse: Array  # (E, T, nc, 1 + nt) N s
    energy: Array  # (E, T, 2) kinetic and elastic, J
    residual: Array  # (E, T)


def make_course(layout: Layout, q: Array, v: Array) -> Marching:
    """Motions that begin at states (E, nq), (E, nv)."""
    E, nc, nt = len(q), layout.nc, layout.nt
    return Marching(
        np.array(q, dtype=np.float64),
        np.array(v, dtype=np.float64),
        np.zeros((E, 1, v.shape[1])),
        np.zeros((E, nc, nt)),
        make_modes(layout.nu, nc, nt, E),
        np.zeros((E, 2), dtype=np.int64),
        np.zeros((E, len(layout.pattern))),
        np.zeros((E, nc, 1 + nt)),
        np.zeros(E),
        np.ones(len(layout.pattern), dtype=bool),
    )


def make_record(layout: Layout, nq: int, count: int, samples: int) -> Track:
    """Room for so many motions and states of each."""
    n, nv, each = len(layout.pattern), len(layout.start), (count, samples)
    tails = (nq,), (nv,), (n,), (n,), (layout.nc, 1 + layout.nt), (2,), ()
    return Track(*(np.zeros((*each, *tail)) for tail in tails))


@kernel
def march(
    start: int, end: int, until: int, plan: Plan, layout: Layout, room: Room, course: Marching, record: Track
) -> None:
    """Motions ``start`` to ``end`` until so many steps are done; a step that is not solved stops a motion."""
    # reads course.q, course.stage, course.v, plan.every, plan.h, plan.steps, plan.tolerance, record.q
    # writes course.q, course.stage
    # hands on course, layout, plan, record, room, room.scratch, room.terms
    for e in range(start, end):
        while course.stage[e, DONE] < until and course.stage[e, STATE] == GOING:
            _place(plan, layout, room, course, e)
            if course.stage[e, DONE] % plan.every == 0:
                write_down(e, course.stage[e, DONE] // plan.every, layout, room.terms, course, record)
            if not step(e, plan.h, plan.tolerance, layout, room.terms, room.scratch, course):
                course.stage[e, STATE] = STUCK
                break
            if plan.bodies is not None:
                move_bodies(course.q[e], course.v[e], plan.h)
            else:
                for k in range(course.q.shape[1]):
                    course.q[e, k] += plan.h * course.v[e, k]
        if course.stage[e, DONE] == plan.steps and course.stage[e, STATE] == GOING:
            _place(plan, layout, room, course, e)
            write_down(e, record.q.shape[1] - 1, layout, room.terms, course, record)


@kernel
def _place(plan: Plan, layout: Layout, room: Room, course: Marching, e: int) -> None:
    """Write the terms of one system, of bodies in space or of a planar model, at its present state."""
    # reads course.memory, course.q, course.v, layout.nb, plan.bed, plan.limits.coordinate, room.space.R
    # hands on layout, plan.bodies, plan.limits, plan.planar, plan.surface, room.plane, room.space, room.terms
    q, v, terms, bodies, planar = course.q[e], course.v[e], room.terms, plan.bodies, plan.planar
    if bodies is not None:
        space = room.space
        if space is not None:
            place_bodies(bodies, q, v, space, layout, terms)
            if len(plan.bed) > 0:
                place_bed(plan.bed, q, v, space.R[0], layout.nb + len(plan.limits.coordinate), terms)
    if planar is not None:
        plane = room.plane
        if plane is not None:
            place_plane(planar, q, v, plane, layout, terms)
    place_limits(plan.limits, layout.nb, q, terms)
    yield_of(layout, terms, plan.surface, course.memory[e])


@kernel
def step(
    e: int, h: float, tolerance: float, layout: Layout, terms: Terms, own: Scratch, course: Marching
) -> bool:
    """One step of motion e with the terms at its state, but for the configuration; False if not solved.

    A motion that has begun starts from the modes of its last step.
    """
    # reads course.extra, course.impulse, course.stage, course.v, course.worst, layout.nb, layout.nc,
    #   layout.nt, layout.nu, layout.pattern, own.factor, own.motion, own.rows, terms.M, terms.f, terms.half,
    #   terms.v
    # writes course.force, course.impulse, course.memory, course.stage, course.v, course.worst, own.factor,
    #   terms.f, terms.half, terms.v
    # hands on course.modes.acts, course.modes.direction, course.modes.weakening, layout, own, terms
    nc, nt, first = layout.nc, layout.nt, layout.nb + layout.nu
    modes = Modes(course.modes.acts[e], course.modes.direction[e], course.modes.weakening[e])
    part = min(course.stage[e, DONE], course.extra.shape[1] - 1)
    for k in range(len(terms.v)):
        terms.v[k] = course.v[e, k]
        terms.f[k] += course.extra[e, part, k]
    if not factorise(layout, terms.M, own.factor, terms.half):
        return False
    prepare(layout, terms, h, own)
    begin(layout, terms, own, modes, course.stage[e, DONE] > 0)
    residual = largest(settle(layout, terms, h, own, modes, tolerance, True)[0])
    if not residual < tolerance:
        return False
    stretch(layout, terms, h, own, modes, course.memory[e])
    for k in range(len(terms.v)):
        course.v[e, k] = own.motion[FREE, k] + h * own.motion[BEST, k]
    for i in range(len(layout.pattern)):
        course.force[e, i] = own.rows[KEPT, i]
    for c in range(nc):
        course.impulse[e, c, 0] += h * own.rows[KEPT, first + c]
        for j in range(nt):
            course.impulse[e, c, 1 + j] += h * own.rows[KEPT, first + nc + c * nt + j]
    course.worst[e] = max(course.worst[e], residual)
    course.stage[e, DONE] += 1
    return True


@kernel
def advance(
    which: np.ndarray, plan: Plan, layout: Layout, room: Room, seen: Seen, course: Marching, record: Track
) -> None:
    """One step of motion ``which[0]`` of a robot that was looked at, but for the configuration.

    It is STUCK where it is not solved, and LOST where it goes beyond all that models say anything of. After
    the last step the state is written down, and nothing else done.
    """
    # reads course.memory, course.q, course.stage, course.v, plan.every, plan.h, plan.steps, plan.tolerance,
    #   record.q, room.terms.v
    # writes course.stage, course.v
    # hands on course, layout, plan.surface, record, room.scratch, room.terms, seen
    e, h, v = which[0], plan.h, course.v[which[0]]
    place_robot(seen, layout, room.terms)
    yield_of(layout, room.terms, plan.surface, course.memory[e])
    done = course.stage[e, DONE]
    if done == plan.steps:
        write_down(e, record.q.shape[1] - 1, layout, room.terms, course, record)
        return
    if done % plan.every == 0:
        write_down(e, done // plan.every, layout, room.terms, course, record)
    if not step(e, h, plan.tolerance, layout, room.terms, room.scratch, course):
        course.stage[e, STATE] = STUCK
        return
    far, fast = 0.0, 0.0
    for k in range(course.q.shape[1]):
        far = max(far, abs(course.q[e, k]))
    for k in range(len(v)):
        fast = max(fast, abs(v[k]))
    if not (far + h * fast < BEYOND and fast < BEYOND):
        for k in range(len(v)):
            v[k] = room.terms.v[k]
        course.stage[e, DONE], course.stage[e, STATE] = done, LOST


@kernel
def write_down(e: int, sample: int, layout: Layout, terms: Terms, course: Marching, record: Track) -> None:
    """The state of motion e with the forces that led to it; what is gathered begins anew."""
    # reads course.elastic, course.force, course.impulse, course.q, course.v, course.worst, layout.nb,
    #   layout.nc, layout.nt, layout.nu, layout.pattern, layout.start, terms.M, terms.numbers
    # writes course.impulse, course.worst, record.deformation, record.energy, record.force, record.impulse,
    #   record.q, record.residual, record.v
    nb, nu, nc, v = layout.nb, layout.nu, layout.nc, course.v[e]
    for k in range(course.q.shape[1]):
        record.q[e, sample, k] = course.q[e, k]
    kinetic, elastic = 0.0, 0.0
    for k in range(len(v)):
        record.v[e, sample, k] = v[k]
        s = layout.start[k]
        kinetic += 0.5 * terms.M[k, k - s] * v[k] * v[k]
        for j in range(s, k):
            kinetic += terms.M[k, j - s] * v[k] * v[j]
    for i in range(len(layout.pattern)):
        phi = terms.numbers[PHI, i]
        record.force[e, sample, i], record.deformation[e, sample, i] = course.force[e, i], phi
        one_sided = nb <= i and i < nb + nu + nc
        if course.elastic[i] and (not one_sided or phi < 0.0):
            elastic += 0.5 * terms.numbers[STIFFNESS, i] * phi * phi
    record.energy[e, sample, 0], record.energy[e, sample, 1] = kinetic, elastic
    record.residual[e, sample], course.worst[e] = course.worst[e], 0.0
    for c in range(nc):
        for j in range(1 + layout.nt):
            record.impulse[e, sample, c, j], course.impulse[e, c, j] = course.impulse[e, c, j], 0.0
