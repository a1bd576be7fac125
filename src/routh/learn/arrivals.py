"""A MuJoCo simulation looked at from substep to substep: what closes next, and the rows of the impact.

A contact is *open* while its distance exceeds the one at which MuJoCo's force begins (``includemargin``).
An event is an open contact that closes within the horizon faster than a threshold, or one that has closed
since the last look (its motion was accelerated). What was open before is remembered from look to look by
the pair of geoms and the place, so that a contact that stays closed is never an event, and one that was
handled is not handled twice: closed or handled, it can close again only after it has opened by more than
`REOPEN`. `Lookout` keeps the books; the kernels below it judge every contact.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from routh.base.status import ModelError
from routh.base.validation import Array
from routh.compiling import bound, kernel
from routh.compiling.foreign import Foreign
from routh.models.mujoco.engine import Workspace, engine, follow, make_workspace
from routh.models.mujoco.pairs import gap_is_beyond_margin, overridden
from routh.models.mujoco.rows import SeenStates, Tree, make_rows
from routh.models.mujoco.states import Watcher, empty_made, empty_seen
from routh.models.robot import Labels, distinct_names
from routh.models.simultaneity import Simultaneity

if TYPE_CHECKING:
    from mujoco import MjData, MjModel


_AIM = 0.25  # share of what is near enough to count, by distance or time, at which an event is put
_REOPEN = 1e-3  # m: what has closed, or was handled, can close again after it has opened so far
_AHEAD = 16e-3  # s: how far one look reaches at least, so that not every substep needs one
_FASTEST = 10.0  # m/s: approaches up to this speed are seen before they close
_ACCELERATION = 150.0  # m/s^2: ... and up to this acceleration

#: Fields of a model that a look depends on, and that people change.
_CHANGING = (
    "body_mass", "body_inertia", "body_pos", "body_quat", "body_ipos", "body_iquat", "dof_armature",
    "geom_friction", "geom_size", "geom_pos", "geom_quat", "geom_margin", "geom_gap", "jnt_range",
)  # fmt: skip


class Arrival(NamedTuple):
    """The impact of one state as arrays of its own: a `routh.ImpactProblem` that nobody has checked yet."""

    M: Array  # (nv, nv)
    Jn: Array  # (nc, nv)
    Jt: Array  # (nc, nt, nv)
    mu: Array  # (nc,)
    v: Array  # (nv,)
    depth: Array  # (nc,) distance to where MuJoCo's force begins, m or rad
    kind: np.ndarray  # (nc,) int8: `routh.models.robot.CONTACT` or JOINT_LIMIT
    pair: np.ndarray  # (nc, 2) int32: geoms, or joint and side
    ordinal: np.ndarray  # (nc,) int32: the how-manieth contact of its pair
    labels: Labels

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the contacts and limits."""
        rows = zip(self.kind, self.pair, self.ordinal, strict=True)
        return tuple(distinct_names([self.labels.name(*row) for row in rows]))


class Around(NamedTuple):
    """The contacts that MuJoCo found, as it calls them."""

    dist: Array  # (c,) m
    includemargin: Array  # (c,) m
    pos: Array  # (c, 3) m
    frame: Array  # (c, 9)
    geom: np.ndarray  # (c, 2) int32
    friction: Array  # (c, 5)
    dim: np.ndarray  # (c,) int32


class Lookout:
    """Watches the state in ``data``, which belongs to somebody's simulation and is only read.

    Parameters
    ----------
    model : MjModel.
    data : MjData.
    rules : which rows take part in an event.
    threshold : m/s: what closes more slowly is no event.
    least : contacts that an event needs.
    limits : whether limits of hinges and slides that are reached belong to its rows.
    """

    def __init__(
        self, model: MjModel, data: MjData, *, rules: Simultaneity, threshold: float, least: int, limits: bool
    ) -> None:
        mujoco = engine()
        if overridden(model):
            raise ModelError(
                "model", wrong="overrides the margins of all contacts", wanted="contacts with their own"
            )
        if np.any(data.eq_active):
            raise ModelError(
                "model", wrong="has active equality constraints", wanted="none while impacts are replaced"
            )
        self.model, self.data, self.rules = model, data, rules
        self._own = make_workspace(model)
        self._limits = limits
        self._rules = np.zeros(RULES)
        self._rules[THRESHOLD], self._rules[LEAST] = threshold, least
        aim = _AIM * (threshold * rules.horizon if rules.gap is None else rules.gap)
        self._rules[AIM], self._rules[REOPEN] = aim, rules.gap or _REOPEN
        self._rules[NEAR], self._rules[WINDOW] = rules.near, rules.horizon
        self._rules[ACCELERATION] = _ACCELERATION
        self._told: Foreign = self._rules.data  # takes and gives numbers faster than the array
        near = self._own.data
        self._calls = mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_collision
        self._motion = near.cdof, near.subtree_com, data.qvel
        self._positions = near.qpos, data.qpos
        self._moved_from_outside = bool(model.nmocap)
        self._counts = np.zeros(3, dtype=np.int64)
        self._memory = np.zeros((0, COLUMNS))
        self.refresh()

    def refresh(self) -> None:
        """Take over what was changed in the model: masses, friction, shapes, the time step."""
        own, model = self._own, self.model
        follow(own, model)
        ahead = max(2.0 * float(model.opt.timestep), _AHEAD)
        _reach_out(own, self.rules.near + _FASTEST * max(ahead, self.rules.horizon))
        self._rules[UNSEEN] = ahead
        self._watcher = Watcher(own.wide, own.data, self.rules, self._limits, model=model, states=1)
        self._labels, tree = self._watcher.labels(), self._watcher.tree
        margin = np.asarray(model.jnt_margin)[tree.limits[:, 0]][:, None] * [1.0, -1.0]
        self._tree = tree._replace(range=tree.range + margin)
        self._room = -1  # contacts for which there is some
        self._digest = _digest(model)
        self._counts[KNOWN] = -1

    def forget(self) -> None:
        """A new episode begins, perhaps with a changed model: what is closed now has not closed since."""
        self._counts[KNOWN] = -1
        if self._digest != _digest(self.model):
            self.refresh()

    def look(self) -> None:
        """Bring positions and contacts up to the state."""
        wide, near = self._own.wide, self._own.data
        mine, given = self._positions
        mine[:] = given
        if self._moved_from_outside:
            near.mocap_pos[:], near.mocap_quat[:] = self.data.mocap_pos, self.data.mocap_quat
        for call in self._calls:
            call(wide, near)

    def next_event(self, horizon: float) -> tuple[float, float]:
        """Time to the next event, s from the state that was last looked at; infinite: not by the horizon.

        The second number is for how long nothing can close that is open now, s. What closes in the event
        counts as handled from now on.
        """
        count, counts, told = self._own.data.ncon, self._counts, self._told
        if count == 0:
            counts[KNOWN] = 0
            return math.inf, told[UNSEEN]
        if count > self._room:
            self._make_room(count)
        told[HORIZON], counts[SEEN] = horizon, count
        self._judge()
        return told[EVENT], told[SAFE]

    def _make_room(self, contacts: int) -> None:
        """Make room for ``contacts`` and more, with kernels on all these arrays; what is remembered stays."""
        watcher, near, known = self._watcher, self._own.data, self._memory
        self._room, nv = 2 * contacts, self.model.nv
        qpos, M, cdof, centre = (array[None] for array in watcher.found)
        seen = empty_seen(self.model, 0, self._room, 1)._replace(
            qpos=qpos, qvel=self.data.qvel[None], M=M, cdof=cdof, centre=centre, first=self._counts[:2]
        )
        self._made = empty_made(1, self._room + 2 * len(self._tree.limits), nv)
        self._form = bound(make_rows, self._tree, seen, watcher.limits, np.empty((3, nv)), self._made)
        if contacts:
            self._memory = np.zeros((max(self._room, len(known)), COLUMNS))
            self._memory[: len(known)] = known
            books: Books = self._memory, np.zeros_like(self._memory), self._counts
            around = _wherever(near)
            self._judge = bound(next_event, self._tree, around, self._motion, self._rules, books)
            self._take = bound(take_contacts, around, seen)

    def arrival(self) -> Arrival | None:
        """The rows that take part in the state that was last looked at; None where there are none."""
        wide, near = self._own.wide, self._own.data
        self._counts[SEEN] = count = near.ncon
        if count > self._room:
            self._make_room(count)
        self._watcher.make_mass(wide, near)
        if count:
            self._take()
        self._form()
        made = self._made
        count = int(made.first[1])
        if not count:
            return None
        nt = 1 if made.planar[0] else 2
        J, mu, dist = made.J[:count], made.mu[:count].copy(), made.dist[:count].copy()
        kind, pair, ordinal = (rows[:count].copy() for rows in (made.kind, made.pair, made.ordinal))
        motion = made.M[0].copy(), J[:, 0].copy(), J[:, 1 : 1 + nt].copy(), mu, np.array(self.data.qvel)
        return Arrival(*motion, dist, kind, pair, ordinal, self._labels)


def _wherever(data: MjData) -> Around:
    """Arrays over all contacts that ``data`` can ever hold, where there is one at least.

    MuJoCo puts them at the beginning of the data's arena, where each look writes them anew: as many as the
    arena has bytes for are memory that belongs to it.
    """
    contact = data.contact
    step = contact.dist.strides[0]
    most = int(data.narena) // step

    def whole(values: np.ndarray) -> np.ndarray:
        return as_strided(values, (most, *values.shape[1:]), (step, *values.strides[1:]))

    return Around(*(whole(getattr(contact, field)) for field in Around._fields))


def _digest(model: MjModel) -> tuple[bytes | float, ...]:
    """What tells that a model was changed, without looking at all of it."""
    return (float(model.opt.timestep), *(getattr(model, field).tobytes() for field in _CHANGING))


def _reach_out(own: Workspace, reach: float) -> None:
    """Let contacts be found from afar, each with the distance at which its force begins as it was."""
    wide = own.wide
    beyond = gap_is_beyond_margin()
    share = 0.5 if beyond else 1.0  # of two geoms: their sum, or the larger
    for field in ("geom_gap",) if beyond else ("geom_gap", "geom_margin"):
        getattr(wide, field)[:] += share * reach
    for field in ("pair_gap",) if beyond else ("pair_gap", "pair_margin"):
        getattr(wide, field)[:] += reach
    if hasattr(wide, "body_margin"):
        wide.body_margin[:] += reach


# columns of the memory
KEY, X, Y, Z, DEPTH, HANDLED, SPEED, TIME = range(8)
COLUMNS = 8
# places in the rules
THRESHOLD = 0  # m/s: what closes more slowly is no event
HORIZON = 1  # s: what closes later is none yet
AIM = 2  # m: an event is put where the gap is still so wide, so that no force acts before it
REOPEN = 3  # m: what has closed can close again after it has opened so far
LEAST = 4  # contacts that an event needs
ACCELERATION = 5  # m/s^2: no contact is accelerated more, for how long nothing can close
UNSEEN = 6  # s: what is out of reach cannot close earlier
NEAR = 7  # m: contacts that are as near when an event begins take part in it
WINDOW = 8  # s: ... and those that close so soon after
EVENT, SAFE = 9, 10  # s: answers, see `next_event`
RULES = 11

Motion = tuple[Array, Array, Array]  # cdof (nv, 6), subtree_com (nbody, 3), qvel
Books = tuple[Array, Array, np.ndarray]  # memory (rows, COLUMNS), room for the next one, counts (3,)
SEEN, KNOWN = 1, 2  # counts: 0, contacts of now, rows in the memory or -1 when an episode begins


@kernel
def normal_speed(tree: Tree, contact: int, around: Around, motion: Motion) -> float:
    """Rate of a contact's distance, m/s."""
    # reads around.frame, around.geom, around.pos, tree.body_last, tree.body_root, tree.dof_parent,
    #   tree.geom_body
    pos, normal = around.pos[contact], around.frame[contact]
    cdof, centre, qvel = motion
    total = 0.0
    for side in range(2):
        body = tree.geom_body[around.geom[contact, side]]
        root, dof = tree.body_root[body], tree.body_last[body]
        x, y, z = pos[0] - centre[root, 0], pos[1] - centre[root, 1], pos[2] - centre[root, 2]
        sign = 1.0 if side == 1 else -1.0
        while dof >= 0:
            c = cdof[dof]
            along = (
                normal[0] * (c[3] + c[1] * z - c[2] * y)
                + normal[1] * (c[4] + c[2] * x - c[0] * z)
                + normal[2] * (c[5] + c[0] * y - c[1] * x)
            )
            total += sign * qvel[dof] * along
            dof = tree.dof_parent[dof]
    return total


@kernel
def take_contacts(around: Around, seen: SeenStates) -> None:
    """Copy the contacts of a state side by side, with their distances to where MuJoCo's force begins."""
    # reads around.dim, around.dist, around.frame, around.friction, around.geom, around.includemargin,
    #   around.pos, seen.first
    # writes seen.dim, seen.dist, seen.frame, seen.friction, seen.geom, seen.pos
    for contact in range(seen.first[1]):
        seen.dist[contact] = around.dist[contact] - around.includemargin[contact]
        seen.dim[contact] = around.dim[contact]
        for d in range(2):
            seen.geom[contact, d] = around.geom[contact, d]
        for d in range(3):
            seen.pos[contact, d] = around.pos[contact, d]
        for d in range(5):
            seen.friction[contact, d] = around.friction[contact, d]
        for d in range(9):
            seen.frame[contact, d] = around.frame[contact, d]


@kernel
def matched(memory: Array, known: int, row: Array) -> tuple[int, bool]:
    """The remembered row of the same pair that is nearest (-1: none), and whether the pair touched."""
    nearest, best, touched = -1, math.inf, False
    for k in range(known):
        if memory[k, KEY] == row[KEY]:
            dx, dy, dz = memory[k, X] - row[X], memory[k, Y] - row[Y], memory[k, Z] - row[Z]
            apart = dx * dx + dy * dy + dz * dz
            touched = touched or memory[k, DEPTH] <= 0.0
            if apart < best:
                nearest, best = k, apart
    return nearest, touched


@kernel
def judge_row(memory: Array, known: int, row: Array, rules: Array) -> None:
    """Fill in whether a row was handled, and when it closes (infinite: it does not, or it is no event).

    ``known`` is negative at the first look of an episode: what is closed then has not closed since.
    """
    nearest, touched = matched(memory, known, row)
    row[HANDLED], row[TIME] = 0.0, math.inf
    if nearest >= 0 and (row[SPEED] < 0.0 or row[DEPTH] <= rules[REOPEN]):
        row[HANDLED] = memory[nearest, HANDLED]
    closed = row[DEPTH] <= 0.0
    if row[SPEED] < -rules[THRESHOLD] and row[HANDLED] == 0.0:
        if not closed:
            if row[DEPTH] + row[SPEED] * rules[HORIZON] <= 0.0:
                row[TIME] = max(row[DEPTH] - rules[AIM], 0.0) / -row[SPEED]
        elif known >= 0 and ((nearest >= 0 and memory[nearest, DEPTH] > 0.0) or not touched):
            row[TIME] = 0.0  # of a pair that touched elsewhere, a point that was not there is no evidence
    if closed and row[TIME] == math.inf:
        row[HANDLED] = 1.0


@kernel
def earliest(row: Array, rules: Array) -> float:
    """The time in which an open contact can close for an event, s: one that was handled opens first."""
    speed, most, gap = row[SPEED], rules[ACCELERATION], rules[REOPEN]
    if row[HANDLED] == 0.0:
        return (speed + math.sqrt(speed * speed + 2.0 * most * row[DEPTH])) / most
    back = math.sqrt(2.0 * gap / most)
    if row[DEPTH] > gap:
        return abs(speed) / most + back
    return (math.sqrt(speed * speed + 2.0 * most * (gap - row[DEPTH])) - abs(speed)) / most + back


@kernel
def look_at_rows(tree: Tree, around: Around, motion: Motion, rules: Array, books: Books) -> tuple[int, float]:
    """Fill in the rows of now; their number, and for how long no open one can close, s."""
    # reads around.dist, around.geom, around.includemargin, around.pos, tree.geom_body; hands on around, tree
    memory, now, counts = books
    count, safe = 0, rules[UNSEEN]
    for contact in range(counts[SEEN]):
        first, second = around.geom[contact, 0], around.geom[contact, 1]
        if first < 0 or second < 0:
            continue
        row = now[count]
        row[KEY] = float(first) * len(tree.geom_body) + float(second)
        pos = around.pos[contact]
        row[X], row[Y], row[Z] = pos[0], pos[1], pos[2]
        row[DEPTH] = around.dist[contact] - around.includemargin[contact]
        row[SPEED] = normal_speed(tree, contact, around, motion)
        judge_row(memory, counts[KNOWN], row, rules)
        if row[DEPTH] > 0.0:
            safe = min(safe, earliest(row, rules))
        count += 1
    return count, safe


@kernel
def next_event(tree: Tree, around: Around, motion: Motion, rules: Array, books: Books) -> None:
    """Find the time to the first event, s from now (infinite: none within the horizon), and the safe time, s.

    Both stand in the rules then. The contacts that close then are remembered as handled; so are those of
    events with too few contacts.
    """
    # hands on around, tree
    count, safe = look_at_rows(tree, around, motion, rules, books)
    memory, now, counts = books
    found = math.inf
    while found == math.inf:
        first = math.inf
        for k in range(count):
            if now[k, HANDLED] == 0.0:
                first = min(first, now[k, TIME])
        if first == math.inf:
            break
        taking_part = 0
        for k in range(count):
            left = now[k, DEPTH] + min(now[k, SPEED], 0.0) * first
            if left <= rules[NEAR] or left + now[k, SPEED] * rules[WINDOW] <= 0.0:
                taking_part += 1
                if now[k, TIME] < math.inf:
                    now[k, HANDLED] = 1.0
            if now[k, TIME] <= first:
                now[k, HANDLED] = 1.0
        if taking_part >= rules[LEAST]:
            found = first
    for k in range(count):
        for column in range(COLUMNS):
            memory[k, column] = now[k, column]
    counts[KNOWN] = count
    rules[EVENT], rules[SAFE] = found, safe
