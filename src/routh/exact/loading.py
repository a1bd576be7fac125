"""The Parma Polyhedra Library, an optional dependency under the GPL."""

from __future__ import annotations

from types import ModuleType

from routh.status import MissingExtraError


def load_ppl() -> ModuleType:
    """The Parma Polyhedra Library, or an error that says how to get it."""
    try:
        import ppl
    except ImportError:
        raise MissingExtraError("ppl (passagemath-ppl)", "exact") from None
    return ppl
