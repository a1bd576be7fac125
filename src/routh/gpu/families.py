"""Calls that need all kernels of a GPU, for ``routh precompile --device cuda``."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from routh.gpu.events import MANY
from routh.problem.batch import ImpactBatch
from routh.problem.impact import ImpactProblem
from routh.sampling import sample, sample_by_steps

SAMPLES = 64

Families = dict[str, Callable[[], object]]


def _particles(contacts: int, nt: int, restitution: float = 0.0) -> ImpactProblem:
    """Particles that hit the ground side by side, each with a contact."""
    size, axes = nt + 1, np.eye((nt + 1) * contacts)
    v = np.tile([*(0.3, 0.1)[:nt], -1.0], contacts)
    Jt = axes.reshape(contacts, size, -1)[:, :nt]
    return ImpactProblem(axes, axes[nt::size], Jt, np.full(contacts, 0.5), v, restitution=restitution)


def families(contacts: int) -> Families:
    """Calls with problems of so many contacts that need all kernels of the GPU."""

    def drawn(
        nt: int, n: int, restitution: float = 0.0, *, steps: bool = False, friction: str = "cone"
    ) -> Callable[[], object]:
        problem, made = _particles(contacts, nt, restitution), sample_by_steps if steps else sample
        return lambda: made(problem, n, friction=friction, device="cuda").summary()

    many = ImpactBatch.from_problems([_particles(contacts, 2)] * 2)
    calls: Families = {
        "plane": drawn(1, MANY),
        "plane, elastic": drawn(1, MANY, 0.5),
        "space, polygons": drawn(2, SAMPLES, friction="polyhedral"),
        "space, polygons, elastic": drawn(2, SAMPLES, 0.5, friction="polyhedral"),
        "space, true cone": drawn(2, SAMPLES),
        "space, cone, elastic": drawn(2, SAMPLES, 0.5),
        "Algorithm 1, plane": drawn(1, SAMPLES, steps=True),
        "Algorithm 1, polygons": drawn(2, SAMPLES, steps=True, friction="polyhedral"),
        "Algorithm 1, true cone": lambda: sample_by_steps(many, 64, device="cuda").ambiguity,
        "many problems": lambda: sample(many, 4, device="cuda").ambiguity,
    }
    number = "1 contact" if contacts == 1 else f"{contacts} contacts"
    return {f"{number}, {name}": call for name, call in calls.items()}
