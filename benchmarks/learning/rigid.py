"""Another contact model: MuJoCo's robot without its contacts, which `routh.constraints` solves instead."""

from __future__ import annotations

import copy

import gymnasium
import mujoco
import numpy as np

from routh.base.status import Status
from routh.constraints import ConstrainedSystem, Contact, solve
from routh.learn.arrivals import Arrival, Lookout
from routh.models.simultaneity import Simultaneity

STIFFNESS, DAMPING = 1e8, 1e4  # nearly rigid: the solver is stable at any stiffness and step
REACH = 0.02  # m, rad: contacts and limits that can close within a substep
PUSHED_OUT = 0.1  # share of a penetration that a substep undoes; all of it would throw the robot up


class RigidContacts(gymnasium.Wrapper):
    """An environment whose contacts and limits of joints are hard, with Coulomb's friction.

    Inertia, gravity, damping and actuators are the model's own. Each substep is one implicit step of all
    constraints together (D19 (36)-(39)): no softness, no margin, no integrator of MuJoCo's.
    """

    def __init__(self, env: gymnasium.Env) -> None:
        super().__init__(env)
        inside = env.unwrapped
        self.data = inside.data
        self.free = copy.copy(inside.model)
        self.free.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        self.free.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
        self.lookout = Lookout(
            inside.model, self.data, rules=Simultaneity(gap=REACH), threshold=np.inf, least=1, limits=True
        )
        self.steps = self.unsolved = 0
        inside._step_mujoco_simulation = self.substeps

    def reset(self, **options):
        """A new episode, perhaps with shapes that were changed."""
        self.free.geom_pos[:] = self.env.unwrapped.model.geom_pos
        self.lookout.forget()
        return self.env.reset(**options)

    def substeps(self, ctrl, count: int) -> None:
        """What `MujocoEnv` asks for: so many substeps with these controls."""
        self.data.ctrl[:] = ctrl
        for _ in range(count):
            self.substep()

    def substep(self) -> None:
        """Forces of all but the constraints, then the constraints', then the motion."""
        data, h = self.data, float(self.free.opt.timestep)
        mujoco.mj_forward(self.free, data)
        self.lookout.look()
        rows = self.lookout.arrival()
        v = data.qvel + h * data.qacc
        if rows is not None and np.any(rows.depth + h * (rows.Jn @ v) <= 0.0):
            v = self.constrained(rows, h)
        data.qvel[:] = v
        mujoco.mj_integratePos(self.free, data.qpos, data.qvel, h)
        data.time += h

    def constrained(self, rows: Arrival, h: float) -> np.ndarray:
        """The velocity at the end of the substep."""
        near = Contact(
            rows.Jn,
            rows.Jt,
            np.where(rows.depth < 0.0, PUSHED_OUT * rows.depth, rows.depth),
            mu=rows.mu,
            stiffness=STIFFNESS,
            damping=DAMPING,
            anticipate=True,
        )
        found = solve(ConstrainedSystem(rows.M, self.data.qfrc_smooth, rows.v, [near], h))
        self.steps += 1
        self.unsolved += found.status is not Status.SOLVED
        return found.v
