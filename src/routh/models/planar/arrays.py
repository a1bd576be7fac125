"""A planar mechanism as real arrays, for compiled code; formulas as in `kinematics` and `touch`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from routh.models.planar.kinematics import Complex, PointSet
from routh.models.planar.touch import ContactKinematics
from routh.validation import Array


class PointArrays(NamedTuple):
    """A `PointSet` of n points and k vectors; a leading axis of 2 is the real and the imaginary part."""

    S: Array  # (2, n, nv)
    C: Array  # (2, n, k)
    vectors: Array  # (k, 3 + 3 nv): phi0, the two parts of a, the row of B, the two parts of the row of D


class PlanarArrays(NamedTuple):
    """Everything that the equations of motion of a planar mechanism without inputs need."""

    coms: PointArrays  # centres of mass of the heavy bodies
    separations: PointArrays  # of the contacts, times the conjugate normals of planes
    masses: Array  # (nb,) kg
    spin: Array  # (nv, nv) constant share of the mass matrix
    gravity: Array  # (2,) m/s^2
    contacts: Array  # (nc, 2 + nv): sum of radii (m), 1 for two discs, tangential velocity of turning discs


def planar_arrays(
    coms: PointSet, touch: ContactKinematics, masses: Array, spin: Array, gravity: complex
) -> PlanarArrays:
    """The parts of a model as arrays of their own."""
    return PlanarArrays(
        _points(coms),
        _points(touch.separations),
        np.array(masses, dtype=np.float64),
        np.array(spin, dtype=np.float64),
        np.array([gravity.real, gravity.imag]),
        np.column_stack([touch.radii, touch.pairs, touch.rolling]).astype(np.float64),
    )


def _points(points: PointSet) -> PointArrays:
    slides = np.zeros(points.B.shape, dtype=np.complex128) if points.D is None else points.D
    vectors = [points.phi0, points.a.real, points.a.imag, points.B, slides.real, slides.imag]
    return PointArrays(_parts(points.S), _parts(points.C), np.ascontiguousarray(np.column_stack(vectors)))


def _parts(values: Complex) -> Array:
    return np.ascontiguousarray(np.stack([values.real, values.imag]))
