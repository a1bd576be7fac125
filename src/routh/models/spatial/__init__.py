"""Free rigid bodies in space: spheres and boxes with unit quaternions, against half-spaces and each other."""

from routh.base.lazily import door

__all__, __getattr__, __dir__ = door(__name__, __file__)
