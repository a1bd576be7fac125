"""Tossed bodies that hit a plane: their impact problems as a function of what they are like."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from routh.base.status import InputError, no_such
from routh.base.validation import Array, integer, real, real_array
from routh.identification.impacts import Values
from routh.models.base import Model
from routh.models.rotations import skew
from routh.models.spatial.kinematics import body_rows
from routh.problem.batch import ImpactBatch

#: What the contacts of any tossed body may be asked about.
CONTACT = ("mu", "restitution", "restitution_decay", "friction_ratio")

#: Parameter of the joints of a `TossedModel`.
JOINT_FRICTION = "joint_friction"

#: What a tossed box may be asked about.
PARAMETERS = (*CONTACT, "mass", "inertia", "rounding", "centre_x", "centre_y", "centre_z")

_FRAME = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # normal first, world frame
_SIGNS = np.array(list(product((-1.0, 1.0), repeat=3)))


@dataclass(frozen=True, eq=False)
class TossedBox:
    """Impacts of one box on the plane z = 0: ``MeasuredImpacts(TossedBox(...), after)``.

    Parameters of `identify` by name: those of contacts (see `TossedModel`); "mass" (kg); "inertia" (a factor
    of ``inertia``); "rounding" (m), the radius of the corners, which then touch where their spheres are
    lowest; "centre_x", "centre_y", "centre_z" (m), the centre of mass in the body's frame. Those not asked
    for keep ``known``.

    Parameters
    ----------
    size : (3,) edges, m.
    rotation : (n, 3, 3) from the body's frame to the world's, at the impacts.
    before : (n, 6) velocity of the box's middle, m/s in the world's frame, and angular, rad/s in the body's.
    inertia : (3,) principal values about the centre of mass, kg m^2.
    within : m: corners less than this above the lowest take part in its impact. Told by the sharp corners, so
        that contacts do not depend on the parameters.
    soon : s: so do corners that are on the plane this much later at the speed that they have.
    known : values of parameters that are not asked for.
    """

    size: Array
    rotation: Array = field(repr=False)
    before: Array = field(repr=False)
    inertia: Array
    within: float = 0.0
    soon: float = 0.0
    known: Values = field(default_factory=dict)

    def __post_init__(self) -> None:
        turned = real_array("rotation", self.rotation, [(None, 3, 3)], "shape (n, 3, 3)")
        n = len(turned)
        checked = {
            "size": real_array("size", self.size, [(3,)], "shape (3,)"),
            "rotation": turned,
            "before": real_array("before", self.before, [(n, 6)], f"shape ({n}, 6)"),
            "inertia": real_array("inertia", self.inertia, [(3,)], "shape (3,)"),
        }
        real("within", self.within, at_least=0.0)
        real("soon", self.soon, at_least=0.0)
        _check_names(self.known)
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_corners", self._touching())

    @property
    def contacts(self) -> np.ndarray:
        """Corners that take part, (n, 8) bool, in the order of the signs of x, y and z, x slowest."""
        return self.__dict__["_corners"]

    def __call__(self, values: Values) -> ImpactBatch:
        """The impact problems for some values."""
        _check_names(values)
        given = {"mass": 1.0, "inertia": 1.0, "rounding": 0.0, **self.known, **values}
        n, R = len(self.before), self.rotation
        spheres = _SIGNS * (self.size / 2 - given["rounding"])
        arms = self._in_world(spheres) - given["rounding"] * _FRAME[0]
        slots, present = _slots(self.contacts)
        chosen = np.take_along_axis(arms, slots[:, :, None], axis=1)  # (n, nc, 3)
        nc = slots.shape[1]
        frames = np.broadcast_to(_FRAME, (n * nc, 3, 3))
        rows = body_rows(frames, chosen.reshape(-1, 3), np.repeat(R, nc, axis=0)).reshape(n, nc, 3, 6)
        centre = np.array([given.get(f"centre_{axis}", 0.0) for axis in "xyz"])
        M = _mass(R, given["mass"], given["inertia"] * self.inertia, centre)
        return _batch(M, rows, self.before, present, given)

    def _in_world(self, points: Array) -> Array:
        return np.einsum("nij,kj->nki", self.rotation, points)

    def _touching(self) -> np.ndarray:
        arms = self._in_world(_SIGNS * self.size / 2)
        above = arms[:, :, 2] - arms[:, :, 2].min(axis=1, keepdims=True)
        spin = np.einsum("nij,nj->ni", self.rotation, self.before[:, 3:])
        falling = -(self.before[:, None, 2] + np.cross(spin[:, None], arms)[:, :, 2])
        return (above <= self.within) | (above <= self.soon * falling)


@dataclass(frozen=True, eq=False)
class TossedModel:
    """Impacts of any mechanism, jointed ones too: ``MeasuredImpacts(TossedModel(...), after)``.

    Parameters of `identify` by name, for every contact alike:

    - "mu";
    - "restitution", at an approach at no speed, and "restitution_decay" (s/m): a contact that approaches at
      the speed u before the impact has ``restitution * exp(-restitution_decay * u)``;
    - "friction_ratio": friction along the second tangent over that along the first ("mu"), an elliptic cone;
    - "joint_friction" (N m s): the impulse by which each of ``joints`` rubs against its rate before the
      impact, at most until it stands;
    - every other name is given to ``model``. Parameters that are not asked for keep ``known``.

    Parameters
    ----------
    model : a model, or a function of a dictionary of parameters that makes one with the same contacts.
    q : (n, nq), configurations at the impacts.
    before : (n, nv), velocities at the impacts.
    within : m: contacts less than this above the lowest take part in its impact. Told with ``known``, so that
        contacts do not depend on the parameters.
    soon : s: so do contacts that are as low this much later at the speed that they have.
    known : values of parameters that are not asked for.
    joints : velocities (their places in v) of joints that rub.
    """

    model: Model | Callable[[Values], Model]
    q: Array = field(repr=False)
    before: Array = field(repr=False)
    within: float = 0.0
    soon: float = 0.0
    known: Values = field(default_factory=dict)
    joints: Sequence[int] = ()

    def __post_init__(self) -> None:
        q = real_array("q", self.q, [(None, None)], "shape (n, nq)")
        model = self._model(self.known)
        before = real_array("before", self.before, [(len(q), model.nv)], f"shape ({len(q)}, {model.nv})")
        real("within", self.within, at_least=0.0)
        real("soon", self.soon, at_least=0.0)
        for joint in self.joints:
            integer("joints", joint, at_least=0, at_most=model.nv - 1)
        gaps = np.array([model.gaps(one) for one in q])
        falling = np.array([-(model.jacobians(one)[0] @ v) for one, v in zip(q, before, strict=True)])
        above = gaps - gaps.min(axis=1, keepdims=True)
        taking_part = (above <= self.within) | (above <= self.soon * falling)
        for name, value in (("q", q), ("before", before), ("_contacts", taking_part), ("_last", (None,))):
            object.__setattr__(self, name, value)

    @property
    def contacts(self) -> np.ndarray:
        """Contacts that take part, (n, contacts of the model) bool."""
        return self.__dict__["_contacts"]

    def __call__(self, values: Values) -> ImpactBatch:
        """The impact problems for some values."""
        given = {**self.known, **values}
        M, rows = self._matrices(given)
        v = self.before
        for joint in self.joints:
            v = _rubbed(M, v, joint, given.get(JOINT_FRICTION, 0.0))
        return _batch(M, rows, v, _slots(self.contacts)[1], given)

    def _matrices(self, values: Values) -> tuple[Array, Array]:
        """Masses (n, nv, nv) and contact rows (n, nc, 1 + nt, nv).

        The last are kept, since contact parameters do not change them.
        """
        own = self._own(values)
        if self.__dict__["_last"][0] != own:
            model, slots = self._model(values), _slots(self.contacts)[0]
            rows = np.empty((*slots.shape, 1 + model.nt, model.nv))
            for k, q in enumerate(self.q):
                Jn, Jt = model.jacobians(q)
                rows[k, :, 0], rows[k, :, 1:] = Jn[slots[k]], Jt[slots[k]]
            found = np.array([model.mass(q) for q in self.q]), rows
            object.__setattr__(self, "_last", (own, found))
        return self.__dict__["_last"][1]

    def _own(self, values: Values) -> dict[str, float]:
        """Parameters of the model itself."""
        known = (*CONTACT, JOINT_FRICTION)
        own = {name: value for name, value in values.items() if name not in known}
        if own and isinstance(self.model, Model):
            wanted = ", ".join(known)
            raise InputError(
                "parameters", got=f"{next(iter(own))!r} with one model", wanted=f"one of {wanted}"
            )
        return own

    def _model(self, values: Values) -> Model:
        own = self._own(values)
        return self.model if isinstance(self.model, Model) else self.model(own)


def _rubbed(M: Array, v: Array, joint: int, impulse: float) -> Array:
    """Velocities (n, nv) after a joint has rubbed with at most an impulse (N m s), until it stands."""
    unit = np.zeros(M.shape[1])
    unit[joint] = 1.0
    response = np.linalg.solve(M, np.broadcast_to(unit, v.shape)[:, :, None])[:, :, 0]
    needed = v[:, joint] / response[:, joint]
    return v - np.clip(needed, -impulse, impulse)[:, None] * response


def _slots(contacts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Contacts of each impact, (n, nc) with as many columns as the most has, and which of them count."""
    order = np.argsort(~contacts, axis=1, kind="stable")[:, : int(contacts.sum(axis=1).max())]
    return order, np.take_along_axis(contacts, order, axis=1)


def _batch(M: Array, rows: Array, v: Array, present: np.ndarray, given: Values) -> ImpactBatch:
    """The problems of contacts with rows (n, nc, 1 + nt, nv), normal first, and the contacts' parameters."""
    Jn, Jt = rows[:, :, 0], rows[:, :, 1:].copy()
    Jt[:, :, 1:] *= given.get("friction_ratio", 1.0)
    approach = np.maximum(-np.einsum("nci,ni->nc", Jn, v), 0.0)
    e = given.get("restitution", 0.0) * np.exp(-given.get("restitution_decay", 0.0) * approach)
    return ImpactBatch(M, Jn, Jt, given.get("mu", 0.0), v, present=present, restitution=np.clip(e, 0.0, 1.0))


def _check_names(values: Values) -> None:
    for name in values:
        if name not in PARAMETERS:
            raise no_such("parameters", name, PARAMETERS)


def _mass(R: Array, mass: float, inertia: Array, centre: ArrayLike) -> Array:
    """Mass matrices (n, 6, 6) for velocities of the middle, when the centre of mass is elsewhere.

    The centre moves at ``v + R (w x c)``, so kinetic energy couples v and w.
    """
    lever = skew(np.asarray(centre, dtype=np.float64)[None])[0]
    M = np.zeros((len(R), 6, 6))
    M[:, :3, :3] = mass * np.eye(3)
    M[:, :3, 3:] = -mass * R @ lever
    M[:, 3:, :3] = np.swapaxes(M[:, :3, 3:], 1, 2)
    M[:, 3:, 3:] = np.diag(inertia) + mass * lever.T @ lever
    return M
