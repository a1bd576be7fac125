"""Simulation: the trajectory, the ways to make one, and the check that it is a solution."""

from routh.base.lazily import door

__all__, __getattr__, __dir__ = door(__name__, __file__)
