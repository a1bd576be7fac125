"""Free bodies in space as real arrays, for compiled code; formulas as in `model` and `touch`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from routh.models.spatial.touch import ContactKinematics
from routh.validation import Array


class SpatialArrays(NamedTuple):
    """Everything that the equations of motion of nb free bodies with nc contacts need, without inputs."""

    weights: Array  # (nb, 3) N, on the left side
    inertias: Array  # (nb, 3, 3) kg m^2, bodies' frames
    bodies: np.ndarray  # (nc, 2) int64, the second -1 for a plane
    centres: Array  # (nc, 3) of the first side in its body's frame, m
    radii: Array  # (nc, 2) m
    points: Array  # (nc, 3) of the planes, m
    frames: Array  # (nc, 3, 3) of the planes, normal first


def spatial_arrays(touch: ContactKinematics, weights: Array, inertias: Array) -> SpatialArrays:
    """The parts of a model as arrays of their own."""
    bodies = np.stack([touch.first, np.full(len(touch.first), -1)], axis=1).astype(np.int64)
    bodies[touch.paired, 1] = touch.second[touch.paired]
    fixed = touch.centres, touch.radii, touch.plane_points, np.ascontiguousarray(touch.plane_frames)
    return SpatialArrays(np.ascontiguousarray(weights), inertias, bodies, *fixed)
