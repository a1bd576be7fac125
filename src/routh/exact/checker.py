"""An independent check of exact sets, in velocity space and in fractions.

Nothing here uses the construction in ``routh.exact`` but the arithmetic of fractions: cells, friction and
solutions are written down again from HP23 (36) to (40). Two claims can be checked.

* A velocity is an outcome: a path of straight segments from v to it, with impulses, such that every
  segment satisfies the inclusion (39) throughout. `rebuild_path` finds one by linear programming
  (`PathProgram`) and `verify_path` decides.
* A union of polytopes cannot be left: `verify_invariance`. The polyhedra are then PPL's.

In space friction is polyhedral and its polygon is part of the claim: ``polygon`` holds unit directions in
order, counter-clockwise; friction lies in the hull of ``-mu n`` times them and opposes slip most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from types import ModuleType
from typing import TYPE_CHECKING, Literal

import numpy as np

from routh.base.status import InputError
from routh.exact.polyhedra import hull, load_ppl
from routh.exact.rational import RationalProblem, Vector, difference, dot, integers, reduced, times, transpose

if TYPE_CHECKING:
    from ppl import C_Polyhedron, Constraint_System, Generator, Linear_Expression


Impulse = tuple[Fraction, ...]  # of one contact: normal, then one or two tangential
Form = Sequence[Fraction]  # in the tangential velocity of one contact
Equation = tuple[list[Fraction], Fraction]  # coefficients of the weights, constant: their sum is 0
Wall = tuple[list[Fraction], Fraction, Fraction]  # coefficients, constant, share of the margin: sum <= 0
Vertices = Sequence[Vector]  # of one polytope, exact velocities

SMALL = (1e-9, 1e-12, 1e-7)  # scaled weights that count as zero when the active set is read; tried in turn
LINE: tuple[Vector, ...] = ((Fraction(1),), (Fraction(-1),))  # the friction polygon in the plane


@dataclass(frozen=True)
class CheckedPath:
    """Breakpoints and the impulses (normal, tangential) of every contact between them, all exact."""

    v: tuple[Vector, ...]  # (k + 1)
    impulses: tuple[tuple[Impulse, ...], ...]  # (k, nc, 1 + nt)


@dataclass(frozen=True)
class Proof:
    """Whether a claim holds, and if not, why not."""

    holds: bool
    why: str = ""

    def __bool__(self) -> bool:
        return self.holds


def friction_status(word: str, polygon: Sequence[Vector]) -> tuple[list[Vector], list[Form], list[Form]]:
    """Directions that friction opposes, forms in the slip that are zero, and forms that are not negative.

    In space "slides 2k" is the sector in which direction k opposes most, "slides 2k + 1" the ray on which it
    and the next one oppose equally.
    """
    count, nt = len(polygon), len(polygon[0])
    if word == "push":  # without friction
        return [(Fraction(0),) * nt], [], []
    if word == "sticks":
        return list(polygon), [[Fraction(int(i == j)) for j in range(nt)] for i in range(nt)], []
    if nt == 1:
        d = polygon[0] if word == "slides +" else polygon[1]
        return [d], [], [d]
    k, between = divmod(int(word.split()[1]), 2)
    d, before, after = polygon[k], polygon[k - 1], polygon[(k + 1) % count]
    if between:
        return [d, after], [difference(d, after)], [[a + b for a, b in zip(d, after, strict=True)]]
    return [d], [], [difference(d, before), difference(d, after)]


def along(form: Form, tangents: Sequence[Vector]) -> Vector:
    """A form in the slip as a form in v."""
    return tuple(dot(form, column) for column in zip(*tangents, strict=True))


def velocity_after(problem: RationalProblem, v: Vector, impulses: Sequence[Impulse]) -> Vector:
    """``v + M^-1 J^T impulses``."""
    pushes = [share for impulse in impulses for share in impulse]
    return tuple(x + dot(row, pushes) for x, row in zip(v, problem.response, strict=True))


def effect(problem: RationalProblem, i: int, impulse: Impulse) -> Vector:
    """What an impulse at contact i alone does to the velocity."""
    own = slice(i * len(impulse), (i + 1) * len(impulse))
    return tuple(dot(row[own], impulse) for row in problem.response)


class PathProgram:
    """Paths with given contact statuses as a linear program whose active set is then solved exactly.

    Impulses x >= 0 along force directions, segment by segment; walls hold at both ends of each.
    """

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
            columns = zip(*(problem.Jn[i] for i in pushing), strict=True)
            total = tuple(sum(column, Fraction(0)) for column in columns)
            self.below.append((total, k, Fraction(1)))  # the impact has not ended before the segment
        self.segments = len(statuses)
        self.effects = [effect(problem, i, impulse) for _, i, impulse in self.columns]

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

    def _row(self, row: Vector, breakpoint_: int) -> Equation:
        """``row . v`` at a breakpoint as coefficients of x and a constant."""
        coefficients = [
            dot(row, effect) if segment < breakpoint_ else Fraction(0)
            for (segment, *_), effect in zip(self.columns, self.effects, strict=True)
        ]
        return coefficients, dot(row, self.problem.v)

    @cached_property
    def _equations(self) -> list[Equation]:
        equations = [self._row(row, k) for row, k in self.equal]
        if self.target is not None:  # v moves only within the range of M^-1 J^T, where J v decides
            for row in self.problem.rows:
                coefficients, constant = self._row(row, self.segments)
                equations.append((coefficients, constant - dot(row, self.target)))
        return equations

    @cached_property
    def _walls(self) -> list[Wall]:
        return [(*self._row(row, k), share) for row, k, share in self.below]

    @cached_property
    def _speed(self) -> float:
        """The largest contact velocity before, m/s."""
        return max(abs(float(dot(row, self.problem.v))) for row in self.problem.rows)

    @cached_property
    def _sizes(self) -> np.ndarray:
        """The effect of each weight on the contact velocities, over the speed."""
        rows = self.problem.rows
        sizes = [max(abs(float(dot(row, effect))) for row in rows) / self._speed for effect in self.effects]
        return np.array(sizes)

    def solve(self, small: float) -> list[Fraction] | None:
        """Exact weights x, from the active set of a floating-point optimum of the margin."""
        return None if self._optimum is None else self._exact(self._optimum, self._equations, small)

    def near(self, weights: np.ndarray, at_rest: Sequence[int], small: float) -> list[Fraction] | None:
        """Exact weights beside given ones (n,), equal where the statuses leave them free.

        ``at_rest``: contacts whose normal velocity is zero in the end.
        """
        stopped = [self._row(self.problem.Jn[i], self.segments) for i in at_rest]
        return self._exact(np.append(weights * self._sizes, 0.0), self._equations + stopped, small)

    def satisfied(self, weights: list[Fraction], strictly: bool) -> bool:
        """Whether weights obey the statuses exactly; strictly: no segment starts after the end."""
        if min(weights, default=Fraction(0)) < 0:
            return False
        for coefficients, constant, share in self._walls:
            value = dot(coefficients, weights) + constant
            if value > 0 or (strictly and share and value == 0):
                return False
        return all(dot(coefficients, weights) + constant == 0 for coefficients, constant in self._equations)

    @cached_property
    def _optimum(self) -> np.ndarray | None:
        """Weights in units of their own effect on the contact velocities, and the margin last."""
        from scipy.optimize import linprog  # slow to load, and pictures do not check paths

        equations, walls, speed = self._equations, self._walls, self._speed
        n = len(self.columns)
        A_eq = np.array([[float(a) for a in c] for c, _ in equations]) / self._sizes / speed
        A_ub = np.array([[float(a) for a in c] for c, _, _ in walls]) / self._sizes / speed
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

    def _exact(self, x: np.ndarray, equations: list[Equation], small: float) -> list[Fraction] | None:
        """Solve the active equations exactly; inactive weights are zero, the margin is one unknown more.

        Unknowns that the equations leave open keep their value in ``x``; None where they contradict.
        """
        n, sizes, speed = len(self.columns), self._sizes, self._speed
        free = [j for j in range(n) if x[j] > small]
        rows = [[c[j] for j in free] + [Fraction(0), -d] for c, d in equations]
        for c, d, share in self._walls:
            value = float(d) / speed + float(share) * x[n]
            value += sum(float(a) * b / size for a, b, size in zip(c, x[:n], sizes, strict=True)) / speed
            if abs(value) < 10.0 * small:
                rows.append([c[j] for j in free] + [share, -d])
        solution = [Fraction(float(x[j] / sizes[j])) for j in free] + [Fraction(float(x[n] * speed))]
        table, pivots = reduced(rows, len(solution))
        if any(row[-1] for row in table[len(pivots) :]):
            return None
        left_open = [j for j in range(len(solution)) if j not in pivots]
        for row, column in zip(table, pivots, strict=False):
            solution[column] = row[-1] - sum(row[j] * solution[j] for j in left_open)
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
                points.append(velocity_after(self.problem, points[-1], step))
        return CheckedPath(tuple(points), tuple(impulses))


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
    _check_polygon(problem, polygon)
    why = "no statuses were given"
    goal = tuple(target)
    if problem.v == goal and min(dot(row, goal) for row in problem.Jn) >= 0:
        return Membership("reached", CheckedPath((goal,), ()))
    for statuses in hints:
        path = rebuild_path(problem, goal, statuses, polygon)
        missing = Proof(False, "no path was found")
        verdict = missing if path is None else verify_path(problem, path, goal, polygon)
        if verdict:
            return Membership("reached", path)
        why = verdict.why
    if any(_is_limit(problem, goal, statuses, polygon) for statuses in hints):
        return Membership("limit")
    return Membership("unproved", None, why)


def _check_polygon(problem: RationalProblem, polygon: Sequence[Vector]) -> None:
    if any(len(d) != problem.nt for d in polygon):
        raise InputError("polygon", got=f"directions of length {len(polygon[0])}", wanted=problem.nt)


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


def verify_invariance(
    problem: RationalProblem,
    thresholds: Sequence[Fraction],
    region: Sequence[Vertices],
    outcomes: Sequence[Vertices],
    *,
    polygon: Sequence[Vector] = LINE,
) -> Proof:
    """Whether ``region`` holds every state of the relaxed inclusion and ``outcomes`` every end of an impact.

    A solution with finitely many switches moves on straight segments, each within one closed cell of contact
    statuses and along that cell's force cone. So a region U is never left if, for every polytope P of U and
    every cell, the whole of ``((P ∩ cell) + cone) ∩ cell`` lies in U.

    Parameters
    ----------
    thresholds : (nc,) m/s, > 0: a contact may push while its normal velocity is at most this.
    region : polytopes whose union is claimed to contain v and to be invariant.
    outcomes : polytopes whose union is claimed to contain the part of it with ``Jn v >= 0`` and
        ``Jn_i v = 0`` for some i.
    polygon : in space, the directions of polyhedral friction, see `routh.exact.checker`.
    """
    _check_polygon(problem, polygon)
    if any(limit <= 0 for limit in thresholds):
        return Proof(False, "a threshold is not positive, so the relaxation proves nothing")
    ppl = load_ppl()
    pieces = [hull(ppl, vertices) for vertices in region]
    ends = [hull(ppl, vertices) for vertices in outcomes]
    start = hull(ppl, [problem.v])
    if not any(piece.contains(start) for piece in pieces):
        return Proof(False, "the velocity before is not in the region")
    cells = list(_cells(ppl, problem, thresholds, polygon))
    for index, piece in enumerate(pieces):
        for words, walls, rays in cells:
            entry = ppl.C_Polyhedron(piece)
            entry.add_constraints(walls)
            if entry.is_empty():
                continue
            moved = ppl.C_Polyhedron(entry)
            for ray in rays:
                moved.add_generator(ray)
            moved.add_constraints(walls)
            if not _inside(ppl, moved, pieces):
                return Proof(False, f"polytope {index} can be left with contacts {', '.join(words)}")
    return _ends_inside(ppl, problem, pieces, ends)


def _ends_inside(
    ppl: ModuleType, problem: RationalProblem, pieces: list[C_Polyhedron], ends: list[C_Polyhedron]
) -> Proof:
    forms = [_form(ppl, row) for row in problem.Jn]
    for index, piece in enumerate(pieces):
        apart = ppl.C_Polyhedron(piece)
        for form in forms:
            apart.add_constraint(form >= 0)
        for i, form in enumerate(forms):
            ended = ppl.C_Polyhedron(apart)
            ended.add_constraint(form == 0)
            if not ended.is_empty() and not _inside(ppl, ended, ends):
                return Proof(False, f"an impact can end at {problem.names[i]} in polytope {index}, outside")
    return Proof(True)


def _cells(
    ppl: ModuleType, problem: RationalProblem, thresholds: Sequence[Fraction], polygon: Sequence[Vector]
) -> Iterator[tuple[tuple[str, ...], Constraint_System, list[Generator]]]:
    """Every combination of statuses: its words, its walls and the extreme rays of its flow."""
    slides = ["slides +", "slides -"] if problem.nt == 1 else [f"slides {k}" for k in range(2 * len(polygon))]
    choices = []
    for i in range(problem.nc):
        slips = any(map(any, problem.Jt[i])) and problem.mu[i] > 0
        choices.append(["separates", "sticks", *slides] if slips else ["separates", "push"])
    for words in product(*choices):
        if set(words) == {"separates"}:
            continue
        walls, held, rays = ppl.Constraint_System(), [], ppl.Generator_System()
        rays.insert(ppl.point(ppl.Linear_Expression([0] * problem.nv, 0)))
        for i, word in enumerate(words):
            gap = _form(ppl, problem.Jn[i], -thresholds[i])
            if word == "separates":
                walls.insert(gap >= 0)
                continue
            walls.insert(gap <= 0)
            pressing, zero, positive = friction_status(word, polygon)
            for form in positive:
                walls.insert(_form(ppl, along(form, problem.Jt[i])) >= 0)
            for form in zero:
                held.append(_form(ppl, along(form, problem.Jt[i])) == 0)
                walls.insert(held[-1])
            for d in pressing:  # a unit normal force with full friction against d
                change = effect(problem, i, (Fraction(1), *(-problem.mu[i] * x for x in d)))
                rays.insert(ppl.ray(ppl.Linear_Expression(integers(change), 0)))
        cone = ppl.C_Polyhedron(rays)
        for constraint in held:
            cone.add_constraint(constraint)
        yield words, walls, [g for g in cone.minimized_generators() if not g.is_point()]


def _inside(ppl: ModuleType, part: C_Polyhedron, pieces: Sequence[C_Polyhedron], first: int = 0) -> bool:
    """Whether ``part`` lies in the union: cut off what a piece covers and ask again for the rest."""
    dimension = part.affine_dimension()
    if any(piece.contains(part) for piece in pieces[first:]):
        return True
    for k in range(first, len(pieces)):
        overlap = ppl.C_Polyhedron(part)
        overlap.intersection_assign(pieces[k])
        if overlap.affine_dimension() < dimension:
            continue
        rest = ppl.C_Polyhedron(part)
        for wall in pieces[k].minimized_constraints():
            if rest.relation_with(wall).implies(ppl.Poly_Con_Relation.is_included()):
                continue  # nothing is beyond it, though all of the rest may lie on it
            form = ppl.Linear_Expression(wall.coefficients(), wall.inhomogeneous_term())
            beyond = ppl.C_Polyhedron(rest)
            beyond.add_constraint(form <= 0)  # no equality: the overlap spans all of the part
            # a part of lower dimension is in the closure of what remains, and the pieces are closed
            solid = beyond.affine_dimension() == dimension and not pieces[k].contains(beyond)
            if solid and not _inside(ppl, beyond, pieces, k + 1):
                return False
            rest.add_constraint(wall)
        return True
    return False


def _form(ppl: ModuleType, row: Sequence[Fraction], constant: Fraction = Fraction(0)) -> Linear_Expression:
    """A positive multiple of ``row . v + constant``."""
    *coefficients, inhomogeneous = integers((*row, constant))
    return ppl.Linear_Expression(coefficients, inhomogeneous)
