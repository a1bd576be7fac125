"""routh: every outcome that a rigid-body impact can have.

What to call for what
---------------------
An impact as data      `ImpactProblem`, `ImpactBatch` (many); `systems.get(name)` for those of the papers;
                       `models` for planar and spatial bodies and for robots from MJCF and URDF
                       (`models.mujoco`, `models.pinocchio`)
All its outcomes       `sample` (`Outcomes`, of a batch `BatchOutcomes`), `exact_set` (the set itself,
                       `ExactSet`), `exact_map` (the set as a function of the velocity before), `fill`
                       (samples spread over the set), `outer_bound` (a proof of what cannot be), `coverage`
One outcome            `laws`: each law is called with a problem and returns an `ImpactResult`
Is an answer possible  `audit` (one velocity after), `auditing.rollout.audit` (a whole MuJoCo simulation),
                       `scan` (how ambiguous an impact is over a grid of states)
A motion               `simulate` (event by event through impacts), `simulate_many`, `step_through` (time
                       stepping with `constraints`), `step_through_many`; each motion is a `Trajectory`
Learning               `learn.OutcomeRandomization` (Gymnasium), `learn.hook` (any MuJoCo simulation)
One contact in space   `two_body`: restitution by three hypotheses, hodographs
A picture              ``.plot()`` of a result, or `viz.plot` of any
Did it succeed         ``.status`` of every result, see `Status`

The command line does the same: ``routh --help``. Public names are resolved on first use, so importing the
package compiles nothing and loads no LLVM.
"""

from __future__ import annotations

from routh.base import features
from routh.base.lazily import public_names, resolving

__version__ = "0.3.0"
_PUBLIC = {
    name: home
    for name, home in public_names(__file__).items()
    if name not in features.KNOWN or name in features.installed()
}
__all__ = ["__version__", *sorted(_PUBLIC, key=lambda name: (_PUBLIC[name] == "routh", name))]
_resolve = resolving("routh", _PUBLIC)


def __getattr__(name: str) -> object:
    if name in features.KNOWN and name not in features.installed():
        raise AttributeError(str(features.MissingFeatureError(name)))
    return _resolve(name)


def __dir__() -> list[str]:
    return sorted(__all__)
