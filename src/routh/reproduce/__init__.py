"""Every published figure and table, drawn and compared: one module per paper, one report."""

from routh.base.lazily import door

__all__, __getattr__, __dir__ = door(__name__, __file__)
