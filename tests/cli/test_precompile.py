"""`routh precompile`: every family's call runs, and the command says what it did."""

import os
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from routh.cli import precompile
from routh.cli.app import app
from routh.compiling import NoGPUError
from routh.kernels.gpu import events as gpu_events
from routh.sampling import sample


def test_the_spatial_problem_approaches_at_two_contacts():
    problem = precompile._spatial()
    assert (problem.Jn @ problem.v < 0.0).all()
    assert problem.nc == 2


def test_the_command_names_each_family(monkeypatch):
    done = []
    families = {"first": lambda: done.append(1), "second": lambda: 0}
    monkeypatch.setattr(precompile, "FAMILIES", families)
    result = CliRunner().invoke(app, ["precompile"])
    assert result.exit_code == 0
    assert done == [1]
    assert re.search(r"^first +on disk already +0\.\d s$", result.output, re.MULTILINE)


@pytest.mark.parametrize("contacts", [1, 4])
def test_families_of_a_gpu_are_problems_of_so_many_contacts(contacts, monkeypatch):
    """Here the CPU draws few of their samples."""
    drawn = []

    def on_the_cpu(given, n, *, device, method="events", friction="cone"):
        assert (device, given.nc) == ("cuda", contacts)
        drawn.append((given.nt, n, method, friction, bool(np.any(given.restitution))))
        return sample(given, min(n, 8), method=method, friction=friction)

    monkeypatch.setattr(precompile, "sample", on_the_cpu)
    monkeypatch.setattr(precompile.two_body, "batch", lambda *arguments, device: drawn.append(device))
    families = precompile.gpu_families(contacts)
    for call in families.values():
        call()
    assert len(set(drawn)) == len(families)
    assert "cuda" in drawn
    assert (1, gpu_events.MANY, "events", "cone", False) in drawn


@pytest.mark.skipif(os.path.exists("/dev/nvidia0"), reason="there is a GPU")
def test_kernels_of_a_gpu_need_one():
    result = CliRunner().invoke(app, ["precompile", "--device", "cuda", "--contacts", "2"])
    assert isinstance(result.exception, NoGPUError)


@pytest.mark.parametrize(
    ("options", "why"),
    [(["--device", "tpu"], "wanted cpu or cuda"), (["--contacts", "2"], "without --device cuda")],
)
def test_what_makes_no_sense_is_refused(options, why):
    result = CliRunner().invoke(app, ["precompile", *options])
    assert isinstance(result.exception, ValueError)
    assert why in str(result.exception)
