"""Planar mechanisms with contacts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from routh.base.status import no_such
from routh.base.validation import Array, real_array
from routh.models.base import ContactInfo, WithImpacts, vector
from routh.models.planar.bodies import Body, Contact, Free, FreePoint
from routh.models.planar.kinematics import BodyTree, Complex, PlanarArrays, PlanarKinematics, planar_arrays

GRAVITY = (0.0, -9.81)  # m/s^2


class PlanarModel(WithImpacts):
    """Bodies in the plane, floating or joined in trees, with named contacts.

    Beside the protocol it keeps ``bodies``, ``coordinates`` and ``definitions`` (the contacts as given), and
    offers what drawing needs. The velocity is the rate of the configuration, ``v = dq/dt``, so ``nq == nv``.

    Parameters
    ----------
    bodies : parents before children; they fix the order of the coordinates (see ``coordinates``).
    contacts : `PlaneContact` and `DiscContact`, with distinct names.
    gravity : (2,) m/s^2.
    actuated : coordinates on which the inputs ``u`` (N or N m) act; default: those of all joints.
    """

    nt = 1

    def __init__(
        self,
        bodies: Sequence[Body],
        contacts: Sequence[Contact] = (),
        *,
        gravity: ArrayLike = GRAVITY,
        actuated: Sequence[str] | None = None,
    ) -> None:
        tree = BodyTree(bodies)
        self.bodies = tree.bodies
        self.coordinates = tuple(tree.coordinates)
        self.nq = self.nv = tree.nv
        self.actuated = self._actuated(actuated)
        self._gravity = complex(*real_array("gravity", gravity, [(2,)]))
        self._input = np.eye(self.nv)[:, [self.coordinates.index(name) for name in self.actuated]]

        heavy = [body for body in bodies if body.mass > 0.0]
        self._masses = np.array([body.mass for body in heavy])
        self._coms = tree.points([(body.name, body.com) for body in heavy])
        angular = tree.angles([body.name for body in bodies])
        inertia = np.array([body.inertia for body in bodies])
        self._spin = angular.T @ (inertia[:, None] * angular)  # constant share of the mass matrix
        rest = np.zeros(self.nv)
        self._constant = (self._mass(rest), self._forces(rest, rest)) if self._coms.fixed else None
        self._frames = tree.points([(body.name, (0.0, 0.0)) for body in bodies])
        self._angles = angular
        self._offsets = np.array([tree.frames[body.name].offset for body in bodies])
        self.definitions = tuple(contacts)
        self.contacts: tuple[ContactInfo, ...] = tuple(contact.info for contact in contacts)
        self._touch = PlanarKinematics(tree, contacts)

    @cached_property
    def arrays(self) -> PlanarArrays:
        """The mechanism as real arrays, for compiled code."""
        return planar_arrays(self._coms, self._touch, self._masses, self._spin, self._gravity)

    def mass(self, q: ArrayLike) -> Array:
        """Mass matrix, (nv, nv)."""
        return self._mass(vector(q)) if self._constant is None else self._constant[0].copy()

    def bias(self, q: ArrayLike, v: ArrayLike, u: ArrayLike | None = None) -> Array:
        """``M dv/dt + bias = J^T lambda``: Coriolis and gravity forces less the inputs, (nv,)."""
        forces = self._forces(vector(q), vector(v)) if self._constant is None else self._constant[1].copy()
        return forces if u is None else forces - self.input_forces(u)

    def input_forces(self, u: ArrayLike) -> Array:
        """Generalised forces of inputs, (nv,)."""
        return self._input @ vector(u)

    def gaps(self, q: ArrayLike) -> Array:
        """Signed distances, (nc,) m."""
        return self._touch.gaps(vector(q))

    def jacobians(self, q: ArrayLike) -> tuple[Array, Array]:
        """``Jn (nc, nv)`` and ``Jt (nc, 1, nv)``; the tangent is the normal turned by -90 degrees."""
        return self._touch.jacobians(vector(q))

    def jacobian_bias(self, q: ArrayLike, v: ArrayLike) -> Array:
        """``dJ/dt v``, normal first, (nc, 2) m/s^2."""
        return self._touch.jacobian_bias(vector(q), vector(v))

    def integrate(self, q: ArrayLike, v: ArrayLike, dt: float) -> Array:
        """``q + dt v``, (nq,)."""
        return vector(q) + dt * vector(v)

    def potential(self, q: ArrayLike) -> float:
        """Potential energy of gravity, J."""
        positions = self._coms.positions(vector(q))
        return -float(self._masses @ (self._gravity.conjugate() * positions).real)

    def energies(self, q: Array, v: Array) -> dict[str, Array]:
        """Energies at many states (T, nv) each, J: "kinetic" and "potential", (T,)."""
        height = (self._gravity.conjugate() * self._coms.positions(q)).real
        if self._constant is None:
            kinetic = np.array([0.5 * w @ self._mass(p) @ w for p, w in zip(q, v, strict=True)])
        else:
            kinetic = 0.5 * np.einsum("ti,ij,tj->t", v, self._constant[0], v)
        return {"kinetic": kinetic, "potential": -(height @ self._masses)}

    def poses(self, q: ArrayLike) -> Array:
        """Position (m) and angle (rad) of each body's frame, (nb, 3)."""
        q = vector(q)
        origins = self._frames.positions(q)
        return np.stack([origins.real, origins.imag, self._angles @ q + self._offsets], axis=1)

    def outlines(self, q: ArrayLike) -> list[tuple[str, Array]]:
        """Pairs (body, polyline (k, 2) in world coordinates, m), for drawing."""
        result = []
        for body, (x, y, angle) in zip(self.bodies, self.poses(q), strict=True):
            c, s = np.cos(angle), np.sin(angle)
            turn = np.array([[c, s], [-s, c]])
            result += [(body.name, line @ turn + [x, y]) for line in body.outline]
        return result

    def contact_points(self, q: ArrayLike) -> Array:
        """The point of the (first) body that is nearest to touching, (nc, 2) m."""
        return _vectors(self._touch.points(vector(q)))

    def contact_normals(self, q: ArrayLike) -> Array:
        """Unit normals of all contacts in world coordinates, (nc, 2)."""
        return _vectors(self._touch.normals(vector(q)))

    def centres_of_mass(self, q: ArrayLike) -> Array:
        """Centres of mass of the bodies that have mass, (k, 2) m."""
        return _vectors(self._coms.positions(vector(q)))

    def centre_jacobians(self, q: ArrayLike) -> Array:
        """Velocities of the centres of mass per unit of each velocity, (k, 2, nv)."""
        return _vectors(self._coms.jacobian(vector(q)))

    def _mass(self, q: Array) -> Array:
        J = self._coms.jacobian(q)
        return ((J.conj().T * self._masses) @ J).real + self._spin

    def _forces(self, q: Array, v: Array) -> Array:
        """Coriolis and gravity forces; bodies in the plane have no gyroscopic ones."""
        acceleration = self._coms.acceleration(q, v) - self._gravity
        return (self._coms.jacobian(q).conj().T @ (self._masses * acceleration)).real.copy()

    def _actuated(self, names: Sequence[str] | None) -> tuple[str, ...]:
        joints = [body.name for body in self.bodies if not isinstance(body.joint, Free | FreePoint)]
        if names is None:
            return tuple(name for name in self.coordinates if name.rsplit(".", 1)[0] in joints)
        for name in names:
            if name not in self.coordinates:
                raise no_such("actuated", name, self.coordinates)
        return tuple(names)

    def __repr__(self) -> str:
        return f"PlanarModel(nv={self.nv}, bodies={len(self.bodies)}, contacts={len(self.contacts)})"


def _vectors(values: Complex) -> Array:
    """Complex numbers (n, ...) as vectors in the plane, (n, 2, ...)."""
    return np.stack([values.real, values.imag], axis=1)
