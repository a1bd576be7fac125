"""Constraint forces of one step: the right solver for each input, and its residual."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from routh import tolerances
from routh.constraints.friction import (
    SEPARATES,
    SLIDES,
    STICKS,
    CoulombResult,
    Modes,
    can_stick,
    solve_cone,
    solve_coulomb,
    solve_from_anywhere,
)
from routh.constraints.springs import solve_active_set
from routh.constraints.system import ActingRows, ConstrainedSystem, Residuals, residuals_of
from routh.constraints.types import Contact, Unilateral
from routh.friction.cones import ContactMode
from routh.status import Status
from routh.validation import Array, choice


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


#: up to so many contacts drawn modes have a chance
FEW_CONTACTS = 16
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
        not settle; Newton from drawn modes where these do not help).
    warm : the result of the step before, to start from.
    """
    choice("solver", solver, SOLVERS)
    rows = system.rows
    found, name = _energy(rows, warm_modes(system, warm), solver)
    residuals = residuals_of(rows, found.force)
    residual = residuals.largest
    rates, ends = _ends(rows, found)
    v = rows.v_free + rows.h * found.acceleration
    return ConstraintForces(
        system=system,
        forces=scatter(system, found.force),
        v=v,
        rates=scatter(system, rates),
        deformations=_all_deformations(system, ends, v),
        status=Status.SOLVED if residual < _tolerance(rows) else Status.NUMERICAL,
        residuals=residuals,
        residual=residual,
        method="energy",
        solver=name,
        iterations=found.iterations,
        acting=found.modes,
    )


def _tolerance(rows: ActingRows) -> float:
    huge = rows.mu.max(initial=0.0) > tolerances.HUGE_FRICTION
    return tolerances.RESIDUAL_HUGE_FRICTION if huge else tolerances.RESIDUAL


def _energy(rows: ActingRows, modes: Modes, solver: str) -> tuple[CoulombResult, str]:
    if len(rows) == 0:
        return CoulombResult(np.zeros(0), np.zeros(rows.mass.nv), modes, 0, 0.0), "none"
    rough = bool(can_stick(rows).any())
    if rough and solver == "cone-program":
        return solve_cone(rows), "cone-program"
    found = solve_coulomb(rows, modes)
    if not rough:
        if not found.residual < tolerances.COULOMB_ITERATION:
            return _frictionless(rows, modes)
        return found, "linear" if rows.nb == len(rows) else "active-set"
    if solver == "auto" and not found.residual < tolerances.COULOMB_ITERATION:
        other = solve_cone(rows)
        if not other.residual < tolerances.RESIDUAL and rows.nc <= FEW_CONTACTS:
            again = solve_from_anywhere(rows)
            found = again if again.residual < found.residual else found
        if other.residual < found.residual:
            return other, "cone-program"
    return found, "newton"


def _frictionless(rows: ActingRows, modes: Modes) -> tuple[CoulombResult, str]:
    """By orthogonal transformations and, where full steps would cycle, a line search."""
    plain = rows.frictionless()
    start = np.concatenate([np.ones(rows.nb, bool), modes.active, modes.mode != SEPARATES])
    found = solve_active_set(plain, start)
    force = np.zeros(len(rows))
    force[: len(plain)] = plain.S * found.y
    active = found.active[rows.nb :]
    mode = np.where(active[rows.nu :], SLIDES, SEPARATES)
    shown = Modes(active[: rows.nu], mode, np.zeros((rows.nc, rows.nt)), np.zeros(rows.nc))
    name = "active-set" if len(plain) > rows.nb else "linear"
    return CoulombResult(force, found.acceleration, shown, found.iterations, 0.0), name


def _ends(rows: ActingRows, found: CoulombResult) -> tuple[Array, Array]:
    """Rates and deformations at the end of the step, (n,), without the cancellation of stiff rows."""
    rate = rows.w + rows.h * (rows.G @ found.acceleration)
    end = rows.phi + rows.h * rate
    mode = found.modes.mode
    stuck = np.repeat(mode == STICKS, rows.nt)
    acts = np.concatenate([np.ones(rows.nb, bool), found.modes.active, mode != SEPARATES, stuck])
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
