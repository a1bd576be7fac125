"""Acting on sets: worst cases, what holds in every outcome, designs, parameters from measurements."""

from routh.base.lazily import door

__all__, __getattr__, __dir__ = door(__name__, __file__)
