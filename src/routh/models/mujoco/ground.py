"""Contacts with planes that stand still, compiled: gaps, Jacobians and their rates after MuJoCo's kinematics.

Most robots touch nothing else but themselves. The readable counterparts, for all contacts, are in
`routh.models.mujoco.model` and `routh.models.mujoco.touches`; a test holds them together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from routh.base.validation import Array
from routh.compiling import bound, kernel
from routh.models.mujoco.touches import Places

if TYPE_CHECKING:
    from mujoco import MjData, MjModel


class JointEnds(NamedTuple):
    """Ends of joints that count as contacts."""

    place: np.ndarray  # (k,) int64: in qpos
    dof: np.ndarray  # (k,) int64
    sign: Array  # (k,) of the gap's growth with qpos
    bound: Array  # (k,) m or rad


class GroundArrays(NamedTuple):
    """What does not change with the state: n points over planes, then k limits of joints."""

    row: np.ndarray  # (n + k,) int64: their numbers among all nc contacts
    geom: np.ndarray  # (n,) int64
    body: np.ndarray  # (n,) int64
    root: np.ndarray  # (n,) int64: the body at the root of its tree
    moves: np.ndarray  # (n, nv) bool: whether a velocity moves the body
    offset: Array  # (n, 3) m, in the geom's frame
    radius: Array  # (n,) m
    frame: Array  # (n, 1 + nt, 3) normal and tangents
    height: Array  # (n,) m, of the plane along its normal
    limits: JointEnds


class Watched(NamedTuple):
    """MuJoCo's arrays of one data that tell where its contacts are and how they move."""

    geom_xpos: Array
    geom_xmat: Array
    qpos: Array
    cdof: Array
    subtree_com: Array
    cvel: Array
    cacc: Array


class Ground:
    """The contacts of one model with its planes, and where they are in one MjData.

    Parameters
    ----------
    model : MjModel.
    data : MjData at any configuration that has been computed.
    places : of the points over planes.
    frame : (n, 1 + nt, 3), their normals and tangents.
    limits : k of joints, the last of the contacts.
    row : (n,), the numbers of the points among the contacts.
    """

    def __init__(
        self,
        model: MjModel,
        data: MjData,
        places: Places,
        frame: Array,
        limits: JointEnds,
        row: np.ndarray,
        nc: int,
    ) -> None:
        parents = np.asarray(model.body_parentid)
        self._root = np.asarray(model.body_rootid).astype(np.int64)
        self._moved = moved = np.zeros((model.nbody, model.nv), dtype=bool)
        for body in range(1, model.nbody):  # parents come first
            moved[body] = moved[parents[body]]
            first = int(model.body_dofadr[body])
            if first >= 0:
                moved[body, first : first + int(model.body_dofnum[body])] = True
        body = places.body2.astype(np.int64)
        height = (np.asarray(data.geom_xpos)[places.geom1] * frame[:, 0]).sum(axis=1)
        ends = np.arange(nc - len(limits.place), nc)
        self.arrays = GroundArrays(
            np.concatenate([row, ends]).astype(np.int64),
            places.geom2.astype(np.int64),
            body,
            self._root[body],
            moved[body],
            places.offset.copy(),
            places.radius.copy(),
            np.ascontiguousarray(frame),
            height,
            limits,
        )
        self.point = np.zeros((len(body), 3))  # m
        self.gap = np.zeros(nc)
        self.J = np.zeros((nc, frame.shape[1], int(model.nv)))  # normal first; zero of other contacts
        self.bias = np.zeros(self.J.shape[:2])  # ``dJ/dt v``, m/s^2
        self.watch(data)

    def watch(self, data: MjData) -> None:
        """Look at the arrays of this data from now on."""
        self._seen = Watched(*(getattr(data, name) for name in Watched._fields))
        self._fill: Callable[[], object] | None = None

    def update(self) -> None:
        """Gaps and Jacobians after MuJoCo's kinematics.

        And ``bias``, after ``mj_comVel`` and ``mj_rnePostConstraint`` at qacc = 0: accelerations of the
        touching points without that of v. A point of a round shape is not always the same one: it moves as
        its centre does.
        """
        if self._fill is None:
            self._fill = bound(fill_all, self.arrays, self._seen, self.point, self.gap, self.J, self.bias)
        self._fill()

    def between(self, where: Places, frames: Array) -> Array:
        """Velocities of second points less those of first ones, along frames (n, 1 + nt, 3): rows for v."""
        bodies = np.array([where.body1, where.body2])
        rows = np.zeros((*frames.shape[:2], self.J.shape[2]))
        points = np.array([where.on1, where.on2])
        fill_between(self._seen, self._root[bodies], self._moved[bodies], points, frames, rows)
        return rows

    def __getstate__(self) -> dict[str, object]:
        """What is copied to other processes: not what looks at an MjData of this one."""
        return {name: value for name, value in self.__dict__.items() if name not in ("_seen", "_fill")}


@kernel
def fill_all(ground: GroundArrays, seen: Watched, point: Array, gap: Array, J: Array, bias: Array) -> None:
    """Points, gaps, rows and their rates; J is zero, or was filled so before."""
    # hands on ground, seen
    fill_gaps(ground, seen, point, gap)
    fill_rows(ground, seen, point, J)
    fill_bias(ground, seen, point, bias)


@kernel
def fill_gaps(ground: GroundArrays, seen: Watched, point: Array, gap: Array) -> None:
    """Points (n, 3) m that touch first, and signed distances (nc,)."""
    # reads ground.frame, ground.geom, ground.height, ground.limits.bound, ground.limits.place,
    #   ground.limits.sign, ground.offset, ground.radius, ground.row, seen.geom_xmat, seen.geom_xpos,
    #   seen.qpos
    n = len(ground.geom)
    for i in range(n):
        geom = ground.geom[i]
        above = -ground.height[i]
        for a in range(3):
            at = seen.geom_xpos[geom, a] - ground.radius[i] * ground.frame[i, 0, a]
            for b in range(3):
                at += seen.geom_xmat[geom, 3 * a + b] * ground.offset[i, b]
            point[i, a] = at
            above += at * ground.frame[i, 0, a]
        gap[ground.row[i]] = above
    ends = ground.limits
    for k in range(len(ends.place)):
        gap[ground.row[n + k]] = ends.sign[k] * (seen.qpos[ends.place[k]] - ends.bound[k])


@kernel
def fill_rows(ground: GroundArrays, seen: Watched, point: Array, J: Array) -> None:
    """Velocities of the points along normal and tangents; J (nc, 1 + nt, nv) is zero before."""
    # reads ground.frame, ground.geom, ground.limits.dof, ground.limits.sign, ground.moves, ground.root,
    #   ground.row
    # hands on seen
    n = len(ground.geom)
    for i in range(n):
        fill_row(seen, ground.root[i], ground.moves[i], point[i], ground.frame[i], 0.0, 1.0, J[ground.row[i]])
    ends = ground.limits
    for k in range(len(ends.dof)):
        J[ground.row[n + k], 0, ends.dof[k]] = ends.sign[k]


@kernel
def fill_row(
    seen: Watched,
    root: int,
    moves: np.ndarray,
    point: Array,
    frame: Array,
    kept: float,
    sign: float,
    J: Array,
) -> None:
    """Velocity of a point along normal and tangents times a sign, and a share of what J (1 + nt, nv) was."""
    # reads cdof, subtree_com
    cdof, width = seen.cdof, J.shape[0]
    x = point[0] - seen.subtree_com[root, 0]
    y = point[1] - seen.subtree_com[root, 1]
    z = point[2] - seen.subtree_com[root, 2]
    for j in range(J.shape[1]):
        if moves[j]:
            u = cdof[j, 3] + cdof[j, 1] * z - cdof[j, 2] * y
            v = cdof[j, 4] + cdof[j, 2] * x - cdof[j, 0] * z
            w = cdof[j, 5] + cdof[j, 0] * y - cdof[j, 1] * x
            for a in range(width):
                along = frame[a, 0] * u + frame[a, 1] * v + frame[a, 2] * w
                J[a, j] = kept * J[a, j] + sign * along


@kernel
def fill_between(
    seen: Watched, root: np.ndarray, moves: np.ndarray, points: Array, frame: Array, J: Array
) -> None:
    """Velocities of second points less those of first ones, points (2, n, 3) m; J (n, 1 + nt, nv) is zero."""
    # hands on seen
    for i in range(len(J)):
        for side in range(2):
            sign = 2.0 * side - 1.0
            fill_row(seen, root[side, i], moves[side, i], points[side, i], frame[i], 1.0, sign, J[i])


@kernel
def fill_bias(ground: GroundArrays, seen: Watched, point: Array, found: Array) -> None:
    """Accelerations of the points at qacc = 0 along normal and tangents, found (nc, 1 + nt)."""
    # reads ground.body, ground.frame, ground.geom, ground.radius, ground.root, ground.row, seen.cacc,
    #   seen.cvel, seen.subtree_com
    cvel, cacc, subtree_com = seen.cvel, seen.cacc, seen.subtree_com
    for i in range(len(ground.geom)):
        body, root, normal = ground.body[i], ground.root[i], ground.frame[i, 0]
        x = point[i, 0] - subtree_com[root, 0]
        y = point[i, 1] - subtree_com[root, 1]
        z = point[i, 2] - subtree_com[root, 2]
        p = cvel[body, 0]
        q = cvel[body, 1]
        r = cvel[body, 2]
        # of the centre of a round shape
        cx = x + ground.radius[i] * normal[0]
        cy = y + ground.radius[i] * normal[1]
        cz = z + ground.radius[i] * normal[2]
        u = cvel[body, 3] + q * cz - r * cy
        v = cvel[body, 4] + r * cx - p * cz
        w = cvel[body, 5] + p * cy - q * cx
        dp = cacc[body, 0] - cacc[0, 0]  # less gravity
        dq = cacc[body, 1] - cacc[0, 1]
        dr = cacc[body, 2] - cacc[0, 2]
        ax = cacc[body, 3] - cacc[0, 3] + dq * z - dr * y + q * w - r * v
        ay = cacc[body, 4] - cacc[0, 4] + dr * x - dp * z + r * u - p * w
        az = cacc[body, 5] - cacc[0, 5] + dp * y - dq * x + p * v - q * u
        for a in range(found.shape[1]):
            along = ground.frame[i, a]
            found[ground.row[i], a] = along[0] * ax + along[1] * ay + along[2] * az
