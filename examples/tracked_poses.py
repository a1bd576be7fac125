"""From a csv of tracked poses to friction, restitution, and predicted against measured velocities.

    python examples/tracked_poses.py [tosses.csv]

Columns: toss, t (s), x, y, z (m), and the quaternion w x y z of a box over the table z = 0, one row a frame.
Each toss has one impact, in the middle of its frames, with flight before and after. Without a file, `made_up`
tosses are taken: of a box with friction 0.25 and restitution 0.5, tracked to a tenth of a millimetre.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import routh
from routh.identification import MeasuredImpacts, TossedBox, identify
from routh.models.rotations import exponential, multiply, rotation_matrices
from routh.models.spatial import corners

SIZE, MASS, INERTIA, FALL = np.array([0.1, 0.08, 0.06]), 0.5, np.array([4e-4, 6e-4, 7e-4]), [0, 0, 9.81]


def tossed(poses, before):
    """Impacts of the box: corners within 3 mm of the lowest take part."""
    turns = rotation_matrices(poses[:, 3:])
    return TossedBox(SIZE, turns, before, INERTIA, within=0.003, known={"mass": MASS})


def flight(pose, v, t):
    """Poses (k, 7) at times t (k,) after a pose and velocity: m/s, and rad/s in the body's frame."""
    x = pose[:3] + np.outer(t, v[:3]) - np.outer(t**2 / 2, FALL)
    return np.column_stack([x, multiply(np.tile(pose[3:], (len(t), 1)), exponential(np.outer(t, v[3:])))])


def made_up(rng, n=60):
    """Rows of a csv: boxes that fall on whatever corners come first, each with one of its outcomes."""
    turns = exponential(rng.normal(0, 0.25, (n, 3)))
    heights = -(rotation_matrices(turns) @ np.array(corners(SIZE)).T)[:, 2].min(axis=1)
    poses = np.column_stack([np.zeros((n, 2)), heights, turns])
    before = rng.normal([0, 0, -1.3, 0, 0, 0], [0.4, 0.4, 0.2, 2, 2, 2], (n, 6))
    after = routh.sample(tossed(poses, before)({"mu": 0.25, "restitution": 0.5}), 1, seed=3).v[:, 0]
    t, rows = (np.arange(16) - 7.5) / 150, []
    for k in range(n):
        path = np.vstack([flight(poses[k], before[k], t[:8]), flight(poses[k], after[k], t[8:])])
        path[:, :3] += rng.normal(0, 1e-4, (16, 3))
        rows.append(np.column_stack([np.full(16, k), t, path]))
    return np.concatenate(rows)


# from here on, thirty lines


def velocity(t, path):
    """At time 0, from poses in flight: a line through the places, and the mean turn between frames."""
    places = path[:, :3] + np.outer(t**2 / 2, FALL)
    turns = multiply(path[:-1, 3:] * [1, -1, -1, -1], path[1:, 3:])
    turning = 2 * turns[:, 1:] * np.sign(turns[:, :1]) / np.diff(t)[:, None]
    return np.append(np.polyfit(t, places, 1)[0], turning.mean(axis=0))


given = sys.argv[1:]
table = np.loadtxt(given[0], delimiter=",", skiprows=1) if given else made_up(np.random.default_rng(0))
found = []
for toss in np.unique(table[:, 0]):
    t, path = table[table[:, 0] == toss, 1], table[table[:, 0] == toss, 2:]
    half = len(t) // 2  # frames before the impact
    t = t - (t[half - 1] + t[half]) / 2
    before, after = velocity(t[:half], path[:half]), velocity(t[half:], path[half:])
    found.append((flight(path[half - 1], before, -t[half - 1 : half])[0], before, after))
poses, before, after = map(np.array, zip(*found, strict=True))
box = tossed(poses, before)
ranges = {"mu": (0.05, 0.8), "restitution": (0.05, 0.95)}
fitted = identify(MeasuredImpacts(box, after), ranges, n=32, noise=[0.005] * 3 + [0.02] * 3)
print(fitted.report())
predicted = routh.sample(box(fitted.values), 256).v
figure, axes = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
for axis, k, name in zip(axes, (2, 3), ("upwards, m/s", "about the box's x axis, rad/s"), strict=True):
    low, middle, high = np.quantile(predicted[:, :, k], [0.05, 0.5, 0.95], axis=1)
    axis.errorbar(after[:, k], middle, [middle - low, high - middle], fmt=".", label="90 % of the outcomes")
    axis.axline((0, 0), slope=1, color="0.5", lw=1)
    axis.set(xlabel=f"measured {name}", ylabel=f"predicted {name}")
axes[0].legend()
figure.savefig("tracked_poses.png", dpi=150)
