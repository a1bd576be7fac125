"""A tossed box that hits a plane: the impact problems of its corners as a function of what it is like."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from routh.batch import ImpactBatch
from routh.models.spatial.rotations import skew
from routh.models.spatial.touch import body_rows
from routh.robust.identify_data import Values
from routh.validation import Array, real, real_array

#: What a tossed box may be asked about.
PARAMETERS = ("mu", "restitution", "mass", "inertia", "rounding", "centre_x", "centre_y", "centre_z")

_FRAME = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # normal first, world frame
_SIGNS = np.array(list(product((-1.0, 1.0), repeat=3)))


@dataclass(frozen=True, eq=False)
class TossedBox:
    """Impacts of one box on the plane z = 0: ``MeasuredImpacts(TossedBox(...), after)``.

    Parameters of `identify` by name: "mu", "restitution"; "mass" (kg); "inertia" (a factor of ``inertia``);
    "rounding" (m), the radius of the corners, which then touch where their spheres are lowest; "centre_x",
    "centre_y", "centre_z" (m), the centre of mass in the body's frame. Those not asked for keep ``known``.

    Parameters
    ----------
    size : (3,) edges, m.
    rotation : (n, 3, 3) from the body's frame to the world's, at the impacts.
    before : (n, 6) velocity of the box's middle, m/s in the world's frame, and angular, rad/s in the body's.
    inertia : (3,) principal values about the centre of mass, kg m^2.
    within, soon : corners that take part in an impact besides the lowest: less than ``within`` (m) above it,
        or on the plane ``soon`` (s) later at the speed that they have. Told by the sharp corners, so that
        contacts do not depend on the parameters.
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
        given = {"mu": 0.0, "restitution": 0.0, "mass": 1.0, "inertia": 1.0, "rounding": 0.0}
        given |= {**self.known, **values}
        n, R = len(self.before), self.rotation
        spheres = _SIGNS * (self.size / 2 - given["rounding"])
        arms = self._in_world(spheres) - given["rounding"] * _FRAME[0]
        slots, present = self._slots()
        chosen = np.take_along_axis(arms, slots[:, :, None], axis=1)  # (n, nc, 3)
        nc = slots.shape[1]
        frames = np.broadcast_to(_FRAME, (n * nc, 3, 3))
        rows = body_rows(frames, chosen.reshape(-1, 3), np.repeat(R, nc, axis=0)).reshape(n, nc, 3, 6)
        centre = np.array([given.get(f"centre_{axis}", 0.0) for axis in "xyz"])
        return ImpactBatch(
            _mass(R, given["mass"], given["inertia"] * self.inertia, centre),
            rows[:, :, 0],
            rows[:, :, 1:],
            given["mu"],
            self.before,
            present=present,
            restitution=given["restitution"],
        )

    def _in_world(self, points: Array) -> Array:
        return np.einsum("nij,kj->nki", self.rotation, points)

    def _touching(self) -> np.ndarray:
        arms = self._in_world(_SIGNS * self.size / 2)
        above = arms[:, :, 2] - arms[:, :, 2].min(axis=1, keepdims=True)
        spin = np.einsum("nij,nj->ni", self.rotation, self.before[:, 3:])
        falling = -(self.before[:, None, 2] + np.cross(spin[:, None], arms)[:, :, 2])
        return (above <= self.within) | (above <= self.soon * falling)

    def _slots(self) -> tuple[np.ndarray, np.ndarray]:
        """Corners of each impact, (n, nc) with as many columns as the most has, and which of them count."""
        corners = self.contacts
        order = np.argsort(~corners, axis=1, kind="stable")[:, : int(corners.sum(axis=1).max())]
        return order, np.take_along_axis(corners, order, axis=1)


def _check_names(values: Values) -> None:
    for name in values:
        if name not in PARAMETERS:
            raise ValueError(f"parameters: got {name!r}; wanted some of {', '.join(PARAMETERS)}")


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
