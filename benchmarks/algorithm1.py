"""HP23's Algorithm 1 against `quantecon.optimize.lcp_lemke` in a compiled loop: one process, one table.

python benchmarks/algorithm1.py [samples]
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

import numpy as np

from measure import Table, command_line, machine, peak_memory, timed
from peer import Peer
from routh.kernels.algorithm1.sampling import run
from routh.problem.friction import facet_directions
from routh.problem.impact import ImpactProblem
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


def settings_of(problem, step, max_steps):
    """Options of `run`."""
    directions = facet_directions(problem.nt)
    return {"step": step, "max_steps": max_steps, "seed": 0, "directions": directions}


def compare(table, name, problem, step, max_steps, n):
    sizes = np.full(problem.nc, step)
    settings = {**settings_of(problem, sizes, max_steps), "threads": 1}
    run(problem, 1, **settings)  # compiles
    found, ours = timed(run, problem, n, **settings, repeats=5)
    steps = found[2].mean()
    peer, few = Peer(problem, sizes, max_steps), max(n // 16, 256)
    peer(1)
    (_, peer_steps, solved), theirs = timed(peer, few, repeats=3)
    each, other = 1e6 * ours / n, 1e6 * theirs / few
    cells = each, each / steps, other, other / peer_steps.mean(), other / each, steps, EXACT.get(name)
    table.row(name, *cells, 1.0 - solved.mean())


def threads_row(n):
    """Wall time of one and two threads, and whether their bits agree."""
    system = get("disk-stack")
    settings = settings_of(system.problem, np.full(5, system.paper.step), system.paper.max_steps)
    (one, first), (two, second) = (
        timed(run, system.problem, n, threads=k, repeats=3, clock=time.perf_counter, **settings)
        for k in (1, 2)
    )
    equal = all(a.tobytes() == b.tobytes() for a, b in zip(one, two, strict=True))
    print(f"two threads: {first / second:.2f} times one, equal bits: {equal}")


def memory_row():
    """`memory_of_a_robot` in a process of its own, where nothing else has needed memory before."""
    code = "import algorithm1; algorithm1.memory_of_a_robot()"
    path = os.pathsep.join(sys.path)
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": path})


def memory_of_a_robot():
    """Peak memory of 2^20 samples with nv = 18 and 4 contacts, against the arrays returned."""
    rng = np.random.default_rng(0)
    root = rng.normal(size=(18, 18))
    Jn, Jt = rng.normal(size=(4, 18)), rng.normal(size=(4, 2, 18))
    problem = ImpactProblem(root @ root.T + np.eye(18), Jn, Jt, 0.5, rng.normal(size=18))
    settings = {**settings_of(problem, problem.scaling.impulse, 50), "threads": 1}
    run(problem, 1, **settings)
    before = peak_memory()
    returned = sum(array.nbytes for array in run(problem, 2**20, **settings)) / 1e6
    grown = peak_memory() - before
    times = grown / returned
    print(f"nv = 18, 4 contacts, 2^20 samples: memory {times:.2f} times the {returned:.0f} MB returned")


def main():
    parser = command_line(__doc__)
    parser.add_argument("samples", nargs="?", type=int, default=2**16)
    n = parser.parse_args().samples
    print(f"{machine()}, {n} samples, one thread, processor time in microseconds\n")
    columns = {
        "system": "<15",
        "sample": ".3f",
        "LCP": ".3f",
        "peer, sample": ".2f",
        "peer, LCP": ".2f",
        "ratio": ".1f",
    }
    table = Table({**columns, "LCPs": ".3f", "exact solver": ".2f", "peer fails": ".2%"})
    for case in cases():
        compare(table, *case, n)
    threads_row(2**17)
    memory_row()


if __name__ == "__main__":
    main()
