"""Derivatives of constrained steps against central differences, on random systems.

python benchmarks/constraints_gradients.py [--systems 1000]

Each system has bilateral and unilateral rows and contacts, in the plane or in space. A random number made of
the velocity after, and one made of the forces, are differentiated with respect to every field; each field is
changed along a random direction and the slope compared with central differences of sixth order, with a
smaller step where those of fourth order say otherwise. The error is a share of the sum of the parts that the
slope is made of, or of 1e-4 of those of the number where that is more: what is smaller drowns in the rounding
of the differences. Where a mode changes inside the stencil there is a kink, and nothing to compare. Newton's
method goes on to rounding here: differences magnify what an iteration leaves over.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from contextlib import contextmanager

import numpy as np

from measure import Table, command_line, timed
from routh.base import tolerances
from routh.constraints import Bilateral, ConstrainedSystem, Contact, Unilateral, differentiate, solve
from routh.problem.friction import ContactMode

STEPS = (1e-3, 1e-4)  # shares of a number by which it is changed; the second where the first is too long
WEIGHTS = np.array([[3 / 4, -3 / 20, 1 / 60], [2 / 3, -1 / 12, 0.0]])  # central, of sixth and fourth order
LONG = 1e-9  # share by which both orders may differ; the sixth is then much nearer
ROWS = ("G", "phi", "stiffness", "damping", "bias")
CONTACT = (
    *("Jn", "Jt", "phi", "mu", "stiffness", "damping", "bias"),
    *("tangential_stiffness", "tangential_damping", "deformation"),
)


def random_system(rng: np.random.Generator) -> ConstrainedSystem:
    """Rows whose springs and dampers answer within the step by 1 % to 1e3 times their inertia's share."""
    nv, nt = int(rng.integers(2, 8)), int(rng.integers(1, 3))
    root = rng.normal(size=(nv, nv))
    M = root @ root.T + 0.3 * np.eye(nv)
    h = 10.0 ** rng.uniform(-4, -1)

    def strength(n: int) -> dict[str, np.ndarray]:
        answer = 10.0 ** rng.uniform(-2, 3, (2, n))
        return {"stiffness": answer[0] / h**2, "damping": answer[1] / h}

    items: list[Bilateral | Unilateral | Contact] = []
    for make in (Bilateral, Unilateral):
        n = int(rng.integers(0, 4))
        if n:
            phi = h * rng.normal(size=n)
            G = rng.normal(size=(n, nv))
            items.append(make(G, phi, bias=rng.normal(size=n) / h, **strength(n)))
    n = int(rng.integers(1, 4))
    springs = rng.random() < 0.5
    more = strength(n)
    items.append(
        Contact(
            rng.normal(size=(n, nv)),
            rng.normal(size=(n, nt, nv)),
            -np.abs(h * rng.normal(size=n)),
            mu=rng.choice([0.0, 0.2, 0.5, 1.0], n),
            bias=rng.normal(size=(n, 1 + nt)) / h,
            tangential_stiffness=more["stiffness"] if springs else 0.0,
            tangential_damping=more["damping"],
            deformation=h * rng.normal(size=(n, nt)),
            **strength(n),
        )
    )
    return ConstrainedSystem(M, rng.normal(size=nv) / h, rng.normal(size=nv), items, h)


def fields(system: ConstrainedSystem) -> list[tuple[int | None, str]]:
    """The numbers of a system: (constraint, field), or (None, field) of its own."""
    own: list[tuple[int | None, str]] = [(None, name) for name in ("M", "f", "v", "dt")]
    for k, item in enumerate(system.constraints):
        own += [(k, name) for name in (CONTACT if isinstance(item, Contact) else ROWS)]
    return own


def value(system: ConstrainedSystem, place: tuple[int | None, str]) -> np.ndarray:
    """The present numbers of a field."""
    k, name = place
    owner = system if k is None else system.constraints[k]
    found = np.asarray(getattr(owner, name))
    if name == "Jt":
        item = system.constraints[k]
        return found.reshape(len(item), item.nt, -1)
    return found


def changed(system: ConstrainedSystem, place: tuple[int | None, str], new: np.ndarray) -> ConstrainedSystem:
    """The same system with other numbers in one field."""
    k, name = place
    own = {part: getattr(system, part) for part in ("M", "f", "v", "constraints", "dt")}
    if k is None:
        own[name] = float(new) if name == "dt" else new
        return ConstrainedSystem(**own)
    item = system.constraints[k]
    parts = {part: value(system, (k, part)) for part in (CONTACT if isinstance(item, Contact) else ROWS)}
    items = list(system.constraints)
    items[k] = type(item)(**parts | {name: new})
    return ConstrainedSystem(**own | {"constraints": items})


def same_modes(one, two) -> bool:
    """Whether every row does the same in two solutions."""
    return all(np.array_equal(a, b) for a, b in zip(one.modes, two.modes, strict=True))


@contextmanager
def to_rounding():
    """Newton's method for friction goes on until its residual is rounding."""
    usual = tolerances.COULOMB_ITERATION
    tolerances.COULOMB_ITERATION = 3e-16
    try:
        yield
    finally:
        tolerances.COULOMB_ITERATION = usual


def compare(seed: int) -> list[tuple[str, str, float, bool]]:
    """(what, field, relative error or NaN at a kink, whether it was flagged) of one system."""
    rng = np.random.default_rng([25, seed])
    system = random_system(rng)
    with to_rounding():
        solved = solve(system, solver="newton")
    if not solved.status.ok:  # Newton's method alone does not settle: cone programs, to their own tolerance
        solved = solve(system)
    assert solved.status.ok
    derivative = differentiate(solved)
    on_v = rng.normal(size=system.nv)
    on_force = [rng.normal(size=force.shape) for force in solved.forces]
    gradients = {"v": derivative.gradient(v=on_v), "forces": derivative.gradient(forces=on_force)}

    floors = {
        "v": 1e-4 * np.abs(on_v * solved.v).sum(),
        "forces": 1e-4 * sum(np.abs(a * b).sum() for a, b in zip(on_force, solved.forces, strict=True)),
    }

    def numbers(found):
        return {
            "v": on_v @ found.v,
            "forces": sum(np.vdot(a, b) for a, b in zip(on_force, found.forces, strict=True)),
        }

    rows = []
    for place in fields(system):
        base = value(system, place)
        direction = base * rng.normal(size=base.shape)
        if place[1] == "M":
            noise = rng.normal(size=base.shape)
            direction = base * (noise + noise.T)
        parts = {name: _part(gradient, place) * direction for name, gradient in gradients.items()}
        size = {name: max(np.abs(part).sum(), floors[name]) for name, part in parts.items()}
        for step in STEPS:
            moved = _differences(solved, (place, base, direction), step, numbers)
            slopes = {name: WEIGHTS @ found / step for name, found in moved.items()}
            if all(abs(one - two) <= LONG * size[name] for name, (one, two) in slopes.items()):
                break
        kind = "" if place[0] is None else type(system.constraints[place[0]]).__name__.lower() + "."
        for name, part in parts.items():
            missed = abs(float(part.sum()) - slopes[name][0])
            error = missed / size[name] if missed > 0.0 else missed
            rows.append((name, kind + place[1], error, derivative.near_kink))
    return rows


def _part(gradient, place: tuple[int | None, str]) -> np.ndarray:
    k, field = place
    return np.asarray(getattr(gradient if k is None else gradient.constraints[k], field))


def _differences(solved, change, step: float, numbers) -> dict[str, np.ndarray]:
    """f(x + k s) - f(x - k s) for k = 1, 2, 3 of every number; NaN where a mode changes."""
    place, base, direction = change
    found: dict[str, list[float]] = defaultdict(list)
    for reach in (1, 2, 3):
        systems = [
            changed(solved.system, place, base + sign * reach * step * direction) for sign in (1.0, -1.0)
        ]
        with to_rounding():
            ends = [solve(system, warm=solved, solver="newton") for system in systems]
        kink = not all(same_modes(end, solved) and end.status.ok for end in ends)
        above, below = (numbers(end) for end in ends)
        for name in above:
            found[name].append(np.nan if kink else above[name] - below[name])
    return {name: np.array(values) for name, values in found.items()}


def modes_met(seed: int) -> Counter:
    """How often rows acted, and contacts separated, stuck and slid, in one system."""
    solved = solve(random_system(np.random.default_rng([25, seed])))
    active, mode = solved.acting.active, solved.acting.mode
    words = [ContactMode(int(m)).word for m in mode]
    rows = ["unilateral acts" if a else "unilateral idle" for a in active]
    return Counter([*words, *rows, *["bilateral"] * solved.system.rows.nb])


def ratio(count: int) -> float:
    """Processor time of a derivative with one gradient over that of the solve before it."""
    systems = [random_system(np.random.default_rng([25, seed])) for seed in range(count)]
    solved, forward = timed(lambda: [solve(system) for system in systems])
    _, back = timed(lambda: [differentiate(one).gradient(v=np.ones(one.system.nv)) for one in solved])
    return back / forward


def main() -> None:
    """Print the largest and the median error of each field."""
    parser = command_line(__doc__)
    parser.add_argument("--systems", type=int, default=1000)
    count = parser.parse_args().systems
    errors, kinks = defaultdict(list), 0
    flagged, met = 0, Counter()
    for seed in range(count):
        rows = compare(seed)
        met += modes_met(seed)
        flagged += rows[0][3]
        for what, field, error, _ in rows:
            if np.isnan(error):
                kinks += 1
            else:
                errors[field, what].append(error)
    print(f"{count} systems, rows met: " + ", ".join(f"{name} {n}" for name, n in sorted(met.items())))
    table = Table({"field": "<28", "of": "<", "compared": "d", "median": ".1e", "largest": ".1e"})
    for (field, what), found in sorted(errors.items()):
        table.row(field, what, len(found), np.median(found), np.max(found))
    every = np.concatenate(list(errors.values()))
    print(f"all: {len(every)} slopes, largest error {every.max():.1e}, above 1e-6: {np.sum(~(every < 1e-6))}")
    print(f"one gradient takes {ratio(min(count, 200)):.1f} times as long as the solve")
    print(f"left out for a kink inside the stencil: {kinks}; systems flagged as near a kink: {flagged}")


if __name__ == "__main__":
    main()
