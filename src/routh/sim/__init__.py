"""Simulation: the trajectory, the ways to make one, and the check that it is a solution."""

from routh.sim.many import Bundle, simulate_many
from routh.sim.simulate import simulate
from routh.sim.trajectory import Event, InAugmentedTime, Trajectory
from routh.sim.verify import Verdict, verify

__all__ = [
    "Bundle",
    "Event",
    "InAugmentedTime",
    "Trajectory",
    "Verdict",
    "simulate",
    "simulate_many",
    "verify",
]
