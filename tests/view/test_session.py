"""What the viewer computes and draws, without a browser."""

import subprocess
import sys
import threading
import time

import numpy as np
import pytest

pytest.importorskip("viser")
pytest.importorskip("mujoco")

import routh
from routh.view import guard, panels, show
from routh.view.mechanism import bar, prism
from routh.view.planar import PlanarMechanism
from routh.view.robot import RobotMechanism

CRATE = """<mujoco><worldbody><geom name="floor" type="plane" size="5 5 1"/>
  <body pos="0 0 1"><freejoint/><geom name="&lt;b&gt;box" type="box" size="0.2 0.3 0.1"/>
    <body pos="0 0 0.1"><joint name="arm" type="hinge" axis="0 1 0" range="-90 90" limited="true"/>
      <geom name="arm" type="capsule" size="0.03" fromto="0 0 0 0 0 0.3"/></body></body>
</worldbody></mujoco>"""


def crate():
    import mujoco

    return mujoco.MjModel.from_xml_string(CRATE)


def until(condition, seconds=600.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


class Listening(threading.Event):
    """What wakes a session's worker, which also tells whether it waits for something to do."""

    idle = False

    def wait(self, timeout=None):
        self.idle = timeout is None
        woken = super().wait(timeout)
        self.idle = False
        return woken


def settled(session):
    """Wait until the worker has nothing more to do."""
    session._wake.__class__ = Listening
    session._wake.set()
    until(lambda: session._wake.idle and not session._wake.is_set())
    return session


@pytest.fixture(scope="module")
def block():
    with show("rocking-block", ghosts=4) as viewer:
        until(lambda: viewer.session.updates > 0)
        yield viewer


def test_a_prism_is_closed_and_has_the_area_of_its_outline():
    trimesh = pytest.importorskip("trimesh")
    outline = np.array([[0.0, 0], [2, 0], [2, 1], [0, 1], [0, 0]])
    mesh = trimesh.Trimesh(*prism(outline, 0.5))
    assert mesh.is_watertight
    assert abs(mesh.volume) == pytest.approx(1.0)
    assert bar(np.array([[0.0, 0], [3, 0]]), 0.2).shape == (5, 2)


def test_planar_bodies_stand_where_the_model_has_them():
    mechanism = PlanarMechanism("rocking-block")
    placed = mechanism.place({c.name: c.value for c in mechanism.controls})
    positions, turns = mechanism.poses(placed.q[None])
    system = routh.systems.get("rocking-block")
    ((_, outline),) = system.model.outlines(placed.q)[:1]
    w, _, y, _ = turns[0, 0]
    angle = -2.0 * np.arctan2(y, w)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    corners = mechanism.parts[0].vertices[:4][:, [0, 2]] @ turn.T + positions[0, 0, [0, 2]]
    np.testing.assert_allclose(corners, outline[:4], atol=1e-12)
    np.testing.assert_allclose(
        placed.points[:, [0, 2]], system.model.contact_points(placed.q)[:2], atol=1e-12
    )


def test_a_robots_parts_and_outcomes_move_with_it():
    mechanism = RobotMechanism(crate(), start={"down": 2.0, "arm": 0.5})
    values = {c.name: c.value for c in mechanism.controls}
    assert values["down"] == 2.0
    placed = mechanism.place(values)
    assert placed.problem.nc == 4
    later = mechanism.advance(placed.q[None], np.zeros((1, 7)), 0.1)
    np.testing.assert_array_equal(later[0], placed.q)
    fallen = mechanism.advance(placed.q[None], placed.problem.qvel[None], 0.1)
    moved = mechanism.poses(fallen)[0] - mechanism.poses(placed.q[None])[0]
    np.testing.assert_allclose(moved[0], np.tile([0.0, 0.0, -0.2], (2, 1)), atol=1e-12)
    assert set(mechanism.others(placed, 0.05)) == {"MuJoCo"}
    assert mechanism.command({**values, "arm": 0.25}) == "routh view robot --down 2 --joint arm=0.25"


def test_dragging_a_slider_moves_the_ghosts(block):
    session = settled(block.session)
    positions = np.array(session.scene._ghosts[0].batched_positions)
    before = session.updates
    session.panel.set("speed", 1.2)
    until(lambda: session.updates > before and session.shown.placed.problem.v[1] == pytest.approx(-1.2))
    settled(session)  # the worker draws: handles are looked at when it rests
    assert not np.array_equal(positions, session.scene._ghosts[0].batched_positions)
    assert "--set speed=1.2" in session.panel._command.value


def test_sliders_span_a_part_of_their_range_and_typed_values_take_them_along(block):
    session = settled(block.session)
    panel = session.panel
    panel._reach.value = "a hundredth"
    speed = panel.values()["speed"]
    low, high = panel.span("speed")
    whole = panel._controls["speed"]
    assert low < speed < high
    assert high - low == pytest.approx(0.01 * (whole.high - whole.low), rel=0.02)
    panel.set("speed", 1.0)  # beyond the slider's ends, as one types it
    low, high = panel.span("speed")
    assert low < 1.0 < high
    assert high - low == pytest.approx(0.01 * (whole.high - whole.low), rel=0.02)
    panel.set("speed", 1e6)
    assert panel.values()["speed"] == whole.high == panel.span("speed")[1]
    panel.start_from(None)
    assert panel.values() == {control.name: control.value for control in session.mechanism.controls}
    panel._reach.value = "their whole range"
    assert panel.span("mu") == (0.0, 3.0)


def test_the_board_shows_what_differs_most_until_something_is_chosen(block):
    session = settled(block.session)
    shown, panel = session.shown, session.panel
    names = panels.axis_names(shown.placed)
    assert names == ["A, normal", "A, tangent", "B, normal", "B, tangent"]
    assert [names[k] for k in session.axes] == ["A, normal", "B, normal"]  # both feet stick or lift
    assert panels.widest_pair(shown, (None, 1), (0, 0))[1] == 1
    assert panels.widest_pair(shown, (3, 3), (0, 2)) == (3, 3)
    panel._across.value = "B, tangent"
    before = session.updates
    session.touch()
    until(lambda: session.updates > before)
    assert settled(session).axes[0] == 3
    assert session.board._labels[0].text.startswith("B, tangent: ")
    panel._across.value = panels.WIDEST
    assert settled(session)


def test_the_panel_tells_the_ambiguity_and_filters_by_mode(block):
    session = block.session
    assert f"{session.shown.outcomes.ambiguity:.3g}" in session.panel._table.content
    mode = session.shown.modes[-1]
    before = session.updates
    session.panel._mode.value = mode
    until(lambda: session.updates > before)
    session.panel._mode.value = "all modes"


def test_a_click_on_the_board_shows_one_ghost_and_plays_its_path(block):
    session = settled(block.session)
    session.pick(3)
    assert session.picked == int(session.shown.ended[3])
    assert session.scene._ghost_colors.shape[0] == 1


def test_the_impulse_path_of_a_clicked_sample_is_drawn_to_its_end(block, monkeypatch):
    """The dot goes from where the velocity begins to where it ends, the arrows grow to the impulses."""
    session = settled(block.session)
    dots, arrows, scene = [], [], session.scene
    draw_dot, draw_arrows = scene._scene.add_icosphere, scene._arrows

    def dot(name, **options):
        dots.append(options["position"])
        return draw_dot(name, **options)

    def grown(name, ends, color):
        arrows.append(ends)
        return draw_arrows(name, ends, color)

    monkeypatch.setattr(scene._scene, "add_icosphere", dot)
    monkeypatch.setattr(scene, "_arrows", grown)
    session.pick(5)
    shown, index = session.shown, session.picked
    problem, placed = shown.placed.problem, shown.placed
    rows = session._contact_rows(shown)
    ends = session.board.places(np.array([problem.v, shown.outcomes.v[index]]) @ rows.T)
    assert len(dots) == len(arrows) == 30
    np.testing.assert_allclose([dots[0], dots[-1]], ends, atol=1e-6)
    lengths = np.linalg.norm(arrows[-1][:, 1] - arrows[-1][:, 0], axis=1)
    assert not np.any(arrows[0][:, 1] - arrows[0][:, 0])  # nothing yet
    impulse = np.linalg.norm(shown.outcomes.impulse[index], axis=1)
    np.testing.assert_allclose(lengths / lengths.max(), impulse / impulse.max(), atol=1e-6)
    np.testing.assert_allclose(arrows[-1][:, 0], placed.points, atol=1e-6)


def test_extreme_outcomes(block):
    session, actions = settled(block.session), block.session.actions
    actions._along.value = "A, normal"
    index = actions.extreme()
    normal = session.shown.placed.problem.contact_velocity(session.shown.outcomes.v)[:, 0, 0]
    assert normal[index] == normal[session.shown.ended].max()


def test_single_answers_stand_beside_the_set(block):
    session = block.session
    before = session.updates
    session.panel._laws.value = True
    until(lambda: session.updates > before)
    assert len(session.scene._other) > 0
    session.panel._laws.value = False


def test_a_heat_map_over_two_controls(block, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr("routh.view.actions.HEAT", 3)
    actions = block.session.actions
    actions._first.value, actions._second.value = "mu", "speed"
    block.session.panel._reach.value = "a tenth of it"
    found = actions.heat_map()
    block.session.panel._reach.value = "their whole range"
    assert found.shape == (3, 3)
    assert np.all(found > 0.0)


def test_futures_follow_the_time_slider(block, monkeypatch):
    monkeypatch.setattr("routh.view.actions.FUTURES", 2)
    monkeypatch.setattr("routh.view.actions.DURATION", 0.05)
    actions = settled(block.session).actions
    bundle = actions.futures()
    assert len(bundle) == 2
    actions._time.value = 0.02
    actions.show_time()
    assert block.session.scene._ghost_colors.shape[0] == 2


def test_the_extreme_outcome_of_any_direction(block):
    session, actions = settled(block.session), block.session.actions
    actions._direction.value = "0 0 1"
    index = actions.extreme()
    shown = session.shown
    assert shown.outcomes.v[index, 2] == shown.outcomes.v[shown.ended, 2].max()
    actions._direction.value = "0 1"
    assert actions.extreme() is None
    assert "wanted 3 numbers" in session.panel._message.content
    actions._direction.value = ""


POSTURES = (
    """<keyframe><key name="high" qpos="0 0 2 1 0 0 0 0.2"/><key qpos="0 0 1 0.8 0.6 0 0 -0.4"/></keyframe>"""
)


def test_keyframes_are_postures_to_start_from_and_contacts_have_the_names_of_bodies():
    import mujoco

    text = CRATE.replace("</mujoco>", f"{POSTURES}</mujoco>").replace(
        '<body pos="0 0 1">', '<body name="crate" pos="0 0 1">'
    )
    mechanism = RobotMechanism(mujoco.MjModel.from_xml_string(text), start={"down": 2.0, "arm": 0.5})
    first = {control.name: control.value for control in mechanism.controls}
    assert mechanism.keyframes == ("high", "1")
    assert mechanism.start_from("high") == {"roll": 0.0, "pitch": 0.0, "yaw": 0.0, "arm": 0.2}
    assert mechanism.command({**first, "arm": 0.2}) == "routh view robot --keyframe high --down 2"
    placed = mechanism.place({**first, **mechanism.start_from("1")})
    assert placed.q[4] == pytest.approx(0.6)
    assert placed.names == ["crate 1", "crate 2"]
    assert mechanism.start_from(None) == first
    level = mechanism.place(first)
    assert level.q[4] == 0.0
    assert set(level.bodies) == {"crate"}


def test_futures_of_a_robot_begin_at_the_touch():
    mechanism = RobotMechanism(crate(), start={"down": 1.0})
    placed = mechanism.place({c.name: c.value for c in mechanism.controls})
    quick = mechanism.futures(placed, 3, 0.04, 0, False)
    assert len(quick) == 3
    np.testing.assert_array_equal(quick.at(0.0)[0], np.tile(placed.q, (3, 1)))
    assert np.all(np.ptp(quick.at(0.04)[0], axis=0) < 1.0)
    rigid = mechanism.futures(placed, 2, 0.01, 0, True)
    np.testing.assert_allclose(rigid.at(0.0)[0], np.tile(placed.q, (2, 1)), atol=1e-9)
    assert rigid.ok


def test_fewer_outcomes_are_drawn_while_they_are_slow(block):
    session = settled(block.session)
    session._each = 1e-2
    assert session.draft() == session.panel.ghosts()
    session._each = 1e-7
    assert session.draft() == 512


def test_no_state_keeps_the_next_drag_waiting(block, monkeypatch):
    session = settled(block.session)
    monkeypatch.setattr(session, "_each", 0.02)
    assert session.whole() == 100  # in two seconds
    monkeypatch.setattr(session, "_each", 1e-5)
    assert session.whole() == 512


def test_the_scene_is_saved_as_one_page_that_loads_nothing(block, tmp_path):
    page = block.save(tmp_path / "scene.html").read_text()
    assert "__VISER_EMBED_DATA__" in page
    assert 'src="http' not in page


def test_a_state_without_an_impact_is_told_and_names_are_text():
    with show(crate(), state={"down": 1.0}, ghosts=2) as viewer:
        session = viewer.session
        until(lambda: session.updates > 0)
        assert "<b>" not in session.panel._table.content.replace("<b>ambiguity", "")
        session.mechanism.place = lambda values: (_ for _ in ()).throw(ValueError("<i>nothing</i>"))
        session.refresh()
        assert "&lt;i&gt;nothing" in session.panel._message.content


def test_what_cannot_be_shown_is_refused_before_a_port_is_opened():
    with pytest.raises(ValueError, match="what: got int"):
        show(3)
    with pytest.raises(ValueError, match=r"got 'rockin-block'\. Did you mean 'rocking-block'"):
        show("rockin-block")
    assert guard.LOOPBACK == "127.0.0.1"


def test_a_notebook_gets_a_frame_whose_page_is_served(block):
    import re
    import urllib.request

    address = re.search('src="([^"]+)"', block._repr_html_()).group(1)
    with urllib.request.urlopen(address, timeout=600) as answer:
        assert answer.status == 200
        assert b"<html" in answer.read(200_000).lower()
        assert answer.headers.get("X-Frame-Options") is None


FIRST_STATE = """
import logging, time
from routh.view import panels, show
drawn = []
outlines = panels.exact_outlines
panels.exact_outlines = lambda *given: drawn.append(outlines(*given)) or drawn[-1]
with show("rocking-block", ghosts=2) as viewer:
    until = time.monotonic() + 600.0
    while not viewer.session.updates and time.monotonic() < until:
        time.sleep(0.02)
    print(viewer.session.updates > 0, len(drawn[0]))
"""


def test_the_first_state_of_a_process_is_shown_with_its_exact_set():
    """The viewer's worker is a thread: what it needs first, in the whole process, has to load there."""
    pytest.importorskip("ppl")
    told = subprocess.run([sys.executable, "-c", FIRST_STATE], capture_output=True, text=True)
    assert told.stdout.split() == ["True", "2"], told.stderr
