"""Outer bounds on the set of outcomes: from energy, and from functions that fall along every solution."""

from routh.base.lazily import door

__all__, __getattr__, __dir__ = door(__name__, __file__)
