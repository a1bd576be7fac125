"""routh: every outcome that a rigid-body impact can have.

What to call for what
---------------------
An impact as data      `ImpactProblem`, `ImpactBatch` (many); `systems.get(name)` for those of the papers;
                       `models` for planar and spatial bodies and for robots from MJCF and URDF
                       (`models.mujoco`, `models.pinocchio`)
All its outcomes       `sample` (`Outcomes`, of a batch `BatchOutcomes`), `exact_set` (the set itself,
                       `ExactSet`), `fill` (samples spread over the set), `outer_bound` (a proof of what
                       cannot be), `coverage`
One outcome            `laws`: each law is called with a problem and returns an `ImpactResult`
Is an answer possible  `audit` (one velocity after), `auditing.rollout.audit` (a whole MuJoCo simulation),
                       `scan` (how ambiguous an impact is over a grid of states)
A motion               `simulate` (event by event through impacts), `simulate_many`, `step_through` (time
                       stepping with `constraints`); each returns a `Trajectory`
Learning               `learn.OutcomeRandomization` (Gymnasium), `learn.hook` (any MuJoCo simulation)
One contact in space   `two_body`: restitution by three hypotheses, hodographs
A picture              ``.plot()`` of a result, or `viz.plot` of any
Did it succeed         ``.status`` of every result, see `Status`

The command line does the same: ``routh --help``. Public names are resolved on first use, so importing the
package compiles nothing and loads no numba.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # what type checkers and editors see; a test holds it to _PUBLIC and _SUBMODULES
    from routh import auditing as auditing
    from routh import bounds as bounds
    from routh import constraints as constraints
    from routh import exact as exact
    from routh import laws as laws
    from routh import lcp as lcp
    from routh import learn as learn
    from routh import models as models
    from routh import pointedness as pointedness
    from routh import robust as robust
    from routh import sampling as sampling
    from routh import sim as sim
    from routh import step as step
    from routh import systems as systems
    from routh import termination as termination
    from routh import two_body as two_body
    from routh import viz as viz
    from routh.auditing.membership import audit as audit
    from routh.auditing.scans import scan as scan
    from routh.batch import ImpactBatch as ImpactBatch
    from routh.bounds import outer_bound as outer_bound
    from routh.exact.build import exact_set as exact_set
    from routh.exact.coverage import coverage as coverage
    from routh.exact.result import ExactSet as ExactSet
    from routh.exact.snapping import snap as snap
    from routh.laws import ImpactResult as ImpactResult
    from routh.models import State as State
    from routh.problem import ImpactProblem as ImpactProblem
    from routh.sampling import Outcomes as Outcomes
    from routh.sampling import approximate as approximate
    from routh.sampling import sample as sample
    from routh.sampling.batch import BatchOutcomes as BatchOutcomes
    from routh.sampling.filling import fill as fill
    from routh.sim import Trajectory as Trajectory
    from routh.sim import simulate_many as simulate_many
    from routh.sim.simulate import simulate as simulate
    from routh.sim.step_through import step_through as step_through
    from routh.status import Status as Status

__version__ = "0.1.0"

#: public name -> module that defines it
_PUBLIC = {
    "BatchOutcomes": "routh.sampling.batch",
    "ExactSet": "routh.exact.result",
    "ImpactBatch": "routh.batch",
    "ImpactProblem": "routh.problem",
    "ImpactResult": "routh.laws",
    "Outcomes": "routh.sampling",
    "State": "routh.models",
    "Status": "routh.status",
    "Trajectory": "routh.sim",
    "approximate": "routh.sampling",
    "audit": "routh.auditing.membership",
    "coverage": "routh.exact.coverage",
    "exact_set": "routh.exact.build",
    "fill": "routh.sampling.filling",
    "outer_bound": "routh.bounds",
    "sample": "routh.sampling",
    "scan": "routh.auditing.scans",
    "simulate": "routh.sim.simulate",
    "simulate_many": "routh.sim",
    "snap": "routh.exact.snapping",
    "step_through": "routh.sim.step_through",
}
_SUBMODULES = frozenset(
    (
        *("auditing", "bounds", "constraints", "exact", "laws", "lcp", "learn", "models"),
        *("pointedness", "robust", "sampling", "sim", "step", "systems", "termination", "two_body", "viz"),
    )
)

__all__ = ["__version__", *sorted(_PUBLIC), *sorted(_SUBMODULES)]


if not TYPE_CHECKING:  # a checker that saw this would take any misspelt name for a public one

    def __getattr__(name: str) -> object:
        if name in _PUBLIC:
            return getattr(importlib.import_module(_PUBLIC[name]), name)
        if name in _SUBMODULES:
            return importlib.import_module(f"routh.{name}")
        raise AttributeError(f"module 'routh' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
