"""Constraints as functions of the state: joints by constraint, limits of coordinates, elastic foundations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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


def coordinate_limit(
    name: str,
    index: int,
    nv: int,
    *,
    lower: float | None = None,
    upper: float | None = None,
    stiffness: float,
    damping: float = 0.0,
) -> Holonomic:
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
    return Holonomic(
        name,
        phi=lambda q: sign * (q[column] - end),
        jacobian=lambda q: G,
        bias=lambda q, v: np.zeros(len(sides)),
        stiffness=stiffness,
        damping=damping,
        kind="unilateral",
    )


class ElasticFoundation:
    """A bed of independent springs under a free body in space: Winkler's model, D19 5.5.

    Parameters
    ----------
    points : (n, 3), where the springs meet the body, in its frame, m.
    stiffness, damping : number or (n,), of each spring, N/m and N s/m.
    body : index of the body among those of a `SpatialModel`.
    bodies : number of bodies of the model.
    normal, height : the plane of the springs' free ends, ``normal . x = height`` (m); the normal is scaled to
        unit length.
    """

    def __init__(
        self,
        points: ArrayLike,
        *,
        stiffness: ArrayLike,
        damping: ArrayLike = 0.0,
        body: int = 0,
        bodies: int = 1,
        normal: ArrayLike = (0.0, 0.0, 1.0),
        height: float = 0.0,
        name: str = "foundation",
    ) -> None:
        self.points = real_array("points", points, [(None, 3)], "shape (n, 3)")
        checked = Unilateral(self.points, np.zeros(len(self.points)), stiffness=stiffness, damping=damping)
        self.stiffness, self.damping, self.name = checked.stiffness, checked.damping, str(name)
        self.body = integer("body", body, at_least=0, at_most=bodies - 1)
        self.nv = 6 * bodies
        direction = real_array("normal", normal, [(3,)], "shape (3,)")
        length = float(np.linalg.norm(direction))
        if length == 0.0:
            raise ValueError("normal: got a zero vector; wanted a direction")
        self.normal = direction / length
        self.height = real("height", height)

    def at(self, state: State) -> Unilateral:
        """One row per spring; velocities are linear in the world's frame and angular in the body's."""
        at = 7 * self.body
        R = rotation_matrices(state.q[None, at + 3 : at + 7])[0]
        n = R.T @ self.normal  # in the body's frame
        depth = state.q[at : at + 3] @ self.normal - self.height
        G = np.zeros((len(self.points), self.nv), order="F")
        own = 6 * self.body
        G[:, own : own + 3] = self.normal
        turn = np.array([[0.0, -n[2], n[1]], [n[2], 0.0, -n[0]], [-n[1], n[0], 0.0]])
        G[:, own + 3 : own + 6] = self.points @ turn  # r x n
        w = state.v[own + 3 : own + 6]
        # w x (w x r) along n
        bias = (self.points @ w) * (w @ n) - (self.points @ n) * (w @ w)
        phi = depth + self.points @ n
        return Unilateral.trusted(G, phi, self.stiffness, self.damping, bias, self.name)
