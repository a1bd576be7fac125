"""The papers' systems by name, as data. Importing this loads none of them."""

from routh.base.lazily import door

__all__, __getattr__, __dir__ = door(__name__, __file__)
