"""Time stepping of MuJoCo models: MuJoCo tells where everything is, compiled code does the rest of a step."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from routh.base import tolerances
from routh.base.validation import Array
from routh.compiling import bound
from routh.constraints import Compliance, Contact, from_model
from routh.constraints.compliance import PRESSED
from routh.constraints.system import TANGENTIAL_DAMPER, dense_layout, row_numbers
from routh.kernels.constraints.data import (
    Layout,
    make_scratch,
    make_terms,
)
from routh.kernels.constraints.march import DONE, GOING, STATE, Plan, Room, advance
from routh.kernels.constraints.place import Limits, Surface
from routh.models.base import SpringRows, State
from routh.models.mujoco.model import MujocoModel
from routh.models.mujoco.steps import StepLook
from routh.sim.compiled_steps import March


class RobotMarch(March):
    """Motions of a MuJoCo model from many states by fixed steps.

    Parameters
    ----------
    model : what moves.
    compliance : laws of its contacts that are numbers.
    states : where the motions begin.
    acts : whether inputs will be given: servos act only then.
    dt, steps, every : as of `March`.
    """

    def __init__(
        self,
        model: MujocoModel,
        compliance: Compliance,
        states: Sequence[State],
        *,
        acts: bool,
        dt: float,
        steps: int,
        every: int,
    ) -> None:
        self.robot = model
        u = np.zeros(model.nu) if acts else None
        #: a step as the readable solver has it; the kinds and names of rows never change
        self.first = from_model(model, states[0], dt=dt, compliance=compliance, u=u)
        self.inputs: Array | None = None  # (E, P, nu)
        super().__init__(model, compliance, (), states, dt=dt, steps=steps, every=every)
        self.at_once = -(-self.at_once // len(states))
        for name in set(model.not_elastic) & set(self.groups):
            self.course.elastic[self.groups[name]] = False

    def push_all(self, u: Array) -> Self:
        """Inputs (E, P, nu) of the first P steps of each motion; later steps have the last."""
        self.robot.springs.checked(u[0, 0])
        self.robot.springs.refuse_pull(u)
        self.inputs = u
        return self

    def _push(self, u: ArrayLike | None, force: ArrayLike | None) -> None:
        self.inputs = None if u is None else self.robot.springs.checked(u)[None, None]
        self.course.extra[0, 0] = 0.0 if force is None else force

    def _lay_out(self) -> tuple[Layout, int, dict[str, np.ndarray]]:
        items, nt, nv = self.first.constraints, self.robot.nt, self.robot.nv
        numbers = row_numbers([(type(item), len(item)) for item in items], nt)
        groups = {item.name: rows for item, rows in zip(items, numbers, strict=True)}
        rows, nc = self.first.rows, sum(len(item) for item in items if isinstance(item, Contact))
        return dense_layout((rows.nb, rows.nu, nc, nt), nv), 0, groups

    def _plan(self) -> Plan:
        contacts = [item for item in self.first.constraints if isinstance(item, Contact)]
        damper = TANGENTIAL_DAMPER / self.h
        numbers = np.zeros((4, 0))
        for item in contacts:
            across = item.tangential_damping
            across = np.full(len(item), damper) if across is None else across
            own = item.stiffness, item.damping, item.tangential_stiffness, across
            numbers = np.column_stack([numbers, own])
        given = np.concatenate([np.zeros(0, bool), *(np.full(len(c), c.name in _BOUNDED) for c in contacts)])
        ways = int(self.compliance.anticipate), int(self.compliance.remembers)
        surface = Surface(numbers[:2].copy(), numbers[2:].copy(), *ways, given)
        rough = any(np.any(item.mu > 0.0) for item in contacts) or "faces" in self.groups
        tolerance = tolerances.COULOMB_ITERATION if rough else tolerances.RESIDUAL
        limits = Limits(np.zeros(0, dtype=np.int64), np.zeros((0, 2)))
        settings = self.h, self.steps, self.every, tolerance
        return Plan(*settings, None, None, limits, np.zeros((0, 3)), surface)

    def _room(self) -> object:
        return RobotRoom(self, alone=len(self.states) == 1)

    def _go(self, begin: int, end: int, until: int, room: object, plan: Plan | None = None) -> None:
        assert isinstance(room, RobotRoom)
        for e in range(begin, end):
            room.run(e, until, plan)

    def inputs_of(self, e: int) -> Array | None:
        """Inputs of the next step of motion e, (nu,)."""
        return None if self.inputs is None else self.inputs[e, self._part(self.inputs, e)]


_BOUNDED = ("joint friction", "limited actuators")  # rows that push with a bounded force


class RobotRoom:
    """What one thread needs: a model with data of its own, unless it is ``alone``, and arrays of a step."""

    def __init__(self, march: RobotMarch, *, alone: bool) -> None:
        self.march, layout = march, march.layout
        self.look = StepLook(march.robot if alone else copy.deepcopy(march.robot), march.h)
        self.terms, self.which = make_terms(layout), np.zeros(1, dtype=np.int64)
        contacts = [item.mu for item in march.first.constraints if isinstance(item, Contact)]
        self.terms.mu[:] = np.concatenate([np.zeros(0), *contacts])
        room = Room(self.terms, None, None, make_scratch(layout, 0))
        self._given = layout, room, self.look.seen, march.course, march.record
        self._advance = bound(advance, self.which, march.plan, *self._given)
        own = len(march.first.constraints) - bool(march.robot.contacts)
        self._rows = list(march.groups.values())[-own:] if own else []
        self._placed: list[SpringRows | None] = [None] * own

    def run(self, e: int, until: int, plan: Plan | None = None) -> None:
        """Motion e until so many steps are done, or one is not solved."""
        march, course = self.march, self.march.course
        stage, q, v = course.stage[e], course.q[e], course.v[e]
        self.which[0] = e
        advance_ = self._advance if plan is None else bound(advance, self.which, plan, *self._given)
        while stage[STATE] == GOING and stage[DONE] < until:
            self._place(q, v, march.inputs_of(e))
            advance_()
            if stage[STATE] == GOING:
                self.look.move(q, v)
        if stage[STATE] == GOING and stage[DONE] == (plan or march.plan).steps:
            self._place(q, v, march.inputs_of(e))
            advance_()

    def _place(self, q: Array, v: Array, u: Array | None) -> None:
        """Everything of a state that a step needs."""
        found = self.look.at(q, v, u)
        for k, rows in enumerate(found):
            if rows is not self._placed[k]:
                self._placed[k] = rows
                self._put(rows, self._rows[k])
            if rows.constant is not None:
                self.look.seen.force[:] += rows.constant @ rows.G

    def _put(self, rows: SpringRows, at: np.ndarray) -> None:
        """Spring-dampers into the rows of a step: `routh.constraints.compliance` says what they become."""
        G, (phi, K, B, gamma) = self.terms.G, self.terms.numbers
        if rows.kind in ("both ways", "one way"):
            G[at], phi[at], K[at], B[at], gamma[at] = (
                rows.G,
                rows.phi,
                rows.stiffness,
                rows.damping,
                rows.bias,
            )
            return
        normal, across = at[:, 0], at[:, 1:]
        if rows.kind == "contacts":
            G[normal], G[across], phi[normal] = rows.G, rows.tangents, rows.phi
            self.terms.mu[len(self.terms.mu) - len(at) :] = rows.limit  # they are the last
            return
        assert rows.limit is not None
        damper = np.full(len(at), TANGENTIAL_DAMPER / self.march.h) if rows.damping is None else rows.damping
        phi[normal], K[normal] = -PRESSED, rows.limit / PRESSED
        G[across[:, 0]], phi[across[:, 0]], gamma[across[:, 0]] = rows.G, rows.phi, rows.bias
        K[across], B[across] = rows.stiffness[:, None], damper[:, None]
