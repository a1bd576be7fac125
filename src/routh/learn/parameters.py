"""Friction, compliance and heights of contacts drawn anew each episode, as domain randomisation does."""

from __future__ import annotations

import numpy as np

from routh.base.status import InputError
from routh.base.validation import Array, real
from routh.compiling.foreign import Foreign
from routh.learn.wrapper import Env, Info, Recorded, Wrapper, draws_seed
from routh.models.mujoco.engine import engine

Range = tuple[float, float]
_FIELDS = ("geom_friction", "geom_solref", "pair_friction", "pair_solref", "geom_pos", "geom_priority")


class ParameterRandomization(Wrapper, Recorded):
    """Scales friction and the softness of contacts by random factors, one of each for an episode.

    ``info["parameters"]`` of a reset has the factors, (k,) arrays with ``per_contact``; ``geoms`` says of
    which geoms.

    Parameters
    ----------
    env : environment whose ``unwrapped`` has ``model``.
    friction : range of the factor of all sliding friction coefficients.
    compliance : range of the factor of all time constants of contacts (MuJoCo's ``solref[0]``), drawn
        uniformly in its logarithm. Contacts given by stiffness and damping (negative ``solref``) get those
        divided by the factor.
    per_contact : every geom that moves and can touch gets factors of its own, and its own parameters decide
        its contacts (``geom_priority``). All feet alike is a special case: a landing that tips over depending
        on which foot touches first never tips then (`routh.robust.tipping`).
    heights : standard deviation (m) by which these geoms are moved up or down, each for itself; wants
        ``per_contact``. Up is that of the reference pose. MuJoCo's midphase, which does not see moved geoms,
        is switched off meanwhile.
    seed : of the draws, until ``reset(seed=...)`` gives another.
    """

    def __init__(
        self,
        env: Env,
        *,
        friction: Range = (0.5, 1.5),
        compliance: Range = (0.5, 2.0),
        per_contact: bool = False,
        heights: float | None = None,
        seed: int = 0,
    ) -> None:
        told = {"per_contact": per_contact, "heights": heights, "seed": seed}
        Recorded.__init__(self, friction=friction, compliance=compliance, **told)
        Wrapper.__init__(self, env)
        given = {"friction": friction, "compliance": compliance}
        self.ranges = {field: _checked(field, value) for field, value in given.items()}
        self.heights = 0.0 if heights is None else real("heights", heights, at_least=0.0)
        if self.heights and not per_contact:
            raise InputError(
                "heights", got="one without per_contact=True", wanted="both, or all feet move alike"
            )
        model: Foreign = env.unwrapped
        self._model = model.model
        self._usual = {field: np.array(getattr(self._model, field)) for field in _FIELDS}
        self._flags = int(self._model.opt.disableflags)
        self.geoms = touching_geoms(self._model) if per_contact else None
        self._rng = np.random.default_rng(seed)
        if self.geoms is not None:
            self._ups = _ups(self._model)[np.asarray(self._model.geom_bodyid)[self.geoms]]

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Foreign, Info]:
        """Reset the environment with newly drawn parameters."""
        if seed is not None:
            self._rng = np.random.default_rng(draws_seed(seed))
        count = 1 if self.geoms is None else len(self.geoms)
        (low, high), soft = self.ranges["friction"], np.log(self.ranges["compliance"])
        friction = self._rng.uniform(low, high, size=count)
        compliance = np.exp(self._rng.uniform(soft[0], soft[1], size=count))
        told: Info = {"friction": friction, "compliance": compliance}
        if self.geoms is None:
            told = {name: float(values[0]) for name, values in told.items()}
            self._write(float(friction[0]), float(compliance[0]))
        else:
            heights = self.heights * self._rng.normal(size=count)
            told |= {"heights": heights} if self.heights else {}
            self._write_each(friction, compliance, heights)
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, {**info, "parameters": told}

    def _write(self, friction: float, compliance: float) -> None:
        for kind, sliding in (("geom", 1), ("pair", 2)):
            usual = self._usual[f"{kind}_friction"]
            getattr(self._model, f"{kind}_friction")[:, :sliding] = friction * usual[:, :sliding]
            softness = self._usual[f"{kind}_solref"]
            getattr(self._model, f"{kind}_solref")[:] = _softer(softness, np.array(compliance))

    def _write_each(self, friction: Array, compliance: Array, heights: Array) -> None:
        model, geoms = self._model, self.geoms
        model.geom_friction[geoms, 0] = friction * self._usual["geom_friction"][geoms, 0]
        model.geom_solref[geoms] = _softer(self._usual["geom_solref"][geoms], compliance[:, None])
        model.geom_priority[geoms] = self._usual["geom_priority"].max() + 1
        if self.heights:
            model.geom_pos[geoms] = self._usual["geom_pos"][geoms] + heights[:, None] * self._ups
            model.opt.disableflags = self._flags | int(engine().mjtDisableBit.mjDSBL_MIDPHASE)

    def close(self) -> None:
        """Give the model its own parameters back."""
        for field, usual in self._usual.items():
            getattr(self._model, field)[:] = usual
        self._model.opt.disableflags = self._flags
        super().close()


def touching_geoms(model: Foreign) -> np.ndarray:
    """The geoms that move and can touch something, by their numbers."""
    moving = np.asarray(model.body_weldid)[np.asarray(model.geom_bodyid)] != 0
    meets = (np.asarray(model.geom_contype) != 0) | (np.asarray(model.geom_conaffinity) != 0)
    return np.flatnonzero(moving & meets)


def _ups(model: Foreign) -> Array:
    """Direction against gravity in the frame of each body in the reference pose, (nbody, 3)."""
    mujoco = engine()
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    gravity = np.array(model.opt.gravity, dtype=np.float64)
    size = float(np.linalg.norm(gravity))
    up = -gravity / size if size > 0.0 else np.array([0.0, 0.0, 1.0])
    return np.asarray(up @ data.xmat.reshape(-1, 3, 3))


def _softer(solref: np.ndarray, factor: Array) -> np.ndarray:
    """``solref`` with its time constants times a factor; of direct ones both values over it."""
    return np.where(
        solref > 0.0, np.stack([solref[:, 0] * factor.ravel(), solref[:, 1]], axis=1), solref / factor
    )


def _checked(field: str, given: Range) -> Range:
    low, high = given
    real(f"{field}[0]", low, above=0.0)
    real(f"{field}[1]", high, at_least=low)
    return float(low), float(high)
