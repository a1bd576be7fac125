"""One implicit increment of an impact (HP23 (72)): the true friction cone, or a polyhedral one."""

from routh.base.lazily import door

__all__, __getattr__, __dir__ = door(__name__, __file__)
