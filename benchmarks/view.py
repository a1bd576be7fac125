"""How often the viewer draws anew while something is dragged, measured on the server's side.

python benchmarks/view.py                       # ANYmal with 32 ghosts, if example-robot-data is installed
python benchmarks/view.py --source rocking-block
"""

import time
from pathlib import Path

import numpy as np

from measure import Table, command_line, machine, timed
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
        spent += timed(lambda: session.refresh(session.draft()))[1]
    return spent / count


def main():
    parser = command_line(__doc__)
    parser.add_argument("--source", default="")
    parser.add_argument("--ghosts", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=5.0)
    options = parser.parse_args()
    source = options.source or str(urdf_path("anymal"))
    with show(source, ghosts=options.ghosts) as viewer:
        session = viewer.session
        while session.updates == 0:
            time.sleep(0.05)
        time.sleep(1.0)
        print(f"{Path(source).stem}: {options.ghosts} ghosts of {len(session.mechanism.parts)} solids")
        print(f"{machine()} (the first column suffers from load)\n")
        table = Table({"dragged": "<16", "updates a second": ".1f", "CPU ms an update": ".1f"})
        for control in session.mechanism.controls[:5]:
            table.row(control.name, drag(session, control, options.seconds), 1e3 * cost(session, control))
            session.panel.set(control.name, control.value)
            time.sleep(0.5)


if __name__ == "__main__":
    main()
