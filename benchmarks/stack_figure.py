"""A hundred steel spheres on each other, in routh and in MuJoCo, at steps of 10 ms.

Usage: python benchmarks/stack_figure.py [FILE] [COUNT] [SECONDS]
"""

import sys

import mujoco
import numpy as np

import routh
from routh.viz import style

path = sys.argv[1] if len(sys.argv) > 1 else "docs/images/tall-stack.png"
count = int(sys.argv[2]) if len(sys.argv) > 2 else 100
seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 5.0
RADIUS, GAP, DT = 0.1, 0.01, 0.01
#: MuJoCo's contacts: as they come, and as hard as they get at this step (a time constant of two steps)
SETTINGS = {
    "MuJoCo, defaults": "",
    "MuJoCo, hardest": f'solref="{2 * DT} 1" solimp="0.9999 0.9999 0.000001"',
}


def in_mujoco(contact: str) -> np.ndarray:
    """Heights of all centres over time, (steps + 1, count) m."""
    ball = f'<geom size="{RADIUS}" mass="1" friction="0.5 0 0" {contact}/>'
    heights = RADIUS + GAP + (2 * RADIUS + GAP) * np.arange(count)
    bodies = "".join(f'<body pos="0 0 {z}"><freejoint/>{ball}</body>' for z in heights)
    option = f'<option timestep="{DT}" cone="elliptic" impratio="100" integrator="implicitfast"/>'
    floor = f'<geom type="plane" size="5 5 1" friction="0.5 0 0" {contact}/>'
    model = mujoco.MjModel.from_xml_string(f"<mujoco>{option}<worldbody>{floor}{bodies}</worldbody></mujoco>")
    data = mujoco.MjData(model)
    found = [data.qpos.reshape(count, 7)[:, 2].copy()]
    for _ in range(round(seconds / DT)):
        mujoco.mj_step(model, data)
        found.append(data.qpos.reshape(count, 7)[:, 2].copy())
    return np.array(found)


stack = routh.systems.get("sphere-stack", count=count, gap=GAP, anticipate=True)
run = stack.run(duration=seconds)
motions = {"routh": run.q.reshape(len(run), count, 7)[:, :, 2]}
motions |= {name: in_mujoco(contact) for name, contact in SETTINGS.items()}

rigid = RADIUS + 2 * RADIUS * (count - 1)  # height of the top
with style.context():
    figure, panels = style.figure(1, 3, width=style.TWO_COLUMNS, height=2.8, sharey=True)
    for panel, (name, z) in zip(np.ravel(panels), motions.items(), strict=True):
        panel.plot(DT * np.arange(len(z)), z, color="C0", linewidth=0.4)
        panel.set(title=name, xlabel="time (s)", xlim=(0.0, seconds), ylim=(0.0, 2.0 * rigid))
        print(f"{name}: the last sphere is {z[-1, -1] - rigid:+.2g} m from where a rigid stack has it")
    np.ravel(panels)[0].set(ylabel=f"heights of {count} spheres (m)")
    print(style.save(figure, path, dpi=150))
