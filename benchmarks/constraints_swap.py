"""Three mechanisms that MuJoCo does not hold at a step of 10 to 20 ms, in MuJoCo and in routh from one MJCF.

python benchmarks/constraints_swap.py [--only lift|arm|ruler]

lift: a scissor lift of ten stages of light links, closed loops by ``connect``, with two tons standing on it
by two feet. It must neither sink nor move. 10 ms.
arm: six joints with position servos of industrial stiffness (1e6 N m/rad) that hold a pose with 5 kg in the
hand. It must hold it. 20 ms.
ruler: a steel strip, 1 m by 30 mm by 3 mm, clamped at one end with 1 N at the other, as 20 links with hinge
springs E I / l, damped with a time constant of 4 ms. It must come to rest where statics says. 10 ms.

MuJoCo's settings: as the file has them (defaults); the best we found at the same step (Newton to 1e-10, the
hardest reference that it takes at a step, twice the step, the hardest impedance, integrators "implicitfast"
and "implicit"); the same with smaller steps, down to where it stands. Times are process times, of a
simulated second.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import mujoco
import numpy as np

import routh
from measure import Table, command_line, timed
from routh.constraints import Compliance
from routh.models.mujoco import MujocoModel

SOLIMP = (0.9999, 0.9999, 1e-6, 0.5, 2.0)


@dataclass(frozen=True)
class Mechanism:
    """An MJCF, the step to take, and what says how far the end is from the right one."""

    xml: str
    dt: float
    duration: float
    point: str  # a site, where the error is measured
    right: tuple[float, float, float]  # where it must be, m
    ctrl: tuple[float, ...] = ()
    smaller: tuple[float, ...] = (1e-3, 1e-4)  # steps for MuJoCo


def lift(stages: int = 10, load: float = 2000.0) -> Mechanism:
    """Links of 1 m and 5 kg at 30 degrees; the slider at the bottom is held by a joint constraint."""
    c, s = math.cos(math.pi / 6), 0.5
    link = '<geom type="capsule" size="0.02" mass="5" contype="0" conaffinity="0" fromto="0 0 0 {} 0 {}"/>'
    hinge = '<joint axis="0 1 0"/>'

    def chain(k: int, first: int) -> str:
        """Links from stage k up; those that begin at the left or the right lean the other way."""
        lean = c if (k + first) % 2 == 0 else -c
        name = f"{'right' if lean > 0 else 'left'}{k}"  # where the link ends
        above = chain(k + 1, first) if k + 1 < stages else ""
        top = f'<site name="top_{name}" pos="{lean} 0 {s}"/>'
        child = above.replace('pos="0 0 0"', f'pos="{lean} 0 {s}"', 1)
        if k + 1 == stages and lean < 0:
            child = f"""<body name="platform" pos="{lean} 0 {s}">{hinge}
              <geom name="plate" type="box" size="0.6 0.2 0.02" pos="{c / 2} 0 0.02" mass="20"/>
              <body name="shoe" pos="{c} 0 0"><joint type="slide" axis="1 0 0"/>
              <geom type="sphere" size="0.02" mass="1" contype="0" conaffinity="0"/></body></body>"""
        return f'<body name="{name}" pos="0 0 0">{hinge}{link.format(lean, s)}{top}{child}</body>'

    pins = "".join(
        f'<connect body1="right{k}" body2="left{k}" anchor="{c / 2} 0 {s / 2}"/>' for k in range(stages)
    )
    pins += f'<connect body1="right{stages - 1}" body2="shoe" anchor="{c} 0 {s}"/>'
    height = stages * s + 0.04
    feet = "".join(
        f'<geom type="sphere" size="0.02" mass="1" friction="0.8" pos="{x} 0 -0.23"/>' for x in (-0.3, 0.3)
    )
    xml = f"""<mujoco><worldbody>{chain(0, 0)}
      <body name="slider" pos="{c} 0 0"><joint name="slider" type="slide" axis="1 0 0"/>
        <geom type="sphere" size="0.02" mass="2" contype="0" conaffinity="0"/>{chain(0, 1)}</body>
      <body pos="{c / 2} 0 {height + 0.25}"><joint type="slide" axis="1 0 0"/>
        <joint type="slide" axis="0 0 1"/>{hinge}{feet}
        <geom type="box" size="0.3 0.2 0.2" mass="{load}" contype="0" conaffinity="0"/>
        <site name="load"/></body></worldbody>
      <equality>{pins}<joint name="lock" joint1="slider" polycoef="0 0 0 0 0"/></equality></mujoco>"""
    return Mechanism(xml, 0.01, 2.0, "load", (c / 2, 0.0, height + 0.25))


def arm() -> Mechanism:
    """A pose in which every servo carries some weight."""
    axes = ("0 0 1", "0 1 0", "0 1 0", "1 0 0", "0 1 0", "1 0 0")
    sizes = ((0.1, 20.0), (0.4, 15.0), (0.4, 10.0), (0.1, 4.0), (0.1, 3.0), (0.05, 1.0))
    inner = '<geom type="sphere" size="0.06" mass="5" pos="0.05 0 0"/><site name="hand"/>'
    for k in reversed(range(6)):
        length, mass = sizes[k]
        rod = f'<geom type="capsule" size="0.04" mass="{mass}" fromto="0 0 0 {length} 0 0"/>'
        inner = f"""<body pos="{sizes[k - 1][0] if k else 0} 0 0"><joint name="j{k}" axis="{axes[k]}"/>{rod}
          {inner}</body>"""
    servos = "".join(f'<position joint="j{k}" kp="1e6" kv="2e3"/>' for k in range(6))
    xml = f"""<mujoco><option><flag contact="disable"/></option><worldbody>{inner}</worldbody>
      <actuator>{servos}</actuator></mujoco>"""
    return Mechanism(xml, 0.02, 2.0, "hand", (1.1, 0.0, 0.0), (0.0,) * 6)


def ruler(links: int = 20) -> Mechanism:
    """E I = 13.5 N m^2."""
    length, bending = 1.0 / links, 2e11 * 0.03 * 0.003**3 / 12
    mass, spring = 7800 * 0.03 * 0.003 * length, bending / length
    inner = f'<body pos="{length} 0 0"><site name="tip"/><geom size="0.003" mass="{1 / 9.81}"/></body>'
    for k in reversed(range(links)):
        stiffness = 2.0 * spring if k == 0 else spring  # half a link from the clamp
        joint = f'<joint axis="0 1 0" stiffness="{stiffness}" damping="{4e-3 * stiffness}"/>'
        box = f'<geom type="box" size="{length / 2} 0.015 0.0015" pos="{length / 2} 0 0" mass="{mass}"/>'
        inner = f'<body pos="{length if k else 0} 0 0">{joint}{box}{inner}</body>'
    xml = f"""<mujoco><option><flag contact="disable"/></option><worldbody>{inner}</worldbody></mujoco>"""
    return Mechanism(xml, 0.01, 20.0, "tip", rest(xml, "tip"), smaller=(1e-3,))


def rest(xml: str, point: str) -> tuple[float, float, float]:
    """Where a site is at rest: Newton's method on MuJoCo's own static forces."""
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)

    def force(q: np.ndarray) -> np.ndarray:
        data.qpos[:] = q
        mujoco.mj_forward(model, data)
        return np.array(data.qfrc_passive - data.qfrc_bias)

    for _ in range(20):
        q, f = np.array(data.qpos), force(np.array(data.qpos))
        slope = np.array([(force(q + 1e-6 * e) - force(q - 1e-6 * e)) / 2e-6 for e in np.eye(model.nv)]).T
        data.qpos[:] = q - np.linalg.solve(slope, f)
    mujoco.mj_forward(model, data)
    return tuple(data.site(point).xpos)


def measured(what: Mechanism, state: tuple, dt: float, seconds: float) -> list:
    """What a state says: drift, penetration, motion, error; and the cost of a step and of a second."""
    check = mujoco.MjModel.from_xml_string(what.xml)
    check.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
    data = mujoco.MjData(check)
    data.qpos[:], data.qvel[:] = state
    cost = [1e6 * seconds * dt / what.duration, seconds / what.duration]
    if not (np.all(np.isfinite(data.qpos)) and np.abs(data.qvel).max() < 1e6):
        return ["thrown apart", None, None, None, *cost]
    mujoco.mj_forward(check, data)
    pins = data.efc_type[: data.nefc] == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
    drift = np.abs(data.efc_pos[: data.nefc][pins]).max(initial=0.0)
    depth = max((-c.dist for c in data.contact), default=0.0)
    error = float(np.linalg.norm(data.site(what.point).xpos - what.right))
    return [drift, depth, data.energy[1], error, *cost]


def ours(what: Mechanism, dt: float, stiffness: float = 1e10) -> list:
    """A row of the table, by `routh.step_through`."""
    model = mujoco.MjModel.from_xml_string(what.xml)
    body = MujocoModel(model, stiffness=stiffness)
    start = body.state(mujoco.MjData(model))
    options = {"compliance": Compliance(stiffness, anticipate=True), "u": what.ctrl or None}
    routh.step_through(body, start, dt=dt, duration=2.0 * dt, **options)  # compiled code is loaded here
    options |= {"dt": dt, "duration": what.duration, "record_every": 50}
    run, seconds = timed(routh.step_through, body, start, **options)
    hard = "" if stiffness == 1e10 else f", {stiffness:g} N/m"
    name = f"routh, {1e3 * dt:g} ms{hard}{'' if run.ok else ' (not all steps solved)'}"
    return [name, *measured(what, (run.final.q, run.final.v), dt, seconds)]


def theirs(what: Mechanism, dt: float, integrator: str | None) -> list:
    """A row of the table, by MuJoCo with its defaults or as hard as it gets."""
    model = mujoco.MjModel.from_xml_string(what.xml)
    model.opt.timestep = dt
    if integrator is not None:
        model.opt.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator.upper()}")
        model.opt.solver, model.opt.iterations = mujoco.mjtSolver.mjSOL_NEWTON, 200
        model.opt.tolerance = 1e-10
        for field in ("eq", "geom", "jnt"):
            getattr(model, f"{field}_solref")[:] = (2.0 * dt, 1.0)
            getattr(model, f"{field}_solimp")[:] = SOLIMP
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
    data = mujoco.MjData(model)
    data.ctrl[:] = what.ctrl

    def step() -> None:
        for _ in range(round(what.duration / dt)):
            mujoco.mj_step(model, data)
            if not np.abs(data.qvel).max() < 1e6:
                break

    _, seconds = timed(step)
    name = f"MuJoCo, {1e3 * dt:g} ms, " + ("defaults" if integrator is None else f"hardest, {integrator}")
    return [name, *measured(what, (data.qpos, data.qvel), dt, seconds)]


def show(name: str, what: Mechanism) -> None:
    """The table of a mechanism."""
    numbers = dict.fromkeys(("drift, m, rad", "depth, m", "kinetic, J", "error, m"), ".1e")
    print()
    table = Table({f"{name}, {what.duration:g} s": "<36", **numbers, "us a step": ".0f", "s per s": ".3f"})
    table.row(*ours(what, what.dt))
    table.row(*ours(what, what.dt / 4.0))
    if "equality" in what.xml:
        table.row(*ours(what, what.dt, 1e13))
    for integrator in (None, "implicitfast", "implicit"):
        table.row(*theirs(what, what.dt, integrator))
    for dt in what.smaller:
        for integrator in (None, "implicitfast"):
            table.row(*theirs(what, dt, integrator))


MECHANISMS = {"lift": lift, "arm": arm, "ruler": ruler}

if __name__ == "__main__":
    parser = command_line(__doc__)
    parser.add_argument("--only", choices=tuple(MECHANISMS))
    chosen = parser.parse_args().only
    for name, make in MECHANISMS.items():
        if chosen in (None, name):
            show(name, make())
