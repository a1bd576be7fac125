"""The region of safe touch-down speeds against single touch-downs."""

from __future__ import annotations

import numpy as np
import pytest
from landers import lander

from routh.models import landing
from routh.robust import safe_region, tipping


@pytest.fixture(scope="module")
def region():
    return safe_region(lander(), headings=4, directions=7, fastest=3.0, n=128)


def test_region_is_what_single_touchdowns_say(region):
    ratios = region.ratios(np.array([1.0, 2.0]))
    assert ratios[:, 1] == pytest.approx(2.0 * ratios[:, 0])  # all feet touch at once, at every speed
    angle, k = float(region.angle[3]), 3
    singles = []
    for heading in region.heading:
        one = landing(lander(), down=np.cos(angle), sideways=np.sin(angle), heading=float(heading))
        singles.append(tipping(lander(), one.qpos, one.qvel, n=128).ratio)
    assert ratios[k, 0] == pytest.approx(max(singles), rel=0.05)  # other samples of the same sets
    assert region.ratio(np.cos(angle), np.sin(angle)) == pytest.approx(ratios[k, 0])


def test_limits(region):
    limit = region.limit
    inside = limit < region.fastest
    assert inside.any()
    at = [region.ratios(np.array([s]))[k, 0] for k, s in enumerate(limit)]
    assert np.array(at)[inside] == pytest.approx(1.0)
    down = 1.0
    sideways = region.largest_sideways(down)
    assert region.ratio(down, 0.95 * sideways) < 1.0 < region.ratio(down, 1.1 * sideways)
    assert region.largest_down(sideways) == pytest.approx(down, rel=0.02)
    table = region._columns()
    assert np.hypot(table["down"].values, table["sideways"].values) == pytest.approx(limit)


def test_a_contact_that_joins_later_changes_the_set():
    tilted = safe_region(lander(), roll=0.02, heading=0.0, directions=3, fastest=3.0)
    assert np.isfinite(tilted.begins[0, 0]).sum() > 1  # at 8 mm more contacts count from 1.6 m/s on
    assert tilted.begins[0, 0, 1] == pytest.approx(0.4 * np.sin(0.02) / 0.005, rel=0.01)


def test_what_is_refused():
    with pytest.raises(ValueError, match="sideways: is varied by the region itself"):
        safe_region(lander(), sideways=1.0)
    with pytest.raises(ValueError, match="directions"):
        safe_region(lander(), directions=1)
    with pytest.raises(ValueError, match="restitution"):
        safe_region(lander(), restitution=2.0)


def test_pictures(region):
    pytest.importorskip("matplotlib")
    one = landing(lander(), down=1.5, sideways=0.8)
    tip = tipping(lander(), one.qpos, one.qvel)
    figure = tip.plot()
    assert "of the critical rate" in figure.axes[0].get_title(loc="left") + figure.axes[0].get_title()
    assert region.plot(down=1.5, sideways=0.8).axes[0].get_xlabel() == "sideways speed (m/s)"


def test_no_support_is_said():
    with pytest.raises(ValueError, match="three contacts"):
        safe_region(lander(), roll=0.7)
