"""``routh precompile``: compile the kernels of every family once, so that no later call has to wait.

Those of a GPU are compiled for each number of contacts, so it has to be told which.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import cast

import numpy as np

from routh import systems
from routh.base import features
from routh.base.status import InputError
from routh.cli.exits import GO_ON, when_interrupted
from routh.cli.output import Output, plain_table
from routh.compiling import compile_seconds
from routh.models.base import State
from routh.problem.batch import ImpactBatch
from routh.problem.impact import ImpactProblem
from routh.sampling import sample, sample_by_steps

SAMPLES = 64
_CRATE = """<mujoco><worldbody><geom type="plane" size="1 1 1"/>
<body><freejoint/><geom type="box" size=".2 .15 .1"/></body></worldbody></mujoco>"""

Families = dict[str, Callable[[], object]]


def _spatial() -> ImpactProblem:
    """A box that lands on two corners."""
    return systems.impact("box-drop", velocity=(0.3, 0.1, 0.0)).subset(["A", "B"])


def _plane(restitution: float = 0.0) -> ImpactProblem:
    return systems.impact("rocking-block").replace(restitution=restitution)


def _motion() -> object:
    from routh.sim import simulate  # loads the simulators, which samples do not need

    block = systems.get("rocking-block")
    assert block.model is not None
    assert block.state is not None
    return simulate(block.model, block.state, duration=0.05)


def _robot(dt: float | None = None) -> object:
    """A crate that slides on the ground of MuJoCo; nothing where MuJoCo is not installed."""
    if find_spec("mujoco") is None:
        return None
    import mujoco

    from routh.models.mujoco import MujocoModel
    from routh.sim import simulate, step_through

    crate = MujocoModel(mujoco.MjModel.from_xml_string(_CRATE))
    state = State(np.array([0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0]), 0.1 * np.eye(6)[0])
    if dt is None:
        return simulate(crate, state, duration=0.05)
    return step_through(crate, state, dt=dt, duration=2 * dt)


def _landings() -> object:
    from routh.models.spatial import SpatialModel, box, corner_contacts
    from routh.to_rest import landings

    die = box("die", (0.1, 0.1, 0.1), mass=0.4)
    model = SpatialModel([die], corner_contacts(die, mu=0.3))
    start = np.array([0.0, 0.0, 0.051, 1.0, 0.0, 0.0, 0.0])
    return landings(model, start, -0.1 * np.eye(6)[2], duration=0.05)


def _steps(name: str) -> object:
    from routh.systems.d19 import motion_of  # loads the simulator, too

    motion = motion_of(name)
    return motion.run(duration=2 * motion.dt)


#: Kinds of problems by name, each with a call that needs all of its kernels.
FAMILIES: Families = {
    "plane": lambda: sample(_plane(), 64),
    "plane, elastic": lambda: sample(_plane(0.5), 64),
    "space, polygons": lambda: sample(_spatial(), 64, friction="polyhedral"),
    "space, true cone": lambda: sample(_spatial(), 64, friction="cone"),
    "Algorithm 1, plane": lambda: sample_by_steps(_plane(), SAMPLES),
    "Algorithm 1, polygons": lambda: sample_by_steps(_spatial(), SAMPLES, friction="polyhedral"),
    "Algorithm 1, true cone": lambda: sample_by_steps(_spatial(), 64),
    "derivatives, plane": lambda: sample(_plane(), 64).jacobian(),
    "derivatives, polygons": lambda: sample(_spatial(), 64, friction="polyhedral").jacobian(),
    "derivatives, true cone": lambda: sample(_spatial(), 64).jacobian(),
    "motion, plane": _motion,
    "motion of robots": _robot,
    "time stepping, plane": lambda: _steps("pendulum-with-limit"),
    "time stepping, space": lambda: _steps("block-on-incline"),
    "time stepping of robots": lambda: _robot(dt=0.01),
    "landings to rest": _landings,
    "many problems": lambda: sample(ImpactBatch.from_problems([_plane()] * 2), 2),
}


def calls_of_features(table: str) -> Families:
    """The calls that features name in a table of theirs."""
    places = features.entries(table).items()
    return {name: cast("Callable[[], object]", features.resolve(place)) for name, place in places}


def precompile(output: Output, device: str = "cpu", contacts: Sequence[int] = ()) -> int:
    """Compile every family, and say how long each took; the exit code."""
    families = FAMILIES | calls_of_features("families")
    if device == "cuda":
        cuda = features.device("cuda")
        cuda.gpu()  # before any work
        more = calls_of_features("gpu_families")
        families = {name: call for nc in contacts or (4,) for name, call in cuda.families(nc).items()} | more
    elif device != "cpu":
        raise InputError("--device", got=repr(device), wanted="cpu or cuda")
    elif contacts:
        raise InputError(
            "--contacts", wrong="given without --device cuda; kernels for the CPU take any number of contacts"
        )
    rows: list[tuple[str, float, float]] = []
    when_interrupted(
        lambda: f"{len(rows)} of {len(families)} families were done, and their kernels are kept; {GO_ON}"
    )
    with output.counting(len(families)) as next_one:
        for name, call in families.items():
            next_one(name)
            before, start = compile_seconds(), time.process_time()
            call()
            rows.append((name, compile_seconds() - before, time.process_time() - start))
    table = plain_table("*|kernels of", ">compiling", ">processor time")
    for name, compiled, used in rows:
        table.add_row(name, f"{compiled:.1f} s" if compiled > 0.0 else "on disk already", f"{used:.1f} s")
    output.show(table)
    output.emit(families=[{"name": name, "compile_seconds": compiled} for name, compiled, _ in rows])
    return 0
