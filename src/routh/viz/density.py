"""Clouds of points as densities: a million samples cost no more than a thousand."""

from __future__ import annotations

import math

import numpy as np

from routh.base.validation import Array
from routh.viz import style

BINS = 420  # along the longer side of a panel
_BLOCK = 2**13  # points whose cells are found at once
FAINTEST = 0.3  # shade of a single sample, so that it can be seen beside a place where thousands end


def density_image(
    x: Array, y: Array, extent: tuple[float, float, float, float], shape: tuple[int, int], radius: int
) -> Array:
    """Logarithmic counts of points on a grid, (rows, columns) in [0, 1], NaN where there are none.

    Each point is drawn as a disc of ``radius`` cells, so that a set without area can be seen.
    """
    left, right, bottom, top = extent
    cell = np.empty(len(x), dtype=np.intp)
    for start in range(0, len(x), _BLOCK):  # in blocks that stay in the processor's cache
        part = slice(start, start + _BLOCK)
        row, column = _cells(y[part], bottom, top, shape[0]), _cells(x[part], left, right, shape[1])
        np.add(row * (shape[1] + 2), column, out=cell[part])
    counts = np.bincount(cell, minlength=(shape[0] + 2) * (shape[1] + 2))
    inside = counts.reshape(shape[0] + 2, shape[1] + 2)[1:-1, 1:-1]  # less what lies outside
    spread = _largest_in_disc(inside.astype(np.int32), radius)
    image = np.full(shape, np.nan)
    seen = spread > 0
    if seen.any():
        image[seen] = FAINTEST + (1.0 - FAINTEST) * np.log1p(spread[seen]) / np.log1p(spread.max())
    return image


def _cells(values: Array, low: float, high: float, count: int) -> np.ndarray:
    """The cells (n,), 1 to ``count``, that values lie in; before and behind them 0 and ``count + 1``."""
    place = (values - low) * (count / (high - low)) + 1.0
    return np.fmin(np.fmax(place, 0.0), count + 1.0).astype(np.intp)  # NaN is nowhere


def _largest_in_disc(counts: np.ndarray, radius: int) -> np.ndarray:
    """Largest count within ``radius`` cells of each cell: along its row, row by row of the disc."""
    rows, columns = counts.shape
    padded = np.pad(counts, radius)
    along = padded[:, radius:][:, :columns].copy()
    largest = counts.copy()
    for right in range(radius + 1):
        for shift in (radius - right, radius + right):
            np.maximum(along, padded[:, shift:][:, :columns], out=along)
        for down in range(-radius, radius + 1):
            if min(math.isqrt(int(radius * (radius + 0.8)) - down * down), radius) == right:
                np.maximum(largest, along[radius + down :][:rows], out=largest)
    return largest


def draw_density(
    ax: style.Axes,
    x: Array,
    y: Array,
    *,
    color: str = style.SET,
    label: str | None = None,
    lightest: float = 0.75,
    zorder: float = 2.0,
    alpha: float = 1.0,
    bins: int = BINS,
) -> None:
    """Draw points as a density over the present limits of the axes; set those first."""
    from matplotlib.image import PcolorImage
    from matplotlib.lines import Line2D

    extent = (*ax.get_xlim(), *ax.get_ylim())
    box = ax.get_window_extent()
    longest = max(box.width, box.height)
    columns, rows = (max(int(bins * side / longest), 16) for side in (box.width, box.height))  # square cells
    radius = 2 if len(x) >= 2**15 else 3
    image = density_image(x, y, extent, (rows, columns), radius)
    shade = style.density_map(color, lightest=lightest)
    x_edges, y_edges = (
        np.linspace(*ends, count + 1) for ends, count in ((extent[:2], columns), (extent[2:], rows))
    )
    # colours of cells where points are: Matplotlib would find one for every pixel, each time it draws
    seen = np.isfinite(image)
    colours = np.zeros((rows, columns, 4), dtype=np.uint8)
    colours[seen] = shade(image[seen], alpha=alpha, bytes=True)
    # out of layouts: it fills the axes, and Matplotlib does not know its extent
    look: style.Look = {"zorder": zorder, "rasterized": True, "in_layout": False}
    ax.add_image(PcolorImage(ax, x_edges, y_edges, colours, **look))
    if label is not None:
        dot: style.Look = {"marker": "o", "linestyle": "none", "markersize": 3.0, "markeredgewidth": 0.0}
        ax.add_artist(Line2D([], [], color=shade(0.5), **dot, label=label))


def limits(*arrays: Array, pad: float = 0.07, smallest: float = 0.0) -> tuple[float, float]:
    """Limits that hold all values and zero, with some air, and at least ``smallest`` around the middle."""
    values = np.concatenate([np.zeros(1), *(np.ravel(a) for a in arrays)])
    values = values[np.isfinite(values)]
    low, high = float(values.min()), float(values.max())
    reach = max((0.5 + pad) * (high - low), smallest)
    middle = (low + high) / 2
    return (middle - reach, middle + reach) if reach > 0.0 else (-1.0, 1.0)
