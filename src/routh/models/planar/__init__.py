"""Planar mechanisms: boxes, discs, rods and point masses, floating or joined in trees, with contacts."""

from routh.base.lazily import door

__all__, __getattr__, __dir__ = door(__name__, __file__)
