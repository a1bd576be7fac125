"""A Pinocchio robot over level ground as a model: what `routh.simulate` needs of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from routh.base.validation import Array, real, real_array
from routh.models.base import ContactInfo, WithImpacts
from routh.models.pinocchio.files import engine
from routh.models.pinocchio.impacts import DEFAULT_MU, friction, mass_matrix, point_jacobian
from routh.models.pinocchio.points import UP, Points, as_points, feet, placed
from routh.models.robot import distinct_names

if TYPE_CHECKING:
    from pinocchio import Model


_ROWS = [2, 0, 1]  # of world velocities: normal z, tangents x and y


class GroundedRobot(WithImpacts):
    """A robot whose named points can touch level ground.

    Velocities are Pinocchio's: those of a free-flyer are in the frame of its body. Joint limits, friction and
    damping in the joints do not act.

    Parameters
    ----------
    model : pinocchio.Model, of a fixed or floating base.
    points : frames, frames with radii, or `ContactPoint`s; default the ends of the limbs (`feet`).
    ground : height of the ground, m.
    mu : friction, a number or a mapping from contact names (others get 1).
    """

    nt = 2

    def __init__(
        self,
        model: Model,
        *,
        points: Points | None = None,
        ground: float = 0.0,
        mu: float | Mapping[str, float] = DEFAULT_MU,
    ) -> None:
        self.robot = model
        self._data = model.createData()
        self.points = feet(model) if points is None else as_points(model, points)
        self.ground = real("ground", ground)
        self.nq, self.nv = int(model.nq), int(model.nv)
        self._placed = placed(model, self.points)
        names = distinct_names([f"{point.name}/ground" for point in self._placed])
        self.contacts = tuple(
            ContactInfo(name, ("ground", point.name), friction(mu, name))
            for name, point in zip(names, self._placed, strict=True)
        )

    def mass(self, q: ArrayLike) -> Array:
        """Mass matrix with armature, (nv, nv)."""
        return mass_matrix(self.robot, self._data, self._q(q))

    def bias(self, q: ArrayLike, v: ArrayLike, u: ArrayLike | None = None) -> Array:
        """Coriolis and gravity forces less the generalized forces ``u`` (nv,), on the left side, (nv,)."""
        bias = engine().nonLinearEffects(self.robot, self._data, self._q(q), np.asarray(v, dtype=np.float64))
        if u is None:
            return np.array(bias)
        return np.asarray(bias - real_array("u", u, [(self.nv,)]))

    def gaps(self, q: ArrayLike) -> Array:
        """Heights of the points above the ground, (nc,) m."""
        data = self._data
        engine().framesForwardKinematics(self.robot, data, self._q(q))
        return np.array([point.surface(data)[2] - self.ground for point in self._placed])

    def jacobians(self, q: ArrayLike) -> tuple[Array, Array]:
        """``Jn (nc, nv)`` and ``Jt (nc, 2, nv)`` of the points that touch first."""
        pin, data = engine(), self._data
        pin.computeJointJacobians(self.robot, data, self._q(q))
        pin.updateFramePlacements(self.robot, data)
        J = np.zeros((len(self.points), 3, self.nv))
        for i, point in enumerate(self._placed):
            J[i] = point_jacobian(self.robot, data, point.joint, point.surface(data))[_ROWS]
        return J[:, 0], J[:, 1:]

    def jacobian_bias(self, q: ArrayLike, v: ArrayLike) -> Array:
        """``dJ/dt v``, normal first, (nc, 3) m/s^2: accelerations of the points where v is constant."""
        pin, data = engine(), self._data
        velocity = np.asarray(v, dtype=np.float64)
        pin.forwardKinematics(self.robot, data, self._q(q), velocity, np.zeros(self.nv))
        pin.updateFramePlacements(self.robot, data)
        world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        result = np.zeros((len(self.points), 3))
        for i, point in enumerate(self._placed):
            arm = data.oMf[point.frame].rotation @ point.offset
            spin = pin.getFrameVelocity(self.robot, data, point.frame, world).angular
            at = pin.getFrameClassicalAcceleration(self.robot, data, point.frame, world)
            turn, down = pin.skew(spin), arm - point.radius * UP
            # the lowest point of a sphere stays below its centre: only the arm to the centre turns
            result[i] = (at.linear + pin.skew(at.angular) @ down + turn @ (turn @ arm))[_ROWS]
        return result

    def integrate(self, q: ArrayLike, v: ArrayLike, dt: float) -> Array:
        """The configuration after moving with constant velocity ``v`` for ``dt``, (nq,)."""
        step = dt * np.asarray(v, dtype=np.float64)
        return np.array(engine().integrate(self.robot, self._q(q), step))

    def potential(self, q: ArrayLike) -> float:
        """Potential energy of gravity, J."""
        return float(engine().computePotentialEnergy(self.robot, self._data, self._q(q)))

    def __getstate__(self) -> dict[str, object]:
        """What is copied to other processes: not the work space."""
        return {name: value for name, value in self.__dict__.items() if name != "_data"}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._data = self.robot.createData()

    def _q(self, q: ArrayLike) -> Array:
        """The configuration, with unit quaternions: Pinocchio takes them for granted."""
        given = np.asarray(q, dtype=np.float64)
        return given if self.nq == self.nv else np.array(engine().normalize(self.robot, given))
