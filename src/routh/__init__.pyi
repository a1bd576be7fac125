# What type checkers and editors see, and what `routh.base.lazily` resolves.
from routh import auditing as auditing
from routh import bounds as bounds
from routh import constraints as constraints
from routh import exact as exact

# features: their folders may be gone
from routh import gaits as gaits  # type: ignore[attr-defined, unused-ignore]
from routh import gpu as gpu  # type: ignore[attr-defined, unused-ignore]
from routh import identification as identification  # type: ignore[attr-defined, unused-ignore]
from routh import jax as jax  # type: ignore[attr-defined, unused-ignore]
from routh import laws as laws
from routh import lcp as lcp
from routh import learn as learn  # type: ignore[attr-defined, unused-ignore]
from routh import models as models
from routh import reproduce as reproduce  # type: ignore[attr-defined, unused-ignore]
from routh import robust as robust
from routh import sampling as sampling
from routh import sim as sim
from routh import step as step
from routh import sweep as sweep  # type: ignore[attr-defined, unused-ignore]
from routh import systems as systems
from routh import testkit as testkit  # type: ignore[attr-defined, unused-ignore]
from routh import to_rest as to_rest
from routh import two_body as two_body  # type: ignore[attr-defined, unused-ignore]
from routh import view as view  # type: ignore[attr-defined, unused-ignore]
from routh import viz as viz
from routh.auditing.membership import audit as audit
from routh.auditing.scans import scan as scan
from routh.base.status import Status as Status
from routh.bounds import outer_bound as outer_bound
from routh.exact.build import exact_set as exact_set
from routh.exact.map import ExactMap as ExactMap
from routh.exact.map import exact_map as exact_map
from routh.exact.result import ExactSet as ExactSet
from routh.exact.result import coverage as coverage
from routh.exact.snap import snap as snap
from routh.laws import ImpactResult as ImpactResult
from routh.models import State as State
from routh.problem import pointedness as pointedness
from routh.problem import termination as termination
from routh.problem.batch import ImpactBatch as ImpactBatch
from routh.problem.impact import ImpactProblem as ImpactProblem
from routh.sampling import Outcomes as Outcomes
from routh.sampling import approximate as approximate
from routh.sampling import sample as sample
from routh.sampling.batch import BatchOutcomes as BatchOutcomes
from routh.sampling.fill import fill as fill
from routh.sim import Trajectory as Trajectory
from routh.sim import simulate_many as simulate_many
from routh.sim.event_driven import simulate as simulate
from routh.sim.time_stepping import step_through as step_through
from routh.sim.time_stepping import step_through_many as step_through_many
from routh.to_rest.many import landings as landings

__version__: str
