"""Stacks of 1 to 100 spheres, steel, 500 steps of 10 ms: time and growth (D19 Fig. 10).

python benchmarks/constraints_stack.py [largest]
"""

from __future__ import annotations

import math
import sys
import time

import numpy as np

from routh import systems


def main(largest: int) -> None:
    counts = [n for n in (1, 5, 10, 20, 40, 60, 80, 100, 200, 400) if n <= largest]
    print(f"{'spheres':>7} {'seconds':>8} {'ms/step':>8} {'ok':>5} {'sideways (m)':>12} {'deepest (m)':>12}")
    rows = []
    for count in counts:
        motion = systems.get("sphere-stack", count=count)
        motion.run(duration=0.02)
        start = time.process_time()
        run = motion.run(duration=5.0, record_every=10)
        cost = time.process_time() - start
        q = run.q.reshape(len(run), count, 7)
        depth = -run.deformations["contacts"][-1, :, 0].min()
        rows.append((count, cost))
        aside = np.abs(q[:, :, :2]).max()
        print(f"{count:7} {cost:8.2f} {2 * cost:8.2f} {run.ok!s:>5} {aside:12.1e} {depth:12.1e}", flush=True)
    big = [(math.log(n), math.log(t)) for n, t in rows if n >= 10]
    if len(big) > 1:
        print(f"exponent of the time for 10 spheres and more: {np.polyfit(*np.array(big).T, 1)[0]:.2f}")
    if len(rows) > 2:
        (a, s), (b, t) = rows[-2:]
        print(f"exponent between the last two: {math.log(t / s) / math.log(b / a):.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
