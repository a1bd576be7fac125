"""JW17's collisions: icosahedron and tetrahedron, bowling pin and ball, a sphere on a half-space.

JW17 does not give the bodies' rotations, so the contact velocities cannot be computed from its text. Those
here were recovered from the published total impulses: both impacts end in stick, which fixes the tangential
components, and the energy at the end fixes the normal one. The variations change the friction and body 1's
velocity, which shifts the contact velocity by as much.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from routh.base.validation import Array, choice, real, real_array
from routh.problem.impact import ImpactProblem
from routh.systems.base import System, catalogued, register


@dataclass(frozen=True)
class Variation:
    """One of the paper's instances of a collision."""

    mu: float
    velocity: tuple[float, float, float]  # of body 1 before, m/s
    events: str | None  # the order that its caption or text states


# JW17 (13) and section 6.4; the printed halves differ in the sixth digit, the upper one gives (15)
ICOSAHEDRON_W = ((11.5984, -0.910367, 2.44236), (-0.910367, 9.90134, 1.95747), (2.44236, 1.95747, 2.59042))
BOWLING_W = (
    (1.55465, 0.00238675, -0.360808),
    (0.00238675, 5.15191, -0.00313296),
    (-0.360808, -0.00313296, 1.105),
)
ICOSAHEDRON_V = np.array([-0.26197634, 0.38632873, -0.0768551988])
BOWLING_V = np.array([-0.20691338, 0.11765509, -1.50690298])
ICOSAHEDRON_MASSES = (3.0, 1.0)
ICOSAHEDRON_HEIGHT = 0.232744  # m, of its centre above the contact
ICOSAHEDRON_INERTIA = 0.0671673  # kg m^2, about every axis

#: Figs. 4, 7 and 10, with e = 0.95
ICOSAHEDRON_VARIATIONS = {
    "4a": Variation(0.8, (-0.1, 0.5, 0.95), "csr"),
    "4b": Variation(0.4, (-0.1, 0.5, 0.2), "lscr"),
    "4c": Variation(0.25, (-0.1, 0.5, 0.2), "clr"),
    "4d": Variation(3.0, (-0.1, 0.5, 0.5), "scr"),
    "7": Variation(0.25, (-0.7, -0.35, -0.5), "scr"),
    "10a": Variation(0.35, (-0.1, 0.5, 0.2), "lcsr"),
    "10b": Variation(0.25, (-0.1, 0.5, -1.0), "lcr"),
    "10c": Variation(0.55, (-0.1, 0.5, 0.9), "clsr"),
}


@register("icosahedron-tetrahedron")
def icosahedron_tetrahedron(
    *,
    figure: str = "4a",
    mu: float | None = None,
    restitution: float = 0.95,
    velocity: ArrayLike | None = None,
) -> System:
    """An icosahedron hits a tetrahedron's vertex (JW17 Fig. 3) in contact coordinates x, y, normal.

    ``figure`` picks one of the paper's instances, "4a" (as in Fig. 3) to "4d", "7", "10a" to "10c"; ``mu``
    and ``velocity`` (the icosahedron's, (3,) m/s) change it further.
    """
    chosen = ICOSAHEDRON_VARIATIONS[choice("figure", figure, tuple(ICOSAHEDRON_VARIATIONS))]
    given = chosen.velocity if velocity is None else velocity
    shift = real_array("velocity", given, [(3,)]) - ICOSAHEDRON_VARIATIONS["4a"].velocity
    friction = chosen.mu if mu is None else real("mu", mu, at_least=0.0)
    problem = contact_problem(np.array(ICOSAHEDRON_W), ICOSAHEDRON_V + shift, friction, restitution)
    return catalogued("icosahedron-tetrahedron", None, None, problem, source=f"JW17 Fig. {figure}")


@register("bowling")
def bowling(*, mu: float = 0.7, restitution: float = 0.7, velocity: ArrayLike = (-0.1, 0.2, -0.5)) -> System:
    """A bowling ball hits a pin without the floor (JW17 Fig. 11) in contact coordinates x, y, normal.

    ``velocity`` is the pin's, (3,) m/s.
    """
    shift = real_array("velocity", velocity, [(3,)]) - (-0.1, 0.2, -0.5)
    problem = contact_problem(np.array(BOWLING_W), BOWLING_V + shift, mu, restitution)
    return catalogued("bowling", None, None, problem)


@register("sphere-half-space")
def sphere_half_space(
    *,
    mass: float = 1.0,
    radius: float = 0.1,
    velocity: ArrayLike = (1.0, 0.5, -2.0),
    spin: ArrayLike = (0.0, 0.0, 0.0),
    mu: float = 0.3,
    restitution: float = 0.8,
) -> System:
    """A uniform sphere hits a half-space (JW17 Fig. 2b), which has a closed form: `two_body.central`.

    Coordinates are the centre's velocity (m/s) and the spin (rad/s), in the world with z up.
    """
    m, rho = real("mass", mass, above=0.0), real("radius", radius, above=0.0)
    linear = real_array("velocity", velocity, [(3,)])
    angular = real_array("spin", spin, [(3,)])
    mass_matrix = np.diag(np.repeat([m, 0.4 * m * rho * rho], 3))
    # the contact is at -rho z from the centre: its velocity is V + omega x (-rho z)
    jn = np.array([[0.0, 0.0, 1.0, 0.0, 0.0, 0.0]])
    jt = np.array([[[1.0, 0.0, 0.0, 0.0, -rho, 0.0], [0.0, 1.0, 0.0, rho, 0.0, 0.0]]])
    v = np.concatenate([linear, angular])
    problem = ImpactProblem(mass_matrix, jn, jt, mu, v, restitution=restitution, names=["ground"])
    return catalogued("sphere-half-space", None, None, problem)


def contact_problem(w: Array, v: Array, mu: float, restitution: float) -> ImpactProblem:
    """The impact whose generalized velocity is the contact velocity x, y, normal itself: M = W^-1."""
    inertia, (x, y, z) = np.linalg.inv(w), np.eye(3)
    symmetric = 0.5 * (inertia + inertia.T)
    return ImpactProblem(symmetric, [z], [[x, y]], mu, v, restitution=restitution, names=["contact"])
