"""The picture of a search for a design; and what `plot` draws of the other results of `routh.robust`.

`routh tip` draws its own with `routh.viz.tipping`, without waiting for the pictures of all other results.
"""

from __future__ import annotations

import numpy as np

from routh.base.text import for_matplotlib
from routh.robust.designs import Design
from routh.robust.region import SafeRegion
from routh.robust.touchdowns import Tipping
from routh.viz import style
from routh.viz.plots import drawn_by, plot
from routh.viz.tipping import draw_region, draw_turning


def draw_design(design: Design, ax: style.Axes) -> None:
    """The score of every evaluation, the best so far, and the checked scores before and after."""
    kept = design.violations <= 1.0
    numbers = np.arange(1, design.evaluations + 1)
    known = kept & np.isfinite(design.values)
    ax.plot(numbers[known], design.values[known], ".", color=style.SET, label="tried")
    best = np.minimum.accumulate(np.where(known, design.values, np.inf))
    shown = np.isfinite(best)
    ax.step(numbers[shown], best[shown], where="post", color=style.BLACK, label="best so far")
    for one, name, dashes in ((design.before, "before", ":"), (design.after, "after", "--")):
        label = f"{name}, other samples: {one.checked:.3g}"
        ax.axhline(one.checked, color=style.BLACK, linestyle=dashes, linewidth=0.8, label=label)
    ax.set(xlabel="evaluation", ylabel=for_matplotlib(design.objective))
    ax.set_ylim(bottom=min(0.0, float(np.nanmin(design.values[known], initial=0.0))))
    ax.legend()


plot.register(Design, drawn_by(draw_design, aspect=0.75))
plot.register(SafeRegion, drawn_by(draw_region, aspect=0.8))
plot.register(Tipping, drawn_by(draw_turning, aspect=0.9))
