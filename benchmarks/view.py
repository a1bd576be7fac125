"""How often the viewer draws anew while something is dragged, measured on the server's side.

python benchmarks/view.py                       # ANYmal with 32 ghosts, if example-robot-data is installed
python benchmarks/view.py --source rocking-block
python benchmarks/view.py --profile
"""

import argparse
import cProfile
import pstats
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from robot_zoo import urdf_path

from routh.view import show


def drag(session, control, seconds):
    """Move a slider a hundred times a second; updates drawn and processor time spent."""
    low, high = control.low, control.high
    middle, reach = control.value, 0.05 * (high - low)
    begun, spent, updates = time.perf_counter(), time.process_time(), session.updates
    while (now := time.perf_counter() - begun) < seconds:
        session.panel.set(control.name, float(np.clip(middle + reach * np.sin(3.0 * now), low, high)))
        time.sleep(0.01)
    return (session.updates - updates) / now, (time.process_time() - spent) / max(session.updates - updates, 1)


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
        print(f"{'dragged':16} {'updates a second':>16} {'CPU ms an update':>17}")
        names = options.controls or [c.name for c in session.mechanism.controls][:5]
        for control in session.mechanism.controls:
            if control.name in names:
                rate, cost = drag(session, control, options.seconds)
                print(f"{control.name:16} {rate:16.1f} {1e3 * cost:17.1f}", flush=True)
                session.panel.set(control.name, control.value)
                time.sleep(0.5)
        if options.profile:
            profile = cProfile.Profile()
            profile.enable()
            for _ in range(20):
                session.refresh()
            profile.disable()
            pstats.Stats(profile).sort_stats("tottime").print_stats(25)


if __name__ == "__main__":
    main()
