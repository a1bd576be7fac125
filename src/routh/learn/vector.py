"""Many environments in one process whose impacts are drawn together.

Environments step in greenlets: where one needs an outcome it waits inside its substep, and goes on once every
other environment has either finished its step or waits too. Those that wait are drawn as one batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Unpack

from routh.compiling.foreign import Foreign
from routh.learn.draws import Drawer, Drawn, Wanted
from routh.learn.settings import HookOptions
from routh.learn.wrapper import Env, Info, OutcomeRandomization, Step, Wrapper
from routh.status import MissingExtraError
from routh.validation import integer

try:
    import gymnasium
    from greenlet import getcurrent, greenlet
    from gymnasium.vector import AutoresetMode, SyncVectorEnv
except ImportError:
    raise MissingExtraError("gymnasium and greenlet", "learn") from None


class OutcomeVectorEnv(SyncVectorEnv):
    """Gymnasium's `SyncVectorEnv` of `OutcomeRandomization`, with batched draws; see `make_vec`.

    Sub-environment i gives the episodes that it would give alone with the same seed.
    """

    def __init__(
        self,
        makers: Sequence[Callable[[], Env]],
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
    ) -> None:
        super().__init__([partial(_Ahead.around, make) for make in makers], autoreset_mode=autoreset_mode)
        ahead: Foreign = self.envs[0]
        first = ahead.randomization.hook.settings
        self._drawer = Drawer(first.rates, first.restitution)
        self._idle: list[greenlet] = []

    def step(self, actions: Foreign) -> Foreign:
        """Step all environments, those together that can be."""
        next_step = self.autoreset_mode == AutoresetMode.NEXT_STEP
        each = gymnasium.vector.utils.iterate(self.action_space, actions)
        envs: Sequence[Foreign] = self.envs
        stepping = [
            (env, action) for env, action in zip(envs, each, strict=True) if not (next_step and env.ended)
        ]
        self._together(stepping)
        return super().step(actions)

    def _together(self, stepping: Sequence[tuple[_Ahead, Foreign]]) -> None:
        """One worker steps the environments in turn; where one has to wait, another goes on with the rest."""
        left = iter(stepping)
        waiting: list[tuple[greenlet, Wanted]] = []
        found = self._set_to_work(self._worker(), left)
        while found is not None:
            waiting.append(found)
            found = self._set_to_work(self._worker(), left)
        while waiting:
            drawn = self._drawer.many([wanted for _, wanted in waiting])
            answers = zip(waiting, drawn, strict=True)
            resumed = [self._set_to_work(worker, answer) for (worker, _), answer in answers]
            waiting = [found for found in resumed if found is not None]

    def _worker(self) -> greenlet:
        return self._idle.pop() if self._idle else greenlet(_work)

    def _set_to_work(self, worker: greenlet, given: Foreign) -> tuple[greenlet, Wanted] | None:
        """Let a worker go on until it wants outcomes; None where it has nothing left to do."""
        wanted = worker.switch(given)
        if wanted is None:
            self._idle.append(worker)
            return None
        return worker, wanted


def _work(left: Iterator[tuple[_Ahead, Foreign]]) -> None:
    """What a worker does: steps what is left, then waits for the next round."""
    while True:
        for env, action in left:
            env.run(action)
        left = getcurrent().parent.switch(None)


class _Ahead(Wrapper):
    """An environment whose next step may have been made already."""

    def __init__(self, env: Env, randomization: OutcomeRandomization) -> None:
        super().__init__(env)
        self.randomization = randomization
        self.ended = False
        self._made: Step | None = None
        alone = randomization.hook.draw

        def draw(wanted: Wanted) -> Drawn:
            parent = getcurrent().parent
            return alone(wanted) if parent is None else parent.switch(wanted)

        randomization.hook.draw = draw

    @classmethod
    def around(cls, make: Callable[[], Env]) -> _Ahead:
        env = make()
        inner: Env = env
        while not isinstance(inner, OutcomeRandomization):
            inner = inner.env
        return cls(env, inner)

    def run(self, action: Foreign) -> None:
        """The step, ahead of time."""
        self._made = self.env.step(action)

    def step(self, action: Foreign) -> Step:
        """The step that was made ahead, or one now."""
        made, self._made = self._made, None
        result = self.env.step(action) if made is None else made
        self.ended = bool(result[2] or result[3])
        return result

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Foreign, Info]:
        """A new episode; a step made ahead is forgotten."""
        self._made, self.ended = None, False
        return self.env.reset(seed=seed, options=options)


def make_vec(
    name: str | Callable[[], Env],
    num_envs: int,
    *,
    seed: int = 0,
    autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
    make: Info | None = None,
    **options: Unpack[HookOptions],
) -> OutcomeVectorEnv:
    """Environments side by side, each with `OutcomeRandomization`, whose outcomes are drawn in batches.

    Parameters
    ----------
    name : of an environment, for `gymnasium.make`; or a function that makes one.
    num_envs : how many.
    seed : environment i draws with ``seed + i``, until ``reset(seed=...)`` gives others.
    autoreset_mode : Gymnasium's.
    make : keywords for `gymnasium.make`.
    options : those of `OutcomeRandomization`.
    """
    count = integer("num_envs", num_envs, at_least=1)
    build = name if callable(name) else partial(gymnasium.make, name, **(make or {}))

    def made(number: int) -> Env:
        return OutcomeRandomization(build(), seed=seed + number, **options)

    return OutcomeVectorEnv([partial(made, number) for number in range(count)], autoreset_mode)
