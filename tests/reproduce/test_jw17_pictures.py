"""JW17's hodographs can be read."""

import pytest

from readable import assert_all_can_be_read
from routh.reproduce import jw17
from routh.two_body.systems import ICOSAHEDRON_VARIATIONS as VARIATIONS


@pytest.mark.parametrize("names", [["4a", "4b", "4c", "4d"], ["10a", "10b", "10c"]])
def test_hodographs_have_all_their_marks_and_can_be_read(names):
    fig = jw17._panels(names)
    assert_all_can_be_read(fig)
    for ax, name in zip(fig.axes, names, strict=True):
        written = " ".join(text.get_text() for text in ax.texts)
        events = VARIATIONS[name].events
        assert {letter for letter in "clr" if f"$g_{letter}$" in written} == set(events) - {"s"}
