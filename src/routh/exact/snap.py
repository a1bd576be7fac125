"""Floating-point data turned into rational numbers, in the problem's own units.

Rounding the entries of M, J and v one by one destroys the coincidences on which the shape of the
post-impact set depends: a foot exactly at rest, two contacts with the same velocity, a contact whose row is a
combination of others. `snap` finds them within a tolerance and keeps them exactly. Units are powers of two in
which the diagonal of M, the largest entry of J and the speed are about one: scaling by them is exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial

import numpy as np

from routh.base import tolerances
from routh.base.results import Whole
from routh.base.status import InputError
from routh.base.validation import Array, real
from routh.exact.rational import (
    Matrix,
    RationalProblem,
    Vector,
    difference,
    dot,
    floats,
    independent_rows,
    product,
    simplest,
    solve,
    times,
    transpose,
)
from routh.problem.impact import ImpactProblem

Number = Callable[[float], Fraction]
Units = tuple[Array, float, float]  # of velocities (nv,), of rows of J, of the speed: powers of two
Coincident = tuple[Vector, list[int], list[tuple[int, int]]]  # v, components of J v at rest, equal pairs


@dataclass(frozen=True)
class Snapped(Whole):
    """A rational problem close to a given one, and how close."""

    rational: RationalProblem = field(repr=False)
    moved: dict[str, float]  # largest change of M, Jn, Jt, mu and v in the problem's own units (relative)
    at_rest: tuple[str, ...]  # contact velocity components that were within tolerance of zero, now zero
    equal: tuple[tuple[str, str], ...]  # pairs of components within tolerance of each other, now equal
    dependent: tuple[str, ...]  # rows of J that are combinations of the rows before them


def snap(problem: ImpactProblem, *, tolerance: float = tolerances.SNAP) -> Snapped:
    """The simplest rational problem within ``tolerance`` that keeps the coincidences of ``problem``.

    Equal entries (up to sign) stay equal; rows of J that are combinations of others stay so; contact
    velocities ``J v`` that are zero, or equal in pairs, become exactly so. The tolerance is relative: it
    counts in units in which the diagonal of M, the largest entry of J and the speed before are about one.
    """
    tolerance = real("tolerance", tolerance, above=0.0, at_most=1e-2)
    own, units = _dimensionless(problem)
    number: Number = partial(simplest, tolerance=tolerance)
    J = _snap_rows(own.J.reshape(-1, own.nv), tolerance, number)
    mass = _snap_entries(own.M, tolerance, number)
    mu = tuple(simplest(m, tolerance * max(m, 1e-300)) for m in own.mu)
    v = _snap_entries(own.v[None, :], tolerance, number)[0]
    return _found(own, units, mass, J, mu, _at_rest(own, mass, J[0], v, tolerance))


def as_given(problem: ImpactProblem, *, coincidences: bool = True) -> Snapped:
    """The problem as it is, every float a rational number, but for coincidences that rounding destroyed.

    Rows of J that are combinations of others up to rounding become so; contact velocities within
    `tolerances.SNAP_GIVEN` of zero or of each other become so, by moving v least in the energy norm.
    """
    own, units = _dimensionless(problem)
    rows = own.J.reshape(-1, own.nv)
    M, (v,), (mu,) = map(_literal, (own.M, own.v[None, :], own.mu[None, :]))
    if not coincidences:
        return _found(own, units, M, (_literal(rows), []), mu, (v, [], []))
    J = _snap_rows(rows, tolerances.SNAP_ROWS, Fraction)
    return _found(own, units, M, J, mu, _at_rest(own, M, J[0], v, tolerances.SNAP_GIVEN))


def _dimensionless(problem: ImpactProblem) -> tuple[ImpactProblem, Units]:
    """The problem in its own units, and these: ``v = column speed w``, w of length about one."""
    if problem.restitution.any():
        raise InputError(
            "restitution",
            got=f"{problem.restitution.max():g}; exact sets are of inelastic impacts and want 0",
        )
    column = _powers(1.0 / np.sqrt(np.diag(problem.M)))
    row = float(_powers(np.abs(problem.J * column).max()))
    speed = float(_powers(np.array(problem.speed or 1.0)))
    Jn, Jt = (J * column / row for J in (problem.Jn, problem.Jt))
    M, v = problem.M * column[:, None] * column, problem.v / column / speed
    return ImpactProblem(M, Jn, Jt, problem.mu, v, names=problem.names), (column, row, speed)


def _literal(values: Array) -> Matrix:
    """The same numbers as fractions."""
    return tuple(tuple(Fraction(float(x)) for x in row) for row in values)


def _found(
    own: ImpactProblem,
    units: Units,
    M: Matrix,
    rows: tuple[Matrix, list[int]],
    mu: Vector,
    velocity: Coincident,
) -> Snapped:
    """The snapped problem, from numbers in the problem's own units."""
    labels, (v, at_rest, equal) = _labels(own), velocity
    J = floats(rows[0]).reshape(own.J.shape)
    changes = {
        "M": floats(M) - own.M,
        "Jn": J[:, 0] - own.Jn,
        "Jt": J[:, 1:] - own.Jt,
        "mu": (floats([mu])[0] - own.mu) / np.where(own.mu > 0.0, own.mu, 1.0),
        "v": floats([v])[0] - own.v,
    }
    return Snapped(
        _in_given_units(own, units, M, rows[0], mu, v),
        {name: float(np.abs(change).max(initial=0.0)) for name, change in changes.items()},
        tuple(labels[i] for i in at_rest),
        tuple((labels[i], labels[j]) for i, j in equal),
        tuple(labels[i] for i in rows[1]),
    )


def _powers(values: Array) -> Array:
    """The power of two nearest to each positive number, by its logarithm."""
    return np.asarray(np.exp2(np.round(np.log2(values))), dtype=np.float64)


def _in_given_units(
    problem: ImpactProblem, units: Units, M: Matrix, J: Matrix, mu: Vector, v: Vector
) -> RationalProblem:
    """Dimensionless numbers back in the units that the problem came in, exactly."""
    column, row, speed = [Fraction(c) for c in units[0]], Fraction(units[1]), Fraction(units[2])
    mass = tuple(
        tuple(x / (a * b) for x, b in zip(line, column, strict=True))
        for line, a in zip(M, column, strict=True)
    )
    rows = tuple(tuple(x * row / c for x, c in zip(line, column, strict=True)) for line in J)
    velocity = tuple(x * c * speed for x, c in zip(v, column, strict=True))
    width = 1 + problem.nt
    tangents = tuple(rows[i * width + 1 : (i + 1) * width] for i in range(problem.nc))
    return RationalProblem(mass, rows[::width], tangents, mu, velocity, problem.names)


def _snap_entries(values: Array, tolerance: float, number: Number) -> Matrix:
    """Snap an array entry by entry; magnitudes within tolerance of each other get one rational.

    ``number`` makes it from the smallest of them.
    """
    magnitudes = np.sort(np.unique(np.abs(values)))
    image: dict[float, Fraction] = {}
    anchor, rational = -math.inf, Fraction(0)
    for value in magnitudes:
        if value - anchor > tolerance:
            anchor, rational = float(value), number(float(value))
        image[float(value)] = rational
    return tuple(tuple(image[abs(float(x))] * (1 if x >= 0 else -1) for x in row) for row in values)


def _snap_rows(rows: Array, tolerance: float, number: Number) -> tuple[Matrix, list[int]]:
    """Snap the rows of J: independent ones entry by entry, the others as rational combinations of them.

    Where the rows before span everything, the others are combinations of them whatever they are.
    """
    snapped = list(_snap_entries(rows, tolerance, number))
    chosen: list[int] = []
    dependent: list[int] = []
    for index, row in enumerate(rows):
        same = any(snapped[index] in (snapped[i], tuple(-x for x in snapped[i])) for i in chosen)
        if len(chosen) == rows.shape[1] or same:
            dependent.append(index)
            continue
        if chosen:
            basis = rows[chosen]
            weights, *_ = np.linalg.lstsq(basis.T, row, rcond=None)
            # the sums themselves are rounded
            room = max(tolerance, 8.0 * np.finfo(float).eps * (1.0 + float(np.abs(weights).sum())))
            if np.max(np.abs(weights @ basis - row)) <= room:
                dependent.append(index)
                exact = [simplest(float(w), tolerance) for w in weights]
                columns = transpose([snapped[i] for i in chosen])
                snapped[index] = tuple(dot(exact, column) for column in columns)
                continue
        chosen.append(index)
    return tuple(snapped), dependent


def _at_rest(own: ImpactProblem, M: Matrix, rows: Matrix, velocity: Vector, tolerance: float) -> Coincident:
    """v moved least in the energy norm so that the coincidences in J v hold exactly, and which they are."""
    contact = own.contact_velocity().reshape(-1)
    at_rest = [i for i, value in enumerate(contact) if abs(value) <= tolerance]
    width = 1 + own.nt
    equal = [
        (i, j)
        for j in range(len(contact))
        for i in range(j % width, j, width)  # the same component of an earlier contact
        if i not in at_rest and j not in at_rest and abs(contact[i] - contact[j]) <= tolerance
    ]
    wanted = [rows[i] for i in at_rest]
    wanted += [difference(rows[i], rows[j]) for i, j in equal]
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
