"""``outcomes.plot()``: the sensible picture of any sampled set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from routh.auditing.comparison import compare
from routh.sampling.outcomes import Outcomes
from routh.viz import style
from routh.viz.velocity import Panel, contact_panel, default_panels, velocity_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_PANELS = 6


def outcomes_figure(outcomes: Outcomes, *, view: str = "ends") -> Figure:
    """Where an impact can end, in the velocities of its contacts, beside what the classical laws say.

    Two contacts are shown with their normal velocities between them; of more than six contacts, those whose
    outcomes vary most.
    """
    if not np.any(outcomes.terminated):
        raise ValueError("outcomes: no sample terminated, so there is no post-impact set to draw")
    shown = compare(outcomes, ways=False)
    panels = panels_of_most_interest(outcomes)
    width = style.COLUMN if len(panels) == 1 else style.TWO_COLUMNS
    return velocity_figure(shown, panels, width=width, view=view)


def panels_of_most_interest(outcomes: Outcomes) -> list[Panel]:
    """The default panels; of many contacts those whose velocities after spread most, in their order."""
    problem = outcomes.problem
    if problem.nc <= MOST_PANELS:
        return default_panels(problem)
    spread = np.ptp(outcomes.contact_velocity[outcomes.terminated], axis=0).max(axis=1)
    most = np.argsort(-spread, kind="stable")[:MOST_PANELS]
    return [contact_panel(int(i)) for i in np.sort(most)]
