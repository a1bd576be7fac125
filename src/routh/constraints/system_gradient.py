"""How a number that depends on a constrained step changes with the data of the step.

Everything follows from a few vectors of the adjoint solve. The matrices' parts are outer products, formed
only where they are asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from routh.constraints.system import ConstrainedSystem
from routh.constraints.types import Bilateral, Constraint, Contact, Unilateral
from routh.validation import Array


@dataclass(frozen=True, eq=False)
class OuterRows:
    """Derivative with respect to the rows ``G`` of a constraint: ``force w^T - slope v^T``."""

    force: Array  # (n,) of the rows
    slope: Array  # (n,) what a rate of the row is worth
    w: Array  # (nv,) what a force is worth
    v: Array  # (nv,) velocity after

    @property
    def matrix(self) -> Array:
        """(n, nv)."""
        return np.outer(self.force, self.w) - np.outer(self.slope, self.v)

    def along(self, G: object) -> float:
        """The inner product with rows ``G``, dense or sparse."""
        return float(self.force @ (G @ self.w) - self.slope @ (G @ self.v))  # type: ignore[operator]


@dataclass(frozen=True, eq=False)
class RowsGradient:
    """With respect to a `Bilateral` or `Unilateral`; each array is shaped like the field of that name."""

    phi: Array
    stiffness: Array
    damping: Array
    bias: Array
    rows: OuterRows = field(repr=False)

    @property
    def G(self) -> Array:
        """(n, nv)."""
        return self.rows.matrix

    def along(self, item: Bilateral | Unilateral) -> float:
        """The inner product with all numbers of a constraint."""
        plain = self.phi @ item.phi + self.stiffness @ item.stiffness + self.damping @ item.damping
        return float(plain + self.bias @ item.bias) + self.rows.along(item.G)


@dataclass(frozen=True, eq=False)
class ContactGradient:
    """With respect to a `Contact`; each array is shaped like the field of that name."""

    phi: Array
    mu: Array
    stiffness: Array
    damping: Array
    tangential_stiffness: Array
    tangential_damping: Array  # zero where the damper is D19's own: it is no number of the contact's then
    deformation: Array
    bias: Array
    normals: OuterRows = field(repr=False)
    tangents: OuterRows = field(repr=False)

    @property
    def Jn(self) -> Array:
        """(nc, nv)."""
        return self.normals.matrix

    @property
    def Jt(self) -> Array:
        """(nc, nt, nv)."""
        return self.tangents.matrix.reshape(*self.deformation.shape, -1)

    def along(self, contact: Contact) -> float:
        """The inner product with all numbers of a contact."""
        plain = self.phi @ contact.phi + self.mu @ contact.mu
        plain += self.stiffness @ contact.stiffness + self.damping @ contact.damping
        plain += self.tangential_stiffness @ contact.tangential_stiffness
        if contact.tangential_damping is not None:
            plain += self.tangential_damping @ contact.tangential_damping
        plain += np.vdot(self.deformation, contact.deformation) + np.vdot(self.bias, contact.bias)
        return float(plain) + self.normals.along(contact.Jn) + self.tangents.along(contact.Jt)


@dataclass(frozen=True, eq=False)
class SystemGradient:
    """With respect to a `ConstrainedSystem`; each array is shaped like the field of that name.

    Parameters
    ----------
    f : (nv,), forces. Inputs enter here: of ``f = f_0 + B u`` the gradient is ``B^T f``.
    v : (nv,), the velocity before.
    dt : the step.
    constraints : one each, in their order.
    """

    f: Array
    v: Array
    dt: float
    constraints: tuple[RowsGradient | ContactGradient, ...]
    change: Array = field(repr=False)  # (nv,) of the velocity in the step
    h: float = field(repr=False)

    @cached_property
    def M(self) -> Array:
        """(nv, nv), for changes of the mass matrix that keep it symmetric; symmetric itself."""
        half = np.outer(self.f / self.h, self.change)
        return -0.5 * (half + half.T)

    def along(self, system: ConstrainedSystem) -> float:
        """The inner product with all numbers of a system of the same shape, but its velocity and step.

        Its change from one system to a nearby one is, to first order, that of the number differentiated.
        """
        total = float(self.f @ system.f - (self.f / self.h) @ (system.M @ self.change))
        for gradient, item in zip(self.constraints, system.constraints, strict=True):
            total += _along(gradient, item)
        return total


def _along(gradient: RowsGradient | ContactGradient, item: Constraint) -> float:
    if isinstance(gradient, ContactGradient):
        assert isinstance(item, Contact)
        return gradient.along(item)
    assert not isinstance(item, Contact)
    return gradient.along(item)
