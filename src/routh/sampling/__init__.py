"""Samplers of the set of outcomes, what a sample of it is, and what it says."""

from routh.base.lazily import door

__all__, __getattr__, __dir__ = door(__name__, __file__)
