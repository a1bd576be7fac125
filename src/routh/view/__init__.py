"""The viewer in a browser: drag a state and see every outcome of its impact (viser, extra ``view``)."""

from routh.base.lazily import door

__all__, __getattr__, __dir__ = door(__name__, __file__)
