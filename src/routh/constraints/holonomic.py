"""Constraints as functions of the state: joints by constraint, limits of coordinates, elastic foundations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from routh.constraints.types import Bilateral, Unilateral
from routh.models.base import State
from routh.models.spatial.rotations import rotation_matrices
from routh.validation import Array, choice, integer, real, real_array


class StateConstraint(Protocol):
    """Anything that gives its rows at a state."""

    @property
    def name(self) -> str:
        """What its forces are called in a trajectory."""
        ...

    def at(self, state: State) -> Bilateral | Unilateral:
        """The rows at a state."""
        ...


@dataclass(frozen=True, eq=False)
class Holonomic:
    """``phi(q) = 0`` (bilateral) or ``phi(q) >= 0`` (unilateral), given by functions.

    Parameters
    ----------
    name : of its forces.
    phi : q -> (n,), in m or rad.
    jacobian : q -> (n, nv), ``d phi / dt = G v``.
    bias : (q, v) -> (n,), ``dG/dt v``.
    stiffness, damping : number or (n,), or a function of the state (D19: "state-dependent").
    kind : "bilateral" or "unilateral".
    """

    name: str
    phi: Callable[[Array], ArrayLike]
    jacobian: Callable[[Array], ArrayLike]
    bias: Callable[[Array, Array], ArrayLike]
    stiffness: ArrayLike | Callable[[State], ArrayLike]
    damping: ArrayLike | Callable[[State], ArrayLike] = 0.0
    kind: str = "bilateral"

    def __post_init__(self) -> None:
        choice("kind", self.kind, ("bilateral", "unilateral"))

    def at(self, state: State) -> Bilateral | Unilateral:
        """The rows at a state."""
        make = Bilateral if self.kind == "bilateral" else Unilateral
        K = self.stiffness(state) if callable(self.stiffness) else self.stiffness
        B = self.damping(state) if callable(self.damping) else self.damping
        bias = self.bias(state.q, state.v)
        phi, G = self.phi(state.q), self.jacobian(state.q)
        return make(G, phi, stiffness=K, damping=B, bias=bias, name=self.name)


@dataclass(frozen=True, eq=False)
class CoordinateLimit(Holonomic):
    """Ends of one coordinate whose rate is the velocity of the same number, see `coordinate_limit`."""

    index: int = 0
    sides: Array = field(default_factory=lambda: np.zeros((0, 2)))  # (n, 2): +1 or -1, and the end


def coordinate_limit(
    name: str,
    index: int,
    nv: int,
    *,
    lower: float | None = None,
    upper: float | None = None,
    stiffness: float,
    damping: float = 0.0,
) -> CoordinateLimit:
    """A joint limit ``lower <= q[index] <= upper`` of a coordinate whose rate is ``v[index]`` (m or rad)."""
    column = integer("index", index, at_least=0, at_most=nv - 1)
    ends = [(1.0, lower), (-1.0, upper)]
    sides = [(sign, real(name, end)) for sign, end in ends if end is not None]
    if not sides:
        raise ValueError(f"{name}: got neither lower nor upper; wanted at least one")
    sign = np.array([side[0] for side in sides])
    end = np.array([side[1] for side in sides])
    G = np.zeros((len(sides), nv))
    G[:, column] = sign
    return CoordinateLimit(
        name,
        phi=lambda q: sign * (q[column] - end),
        jacobian=lambda q: G,
        bias=lambda q, v: np.zeros(len(sides)),
        stiffness=stiffness,
        damping=damping,
        kind="unilateral",
        index=column,
        sides=np.array(sides),
    )


class ElasticFoundation:
    """A bed of independent springs under a free body in space, their free ends at z = 0: Winkler, D19 5.5.

    Parameters
    ----------
    points : (n, 3), where the springs meet the body, in its frame, m.
    stiffness, damping : number or (n,), of each spring, N/m and N s/m.
    """

    name = "foundation"

    def __init__(self, points: ArrayLike, *, stiffness: ArrayLike, damping: ArrayLike = 0.0) -> None:
        self.points = real_array("points", points, [(None, 3)], "shape (n, 3)")
        checked = Unilateral(self.points, np.zeros(len(self.points)), stiffness=stiffness, damping=damping)
        self.stiffness, self.damping = checked.stiffness, checked.damping

    def at(self, state: State) -> Unilateral:
        """One row per spring; velocities are linear in the world's frame and angular in the body's."""
        n = rotation_matrices(state.q[None, 3:7])[0, 2]  # the vertical in the body's frame
        G = np.zeros((len(self.points), 6), order="F")
        G[:, 2] = 1.0
        turn = np.array([[0.0, -n[2], n[1]], [n[2], 0.0, -n[0]], [-n[1], n[0], 0.0]])
        G[:, 3:] = self.points @ turn  # r x n
        w = state.v[3:6]
        # w x (w x r) along n
        bias = (self.points @ w) * (w @ n) - (self.points @ n) * (w @ w)
        phi = state.q[2] + self.points @ n
        return Unilateral.trusted(G, phi, self.stiffness, self.damping, bias, self.name)
