"""Pictures of gaits: the state at one impact and at the next, as a set."""

from __future__ import annotations

import numpy as np

from routh.base.validation import Array
from routh.gaits.return_maps import ReturnMap, Rolling, Wheel, return_map, single_answers
from routh.viz import style
from routh.viz.law_answers import grouped
from routh.viz.plots import drawn_by, plot

_DRAWN = 200  # samples in the picture of a wheel
_WORDS = {"proved": "rolls on, proved", "refuted": "may stop", "unknown": "unknown"}


def draw_rolling(rolling: Rolling, ax: style.Axes) -> None:
    """The rate at the next landing over the rate at this one: all outcomes, single laws, and the way down."""
    wheel = rolling.wheel
    least = float(np.sqrt(wheel.barrier)) / rolling.shares[1]
    most = 1.3 * max(np.nanmax(rolling.rates), least)
    rates = np.linspace(0.6 * least, most, 400)
    low, high = (_after(wheel, share, rates) for share in rolling.shares)
    ax.fill_between(rates, np.nan_to_num(low), high, color=style.SET, alpha=0.2, lw=0, label="all outcomes")
    corners = [[rate, slip * rate * wheel.length] for rate in (0.6 * least, most) for slip in rolling.slips]
    found = return_map(wheel, corners, n=_DRAWN, exact=False)
    after = np.nan_to_num(found.after[:, 0])
    ax.plot(found.before[:, 0], after, ".", ms=2.5, color=style.SET, label="samples")
    _draw_laws(rolling, ax, rates)
    ax.plot(rates, rates, color=style.BLACK, lw=0.6, label="the same rate again")
    taken = rolling.stopping
    if taken:
        x = [each.rate for each in taken for _ in range(2)]
        y = [*x[1:], 0.0]
        ax.plot(x, y, color=style.BLACK, lw=1.0, ls="--", marker=".", label="outcomes that stop it")
    ax.set(xlabel="rate as a foot lands (rad/s)", ylabel="rate as the next one lands, 0: none does (rad/s)")
    ax.set(xlim=(rates[0], rates[-1]), ylim=(-0.05 * most, 1.35 * most))  # room for the legend above the band
    ax.set_title(f"slope {wheel.slope:g} rad: {_WORDS[rolling.answer.value]}")
    ax.legend(loc="upper left")


def _draw_laws(rolling: Rolling, ax: style.Axes, rates: Array) -> None:
    """Single laws with the foot slipping as much as it may, and not at all; equal ones are one line."""
    wheel, colors = rolling.wheel, iter((style.SIMULTANEOUS, style.GREEN, *style.SEQUENTIAL, *style.CYCLE))
    for slip, words in ((rolling.slips[0], "most slip"), (rolling.slips[1], "least slip")):
        lines: dict[float, list[str]] = {}
        for name, v in single_answers(wheel.problem(np.array([1.0, slip * wheel.length]))).items():
            lines.setdefault(round(float(wheel.rate_after @ v), 9), []).append(name)
        for share, names in lines.items():
            after = np.nan_to_num(_after(wheel, share, rates))
            label = "every single law" if len(lines) == 1 else ", ".join(names)
            ax.plot(rates, after, color=next(colors), lw=1.0, label=f"{label}, {words}")


def _after(wheel: Wheel, share: float, rates: Array) -> Array:
    square = (share * rates) ** 2
    return np.where(square > wheel.barrier, np.sqrt(square + wheel.gain), np.nan)


def draw_return_map(found: ReturnMap, ax: style.Axes) -> None:
    """The last two coordinates of the states before and after a step."""
    if found.after.shape[1] < 2:
        ax.plot(found.before[:, 0], found.after[:, 0], ".", ms=3, color=style.SET, label="samples")
        ax.set(xlabel="before", ylabel="after")
        ax.legend()
        return
    loop = np.vstack([found.states, found.states[:1]])
    ax.plot(*loop[:, -2:].T, color=style.BLACK, lw=0.8, label="states before")
    if len(found.image):
        ax.plot(*found.image[:, -2:].T, ".", ms=2, color=style.GROUND, label="after, from the exact set")
    ax.plot(*found.after[:, -2:].T, ".", ms=2.5, color=style.SET, label="after, samples")
    looks = zip(("x", "+", "1"), (style.SIMULTANEOUS, *style.SEQUENTIAL), strict=False)
    agreeing = grouped(
        found.laws.items(), lambda a, b: np.allclose(a[1], b[1], equal_nan=True)
    )  # NaN: stopped
    for group, (mark, color) in zip(agreeing, looks, strict=False):
        names = " = ".join(name for name, _ in group)
        ax.plot(*group[0][1][:, -2:].T, mark, color=color, label=f"after, {names}")
    ax.set(xlabel="rate of the leading leg (rad/s)", ylabel="rate of the trailing leg (rad/s)")
    low, high = ax.get_ylim()
    ax.set_ylim(low, high + 0.5 * (high - low))  # room for the legend above the points
    ax.legend(loc="upper left")


plot.register(Rolling, drawn_by(draw_rolling, aspect=0.9))
plot.register(ReturnMap, drawn_by(draw_return_map, aspect=0.9))
