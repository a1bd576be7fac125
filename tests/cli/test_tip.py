"""``routh tip``: the answer in the first line and in the exit code."""

from __future__ import annotations

import json
import math
from importlib import import_module
from pathlib import Path

import pytest

from feature_marks import needs

pytest.importorskip("mujoco")
LANDER = Path(__file__).parents[2] / "examples" / "lander.xml"


def test_no_go(routh_command):
    code, out, _ = routh_command("tip", LANDER, "--down", 1.5, "--sideways", 0.8, "--samples", 64)
    assert code == 4
    assert out.startswith("NO-GO: the worst outcome turns over ")
    assert "Stiff: " in out
    assert "Worst of 16 headings" in out
    assert Path("lander-tip.png").stat().st_size > 10_000


def test_go_and_json(routh_command):
    arguments = ("--down", 0.4, "--sideways", 0.1, "--heading", 0, "--samples", 64, "--no-picture", "--json")
    code, out, _ = routh_command("tip", LANDER, *arguments)
    told = json.loads(out)
    assert code == 0
    assert told["go"]
    assert told["evidence"] == "energy"
    assert told["heading"] == 0.0
    assert 0.5 < told["safe"]["sideways"] < 1.5
    assert told["picture"] is None


def test_no_limit_is_told_where_nothing_tips(routh_command, tmp_path):
    """A flat plate stays whatever the speed: the end of what was looked at is no limit."""
    plate = tmp_path / "plate.xml"
    plate.write_text("""<mujoco><worldbody><geom name="floor" type="plane" size="5 5 1"/><body pos="0 0 1">
      <freejoint/><geom name="a plate with a long name" type="box" size="0.5 0.5 0.02"/></body></worldbody>
      </mujoco>""")
    code, out, _ = routh_command("tip", plate, "--down", 1.0, "--sideways", 0.5, "--samples", 16)
    assert code == 0
    assert "No sampled outcome" not in out
    assert Path("plate-tip.png").stat().st_size > 10_000


def test_rates_and_bad_input(routh_command, tmp_path):
    code, out, _ = routh_command("tip", LANDER, "--down", 0.5, "--roll-rate", 12.0, "--no-picture")
    assert code == 4
    assert "turning at 12 rad/s" in out
    code, _, err = routh_command("tip", LANDER, "--down", 1.0, "--roll", 0.7)
    assert code == 2
    assert "wanted at least three contacts" in err
    code, _, err = routh_command("tip", LANDER, "--down", 1, "--joint-velocity", "knee=1")
    assert code == 2
    assert "joint_velocities: got 'knee'" in err
    planar = tmp_path / "planar.xml"
    planar.write_text("""<mujoco><worldbody><geom type="plane" size="5 5 1"/><body pos="0 0 1">
      <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/><joint axis="0 1 0"/>
      <geom type="box" size="0.1 0.1 0.1"/></body></worldbody></mujoco>""")
    code, _, err = routh_command("tip", planar, "--down", 1.0, "--sideways", 0.5)
    assert code == 2
    assert "wanted a free joint at the root" in err


def test_every_landing_answer_says_if_the_set_is_the_right_model(routh_command):
    _, out, _ = routh_command("impact", LANDER, "--down", 1.0, "--samples", 64, "--no-picture")
    assert "stiff: contacts close within 2 ms, a contact lasts 4 ms" in " ".join(out.split())
    _, out, _ = routh_command(
        "impact", LANDER, "--down", 1.0, "--roll", 0.03, "--samples", 64, "--no-picture"
    )
    assert "tilted: a contact closes 12 ms after the first" in " ".join(out.split())


@needs("sweep")
def test_scan_and_sweep_say_it_of_their_landings(routh_command, tmp_path):
    """A tilt so large that the other feet close after more than three windows is tilted, too."""
    words = ("--down", 1.0, "--over", "roll=0,0.03,0.08", "--samples", 16)
    _, out, _ = routh_command("scan", LANDER, *words, "--no-picture")
    line = "of 3 landings stiff at 1 (it says what can happen), tilted at 2 (later impacts decide"
    assert line in " ".join(out.split())
    _, out, _ = routh_command("scan", LANDER, *words, "--no-picture", "--json", "--measure", "tipping")
    assert json.loads(out)["regimes"] == {"stiff": 1, "tilted": 2}
    _, out, _ = routh_command("sweep", LANDER, *words, "--out", tmp_path / "study", "--executor", "here")
    assert line in " ".join(out.split())


@pytest.mark.parametrize(
    ("command", "out"), [("scan", "a.png"), pytest.param("sweep", "study", marks=needs("sweep"))]
)
def test_a_measure_that_there_is_not_is_refused(routh_command, tmp_path, command, out):
    words = (LANDER, "--down", 1.0, "--over", "roll=0", "--measure", "tiping", "--samples", 4)
    code, _, said = routh_command(command, *words, "--out", tmp_path / out)
    assert code == 2
    assert said.startswith("routh: error: --measure: got 'tiping'")


def test_python_and_the_command_line_decide_alike(routh_command):
    """A little below the limit, at it, and above: where fewer outcomes would say go."""
    import routh
    from routh.robust import tipping

    model = routh.models.mujoco.load(LANDER)
    landing = routh.models.landing(model, down=1.2, sideways=0.7, heading=0.4)
    limit = 1.0 / tipping(model, landing.qpos, landing.qvel, n=4096).ratio  # outcomes scale
    for share, verdict, code in ((0.8, "go", 0), (0.99, "undecided", 6), (1.1, "no-go", 4)):
        down, sideways = 1.2 * share * limit, 0.7 * share * limit
        words = ("--down", down, "--sideways", sideways, "--heading", 0.4, "--no-picture", "--json")
        ended, out, _ = routh_command("tip", LANDER, *words)
        told = json.loads(out)
        landing = routh.models.landing(model, down=down, sideways=sideways, heading=0.4)
        answer = tipping(model, landing.qpos, landing.qvel, prove=True)
        assert told["verdict"] == answer.verdict == verdict
        assert told["ratio"] == answer.ratio
        assert told["go"] == answer.go == (ended == 0)
        assert ended == code


def test_tilted_is_no_go(routh_command):
    code, out, _ = routh_command(
        "tip", LANDER, "--down", 1.5, "--sideways", 0.5, "--roll", 0.06, "--no-picture", "--json"
    )
    told = json.loads(out)
    assert code == 7
    assert told["verdict"] == "tilted"
    assert not told["go"]
    assert told["sentences"][0].startswith("TILTED: ")


def test_a_budget_that_runs_out_makes_the_answer_partial(routh_command):
    words = ("--down", 1.2, "--sideways", 0.4, "--no-picture", "--budget", 0.001)
    code, out, _ = routh_command("tip", LANDER, *words)
    assert code == 5
    assert out.startswith("PARTIAL: ")
    code, out, _ = routh_command("tip", LANDER, *words, "--json")
    told = json.loads(out)
    assert (told["go"], told["verdict"], told["headings"]) == (False, "partial", 1)


def test_too_few_solved_samples_are_no_go(routh_command, monkeypatch):
    from routh.base.status import Status
    from routh.sampling.sampler import draw as drawn

    def some(batch, n, drawing):
        found = drawn(batch, n, drawing)
        found.status[:, ::50] = Status.NUMERICAL
        return found

    monkeypatch.setattr(import_module("routh.robust.touchdowns"), "draw", some)
    code, out, _ = routh_command(
        "tip", LANDER, "--down", 1.2, "--sideways", 0.3, "--heading", 0, "--no-picture"
    )
    assert code == 5
    assert "PARTIAL: the worst outcome turns over" in out
    assert "only 97.7 % of the outcomes are solved." in out
    # what is proved holds for the others, too
    code, _, _ = routh_command(
        "tip", LANDER, "--down", 0.3, "--sideways", 0.1, "--heading", 0, "--no-picture"
    )
    assert code == 0


TWO = """<mujoco><worldbody><geom name="floor" type="plane" size="5 5 1"/>
  <body name="lower" pos="0 0 0.1"><freejoint/><geom name="lower" type="box" size="0.2 0.2 0.1"/></body>
  <body name="upper" pos="{}"><freejoint/><geom name="upper" type="box" size="0.1 0.1 0.1"/></body>
  </worldbody></mujoco>"""


def test_of_several_bodies_one_is_named(routh_command, tmp_path):
    stack, apart = tmp_path / "stack.xml", tmp_path / "apart.xml"
    stack.write_text(TWO.format("0 0 0.3"))
    apart.write_text(TWO.format("1 0 0.3"))
    for command in ("tip", "impact"):
        code, _, err = routh_command(command, stack, "--down", 1.0)
        assert code == 2
        assert "2 bodies can come down: lower, upper; wanted the one that does (--body)" in err
        code, _, err = routh_command(command, stack, "--down", 1.0, "--body", "lower")
        assert code == 2
        assert "upper lies on lower" in err
    code, _, err = routh_command("tip", stack, "--down", 1.0, "--body", "upper")
    assert code == 2
    assert "of which both move" in err
    code, _, err = routh_command("tip", stack, "--down", 1.0, "--body", "uper")
    assert code == 2
    assert "body: got 'uper'; wanted one of 'lower', 'upper'" in err
    code, out, _ = routh_command("impact", stack, "--down", 1.0, "--body", "upper", "--no-picture", "-n", 64)
    assert code == 0
    assert "upper was lowered by 0 m" in out
    code, out, _ = routh_command("tip", apart, "--down", 0.5, "--body", "upper", "--no-picture")
    assert code == 0
    assert "Of upper alone" in out


def test_how_wide_must_the_feet_be(routh_command):
    """The smallest span is a go when it is built, with yet other samples; a little less is none."""
    words = ("--down", 1.5, "--sideways", 0.8, "--heading", 0, "--no-picture", "--json", "--budget", 600)
    code, out, _ = routh_command("tip", LANDER, *words, "--smallest", "span=1:2")
    told = json.loads(out)
    assert code == 0
    assert told["verdict"] == "go"
    assert told["smallest"]["whole"]
    span = told["smallest"]["value"]
    assert 1.0 < span < 1.5

    import mujoco

    from routh.robust import tipping

    for share, tips in ((1.0, False), (0.93, True)):
        spec = mujoco.MjSpec.from_file(str(LANDER))
        for geom in spec.geoms:
            if "/" not in geom.name and geom.type == mujoco.mjtGeom.mjGEOM_SPHERE:
                geom.pos[:2] *= span * share
        import routh

        landing = routh.models.landing(spec.compile(), down=1.5, sideways=0.8)
        seeds = [tipping(landing.model, landing.qpos, landing.qvel, seed=seed) for seed in (7, 8)]
        assert any(one.can_tip for one in seeds) == tips


@pytest.mark.parametrize("text", ["span", "span=2:1", "span=0:1", "=1:2", "span=a:b"])
def test_a_range_that_is_none_is_refused(routh_command, text):
    code, _, err = routh_command("tip", LANDER, "--down", 1, "--smallest", text)
    assert code == 2
    assert "--smallest: got" in err


def test_a_joint_can_be_looked_for_and_too_little_time_is_said(routh_command):
    code, _, err = routh_command("tip", LANDER, "--down", 1, "--smallest", "knee=0:1")
    assert code == 2
    assert "joints: got 'knee'" in err
    words = ("--down", 1.5, "--sideways", 0.8, "--no-picture", "--budget", 0.001)
    code, out, _ = routh_command("tip", LANDER, "--smallest", "span=1:2", *words)
    assert code == 5
    assert out.startswith("PARTIAL: in the time of --budget no span up to 2 times")


def test_numbers_of_a_table_are_whole_in_a_pipe(routh_command, tmp_path):
    """Names are long: those of a humanoid's feet are."""
    long = tmp_path / "long.xml"
    long.write_text(LANDER.read_text().replace("front-left", "front_left_ankle_roll_link_collision_geometry"))
    _, out, _ = routh_command("tip", long, "--down", 1.0, "--sideways", 0.3, "--heading", 0, "--no-picture")
    table = out[out.index("edge ") :].splitlines()
    assert "worst ratio" in table[0]
    assert all("\u2026" not in line for line in table)
    assert all(len(line.split()) == 6 for line in table[1:5])


def test_what_was_used_is_said(routh_command):
    _, out, _ = routh_command("tip", LANDER, "--down", 0.4, "--no-picture")
    assert "Restitution 0.135 (from the contacts' springs), friction 0.8." in out
    text = LANDER.read_text()
    assert 'timestep="5e-4"' in text
    Path("coarse.xml").write_text(text.replace('timestep="5e-4"', 'timestep="2e-3"'))
    _, out, _ = routh_command("tip", "coarse.xml", "--down", 0.4, "--no-picture")
    assert "solref 2 ms is raised to 4 ms, twice the time step" in " ".join(out.split())


def test_hints_are_not_what_was_done_already(routh_command, tmp_path):
    far = tmp_path / "far.xml"
    far.write_text("""<mujoco><worldbody><geom name="floor" type="plane" size="5 5 1"/>
      <body name="a" pos="0 0 0.1"><freejoint/><geom name="a" type="box" size="0.1 0.1 0.1"/></body>
      <body name="b" pos="0.25 0 0.1"><freejoint/><geom name="b" type="box" size="0.1 0.1 0.1"/></body>
      </worldbody></mujoco>""")
    code, out, _ = routh_command("impact", far, "--qvel", "0:1.0", "--no-picture")
    assert code == 3
    assert "closes in 50 ms: --window 0.055 counts it." in " ".join(out.split())
    code, _, _ = routh_command("impact", far, "--qvel", "0:1.0", "--window", 0.055, "--no-picture", "-n", 16)
    assert code == 0
    belt = tmp_path / "belt.xml"
    belt.write_text("""<mujoco><worldbody><body name="belt"><joint type="slide" axis="1 0 0"/>
      <geom name="belt" type="box" size="2 2 0.1" pos="0 0 -0.1" mass="50"/></body>
      <body name="parcel" pos="0 0 0.3"><freejoint/><geom name="parcel" type="box" size="0.1 0.1 0.1"/></body>
      </worldbody></mujoco>""")
    code, _, err = routh_command("tip", belt, "--down", 1.0)
    assert code == 2
    assert "parcel and belt touch, of which both move" in err
    assert "Try" not in err


def test_a_touchdown_without_a_speed_says_what_to_type(routh_command):
    for words in ((), ("--sideways", 0.5), ("--drop", 1.5)):
        code, out, err = routh_command("tip", LANDER, *words)
        assert code == 2
        assert not out
        assert "type --down 1.5" in err.lower()
        assert "--height 0.3" in err
    code, _, err = routh_command("tip", LANDER, "--down", 1, "--speed", 0.5)
    assert code == 2
    assert "--speed: in which direction? Type --sideways 0.8" in err
    code, _, err = routh_command("run", "rocking-block", "--drop", 1)  # that lands nowhere
    assert code == 2
    assert "--height" not in err


def test_angles_are_typed_in_radians_or_degrees(routh_command):
    words = ("tip", LANDER, "--height", 0.02, "--sideways", 0.1, "--samples", 16, "--no-picture", "--json")
    told = []
    for roll, heading in (("2deg", "20deg"), (f"{math.radians(2)}rad", f"{math.radians(20)}")):
        _, out, _ = routh_command(*words, "--roll", roll, "--heading", heading)
        told.append(json.loads(out))
    assert told[0]["ratio"] == pytest.approx(told[1]["ratio"], rel=1e-6)
    assert told[0]["heading"] == pytest.approx(math.radians(20))
    code, _, err = routh_command(*words, "--roll", "2grad")
    assert code == 2
    assert "20deg" in err
