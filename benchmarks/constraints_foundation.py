"""The cube on an elastic foundation (D19 5.5) against a stiff reference integrator, and its cost.

python benchmarks/constraints_foundation.py                  # errors (Table 2), order, time a step (Table 1)
python benchmarks/constraints_foundation.py --scaling        # time a step and memory by elements

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

import math
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from measure import Table, command_line, peak_memory, timed
from routh import systems
from routh.reproduce.d19 import PUBLISHED, errors_of, reference


def errors(rows):
    columns = {
        "load": "g",
        "elements": "d",
        "E": ".0e",
        "after 1 s, h = .01": ".2e",
        "D19": ".2e",
        "h = .001": ".2e",
    }
    columns |= {"order": ".2f", "averaged, h = .01": ".2e", "h = .001, averaged": ".2e", "its order": ".2f"}
    table = Table({**columns, "ms a step": ".3f", "D19's": ".2f"})
    for (load, elements, young), (published, seconds) in list(PUBLISHED.items())[:rows]:
        truth, mean = reference(load, elements, young)
        motion = systems.get("cube-on-foundation", load=load, elements=elements, young=young)
        coarse, cost = timed(motion.run, duration=1.0, repeats=3)
        fine = motion.run(dt=1e-3, duration=1.0)
        assert coarse.ok
        assert fine.ok
        (one, smooth), (two, smoother) = errors_of(coarse, truth, mean), errors_of(fine, truth, mean)
        found = one, published, two, math.log10(one / two), smooth, smoother, math.log10(smooth / smoother)
        table.row(load, elements, young, *found, 1e3 * cost / (len(coarse) - 1), 10 * seconds)


def cost(side):
    """Seconds a step and the memory that it takes (MB), of a process that has done nothing else but a few."""
    options = {"load": 50.0, "young": 1e11}
    systems.get("cube-on-foundation", elements=100, **options).run(duration=0.5, record_every=10)
    before, motion = peak_memory(), systems.get("cube-on-foundation", elements=side * side, **options)
    run, seconds = timed(motion.run, duration=0.5, record_every=10, repeats=3)
    assert run.ok
    return seconds / 50, peak_memory() - before  # steps of 0.01 s


def scaling(count):
    table = Table({"elements": "d", "ms a step": ".3f", "us an element": ".3f", "MB": ".1f"})
    rows = []
    for side in (10, 30, 100, 173, 317)[:count]:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as own:
            seconds, held = own.submit(cost, side).result()
        rows.append((side * side, seconds, held))
        table.row(side * side, 1e3 * seconds, 1e6 * seconds / side**2, held)
    if len(rows) > 2:
        (n0, *first), (n1, *last) = rows[2], rows[-1]
        time, memory = (math.log(b / a) / math.log(n1 / n0) for a, b in zip(first, last, strict=True))
        print(f"exponents from {n0} to {n1} elements: {time:.2f} of the time, {memory:.2f} of the memory")


if __name__ == "__main__":
    parser = command_line(__doc__)
    parser.add_argument("--scaling", action="store_true")
    parser.add_argument("--rows", type=int)
    options = parser.parse_args()
    scaling(options.rows) if options.scaling else errors(options.rows)
