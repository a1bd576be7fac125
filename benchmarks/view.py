"""How often the viewer draws anew while something is dragged, measured on the server's side.

python benchmarks/view.py                       # ANYmal with 32 ghosts, if example-robot-data is installed
python benchmarks/view.py --source rocking-block
python benchmarks/view.py --profile
"""

import argparse
import cProfile
import os
import pstats
import time
from pathlib import Path

import numpy as np

from robot_zoo import urdf_path
from routh.view import show


def drag(session, control, seconds):
    """Move a slider fifty times a second; how many updates are drawn in a second."""
    low, high = control.low, control.high
    middle, reach = control.value, 0.05 * (high - low)
    begun, updates = time.perf_counter(), session.updates
    while (now := time.perf_counter() - begun) < seconds:
        session.panel.set(control.name, float(np.clip(middle + reach * np.sin(3.0 * now), low, high)))
        time.sleep(0.02)
    return (session.updates - updates) / now


def cost(session, control, count=20):
    """Processor time of one update while dragging, of all threads together, s."""
    spent = 0.0
    for k in range(count):
        session.panel._sliders[control.name]._impl.value = control.value + 0.002 * (k - count / 2)
        begun = time.process_time()
        session.refresh(session.draft())
        spent += time.process_time() - begun
    return spent / count


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", default="")
    parser.add_argument("--ghosts", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--controls", nargs="*", default=[])
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    source = options.source or str(urdf_path("anymal"))
    with show(source, ghosts=options.ghosts) as viewer:
        session = viewer.session
        while session.updates == 0:
            time.sleep(0.05)
        time.sleep(1.0)
        print(f"{Path(source).stem}: {options.ghosts} ghosts of {len(session.mechanism.parts)} solids")
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} (the first column suffers from it)")
        print(f"{'dragged':16} {'updates a second':>16} {'CPU ms an update':>17}")
        names = options.controls or [c.name for c in session.mechanism.controls][:5]
        for control in session.mechanism.controls:
            if control.name in names:
                rate = drag(session, control, options.seconds)
                print(f"{control.name:16} {rate:16.1f} {1e3 * cost(session, control):17.1f}", flush=True)
                session.panel.set(control.name, control.value)
                time.sleep(0.5)
        if options.profile:
            profile = cProfile.Profile()
            profile.enable()
            for _ in range(20):
                session.refresh(session.draft())
            profile.disable()
            pstats.Stats(profile).sort_stats("tottime").print_stats(25)


if __name__ == "__main__":
    main()
