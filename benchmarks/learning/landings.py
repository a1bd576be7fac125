"""Touch-downs to train and to test on: one task under several conditions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import gymnasium
import numpy as np

from learning.rigid import RigidContacts
from routh.learn import AdversarialOutcomes, OutcomeRandomization, ParameterRandomization
from routh.learn.tasks import Lander, Quadruped

TASKS: dict[str, Callable[..., gymnasium.Env]] = {"lander": Lander, "quadruped": Quadruped}
Value = Callable[[np.ndarray], np.ndarray]  # observations (k, n) to values (k,)

NOISE = 0.002  # m: what a foot's height is uncertain by
#: factors of friction and of time constants (4 ms) in training, and wider ones in tests
KNOWN = {"friction": (0.9, 1.1), "compliance": (0.75, 1.33)}
OTHER = {"friction": (0.75, 1.25), "compliance": (0.5, 2.0)}
#: a critically damped contact of MuJoCo rebounds like this
SET = {"restitution": 0.13}
CANDIDATES = 16

#: what policies are trained with; heights of feet in units of `NOISE`
CONDITIONS = (
    "nominal",
    "feet alike",
    "half noise",
    "true noise",
    "twice noise",
    "outcomes",
    "adversary",
)
FEW = ("nominal", "feet alike", "outcomes", "adversary")
_NOISES = {"half noise": 0.5, "true noise": 1.0, "twice noise": 2.0}


def training_env(task: str, condition: str, seed: int, value: Value) -> gymnasium.Env:
    """The task as the condition wants it; ``value`` is the learner's, as it is at each moment."""
    env = TASKS[task]()
    if condition == "feet alike":
        return ParameterRandomization(env, seed=seed, **KNOWN)
    if condition in _NOISES:
        heights = NOISE * _NOISES[condition]
        return ParameterRandomization(env, per_contact=True, heights=heights, seed=seed, **KNOWN)
    if condition == "outcomes":
        return OutcomeRandomization(env, seed=seed, **SET)
    if condition == "adversary":
        return AdversarialOutcomes(env, value=value, k=CANDIDATES, seed=seed, **SET)
    return env


def uneven(env: gymnasium.Env, heights: float) -> gymnasium.Env:
    """Every foot its own height, friction and softness, the latter two from wider ranges than in training."""
    return ParameterRandomization(env, per_contact=True, heights=heights, seed=1, **OTHER)


#: what policies are tried on: name -> a task's maker -> environment
TESTS: dict[str, Callable[[Callable[..., gymnasium.Env]], gymnasium.Env]] = {
    "nominal": lambda make: make(),
    "feet 1 mm": lambda make: uneven(make(), 0.001),
    "feet 2 mm": lambda make: uneven(make(), 0.002),
    "feet 5 mm": lambda make: uneven(make(), 0.005),
    "legs 10 % shorter": lambda make: uneven(make(legs=0.9), 0.002),
    "rigid contacts": lambda make: uneven(RigidContacts(make()), 0.002),
    "random outcomes": lambda make: OutcomeRandomization(make(), seed=1, **SET),
}
PRIMARY = "feet 2 mm"
SLOW = {"lander": 10, "quadruped": 20}  # the share of episodes on rigid contacts: one of so many


def episodes_of(task: str, name: str, usual: int) -> int:
    """How many episodes of a test a policy is tried on."""
    return max(usual // SLOW[task], 1) if name == "rigid contacts" else usual


def test_env(task: str, name: str) -> gymnasium.Env:
    """A test of a task."""
    return TESTS[name](partial(TASKS[task]))
