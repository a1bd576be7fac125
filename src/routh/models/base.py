"""What a model of a mechanism must offer, and the state that it is in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from routh.problem import ImpactProblem
from routh.validation import Array, real, real_array


@dataclass(frozen=True, eq=False)
class State:
    """A configuration, a velocity and the time."""

    q: Array  # (nq,)
    v: Array  # (nv,)
    t: float = 0.0  # s

    def __post_init__(self) -> None:
        object.__setattr__(self, "q", np.array(self.q, dtype=np.float64))
        object.__setattr__(self, "v", np.array(self.v, dtype=np.float64))


@dataclass(frozen=True)
class ContactInfo:
    """One possible contact of a model."""

    name: str
    bodies: tuple[str, str]
    mu: float
    restitution: float = 0.0


class ContactDefinition:
    """What the contacts of planar and spatial models share: of ``body`` with ``plane``, or two bodies."""

    name: str
    mu: float
    restitution: float

    def __post_init__(self) -> None:
        real(f"{self.name}.mu", self.mu, at_least=0.0)
        real(f"{self.name}.restitution", self.restitution, at_least=0.0, at_most=1.0)
        for field in ("radius", "first_radius", "second_radius"):
            radius = getattr(self, field, None)
            if radius is not None:
                real(f"{self.name}.{field}", radius, at_least=0.0)
        first, *other = self.moving
        if first in other:
            raise ValueError(f"{self.name}: got {first!r} twice; wanted two different bodies")

    @property
    def moving(self) -> tuple[str, ...]:
        """The bodies that touch a plane, or each other."""
        told = vars(self)
        return (told["body"],) if "plane" in told else (told["first"], told["second"])

    @property
    def info(self) -> ContactInfo:
        """Names and coefficients."""
        first, second = self.moving if "plane" not in vars(self) else (*self.moving, vars(self)["plane"].name)
        return ContactInfo(self.name, (first, second), self.mu, self.restitution)


def check_contacts(contacts: Sequence[ContactDefinition], bodies: Sequence[str]) -> None:
    """Contacts of a model must have distinct names, and be those of its bodies."""
    seen: set[str] = set()
    for contact in contacts:
        for name in contact.moving:
            if name not in bodies:
                known = ", ".join(map(repr, bodies))
                raise ValueError(f"{contact.name}: there is no body {name!r}; wanted one of {known}")
        if contact.name in seen:
            raise ValueError(f"contacts: {contact.name!r} stands twice; wanted distinct names")
        seen.add(contact.name)


@runtime_checkable
class Model(Protocol):
    """A mechanism with unilateral contacts: HP23 (9), (10), (12).

    ``M(q) dv/dt = -bias(q, v, u) + J^T lambda``; all arrays float64, SI units.
    """

    @property
    def nq(self) -> int:
        """Length of a configuration."""

    @property
    def nv(self) -> int:
        """Length of a velocity."""

    @property
    def nt(self) -> int:
        """Tangential directions per contact: 1 in the plane, 2 in space."""

    @property
    def contacts(self) -> tuple[ContactInfo, ...]:
        """The possible contacts, in the order of every per-contact array."""

    def mass(self, q: ArrayLike) -> Array:
        """Mass matrix, (nv, nv)."""

    def bias(self, q: ArrayLike, v: ArrayLike, u: ArrayLike | None = None) -> Array:
        """Coriolis, gravity and input forces on the left side: ``M dv/dt + bias = J^T lambda``, (nv,)."""

    def gaps(self, q: ArrayLike) -> Array:
        """Signed distances phi, (nc,) m."""

    def jacobians(self, q: ArrayLike) -> tuple[Array, Array]:
        """``Jn (nc, nv)`` and ``Jt (nc, nt, nv)`` of all possible contacts."""

    def jacobian_bias(self, q: ArrayLike, v: ArrayLike) -> Array:
        """``dJ/dt v``, normal first, (nc, 1 + nt) m/s^2."""

    def integrate(self, q: ArrayLike, v: ArrayLike, dt: float) -> Array:
        """The configuration after moving with constant velocity ``v`` for ``dt`` (HP23 (9)), (nq,)."""

    def problem(self, state: State, *, gap: float = 1e-6) -> ImpactProblem:
        """The impact of all contacts whose signed distance is at most ``gap`` (m)."""


def vector(values: ArrayLike) -> Array:
    """The values as an array, without a copy where they are one."""
    return values if type(values) is np.ndarray else np.asarray(values, dtype=np.float64)


def fitting_state(model: Model, state: State) -> State:
    """The state, if its shapes are the model's and its numbers finite."""
    q = real_array("state.q", state.q, [(model.nq,)])
    v = real_array("state.v", state.v, [(model.nv,)])
    return State(q, v, real("state.t", float(state.t)))


def impact_problem(model: Model, state: State, *, gap: float = 1e-6) -> ImpactProblem:
    """The impact of the contacts of ``model`` that are closed at ``state`` (signed distance <= gap)."""
    state = fitting_state(model, state)
    distances = model.gaps(state.q)
    closed = [i for i, distance in enumerate(distances) if distance <= gap]
    if not closed:
        raise ValueError(
            f"gap: no contact is within {gap:g} m; the smallest distance is {distances.min():g} m"
        )
    Jn, Jt = model.jacobians(state.q)
    infos = [model.contacts[i] for i in closed]
    return ImpactProblem(
        model.mass(state.q),
        Jn[closed],
        Jt[closed],
        [info.mu for info in infos],
        state.v,
        restitution=[info.restitution for info in infos],
        names=[info.name for info in infos],
    )
