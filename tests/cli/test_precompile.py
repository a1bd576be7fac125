"""`routh precompile`: every family's call runs, and the command says what it did."""

import os
import re

import pytest
from typer.testing import CliRunner

from feature_marks import needs
from routh.base.status import NoGPUError
from routh.cli import precompile
from routh.cli.app import app


def test_the_spatial_problem_approaches_at_two_contacts():
    problem = precompile._spatial()
    assert (problem.Jn @ problem.v < 0.0).all()
    assert problem.nc == 2


def test_the_command_names_each_family(monkeypatch):
    done = []
    families = {"first": lambda: done.append(1), "second": lambda: 0}
    monkeypatch.setattr(precompile, "FAMILIES", families)
    monkeypatch.setattr(precompile, "calls_of_features", lambda table: {})
    result = CliRunner().invoke(app, ["precompile"])
    assert result.exit_code == 0
    assert done == [1]
    assert re.search(r"^first +on disk already +0\.\d s$", result.output, re.MULTILINE)


@needs("gpu")
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
