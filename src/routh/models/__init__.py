"""Models of mechanisms with contacts: the protocol, planar trees, free bodies in space, and robots."""

from routh.base.lazily import door

__all__, __getattr__, __dir__ = door(__name__, __file__)
