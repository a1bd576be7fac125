"""numba.cuda where there is a GPU, and an error that says what is missing where there is none."""

from __future__ import annotations

from typing import Any

import numpy as np

from routh.status import MissingExtraError, RouthError


class NoGPUError(RouthError, RuntimeError):
    """``device="cuda"`` on a machine without a GPU that numba-cuda can use."""


def find_cuda() -> Any:
    """The module numba.cuda, ready to compile; raises MissingExtraError or `NoGPUError`."""
    for old, new in (("row_stack", "vstack"), ("in1d", "isin"), ("trapz", "trapezoid")):
        if not hasattr(np, old):  # NumPy 2.5 dropped names that numba-cuda still looks up
            setattr(np, old, getattr(np, new))
    try:
        from numba import cuda
    except ImportError:
        raise MissingExtraError("numba-cuda", "cuda") from None
    if not cuda.is_available():
        raise NoGPUError(
            "device: got 'cuda'; wanted a machine with an NVIDIA GPU, its driver and numba-cuda "
            "(pip install 'routh[cuda]'), or device='cpu'"
        )
    return cuda
