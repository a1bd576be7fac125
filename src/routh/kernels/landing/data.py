"""What a motion to rest is made of, as arrays that kernels share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from routh.base.validation import Array
from routh.kernels.common.arrays import Draw, Outputs
from routh.kernels.constraints.data import Layout
from routh.kernels.constraints.march import Marching, Plan, Room
from routh.kernels.space.workspace import SpaceWork
from routh.problem.rows import Problems, Rows, RowScratch

#: how a motion ends
AT_REST, TIPPED, MOVING, OUT_OF_TIME, NOT_SOLVED = range(5)
#: columns of `Ends.worst`: shares of momentum and of friction's limit that are missed, of the energy that is
#: gained; depth in m; the solvers' own residual
MOMENTUM, CONE, GAINED, DEPTH, RESIDUAL = range(5)
#: what leads to a state of `Trace`
BEGIN, FLIGHT, IMPACT, STEP = range(4)


class FallRules(NamedTuple):
    """What is the same for all motions."""

    h: float  # s, of a step in contact
    duration: float  # s
    skin: float  # m, what is this near touches
    slow: float  # m/s, slower touches are left to the steps
    window: float  # s, contacts that close within it are one impact
    soft: int  # 1: no impacts, contacts are springs
    size: float  # m, of the body
    still: float  # m/s, slower is at rest after a while
    patience: float  # s
    up: Array  # (3,) unit, in the body's frame: against it feet are longer by their heights
    leaning: (
        float  # cosine of the tilt beyond which it has tipped; below -1 where it can come to rest on any side
    )
    faces: Array  # (f, 3) outward normals of the faces that it can rest on, body's frame
    flat: float  # cosine between a face's normal and the ground's within which it lies on that face
    most: int  # turns of the loop


class Bulk(NamedTuple):
    """The body without its points."""

    mass: float
    inertia: Array  # (3,) principal moments
    gravity: Array  # (3,) m/s^2
    size: float  # m


class Runs(NamedTuple):
    """The motions, a leading axis of R."""

    q: Array  # (R, 7)
    v: Array  # (R, 6)
    height: Array  # (R, nc) m, by which a foot is longer
    mu: Array  # (R, nc)
    restitution: Array  # (R, nc)
    spring: Array  # (R, 2, nc) N/m and N s/m
    row: np.ndarray  # (R,) int64, numbers for drawing: of the state
    sample: np.ndarray  # (R,) int64: of the run of this state


class Ends(NamedTuple):
    """What becomes of them."""

    status: np.ndarray  # (R,) int8
    t: Array  # (R,) s
    q: Array  # (R, 7)
    v: Array  # (R, 6)
    face: np.ndarray  # (R,) int64, that it is nearest to lying on; -1 without faces
    touching: np.ndarray  # (R, nc) bool
    impacts: np.ndarray  # (R,) int64
    worst: Array  # (R, 5)


class Hands(NamedTuple):
    """What one thread has of its own."""

    plan: Plan  # the body's arrays are the thread's own
    layout: Layout
    room: Room
    course: Marching  # of one motion
    problems: Problems  # one impact
    scratch: RowScratch
    rows: Rows
    draw: Draw
    outputs: Outputs
    work: SpaceWork
    centres: Array  # (nc, 3) of feet without heights
    numbers: Array  # (5, max(nc, 6)): gaps, their rates, velocity before, principal moments, gravity
    impulse: Array  # (nc, 3) N s, of the last impact or step
    marks: np.ndarray  # (nc,) bool


class Trace(NamedTuple):
    """A motion as it went; room for as many states."""

    filled: np.ndarray  # (1,) int64, how many
    t: Array  # (N,)
    q: Array  # (N, 7)
    v: Array  # (N, 6)
    kind: np.ndarray  # (N,) int8, BEGIN, FLIGHT, IMPACT or STEP
    impulse: Array  # (N, nc, 3) N s, that led to it
