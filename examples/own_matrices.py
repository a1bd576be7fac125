"""Your own impact from five arrays, kept in a file that ``routh impact problem.npz`` reads."""

import numpy as np

import routh

# a table of 10 kg, moving forward, lands on two feet at once: 0.8 m below its centre, 0.4 and 0.6 m beside it
problem = routh.ImpactProblem(
    M=np.diag([10.0, 10.0, 2.0]),  # x and y of the centre, angle
    Jn=[[0.0, 1.0, -0.4], [0.0, 1.0, 0.6]],
    Jt=[[1.0, 0.0, 0.8], [1.0, 0.0, 0.8]],
    mu=[0.5, 0.5],
    v=[0.5, -1.0, 0.0],
    names=["rear", "front"],
)
problem.save("problem.npz")
outcomes = routh.sample(problem, 2000, seed=1)
print(f"ambiguity: {outcomes.ambiguity:.2f} of the speed before")
for row in outcomes.summary():
    print(f"{row.share:6.1%}  rear {row.modes[0]:9}  front {row.modes[1]}")
speeds = outcomes.contact_velocity[:, :, 0]
for name, fastest in zip(problem.names, speeds.max(axis=0), strict=True):
    print(f"the {name} foot rises with up to {fastest:.2f} m/s")
print(f"energy left: {outcomes.kinetic_energy.min():.2f} to {outcomes.kinetic_energy.max():.2f} J")
outcomes.plot().savefig("own_matrices.png", dpi=200)
