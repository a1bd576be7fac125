"""What a constraint solve returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from routh.constraints.mode_rows import SEPARATES, SLIDES, STICKS, Modes, can_stick
from routh.constraints.residual import Residuals
from routh.constraints.system import ConstrainedSystem
from routh.constraints.types import Contact, Unilateral
from routh.friction import ContactMode
from routh.status import Status
from routh.validation import Array


@dataclass(frozen=True, eq=False)
class ConstraintForces:
    """Forces, velocity after the step, and how well they were solved.

    Parameters
    ----------
    system : what was solved.
    forces : one array per constraint, in N: (n,) for rows, (nc, 1 + nt) for contacts, normal first.
    v : (nv,), velocity at the end of the step, D19 (37).
    rates : one array per constraint, deformation rates at the end of the step, shaped as the forces.
    deformations : one array per constraint, deformations at the end of the step; tangential ones are those
        of the springs, which lose what slips.
    status : `Status.SOLVED` only where the residuals, recomputed outside the solver, are below tolerance.
    residuals : scaled residuals by law; ``residuals.friction`` is Coulomb's (of the paper's method: how far
        its answer is from Coulomb's law and the complementarity, which it does not solve).
    residual : the one that the status was judged by.
    method : "energy", or "paper" for D19's own program.
    solver : which algorithm ran: "none", "linear", "active-set", "newton", "cone-program".
    iterations : linear solves or cone programs that it took.
    acting : what the rows do that can act, for a warm start and for derivatives.
    """

    system: ConstrainedSystem = field(repr=False)
    forces: tuple[Array, ...]
    v: Array
    rates: tuple[Array, ...] = field(repr=False)
    deformations: tuple[Array, ...] = field(repr=False)
    status: Status
    residuals: Residuals
    residual: float
    method: str
    solver: str
    iterations: int
    acting: Modes = field(repr=False)

    @property
    def acceleration(self) -> Array:
        """Mean acceleration over the step, (nv,)."""
        return (self.v - self.system.v) / self.system.dt

    @property
    def modes(self) -> tuple[np.ndarray, ...]:
        """One array per constraint: "separates", "sticks" or "slides" for contacts, bool (acts) elsewhere."""
        return tuple(
            _WORDS[each[:, 0].astype(int)] if each.ndim == 2 else each.astype(bool)
            for each in self.numbered_modes()
        )

    def numbered_modes(self) -> tuple[Array, ...]:
        """One array per constraint: 1 where rows act; of contacts `ContactMode` and slip direction."""
        acts, modes = np.ones(self.system.rows.nb), self.acting
        flat = np.concatenate([acts, modes.active, modes.mode, modes.direction.ravel()])
        return scatter(self.system, flat)


_WORDS = np.array([mode.word for mode in ContactMode])


def scatter(system: ConstrainedSystem, flat: Array) -> tuple[Array, ...]:
    """Flat values (n,) as one array per constraint; zero in rows that did not act."""
    result: list[Array] = []
    for item in system.constraints:
        result.append(np.zeros((len(item), 1 + item.nt) if isinstance(item, Contact) else len(item)))
    for part in system.rows.parts:
        result[part.index][part.keep] = flat[part.at]
    return tuple(result)


def gather(system: ConstrainedSystem, arrays: Sequence[np.ndarray]) -> Array:
    """One array per constraint, shaped as its forces, as flat values (n,) of the rows that act."""
    flat = np.empty(len(system.rows))
    for part in system.rows.parts:
        flat[part.at] = arrays[part.index][part.keep]
    return flat


def warm_modes(system: ConstrainedSystem, earlier: ConstraintForces | None) -> Modes:
    """The modes of an earlier solve of the same constraints, as a start for this one."""
    rows = system.rows
    modes = Modes.first(rows)
    if earlier is None or len(earlier.system.constraints) != len(system.constraints):
        return modes
    before = earlier.numbered_modes()
    for part in rows.parts:
        numbers = before[part.index]
        if len(numbers) != len(system.constraints[part.index]):
            continue
        if part.nt:
            here = part.at[:, 0] - rows.normals.start
            code, direction = numbers[part.keep, 0], numbers[part.keep, 1:]
            known = (code == SLIDES) & (np.abs(direction).max(axis=1) > 0.0)
            mode = np.where(known | ~can_stick(rows)[here], SLIDES, STICKS)
            # a contact that was open stays so unless it would push if nothing else did
            modes.mode[here] = np.where(code == SEPARATES, modes.mode[here], mode)
            modes.direction[here] = np.where((modes.mode[here] == SLIDES)[:, None], direction, 0.0)
        elif isinstance(system.constraints[part.index], Unilateral):
            modes.active[part.at - rows.nb] = numbers
    return modes
