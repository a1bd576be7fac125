"""Motion of MJCF models by `routh.simulate` against MuJoCo's own integration, in the air and over one bounce.

    python benchmarks/simulation_mujoco.py

In the air both follow the same equations: the difference is the error of MuJoCo's integrator. In contact
MuJoCo has a spring and a damper, with which it converges to the rigid impact as it becomes stiff; where slip
goes on during the impact it has friction of its own, with which it does not.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
from scipy.optimize import brentq

import routh
from measure import Table, command_line, timed
from robot_zoo import mjcf_path
from routh.models.mujoco import MujocoModel

ROD = 'type="capsule" size=".02 .1" mass="1"'
LEANING = np.array([np.cos(0.35), 0.0, np.sin(0.35), 0.0])  # by 0.7 rad


@dataclass(frozen=True)
class Difference:
    """How far apart the two end: largest differences of velocities (m/s, rad/s) and coordinates (m, rad)."""

    v: float
    q: float
    events: tuple[str, ...]
    seconds: tuple[float, float]  # processor time: routh, MuJoCo


def compared(own: mujoco.MjModel, model: MujocoModel, state: routh.State, duration: float) -> Difference:
    """Both simulate from one state for so long, s."""
    motion, seconds = timed(routh.simulate, model, state, duration=duration)
    data = mujoco.MjData(own)
    data.qpos[:], data.qvel[:] = state.q, state.v
    _, other = timed(mujoco.mj_step, own, data, nstep=round(duration / own.opt.timestep))
    apart = [
        float(np.abs(a - b).max()) for a, b in ((motion.final.v, data.qvel), (motion.final.q, data.qpos))
    ]
    return Difference(*apart, tuple(event.kind for event in motion.events), (seconds, other))


def flight(name: str, timestep: float, duration: float = 0.1) -> Difference:
    """A robot thrown up with all joints moving; MuJoCo's integrator is RK4."""
    own = mujoco.MjModel.from_xml_path(str(mjcf_path(name)))
    own.opt.timestep, own.opt.integrator = timestep, mujoco.mjtIntegrator.mjINT_RK4
    model, rng = MujocoModel(own, limits=False), np.random.default_rng(0)
    own.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_LIMIT)
    v = 0.5 * rng.normal(size=own.nv)
    height = 1 if model.nt == 1 else 2
    q = np.array(own.qpos0)
    q[height] += 1.0
    v[height] = 1.0
    return compared(own, model, routh.State(q, v), duration)


def bounce(stiffness: float, *, restitution: float, mu: float, slip: float = 0.0) -> Difference:
    """A leaning rod meets the floor at 1 m/s with one end, in MuJoCo with so many N/m per kg of that end."""
    rate = np.sqrt(stiffness)
    ratio = damping_ratio(restitution)
    contact = f'solref="{-stiffness} {-2.0 * ratio * rate}" solimp="0.99999 0.99999 1e-6" priority="1"'
    condim = 3 if mu > 0.0 else 1
    timestep = 5e-3 / np.ceil(5e-3 * rate / 0.01)
    own = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option timestep="{timestep}" cone="elliptic" impratio="100" integrator="RK4"/><worldbody>
        <geom name="floor" type="plane" size="5 5 .1"/><body><freejoint/>
        <geom name="rod" {ROD} condim="{condim}" friction="{mu}" {contact}/></body></worldbody></mujoco>"""
    )
    model = MujocoModel(own, restitution=restitution)
    q = np.r_[0.0, 0.0, 0.2, LEANING]
    q[2] -= model.gaps(q).min() - 1e-4
    return compared(own, model, routh.State(q, np.r_[slip, 0.0, -1.0, np.zeros(3)]), 5e-3)


def damping_ratio(restitution: float) -> float:
    """That of a linear spring and damper which pushes only: ``e = exp(-z (pi - 2 asin z) / sqrt(1 - z^2))``.

    It lets go where its force, not its length, is zero. Strong damping stands for no restitution.
    """

    def off(z: float) -> float:
        return float(np.exp(-z * (np.pi - 2.0 * np.arcsin(z)) / np.sqrt(1.0 - z * z)) - restitution)

    return 50.0 if restitution == 0.0 else float(brentq(off, 1e-12, 1.0 - 1e-12))


def main() -> None:
    command_line(__doc__).parse_args()
    numbers = {"velocity": ".1e", "coordinates": ".1e", "s: routh": ".2f", "MuJoCo": ".2f"}
    table = Table({"free flight, 0.1 s": "<26", "step of RK4, s": ".0e", **numbers})
    for name in ("gymnasium/walker2d", "gymnasium/ant", "gymnasium/humanoid"):
        for timestep in (2e-3, 1e-3, 1e-4):
            found = flight(name, timestep)
            table.row(name, timestep, found.v, found.q, *found.seconds)
    cases = {
        "no friction, e = 0.5": {"restitution": 0.5, "mu": 0.0},
        "sticks, e = 0": {"restitution": 0.0, "mu": 1.0},
        "sticks, e = 0.5": {"restitution": 0.5, "mu": 1.0},
        "slips on, mu = 0.1, e = 0": {"restitution": 0.0, "mu": 0.1, "slip": -2.0},
    }
    print()
    table = Table({"one bounce of a rod": "<26", "time of contact, s": ".0e", **numbers})
    for title, case in cases.items():
        for stiffness in (1e6, 1e7, 1e8, 1e9):
            found = bounce(stiffness, **case)
            assert "impact" in found.events
            table.row(title, np.pi / np.sqrt(stiffness), found.v, found.q, *found.seconds)


if __name__ == "__main__":
    main()
