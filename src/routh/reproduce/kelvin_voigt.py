"""Impacts of bodies that give way: HP23's Kelvin-Voigt contact, the comparison of section 5.4.1.

The contacts are stiff springs with dampers and regularised friction, integrated through the impact in time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from routh.base.results import Result
from routh.base.status import InputError, Status
from routh.base.validation import Array, per_contact, real
from routh.models.base import Model, State


@dataclass(frozen=True, eq=False)
class CompliantResult(Result):
    """What became of one compliant impact."""

    v: Array  # (nv,) velocity when no contact is pressed in any further
    q: Array  # (nq,) configuration then
    duration: float  # s
    status: Status
    path: Array = field(repr=False)  # (k, nv) velocities at the solver's own times
    #: (k, nc) normal impulse of the contacts that take part until then, N s
    impulse: Array = field(repr=False)


@dataclass(frozen=True)
class KelvinVoigt:
    """HP23 (88) to (90): spring, damper and regularised Coulomb friction at every contact.

    ``stiffness`` k in N/m, one number or one per contact that takes part; ``damping`` is the ratio zeta; the
    damper has the coefficient ``2 zeta sqrt(k m)`` with ``mass`` m in kg ((88) prints sqrt(k/m), the same
    for 1 kg); ``slip`` is the tangential speed (m/s) below which friction grows linearly.
    """

    stiffness: ArrayLike = 1e6
    damping: float = 5.0
    mass: float = 1.0
    slip: float = 1e-10

    def stiffnesses(self, nc: int) -> Array:
        """k per contact, (nc,) N/m."""
        k = per_contact("stiffness", self.stiffness, nc)
        if not np.all(k > 0.0):
            raise InputError("stiffness", got=k.min(), wanted="positive numbers (N/m)")
        return k

    def dampers(self, nc: int) -> Array:
        """2 zeta sqrt(k m) per contact, (nc,) N s/m."""
        zeta, m = real("damping", self.damping, at_least=0.0), real("mass", self.mass, above=0.0)
        return 2.0 * zeta * np.sqrt(self.stiffnesses(nc) * m)


def compliant_impact(
    model: Model,
    state: State,
    contact: KelvinVoigt | None = None,
    *,
    gap: float = 1e-3,
    limit: float = 1.0,
    rtol: float = 1e-8,
) -> CompliantResult:
    """Integrate from ``state`` until no contact approaches by more than HP23's delta.

    delta is ``1e-3 m / min k`` (m/s). HP23 asks this of closed contacts only; open ones are asked too, since
    otherwise the impact of a tilted block is over when its first corner has settled and the second has not
    yet touched. Contacts take part that are within ``gap`` (m) at first; ``limit`` (s) ends an impact that
    does not settle, with status MAX_STEPS. For planar models, where ``v = dq/dt``.
    """
    law = KelvinVoigt() if contact is None else contact
    if model.nt != 1 or model.nq != model.nv:
        raise InputError("model", got=f"nt={model.nt}, nq={model.nq}", wanted="a planar model")
    rows = np.flatnonzero(model.gaps(state.q) <= real("gap", gap))
    if not rows.size:
        raise InputError("gap", wrong=f"no contact is within {gap:g} m", wanted="at least one")
    system = _Compliant(model, law, rows)
    start = np.concatenate([state.q, state.v])

    def ended(t: float, y: Array) -> float:
        return system.pressing(t, y)

    ended.terminal, ended.direction = True, -1.0  # type: ignore[attr-defined]
    speed = max(float(np.abs(state.v).max()), 1e-12)
    scale = np.concatenate([np.full(model.nq, 1e-12), np.full(model.nv, 1e-10 * speed)])
    from scipy.integrate import solve_ivp

    solution = solve_ivp(
        system.rate,
        (0.0, real("limit", limit, above=0.0)),
        start,
        method="Radau",
        jac=system.jacobian,
        events=ended,
        rtol=rtol,
        atol=scale,
        first_step=1e-9,
        dense_output=True,
    )
    q, v = solution.y[: model.nq, -1], solution.y[model.nq :, -1]
    if solution.status < 0 or not np.all(np.isfinite(solution.y)):
        status = Status.NUMERICAL
    else:
        status = Status.SOLVED if solution.status == 1 else Status.MAX_STEPS
    impulse = _accumulated(system, solution.t, solution.sol)
    path = solution.y[model.nq :].T.copy()
    return CompliantResult(v.copy(), q.copy(), float(solution.t[-1]), status, path, impulse)


def _accumulated(system: _Compliant, times: Array, state: Callable[[float], Array]) -> Array:
    """Integrals (k, nc) of the normal forces up to each time, by Gauss's rule within every step."""
    nodes, weights = np.polynomial.legendre.leggauss(4)
    middle, half = 0.5 * (times[1:] + times[:-1]), 0.5 * np.diff(times)
    forces = np.array(
        [[system.forces(state(m + h * x)) for x in nodes] for m, h in zip(middle, half, strict=True)]
    )
    steps = np.einsum("k,g,kgc->kc", half, weights, forces)
    return np.concatenate([np.zeros((1, len(system.rows))), np.cumsum(steps, axis=0)])


class _Compliant:
    """The stiff equations and their Jacobian; ``y`` is (q, v)."""

    def __init__(self, model: Model, law: KelvinVoigt, rows: np.ndarray) -> None:
        self.model, self.rows, self.slip = model, rows, real("slip", law.slip, above=0.0)
        nc = len(rows)
        self.mu = np.array([info.mu for info in model.contacts])[rows]
        self.k, self.c = law.stiffnesses(nc), law.dampers(nc)
        self.delta = 1e-3 * law.mass / float(self.k.min())

    def rate(self, t: float, y: Array) -> Array:
        """``dy/dt``, HP23 (10) with (88) to (90)."""
        q, v = np.split(y, 2)
        Jn, Jt = self._jacobians(q)
        normal, _ = self._normal(self.model.gaps(q)[self.rows], Jn @ v)
        slip = Jt @ v
        friction = -self.mu * normal * slip / np.maximum(np.abs(slip), self.slip)  # HP23 (89), (90)
        forces = Jn.T @ normal + Jt.T @ friction - self.model.bias(q, v)
        return np.concatenate([v, np.linalg.solve(self.model.mass(q), forces)])

    def jacobian(self, t: float, y: Array) -> Array:
        """The stiff part of ``d(dy/dt)/dy``: springs, dampers and friction; enough for Newton to converge."""
        q, v = np.split(y, 2)
        n = len(q)
        Jn, Jt = self._jacobians(q)
        normal, active = self._normal(self.model.gaps(q)[self.rows], Jn @ v)
        slip = Jt @ v
        unit = slip / np.maximum(np.abs(slip), self.slip)
        gain = np.where(np.abs(slip) < self.slip, self.mu * normal / self.slip, 0.0)
        along = Jn - (self.mu * unit)[:, None] * Jt  # force direction per unit of normal force
        by_q = -along.T @ ((active * self.k)[:, None] * Jn)
        by_v = -along.T @ ((active * self.c)[:, None] * Jn) - Jt.T @ (gain[:, None] * Jt)
        result = np.zeros((2 * n, 2 * n))
        result[:n, n:] = np.eye(n)
        result[n:] = np.linalg.solve(self.model.mass(q), np.hstack([by_q, by_v]))
        return result

    def _normal(self, gaps: Array, approach: Array) -> tuple[Array, np.ndarray]:
        """HP23 (88): normal forces (nc,) N, and where they follow spring and damper."""
        force = -self.k * gaps - self.c * approach
        active = (gaps <= 0.0) & (force > 0.0)
        return np.where(active, force, 0.0), active

    def forces(self, y: Array) -> Array:
        """Normal forces, (nc,) N."""
        q, v = np.split(y, 2)
        return self._normal(self.model.gaps(q)[self.rows], self._jacobians(q)[0] @ v)[0]

    def pressing(self, t: float, y: Array) -> float:
        """Event function, positive if a contact approaches by more than delta; its zero ends the impact."""
        q, v = np.split(y, 2)
        Jn, _ = self._jacobians(q)
        return -float((Jn @ v).min()) - self.delta

    def _jacobians(self, q: Array) -> tuple[Array, Array]:
        """Jacobians of the contacts that take part, both (nc, nv)."""
        Jn, Jt = self.model.jacobians(q)
        return Jn[self.rows], Jt[self.rows, 0]
