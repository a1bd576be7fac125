"""What a model of a mechanism must offer, and the state that it is in."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from routh.base.status import InputError, no_such
from routh.base.validation import Array, real, real_array
from routh.models.simultaneity import Simultaneity, time_to_contact
from routh.problem.impact import ImpactProblem


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
            raise InputError(self.name, got=f"{first!r} twice", wanted="two different bodies")

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


class FixedPlane:
    """What half-planes and half-spaces share: a point (m) and an outward normal, made a unit vector."""

    name: str
    point: tuple[float, ...]
    normal: tuple[float, ...]

    def __post_init__(self) -> None:
        shape = [(len(type(self).normal),)]
        real_array(f"{self.name}.point", self.point, shape)
        normal = real_array(f"{self.name}.normal", self.normal, shape)
        length = math.hypot(*normal)
        if not length > 0.0:
            raise InputError(f"{self.name}.normal", got="a zero vector", wanted="a direction")
        object.__setattr__(self, "normal", tuple((normal / length).tolist()))


def check_contacts(contacts: Sequence[ContactDefinition], bodies: Sequence[str]) -> None:
    """Contacts of a model must have distinct names, and be those of its bodies."""
    seen: set[str] = set()
    for contact in contacts:
        for name in contact.moving:
            if name not in bodies:
                raise no_such(f"{contact.name}.body", name, bodies)
        if contact.name in seen:
            raise InputError("contacts", wrong=f"{contact.name!r} appears twice", wanted="distinct names")
        seen.add(contact.name)


@dataclass(frozen=True, eq=False)
class SpringRows:
    """Spring-dampers that a model has beside its contacts, at one state: n rows of one kind.

    Each pushes along its row of ``G`` with ``-stiffness phi - damping dphi/dt`` of the end of a step.
    """

    name: str  # of the group, in trajectories
    #: "both ways"; "one way": never pulls; "bounded": with a force of at most ``limit``; "contacts": with
    #: friction ``limit`` along ``tangents``, and as stiff as the model's other contacts
    kind: str
    G: Array  # (n, nv)
    phi: Array  # (n,) m or rad
    stiffness: Array  # (n,) N/m
    damping: Array | None  # (n,) N s/m; None: as hard as friction that sticks
    bias: Array  # (n,) m/s^2: the rate at the end of a step is G v + dt bias
    limit: Array | None = None  # (n,) N, of "bounded" rows; friction coefficients of "contacts"
    constant: Array | None = None  # (n,) N along the rows of G, beside the spring
    tangents: Array | None = None  # (n, nt, nv), of "contacts"


class ContactWatch(Protocol):
    """Looks for contacts by other means than a model's gaps."""

    deepest: str  # the two that overlapped most in what was looked at last

    def at(self, q: Array, gaps: Array) -> tuple[float, float]:
        """The deepest overlap (m) that the gaps (nc,) do not show, and how friction differs."""


@runtime_checkable
class WatchedModel(Protocol):
    """A `Model` whose gaps may not show every contact of its shapes."""

    def watch(self) -> ContactWatch | None:
        """What shows the others; None where there are none."""


@runtime_checkable
class SpringyModel(Protocol):
    """A `Model` with spring-dampers of its own, which `routh.step_through` solves for."""

    @property
    def not_elastic(self) -> tuple[str, ...]:
        """Groups whose springs are in the model's potential, or are no springs of the mechanism."""

    def step_terms(
        self, state: State, dt: float, u: ArrayLike | None = None
    ) -> tuple[Array, list[SpringRows]]:
        """All forces (nv,) but those of contacts and spring-dampers, and the spring-dampers."""

    def check_events(self) -> None:
        """Raise or warn where the model holds what only `routh.step_through` follows."""


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

    def problem(
        self, state: State, *, window: float | None = None, gap: float | None = None
    ) -> ImpactProblem:
        """The impact of all contacts that touch or close within ``window`` (s); see `impact_problem`."""


def vector(values: ArrayLike) -> Array:
    """The values as an array, without a copy where they are one."""
    return values if type(values) is np.ndarray else np.asarray(values, dtype=np.float64)


def fitting_state(model: Model, state: State) -> State:
    """The state, if its shapes are the model's and its numbers finite."""
    q = real_array("state.q", state.q, [(model.nq,)])
    v = real_array("state.v", state.v, [(model.nv,)])
    return State(q, v, real("state.t", float(state.t)))


def impact_problem(
    model: Model, state: State, *, window: float | None = None, gap: float | None = None
) -> ImpactProblem:
    """The impact of the contacts of ``model`` that are simultaneous at ``state``.

    Parameters
    ----------
    model : whose contacts take part.
    state : where it is, and how it moves.
    window : s: what touches takes part, and what would touch within this time at the present velocity;
        default 5 ms. What closes within three windows, not within one, is named in the problem's ``soon``.
    gap : m: instead of a window, all contacts whose signed distance is at most this.

    Raises
    ------
    ValueError
        Where no contact takes part.
    """
    state = fitting_state(model, state)
    rule = Simultaneity(window=window, gap=gap)
    distances, (Jn, Jt) = model.gaps(state.q), model.jacobians(state.q)
    rates = Jn @ state.v
    rows = np.flatnonzero(rule.counts(distances, rates))
    if not rows.size:
        raise InputError("state", wrong=f"no contact {rule}; the smallest distance is {distances.min():g} m")
    infos = [model.contacts[i] for i in rows]
    times = time_to_contact(distances, rates)
    soon = np.flatnonzero(rule.closes_soon(distances, rates))
    return ImpactProblem(
        model.mass(state.q),
        Jn[rows],
        Jt[rows],
        [info.mu for info in infos],
        state.v,
        restitution=[info.restitution for info in infos],
        names=[info.name for info in infos],
        soon={model.contacts[i].name: float(times[i]) for i in soon},
    )


class WithImpacts:
    """Gives a `Model` its impacts."""

    def problem(
        self, state: State, *, window: float | None = None, gap: float | None = None
    ) -> ImpactProblem:
        """The impact of all contacts that touch or close within ``window`` (s, default 5 ms) at ``state``.

        ``gap`` (m): instead, of all within this distance; see `routh.models.impact_problem`.
        """
        return impact_problem(self, state, window=window, gap=gap)  # type: ignore[arg-type]


def slope_at_zero(function: Callable[[float], ArrayLike], step: float) -> Array:
    """``d function(x) / dx`` at x = 0 by central differences of fourth order, from ±step and ±2 step."""
    before, back, ahead, after = (np.asarray(function(share * step)) for share in (-2.0, -1.0, 1.0, 2.0))
    return np.asarray((8.0 * (ahead - back) - (after - before)) / (12.0 * step))
