"""The billiards break of the README. Usage: python examples/readme_picture.py [FILE] [SAMPLES]"""

import sys

import routh
from routh.viz import style
from routh.viz.snapshots import futures_figure

path = sys.argv[1] if len(sys.argv) > 1 else "docs/images/readme.png"
samples = int(sys.argv[2]) if len(sys.argv) > 2 else 3000
system = routh.systems.get("billiards-break")
outcomes = routh.sample(system.problem, samples, seed=0)
print(style.save(futures_figure(system, outcomes), path, dpi=150))
