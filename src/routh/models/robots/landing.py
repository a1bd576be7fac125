"""``routh.models.landing``: the first impact of any robot that comes down; states of it as touch-downs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from routh.base.status import InputError, StateError
from routh.base.validation import Array, Options, real
from routh.models.landings import MOTION, Landing, Motion, Posture, Touchdown
from routh.models.robot import RobotProblem
from routh.models.simultaneity import RESTITUTION, Restitution
from routh.models.zoo import robot_file

if TYPE_CHECKING:
    from mujoco import MjModel
    from pinocchio import Model

#: What of a landing is a number; any other name at a point of a grid is a joint's.
_NUMBERS = ("down", "height", "roll", "pitch", "yaw", *MOTION)


def landing(
    model: MjModel | Model | str | Path,
    *,
    down: float | None = None,
    height: float | None = None,
    roll: float = 0.0,
    pitch: float = 0.0,
    yaw: float = 0.0,
    joints: Mapping[str, float] | None = None,
    sideways: float = 0.0,
    heading: float = 0.0,
    roll_rate: float = 0.0,
    pitch_rate: float = 0.0,
    yaw_rate: float = 0.0,
    joint_velocities: Mapping[str, float] | None = None,
    **options: Any,
) -> Landing:
    """The impact with which a robot lands: it keeps its posture and is moved along gravity until it touches.

    Parameters
    ----------
    model : mujoco.MjModel or pinocchio.Model with a free root, or (MuJoCo) a vertical slide at the root; or
        a file (.xml, .urdf), which MuJoCo reads: a URDF gets a floating root and level ground.
    down : speed along gravity at the touch, m/s; this or ``height`` is wanted.
    height : m of free fall with the model's gravity g: a speed of sqrt(2 g height).
    roll : rad, a turn about the body's own x axis, added to the pose of the keyframe or of ``qpos``. A planar
        root has one angle and takes one of roll, pitch and yaw.
    pitch : rad, a turn about its y axis, after roll.
    yaw : rad, a turn about its z axis, after pitch.
    joints : name -> rad (m for slides).
    sideways : speed at right angles to gravity at the touch, m/s.
    heading : where that goes: rad from the body's x axis to its left. A planar root slides along its own
        axis: heading 0.
    roll_rate : rad/s about the body's own x axis; a planar root has one of the three.
    pitch_rate : rad/s about its y axis.
    yaw_rate : rad/s about its z axis.
    joint_velocities : name -> rad/s (m/s for slides).
    options : for both, ``window`` (s: contacts that close within this time at the approach speed are part of
        the landing; default 5 ms), ``limits`` (of joints), ``restitution`` (a number, one per contact, a
        mapping from contact names; default "contact": each by its own spring, MuJoCo's ``solref``, as for
        `routh.robust.tipping`; limits have 0), ``deepest``, ``past_limit``. For
        MuJoCo ``body`` (which one comes down, where several can), ``keyframe``, ``qpos`` and
        ``self_contacts`` (whether contacts between the robot's own links count; by default only those with
        its surroundings, and limits, do); without keyframe and qpos,
        joints that the file has past their limits are moved inside. For Pinocchio ``q``, ``ground``,
        ``points``, ``geometry`` and ``mu``.

    Returns
    -------
    Landing
        Its ``problem`` for `routh.sample`, and the state ``qpos``, ``qvel``.
    """
    posture = Posture(real("roll", roll), real("pitch", pitch), real("yaw", yaw), dict(joints or {}))
    turning = {"roll_rate": roll_rate, "pitch_rate": pitch_rate, "yaw_rate": yaw_rate}
    motion = Motion(
        real("sideways", sideways, at_least=0.0),
        real("heading", heading),
        **{name: real(name, rate) for name, rate in turning.items()},
        joints=dict(joint_velocities or {}),
    )
    if isinstance(model, (str, Path)):
        model = load_landing(model)
    if _library(model, "a mujoco.MjModel, a pinocchio.Model or the path of a file") == "mujoco":
        from routh.models.mujoco.landings import landing as land
    else:
        from routh.models.pinocchio.landings import landing as land  # type: ignore[assignment]
    return land(model, down=down, height=height, posture=posture, motion=motion, **options)


def touchdowns(
    model: MjModel | Model, qpos: Array, qvel: Array, *, window: float, **options: Any
) -> Iterator[Touchdown | ValueError]:
    """The touch-downs of many states (n, nq), (n, nv), one by one; an error where a state has none.

    ``options`` are those of the adapters: for both ``deepest``; for MuJoCo ``data``; for
    Pinocchio ``ground``, ``points``, ``geometry`` and ``mu``.
    """
    if _library(model, "a mujoco.MjModel or a pinocchio.Model") == "mujoco":
        from routh.models.mujoco.landings import touchdowns as of_states
    else:
        from routh.models.pinocchio.landings import touchdowns as of_states  # type: ignore[assignment]
    return of_states(model, qpos, qvel, window=window, **options)


def _library(model: object, wanted: str) -> str:
    """Library of the model: "mujoco" or "pinocchio"."""
    library = type(model).__module__.partition(".")[0]
    if library not in ("mujoco", "pinocchio"):
        raise InputError("model", got=type(model).__name__, wanted=wanted)
    return library


def landing_problem(file: str, **point: Any) -> RobotProblem | None:
    """The impact with which the robot of a file lands, see `landing_of`; None where it cannot be so."""
    found = landing_of(file, **point)
    return None if found is None else found.problem


def landing_of(
    file: str,
    *,
    joints: Mapping[str, float] | None = None,
    joint_velocities: Mapping[str, float] | None = None,
    window: float | None = None,
    keyframe: str | None = None,
    roots: Sequence[str] = (),
    ground: float | None = None,
    qpos: Sequence[float] | None = None,
    body: str | None = None,
    restitution: Restitution = RESTITUTION,
    **point: float,
) -> Landing | None:
    """The landing of the robot of a file; None where it cannot be in that posture.

    ``point`` has down or height, roll, pitch, yaw, sideways, heading and rates, see `landing`, and
    joints by name, so that it can be a point of a grid. A URDF gets a floating root and level ground, other
    files the latter at the height ``ground``, m, if that is given. ``roots`` are further folders whose files
    the model may use, ``qpos`` (nq,) or ``keyframe`` the posture to start from, ``body`` which one comes
    down, ``restitution`` as in `landing`.
    """
    angles: Options = {name: point.pop(name) for name in _NUMBERS if name in point}
    given: Options = {"joint_velocities": joint_velocities, "window": window}
    given |= {"keyframe": keyframe, "qpos": qpos, "body": body, "restitution": restitution}
    options = {name: value for name, value in given.items() if value is not None}
    try:
        model = _kept(file, roots=tuple(roots), **({} if ground is None else {"ground": ground}))
        return landing(model, joints={**(joints or {}), **point}, **angles, **options)
    except StateError:
        return None


def load_landing(path: str | Path, **options: Any) -> MjModel:
    """`routh.models.mujoco.load` of a robot that lands: a URDF gets a floating root and level ground."""
    from routh.models.mujoco.files import load

    urdf: Options = {"floating": True, "ground": 0.0}
    path = robot_file(path)
    return load(path, **{**(urdf if path.suffix.lower() == ".urdf" else {}), **options})


_kept = lru_cache(maxsize=4)(load_landing)
