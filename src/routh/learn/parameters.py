"""Friction and compliance drawn anew each episode, as domain randomisation usually does: for comparison."""

from __future__ import annotations

import numpy as np

from routh.compiling.foreign import Foreign
from routh.learn.gym import Env, Info, Recorded, Wrapper, draws_seed
from routh.validation import real

Range = tuple[float, float]


class ParameterRandomization(Wrapper, Recorded):
    """Scales friction and the softness of contacts by random factors, one of each for an episode.

    Parameters
    ----------
    env : environment whose ``unwrapped`` has ``model``.
    friction : range of the factor of all sliding friction coefficients.
    compliance : range of the factor of all time constants of contacts (MuJoCo's ``solref[0]``), drawn
        uniformly in its logarithm. Contacts given by stiffness and damping (negative ``solref``) get those
        divided by the factor.
    seed : of the draws, until ``reset(seed=...)`` gives another.

    ``info["parameters"]`` of a reset has the factors.
    """

    def __init__(
        self, env: Env, *, friction: Range = (0.5, 1.5), compliance: Range = (0.5, 2.0), seed: int = 0
    ) -> None:
        Recorded.__init__(self, friction=friction, compliance=compliance, seed=seed)
        Wrapper.__init__(self, env)
        given = {"friction": friction, "compliance": compliance}
        self.ranges = {field: _checked(field, value) for field, value in given.items()}
        model: Foreign = env.unwrapped
        self._model = model.model
        self._usual = {
            field: np.array(getattr(self._model, field))
            for field in ("geom_friction", "geom_solref", "pair_friction", "pair_solref")
        }
        self._rng = np.random.default_rng(seed)

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Foreign, Info]:
        """Of the environment, with parameters of its own."""
        if seed is not None:
            self._rng = np.random.default_rng(draws_seed(seed))
        friction = float(self._rng.uniform(*self.ranges["friction"]))
        compliance = float(np.exp(self._rng.uniform(*np.log(self.ranges["compliance"]))))
        self._write(friction, compliance)
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, {**info, "parameters": {"friction": friction, "compliance": compliance}}

    def _write(self, friction: float, compliance: float) -> None:
        for kind, sliding in (("geom", 1), ("pair", 2)):
            usual = self._usual[f"{kind}_friction"]
            getattr(self._model, f"{kind}_friction")[:, :sliding] = friction * usual[:, :sliding]
            softness = self._usual[f"{kind}_solref"]
            scaled = np.where(softness > 0.0, softness * [compliance, 1.0], softness / compliance)
            getattr(self._model, f"{kind}_solref")[:] = scaled

    def close(self) -> None:
        """Give the model its own parameters back."""
        self._write(1.0, 1.0)
        super().close()


def _checked(field: str, given: Range) -> Range:
    low, high = given
    real(f"{field}[0]", low, above=0.0)
    real(f"{field}[1]", high, at_least=low)
    return float(low), float(high)
