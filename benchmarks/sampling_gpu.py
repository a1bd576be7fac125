"""Sampling on an NVIDIA GPU beside the CPU of the same machine.

    python benchmarks/sampling_gpu.py                        events in the plane; from call to summary
    python benchmarks/sampling_gpu.py make anymal.npz        states of ANYmal on four feet (needs Pinocchio)
    python benchmarks/sampling_gpu.py robots anymal.npz      one outcome of each of 2^20 problems, true cone
    python benchmarks/sampling_gpu.py robots anymal.npz --facets 8    the same with friction polygons
    python benchmarks/sampling_gpu.py algorithm1             HP23's sampler
    python benchmarks/sampling_gpu.py algorithm1 robot.npz   the same for a saved problem, with the true cone

Kernel times are medians by the device's own clock, without copies; other times are by the wall clock.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from datetime import date

import numpy as np

import routh
from routh.compiling import find_cuda
from routh.friction import facet_directions
from routh.kernels.algorithm1.gpu import StepSampler
from routh.kernels.algorithm1.sampling import run
from routh.kernels.algorithm1.work import Draw
from routh.kernels.common.arrays import make_rows
from routh.kernels.events import PERSISTENCE
from routh.kernels.gpu import events as gpu_events
from routh.kernels.gpu import plane as gpu_plane
from routh.kernels.gpu.memory import send
from routh.sampling.redrawing import make_settings
from routh.step.base import residual_tolerance
from routh.systems import get

PLANAR = (
    "rocking-block",
    "compass-gait",
    "box-wall",
    "ramone",
    "rimless-wheel",
    "block-into-wall",
    "disk-stack",
)
STEPPED = ("rocking-block", "compass-gait", "box-wall", "ramone", "disk-stack", "disk-stack-5kg")


def kernel_milliseconds(launch, repeats=5):
    """Median time of a launch, by device events, after one to warm up."""
    launch()
    find_cuda().wait()
    return float(np.median([find_cuda().milliseconds(launch) for _ in range(repeats)]))


def wall_milliseconds(work, repeats=5):
    """Median time of a call, after one to warm up."""
    work()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        times.append(1e3 * (time.perf_counter() - begin))
    return float(np.median(times))


def compared(few, many):
    """How samples of the CPU and the GPU agree: text."""
    scale = np.abs(few.v).max()
    count = len(few.status)
    apart = ~(np.abs(few.v - many.v[:count]).reshape(len(few.v), -1).max(axis=1) <= 1e-9 * scale)
    bits = (few.v.view(np.int64) != many.v[:count].view(np.int64)).reshape(len(few.v), -1).any(axis=1)
    other = few.status != many.status[:count]
    return f"other bits {bits.sum()}, apart {apart.sum()}, other status {other.sum()} of {count}"


def planar_kernel(problem, n):
    """Milliseconds in the kernel for n samples by events."""
    elastic = bool(problem.restitution.any())
    prepared, draw = make_rows([problem]), make_settings(n)
    rows, wanted = send((prepared, np.ones(1, dtype=bool)))
    patterns = gpu_plane.first_patterns(prepared, draw)
    sampler = gpu_events.Sampler(draw, problem.nc, facet_directions(1), elastic=elastic, patterns=patterns)
    outputs = gpu_events.make_gpu_outputs((1, n), problem.nv, problem.nc, 2, elastic=elastic)
    return kernel_milliseconds(lambda: sampler.launch(rows, wanted, outputs, 0, 0, n))


def planar(name, problem, n, check=2**14):
    """One line: the kernel alone, and with what surrounds it."""
    kernel = planar_kernel(problem, n)
    summary = wall_milliseconds(lambda: routh.sample(problem, n, device="cuda").summary())
    copied = wall_milliseconds(lambda: routh.sample(problem, n, device="cuda").v)
    cpu = wall_milliseconds(lambda: routh.sample(problem, n), repeats=1)
    same = compared(routh.sample(problem, check), routh.sample(problem, check, device="cuda"))
    print(f"{name:<24}{kernel:>9.3f}{summary:>9.2f}{copied:>9.2f}{cpu:>10.1f}  {same}", flush=True)


def events(n):
    """Events in the plane."""
    print(
        f"{'system':<24}{'kernel':>9}{'summary':>9}{'all v':>9}{'CPU':>10}  ms; CPU: {os.cpu_count()} threads"
    )
    for name in PLANAR:
        planar(name, get(name).problem, n)
    planar("rocking-block, e = 0.5", get("rocking-block").problem.replace(restitution=0.5), n)


def make(path, states):
    """Different states of ANYmal that land on four feet, as a small file."""
    import routh.models.pinocchio as pn
    from robots import anymal

    robot, stand, points = anymal()
    rng = np.random.default_rng(0)
    q, v = np.tile(stand, (states, 1)), rng.normal(size=(states, robot.nv)) * 0.3
    q[:, 7:] += rng.uniform(-0.1, 0.1, (states, robot.nq - 7))
    v[:, 2] = rng.uniform(-1.5, -0.5, states)
    for k in range(states):
        feet = pn.problem(
            robot, q[k], np.zeros(robot.nv), points=points, gap=10.0, limits=False, deepest=None
        )
        q[k, 2] -= feet.dist.min()
    batch = pn.problems(robot, q, v, points=points, gap=0.2, mu=0.7, limits=False)
    four = batch.take(np.flatnonzero((batch.size[:, 1] == 4) & (batch.status == routh.Status.SOLVED)))
    names = ("M", "Jn", "Jt", "mu", "v")
    np.savez_compressed(path, **{name: getattr(four, name) for name in names})
    print(f"{len(four)} of {states} states on four feet, nv = {four.nv}, nt = {four.nt}")


def tiled(path, count):
    """A batch of ``count`` different problems: the states of a file again and again, velocities disturbed."""
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    which = np.arange(count) % len(arrays["v"])
    given = {name: array[which] for name, array in arrays.items()}
    given["v"] = given["v"] + np.random.default_rng(1).normal(size=given["v"].shape) * 0.05
    return routh.ImpactBatch(**given)


def robots(path, count, method, facets, check=2**12):
    """One outcome of each of many different problems, with the true cone or polygons of so many facets."""
    batch = tiled(path, count)
    print(batch)
    friction = {"method": method, "friction": "polyhedral" if facets else "cone", "facets": facets}
    corners = facet_directions(2, facets) if facets else None
    sent, mask = send(batch.arrays), send(np.asarray(batch.status == routh.Status.SOLVED))
    outputs = gpu_events.make_gpu_outputs((count, 1), batch.nv, batch.nc, 3, elastic=False)
    rows = gpu_events.prepared_rows(sent, mask, 0, count, 2)
    if method == "events":
        draw = make_settings(1, persistence=PERSISTENCE)
        sampler = gpu_events.Sampler(draw, batch.nc, corners, elastic=False)
    else:
        sampler = StepSampler(step_draw(1, batch.nc), batch.nc, corners)
    begin = time.perf_counter()
    sampler.launch(rows, mask, outputs, 0, 0, count)  # few samples would not need all kernels
    find_cuda().wait()
    compiling = time.perf_counter() - begin
    kernel = kernel_milliseconds(lambda: sampler.launch(rows, mask, outputs, 0, 0, count), repeats=3)
    preparing = kernel_milliseconds(lambda: gpu_events.prepared_rows(sent, mask, 0, count, 2), repeats=3)
    begin = time.perf_counter()
    found = routh.sample(batch, 1, device="cuda", **friction)
    counts = found.status_counts()
    whole = time.perf_counter() - begin
    some = batch[:check]
    routh.sample(some[:1], 1, **friction)
    one = time.process_time()
    few = routh.sample(some, 1, threads=1, **friction)
    one = (time.process_time() - one) / check
    print(
        f"{method}: compiling {compiling:.0f} s, kernel {kernel:.1f} ms, preparing {preparing:.1f} ms, "
        f"call with status counts {1e3 * whole:.0f} ms"
    )
    print(f"{compared(few, found)}; CPU {1e6 * one:.1f} us a problem on one core; {counts}")


def step_draw(n, nc, max_steps=1000, step=None):
    """Algorithm 1, with its default step or a given one (nc,)."""
    boxes = np.empty((0, nc)) if step is None else step[None]
    return Draw(n, 0, np.uint64(0), boxes, np.empty((n, 0)), max_steps)


def launched(problem, n, directions, draw):
    """A launch of Algorithm 1 that only computes."""
    rows, wanted = send((make_rows([problem]), np.ones(1, dtype=bool)))
    outputs = gpu_events.make_gpu_outputs((1, n), problem.nv, problem.nc, 1 + problem.nt, elastic=False)
    sampler = StepSampler(draw, problem.nc, directions)
    return lambda: sampler.launch(rows, wanted, outputs, 0, 0, n)


def algorithm1(n):
    """HP23's sampler with the paper's settings."""
    for name in STEPPED:
        system = get(name)
        problem, step = system.problem, np.full(system.problem.nc, system.paper.step)
        directions = facet_directions(problem.nt)
        settings = {"step": step, "max_steps": system.paper.max_steps, "seed": 0, "directions": directions}
        on_cpu, on_gpu = run(problem, n, **settings), run(problem, n, device="cuda", **settings)
        cpu = wall_milliseconds(lambda: run(problem, n, **settings), repeats=1)  # noqa: B023
        whole = wall_milliseconds(lambda: run(problem, n, device="cuda", **settings))  # noqa: B023
        launch = launched(problem, n, directions, step_draw(n, problem.nc, settings["max_steps"], step))
        apart = ~(np.abs(on_cpu.v - on_gpu.v).max(axis=1) <= 1e-12 * np.abs(problem.v).max())
        print(
            f"{name:16s} kernel {kernel_milliseconds(launch):9.3f} ms   with transfers {whole:8.1f} ms   "
            f"CPU, {os.cpu_count()} threads {cpu:8.1f} ms   apart {apart.sum()} of {n}, "
            f"of these valid {(on_gpu.residual[apart] < residual_tolerance(problem)).sum()}",
            flush=True,
        )


def saved(path, n, few=8192):
    """Algorithm 1 with the true cone on a problem saved by ``problem.save``, default step."""
    problem = routh.ImpactProblem.load(path)
    routh.sample(problem, 64, method="algorithm1", threads=1)
    begin = time.perf_counter()
    some = routh.sample(problem, few, method="algorithm1", threads=1)
    one_core = (time.perf_counter() - begin) / few
    whole = wall_milliseconds(lambda: routh.sample(problem, n, method="algorithm1", device="cuda"))
    many = routh.sample(problem, n, method="algorithm1", device="cuda")
    kernel = kernel_milliseconds(launched(problem, n, None, step_draw(n, problem.nc)))
    print(
        f"{problem!r}\none CPU thread {1e6 * one_core:.1f} us a sample   "
        f"kernel {kernel:.1f} ms   with transfers {whole:.1f} ms   "
        f"largest difference {np.abs(some.v - many.v[:few]).max():.1e}   {many.status_counts()}"
    )


def main():
    style = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=style)
    parser.add_argument(
        "what", nargs="?", default="events", choices=("events", "make", "robots", "algorithm1")
    )
    parser.add_argument("path", nargs="?", help="file of problems")
    parser.add_argument("--samples", type=int, default=2**20)
    parser.add_argument("--method", default="events", choices=("events", "algorithm1"), help="of robots")
    parser.add_argument("--facets", type=int, help="of robots by events: polygons instead of the true cone")
    parser.add_argument("--states", type=int, default=1024)
    given = parser.parse_args()
    if given.what == "make":
        make(given.path, given.states)
        return
    device = find_cuda().name
    print(f"{date.today()}  {platform.machine()}  {device}  {given.samples} samples")
    if given.what == "events":
        events(given.samples)
    elif given.what == "robots":
        robots(given.path, given.samples, given.method, given.facets)
    elif given.path is not None:
        saved(given.path, given.samples)
    else:
        algorithm1(given.samples)


if __name__ == "__main__":
    main()
