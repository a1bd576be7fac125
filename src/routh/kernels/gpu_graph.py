"""Kernels that are launched again and again, all at once: as a graph, which CUDA launches in microseconds.

By itself a launch takes a fraction of a millisecond, most of it numba's for the arguments.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from types import ModuleType
from typing import Any

from routh.compiling import find_cuda, is_simulated
from routh.kernels.gpu_memory import DeviceArray

LOG = logging.getLogger("routh.kernels")


def repeated(launches: Callable[[], None], stream: DeviceArray) -> Callable[[], None]:
    """What does the same as ``launches`` with the same arguments, whose kernels have run before.

    They begin and end in a stream. Where it cannot be recorded it is the function itself: without NVIDIA's
    bindings, as in a simulator, or when memory is freed at the wrong moment.
    """
    driver = _bindings()
    if driver is None:
        return launches
    handle, here = int(stream), driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
    try:
        try:
            _checked(driver.cuStreamBeginCapture(handle, here))
            launches()
        except BaseException:
            driver.cuStreamEndCapture(handle)  # a stream that still records would take no other work
            raise
        return _Graph(driver, _checked(driver.cuStreamEndCapture(handle)), handle)
    except Exception as error:
        LOG.info("kernels are launched one by one (%s)", error)
        return launches


class _Graph:
    """A recorded graph; CUDA frees it once it has run to its end."""

    def __init__(self, driver: ModuleType, graph: Any, stream: int) -> None:
        self._driver, self._stream = driver, stream
        self._made = _checked(driver.cuGraphInstantiate(graph, 0))
        _checked(driver.cuGraphDestroy(graph))

    def __call__(self) -> None:
        _checked(self._driver.cuGraphLaunch(self._made, self._stream))

    def __del__(self) -> None:
        with suppress(Exception):  # the process may be at its end
            self._driver.cuGraphExecDestroy(self._made)


def make_stream(*, urgent: bool) -> DeviceArray:
    """A stream that does not wait for the default one; ``urgent``: its kernels come before those of others.

    Without NVIDIA's bindings it waits, and none comes before others.
    """
    driver = _bindings()
    if driver is None:
        return find_cuda().stream()
    failed, least, most = driver.cuCtxGetStreamPriorityRange()
    _checked((failed,))
    flags = int(driver.CUstream_flags.CU_STREAM_NON_BLOCKING)
    handle = _checked(driver.cuStreamCreateWithPriority(flags, most if urgent else least))
    return find_cuda().external_stream(int(handle))


def _bindings() -> ModuleType | None:
    """NVIDIA's own, which numba-cuda uses, too; None in a simulator, or with a numba-cuda before them."""
    if is_simulated():
        return None
    try:
        from cuda.bindings import driver
    except ImportError:
        return None
    return driver


def _checked(answer: tuple[Any, ...]) -> Any:
    if int(answer[0]) != 0:
        raise RuntimeError(f"CUDA: {answer[0]}")
    return answer[1] if len(answer) > 1 else None
