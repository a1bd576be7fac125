"""The exhibits of D19 that are quick to make say what the paper says, or why not."""

import numpy as np
import pytest

from routh import systems
from routh.reproduce import d19
from routh.reproduce.base import Settings, entries


@pytest.mark.parametrize("make", [d19.figure_1, d19.figure_2, d19.figure_3], ids=lambda make: make.__name__)
def test_the_schemes_are_stable_where_the_paper_says(make):
    exhibit = make(Settings(quick=True))
    assert exhibit.figures
    for row in exhibit.rows:
        if row.quantity.endswith("stability"):
            assert row.ours == row.paper


def test_the_pressure_balances_the_loads():
    exhibit = d19.figure_7(Settings(quick=True))
    rows = {row.quantity: row.ours for row in exhibit.rows}
    assert rows["5 N: elements that lifted"] == 0
    assert rows["50 N: elements that lifted"] > 0
    assert rows["5 N: centre of pressure less that of the loads (m)"] < 1e-4


@pytest.mark.parametrize("elements", [100, 900])
def test_the_foundation_is_nearer_to_the_reference_than_the_papers_table(elements):
    """D19 Table 2, and first order between h = 0.01 and 0.001 in what is not vibration."""
    truth, mean = d19.reference(5.0, elements, 1e7, rtol=1e-6)
    after, averaged = [], []
    for dt in (0.01, 0.001):
        motion = systems.get("cube-on-foundation", elements=elements, dt=dt)
        for kept, error in zip((after, averaged), d19.errors_of(motion.run(), truth, mean), strict=True):
            kept.append(error)
    assert after[0] < d19.PUBLISHED[5.0, elements, 1e7][0]
    assert 0.95 < np.log10(averaged[0] / averaged[1]) < 1.05


def test_every_figure_and_table_is_registered():
    names = {entry.name for entry in entries()}
    figures = {f"d19-fig-{number}" for number in (1, 2, 3, 4, 6, 7, 9, 10)}
    assert figures | {"d19-table-1"} <= names
