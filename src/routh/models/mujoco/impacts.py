"""Impact problems from an MjModel and one state, or many."""

from __future__ import annotations

from collections.abc import Container, Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from routh.base.validation import Array, integer, real_array
from routh.models.mujoco.contacts import contact_rows, equality_rows, limit_rows
from routh.models.mujoco.engine import (
    Near,
    engine,
    look_around,
    mass_matrix,
    reach_at,
    refuse_still,
    take_environment,
)
from routh.models.mujoco.features import BOUNCES, IMPACT, refuse, unrepresented
from routh.models.robot import (
    CONTACT,
    NOT_FINITE,
    ContactRow,
    Labels,
    RobotBatch,
    RobotContact,
    RobotProblem,
    assemble,
    impossible,
    state_arrays,
    tell_unrepresented,
)
from routh.models.simultaneity import (
    DEEPEST,
    DEEPEST_OF_MANY,
    PAST_LIMIT,
    PAST_LIMIT_OF_MANY,
    SOON,
    Restitution,
    Rules,
)
from routh.problem.batch import empty_arrays

if TYPE_CHECKING:
    from mujoco import MjData, MjModel

    from routh.models.mujoco.states import WatchedRows

_PLACES = {"kind": ((), np.int8), "pair": ((2,), np.int32), "ordinal": ((), np.int32), "dist": ((), float),
           "pos": ((3,), float), "frame": ((3, 3), float)}  # fmt: skip


def problem(
    model: MjModel,
    data: MjData,
    *,
    window: float | None = None,
    gap: float | None = None,
    limits: bool = True,
    restitution: Restitution = 0.0,
    deepest: float | None = DEEPEST,
    past_limit: float | None = PAST_LIMIT,
) -> RobotProblem:
    """The impact of all contacts that are simultaneous at the state in ``data``.

    Only ``qpos``, ``qvel``, the mocap poses and ``eq_active`` of the data are read; nothing is changed. What
    cannot be represented (torsional and rolling friction, adhesion, flexible bodies, ...) is named in an
    `UnrepresentedWarning` and in ``problem.unrepresented``.

    Parameters
    ----------
    model : MjModel.
    data : MjData.
    window : s: what touches is simultaneous, and what closes within this time at the present velocity;
        default 5 ms. Contacts that close within three windows, but not within one, are named in the
        problem's ``soon``.
    gap : m (rad for limits of hinges): instead of a window, all contacts within this distance.
    limits : whether limits of joints and tendons that are reached count, as contacts without friction.
    restitution : a number, one per contact, or a mapping from contact names; names without "#k" mean all
        points of their pair; "contact": each by its own spring, as `routh.models.landing` has it.
    deepest : how far bodies may overlap, also at the limits of slides and spatial tendons, m; None: any.
    past_limit : how far hinges, balls and fixed tendons may be past their limits, rad; None: any.

    Raises
    ------
    ValueError
        Where no contact is near.
    routh.base.status.StateError
        Where the state cannot be.
    """
    rules = Rules(
        window=window, gap=gap, limits=limits, restitution=restitution, deepest=deepest, past_limit=past_limit
    )
    result = build(model, data, rules)
    tell_unrepresented("impact", result.unrepresented)
    return result


def build(
    model: MjModel, data: MjData, rules: Rules, *, pairs: Container[tuple[str, str]] | None = None
) -> RobotProblem:
    """`problem` without the warning; ``unrepresented`` says the same. ``pairs``: of these geoms only."""
    refuse_still(model)
    refuse(model, IMPACT)
    real_array("qpos", data.qpos, [(model.nq,)])
    qvel = real_array("qvel", data.qvel, [(model.nv,)])
    reach, later = reach_at(model, data, rules), list[ContactRow]()
    if rules.horizon > 0.0:
        # a look of its own: which points MuJoCo finds of a pair depends on how far it looks
        later = _rows(look_around(model, data, SOON * reach), rules, pairs)
    near = look_around(model, data, reach)
    M, rows = mass_matrix(near.model, near.data), _rows(near, rules, pairs)
    candidates = assemble(M, qvel, rows, rules, equality=equality_rows(near), later=later)
    present = {_pair(contact) for contact in candidates.contacts}
    kept = BOUNCES if isinstance(rules.restitution, str) else None  # as the restitution of its spring
    notes = (*unrepresented(model, near, present, kept), *candidates.unrepresented)
    return RobotProblem(candidates, candidates.contacts, candidates.basis, candidates.qvel, notes)


def _rows(near: Near, rules: Rules, pairs: Container[tuple[str, str]] | None) -> list[ContactRow]:
    rows = [row for row in contact_rows(near) if pairs is None or _pair(row.contact) in pairs]
    return rows + (limit_rows(near) if rules.limits else [])


def _pair(contact: RobotContact) -> tuple[str, str]:
    return contact.geom1, contact.geom2


def problems(
    model: MjModel,
    qpos: ArrayLike,
    qvel: ArrayLike,
    *,
    window: float | None = None,
    gap: float | None = None,
    limits: bool = True,
    restitution: float | Mapping[str, float] = 0.0,
    deepest: float | None = DEEPEST_OF_MANY,
    past_limit: float | None = PAST_LIMIT_OF_MANY,
    data: MjData | None = None,
    processes: int = 1,
) -> RobotBatch:
    """The impacts of many states: row k is `routh.models.mujoco.problem` of the k-th state, to rounding.

    States in which nothing touches, nothing approaches, or which cannot be, are rows with a status.

    Models with equality constraints or with limits of tendons or ball joints are built state by state, which
    is slower.

    Parameters
    ----------
    model : MjModel.
    qpos : (n, nq).
    qvel : (n, nv).
    window, gap, limits : which contacts are simultaneous, as for a single problem.
    restitution : a number, or a mapping from contact names; names without "#k" mean all points of their pair.
    deepest : rows in which bodies overlap by more (m) are REFUSED; None: any. The default lets soft contacts
        of simulators pass.
    past_limit : rows in which joints are farther past their limits (rad) are REFUSED; None: any.
    data : MjData with the mocap poses and active equality constraints of all states; default the model's own.
    processes : that look at states, each at a share of them; the rows are the same to the bit. Worth it from
        some 10^5 states on. (Threads would wait for each other: half of this is Python.)
    """
    rules = Rules(window=window, gap=gap, limits=limits, deepest=deepest, past_limit=past_limit)
    positions, velocities = state_arrays({"qpos": (qpos, int(model.nq)), "qvel": (qvel, int(model.nv))})
    workers = integer("processes", processes, at_least=1)
    refuse(model, IMPACT)
    build_batch = _watched if _can_watch(model, data) else _one_by_one
    batch = build_batch(model, positions, velocities, data, rules, workers)
    batch.set_restitution(restitution)
    tell_unrepresented("impacts", batch.unrepresented)
    return batch


def _can_watch(model: MjModel, data: MjData) -> bool:
    """Whether the compiled code knows all that the model can do in an impact."""
    balls = model.jnt_type == int(engine().mjtJoint.mjJNT_BALL)
    active = model.eq_active0 if data is None else data.eq_active
    unknown = model.jnt_limited[balls], model.tendon_limited, active, getattr(model, "nflex", 0)
    return not any(map(np.any, unknown))


def _one_by_one(
    model: MjModel, qpos: Array, qvel: Array, data: MjData, rules: Rules, workers: int
) -> RobotBatch:
    """Each state by the code for a single one."""
    state = engine().MjData(model)
    if data is not None:
        take_environment(state, data)
    build_at = partial(_build_at, model, state, rules)
    return RobotBatch.one_by_one(qpos, qvel, int(model.nv), build_at, workers)


def _build_at(model: MjModel, state: MjData, rules: Rules, q: Array, v: Array) -> RobotProblem:
    state.qpos[:], state.qvel[:] = q, v
    return build(model, state, rules)


def _watched(
    model: MjModel, qpos: Array, qvel: Array, data: MjData, rules: Rules, workers: int
) -> RobotBatch:
    """The batch of all states, through one workspace and compiled code."""
    from routh.models.mujoco.states import Watch  # loads LLVM

    finite = np.isfinite(qpos).all(axis=1) & np.isfinite(qvel).all(axis=1)
    M = np.zeros((len(qpos), model.nv, model.nv))
    reasons = {int(k): NOT_FINITE for k in np.flatnonzero(~finite)}
    watch = Watch(model, data, rules, qpos, qvel, np.flatnonzero(finite))
    rows, labels = PaddedRows(len(qpos), model.nv), watch.watcher.labels()

    def take(piece: WatchedRows) -> None:
        rows.add(piece)
        M[piece.states] = piece.made.M
        reasons.update(_impossible(piece, labels, rules))

    watch.all_pieces(take, workers)
    arrays = rows.arrays | {"M": M, "v": qvel}
    arrays["size"][:, 0] = model.nv
    arrays["dist"][~arrays["present"]] = np.nan
    return RobotBatch.from_places(arrays, watch.watcher.labels(), dict(sorted(reasons.items())))


def _impossible(piece: WatchedRows, labels: Labels, rules: Rules) -> dict[int, str]:
    """Why rows are refused: the first contact that is too deep, or joint that is too far past its limit."""
    kind, pair, ordinal, dist = piece.made.kind, piece.made.pair, piece.made.ordinal, piece.made.dist
    units = np.array([*labels.units, "m"])[np.where(kind == CONTACT, -1, pair[:, 0])]
    too_far = np.flatnonzero(~(-dist <= np.where(units == "m", rules.most("m"), rules.most("rad"))))
    reasons: dict[int, str] = {}
    for state, k in zip(*np.unique(piece.states_of(too_far), return_index=True), strict=True):
        row = too_far[k]  # the first of its state
        worst = labels.contact(kind[row], pair[row], int(ordinal[row]), float(dist[row]))
        reasons[int(state)] = str(impossible(worst, rules))
    return reasons


class PaddedRows:
    """The contact arrays of a batch of ``n`` states.

    They begin with room for one planar contact a state and are made anew, one after the other, where a state
    has more: what is held besides the arrays themselves stays small.
    """

    def __init__(self, n: int, nv: int) -> None:
        self.n, self.nv, self.nc, self.nt = n, nv, 1, 1
        self.done = 0  # states up to this one may have rows
        self.arrays = self._empty(1, 1)

    def _empty(self, nc: int, nt: int) -> dict[str, np.ndarray]:
        places = {name: np.zeros((self.n, nc, *shape), dtype=kind) for name, (shape, kind) in _PLACES.items()}
        return empty_arrays(self.n, self.nv, nc, nt) | places

    def add(self, piece: WatchedRows) -> None:
        """Take over the rows of some states, which come after all earlier ones."""
        made, arrays = piece.made, self.arrays
        counts = np.diff(made.first)
        nc = max(self.nc, int(counts.max()))
        nt = self.nt if made.planar.all() else 2
        if (nc, nt) != (self.nc, self.nt):
            arrays = self._grow(nc, nt)
        rows = np.repeat(piece.states, counts)
        slots = np.arange(len(rows)) - np.repeat(made.first[:-1], counts)
        arrays["Jn"][rows, slots] = made.J[:, 0]
        arrays["Jt"][rows, slots] = made.J[:, 1 : 1 + nt]
        arrays["present"][rows, slots] = True
        arrays["size"][piece.states, 1] = counts
        arrays["size"][piece.states, 2] = np.where(counts == 0, 0, np.where(made.planar, 1, 2))
        for name in ("mu", *_PLACES):
            arrays[name][rows, slots] = getattr(made, name)
        self.done = int(piece.states[-1]) + 1

    def _grow(self, nc: int, nt: int) -> dict[str, np.ndarray]:
        larger = self._empty(nc, nt)  # no memory yet: pages are given when they are written
        for name, array in larger.items():
            given = self.arrays.pop(name)[: self.done]
            array[tuple(map(slice, given.shape))] = given
        self.arrays, self.nc, self.nt = larger, nc, nt
        return larger
