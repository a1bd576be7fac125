"""Simulation: the trajectory, the ways to make one, and the check that it is a solution."""

from inspect import ismodule as _ismodule

from routh.sim.compliant import CompliantResult as CompliantResult
from routh.sim.compliant import KelvinVoigt as KelvinVoigt
from routh.sim.compliant import compliant_impact as compliant_impact
from routh.sim.futures import Bundle as Bundle
from routh.sim.futures import simulate_many as simulate_many
from routh.sim.simulate import simulate as simulate
from routh.sim.step_gradient import StepGradient as StepGradient
from routh.sim.step_gradient import StepTape as StepTape
from routh.sim.step_gradient import trace_steps as trace_steps
from routh.sim.step_through import step_through as step_through
from routh.sim.step_through import step_through_many as step_through_many
from routh.sim.trajectory import Event as Event
from routh.sim.trajectory import InAugmentedTime as InAugmentedTime
from routh.sim.trajectory import Trajectory as Trajectory
from routh.sim.verify import Verdict as Verdict
from routh.sim.verify import verify as verify

__all__ = sorted(name for name, value in vars().items() if name[0] != "_" and not _ismodule(value))
