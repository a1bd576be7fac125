"""Robots of MuJoCo and Pinocchio where a model that moves is meant: wrapped without being asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from routh.base.status import InputError
from routh.models.base import Model, State, fitting_state

if TYPE_CHECKING:
    from mujoco import MjData, MjModel
    from pinocchio import Model as PinocchioModel

    Movable: TypeAlias = Model | MjModel | PinocchioModel
    Start: TypeAlias = State | MjData


def as_model(model: Movable) -> Model:
    """A `Model` as it is; a robot with rigid contacts over level ground, as its library's adapter makes it.

    Made anew at each call: who simulates a robot often, or with other than the adapter's defaults, makes it
    once, by `routh.models.mujoco.MujocoModel` or `routh.models.pinocchio.GroundedRobot`.
    """
    library = type(model).__module__.partition(".")[0]
    if library == "mujoco" and type(model).__name__ == "MjModel":
        from routh.models.mujoco.model import MujocoModel

        return MujocoModel(model)
    if library == "pinocchio" and type(model).__name__ == "Model":
        from routh.models.pinocchio.model import GroundedRobot

        return GroundedRobot(model)
    if not hasattr(model, "jacobian_bias"):  # to ask for the whole protocol takes ten times as long
        wanted = "a mujoco.MjModel, a pinocchio.Model or a model of routh.models (planar, spatial)"
        raise InputError("model", got=type(model).__name__, wanted=wanted)
    return model


def start_of(model: Model, state: Start) -> State:
    """The state, if it fits the model and its numbers are finite; that of an MjData, of a MuJoCo model."""
    if isinstance(state, State):
        return fitting_state(model, state)
    taken = getattr(model, "state", None)
    if taken is None or type(state).__name__ != "MjData":
        more = "" if taken is None else " or an MjData"
        raise InputError("state", got=type(state).__name__, wanted=f"a routh.State(q, v){more}")
    return fitting_state(model, taken(state))
