"""The solution map of a step: each complementary basis is a linear map, valid on a polyhedral cone.

The inputs of a step are ``x = (contact velocities c (n,), lambda_max (nc,))``. For a basis (a contact state
each, as in `routh.kernels.basis`) the impulses are ``p = P x``, and the basis solves the step wherever its
inequalities ``rows @ x >= 0`` hold. A violated row names the contact whose state must change, which leads to
a neighbouring region. M, J and mu fix the maps once and for all; samples only choose among them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routh.kernels.basis import FREE, OPEN, UPPER
from routh.kernels.prepare import KernelData
from routh.validation import Array

ContactState = tuple[int, int, int, int]  # normal, first direction, second direction, friction at its bound
State = tuple[ContactState, ...]
SINGULAR = 1e-9  # reciprocal condition below which a basis is left to pivoting


@dataclass(frozen=True, eq=False)
class Region:
    """One basis: its map, its inequalities, and the neighbour behind each of them."""

    state: State
    impulses: Array  # (n, n + nc): p = impulses @ x
    rows: Array  # (r, n + nc), the basis holds where rows @ x >= 0
    neighbours: tuple[State, ...]  # (r,)


def canonical(state: np.ndarray, nt: int, k: int) -> State:
    """Contact states without what makes no difference: friction of open contacts, the sign of sticking."""
    contacts: list[ContactState] = []
    for normal, a, b, sliding in state.tolist():
        if normal == OPEN:
            contacts.append((OPEN, -1, -1, 0))
        elif sliding and b >= 0 and (b - a) % k != 1:
            contacts.append((normal, b, a, 1))
        elif not sliding and a >= 0 and (nt == 1 or b >= 0):
            contacts.append(sticking(normal, nt, k))
        else:
            contacts.append((normal, a, b, sliding))
    return tuple(contacts)


def sticking(normal: int, nt: int, k: int) -> ContactState:
    """A contact whose slip is zero in every direction."""
    return (normal, 0, -1 if nt == 1 else max(k // 4, 1), 0)


def build_region(data: KernelData, state: State) -> Region | None:
    """The map and the inequalities of a basis; None where its equations are (nearly) singular."""
    nc, nt = data.shape
    n = nc * (1 + nt)
    inputs = n + nc
    identity = np.eye(inputs)
    fixed = np.zeros((n, inputs))  # p = fixed @ x + columns @ unknowns
    columns: list[Array] = []
    equations: list[Array] = []
    for i, contact in enumerate(state):
        _contact_columns(data, i, contact, identity[n + i], fixed, columns, equations)
    impulses = fixed
    if columns:
        E, R = np.stack(columns, axis=1), np.stack(equations)
        matrix = R @ data.G @ E
        scale = np.abs(matrix).max()
        if not np.linalg.cond(matrix) < 1.0 / SINGULAR or scale == 0.0:
            return None
        right = -R @ (identity[:n] + data.G @ fixed)
        unknowns = np.linalg.solve(matrix, right)
        unknowns += np.linalg.solve(matrix, right - matrix @ unknowns)
        impulses = fixed + E @ unknowns
    after = identity[:n] + data.G @ impulses
    rows: list[Array] = []
    neighbours: list[State] = []
    for i, contact in enumerate(state):
        for row, flipped in _inequalities(data, i, contact, impulses, after, identity[n + i]):
            rows.append(row)
            neighbours.append((*state[:i], flipped, *state[i + 1 :]))
    return Region(state, impulses, np.stack(rows), tuple(neighbours))


def _contact_columns(
    data: KernelData,
    i: int,
    contact: ContactState,
    bound: Array,
    fixed: Array,
    columns: list[Array],
    equations: list[Array],
) -> None:
    """Add one contact's fixed impulses, its unknowns' impulses and their equations ``R u = 0``."""
    normal, a, b, sliding = contact
    n, nt = len(fixed), data.dirs.shape[1]
    place = slice(i * (1 + nt) + 1, (i + 1) * (1 + nt))

    def vector(normal_part: float, tangent: Array | float) -> Array:
        column = np.zeros(n)
        column[i * (1 + nt)] = normal_part
        column[place] = tangent
        return column

    push = vector(1.0, data.mu[i] * data.dirs[a] if sliding else 0.0)
    if normal == UPPER:
        fixed += np.outer(push, bound)
    elif normal == FREE:
        columns.append(push)
        equations.append(vector(1.0, 0.0))
    if not sliding:
        for j in (a, b):
            if j >= 0:
                columns.append(vector(0.0, data.dirs[j]))
                equations.append(vector(0.0, data.dirs[j]))
    elif b >= 0:
        columns.append(vector(0.0, data.dirs[b] - data.dirs[a]))
        equations.append(vector(0.0, data.dirs[b] - data.dirs[a]))


def _inequalities(
    data: KernelData, i: int, contact: ContactState, impulses: Array, after: Array, bound: Array
) -> list[tuple[Array, ContactState]]:
    """One contact's inequalities as (row, contact state behind it)."""
    normal, a, b, sliding = contact
    dirs, mu = data.dirs, data.mu[i]
    k, nt = dirs.shape
    first = i * (1 + nt)
    pressure, friction = impulses[first], impulses[first + 1 : first + 1 + nt]
    slip = dirs @ after[first + 1 : first + 1 + nt]  # (k, inputs) d . t'
    if normal == OPEN:
        return [(after[first], sticking(FREE, nt, k))]
    if normal == UPPER:
        found = [(-after[first], (FREE, a, b, sliding))]
    else:
        found = [
            (pressure, (OPEN, -1, -1, 0)),
            (bound - pressure, (UPPER, a, b, sliding)),
        ]
    stick = sticking(normal, nt, k)
    scale = 1.0 / max(mu, 1.0)
    if sliding and b >= 0:
        sizes = np.linalg.solve(dirs[[a, b]].T, friction)
        found += [
            (sizes[0] * scale, (normal, b, -1, 1)),
            (sizes[1] * scale, (normal, a, -1, 1)),
            (-slip[a], stick),
        ]
    elif sliding:
        if nt == 1:
            found.append((-slip[a], stick))
        else:
            found.append((slip[(a + 1) % k] - slip[a], (normal, a, (a + 1) % k, 1)))
            found.append((slip[(a - 1) % k] - slip[a], (normal, (a - 1) % k, a, 1)))
    elif contact == stick:
        for j in range(k):
            room = (mu * pressure - facet_normals(dirs)[j] @ friction) * scale
            found.append((room, (normal, j, -1 if nt == 1 else (j + 1) % k, 1)))
    else:  # some direction's slip vanishes although nothing enforces it: redundant contacts
        if a >= 0:
            size = dirs[a] @ friction
            found += [
                (size * scale, (normal, -1, -1, 0)),
                ((mu * pressure - size) * scale, (normal, a, -1, 1)),
            ]
        found += [(slip[j], stick) for j in range(k) if j != a]
    return found


def facet_normals(dirs: Array) -> Array:
    """``N`` (k, nt): friction f lies in mu lambda_n times the polygon of directions where N f <= mu lambda_n.

    Row j belongs to the edge from direction j to the next one; in the plane to direction j itself.
    """
    if dirs.shape[1] == 1:
        return dirs
    following = np.roll(dirs, -1, axis=0)
    return np.stack(
        [np.linalg.solve(np.stack(pair), np.ones(2)) for pair in zip(dirs, following, strict=True)]
    )
