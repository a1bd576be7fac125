"""One adjoint solve of a constrained step: what every number of the system is worth.

The linearised step is the last step of Newton's method in `coulomb`. Its transpose has the same rows with
pushing and measuring exchanged, so the same stable code solves it. With ``w`` the worth of a force on the
velocities and ``r = d/d(lambda) + G w`` that of a row's force, a change of the row's wish is worth
``P'^T r``, and everything else follows by the product rule.
"""

from __future__ import annotations

import numpy as np

from routh.constraints.forces import scatter
from routh.constraints.linear import solve_springs
from routh.constraints.linearised import Linearised
from routh.constraints.system import TANGENTIAL_DAMPER, ConstrainedSystem
from routh.constraints.system_gradient import ContactGradient, OuterRows, RowsGradient, SystemGradient
from routh.constraints.types import Contact
from routh.validation import Array


def adjoint(
    system: ConstrainedSystem, at: Linearised, on_v: Array, on_force: Array, on_memory: Array
) -> SystemGradient:
    """The gradient of a number from its derivatives with respect to what the step gives.

    ``on_v`` (nv,): the velocity after; ``on_force`` (n,): the rows' forces; ``on_memory`` (n,): the
    deformations of tangential springs at the end, zero in other rows.
    """
    rows, few, h = at.rows, at.few, at.rows.h
    direct = _memory(at, on_memory)
    on_force = on_force + direct["force"]
    free = h * rows.mass.solve(on_v)  # what a force is worth where no constraint answers
    wanted = few.S * (few.gathered(on_force) + few.push @ free)
    p, answer = solve_springs(rows.mass, few.push, few.measure, few.S, wanted)
    w = free - answer
    worth = on_force + rows.G @ w
    # stiff rows by p, where the sum cancels
    by_rows = np.where(few.S > 0.0, p / np.where(few.S > 0.0, few.S, 1.0), few.gathered(worth))
    on_wish = _on_wish(at, by_rows)
    flat = {
        "phi": -rows.K * on_wish + direct["phi"],
        "K": -(rows.phi + h * at.rate) * on_wish + direct["K"],
        "B": -at.rate * on_wish + direct["B"],
        "gamma": -rows.X * on_wish,
        "slope": rows.X / h * on_wish,
        "force": at.force,
        "mu": np.zeros(len(rows)),
    }
    friction = worth[rows.tangents].reshape(rows.nc, rows.nt)
    flat["mu"][rows.normals] = (at.force[rows.normals, None] * at.slip * friction).sum(axis=1)
    change = at.v - system.v
    inertia = np.asarray(rows.mass.M @ w) / h
    on_h = float(inertia @ change) / h + float(direct["h"].sum())
    on_h -= float(on_wish @ (rows.K * at.rate + rows.X / h * rows.gamma))
    columns = zip(*(scatter(system, values) for values in flat.values()), strict=True)
    parts = [dict(zip(flat, column, strict=True)) for column in columns]  # of each constraint
    gradients = []
    for item, part in zip(system.constraints, parts, strict=True):
        gradients.append(
            _of_contact(item, part, w, at.v) if isinstance(item, Contact) else _of_rows(part, w, at.v)
        )
        if isinstance(item, Contact) and item.tangential_damping is None:  # D19's damper is 1e6 / dt
            on_h -= TANGENTIAL_DAMPER / h**2 * float(part["B"][:, 1:].sum())
    return SystemGradient(f=w, v=inertia, dt=on_h, constraints=tuple(gradients), change=change, h=h)


def _on_wish(at: Linearised, by_rows: Array) -> Array:
    """What a change of each row's wish is worth, (n,)."""
    few, k = at.few, len(at.few.plain)
    on_wish = np.zeros(len(at.rows))
    on_wish[few.plain] = by_rows[:k]
    on_wish[few.across] = (few.root**2 * by_rows[k:])[:, None] * few.turned
    return on_wish


def _memory(at: Linearised, on_memory: Array) -> dict[str, Array]:
    """A tangential spring ends at ``(B phi - h lambda) / (h K + B)``: what each of these is worth, (n,).

    A contact that opens forgets, and a spring that is none stays as it is.
    """
    rows, h = at.rows, at.rows.h
    stiff = h * rows.K + rows.B
    acts = stiff > 0.0
    acts[rows.tangents] &= np.repeat(at.closed, rows.nt)
    kept = np.zeros(len(rows))
    kept[rows.tangents] = on_memory[rows.tangents] * (np.repeat(at.closed, rows.nt) & ~acts[rows.tangents])
    safe = np.where(acts, stiff, 1.0)
    share = np.where(acts, on_memory, 0.0) / safe
    end = (rows.B * rows.phi - h * at.force) / safe
    return {
        "force": -h * share,
        "phi": rows.B * share + kept,
        "K": -h * end * share,
        "B": (rows.phi - end) * share,
        "h": -(at.force + rows.K * end) * share,
    }


def _of_rows(part: dict[str, Array], w: Array, v: Array) -> RowsGradient:
    outer = {"G": OuterRows(part["force"], part["slope"], w, v)}
    return RowsGradient(part["phi"], part["K"], part["B"], part["gamma"], outer)


def _of_contact(item: Contact, part: dict[str, Array], w: Array, v: Array) -> ContactGradient:
    own = item.tangential_damping is None
    force, slope = part["force"], part["slope"]
    return ContactGradient(
        phi=part["phi"][:, 0],
        mu=part["mu"][:, 0],
        stiffness=part["K"][:, 0],
        damping=np.where(item.phi <= 0.0, part["B"][:, 0], 0.0),
        tangential_stiffness=part["K"][:, 1:].sum(axis=1),
        tangential_damping=part["B"][:, 1:].sum(axis=1) * (not own),
        deformation=part["phi"][:, 1:],
        bias=part["gamma"],
        outer={
            "Jn": OuterRows(force[:, 0], slope[:, 0], w, v),
            "Jt": OuterRows(force[:, 1:].ravel(), slope[:, 1:].ravel(), w, v),
        },
    )
