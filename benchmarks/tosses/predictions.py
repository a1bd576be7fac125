"""What the laws predict for impacts of a tossed body: velocities after, in the problems' own coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np

import routh
from routh import laws
from routh.base.status import Status
from tosses.bodies import Body
from tosses.impacts import Contact

ENERGETIC, POISSON = "set, energetic", "set, Poisson"
#: The sets, and the hypothesis of restitution each is drawn with.
SETS = {"set, inelastic": "energetic", ENERGETIC: "energetic", POISSON: "poisson"}
MUJOCO = "MuJoCo"


#: Laws with one outcome, by the name that `routh.laws` has for them.
SINGLE = {
    "simultaneous, inelastic": "simultaneous",
    "sequential, lowest corner first": "sequential",
    "Moreau (Newton)": "moreau",
    "Poisson, two phases": "poisson",
    "energetic, simultaneous": "energetic",
    "Chatterjee-Ruina": "chatterjee-ruina",
    "LZB": "lzb",
}


def single(name: str, problem: routh.ImpactProblem, heights: np.ndarray) -> np.ndarray:
    """The velocity after (nv,) by a law with one outcome; without an answer, the velocity before.

    ``heights`` (nc,) m of the corners: the sequential law begins with the lowest.
    """
    if not np.any(problem.approaching):
        return problem.v
    order = tuple(int(i) for i in np.argsort(heights))
    law = laws.Sequential(order=order) if SINGLE[name] == "sequential" else laws.named(SINGLE[name])
    result = law(problem)
    answered = result.status.ok or result.status is Status.ENERGY_GAINED
    return result.v if answered and np.all(np.isfinite(result.v)) else problem.v


class SoftBody:
    """MuJoCo's soft contact: a body is let go at contact, without gravity, until it has left the table."""

    LONGEST, LEFT = 0.027, 0.003  # s

    def __init__(self, body: Body, mu: float, timeconst: float, dampratio: float) -> None:
        import mujoco

        self._body, self._mujoco = body, mujoco
        self._model: Any = mujoco.MjModel.from_xml_string(body.mjcf(mu, timeconst, dampratio))

    def predict(self, contact: Contact) -> np.ndarray:
        """The velocity after, (nv,), at the moment of contact."""
        data, step = self._mujoco.MjData(self._model), self._model.opt.timestep
        data.qpos[:], data.qvel[:] = contact.q, contact.before
        data.qpos[self._body.vertical] -= self._body.points(contact.q[None])[..., 2].min()
        free = 0.0
        for _ in range(int(self.LONGEST / step)):
            self._mujoco.mj_step(self._model, data)
            free = free + step if data.ncon == 0 else 0.0
            if free > self.LEFT:
                break
        # what flight conserves tells the velocity that belongs to the configuration of contact
        moment = 1e-5
        path = self._body.carry(np.array(data.qpos), np.array(data.qvel), np.array([0.0, moment]))
        flow, rates = self._body.flow(path, moment), self._body.rates(path, moment)
        return self._body.velocity(contact.q, flow[0], rates[0])
