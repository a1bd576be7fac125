"""Many states of one MuJoCo model, looked at one after the other with the same buffers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from routh.base import tolerances
from routh.base.processes import in_processes, parts_of
from routh.base.validation import Array
from routh.models.mujoco.contacts import (
    geom_name,
    joint_names,
    near_contacts,
    single_joints,
)
from routh.models.mujoco.engine import check_capacity, engine, switched_off, take_environment, workspace
from routh.models.mujoco.features import IMPACT, notes_on, of_pair
from routh.models.mujoco.rows import Made, SeenStates, Tree, fastest_point, make_rows
from routh.models.robot import CONTACT, Labels
from routh.models.simultaneity import Rules, Simultaneity

if TYPE_CHECKING:
    from mujoco import MjData, MjModel


STATES = 128  # looked at before compiled code makes rows of them: their arrays stay in the processor's cache
SHARE = 32  # times so many at most make a message of a process
_CONTACT_FIELDS = ("dist", "pos", "frame", "geom", "friction", "dim")


@dataclass(frozen=True, eq=False)
class WatchedRows:
    """The rows of some states: those of ``states[s]`` stand between ``made.first[s]`` and ``[s + 1]``."""

    states: np.ndarray  # (s,) int64
    made: Made

    def states_of(self, rows: np.ndarray) -> np.ndarray:
        """The states that some rows belong to."""
        return np.asarray(self.states[np.searchsorted(self.made.first, rows, side="right") - 1])


class Watcher:
    """A model's workspace with buffers for a chunk of states."""

    def __init__(
        self,
        wide: MjModel,
        data: MjData,
        rules: Simultaneity,
        limits: bool,
        *,
        model: MjModel,
        states: int = STATES,
    ) -> None:
        mujoco = engine()
        self.model = model  # whose margins are its own
        self.wide, self.data, self.rules = wide, data, rules
        self.reach = self._least = float(np.nextafter(rules.near, np.inf))  # m, how far the last look went
        self.limits = rules.near, rules.horizon, tolerances.RANK  # of `make_rows`
        owned = (f"{owner}_margin" for owner in ("geom", "pair", "body"))
        self._margins = [getattr(wide, field) for field in owned if hasattr(wide, field)]
        self.names = tuple(geom_name(wide, g) for g in range(wide.ngeom))
        counted = limits and not switched_off(wide, "LIMIT", "CONSTRAINT")
        self.tree = make_tree(wide, data, self.names, counted)
        bodies = np.stack([self.tree.body_root, self.tree.body_last])[:, self.tree.geom_body].T
        places = np.ascontiguousarray(bodies), self.tree.dof_parent, np.array(wide.geom_rbound)
        self._moving = *places, data.cdof, data.subtree_com, data.geom_xpos
        mass = data.qM if hasattr(data, "qM") else data.M  # the latter since 4.0
        self.make_mass = getattr(mujoco, "mj_makeM", None) or mujoco.mj_crb  # the latter before 3.3
        self.found = data.qpos, mass, data.cdof, data.subtree_com
        self.seen = empty_seen(wide, len(mass), 4 * states, states)
        self.notes: dict[str, set[str]] = {}
        self.known: set[int] = set()  # pairs of geoms whose contacts were judged

    def labels(self) -> Labels:
        """What the numbers in rows mean, and what of the model no row can represent."""
        slide = int(engine().mjtJoint.mjJNT_SLIDE)
        units = ["m" if int(kind) == slide else "rad" for kind in self.wide.jnt_type]
        notes = {what: frozenset(where) for what, where in self.notes.items()}
        return Labels(
            self.names, joint_names(self.wide), tuple(units), notes, tuple(notes_on(self.model, IMPACT))
        )

    def watch(self, qpos: Array, qvel: Array, states: np.ndarray) -> Iterator[WatchedRows]:
        """Look at some states of ``qpos`` (n, nq) and ``qvel`` (n, nv), and make rows of those that touch."""
        for begin in range(0, len(states), STATES):
            looked_at = states[begin : begin + STATES]
            near_limit = self._near_limit(qpos[looked_at], qvel[looked_at])
            kept = self._look_at(qpos, qvel, looked_at, near_limit)
            check_capacity(self.wide, self.data, self.reach)
            if len(kept):
                piece = self._piece(kept)
                self._judge(qpos, qvel, piece)
                yield piece

    def _near_limit(self, qpos: Array, qvel: Array) -> np.ndarray:
        """Which states have a hinge or slide at whose limit it takes part, (n,) bool."""
        near = np.zeros(len(qpos), dtype=bool)
        for (_, at, dof), (low, high) in zip(self.tree.limits, self.tree.range, strict=True):
            near |= self.rules.counts(qpos[:, at] - low, qvel[:, dof])
            near |= self.rules.counts(high - qpos[:, at], -qvel[:, dof])
        return near

    def _reach_for(self, qvel: Array) -> None:
        """Let contacts be found from as far as one can be that closes within the window."""
        rate = max(2.0 * fastest_point(*self._moving, qvel), np.abs(qvel).max(initial=0.0))
        self.reach = max(float(rate) * self.rules.horizon, self._least)
        self.wide.opt.o_margin = self.reach
        for margins in self._margins:
            margins.fill(self.reach)

    def _look_at(self, qpos: Array, qvel: Array, states: np.ndarray, near_limit: np.ndarray) -> np.ndarray:
        """Fill the buffers with those of the states in which something is near; returns these."""
        mujoco, wide, data, position = engine(), self.wide, self.data, self.data.qpos
        kinematics, centres, collide = mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_collision
        kept: list[int] = []
        count = 0
        for state, near in zip(states, near_limit, strict=True):
            position[:] = qpos[state]
            kinematics(wide, data)
            centres(wide, data)
            if self.rules.horizon > 0.0:
                self._reach_for(qvel[state])
            collide(wide, data)
            found = data.ncon
            if found or near:
                self.take(len(kept), count, found, qvel[state])
                kept.append(state)
                count += found
        return np.array(kept, dtype=np.int64)

    def take(self, place: int, begin: int, found: int, qvel: Array) -> None:
        """Write a state and the contacts that MuJoCo found into the buffers, at ``place`` and ``begin``."""
        self.make_mass(self.wide, self.data)
        seen, end = self.seen, begin + found
        if end > len(seen.dist):
            seen = self._grow(2 * end)
        seen.qpos[place], seen.M[place], seen.cdof[place], seen.centre[place] = self.found
        seen.qvel[place] = qvel
        if found:
            contacts = self.data.contact
            for field in _CONTACT_FIELDS:
                getattr(seen, field)[begin:end] = getattr(contacts, field)
        seen.first[place + 1] = end

    def _grow(self, contacts: int) -> SeenStates:
        states, entries = self.seen.M.shape
        larger = empty_seen(self.wide, entries, contacts, states)
        for name, value in self.seen._asdict().items():
            getattr(larger, name)[: len(value)] = value
        self.seen = larger
        return larger

    def _piece(self, kept: np.ndarray) -> WatchedRows:
        seen, nv = self.seen, self.wide.nv
        used = SeenStates(*(value[: len(kept)] if i < 5 else value for i, value in enumerate(seen)))
        made = empty_made(len(kept), int(seen.first[len(kept)]) + 2 * len(kept) * len(self.tree.limits), nv)
        make_rows(self.tree, used, self.limits, np.empty((3, nv)), made)
        rows = (values[: int(made.first[-1])] for values in made[3:])
        return WatchedRows(kept, Made(made.M, made.first, made.planar, *rows))

    def _judge(self, qpos: Array, qvel: Array, piece: WatchedRows) -> None:
        """Note what contacts of pairs that come for the first time have and a row cannot represent."""
        contact = piece.made.kind == CONTACT
        pairs = piece.made.pair.astype(np.int64) @ [self.wide.ngeom, 1]
        for key in set(np.unique(pairs[contact]).tolist()) - self.known:
            self.known.add(key)
            row = np.flatnonzero(contact & (pairs == key))[:1]
            self._look_at(qpos, qvel, piece.states_of(row), np.ones(1, dtype=bool))
            for found in near_contacts(self.data):
                first, second = (int(geom) for geom in found.geom)
                if first * self.wide.ngeom + second == key:
                    for what in of_pair(self.model, found):
                        name = f"{self.names[second]}/{self.names[first]}"
                        self.notes.setdefault(what, set()).add(name)


@dataclass(eq=False)
class Watch:
    """Looks at many states of a model, here or in processes, each of which has a workspace of its own."""

    model: MjModel
    data: MjData | None  # of the environment
    rules: Rules
    qpos: Array  # (n, nq)
    qvel: Array  # (n, nv)
    states: np.ndarray  # (s,) int64: those to look at

    @cached_property
    def watcher(self) -> Watcher:
        """The watcher of this process."""
        own = workspace(self.model, float(np.nextafter(self.rules.near, np.inf)))
        engine().mj_resetData(own.wide, own.data)
        if self.data is not None:
            take_environment(own.data, self.data)
        return Watcher(own.wide, own.data, self.rules, self.rules.limits, model=self.model)

    def __getstate__(self) -> dict[str, object]:
        """State for pickling: without the watcher, whose buffers are MuJoCo's own."""
        return {name: value for name, value in self.__dict__.items() if name != "watcher"}

    def all_pieces(self, take: Callable[[WatchedRows], None], workers: int) -> None:
        """Give the rows of all states to ``take``, in their order."""
        if workers == 1:
            for piece in self.watcher.watch(self.qpos, self.qvel, self.states):
                take(piece)
            return
        notes = self.watcher.notes

        def take_share(share: tuple[list[WatchedRows], dict[str, set[str]]]) -> None:
            for piece in share[0]:
                take(piece)
            for what, where in share[1].items():
                notes.setdefault(what, set()).update(where)

        size = min(-(-len(self.states) // (4 * workers * STATES)), SHARE) * STATES
        in_processes(self._share, parts_of(len(self.states), max(size, STATES)), workers, take_share)

    def _share(self, part: range) -> tuple[list[WatchedRows], dict[str, set[str]]]:
        """The rows of some of the states, and what of their contacts no row can represent."""
        states = self.states[part.start : part.stop]
        return list(self.watcher.watch(self.qpos, self.qvel, states)), self.watcher.notes


def make_tree(model: MjModel, data: MjData, names: tuple[str, ...], limits: bool) -> Tree:
    """The tree of bodies, and the limits of hinges and slides if they count."""
    last = np.full(model.nbody, -1, dtype=np.int32)
    for body in range(1, model.nbody):  # parents come first
        own = int(model.body_dofnum[body])
        last[body] = model.body_dofadr[body] + own - 1 if own else last[model.body_parentid[body]]
    joints = [joint for joint in single_joints(model) if limits and joint.limited]
    label = {name: k for k, name in enumerate(dict.fromkeys(names))}
    rows, columns = _mass_entries(model, hasattr(data, "qM"))
    return Tree(
        np.array(model.geom_bodyid, dtype=np.int32),
        np.array([label[name] for name in names], dtype=np.int32),
        np.array(model.body_rootid, dtype=np.int32),
        last,
        np.array(model.dof_parentid, dtype=np.int32),
        rows,
        columns,
        np.array([(j.number, j.qpos, j.dof) for j in joints], dtype=np.int32).reshape(-1, 3),
        np.array([joint.range for joint in joints], dtype=np.float64).reshape(-1, 2),
    )


def _mass_entries(model: MjModel, old: bool) -> tuple[np.ndarray, np.ndarray]:
    """Row and column of each entry of MuJoCo's sparse mass matrix, of which one triangle is kept."""
    rows, columns = [], []
    for dof in range(model.nv):
        if old:  # each velocity with itself and all before it in the tree
            other = dof
            while other >= 0:
                rows.append(dof)
                columns.append(other)
                other = int(model.dof_parentid[other])
        else:
            begin, count = int(model.M_rowadr[dof]), int(model.M_rownnz[dof])
            rows += [dof] * count
            columns += [int(c) for c in model.M_colind[begin : begin + count]]
    return np.array(rows, dtype=np.int32), np.array(columns, dtype=np.int32)


def empty_seen(model: MjModel, entries: int, contacts: int, states: int) -> SeenStates:
    """Room for what MuJoCo finds in some states; ``entries`` of its sparse mass matrix."""
    nv = model.nv
    return SeenStates(
        np.zeros((states, model.nq)),
        np.zeros((states, nv)),
        np.zeros((states, entries)),
        np.zeros((states, nv, 6)),
        np.zeros((states, model.nbody, 3)),
        np.zeros(states + 1, dtype=np.int64),
        np.zeros(contacts),
        np.zeros((contacts, 3)),
        np.zeros((contacts, 9)),
        np.zeros((contacts, 2), dtype=np.int32),
        np.zeros((contacts, 5)),
        np.zeros(contacts, dtype=np.int32),
    )


def empty_made(states: int, rows: int, nv: int) -> Made:
    """Room for the rows of some states."""
    return Made(
        np.zeros((states, nv, nv)),
        np.empty(states + 1, dtype=np.int64),
        np.empty(states, dtype=bool),
        np.empty((rows + 1, 3, nv)),  # one more: a contact is written before it is known whether it counts
        np.empty(rows + 1),
        np.empty(rows + 1, dtype=np.int8),
        np.empty((rows + 1, 2), dtype=np.int32),
        np.empty(rows + 1, dtype=np.int32),
        np.empty(rows + 1),
        np.empty((rows + 1, 3)),
        np.empty((rows + 1, 3, 3)),
    )
