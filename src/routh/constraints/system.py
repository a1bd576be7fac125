"""One step of a constrained mechanism as data, and its rows in one flat order."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from routh.constraints.mass import DenseMass, Mass, SparseMass, mass_of
from routh.constraints.types import Bilateral, Constraint, Contact, Unilateral
from routh.validation import Array, DenseOrSparse, real, real_array

#: D19 6.4: a tangential damper of this over dt holds a contact without creep (N s^2/m).
TANGENTIAL_DAMPER = 1e6


@dataclass(frozen=True, eq=False, init=False, repr=False)
class ConstrainedSystem:
    """A mechanism at one state with its constraints and the step to take.

    Parameters
    ----------
    M : (nv, nv), symmetric positive definite mass matrix, dense or SciPy sparse (block diagonal in bodies);
        or the factored ``mass`` of an earlier system.
    f : (nv,), all forces but the constraints', in N or N m; Coriolis terms with their sign here.
    v : (nv,), velocity at the start of the step.
    constraints : any number of `Bilateral`, `Unilateral` and `Contact`; contacts all planar or all spatial.
    dt : step in s, > 0.
    """

    M: DenseOrSparse
    f: Array
    v: Array
    constraints: tuple[Constraint, ...]
    dt: float

    def __init__(
        self, M: DenseOrSparse, f: ArrayLike, v: ArrayLike, constraints: Sequence[Constraint], dt: float
    ) -> None:
        mass = M if isinstance(M, DenseMass | SparseMass) else mass_of(M)
        nv = mass.nv
        self.__dict__.update(
            mass=mass,
            M=mass.M,
            f=real_array("f", f, [(nv,)], f"shape ({nv},)"),
            v=real_array("v", v, [(nv,)], f"shape ({nv},)"),
            constraints=tuple(constraints),
            dt=real("dt", dt, above=0.0),
        )
        _check_constraints(self.constraints, nv)

    mass: Mass

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return len(self.v)

    @cached_property
    def rows(self) -> ActingRows:
        """The rows that can act in this step, flat."""
        return ActingRows(self)

    def __repr__(self) -> str:
        return f"ConstrainedSystem(nv={self.nv}, dt={self.dt:g}, {list(self.constraints)!r})"


class ActingRows:
    """The acting rows of a system in the order bilateral, unilateral, contact normals, contact tangents.

    With ``X = h^2 K + h B``, ``S = sqrt(X)`` and ``lambda = S y`` every row obeys the same scaled law
    ``y = c - S G a`` where ``a = M^-1 G^T lambda`` is the acceleration by the constraints; K = B = 0 gives
    y = 0, and K = 1e15 is an ordinary number. Attributes are arrays over the n rows.
    """

    def __init__(self, system: ConstrainedSystem) -> None:
        self.h = h = system.dt
        self.mass = system.mass
        groups = [_group(system, kind) for kind in (Bilateral, Unilateral, Contact)]
        self.nb, self.nu, self.nc = (sum(len(part.keep) for part in parts) for parts in groups)
        contacts = groups[2]
        self.nt = contacts[0].nt if contacts else 1
        #: the acting rows of each constraint, in flat order
        self.parts = [part for parts in groups for part in parts]
        self._number()
        self.G = _stack([p.G for p in self.parts] + [p.Gt for p in contacts], system)
        numbers = [p.numbers for p in self.parts] + [p.tangential for p in contacts]
        self.phi, self.K, self.B, self.gamma = np.concatenate([np.zeros((4, 0)), *numbers], axis=1)
        self.mu = np.concatenate([np.zeros(0), *(p.mu for p in contacts)])
        self.X = h * h * self.K + h * self.B
        self.S = np.sqrt(self.X)
        # D19 (50): the rate at the end of the step without constraint forces
        self.v_free = system.v + h * self.mass.solve(system.f)
        self.w = self.G @ self.v_free + h * self.gamma
        safe = np.where(self.S > 0.0, self.S, 1.0)
        self.c = -(self.K / safe) * self.phi - (self.S / h) * self.w

    def _number(self) -> None:
        """Tell the parts where their rows stand."""
        first, tangent = 0, self.nb + self.nu + self.nc
        for part in self.parts:
            part.at = np.arange(first, first + len(part.keep))
            first += len(part.keep)
            if part.nt:
                across = np.arange(tangent, tangent + part.nt * len(part.keep)).reshape(-1, part.nt)
                part.at = np.column_stack([part.at, across])
                tangent += across.size

    def __len__(self) -> int:
        return len(self.phi)

    @property
    def normals(self) -> slice:
        """The contact normals among the rows."""
        return slice(self.nb + self.nu, self.nb + self.nu + self.nc)

    @property
    def tangents(self) -> slice:
        """The contact tangents among the rows, contact-major."""
        return slice(self.nb + self.nu + self.nc, len(self))

    @cached_property
    def white(self) -> Array:
        """Rows ``G L^-T`` of a dense system, so that ``G M^-1 G^T`` is their Gram matrix, (n, nv)."""
        assert isinstance(self.mass, DenseMass)
        return self.mass.whiten(self.G)

    @cached_property
    def N(self) -> Array:
        """Scaled rows ``S G L^-T`` of a dense system, (n, nv)."""
        return self.S[:, None] * self.white

    @cached_property
    def a(self) -> Array:
        """Diagonal of ``G M^-1 G^T``, (n,)."""
        if isinstance(self.mass, DenseMass):
            return np.einsum("ij,ij->i", self.white, self.white)
        return self.mass.diagonal(self.G)

    def frictionless(self) -> ActingRows:
        """The same rows with the contact normals as unilateral rows and without the tangents."""
        if self.nc == 0:
            return self
        keep, plain = slice(0, self.tangents.start), copy.copy(self)
        plain.G, plain.nu, plain.nc = self.G[keep], self.nu + self.nc, 0
        for name in ("phi", "K", "B", "gamma", "X", "S", "w", "c", "a", "white", "N"):
            if name in self.__dict__:
                setattr(plain, name, getattr(self, name)[keep])
        return plain

    def acceleration(self, force: Array) -> Array:
        """``M^-1 G^T lambda``, (nv,)."""
        return self.mass.solve(self.G.T @ force)


class _Part:
    """The acting rows of one constraint: which of its rows, and their numbers phi, K, B and gamma, (4, n)."""

    at: np.ndarray  # places among all rows: (n,) or, of contacts, (n, 1 + nt), normal first

    def __init__(self, index: int, item: Constraint, h: float) -> None:
        self.index = index
        if not isinstance(item, Contact):
            self.nt, self.keep, self.G = 0, np.arange(len(item)), item.G
            self.numbers = np.array([item.phi, item.stiffness, item.damping, item.bias])
            return
        self.nt = nt = item.nt
        self.keep = keep = np.flatnonzero((item.phi <= 0.0) | item.anticipate)
        every = len(keep) == len(item)
        rows = (keep[:, None] * nt + np.arange(nt)).ravel()
        self.G = item.Jn if every else item.Jn[keep]
        self.Gt = item.Jt if every else item.Jt[rows]
        self.mu, phi = item.mu[keep], item.phi[keep]
        damping = np.where(phi <= 0.0, item.damping[keep], 0.0)  # a damper would push before the gap closes
        self.numbers = np.array([phi, item.stiffness[keep], damping, item.bias[keep, 0]])
        damper = np.full(len(item), TANGENTIAL_DAMPER / h)
        damper = damper if item.tangential_damping is None else item.tangential_damping
        springs = np.repeat([item.tangential_stiffness[keep], damper[keep]], nt, axis=1)
        self.tangential = np.array([item.deformation[keep].ravel(), *springs, item.bias[keep, 1:].ravel()])


def _group(system: ConstrainedSystem, kind: type) -> list[_Part]:
    pairs = enumerate(system.constraints)
    return [_Part(index, item, system.dt) for index, item in pairs if isinstance(item, kind)]


def _stack(blocks: list[DenseOrSparse], system: ConstrainedSystem) -> DenseOrSparse:
    if isinstance(system.mass, SparseMass):
        empty = sparse.csr_array((0, system.nv))
        return sparse.vstack([empty, *map(sparse.csr_array, blocks)], format="csr")
    dense = [block.toarray() if sparse.issparse(block) else block for block in blocks]
    if len(dense) == 1:
        return np.asfortranarray(dense[0])
    return np.asfortranarray(np.concatenate([np.zeros((0, system.nv)), *dense]))


def _check_constraints(constraints: tuple[Constraint, ...], nv: int) -> None:
    for index, item in enumerate(constraints):
        if not isinstance(item, (Bilateral, Unilateral, Contact)):
            raise ValueError(
                f"constraints[{index}]: got {type(item).__name__}; wanted Bilateral, Unilateral or Contact"
            )
        columns = (item.Jn if isinstance(item, Contact) else item.G).shape[1]
        if columns != nv:
            raise ValueError(f"constraints[{index}]: got a Jacobian with {columns} columns; wanted nv = {nv}")
    if len({item.nt for item in constraints if isinstance(item, Contact)}) > 1:
        raise ValueError("constraints: got planar and spatial contacts; wanted one kind in one system")
