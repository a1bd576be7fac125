"""Constraint forces of one step: the right solver for each input, and its residual."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from routh.base import tolerances
from routh.base.results import Result
from routh.base.status import Status
from routh.base.validation import Array, choice
from routh.constraints.friction import (
    SEPARATES,
    STICKS,
    CoulombResult,
    can_stick,
    solve_cone,
    solve_coulomb,
)
from routh.constraints.system import ActingRows, ConstrainedSystem, residuals_of
from routh.constraints.types import Contact
from routh.kernels.constraints.data import Modes, make_modes
from routh.kernels.constraints.scaling import Residuals
from routh.kernels.constraints.settle import WARM
from routh.problem.friction import ContactMode
from routh.step.base import residual_tolerance


@dataclass(frozen=True, eq=False)
class ConstraintForces(Result):
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
        flat = np.concatenate([acts, modes.acts, modes.direction.ravel()])
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


def modes_before(system: ConstrainedSystem, earlier: ConstraintForces | None) -> Modes | None:
    """The modes of an earlier solve of the same constraints, as far as their rows act now."""
    sizes = [] if earlier is None else [len(item) for item in earlier.system.constraints]
    if earlier is None or sizes != [len(item) for item in system.constraints]:
        return None
    rows, flat = system.rows, gather(system, earlier.numbered_modes())
    acts, direction = flat[rows.nb : rows.tangents.start], flat[rows.tangents].reshape(rows.nc, rows.nt)
    return Modes(acts.astype(np.int64), direction, np.zeros(rows.nc))


SOLVERS = ("auto", "newton", "cone-program")


def solve(
    system: ConstrainedSystem, *, solver: str = "auto", warm: ConstraintForces | None = None
) -> ConstraintForces:
    """Forces and the velocity at the end of the step.

    They solve the complementarity problem that D19 (68) and Coulomb's law discretise to; D19's own program,
    (181)-(198), is in `routh.reproduce.d19_program`.

    Parameters
    ----------
    system : the mechanism, its constraints and the step.
    solver : for friction: "newton", "cone-program", or "auto" (Newton; cone programs where it does
        not settle).
    warm : the result of the step before, to start from.
    """
    choice("solver", solver, SOLVERS)
    found, name = _energy(system.rows, modes_before(system, warm), solver)
    return told(system, found, name)


def told(system: ConstrainedSystem, found: CoulombResult, name: str) -> ConstraintForces:
    """Forces of the acting rows with all that follows from them; ``name`` of the solver."""
    rows = system.rows
    residuals = residuals_of(rows, found.force, found.acceleration)
    residual = residuals.largest
    rates, ends = _ends(rows, found)
    v = rows.v_free + rows.h * found.acceleration
    return ConstraintForces(
        system=system,
        forces=scatter(system, found.force),
        v=v,
        rates=scatter(system, rates),
        deformations=_all_deformations(system, ends, v),
        status=Status.SOLVED if residual < residual_tolerance(rows.mu) else Status.NUMERICAL,
        residuals=residuals,
        residual=residual,
        method="energy",
        solver=name,
        iterations=found.iterations,
        acting=found.modes,
    )


def name_of(rows: ActingRows) -> str:
    """Name of the algorithm that Newton's method on the modes is for these rows."""
    if len(rows) == 0:
        return "none"
    if can_stick(rows).any():
        return "newton"
    return "linear" if rows.nb == len(rows) else "active-set"


def _energy(rows: ActingRows, modes: Modes | None, solver: str) -> tuple[CoulombResult, str]:
    name = name_of(rows)
    if name == "none":
        idle = make_modes(rows.nu, rows.nc, rows.nt)
        return CoulombResult(np.zeros(0), np.zeros(rows.mass.nv), idle, 0, 0.0), name
    if name == "newton" and solver == "cone-program":
        return solve_cone(rows), solver
    found = solve_coulomb(rows, modes, start=WARM)
    if found.residual < tolerances.COULOMB_ITERATION:
        return found, name
    if solver == "auto" or name != "newton":
        other = solve_cone(rows)
        if other.residual < found.residual:
            return other, "cone-program"
    return found, name


def _ends(rows: ActingRows, found: CoulombResult) -> tuple[Array, Array]:
    """Rates and deformations at the end of the step, (n,), without the cancellation of stiff rows."""
    rate = rows.w + rows.h * (rows.G @ found.acceleration)
    end = rows.phi + rows.h * rate
    mode = found.modes.acts[rows.nu :]
    stuck = np.repeat(mode == STICKS, rows.nt)
    acts = np.concatenate([np.ones(rows.nb, bool), found.modes.acts != SEPARATES, stuck])
    lawful = acts & (rows.X * rows.a > 1.0)
    stiff = np.where(rows.X > 0.0, rows.h * rows.K + rows.B, 1.0)
    # lambda = -K phi_1 - B rate and phi_1 = phi_0 + h rate, solved for rate and for phi_1
    rate = np.where(lawful, -(found.force + rows.K * rows.phi) / stiff, rate)
    by_law = (rows.B * rows.phi - rows.h * found.force) / stiff
    end = np.where(lawful, by_law, end)
    if rows.nc:
        # the slider takes its part of the tangential rate; what is left stretches the spring
        end[rows.tangents] = np.where(rows.X > 0.0, by_law, rows.phi)[rows.tangents]
        opened = np.repeat(mode == SEPARATES, rows.nt)
        end[rows.tangents] = np.where(opened, 0.0, end[rows.tangents])
    return rate, end


def _all_deformations(system: ConstrainedSystem, ends: Array, v: Array) -> tuple[Array, ...]:
    """Deformations per constraint; a gap that did not act moves with the velocity, its friction forgets."""
    result = scatter(system, ends)
    for part in system.rows.parts:
        item = system.constraints[part.index]
        if isinstance(item, Contact) and len(part.keep) < len(item):
            acts = np.zeros(len(item), dtype=bool)
            acts[part.keep] = True
            idle = np.flatnonzero(~acts)
            rate = item.Jn[idle] @ v + system.dt * item.bias[idle, 0]
            result[part.index][idle, 0] = item.phi[idle] + system.dt * rate
    return result
