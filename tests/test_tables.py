"""Results for other people's tools: pandas, xarray, notebooks."""

import numpy as np
import pytest

import routh
from routh.auditing.scans import scan
from routh.base.results import html_view

xarray = pytest.importorskip("xarray")
pytest.importorskip("pandas")


def block(**options):
    return routh.systems.get("rocking-block", **options)


def futures():
    system = block()
    return routh.simulate_many(system.model, system.state, n=3, duration=0.05)


def test_outcomes_with_named_dimensions_and_units():
    outcomes = routh.sample(block().problem, 8)
    table = outcomes.to_xarray()
    assert table["impulse"].dims == ("sample", "contact", "direction")
    assert table["impulse"].attrs["units"] == "N s"
    np.testing.assert_array_equal(table["v"].values, outcomes.v)
    heel = table["contact_velocity"].sel(contact="A", direction="normal")
    np.testing.assert_array_equal(heel.values, outcomes.contact_velocity[:, 0, 0])
    frame = outcomes.to_pandas()
    assert len(frame) == 8
    np.testing.assert_array_equal(frame["impulse[B, tangential]"], outcomes.impulse[:, 1, 1])
    np.testing.assert_array_equal(frame["v[2]"], outcomes.v[:, 2])
    assert frame.index.name == "sample"


def test_batches_scans_trajectories_and_bundles():
    problem = block().problem
    batch = routh.sample(routh.ImpactBatch.from_problems([problem, None, problem.replace(mu=0.1)]), 4)
    table = batch.to_xarray()
    assert table["v"].dims == ("row", "sample", "velocity")
    np.testing.assert_array_equal(table["ambiguity"].values, batch.ambiguity)
    assert len(batch.to_pandas()) == 3
    found = scan(
        lambda mu, speed: block(mu=mu, speed=speed).problem, {"mu": [0.1, 0.5], "speed": [1.0, 2.0, 3.0]}, n=8
    )
    np.testing.assert_array_equal(found.to_xarray()["score"].sel(mu=0.5).values, found.score[1])
    assert len(found.to_pandas()) == 6
    assert set(found.to_pandas()) == {"mu", "speed", "score", "contacts", "share_solved", "explained"}
    bundle = futures()
    one = bundle[0].to_xarray()
    np.testing.assert_array_equal(one["q"].values, bundle[0].q)
    assert one["impulse"].attrs["units"] == "N s"
    assert bundle.to_xarray()["v"].sizes["future"] == 3
    assert len(bundle.to_pandas()) == sum(map(len, bundle))


def test_reprs_are_short():
    problem = block().problem
    results = [
        problem,
        routh.sample(problem, 64),
        futures(),
        futures()[0],
        routh.ImpactBatch.from_problems([problem]),
    ]
    results.append(scan(lambda mu: block(mu=mu).problem, {"mu": [0.1, 0.5]}, n=8))
    for result in results:
        assert len(repr(result)) < 200
        assert "\n" not in repr(result)


def test_exact_sets_have_a_short_repr():
    pytest.importorskip("ppl")
    assert len(repr(routh.exact_set(block().problem))) < 200


def test_html_views_hold_the_table_and_a_picture_and_no_markup_of_names():
    pytest.importorskip("matplotlib")
    problem = block().problem
    named = routh.ImpactProblem(
        problem.M, problem.Jn, problem.Jt, problem.mu, problem.v, names=["<b>heel", "toe"]
    )
    page = routh.sample(named, 64)._repr_html_()
    assert "data:image/png;base64," in page
    assert "Ambiguity 0." in page
    assert "Least certain: " in page
    assert "<b>heel" not in page
    assert "&lt;b&gt;heel" in page
    assert "http" not in page
    assert html_view("x", []) == "<div><b>x</b></div>"


def test_a_problem_shows_how_its_contacts_move_and_how_to_ask_for_the_ambiguity():
    pytest.importorskip("matplotlib")
    page = block().problem._repr_html_()
    assert "-0.4429 m/s" in page
    assert "2 of 2 contacts approach." in page
    assert "How ambiguous is it? routh.sample(problem, 1000) answers." in page
    assert "data:image/png;base64," in page
    resting = block().problem.replace(v=[0.0, 0.0, 0.0])
    assert "No contact approaches" in resting._repr_html_()
    assert "data:image/png;base64," in resting._repr_html_()
    many = routh.systems.impact("billiards-break")
    assert repr(many).endswith("... 31 in all)")


def test_a_result_without_a_picture_has_a_view_all_the_same(monkeypatch):
    pytest.importorskip("matplotlib")
    from routh.viz import plots

    outcomes = routh.sample(block().problem, 8)
    assert "<img" in outcomes._repr_html_()
    drawn = []

    def refuse(given):
        drawn.append(len(telling(given).axes))
        raise ValueError("nothing")

    telling = plots._telling_figure
    monkeypatch.setattr(plots, "_telling_figure", refuse)
    assert "<img" not in outcomes._repr_html_()
    assert drawn == [1]  # of several panels the telling one


@pytest.mark.parametrize("first", ["", "import matplotlib.pyplot as plt\n", "%matplotlib inline\n"])
def test_a_notebook_shows_a_plot_exactly_once(first):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("matplotlib")
    code = f"{first}import routh\nrouth.sample(routh.systems.get('rocking-block').problem, 32).plot()"
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    nbclient.NotebookClient(book, timeout=600, kernel_name="python3").execute()
    pictures = [output for output in book.cells[0].outputs if "image/png" in output.get("data", {})]
    assert len(pictures) == 1
