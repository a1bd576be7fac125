"""Contact stiffness from engineering: Hertz's contact and the elastic foundation."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from routh.base.status import InputError
from routh.base.validation import Array, real, real_array


def contact_modulus(
    young: float, poisson: float = 0.3, other_young: float | None = None, other_poisson: float = 0.3
) -> float:
    """``1 / E* = (1 - nu_1^2) / E_1 + (1 - nu_2^2) / E_2``, Pa; the other body is rigid where not given."""
    soft = (1.0 - real("poisson", poisson, at_least=-1.0, at_most=0.5) ** 2) / real("young", young, above=0.0)
    if other_young is not None:
        nu = real("other_poisson", other_poisson, at_least=-1.0, at_most=0.5)
        soft += (1.0 - nu**2) / real("other_young", other_young, above=0.0)
    return 1.0 / soft


def effective_radius(radius: float, other: float = math.inf) -> float:
    """``1 / R = 1 / R_1 + 1 / R_2``, m; the other surface is flat where not given."""
    curve = 1.0 / real("radius", radius, above=0.0)
    if other != math.inf:
        curve += 1.0 / real("other", other, above=0.0)
    return 1.0 / curve


class Hertz:
    """Spheres in contact: ``F = k d^(3/2)`` with ``k = 4/3 E* sqrt(R)``.

    D19 (121) leaves out the factor 4/3; ``Hertz(modulus, radius, factor=1.0)`` is its law.

    Parameters
    ----------
    modulus : contact modulus E*, Pa.
    radius : effective radius R, m.
    factor : of ``E* sqrt(R)`` in k.
    """

    def __init__(self, modulus: float, radius: float, *, factor: float = 4.0 / 3.0) -> None:
        modulus, radius = real("modulus", modulus, above=0.0), real("radius", radius, above=0.0)
        self.k = real("factor", factor, above=0.0) * modulus * math.sqrt(radius)  # N / m^(3/2)

    def force(self, depth: ArrayLike) -> Array:
        """Force at a penetration ``depth`` >= 0 (m), N."""
        return self.k * np.maximum(depth, 0.0) ** 1.5

    def depth(self, load: ArrayLike) -> Array:
        """Penetration under a load (N), m."""
        return (np.asarray(load, dtype=np.float64) / self.k) ** (2.0 / 3.0)

    def secant(self, load: float) -> float:
        """``F / d`` at a load (N), N/m: a linear spring of this stiffness yields as much under that load."""
        return real("load", load, above=0.0) / float(self.depth(load))

    def tangent(self, load: float) -> float:
        """``dF / dd = 3/2 F / d`` at a load (N), N/m: small vibrations about that load."""
        return 1.5 * self.secant(load)

    def law(self, smallest: float) -> Callable[[Array], Array]:
        """State-dependent stiffness for `Compliance`: secant ``k sqrt(d)`` at the gap (m).

        Never below that of the load ``smallest`` (N), since a spring that is soft at first touch would let
        the bodies pass into each other within a step.
        """
        least = self.secant(smallest)

        def stiffness(gaps: Array) -> Array:
            return np.maximum(self.k * np.sqrt(np.maximum(-gaps, 0.0)), least)

        return stiffness


def foundation_stiffness(young: float, area: ArrayLike, depth: float) -> Array:
    """Winkler's springs, D19 5.5: ``K = E A / depth`` for elements of the given areas (m^2), N/m."""
    areas = real_array("area", area, [(), (None,)], "a number or shape (n,)")
    return np.asarray(real("young", young, above=0.0) * areas / real("depth", depth, above=0.0))


def square_grid(side: float, count: int, height: float) -> Array:
    """Centres (count, 3) of equal elements, a square number, of a square with edge ``side`` at z = height."""
    n = math.isqrt(count)
    if n * n != count:
        raise InputError("count", got=count, wanted="a square number")
    centres = side * ((np.arange(n) + 0.5) / n - 0.5)
    x, y = np.meshgrid(centres, centres, indexing="ij")
    return np.stack([x.ravel(), y.ravel(), np.full(count, height)], axis=1)
