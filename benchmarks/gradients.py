"""Derivatives of outcomes against central differences, and what one pass backwards costs.

    python benchmarks/gradients.py            # 10^4 samples and more, some minutes
    python benchmarks/gradients.py --problems 2
    python benchmarks/gradients.py --only cone --forward 256    # curves cost more: fewer that are timed
    python benchmarks/gradients.py --only cone --problems 64 --samples 32 --forward 0   # 10^4 with the cone
    python benchmarks/gradients.py --systems    # what a pass costs for the papers' systems, and for batches

Every sample is drawn again with the same random numbers from problems that differ a little along a random
direction of one field, for each field, and differentiated by a stencil of four points. A sample counts where
its decisions (of `routh.sampling.derivatives.differentiate`) are the same at all of them; "changed" is the
share of the others, "one-sided" that of samples that say so themselves. "of these" are one-sided samples
whose decisions did not change and whose derivatives are off by more than 1e-6; "none" are samples whose
derivative is NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

import routh
from measure import Table, command_line, timed
from problems import planar_body, problem_of_size, random_matrices
from routh.sampling.derivatives import differentiate
from routh.sampling.outcomes import DATA

STEP = 1e-5  # of the size of the data
LIMIT = 1e-6  # of an error
COARSE, FINER = 1e-8, 1e-6  # above such errors differences are taken by this step, too: theirs falls with it
FORWARD, TURNS = 2048, 5  # samples and repetitions that are timed
BATCHES = ("random, 3 contacts", "polygon, 2 contacts", "cone, 2 contacts")
SYSTEMS = ("rocking-block", "compass-gait", "block-into-wall", "ramone", "disk-stack", "rimless-wheel")


@dataclass(frozen=True)
class Family:
    """Problems of one kind, and how they are sampled."""

    name: str
    make: Callable[[np.random.Generator], routh.ImpactProblem]
    options: dict


def _elastic(make):
    def made(rng):
        problem = make(rng)
        return problem.replace(restitution=rng.uniform(0.2, 0.9, problem.nc))

    return made


def _bodies(rng):
    return planar_body(rng, int(rng.integers(1, 5)))


def _in_space(rng, nc):
    return problem_of_size(rng, nc, 2, rng.uniform(0.1, 1.0, nc), nv=6)


def _tilted_crate(rng):
    from landing_families import box_model, land

    return land(box_model((0.2, 0.15, 0.1), 1.0), rng, rng.uniform(-0.02, 0.02, 2), moving=True)


def families() -> list[Family]:
    """Bodies in the plane and random matrices, inelastic and elastic."""
    found = [Family("bodies, plane", _bodies, {})]
    for nc in (1, 2, 3, 4):
        found.append(Family(f"random, {nc} contacts", lambda rng, nc=nc: random_matrices(rng, nc), {}))
    found.append(Family("bodies, energetic", _elastic(_bodies), {}))
    found.append(Family("bodies, Poisson", _elastic(_bodies), {"hypothesis": "poisson"}))
    found.append(Family("random, energetic", _elastic(random_matrices), {}))
    found.append(Family("random, Poisson", _elastic(random_matrices), {"hypothesis": "poisson"}))
    polygon = {"friction": "polyhedral"}
    for nc in (1, 2, 3):
        found.append(Family(f"polygon, {nc} contacts", lambda rng, nc=nc: _in_space(rng, nc), polygon))
    elastic = _elastic(lambda rng: _in_space(rng, 2))
    found.append(Family("polygon, energetic", elastic, polygon))
    found.append(Family("polygon, Poisson", elastic, {**polygon, "hypothesis": "poisson"}))
    cone = {"tolerance": 1e-12}
    for nc in (1, 2, 3):
        found.append(Family(f"cone, {nc} contacts", lambda rng, nc=nc: _in_space(rng, nc), cone))
    found.append(Family("cone, energetic", elastic, cone))
    found.append(Family("cone, Poisson", elastic, {**cone, "hypothesis": "poisson"}))
    found.append(Family("tilted crates", _tilted_crate, {"tolerance": 2e-8}))  # implicit steps
    return found


def direction(problem, field, rng):
    """A random direction of one field, of the size of its data."""
    data = getattr(problem, field)
    if field in ("mu", "restitution"):
        return data * rng.uniform(-1.0, 1.0, data.shape)  # zero stays zero
    change = rng.normal(size=data.shape) * np.abs(data).max()
    return 0.5 * (change + change.T) if field == "M" else change


def drawn_again(outcomes, problem):
    """Velocities after and decisions of the same draws from another problem."""
    task = differentiate(replace(outcomes, problem=problem), np.zeros((1, 0, problem.nv)), ())
    return task.after, task.decisions


def compare(problem, n, seed, rng, step=STEP, fields=DATA, **options):
    """Errors (samples, fields) as shares of the speed, and who is one-sided, has no derivative, has ended.

    NaN where decisions changed.
    """
    outcomes = routh.sample(problem, n, seed=seed, **options)
    exact, (_, chosen) = outcomes.jacobian(list(fields)), drawn_again(outcomes, problem)
    errors = np.full((n, len(fields)), np.nan)
    for column, field in enumerate(fields):
        change = direction(problem, field, rng)
        if field == "M":  # as much as its smallest eigenvalue allows
            change *= np.linalg.eigvalsh(problem.M)[0] / np.abs(problem.M).max()
        derivative = np.tensordot(exact[field], change, axes=change.ndim)
        size = np.abs(derivative).max(axis=1) + np.abs(problem.v).max()
        errors[:, column] = errors_of(outcomes, chosen, field, step * change, step * derivative) / (
            step * size
        )
        if np.nanmax(errors[:, column], initial=0.0) > COARSE:  # is it the stencil's error?
            finer = errors_of(outcomes, chosen, field, FINER * change, FINER * derivative) / (FINER * size)
            errors[:, column] = np.fmin(errors[:, column], finer + 0.0 * errors[:, column])
    none = np.isnan(exact[fields[0]]).reshape(n, -1).any(axis=1)
    return errors, exact["one_sided"], none, outcomes.status == routh.Status.SOLVED


def errors_of(outcomes, chosen, field, change, derivative):
    """By how much derivatives (n, nv) along a change miss a stencil of four points; NaN: decisions change."""
    problem = outcomes.problem
    difference, same = np.zeros_like(derivative), np.ones(len(outcomes), dtype=bool)
    for steps, weight in ((1, 8.0), (-1, -8.0), (2, -1.0), (-2, 1.0)):
        moved = problem.replace(**{field: getattr(problem, field) + steps * change})
        after, decided = drawn_again(outcomes, moved)
        same &= decided == chosen
        difference += weight * after
    return np.where(same, np.abs(difference / 12.0 - derivative).max(axis=1), np.nan)


def least(call, *given, **options):
    """Processor seconds of the quickest of some calls, after one that may compile."""
    call(*given, **options)
    return timed(call, *given, **options, repeats=TURNS)[1]


def cost(problem, seed, samples=FORWARD, **options):
    """Seconds of a pass backwards, drawing the sample again included, over those of drawing it."""
    options |= {"seed": seed, "threads": 1}
    outcomes = routh.sample(problem, samples, **options)
    forward = least(routh.sample, problem, samples, **options)
    return least(outcomes.vjp, np.ones(problem.nv), threads=1) / forward


def costs(seeds=3, rows=256, n=16) -> None:
    """Print what a pass backwards costs for the papers' systems, and for batches, together and one by one."""
    table = Table({"system": "<16", "samples' time, us": ".2f", "backwards over forwards": ".1f"})
    for name in SYSTEMS:
        problem, count = routh.systems.get(name).problem, 4 * FORWARD
        each = 1e6 * least(routh.sample, problem, count, threads=1) / count
        table.row(name, each, np.median([cost(problem, seed, count) for seed in range(seeds)]))
    print()
    numbers = dict.fromkeys(("samples' time, us", "backwards over forwards", "row by row"), ".1f")
    table = Table({f"{rows} problems, {n} samples each": "<20", **numbers})
    for family in families():
        if family.name not in BATCHES:
            continue
        rng = np.random.default_rng(0)
        batch = routh.ImpactBatch.from_problems([family.make(rng) for _ in range(rows)])
        outcomes = routh.sample(batch, n, threads=1, **family.options)
        forward = least(routh.sample, batch, n, threads=1, **family.options)
        cotangent, single = np.ones(batch.nv), [outcomes[row] for row in range(rows)]
        together = least(outcomes.vjp, cotangent, threads=1)
        apart = least(lambda: [each.vjp(cotangent, threads=1) for each in single])  # noqa: B023
        table.row(family.name, 1e6 * forward / (rows * n), together / forward, apart / forward)


def measure(family, problems, n, *, forward=FORWARD, fields=DATA):
    """A row of the table: samples, shares that changed and are one-sided, worst error, ratio of times."""
    errors, flags, nothing, solved, ratios = [], [], [], [], []
    for seed in range(problems):
        rng = np.random.default_rng([seed, sum(map(ord, family.name))])
        problem = family.make(rng)
        found = compare(problem, n, seed, rng, fields=fields, **family.options)
        for kept, value in zip((errors, flags, nothing, solved), found, strict=True):
            kept.append(value)
        if forward:
            ratios.append(cost(problem, seed, forward, **family.options))
    error, flagged, none, ended = (np.concatenate(kept) for kept in (errors, flags, nothing, solved))
    judged = ended & ~flagged
    changed = np.isnan(error[judged]).any(axis=1).mean()
    kinks = error[ended & flagged & ~none]
    return {
        "samples": int(ended.sum()),
        "one-sided": float(flagged[ended].mean()),
        "of these": float((kinks > LIMIT).any(axis=1).mean()) if len(kinks) else 0.0,
        "none": float(none[ended].mean()),
        "changed": float(changed),
        "median": float(np.nanmedian(np.nanmax(error[judged], axis=1))),
        "worst": float(np.nanmax(error[judged])),
        "ratio": float(np.median(ratios)) if ratios else None,
    }


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--problems", type=int, default=24, help="of each family")
    parser.add_argument("--samples", type=int, default=64, help="of each problem")
    parser.add_argument("--only", help="families whose names contain this")
    parser.add_argument("--forward", type=int, default=FORWARD, help="samples that are timed; 0: none")
    parser.add_argument("--fields", default=",".join(DATA), help="by which derivatives are compared")
    parser.add_argument("--systems", action="store_true", help="only what a pass costs for named systems")
    given = parser.parse_args()
    if given.systems:
        costs()
        return
    columns = {"family": "<20", "samples": "d"} | dict.fromkeys(
        ("one-sided", "of these", "none", "changed"), ".1%"
    )
    columns |= {"median error": ".1e", "worst error": ".1e", "backwards over forwards": ".1f"}
    table = Table(columns)
    for family in families():
        if given.only is None or given.only in family.name:
            fields = given.fields.split(",")
            row = measure(family, given.problems, given.samples, forward=given.forward, fields=fields)
            table.row(family.name, *row.values())


if __name__ == "__main__":
    main()
