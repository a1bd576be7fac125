"""``routh precompile``: compile the kernels of every family once, so that no later call has to wait."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from routh import systems, two_body
from routh.batch import ImpactBatch
from routh.cli.output import Output
from routh.compiling import compile_seconds
from routh.problem import ImpactProblem
from routh.sampling import sample

SAMPLES = 2048  # enough for a table of vertices, whose loops are kernels of their own


@dataclass(frozen=True)
class Family:
    """One kind of problem, and a call that needs all of its kernels."""

    name: str
    call: Callable[[], object]


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


FAMILIES = (
    Family("plane", lambda: sample(_plane(), 64)),
    Family("plane, elastic", lambda: sample(_plane(0.5), 64)),
    Family("space, polygons", lambda: sample(_spatial(), 64, friction="polyhedral")),
    Family("space, true cone", lambda: sample(_spatial(), 64, friction="cone")),
    Family("Algorithm 1, plane", lambda: sample(_plane(), SAMPLES, method="algorithm1")),
    Family(
        "Algorithm 1, polygons",
        lambda: sample(_spatial(), SAMPLES, method="algorithm1", friction="polyhedral"),
    ),
    Family("Algorithm 1, true cone", lambda: sample(_spatial(), 64, method="algorithm1")),
    Family("two bodies", lambda: two_body.batch(np.eye(3), [[0.1, 0.0, -1.0]] * 2, 0.3, 0.5)),
    Family("derivatives, plane", lambda: sample(_plane(), 64).jacobian()),
    Family("derivatives, polygons", lambda: sample(_spatial(), 64, friction="polyhedral").jacobian()),
    Family("derivatives, true cone", lambda: sample(_spatial(), 64).jacobian()),
    Family("motion, plane", _motion),
    Family("many problems", lambda: sample(ImpactBatch.from_problems([_plane()] * 2), 2)),
)


def precompile(output: Output) -> int:
    """Compile every family, and say how long each took; the exit code."""
    rows = []
    with output.counting(len(FAMILIES)) as next_one:
        for family in FAMILIES:
            next_one(family.name)
            before, start = compile_seconds(), time.process_time()
            family.call()
            rows.append((family.name, compile_seconds() - before, time.process_time() - start))
    for name, compiled, used in rows:
        done = f"compiled in {compiled:.1f} s" if compiled > 0.0 else "on disk already"
        output.say(f"{name:24s} {done}  ({used:.1f} s of processor time)")
    output.emit(families=[{"name": name, "compile_seconds": compiled} for name, compiled, _ in rows])
    return 0
