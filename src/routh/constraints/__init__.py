"""Constraint forces that are stable at any stiffness and any step (D19)."""

from routh.base.lazily import door

__all__, __getattr__, __dir__ = door(__name__, __file__)
