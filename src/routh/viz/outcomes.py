"""``outcomes.plot()``: the sensible picture of any sampled set."""

from __future__ import annotations

import numpy as np

from routh.auditing.comparison import Comparison, compare
from routh.models.planar import PlanarModel
from routh.sampling.outcomes import Outcomes
from routh.systems import System
from routh.viz import style
from routh.viz.exact import cheap_exact
from routh.viz.futures import futures_figure
from routh.viz.panels import MOST_PANELS
from routh.viz.velocity import velocity_figure


def outcomes_figure(
    outcomes: Outcomes, *, view: str = "ends", shown: Comparison | None = None
) -> style.Figure:
    """Where an impact can end, in the velocities of its contacts, beside what the classical laws say.

    Two contacts are shown with their normal velocities between them; of more than six contacts, those whose
    outcomes vary most. ``shown`` is the comparison with these laws, where there is one already.
    """
    if not np.any(outcomes.solved):
        raise ValueError("outcomes: no sample is solved, so there is no post-impact set to draw")
    comparison = compare(outcomes, ways=view != "ends") if shown is None else shown
    return velocity_figure(comparison, exact=cheap_exact(outcomes.problem), view=view)


def system_figure(system: System, outcomes: Outcomes, *, shown: Comparison | None = None) -> style.Figure:
    """A system's set: in the velocities of its contacts, or where its bodies go if these are too many."""
    if outcomes.problem.nc > MOST_PANELS and isinstance(system.model, PlanarModel):
        return futures_figure(system, outcomes)
    return outcomes_figure(outcomes, shown=shown)
