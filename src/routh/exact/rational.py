"""An impact problem in exact rational numbers, and the way to it from floating point.

Rounding the entries of M, J and v one by one destroys the coincidences on which the shape of the
post-impact set depends: a foot exactly at rest, two contacts with the same velocity, a contact whose row is a
combination of others. `snap` finds them within a tolerance and keeps them exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np

from routh import tolerances
from routh.exact.algebra import (
    Matrix,
    Vector,
    dot,
    independent_rows,
    product,
    simplest,
    solve,
    times,
    transpose,
)
from routh.problem import ImpactProblem
from routh.validation import Array, choice, real


@dataclass(frozen=True, eq=False, init=False)
class RationalProblem:
    """One impact in rational numbers; the fields mean what they mean in `ImpactProblem`.

    Entries may be given as ``Fraction``, ``int`` or strings such as ``"5/12"``; floats are taken literally
    (every float is a rational number). Restitution is not part of the set-valued model and has no field.
    """

    M: Matrix  # (nv, nv) kg, symmetric positive definite
    Jn: Matrix  # (nc, nv)
    Jt: tuple[Matrix, ...]  # (nc, nt, nv)
    mu: Vector  # (nc,)
    v: Vector  # (nv,)
    names: tuple[str, ...]

    def __init__(self, M: Any, Jn: Any, Jt: Any, mu: Any, v: Any, names: Sequence[str] = ()) -> None:
        values = {
            "M": _matrix("M", M),
            "Jn": _matrix("Jn", Jn),
            "Jt": tuple(_matrix("Jt", rows) for rows in Jt),
            "mu": _vector("mu", mu),
            "v": _vector("v", v),
            "names": tuple(names) or tuple(f"contact {i}" for i in range(len(Jn))),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        _check(self)

    @property
    def nv(self) -> int:
        """Number of generalized velocities."""
        return len(self.M)

    @property
    def nc(self) -> int:
        """Number of contacts."""
        return len(self.Jn)

    @property
    def nt(self) -> int:
        """Tangential directions per contact: 1 in the plane, 2 in space."""
        return len(self.Jt[0])

    @cached_property
    def problem(self) -> ImpactProblem:
        """The same impact in floating point."""
        return ImpactProblem(
            _floats(self.M),
            _floats(self.Jn),
            np.array([_floats(rows) for rows in self.Jt]),
            np.array([float(m) for m in self.mu]),
            np.array([float(x) for x in self.v]),
            names=self.names,
        )

    @cached_property
    def rows(self) -> Matrix:
        """All rows of J, contact by contact with the normal first, (nc (1 + nt), nv)."""
        return tuple(
            row for normal, tangents in zip(self.Jn, self.Jt, strict=True) for row in (normal, *tangents)
        )


@dataclass(frozen=True)
class Snapped:
    """A rational problem close to a given one, and how close."""

    rational: RationalProblem = field(repr=False)
    moved: dict[str, float]  # largest change of M, Jn, Jt, mu and v, as a share of the largest entry of each
    at_rest: tuple[str, ...]  # contact velocity components that were within tolerance of zero, now zero
    equal: tuple[tuple[str, str], ...]  # pairs of components within tolerance of each other, now equal
    dependent: tuple[str, ...]  # rows of J that are combinations of the rows before them

    @property
    def largest_move(self) -> float:
        """The largest of `moved`."""
        return max(self.moved.values())


def snap(
    problem: ImpactProblem,
    *,
    tolerance: float = tolerances.SNAP,
    through: Literal["mass", "delassus"] = "mass",
) -> Snapped:
    """The simplest rational problem within ``tolerance`` that keeps the coincidences of ``problem``.

    Equal entries (up to sign) stay equal; rows of J that are combinations of others stay so; contact
    velocities ``J v`` that are zero, or equal in pairs, become exactly so. ``tolerance`` is a share of the
    largest entry of each field (of ``|J| |v|`` for contact velocities).

    ``through="delassus"`` snaps a triangular factor of ``B M^-1 B^T`` instead of M, B being J where that is
    square and regular: exact sets compute with this matrix, whose entries otherwise have the determinant
    of M below the line. It wants ``rank J = nv``. `Snapped.moved` says how far M moved.
    """
    tolerance = real("tolerance", tolerance, above=0.0, at_most=1e-2)
    choice("through", through, ("mass", "delassus"))
    labels = _labels(problem)
    rows, dependent = _snap_rows(problem.J.reshape(-1, problem.nv), tolerance)
    M = (
        _snap_entries(problem.M, tolerance)
        if through == "mass"
        else _mass_by_delassus(problem.M, rows, tolerance)
    )
    mu = tuple(simplest(m, tolerance * max(m, 1e-300)) for m in problem.mu)
    v, at_rest, equal = _snap_velocity(problem, M, rows, tolerance)
    width = 1 + problem.nt
    rational = RationalProblem(
        M,
        rows[::width],
        tuple(tuple(rows[i * width + 1 : (i + 1) * width]) for i in range(problem.nc)),
        mu,
        v,
        problem.names,
    )
    near = rational.problem
    moved = {
        name: _largest_change(getattr(problem, name), getattr(near, name))
        for name in ("M", "Jn", "Jt", "mu", "v")
    }
    return Snapped(
        rational,
        moved,
        tuple(labels[i] for i in at_rest),
        tuple((labels[i], labels[j]) for i, j in equal),
        tuple(labels[i] for i in dependent),
    )


def unit_circle(angle: float, *, tolerance: float = tolerances.SNAP) -> tuple[Fraction, Fraction]:
    """``(cos, sin)`` of an angle near ``angle`` (rad) as a rational point exactly on the unit circle.

    The angle is first turned into (-pi/4, pi/4] by quarter turns, which are exact, so that mirror images and
    quarter turns of an angle get the same numbers.
    """
    quarter = round(real("angle", angle) / (np.pi / 2))
    rest = angle - quarter * np.pi / 2
    t = simplest(float(np.tan(rest / 2)), tolerance)
    c, s = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
    return [(c, s), (-s, c), (-c, -s), (s, -c)][quarter % 4]


def _snap_entries(values: Array, tolerance: float) -> Matrix:
    """Snap an array entry by entry; magnitudes within tolerance of each other get one rational."""
    scale = float(np.max(np.abs(values))) or 1.0
    magnitudes = np.sort(np.unique(np.abs(values)))
    image: dict[float, Fraction] = {}
    anchor, rational = -np.inf, Fraction(0)
    for value in magnitudes:
        if value - anchor > tolerance * scale:
            anchor, rational = float(value), simplest(float(value), tolerance * scale)
        image[float(value)] = rational
    return tuple(tuple(image[abs(float(x))] * (1 if x >= 0 else -1) for x in row) for row in values)


def _snap_rows(rows: Array, tolerance: float) -> tuple[Matrix, list[int]]:
    """Snap the rows of J: independent ones entry by entry, the others as rational combinations of them."""
    snapped = list(_snap_entries(rows, tolerance))
    chosen: list[int] = []
    dependent: list[int] = []
    for index, row in enumerate(rows):
        basis = rows[chosen]
        if chosen:
            weights, *_ = np.linalg.lstsq(basis.T, row, rcond=None)
            if np.max(np.abs(weights @ basis - row)) <= tolerance * np.max(np.abs(rows)):
                dependent.append(index)
                exact = [simplest(float(w), tolerance) for w in weights]
                columns = transpose([snapped[i] for i in chosen])
                snapped[index] = tuple(dot(exact, column) for column in columns)
                continue
        chosen.append(index)
    return tuple(snapped), dependent


def _mass_by_delassus(M: Array, rows: Matrix, tolerance: float) -> Matrix:
    """``B^T (L L^T)^-1 B`` with L simple: a mass matrix near M whose ``B M^-1 B^T`` is ``L L^T``."""
    B = tuple(rows[i] for i in independent_rows(rows))
    if len(B) < len(M):
        raise ValueError(f"J: has rank {len(B)}; snapping through the Delassus matrix wants rank {len(M)}")
    basis = _floats(B)
    factor = np.linalg.cholesky(basis @ np.linalg.solve(M, basis.T))
    width = tolerance * float(np.max(np.abs(factor)))
    simple = [[simplest(float(x), width) for x in row] for row in factor]
    for k, row in enumerate(simple):  # a small number on the diagonal must not become 0
        row[k] = row[k] or simplest(float(factor[k, k]), tolerance * float(factor[k, k]))
    half = solve(simple, B)  # L^-1 B
    return product(transpose(half), half)


def _snap_velocity(
    problem: ImpactProblem, M: Matrix, rows: Matrix, tolerance: float
) -> tuple[Vector, list[int], list[tuple[int, int]]]:
    """Snap v, then move it least in the energy norm so that the coincidences in J v hold exactly."""
    velocity = _snap_entries(problem.v[None, :], tolerance)[0]
    contact = problem.contact_velocity().reshape(-1)
    scale = float(np.max(np.abs(problem.J)) * np.max(np.abs(problem.v)))
    if scale == 0.0:
        return velocity, list(range(len(rows))), []
    near = tolerance * scale
    at_rest = [i for i, value in enumerate(contact) if abs(value) <= near]
    width = 1 + problem.nt
    equal = [
        (i, j)
        for j in range(len(contact))
        for i in range(j % width, j, width)  # the same component of an earlier contact
        if i not in at_rest and j not in at_rest and abs(contact[i] - contact[j]) <= near
    ]
    wanted = [rows[i] for i in at_rest]
    wanted += [tuple(a - b for a, b in zip(rows[i], rows[j], strict=True)) for i, j in equal]
    wanted = [row for row in wanted if dot(row, velocity)] and wanted
    if not wanted:
        return velocity, at_rest, equal
    basis = [wanted[i] for i in independent_rows(wanted)]
    response = solve(M, transpose(basis))  # M^-1 A^T
    weights = solve(product(basis, response), [(x,) for x in times(basis, velocity)])
    correction = product(response, weights)
    return tuple(x - c[0] for x, c in zip(velocity, correction, strict=True)), at_rest, equal


def _labels(problem: ImpactProblem) -> list[str]:
    parts = ["normal", "tangent"] if problem.nt == 1 else ["normal", "tangent 1", "tangent 2"]
    return [f"{name} {part}" for name in problem.names for part in parts]


def _largest_change(before: Array, after: Array) -> float:
    scale = float(np.max(np.abs(before), initial=0.0)) or 1.0
    return float(np.max(np.abs(after - before), initial=0.0)) / scale


def _vector(field: str, values: Iterable[Any]) -> Vector:
    return tuple(x if isinstance(x, Fraction) else _fraction(field, x) for x in values)


def _matrix(field: str, rows: Iterable[Iterable[Any]]) -> Matrix:
    return tuple(_vector(field, row) for row in rows)


def _fraction(field: str, value: Any) -> Fraction:
    try:
        return Fraction(value)
    except (ValueError, TypeError, OverflowError, ZeroDivisionError):
        raise ValueError(
            f"{field}: got {value!r}; wanted finite numbers, or strings such as '5/12'"
        ) from None


def _floats(rows: Sequence[Sequence[Fraction]]) -> Array:
    return np.array([[float(x) for x in row] for row in rows])


def _check(problem: RationalProblem) -> None:
    """Shapes, signs and symmetry, exactly; the rest as floating-point problems are checked."""
    nv, nc = len(problem.M), len(problem.Jn)
    if any(len(row) != nv for row in problem.M):
        raise ValueError(f"M: got rows of unequal length; wanted shape ({nv}, {nv})")
    if transpose(problem.M) != problem.M:
        raise ValueError("M: is not symmetric; wanted a symmetric matrix, exactly")
    if nc == 0 or any(len(row) != nv for row in problem.Jn) or not all(map(any, problem.Jn)):
        raise ValueError(f"Jn: got {nc} rows; wanted at least one row of length {nv}, none of them zero")
    if len(problem.Jt) != nc or any(len(rows) not in (1, 2) for rows in problem.Jt):
        raise ValueError(f"Jt: got {len(problem.Jt)} contacts; wanted {nc} with one or two rows each")
    if any(len(row) != nv for rows in problem.Jt for row in rows):
        raise ValueError(f"Jt: got rows of the wrong length; wanted {nv}")
    if len({len(rows) for rows in problem.Jt}) != 1:
        raise ValueError("Jt: got contacts with different numbers of tangents; wanted the same for all")
    if len(problem.mu) != nc or any(m < 0 for m in problem.mu):
        raise ValueError(f"mu: got {len(problem.mu)} values; wanted {nc} coefficients >= 0")
    if len(problem.v) != nv:
        raise ValueError(f"v: got length {len(problem.v)}; wanted {nv}")
    _ = problem.problem  # refuses a mass matrix that is not positive definite
