"""A share of the attack with fixed seeds, and that it would notice what it looks for."""

import os
import random

import numpy as np
import pytest

from attack import main
from attacking import physics
from attacking.models import tree
from attacking.report import Found
from attacking.watch import Watch
from routh.status import Status
from routh.step import make_step


@pytest.mark.parametrize(
    "arguments",
    [
        ["--only", "archives", "--archives", "300"],
        ["--only", "models", "--models", "300"],
        ["--only", "saving", "--kills", "12"],
        [
            *["--only", "physics", "--problems", "40"],
            *["--family", "frictionless", "--family", "rough", "--family", "nearly", "--family", "grazing"],
        ],
        ["--only", "interrupts", "--interrupts", "2"],
    ],
    ids=lambda a: a[1],
)
def test_nothing_gets_through(arguments, capsys):
    if "models" in arguments:
        pytest.importorskip("mujoco")
        pytest.importorskip("pinocchio")
    code = main(arguments)
    table = capsys.readouterr().out
    assert "honest failures" in table
    if "interrupts" not in arguments:  # how long they take is the machine's business too
        assert code == 0, table


def test_the_watch_sees_what_is_opened_in_other_processes(tmp_path):
    (tmp_path / "canary").write_text("x")
    watch = Watch(tmp_path)
    os.stat(tmp_path / "canary")
    assert watch.opened() == []
    assert os.system(f"cat {tmp_path}/canary > /dev/null") == 0
    assert "canary" in watch.opened()
    watch.close()


def test_the_trees_lead_outside(tmp_path):
    """Of the trees that are drawn, many name a file outside."""
    (tmp_path / "out").mkdir()
    texts = [tree(tmp_path / str(k), [], random.Random(k)).read_text() for k in range(60)]
    assert sum("out/" in text or "link" in text for text in texts) > 10


@pytest.mark.parametrize("fault", ["pull", "cone", "momentum", "energy", "bound", "slip", "nan"])
def test_a_wrong_step_is_noticed(fault):
    noticed = 0
    for k in range(12):
        rng = np.random.default_rng(k)
        problem = physics.problem_of("two contacts, plane", rng)
        bound = physics.scales(problem)[1] * rng.random(2)
        step = make_step(problem).solve(problem.v, bound)
        assert step.status is Status.SOLVED
        assert physics.wrong_step(problem, step.v, step.impulse, bound) == ""
        v, impulse = step.v.copy(), step.impulse.copy()
        if fault == "pull":
            impulse[0, 0] -= 0.1 * physics.scales(problem)[1][0]
        elif fault == "cone":
            impulse[:, 1] = 2.0 * impulse[:, 0]
        elif fault == "momentum":
            impulse *= 1.01
        elif fault == "energy":
            v *= 3.0
        elif fault == "bound":
            impulse[:, 0] += 2.0 * bound
        elif fault == "slip":
            impulse[:, 1] *= -1.0
        else:
            v[0] = np.nan
        noticed += physics.wrong_step(problem, v, impulse, bound) != ""
    assert noticed >= (12 if fault in ("bound", "nan") else 6)


def test_a_row_counts():
    row = Found("x")
    row.count(0.1)
    row.count(0.3, honest=True)
    row.count(0.2, wrong="bad", honest=True)
    assert (row.cases, row.wrong, row.honest, row.slowest, row.examples) == (3, 1, 1, 0.3, ["bad"])
