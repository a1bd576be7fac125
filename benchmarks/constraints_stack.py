"""Stacks of 1 to 100 spheres, steel, 500 steps of 10 ms: time and growth (D19 Fig. 10).

python benchmarks/constraints_stack.py [largest]             # standing; contacts act where the gap is closed
python benchmarks/constraints_stack.py [largest] --falling   # from mid-air, 1 cm apart, gaps anticipated
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np

from routh import systems


def main(largest: int, falling: bool) -> None:
    counts = [n for n in (1, 5, 10, 20, 40, 60, 80, 100, 200, 400) if n <= largest]
    print(f"{'spheres':>7} {'seconds':>8} {'ms/step':>8} {'ok':>5} {'sideways (m)':>12} {'deepest (m)':>12} "
          f"{'last m/s':>8}")  # fmt: skip
    rows = []
    for count in counts:
        motion = systems.get("sphere-stack", count=count, gap=0.01 if falling else 0.0, anticipate=falling)
        motion.run(duration=0.02)
        start = time.process_time()
        run = motion.run(duration=5.0, record_every=10)
        cost = time.process_time() - start
        q = run.q.reshape(len(run), count, 7)
        depth = -run.deformations["contacts"][-1, :, 0].min()
        rows.append((count, cost))
        aside = np.abs(q[:, :, :2]).max()
        print(f"{count:7} {cost:8.2f} {2 * cost:8.2f} {run.ok!s:>5} {aside:12.1e} {depth:12.1e} "
              f"{np.abs(run.final.v).max():8.1e}", flush=True)  # fmt: skip
    big = [(math.log(n), math.log(t)) for n, t in rows if n >= 10]
    if len(big) > 1:
        print(f"exponent of the time for 10 spheres and more: {np.polyfit(*np.array(big).T, 1)[0]:.2f}")
    if len(rows) > 2:
        (a, s), (b, t) = rows[-2:]
        print(f"exponent between the last two: {math.log(t / s) / math.log(b / a):.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("largest", type=int, nargs="?", default=100)
    parser.add_argument("--falling", action="store_true")
    given = parser.parse_args()
    main(given.largest, given.falling)
