"""Time stepping by compiled code: what `step_through` takes where it can, and many motions at once."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from routh.base import tolerances
from routh.base.status import Status
from routh.base.validation import Array, Options
from routh.constraints import (
    Compliance,
    ConstrainedSystem,
    Contact,
    ElasticFoundation,
    Unilateral,
    from_model,
    solve,
)
from routh.constraints.system import TANGENTIAL_DAMPER, dense_layout, elimination_order, row_numbers
from routh.constraints.types import CoordinateLimit, StateConstraint
from routh.kernels.common.slices import run_slices
from routh.kernels.constraints.data import DAMPING, DENSE, SPARSE, STIFFNESS, Layout, make_scratch, make_terms
from routh.kernels.constraints.march import (
    DONE,
    GOING,
    LOST,
    STATE,
    STUCK,
    Plan,
    Room,
    make_course,
    make_record,
    march,
)
from routh.kernels.constraints.place import Limits, Surface, make_space
from routh.kernels.motion.place import make_place
from routh.models.base import Model, State
from routh.models.mujoco.model import MujocoModel
from routh.models.planar import PlanarModel
from routh.models.spatial.model import SpatialModel
from routh.sim.trajectory import Event, Trajectory, contact_changes

Given = ArrayLike | Callable[[State], ArrayLike] | None
MOST_VELOCITIES = 40  # of a planar mechanism: with more, LAPACK is as fast
SPARSE_SIZE = 40  # rows and velocities of free bodies from which on elimination is sparse
AT_ONCE = 200  # steps between looks at the clock


def suits(model: Model, compliance: Compliance, constraints: Sequence[StateConstraint]) -> bool:
    """Whether compiled code can step through it: free bodies, few links, MuJoCo; laws that are numbers."""
    if callable(compliance.stiffness) or callable(compliance.damping):
        return False
    if type(model) is MujocoModel:
        return not constraints
    limits = all(isinstance(item, CoordinateLimit) for item in constraints)
    if type(model) is PlanarModel:
        return limits and model.nv <= MOST_VELOCITIES
    beds = all(isinstance(item, ElasticFoundation) for item in constraints)
    one = len(constraints) <= 1 and model.nv == 6
    return type(model) is SpatialModel and (not constraints or (beds and one))


class March:
    """Motions of one model from many states by fixed steps, compiled.

    A step that compiled code does not solve is done by the readable solver, and counted in ``rescued``.

    Parameters
    ----------
    model, compliance, constraints : what moves; see `suits`.
    states : where the motions begin.
    dt : s.
    steps : how many.
    every : how many from one state that is written down to the next.
    """

    def __init__(
        self,
        model: Model,
        compliance: Compliance,
        constraints: Sequence[StateConstraint],
        states: Sequence[State],
        *,
        dt: float,
        steps: int,
        every: int,
    ) -> None:
        assert isinstance(model, SpatialModel | PlanarModel | MujocoModel)
        self.model, self.compliance, self.constraints = model, compliance, tuple(constraints)
        self.states, self.h, self.steps, self.every = states, dt, steps, every
        self.layout, self.entries, self.groups = self._lay_out()
        self.plan = self._plan()
        q, v = (np.array([getattr(state, name) for state in states]) for name in "qv")
        self.course = make_course(self.layout, q, v)
        samples = -(-steps // every) + 1
        self.record = make_record(self.layout, model.nq, len(states), samples)
        self.status = np.zeros((len(states), samples), dtype=np.int8)
        self.rescued, self.lost = 0, set[int]()  # the numbers of motions that went beyond all numbers
        self.at_once, self._rooms = AT_ONCE, list[object]()

    def run(self, until: int, deadline: float = math.inf, *, threads: int | None = 1) -> bool:
        """Go on until so many steps are done; False where the time was over before."""
        now = int(self.course.stage[:, DONE].min())
        while time.monotonic() < deadline:
            now = min(now + self.at_once, until)
            self._all(now, threads)
            if now >= until:
                return True
        return False

    def alone(self, u: Given, force: Given, deadline: float) -> Trajectory:
        """The one motion, with inputs that are constant or functions of the state, and further forces."""
        course = self.course
        if callable(u) or callable(force):
            for step in range(self.steps):
                now = State(course.q[0], course.v[0], self.states[0].t + step * self.h)
                self._push(u(now) if callable(u) else u, force(now) if callable(force) else force)
                if not self.run(step + 1, deadline):
                    break
        else:
            self._push(u, force)
            self.run(self.steps, deadline)
        if self.steps == 0:
            self.run(0)
        return self.trajectory(0)

    def push_all(self, u: Array) -> Self:
        """Inputs (E, P, nu) of the first P steps of each motion; later steps have the last."""
        assert isinstance(self.model, SpatialModel | PlanarModel)
        forces = np.array([[self.model.input_forces(one) for one in each] for each in u])
        self.course = self.course._replace(extra=forces)
        return self

    def _push(self, u: ArrayLike | None, force: ArrayLike | None) -> None:
        extra = self.course.extra[0, 0]
        assert isinstance(self.model, SpatialModel | PlanarModel)
        extra[:] = 0.0 if u is None else self.model.input_forces(u)
        if force is not None:
            extra += np.asarray(force, dtype=np.float64)

    def _all(self, until: int, threads: int | None) -> None:
        if len(self.states) == 1:
            self._go(0, 1, until, self.room)
        else:
            used: list[object] = []

            def take() -> object:
                used.append(self._rooms.pop() if self._rooms else self._room())
                return used[-1]

            def work(begin: int, end: int, room: object) -> None:
                self._go(begin, end, until, room)

            run_slices(len(self.states), take, work, threads=threads)
            self._rooms += used
        for e in np.flatnonzero(self.course.stage[:, STATE] != GOING).tolist():
            while self.course.stage[e, STATE] == STUCK and e not in self.lost:
                self._rescue(e)
                self._go(e, e + 1, until, self.room)
            if self.course.stage[e, STATE] == LOST:
                self.lost.add(e)

    def _go(self, begin: int, end: int, until: int, room: object, plan: Plan | None = None) -> None:
        """Move some motions in a room, until so many steps are done or one is not solved."""
        assert isinstance(room, Room)
        march(begin, end, until, plan or self.plan, self.layout, room, self.course, self.record)

    @cached_property
    def room(self) -> object:
        """Room of a motion that goes by itself."""
        return self._room()

    def _system(self, e: int) -> ConstrainedSystem:
        """The next step of motion e, readable."""
        course, count = self.course, int(self.course.stage[e, DONE])
        memory = course.memory[e, : len(self.model.contacts)] if self.compliance.remembers else None
        setting: Options = {"compliance": self.compliance, "constraints": self.constraints}
        setting |= {
            "dt": self.h,
            "u": self.inputs_of(e),
            "force": course.extra[e, self._part(course.extra, e)],
        }
        state = State(course.q[e], course.v[e], self.states[e].t + count * self.h)
        return from_model(self.model, state, deformation=memory, **setting)

    def _part(self, given: Array, e: int) -> int:
        """Which of the inputs (E, P, ...) of the first P steps the next step of motion e has."""
        return min(int(self.course.stage[e, DONE]), given.shape[1] - 1)

    def inputs_of(self, e: int) -> Array | None:
        """Inputs of the next step that are not among the forces."""
        return None

    def _rescue(self, e: int) -> None:
        """One step of motion e by the readable solver."""
        course, layout, count = self.course, self.layout, int(self.course.stage[e, DONE])
        system = self._system(e)
        found = solve(system)
        q = self.model.integrate(course.q[e], found.v, self.h)
        if not (np.isfinite(q).all() and np.isfinite(found.v).all()):
            self.lost.add(e)
            return
        rows = layout.nb + layout.nu + layout.nc
        shape = layout.nc, layout.nt
        arrays = found.forces, found.numbered_modes(), found.deformations
        force, modes, ends = map(self._flat, arrays)
        tangential, normals = force[rows:].reshape(shape), slice(layout.nb + layout.nu, rows)
        course.impulse[e] += self.h * np.column_stack([force[normals], tangential])
        course.memory[e] = ends[rows:].reshape(shape)
        course.modes.acts[e] = modes[layout.nb : rows]
        course.modes.direction[e], course.modes.weakening[e] = modes[rows:].reshape(shape), 0.0
        course.force[e] = force
        course.q[e], course.v[e] = q, found.v
        course.worst[e] = np.maximum(course.worst[e], found.residual)
        course.stage[e] = count + 1, GOING
        sample = -(-(count + 1) // self.every) if count + 1 < self.steps else self.status.shape[1] - 1
        if found.status is not Status.SOLVED:
            self.status[e, sample] = found.status
        self.rescued += 1

    def trajectory(self, e: int) -> Trajectory:
        """Motion e as far as it has come."""
        done, record, last = int(self.course.stage[e, DONE]), self.record, self.status.shape[1] - 1
        events: list[Event] = []
        step = [*range(0, done, self.every), done]
        kept = [*range(len(step) - 1), last]
        if done < self.steps:
            early = self.plan._replace(steps=done)
            self.course.stage[e, STATE] = GOING
            self._go(e, e + 1, done, self.room, early)
            ended = Status.NUMERICAL if e in self.lost else Status.OUT_OF_TIME
            self.status[e, last] = ended
        t = self.states[e].t + np.array(step) * self.h
        flat = {"forces": record.force[e, kept], "deformations": record.deformation[e, kept]}
        groups: Options = {name: self._named(values) for name, values in flat.items()}
        energies = {"kinetic": record.energy[e, kept, 0], "elastic": record.energy[e, kept, 1]}
        energies["potential"] = np.array([self.model.potential(q) for q in record.q[e, kept]])
        names = tuple(info.name for info in self.model.contacts)
        if names:
            pushes = groups["forces"]["contacts"][:, :, 0] > 0.0
            before = np.vstack([np.zeros_like(pushes[:1]), pushes[:-1]])
            for k in map(int, np.flatnonzero((pushes != before).any(axis=1))):
                events += contact_changes(before[k], pushes[k], names, float(t[k]), k)
        if done < self.steps:
            why = "the time allowed by budget= ran out", "the motion went beyond all numbers"
            told = {"reason": why[e in self.lost], "status": ended.name}
            at = len(events) - sum(event.index == len(step) - 1 for event in events)
            events.insert(at, Event("stop", float(t[-1]), len(step) - 1, (), told))
        return Trajectory(
            t,
            record.q[e, kept],
            record.v[e, kept],
            impulse=record.impulse[e, kept, : len(names)],
            events=tuple(events),
            **groups,
            energies=energies,
            status=self.status[e, kept],
            residuals=record.residual[e, kept],
            contacts=names,
            coordinates=getattr(self.model, "coordinates", ()),
        )

    def _named(self, flat: Array) -> dict[str, Array]:
        """Values (T, n) of all rows by the names of their constraints."""
        return {name: flat[:, rows] for name, rows in self.groups.items()}

    def _flat(self, arrays: Sequence[Array]) -> Array:
        """One array per constraint, shaped as its forces, in the order of the rows, (n,)."""
        flat = np.zeros(len(self.layout.pattern))
        for rows, values in zip(self.groups.values(), arrays, strict=True):
            flat[rows] = values
        return flat

    def _lay_out(self) -> tuple[Layout, int, dict[str, np.ndarray]]:
        """The rows, room for their sparse factors, and the numbers of the rows by name, shaped as forces."""
        model, nc = self.model, len(self.model.contacts)
        assert isinstance(model, SpatialModel | PlanarModel)
        kinds: list[tuple[str, type, int]] = [("contacts", Contact, nc)] if nc else []
        kinds += [(item.name, Unilateral, len(_strengths(item))) for item in self.constraints]
        layout, entries = _layout(model, sum(count for _, kind, count in kinds if kind is Unilateral))
        numbers = row_numbers([(kind, count) for _, kind, count in kinds], model.nt)
        return layout, entries, {name: rows for (name, *_), rows in zip(kinds, numbers, strict=True)}

    def _plan(self) -> Plan:
        model, given, nc = self.model, self.compliance, len(self.model.contacts)
        damper = TANGENTIAL_DAMPER / self.h if given.tangential_damping is None else given.tangential_damping
        kinds = given.stiffness, given.damping, given.tangential_stiffness, damper
        numbers = np.array([np.broadcast_to(np.asarray(one), (nc,)) for one in kinds], dtype=np.float64)
        ways = int(given.anticipate), int(given.remembers)
        surface = Surface(numbers[:2], numbers[2:], *ways, np.zeros(nc, dtype=bool))
        rough = any(info.mu > 0.0 for info in model.contacts)
        tolerance = tolerances.COULOMB_ITERATION if rough else tolerances.RESIDUAL
        limits = [item for item in self.constraints if isinstance(item, CoordinateLimit)]
        index = np.array([item.index for item in limits for _ in item.sides], dtype=np.int64)
        sides = np.concatenate([np.zeros((0, 2)), *(item.sides for item in limits)])
        beds = [item.points for item in self.constraints if isinstance(item, ElasticFoundation)]
        bodies = model.arrays if isinstance(model, SpatialModel) else None
        planar = model.arrays if isinstance(model, PlanarModel) else None
        bed = np.ascontiguousarray(np.concatenate([np.zeros((0, 3)), *beds]))
        settings = self.h, self.steps, self.every, tolerance
        return Plan(*settings, bodies, planar, Limits(index, sides), bed, surface)

    def _room(self) -> object:
        """What one thread needs."""
        model, layout, first = self.model, self.layout, 0
        assert isinstance(model, SpatialModel | PlanarModel)
        terms = make_terms(layout)
        terms.mu[:] = [info.mu for info in model.contacts]
        for item in self.constraints:
            numbers = _strengths(item)
            rows = slice(first, first + len(numbers))
            terms.numbers[STIFFNESS, rows], terms.numbers[DAMPING, rows] = numbers.T
            if isinstance(item, CoordinateLimit):
                terms.G[rows, item.index] = item.sides[:, 0]
            first = rows.stop
        scratch = make_scratch(layout, self.entries)
        if isinstance(model, PlanarModel):
            return Room(terms, None, make_place(model.arrays), scratch)
        mass = model.mass(np.zeros(model.nq))
        for k, start in enumerate(layout.start):
            terms.M[k, : k + 1 - start] = mass[k, start : k + 1]
        return Room(terms, make_space(model.arrays), None, scratch)


def _strengths(item: StateConstraint) -> Array:
    """Stiffness and damping of each row, (n, 2)."""
    assert isinstance(item, CoordinateLimit | ElasticFoundation)
    count = len(item.sides if isinstance(item, CoordinateLimit) else item.points)
    K, B = (np.asarray(one, dtype=np.float64) for one in (item.stiffness, item.damping))
    return np.stack([np.broadcast_to(K, (count,)), np.broadcast_to(B, (count,))], axis=1)


def _layout(model: SpatialModel | PlanarModel, nu: int) -> tuple[Layout, int]:
    """The rows of a model's contacts after nu unilateral ones; entries of sparse factors."""
    nc, nt, nv = len(model.contacts), model.nt, model.nv
    contact = np.concatenate([np.arange(nc), np.repeat(np.arange(nc), nt)])
    nothing = np.zeros(0, dtype=np.int64)
    if isinstance(model, PlanarModel):
        return dense_layout((0, nu, nc, nt), nv), 0
    pattern = np.concatenate([np.full(nu, nc), contact]).astype(np.int64)
    bodies, columns = model.arrays.bodies, np.zeros((nc + 1, 12), dtype=np.int64)
    paired, width = bodies[:, 1] >= 0, np.full(nc + 1, 6)
    columns[:nc, :6], columns[nc, :6] = 6 * bodies[:, :1] + np.arange(6), np.arange(6)
    both = np.sort(bodies[paired], axis=1)
    columns[:nc][paired] = (6 * both[:, :, None] + np.arange(6)).reshape(-1, 12)
    width[:nc][paired] = 12
    columns = columns[:, : int(width.max())].copy()
    start = np.arange(nv)
    for b, inertia in enumerate(model.arrays.inertias):
        if np.any(inertia != np.diag(np.diag(inertia))):
            start[6 * b + 3 : 6 * b + 6] = 6 * b + 3
    way, order, entries = DENSE, nothing, 0
    if len(pattern) + nv >= SPARSE_SIZE and len(model.bodies) > 1:
        way, (order, entries) = SPARSE, elimination_order(pattern, columns, width, nv)
    return Layout(way, 0, nu, nc, nt, pattern, columns, width, start, order), entries
