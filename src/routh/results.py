"""What results have in common: a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Drawable:
    """A result that `routh.viz.plot` knows how to draw."""

    def plot(self, axes: Axes | None = None, **options: object) -> Figure:
        """Draw into Matplotlib ``axes`` or a figure of its own; returns the figure. See `routh.viz.plot`."""
        from routh.viz import plot

        return plot(self, axes, **options)
