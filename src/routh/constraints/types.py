"""The constraints of a mechanism: bilateral, unilateral, and contact with Coulomb friction.

First those of one state, then those that are functions of it: joints by constraint, limits of coordinates,
elastic foundations. Each row is a spring-damper with its own stiffness and damping (D19 (15), (68),
(92)-(94)): ``lambda = -K phi - B dphi/dt``, evaluated at the end of the step.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from routh.base.status import InputError
from routh.base.validation import Array, DenseOrSparse, Options, choice, integer, real, real_array
from routh.models.base import State
from routh.models.rotations import rotation_matrices, skew


class _Constraint:
    phi: Array

    def undeformed(self, touching: float = 0.0) -> Self:
        """The same without the deformation that nobody measured, see `routh.constraints.forces_at`.

        One-sided rows and contacts farther than ``touching`` (m or rad) from their limit keep that distance.
        """
        rows = copy.copy(self)
        far = (self.phi > touching) & (not isinstance(self, Bilateral))
        rows.__dict__.update(phi=np.where(far, self.phi, 0.0))
        if isinstance(self, Contact):
            rows.__dict__.update(deformation=np.zeros_like(self.deformation))
        return rows

    def __len__(self) -> int:
        return len(self.phi)


@dataclass(frozen=True, eq=False, init=False, repr=False)
class _Rows(_Constraint):
    G: DenseOrSparse
    phi: Array
    stiffness: Array
    damping: Array
    bias: Array
    name: str

    def __init__(
        self,
        G: DenseOrSparse,
        phi: ArrayLike,
        *,
        stiffness: ArrayLike,
        damping: ArrayLike = 0.0,
        bias: ArrayLike | None = None,
        name: str | None = None,
    ) -> None:
        matrix = _jacobian("G", G, None)
        n = matrix.shape[0]
        self.__dict__.update(G=matrix, phi=real_array("phi", phi, [(n,)], f"shape ({n},), one per row of G"))
        self.__dict__.update(stiffness=_coefficient("stiffness", stiffness, n))
        self.__dict__.update(damping=_coefficient("damping", damping, n), bias=_or_zeros("bias", bias, (n,)))
        self.__dict__.update(name=type(self).__name__.lower() if name is None else str(name))

    @classmethod
    def trusted(cls, G: Array, phi: Array, stiffness: Array, damping: Array, bias: Array, name: str) -> Self:
        """Rows of arrays that were checked before, as (n, nv) and (n,) float64: no checks, no copies."""
        rows = object.__new__(cls)
        rows.__dict__.update(G=G, phi=phi, stiffness=stiffness, damping=damping, bias=bias, name=name)
        return rows

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {len(self)} rows)"


class Bilateral(_Rows):
    """Rows that push and pull: joints, welds, closed loops (D19 (15)).

    Parameters
    ----------
    G : (n, nv), rows of the constraint Jacobian, dense or sparse; may be rank deficient.
    phi : (n,), deformations in m or rad.
    stiffness : number or (n,), K >= 0 in N/m (N m/rad).
    damping : number or (n,), B >= 0 in N s/m.
    bias : (n,), dG/dt v in m/s^2; zero where not given.
    name : what the forces are called in a trajectory.
    """


class Unilateral(_Rows):
    """Rows that only push: joint limits, frictionless supports (D19 (68)).

    The arguments are those of `Bilateral`; ``phi`` is the distance to the limit, negative beyond it.
    A row acts where its spring and damper push at the end of the step, so a limit that would be crossed
    within the step acts already; large damping can make it act before ``phi`` reaches zero.
    """


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Contact(_Constraint):
    """Contacts with Coulomb friction and the true cone, in the plane or in space (D19 section 6).

    They act where the gap is closed, ``phi <= 0``, as D19 limits them. Bodies then sink into each other by up
    to their speed times the step before they feel the contact, and a chain of such contacts unfolds at once.
    With ``anticipate`` an open gap acts too, by its spring alone, where the step would end beyond it.

    Parameters
    ----------
    Jn : (nc, nv), normals (``Jn @ v < 0`` is approach), dense or sparse.
    Jt : (nc, nt, nv), tangents, orthonormal in space; (nc, nv) means ``nt = 1``.
        Sparse: (nc * nt, nv), the tangents of a contact in consecutive rows, with ``nt`` given.
    phi : (nc,), signed distances in m, negative in penetration.
    mu : number or (nc,), friction >= 0.
    stiffness : number or (nc,), K_n in N/m.
    damping : number or (nc,), B_n in N s/m.
    tangential_stiffness : number or (nc,), K_r = K_s >= 0 in N/m; zero is Coulomb's memoryless friction.
    tangential_damping : number or (nc,), B_r = B_s in N s/m; None is D19's ``1e6 / dt``.
    deformation : (nc, nt), tangential spring deformations in m; matters only with tangential stiffness.
    bias : (nc, 1 + nt), dJ/dt v in m/s^2, normal first.
    nt : tangents of a contact, where ``Jt`` is sparse.
    anticipate : whether a contact acts that is open now but would be closed at the end of the step.
    name : by which its forces are called.
    """

    Jn: DenseOrSparse
    Jt: DenseOrSparse  # (nc * nt, nv), contact-major
    phi: Array
    mu: Array
    stiffness: Array
    damping: Array
    tangential_stiffness: Array
    tangential_damping: Array | None
    deformation: Array
    bias: Array
    nt: int
    anticipate: bool
    name: str

    def __init__(
        self,
        Jn: DenseOrSparse,
        Jt: DenseOrSparse,
        phi: ArrayLike,
        *,
        mu: ArrayLike,
        stiffness: ArrayLike,
        damping: ArrayLike = 0.0,
        tangential_stiffness: ArrayLike = 0.0,
        tangential_damping: ArrayLike | None = None,
        deformation: ArrayLike | None = None,
        bias: ArrayLike | None = None,
        nt: int | None = None,
        anticipate: bool = False,
        name: str = "contact",
    ) -> None:
        normals = _jacobian("Jn", Jn, None)
        nc, nv = normals.shape
        tangents, nt = _tangents(Jt, nc, nv, nt)
        self.__dict__.update(Jn=normals, Jt=tangents, nt=nt, anticipate=bool(anticipate), name=str(name))
        self.__dict__.update(phi=real_array("phi", phi, [(nc,)], f"shape ({nc},), one per contact"))
        given: Options = {"mu": mu, "stiffness": stiffness, "damping": damping}
        given |= {"tangential_stiffness": tangential_stiffness, "tangential_damping": tangential_damping}
        for name, value in given.items():
            self.__dict__[name] = None if value is None else _coefficient(name, value, nc)
        self.__dict__.update(deformation=_or_zeros("deformation", deformation, (nc, nt)))
        self.__dict__.update(bias=_or_zeros("bias", bias, (nc, 1 + nt)))

    def __repr__(self) -> str:
        return f"Contact({self.name!r}, {len(self)} contacts, nt={self.nt})"


Constraint = Bilateral | Unilateral | Contact


def _or_zeros(field: str, value: ArrayLike | None, shape: tuple[int, ...]) -> Array:
    return np.zeros(shape) if value is None else real_array(field, value, [shape], f"shape {shape}")


def _coefficient(field: str, value: ArrayLike, n: int) -> Array:
    array = real_array(field, value, [(), (n,)], f"a number or shape ({n},)")
    if array.size and not array.min() >= 0.0:
        raise InputError(field, got=f"{array.min():g}", wanted="numbers >= 0")
    return np.array(np.broadcast_to(array, (n,)))


def _jacobian(field: str, value: DenseOrSparse, rows: int | None) -> DenseOrSparse:
    if sparse.issparse(value):
        matrix = sparse.csr_array(value, dtype=np.float64)
        if not np.all(np.isfinite(matrix.data)):
            raise InputError(field, got="an entry that is not finite", wanted="finite numbers")
        if rows is not None and matrix.shape[0] != rows:
            raise InputError(field, got=f"{matrix.shape[0]} rows", wanted=rows)
        return matrix
    return real_array(field, value, [(rows, None)], f"shape ({'n' if rows is None else rows}, nv)")


def _tangents(Jt: DenseOrSparse, nc: int, nv: int, nt: int | None) -> tuple[DenseOrSparse, int]:
    if sparse.issparse(Jt):
        if nt not in (1, 2):
            raise InputError("nt", got=repr(nt), wanted="1 or 2, the tangents per contact of the sparse Jt")
        matrix = _jacobian("Jt", Jt, nc * nt)
        if matrix.shape[1] != nv:
            raise InputError("Jt", got=f"{matrix.shape[1]} columns", wanted=f"{nv}, as Jn")
        return matrix, nt
    shapes = [(nc, nv), (nc, 1, nv), (nc, 2, nv)]
    array = real_array("Jt", Jt, shapes, f"shape ({nc}, nt, {nv}) with nt 1 or 2")
    found = 1 if array.ndim == 2 else array.shape[1]
    if nt not in (None, found):
        raise InputError("nt", got=repr(nt), wanted=f"{found}, the tangents per contact of Jt")
    return array.reshape(nc * found, nv), found


class StateConstraint(Protocol):
    """Anything that gives its rows at a state."""

    @property
    def name(self) -> str:
        """What its forces are called in a trajectory."""
        ...

    def at(self, state: State) -> Bilateral | Unilateral:
        """The rows at a state."""
        ...


@dataclass(frozen=True, eq=False)
class Holonomic:
    """``phi(q) = 0`` (bilateral) or ``phi(q) >= 0`` (unilateral), given by functions.

    Parameters
    ----------
    name : of its forces.
    phi : q -> (n,), in m or rad.
    jacobian : q -> (n, nv), ``d phi / dt = G v``.
    bias : (q, v) -> (n,), ``dG/dt v``.
    stiffness, damping : number or (n,), or a function of the state (D19: "state-dependent").
    kind : "bilateral" or "unilateral".
    """

    name: str
    phi: Callable[[Array], ArrayLike]
    jacobian: Callable[[Array], ArrayLike]
    bias: Callable[[Array, Array], ArrayLike]
    stiffness: ArrayLike | Callable[[State], ArrayLike]
    damping: ArrayLike | Callable[[State], ArrayLike] = 0.0
    kind: str = "bilateral"

    def __post_init__(self) -> None:
        choice("kind", self.kind, ("bilateral", "unilateral"))

    def at(self, state: State) -> Bilateral | Unilateral:
        """The rows at a state."""
        make = Bilateral if self.kind == "bilateral" else Unilateral
        K = self.stiffness(state) if callable(self.stiffness) else self.stiffness
        B = self.damping(state) if callable(self.damping) else self.damping
        bias = self.bias(state.q, state.v)
        phi, G = self.phi(state.q), self.jacobian(state.q)
        return make(G, phi, stiffness=K, damping=B, bias=bias, name=self.name)


@dataclass(frozen=True, eq=False)
class CoordinateLimit(Holonomic):
    """Ends of one coordinate whose rate is the velocity of the same number, see `coordinate_limit`."""

    index: int = 0
    sides: Array = field(default_factory=lambda: np.zeros((0, 2)))  # (n, 2): +1 or -1, and the end


def coordinate_limit(
    name: str,
    index: int,
    nv: int,
    *,
    lower: float | None = None,
    upper: float | None = None,
    stiffness: float,
    damping: float = 0.0,
) -> CoordinateLimit:
    """A joint limit ``lower <= q[index] <= upper`` of a coordinate whose rate is ``v[index]``.

    Parameters
    ----------
    name : by which its forces are called.
    index : of the coordinate.
    nv : how many velocities the model has.
    lower, upper : m or rad; None: no limit on this side.
    stiffness : N/m or N m/rad.
    damping : N s/m or N m s/rad.
    """
    column = integer("index", index, at_least=0, at_most=nv - 1)
    ends = [(1.0, lower), (-1.0, upper)]
    sides = [(sign, real(name, end)) for sign, end in ends if end is not None]
    if not sides:
        raise InputError(name, got="neither lower nor upper", wanted="at least one")
    sign, end = np.array(sides).T
    G = np.zeros((len(sides), nv))
    G[:, column] = sign
    return CoordinateLimit(
        name,
        phi=lambda q: sign * (q[column] - end),
        jacobian=lambda q: G,
        bias=lambda q, v: np.zeros(len(sides)),
        stiffness=stiffness,
        damping=damping,
        kind="unilateral",
        index=column,
        sides=np.array(sides),
    )


class ElasticFoundation:
    """A bed of independent springs under a free body in space, their free ends at z = 0: Winkler, D19 5.5.

    Parameters
    ----------
    points : (n, 3), where the springs meet the body, in its frame, m.
    stiffness : number or (n,), of each spring, N/m.
    damping : number or (n,), of each spring, N s/m.
    """

    name = "foundation"

    def __init__(self, points: ArrayLike, *, stiffness: ArrayLike, damping: ArrayLike = 0.0) -> None:
        self.points = real_array("points", points, [(None, 3)], "shape (n, 3)")
        checked = Unilateral(self.points, np.zeros(len(self.points)), stiffness=stiffness, damping=damping)
        self.stiffness, self.damping = checked.stiffness, checked.damping

    def at(self, state: State) -> Unilateral:
        """One row per spring; velocities are linear in the world's frame and angular in the body's."""
        n = rotation_matrices(state.q[None, 3:7])[0, 2]  # the vertical in the body's frame
        G = np.zeros((len(self.points), 6), order="F")
        G[:, 2] = 1.0
        G[:, 3:] = self.points @ skew(n[None])[0]  # r x n
        w = state.v[3:6]
        bias = (self.points @ w) * (w @ n) - (self.points @ n) * (w @ w)  # w x (w x r) along n
        phi = state.q[2] + self.points @ n
        return Unilateral.trusted(G, phi, self.stiffness, self.damping, bias, self.name)
