"""Safe touch-down speeds: how fast a body may come down, and sideways, before an outcome turns it over.

Outcomes scale with the velocity before while the same contacts count, so one set of outcomes serves every
speed along a direction; a contact joins where it closes within the window from that speed on, and then there
is another.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from routh.base.results import Column, Drawable, Tabular
from routh.base.status import InputError, Status
from routh.base.validation import Array, Options, integer, real
from routh.models.landings import MOTION, Landing, Motion
from routh.models.robot import UnrepresentedWarning
from routh.models.robots.landing import landing, touchdowns
from routh.models.simultaneity import RESTITUTION, WINDOW
from routh.problem.batch import ImpactBatch
from routh.problem.impact import ImpactProblem
from routh.robust.support import support_of
from routh.robust.touchdowns import restitution_at, restitution_given
from routh.robust.verdicts import SAMPLES
from routh.sampling.sampler import draw
from routh.sampling.settings import ByEvents

if TYPE_CHECKING:
    from mujoco import MjModel
    from pinocchio import Model


@dataclass(frozen=True, eq=False)
class SafeRegion(Drawable, Tabular):
    """Ratios over directions and speeds of the touch-down, the worst heading each.

    Direction k comes down with ``cos(angle[k])`` and goes sideways with ``sin(angle[k])`` of the speed.
    """

    angle: Array  # (k,) rad from straight down, from 0
    heading: Array  # (h,) rad from the body's x axis to its left
    begins: Array = field(repr=False)  # (k, h, j) m/s: speeds from which on slope j holds; infinite: unused
    slope: Array = field(repr=False)  # (k, h, j) ratio per m/s
    fastest: float  # m/s: up to which contacts were looked for
    status: np.ndarray = field(
        repr=False
    )  # (k, h) int8, SOLVED; NUMERICAL where no sample ended; OUT_OF_TIME
    landing: Landing = field(repr=False)  # the posture

    def ratios(self, speed: Array) -> Array:
        """The worst over all headings, (k, m), for total speeds (m,) m/s along every direction."""
        s = np.asarray(speed, dtype=np.float64)
        held = (self.begins[..., None] <= s).sum(axis=2) - 1  # (k, h, m) which slope
        found = np.take_along_axis(self.slope, np.maximum(held, 0), axis=2) * s
        return np.asarray(np.max(found, axis=1), dtype=np.float64)

    def ratio(self, down: float, sideways: float) -> float:
        """Ratio at one touch-down: m/s down and m/s sideways, between directions interpolated."""
        fall, side = real("down", down, above=0.0), real("sideways", sideways, at_least=0.0)
        total, at = float(np.hypot(fall, side)), float(np.arctan2(side, fall))
        if at > self.angle[-1] or total > self.fastest:
            raise InputError(
                "down, sideways",
                got=f"{fall:g} and {side:g} m/s",
                wanted=(
                    f"a direction up to {self.angle[-1]:.3g} rad from straight down, and at most "
                    f"{self.fastest:g} m/s together"
                ),
            )
        return float(np.interp(at, self.angle, self.ratios(np.array([total]))[:, 0]))

    @property
    def limit(self) -> Array:
        """The largest total speed along each direction below which no outcome tips, (k,) m/s."""
        ends = np.concatenate([self.begins[..., 1:], np.full((*self.begins.shape[:2], 1), np.inf)], axis=2)
        with np.errstate(divide="ignore"):
            tips = np.where(self.slope > 0.0, 1.0 / np.maximum(self.slope, 1e-300), np.inf)
        first = np.where(np.maximum(tips, self.begins) < ends, np.maximum(tips, self.begins), np.inf)
        unsolved = np.isnan(self.slope) & np.isfinite(self.begins)
        first = np.where(unsolved, self.begins, first)
        return np.minimum(first.min(axis=(1, 2)), self.fastest)

    def largest_sideways(self, down: float) -> float:
        """The largest safe sideways speed (m/s) of touch-downs at ``down`` m/s."""
        return self._largest(lambda x: (real("down", down, above=0.0), x))

    def largest_down(self, sideways: float) -> float:
        """The largest safe speed down (m/s) of touch-downs that go sideways at ``sideways`` m/s."""
        return self._largest(lambda x: (max(x, 1e-9), real("sideways", sideways, at_least=0.0)))

    def _largest(self, at: Callable[[float], tuple[float, float]]) -> float:
        """The end of the safe values that begin at 0; NaN where there are none."""
        from scipy.optimize import brentq

        limit, grid = self.limit, np.linspace(0.0, self.fastest, 257)

        def room(x: float) -> float:
            down, side = at(x)
            return float(np.interp(np.arctan2(side, down), self.angle, limit) - np.hypot(down, side))

        good = np.array([room(float(x)) >= 0.0 for x in grid])
        if not good.any():
            return np.nan
        ends = np.flatnonzero(good[:-1] & ~good[1:])
        return float(brentq(room, grid[ends[0]], grid[ends[0] + 1])) if len(ends) else self.fastest

    def __repr__(self) -> str:
        return (
            f"SafeRegion({len(self.angle)} directions, {len(self.heading)} headings, straight down to "
            f"{self.limit[0]:.3g} m/s)"
        )

    def _sentences(self) -> list[str]:
        return [f"No outcome tips up to {self.limit[0]:.3g} m/s straight down, whatever the heading."]

    def _columns(self) -> Mapping[str, Column]:
        limit = self.limit
        return {
            "angle": Column(("direction",), self.angle, "rad", "from straight down"),
            "limit": Column(("direction",), limit, "m/s", "largest safe speed"),
            "down": Column(("direction",), limit * np.cos(self.angle), "m/s", "its part down"),
            "sideways": Column(("direction",), limit * np.sin(self.angle), "m/s", "its part sideways"),
        }


def safe_region(
    model: MjModel | Model,
    *,
    heading: float | None = None,
    headings: int = 16,
    directions: int = 19,
    steepest: float = 1.2,
    fastest: float = 5.0,
    window: float = WINDOW,
    restitution: str | float = RESTITUTION,
    unevenness: float | None = None,
    n: int = SAMPLES,
    rates: str = "extreme",
    friction: str = "cone",
    facets: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    budget: float | None = None,
    **posture: Any,
) -> SafeRegion:
    """The touch-down speeds, down and sideways, at which no outcome turns a body over.

    Parameters
    ----------
    model : as in `routh.robust.tipping`.
    heading : of the sideways speed, rad; None: the worst of ``headings``.
    headings : how many, all the way round.
    directions : how many, from straight down to ``steepest``.
    steepest : rad from straight down.
    fastest : m/s: no faster touch-down is looked at.
    window, restitution, unevenness, n, rates, friction, facets, seed, threads, budget : as in
        `routh.robust.tipping`; what is not drawn in time has Status.OUT_OF_TIME.
    posture : of `routh.models.landing`: roll, pitch, yaw, joints and so on. Angular rates are zero.
    """
    for name in (*MOTION, "joint_velocities", "down", "height"):
        if posture.get(name):
            raise InputError(name, wrong="is varied by the region itself", wanted="a posture only")
    k, h = integer("directions", directions, at_least=2), integer("headings", headings, at_least=1)
    angle = np.linspace(0.0, real("steepest", steepest, above=0.0, at_most=1.5), k)
    around: Array = np.array(
        2.0 * np.pi / h * np.arange(h) if heading is None else [real("heading", heading)], dtype=np.float64
    )
    how: Options = {"rates": rates, "friction": friction, "facets": facets}
    drawing = ByEvents(seed=seed, threads=threads, budget=budget, **how)
    elastic = restitution_given(restitution)
    top = real("fastest", fastest, above=0.0)
    with warnings.catch_warnings():  # touch-downs tell it
        warnings.simplefilter("ignore", UnrepresentedWarning)
        stood = landing(model, down=top, window=window, **posture)
    names = ("ground", "points", "geometry", "mu", "body")
    options = {name: posture[name] for name in names if posture.get(name) is not None}
    found = next(iter(touchdowns(model, stood.qpos[None], stood.qvel[None], window=window, **options)))
    if isinstance(found, ValueError):
        raise found
    uneven = None if unevenness is None else real("unevenness", unevenness, at_least=0.0)
    support = support_of(found, uneven)
    # for every direction and heading the sets of contacts that count, and the impact of each at 1 m/s
    begins = np.full((k, len(around), len(found.points) + 1), np.inf)
    problems: list[ImpactProblem] = []
    places: list[tuple[int, int, int]] = []
    for (i, a), (j, psi) in product(enumerate(angle), enumerate(around)):
        if i == 0 and j > 0:  # straight down every heading is the same
            continue
        v = found.velocity(float(np.cos(a)), Motion(float(np.sin(a)), float(psi)))
        closing = found.closing(v, uneven)  # s, at 1 m/s
        joins = np.where(closing > 0.0, closing / max(window, 1e-300), 0.0)  # from this speed on, m/s
        for m, speed in enumerate(np.unique(joins[joins < top])):
            counting = np.flatnonzero(joins <= speed)
            begins[i, j, m] = 0.0 if m == 0 else speed
            problems.append(found.impact(counting, restitution_at(found, counting, elastic), v))
            places.append((i, j, m))
    begins = begins[..., : max(m for _, _, m in places) + 1]
    drawn = draw(ImpactBatch.from_problems(problems), n, drawing)
    slope = np.full(begins.shape, -np.inf)
    status = np.zeros(begins.shape[:2], dtype=np.int8)
    for row, place in enumerate(places):
        ended = drawn.status[row] <= Status.NO_IMPACT
        if (drawn.status[row] == Status.OUT_OF_TIME).any():
            slope[place], status[place[:2]] = np.nan, Status.OUT_OF_TIME
        elif ended.any():
            slope[place] = support.ratios(drawn.v[row][ended, : problems[row].nv]).max()
        else:
            slope[place], status[place[:2]] = np.nan, Status.NUMERICAL
    begins[0, 1:], slope[0, 1:], status[0, 1:] = begins[0, 0], slope[0, 0], status[0, 0]
    return SafeRegion(angle, around, begins, slope, top, status, stood)
