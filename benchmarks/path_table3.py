"""HP23's Table 3 with PATH 5.2 itself: why its counts of LCPs are not those of exact steps.

    pip install --no-deps --target /tmp/path gamspy-base
    PYTHONPATH=/tmp/path python benchmarks/path_table3.py --samples 1500

The wheel is for this measurement alone. See docs/measured/steps.md.
"""

import argparse

from measure import Table
from routh import systems
from routh.reproduce.hp23 import TABLE_3
from routh.reproduce.path_solver import PathMissingError, counted, library
from routh.sampling import sample_by_steps

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=1500)
    given = parser.parse_args()
    try:
        print(library().Path_Version().decode())
    except PathMissingError as error:
        raise SystemExit(str(error)) from None
    columns = {"system": "<16", "paper": ".2f", "exact": ".3f", "PATH, 1e-6": "<15", "stuck until N": ".1%"}
    table = Table({**columns, "of these without impulse": ".0%", "PATH, 1e-12": "<15", "W + 1e-15": "<12"})
    for name, (title, paper, *_) in TABLE_3.items():
        exact = sample_by_steps(systems.impact(name), 2**13, step=systems.get(name).paper.step)
        own, strict = (counted(name, given.samples, tolerance=tolerance) for tolerance in (None, 1e-12))
        other = [counted(name, given.samples // 3, tolerance=1e-12, last_bits=i).mean for i in range(6)]
        means = [f"{one.mean:.3f} ± {one.error:.3f}" for one in (own, strict)]
        share = own.still / own.stuck if own.stuck else None
        spread = f"{min(other):.2f} to {max(other):.2f}"
        table.row(title, paper, exact.steps.mean(), means[0], own.stuck, share, means[1], spread)
