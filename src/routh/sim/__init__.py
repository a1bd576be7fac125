"""Simulation: the trajectory, the ways to make one, and the check that it is a solution."""

from routh.sim.compliant import CompliantResult, KelvinVoigt, compliant_impact
from routh.sim.many import Bundle, simulate_many
from routh.sim.simulate import simulate
from routh.sim.step_gradient import StepGradient, StepTape, trace_steps
from routh.sim.step_through import step_through
from routh.sim.trajectory import Event, InAugmentedTime, Trajectory
from routh.sim.verify import Verdict, verify

__all__ = [
    "Bundle",
    "CompliantResult",
    "Event",
    "InAugmentedTime",
    "KelvinVoigt",
    "StepGradient",
    "StepTape",
    "Trajectory",
    "Verdict",
    "compliant_impact",
    "simulate",
    "simulate_many",
    "step_through",
    "trace_steps",
    "verify",
]
