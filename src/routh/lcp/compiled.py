"""The reference Lemke, compiled: the same source, for runs over hundreds of thousands of problems."""

from __future__ import annotations

from functools import cache
from types import FunctionType

from routh.lcp import lemke
from routh.lcp.solve import Pivoting

_FUNCTIONS = ("_lexicographically_less", "_pivot", "_leaving_row", "lemke_pivots")  # callees first


@cache
def compiled_pivoting() -> Pivoting:
    """`routh.lcp.lemke.lemke_pivots` compiled by numba; the first call takes some seconds."""
    import numba

    names = dict(vars(lemke))
    for name in _FUNCTIONS:
        plain = getattr(lemke, name)
        names[name] = numba.njit(FunctionType(plain.__code__, names, name, plain.__defaults__))
    return names["lemke_pivots"]
