"""Many different impacts, an outcome each: what a problem costs to build, to prepare and to sample.

    python benchmarks/many.py                       states of rollouts: walker2d, humanoids, a quadruped
    python benchmarks/many.py single                one problem on its own
    python benchmarks/many.py growth --largest 1000000
    python benchmarks/many.py memory
    python benchmarks/many.py processes --states 100000     building in one, two, ... processes

Times are processor time of one core in microseconds; mj_forward on the same states is the peer.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import routh
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


def microseconds(work: Callable[[], Any], items: int, *, repeats: int = 3) -> float:
    """Processor time per item, the least of some runs."""
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return 1e6 * best / max(items, 1)


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
    found = routh.sample(batch, 1, method="events", friction=friction, threads=1)
    spent = microseconds(
        lambda: routh.sample(batch, 1, method="events", friction=friction, threads=1), len(batch)
    )
    unsolved = int(np.count_nonzero(found.status != Status.SOLVED))
    return f"{spent:.1f}" + (f" ({unsolved} not solved)" if unsolved else "")


def robots() -> list[tuple[str, Any, float]]:
    """Names, models and the effort of their random controls."""
    return [
        ("walker2d", load_mjcf("gymnasium/walker2d"), 1.0),
        ("humanoid", load_mjcf("gymnasium/humanoid"), 0.4),
        ("humanoid lying", load_mjcf("gymnasium/humanoidstandup"), 0.4),
        ("quadruped", quadruped(), 0.1),
    ]


def states(count: int) -> None:
    print(f"{count} states of rollouts each; microseconds of one core")
    print(f"{'':20} mj_forward  problems  ratio  impacts  outcome (cone)  outcome (polyhedral)")
    for name, model, effort in robots():
        qpos, qvel = rollout(model, count, effort=effort)
        adapter.problems(model, qpos[:300], qvel[:300], gap=GAP)  # compiles
        forward = microseconds(lambda m=model, q=qpos, v=qvel: forward_all(m, q, v), count)
        building = microseconds(lambda m=model, q=qpos, v=qvel: adapter.problems(m, q, v, gap=GAP), count)
        batch = adapter.problems(model, qpos, qvel, gap=GAP)
        where = np.flatnonzero(batch.status == Status.SOLVED)
        impacts = batch.take(where)
        cone, polyhedral = (one_outcome(impacts, friction) for friction in ("cone", "polyhedral"))
        print(
            f"{name:20} {forward:10.1f} {building:9.1f} {building / forward:6.2f} {len(impacts):8d}"
            f"  {cone:>14}  {polyhedral:>20}"
        )
        counts = impacts.size[:, 1]
        for text, chosen in (("four contacts", counts == 4), ("ten and more", counts >= 10)):
            rows = np.flatnonzero(chosen)
            if len(rows) < 5:
                continue
            rows = np.resize(rows, max(len(rows), 1000))  # again and again: a call's own cost is not theirs
            some, q, v = impacts.take(rows), qpos[where[rows]], qvel[where[rows]]
            building = microseconds(lambda m=model, q=q, v=v: adapter.problems(m, q, v, gap=GAP), len(rows))
            print(f"  {text:18} {'':10} {building:9.1f} {'':6} {int(np.sum(chosen)):8d}"
                  f"  {one_outcome(some, 'cone'):>14}  {one_outcome(some, 'polyhedral'):>20}")  # fmt: skip


def processes(count: int) -> None:
    """Seconds by the clock, least of 3, with one process and then two, four, ... up to the cores."""
    cores = len(os.sched_getaffinity(0))
    numbers = sorted({min(2**k, cores) for k in range(cores.bit_length() + 1)})
    columns = "".join(f"{number:>8}" for number in numbers)
    print(f"seconds by the clock with so many processes\n{'':16}  states{columns}   two threads   rows equal")
    for name, model, effort in robots():
        _in_processes(name, model, rollout(model, 10_000, effort=effort), count, numbers, gap=GAP)
    model = load_mjcf("gymnasium/walker2d")
    states = rollout(model, 10_000, effort=1.0)
    _in_processes("with a window", model, states, count, numbers, window=1e-3)


def _in_processes(
    name: str, model: Any, states: tuple[np.ndarray, ...], count: int, numbers: list[int], **rules: float
) -> None:
    qpos, qvel = (np.resize(array, (count, array.shape[1])) for array in states)
    one = adapter.problems(model, qpos, qvel, **rules)  # compiles, too
    line, equal = f"{name:16}{count:8d}", True
    for number in numbers:
        seconds, found = clocked(partial(adapter.problems, model, qpos, qvel, processes=number, **rules))
        equal &= all(np.array_equal(getattr(one, a), getattr(found, a)) for a in ("M", "Jn", "Jt", "mu"))
        line += f"{seconds:8.2f}"
    halves = zip(np.array_split(qpos, 2), np.array_split(qvel, 2), strict=True)
    calls = [partial(adapter.problems, model, *half, **rules) for half in halves]
    with ThreadPoolExecutor(2) as pool:
        seconds, _ = clocked(lambda: [future.result() for future in [pool.submit(call) for call in calls]])
    print(f"{line}{seconds:14.2f}   {equal}")


def clocked(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds by the clock, the least of 3, and what was made."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        made = work()
        times.append(time.perf_counter() - start)
    return min(times), made


def _sample_each(problems: list[routh.ImpactProblem]) -> None:
    for problem in problems:
        routh.sample(problem, 1, method="events")


def single(count: int = 300) -> None:
    model = load_mjcf("gymnasium/walker2d")
    batch = adapter.problems(model, *rollout(model, 4000, effort=1.0), gap=GAP)
    rows = np.flatnonzero(batch.status == Status.SOLVED)[:count]
    fields = [
        (batch[int(k)].M, batch[int(k)].Jn, batch[int(k)].Jt, batch[int(k)].mu, batch[int(k)].v) for k in rows
    ]
    made = microseconds(lambda: [routh.ImpactProblem(*given) for given in fields], len(rows))
    print(f"ImpactProblem(...)              {made:8.1f} us")
    routh.sample(routh.ImpactProblem(*fields[0]), 1, method="events")  # compiles
    best = np.inf
    for _ in range(3):
        fresh = [routh.ImpactProblem(*given) for given in fields]
        spent = microseconds(lambda f=fresh: _sample_each(f), len(fresh), repeats=1)
        best = min(best, spent)
    print(f"routh.sample(problem, 1), warm  {best:8.1f} us")
    import mujoco

    data = mujoco.MjData(model)
    qpos, qvel = rollout(model, 300, effort=1.0)
    touching = np.flatnonzero(adapter.problems(model, qpos, qvel, gap=GAP).size[:, 1] > 0)

    def problem_of_each() -> None:
        for k in touching:
            data.qpos[:], data.qvel[:] = qpos[k], qvel[k]
            adapter.problem(model, data, deepest=None, past_limit=None)

    print(f"models.mujoco.problem           {microseconds(problem_of_each, len(touching)):8.1f} us")


def tiled(count: int) -> ImpactBatch:
    """Impacts of walker2d, again and again."""
    model = load_mjcf("gymnasium/walker2d")
    batch = adapter.problems(model, *rollout(model, 2000, effort=1.0), gap=GAP)
    rows = np.flatnonzero(batch.status == Status.SOLVED)
    return batch.take(np.resize(rows, count))


def growth(largest: int) -> None:
    print("problems    us a problem, one outcome each")
    routh.sample(tiled(100), 1, method="events", threads=1)
    count = 1000
    while count <= largest:
        batch = tiled(count)
        spent = microseconds(lambda b=batch: routh.sample(b, 1, method="events", threads=1), count)
        print(f"{count:8d}  {spent:8.2f}")
        count *= 10


def memory(count: int) -> None:
    """Peak memory in processes of their own, beyond what a process has that does the same for few rows."""
    print("what                     returned MB   peak beyond idle MB   ratio")
    for what in ("problems", "sample"):
        text = subprocess.run(
            [sys.executable, __file__, "_peak", what, "--states", str(count)],
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        returned, peak = (float(x) for x in text.split())
        print(f"{what:24} {returned:11.1f} {peak:21.1f} {peak / returned:7.2f}")


def peak_of(what: str, count: int) -> None:
    model = load_mjcf("gymnasium/walker2d")
    few = rollout(model, 2000, effort=1.0)
    qpos, qvel = (np.resize(array, (count, array.shape[1])) for array in few)
    batch = adapter.problems(model, *few, gap=GAP)
    routh.sample(batch, 1, method="events", threads=1)
    if what == "sample":
        batch = tiled(count)
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    idle = _peak_kilobytes()
    if what == "problems":
        batch = adapter.problems(model, qpos, qvel, gap=GAP)
        arrays = [value for value in vars(batch).values() if isinstance(value, np.ndarray)]
    else:
        found = routh.sample(batch, 1, method="events", threads=1)
        arrays = [value for value in vars(found).values() if isinstance(value, np.ndarray)]
    print(sum(a.nbytes for a in arrays) / 1e6, (_peak_kilobytes() - idle) * 1024 / 1e6)


def _peak_kilobytes() -> int:
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "what",
        nargs="?",
        default="states",
        choices=("states", "single", "growth", "memory", "processes", "_peak"),
    )
    parser.add_argument("of", nargs="?", default="sample")
    parser.add_argument("--states", type=int, default=10_000)
    parser.add_argument("--largest", type=int, default=100_000)
    given = parser.parse_args()
    if given.what == "states":
        states(given.states)
    elif given.what == "processes":
        processes(given.states)
    elif given.what == "single":
        single()
    elif given.what == "growth":
        growth(given.largest)
    elif given.what == "memory":
        memory(given.states)
    else:
        peak_of(given.of, given.states)


if __name__ == "__main__":
    main()
