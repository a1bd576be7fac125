"""What a constraint step is made of, as arrays that kernels share, and the scratch of a thread."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from routh.base.validation import Array

#: rows of `Terms.numbers`: deformation, stiffness, damping, ``dG/dt v``
PHI, STIFFNESS, DAMPING, GAMMA = range(4)
#: rows of `Scratch.scaled`: ``X = h^2 K + h B``, its root, free rate, ``c``, diagonal of ``G M^-1 G^T``
X, S, RATE, C, DIAGONAL = range(5)
#: rows of `Scratch.rows`: forces, what springs wish, scaled forces, their right side, the best forces, what
#: the laws say
FORCE, WISH, Y, RIGHT, KEPT, LAW = range(6)
#: rows of `Scratch.motion`: free velocity, acceleration, that of the best forces, halfway, whitened
FREE, ACCELERATION, BEST, HALFWAY, WHITE, SUMMED = range(6)
SEPARATES, STICKS, SLIDES = range(3)  # `routh.problem.friction.ContactMode`
DENSE, SPARSE = range(2)  # how the linear systems are solved: `springs` or `elimination`
FEW_ROWS = 240  # dense rows above which forces are found in the space of velocities


class Layout(NamedTuple):
    """What does not change from step to step: n rows on nv velocities, each on at most w of them."""

    way: int  # DENSE or SPARSE
    nb: int  # bilateral rows, then
    nu: int  # unilateral rows, then
    nc: int  # contact normals, then their tangents, contact by contact
    nt: int  # tangents of a contact
    pattern: np.ndarray  # (n,) int64, row of `columns`; the same for all rows of a contact
    columns: np.ndarray  # (p, w) int64, velocities of a pattern, ascending, whole blocks of the mass matrix
    width: np.ndarray  # (p,) int64, how many
    start: np.ndarray  # (nv,) int64, first velocity of the block of the mass matrix
    order: np.ndarray  # (n + nv,) int64, in which rows and (from n on) velocities are eliminated; SPARSE


class Terms(NamedTuple):
    """One step's numbers, SI."""

    M: Array  # (nv, b) rows of the blocks of the mass matrix
    half: Array  # (nv, b) the same of ``L^-1``, ``M = L L^T``
    f: Array  # (nv,) forces but the constraints'
    v: Array  # (nv,) velocity before
    G: Array  # (n, w)
    numbers: Array  # (4, n)
    mu: Array  # (nc,)


class Modes(NamedTuple):
    """What the rows do."""

    acts: np.ndarray  # (nu + nc,) int64: unilateral rows 0 or 1, contacts SEPARATES, STICKS, SLIDES
    direction: Array  # (nc, nt) unit where a contact slips
    weakening: Array  # (nc,) mu lambda_n / |tau| there


class Factors(NamedTuple):
    """Sparse triangular factors ``L U`` of a matrix with its rows permuted, column by column."""

    start: np.ndarray  # (3, m + 1) int64, where columns of the matrix, of L and of U begin
    row: np.ndarray  # (3, room) int64, of their entries
    value: Array  # (3, room)
    integers: np.ndarray  # (7, m) int64 scratch
    numbers: Array  # (5, m) scratch


class Scratch(NamedTuple):
    """Arrays that one thread works in."""

    scaled: Array  # (5, n)
    rows: Array  # (6, n)
    motion: Array  # (6, nv)
    white: Array  # (n, w) rows ``G L^-T``
    measure: Array  # (n, w) of the rows that act: ``S G L^-T``
    push: Array  # (n, w) the directions in which they push, scaled alike
    home: np.ndarray  # (n,) int64, the row that each of them stands for
    factor: Array  # (nv, b) L
    scale: Array  # (n,) force with which each row alone would stop the motion, N
    dense: Array  # (2, m, m)
    weight: Array  # (n,) X of the rows that are in ``sums``
    sums: Array  # (nv + 1, nv) over these rows, of one-sided rows without contacts
    right: Array  # (3, m)
    pivots: np.ndarray  # (m,) int64
    first: Modes  # to begin from
    following: Modes
    best: Modes
    mark: np.ndarray  # (nu + nc,) int64, what rows did some time ago
    factors: Factors


def make_modes(nu: int, nc: int, nt: int, *leading: int) -> Modes:
    """Nothing acts."""
    acts = np.zeros((*leading, nu + nc), dtype=np.int64)
    return Modes(acts, np.zeros((*leading, nc, nt)), np.zeros((*leading, nc)))


def block_size(start: np.ndarray) -> int:
    """The size of the largest block of the mass matrix."""
    return int((np.arange(len(start)) - start).max(initial=0)) + 1


def make_terms(layout: Layout) -> Terms:
    """Room for the numbers of a step."""
    n, nv, b = len(layout.pattern), len(layout.start), block_size(layout.start)
    shapes = (nv, b), (nv, b), (nv,), (nv,), (n, layout.columns.shape[1]), (4, n), (layout.nc,)
    return Terms(*map(np.zeros, shapes))


def make_scratch(layout: Layout, room: int) -> Scratch:
    """Scratch for steps of a layout; ``room``: entries of sparse factors."""
    n, nv = len(layout.pattern), len(layout.start)
    w = layout.columns.shape[1]
    m = min(n, FEW_ROWS) + nv if layout.way == DENSE else 0
    size = 0 if layout.way == DENSE else n + nv
    kinds, block = np.int64, block_size(layout.start)
    factors = Factors(
        np.zeros((3, size + 1), dtype=kinds),
        np.zeros((3, room if size else 0), dtype=kinds),
        np.zeros((3, room if size else 0)),
        np.zeros((7, size), dtype=kinds),
        np.zeros((5, size)),
    )
    first, following, best = (make_modes(layout.nu, layout.nc, layout.nt) for _ in range(3))
    white, measure = np.zeros((2, n, w))
    push = np.zeros((n, w)) if layout.nc else measure  # without friction rows push as they measure
    return Scratch(
        np.zeros((5, n)),
        np.zeros((6, n)),
        np.zeros((6, nv)),
        *(white, measure, push),
        np.zeros(n, dtype=kinds),
        np.zeros((nv, block)),
        np.zeros(n),
        np.zeros((2, m, m)),
        np.zeros(0 if layout.nc else n),
        np.zeros((nv + 1, nv) if layout.way == DENSE else (0, 0)),
        np.zeros((3, m)),
        np.zeros(m, dtype=kinds),
        *(first, following, best),
        np.zeros(layout.nu + layout.nc, dtype=kinds),
        factors,
    )
