"""An independent check of exact sets, in velocity space and in fractions.

Nothing here uses the construction in ``routh.exact``: cells, friction and solutions are written down
again from HP23 (36) to (40). Two claims can be checked.

* A velocity is an outcome: a path of straight segments from v to it, with impulses, such that every
  segment satisfies the inclusion (39) throughout. `rebuild_path` finds one by linear programming and
  `verify_path` decides.
* A union of polytopes cannot be left: `verify_invariance`.

In space friction is polyhedral and its polygon is part of the claim: ``polygon`` holds unit directions in
order, counter-clockwise; friction lies in the hull of ``-mu n`` times them and opposes slip most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from scipy.optimize import linprog

from routh.exact.rational import RationalProblem

Vector = tuple[Fraction, ...]
Impulse = tuple[Fraction, ...]  # of one contact: normal, then one or two tangential
LINE: tuple[Vector, ...] = ((Fraction(1),), (Fraction(-1),))  # the friction polygon in the plane
Equation = tuple[list[Fraction], Fraction]  # coefficients of the weights, constant: their sum is 0
_SMALL = (1e-9, 1e-12, 1e-7)  # scaled weights that count as zero when the active set is read; tried in turn
Wall = tuple[list[Fraction], Fraction, Fraction]  # coefficients, constant, share of the margin: sum <= 0


@dataclass(frozen=True)
class CheckedPath:
    """Breakpoints and the impulses (normal, tangential) of every contact between them, all exact."""

    v: tuple[Vector, ...]  # (k + 1)
    impulses: tuple[tuple[Impulse, ...], ...]  # (k, nc, 1 + nt)


@dataclass(frozen=True)
class Verdict:
    """Whether a claim holds, and if not, why not."""

    holds: bool
    why: str = ""

    def __bool__(self) -> bool:
        return self.holds


@dataclass(frozen=True)
class Membership:
    """What was proved about a velocity.

    "reached": ``path`` is a solution that ends there. "limit": solutions end arbitrarily close to it.
    "unproved": neither was found with the statuses given.
    """

    kind: Literal["reached", "limit", "unproved"]
    path: CheckedPath | None = None
    why: str = ""

    def __bool__(self) -> bool:
        return self.kind != "unproved"


def check_member(
    problem: RationalProblem,
    target: Sequence[Fraction],
    hints: Sequence[Sequence[Sequence[str]]],
    *,
    polygon: Sequence[Vector] = LINE,
) -> Membership:
    """Prove that ``target`` (nv,) is an outcome or a limit of outcomes, along one of the hinted statuses."""
    if any(len(d) != problem.nt for d in polygon):
        raise ValueError(f"polygon: got directions of length {len(polygon[0])}; wanted {problem.nt}")
    why = "no statuses were given"
    goal = tuple(target)
    if problem.v == goal and min(_rate(row, goal) for row in problem.Jn) >= 0:
        return Membership("reached", CheckedPath((goal,), ()))
    for statuses in hints:
        path = rebuild_path(problem, goal, statuses, polygon)
        verdict = Verdict(False, "no path was found")
        if path is not None:
            verdict = verify_path(problem, path, goal, polygon)
        if verdict:
            return Membership("reached", path)
        why = verdict.why
    for statuses in hints:
        if _is_limit(problem, goal, statuses, polygon):
            return Membership("limit")
    return Membership("unproved", None, why)


def _is_limit(
    problem: RationalProblem, goal: Vector, statuses: Sequence[Sequence[str]], polygon: Sequence[Vector]
) -> bool:
    """Whether a path to ``goal`` that touches the end of the impact early is a limit of paths that do not.

    Paths with given statuses form a convex set. If one of them never ends early, mixing a little of it into
    the path to the goal gives solutions whose last velocity tends to the goal.
    """
    if min(_rate(row, goal) for row in problem.Jn) != 0:
        return False
    for small in _SMALL:
        closed = _Program(problem, goal, statuses, polygon)
        touching = closed.solve(small)
        if touching is None or closed.path(touching).v[-1] != goal or not closed.satisfied(touching, False):
            continue
        loose = _Program(problem, None, statuses, polygon)
        free = loose.solve(small)
        if free is not None and loose.satisfied(free, True):
            return True
    return False


def verify_path(
    problem: RationalProblem, path: CheckedPath, target: Vector, polygon: Sequence[Vector] = LINE
) -> Verdict:
    """Whether ``path`` solves HP23 (39) from the velocity before to ``target``, where the impact ends."""
    if path.v[0] != problem.v or path.v[-1] != tuple(target):
        return Verdict(False, "the path does not join the velocity before to the target")
    for k, impulses in enumerate(path.impulses):
        before, after = path.v[k], path.v[k + 1]
        if _after(problem, before, impulses) != after:
            return Verdict(False, f"segment {k}: the impulses do not give the change of velocity")
        if min(_rate(row, before) for row in problem.Jn) >= 0:
            return Verdict(False, f"segment {k}: the impact had ended before it")
        for i, impulse in enumerate(impulses):
            fault = _contact_fault(problem, i, impulse, (before, after), polygon)
            if fault:
                return Verdict(False, f"segment {k}, contact {problem.names[i]}: {fault}")
        if _energy(problem, after) > _energy(problem, before):
            return Verdict(False, f"segment {k}: kinetic energy grows")
    ends = [_rate(row, path.v[-1]) for row in problem.Jn]
    if min(ends) < 0 or (path.impulses and min(ends) > 0):
        return Verdict(False, "the path does not end where the impact ends")
    return Verdict(True)


def _contact_fault(
    problem: RationalProblem,
    i: int,
    impulse: Impulse,
    ends: tuple[Vector, Vector],
    polygon: Sequence[Vector],
) -> str:
    """What is wrong with one contact's impulse along the segment between ``ends``, if anything.

    y and t are linear along the segment and the most that friction can dissipate is convex in t, so both
    ends decide for all of it.
    """
    normal, tangent = impulse[0], impulse[1:]
    if normal < 0:
        return "it pulls"
    if normal == 0:
        return "friction without pressure" if any(tangent) else ""
    if max(_rate(problem.Jn[i], v) for v in ends) > 0:
        return "it pushes while it separates"
    limit = problem.mu[i] * normal
    if not _in_polygon(tangent, limit, polygon):
        return "friction outside its cone"
    for v in ends:
        slip = [_rate(row, v) for row in problem.Jt[i]]
        if _rate(tangent, slip) != -limit * max(_rate(d, slip) for d in polygon):
            return "friction does not oppose slip fully"
    return ""


def _in_polygon(point: Vector, size: Fraction, polygon: Sequence[Vector]) -> bool:
    """Whether a point lies in the hull of ``-size`` times the polygon's directions."""
    if len(point) == 1:
        return abs(point[0]) <= size
    corners = [tuple(-size * x for x in d) for d in polygon]
    for k, (x, y) in enumerate(corners):
        next_x, next_y = corners[(k + 1) % len(corners)]
        if (next_x - x) * (point[1] - y) - (next_y - y) * (point[0] - x) < 0:
            return False
    return True


def rebuild_path(
    problem: RationalProblem,
    target: Sequence[Fraction],
    statuses: Sequence[Sequence[str]],
    polygon: Sequence[Vector] = LINE,
) -> CheckedPath | None:
    """A path to ``target`` whose segments have the given contact statuses, or None.

    A linear program in floating point finds which impulses and walls are active; the path is then the exact
    solution of those equations. It proves nothing until `verify_path` says so.
    """
    program = _Program(problem, tuple(target), statuses, polygon)
    path = None
    for small in _SMALL:
        weights = program.solve(small)
        path = path if weights is None else program.path(weights)
        if path is not None and verify_path(problem, path, tuple(target), polygon):
            break
    return path


class _Program:
    """Impulses x >= 0 along force directions, segment by segment; walls hold at both ends of each."""

    def __init__(
        self,
        problem: RationalProblem,
        target: Vector | None,
        statuses: Sequence[Sequence[str]],
        polygon: Sequence[Vector],
    ) -> None:
        self.problem, self.target, self.polygon = problem, target, polygon
        # (segment, contact, impulse of a unit weight); weights are >= 0
        self.columns: list[tuple[int, int, Impulse]] = []
        self.equal: list[tuple[Vector, int]] = []  # (row of J, breakpoint): zero there
        self.below: list[tuple[Vector, int, Fraction]] = []  # (row, breakpoint, share of the margin): <= 0
        for k, words in enumerate(statuses):
            pushing = [i for i, word in enumerate(words) if word != "separates"]
            for i in pushing:
                self._contact(k, i, words[i])
            total = tuple(
                sum(column, Fraction(0)) for column in zip(*(problem.Jn[i] for i in pushing), strict=True)
            )
            self.below.append((total, k, Fraction(1)))  # the impact has not ended before the segment
        self.segments = len(statuses)
        none = tuple(Fraction(0) for _ in range(1 + problem.nt))
        self.effects = [
            velocity_change(problem, [impulse if j == i else none for j in range(problem.nc)])
            for _, i, impulse in self.columns
        ]

    def _contact(self, k: int, i: int, word: str) -> None:
        problem, polygon = self.problem, self.polygon
        mu, normal, tangents = problem.mu[i], problem.Jn[i], problem.Jt[i]
        self.below += [(normal, end, Fraction(0)) for end in (k, k + 1)]
        if mu == 0 or not any(map(any, tangents)):
            self.columns.append((k, i, (Fraction(1), *(Fraction(0) for _ in tangents))))
            return
        pressing, zero, positive = friction_status(word, polygon)
        if word == "sticks":  # pressure alone is inside the cone; where mu is large, that matters to rounding
            self.columns.append((k, i, (Fraction(1), *(Fraction(0) for _ in tangents))))
        for d in pressing:
            impulse = (Fraction(1), *(-mu * x for x in d))
            self.columns.append((k, i, tuple(x / mu for x in impulse) if word == "sticks" else impulse))
        for end in (k, k + 1):
            self.equal += [(along(form, tangents), end) for form in zero]
            self.below += [(along([-x for x in form], tangents), end, Fraction(0)) for form in positive]

    def _row(self, row: Vector, breakpoint_: int) -> tuple[list[Fraction], Fraction]:
        """``row . v`` at a breakpoint as coefficients of x and a constant."""
        coefficients = [
            _rate(row, effect) if segment < breakpoint_ else Fraction(0)
            for (segment, *_), effect in zip(self.columns, self.effects, strict=True)
        ]
        return coefficients, _rate(row, self.problem.v)

    def solve(self, small: float) -> list[Fraction] | None:
        """Exact weights x, from the active set of a floating-point optimum of the margin."""
        rows = self.problem.rows
        equations = [self._row(row, k) for row, k in self.equal]
        if self.target is not None:  # v moves only within the range of M^-1 J^T, where J v decides
            for row in rows:
                coefficients, constant = self._row(row, self.segments)
                equations.append((coefficients, constant - _rate(row, self.target)))
        walls = [(*self._row(row, k), share) for row, k, share in self.below]
        speed = max(abs(float(_rate(row, self.problem.v))) for row in rows)
        sizes = [max(abs(float(_rate(row, effect))) for row in rows) / speed for effect in self.effects]
        x = self._optimum(equations, walls, np.array(sizes), speed)
        return None if x is None else self._exact(x, np.array(sizes), speed, equations, walls, small)

    def satisfied(self, weights: list[Fraction], strictly: bool) -> bool:
        """Whether weights obey the statuses exactly; strictly: no segment starts after the end."""
        if min(weights, default=Fraction(0)) < 0:
            return False
        rows = [(*self._row(row, k), share) for row, k, share in self.below]
        for coefficients, constant, share in rows:
            value = _rate(coefficients, weights) + constant
            if value > 0 or (strictly and share and value == 0):
                return False
        return all(_rate(c, weights) + d == 0 for c, d in (self._row(row, k) for row, k in self.equal))

    def _optimum(
        self, equations: list[Equation], walls: list[Wall], sizes: np.ndarray, speed: float
    ) -> np.ndarray | None:
        """Weights in units of their own effect on the contact velocities, and the margin last."""
        n = len(self.columns)
        A_eq = np.array([[float(a) for a in c] for c, _ in equations]) / sizes / speed
        A_ub = np.array([[float(a) for a in c] for c, _, _ in walls]) / sizes / speed
        shares = np.array([[float(share)] for _, _, share in walls])
        result = linprog(
            np.append(np.full(n, 1e-6), -1.0),
            np.hstack([A_ub, shares]),
            np.array([-float(d) for _, d, _ in walls]) / speed,
            np.hstack([A_eq, np.zeros((len(equations), 1))]),
            np.array([-float(d) for _, d in equations]) / speed,
            bounds=[(0, None)] * n + [(0, 1)],
            method="highs-ds",
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        return result.x if result.success else None

    def _exact(
        self,
        x: np.ndarray,
        sizes: np.ndarray,
        speed: float,
        equations: list[Equation],
        walls: list[Wall],
        small: float,
    ) -> list[Fraction] | None:
        """Solve the active equations exactly; inactive weights are zero, the margin is one unknown more."""
        n = len(self.columns)
        free = [j for j in range(n) if x[j] > small]
        rows = [[c[j] for j in free] + [Fraction(0), -d] for c, d in equations]
        for c, d, share in walls:
            value = float(d) / speed + float(share) * x[n]
            value += sum(float(a) * b / size for a, b, size in zip(c, x[:n], sizes, strict=True)) / speed
            if abs(value) < 10.0 * small:
                rows.append([c[j] for j in free] + [share, -d])
        guess = [Fraction(float(x[j] / sizes[j])) for j in free] + [Fraction(float(x[n] * speed))]
        solution = _eliminate(rows, len(guess), guess)
        if solution is None:
            return None
        weights = [Fraction(0)] * n
        for j, value in zip(free, solution, strict=False):
            weights[j] = value
        return weights

    def path(self, weights: list[Fraction]) -> CheckedPath:
        """Breakpoints and impulses from weights; segments without impulse are left out."""
        points, impulses = [self.problem.v], []
        for k in range(self.segments):
            push = [[Fraction(0)] * (1 + self.problem.nt) for _ in range(self.problem.nc)]
            for (segment, i, impulse), x in zip(self.columns, weights, strict=True):
                if segment == k:
                    push[i] = [total + share * x for total, share in zip(push[i], impulse, strict=True)]
            if any(map(any, push)):
                step = tuple(tuple(impulse) for impulse in push)
                impulses.append(step)
                points.append(_after(self.problem, points[-1], step))
        return CheckedPath(tuple(points), tuple(impulses))


Form = Sequence[Fraction]  # in the tangential velocity of one contact


def friction_status(word: str, polygon: Sequence[Vector]) -> tuple[list[Vector], list[Form], list[Form]]:
    """Directions that friction opposes, forms in the slip that are zero, and forms that are not negative.

    In space "slides 2k" is the sector in which direction k opposes most, "slides 2k + 1" the ray on which it
    and the next one oppose equally.
    """
    count, nt = len(polygon), len(polygon[0])
    if word == "sticks":
        return list(polygon), [[Fraction(int(i == j)) for j in range(nt)] for i in range(nt)], []
    if nt == 1:
        d = polygon[0] if word == "slides +" else polygon[1]
        return [d], [], [d]
    k, between = divmod(int(word.split()[1]), 2)
    d, before, after = polygon[k], polygon[k - 1], polygon[(k + 1) % count]
    if between:
        return [d, after], [_minus(d, after)], [[a + b for a, b in zip(d, after, strict=True)]]
    return [d], [], [_minus(d, before), _minus(d, after)]


def _minus(a: Form, b: Form) -> Form:
    return [x - y for x, y in zip(a, b, strict=True)]


def along(form: Form, tangents: Sequence[Vector]) -> Vector:
    """A form in the slip as a form in v."""
    return tuple(_rate(form, column) for column in zip(*tangents, strict=True))


def _after(problem: RationalProblem, v: Vector, impulses: Sequence[Impulse]) -> Vector:
    """``v + M^-1 J^T impulses``."""
    return tuple(a + b for a, b in zip(v, velocity_change(problem, impulses), strict=True))


def velocity_change(problem: RationalProblem, impulses: Sequence[Impulse]) -> Vector:
    """``M^-1 J^T impulses``."""
    force = [Fraction(0)] * problem.nv
    for i, impulse in enumerate(impulses):
        for share, row in zip(impulse, (problem.Jn[i], *problem.Jt[i]), strict=True):
            if share:
                force = [f + share * x for f, x in zip(force, row, strict=True)]
    return _solve_exact([list(row) for row in problem.M], force)


def _rate(row: Sequence[Fraction], v: Sequence[Fraction]) -> Fraction:
    total = Fraction(0)
    for a, b in zip(row, v, strict=True):
        if a and b:
            total += a * b
    return total


def _energy(problem: RationalProblem, v: Vector) -> Fraction:
    """Twice the kinetic energy."""
    return _rate(v, [_rate(row, v) for row in problem.M])


def _solve_exact(rows: list[list[Fraction]], right: Sequence[Fraction]) -> Vector:
    """The solution of a square system by elimination."""
    table = [[*row, b] for row, b in zip(rows, right, strict=True)]
    solution = _eliminate(table, len(rows), None)
    if solution is None:
        raise ValueError("M: is singular; wanted a positive definite mass matrix")
    return tuple(solution)


def _eliminate(
    table: list[list[Fraction]], unknowns: int, guess: list[Fraction] | None
) -> list[Fraction] | None:
    """Solve ``table[:, :-1] x = table[:, -1]`` exactly; None where inconsistent.

    Unknowns that the equations leave open keep their guess (without one: None).
    """
    rows = [list(row) for row in table]
    pivots: list[int] = []
    for column in range(unknowns):
        top = len(pivots)
        pivot = next((i for i in range(top, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[top], rows[pivot] = rows[pivot], rows[top]
        lead = rows[top][column]
        rows[top] = [x / lead if x else x for x in rows[top]]
        for i in range(len(rows)):
            if i != top and rows[i][column]:
                factor = rows[i][column]
                rows[i] = [a - factor * b if b else a for a, b in zip(rows[i], rows[top], strict=True)]
        pivots.append(column)
    if any(row[-1] for row in rows[len(pivots) :]):
        return None
    if guess is None and len(pivots) < unknowns:
        return None
    solution = list(guess) if guess is not None else [Fraction(0)] * unknowns
    for k, column in enumerate(pivots):
        open_part = sum(
            (rows[k][j] * solution[j] for j in range(unknowns) if j not in pivots and rows[k][j]), Fraction(0)
        )
        solution[column] = rows[k][-1] - open_part
    return solution
