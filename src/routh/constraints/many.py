"""Many steps of systems with the same constraints at once: compiled, on threads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from routh.base import tolerances
from routh.base.results import Column, Result, Tabular, status_column
from routh.base.status import InputError, Status
from routh.base.validation import Array, DenseOrSparse, integer
from routh.constraints.friction import CoulombResult
from routh.constraints.solving import ConstraintForces, gather, name_of, solve, told
from routh.constraints.system import (
    KINDS,
    ActingPart,
    ConstrainedSystem,
    DenseMass,
    dense_layout,
    row_numbers,
)
from routh.constraints.types import Contact
from routh.kernels.common.slices import run_slices
from routh.kernels.constraints.data import Modes, Scratch, make_modes, make_scratch
from routh.kernels.constraints.settle import COLD, WARM, Solved, Steps, solve_steps


@dataclass(frozen=True, eq=False)
class ManyForces(Result, Tabular):
    """Forces and velocities of many steps; ``[k]`` is what `solve` gives for system k.

    Parameters
    ----------
    systems : what was solved, E of them.
    forces : one array per constraint, in N: (E, n) for rows, (E, nc, 1 + nt) for contacts, normal first.
    v : (E, nv), velocities at the end of the steps.
    status : (E,) int8, `Status` of each.
    residual : (E,), scaled residuals, computed from forces and data.
    iterations : (E,), linear solves or cone programs.
    rescued : (E,) bool: those that compiled code did not solve and the readable solver did, or tried to.
    found : what compiled code made of all rows, in the order of `ActingRows`.
    alone : what the readable solver made of the rescued ones, by number.
    """

    systems: tuple[ConstrainedSystem, ...] = field(repr=False)
    forces: tuple[Array, ...] = field(repr=False)
    v: Array = field(repr=False)
    status: np.ndarray = field(repr=False)
    residual: Array = field(repr=False)
    iterations: np.ndarray = field(repr=False)
    rescued: np.ndarray = field(repr=False)
    found: Solved = field(repr=False)
    alone: dict[int, ConstraintForces] = field(repr=False)

    def __len__(self) -> int:
        return len(self.systems)

    @property
    def ok(self) -> bool:
        """Whether all were solved."""
        return bool(np.all(self.status == Status.SOLVED))

    def _columns(self) -> Mapping[str, Column]:
        return {
            "v": Column(("system", "velocity"), self.v, "m/s or rad/s", "at the end of the step"),
            "status": status_column("system", self.status),
            "residual": Column(("system",), self.residual),
            "iterations": Column(("system",), self.iterations),
            "rescued": Column(("system",), self.rescued, "1", "solved by the readable solver"),
        }

    def __getitem__(self, k: int) -> ConstraintForces:
        k = range(len(self))[k]
        if k in self.alone:
            return self.alone[k]
        system, modes = self.systems[k], self.found.modes
        rows = system.rows
        at = gather(system, _numbers(system)).astype(np.int64)
        acts = np.concatenate([np.ones(rows.nb), modes.acts[k]])  # of all rows but the tangents
        contacts = at[rows.normals] - (len(acts) - modes.weakening.shape[1])
        does = acts[at[rows.nb : rows.tangents.start]].astype(np.int64)
        shown = Modes(does, modes.direction[k][contacts], modes.weakening[k][contacts])
        numbers = int(self.iterations[k]), float(self.residual[k])
        force, acceleration = self.found.force[k][at], self.found.acceleration[k]
        return told(system, CoulombResult(force, acceleration, shown, *numbers), name_of(rows))


def solve_many(
    systems: Sequence[ConstrainedSystem], *, warm: ManyForces | None = None, threads: int | None = None
) -> ManyForces:
    """`solve` for many states of one mechanism, such as those of environments that learn or plan.

    Every answer is, to the bit, what `solve` gives for its system alone, for every number of threads. What
    compiled code does not solve, `solve` does; so it does with sparse mass matrices, one after the other.

    Parameters
    ----------
    systems : with the same kinds and numbers of constraints in the same order; all else may differ.
    warm : the result of the steps before, in the same order, to start from.
    threads : how many; None: as many as there are processors.
    """
    given = tuple(systems)
    if not given:
        raise InputError("systems", got="none", wanted="at least one")
    if threads is not None:
        integer("threads", threads, at_least=1)
    for field_, others in (("systems", given), ("warm", () if warm is None else warm.systems)):
        for k, system in enumerate(others):
            if _kinds(system) != _kinds(given[0]):
                raise InputError(
                    f"{field_}[{k}]",
                    got=_kinds(system),
                    wanted=f"the velocities and constraints of systems[0], {_kinds(given[0])}",
                )
    if warm is not None and len(warm) != len(given):
        raise InputError("warm", got=f"the result of {len(warm)} steps", wanted=len(given))
    first, enough, start = given[0], tolerances.COULOMB_ITERATION, COLD
    numbers, counts = _numbers(first), _counts(first)
    layout, found = dense_layout(counts, first.nv), _room(len(given), first.nv, counts)
    v, rescued = np.empty((len(given), first.nv)), np.ones(len(given), dtype=bool)
    if warm is not None:
        start = WARM
        found.modes.acts[:], found.modes.direction[:] = warm.found.modes[:2]
    if all(isinstance(system.mass, DenseMass) for system in given):
        steps = _packed(given, numbers, counts)

        def work(begin: int, end: int, own: Scratch) -> None:
            solve_steps(begin, end, start, enough, layout, steps, own, found)

        run_slices(len(given), lambda: make_scratch(layout, 0), work, threads=threads)
        v, rescued = steps.v + steps.h[:, None] * found.acceleration, ~(found.residual < enough)
    status, alone = np.full(len(given), Status.SOLVED, dtype=np.int8), {}
    for k in np.flatnonzero(rescued).tolist():
        alone[k] = one = solve(given[k], warm=None if warm is None else warm[k])
        v[k], found.residual[k], found.solves[k], status[k] = one.v, one.residual, one.iterations, one.status
        modes = np.zeros(found.force.shape[1])
        for rows, force, does in zip(numbers, one.forces, one.numbered_modes(), strict=True):
            found.force[k][rows], modes[rows] = force, does
        nb, end = counts[0], counts[0] + counts[1] + counts[2]
        found.modes.acts[k] = modes[nb:end]
        found.modes.direction[k] = modes[end:].reshape(counts[2:])
    forces = tuple(found.force[:, rows] for rows in numbers)
    return ManyForces(given, forces, v, status, found.residual, found.solves, rescued, found, alone)


def _kinds(system: ConstrainedSystem) -> tuple[object, ...]:
    """Velocities, and the kind and size of each constraint."""
    items = ((type(item).__name__, len(item), getattr(item, "nt", 0)) for item in system.constraints)
    return system.nv, *items


def _counts(system: ConstrainedSystem) -> tuple[int, int, int, int]:
    """Bilateral and unilateral rows, contacts, and tangents of each."""
    items = system.constraints
    nb, nu, nc = (sum(len(item) for item in items if isinstance(item, kind)) for kind in KINDS)
    return nb, nu, nc, next((item.nt for item in items if isinstance(item, Contact)), 1)


def _numbers(system: ConstrainedSystem) -> list[np.ndarray]:
    """Row numbers of each constraint if all act."""
    return row_numbers([(type(item), len(item)) for item in system.constraints], _counts(system)[3])


def _room(count: int, nv: int, counts: tuple[int, int, int, int]) -> Solved:
    nb, nu, nc, nt = counts
    force, acceleration = np.zeros((count, nb + nu + nc * (1 + nt))), np.zeros((count, nv))
    modes = make_modes(nu, nc, nt, count)
    return Solved(force, acceleration, modes, np.zeros(count), np.zeros(count, dtype=np.int64))


def _packed(
    systems: Sequence[ConstrainedSystem], numbers: list[np.ndarray], counts: tuple[int, int, int, int]
) -> Steps:
    """The numbers of all steps; rows that cannot act are zero."""
    nb, nu, nc, nt = counts
    E, nv, n = len(systems), systems[0].nv, nb + nu + nc * (1 + nt)
    shapes = (E,), (E, nv, nv), (nv,), (E, nv), (E, n, nv), (E, 4, n), (E, nc)
    steps = Steps(*map(np.zeros, shapes))
    for e, system in enumerate(systems):
        assert isinstance(system.mass, DenseMass)
        steps.h[e], steps.half[e] = system.dt, system.mass.half
        steps.v[e] = system.v + system.dt * system.mass.solve(system.f)
        G, values = steps.G[e], steps.numbers[e]
        for index, item in enumerate(system.constraints):
            part = ActingPart(index, item, system.dt)
            at = numbers[index][part.keep]
            if part.nt:
                across = at[:, 1:].ravel()
                G[across], values[:, across] = _dense(part.Gt), part.tangential
                at = at[:, 0]
                steps.mu[e, at - nb - nu] = part.mu
            G[at], values[:, at] = _dense(part.G), part.numbers
    return steps


def _dense(G: DenseOrSparse) -> Array:
    return np.asarray(G.toarray() if sparse.issparse(G) else G)
