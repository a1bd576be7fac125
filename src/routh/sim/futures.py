"""Fans of futures: with a set-valued law one state has many motions, and a landing many aftermaths."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Self, Unpack

import numpy as np

from routh.base.processes import in_processes, parts_of
from routh.base.progress import counted, counted_through
from routh.base.results import Column, Drawable, Tabular
from routh.base.status import InputError, Status
from routh.base.storage import Stored
from routh.base.validation import Array, Options, integer, real
from routh.models.landings import Landing
from routh.models.mujoco.engine import engine
from routh.models.mujoco.landings import find_root
from routh.models.robots.wrapping import as_model, start_of
from routh.problem.impact import soon_sentence
from routh.sim.event_driven import SimulateOptions, simulate
from routh.sim.trajectory import Trajectory, count_impacts, earliest

if TYPE_CHECKING:
    import pandas
    from mujoco import MjModel

    from routh.models.robots.wrapping import Movable, Start


_TOLD = 12  # futures that a notebook lists


@dataclass(frozen=True, eq=False)
class Bundle(Drawable, Tabular, Stored):
    """Several motions, one per draw or per state that they begin at; none is ever left out."""

    trajectories: tuple[Trajectory, ...]
    _kind: ClassVar = "bundle"

    def __len__(self) -> int:
        return len(self.trajectories)

    def __iter__(self) -> Iterator[Trajectory]:
        return iter(self.trajectories)

    def __getitem__(self, index: int) -> Trajectory:
        return self.trajectories[index]

    def __repr__(self) -> str:
        impacts = self.impacts
        few, many = (int(impacts.min()), int(impacts.max())) if len(self) else (0, 0)
        return f"Bundle(futures={len(self)}, impacts={few} to {many}, ok={self.ok})"

    @property
    def soon(self) -> dict[str, float]:
        """Contacts of some future that close within three windows and take no part, see `Trajectory.soon`."""
        return earliest(one.soon for one in self.trajectories)

    def _sentences(self) -> list[str]:
        return soon_sentence(self.soon)

    def _facts(self) -> list[tuple[object, ...]]:
        shown = zip(self.trajectories[:_TOLD], self.impacts, self.status, strict=False)
        rows = [(k, n, f"{one.t[-1]:.4g}", Status(int(code)).name) for k, (one, n, code) in enumerate(shown)]
        return [("future", "impacts", "until t, s", "status"), *rows]

    def _columns(self) -> dict[str, Column]:
        """Futures have samples of their own: shorter ones end in NaN."""
        longest = max(map(len, self.trajectories), default=0)

        def padded(name: str) -> np.ndarray:
            arrays = [np.asarray(getattr(one, name), dtype=np.float64) for one in self.trajectories]
            found = np.full((len(self), longest, *arrays[0].shape[1:]), np.nan)
            for row, array in zip(found, arrays, strict=True):
                row[: len(array)] = array
            return found

        each = ("future", "sample")
        return {
            "impacts": Column(("future",), self.impacts, "1", "number of impacts"),
            "status": Column(("future",), self.status, "1", "see routh.Status"),
            "t": Column(each, padded("t"), "s", "time"),
            "q": Column((*each, "coordinate"), padded("q"), "m or rad", "configuration"),
            "v": Column((*each, "velocity"), padded("v"), "m/s or rad/s", "generalized velocity"),
        }

    def to_pandas(self) -> pandas.DataFrame:
        """One row a sample of a future, numbered by both."""
        frames = {k: one.to_pandas().reset_index() for k, one in enumerate(self.trajectories)}
        import pandas

        return pandas.concat(frames, names=["future", "sample"])

    def parts(self) -> tuple[Options, dict[str, np.ndarray]]:
        """What a file keeps: every future, its arrays joined to those of the others."""
        parts = [one.parts() for one in self.trajectories]
        names = [sorted(arrays) for _, arrays in parts]
        if not names or any(other != names[0] for other in names):
            raise InputError("trajectories", got="none, or some with different data", wanted="futures alike")
        joined = {name: np.concatenate([arrays[name] for _, arrays in parts]) for name in names[0]}
        ends = np.cumsum([len(one) for one in self.trajectories])
        return {"futures": [told for told, _ in parts]}, {**joined, "ends": ends}

    @classmethod
    def of_parts(cls, told: Options, arrays: dict[str, np.ndarray]) -> Self:
        """The inverse of `parts`."""
        ends = _ends(arrays.pop("ends"), arrays, len(told["futures"]))
        own = {name: np.split(array, ends[:-1]) for name, array in arrays.items()}
        each = [{name: pieces[k] for name, pieces in own.items()} for k in range(len(ends))]
        return cls(tuple(map(Trajectory.of_parts, told["futures"], each)))

    @property
    def status(self) -> np.ndarray:
        """The `Status` of each motion, (n,) int8, that of its last sample where it ended early."""
        ends = [Status.SOLVED if one.ok else one.failures()[-1][1] for one in self.trajectories]
        return np.array(ends, dtype=np.int8)

    @property
    def ok(self) -> bool:
        """Whether every motion reached its end."""
        return all(one.ok for one in self.trajectories)

    @property
    def impacts(self) -> np.ndarray:
        """Number of impacts in each motion, (n,)."""
        return np.array([count_impacts(one.events) for one in self.trajectories])

    def at(self, t: float) -> tuple[Array, Array]:
        """Configurations (n, nq) and velocities (n, nv) at time ``t`` (s), linear between samples.

        At the time of an impact these are the states after it; a motion that ended before ``t`` stays.
        """
        states = [_state_at(one, t) for one in self.trajectories]
        return np.array([q for q, _ in states]), np.array([v for _, v in states])


def simulate_many(
    model: Movable,
    state: Start,
    *,
    n: int,
    duration: float,
    seed: int = 0,
    processes: int = 1,
    budget: float | None = None,
    **options: Unpack[SimulateOptions],
) -> Bundle:
    """``n`` futures of one state: `simulate` with independent draws from one seed.

    Futures begin far apart, so that few of them reach the extremes. Under the set-valued law by events, the
    first impact that has several outcomes is drawn 256 times from the seed, and futures 1, 2, ... take of
    these the one farthest from the mean, then each the farthest from those before, until no other differs.
    Future 0, all further futures and all later impacts take random draws: a bundle shows what can happen, not
    how often; for frequencies draw futures with different seeds.
    Notebooks show a bar while it takes long.

    Parameters
    ----------
    model, state, duration : as in `simulate`.
    n : how many futures.
    seed : future i depends only on it and on i, not on n or on ``processes``.
    processes : how many work; the model, the law and the control must then be picklable.
    budget : seconds allowed for all of them: futures that are finished by then are what they would be without
        it, the others have the status OUT_OF_TIME.
    options : those of `simulate`.
    """
    count = integer("n", n, at_least=1)
    workers = integer("processes", processes, at_least=1)
    if "stream" in options:  # what a type checker refuses too
        raise InputError(
            "stream", got="one for a bundle; every future has its own, use `simulate` for a single one"
        )
    deadline = None if budget is None else time.monotonic() + real("budget", budget, at_least=0.0)
    model = as_model(model)
    whole = partial(simulate, model, start_of(model, state), duration=duration, seed=seed, **options)
    future = partial(_future, whole, deadline)
    if workers == 1:
        return Bundle(tuple(map(future, counted_through(range(count), "futures"))))
    found: list[Trajectory] = []
    with counted(count, "futures") as tell:

        def take(part: list[Trajectory]) -> None:
            found.extend(part)
            tell(len(found))

        in_processes(partial(_part, future), parts_of(count, max(count // (4 * workers), 1)), workers, take)
    return Bundle(tuple(found))


def _part(future: Callable[[int], Trajectory], numbers: range) -> list[Trajectory]:
    return [future(i) for i in numbers]


def _future(simulated: Callable[..., Trajectory], deadline: float | None, number: int) -> Trajectory:
    """One future within a deadline of `time.monotonic`, which processes share."""
    left = None if deadline is None else max(deadline - time.monotonic(), 0.0)
    return simulated(stream=number, budget=left)


def _ends(ends: np.ndarray, arrays: dict[str, np.ndarray], count: int) -> np.ndarray:
    """End of each future of a file in its arrays; raises where they do not hold so many."""
    wanted = f"{count} increasing numbers of samples, the last that of the arrays"
    whole = ends.dtype.kind == "i" and ends.shape == (count,) and count > 0
    if not whole or not np.all(np.diff(ends, prepend=0) > 0) or {ends[-1]} != set(map(len, arrays.values())):
        raise InputError("ends", got=ends.tolist(), wanted=wanted)
    return ends


def _state_at(one: Trajectory, t: float) -> tuple[Array, Array]:
    i = int(np.searchsorted(one.t, t, side="right")) - 1  # the last sample at or before t
    if i < 0:
        raise InputError("t", got=f"{t:g}", wanted=f"a time from {one.t[0]:g} s on")
    if i + 1 == len(one.t):
        return one.q[i], one.v[i]
    share = (t - one.t[i]) / (one.t[i + 1] - one.t[i])
    return one.q[i] + share * (one.q[i + 1] - one.q[i]), one.v[i] + share * (one.v[i + 1] - one.v[i])


# What becomes of a robot after a landing: the impact is rigid, with its set of outcomes; the motion after it
# is MuJoCo's own, with soft contacts. `routh.simulate_many` of a `MujocoModel` stays rigid throughout.


@dataclass(frozen=True, eq=False)
class Aftermath:
    """Motions of one robot from the same instant on."""

    t: Array  # (k,) s since the impact
    q: Array  # (n, k, nq)

    def __len__(self) -> int:
        return len(self.q)

    def at(self, t: float) -> tuple[Array, Array]:
        """Configurations (n, nq) at one time, the nearest that was kept, and the time of each, (n,)."""
        k = int(np.argmin(np.abs(self.t - t)))
        return self.q[:, k], np.full(len(self.q), self.t[k])


def follow(
    model: MjModel, qpos: Array, velocities: Array, *, duration: float, frames: int = 100
) -> Aftermath:
    """MuJoCo's motion from one configuration (nq,) with each of the velocities (n, nv)."""
    mujoco = engine()
    count = integer("frames", frames, at_least=1)
    times = np.linspace(0.0, real("duration", duration, above=0.0), count + 1)
    q = np.empty((len(velocities), count + 1, model.nq))
    data = mujoco.MjData(model)
    for row, velocity in zip(q, velocities, strict=True):
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:] = qpos, velocity
        for k, t in enumerate(times):
            while data.time < t - 0.5 * model.opt.timestep:
                mujoco.mj_step(model, data)
            row[k] = data.qpos
    return Aftermath(times, q)


def fall(model: MjModel, found: Landing, times: Array) -> Array:
    """Configurations (k, nq) on the way down, at times (k,) s before the touch, which are negative.

    The robot fell freely, from rest where the times reach back that far; its other speeds were as at the
    touch.
    """
    state = engine().MjData(model)
    state.qpos[:] = found.qpos
    engine().mj_kinematics(model, state)
    falling = found.down * find_root(model, state, found.body or None).speed
    size = float(np.linalg.norm(model.opt.gravity))
    since = -found.down / size if size > 0.0 else -np.inf  # s: when it was let go
    q = np.empty((len(times), model.nq))
    for row, t in zip(q, times, strict=True):
        back = max(float(t), since)
        row[:] = found.qpos
        mean = 1.0 + 0.5 * size * back / found.down  # the speed over the way, as a share of that at the touch
        engine().mj_integratePos(model, row, found.qvel + (mean - 1.0) * falling, back)
    return q
