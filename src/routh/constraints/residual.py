"""How well forces obey their laws, computed from the forces and the data alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routh.constraints.system import ActingRows
from routh.friction import project_disc
from routh.validation import Array


@dataclass(frozen=True)
class Residuals:
    """Scaled residuals by law; a share of the largest force in the step.

    The residual of a row is the change of its own force that would satisfy its law with the other forces
    held: the distance of its force from the law, over ``1 + X (G M^-1 G^T)_ii``.
    """

    bilateral: float
    unilateral: float
    normal: float
    friction: float

    @property
    def largest(self) -> float:
        """The largest of the four; NaN where any of them is."""
        return float(np.max([self.bilateral, self.unilateral, self.normal, self.friction]))


def residuals_of(rows: ActingRows, force: Array) -> Residuals:
    """Residuals of flat forces (n,) against the spring law, its one-sided form, and Coulomb's law."""
    rate = rows.w + rows.h * (rows.G @ rows.acceleration(force))
    law = -rows.K * rows.phi - (rows.X / rows.h) * rate
    weight = 1.0 / (1.0 + rows.X * rows.a)
    # one step for the tangents of a contact, or a sliding force would be turned
    tangents = weight[rows.tangents].reshape(rows.nc, rows.nt)
    weight[rows.tangents] = np.repeat(tangents.min(axis=1, initial=1.0), rows.nt)
    moved = force - weight * (force - law)
    nb, nu = rows.nb, rows.nu
    scale = force_scale(rows, force)
    error = np.abs(force - moved)
    error[nb:] = np.abs(force - np.maximum(moved, 0.0))[nb:]
    normal = force[rows.normals]
    tangential = force[rows.tangents].reshape(rows.nc, rows.nt)
    held = project_disc(moved[rows.tangents].reshape(rows.nc, rows.nt), rows.mu * np.maximum(normal, 0.0))
    friction = np.linalg.norm(tangential - held, axis=1)
    return Residuals(
        bilateral=float(error[:nb].max(initial=0.0)) / scale,
        unilateral=float(error[nb : nb + nu].max(initial=0.0)) / scale,
        normal=float(error[rows.normals].max(initial=0.0)) / scale,
        friction=float(friction.max(initial=0.0)) / scale,
    )


def force_scale(rows: ActingRows, force: Array) -> float:
    """The largest force, or what a row alone would need to stop the motion and undo its deformation; N.

    The speed in it is that of the mechanism: a row across which nothing moves still sees its rounding.
    1 where all is at rest.
    """
    speed = abs(rows.G) @ np.abs(rows.v_free) + rows.h * np.abs(rows.gamma)
    alone = (rows.K * np.abs(rows.phi) + rows.X / rows.h * speed) / (1.0 + rows.X * rows.a)
    scale = max(np.abs(force).max(initial=0.0), alone.max(initial=0.0))
    return float(scale) if scale != 0.0 else 1.0
