"""The block on the incline and the stack of spheres, in routh and in MuJoCo, side by side in one run.

python benchmarks/constraints_mujoco.py            # accuracy, then times
python benchmarks/constraints_mujoco.py --times    # times of a step and their ratios alone
python benchmarks/constraints_mujoco.py --batch 1024 --steps 1000   # many environments, MuJoCo's rollout
python benchmarks/constraints_mujoco.py --figure docs/images/tall-stack.png   # a hundred spheres over time

Steel, steps of 0.01 s. MuJoCo's contact stiffness is pushed as far as it goes: its defaults; the smallest
time constant that it accepts at this step (twice the step) with the hardest impedance and impratio 100; the
same with its pass against slip; and direct stiffness and critical damping with the safeguard off, which at
this step explodes from 1e4 on. Both blocks start pressed to about their rest. Friction cones are elliptic,
the solver is Newton's at 1e-12.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable
from pathlib import Path

import gymnasium
import mujoco
import numpy as np

from measure import Table, command_line, timed
from routh import State, step_through, step_through_many, systems
from routh.base.validation import Options
from routh.constraints import coordinate_limit, from_model, solve, solve_many
from routh.models.mujoco import MujocoModel
from routh.models.mujoco.steps import StepLook
from routh.models.planar import PlanarModel, Revolute, link
from routh.systems.d19 import ConstrainedMotion

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

    def run() -> None:
        for _ in range(steps):
            mujoco.mj_step(model, data)
            path.append(data.qpos.copy())

    _, seconds = timed(run)
    mujoco.mj_forward(model, data)
    depth = -min((contact.dist for contact in data.contact), default=0.0)
    return np.array(path), depth, seconds / steps


def incline() -> None:
    print("block on the incline, 1 s: slid less a t (t + h) / 2; creep of the block that sticks; depth\n")
    numbers = dict.fromkeys(("mu = .125", "mu = .25", "creep, .375", "depth (m)"), ".1e")
    table = Table({"m": "<30", **numbers, "us a step": ".0f"})
    angle = math.radians(15)
    target = {mu: 9.81 * (math.sin(angle) - mu * math.cos(angle)) * 1.01 / 2 for mu in (0.125, 0.25)} | {
        0.375: 0
    }
    off = []
    for mu, wanted in target.items():
        run, seconds = timed(systems.get("block-on-incline", mu=mu).run)
        off.append(float(np.linalg.norm(run.final.q[:3] - run.q[0, :3])) - wanted)
    depth = -run.deformations["contacts"][-1, :, 0].min()
    table.row("routh", *off, depth, 1e6 * seconds / 100)
    for setting in SETTINGS:
        off = []
        for mu, wanted in target.items():
            path, depth, cost = roll(incline_xml(mu, setting), 100)
            off.append(abs(path[-1, 0] - path[0, 0]) - wanted)
        table.row(f"MuJoCo, {setting}", *off, depth, 1e6 * cost)


def stack(count: int) -> None:
    print(f"\nstack of {count} spheres, 5 s: sideways motion, top less that of a rigid stack, depth\n")
    table = Table(
        {"": "<30", **dict.fromkeys(("sideways", "top (m)", "depth (m)"), ".1e"), "us a step": ".0f"}
    )
    q, deepest, cost = our_stack(count, record_every=10)
    table.row("routh", *of_stack(q), deepest, 1e6 * cost)
    for setting in SETTINGS:
        path, depth, cost = roll(stack_xml(count, setting), 500)
        table.row(f"MuJoCo, {setting}", *of_stack(path.reshape(-1, count, 7)), depth, 1e6 * cost)


def our_stack(count: int, **options) -> tuple[np.ndarray, float, float]:
    """Coordinates (steps, count, 7) over 5 s, depth of the deepest contact at the end, seconds a step."""
    motion = systems.get("sphere-stack", count=count, gap=0.01, anticipate=True)
    run, seconds = timed(motion.run, **options)
    depth = -run.deformations["contacts"][-1, :, 0].min()
    return run.q.reshape(len(run), count, 7), depth, seconds / 500


def of_stack(q: np.ndarray) -> tuple[float, float]:
    """How far spheres moved sideways, and the top's height less that of a rigid stack, m."""
    return np.abs(q[:, :, :2]).max(), q[-1, -1, 2] - (0.1 + 0.2 * (q.shape[1] - 1))


def figure(file: str, count: int = 100) -> None:
    """Heights of all spheres over time, here and in MuJoCo."""
    from routh.viz import style

    motions = {"routh": our_stack(count)[0][..., 2]}
    for name, setting in (("MuJoCo, defaults", "defaults"), ("MuJoCo, hardest", "time constant 2 dt")):
        motions[name] = roll(stack_xml(count, setting), 500)[0].reshape(-1, count, 7)[..., 2]
    with style.context():
        drawn, panels = style.figure(1, 3, width=style.TWO_COLUMNS, height=2.8, sharey=True)
        for panel, (name, z) in zip(np.ravel(panels), motions.items(), strict=True):
            panel.plot(DT * np.arange(len(z)), z, color="C0", linewidth=0.4)
            panel.set(title=name, xlabel="time (s)", xlim=(0.0, 5.0), ylim=(0.0, 0.4 * count))
        np.ravel(panels)[0].set(ylabel=f"heights of {count} spheres (m)")
        print(style.save(drawn, file, dpi=150))


PENDULUM = f"""<mujoco>{{option}}<default><joint type="hinge" axis="0 -1 0" limited="true"/></default>
  <compiler angle="radian"/><worldbody><body><joint range="-2 2"/>
  <inertial pos="0 0 -0.25" mass="1" diaginertia="{1 / 48} {1 / 48} 1e-6"/>
  <body pos="0 0 -0.5"><joint range="-0.1 2"/>
  <inertial pos="0 0 -0.25" mass="1" diaginertia="{1 / 48} {1 / 48} 1e-6"/></body></body></worldbody>
  </mujoco>"""


def pendulum() -> tuple[PlanarModel, State, Options]:
    """Two rods that fall and knock against the limits of the second joint."""
    links = [link("upper", 0.5, mass=1.0, inertia=1 / 48, joint=Revolute())]
    links.append(link("lower", 0.5, mass=1.0, inertia=1 / 48, joint=Revolute("upper", at=(0.0, -0.5))))
    ends = {"stiffness": 1e8, "damping": 10.0}
    limits = [coordinate_limit("upper", 0, 2, lower=-2.0, upper=2.0, **ends)]
    limits.append(coordinate_limit("lower", 1, 2, lower=-0.1, upper=2.0, **ends))
    return PlanarModel(links), State([1.5, 0.5], [0.0, 0.0]), {"constraints": limits}


def ant() -> tuple[MujocoModel, mujoco.MjModel, State]:
    """Gymnasium's ant after three seconds, at rest on four feet; its step is semi-implicit, not RK4."""
    path = Path(gymnasium.__file__).parent / "envs/mujoco/assets/ant.xml"
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.integrator, model.opt.timestep = mujoco.mjtIntegrator.mjINT_IMPLICITFAST, DT
    data = mujoco.MjData(model)
    for _ in range(300):
        mujoco.mj_step(model, data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MujocoModel(model), model, State(data.qpos, data.qvel)


def theirs(model: mujoco.MjModel, q: np.ndarray, v: np.ndarray) -> Callable[[int], None]:
    """Steps of MuJoCo from a state."""

    def run(steps: int) -> None:
        data = mujoco.MjData(model)
        data.qpos[:], data.qvel[:] = q, v
        for _ in range(steps):
            mujoco.mj_step(model, data)

    return run


def times() -> None:
    """A step of each, from the same state, in the same run."""
    print()
    table = Table({"processor time of a step, us": "<", "routh": ".0f", "MuJoCo": ".0f", "ratio": ".1f"})
    motions = {
        "incline, mu = 0.25": (systems.get("block-on-incline", mu=0.25), incline_xml(0.25, "defaults"))
    }
    for count in (10, 100):
        stack = systems.get("sphere-stack", count=count, gap=0.01, anticipate=True)
        motions[f"{count} spheres"] = stack, stack_xml(count, "defaults")
    cases: dict[str, tuple[Callable[[int], object], mujoco.MjModel, State, int]] = {}
    for name, (motion, xml) in motions.items():
        given = mujoco.MjModel.from_xml_string(xml)
        start = State(mujoco.MjData(given).qpos, np.zeros(given.nv)) if "incline" in name else motion.state

        def run(steps: int, motion: ConstrainedMotion = motion) -> object:
            return motion.run(duration=steps * DT, record_every=steps)

        cases[name] = run, given, start, 500
    model, state, options = pendulum()
    given = mujoco.MjModel.from_xml_string(PENDULUM.replace("{option}", options_of("defaults")))
    cases["double pendulum, limits"] = (
        lambda steps: step_through(model, state, dt=DT, duration=steps * DT, record_every=steps, **options),
        *(given, state, 500),
    )
    robot, given, standing = ant()
    cases["ant, standing"] = (
        lambda steps: step_through(
            robot, standing, dt=DT, duration=steps * DT, u=np.zeros(robot.nu), record_every=steps
        ),
        *(given, standing, 100),
    )
    for name, (ours, given, start, steps) in cases.items():
        both = []
        for work in (ours, theirs(given, start.q, start.v)):
            work(steps)  # compiles
            both.append(timed(work, steps, repeats=3)[1] / steps)
        table.row(name, *(1e6 * cost for cost in both), both[0] / both[1])
    look, u, count = StepLook(robot, DT), np.zeros(robot.nu), 1000
    looking = timed(lambda: [look.at(standing.q, standing.v, u) for _ in range(count)], repeats=3)[1] / count
    whole = timed(cases["ant, standing"][0], count, repeats=3)[1] / count
    print(f"\na longer motion of the ant: {1e6 * whole:.0f} us a step, ", end="")
    print(f"{1e6 * looking:.0f} of them MuJoCo's calls and the rows of contacts")


def options_of(setting: str) -> str:
    _, more, safe = SETTINGS[setting]
    return options(more, safe)


def batch(count: int, steps: int) -> None:
    """Many environments on all threads, against MuJoCo's rollout from the same states; many single solves."""
    motion = systems.get("block-on-incline", mu=0.25)
    block = mujoco.MjModel.from_xml_string(incline_xml(0.25, "defaults"))
    robot, given, standing = ant()
    resting = State(mujoco.MjData(block).qpos, np.zeros(block.nv))
    print(f"\n{count} environments, {steps} steps\n")
    table = Table({"processor time of a step, us": "<", "routh": ".1f", "rollout": ".1f", "ratio": ".1f"})
    cases = {
        "sliding blocks": (motion.model, block, resting, {"compliance": motion.compliance}),
        "ants that stand and are pushed": (robot, given, standing, {"u": np.zeros(robot.nu)}),
    }
    for name, (model, theirs, start, options) in cases.items():
        speed = start.v + np.random.default_rng(0).normal(size=(count, model.nv)) * 0.1
        states = [State(motion.state.q if model is motion.model else start.q, v) for v in speed]
        step_through_many(model, states[:2], dt=DT, duration=DT, **options)  # compiles
        ended, ours = timed(step_through_many, model, states, dt=DT, duration=steps * DT, **options)
        other = timed(rolled_out, theirs, start.q, speed, steps)[1]
        each = 1e6 / (count * steps)
        told = "" if ended.ok else f" ({sum(not one.ok for one in ended)} not solved)"
        table.row(name + told, ours * each, other * each, ours / other)
    steps_of = [from_model(robot, state, dt=DT, u=np.zeros(robot.nu)) for state in states]
    solve_many(steps_of[:2])
    many, together = timed(solve_many, steps_of)
    alone = timed(lambda: [solve(one) for one in steps_of])[1]
    each = 1e6 / count
    print(f"\n{count} steps of ants by `solve`: {alone * each:.0f} us each, by `solve_many` ", end="")
    print(f"{together * each:.0f} us, {np.sum(many.rescued)} of them one by one, all solved: {many.ok}")


def rolled_out(model: mujoco.MjModel, q: np.ndarray, speeds: np.ndarray, steps: int) -> None:
    """MuJoCo's rollout from one configuration with many velocities."""
    from mujoco import rollout

    data = [mujoco.MjData(model) for _ in range(os.cpu_count() or 1)]
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    first = np.zeros((len(speeds), mujoco.mj_stateSize(model, kind)))
    for row, v in zip(first, speeds, strict=True):
        data[0].qpos[:], data[0].qvel[:] = q, v
        mujoco.mj_getState(model, data[0], row, kind)
    rollout.rollout(model, data, first, nstep=steps)


def main() -> None:
    """Print the tables."""
    parser = command_line(__doc__)
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--batch", type=int, default=0)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--figure", help="a file for the picture of the stack; nothing else is done")
    asked = parser.parse_args()
    if asked.figure:
        figure(asked.figure)
        return
    if asked.batch:
        batch(asked.batch, asked.steps)
        return
    if not asked.times:
        incline()
        for count in (10, 100):
            stack(count)
    times()


if __name__ == "__main__":
    main()
