"""What a contact-velocity picture shows: axes with their units, and the panels that show most of a set."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from routh.base.text import for_matplotlib
from routh.base.validation import Array
from routh.models.robot import RobotContact, RobotProblem
from routh.problem.impact import ImpactProblem

MOST_PANELS = 6
_WORDS = {"n": "normal", "t": "tangential", "1": "first tangential"}
_LONGEST_LINE = 28  # characters of a label; longer ones have the contact's name on a line of its own
_LONGEST_NAME = 26
_STILL = 1e-6  # of a contact's velocity unit: what varies less is rounding
_LOOKED_AT = 1500  # velocities that decide between panels
_PAIRED = 10  # axes whose pairs are compared, those that vary most


@dataclass(frozen=True)
class Axis:
    """One velocity of a contact: normal ("n"), tangential ("t"), first tangential ("1"); or "e", the energy.

    In space "t" is the tangential speed, which has no sign. The limit of a joint has a normal velocity only,
    that of the joint away from its limit.
    """

    contact: int
    component: str = "n"

    def row(self, problem: ImpactProblem) -> Array:
        """The row (nv,) that gives this velocity; in space that of the first tangent for "t"."""
        return problem.J[self.contact, 0 if self.component == "n" else 1]

    def values(self, problem: ImpactProblem, v: Array) -> Array:
        """This velocity of generalized velocities (..., nv), in `unit`."""
        if self.component == "e":
            return np.asarray(problem.kinetic_energy(v))
        if self.component == "t" and problem.nt == 2:
            return np.linalg.norm(v @ problem.Jt[self.contact].T, axis=-1)
        return np.asarray(v @ self.row(problem))

    def size(self, problem: ImpactProblem) -> float:
        """How large it can be: the contact's own velocity unit, or the energy before."""
        if self.component == "e":
            return float(problem.kinetic_energy()) or 1.0
        return float(problem.scaling.velocity[self.contact])

    def unit(self, problem: ImpactProblem) -> str:
        """Unit of the values: m/s, rad/s at the limit of a hinge, J."""
        limit = limit_of(problem, self.contact)
        return "J" if self.component == "e" else f"{'m' if limit is None else limit.unit}/s"

    def quantity(self, problem: ImpactProblem) -> str:
        """The label without the contact's name."""
        unit = self.unit(problem)
        if self.component == "e":
            return f"kinetic energy ({unit})"
        if limit_of(problem, self.contact) is not None:
            return f"off its limit ({unit})"
        kind = "speed" if self.component == "t" and problem.nt == 2 else "velocity"
        return f"{_WORDS[self.component]} {kind} ({unit})"

    def label(self, problem: ImpactProblem) -> str:
        """The label of the axis, with its unit; a long one has two lines."""
        if self.component == "e":
            return self.quantity(problem)
        name, quantity = short_name(problem, self.contact), self.quantity(problem)
        return f"{name}{' ' if len(name) + len(quantity) < _LONGEST_LINE else chr(10)}{quantity}"


Panel = tuple[Axis, Axis]


def short_name(problem: ImpactProblem, contact: int) -> str:
    """A contact's name as a picture shows it: without what Matplotlib would obey, its middle left out."""
    name = for_matplotlib(problem.names[contact])
    half = _LONGEST_NAME // 2 - 1
    return name if len(name) <= _LONGEST_NAME else f"{name[:half]}…{name[-half:]}"


def row_label(problem: ImpactProblem, row: Array, name: str) -> str:
    """What a row (nv,) of a projection shows: a contact's velocity, a component of v, else its ``name``."""
    tangent = "t" if problem.nt == 1 else "1"
    for contact in range(problem.nc):
        for axis in (Axis(contact), Axis(contact, tangent)):
            if np.array_equal(axis.row(problem), row):
                return axis.label(problem)
    chosen = np.flatnonzero(row)
    if len(chosen) == 1 and row[chosen[0]] == 1.0:
        return f"component {chosen[0]} of v"
    return f"{name} · v"


def limit_of(problem: ImpactProblem, contact: int) -> RobotContact | None:
    """The joint's or tendon's limit that a contact of a robot is, if it is one."""
    if isinstance(problem, RobotProblem) and problem.contacts[contact].kind != "contact":
        return problem.contacts[contact]
    return None


def has_tangent(problem: ImpactProblem, contact: int) -> bool:
    """Whether there is a tangential velocity to show: not at limits, nor where the tangents are zero."""
    return limit_of(problem, contact) is None and bool(np.any(problem.Jt[contact]))


def contact_panel(contact: int) -> Panel:
    """Tangential (x) against normal (y) velocity of one contact."""
    return Axis(contact, "t"), Axis(contact, "n")


def normal_panel(first: int, second: int) -> Panel:
    """Normal velocities of two contacts."""
    return Axis(first, "n"), Axis(second, "n")


def default_panels(problem: ImpactProblem) -> list[Panel]:
    """Panels as in HP23: one contact alone; two with their normals between them; more: the contacts.

    Limits, which have one velocity each, are shown in pairs.
    """
    slipping = [i for i in range(problem.nc) if has_tangent(problem, i)]
    if problem.nc == 2:
        own = {i: [contact_panel(i)] if i in slipping else [] for i in range(2)}
        return [*own[0], normal_panel(0, 1), *own[1]]
    single = [i for i in range(problem.nc) if i not in slipping]
    if len(single) % 2:
        single.append(slipping[0] if slipping else single[0])
    pairs = [normal_panel(a, b) for a, b in zip(single[::2], single[1::2], strict=True)]
    if problem.nc == 1 and pairs:
        return [(Axis(0, "n"), Axis(0, "e"))]
    return [*(contact_panel(i) for i in slipping), *pairs]


def spread(problem: ImpactProblem, panel: Panel, v: Array) -> float:
    """How much of velocities (n, nv) a panel shows: their widths along its two principal directions, summed.

    Each axis counts in its own unit of size, so that rad/s and m/s can be compared.
    """
    points = np.stack([axis.values(problem, v) / axis.size(problem) for axis in panel], axis=1)
    points = points - points.mean(axis=0)
    _, directions = np.linalg.eigh(points.T @ points)
    return float(np.ptp(points @ directions, axis=0).sum())


def telling_panel(problem: ImpactProblem, v: Array) -> Panel:
    """The pair of velocities that shows most of velocities (n, nv), see `spread`."""
    v = _some(v)
    axes = [Axis(i) for i in range(problem.nc)]
    axes += [Axis(i, "t") for i in range(problem.nc) if has_tangent(problem, i)]
    width = {axis: float(np.ptp(axis.values(problem, v))) / axis.size(problem) for axis in axes}
    most = set(sorted(axes, key=lambda axis: -width[axis])[:_PAIRED])
    kept = [axis for axis in axes if axis in most]
    pairs = [_in_order(a, b) for a, b in combinations(kept, 2)] or default_panels(problem)
    return max(pairs, key=lambda pair: round(spread(problem, pair, v), 9))


def panels_of_most_interest(problem: ImpactProblem, v: Array) -> list[Panel]:
    """The default panels less those in which nothing is new; of many those that show most of (n, nv)."""
    v = _some(v)
    candidates = default_panels(problem)
    shown = {panel: spread(problem, panel, v) for panel in candidates}
    seen: set[Axis] = set()
    kept = []
    for panel in sorted(candidates, key=lambda panel: -shown[panel]):
        varying = {axis for axis in panel if not is_still(problem, axis, axis.values(problem, v))}
        if varying - seen or (panel[0].contact != panel[1].contact and len(varying) == 2):
            kept.append(panel)
            seen |= varying
    chosen = set(kept[:MOST_PANELS]) or {max(candidates, key=lambda panel: shown[panel])}
    return [panel for panel in candidates if panel in chosen]


def extent(problem: ImpactProblem, axis: Axis, values: Array) -> tuple[float, float]:
    """Limits that hold all values with some air; and zero, unless that would waste most of the axis."""
    low, high = float(np.min(values)), float(np.max(values))
    if axis.component == "n" or min(abs(low), abs(high)) < high - low or low * high <= 0.0:
        low, high = min(low, 0.0), max(high, 0.0)
    reach, middle = max(0.57 * (high - low), _STILL * axis.size(problem)), (low + high) / 2
    return middle - reach, middle + reach


def is_still(problem: ImpactProblem, axis: Axis, values: Array) -> bool:
    """Whether values (n,) of an axis differ by rounding only, which is not worth a picture."""
    return bool(np.ptp(values) <= _STILL * axis.size(problem))


def _some(v: Array) -> Array:
    return np.asarray(v[:: max(len(v) // _LOOKED_AT, 1)])


def _in_order(first: Axis, second: Axis) -> Panel:
    """A tangential velocity goes right, a normal one up."""
    return (second, first) if (first.component, second.component) == ("n", "t") else (first, second)
