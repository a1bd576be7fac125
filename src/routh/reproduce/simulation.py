"""HP23 section 4.3: the block that rocks to rest in infinitely many impacts, Figs. 7 and 8."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from routh import laws, systems
from routh.models.planar import PlanarModel
from routh.reproduce.base import Exhibit, Row, Settings, exhibit
from routh.sim import Trajectory, simulate, verify
from routh.viz.motions import augmented_figure, half_cycle_figure
from routh.viz.snapshots import planar


@lru_cache(maxsize=1)
def _motion(quick: bool) -> tuple[PlanarModel, Trajectory]:
    """The motion that both figures show."""
    model, state = planar(systems.get("zeno-block"))
    spacing = 0.01 if quick else 0.002
    motion = simulate(
        model, state, duration=3.2, law=laws.Simultaneous(), sample_dt=spacing, rtol=1e-11, atol=1e-13
    )
    return model, motion


@exhibit("hp23-fig-7", title="A half-cycle of the rocking block", source="HP23 Fig. 7")
def figure_7(settings: Settings) -> Exhibit:
    """Four pictures, the apex and the reduction of the rate."""
    model, motion = _motion(settings.quick)
    impact = next(event for event in motion.events if event.kind == "impact")
    ratio = -float(impact.data["v_after"][2] / impact.data["v_before"][2])
    inertia, arm, alpha = 5.0 / 12.0 + 1.25, math.sqrt(1.25), math.atan(2.0)
    closed_form = math.asin(inertia / (2 * 9.81 * arm) + math.sin(alpha)) - alpha  # HP23 (57)
    apex = float(motion.q[: impact.index, 2].max())
    rows = (
        Row("apex (rad)", 0.22, apex, f"(57) gives {closed_form:.6f}; the paper prints two digits"),
        Row("share of the rate that an impact leaves", 0.7, abs(ratio)),
    )
    return Exhibit({"hp23-fig-7": half_cycle_figure(model, motion)}, rows)


@exhibit("hp23-fig-8", title="The rocking block over time and over augmented time", source="HP23 Fig. 8")
def figure_8(settings: Settings) -> Exhibit:
    """The three panels, both accumulation points, and what follows them."""
    model, motion = _motion(settings.quick)
    assert motion.s is not None
    event = next(event for event in motion.events if event.kind == "zeno")
    after = motion.forces["contacts"][-1]
    pushing = np.flatnonzero(after[:, 0] > 0.0)
    verdict = verify(model, motion)
    rows = (
        Row("t at the accumulation point (s)", 2.67, float(motion.t[event.index])),
        Row("s at the accumulation point", 28.4, float(motion.s[event.index])),
        Row("state at the accumulation point", "equilibrium", str(event.data["continuation"])),
        Row("least normal force at rest (m g)", 0.5, float(after[pushing, 0].min() / 9.81)),
        Row("dt/ds at rest", 1.0 / (1.0 + 9.81), float(motion.in_s().time_rate[-1])),
        Row("solution of (53) by an independent check", "yes", "yes" if verdict.ok else "no"),
    )
    text = (
        f"{event.data['impacts']} impacts were simulated; the rest, {event.data['skipped']:.1e} s of them, "
        f"was extrapolated from their geometric decay with the ratio {event.data['ratio']:.6f}."
    )
    return Exhibit({"hp23-fig-8": augmented_figure(motion)}, rows, text)
