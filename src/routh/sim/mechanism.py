"""A model under a feedback law, as the simulator sees it: one snapshot per state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from routh.base.validation import Array
from routh.kernels.motion.forces import correct, make_room
from routh.models.base import Model, slope_at_zero

Control = Callable[[float, Array, Array], ArrayLike]  # u = control(t, q, v)

MOST_ROWS = 24  # of small linear systems that are solved by compiled code
_CLOSED = 1e-15  # m: a gap this small is closed exactly


@dataclass(frozen=True, eq=False)
class Snapshot:
    """What a model says at one state."""

    t: float
    q: Array
    v: Array
    inverse_mass: Array  # (nv, nv)
    free: Array  # (nv,) acceleration without contact forces
    J: Array  # (nc, 1 + nt, nv) contact Jacobians, normal first
    bias: Array  # (nc, 1 + nt) m/s^2, ``dJ/dt v``

    @cached_property
    def contact_velocity(self) -> Array:
        """``J v``, (nc, 1 + nt) m/s."""
        return self.J @ self.v

    def acceleration(self, force: Array) -> Array:
        """Generalized acceleration under contact forces (nc, 1 + nt) N, HP23 (10)."""
        return self.free + self.inverse_mass @ (force.ravel() @ self.J.reshape(force.size, -1))


class Mechanism:
    """A model with its input: rates, snapshots and projections on closed contacts."""

    def __init__(self, model: Model, control: Control | None = None) -> None:
        self.model = model
        self.control = control
        self.nc, self.width = len(model.contacts), 1 + model.nt
        self.mu = np.array([info.mu for info in model.contacts])
        self.names = tuple(info.name for info in model.contacts)
        self._straight = model.nq == model.nv
        self._own_rate = getattr(model, "rate", None)
        self._own_inverse = getattr(model, "inverse_mass", None)
        self._own_terms = getattr(model, "motion_terms", None)
        self._seen: tuple[object, Snapshot] = None, cast("Snapshot", None)
        self.short = np.inf  # s: over so long a step what the model says was last a parabola
        self.rooms: dict[int, object] = {}  # of short steps, by the number of their contacts
        self._inverted: tuple[Array, Array] | None = None  # the last mass matrix and its inverse

    def snapshot(self, t: float, q: Array, v: Array) -> Snapshot:
        """The model at a state; the last one is kept, since an event asks for it several times."""
        key = t, q.tobytes(), v.tobytes()
        if key != self._seen[0]:
            u = None if self.control is None else self.control(t, q, v)
            if self._own_terms is not None:
                inverse_mass, force, J, bias = self._own_terms(q, v, u)
            else:
                inverse_mass, force = self.inverse_mass(q), self.model.bias(q, v, u)
                J, bias = self.J(q), self.model.jacobian_bias(q, v)
            free = -(inverse_mass @ force)
            self._seen = key, Snapshot(t, q.copy(), v.copy(), inverse_mass, free, J, bias)
        return self._seen[1]

    def inverse_mass(self, q: Array) -> Array:
        """``M^-1``, (nv, nv); kept while the mass matrix stays the same, as it does for free bodies."""
        if self._own_inverse is not None:
            return np.asarray(self._own_inverse(q))
        M = self.model.mass(q)
        if self._inverted is None or not np.array_equal(self._inverted[0], M):
            self._inverted = M, np.asarray(np.linalg.inv(M), dtype=np.float64)
        return self._inverted[1]

    def J(self, q: Array) -> Array:
        """Contact Jacobians, normal first, (nc, 1 + nt, nv)."""
        Jn, Jt = self.model.jacobians(q)
        both, shape = Jn.base, (self.nc, self.width, self.model.nv)
        if both is not None and both is Jt.base and both.shape == shape:
            return both  # Jn and Jt are parts of it, normal first
        J = np.empty(shape)
        J[:, 0], J[:, 1:] = Jn, Jt
        return J

    def rate(self, q: Array, v: Array) -> Array:
        """``dq/dt = Gamma(q) v`` (HP23 (9)), from the model's own integration where it is not v itself."""
        if self._straight:
            return v
        if self._own_rate is not None:
            return np.asarray(self._own_rate(q, v))
        size = float(np.abs(v).max())
        if size == 0.0:
            return np.zeros_like(q)
        # the configuration moves by a thousandth
        return slope_at_zero(lambda dt: self.model.integrate(q, v, dt), 1e-3 / size)

    def speed(self, q: Array, v: Array) -> float:
        """``|v|_M``, sqrt(J)."""
        return float(np.sqrt(max(float(v @ self.model.mass(q) @ v), 0.0)))

    def flattening(self, q: Array) -> float:
        """The smallest eigenvalue of M scaled to a unit diagonal: 0 where a motion has no inertia."""
        M = self.model.mass(q)
        size = np.sqrt(M.diagonal())
        return float(np.linalg.eigvalsh(M / np.outer(size, size))[0])

    def normal_velocity(self, q: Array, v: Array) -> Array:
        """``Jn v``, (nc,) m/s: the rate of the gaps."""
        return self.model.jacobians(q)[0] @ v

    def close(self, q: Array, contacts: Sequence[int]) -> Array:
        """The configuration moved, as little as mass allows, so that the gaps of ``contacts`` vanish."""
        rows = list(contacts)
        for _ in range(3):
            gaps = self.model.gaps(q)[rows]
            if not rows or not np.abs(gaps).max() > _CLOSED:
                break
            Jn = self.model.jacobians(q)[0][rows]
            q = self.model.integrate(q, -correction(self.inverse_mass(q), Jn, gaps), 1.0)
        return q

    def hold(self, q: Array, v: Array, sticking: Sequence[int], sliding: Sequence[int]) -> Array:
        """The nearest velocity, in the metric of mass, that moves no closed contact out of its mode."""
        if not sticking and not sliding:
            return v
        Jn, Jt = self.model.jacobians(q)
        rows = np.concatenate([Jn[[*sticking, *sliding]], Jt[list(sticking)].reshape(-1, self.model.nv)])
        return v - correction(self.inverse_mass(q), rows, rows @ v)


def correction(inverse_mass: Array, rows: Array, values: Array) -> Array:
    """The smallest x, in the metric of mass, with ``rows x = values`` (least squares where it has none)."""
    if len(rows) > MOST_ROWS:  # LAPACK is as fast
        response = inverse_mass @ rows.T
        found = response @ np.linalg.lstsq(rows @ response, values, rcond=1e-12)[0]
        return np.asarray(found, dtype=np.float64)
    moved = np.zeros(rows.shape[1])
    correct(inverse_mass, np.ascontiguousarray(rows), values, _room(*rows.shape), moved)
    return -moved


_room = lru_cache(maxsize=64)(make_room)
