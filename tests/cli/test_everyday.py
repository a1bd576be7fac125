"""What people bring to ``routh tip`` first: drones on legs, parcels, an edge, a belt, several bodies."""

import math

import pytest

pytest.importorskip("mujoco")

HEAD = (
    '<mujoco><default><geom friction="0.5 0.005 0.0001" solref="0.004 1"/></default><worldbody>'
    '<geom name="floor" type="plane" size="5 5 1" euler="0 {slope} 0"/>{more}</worldbody></mujoco>'
)
BOX = (
    '<body name="{name}" pos="{pos}"><freejoint/>'
    '<geom name="{name}" type="box" size="{size}" mass="4"/></body>'
)
BELT = (
    '<body name="belt"><joint type="slide" axis="1 0 0"/>'
    '<geom type="box" size="2 .4 .05" mass="{mass}"/></body>'
)
LIP = '<geom name="lip" type="box" size="0.3 0.5 0.1" pos="-0.3 0 0.1"/>'


def drone(legs, slope=0.0):
    """A hull on stiff legs that end in balls."""
    turns = [2.0 * math.pi * (i + 0.5) / legs for i in range(legs)]
    feet = "".join(
        f'<geom name="foot{i}" size="0.025" mass="0.03" '
        f'pos="{0.3 * math.cos(a)} {0.3 * math.sin(a)} -0.425"/>'
        for i, a in enumerate(turns)
    )
    hull = '<geom name="hull" type="box" size="0.15 0.15 0.06" mass="6"/>'
    body = f'<body name="hull" pos="0 0 0.65"><freejoint/>{hull}{feet}</body>'
    return HEAD.format(slope=slope, more=body)


def scene(*bodies, more=""):
    """Boxes on a floor."""
    made = "".join(BOX.format(name=name, pos=pos, size=size) for name, pos, size in bodies)
    return HEAD.format(slope=0, more=more + made)


def on_a_belt(mass):
    """A parcel above a belt, and no floor."""
    text = scene(("parcel", "0 0 .35", ".1 .1 .25"), more=BELT.format(mass=mass))
    return text.replace('<geom name="floor" type="plane" size="5 5 1" euler="0 0 0"/>', "")


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        (drone(4), 0, "proved: there is not enough energy"),
        (drone(6), 0, "proved: there is not enough energy"),
        (drone(4, slope=2), 7, "TILTED: "),
        (drone(4, slope=10), 7, "TILTED: "),
        (scene(("parcel", "0 0 .3", ".2 .15 .1")), 0, "GO: "),
        (scene(("parcel", "0 0 .4", ".1 .1 .25")), 0, "GO: "),
        (scene(("parcel", "0 0 .31", ".2 .15 .1"), more=LIP), 4, "NO-GO: it cannot stand there"),
        (on_a_belt(1), 2, "parcel and belt touch, of which both move"),
        (on_a_belt(50000), 2, "parcel and belt touch, of which both move"),
        (scene(("a", "-.3 0 .1", ".2 .2 .1"), ("b", ".2 0 .1", ".2 .2 .1")), 2, "2 bodies can come down"),
    ],
)  # fmt: skip
def test_the_first_thing_that_people_bring_has_its_answer(routh_command, tmp_path, text, code, words):
    file = tmp_path / "body.xml"
    file.write_text(text)
    ended, out, err = routh_command("tip", file, "--down", 0.5, "--sideways", 0.2, "--no-picture")
    assert (ended, words in " ".join((out + err).split())) == (code, True), out + err
    assert " inf " not in out.partition("\n")[0]


def test_a_drone_that_rocks_on_a_slope_comes_to_rest_in_every_landing(routh_command, tmp_path):
    """Steps that Newton's method does not settle are taken in halves."""
    file = tmp_path / "drone.xml"
    file.write_text(drone(4, slope=8).replace("0.5 0.005", "0.7 0.005").replace("0.004 1", "0.002 1"))
    code, out, err = routh_command("land", file, "--down", 0.5, "-n", 60, "--no-picture")
    assert code == 0, out + err
    assert out.startswith("tips in 0 % of 60 landings")
    assert "not solved" not in out
