"""The block on the incline and the stack of spheres, in routh and in MuJoCo, side by side in one run.

python benchmarks/constraints_mujoco.py

Steel, steps of 0.01 s. MuJoCo's contact stiffness is pushed as far as it goes: its defaults; the smallest
time constant that it accepts at this step (twice the step) with the hardest impedance and impratio 100; the
same with its pass against slip; and direct stiffness and critical damping with the safeguard off, which at
this step explodes from 1e4 on. Both blocks start pressed to about their rest. Friction cones are elliptic,
the solver is Newton's at 1e-12.
"""

from __future__ import annotations

import argparse
import math
import time

import mujoco
import numpy as np

from routh import systems

DT = 0.01
SOLIMP = "0.9999 0.9999 0.000001"  # the hardest impedance that MuJoCo takes
HARD = f'solref="{2 * DT} 1" solimp="{SOLIMP}"'
# name -> contact attributes, option attributes, whether the reference is safeguarded
SETTINGS = {
    "defaults": ("", "", True),
    "time constant 2 dt": (HARD, 'impratio="100"', True),
    "the same, no slip pass": (HARD, 'impratio="100" noslip_iterations="50"', True),
    "direct 1e4 / s^2": (f'solref="-1e4 -200" solimp="{SOLIMP}"', 'impratio="100"', False),
    "direct 1e10 / s^2": (f'solref="-1e10 -200000" solimp="{SOLIMP}"', 'impratio="100"', False),
}


def options(more: str, safe: bool) -> str:
    flag = "" if safe else '<flag refsafe="disable"/>'
    return (
        f'<option timestep="{DT}" cone="elliptic" {more} solver="Newton" iterations="200" '
        f'tolerance="1e-12" integrator="implicitfast">{flag}</option>'
    )


def incline_xml(mu: float, setting: str) -> str:
    contact, more, safe = SETTINGS[setting]
    feet = "".join(
        f'<geom type="sphere" size="0.01" pos="{x} {y} -0.015" mass="0" friction="{mu} 0 0" {contact}/>'
        for x in (-0.1, 0.1)
        for y in (-0.05, 0.05)
    )
    inertia = (0.1**2 + 0.05**2) / 12, (0.2**2 + 0.05**2) / 12, (0.2**2 + 0.1**2) / 12
    angle = math.radians(15)
    gravity = f"{9.81 * math.sin(angle)} 0 {-9.81 * math.cos(angle)}"
    option = options(more, safe).replace("<option ", f'<option gravity="{gravity}" ')
    return f"""<mujoco>{option}<worldbody>
      <geom type="plane" size="5 5 1" friction="{mu} 0 0" condim="3" {contact}/>
      <body pos="0 0 {0.025 - 1e-7}"><freejoint/>
      <inertial pos="0 0 0" mass="1" diaginertia="{inertia[0]} {inertia[1]} {inertia[2]}"/>{feet}</body>
    </worldbody></mujoco>"""


def stack_xml(count: int, setting: str) -> str:
    contact, more, safe = SETTINGS[setting]
    balls = "".join(
        f'<body pos="0 0 {0.1 + 0.01 + 0.21 * i}"><freejoint/>'
        f'<geom type="sphere" size="0.1" mass="1" friction="0.5 0 0" condim="3" {contact}/></body>'
        for i in range(count)
    )
    floor = f'<geom type="plane" size="5 5 1" friction="0.5 0 0" condim="3" {contact}/>'
    return f"<mujoco>{options(more, safe)}<worldbody>{floor}{balls}</worldbody></mujoco>"


def roll(xml: str, steps: int) -> tuple[np.ndarray, float, float]:
    """Coordinates over time, depth of the deepest contact at the end, seconds a step."""
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    path = [data.qpos.copy()]
    start = time.process_time()
    for _ in range(steps):
        mujoco.mj_step(model, data)
        path.append(data.qpos.copy())
    cost = (time.process_time() - start) / steps
    mujoco.mj_forward(model, data)
    depth = -min((contact.dist for contact in data.contact), default=0.0)
    return np.array(path), depth, cost


def incline() -> None:
    print("block on the incline, 1 s: slid less a t (t + h) / 2; creep of the block that sticks; depth")
    print(f"{'':30} {'mu=.125':>9} {'mu=.25':>9} {'creep .375':>10} {'depth (m)':>9} {'us/step':>8}")
    angle = math.radians(15)
    target = {mu: 9.81 * (math.sin(angle) - mu * math.cos(angle)) * 1.01 / 2 for mu in (0.125, 0.25)}
    moved, depth = {}, 0.0
    for mu in (0.125, 0.25, 0.375):
        motion = systems.get("block-on-incline", mu=mu)
        start = time.process_time()
        run = motion.run()
        cost = (time.process_time() - start) / 100
        moved[mu] = float(np.linalg.norm(run.final.q[:3] - run.q[0, :3]))
        depth = -run.deformations["contacts"][-1, :, 0].min()
    show("routh", moved, target, depth, cost)
    for setting in SETTINGS:
        for mu in (0.125, 0.25, 0.375):
            path, depth, cost = roll(incline_xml(mu, setting), 100)
            moved[mu] = abs(path[-1, 0] - path[0, 0])
        show(f"MuJoCo, {setting}", moved, target, depth, cost)


def show(name: str, moved: dict, target: dict, depth: float, cost: float) -> None:
    off = [moved[mu] - target[mu] for mu in (0.125, 0.25)]
    print(f"{name:30} {off[0]:9.1e} {off[1]:9.1e} {moved[0.375]:10.1e} {depth:9.1e} {1e6 * cost:8.0f}")


def stack(count: int) -> None:
    print(f"\nstack of {count} spheres, 5 s: sideways motion, top less that of a rigid stack, depth")
    print(f"{'':30} {'sideways':>9} {'top (m)':>9} {'depth (m)':>9} {'us/step':>8}")
    rigid = 0.1 + 0.2 * (count - 1)
    motion = systems.get("sphere-stack", count=count, gap=0.01, anticipate=True)
    start = time.process_time()
    run = motion.run(record_every=10)
    cost = (time.process_time() - start) / 500
    q = run.q.reshape(len(run), count, 7)
    deepest = -run.deformations["contacts"][-1, :, 0].min()
    print_stack("routh", q, rigid, deepest, cost)
    for setting in SETTINGS:
        path, depth, cost = roll(stack_xml(count, setting), 500)
        print_stack(f"MuJoCo, {setting}", path.reshape(-1, count, 7), rigid, depth, cost)


def print_stack(name: str, q: np.ndarray, rigid: float, depth: float, cost: float) -> None:
    aside, top = np.abs(q[:, :, :2]).max(), q[-1, -1, 2] - rigid
    print(f"{name:30} {aside:9.1e} {top:9.1e} {depth:9.1e} {1e6 * cost:8.0f}", flush=True)


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    incline()
    for count in (10, 100):
        stack(count)
