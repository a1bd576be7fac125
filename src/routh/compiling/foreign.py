"""Names for what comes from numba, which has no types of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

Foreign: TypeAlias = Any  # an object of numba: a dispatcher, a library, a signature, a value
Plain: TypeAlias = Callable[..., Any]  # a function before it is compiled
