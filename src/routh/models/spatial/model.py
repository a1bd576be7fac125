"""Free rigid bodies in space with contacts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from routh.base.status import InputError
from routh.base.validation import Array, real_array
from routh.models.base import ContactInfo, WithImpacts, vector
from routh.models.rotations import apply, cross, exponential, multiply, rotation_matrices
from routh.models.spatial.bodies import Body, Contact
from routh.models.spatial.kinematics import SpatialArrays, SpatialKinematics, spatial_arrays

if TYPE_CHECKING:
    from scipy.sparse import csr_array

GRAVITY = (0.0, 0.0, -9.81)  # m/s^2


class SpatialModel(WithImpacts):
    """Free rigid bodies in space, with named contacts.

    A body has seven coordinates, its centre of mass (m, world frame) and a unit quaternion (w, x, y, z) from
    the body's frame to the world's, and six velocities: linear in the world frame (m/s), then angular in the
    body's frame (rad/s), as MuJoCo's free joint has them.

    Parameters
    ----------
    bodies : with distinct names.
    contacts : `PlaneContact` and `SphereContact`, with distinct names.
    gravity : (3,) m/s^2.
    """

    nt = 2

    def __init__(
        self, bodies: Sequence[Body], contacts: Sequence[Contact] = (), *, gravity: ArrayLike = GRAVITY
    ) -> None:
        names = [body.name for body in bodies]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise InputError("bodies", wrong=f"{twice[0]!r} appears twice", wanted="distinct names")
        self.bodies = tuple(bodies)
        self.nq, self.nv = 7 * len(names), 6 * len(names)
        self.definitions = tuple(contacts)
        self.contacts: tuple[ContactInfo, ...] = tuple(contact.info for contact in contacts)
        self._touch = SpatialKinematics(bodies, contacts)
        self._masses = np.array([body.mass for body in bodies])
        self._inertias = np.array([body.inertia for body in bodies]).reshape(-1, 3, 3)
        self._gravity = real_array("gravity", gravity, [(3,)])
        self._weights = -self._masses[:, None] * self._gravity  # on the left side, (nb, 3)
        self._mass = np.zeros((self.nv, self.nv))
        for i, body in enumerate(bodies):
            self._mass[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = body.mass * np.eye(3)
            self._mass[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = body.inertia

    @cached_property
    def arrays(self) -> SpatialArrays:
        """The bodies as arrays, for compiled code."""
        return spatial_arrays(self._touch, self._weights, self._inertias)

    def mass(self, q: ArrayLike) -> Array:
        """Mass matrix, (nv, nv); constant, since angular velocities are in the bodies' frames."""
        return self._mass.copy()

    def bias(self, q: ArrayLike, v: ArrayLike, u: ArrayLike | None = None) -> Array:
        """``M dv/dt + bias = J^T lambda``: gravity and gyroscopic terms less the inputs, (nv,).

        The inputs ``u`` (nv,) are forces in the world frame and torques in the bodies' frames.
        """
        spin = vector(v).reshape(-1, 6)[:, 3:]
        result = np.empty((len(spin), 6))
        result[:, :3] = self._weights
        result[:, 3:] = cross(spin, apply(self._inertias, spin))  # w x I w
        return result.ravel() if u is None else result.ravel() - self.input_forces(u)

    def input_forces(self, u: ArrayLike) -> Array:
        """Generalised forces of inputs: the inputs themselves, (nv,)."""
        return vector(u)

    def gaps(self, q: ArrayLike) -> Array:
        """Signed distances, (nc,) m."""
        return self._touch.gaps(*self._poses(q))

    def jacobians(self, q: ArrayLike) -> tuple[Array, Array]:
        """``Jn (nc, nv)`` and ``Jt (nc, 2, nv)``; the tangents are those of `rotations.tangents`."""
        return self._touch.jacobians(*self._poses(q))

    def sparse_mass(self, q: ArrayLike) -> csr_array:
        """The mass matrix with its zeros left out, (nv, nv)."""
        return self._sparse_mass

    @cached_property
    def _sparse_mass(self) -> csr_array:
        from scipy.sparse import csr_array

        return csr_array(self._mass)

    def sparse_jacobians(self, q: ArrayLike) -> tuple[csr_array, csr_array]:
        """``Jn (nc, nv)`` and ``Jt (2 nc, nv)``, contact by contact, with their zeros left out."""
        return self._touch.sparse_jacobians(*self._poses(q))

    def jacobian_bias(self, q: ArrayLike, v: ArrayLike) -> Array:
        """``dJ/dt v``, normal first, (nc, 3) m/s^2."""
        return self._touch.jacobian_bias(*self._poses(q), vector(v).reshape(-1, 6))

    def integrate(self, q: ArrayLike, v: ArrayLike, dt: float) -> Array:
        """Positions move straight, quaternions by the exponential map and are normalised, (nq,)."""
        result = np.array(q, dtype=np.float64).reshape(-1, 7)
        rates = vector(v).reshape(-1, 6)
        result[:, :3] += dt * rates[:, :3]
        turned = multiply(result[:, 3:], exponential(dt * rates[:, 3:]))
        result[:, 3:] = turned / np.sqrt((turned * turned).sum(axis=1))[:, None]
        return result.ravel()

    def potential(self, q: ArrayLike) -> float:
        """Potential energy of gravity, J."""
        return float((self._weights * vector(q).reshape(-1, 7)[:, :3]).sum())

    def poses(self, q: ArrayLike) -> Array:
        """Position (m) and unit quaternion (w, x, y, z) of each body, (nb, 7)."""
        result = np.array(q, dtype=np.float64).reshape(-1, 7)
        result[:, 3:] /= np.linalg.norm(result[:, 3:], axis=1, keepdims=True)
        return result

    def rotations(self, q: ArrayLike) -> Array:
        """Rotation matrices from the bodies' frames to the world's, (nb, 3, 3)."""
        return self._poses(q)[1]

    def contact_points(self, q: ArrayLike) -> Array:
        """The point of the (first) body that is nearest to touching, (nc, 3) m."""
        return self._touch.points(*self._poses(q))

    def _poses(self, q: ArrayLike) -> tuple[Array, Array]:
        coordinates = vector(q).reshape(-1, 7)
        return coordinates[:, :3], rotation_matrices(coordinates[:, 3:])

    def __repr__(self) -> str:
        return f"SpatialModel(nv={self.nv}, bodies={len(self.bodies)}, contacts={len(self.contacts)})"
