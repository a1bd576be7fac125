"""The exhibits of JW17 can be made, and say what they compare."""

import numpy as np
import pytest

from routh import two_body
from routh.two_body import systems as data

pytest.importorskip("matplotlib")


def jw17():
    import routh.reproduce.jw17
    from routh.reproduce.base import entries

    assert routh.reproduce.jw17
    return {entry.name: entry for entry in entries() if entry.name.startswith("jw17")}


def test_all_figures_and_the_table_are_there():
    wanted = {f"jw17-fig-{k}" for k in (4, 5, 6, 7, 8, 10)} | {"jw17-table-1", "jw17-impulses"}
    assert set(jw17()) >= wanted


@pytest.mark.parametrize("name", ["jw17-impulses", "jw17-fig-4", "jw17-fig-7", "jw17-fig-10"])
def test_published_numbers_and_orders_come_out(name):
    from routh.reproduce.base import Settings

    made = jw17()[name].make(Settings(quick=True))
    for row in made.rows:
        if row.paper is not None and row.paper != row.ours:
            assert row.why
            assert "at 1e-3" in row.quantity or name == "jw17-fig-7"  # whose sentence is refuted
    for figure in made.figures.values():
        figure.canvas.draw()


def test_hodograph_is_the_impact():
    w, v = data.ICOSAHEDRON_W, data.ICOSAHEDRON_V
    course = two_body.hodograph(w, v, 0.8, 0.95)
    one = two_body.impact(w, v, 0.8, 0.95)
    np.testing.assert_allclose(course.impulse[-1], one.impulse, rtol=1e-12)
    np.testing.assert_allclose(course.normal_velocity[-1], one.contact_velocity[2], rtol=1e-9)
    np.testing.assert_allclose(
        course.sliding, np.array(v)[:2] + (course.impulse @ np.array(w))[:, :2], atol=1e-12
    )
    assert course.energy.max() == pytest.approx(one.energy.stored, rel=1e-4)
    assert abs(course.energy[-1]) < 1e-15
    assert [letter for letter, _ in course.marks] == ["c", "s", "r"]
    with pytest.raises(ValueError, match="wanted approach"):
        two_body.hodograph(w, [1, 0, 1], 0.5, 0.5)
