"""HP23 Figs. 7 and 8: motions."""

import pytest

from routh.reproduce.base import Settings
from routh.reproduce.hp23 import figure_7, figure_8


def test_exhibits_compare_with_the_printed_numbers():
    for make, stem in ((figure_7, "hp23-fig-7"), (figure_8, "hp23-fig-8")):
        made = make(Settings(quick=True))
        assert set(made.figures) == {stem}
        if stem == "hp23-fig-8":
            assert all(axes.get_ylabel() for axes in made.figures[stem].axes)
        for row in made.rows:
            if isinstance(row.paper, float):
                assert row.ours == pytest.approx(row.paper, rel=2e-3), row.quantity
            else:
                assert row.ours == row.paper, row.quantity
