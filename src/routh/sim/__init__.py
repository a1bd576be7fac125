"""Simulation: the trajectory, and the two ways to make one."""

from routh.sim.trajectory import Event, Trajectory

__all__ = ["Event", "Trajectory"]
