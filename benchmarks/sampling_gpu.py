"""Sampling on an NVIDIA GPU beside the CPU of the same machine.

python benchmarks/sampling_gpu.py [samples]
python benchmarks/sampling_gpu.py 1048576 robot.npz    # a saved problem, with the true cone
"""

from __future__ import annotations

import os
import platform
import sys
import time
from datetime import date

import numpy as np
from routh.kernels.prepare import kernel_data
from routh.kernels.sampling import empty_outputs, run

import routh
from routh.friction import facet_directions
from routh.kernels import cuda as gpu
from routh.systems import get


def kernel_milliseconds(launch, repeats=5):
    """Median time of a launch, by device events, after one to warm up."""
    launch()
    gpu.cuda.synchronize()
    times = []
    for _ in range(repeats):
        begin, end = gpu.cuda.event(), gpu.cuda.event()
        begin.record()
        launch()
        end.record()
        end.synchronize()
        times.append(gpu.cuda.event_elapsed_time(begin, end))
    return float(np.median(times))


def compare(name, n):
    system = get(name)
    problem = system.problem
    step = np.full(problem.nc, system.paper.step)
    settings = {
        "step": step,
        "max_steps": system.paper.max_steps,
        "seed": 0,
        "directions": facet_directions(problem.nt),
    }
    run(problem, 64, **settings)
    begin = time.perf_counter()
    on_cpu = run(problem, n, **settings)
    cpu = time.perf_counter() - begin
    run(problem, 64, device="cuda", **settings)
    begin = time.perf_counter()
    on_gpu = run(problem, n, device="cuda", **settings)
    whole = time.perf_counter() - begin
    data = kernel_data(problem, settings["directions"])
    draw = (data, step / data.impulse, settings["max_steps"], 0, np.empty((n, 0)), 0)
    launch, _ = gpu.prepare_launch(problem, draw, "polyhedral", empty_outputs(problem, n))
    kernel = kernel_milliseconds(launch)
    scale = np.abs(problem.v).max()
    apart = ~(np.abs(on_cpu[0] - on_gpu[0]).max(axis=1) <= 1e-12 * scale)
    valid = on_gpu[4][apart] < data.limit
    print(
        f"{name:16s} kernel {kernel:9.3f} ms   with transfers {1e3 * whole:8.1f} ms   "
        f"CPU, {os.cpu_count()} threads {1e3 * cpu:8.1f} ms   "
        f"apart {apart.sum()} of {n} ({apart.mean():.1e}), of these valid {valid.sum()}   "
        f"solved {np.mean(on_gpu[3] == 0):.6f}",
        flush=True,
    )


def true_cone(path, n):
    """A problem saved by ``problem.save``: ours on one CPU thread and on the GPU, default step."""
    problem = routh.ImpactProblem.load(path)
    routh.sample(problem, 64, friction="cone", threads=1)
    begin = time.perf_counter()
    few = routh.sample(problem, 8192, friction="cone", threads=1)
    one_core = (time.perf_counter() - begin) / 8192
    routh.sample(problem, 64, friction="cone", device="cuda")
    begin = time.perf_counter()
    many = routh.sample(problem, n, friction="cone", device="cuda")
    whole = time.perf_counter() - begin
    data = kernel_data(problem, facet_directions(problem.nt))
    draw = (data, problem.scaling.impulse / data.impulse, 1000, 0, np.empty((n, 0)), 0)
    launch, _ = gpu.prepare_launch(problem, draw, "cone", empty_outputs(problem, n))
    print(
        f"{problem!r}\none CPU thread {1e6 * one_core:.1f} us a sample   "
        f"kernel {kernel_milliseconds(launch):.1f} ms   with transfers {1e3 * whole:.1f} ms   "
        f"largest difference {np.abs(few.v - many.v[:8192]).max():.1e}   {many.status_counts()}"
    )


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 2**20
    gpu._cuda()
    device = gpu.cuda.get_current_device().name
    print(f"{date.today()}  {platform.machine()}  {device}  {n} samples")
    if len(sys.argv) > 2:
        true_cone(sys.argv[2], n)
        return
    for name in ("rocking-block", "compass-gait", "box-wall", "ramone", "disk-stack", "disk-stack-5kg"):
        compare(name, n)


if __name__ == "__main__":
    main()
