"""Robots in MuJoCo: from an MJCF or URDF file, or from MjModel and MjData, to the problem of their impact."""

from routh.base.lazily import door

__all__, __getattr__, __dir__ = door(__name__, __file__)
