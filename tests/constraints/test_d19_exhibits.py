"""The exhibits of D19 that are quick to make say what the paper says, or why not."""

import pytest

from routh.reproduce import d19, d19_foundation
from routh.reproduce.base import Settings, entries


@pytest.mark.parametrize("make", [d19.figure_1, d19.figure_2, d19.figure_3], ids=lambda make: make.__name__)
def test_the_schemes_are_stable_where_the_paper_says(make):
    exhibit = make(Settings(quick=True))
    assert exhibit.figures
    for row in exhibit.rows:
        if row.quantity.endswith("stability"):
            assert row.ours == row.paper


def test_the_pressure_balances_the_loads():
    exhibit = d19_foundation.figure_7(Settings(quick=True))
    rows = {row.quantity: row.ours for row in exhibit.rows}
    assert rows["5 N: elements that lifted"] == 0
    assert rows["50 N: elements that lifted"] > 0
    assert rows["5 N: centre of pressure less that of the loads (m)"] < 1e-4


def test_the_foundation_is_nearer_to_the_reference_than_the_papers_table():
    """D19 Table 2, first row, and first order between h = 0.01 and 0.001 where no vibration is left."""
    truth = d19_foundation.reference(5.0, 900, 1e7)
    errors = []
    for dt in (0.01, 0.002):
        motion = d19_foundation.systems.get("cube-on-foundation", elements=900, dt=dt)
        errors.append(d19_foundation.distance(motion.run().final.q, truth))
    assert errors[0] < 1.98e-5
    assert errors[0] / errors[1] > 5.0**0.9


def test_every_figure_and_table_is_registered():
    names = {entry.name for entry in entries()}
    figures = {f"d19-fig-{number}" for number in (1, 2, 3, 4, 6, 7, 9, 10)}
    assert figures | {"d19-table-1"} <= names
