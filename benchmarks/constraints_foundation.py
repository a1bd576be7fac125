"""The cube on an elastic foundation (D19 5.5) against a stiff reference integrator, and its cost.

python benchmarks/constraints_foundation.py                  # errors (Table 2), order, time a step (Table 1)
python benchmarks/constraints_foundation.py --scaling        # time a step against the number of elements

``--rows N``: only the first N of either table.

The reference is SciPy's LSODA at tolerance 1e-8 of the deflections on the same springs,
``lambda = max(0, -K phi - B dphi/dt)``. As in D19 the error at h = 0.01 is the Euclidean norm over the seven
coordinates after 1 s. That is no measure of the order: with 100 elements (100 dampers of 1 N s/m) the cube
starts to vibrate when it is loaded, at 1e3 to 1e5 rad/s, and still does after 1 s. Steps of 1 to 10 ms damp
that at once, so at one instant the error is mostly the phase of a vibration that neither step follows. The
order is that of the motion without it: coordinates averaged over the last 0.2 s with Hann's window, in which
the vibration drops out of the reference by a factor of 1e5 or more and the turning of the load (10 rad/s)
stays.
"""

from __future__ import annotations

import argparse
import math
import time

from routh import systems
from routh.reproduce.d19_foundation import PUBLISHED, errors_of, reference


def timed(motion, **options):
    start = time.process_time()
    run = motion.run(**options)
    return run, (time.process_time() - start) / (len(run) - 1)


def errors(rows):
    print(f"{'':22}|{'after 1 s':^38}|{'averaged':^26}|{'ms a step':^15}")
    heads = ["load", "elements", "E", "h = .01", "D19", "h = .001", "order", "h = .01", "h = .001", "order"]
    print("{:>5} {:>8} {:>6} | {:>9} {:>9} {:>9} {:>6} | {:>9} {:>9} {:>5} | ours, D19's".format(*heads))
    for (load, elements, young), (published, seconds) in list(PUBLISHED.items())[:rows]:
        truth, mean = reference(load, elements, young)
        motion = systems.get("cube-on-foundation", load=load, elements=elements, young=young)
        coarse, cost = min((timed(motion, duration=1.0) for _ in range(3)), key=lambda pair: pair[1])
        fine = motion.run(dt=1e-3, duration=1.0)
        assert coarse.ok
        assert fine.ok
        (one, smooth), (two, smoother) = errors_of(coarse, truth, mean), errors_of(fine, truth, mean)
        print(f"{load:5g} {elements:8} {young:6.0e} | {one:9.2e} {published:9.2e} {two:9.2e} "
              f"{math.log10(one / two):6.2f} | {smooth:9.2e} {smoother:9.2e} "
              f"{math.log10(smooth / smoother):5.2f} | {1e3 * cost:6.3f} {10 * seconds:7.2f}",
              flush=True)  # fmt: skip


def scaling(count):
    print(f"{'elements':>9} {'ms/step':>9} {'us/element':>10}")
    rows = []
    for side in (10, 30, 100, 317)[:count]:
        motion = systems.get("cube-on-foundation", load=50.0, elements=side * side, young=1e11)
        duration = 0.5
        run, cost = min(
            (timed(motion, duration=duration, record_every=10) for _ in range(3)), key=lambda p: p[1]
        )
        cost *= (len(run) - 1) / round(duration / 0.01)
        assert run.ok
        rows.append((side * side, cost))
        print(f"{side * side:9} {1e3 * cost:9.3f} {1e6 * cost / side**2:10.3f}", flush=True)
    if len(rows) > 1:
        (n0, t0), (n1, t1) = rows[-2:]
        print(f"exponent between the last two: {math.log(t1 / t0) / math.log(n1 / n0):.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--scaling", action="store_true")
    parser.add_argument("--rows", type=int)
    options = parser.parse_args()
    scaling(options.rows) if options.scaling else errors(options.rows)
