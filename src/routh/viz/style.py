"""One style for every figure: sizes of a two-column paper, colours that the colour-blind can tell apart.

Use it so::

    @style.context()
    def figure_of_something(result) -> Figure:
        fig, axes = style.figure(1, 2, width=style.TWO_COLUMNS)
        draw_something(axes[0], result)
        return fig

Functions that draw take the result and the axes, and set no sizes or colours but those of this module.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from routh.base.progress import in_notebook
from routh.base.status import InputError, optional
from routh.base.storage import write_bytes
from routh.base.validation import Array

if TYPE_CHECKING:  # other files call them style.Axes, style.Figure and so on
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D as Line2D
    from matplotlib.patheffects import AbstractPathEffect as AbstractPathEffect
    from matplotlib.transforms import Bbox
    from mpl_toolkits.mplot3d import Axes3D as Axes3D

COLUMN = 3.45  # inch: one column of a two-column paper
TWO_COLUMNS = 7.1  # inch: its text width

#: Okabe and Ito's palette: distinct with every common kind of colour blindness.
BLACK, GREY = "#000000", "#767676"
BLUE, SKY, GREEN = "#0072B2", "#56B4E9", "#009E73"
ORANGE, VERMILION, PURPLE = "#E69F00", "#D55E00", "#CC79A7"

#: What a colour stands for, the same in every figure.
BEFORE = BLACK  # the velocity before an impact
SET = BLUE  # the post-impact set
RARE = GREEN  # samples of it that are few of their kind
SIMULTANEOUS = VERMILION  # solutions of the simultaneous law
SEQUENTIAL = (ORANGE, PURPLE, SKY)  # sequences of single impacts, in order
BODY, BODY_EDGE = "#F2E3B3", "#6B5B1E"  # a body and its outline
GROUND = "#D9D9D9"  # whatever does not move
CYCLE = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, BLACK)  # lines that stand for nothing in particular
Dashes = str | tuple[int, tuple[float, ...]]
Look: TypeAlias = dict[str, Any]  # keywords for something that Matplotlib draws
DASHES: tuple[Dashes, ...] = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (4, 1, 1, 1)))  # tells lines apart in grey

#: groups of Matplotlib's parameters that say how things are drawn
_DRAWING = (
    *("axes", "axes3d", "contour", "errorbar", "figure", "font", "grid", "hatch", "hist", "image", "legend"),
    *("lines", "markers", "mathtext", "patch", "path", "pcolor", "pcolormesh", "pdf", "polaraxes", "ps"),
    *("savefig", "scatter", "svg", "text", "xaxis", "xtick", "yaxis", "ytick"),
)

PICTURES = (".png", ".pdf", ".svg")
#: No dates and versions inside files, so that equal figures are equal files.
_UNDATED: dict[str, Look] = {
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
    "svg": {"Date": None, "Creator": None},
}
WHOLE: Look = {"bbox_inches": "tight", "pad_inches": 0.03}


def matplotlib() -> ModuleType:
    """The package, or an error that says how to install it."""
    return optional("matplotlib", "viz", "Matplotlib")


@contextmanager
def context() -> Iterator[None]:
    """Draw in the style: ``with style.context():`` or ``@style.context()``."""
    with matplotlib().rc_context(parameters()):
        yield


@lru_cache(maxsize=1)
def parameters() -> Look:
    """Matplotlib's defaults and this style; what belongs to the program and not to a figure is left out."""
    mpl = matplotlib()
    kept = {
        name: value
        for name, value in mpl.rcParamsDefault.items()
        if name.split(".")[0] in _DRAWING and name != "savefig.directory"
    }
    ours = mpl.rc_params_from_file(Path(__file__).with_name("routh.mplstyle"), use_default_template=False)
    return {**kept, **ours, "axes.prop_cycle": mpl.cycler(color=CYCLE)}


def figure(
    rows: int = 1,
    columns: int = 1,
    *,
    width: float = COLUMN,
    height: float | None = None,
    aspect: float = 0.8,
    dpi: float | None = None,
    **options: object,
) -> tuple[Figure, np.ndarray]:
    """A figure and its axes (rows * columns,), without global state; ``width`` and ``height`` in inch.

    The default height makes each panel ``aspect`` times as high as wide. Where the caller has imported
    pyplot, the figure is made with it, so that ``plt.show()`` shows it; but not in notebooks, which would
    show it a second time. Further options go to ``subplots``.
    """
    matplotlib()
    size = (width, height if height is not None else aspect * width * rows / columns)
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None and not in_notebook():
        fig = pyplot.figure(figsize=size, dpi=dpi, layout="constrained")
    else:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure as MplFigure

        fig = MplFigure(figsize=size, dpi=dpi, layout="constrained")
        FigureCanvasAgg(fig)
        # notebooks show it whether or not pyplot, which teaches them to, was imported
        fig._repr_png_ = partial(png, fig)  # type: ignore[attr-defined]
    axes = fig.subplots(rows, columns, squeeze=False, **options)
    return fig, axes.ravel()


def save(fig: Figure, path: str | Path, *, dpi: int = 220) -> Path:
    """Write a figure (by its suffix: png, pdf, svg), byte for byte the same each time; makes the folder."""
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in PICTURES:
        raise InputError("path", got=repr(target.name), wanted=f"a picture: {', '.join(PICTURES)}")
    target.parent.mkdir(parents=True, exist_ok=True)
    return write_bytes(target, _encoded(fig, suffix[1:], dpi))


def _encoded(fig: Figure, kind: str, dpi: int, **options: Any) -> bytes:
    """The figure as bytes; where panels keep their aspect, with all that layouts leave over the edge."""
    buffer = BytesIO()
    cropping = WHOLE if any(ax.get_aspect() != "auto" for ax in fig.axes) else {}
    with context():
        fig.savefig(buffer, format=kind, dpi=dpi, metadata=_UNDATED[kind], **cropping, **options)
    return buffer.getvalue()


def png(fig: Figure, *, dpi: int = 160) -> bytes:
    """A figure as the bytes of a PNG file, packed quickly: a tenth larger than one that `save` writes."""
    return _encoded(fig, "png", dpi, pil_kwargs={"compress_level": 3})


def close(fig: Figure) -> None:
    """Free a figure that pyplot may hold on to."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close(fig)


def figure_of(axes: Axes) -> Figure:
    """The figure that axes stand in, through subfigures."""
    found: Figure = axes.figure.figure  # of a figure: itself
    return found


def colour_bar(ax: Axes, image: ScalarMappable, label: str) -> None:
    """What the colours of an image mean, in letters of the axes' size."""
    bar = ax.figure.colorbar(image, ax=ax)
    bar.set_label(label, size=ax.xaxis.label.get_fontsize())
    bar.ax.tick_params(labelsize=ax.xaxis.get_ticklabels()[0].get_fontsize())


@lru_cache(maxsize=32)
def density_map(color: str, *, lightest: float = 0.75) -> Colormap:
    """Colours from a tint of ``color`` (``lightest``: how much white is in it) through it to a dark shade."""
    matplotlib()
    from matplotlib.colors import LinearSegmentedColormap, to_rgb

    base = np.array(to_rgb(color))
    tint = lightest + (1.0 - lightest) * base
    return LinearSegmentedColormap.from_list(f"routh-{color}", [tint, base, 0.35 * base])


def letter(axes: Sequence[Axes] | np.ndarray) -> None:
    """Put (a), (b), ... in front of the titles of panels."""
    for index, ax in enumerate(axes):
        title = ax.get_title(loc="left")
        ax.set_title(f"({chr(ord('a') + index)})  {title}".rstrip(), loc="left")


def rgb(color: str) -> tuple[int, int, int]:
    """Red, green and blue of ``#RRGGBB``, 0 to 255."""
    red, green, blue = bytes.fromhex(color[1:])
    return red, green, blue


def zero_lines(ax: Axes) -> None:
    """Thin lines through zero, below everything; `Axes.axhline` would take several times as long."""
    from matplotlib.lines import Line2D

    look: Look = {"color": GREY, "linewidth": 0.5, "zorder": 0.5}
    ax.add_artist(Line2D([0.0, 1.0], [0.0, 0.0], transform=ax.get_yaxis_transform(which="grid"), **look))
    ax.add_artist(Line2D([0.0, 0.0], [0.0, 1.0], transform=ax.get_xaxis_transform(which="grid"), **look))
    ax.update_datalim([(0.0, 0.0)])


def lay_out(fig: Figure) -> None:
    """Give the panels their places, once and for all: what is drawn later can count on their size."""
    engine = fig.get_layout_engine()
    if engine is not None:
        engine.execute(fig)
        fig.set_layout_engine(None)  # not even a placeholder, for which every file would be drawn twice


def lay_out_grid(fig: Figure, grid: np.ndarray) -> None:
    """`lay_out` of a grid (rows, columns) of panels with labels and nothing else beside them, but quick.

    The places are those of Matplotlib's constrained layout, which makes every tick and measures it many
    times; here the widest numbers are measured, once. Use it inside `context`.
    """
    pad = fig.dpi * float(matplotlib().rcParams["figure.constrained_layout.w_pad"])
    size = np.array(fig.bbox.size)
    around = np.zeros((*grid.shape, 4))
    for place, ax in np.ndenumerate(grid):
        if ax.get_visible():
            around[place] = _around(ax, 0.7 * size / grid.shape[::-1])
    left, right = pad + around[..., :2].max(axis=0).T
    bottom, top = pad + around[..., 2:].max(axis=1).T
    wide, tall = (size - [(left + right).sum(), (bottom + top).sum()]) / grid.shape[::-1]
    x = np.cumsum(left + wide + right) - wide - right
    y = size[1] - np.cumsum(top + tall + bottom) + bottom
    for (row, column), ax in np.ndenumerate(grid):
        ax.set_position((x[column] / size[0], y[row] / size[1], wide / size[0], tall / size[1]))
    fig.set_layout_engine(None)


def _around(ax: Axes, size: Array) -> tuple[float, float, float, float]:
    """Pixels that numbers, labels and title need left, right, below and above axes of about this ``size``."""
    from matplotlib.text import Text

    rc, fig = matplotlib().rcParams, figure_of(ax)
    point = fig.dpi / 72.0

    def box(text: str, **look: Any) -> Bbox:
        return Text(0.0, 0.0, text, figure=fig, **look).get_window_extent()

    beside, beyond = [], []
    for k, (name, axis) in enumerate((("x", ax.xaxis), ("y", ax.yaxis))):
        low, high = axis.get_view_interval()
        ticks = [tick for tick in axis.get_majorticklocs() if low <= tick <= high]
        texts = axis.get_major_formatter().format_ticks(ticks) or [""]
        widest = max(texts, key=lambda text: len(text) - 0.5 * text.count("."))
        number = box(widest if name == "y" else texts[-1], fontsize=rc[f"{name}tick.labelsize"]).size
        gaps = rc[f"{name}tick.major.size"] + rc[f"{name}tick.major.pad"] + rc["axes.labelpad"]
        beside.append(number[1 - k] + gaps * point + axis.label.get_window_extent().size[1 - k])
        beyond.append(max(number[k] / 2.0 - (high - max(ticks, default=low)) / (high - low) * size[k], 0.0))
    written = ax.get_title(loc=rc["axes.titlelocation"])
    title = box(written, fontsize=rc["axes.titlesize"], fontweight=rc["axes.titleweight"]).y1
    above = max(beyond[1], title + rc["axes.titlepad"] * point if title > 0.0 else 0.0)
    return beside[1], beyond[0], beside[0], above


def legend_below(fig: Figure, axes: Sequence[Axes] | np.ndarray, *, columns: int = 4) -> None:
    """One legend under the panels, each label once, in the order of drawing.

    The figure grows by the legend's height, and the legend has as many columns, up to ``columns``, as fit.
    """
    entries: dict[str, Artist] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    if not entries:
        return
    lay_out(fig)
    for count in range(min(columns, len(entries)), 0, -1):
        legend = fig.legend(
            list(entries.values()), list(entries), loc="lower center", ncols=count, borderaxespad=0.1
        )
        box = legend.get_window_extent()
        if count == 1 or box.width < fig.bbox.width:
            break
        legend.remove()
    width, height = fig.get_size_inches()
    more = box.height / fig.dpi + 0.05
    places = [(ax, ax.get_position(original=True)) for ax in fig.axes]
    fig.set_size_inches(width, height + more)
    for ax, at in places:  # as large as before, higher up
        bottom, tall = (at.y0 * height + more) / (height + more), at.height * height / (height + more)
        ax.set_position((at.x0, bottom, at.width, tall))


def plain_ticks(ax: Axes) -> None:
    """Few ticks with short numbers; a power of ten that they share stands in the label, beside the unit."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    def written(unit: float, value: float, position: int) -> str:
        return signed(f"{round(value / unit, 9) + 0.0:g}")

    for axis in (ax.xaxis, ax.yaxis):
        largest = max(abs(x) for x in axis.get_view_interval())
        power = int(np.floor(np.log10(largest) / 3.0)) * 3 if largest > 0.0 else 0
        power = 0 if -2.0 <= np.log10(max(largest, 1e-300)) < 4.0 else power
        axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
        axis.set_major_formatter(FuncFormatter(partial(written, 10.0**power)))
        text = axis.get_label_text()
        if power and text.endswith(")"):
            head, _, unit = text.rpartition("(")
            axis.set_label_text(f"{head}($10^{{{power}}}$ {unit}")


def signed(number: str) -> str:
    """A number with the minus sign that belongs to it."""
    return number.replace("-", "\N{MINUS SIGN}")


def arrow(
    ax: Axes, start: Array, end: Array, color: str, *, zorder: float | None = None, **look: float
) -> None:
    """An arrow between two points (2,) of the axes; ``look`` is for Matplotlib's ``arrowprops``."""
    props: Look = {"arrowstyle": "-|>", "color": color, "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0, **look}
    ax.annotate(
        "", xy=tuple(end), xytext=tuple(start), arrowprops=props, annotation_clip=False, zorder=zorder
    )
