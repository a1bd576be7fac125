"""Nearly flat landings in space: is every sample solved, is it right, and what does it cost?

    python benchmarks/landings.py                         every family, 1000 samples of each
    python benchmarks/landings.py --samples 100000 --families crate,boxes --friction 8
    python benchmarks/landings.py --folder problems       and every .npz (M, Jn, Jt, mu, v) of a folder
    python benchmarks/landings.py --baseline ../old/src   the same in another version, beside it
    python benchmarks/landings.py continuity --paths 12  a crate tilted by 1e-5 rad against the flat one
    python benchmarks/landings.py widths                  20 sets against version 0.1's; 20 minutes of a core
    python benchmarks/landings.py record                  writes what `widths` compares with

Samples of a family are spread over its problems. "unsolved": samples that are not SOLVED, those apart that
the sampler says jam, with the proof: impulses of unit size that cancel each other. "wrong": samples that
say SOLVED and break a law, found from their velocity and impulse (all of them) or along their path (as many
as ``--paths`` says), see `spatial_path`. "error": the worst distance from an independent integrator,
`spatial_flow`, on ``--integrated`` samples, over the larger of 1e-6 and what the sample reports: at most 1 is
wanted. "us": processor time of a sample on one thread, the median over the problems of a family and 90 %;
their ratios to those of a box that falls flat ("box") and of ANYmal on four feet, in the same run; with a
baseline, to the baseline's.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

import routh
from landing_families import FAMILIES, SEED, box_model, from_folder, land, uneven_ground
from measure import Table, command_line, counted, run_part, status_names, timed
from problems import apart
from routh.base.status import Status
from routh.problem.impact import ImpactProblem
from routh.problem.pointedness import pointedness
from routh.sampling.path_residual import path_residual
from spatial_flow import SpatialFlow
from spatial_path import SLACK, allowed, total_faults, wrong_law

WIDTHS = Path(__file__).parent / "landing_widths.json"
DIRECTIONS, RECORDED, CLOSE, TRIMMED = 64, 65536, 0.01, 0.001
WARM = 8


@dataclass
class Row:
    """What came of a family."""

    name: str
    problems: int = 0
    samples: int = 0
    statuses: dict[str, int] = field(default_factory=dict)  # those that are not SOLVED
    checked: int = 0  # paths
    jams: float = 0.0  # what impulses that cancel each other move at most, where samples are JAMMED
    wrong: dict[str, int] = field(default_factory=dict)  # by the law that is broken
    integrated: int = 0
    error: float = 0.0  # against the integrator, over what is allowed
    us: list[float] = field(default_factory=list)  # of each problem

    @property
    def median(self) -> float:
        """us a sample."""
        return float(np.median(self.us))

    @property
    def late(self) -> float:
        """us a sample, 90 % of the problems are quicker."""
        return float(np.quantile(self.us, 0.9))


def friction_options(friction: str) -> dict:
    """Options of `routh.sample`: the cone, so many facets, or Algorithm 1 with the cone."""
    return {} if friction in ("cone", "algorithm1") else {"friction": "polyhedral", "facets": int(friction)}


def references() -> dict[str, ImpactProblem]:
    """What times are compared with."""
    found = {"box": routh.systems.impact("box-drop")}
    try:
        from robots import quadruped

        found["ANYmal"] = quadruped()
    except BaseException as error:  # the package is missing: pytest's Skipped is no Exception
        if isinstance(error, KeyboardInterrupt):
            raise
        print(f"without ANYmal: {error}", file=sys.stderr)
    return found


def drawn(problem: ImpactProblem, n: int, friction: str):
    """Outcomes and us a sample; the first samples warm up."""
    made = routh.sampling.sample_by_steps if friction == "algorithm1" else routh.sample
    options = {"threads": 1, "seed": SEED, **friction_options(friction)}
    made(problem, WARM, **options)
    outcomes, seconds = timed(made, problem, n, **options)
    return outcomes, 1e6 * seconds / n


def spread(total: int, parts: int) -> list[int]:
    """A number in nearly equal parts."""
    return [total // parts + (k < total % parts) for k in range(parts)]


def examine(name: str, problems: list[ImpactProblem], given) -> Row:
    """Samples of all problems of a family, checked and timed."""
    row = Row(name, problems=len(problems))
    shares = (spread(total, len(problems)) for total in (given.samples, given.paths, given.integrated))
    for problem, n, paths, integrated in zip(problems, *shares, strict=True):
        outcomes, us = drawn(problem, max(n, 1), given.friction)
        row.us.append(us)
        row.samples += len(outcomes)
        solved = np.flatnonzero(outcomes.status == Status.SOLVED)
        statuses = status_names(outcomes.status)
        statuses.pop("SOLVED", None)
        row.statuses = dict(Counter(row.statuses) + statuses)
        if statuses["JAMMED"]:  # the proof: a cone that is not pointed
            row.jams = max(row.jams, pointedness(problem, **friction_options(given.friction)).ceiling)
        row.wrong = dict(Counter(row.wrong) + wrong_samples(outcomes, solved, paths))
        row.checked += min(paths, len(solved))
        for i in solved[:integrated] if problem.nt == 2 else ():
            row.error = max(row.error, off_the_integrator(outcomes, int(i)))
            row.integrated += 1
    return row


def wrong_samples(outcomes, solved, paths: int) -> Counter:
    """Laws that samples break: all of them as they stand, some along their path."""
    problem = outcomes.problem
    if problem.nt == 1:
        far = [path_residual(problem, outcomes.path(int(i))) for i in solved[:paths]]
        return Counter({"path": k} if (k := int(np.count_nonzero(~(np.array(far) <= SLACK)))) else {})
    limit = np.array([allowed(outcomes, int(i)) for i in solved])
    broken = ~(total_faults(outcomes)[solved] <= limit)
    laws = Counter(law for i in solved[:paths] if (law := wrong_law(outcomes, int(i))))
    laws["total"] = int(np.count_nonzero(broken[paths:]))  # of those before, paths tell more
    return +laws


def off_the_integrator(outcomes, i: int) -> float:
    """The distance of a sample from the integrator's, over what it may be."""
    problem, facets = outcomes.problem, outcomes.settings["facets"]
    flow = SpatialFlow.of(problem, facets=None if outcomes.settings["friction"] == "cone" else facets or 8)
    v, _ = flow.along(outcomes.path(i), problem)
    return float(apart(problem, v, outcomes.v[i]) / allowed(outcomes, i))


def chosen(given) -> dict:
    """The families that were asked for."""
    names = [name for name in FAMILIES if any(part in name for part in given.families.split(","))]
    families = {name: FAMILIES[name] for name in names}
    if given.folder:
        families["files"] = lambda: from_folder(given.folder)
    return families


def reference_times(given) -> dict[str, float]:
    """Times of the problems with which others are compared, us a sample."""
    n = max(1024, given.samples // 10)
    return {name: drawn(problem, n, given.friction)[1] for name, problem in references().items()}


def measured(given) -> Iterator[Row]:
    """A row for each family, as soon as it is known."""
    for name, family in chosen(given).items():
        problems = family()
        if problems:
            yield examine(name, problems, given)


def told(times: dict[str, float]) -> str:
    """us a sample of the problems that others are compared with."""
    return "us a sample: " + ", ".join(f"{name} {us:.0f}" for name, us in times.items())


def cells(row: Row, unit: dict[str, float], was: Row | None) -> list:
    """One family; ``was``: in the baseline."""
    unsolved = sum(count for status, count in row.statuses.items() if status != "JAMMED")
    found = [row.name, row.problems, row.samples, unsolved, row.checked, sum(row.wrong.values())]
    found += [row.error if row.integrated else None, row.median, row.late]
    found += [time / us for us in unit.values() for time in (row.median, row.late)]
    notes = [counted(row.statuses), counted(row.wrong)]
    notes += [f"those that jam: impulses that cancel up to {row.jams:.0e}"] if row.jams else []
    if was is not None:
        lost = counted(was.statuses) or "all solved"
        notes.append(f"before: {lost}, {sum(was.wrong.values())} wrong, {was.median:.0f} / {was.late:.0f} us")
    return [*found, "; ".join(filter(None, notes))]


def of_baseline(given) -> tuple[dict, list[Row]]:
    """The same measured by another version, in a process of its own."""
    command = [sys.executable, __file__, "families", "--json", "--integrated", "0"]
    for name in ("samples", "paths", "families", "friction", "folder"):
        command += [f"--{name}", str(getattr(given, name))]
    environment = {**os.environ, "PYTHONPATH": str(Path(given.baseline).resolve())}
    answer = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    data = json.loads(answer.stdout.splitlines()[-1])
    return data["times"], [Row(**row) for row in data["rows"]]


def families(given) -> None:
    """The table."""
    if given.json:
        times, rows = reference_times(given), [asdict(row) for row in measured(given)]
        print(json.dumps({"times": times, "rows": rows}))
        return
    seen = f"seed {SEED}, friction {given.friction}, routh {routh.__version__}"
    print(f"{seen}, {given.samples} samples a family, paths of {given.paths}, {given.integrated} integrated")
    base, times = of_baseline(given) if given.baseline else None, reference_times(given)
    print(told(times) + (f"; the baseline's {told(base[0])}" if base else "") + "\n")
    unit, before = (base[0], {row.name: row for row in base[1]}) if base else (times, {})
    columns = {"family": "<17", **dict.fromkeys(("problems", "samples", "unsolved", "paths", "wrong"), "d")}
    columns |= {"error": ".2g", "us": ".0f", "90 %": ".0f"}
    columns |= {f"{what} / {name}": ".2f" for name in unit for what in ("us", "90 %")}
    table = Table({**columns, "statuses; laws broken": "<"})
    for row in measured(given):
        table.row(*cells(row, unit, before.get(row.name)))
    print(f"\nin the end {told(reference_times(given))}")


def width_problems() -> dict[str, ImpactProblem]:
    """Twenty problems all of whose samples version 0.1 solved."""
    box = routh.systems.impact("box-drop")
    found = {
        "box": box,
        "box, sliding": routh.systems.impact("box-drop", velocity=(0.3, 0.1, 0.0)),
        "box, rough": routh.systems.impact("box-drop", mu=1.2, size=(0.5, 0.2, 0.3)),
        "box, e 0.5": box.replace(restitution=0.5),
    }
    for nc in (2, 3, 4, 5):
        for seed in range(4):
            e = 0.5 if seed == 3 else 0.0
            found[f"uneven, {nc} points, {seed}"] = uneven_ground(seed, nc, e=e)
    return found


def widths_of(problem: ImpactProblem, n: int, *, seed: int, seeds: int = 1) -> tuple[np.ndarray, int]:
    """Widths (seeds, 2, 64) of the sampled set, shares of the speed, and how many samples were not SOLVED.

    First those of all n samples of a seed, which a single one decides; then without the `TRIMMED` farthest
    share at either end, which another seed hardly changes.
    """
    directions = np.random.default_rng([SEED, 7]).normal(size=(DIRECTIONS, problem.nv))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    found, unsolved = [], 0
    for each in range(seed, seed + seeds):
        outcomes = routh.sample(problem, n, seed=each, threads=1)
        solved = outcomes.status == Status.SOLVED
        along = outcomes.v[solved] @ problem.cholesky @ directions.T / problem.scaling.speed
        low, high = np.quantile(along, [TRIMMED, 1.0 - TRIMMED], axis=0)
        found.append([np.ptp(along, axis=0), high - low])
        unsolved += int(np.count_nonzero(~solved))
    return np.array(found), unsolved


def record(given) -> None:
    """Writes the widths of this version, means over ``--seeds``."""
    data = {"version": routh.__version__, "seed": given.seed, "seeds": given.seeds, "samples": RECORDED}
    data["widths"] = {}
    for name, problem in width_problems().items():
        widths, unsolved = widths_of(problem, RECORDED, seed=given.seed, seeds=given.seeds)
        print(f"{name:<28}{widths.mean():>10.4f}{unsolved:>6} unsolved", flush=True)
        data["widths"][name] = np.round(widths.mean(axis=0), 9).tolist()
    given.out.write_text(json.dumps(data, separators=(",", ":")).replace('],"', '],\n"') + "\n")


def widths(given) -> None:
    """Means over ``--seeds`` beside those recorded, and twice their standard error in the worst direction."""
    data, worst = json.loads(WIDTHS.read_text()), np.zeros(2)
    print(f"against routh {data['version']}, {data['seeds']} seeds from {data['seed']}; "
          f"now {given.seeds} from {given.seed}; {data['samples']} samples each")  # fmt: skip
    parts = {"mean width": ".4f", "less": ".2%", "more": ".2%", "chance": ".2%"}
    sets = ("all samples", "trimmed")
    columns = {f"{part}, {what}": form for what in sets for part, form in parts.items()}
    table = Table({"problem": "<20", **columns, "unsolved": "d"})
    for name, problem in width_problems().items():
        now, unsolved = widths_of(problem, data["samples"], seed=given.seed, seeds=given.seeds)
        was = np.array(data["widths"][name])
        off = (now.mean(axis=0) - was) / was
        worst = np.maximum(worst, np.abs(off).max(axis=1))
        # of both versions, which spread alike; one seed says nothing of its spread
        spread = (
            now.std(axis=0, ddof=1) * np.sqrt(1 / given.seeds + 1 / data["seeds"])
            if given.seeds > 1
            else np.nan
        )
        chance = (2.0 * spread / was).max(axis=1)
        shares = [(width.mean(), max(-o.min(), 0.0), max(o.max(), 0.0), c)
                  for width, o, c in zip(now.mean(axis=0), off, chance, strict=True)]  # fmt: skip
        table.row(name, *shares[0], *shares[1], unsolved)
    print(f"largest difference {worst[0]:.2%}, trimmed {worst[1]:.2%}; at most {CLOSE:.0%} is wanted")


def continuity(given) -> None:
    """The set of a crate tilted by 1e-5 rad against that of the flat one.

    Widths in the same directions, which chance changes by more (the flat one with another seed). And outcome
    by outcome: the normal impulses of a path of the one are given to the other, whose friction the integrator
    finds; how far that moves the velocity, and how fast a contact then still approaches, shares of the speed.
    """
    model = box_model((0.2, 0.15, 0.1), 1.0)
    n, flat = given.samples, land(model)
    width, unsolved = widths_of(flat, n, seed=SEED)
    print(f"{n} samples, {given.paths} paths each way, shares of the speed before; at most 1e-3 is wanted\n")
    numbers = {"mean width": ".4f", "largest difference": ".1e", "trimmed": ".1e", "unsolved": "d"}
    table = Table({"roll, pitch": "<16", **numbers, "outcome moved": ".1e", "approach left": ".1e"})
    table.row("0, 0", width[0, 0].mean(), None, None, unsolved, None, None)
    other, unsolved = widths_of(flat, n, seed=SEED + 1)
    table.row(
        "0, 0, other seed", other[0, 0].mean(), *np.abs(other - width)[0].max(axis=1), unsolved, None, None
    )
    for tilt in ((1e-5, 0.0), (0.0, 1e-5), (7e-6, -7e-6)):
        tilted = land(model, tilt=tilt)
        other, unsolved = widths_of(tilted, n, seed=SEED)
        both = [handed_over(flat, tilted, given.paths), handed_over(tilted, flat, given.paths)]
        off = np.abs(other - width)[0].max(axis=1)
        table.row(f"{tilt[0]:g}, {tilt[1]:g}", other[0, 0].mean(), *off, unsolved, *np.max(both, axis=0))


def handed_over(problem: ImpactProblem, other: ImpactProblem, paths: int) -> tuple[float, float]:
    """Paths of a problem given to another: how far outcomes move at most, and what approach is left."""
    outcomes, flow = routh.sample(problem, paths, seed=SEED, threads=1), SpatialFlow.of(other)
    moved, left = 0.0, 0.0
    for i in np.flatnonzero(outcomes.status == Status.SOLVED):
        v, _ = flow.along(outcomes.path(int(i)), other)
        moved = max(moved, float(apart(other, v, outcomes.v[i])))
        left = max(left, -float(other.contact_velocity(v)[:, 0].min()) / other.scaling.speed)
    return moved, left


def main() -> None:
    parser = command_line(__doc__, families, widths, continuity, record, default="families")
    parser.add_argument("--samples", type=int, default=1000, help="of a family")
    parser.add_argument("--paths", type=int, default=200, help="of a family whose path is checked")
    parser.add_argument("--integrated", type=int, default=2, help="of a family, against the integrator: slow")
    parser.add_argument("--families", default="", help="parts of names, with commas between them")
    parser.add_argument("--friction", default="cone", help="cone, the number of facets, or algorithm1")
    parser.add_argument("--folder", default="", help="of problems, .npz files")
    parser.add_argument("--baseline", default="", help="the src folder of another version")
    parser.add_argument("--seed", type=int, default=100, help="of widths and record: the first one")
    parser.add_argument("--seeds", type=int, default=14, help="of widths and record: how many")
    parser.add_argument("--out", type=Path, default=WIDTHS, help="of record")
    parser.add_argument("--json", action="store_true", help="one line of JSON in place of the table")
    run_part(parser)


if __name__ == "__main__":
    main()
