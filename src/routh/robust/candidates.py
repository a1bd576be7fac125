"""Landings as functions of a few numbers: what `routh.robust.design` may change, and what must stay."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from routh.base.status import InputError, StateError, no_such
from routh.base.validation import Array, Options, real, real_array
from routh.models.landings import Landing, Posture
from routh.models.robot import NoContactError, RobotProblem
from routh.problem.impact import ImpactProblem

T = TypeVar("T")

POSE = ("roll", "pitch", "yaw")
Name = str | tuple[str, ...]
Made = Landing | ImpactProblem | None  # None: there is no such landing
Maker = Callable[..., Made]


def problem_of(made: Made) -> ImpactProblem | None:
    """The impact of a landing."""
    return made.problem if isinstance(made, Landing) else made


@dataclass(frozen=True, eq=False)
class Constraint:
    """``low <= function(landing) <= high``, to ``within`` in the units of the function.

    The function gets what the design is made of: a `routh.models.Landing`, or the impact problem where a
    function of one's own makes that. It returns a number or (k,).
    """

    function: Callable[[Any], ArrayLike]
    low: float = 0.0
    high: float = 0.0
    within: float = 1e-6
    name: str = "constraint"
    also: Callable[[Any], bool] | None = None  # what must be true besides, which optimisers are not told
    of_posture: Callable[[Array], ArrayLike] | None = None  # the function from qpos (nq,) alone, not landed
    surely: Callable[[Any], bool] | None = None  # asked of the answer: whether it holds with other samples

    def values(self, made: Made) -> Array:
        """Values for one landing, (k,)."""
        return np.atleast_1d(np.asarray(self.function(made), dtype=np.float64))

    def violation(self, made: Made) -> float:
        """Size of the violation, in units of ``within``: kept up to 1; infinite where it is no number."""
        if self.also is not None and not self.also(made):
            return np.inf
        value = self.values(made)
        off = np.maximum(np.maximum(self.low - value, value - self.high), 0.0)
        return float(np.max(off, initial=0.0)) / self.within if np.all(np.isfinite(off)) else np.inf

    def is_sure(self, made: Made) -> bool:
        """Whether it is kept, with other and more samples than those of the search."""
        return self.violation(made) <= 1.0 and (self.surely is None or self.surely(made))


def same_feet(landing: Landing, *, within: float = 1e-6) -> Constraint:
    """The same feet land, and where they do in ``landing``: as far from each other, and as high.

    The robot as a whole may move along the ground, and its trunk over its feet. Feet are spheres, whose
    centres stay, or points of a body where they touch in ``landing``.

    Parameters
    ----------
    landing : of a MuJoCo model.
    within : m, how far each foot may be off.
    """
    feet = Feet(landing)
    wanted, names = feet.places(landing.qpos), set(landing.problem.names)
    return Constraint(
        lambda made: feet.places(made.qpos) - wanted,
        within=real("within", within, above=0.0),
        name="feet in place",
        also=lambda made: set(made.problem.names) == names,
        of_posture=lambda qpos: feet.places(qpos) - wanted,
    )


class Feet:
    """The points of a robot that land, in any posture of it."""

    def __init__(self, landing: Landing) -> None:
        from routh.models.mujoco.contacts import geom_name
        from routh.models.mujoco.engine import engine

        model: Any = landing.model
        if not isinstance(landing.problem, RobotProblem) or not hasattr(model, "geom_bodyid"):
            raise InputError(
                "landing", wrong="its contacts belong to no geoms", wanted="a landing of a MuJoCo model"
            )
        self.mujoco, self.model = engine(), model
        self.data = self.mujoco.MjData(model)
        self._pose(landing.qpos)
        numbers = {geom_name(model, k): k for k in range(model.ngeom)}
        moving = np.asarray(model.body_weldid)[np.asarray(model.geom_bodyid)] != 0
        sphere = int(self.mujoco.mjtGeom.mjGEOM_SPHERE)
        self.geoms, self.local = [], []
        for contact in landing.problem.contacts:
            if contact.kind != "contact":
                continue
            sides = [numbers[contact.geom1], numbers[contact.geom2]]
            geom = next(k for k in reversed(sides) if moving[k])
            self.geoms.append(geom)
            centre, turn = self.data.geom_xpos[geom], self.data.geom_xmat[geom].reshape(3, 3)
            local = np.zeros(3) if int(model.geom_type[geom]) == sphere else turn.T @ (contact.pos - centre)
            self.local.append(np.array(local))

    def places(self, qpos: Array) -> Array:
        """Positions from their mean, (3 k,) m, in world coordinates; the same however high the robot is."""
        self._pose(qpos)
        places = [
            self.data.geom_xpos[geom] + self.data.geom_xmat[geom].reshape(3, 3) @ local
            for geom, local in zip(self.geoms, self.local, strict=True)
        ]
        return np.ravel(places - np.mean(places, axis=0))

    def _pose(self, qpos: Array) -> None:
        self.data.qpos[:] = qpos
        self.mujoco.mj_kinematics(self.model, self.data)


class Choices:
    """What can be chosen: names, bounds, where it begins, and the landing for each choice."""

    def __init__(
        self,
        landing: Landing | Maker,
        over: Mapping[Name, tuple[float, float]],
        start: Mapping[Name, float] | None,
    ) -> None:
        """What ``over`` says, checked; see `routh.robust.design`."""
        if not over:
            raise InputError("over", got="nothing to choose", wanted="at least one name with its bounds")
        keys = list(over)
        self.names = tuple(" = ".join(_each(key)) for key in keys)
        bounds = [real_array(f"over[{key!r}]", over[key], [(2,)], "(low, high)") for key in keys]
        for key, (low, high) in zip(keys, bounds, strict=True):
            if not low < high:
                raise InputError(f"over[{key!r}]", got=f"({low:g}, {high:g})", wanted="low < high")
        self.low, self.high = np.array(bounds).T  # (d,) each
        self.posture: Callable[[Array], Array] | None = None  # qpos (nq,) of a choice
        if isinstance(landing, Landing):
            self._land, self.start, self.posture = _posed(landing, keys)
        else:
            self._land, self.start = _named(landing, keys), 0.5 * (self.low + self.high)
        for key, value in (start or {}).items():
            if key not in over:
                raise no_such("start", key, keys)
            self.start[keys.index(key)] = real(f"start[{key!r}]", value)
        for key, value, (least, most) in zip(keys, self.start, bounds, strict=True):
            if not least <= value <= most:
                raise InputError(
                    f"over[{key!r}]",
                    wrong=f"the design begins at {value:g}, outside of ({least:g}, {most:g})",
                )

    def make(self, x: Array) -> Made:
        """The landing of a choice (d,); None where nothing lands, or the robot cannot be in that posture."""
        try:
            return self._land(x)
        except (StateError, NoContactError):
            return None

    def at(self, u: Array) -> Array:
        """Values from shares of the ranges (d,)."""
        return self.low + np.clip(u, 0.0, 1.0) * (self.high - self.low)

    def share(self, x: Array) -> Array:
        """Shares of the ranges from values (d,)."""
        return (x - self.low) / (self.high - self.low)


def _named(make: Callable[..., T], keys: Sequence[Name]) -> Callable[[Array], T]:
    """A function of names as one of an array."""

    def at(x: Array) -> T:
        point: dict[str, float] = {}
        for key, value in zip(keys, x, strict=True):
            point.update(dict.fromkeys(_each(key), float(value)))
        return make(**point)

    return at


def _posed(
    landing: Landing, keys: Sequence[Name]
) -> tuple[Callable[[Array], Made], Array, Callable[[Array], Array]]:
    """The landing again in other postures, the posture it has, and qpos before it is lowered."""
    from routh.models.mujoco.landings import find_root, starting_pose, take_posture
    from routh.models.mujoco.landings import landing as land

    if type(landing.model).__module__.partition(".")[0] != "mujoco":
        raise InputError(
            "landing", wrong="its model is Pinocchio's", wanted="MuJoCo's, or a function that makes it"
        )
    model: Any = landing.model
    options: Options = {"down": landing.down, "window": landing.window, "qpos": landing.qpos}
    options |= {"motion": landing.motion, "body": landing.body or None, "restitution": landing.restitution}
    data, _ = starting_pose(model, qpos=landing.qpos)
    root = find_root(model, data, options["body"])

    def posture(**point: float) -> Posture:
        turns = {name: point.pop(name) for name in POSE if name in point}
        return Posture(**turns, joints=point)

    def qpos(**point: float) -> Array:
        data.qpos[:] = landing.qpos
        take_posture(model, data, root, posture(**point))
        return np.array(data.qpos)

    def make(**point: float) -> Landing:
        return land(model, posture=posture(**point), **options)

    begin = [np.mean([_current(landing, name) for name in _each(key)]) for key in keys]
    return _named(make, keys), np.array(begin), _named(qpos, keys)


def _each(key: Name) -> tuple[str, ...]:
    return (key,) if isinstance(key, str) else key


def _current(landing: Landing, name: str) -> float:
    """The joint's value in the landing; turns of the whole robot begin at zero."""
    if name in POSE:
        return 0.0
    model: Any = landing.model
    try:
        joint = model.joint(name)
    except KeyError:
        joints = [model.joint(k).name for k in range(model.njnt)]
        raise no_such("over", name, [*POSE, *joints]) from None
    return float(landing.qpos[int(joint.qposadr[0])])
