"""Auditing: is a simulator's or a measured answer possible, and how ambiguous are many impacts?"""

from routh.base.lazily import door

__all__, __getattr__, __dir__ = door(__name__, __file__)
