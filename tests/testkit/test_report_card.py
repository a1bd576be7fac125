"""The report card of toy engines whose faults are known, and of MuJoCo."""

import json
import subprocess
import sys
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from routh.laws import Sequential, Simultaneous
from routh.testkit import CardEntry, Grade, MissingEngineError, examine, named, problem, scenes
from routh.testkit.catalogue import legged
from routh.testkit.checks import CheckName, friction_dropped
from routh.testkit.names import ENGINES

FEW = {"n": 512, "refine": 64}
SOME = {name: scenes()[name] for name in ("ball", "lander", "four feet slide", "row")}


def toy(scene):
    """One law with one answer, without restitution."""
    return Simultaneous()(problem(scene)).v.reshape(-1, 6)


toy.restitution = False


def named_by(card):
    return {(one.scene, one.check) for one in card.faults}


@pytest.fixture(scope="module")
def sound():
    return examine(toy, name="toy", scenes=SOME, **FEW)


def test_a_sound_engine_has_no_faults(sound):
    assert sound.faults == ()
    assert {one.check for one in sound.findings} >= {CheckName.SET, CheckName.PHASE, CheckName.ORDER}
    assert [one.grade for one in sound.findings if one.check == CheckName.SET] == [Grade.OK] * len(SOME)


def test_dropped_friction_is_named():
    """As where an engine gives up on redundant contacts and answers as if there were no friction."""

    def slippery(scene):
        bodies = (replace(b, shapes=tuple(replace(s, mu=0.0) for s in b.shapes)) for b in scene.bodies)
        return toy(replace(scene, bodies=tuple(bodies), mu=0.0))

    faults = named_by(examine(slippery, scenes=SOME, **FEW))
    assert {("lander", "friction acts"), ("four feet slide", "friction acts")} <= faults
    assert ("ball", "only outcome") in faults
    assert not any(check == "energy" for _, check in faults)


def test_gained_energy_is_named():
    def lively(scene):
        v = toy(scene)
        return v + 2.0 * np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0]) if scene.ground else v

    faults = named_by(examine(lively, scenes=SOME, **FEW))
    assert {("ball", "energy"), ("lander", "energy")} <= faults
    assert ("row", "energy") not in faults


def test_an_answer_that_depends_on_the_order_of_contacts_is_named(sound):
    def in_turn(scene):
        impact = problem(scene)
        return Sequential(order=tuple(range(impact.nc)))(impact).v.reshape(-1, 6)

    in_turn.restitution = False
    faults = named_by(examine(in_turn, scenes=SOME, **FEW))
    assert ("lander", "order of contacts") in faults
    assert not any(check in ("energy", "friction cone") for _, check in faults)
    assert ("lander", "order of contacts") not in named_by(sound)


def test_an_answer_that_depends_on_the_phase_of_its_step_is_named():
    def shaken(scene):
        above = min(one.pos[2] for one in scene.bodies) - 0.55
        v = toy(scene.lifted(-above) if scene.name == "lander" else scene)
        return v * (1.0 - 0.9 * (above > 1e-6))

    assert ("lander", "phase of the step") in named_by(examine(shaken, scenes=SOME, **FEW))


def test_what_never_answers_the_same_is_named():
    rng = np.random.default_rng(0)
    faults = named_by(examine(lambda scene: toy(scene) * rng.uniform(), scenes=SOME, **FEW))
    assert ("lander", "repeat") in faults


@pytest.mark.parametrize(
    ("after", "says"),
    [
        (lambda scene: np.zeros(6), "velocities have shape (6,); wanted (1, 6)"),
        (lambda scene: np.full((len(scene.bodies), 6), np.nan), "velocities are not finite"),
        (lambda scene: 1 / 0, "it raised ZeroDivisionError"),
    ],
)
def test_an_engine_that_does_not_answer_is_a_fault(after, says):
    card = examine(after, scenes={"ball": scenes()["ball"]}, **FEW)
    assert [one.check for one in card.faults] == ["answers"]
    assert card.faults[0].says.startswith(says)


def test_wrong_restitution_is_named():
    some = {name: scenes()[name] for name in ("rebound of 1", "rebound of 4")}
    faults = named_by(examine(lambda scene: -0.2 * scene.velocities, scenes=some, **FEW))
    assert {("rebound of 1", "restitution"), ("rebound of 4", "restitution")} <= faults
    right = examine(lambda scene: -0.5 * scene.velocities, scenes=some, **FEW)
    assert "restitution" not in {check for _, check in named_by(right)}


def test_without_restitution_it_is_not_asked():
    card = examine(toy, scenes={"cradle": scenes()["cradle"]}, **FEW)
    assert [one.grade for one in card.findings] == [Grade.NOT_ASKED]


def test_friction_that_only_turns_the_slip_is_not_dropped():
    lander = problem(legged("lander", (0.7, 0.0, -1.5), mu=0.3))
    assert not friction_dropped(lander, Simultaneous()(lander).v)
    smooth = lander.replace(mu=0.0)
    assert friction_dropped(lander, Simultaneous()(smooth).v)


def test_the_card_is_written_as_text_page_and_junit(sound, tmp_path):
    bad = CardEntry("<ball>", CheckName.ENERGY, Grade.FAULT, 'gained "much" & <more>')
    card = replace(sound, findings=(*sound.findings, bad))
    suite = ElementTree.fromstring(card.save(tmp_path / "card.xml").read_text())
    assert suite.get("failures") == "1"
    assert int(suite.get("tests")) == len(suite) == len(card.findings)
    assert [one.get("message") for one in suite.iter("failure")] == [bad.says]
    page = card.save(tmp_path / "card.html").read_text()
    assert "&lt;ball&gt;" in page
    assert "<ball>" not in page
    assert "FAULT  <ball>" in card.save(tmp_path / "card.txt").read_text()
    with pytest.raises(ValueError, match=r"ends in \.html, \.xml, \.txt"):
        card.save(tmp_path / "card.pdf")


ENGINE = """
import numpy as np
def after(scene):
    v = scene.velocities * [1, 1, -0.9, 1, 1, 1]  # rebounds, slides on
    return v
"""


def test_pytest_runs_each_finding(tmp_path):
    (tmp_path / "my_engine.py").write_text(ENGINE)
    words = [sys.executable, "-m", "pytest", "-q", "-p", "routh.testkit.plugin", "-p", "no:cacheprovider"]
    words += ["--routh-engine", "my_engine:after", "--collect-only", str(tmp_path)]
    run = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "lander: friction acts" in run.stdout, run.stdout + run.stderr
    words.remove("--collect-only")
    run = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "normal impulses alone explain the answer" in run.stdout


def test_the_command(routh_command, tmp_path):
    (tmp_path / "my_engine.py").write_text(ENGINE)
    code, out, _ = routh_command("testkit", "os:getcwd", "--json", "-n", "64")
    assert code == 1
    assert {row["check"] for row in json.loads(out) if row["grade"] == "FAULT"} == {"answers"}
    code, _, err = routh_command("testkit", "havok")
    assert code == 2
    assert "engine: got 'havok'; wanted one of mujoco" in err
    code, _, err = routh_command("testkit", "os:nothing")
    assert code == 2
    assert "cannot be imported" in err


def test_a_missing_engine_says_what_brings_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pydrake", None)
    with pytest.raises(MissingEngineError, match=r"Drake cannot be imported here .*pip install drake"):
        named("drake")
    with pytest.raises(ValueError, match="engine: got 'havok'"):
        named("havok")


def test_mujoco_keeps_the_laws():
    pytest.importorskip("mujoco")
    card = examine(named("mujoco"), scenes=SOME, **FEW)
    assert card.faults == (), card.text


@pytest.mark.parametrize("name", [name for name in ENGINES if not name.startswith(("mujoco", "genesis"))])
def test_one_ball_rolls_in_every_engine_that_is_here(name):
    """Masses, inertias, friction and frames are the same: one contact has one outcome."""
    try:
        after = named(name)
    except MissingEngineError as error:
        pytest.skip(str(error))
    known = scenes()["ball"]
    assert after(known.scene) == pytest.approx(known.only, abs=0.06)
