"""What the laws predict for the impact of a cube: velocities after, in the problem's own coordinates."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

import routh
from routh.models.base import State
from routh.models.spatial import SpatialModel, box, corner_contacts
from routh.step import PolyhedralStep
from tosses.impacts import INERTIA, MASS, SIDE, Contact, rotation

INELASTIC, ENERGETIC, POISSON, SCALED = "inelastic", "energetic", "poisson", "scaled"
HYPOTHESIS = {
    "set, inelastic": INELASTIC,
    "set, scaled by 1 + e": SCALED,
    "set, energetic": ENERGETIC,
    "set, Poisson": POISSON,
}


@lru_cache(maxsize=256)
def _model(mu: float, e: float) -> SpatialModel:
    body = box("cube", (SIDE, SIDE, SIDE), mass=MASS, inertia=np.full(3, INERTIA))
    return SpatialModel([body], corner_contacts(body, mu=mu, restitution=e))


def problem_of(contact: Contact, *, tolerance: float, mu: float, e: float = 0.0) -> routh.ImpactProblem:
    """The impact of all corners within ``tolerance`` (m) of the lowest one."""
    model = _model(mu, e)
    q = np.concatenate([contact.position, contact.quaternion])
    q[2] -= model.gaps(q).min()
    return model.problem(State(q, _velocity(contact, contact.before)), gap=tolerance)


def measured(contact: Contact) -> np.ndarray:
    """The velocity measured after, (6,), linear in the world's and angular in the body's frame."""
    return _velocity(contact, contact.after)


def _velocity(contact: Contact, velocity: np.ndarray) -> np.ndarray:
    R = rotation(contact.quaternion[None])[0]
    return np.concatenate([velocity[:3], R.T @ velocity[3:]])


def simultaneous(problem: routh.ImpactProblem, e: float) -> np.ndarray:
    """The simultaneous law with all impulses scaled by 1 + e, (1, nv)."""
    step = PolyhedralStep(problem).solve(problem.v, None)
    return problem.apply((1.0 + e) * step.impulse)[None]


def sequential(problem: routh.ImpactProblem, e: float, heights: np.ndarray) -> np.ndarray:
    """Single impacts, each scaled by 1 + e, the lowest corner first, until none approaches, (1, nv)."""
    v = problem.v
    singles = [problem.subset([i]) for i in np.argsort(heights)]
    rest = 1e-6 * problem.scaling.velocity.max()
    for _ in range(200):
        approaching = [single for single in singles if float(single.Jn[0] @ v) < -rest]
        if not approaching:
            break
        for single in singles:
            if float(single.Jn[0] @ v) < -rest:
                v = single.apply((1.0 + e) * PolyhedralStep(single).solve(v, None).impulse, v)
    return v[None]


def outcomes(problem: routh.ImpactProblem, hypothesis: str, e: float, n: int) -> np.ndarray:
    """Samples of the set of outcomes, (n, nv)."""
    given = e if hypothesis in (ENERGETIC, POISSON) else 0.0
    kind = POISSON if hypothesis == POISSON else ENERGETIC
    v = routh.sample(problem.replace(restitution=given), n, hypothesis=kind, threads=1).v
    return problem.v + (1.0 + e) * (v - problem.v) if hypothesis == SCALED else v


class MujocoCube:
    """MuJoCo's soft contact: the cube is let go at contact, without gravity, until it has left the table."""

    TIMESTEP, LONGEST, LEFT = 5e-4, 0.027, 0.003  # s

    def __init__(self, *, mu: float, timeconst: float, dampratio: float) -> None:
        import mujoco

        half = SIDE / 2
        self._mujoco: Any = mujoco
        self._model = mujoco.MjModel.from_xml_string(
            f"""<mujoco><option timestep="{self.TIMESTEP}" gravity="0 0 0" cone="elliptic" impratio="10"/>
            <default><geom friction="{mu} 0 0" condim="3" solref="{timeconst} {dampratio}"/></default>
            <worldbody><geom type="plane" size="5 5 1"/><body><freejoint/>
            <inertial pos="0 0 0" mass="{MASS}" diaginertia="{INERTIA} {INERTIA} {INERTIA}"/>
            <geom type="box" size="{half} {half} {half}"/></body></worldbody></mujoco>"""
        )

    def predict(self, contact: Contact) -> np.ndarray:
        """The velocity after, (1, 6), angular in the body's frame of the moment of contact."""
        data = self._mujoco.MjData(self._model)
        R = rotation(contact.quaternion[None])[0]
        lowest = (R @ (np.array(np.meshgrid(*[[-0.5, 0.5]] * 3)).reshape(3, -1) * SIDE))[2].min()
        data.qpos[:] = np.concatenate([contact.position[:2], [-lowest], contact.quaternion])
        data.qvel[:] = _velocity(contact, contact.before)
        free = 0.0
        for _ in range(int(self.LONGEST / self.TIMESTEP)):
            self._mujoco.mj_step(self._model, data)
            free = free + self.TIMESTEP if data.ncon == 0 else 0.0
            if free > self.LEFT:
                break
        world = rotation(np.array(data.qpos[3:])[None])[0] @ np.array(data.qvel[3:])
        return np.concatenate([data.qvel[:3], R.T @ world])[None]
