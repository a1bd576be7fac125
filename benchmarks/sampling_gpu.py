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

import routh
from routh.friction import facet_directions
from routh.kernels import cuda as gpu
from routh.kernels.algorithm1_host import known_table, run
from routh.kernels.step_making import empty_samples, make_sampling, scaled_problem
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


def prepared(problem, step, max_steps, n, directions, true_cone=False):
    """A launch that only computes, and the residual below which a step counts as solved."""
    scaled = scaled_problem(problem, directions)
    sampling = make_sampling(
        problem, scaled, step / scaled.impulse, np.empty((n, 0)), max_steps=max_steps, seed=0
    )
    table = known_table(problem, scaled, sampling)
    return gpu.prepare_launch(scaled, table, sampling, true_cone, empty_samples(problem, n))[0], scaled.limit


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
    launch, limit = prepared(problem, step, settings["max_steps"], n, settings["directions"])
    kernel = kernel_milliseconds(launch)
    scale = np.abs(problem.v).max()
    apart = ~(np.abs(on_cpu.v - on_gpu.v).max(axis=1) <= 1e-12 * scale)
    valid = on_gpu.residual[apart] < limit
    print(
        f"{name:16s} kernel {kernel:9.3f} ms   with transfers {1e3 * whole:8.1f} ms   "
        f"CPU, {os.cpu_count()} threads {1e3 * cpu:8.1f} ms   "
        f"apart {apart.sum()} of {n} ({apart.mean():.1e}), of these valid {valid.sum()}   "
        f"solved {np.mean(on_gpu.status == 0):.6f}",
        flush=True,
    )


def true_cone(path, n):
    """A problem saved by ``problem.save``: ours on one CPU thread and on the GPU, default step."""
    problem = routh.ImpactProblem.load(path)
    routh.sample(problem, 64, method="algorithm1", threads=1)
    begin = time.perf_counter()
    few = routh.sample(problem, 8192, method="algorithm1", threads=1)
    one_core = (time.perf_counter() - begin) / 8192
    routh.sample(problem, 64, method="algorithm1", device="cuda")
    begin = time.perf_counter()
    many = routh.sample(problem, n, method="algorithm1", device="cuda")
    whole = time.perf_counter() - begin
    launch, _ = prepared(
        problem, problem.scaling.impulse, 1000, n, facet_directions(problem.nt), true_cone=True
    )
    print(
        f"{problem!r}\none CPU thread {1e6 * one_core:.1f} us a sample   "
        f"kernel {kernel_milliseconds(launch):.1f} ms   with transfers {1e3 * whole:.1f} ms   "
        f"largest difference {np.abs(few.v - many.v[:8192]).max():.1e}   {many.status_counts()}"
    )


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 2**20
    gpu.load_cuda()
    device = gpu.cuda.get_current_device().name
    print(f"{date.today()}  {platform.machine()}  {device}  {n} samples")
    if len(sys.argv) > 2:
        true_cone(sys.argv[2], n)
        return
    for name in ("rocking-block", "compass-gait", "box-wall", "ramone", "disk-stack", "disk-stack-5kg"):
        compare(name, n)


if __name__ == "__main__":
    main()
