"""Whole landings, many at once: from the air to rest, with what is not known drawn for each."""

from routh.base.lazily import door

__all__, __getattr__, __dir__ = door(__name__, __file__)
