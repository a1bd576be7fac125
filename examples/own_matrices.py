"""Your own impact from five arrays, kept in a file that ``routh impact problem.npz`` reads."""

import numpy as np

import routh

# a rod of 1 kg and 1 m lands on both ends at once; x and y of its centre, and its angle
problem = routh.ImpactProblem(
    M=np.diag([1.0, 1.0, 1.0 / 12.0]),
    Jn=[[0.0, 1.0, -0.5], [0.0, 1.0, 0.5]],
    Jt=[[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]],
    mu=[0.3, 0.3],
    v=[0.2, -1.0, 0.0],
    names=["left", "right"],
)
problem.save("problem.npz")
outcomes = routh.sample(problem, 2000, seed=1)
speeds = outcomes.contact_velocity[:, :, 0]
for name, fastest in zip(problem.names, speeds.max(axis=0), strict=True):
    print(f"the {name} end rises with up to {fastest:.3f} m/s")
print(f"energy left: {outcomes.kinetic_energy.min():.3f} to {outcomes.kinetic_energy.max():.3f} J")
