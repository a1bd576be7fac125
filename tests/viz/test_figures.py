import numpy as np
import pytest

import routh
from routh import systems
from routh.auditing import comparison
from routh.auditing.comparison import compare, intermediate_velocities, sequences
from routh.base.text import for_matplotlib
from routh.exact import build
from routh.viz import plots, style, velocity
from routh.viz.density import FAINTEST, density_image, limits
from routh.viz.panels import Axis, contact_panel, normal_panel, panels_of_most_interest
from routh.viz.snapshots import futures_figure, snapshot_figure, state_figure
from routh.viz.velocity import velocity_figure

BLOCK = systems.get("rocking-block")


@pytest.fixture(scope="module")
def outcomes():
    return routh.sampling.sample_by_steps(BLOCK.problem, 60, step=0.3, seed=3)


def labels(fig):
    return [text.get_text() for text in fig.legends[0].get_texts()]


def test_density_keeps_every_point_and_draws_nothing_else():
    x = np.array([0.1, 0.1, 0.9])
    y = np.array([0.2, 0.2, 0.8])
    image = density_image(x, y, (0.0, 1.0, 0.0, 1.0), (10, 10), 0)
    rows, columns = np.nonzero(np.isfinite(image))
    assert sorted(zip(rows.tolist(), columns.tolist(), strict=True)) == [(2, 1), (8, 9)]
    assert image[2, 1] == 1.0
    assert FAINTEST < image[8, 9] < 1.0
    spread = density_image(x, y, (0.0, 1.0, 0.0, 1.0), (10, 10), 1)
    assert np.isfinite(spread).sum() > np.isfinite(image).sum()
    disc = np.isfinite(density_image(x[:1], y[:1], (-0.6, 0.8, -0.6, 1.0), (7, 7), 3))
    assert disc.sum(axis=0).tolist() == disc.sum(axis=1).tolist() == [3, 5, 7, 7, 7, 5, 3]


def test_the_next_picture_of_an_impact_asks_no_law_again(monkeypatch):
    samples = routh.sample(BLOCK.problem, 16)
    samples.plot()
    for room, name in (
        (comparison, "simultaneous_solutions"),
        (comparison, "sequences"),
        (build, "whole_set"),
    ):
        monkeypatch.setattr(room, name, lambda *_, **__: pytest.fail("computed twice"))
    assert plots.thumbnail(samples)
    assert routh.sample(BLOCK.problem, 16, seed=1).plot()


def test_cells_found_in_blocks_count_as_many_points_as_a_histogram():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=20_000), rng.random(20_000)
    edges = np.linspace(-3.0, 3.0, 43), np.linspace(-0.1, 0.8, 31)
    counts = np.histogram2d(x, y, edges)[0].T
    image = density_image(x, y, (-3.0, 3.0, -0.1, 0.8), (30, 42), 0)
    shades = FAINTEST + (1.0 - FAINTEST) * np.log1p(counts) / np.log1p(counts.max())
    np.testing.assert_allclose(image, np.where(counts > 0, shades, np.nan), rtol=1e-12)


def test_density_of_nothing_is_empty():
    assert not np.isfinite(density_image(np.empty(0), np.empty(0), (0, 1, 0, 1), (4, 4), 2)).any()


def test_limits_hold_all_values_and_zero_and_never_collapse():
    low, high = limits(np.array([1.0, 3.0]))
    assert low < 0.0
    assert high > 3.0
    assert limits(np.zeros(3)) == (-1.0, 1.0)
    assert limits(np.array([1e-17]), smallest=0.5) == pytest.approx((-0.5, 0.5))


def test_intermediate_velocities_lie_on_the_way(outcomes):
    way = intermediate_velocities(outcomes)
    assert len(way) == outcomes.steps.sum()
    energies = BLOCK.problem.kinetic_energy(way)
    assert energies.max() <= BLOCK.problem.kinetic_energy() * (1 + 1e-12)


def test_sequences_are_those_of_the_sequential_law():
    first, second = sequences(BLOCK.problem).values()
    assert first.v == pytest.approx([0.093018, 0.046509, -0.093018], abs=1e-6)
    assert second.v == pytest.approx([-0.093018, 0.046509, 0.093018], abs=1e-6)


def test_the_figure_shows_each_law_once(outcomes):
    shown = compare(outcomes)
    fig = velocity_figure(shown)
    assert labels(fig) == [
        velocity.WAY,
        velocity.STEPPED,
        "all at once",
        "one at a time, A first",
        "one at a time, B first",
        "before",
        velocity.APPROACH,
    ]
    (middle,) = fig.axes  # neither foot ever slips, so its own panel has nothing to add
    assert middle.get_xlabel() == "A normal velocity (m/s)"
    assert middle.get_ylabel() == "B normal velocity (m/s)"
    ends = [line.get_xydata()[-1] for line in middle.lines if line.get_marker() == "s"]
    assert np.allclose(sorted(map(tuple, ends)), [(0.0, 0.093018), (0.093018, 0.0)], atol=1e-6)


def test_samples_with_restitution_stand_alone():
    bouncy = BLOCK.problem.replace(restitution=0.3)
    outcomes = routh.sample(bouncy, 4, hypothesis="poisson")
    shown = compare(outcomes)
    assert (shown.simultaneous, shown.sequential) == ((), {})
    assert not np.array_equal(shown.intermediate, compare(routh.sample(bouncy, 4)).intermediate)
    assert labels(outcomes.plot()) == [velocity.SAMPLES, velocity.APPROACH]


def test_everything_that_is_drawn_is_inside_the_panels(outcomes):
    for ax in velocity_figure(compare(outcomes)).axes:
        (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
        points = np.concatenate(
            [line.get_xydata() for line in ax.lines if line.get_marker() not in ("", "None")]
        )
        assert np.all((points[:, 0] > left) & (points[:, 0] < right))
        assert np.all((points[:, 1] > bottom) & (points[:, 1] < top))


def test_plot_returns_a_figure_that_can_be_saved(outcomes, tmp_path):
    fig = outcomes.plot()
    assert "before" not in labels(fig)  # it is outside of the view
    assert "before" in labels(outcomes.plot(view="way"))
    assert style.save(fig, tmp_path / "set.png").stat().st_size > 10_000


def test_plot_of_a_spatial_problem_uses_tangential_speeds():
    rng = np.random.default_rng(0)
    J = rng.normal(size=(3, 6))
    problem = routh.ImpactProblem(np.eye(6), J[:1], J[None, 1:], 0.5, -J[0])
    fig = routh.sample(problem, 4).plot()
    assert fig.axes[0].get_xlabel() == "contact-0\ntangential speed (m/s)"
    speeds = Axis(0, "t").values(problem, problem.v)
    assert speeds == pytest.approx(np.linalg.norm(J[1:] @ problem.v))


def test_many_contacts_are_reduced_to_those_that_vary_most():
    nc = 9
    problem = routh.ImpactProblem(np.eye(nc), np.eye(nc), np.zeros((nc, 1, nc)), 0.0, -np.arange(1.0, nc + 1))
    outcomes = routh.sample(problem, 2)
    moved = np.diag(np.arange(nc, dtype=float))[:, :]
    outcomes = routh.Outcomes(
        problem, moved, np.zeros((nc, nc, 2)), np.ones(nc), np.zeros(nc, np.int8), np.zeros(nc)
    )
    panels = panels_of_most_interest(problem, outcomes.v)
    assert {axis.contact for panel in panels for axis in panel} == set(range(nc))  # no tangents: in pairs
    assert all(axis.component == "n" for panel in panels for axis in panel)
    slipping = problem.replace(Jt=np.eye(nc)[:, None])
    assert [panel[0].contact for panel in panels_of_most_interest(slipping, outcomes.v)] == [3, 4, 5, 6, 7, 8]


def test_futures_show_where_the_centres_of_mass_go(outcomes):
    fig = futures_figure(BLOCK, outcomes, after=0.5)
    assert "500 ms later" in labels(fig)[0]
    maps = BLOCK.model.centre_jacobians(BLOCK.state.q)
    assert maps == pytest.approx(np.eye(2, 3)[None], abs=1e-9)  # the centre moves with x and y alone


def test_plot_says_when_there_is_no_set(outcomes):
    stuck = routh.sampling.sample_by_steps(BLOCK.problem, 2, step=1e-3, max_steps=1)
    with pytest.raises(ValueError, match="no sample is solved"):
        stuck.plot()


def test_snapshots_show_before_and_each_distinct_outcome():
    fig = snapshot_figure(BLOCK)
    titles = [ax.get_title(loc="left") for ax in fig.axes]
    assert titles == ["(a)  before", "(b)  all at once", "(c)  A first", "(d)  B first"]
    wall = [ax.get_title(loc="left") for ax in snapshot_figure(systems.get("box-wall")).axes]
    assert wall[2:] == ["(c)  B first"]  # A slides along the floor, it does not approach
    said = [ax.texts[-1].get_text() for ax in fig.axes[1:]]
    assert said == ["A sticks · B sticks", "A separates · B sticks", "A sticks · B separates"]
    compass = snapshot_figure(systems.get("compass-gait"))
    assert len(compass.axes) == 4  # three simultaneous solutions; both sequences equal one of them


@pytest.mark.parametrize("name", [n for n in systems.names() if systems.get(n).kind == "motion"])
def test_first_states_of_motions_can_be_drawn(name):
    system = systems.get(name)
    axes = state_figure(system).axes[0]
    assert axes.get_title(loc="left") == name
    assert axes.patches or axes.lines
    assert system.summary.split()[0] in axes.texts[-1].get_text()


def test_a_box_in_space_shows_three_faces_over_its_ground():
    system = systems.get("box-drop")
    axes = state_figure(system).axes[0]
    assert len(axes.patches) == 1 + 3
    with pytest.raises(ValueError, match="planar"):
        snapshot_figure(system)


def test_long_names_of_contacts_become_titles():
    box = systems.get("box-drop").problem
    names = tuple(f"crate/floor#{i}" for i in range(box.nc))
    figure = routh.sample(box.replace(names=names), 8).plot()
    assert {ax.get_xlabel() for ax in figure.axes if ax.get_visible()} == {"tangential speed (m/s)"}
    assert figure.axes[0].get_title(loc="left").endswith("crate/floor#0")


@pytest.mark.parametrize("bad", [(np.nan, 0.5), (0.5, np.nan), (np.inf, 0.5), (0.5, -np.inf)])
def test_points_that_are_nowhere_are_not_drawn(bad):
    points = np.array([(0.1, 0.1), bad])
    image = density_image(*points.T, (0.0, 1.0, 0.0, 1.0), (10, 10), 0)
    assert np.isfinite(image).sum() == 1


@pytest.mark.parametrize("names", [["$\\frac{$", "_hidden"], ["a$b", "c$d"], ["\x1b[31m", "x\ny"]])
def test_names_that_matplotlib_would_obey_are_drawn(names):
    shown = compare(routh.sample(systems.get("rocking-block").problem.replace(names=names), 8), ways=False)
    fig, axes = style.figure(1, 2, width=style.TWO_COLUMNS)
    for ax, panel in zip(axes, (contact_panel(0), normal_panel(0, 1)), strict=True):
        velocity.prepare(ax, shown, panel)
        velocity.draw_velocities(ax, shown, panel)
        ax.legend()
    assert style.png(fig, dpi=40)
    words = axes[0].get_title() + axes[0].get_xlabel()  # a long name stands above, not at the axis
    assert for_matplotlib(names[0]) in words
    assert "\x1b" not in words
