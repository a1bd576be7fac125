"""Names for what comes from packages without types of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

Foreign: TypeAlias = Any  # an object of llvmlite or of a user, or what a kernel is called with
Plain: TypeAlias = Callable[..., Any]  # a function before it is compiled
