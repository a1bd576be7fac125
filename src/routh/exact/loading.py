"""The Parma Polyhedra Library, an optional dependency under the GPL."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import TYPE_CHECKING

from routh.exact.algebra import Vector, integers
from routh.status import optional

if TYPE_CHECKING:
    from ppl import C_Polyhedron


_LOADING = threading.Lock()


def load_ppl() -> ModuleType:
    """The Parma Polyhedra Library, or an error that says how to get it; from any thread."""
    with _LOADING, _without_signal_handlers():
        ppl = optional("ppl", "exact", "ppl (passagemath-ppl)")
    # Other builds of it (pplpy on x86-64) leave the processor rounding upwards, for everything that follows.
    if not _rounds_to_nearest():
        ppl.restore_pre_PPL_rounding()
    return ppl


@contextmanager
def _without_signal_handlers() -> Iterator[None]:
    """Let ppl be imported outside of the main thread.

    It uses the module ``cysignals.signals``, whose package installs signal handlers when it is imported, and
    Python lets only the main thread do that. An empty package of that name stands in while ppl is imported;
    Ctrl-C is then heard between two operations of ppl, as everywhere in Python.
    """
    name = "cysignals"
    here = threading.current_thread() is threading.main_thread()
    spec = None if here or "ppl" in sys.modules or name in sys.modules else find_spec(name)
    if spec is None:
        yield
        return
    sys.modules[name] = module_from_spec(spec)
    try:
        yield
    finally:
        del sys.modules[name]  # who imports it next gets the whole package


def _rounds_to_nearest() -> bool:
    half_a_unit = 2.0**-54
    return 1.0 + half_a_unit == 1.0 and -1.0 - half_a_unit == -1.0


def hull(ppl: ModuleType, points: Iterable[Vector]) -> C_Polyhedron:
    """The convex hull of points."""
    corners = ppl.Generator_System()
    for point in points:
        *numerators, scale = integers((*point, Fraction(1)))
        corners.insert(ppl.point(ppl.Linear_Expression(numerators, 0), scale))
    return ppl.C_Polyhedron(corners)
