"""Rows of impact problems from what MuJoCo computed, in compiled code: Jacobians, friction, limits, tangents.

The readable counterpart is `routh.models.mujoco.contacts` with `routh.models.robot.assemble`; tests hold them
together.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from routh.base.validation import Array
from routh.compiling import kernel

FREE_OF_FRICTION = 3  # contacts of fewer dimensions have a normal only


class Tree(NamedTuple):
    """What does not change from state to state: the tree of bodies, limits, where M's entries stand."""

    geom_body: np.ndarray  # (ngeom,) int32
    geom_label: np.ndarray  # (ngeom,) int32: equal where names are equal
    body_root: np.ndarray  # (nbody,) int32
    body_last: np.ndarray  # (nbody,) int32: last velocity that moves a body; -1 where nothing does
    dof_parent: np.ndarray  # (nv,) int32
    mass_row: np.ndarray  # (nM,) int32
    mass_column: np.ndarray  # (nM,) int32
    limits: np.ndarray  # (k, 3) int32 of limited hinges and slides: joint, place in qpos, place in qvel
    range: Array  # (k, 2) m or rad


class SeenStates(NamedTuple):
    """What MuJoCo found in some states, the contacts of all of them in one row."""

    qpos: Array  # (states, nq)
    qvel: Array  # (states, nv)
    M: Array  # (states, nM) sparse mass matrix
    cdof: Array  # (states, nv, 6) motions about the subtree's centre of mass
    centre: Array  # (states, nbody, 3) m
    first: np.ndarray  # (states + 1,) int64: where the contacts of a state begin
    dist: Array  # (contacts,) m
    pos: Array  # (contacts, 3) m
    frame: Array  # (contacts, 9)
    geom: np.ndarray  # (contacts, 2) int32
    friction: Array  # (contacts, 5)
    dim: np.ndarray  # (contacts,) int32


class Made(NamedTuple):
    """Rows of the same states, those that count."""

    M: Array  # (states, nv, nv), zero where no entry is written
    first: np.ndarray  # (states + 1,) int64
    planar: np.ndarray  # (states,) bool: no contact can slide in more than one direction
    J: Array  # (rows, 3, nv)
    mu: Array  # (rows,)
    kind: np.ndarray  # (rows,) int8
    pair: np.ndarray  # (rows, 2) int32: geoms, or joint and side
    ordinal: np.ndarray  # (rows,) int32: the how-manieth contact of its pair
    dist: Array  # (rows,)
    pos: Array  # (rows, 3)
    frame: Array  # (rows, 3, 3)


@kernel
def point_velocity(
    tree: Tree, seen: SeenStates, state: int, body: int, sign: float, pos: Array, J: Array
) -> None:
    """Add ``sign`` times the velocity of a body's material point, per qvel, to J (3, nv), world."""
    # reads seen.cdof, seen.centre, tree.body_last, tree.body_root, tree.dof_parent
    root = tree.body_root[body]
    x = pos[0] - seen.centre[state, root, 0]
    y = pos[1] - seen.centre[state, root, 1]
    z = pos[2] - seen.centre[state, root, 2]
    dof = tree.body_last[body]
    while dof >= 0:
        c = seen.cdof[state, dof]
        J[0, dof] += sign * (c[3] + c[1] * z - c[2] * y)
        J[1, dof] += sign * (c[4] + c[2] * x - c[0] * z)
        J[2, dof] += sign * (c[5] + c[0] * y - c[1] * x)
        dof = tree.dof_parent[dof]


@kernel
def fastest_point(
    bodies: np.ndarray,
    dof_parent: np.ndarray,
    radius: Array,
    cdof: Array,
    centre: Array,
    pos: Array,
    qvel: Array,
) -> float:
    """A speed (m/s) that no point of any geom exceeds, see `routh.models.mujoco.engine.reach_at`.

    bodies : (ngeom, 2) int32, the root of a geom's tree and the last velocity that moves it (-1: none);
    radius, pos : (ngeom,), (ngeom, 3) m, around the geom's centre; cdof, centre : as in `SeenStates`, of one.
    """
    fastest = 0.0
    for geom in range(radius.shape[0]):
        root, dof = bodies[geom, 0], bodies[geom, 1]
        x, y = pos[geom, 0] - centre[root, 0], pos[geom, 1] - centre[root, 1]
        z = pos[geom, 2] - centre[root, 2]
        u, v, w, a, b, c = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        while dof >= 0:
            rate = qvel[dof]
            u += rate * (cdof[dof, 3] + cdof[dof, 1] * z - cdof[dof, 2] * y)
            v += rate * (cdof[dof, 4] + cdof[dof, 2] * x - cdof[dof, 0] * z)
            w += rate * (cdof[dof, 5] + cdof[dof, 0] * y - cdof[dof, 1] * x)
            a, b, c = a + rate * cdof[dof, 0], b + rate * cdof[dof, 1], c + rate * cdof[dof, 2]
            dof = dof_parent[dof]
        speed = math.sqrt(u * u + v * v + w * w) + radius[geom] * math.sqrt(a * a + b * b + c * c)
        fastest = max(fastest, speed)
    return fastest


@kernel
def norm(vector: Array) -> float:
    """The Euclidean norm."""
    total = 0.0
    for i in range(vector.shape[0]):
        total += vector[i] * vector[i]
    return math.sqrt(total)


@kernel
def contact_jacobian(tree: Tree, seen: SeenStates, state: int, contact: int, world: Array, J: Array) -> float:
    """J (3, nv) of one contact, normal first, its weaker tangent scaled; returns the friction coefficient."""
    # reads seen.dim, seen.frame, seen.friction, seen.geom, seen.pos, tree.geom_body; hands on seen, tree
    nv = J.shape[1]
    for d in range(3):
        for j in range(nv):
            world[d, j] = 0.0
    pos, frame = seen.pos[contact], seen.frame[contact]
    point_velocity(tree, seen, state, tree.geom_body[seen.geom[contact, 1]], 1.0, pos, world)
    point_velocity(tree, seen, state, tree.geom_body[seen.geom[contact, 0]], -1.0, pos, world)
    mu, first, second = 0.0, 1.0, 1.0
    if seen.dim[contact] >= FREE_OF_FRICTION:
        mu = max(seen.friction[contact, 0], seen.friction[contact, 1])
        if mu > 0.0:
            first, second = seen.friction[contact, 0] / mu, seen.friction[contact, 1] / mu
    for d in range(3):
        scale = 1.0 if d == 0 else (first if d == 1 else second)
        for j in range(nv):
            value = (
                frame[3 * d] * world[0, j] + frame[3 * d + 1] * world[1, j] + frame[3 * d + 2] * world[2, j]
            )
            J[d, j] = scale * value
    return mu


@kernel
def principal_tangent(pair: Array, turned: Array) -> tuple[float, float, float, float]:
    """Turn two rows (2, nv) until they are orthogonal: their norms, larger first, and the larger one's turn.

    One-sided Jacobi: the small norm is right to rounding of the large one, as a singular value is.
    """
    nv = pair.shape[1]
    c, s = 1.0, 0.0  # turned rows: c p0 + s p1 and c p1 - s p0
    for _ in range(4):
        a, b, cross = 0.0, 0.0, 0.0
        for j in range(nv):
            p, q = c * pair[0, j] + s * pair[1, j], c * pair[1, j] - s * pair[0, j]
            turned[0, j], turned[1, j] = p, q
            a, b, cross = a + p * p, b + q * q, cross + p * q
        if abs(cross) <= 1e-17 * math.sqrt(a * b) or cross == 0.0:
            break
        angle = 0.5 * math.atan2(2.0 * cross, a - b)
        cc, ss = math.cos(angle), math.sin(angle)
        c, s = c * cc - s * ss, s * cc + c * ss
    first, second = norm(turned[0]), norm(turned[1])
    if second > first:
        return second, first, -s, c
    return first, second, c, s


@kernel
def turn_tangents(made: Made, begin: int, end: int, turned: Array) -> None:
    """Turn tangents, frames too, so that the second one vanishes (`routh.models.robot.planar_tangents`)."""
    # reads J, frame; writes J, frame
    for row in range(begin, end):
        J, frame = made.J[row], made.frame[row]
        _, _, c, s = principal_tangent(J[1:], turned)
        largest = c if abs(c) >= abs(s) else s
        if largest < 0.0:
            c, s = -c, -s
        for j in range(J.shape[1]):
            J[1, j] = c * J[1, j] + s * J[2, j]
            J[2, j] = 0.0
        for j in range(3):
            x, y = frame[1, j], frame[2, j]
            frame[1, j], frame[2, j] = c * x + s * y, c * y - s * x


@kernel
def takes_part(dist: float, rate: float, limits: tuple[float, float, float]) -> bool:
    """Whether a contact counts, as `routh.models.simultaneity.Simultaneity.counts` says."""
    near, horizon, _ = limits
    if dist <= near:
        return True
    return rate < 0.0 and dist / -rate <= horizon


@kernel
def add_limits(
    tree: Tree, seen: SeenStates, state: int, limits: tuple[float, float, float], made: Made, row: int
) -> int:
    """Limits of hinges and slides that take part; the number of rows after them."""
    # reads made.J, seen.qpos, seen.qvel, tree.limits, tree.range
    # writes made.J, made.dist, made.frame, made.kind, made.mu, made.ordinal, made.pair, made.pos
    for k in range(tree.limits.shape[0]):
        joint, at, dof = tree.limits[k, 0], tree.limits[k, 1], tree.limits[k, 2]
        value = seen.qpos[state, at]
        for side in range(2):
            dist = value - tree.range[k, 0] if side == 0 else tree.range[k, 1] - value
            rate = seen.qvel[state, dof] if side == 0 else -seen.qvel[state, dof]
            if not takes_part(dist, rate, limits):
                continue
            for d in range(3):
                for j in range(made.J.shape[2]):
                    made.J[row, d, j] = 0.0
                for j in range(3):
                    made.frame[row, d, j] = math.nan
                made.pos[row, d] = math.nan
            made.J[row, 0, dof] = 1.0 if side == 0 else -1.0
            made.mu[row], made.kind[row], made.ordinal[row], made.dist[row] = 0.0, 1, 1, dist
            made.pair[row, 0], made.pair[row, 1] = joint, side
            row += 1
    return row


@kernel
def add_contacts(
    tree: Tree,
    seen: SeenStates,
    state: int,
    limits: tuple[float, float, float],
    world: Array,
    made: Made,
    row: int,
) -> int:
    """Contacts that take part and that some velocity can change; the number of rows after them."""
    # reads made.J, made.pair, seen.dist, seen.first, seen.frame, seen.geom, seen.pos, seen.qvel,
    #   tree.geom_label
    # writes made.J, made.dist, made.frame, made.kind, made.mu, made.ordinal, made.pair, made.pos
    # hands on seen, tree
    near, horizon, rank = limits
    start = row
    for contact in range(seen.first[state], seen.first[state + 1]):
        if horizon == 0.0 and not seen.dist[contact] <= near:
            continue
        made.mu[row] = contact_jacobian(tree, seen, state, contact, world, made.J[row])
        length = norm(made.J[row, 0])
        if not length > rank * max(length, 1.0):
            continue
        rate = 0.0
        for j in range(made.J.shape[2]):
            rate += made.J[row, 0, j] * seen.qvel[state, j]
        if not takes_part(seen.dist[contact], rate, limits):
            continue
        ordinal = 1
        first, second = seen.geom[contact, 0], seen.geom[contact, 1]
        for other in range(start, row):
            if (
                tree.geom_label[made.pair[other, 0]] == tree.geom_label[first]
                and tree.geom_label[made.pair[other, 1]] == tree.geom_label[second]
            ):
                ordinal += 1
        made.kind[row], made.ordinal[row], made.dist[row] = 0, ordinal, seen.dist[contact]
        made.pair[row, 0], made.pair[row, 1] = first, second
        for d in range(3):
            made.pos[row, d] = seen.pos[contact, d]
            for j in range(3):
                made.frame[row, d, j] = seen.frame[contact, 3 * d + j]
        row += 1
    return row


@kernel
def make_rows(
    tree: Tree, seen: SeenStates, limits: tuple[float, float, float], world: Array, made: Made
) -> None:
    """All rows of some states.

    ``limits``: the distance (m, rad) up to which, and the time (s) within which contacts count, and the share
    below which a norm is zero.
    """
    # reads made.J, made.first, seen.M, seen.qpos, tree.mass_column, tree.mass_row
    # writes made.M, made.first, made.planar
    # hands on made, seen, tree
    made.first[0] = 0
    for state in range(seen.qpos.shape[0]):
        begin = made.first[state]
        end = add_contacts(tree, seen, state, limits, world, made, begin)
        end = add_limits(tree, seen, state, limits, made, end)
        made.first[state + 1] = end
        planar = True
        for row in range(begin, end):
            large, small, _, _ = principal_tangent(made.J[row, 1:], world)
            if small > limits[2] * max(large, 1.0):
                planar = False
                break
        made.planar[state] = planar
        if planar:
            turn_tangents(made, begin, end, world)
        if end > begin:
            for k in range(tree.mass_row.shape[0]):
                i, j = tree.mass_row[k], tree.mass_column[k]
                made.M[state, i, j] = seen.M[state, k]
                made.M[state, j, i] = seen.M[state, k]
