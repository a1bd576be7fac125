"""Pictures that a person understands at first sight: the rules that every one of them keeps."""

from itertools import combinations

import numpy as np
import pytest
from matplotlib.figure import Figure

import routh
from problems import colliding, random_problem
from readable import assert_all_can_be_read
from routh import systems
from routh.auditing.comparison import compare
from routh.base import features
from routh.models.robot import RobotContact, RobotProblem
from routh.viz import style, velocity
from routh.viz.bodies import draw_contacts
from routh.viz.constraints import oscillation_figure
from routh.viz.explain import two_feet_figure
from routh.viz.law_answers import answers, labelled_answers
from routh.viz.panels import Axis, contact_panel, panels_of_most_interest, spread, telling_panel
from routh.viz.plots import outcomes_figure, system_figure
from routh.viz.snapshots import snapshot_figure, state_figure
from routh.viz.velocity import cheap_exact

NOWHERE = np.full(3, np.nan), np.full((3, 3), np.nan)
PLANAR = ("rocking-block", "compass-gait", "box-wall", "ramone", "rimless-wheel", "pushing")


def leg(unit="rad"):
    """A foot on the ground and a knee at its limit, both reached at once."""
    M = np.array([[1.0, 0.1, 0.2], [0.1, 1.0, 0.3], [0.2, 0.3, 0.5]])
    plain = routh.ImpactProblem(
        M, [[0, 1, 0.4], [0, 0, 1.0]], [[1, 0, 0.2], [0, 0, 0]], [0.5, 0.0], [0.1, -1.0, -0.5],
        names=["foot/floor", "knee:lower"],
    )  # fmt: skip
    contacts = [
        RobotContact("foot/floor", "contact", "foot", "floor", 0.0, *NOWHERE),
        RobotContact("knee:lower", "joint-limit", "knee", "lower", 0.0, *NOWHERE, unit),
    ]
    return RobotProblem(plain, contacts, np.eye(3), plain.v)


def labels(fig):
    return [text.get_text() for text in fig.legends[0].get_texts()]


@pytest.mark.parametrize("unit", ["rad", "m"])
def test_limits_of_joints_have_their_unit_and_no_tangential_axis(unit):
    problem = leg(unit)
    outcomes = routh.sample(problem, 64)
    words = [ax.get_xlabel() for ax in outcomes.plot().axes] + [
        ax.get_ylabel() for ax in outcomes.plot().axes
    ]
    knee = [word for word in words if "knee:lower" in word]
    assert knee
    assert all(f"({unit}/s)" in word and "tangential" not in word for word in knee)
    foot = [word for word in words if "foot/floor" in word]
    assert all("(m/s)" in word for word in foot)
    assert Axis(1, "t") not in [
        axis for panel in panels_of_most_interest(problem, outcomes.v) for axis in panel
    ]
    assert Axis(1, "t") not in telling_panel(problem, outcomes.v)
    path = routh.laws.Simultaneous()(problem).plot().axes[0]
    assert "tangential velocity (m/s)" in path.get_xlabel()
    assert f"{unit}/s" in path.get_ylabel()


def test_a_limit_alone_is_drawn_against_the_energy():
    problem = leg()
    alone = problem.subset(["knee:lower"])
    assert isinstance(alone, RobotProblem)
    (axes,) = routh.sample(alone, 8).plot().axes
    assert axes.get_xlabel() == "knee:lower\noff its limit (rad/s)"
    assert axes.get_ylabel() == "kinetic energy (J)"


@pytest.mark.parametrize("name", [*PLANAR, "block-into-wall", "disk-stack"])
def test_the_panel_chosen_shows_most_of_the_set(name):
    outcomes = routh.sample(systems.get(name).problem, 256)
    problem, v = outcomes.problem, outcomes.v[outcomes.terminated]
    axes = [Axis(i, component) for i in range(problem.nc) for component in "nt"]
    shown = spread(problem, telling_panel(problem, v), v)
    assert shown == pytest.approx(max(spread(problem, pair, v) for pair in combinations(axes, 2)), rel=1e-6)
    drawn = outcomes.plot(style.figure(width=6.0)[1][0]).axes[0]  # one panel is this one
    x, y = telling_panel(
        problem, velocity.known(compare(outcomes, ways=False), cheap_exact(outcomes.problem))
    )
    assert [word.replace("$10^{-6}$ ", "") for word in (drawn.get_xlabel(), drawn.get_ylabel())] == [
        x.label(problem),
        y.label(problem),
    ]


def test_spread_counts_what_differs_and_not_where_it_is():
    problem = systems.get("rocking-block").problem
    rng = np.random.default_rng(0)
    v = rng.normal(size=(50, 3))
    whole = spread(problem, contact_panel(0), v)
    assert spread(problem, contact_panel(0), v + 7.0) == pytest.approx(whole)
    assert spread(problem, contact_panel(0), 2.0 * v) == pytest.approx(2.0 * whole)
    assert spread(problem, contact_panel(0), v[:1]) == 0.0


def test_ramone_is_one_triangle_and_its_resting_foot_needs_no_panel():
    (axes,) = routh.sample(systems.get("ramone").problem, 64).plot().axes
    assert axes.get_xlabel() == "B tangential velocity (m/s)"


def test_answers_that_agree_are_one_mark_with_both_names():
    shown = compare(routh.sample(systems.get("compass-gait").problem, 32), ways=False)
    found = answers(shown)
    assert len(shown.simultaneous) + len(shown.sequential) == 5
    assert len(found) == 3  # both sequences are one of the three simultaneous solutions
    entries = labels(velocity.velocity_figure(shown, view="ends"))
    assert "all at once = one at a time, A first" in entries
    assert "all at once (3 solutions)" in entries
    assert not any("B first" in entry for entry in entries)


def test_answers_that_differ_keep_their_marks():
    block = compare(routh.sample(systems.get("rocking-block").problem, 32), ways=False)
    assert len(answers(block)) == 3
    # a wall that is not reached before the floor is pushed: sequences are named by what really comes first
    box = compare(routh.sample(systems.get("box-wall").problem, 32), ways=False)
    assert "one at a time, B first" in labels(velocity.velocity_figure(box, view="ends"))


def test_every_mark_has_a_name_of_its_own():
    problem = systems.get("billiards-break").problem  # both orders begin with the cue ball, the rest differs
    marks = labelled_answers(compare(routh.sample(problem, 4), ways=False))
    names = [label for _, label, _ in marks]
    assert names[1:] == ["one at a time, cue-1 first", "one at a time, cue-1 first, the others backwards"]


def test_marks_at_one_place_of_a_panel_stand_side_by_side():
    shown = compare(routh.sample(systems.get("rocking-block").problem, 32), ways=False)
    (axes,) = velocity.velocity_figure(shown, [contact_panel(0)], view="ends").axes
    marks = {line.get_label(): line for line in axes.lines if line.get_marker() in ("s", "D")}
    rest, second = marks["all at once"], marks["one at a time, B first"]  # A is at rest after both
    assert rest.get_xydata() == pytest.approx(second.get_xydata(), abs=1e-9)
    apart = rest.get_transform().transform([0, 0]) - second.get_transform().transform([0, 0])
    assert np.abs(apart[0]) * 72 / axes.figure.dpi > 4.0
    first = marks["one at a time, A first"]
    assert first.get_transform().transform([0, 0]) == pytest.approx(axes.transData.transform([0, 0]))


def with_one_rare_sample():
    problem = systems.get("rocking-block").problem
    rest, rocking = np.zeros(3), np.array([0.093018, 0.046509, -0.093018])
    n = 4096
    v = np.tile(rest, (n, 1))
    v[1234] = 0.6 * rocking
    return routh.Outcomes(
        problem, v, np.zeros((n, 2, 2)), np.ones(n, np.int32), np.zeros(n, np.int8), np.zeros(n)
    )


def test_a_mode_of_one_sample_in_4096_is_drawn_on_top_and_can_be_seen():
    outcomes = with_one_rare_sample()
    fig = velocity.velocity_figure(compare(outcomes, ways=False), view="ends")
    (axes,) = fig.axes
    (rare,) = [line for line in axes.lines if line.get_label() == velocity.RARE_SAMPLES]
    # which of the two contacts has which axis is a tie
    assert np.sort(rare.get_xydata()) == pytest.approx(np.array([[0.0, 0.6 * 0.093018]]), abs=1e-6)
    assert rare.get_zorder() > max(image.get_zorder() for image in axes.images)
    assert rare.get_markersize() >= 2.0
    assert velocity.RARE_SAMPLES in labels(fig)
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(fig)
    canvas.draw()
    x, y = axes.transData.transform(rare.get_xydata()[0]).astype(int)
    pixel = np.asarray(canvas.buffer_rgba())[-y - 1, x, :3].astype(int)
    assert pixel.sum() < 300  # dark, on white


def test_the_exact_set_lies_below_the_samples_where_it_is_cheap():
    pytest.importorskip("ppl")
    for name in PLANAR:
        outcomes = routh.sample(systems.get(name).problem, 64)
        exact = cheap_exact(outcomes.problem)
        assert exact is not None, name
        assert exact.contains(outcomes.v, tolerance=1e-6).all()
        fig = outcomes_figure(outcomes)
        assert velocity.EXACT in labels(fig)
        for axes in fig.axes:
            below = [patch.get_zorder() for patch in axes.patches if patch.get_label() == velocity.EXACT]
            below += [line.get_zorder() for line in axes.lines if line.get_label() == velocity.EXACT]
            assert below
            assert max(below) < min(image.get_zorder() for image in axes.images)


@pytest.mark.parametrize("change", [{"restitution": 0.5}, {}])
def test_where_the_exact_set_is_dear_or_another_one_it_is_left_out(change):
    problem = systems.get("rocking-block").problem.replace(**change)
    if not change:
        problem = systems.get("disk-stack").problem
    assert cheap_exact(problem) is None


def figure_of(name):
    """The picture of `routh run NAME`."""
    system = systems.get(name)
    if system.kind == "motion":
        return state_figure(system)
    if system.problem.nc == 1:
        return features.feature("two_body.pictures").restitution_figure(system.problem)
    return system_figure(system, routh.sample(system.problem, 32))


@pytest.mark.parametrize("name", systems.names())
def test_the_picture_of_every_system_can_be_read(name):
    assert_all_can_be_read(figure_of(name))


@pytest.mark.parametrize(
    "name",
    [
        "rocking-block",
        "box-wall",
        "pushing",
        "compass-gait",
        "block-into-wall",
        "ramone",
        "disk-stack",
        "rimless-wheel",
    ],
)
def test_snapshots_can_be_read(name):
    assert_all_can_be_read(snapshot_figure(systems.get(name)))


def test_small_velocities_have_short_numbers_and_their_power_in_the_label():
    with style.context():
        fig, (ax,) = style.figure()
        ax.plot([0, 2e-7], [0, 3e4])
        ax.set_xlabel("A normal velocity (m/s)")
        ax.set_ylabel("plain")
        style.plain_ticks(ax)
        fig.draw_without_rendering()
    assert ax.get_xlabel() == "A normal velocity ($10^{-9}$ m/s)"
    numbers = [tick.get_text() for tick in ax.get_xticklabels()]
    assert max(len(number) for number in numbers) <= 4
    assert not ax.xaxis.get_offset_text().get_text()


def test_an_answer_outside_the_exact_set_says_so():
    pytest.importorskip("ppl")
    problem = systems.impact("block-into-wall")  # contact by contact by HP23 (31): friction where each ends
    exact = routh.exact_set(problem)
    shown = compare(routh.sample(problem, 64, seed=0), ways=False)
    labels = {label for _, label, _ in labelled_answers(shown, exact.inner)}
    assert labels == {"all at once", "one at a time, C first (outside the set)", "one at a time, D first"}
    followed = routh.laws.Sequential(order=problem.names, rule="routh")(problem)  # friction on all the way
    assert exact.contains(followed.v, which="inner")


def test_algorithm_1_is_named_where_its_steps_are_drawn():
    block = systems.impact("rocking-block")
    texts = {}
    for method, made in (("events", routh.sample), ("algorithm1", routh.sampling.sample_by_steps)):
        figure = made(block, 32, seed=0).plot()
        texts[method] = {text.get_text() for text in figure.legends[0].get_texts()}
    drawn = {velocity.SAMPLES, velocity.STEPPED}
    assert drawn & texts["events"] == {velocity.SAMPLES}
    assert drawn & texts["algorithm1"] == {velocity.STEPPED}


def test_the_legend_of_two_feet_names_each_thing_once():
    wheel = systems.impact("rimless-wheel")
    figure = two_feet_figure(wheel, routh.sample(wheel, 32, seed=0).v)
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert velocity.APPROACH in texts
    assert len(texts) == len(set(texts))


def test_a_contact_s_name_does_not_stand_on_its_arrow():
    stack = systems.get("disk-stack")
    figure = Figure(figsize=(2.0, 2.0), dpi=200)
    axes = figure.subplots()
    axes.set(xlim=(-2.5, 2.5), ylim=(-1.0, 4.0))
    draw_contacts(axes, stack.model, stack.state, scale=1.0)
    figure.draw_without_rendering()
    names = [text.get_window_extent() for text in axes.texts if text.get_text()]
    arrows = [text.arrow_patch.get_window_extent() for text in axes.texts if not text.get_text()]
    assert (len(names), len(arrows)) == (5, 2)
    assert not any(arrow.overlaps(name) for arrow in arrows for name in names)


def test_no_power_of_ten_stands_over_an_axis():
    t = np.linspace(0.0, 0.01, 20)
    figure = oscillation_figure([("grows", [("", t, 6e10 * t)])])
    figure.draw_without_rendering()
    axes = figure.axes[0]
    assert axes.yaxis.get_offset_text().get_text() == ""
    assert axes.get_ylabel() == "displacement ($10^{6}$ m)"


def test_a_picture_of_some_contacts_says_so():
    problem = colliding(random_problem(np.random.default_rng(3), nt=1, nc=8, nv=9, mu=0.5))
    assert routh.sample(problem, 100, seed=0).plot().get_suptitle().startswith("6 of 8 contacts")
    assert routh.sample(systems.get("disk-stack").problem, 100, seed=0).plot().get_suptitle() == ""
