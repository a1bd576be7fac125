"""``routh tip --smallest span=0.5:2``: how wide must the legs be, or where must a joint stand, to be a go?"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from routh.base.status import InputError
from routh.base.text import quantity
from routh.base.validation import real
from routh.cli.landings import Landed

if TYPE_CHECKING:
    from mujoco import MjModel

SPAN = "span"
_SEEDS = 2  # with which it has to be a go
_WIDTH = 1.0 / 256.0  # share of the range to which it is told


@dataclass(frozen=True)
class Varied:
    """A number of a robot, and the range that it is looked for in."""

    name: str
    low: float
    high: float

    @classmethod
    def from_text(cls, text: str) -> Varied:
        """Parse ``NAME=LOW:HIGH``."""
        name, _, ends = text.partition("=")
        try:
            low, high = (real("--smallest", quantity(end)) for end in ends.split(":"))
        except ValueError:
            raise InputError(
                "--smallest", got=repr(text), wanted="NAME=LOW:HIGH, such as span=0.5:2"
            ) from None
        if not name or not low < high or (name == SPAN and low <= 0.0):
            raise InputError("--smallest", got=repr(text), wanted="LOW below HIGH, and a span above 0")
        return cls(name, low, high)

    def at(self, share: float) -> float:
        """The value at a share of the range."""
        return self.low + share * (self.high - self.low)

    def place(self, model: MjModel, landed: Landed, value: float) -> tuple[MjModel, Landed]:
        """The robot with this value, and how it comes down."""
        if self.name == SPAN:
            return spread(model, landed.body, value), landed
        return model, replace(landed, joint=[*(landed.joint or ()), f"{self.name}={value!r}"])

    def least(self, is_go: Callable[[float, int], bool]) -> Smallest:
        """The smallest value from which on it is a go with all seeds; TimeoutError ends the search."""
        from routh.robust.least import least_share

        good: list[float] = []

        def holds(share: float) -> bool:
            value = self.at(share)
            if all(is_go(value, seed) for seed in range(_SEEDS)):
                good.append(value)
                return True
            return False

        try:
            least_share(holds, _WIDTH)
        except TimeoutError:
            return Smallest(self, min(good, default=None), False)
        return Smallest(self, min(good, default=None), True)


@dataclass(frozen=True)
class Smallest:
    """What came of the search."""

    varied: Varied
    value: float | None  # None: not even the largest is a go
    whole: bool  # whether there was time for all of it

    @property
    def sentence(self) -> str:
        """The result in one line."""
        name, high = self.varied.name, self.varied.high
        of = "times the file's" if name == SPAN else "rad (m for slides)"
        late = "" if self.whole else "PARTIAL: in the time of --budget "
        if self.value is None:
            return f"{late}no {name} up to {high:g} {of} was found to be a go; at {high:g}:"
        smaller = ", and none smaller was asked for" if self.value == self.varied.low else ""
        return f"{late}the smallest {name} that is a go is {self.value:.4g} {of}{smaller}; there:"


def spread(model: MjModel, body: str | None, factor: float) -> MjModel:
    """The model with the shapes of its root farther from the centre of mass across, or nearer.

    Mass and inertia stay as they are: feet weigh little.
    """
    from routh.models.mujoco.engine import engine
    from routh.models.mujoco.landings import free_root

    mujoco = engine()
    wide = copy.copy(model)
    data = mujoco.MjData(wide)
    mujoco.mj_kinematics(wide, data)
    root = free_root(wide, data, body)
    own = np.flatnonzero(root.geoms & (np.asarray(wide.geom_bodyid) == root.body))
    meets = (np.asarray(wide.geom_contype) | np.asarray(wide.geom_conaffinity)) != 0
    apart = np.array(wide.geom_pos[own] - wide.body_ipos[root.body])
    beside = np.abs(apart[meets[own], :2]).max(initial=0.0) > 0.0
    if (root.geoms & meets).sum() != meets[own].sum() or not beside:
        raise InputError(
            "--smallest",
            wrong=("span needs feet that are shapes of the free body itself, beside its centre of mass"),
            wanted="a joint's name instead",
        )
    apart[:, :2] *= factor
    moved = apart + wide.body_ipos[root.body]
    most = float(np.abs(moved - wide.geom_pos[own]).max())
    wide.geom_pos[own], wide.geom_sameframe[own] = moved, 0
    # MuJoCo's boxes around the shapes of a body were made for the old places
    boxes = slice(wide.body_bvhadr[root.body], wide.body_bvhadr[root.body] + wide.body_bvhnum[root.body])
    wide.bvh_aabb[boxes, 3:] += most
    return wide
