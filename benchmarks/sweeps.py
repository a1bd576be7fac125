"""Studies under attack and at size: kills, what a study adds to its work, workers of Dask, memory.

    python benchmarks/sweeps.py kills               100 kills of drivers and workers, 10^5 points
    python benchmarks/sweeps.py overhead            a study against a plain loop over the same points
    python benchmarks/sweeps.py workers             one and two workers of Dask, and of the local pool
    python benchmarks/sweeps.py growth              10^4, 10^5 and 10^6 points: pace and memory

Needs the extras ``data`` and ``sweep``.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import sweep_landings
from measure import Table, command_line, machine, peak_memory, run_part, timed
from routh import sweep
from routh.sweep import Study
from routh.sweep.chunks import Chunk, compute

DRIVER = [sys.executable, "-c", "import sys, sweeps; sweeps.drive(sys.argv[1])"]


def in_a_folder(points: int):
    """A part that runs in a folder which goes away, with so many points unless told otherwise."""

    def made(part):
        @functools.wraps(part)
        def run(options: argparse.Namespace) -> None:
            options.points = options.points or points
            with tempfile.TemporaryDirectory() as name:
                part(options, Path(name))

        return run

    return made


def study_of(folder: Path, points: int, samples: int) -> Study:
    """Landings of a block over angle and slide."""
    side = round(points**0.5)
    over = {"angle": np.linspace(-0.2, 0.2, side), "slide": np.linspace(0.0, 1.0, -(-points // side))}
    return sweep.study(folder, problems=sweep_landings.block, over=over, measure=[sweep.ambiguity(samples)])


def with_chunks(study: Study, size: int) -> Study:
    """Settle the size of the chunks."""
    (study.folder / "chunks.json").write_text(json.dumps({"size": size}))
    return study


def drive(folder: str) -> None:
    """What a driver under attack does; a folder does not decide what runs, so it is told."""
    sweep.open_study(folder, functions=[sweep_landings.block]).run("local", progress=False)


def equal(one: Study, other: Study) -> bool:
    """Whether two tables are equal to the bit."""
    a, b = one.columns(), other.columns()
    return a.keys() == b.keys() and all(a[name].tobytes() == b[name].tobytes() for name in a)


@in_a_folder(100_000)
def kills(options: argparse.Namespace, folder: Path) -> None:
    """Kill drivers and workers at random moments and while they write; then compare with a calm run."""
    calm = with_chunks(study_of(folder / "calm", options.points, 64), options.chunk)
    _, seconds = timed(calm.run, "local", progress=False, clock=time.perf_counter)
    print(f"undisturbed: {len(calm.plan.grid)} points in {seconds:.1f} s")
    study = with_chunks(study_of(folder / "killed", options.points, 64), options.chunk)
    rng, count = random.Random(options.seed), dict.fromkeys(("driver", "worker", "while writing"), 0)
    drivers, start = 0, time.perf_counter()
    chunks = study.folder / "chunks"
    total = -(-len(study.plan.grid) // options.chunk)
    driver: subprocess.Popen[bytes] | None = None
    while sum(count.values()) < options.kills:
        if driver is None or driver.poll() is not None:
            stored = len(list(chunks.glob("*.npz"))) if chunks.exists() else 0
            if stored >= total:  # everything is there: take some away, so that there is work to disturb
                for path in rng.sample(sorted(chunks.glob("*.npz")), total // 2):
                    path.unlink()
            driver = subprocess.Popen([*DRIVER, str(study.folder)], env=environment())
            drivers += 1
            until_it_works(driver, chunks)
        kind = rng.choice(list(count))
        victim = driver.pid
        if kind == "worker":
            workers = children(driver.pid)
            if not workers:
                continue
            victim = rng.choice(workers)
        if kind == "while writing":
            if not until_it_writes(driver, chunks):
                continue
        else:
            time.sleep(rng.uniform(0.0, 0.4))
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            continue
        count[kind] += 1
        if victim == driver.pid:
            driver.wait()
    if driver is not None and driver.poll() is None:
        driver.kill()
        driver.wait()
    report = study.run("local", progress=False)
    words = ", ".join(f"{number} {kind}" for kind, number in count.items())
    print(f"kills: {words}; {drivers} drivers, {time.perf_counter() - start:.1f} s")
    print(f"last run: {report.computed} points, {report.mended} unreadable chunks; {study.status_counts()}")
    stubs = [path.name for path in chunks.iterdir() if path.suffix != ".npz"]
    print(f"files beside the chunks: {len(stubs)}")
    print(f"table equal to the undisturbed one, to the bit: {equal(calm, study)}")


def environment() -> dict[str, str]:
    """For processes that import what stands beside this file."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}


def until_it_works(driver: subprocess.Popen[bytes], chunks: Path) -> None:
    """Wait until a driver has stored something, or ended."""
    seen = len(list(chunks.glob("*.npz"))) if chunks.exists() else 0
    while driver.poll() is None and (len(list(chunks.glob("*.npz"))) if chunks.exists() else 0) <= seen:
        time.sleep(0.01)


def until_it_writes(driver: subprocess.Popen[bytes], chunks: Path) -> bool:
    """Wait for a file that is being written; False where the driver ended first."""
    end = time.monotonic() + 5.0
    while driver.poll() is None and time.monotonic() < end:
        if any(not name.endswith(".npz") or name.startswith(".") for name in os.listdir(chunks)):
            return True
    return False


def children(pid: int) -> list[int]:
    """Processes that a process has started and that compute: not the one that tracks resources."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, rest = path.read_text().rsplit(")", 1)
            command = (path.parent / "cmdline").read_bytes()
        except OSError:
            continue
        if int(rest.split()[1]) == pid and b"resource_tracker" not in command:
            found.append(int(name.split()[0]))
    return found


@in_a_folder(1000)
def overhead(options: argparse.Namespace, folder: Path) -> None:
    """Wall time of a study in this process at chunks of a second against the same points in a loop."""
    table = Table(
        {"points": "d", "loop, s": ".2f", "study, s": ".2f", "more": "+.1%", "more processor time": "+.1%"}
    )
    for repeat in range(3):
        over = {"x": np.arange(float(options.points))}
        study = sweep.study(
            folder / str(repeat), problems=sweep_landings.waited, over=over, measure=[sweep.ambiguity(64)]
        )
        data = study.plan.as_data()
        compute(data, Chunk(0, 2))  # compiled before either is timed
        alone, alone_used = both_clocks(compute, data, Chunk(0, options.points))
        with_chunks(study, 100)  # 100 points of 10 ms: one second
        spent, spent_used = both_clocks(study.run, "here", progress=False)
        table.row(options.points, alone, spent, spent / alone - 1.0, spent_used / alone_used - 1.0)


def both_clocks(work, *given, **options) -> tuple[float, float]:
    """Seconds by the clock and of the processor, of one call."""
    start = time.perf_counter()
    _, used = timed(work, *given, **options)
    return time.perf_counter() - start, used


@in_a_folder(3000)
def workers(options: argparse.Namespace, folder: Path) -> None:
    """One and two workers on the same study of ten milliseconds a point."""
    import distributed

    print(f"{machine()}\n")
    table = Table({"": "<5", "1 worker, s": ".1f", "2 workers, s": ".1f", "times": ".2f"})
    over = {"x": np.arange(float(options.points))}
    for name in ("dask", "local"):
        spent = []
        for count in (1, 2):
            study = sweep.study(
                folder / f"{name}{count}",
                problems=sweep_landings.waited,
                over=over,
                measure=[sweep.ambiguity(64)],
            )
            with_chunks(study, 50)
            if name == "local":
                spent.append(both_clocks(study.run, "local", workers=count, progress=False)[0])
                continue
            with (
                distributed.LocalCluster(
                    n_workers=count, threads_per_worker=1, env=environment(), dashboard_address=None
                ) as cluster,
                distributed.Client(cluster) as client,
            ):
                client.run(_warm)  # imports and compiled code are there before the time is taken
                spent.append(both_clocks(study.run, client, progress=False)[0])
        table.row(name, *spent, spent[0] / spent[1])


def _warm() -> None:
    import routh

    routh.sample(sweep_landings.block(0.0, 0.3), 64)


@in_a_folder(1_000_000)
def growth(options: argparse.Namespace, folder: Path) -> None:
    """Pace and memory of the driver and of its workers with ever more points, each in a new process."""
    print("points, s, points a second; the most memory of the driver and of a worker, MB", flush=True)
    points = 10_000
    while points <= options.points:
        code = f"import sweeps, pathlib; sweeps.grow(pathlib.Path({str(folder / str(points))!r}), {points})"
        subprocess.run([sys.executable, "-c", code], check=True, env=environment())
        points *= 10


def grow(folder: Path, points: int) -> None:
    """One size: four outcomes a point."""
    study, largest = study_of(folder, points, 4), 0.0

    def look(_: object) -> None:
        nonlocal largest
        largest = max([largest, *map(peak_memory, children(os.getpid()))])

    spent, _ = both_clocks(study.run, "local", progress=look)
    total = len(study.plan.grid)
    print(f"{total:9d} {spent:7.1f} {total / spent:8.0f} {peak_memory():5.0f} {largest:5.0f}", flush=True)


def main() -> None:
    parser = command_line(__doc__, kills, overhead, workers, growth)
    parser.add_argument("--points", type=int)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--chunk", type=int, default=200, help="points of a chunk under attack")
    parser.add_argument("--seed", type=int, default=0)
    run_part(parser)


if __name__ == "__main__":
    main()
