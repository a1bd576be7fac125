"""A block falls flat on the ground: sample where it can go, and draw it."""

import routh

block = routh.systems.impact("rocking-block")
outcomes = routh.sample(block, 4096, seed=0)
for row in outcomes.summary():
    print(f"{row.share:6.1%}  A: {row.modes[0]:9} B: {row.modes[1]}")
outcomes.plot().savefig("rocking_block.png", dpi=200)
