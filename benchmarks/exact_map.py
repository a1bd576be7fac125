"""Exact maps: how long they take, and whether they say at random velocities what the exact set says there.

python benchmarks/exact_map.py                               # four systems, 1,000 velocities each
python benchmarks/exact_map.py --systems rocking-block --count 50

Half of the velocities are special: some components of contact velocity are zero, or equal. Compared are the
status, the union that the pieces of the set are (in fractions, both ways), their vertices and dimensions, the
outer sets and the gap, and what both say of points in and beside the set. Times are processor times.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np

import routh
from measure import Table, command_line, counted, timed
from routh.exact.automaton import automaton
from routh.exact.polyhedra import covered, load_ppl
from routh.exact.polytopes import PolytopeUnion
from routh.exact.rational import RationalProblem, Vector, times
from routh.exact.result import ExactSet

SYSTEMS = ("rocking-block", "compass-gait", "box-wall", "ramone")
_NEAR = 1e-9  # share of the speed: the two outer sets relax contacts equally to 1e-5 of eta


def velocity(problem: RationalProblem, rng: np.random.Generator) -> Vector:
    """A velocity before an impact, in short numbers; in half of the cases with coincidences."""
    auto = automaton(problem)
    while True:
        z = [Fraction(int(k), 256) for k in rng.integers(-512, 513, size=auto.dim)]
        if rng.random() < 0.5:
            z[rng.integers(auto.dim)] = Fraction(0)
            if rng.random() < 0.5:
                a, b = rng.integers(auto.dim, size=2)
                z[a] = z[b]
        v = tuple(Fraction(int(x.numerator), int(x.denominator)) for x in times(auto.back, z))
        if min(sum(a * b for a, b in zip(row, v, strict=True)) for row in problem.Jn) < 0:
            return v


def differences(ours: ExactSet, exact: ExactSet, rng: np.random.Generator) -> list[str]:
    """Which facts two exact sets do not share."""
    points = np.vstack([np.array(exact.vertices(), dtype=float), np.array(ours.vertices(), dtype=float)])
    weights = rng.dirichlet(np.full(len(points), 0.3), size=20)
    size = np.abs(exact.problem.v).max()
    trials = np.vstack([weights @ points, points + rng.normal(size=points.shape) * 0.02 * size])
    facts = {
        "status": ours.status is exact.status,
        "the union": within(ours.inner, exact.inner) and within(exact.inner, ours.inner),
        "outer set": ours.outer.contains(corners(exact.outer), _NEAR).all()
        and exact.outer.contains(corners(ours.outer), _NEAR).all(),
        "gap": abs(ours.gap - exact.gap) < exact.eta,
        "inner members": np.array_equal(ours.inner.contains(trials), exact.inner.contains(trials)),
        "outer members": np.array_equal(ours.contains(trials), exact.contains(trials)),
        "support": np.allclose(ours.support(exact.problem.Jn), exact.support(exact.problem.Jn), atol=1e-12),
    }
    return [name for name, same in facts.items() if not same]


def shapes(exact: ExactSet) -> Counter[tuple[int, frozenset[Vector]]]:
    """The pieces by their dimension and vertices."""
    return Counter((piece.dimension, frozenset(piece.vertices)) for piece in exact.inner)


def corners(union: PolytopeUnion) -> np.ndarray:
    return np.array(union.vertices(), dtype=float)


def within(small: PolytopeUnion, large: PolytopeUnion) -> bool:
    """Whether one union lies in the other, in fractions."""
    ppl, pieces = load_ppl(), [piece.piece for piece in large]
    return all(covered(piece.piece, pieces, ppl) for piece in small)


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS))
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--budget", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    columns = {"system": "<14", "status": "<10", "map, s": ".2f", "cones": "d", "regions": "d", "s": ".1f"}
    columns |= {"one v, ms": ".1f", "exact_set, ms": ".1f", "velocities": "d"}
    table = Table({**columns, "same pieces": "d", "differ in": "<"})
    for name in given.systems:
        problem = routh.systems.get(name).rational
        exact_map, spent = timed(routh.exact_map, problem, budget=given.budget)
        whole = exact_map.status.ok
        regions, took = timed(exact_map.regions) if whole else ((), 0.0)
        rng, unlike, same, times_ = np.random.default_rng(given.seed), Counter[str](), 0, []
        for _ in range(given.count):
            v = velocity(problem, rng)
            here = RationalProblem(problem.M, problem.Jn, problem.Jt, problem.mu, v, problem.names)
            ours, exact = exact_map.at(v), routh.exact_set(here)
            times_.append((ours.seconds, exact.seconds))
            unlike.update(differences(ours, exact, rng))
            same += shapes(ours) == shapes(exact)
        one, direct = 1e3 * np.mean(times_, axis=0)
        cells = spent, len(exact_map.pieces), len(regions), took, one, direct, given.count, same
        table.row(name, exact_map.status.name, *cells, counted(unlike) or "nothing")


if __name__ == "__main__":
    main()
