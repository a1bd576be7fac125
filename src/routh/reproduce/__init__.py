"""Every published figure and table, drawn and compared: one module per paper, one report."""

from routh.reproduce.base import Entry, Exhibit, Row, Settings, entries, exhibit

__all__ = ["Entry", "Exhibit", "Row", "Settings", "entries", "exhibit"]
