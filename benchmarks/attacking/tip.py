"""Everyday touch-downs: where `tipping` proves that a body cannot turn over, MuJoCo must not turn it over.

Crates, landers and masts with outriggers come down on planes, slopes, tables, steps and belts, tilted by up
to 8 degrees, with armature, compensated gravity, wind and thrusters. Their speeds are drawn around what it
takes to turn them over. MuJoCo's midphase is off, and a run in which it gained energy by itself is no
witness.
"""

import time

import mujoco
import numpy as np

import routh
from attacking.report import Found
from routh.models.mujoco.engine import mass_matrix
from routh.robust import tipping

G = 9.81
SECONDS = 3.0
TURNED = np.cos(np.radians(75.0))  # of the angle beyond which it lies on its side
GAINED = 0.02  # of the energy of motion at the start: what a witness may gain
MOST_TILTED = np.radians(8.0)
GROUNDS = ("plane", "plane", "plane", "slope", "table", "step", "belt")
DRIVEN = ("belt", "wind", "thruster")
EXTRAS = ("", "", "", "armature", "gravcomp", "wind", "thruster")


def crate(rng):
    """Half edges and geoms of a box."""
    half = rng.uniform(0.05, 0.4, 3)
    size = " ".join(map(str, half))
    return half, f'<geom type="box" size="{size}" mass="5"/>'


def lander(rng):
    """Feet that are not quite equal, and shins above them."""
    half, legs = rng.uniform(0.1, 0.5, 3), rng.integers(3, 7)
    geoms = '<inertial pos="0 0 0" mass="5" diaginertia="{0} {0} {0}"/>'.format(
        5 * rng.uniform(0.1, 0.3) ** 2
    )
    for k in range(legs):
        angle, low = 2 * np.pi * k / legs, rng.uniform(0.0, 0.01)
        x, y = half[0] * np.cos(angle), half[0] * np.sin(angle)
        geoms += f'<geom type="sphere" size="0.01" pos="{x} {y} {0.01 + low - half[2]}"/>'
        geoms += f'<geom type="sphere" size="0.01" pos="{0.9 * x} {0.9 * y} {0.03 - half[2]}"/>'
    return np.array([half[0], half[0], half[2]]), geoms


def mast(rng):
    """A small base, and outriggers above the ground."""
    base, height, arm, up = (
        rng.uniform(0.02, 0.1),
        rng.uniform(0.2, 1.0),
        rng.uniform(0.15, 0.4),
        rng.uniform(0, 0.04),
    )
    geoms = '<inertial pos="0 0 0" mass="5" diaginertia="0.3 0.3 0.3"/>'
    geoms += f'<geom type="box" size="{base} {base} 0.01" pos="0 0 {0.01 - height}"/>'
    for k in range(4):
        x, y = arm * np.cos(k * np.pi / 2), arm * np.sin(k * np.pi / 2)
        geoms += f'<geom type="sphere" size="0.005" pos="{x} {y} {0.005 + up - height}"/>'
    return np.array([base, base, height]), geoms


def scene(rng):
    """A model, its landing's options, and its name."""
    body, ground, extra = (str(rng.choice(names)) for names in (("crate", "lander", "mast"), GROUNDS, EXTRAS))
    half, geoms = {"crate": crate, "lander": lander, "mast": mast}[body](rng)
    lean = rng.uniform(0.0, MOST_TILTED)
    floors = {
        "plane": '<geom name="floor" type="plane" size="5 5 1"/>',
        "slope": f'<geom name="floor" type="plane" size="5 5 1" euler="0 {lean} 0"/>',
        "table": f'<geom name="table" type="box" size="{1.5 * half[0] + 0.1} 1 0.1" pos="0 0 -0.1"/>'
        '<geom type="plane" size="5 5 1" pos="0 0 -1"/>',
        "step": '<geom name="floor" type="plane" size="5 5 1"/><geom name="curb" type="box" '
        f'size="0.1 9 0.05" pos="{1.5 * half.max() + 0.2} 0 0"/>',
        "belt": f'<geom name="belt" type="plane" size="5 5 1" surfacevel="{rng.uniform(0.5, 4)} 0 0"/>',
    }
    if ground == "belt" and not hasattr(mujoco.MjModel, "geom_surfacevel"):
        ground = "plane"  # before MuJoCo 4
    tree = {"gravcomp": f'gravcomp="{rng.uniform(0.2, 1.1)}"'}.get(extra, "")
    free = f'<joint type="free" armature="{rng.uniform(1, 20)}"/>' if extra == "armature" else "<freejoint/>"
    wind = f'density="1.2" wind="{rng.uniform(10, 60)} 0 0"' if extra == "wind" else ""
    thrust = (
        '<actuator><motor site="s" gear="1 0 0 0 0 0" ctrlrange="0 200"/></actuator>'
        if extra == "thruster"
        else ""
    )
    model = mujoco.MjModel.from_xml_string(f"""<mujoco><compiler angle="radian"/>
      <option timestep="1e-3" {wind}><flag midphase="disable"/></option>
      <default><geom friction="{rng.choice([0.02, 0.3, 0.8, 2.0])}"
        solref="{rng.choice([0.004, 0.01, 0.02])} 1"/></default>
      <worldbody>{floors[ground]}<body name="b" pos="0 0 {half[2] + 0.3}" {tree}>{free}{geoms}
      <site name="s"/></body></worldbody>{thrust}</mujoco>""")
    rise = np.hypot(half[:2].min(), half[2]) - half[2]
    fast = np.sqrt(2.0 * G * rise * rng.uniform(0.05, 1.2))
    down = rng.uniform(0.02, 1.0)
    tilt = rng.uniform(-1.0, 1.0, 2) * rng.choice([0.0, 0.0, 0.01, MOST_TILTED])
    moves = {
        "down": fast * down,
        "sideways": fast * np.sqrt(1.0 - down**2),
        "heading": rng.uniform(-np.pi, np.pi),
    }
    return model, moves | {"roll": tilt[0], "pitch": tilt[1]}, f"{body} on {ground} {extra}".strip()


def energies(model, data):
    """Of motion and of weight, J."""
    M = mass_matrix(model, data)
    weight = model.body_mass[1] * (1.0 - model.body_gravcomp[1]) * model.opt.gravity
    return 0.5 * data.qvel @ M @ data.qvel, -weight @ data.xipos[1]


def turns_over(model, landing, driven):
    """Whether MuJoCo turns it over; None where it has more energy than before, and nothing drives it."""
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = landing.qpos, landing.qvel
    data.ctrl[:] = model.actuator_ctrlrange[:, 1]
    mujoco.mj_forward(model, data)
    upright, (motion, start) = data.xmat[1, 8], energies(model, data)
    for _ in range(int(SECONDS / model.opt.timestep) // 25):
        mujoco.mj_step(model, data, 25)
        if not driven and sum(energies(model, data)) - start > (1.0 + GAINED) * motion:
            return None
        if data.xmat[1, 8] < TURNED * upright:
            return True
        if data.time > 0.5 and np.abs(data.qvel).max() < 1e-3:
            return False
    return False


def attack(count, seed):
    """So many scenes; "honest" are those without a proof."""
    found, proved, lost = Found("tip: everyday scenes"), 0, 0
    for k in range(count):
        rng = np.random.default_rng([seed, 64, k])
        model, moves, name = scene(rng)
        driven = any(word in name for word in DRIVEN)
        start = time.process_time()
        try:
            landing = routh.models.landing(model, **moves)
            answer = tipping(model, landing.qpos, landing.qvel, threads=1)
        except ValueError:
            answer = None
        spent, wrong = time.process_time() - start, ""
        if answer is not None and answer.cannot_tip:
            proved += 1
            over = turns_over(model, landing, driven)
            lost += over is None
            wrong = f"seed {seed}, scene {k}: {name}: {answer.lines()[0]}" if over else ""
        found.count(spent, wrong=wrong, honest=answer is None or not answer.cannot_tip, case=name)
    found.name += f" ({proved} proved, {lost} runs gained energy)"
    return found
