"""Stacks of 1 to 100 spheres, steel, 500 steps of 10 ms: time and growth (D19 Fig. 10).

python benchmarks/constraints_stack.py [largest]             # standing; contacts act where the gap is closed
python benchmarks/constraints_stack.py [largest] --falling   # from mid-air, 1 cm apart, gaps anticipated
"""

from __future__ import annotations

import math

import numpy as np

from measure import Table, command_line, timed
from routh import systems


def main(largest: int, falling: bool) -> None:
    counts = [n for n in (1, 5, 10, 20, 40, 60, 80, 100, 200, 400) if n <= largest]
    columns = {"spheres": "d", "seconds": ".2f", "ms a step": ".2f", "ok": "", "sideways (m)": ".1e"}
    table = Table({**columns, "deepest (m)": ".1e", "last m/s": ".1e"})
    rows = []
    for count in counts:
        motion = systems.get("sphere-stack", count=count, gap=0.01 if falling else 0.0, anticipate=falling)
        motion.run(duration=0.02)
        run, cost = timed(motion.run, duration=5.0, record_every=10)
        q = run.q.reshape(len(run), count, 7)
        depth = -run.deformations["contacts"][-1, :, 0].min()
        rows.append((count, cost))
        table.row(count, cost, 2 * cost, run.ok, np.abs(q[:, :, :2]).max(), depth, np.abs(run.final.v).max())
    big = [(math.log(n), math.log(t)) for n, t in rows if n >= 10]
    if len(big) > 1:
        print(f"exponent of the time for 10 spheres and more: {np.polyfit(*np.array(big).T, 1)[0]:.2f}")
    if len(rows) > 2:
        (a, s), (b, t) = rows[-2:]
        print(f"exponent between the last two: {math.log(t / s) / math.log(b / a):.2f}")


if __name__ == "__main__":
    parser = command_line(__doc__)
    parser.add_argument("largest", type=int, nargs="?", default=100)
    parser.add_argument("--falling", action="store_true")
    given = parser.parse_args()
    main(given.largest, given.falling)
