"""``routh precompile``: compile the kernels of every family once, so that no later call has to wait."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from routh import systems, two_body
from routh.batch import ImpactBatch
from routh.cli.output import Output
from routh.compiling import compile_seconds
from routh.problem import ImpactProblem
from routh.sampling import sample

SAMPLES = 2048  # enough for a table of vertices, whose loops are kernels of their own


def _spatial() -> ImpactProblem:
    """A box that lands on two corners."""
    return systems.impact("box-drop", velocity=(0.3, 0.1, 0.0)).subset(["A", "B"])


def _plane(restitution: float = 0.0) -> ImpactProblem:
    return systems.impact("rocking-block").replace(restitution=restitution)


def _motion() -> object:
    from routh.sim import simulate  # loads SciPy's integrators, which no other family needs

    block = systems.get("rocking-block")
    assert block.model is not None
    assert block.state is not None
    return simulate(block.model, block.state, duration=0.05)


#: Kinds of problems by name, each with a call that needs all of its kernels.
FAMILIES: dict[str, Callable[[], object]] = {
    "plane": lambda: sample(_plane(), 64),
    "plane, elastic": lambda: sample(_plane(0.5), 64),
    "space, polygons": lambda: sample(_spatial(), 64, friction="polyhedral"),
    "space, true cone": lambda: sample(_spatial(), 64, friction="cone"),
    "Algorithm 1, plane": lambda: sample(_plane(), SAMPLES, method="algorithm1"),
    "Algorithm 1, polygons": lambda: sample(_spatial(), SAMPLES, method="algorithm1", friction="polyhedral"),
    "Algorithm 1, true cone": lambda: sample(_spatial(), 64, method="algorithm1"),
    "two bodies": lambda: two_body.batch(np.eye(3), [[0.1, 0.0, -1.0]] * 2, 0.3, 0.5),
    "derivatives, plane": lambda: sample(_plane(), 64).jacobian(),
    "derivatives, polygons": lambda: sample(_spatial(), 64, friction="polyhedral").jacobian(),
    "derivatives, true cone": lambda: sample(_spatial(), 64).jacobian(),
    "motion, plane": _motion,
    "many problems": lambda: sample(ImpactBatch.from_problems([_plane()] * 2), 2),
}


def precompile(output: Output) -> int:
    """Compile every family, and say how long each took; the exit code."""
    rows = []
    with output.counting(len(FAMILIES)) as next_one:
        for name, call in FAMILIES.items():
            next_one(name)
            before, start = compile_seconds(), time.process_time()
            call()
            rows.append((name, compile_seconds() - before, time.process_time() - start))
    for name, compiled, used in rows:
        done = f"compiled in {compiled:.1f} s" if compiled > 0.0 else "on disk already"
        output.say(f"{name:24s} {done}  ({used:.1f} s of processor time)")
    output.emit(families=[{"name": name, "compile_seconds": compiled} for name, compiled, _ in rows])
    return 0
