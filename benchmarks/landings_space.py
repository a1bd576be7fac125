"""Nearly flat landings in space: is every sample solved, is it right, and what does it cost?

    python benchmarks/landings_space.py                       every family, 1000 samples of each
    python benchmarks/landings_space.py --samples 100000 --families crate,boxes --friction 8
    python benchmarks/landings_space.py --folder problems     and every .npz (M, Jn, Jt, mu, v) of a folder
    python benchmarks/landings_space.py --baseline ../old/src the same in another version, beside it
    python benchmarks/landings_space.py continuity --samples 16384
                                                              a crate tilted by 1e-5 rad against the flat one
    python benchmarks/landings_space.py widths                sets of 20 problems against version 0.1's
    python benchmarks/landings_space.py record                writes what `widths` compares with

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

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

import routh
from landing_families import FAMILIES, SEED, box_model, from_folder, land, uneven_ground
from routh.pointedness import pointedness
from routh.problem import ImpactProblem
from routh.sampling.straight import path_residual
from routh.status import Status
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
    jams: float = (
        0.0  # what impulses that cancel each other move at most, of all problems with JAMMED samples
    )
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
    """Options of `routh.sample`: the cone, or so many facets."""
    return {} if friction == "cone" else {"friction": "polyhedral", "facets": int(friction)}


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


def timed(problem: ImpactProblem, n: int, friction: str, seed: int = SEED):
    """Outcomes and us a sample; the first samples warm up."""
    options = {"threads": 1, "seed": seed, **friction_options(friction)}
    routh.sample(problem, WARM, **options)
    begun = time.process_time()
    outcomes = routh.sample(problem, n, **options)
    return outcomes, (time.process_time() - begun) / n * 1e6


def spread(total: int, parts: int) -> list[int]:
    """A number in nearly equal parts."""
    return [total // parts + (k < total % parts) for k in range(parts)]


def examine(name: str, problems: list[ImpactProblem], given) -> Row:
    """Samples of all problems of a family, checked and timed."""
    row = Row(name, problems=len(problems))
    shares = (spread(total, len(problems)) for total in (given.samples, given.paths, given.integrated))
    for problem, n, paths, integrated in zip(problems, *shares, strict=True):
        outcomes, us = timed(problem, max(n, 1), given.friction)
        row.us.append(us)
        row.samples += len(outcomes)
        solved = np.flatnonzero(outcomes.status == Status.SOLVED)
        statuses = Counter(Status(int(code)).name for code in outcomes.status)
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
    far = np.linalg.norm((v - outcomes.v[i]) @ problem.cholesky) / problem.scaling.speed
    return float(far / allowed(outcomes, i))


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
    return {name: timed(problem, n, given.friction)[1] for name, problem in references().items()}


def measured(given) -> Iterator[Row]:
    """A row for each family, as soon as it is known."""
    for name, family in chosen(given).items():
        problems = family()
        if problems:
            yield examine(name, problems, given)


def head(times: dict[str, float], base: tuple[dict, list[Row]] | None) -> None:
    """What stands above the families."""
    print("us a sample: " + ", ".join(f"{name} {us:.0f}" for name, us in times.items()))
    unit = times
    if base:
        unit = base[0]
        print("baseline's:  " + ", ".join(f"{name} {us:.0f}" for name, us in unit.items()))
    ratios = "".join(f"{'/ ' + name:>10}{'90 %':>8}" for name in unit)
    print(
        f"{'family':<20}{'problems':>9}{'samples':>9}{'unsolved':>9}{'paths':>7}{'wrong':>7}{'error':>7}"
        f"{'us':>7}{'90 %':>7}{ratios}  statuses; laws broken{'; baseline' if base else ''}",
        flush=True,
    )


def line(row: Row, unit: dict[str, float], was: Row | None) -> None:
    """One family; ``was``: in the baseline."""
    unsolved = sum(count for status, count in row.statuses.items() if status != "JAMMED")
    compared = "".join(f"{row.median / us:>10.2f}{row.late / us:>8.2f}" for us in unit.values())
    told = [", ".join(f"{k} {status}" for status, k in row.statuses.items())]
    told += [", ".join(f"{k} {law}" for law, k in row.wrong.items())]
    if row.jams:
        told.append(f"those that jam: impulses that cancel up to {row.jams:.0e}")
    if was is not None:
        lost = ", ".join(f"{k} {status}" for status, k in was.statuses.items()) or "all solved"
        told.append(f"{lost}, {sum(was.wrong.values())} wrong, {was.median:.0f} / {was.late:.0f} us")
    error = f"{row.error:.2g}" if row.integrated else "-"
    print(
        f"{row.name:<20}{row.problems:>9}{row.samples:>9}{unsolved:>9}{row.checked:>7}"
        f"{sum(row.wrong.values()):>7}{error:>7}{row.median:>7.0f}{row.late:>7.0f}{compared}"
        f"  {'; '.join(told)}",
        flush=True,
    )


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
    head(times, base)
    before = {row.name: row for row in base[1]} if base else {}
    for row in measured(given):
        line(row, base[0] if base else times, before.get(row.name))
    last = reference_times(given)
    print("us a sample in the end: " + ", ".join(f"{name} {us:.0f}" for name, us in last.items()))


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


def widths_of(problem: ImpactProblem, n: int, *, seed: int = SEED) -> tuple[np.ndarray, int]:
    """Widths (2, 64) of the sampled set, shares of the speed, and how many samples were not SOLVED.

    First those of all samples, which a single one decides; then without the `TRIMMED` farthest share at
    either end, which another seed hardly changes.
    """
    directions = np.random.default_rng([SEED, 7]).normal(size=(DIRECTIONS, problem.nv))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    outcomes = routh.sample(problem, n, seed=seed, threads=1)
    solved = outcomes.status == Status.SOLVED
    along = outcomes.v[solved] @ problem.cholesky @ directions.T / problem.scaling.speed
    low, high = np.quantile(along, [TRIMMED, 1.0 - TRIMMED], axis=0)
    return np.array([np.ptp(along, axis=0), high - low]), int(np.count_nonzero(~solved))


def record(given) -> None:
    """Writes the widths of this version."""
    found = {}
    for name, problem in width_problems().items():
        widths, unsolved = widths_of(problem, RECORDED)
        print(f"{name:<28}{widths[0].mean():>10.4f}{unsolved:>6} unsolved", flush=True)
        found[name] = np.round(widths, 9).tolist()
    data = {"version": routh.__version__, "seed": SEED, "samples": RECORDED, "widths": found}
    given.out.write_text(json.dumps(data, separators=(",", ":")).replace('],"', '],\n"') + "\n")


def widths(given) -> None:
    """The widths beside those recorded; with ``--seed`` another one: what chance does to them."""
    data, worst = json.loads(WIDTHS.read_text()), np.zeros(2)
    seed = data["seed"] if given.seed is None else given.seed
    print(f"against routh {data['version']}, {data['samples']} samples, seed {data['seed']}; now {seed}")
    print(f"{'':<28}{'all samples':>29}{'all but 0.1 % at each end':>29}")
    print(f"{'problem':<28}" + 2 * f"{'mean width':>11}{'less':>9}{'more':>9}" + "  unsolved")
    for name, problem in width_problems().items():
        now, unsolved = widths_of(problem, data["samples"], seed=seed)
        was = np.array(data["widths"][name])
        off = (now - was) / was
        worst = np.maximum(worst, np.abs(off).max(axis=1))
        cells = "".join(
            f"{width.mean():>11.4f}{max(-o.min(), 0):>9.2%}{max(o.max(), 0):>9.2%}"
            for width, o in zip(now, off, strict=True)
        )
        print(f"{name:<28}{cells}  {unsolved}", flush=True)
    print(f"largest difference {worst[0]:.2%}, trimmed {worst[1]:.2%}; at most {CLOSE:.0%} is wanted")


def continuity(given) -> None:
    """The set of a crate tilted by 1e-5 rad against that of the flat one: widths in the same directions.

    The flat one with another seed says what chance does.
    """
    model = box_model((0.2, 0.15, 0.1), 1.0)
    n = given.samples
    flat, unsolved = widths_of(land(model), n)
    print(f"{n} samples, shares of the speed before; at most 1e-3 is wanted")
    print(f"{'roll, pitch':<20}{'mean width':>11}{'largest difference':>20}{'trimmed':>10}  unsolved")
    print(f"{'0, 0':<20}{flat[0].mean():>11.4f}{'':>30}  {unsolved}")
    cases = [("0, 0, other seed", (0.0, 0.0), SEED + 1)]
    cases += [(f"{tilt[0]:g}, {tilt[1]:g}", tilt, SEED) for tilt in ((1e-5, 0.0), (0.0, 1e-5), (7e-6, -7e-6))]
    for name, tilt, seed in cases:
        tilted, unsolved = widths_of(land(model, tilt=tilt), n, seed=seed)
        off = np.abs(tilted - flat).max(axis=1)
        print(f"{name:<20}{tilted[0].mean():>11.4f}{off[0]:>20.1e}{off[1]:>10.1e}  {unsolved}", flush=True)


def main() -> None:
    style = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=style)
    commands = {"families": families, "widths": widths, "continuity": continuity, "record": record}
    parser.add_argument("what", nargs="?", default="families", choices=commands)
    parser.add_argument("--samples", type=int, default=1000, help="of a family")
    parser.add_argument("--paths", type=int, default=200, help="of a family whose path is checked")
    parser.add_argument("--integrated", type=int, default=2, help="of a family, against the integrator: slow")
    parser.add_argument("--families", default="", help="parts of names, with commas between them")
    parser.add_argument("--friction", default="cone", help="cone, or the number of facets")
    parser.add_argument("--folder", default="", help="of problems, .npz files")
    parser.add_argument("--baseline", default="", help="the src folder of another version")
    parser.add_argument("--seed", type=int, help="of widths: another one than was recorded")
    parser.add_argument("--out", type=Path, default=WIDTHS, help="of record")
    parser.add_argument("--json", action="store_true", help="one line of JSON in place of the table")
    given = parser.parse_args()
    commands[given.what](given)


if __name__ == "__main__":
    main()
