"""How a number that depends on a constrained step changes with the data of the step.

Everything follows from a few vectors of the adjoint solve. The matrices' parts are outer products, formed
only where they are asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from routh.constraints.system import ConstrainedSystem
from routh.validation import Array

_TANGENTIAL = ("tangential_stiffness", "tangential_damping", "deformation")


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

    numbers: ClassVar = ("phi", "stiffness", "damping", "bias")
    phi: Array
    stiffness: Array
    damping: Array
    bias: Array
    outer: dict[str, OuterRows] = field(repr=False)

    @property
    def G(self) -> Array:
        """(n, nv)."""
        return self.outer["G"].matrix


@dataclass(frozen=True, eq=False)
class ContactGradient:
    """With respect to a `Contact`; each array is shaped like the field of that name."""

    numbers: ClassVar = ("phi", "mu", "stiffness", "damping", *_TANGENTIAL, "bias")
    phi: Array
    mu: Array
    stiffness: Array
    damping: Array
    tangential_stiffness: Array
    tangential_damping: Array  # zero where the damper is D19's own: it is no number of the contact's then
    deformation: Array
    bias: Array
    outer: dict[str, OuterRows] = field(repr=False)

    @property
    def Jn(self) -> Array:
        """(nc, nv)."""
        return self.outer["Jn"].matrix

    @property
    def Jt(self) -> Array:
        """(nc, nt, nv)."""
        return self.outer["Jt"].matrix.reshape(*self.deformation.shape, -1)


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
            pairs = ((getattr(gradient, name), getattr(item, name)) for name in gradient.numbers)
            total += sum(float(np.vdot(worth, value)) for worth, value in pairs if value is not None)
            total += sum(rows.along(getattr(item, name)) for name, rows in gradient.outer.items())
        return total
