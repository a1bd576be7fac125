"""Sampling on an NVIDIA GPU beside the CPU of the same machine.

    python benchmarks/gpu.py                        events in the plane; from call to summary
    python benchmarks/gpu.py make anymal.npz        states of ANYmal on four feet (needs Pinocchio)
    python benchmarks/gpu.py robots anymal.npz      one outcome of each of 2^20 problems, true cone
    python benchmarks/gpu.py robots anymal.npz --facets 8    the same with friction polygons
    python benchmarks/gpu.py algorithm1             HP23's sampler
    python benchmarks/gpu.py algorithm1 robot.npz   the same for a saved problem, with the true cone

Kernel times are medians by the device's own clock, without copies; other times are by the wall clock.
"""

from __future__ import annotations

import os
import time

import numpy as np

import routh
from measure import Table, command_line, machine, run_part, timed
from routh.gpu import events as gpu_events
from routh.gpu import plane as gpu_plane
from routh.gpu.algorithm1 import StepSampler
from routh.gpu.driver import gpu as find_cuda
from routh.gpu.memory import send
from routh.kernels.algorithm1.sampling import run
from routh.kernels.algorithm1.work import StepDraw
from routh.kernels.common.arrays import make_rows
from routh.problem.friction import facet_directions
from routh.sampling.settings import ByEvents
from routh.step.base import residual_tolerance
from routh.systems import get

PLANAR = ("rocking-block", "compass-gait", "box-wall", "ramone", "rimless-wheel", "block-into-wall")
STEPPED = ("rocking-block", "compass-gait", "box-wall", "ramone", "disk-stack", "disk-stack-5kg")


def kernel_milliseconds(launch, repeats=5):
    """Median time of a launch, by device events, after one to warm up."""
    launch()
    do, found = find_cuda().do, []
    for _ in range(repeats):
        begin, end = do("cuEventCreate", 0), do("cuEventCreate", 0)
        do("cuEventRecord", begin, 0)
        launch()
        do("cuEventRecord", end, 0)
        do("cuEventSynchronize", end)
        found.append(float(do("cuEventElapsedTime", begin, end)))
    return float(np.median(found))


def wall_milliseconds(work, repeats=5):
    """Median time of a call, after one to warm up."""
    work()
    return 1e3 * float(np.median([timed(work, clock=time.perf_counter)[1] for _ in range(repeats)]))


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
    prepared, draw = make_rows([problem]), ByEvents().draws(n)
    rows, wanted = send((prepared, np.ones(1, dtype=bool)))
    patterns = gpu_plane.first_patterns(prepared, draw)
    sampler = gpu_plane.event_sampler(
        draw, problem.nc, facet_directions(1), elastic=elastic, patterns=patterns
    )
    outputs = gpu_events.make_gpu_outputs((1, n), problem.nv, problem.nc, 2, elastic=elastic)
    return kernel_milliseconds(lambda: sampler.launch(rows, wanted, outputs, 0, 0, n))


def events(given, check=2**14):
    """Events in the plane: the kernel alone, and with what surrounds it."""
    n = given.samples
    print(f"{machine()}, {find_cuda().name}, {n} samples\n")
    numbers = {"kernel": ".3f", "summary": ".2f", "all v": ".2f", f"CPU, {os.cpu_count()} threads": ".1f"}
    table = Table({"ms": "<22", **numbers, "CPU against GPU": "<"})
    cases = {name: get(name).problem for name in (*PLANAR, "disk-stack")}
    cases["rocking-block, e = 0.5"] = get("rocking-block").problem.replace(restitution=0.5)
    for name, problem in cases.items():
        kernel = planar_kernel(problem, n)
        summary = wall_milliseconds(lambda p=problem: routh.sample(p, n, device="cuda").summary())
        copied = wall_milliseconds(lambda p=problem: routh.sample(p, n, device="cuda").v)
        cpu = wall_milliseconds(lambda p=problem: routh.sample(p, n), repeats=1)
        same = compared(routh.sample(problem, check), routh.sample(problem, check, device="cuda"))
        table.row(name, kernel, summary, copied, cpu, same)


def make(given):
    """Different states of ANYmal that land on four feet, as a small file."""
    states = given.states
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
    np.savez_compressed(given.path, **{name: getattr(four, name) for name in names})
    print(f"{len(four)} of {states} states on four feet, nv = {four.nv}, nt = {four.nt}")


def tiled(path, count):
    """A batch of ``count`` different problems: the states of a file again and again, velocities disturbed."""
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    which = np.arange(count) % len(arrays["v"])
    given = {name: array[which] for name, array in arrays.items()}
    given["v"] = given["v"] + np.random.default_rng(1).normal(size=given["v"].shape) * 0.05
    return routh.ImpactBatch(**given)


def robots(given, check=2**12):
    """One outcome of each of many different problems, with the true cone or polygons of so many facets."""
    count, facets = given.samples, given.facets
    batch = tiled(given.path, count)
    print(f"{machine()}, {find_cuda().name}\n{batch}")
    friction = {"friction": "polyhedral" if facets else "cone", "facets": facets}
    corners = facet_directions(2, facets) if facets else None
    sent, mask = send(batch.arrays), send(np.asarray(batch.status == routh.Status.SOLVED))
    outputs = gpu_events.make_gpu_outputs((count, 1), batch.nv, batch.nc, 3, elastic=False)
    rows = gpu_events.prepared_rows(sent, mask, 0, count, 2)
    sampler = gpu_plane.event_sampler(ByEvents().draws(1), batch.nc, corners, elastic=False)

    def launch():
        sampler.launch(rows, mask, outputs, 0, 0, count)

    def first():
        sampler.launch(rows, mask, outputs, 0, 0, 1)
        find_cuda().wait()

    _, compiling = timed(first, clock=time.perf_counter)
    kernel = kernel_milliseconds(launch, repeats=3)
    preparing = kernel_milliseconds(lambda: gpu_events.prepared_rows(sent, mask, 0, count, 2), repeats=3)

    def whole_call():
        found = routh.sample(batch, 1, device="cuda", **friction)
        return found, found.status_counts()

    (found, counts), whole = timed(whole_call, clock=time.perf_counter)
    routh.sample(batch[:1], 1, **friction)
    few, one = timed(routh.sample, batch[:check], 1, threads=1, **friction)
    print(
        f"compiling {compiling:.0f} s, kernel {kernel:.1f} ms, preparing {preparing:.1f} ms, "
        f"call with status counts {1e3 * whole:.0f} ms"
    )
    print(f"{compared(few, found)}; CPU {1e6 * one / check:.1f} us a problem on one core; {counts}")


def step_draw(n, nc, max_steps=1000, step=None):
    """Algorithm 1, with its default step or a given one (nc,)."""
    boxes = np.empty((0, nc)) if step is None else step[None]
    return StepDraw(n, 0, np.uint64(0), boxes, np.empty((n, 0)), max_steps)


def launched(problem, n, directions, draw):
    """A launch of Algorithm 1 that only computes."""
    rows, wanted = send((make_rows([problem]), np.ones(1, dtype=bool)))
    outputs = gpu_events.make_gpu_outputs((1, n), problem.nv, problem.nc, 1 + problem.nt, elastic=False)
    sampler = StepSampler(draw, problem.nc, directions)
    return lambda: sampler.launch(rows, wanted, outputs, 0, 0, n)


def algorithm1(given):
    """HP23's sampler with the paper's settings, or for a saved problem with the true cone."""
    n = given.samples
    print(f"{machine()}, {find_cuda().name}, {n} samples\n")
    if given.path is not None:
        saved(given.path, n)
        return
    numbers = {"kernel": ".3f", "with transfers": ".1f", f"CPU, {os.cpu_count()} threads": ".1f"}
    table = Table({"ms": "<15", **numbers, "apart": "d", "of these valid": "d"})
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
        valid = on_gpu.residual[apart] < residual_tolerance(problem.mu)
        table.row(name, kernel_milliseconds(launch), whole, cpu, apart.sum(), valid.sum())


def saved(path, n, few=8192):
    """Algorithm 1 with the true cone on a problem saved by ``problem.save``, default step."""
    problem = routh.ImpactProblem.load(path)
    routh.sampling.sample_by_steps(problem, 64, threads=1)
    some, one_core = timed(routh.sampling.sample_by_steps, problem, few, threads=1)
    whole = wall_milliseconds(lambda: routh.sampling.sample_by_steps(problem, n, device="cuda"))
    many = routh.sampling.sample_by_steps(problem, n, device="cuda")
    kernel = kernel_milliseconds(launched(problem, n, None, step_draw(n, problem.nc)))
    print(
        f"{problem!r}\none CPU thread {1e6 * one_core / few:.1f} us a sample, kernel {kernel:.1f} ms, "
        f"with transfers {whole:.1f} ms, "
        f"largest difference {np.abs(some.v - many.v[:few]).max():.1e}, {many.status_counts()}"
    )


def main():
    parser = command_line(__doc__, events, make, robots, algorithm1, default="events")
    parser.add_argument("path", nargs="?", help="file of problems")
    parser.add_argument("--samples", type=int, default=2**20)
    parser.add_argument("--facets", type=int, help="of robots: polygons instead of the true cone")
    parser.add_argument("--states", type=int, default=1024, help="of make")
    run_part(parser)


if __name__ == "__main__":
    main()
