"""Sampling against `quantecon.optimize.lcp_lemke` in a compiled loop: one process, one table.

python benchmarks/sampling.py [samples]
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
from datetime import date
from pathlib import Path

import numpy as np

from peer import Peer
from routh.friction import facet_directions
from routh.kernels.algorithm1.sampling import run
from routh.problem import ImpactProblem
from routh.systems import get

SYSTEMS = ("rocking-block", "compass-gait", "box-wall", "ramone", "disk-stack", "disk-stack-5kg")
# LCPs a sample with an exact solver, 2^16 samples, measured independently
EXACT = dict(zip(SYSTEMS, (2.47, 1.69, 1.54, 3.00, 2.36, 6.68), strict=True))


def spatial_box(mu=0.5):
    """A box of 1 kg dropped flat on four corners, sliding a little."""
    half = np.array([0.1, 0.15, 0.05])
    inertia = (np.sum(half**2) - half**2) / 3.0
    normals, tangents = [], []
    for x in (-1.0, 1.0):
        for y in (-1.0, 1.0):
            r = half * np.array([x, y, -1.0])
            rows = [np.concatenate([axis, np.cross(r, axis)]) for axis in np.eye(3)]
            normals.append(rows[2])
            tangents.append(rows[:2])
    return ImpactProblem(
        np.diag([1.0, 1.0, 1.0, *inertia]), normals, tangents, mu, [0.3, 0.1, -1.0, 0.0, 0.0, 0.0]
    )


def cases():
    for name in SYSTEMS:
        system = get(name)
        yield name, system.problem, system.paper.step, system.paper.max_steps
    yield "spatial box", spatial_box(), 1.0, 100


def cpu_seconds(work, repeats=5):
    """The least process time of several runs: other processes on the machine count little."""
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return min(times)


def compare(name, problem, step, max_steps, n):
    sizes = np.full(problem.nc, step)
    settings = {
        "step": sizes,
        "max_steps": max_steps,
        "seed": 0,
        "directions": facet_directions(problem.nt),
        "threads": 1,
    }
    begin = time.process_time()
    run(problem, 1, **settings)
    first = time.process_time() - begin
    ours = cpu_seconds(lambda: run(problem, n, **settings))
    steps = run(problem, n, **settings)[2]
    peer = Peer(problem, sizes, max_steps)
    peer(1)
    few = max(n // 16, 256)
    theirs = cpu_seconds(lambda: peer(few), 3)
    _, peer_steps, peer_solved = peer(few)
    per_sample, per_peer = 1e6 * ours / n, 1e6 * theirs / few
    exact = f"{EXACT[name]:5.2f}" if name in EXACT else "     "
    print(
        f"{name:15s} {per_sample:8.3f} {per_sample / steps.mean():8.3f} {per_peer:10.2f} "
        f"{per_peer / peer_steps.mean():8.2f} {per_peer / per_sample:7.1f}  {steps.mean():6.3f} {exact}"
        f"  {100 * (1 - peer_solved.mean()):6.2f} %  {first:8.2f}",
        flush=True,
    )


def threads_table(n):
    """Wall time of one and two threads, and whether their bits agree."""
    system = get("disk-stack")
    settings = {
        "step": np.full(5, system.paper.step),
        "max_steps": system.paper.max_steps,
        "seed": 0,
        "directions": facet_directions(1),
    }
    walls, outputs = [], []
    for threads in (1, 2):
        best = np.inf
        for _ in range(3):
            begin = time.perf_counter()
            result = run(system.problem, n, threads=threads, **settings)
            best = min(best, time.perf_counter() - begin)
        walls.append(best)
        outputs.append(result)
    equal = all(a.tobytes() == b.tobytes() for a, b in zip(*outputs, strict=True))
    load = os.getloadavg()[0]
    print(
        f"two threads: {walls[0] / walls[1]:.2f} times one (machine's load {load:.1f}), equal bits: {equal}"
    )


def memory_row():
    """`memory_of_a_robot` in a process of its own, where nothing else has needed memory before."""
    code = "import sampling; sampling.memory_of_a_robot()"
    path = os.pathsep.join(sys.path)
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": path})


def peak_memory():
    """The most bytes that this process has held (getrusage would count its parent's, too)."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])


def memory_of_a_robot():
    """Peak memory of 2^20 samples with nv = 18 and 4 contacts, against the arrays returned."""
    rng = np.random.default_rng(0)
    root = rng.normal(size=(18, 18))
    problem = ImpactProblem(
        root @ root.T + np.eye(18),
        rng.normal(size=(4, 18)),
        rng.normal(size=(4, 2, 18)),
        0.5,
        rng.normal(size=18),
    )
    n = 2**20
    settings = {
        "step": problem.scaling.impulse,
        "max_steps": 50,
        "seed": 0,
        "directions": facet_directions(2),
        "threads": 1,
    }
    run(problem, 1, **settings)
    before = peak_memory()
    returned = sum(array.nbytes for array in run(problem, n, **settings))
    grown = peak_memory() - before
    size = f"{returned / 2**20:.0f} MiB"
    print(f"memory, nv = 18, 4 contacts, 2^20 samples: {grown / returned:.2f} times the {size} returned")


def start_row():
    """A fresh process: import, load the compiled kernels from disk, draw one sample."""
    code = (
        "import time; t = time.perf_counter(); import numpy as np; "
        "from routh.kernels.algorithm1.sampling import run; "
        "from routh.friction import facet_directions; from routh.systems import get; "
        "s = get('rocking-block'); "
        "run(s.problem, 1, step=np.full(2, 0.3), max_steps=10, seed=0, directions=facet_directions(1)); "
        "print(f'{time.perf_counter() - t:.2f}')"
    )
    warm = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()
    print(f"warm start (fresh process, kernels from the disk cache): {warm} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("samples", nargs="?", type=int, default=2**16)
    n = parser.parse_args().samples
    print(f"{date.today()}  {platform.machine()}  {n} samples, one thread, process time in microseconds")
    print(" " * 18 + "sample      LCP  peer sample    LCP   ratio    LCPs exact  peer fails  first call, s")
    for case in cases():
        compare(*case, n)
    start_row()
    threads_table(2**17)
    memory_row()


if __name__ == "__main__":
    main()
