"""Many different impacts, an outcome each: what a problem costs to build, to prepare and to sample.

    python benchmarks/batches.py                       states of rollouts: walker2d, humanoids, a quadruped
    python benchmarks/batches.py single                one problem on its own
    python benchmarks/batches.py growth --largest 1000000
    python benchmarks/batches.py memory
    python benchmarks/batches.py processes --states 100000     building in one, two, ... processes

Times are processor time of one core in microseconds; mj_forward on the same states is the peer.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import routh
from measure import Table, command_line, peak_memory, run_part, timed
from robot_zoo import load_mjcf
from routh import ImpactBatch, Status
from routh.models import UnrepresentedWarning
from routh.models import mujoco as adapter

warnings.simplefilter("ignore", UnrepresentedWarning)
warnings.filterwarnings("ignore", message="compiler attribute")

GAP = 1e-3  # m: contacts this near are simultaneous
LEG = """<body pos="{x} {y} 0"><joint name="{n}_roll" axis="1 0 0" range="-0.6 0.6"/>
  <joint name="{n}_hip" axis="0 1 0" range="-1.2 1.2"/>
  <geom type="capsule" fromto="0 0 0 0 0 -0.25" size="0.03" mass="1.2"/>
  <body pos="0 0 -0.25"><joint name="{n}_knee" axis="0 1 0" range="-2 2"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.25" size="0.02" mass="0.4"/>
    <geom name="{n}" type="sphere" pos="0 0 -0.25" size="0.03" mass="0.05" friction="0.8"/></body></body>"""
QUADRUPED = """<mujoco><compiler angle="radian"/><option cone="elliptic" timestep="0.002"/>
  <default><joint armature="0.01" damping="0.5"/><geom contype="1" conaffinity="2"/></default>
  <worldbody><geom name="floor" type="plane" size="20 20 1" contype="2" conaffinity="1"/>
  <body pos="0 0 0.6"><freejoint/><geom type="box" size="0.3 0.15 0.06" mass="20"/>{legs}</body></worldbody>
  <actuator>{motors}</actuator></mujoco>"""


def quadruped() -> Any:
    """A quadruped of 27 kg with twelve joints and spherical feet."""
    import mujoco

    names = [("lf", 0.3, 0.2), ("rf", 0.3, -0.2), ("lh", -0.3, 0.2), ("rh", -0.3, -0.2)]
    legs = "".join(LEG.format(n=n, x=x, y=y) for n, x, y in names)
    joints = [f"{n}_{part}" for n, _, _ in names for part in ("roll", "hip", "knee")]
    motors = "".join(f'<position joint="{joint}" kp="60" kv="2"/>' for joint in joints)
    return mujoco.MjModel.from_xml_string(QUADRUPED.format(legs=legs, motors=motors))


def rollout(model: Any, count: int, *, effort: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """States (count, nq), (count, nv) of episodes of 200 steps with random controls."""
    import mujoco

    rng, data = np.random.default_rng(seed), mujoco.MjData(model)
    qpos, qvel = np.empty((count, model.nq)), np.empty((count, model.nv))
    for k in range(count):
        if k % 200 == 0:
            mujoco.mj_resetData(model, data)
            data.qpos[:] += rng.uniform(-5e-3, 5e-3, model.nq)
            data.qvel[:] = rng.normal(size=model.nv) * 0.1
        data.ctrl[:] = effort * rng.uniform(-1.0, 1.0, model.nu)
        mujoco.mj_step(model, data)
        qpos[k], qvel[k] = data.qpos, data.qvel
    return qpos, qvel


def microseconds(work: Any, *given: Any, items: int, **options: Any) -> float:
    """Processor time per item, the least of three runs."""
    return 1e6 * timed(work, *given, **options, repeats=3)[1] / max(items, 1)


def forward_all(model: Any, qpos: np.ndarray, qvel: np.ndarray) -> None:
    import mujoco

    data = mujoco.MjData(model)
    for q, v in zip(qpos, qvel, strict=True):
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(model, data)


def one_outcome(batch: ImpactBatch, friction: str) -> str:
    """Microseconds for one outcome of each row, and how many did not come out solved."""
    if not len(batch):
        return "-"
    options = {"friction": friction, "threads": 1}
    found = routh.sample(batch, 1, **options)
    unsolved = int(np.count_nonzero(found.status != Status.SOLVED))
    spent = microseconds(routh.sample, batch, 1, items=len(batch), **options)
    return f"{spent:.1f}" + (f" ({unsolved} not solved)" if unsolved else "")


def robots() -> list[tuple[str, Any, float]]:
    """Names, models and the effort of their random controls."""
    return [
        ("walker2d", load_mjcf("gymnasium/walker2d"), 1.0),
        ("humanoid", load_mjcf("gymnasium/humanoid"), 0.4),
        ("humanoid lying", load_mjcf("gymnasium/humanoidstandup"), 0.4),
        ("quadruped", quadruped(), 0.1),
    ]


def states(given: argparse.Namespace) -> None:
    """States of rollouts."""
    count = given.states
    print(f"{count} states of rollouts each; microseconds of one core\n")
    numbers = {"mj_forward": ".1f", "problems": ".1f", "ratio": ".2f", "impacts": "d"}
    table = Table({"": "<16", **numbers, "outcome (cone)": "", "outcome (polyhedral)": ""})
    for name, model, effort in robots():
        qpos, qvel = rollout(model, count, effort=effort)
        build = partial(adapter.problems, model, gap=GAP)
        build(qpos[:300], qvel[:300])  # compiles
        forward = microseconds(forward_all, model, qpos, qvel, items=count)
        building = microseconds(build, qpos, qvel, items=count)
        batch = build(qpos, qvel)
        where = np.flatnonzero(batch.status == Status.SOLVED)
        impacts = batch.take(where)
        outcomes = [one_outcome(impacts, friction) for friction in ("cone", "polyhedral")]
        table.row(name, forward, building, building / forward, len(impacts), *outcomes)
        counts = impacts.size[:, 1]
        for text, chosen in (("- four contacts", counts == 4), ("- ten and more", counts >= 10)):
            rows = np.flatnonzero(chosen)
            if len(rows) < 5:
                continue
            rows = np.resize(rows, max(len(rows), 1000))  # again and again: a call's own cost is not theirs
            building = microseconds(build, qpos[where[rows]], qvel[where[rows]], items=len(rows))
            outcomes = [one_outcome(impacts.take(rows), friction) for friction in ("cone", "polyhedral")]
            table.row(text, None, building, None, int(np.sum(chosen)), *outcomes)


def processes(given: argparse.Namespace) -> None:
    """Seconds by the clock, least of 3, with one process and then two, four, ... up to the cores."""
    cores = len(os.sched_getaffinity(0))
    numbers = sorted({min(2**k, cores) for k in range(cores.bit_length() + 1)})
    columns = dict.fromkeys(f"{number} processes" for number in numbers)
    table = Table(
        {"s": "<16", "states": "d", **dict.fromkeys(columns, ".2f"), "two threads": ".2f", "rows equal": ""}
    )
    cases = [(*robot, {"gap": GAP}) for robot in robots()]
    cases.append(("with a window", load_mjcf("gymnasium/walker2d"), 1.0, {"window": 1e-3}))
    for name, model, effort, rules in cases:
        few = rollout(model, 10_000, effort=effort)
        qpos, qvel = (np.resize(array, (given.states, array.shape[1])) for array in few)
        build = partial(adapter.problems, model, **rules)
        one, spent, equal = build(qpos, qvel), [], True  # compiles, too
        for number in numbers:
            found, seconds = by_the_clock(build, qpos, qvel, processes=number)
            spent.append(seconds)
            equal &= all(np.array_equal(getattr(one, a), getattr(found, a)) for a in ("M", "Jn", "Jt", "mu"))
        halves = np.array_split(qpos, 2), np.array_split(qvel, 2)
        with ThreadPoolExecutor(2) as pool:
            _, seconds = by_the_clock(lambda b=build, h=halves, p=pool: list(p.map(b, *h)))
        table.row(name, given.states, *spent, seconds, equal)


by_the_clock = partial(timed, repeats=3, clock=time.perf_counter)


def single(given: argparse.Namespace) -> None:
    """One problem on its own."""
    model = load_mjcf("gymnasium/walker2d")
    batch = adapter.problems(model, *rollout(model, 4000, effort=1.0), gap=GAP)
    some = [batch[int(k)] for k in np.flatnonzero(batch.status == Status.SOLVED)[:300]]
    fields = [(one.M, one.Jn, one.Jt, one.mu, one.v) for one in some]
    table = Table({"": "<30", "us": ".1f"})

    def made() -> list[routh.ImpactProblem]:
        return [routh.ImpactProblem(*given) for given in fields]

    table.row("ImpactProblem(...)", microseconds(made, items=len(fields)))
    routh.sample(made()[0], 1)  # compiles
    rounds = [  # of new problems each, which have prepared nothing
        timed(lambda fresh: [routh.sample(one, 1) for one in fresh], made())[1] for _ in range(3)
    ]
    table.row("routh.sample(problem, 1), warm", 1e6 * min(rounds) / len(fields))
    import mujoco

    data = mujoco.MjData(model)
    qpos, qvel = rollout(model, 300, effort=1.0)
    touching = np.flatnonzero(adapter.problems(model, qpos, qvel, gap=GAP).size[:, 1] > 0)

    def problem_of_each() -> None:
        for k in touching:
            data.qpos[:], data.qvel[:] = qpos[k], qvel[k]
            adapter.problem(model, data, gap=GAP, deepest=None, past_limit=None)

    table.row("models.mujoco.problem", microseconds(problem_of_each, items=len(touching)))


def tiled(count: int) -> ImpactBatch:
    """Impacts of walker2d, again and again."""
    model = load_mjcf("gymnasium/walker2d")
    batch = adapter.problems(model, *rollout(model, 2000, effort=1.0), gap=GAP)
    rows = np.flatnonzero(batch.status == Status.SOLVED)
    return batch.take(np.resize(rows, count))


def growth(given: argparse.Namespace) -> None:
    """One outcome each of more and more problems."""
    routh.sample(tiled(100), 1, threads=1)
    table = Table({"problems": "d", "us a problem": ".2f"})
    count = 1000
    while count <= given.largest:
        table.row(count, microseconds(routh.sample, tiled(count), 1, threads=1, items=count))
        count *= 10


def memory(given: argparse.Namespace) -> None:
    """Peak memory in processes of their own, beyond what a process has that does the same for few rows."""
    table = Table({"what": "<8", "returned MB": ".1f", "peak beyond idle MB": ".1f", "ratio": ".2f"})
    for what in ("problems", "sample"):
        command = [sys.executable, __file__, "peak_of", what, "--states", str(given.states)]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        returned, peak = (float(x) for x in text.split())
        table.row(what, returned, peak, peak / returned)


def peak_of(given: argparse.Namespace) -> None:
    """A process of `memory`."""
    model = load_mjcf("gymnasium/walker2d")
    few = rollout(model, 2000, effort=1.0)
    qpos, qvel = (np.resize(array, (given.states, array.shape[1])) for array in few)
    batch = adapter.problems(model, *few, gap=GAP)
    routh.sample(batch, 1, threads=1)
    if given.of == "sample":
        batch = tiled(given.states)
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    idle = peak_memory()
    if given.of == "problems":
        found = adapter.problems(model, qpos, qvel, gap=GAP)
    else:
        found = routh.sample(batch, 1, threads=1)
    arrays = [value for value in vars(found).values() if isinstance(value, np.ndarray)]
    print(sum(a.nbytes for a in arrays) / 1e6, peak_memory() - idle)


def main() -> None:
    parser = command_line(__doc__, states, single, growth, memory, processes, peak_of, default="states")
    parser.add_argument("of", nargs="?", default="sample", help=argparse.SUPPRESS)
    parser.add_argument("--states", type=int, default=10_000)
    parser.add_argument("--largest", type=int, default=100_000)
    run_part(parser)


if __name__ == "__main__":
    main()
