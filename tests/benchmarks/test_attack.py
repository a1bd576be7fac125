"""A share of the attack with fixed seeds, and that it would notice what it looks for."""

import os
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import routh
from attack import main
from attacking import physics
from attacking.models import tree
from attacking.report import Found, merged
from attacking.watch import Watch
from routh.base.results import ImpactPath
from routh.base.status import Status
from routh.step import make_step


@pytest.mark.parametrize(
    "arguments",
    [
        ["--only", "archives", "--archives", "300"],
        ["--only", "folders", "--folders", "60", "--seed", "2"],
        ["--only", "models", "--models", "300"],
        ["--only", "saving", "--kills", "12"],
        [
            *["--only", "physics", "--problems", "40"],
            *["--family", "frictionless", "--family", "rough", "--family", "nearly", "--family", "grazing"],
        ],
        ["--only", "bits", "--bits", "10", "--seed", "2"],
        ["--only", "slow", "--slow", "1"],
        ["--only", "dependent", "--dependent", "9", "--seed", "1"],
        ["--only", "landings", "--landings", "60", "--landing", "crate at 1e-3", "--landing", "boxes, e 0.3"],
        ["--only", "tip", "--tips", "30"],
        ["--only", "interrupts", "--interrupts", "2"],
        ["--only", "notebooks", "--interrupts", "2"],
    ],
    ids=lambda a: a[1],
)
def test_nothing_gets_through(arguments, capsys):
    if {"models", "landings", "tip"} & set(arguments):
        pytest.importorskip("mujoco")
    if "models" in arguments:
        pytest.importorskip("pinocchio", exc_type=ImportError)
    if "dependent" in arguments:
        pytest.importorskip("ppl")
    if "notebooks" in arguments:
        pytest.importorskip("ipykernel")
    code = main(arguments)
    table = capsys.readouterr().out
    assert "honest failures" in table
    timed = {"interrupts", "notebooks"} & set(arguments)
    if not timed and "TOO SLOW" not in table:  # time is the machine's business too
        assert code == 0, table
    slow = ("took", "did not end before it was interrupted")
    wrong = [line for line in table.splitlines() if line.startswith("wrong:")]
    assert [line for line in wrong if not any(word in line for word in slow)] == [], table


def test_an_answer_of_failed_samples_is_noticed():
    """That it hides how few are solved, and that one of the others had a say."""
    landings = pytest.importorskip("attacking.landings", exc_type=ImportError)
    outcomes = routh.sample(routh.systems.impact("box-drop"), 64, seed=1)
    assert landings.misleading(outcomes) == ""
    assert not any(landings.broken_laws(outcomes, range(2)))
    v, status = outcomes.v.copy(), outcomes.status.copy()
    v[0], status[0] = 30.0 * v[0], Status.NUMERICAL
    failed = replace(outcomes, v=v, status=status)
    assert landings.misleading(failed) == ""

    class Hiding:
        """Outcomes as they were once told: all of them, and nothing of those that failed."""

        problem, solved, v, ambiguity = failed.problem, failed.solved, failed.v, 30.0

        def __init__(self, first):
            self.answer = lambda: first

    assert landings.misleading(Hiding("Not ambiguous.")).startswith("98.4% solved, but the answer begins")
    assert landings.misleading(Hiding("Only 63 of 64 samples are solved.")) == "ambiguity 30"
    wrong = replace(outcomes, v=v)  # energy is gained, and it says SOLVED
    assert landings.broken_laws(wrong, range(0))[0].startswith("total ")


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


@pytest.mark.parametrize(
    "fault", ["slip", "cone", "pull", "momentum", "start", "end", "sum", "late push", "nan", "returned"]
)
def test_a_wrong_path_is_noticed(fault):
    """Each fault leaves the rest of a true path alone, and is found in it."""
    noticed = 0
    for k in range(12):
        problem = physics.problem_of("two contacts, plane", np.random.default_rng(k))
        if fault == "returned":
            problem = problem.replace(restitution=0.5)
        path = routh.sample(problem, 1, seed=k, threads=1).path(0)
        v, p, rows = path.v.copy(), path.impulse.copy(), np.stack([problem.Jn, problem.Jt[:, 0]], axis=1)
        assert physics.wrong_path(problem, path, v[-1], p.sum(axis=0), physics.scales(problem)) == ""
        if fault == "returned":
            problem = problem.replace(restitution=0.1)
        elif fault == "slip":
            p[:, :, 1] *= -1.0
        elif fault == "cone":
            p[:, :, 1] = 2.0 * p[:, :, 0]
        elif fault == "pull":
            p = np.concatenate([p, -0.5 * p[-1:]])
        elif fault == "momentum":
            v[1:-1] += 0.01 * v[0]
        elif fault == "nan":
            p[0, 0, 0] = np.nan
        elif fault == "late push":
            p = np.concatenate([p, p[-1:]])
        if fault in ("slip", "cone", "pull", "late push"):  # velocities that belong to the impulses
            pushes = np.linalg.solve(problem.M, np.einsum("kct,ctv->vk", p, rows)).T
            v = problem.v + np.concatenate([np.zeros((1, problem.nv)), np.cumsum(pushes, axis=0)])
        wrong = ImpactPath(v, p, path.kind)
        shift = {"start": (0.01, 0.0), "end": (0.0, 0.01)}.get(fault, (0.0, 0.0))
        wrong.v[0] += shift[0] * v[0]
        total = p.sum(axis=0) * (1.01 if fault == "sum" else 1.0)
        said = physics.wrong_path(problem, wrong, v[-1] * (1.0 + shift[1]), total, physics.scales(problem))
        noticed += said != ""
    assert noticed >= (12 if fault in ("start", "end", "sum", "nan") else 6)


def test_physics_needs_no_optional_package():
    """The parts "physics" and "slow" run where only NumPy, SciPy and Numba are."""
    code = """
import sys, importlib.abc
class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("mujoco", "pinocchio", "ppl", "clarabel", "typer", "rich", "matplotlib",
                                      "viser", "pandas", "xarray", "distributed", "gymnasium", "hypothesis"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Missing())
from attack import main
main(["--only", "physics", "--only", "slow", "--problems", "2", "--slow", "1", "--processes", "2",
      "--family", "two", "--family", "space"])
"""
    folder = Path(physics.__file__).parents[1]
    result = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
    assert "allowed, s" in result.stdout, result.stderr


def test_rows_are_merged_and_held_against_what_is_allowed():
    parts = [Found("x", 2, 1, 0, 0.2, ["b"]), Found("x", 3, 0, 1, 0.1)]
    row = merged("all", parts, limit=0.15)
    assert (row.cases, row.wrong, row.honest, row.slowest, row.examples) == (5, 1, 1, 0.2, ["b"])
    assert row.too_slow
    assert not merged("all", parts).too_slow
    assert merged("all", [Found("x", slowest=float("nan"))], limit=np.nan).too_slow


def test_a_row_counts():
    row = Found("x")
    row.count(0.1)
    row.count(0.3, honest=True)
    row.count(0.2, wrong="bad", honest=True)
    assert (row.cases, row.wrong, row.honest, row.slowest, row.examples) == (3, 1, 1, 0.3, ["bad"])


@pytest.mark.parametrize(
    ("family", "number"),
    [
        # a slip that begins and vanishes again within one step of the series
        ("space, true cone", 1233),
        ("space, true cone", 2248),
        ("one body in space, doubled", 1010),
        # friction that ends a slip, outside its cone by no more than the sample says
        ("space, true cone", 3200),
        ("one body in space, doubled", 1174),
    ],
)
def test_what_the_full_attack_found_in_space(family, number):
    found = physics.part_of_family((family, 0, [number]))
    assert found.wrong == 0


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("one body in space, doubled", 1693),  # several contacts stop together, one of them outside its cone
        ("space, true cone", 3661),
        ("one body in space, doubled", 3544),  # a held contact pulled within a step, and pushed again
        ("one body in space, doubled", 3671),  # a driven one separated within a step, and approached again
        ("one body in space, doubled", 8758),  # friction left its cone at once, and came back
    ],
)
def test_what_the_attack_at_full_size_has_found(name, number):
    """Paths of the true cone: impulses leave their cones by no more than the sample's error says."""
    rng = np.random.default_rng([0, list(physics.FAMILIES).index(name), number])
    problem = physics.problem_of(name, rng)
    outcomes = routh.sample(problem, physics.SAMPLES, seed=number, threads=1)
    assert physics.judged_samples(problem, outcomes) == ("", False)
    # a tolerance of 1e-6 a piece; implicit steps may miss twice that, and report ten times what they estimate
    assert np.all(outcomes.error <= 2e-5 * np.maximum(outcomes.steps, 30))


@pytest.mark.parametrize("number", [7435, 9006])
def test_no_step_goes_backwards(number):
    """A velocity that is rounding all along has its zero anywhere, but not behind."""
    name = "one body in space, doubled"
    rng = np.random.default_rng([0, list(physics.FAMILIES).index(name), number])
    problem = physics.problem_of(name, rng)
    outcomes = routh.sample(problem, physics.SAMPLES, seed=number, threads=1)
    assert physics.judged_samples(problem, outcomes) == ("", False)


def test_impulses_outside_their_cones_are_found_where_nothing_undoes_them():
    """Of two walls that face each other one pushes less where the other does; a floor alone cannot pull."""
    facing = (
        np.array([[[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]] * 2)
        * np.array([1.0, -1.0])[:, None, None]
    )
    walls = routh.ImpactProblem(np.eye(3), facing[:, 0], facing[:, 1:], 0.5, [0.0, 0.0, -1.0])
    pulled = np.array([[1.0, 0.0, 0.0], [-0.5, 0.0, 0.0]])
    push = np.einsum("ct,ctv->v", pulled, facing)
    assert physics.from_cones(walls, np.maximum(pulled, 0.0), push) < 1e-9
    floor = routh.ImpactProblem(np.eye(3), facing[:1, 0], facing[:1, 1:], 0.5, [0.0, 0.0, -1.0])
    lost = np.array([[-0.5, 0.0, 0.0]])
    push = np.einsum("ct,ctv->v", lost, facing[:1])
    assert abs(physics.from_cones(floor, np.maximum(lost, 0.0), push) - 0.5) < 1e-9
