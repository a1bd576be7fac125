"""Robots in Pinocchio: from a URDF file, or a model and its configuration, to the problem of their impact."""

from routh.base.lazily import door

__all__, __getattr__, __dir__ = door(__name__, __file__)
