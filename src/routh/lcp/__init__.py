"""The linear complementarity problem: a reference solver and an enumerator of all solutions."""

from routh.base.lazily import door

__all__, __getattr__, __dir__ = door(__name__, __file__)
