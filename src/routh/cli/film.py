"""``routh animate``: a film of a system's futures, or of a robot's landing with its outcomes as ghosts."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from routh.base.spread import spread_choice
from routh.base.status import InputError
from routh.base.text import for_rich
from routh.base.validation import Array, Options, real
from routh.cli.exits import Exit
from routh.cli.landings import Landed, make_landing, tell_place, tell_restitution
from routh.cli.output import Output
from routh.cli.requests import FilmRequest, MotionRequest
from routh.cli.robots import RobotFile, advising, tell_keyframes
from routh.cli.simulate import futures_of, system_start
from routh.models.landings import Landing
from routh.models.simultaneity import RESTITUTION
from routh.problem.impact import soon_sentence
from routh.sampling import Outcomes, sample
from routh.sampling.answers import mode_names

if TYPE_CHECKING:
    from mujoco import MjModel

    from routh.robust.touchdowns import Tipping
    from routh.viz.robot_film import Ghosts


FUTURES = 8  # on top of each other
_SAMPLES = 512
_GROUPS = 6  # colours for combinations of modes; rarer ones share the last
_BEFORE = 0.1  # s of the fall that are shown


def animate_system(name: str, film: FilmRequest, out: Path, output: Output) -> int:
    """Simulate a named system and write the film; the exit code is 1 where a future ended early."""
    from routh.viz.films import animate, film_kind

    film_kind(out)  # before the work, not after it
    start = system_start(name, MotionRequest(duration=film.duration, change=film.change))
    count = 1 if start.motion is not None else film.futures or FUTURES  # constraint forces have one future
    speed = 1.0 if film.pace is None else film.pace
    with output.busy(f"simulating {count} futures of {name}"):
        bundle = futures_of(start, None, MotionRequest(futures=count, seed=film.seed, budget=film.budget))
    with output.busy(f"drawing {for_rich(out)}"):
        written = animate(start.drawn, bundle, out, fps=film.fps, speed=speed, title=name)
    ended = int(np.count_nonzero([not one.ok for one in bundle]))
    output.show(f"[bold cyan]{name}[/bold cyan]  {count} futures of {start.duration:g} s")
    output.show(f"film: [bold]{for_rich(written)}[/bold]")
    output.say(f"impacts per future: {bundle.impacts.min()} to {bundle.impacts.max()}")
    for line in soon_sentence(bundle.soon):
        output.say(for_rich(line))
    if ended:
        early = next(one for one in bundle if not one.ok)
        output.show(f"[yellow]{ended} ended early:[/yellow] {for_rich(early.events[-1].data['reason'])}")
    told = {"futures": count, "file": str(written), "impacts": bundle.impacts, "ended": ended}
    output.emit(system=name, **told)
    return Exit.WITHOUT_RESULT if ended else Exit.DONE


def frame_times(wanted: FilmRequest) -> Array:
    """Times of the frames, s; zero is the touch."""
    from routh.viz.films import check_frames

    speed = real("pace", 0.2 if wanted.pace is None else wanted.pace, above=0.0)
    duration = real("duration", 0.4 if wanted.duration is None else wanted.duration, above=0.0)
    step = speed / wanted.fps
    after = math.ceil(duration / step)
    count = check_frames("pace", speed, math.ceil(_BEFORE / step) + after + 1)
    return np.arange(after + 1 - count, after + 1) * np.float64(step)


def animate_robot(
    file: Path, landed: Landed, robot: RobotFile, wanted: FilmRequest, out: Path, output: Output
) -> int:
    """Let a robot land, follow its outcomes and write the film; the exit code."""
    from routh.viz.films import film_kind, write_frames
    from routh.viz.robot_film import Film, backend, frames

    landed.demand_speed()
    film_kind(out)  # before the work, not after it
    times = frame_times(wanted)
    model = robot.load(file, sky=True)
    with advising(model, robot):
        rigid: Options = {"window": wanted.robot.window, "restitution": wanted.robot.restitution}
        found = make_landing(model, landed, **rigid, **robot.posture(model))
    backend()  # before the work, too; what is wrong with the robot is told where nothing can be drawn as well
    tell_place(found, output)
    tell_restitution(found.problem, wanted.robot.restitution, output)
    tell_keyframes(model, robot, output)
    with output.busy("sampling the impact and following its outcomes"):
        outcomes = sample(found.problem, _SAMPLES, seed=wanted.seed)
        q, ghosts = _motions(model, found, outcomes, wanted, times)
    film = Film(model, times, q, ghosts, title=file.stem)
    with output.busy(f"drawing {len(times)} frames"):
        written = write_frames(frames(film), out, wanted.fps)
    answer = outcomes.answer()
    output.answer(answer.lines())
    output.show(f"[bold cyan]{for_rich(file)}[/bold cyan]  ambiguity {outcomes.ambiguity:.3g}")
    for name in ghosts.names:
        output.say(f"  {for_rich(name)}")
    output.show(f"film: [bold]{for_rich(written)}[/bold]")
    count, modes = int(ghosts.q.shape[1]), list(ghosts.names)
    output.emit(file=str(written), frames=len(times), ghosts=count, modes=modes, ambiguity=outcomes.ambiguity)
    return Exit.DONE if answer.enough else Exit.TOO_FEW_SOLVED


def _worst(model: MjModel, found: Landing, elastic: float | None, seed: int) -> Tipping | None:
    """The outcome that ``routh tip`` calls the worst; None without one, or where joints would be held."""
    from routh.robust.touchdowns import tipping

    try:
        tip = tipping(
            model,
            found.qpos,
            found.qvel,
            window=found.window,
            restitution=RESTITUTION if elastic is None else elastic,
            seed=seed,
            body=found.body or None,
        )
    except ValueError:
        return None
    return None if tip.held or not np.isfinite(tip.v).all() else tip


def _motions(
    model: MjModel, found: Landing, outcomes: Outcomes, wanted: FilmRequest, times: Array
) -> tuple[Array, Ghosts]:
    """MuJoCo's own motion (k, nq), and the ghosts."""
    from routh.laws import SetValued
    from routh.models.base import State
    from routh.models.mujoco.model import MujocoModel
    from routh.sim import simulate_many
    from routh.sim.futures import fall, follow
    from routh.viz.robot_film import Ghosts

    problem = found.problem
    ended = np.flatnonzero(outcomes.solved)
    if not len(ended):
        raise InputError("impact", wrong="none of its samples is solved, so there is nothing to follow")
    chosen = ended[spread_choice(outcomes.v[ended] @ problem.cholesky, wanted.futures or FUTURES)]
    names, which = mode_names(outcomes)
    shown = [int(group) for group in dict.fromkeys(sorted(which[chosen]))]
    groups = np.array([min(shown.index(int(g)), _GROUPS - 1) for g in which[chosen]])
    labels = [names[group] for group in shown[:_GROUPS]]
    before = fall(model, found, times[times < 0.0])
    after = times[times >= 0.0]
    frames = len(after) - 1
    own = follow(model, found.qpos, found.qvel[None], duration=float(after[-1]), frames=frames).q[0]
    if wanted.robot.rigid:
        count, start = wanted.futures or FUTURES, State(found.qpos, found.qvel)
        groups, labels = np.zeros(count, dtype=int), ["futures"]
        many: Options = {"n": count, "duration": float(after[-1]), "seed": wanted.seed}
        robot = MujocoModel(model, self_contacts=False)
        bundle = simulate_many(robot, start, law=SetValued(), window=found.window, **many)
        q = np.array([bundle.at(float(t))[0] for t in after])
    else:
        velocities = problem.lift(outcomes.v[chosen])
        tip = _worst(model, found, wanted.robot.restitution, wanted.seed)
        if tip is not None:
            velocities, groups = np.vstack([velocities, tip.v]), np.append(groups, len(labels))
            labels.append(
                f"worst: turns about {' - '.join(tip.edge)} at {tip.ratio:.2f} of the critical rate"
            )
        q = follow(model, found.qpos, velocities, duration=float(after[-1]), frames=frames).q.swapaxes(0, 1)
    waiting = np.repeat(before[:, None], q.shape[1], axis=1)
    return np.concatenate([before, own]), Ghosts(np.concatenate([waiting, q]), groups, labels)
