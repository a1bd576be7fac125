"""Launches recorded as a graph, with a driver that only writes down what it is asked for."""

import types

import pytest

from routh.kernels import gpu_graph


class Driver:
    """Answers as NVIDIA's bindings do: an error code, and what was asked for."""

    CUstreamCaptureMode = types.SimpleNamespace(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL=1)

    def __init__(self, failing=""):
        self.asked, self.failing = [], failing

    def __getattr__(self, name):
        def call(*_):
            self.asked.append(name)
            return int(name == self.failing), name

        return call


@pytest.fixture
def driver(monkeypatch):
    made = Driver()
    monkeypatch.setattr(gpu_graph, "_bindings", lambda: made)
    return made


def test_launches_are_recorded_once_and_then_launched_as_one(driver):
    graph = gpu_graph.repeated(lambda: driver.asked.append("a kernel"), 7)
    for _ in range(3):
        graph()
    del graph
    recorded = [
        "cuStreamBeginCapture",
        "a kernel",
        "cuStreamEndCapture",
        "cuGraphInstantiate",
        "cuGraphDestroy",
    ]
    assert driver.asked == [*recorded, *["cuGraphLaunch"] * 3, "cuGraphExecDestroy"]


def test_an_interrupt_ends_the_recording(driver):
    def launches():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gpu_graph.repeated(launches, 7)
    assert driver.asked == ["cuStreamBeginCapture", "cuStreamEndCapture"]


@pytest.mark.parametrize("failing", ["cuStreamBeginCapture", "cuStreamEndCapture", "cuGraphInstantiate"])
def test_what_cannot_be_recorded_is_launched_one_by_one(driver, failing):
    driver.failing = failing
    launches = list
    assert gpu_graph.repeated(launches, 7) is launches
    assert "cuStreamEndCapture" in driver.asked


def test_an_error_of_the_launches_comes_when_they_are_launched(driver):
    def launches():
        raise ValueError("of numba")

    assert gpu_graph.repeated(launches, 7) is launches
    assert driver.asked == ["cuStreamBeginCapture", "cuStreamEndCapture"]


def test_a_graph_that_cannot_be_launched_is_an_error(driver):
    graph = gpu_graph.repeated(list, 7)
    driver.failing = "cuGraphLaunch"
    with pytest.raises(RuntimeError, match="CUDA"):
        graph()


def test_without_bindings_it_is_the_function_itself(monkeypatch):
    monkeypatch.setattr(gpu_graph, "_bindings", lambda: None)
    launches = object()
    assert gpu_graph.repeated(launches, 7) is launches
