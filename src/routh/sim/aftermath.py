"""What becomes of a robot after a landing: each outcome of the impact followed for a while.

The impact itself is rigid, with its set of outcomes; the motion after it is MuJoCo's own, with its soft
contacts, which takes milliseconds. `routh.simulate_many` of a `MujocoModel` stays rigid throughout.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from routh.models.landed import Landing
from routh.models.mujoco.engine import engine
from routh.models.mujoco.lowering import find_root
from routh.validation import Array, integer, real

if TYPE_CHECKING:
    from mujoco import MjModel


@dataclass(frozen=True, eq=False)
class Aftermath:
    """Motions of one robot from the same instant on."""

    t: Array  # (k,) s since the impact
    q: Array  # (n, k, nq)

    def __len__(self) -> int:
        return len(self.q)

    def at(self, t: float) -> tuple[Array, Array]:
        """Configurations (n, nq) at one time, the nearest that was kept, and the time of each, (n,)."""
        k = int(np.argmin(np.abs(self.t - t)))
        return self.q[:, k], np.full(len(self.q), self.t[k])


def follow(
    model: MjModel, qpos: Array, velocities: Array, *, duration: float, frames: int = 100
) -> Aftermath:
    """MuJoCo's motion from one configuration (nq,) with each of the velocities (n, nv)."""
    mujoco = engine()
    count = integer("frames", frames, at_least=1)
    times = np.linspace(0.0, real("duration", duration, above=0.0), count + 1)
    q = np.empty((len(velocities), count + 1, model.nq))
    data = mujoco.MjData(model)
    for row, velocity in zip(q, velocities, strict=True):
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:] = qpos, velocity
        for k, t in enumerate(times):
            while data.time < t - 0.5 * model.opt.timestep:
                mujoco.mj_step(model, data)
            row[k] = data.qpos
    return Aftermath(times, q)


def fall(model: MjModel, found: Landing, times: Array) -> Array:
    """Configurations (k, nq) on the way down, at times (k,) s before the touch, which are negative.

    The robot fell freely, from rest where the times reach back that far; its other speeds were as at the
    touch.
    """
    state = engine().MjData(model)
    state.qpos[:] = found.qpos
    engine().mj_kinematics(model, state)
    falling = found.drop * find_root(model, state).speed
    gravity = np.array(model.opt.gravity, dtype=np.float64)
    size = float(np.linalg.norm(gravity))
    since = -found.drop / size if size > 0.0 else -np.inf  # s: when it was let go
    q = np.empty((len(times), model.nq))
    for row, t in zip(q, times, strict=True):
        back = max(float(t), since)
        row[:] = found.qpos
        mean = 1.0 + 0.5 * size * back / found.drop  # the speed over the way, as a share of that at the touch
        engine().mj_integratePos(model, row, found.qvel + (mean - 1.0) * falling, back)
    return q
