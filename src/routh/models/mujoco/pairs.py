"""Which geoms of a model can touch, and how their contacts will be, by MuJoCo's rules."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from routh.base.validation import Array
from routh.models.mujoco.contacts import geom_name
from routh.models.mujoco.engine import engine, switched_off

if TYPE_CHECKING:
    from mujoco import MjModel

_TINY = 1e-15  # MuJoCo's mjMINVAL


class Pair(NamedTuple):
    """Two geoms, and what an `MjContact` of them would have under the same names."""

    geom: tuple[int, int]
    name: str  # "geom2/geom1"
    dim: int
    friction: Array  # (5,) sliding along two tangents, torsion, rolling about two
    solref: Array  # (2,)
    includemargin: float  # m, from which distance on it pushes
    surfacevel: bool  # whether a surface moves, and whether it pulls
    adhesion: bool


def pairs_that_collide(model: MjModel) -> Iterator[Pair]:
    """All pairs of geoms whose contacts MuJoCo lets act."""
    given = {frozenset((int(model.pair_geom1[k]), int(model.pair_geom2[k]))): k for k in range(model.npair)}
    excluded = {int(signature) for signature in model.exclude_signature}
    for first, second in combinations(range(model.ngeom), 2):
        k = given.get(frozenset((first, second)))
        if k is not None or _collide(model, first, second, excluded):
            yield pair_of(model, first, second, k)


def pair_of(model: MjModel, first: int, second: int, given: int | None = None) -> Pair:
    """The contacts of two geoms; ``given``: the number of the ``<pair>`` that says how they are."""
    if given is None:
        values = _mixed(model, first, second)
    else:
        margin = float(model.pair_margin[given]) - (0.0 if gap_is_beyond_margin() else model.pair_gap[given])
        own = np.array(model.pair_friction[given]), np.array(model.pair_solref[given])
        values = int(model.pair_dim[given]), *own, margin
    if overridden(model):
        gap = 0.0 if gap_is_beyond_margin() else float(model.geom_gap[[first, second]].max())
        own = np.array(model.opt.o_friction), np.array(model.opt.o_solref)
        values = values[0], *own, float(model.opt.o_margin) - gap
    moves, pulls = (_any(model, field, [first, second]) for field in ("geom_surfacevel", "geom_adhesion"))
    if given is not None:
        pulls = _any(model, "pair_adhesion", [given])
    name = f"{geom_name(model, second)}/{geom_name(model, first)}"
    return Pair((first, second), name, *values, moves, pulls)


def _any(model: MjModel, field: str, rows: list[int]) -> bool:
    """Whether a field that older versions of MuJoCo lack is not zero for any of these."""
    values = getattr(model, field, None)
    return values is not None and bool(np.any(np.asarray(values)[rows] != 0.0))


def overridden(model: MjModel) -> bool:
    """Whether one friction, softness and margin of the options stand for those of all contacts."""
    return bool(int(model.opt.enableflags) & int(engine().mjtEnableBit.mjENBL_OVERRIDE))


def _mixed(model: MjModel, first: int, second: int) -> tuple[int, Array, Array, float]:
    """The geom of higher priority decides; of equal ones the larger friction, and a mixture of springs."""
    both = [first, second]
    priority = np.asarray(model.geom_priority)[both]
    deciding = both if priority[0] == priority[1] else [both[int(priority.argmax())]]
    slide, twist, roll = np.asarray(model.geom_friction)[deciding].max(axis=0)
    springs, shares = np.asarray(model.geom_solref)[deciding], np.asarray(model.geom_solmix)[deciding]
    if (springs[:, 0] <= 0.0).any():
        solref = springs.min(axis=0)
    else:
        weights = np.where(shares >= _TINY, shares, 0.0) if (shares >= _TINY).any() else np.ones(len(shares))
        solref = weights @ springs / weights.sum()
    margins, gaps = np.asarray(model.geom_margin)[both], np.asarray(model.geom_gap)[both]
    margin = margins.sum() if gap_is_beyond_margin() else margins.max() - gaps.max()
    dim = max(int(model.geom_condim[geom]) for geom in deciding)
    return dim, np.array([slide, slide, twist, roll, roll]), solref, float(margin)


def _collide(model: MjModel, first: int, second: int, excluded: set[int]) -> bool:
    a, b = int(model.geom_bodyid[first]), int(model.geom_bodyid[second])
    low, high = min(a, b), max(a, b)
    if (low << 16) + high in excluded:
        return False
    welded = [int(model.body_weldid[body]) for body in (a, b)]
    if welded[0] == welded[1]:
        return False
    parents = [int(model.body_weldid[model.body_parentid[body]]) for body in welded]
    if (
        not switched_off(model, "FILTERPARENT")
        and 0 not in welded
        and (parents[0] == welded[1] or parents[1] == welded[0])
    ):
        return False
    types, wants = model.geom_contype, model.geom_conaffinity
    return bool((types[first] & wants[second]) | (types[second] & wants[first]))


def pairs_within_trees(model: MjModel) -> set[tuple[int, int]]:
    """Pairs of geoms of one robot each."""
    roots = np.asarray(model.body_rootid)[np.asarray(model.geom_bodyid)]
    return {(a, b) for a, b in combinations(range(model.ngeom), 2) if roots[a] == roots[b]}


@cache
def heightfields_know_distances() -> bool:
    """Whether contacts with heightfields that are looked for from afar are as far as they are.

    Before MuJoCo 4 they come out deeper, by thrice the margin.
    """
    mujoco = engine()
    xml = (
        "<mujoco><asset><hfield name='h' nrow='2' ncol='2' size='1 1 1 1'/></asset><worldbody>"
        "<geom type='hfield' hfield='h' margin='0.2'/><body pos='0 0 1.1'><freejoint/>"
        "<geom size='1' margin='0.2'/></body></worldbody></mujoco>"
    )
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return bool(data.ncon and abs(float(data.contact.dist.min()) - 0.1) < 1e-3)


@cache
def gap_is_beyond_margin() -> bool:
    """Whether MuJoCo finds contacts up to margin + gap, summed over the pair (newer), or up to the margin."""
    mujoco = engine()
    xml = (
        "<mujoco><worldbody><geom type='plane' size='1 1 1' gap='0.2'/><body pos='0 0 1.3'><freejoint/>"
        "<geom size='1' gap='0.2'/></body></worldbody></mujoco>"
    )
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return bool(data.ncon > 0)
