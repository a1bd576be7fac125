"""One wide step of a walker: three simultaneous solutions, two sequences, and samples of the set."""

import routh

gait = routh.systems.impact("compass-gait")
for result in routh.laws.Simultaneous().all(gait):
    print("all at once  ", result.v.round(4), f"{result.kinetic_energy:.4f} J")
for order in (("A", "B"), ("B", "A")):
    print("first", order[0], "      ", routh.laws.Sequential(order=order)(gait).v.round(4))
outcomes = routh.sample(gait, 2000)
print(
    "samples: energy",
    outcomes.kinetic_energy.min().round(4),
    "to",
    outcomes.kinetic_energy.max().round(4),
    "J",
)
