"""The cube on an elastic foundation (D19 5.5) against a stiff reference integrator, and its cost.

python benchmarks/constraints_foundation.py                # errors (Table 2), order, time a step (Table 1)
python benchmarks/constraints_foundation.py --duration 4   # the same when the vibrations have died out
python benchmarks/constraints_foundation.py --scaling      # time a step against the number of elements

The reference is SciPy's LSODA at tolerance 1e-8 of the deflections on the same springs,
``lambda = max(0, -K phi - B dphi/dt)``; errors are Euclidean norms over the seven coordinates.
With 100 elements (100 dampers of 1 N s/m) the cube still vibrates after 1 s; no first-order step of 1 ms can
follow that, so the error there is the amplitude that is left, and the order shows only afterwards.
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np
from numba import njit
from scipy.integrate import solve_ivp

from routh import systems

# D19 Table 2, absolute errors at h = 0.01; Table 1, seconds for 100 steps
TABLE_2 = {
    (5, 100, 1e7): 2.96e-5, (5, 100, 1e11): 2.91e-7, (5, 900, 1e7): 1.98e-5, (5, 900, 1e11): 2.71e-9,
    (50, 100, 1e7): 0.813, (50, 100, 1e11): 0.814, (50, 900, 1e7): 1.0e-2, (50, 900, 1e11): 1.0e-2,
}  # fmt: skip
TABLE_1 = {
    (5, 100, 1e7): 0.331, (5, 100, 1e11): 0.286, (5, 900, 1e7): 7.40, (5, 900, 1e11): 8.23,
    (50, 100, 1e7): 0.332, (50, 100, 1e11): 0.396, (50, 900, 1e7): 12.98, (50, 900, 1e11): 26.00,
}  # fmt: skip


@njit(cache=True)
def rate(t, y, x, K, B, load):
    """Cube of 8 kg and 1 m: y = (position, quaternion's vector, velocity, spin in the body's frame)."""
    a, b, c = y[3:6]
    w = math.sqrt(1.0 - a * a - b * b - c * c)
    n = np.array([2 * (a * c - w * b), 2 * (b * c + w * a), 1.0 - 2 * (a * a + b * b)])  # R^T e_z
    o = y[9:12]
    spin = np.array([o[1] * n[2] - o[2] * n[1], o[2] * n[0] - o[0] * n[2], o[0] * n[1] - o[1] * n[0]])
    force, tx, ty = 0.0, 0.0, 0.0
    level, sink = y[2] + a * a + b * b, y[8] + 0.5 * spin[2]
    for i in range(len(x)):
        phi = level + x[i, 0] * n[0] + x[i, 1] * n[1]  # the points lie at -1/2 in the body's frame
        phidot = sink - x[i, 0] * spin[0] - x[i, 1] * spin[1]
        push = -K * phi - B * phidot
        if push > 0.0:
            force += push
            tx += push * x[i, 0]
            ty += push * x[i, 1]
    fx = tx - load * 0.5 * math.cos(10 * t)
    fy = ty - load * 0.5 * math.sin(10 * t)
    fz = -0.5 * force - 0.5 * load
    inertia = 8.0 / 6.0
    out = np.empty(12)
    out[0:3] = y[6:9]
    out[3] = 0.5 * (w * o[0] + b * o[2] - c * o[1])
    out[4] = 0.5 * (w * o[1] + c * o[0] - a * o[2])
    out[5] = 0.5 * (w * o[2] + a * o[1] - b * o[0])
    out[6], out[7], out[8] = 0.0, 0.0, (force - load) / 8.0 - 9.81
    out[9] = (fy * n[2] - fz * n[1]) / inertia
    out[10] = (fz * n[0] - fx * n[2]) / inertia
    out[11] = (fx * n[1] - fy * n[0]) / inertia
    return out


def reference(load, elements, young, duration, *, rtol=1e-8):
    """The seven coordinates after ``duration``, with the height above that of the unloaded springs."""
    points = systems.get("cube-on-foundation", elements=elements).constraints[0].points
    size = 130.0 / young  # the deflection under weight and load, m
    scale = np.concatenate([np.full(6, size), np.full(6, size * math.sqrt(young))])
    run = solve_ivp(
        rate, (0.0, duration), np.zeros(12), method="LSODA", rtol=rtol, atol=rtol * scale,
        args=(points, young / elements, 1.0, float(load)), t_eval=[duration],
    )  # fmt: skip
    assert run.success, run.message
    y = run.y[:, -1]
    return np.concatenate([y[:3], [math.sqrt(1.0 - y[3:6] @ y[3:6])], y[3:6]])


def error(motion, truth):
    q = motion.final.q.copy()
    q[2] -= 0.5
    return np.linalg.norm(q - truth)


def timed(motion, **options):
    start = time.process_time()
    run = motion.run(**options)
    return run, (time.process_time() - start) / (len(run) - 1)


def errors(duration):
    print(f"after {duration:g} s; D19 gives errors after 1 s")
    heads = ["load", "elements", "E", "error .01", "D19", "error .001", "order", "ms/step", "D19 ms"]
    print("{:>5} {:>8} {:>6} | {:>9} {:>9} {:>10} {:>6} | {:>8} {:>7}".format(*heads))
    for (load, elements, young), published in TABLE_2.items():
        if duration > 1.0 and (elements > 100 or (load > 5 and young > 1e7)):
            continue  # 900 dampers leave no vibration; the rattling cube takes the reference an hour
        truth = reference(load, elements, young, duration)
        motion = systems.get("cube-on-foundation", load=float(load), elements=elements, young=young)
        coarse, cost = min((timed(motion, duration=duration) for _ in range(3)), key=lambda pair: pair[1])
        fine = motion.run(dt=1e-3, duration=duration)
        assert coarse.ok
        assert fine.ok
        one, two = error(coarse, truth), error(fine, truth)
        paper = 1e3 * TABLE_1[load, elements, young] / 100
        print(f"{load:5} {elements:8} {young:6.0e} | {one:9.2e} {published:9.2e} {two:10.2e} "
              f"{math.log10(one / two):6.2f} | {1e3 * cost:8.3f} {paper:7.2f}", flush=True)  # fmt: skip


def scaling():
    print(f"{'elements':>9} {'ms/step':>9} {'us/element':>10}")
    rows = []
    for side in (10, 30, 100, 300):
        motion = systems.get("cube-on-foundation", load=50.0, elements=side * side, young=1e11)
        duration = 0.2 if side < 300 else 0.05
        run, cost = min(
            (timed(motion, duration=duration, record_every=10) for _ in range(3)), key=lambda p: p[1]
        )
        cost *= (len(run) - 1) / round(duration / 0.01)
        assert run.ok
        rows.append((side * side, cost))
        print(f"{side * side:9} {1e3 * cost:9.3f} {1e6 * cost / side**2:10.3f}", flush=True)
    (n0, t0), (n1, t1) = rows[-2:]
    print(f"exponent between the last two: {math.log(t1 / t0) / math.log(n1 / n0):.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--scaling", action="store_true")
    parser.add_argument("--duration", type=float, default=1.0)
    options = parser.parse_args()
    scaling() if options.scaling else errors(options.duration)
