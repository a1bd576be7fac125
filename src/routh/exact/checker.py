"""An independent check of exact sets, in velocity space and in fractions.

Nothing here uses the construction in ``routh.exact`` but the arithmetic of fractions: cells, friction and
solutions are written down again from HP23 (36) to (40). Two claims can be checked.

* A velocity is an outcome: a path of straight segments from v to it, with impulses, such that every
  segment satisfies the inclusion (39) throughout. `rebuild_path` finds one by linear programming and
  `verify_path` decides.
* A union of polytopes cannot be left: `routh.exact.checker_outer.verify_invariance`.

In space friction is polyhedral and its polygon is part of the claim: ``polygon`` holds unit directions in
order, counter-clockwise; friction lies in the hull of ``-mu n`` times them and opposes slip most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from routh.exact.algebra import Vector, difference, dot, times, transpose
from routh.exact.checker_parts import LINE, CheckedPath, Impulse, Proof
from routh.exact.checker_program import SMALL, PathProgram
from routh.exact.rational import RationalProblem


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
    if problem.v == goal and min(dot(row, goal) for row in problem.Jn) >= 0:
        return Membership("reached", CheckedPath((goal,), ()))
    for statuses in hints:
        path = rebuild_path(problem, goal, statuses, polygon)
        verdict = Proof(False, "no path was found")
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
    if min(dot(row, goal) for row in problem.Jn) != 0:
        return False
    closed, loose = (PathProgram(problem, target, statuses, polygon) for target in (goal, None))
    for small in SMALL:
        touching = closed.solve(small)
        if touching is None or closed.path(touching).v[-1] != goal or not closed.satisfied(touching, False):
            continue
        free = loose.solve(small)
        if free is not None and loose.satisfied(free, True):
            return True
    return False


def verify_path(
    problem: RationalProblem, path: CheckedPath, target: Vector, polygon: Sequence[Vector] = LINE
) -> Proof:
    """Whether ``path`` solves HP23 (39) from the velocity before to ``target``, where the impact ends."""
    if path.v[0] != problem.v or path.v[-1] != tuple(target):
        return Proof(False, "the path does not join the velocity before to the target")
    for k, impulses in enumerate(path.impulses):
        before, after = path.v[k], path.v[k + 1]
        change = difference(after, before)
        pushes = [share for impulse in impulses for share in impulse]
        if times(problem.M, change) != times(transpose(problem.rows), pushes):
            return Proof(False, f"segment {k}: the impulses do not give the change of velocity")
        if min(dot(row, before) for row in problem.Jn) >= 0:
            return Proof(False, f"segment {k}: the impact had ended before it")
        for i, impulse in enumerate(impulses):
            fault = _contact_fault(problem, i, impulse, (before, after), polygon)
            if fault:
                return Proof(False, f"segment {k}, contact {problem.names[i]}: {fault}")
        if dot(change, times(problem.M, [a + b for a, b in zip(before, after, strict=True)])) > 0:
            return Proof(False, f"segment {k}: kinetic energy grows")
    ends = [dot(row, path.v[-1]) for row in problem.Jn]
    if min(ends) < 0 or (path.impulses and min(ends) > 0):
        return Proof(False, "the path does not end where the impact ends")
    return Proof(True)


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
    if max(dot(problem.Jn[i], v) for v in ends) > 0:
        return "it pushes while it separates"
    limit = problem.mu[i] * normal
    if not _in_polygon(tangent, limit, polygon):
        return "friction outside its cone"
    for v in ends:
        slip = [dot(row, v) for row in problem.Jt[i]]
        if dot(tangent, slip) != -limit * max(dot(d, slip) for d in polygon):
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
    program = PathProgram(problem, tuple(target), statuses, polygon)
    path = None
    for small in SMALL:
        weights = program.solve(small)
        path = path if weights is None else program.path(weights)
        if path is not None and verify_path(problem, path, tuple(target), polygon):
            break
    return path
