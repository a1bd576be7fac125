"""One step of a constrained mechanism as data: mass matrix, constraints, and rows in one flat order.

`residuals_of` says how well forces obey their laws, from the forces and the data alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.linalg import lapack
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from routh.base import tolerances
from routh.base.status import InputError
from routh.base.validation import Array, DenseOrSparse, real, real_array
from routh.constraints.types import Bilateral, Constraint, Contact, Unilateral
from routh.kernels.constraints.data import DENSE, SPARSE, Layout, Terms, make_terms
from routh.kernels.constraints.scaling import Residuals, factorise
from routh.problem.friction import project_disc

KINDS = Bilateral, Unilateral, Contact  # in the order of rows
#: D19 6.4: a tangential damper of this over dt holds a contact without creep (N s^2/m).
TANGENTIAL_DAMPER = 1e6
ROOM = 4  # entries of sparse factors, as a multiple of those of a matrix in which everything acts


class DenseMass:
    """``M = L L^T`` with its factor."""

    def __init__(self, M: DenseOrSparse) -> None:
        self.M = real_array("M", M, [(None, None)], "shape (nv, nv)")
        _check_symmetric(self.M)
        # the inverse of the triangular factor: bodies are few where matrices are dense, calls are many
        self.half = lapack.dtrtri(_factor(self.M), lower=1)[0]

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return len(self.M)

    def solve(self, b: Array) -> Array:
        """Product ``M^-1 b``."""
        return self.half.T @ (self.half @ b)

    def whiten(self, G: Array) -> Array:
        """Rows ``G L^-T``, so that ``G M^-1 G^T`` is their Gram matrix, (n, nv)."""
        return (self.half @ G.T).T  # column by column in memory: products with few columns are faster so

    def unwhiten(self, x: Array) -> Array:
        """Product ``L^-T x``."""
        return self.half.T @ x


class SparseMass:
    """A sparse mass matrix: block diagonal in bodies, in any order; each block is inverted."""

    def __init__(self, M: DenseOrSparse) -> None:
        self.given = M
        self.M = sparse.csr_array(M, dtype=np.float64)
        if not np.all(np.isfinite(self.M.data)):
            raise InputError("M", got="an entry that is not finite", wanted="finite numbers")
        _check_symmetric(self.M)
        self.inverse = _inverse_of_blocks(self.M)

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return int(self.M.shape[0])

    def solve(self, b: Array) -> Array:
        """Product ``M^-1 b``."""
        return self.inverse @ b

    def diagonal(self, G: DenseOrSparse) -> Array:
        """Diagonal of ``G M^-1 G^T``, (n,)."""
        return np.asarray((G @ self.inverse).multiply(G).sum(axis=1)).ravel()


Mass = DenseMass | SparseMass


def _check_symmetric(M: DenseOrSparse) -> None:
    if M.shape[0] != M.shape[1]:
        raise InputError("M", got=f"shape {M.shape}", wanted="(nv, nv)")
    off = abs(M - M.T).max() if M.shape[0] else 0.0
    if off and not off <= tolerances.SYMMETRY * abs(M).max():
        raise InputError("M", got=f"asymmetry {off:g}", wanted="a symmetric matrix")


def _factor(M: Array) -> Array:
    """Cholesky factor; a direction whose inertia is lost in rounding counts as massless."""
    L, info = lapack.dpotrf(M, lower=1, clean=1)
    margin = 0.0 if info else (np.diag(L) ** 2 / np.diag(M)).min(initial=1.0)
    if not margin > tolerances.MASSLESS:
        lowest = np.linalg.eigvalsh(M)[0]
        raise InputError(
            "M",
            got=f"smallest eigenvalue {lowest:g}",
            wanted=(
                "a positive definite mass matrix: a massless direction has no acceleration, so "
                "give every body mass and inertia"
            ),
        )
    return L


def _inverse_of_blocks(M: DenseOrSparse) -> DenseOrSparse:
    count, label = connected_components(M, directed=False)
    if count == M.shape[0]:
        diagonal = M.diagonal()
        if not diagonal.min(initial=1.0) > 0.0:
            _factor(np.diag(diagonal))
        return sparse.diags_array(1.0 / diagonal).tocsr()
    order = np.argsort(label, kind="stable")
    blocks = np.split(order, np.cumsum(np.bincount(label))[:-1])
    rows, columns, data = [], [], []
    for block in blocks:
        dense = M[block][:, block].toarray()
        half = lapack.dtrtri(_factor(dense), lower=1)[0]
        rows.append(np.repeat(block, len(block)))
        columns.append(np.tile(block, len(block)))
        data.append((half.T @ half).ravel())
    triple = (np.concatenate(data), (np.concatenate(rows), np.concatenate(columns)))
    return sparse.coo_array(triple, shape=M.shape).tocsr()


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
        if isinstance(M, DenseMass | SparseMass):
            mass: Mass = M
        else:
            mass = SparseMass(M) if sparse.issparse(M) else DenseMass(M)
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
        pairs = list(enumerate(system.constraints))
        groups = [
            [ActingPart(index, item, h) for index, item in pairs if isinstance(item, kind)] for kind in KINDS
        ]
        self.nb, self.nu, self.nc = (sum(len(part.keep) for part in parts) for parts in groups)
        contacts = groups[2]
        self.nt = contacts[0].nt if contacts else 1
        #: the acting rows of each constraint, in flat order
        self.parts = [part for parts in groups for part in parts]
        kinds = [(kind, len(part.keep)) for kind, parts in zip(KINDS, groups, strict=True) for part in parts]
        for part, at in zip(self.parts, row_numbers(kinds, self.nt), strict=True):
            part.at = at
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
    def a(self) -> Array:
        """Diagonal of ``G M^-1 G^T``, (n,)."""
        if isinstance(self.mass, DenseMass):
            return np.einsum("ij,ij->i", self.white, self.white)
        return self.mass.diagonal(self.G)

    @property
    def numbers(self) -> Array:
        """phi, K, B and gamma, (4, n)."""
        return np.array([self.phi, self.K, self.B, self.gamma])

    def acceleration(self, force: Array) -> Array:
        """``M^-1 G^T lambda``, (nv,)."""
        return self.mass.solve(self.G.T @ force)


class ActingPart:
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


def row_numbers(kinds: Sequence[tuple[type, int]], nt: int) -> list[np.ndarray]:
    """Row numbers of each constraint, (n,) or, of contacts, (nc, 1 + nt), normal first.

    ``kinds``: class and number of rows or contacts of each constraint; the order is that of `ActingRows`.
    """
    found, first = [np.zeros(0, dtype=np.int64)] * len(kinds), 0
    for wanted in KINDS:
        for k, (kind, count) in enumerate(kinds):
            if kind is wanted:
                found[k], first = np.arange(first, first + count), first + count
    for k, (kind, count) in enumerate(kinds):
        if kind is Contact:
            tangents = np.arange(first, first + count * nt).reshape(count, nt)
            found[k], first = np.column_stack([found[k], tangents]), first + count * nt
    return found


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
            raise InputError(
                f"constraints[{index}]", got=type(item).__name__, wanted="Bilateral, Unilateral or Contact"
            )
        columns = (item.Jn if isinstance(item, Contact) else item.G).shape[1]
        if columns != nv:
            raise InputError(
                f"constraints[{index}]", got=f"a Jacobian with {columns} columns", wanted=f"nv = {nv}"
            )
    if len({item.nt for item in constraints if isinstance(item, Contact)}) > 1:
        raise InputError("constraints", got="planar and spatial contacts", wanted="one kind in one system")


# The acting rows of a system as the kernels take them (`routh.kernels.constraints`).

Flat = tuple[Layout, Terms, int, np.ndarray]


def flat_rows(rows: ActingRows) -> Flat:
    """Layout, numbers, room for sparse factors, and the velocities (nv,) in the order of the layout."""
    if isinstance(rows.mass, SparseMass):
        return _sparse(rows, rows.mass)
    nv, half = rows.mass.nv, rows.mass.half
    layout = dense_layout((rows.nb, rows.nu, rows.nc, rows.nt), nv)
    whole, G = np.ascontiguousarray(half), np.ascontiguousarray(rows.G)
    terms = Terms(whole, whole, np.zeros(nv), rows.v_free, G, rows.numbers, rows.mu)
    return layout, terms, 0, np.arange(nv)


def dense_layout(counts: tuple[int, int, int, int], nv: int) -> Layout:
    """Bilateral and unilateral rows, contacts and tangents of each, all on all velocities."""
    nb, nu, nc, nt = counts
    pattern, start = np.zeros(nb + nu + nc * (1 + nt), dtype=np.int64), np.zeros(nv, dtype=np.int64)
    columns = np.arange(nv)[None].copy(), np.array([nv]), start, np.zeros(0, dtype=np.int64)
    return Layout(DENSE, *counts, pattern, *columns)


def _sparse(rows: ActingRows, mass: SparseMass) -> Flat:
    """Velocities block by block of the mass matrix; the rows of a contact share their columns."""
    nv, (count, label) = mass.nv, connected_components(mass.M, directed=False)
    order = np.argsort(label, kind="stable")
    place = np.empty(nv, dtype=np.int64)
    place[order] = np.arange(nv)
    size = np.bincount(label, minlength=count)
    first = np.cumsum(size) - size
    G = sparse.coo_array(rows.G)
    G.eliminate_zeros()
    normals = rows.tangents.start
    pattern = np.concatenate([np.arange(normals), np.repeat(np.arange(rows.nb + rows.nu, normals), rows.nt)])
    pairs = np.unique(pattern[G.row] * count + label[G.col])  # a row or contact, and a block that it moves
    owner, block = pairs // count, pairs % count
    width = np.bincount(owner, weights=size[block], minlength=normals).astype(np.int64)
    before = np.cumsum(size[block]) - size[block]
    offset = before - (np.cumsum(width) - width)[owner]
    columns = np.zeros((normals, int(width.max(initial=1))), dtype=np.int64)
    which = np.repeat(np.arange(len(pairs)), size[block])
    along = np.arange(len(which)) - np.repeat(before, size[block])
    columns[owner[which], offset[which] + along] = first[block[which]] + along
    start = np.repeat(first, size).astype(np.int64)
    elimination, entries = elimination_order(pattern, columns, width, nv)
    kinds = rows.nb, rows.nu, rows.nc, rows.nt
    layout = Layout(SPARSE, *kinds, pattern.astype(np.int64), columns, width, start, elimination)
    terms = make_terms(layout)
    there = np.searchsorted(pairs, pattern[G.row] * count + label[G.col])
    terms.G[G.row, offset[there] + place[G.col] - first[label[G.col]]] = G.data
    M = sparse.coo_array(mass.M)
    terms.M[place[M.row], place[M.col] - start[place[M.row]]] = M.data
    factorise(layout, terms.M, np.zeros_like(terms.M), terms.half)
    terms.v[:], terms.numbers[:], terms.mu[:] = rows.v_free[order], rows.numbers, rows.mu
    return layout, terms, entries, order


def elimination_order(
    pattern: np.ndarray, columns: np.ndarray, width: np.ndarray, nv: int
) -> tuple[np.ndarray, int]:
    """Order in which elimination keeps factors sparse if everything acts (COLAMD), and room for them."""
    n = len(pattern)
    rows = np.repeat(np.arange(n), width[pattern])
    kept = np.arange(columns.shape[1]) < width[:, None]
    J = sparse.csr_array((np.linspace(1.0, 2.0, len(rows)), (rows, columns[pattern][kept[pattern]])), (n, nv))
    one, other = sparse.eye_array(n), sparse.eye_array(nv)
    factors = splu(sparse.block_array([[one, J], [-J.T, other]], format="csc"))
    entries = max(factors.L.nnz, factors.U.nnz, 2 * J.nnz + n + nv)
    return np.argsort(factors.perm_c).astype(np.int64), ROOM * entries


def residuals_of(rows: ActingRows, force: Array, acceleration: Array | None = None) -> Residuals:
    """Residuals of flat forces (n,) against the spring law, its one-sided form, and Coulomb's law.

    ``acceleration`` (nv,): what they are said to cause; sums of huge forces that cancel lose its digits.
    """
    caused = rows.acceleration(force) if acceleration is None else acceleration
    gained = abs(rows.G) @ np.abs(caused)
    rate = rows.w + rows.h * (rows.G @ caused)
    law = -rows.K * rows.phi - (rows.X / rows.h) * rate
    weight = 1.0 / (1.0 + rows.X * rows.a)
    scale = np.maximum(np.abs(force), alone(rows) + weight * rows.X * gained)
    # one step for the tangents of a contact, or a sliding force would be turned
    tangents = weight[rows.tangents].reshape(rows.nc, rows.nt)
    weight[rows.tangents] = np.repeat(tangents.min(axis=1, initial=1.0), rows.nt)
    moved = force - weight * (force - law)
    nb, nu, normals = rows.nb, rows.nu, rows.normals
    error = np.abs(force - moved)
    error[nb:] = np.abs(force - np.maximum(moved, 0.0))[nb:]
    share = error / np.where(scale > 0.0, scale, 1.0)
    limit = rows.mu * np.maximum(force[normals], 0.0)
    tangential, scales = (x[rows.tangents].reshape(rows.nc, rows.nt) for x in (force, scale))
    held = project_disc(moved[rows.tangents].reshape(rows.nc, rows.nt), limit)
    friction = np.linalg.norm(tangential - held, axis=1)
    rubs = np.maximum(scales.max(axis=1, initial=0.0), limit)
    return Residuals(
        bilateral=float(share[:nb].max(initial=0.0)),
        unilateral=float(share[nb : nb + nu].max(initial=0.0)),
        normal=float(share[normals].max(initial=0.0)),
        friction=float((friction / np.where(rubs > 0.0, rubs, 1.0)).max(initial=0.0)),
        momentum=_unexplained(rows, force, caused),
    )


def _unexplained(rows: ActingRows, force: Array, acceleration: Array) -> float:
    """What the mass gains and no force explains, as a share of all forces, in the metric of M^-1."""
    mass, gained = rows.mass, rows.mass.M @ acceleration
    left, sums = gained - rows.G.T @ force, np.abs(gained) + abs(rows.G.T) @ np.abs(force)
    missing, size = (float(np.sqrt(max(x @ mass.solve(x), 0.0))) for x in (left, sums))
    return missing / size if size > 0.0 else missing


def alone(rows: ActingRows) -> Array:
    """What each row alone would need to stop the motion and undo its deformation, (n,) N.

    The speed in it is that of the mechanism: a row across which nothing moves still sees its rounding.
    """
    speed = abs(rows.G) @ np.abs(rows.v_free) + rows.h * np.abs(rows.gamma)
    needed = (rows.K * np.abs(rows.phi) + rows.X / rows.h * speed) / (1.0 + rows.X * rows.a)
    return np.asarray(needed, dtype=np.float64)


def force_scale(rows: ActingRows, force: Array) -> float:
    """The largest force, or what a row `alone` would need, N; 1 where all is at rest."""
    scale = max(np.abs(force).max(initial=0.0), alone(rows).max(initial=0.0))
    return float(scale) if scale != 0.0 else 1.0
