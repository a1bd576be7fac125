"""Contact modes at a glance: all modes of a state solved at once, to see which ones deserve a closer look."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from routh import tolerances
from routh.sim.contact_forces import ContactProblem, Hold, Mode
from routh.validation import Array

_SLACK = 1e3 * tolerances.CONTACT_FORCE  # what a mode may miss and still be looked at
_SINGULAR = 1e-9  # reciprocal condition below which a system is looked at on its own


def likely(problem: ContactProblem, choices: Sequence[Sequence[Hold | None]]) -> Iterator[Mode]:
    """The modes that may solve the acceleration problem: every mode that does is among them.

    ``choices`` are what each contact may do (None: open). A mode is a linear system for all forces in units
    of their own: where a contact is open its forces vanish, else its accelerations or friction's law.
    """
    count = [len(options) for options in choices]
    if not count:
        yield ()
        return
    picks = np.array(list(product(*map(range, count))), dtype=np.int64)
    m, width = problem.free.shape
    unit_f, unit_a = (np.repeat(unit, width) for unit in (problem.force_unit, problem.acceleration_unit))
    G, free = problem.G * unit_f / unit_a[:, None], problem.free.ravel() / unit_a
    A = np.empty((len(picks), m * width, m * width))
    right = np.empty((len(picks), m * width))
    for i, options in enumerate(choices):
        rows = slice(i * width, (i + 1) * width)
        systems = [_rows(problem, i, hold, G[rows], free[rows]) for hold in options]
        A[:, rows] = np.array([system for system, _ in systems])[picks[:, i]]
        right[:, rows] = np.array([values for _, values in systems])[picks[:, i]]
    force, regular = _solved(A, right)
    acceleration = force @ G.T + free
    fine = np.ones(len(picks), dtype=bool)
    for i, options in enumerate(choices):
        parts = force[:, i * width : (i + 1) * width], acceleration[:, i * width : (i + 1) * width]
        possible = np.array([_possible(problem, i, hold, *parts) for hold in options])
        fine &= possible[picks[:, i], np.arange(len(picks))]
    for pick in picks[fine | ~regular]:
        held = (options[k] for options, k in zip(choices, pick, strict=True))
        yield tuple(hold for hold in held if hold is not None)


def _rows(problem: ContactProblem, i: int, hold: Hold | None, G: Array, free: Array) -> tuple[Array, Array]:
    """What one contact's choice asks of all forces: rows (1 + nt, m (1 + nt)) and their right side."""
    width = len(G)
    own = np.zeros_like(G)
    own[:, i * width : (i + 1) * width] = np.eye(width)
    if hold is None:
        return own, np.zeros(width)
    if hold.direction is None:
        return G, -free
    rows, right = own, np.zeros(width)
    rows[0], right[0] = G[0], -free[0]
    rows[1:, i * width] = problem.mu[i] * np.asarray(hold.direction)
    return rows, right


def _solved(A: Array, right: Array) -> tuple[Array, np.ndarray]:
    """Solutions of regular systems (zeros elsewhere), and which systems are regular."""
    with np.errstate(all="ignore"):  # what overflows is not regular
        regular = np.abs(np.linalg.det(A)) > 0.0
        force = np.zeros_like(right)
        inverse = np.linalg.inv(A[regular])
        size = np.abs(inverse).max(axis=(1, 2)) * np.abs(A[regular]).max(axis=(1, 2))
        good = size * _SINGULAR < 1.0
        at = np.flatnonzero(regular)[good]
        force[at] = (inverse[good] @ right[at][:, :, None])[:, :, 0]
    regular[:] = False
    regular[at] = True
    return force, regular


def _possible(
    problem: ContactProblem, i: int, hold: Hold | None, force: Array, acceleration: Array
) -> np.ndarray:
    """Whether forces and accelerations (n, 1 + nt) of one contact fit its choice, roughly; (n,) bool."""
    slack = _SLACK * np.maximum(1.0, np.abs(force).max(axis=1))
    if hold is None:
        return np.asarray(acceleration[:, 0] >= -slack)
    fits = force[:, 0] >= -slack
    if hold.direction is None:
        room = problem.mu[i] * force[:, 0] - np.linalg.norm(force[:, 1:], axis=1)
        fits &= room >= -slack * max(1.0, float(problem.mu[i]))
    elif problem.starts[i]:
        fits &= acceleration[:, 1:] @ np.asarray(hold.direction) >= -slack
    return np.asarray(fits)
