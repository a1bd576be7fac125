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
    modes : one array per constraint: "separates", "sticks" or "slides" for contacts, bool (acts) elsewhere.
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
    modes: tuple[np.ndarray, ...] = field(repr=False)
    directions: tuple[Array, ...] = field(repr=False)  # slip directions of contacts, for a warm start

    @property
    def acceleration(self) -> Array:
        """Mean acceleration over the step, (nv,)."""
        return (self.v - self.system.v) / self.system.dt


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


def modes_in(forces: ConstraintForces) -> tuple[np.ndarray, np.ndarray]:
    """Whether the unilateral rows act (nu,) and the modes of the contacts that can (nc,)."""
    rows = forces.system.rows
    flat = np.zeros(len(rows), dtype=int)
    for part in rows.parts:
        words = forces.modes[part.index][part.keep]
        if part.nt:
            flat[part.at[:, 0]] = _codes(words)
        else:
            flat[part.at] = words
    return flat[rows.nb : rows.nb + rows.nu] > 0, flat[rows.normals]


def _codes(words: np.ndarray) -> np.ndarray:
    """Numbers of modes, (n,), by their words."""
    return (words[:, None] == _WORDS).argmax(axis=1)


def scatter_modes(
    system: ConstrainedSystem, modes: Modes
) -> tuple[tuple[np.ndarray, ...], tuple[Array, ...]]:
    """Modes and slip directions as one array per constraint."""
    rows = system.rows
    flat = np.concatenate([np.ones(rows.nb), modes.active, modes.mode, np.zeros(rows.nc * rows.nt)])
    codes = scatter(system, flat)
    flat = np.concatenate([np.zeros(rows.tangents.start), modes.direction.ravel()])
    directions = scatter(system, flat)
    words = tuple(_WORDS[c[:, 0].astype(int)] if c.ndim == 2 else c.astype(bool) for c in codes)
    return words, tuple(d[:, 1:] if d.ndim == 2 else d for d in directions)


def warm_modes(system: ConstrainedSystem, earlier: ConstraintForces | None) -> Modes:
    """The modes of an earlier solve of the same constraints, as a start for this one."""
    rows = system.rows
    modes = Modes.first(rows)
    if earlier is None or len(earlier.modes) != len(system.constraints):
        return modes
    for part in rows.parts:
        words = earlier.modes[part.index]
        if len(words) != len(system.constraints[part.index]):
            continue
        if part.nt:
            here = part.at[:, 0] - rows.normals.start
            code = _codes(words[part.keep])
            direction = earlier.directions[part.index][part.keep]
            known = (code == SLIDES) & (np.abs(direction).max(axis=1) > 0.0)
            mode = np.where(known | ~can_stick(rows)[here], SLIDES, STICKS)
            # a contact that was open stays so unless it would push if nothing else did
            modes.mode[here] = np.where(code == SEPARATES, modes.mode[here], mode)
            modes.direction[here] = np.where((modes.mode[here] == SLIDES)[:, None], direction, 0.0)
        elif isinstance(system.constraints[part.index], Unilateral):
            modes.active[part.at - rows.nb] = words
    return modes
