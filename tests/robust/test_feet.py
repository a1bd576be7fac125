"""Touch-downs that know their support: scans, sweeps and designs of tipping."""

from __future__ import annotations

import numpy as np
import pytest
from landers import FEET, GYRATION, HEIGHT, MASS, RADIUS, lander

import routh
from routh.models import landing
from routh.robust import design, no_tipping, standing_problem, tipping
from routh.robust.candidates import Constraint
from routh.robust.design_scores import TippingScore
from routh.robust.feet import tipping_ratio, touchdown_problem
from routh.robust.least import least_share
from routh.robust.verdicts import SAMPLES


def xml(span=0.2, solref="0.005 1"):
    feet = "".join(
        f'<geom name="f{i}" type="sphere" size="{RADIUS}" pos="{x} {y} {RADIUS - HEIGHT}" solref="{solref}"/>'
        for i, (x, y) in enumerate([(span, span), (span, -span), (-span, span), (-span, -span)])
    )
    inertia = MASS * GYRATION**2
    return f"""<mujoco><default><geom friction="0.8" condim="3"/></default><worldbody>
      <geom name="floor" type="plane" size="5 5 1"/><body pos="0 0 {HEIGHT}"><freejoint/>
      <inertial pos="0 0 0" mass="{MASS}" diaginertia="{inertia} {inertia} {inertia}"/>{feet}</body>
      </worldbody></mujoco>"""


def made(span=0.2, down=1.5, sideways=0.8):
    import mujoco

    model = mujoco.MjModel.from_xml_string(xml(span))
    return standing_problem(landing(model, down=down, sideways=sideways))


def test_ratio_is_that_of_tipping():
    one = landing(lander(), down=1.5, sideways=0.8)
    outcomes = routh.sample(standing_problem(one), SAMPLES, rates="extreme", seed=0)
    assert tipping_ratio(outcomes) == pytest.approx(tipping(lander(), one.qpos, one.qvel).ratio)
    with pytest.raises(ValueError, match="has no support"):
        tipping_ratio(routh.sample(one.problem, 4))


def test_a_scan_of_touchdowns(tmp_path):
    axes = {"sideways": [0.2, 0.9], "down": [0.5, 1.5]}
    found = routh.scan(lambda **point: made(**point), axes, n=32, rates="extreme", measure=tipping_ratio)
    assert found.measure == "tipping_ratio"
    assert found.score[0, 0] < 1.0 < found.score[1, 1]
    file = tmp_path / "lander.xml"
    file.write_text(xml())
    assert touchdown_problem(str(file), down=1.0, roll=0.7) is None  # it stands on two feet


def test_slopes_against_differences():
    score = TippingScore(64, 0)
    slopes = score.slopes(made())
    assert slopes is not None
    step = 1e-4
    ends = [made(span=0.2 + side * step) for side in (1, -1)]
    along = sum(
        float(np.sum(slope * (getattr(ends[0], name) - getattr(ends[1], name))))
        for name, slope in slopes.items()
    )
    values = [score.value(end) for end in ends]
    assert along / (2 * step) == pytest.approx((values[0] - values[1]) / (2 * step), rel=0.02)


def test_shortest_legs_and_largest_down():
    legs = design(
        lambda span: made(span=span),
        "smallest span",
        over={"span": (0.12, 0.4)},
        start={"span": 0.38},
        constraints=[no_tipping(within=0.01)],
        evaluations=40,
    )
    span = legs.after.point["span"]
    assert legs.after.violation <= 1.0
    ratio = TippingScore(64, 0)
    assert ratio.value(made(span=span)) == pytest.approx(1.0, abs=0.05)
    assert ratio.value(made(span=0.9 * span)) > 1.0
    highest = design(
        lambda down: made(down=down, sideways=0.5),
        "largest down",
        over={"down": (0.3, 3.0)},
        start={"down": 0.4},
        constraints=[no_tipping(within=0.01)],
        evaluations=40,
    )
    assert ratio.value(made(down=highest.after.point["down"], sideways=0.5)) == pytest.approx(1.0, abs=0.05)
    assert highest.improved


def test_least_tipping_uses_slopes():
    def keeps(problem):
        return 0.0

    wider = design(
        lambda span: made(span=span),
        "tipping",
        over={"span": (0.15, 0.3)},
        start={"span": 0.16},
        constraints=[Constraint(keeps, -1.0, 1.0)],
        evaluations=12,
        n=64,
        check=128,
    )
    assert wider.after.point["span"] == pytest.approx(0.3, abs=0.01)
    assert "gradient" in wider.by


def test_the_smallest_span_is_a_go_and_less_is_not():
    """What the design finds is asked again with samples that it has not seen."""

    def made(span: float):
        return lander([(span * x, span * y) for x, y in FEET], solref="0.002 1")

    def touch(span: float):
        return standing_problem(landing(made(span), down=1.5, sideways=0.8, heading=0.4))

    found = design(
        touch,
        "smallest span",
        over={"span": (0.5, 2.0)},
        constraints=[no_tipping()],
        evaluations=40,
        check=64,
    )
    assert found.status.name == "SOLVED"
    assert set(found.by) == {"start", "bisection"}
    assert found.evaluations < 30
    span = found.after.point["span"]
    for share, tips in ((1.0, False), (0.95, True)):
        one = landing(made(share * span), down=1.5, sideways=0.8, heading=0.4)
        seeds = [tipping(one.model, one.qpos, one.qvel, seed=seed) for seed in (11, 12, 13)]
        assert any(answer.can_tip for answer in seeds) == tips
    few = design(touch, "smallest span", over={"span": (0.5, 2.0)}, constraints=[no_tipping()], evaluations=4)
    assert few.status.name == "INCOMPLETE"
    assert "the evaluations ran out" in repr(few)
    none = design(
        touch, "smallest span", over={"span": (0.3, 0.6)}, constraints=[no_tipping()], evaluations=9, check=64
    )
    assert none.status.name == "INCOMPLETE"
    assert none.reason == "no design that was tried surely keeps the constraints"


def test_least_share():
    for edge in (0.0, 0.03, 0.5, 0.77, 1.0):
        assert least_share(lambda share, edge=edge: share >= edge) == pytest.approx(edge, abs=1e-3)
    assert least_share(lambda share: False) is None
    assert least_share(lambda share: share > 0.9 or 0.2 < share < 0.4) == pytest.approx(0.9, abs=1e-3)
