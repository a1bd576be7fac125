"""Studies under attack and at size: kills, what a study adds to its work, workers of Dask, memory.

    python benchmarks/sweeps.py kills               100 kills of drivers and workers, 10^5 points
    python benchmarks/sweeps.py overhead            a study against a plain loop over the same points
    python benchmarks/sweeps.py workers             one and two workers of Dask, and of the local pool
    python benchmarks/sweeps.py growth              10^4, 10^5 and 10^6 points: pace and memory

Needs the extras ``data`` and ``sweep``.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import sweep_landings
from routh import sweep
from routh.sweep import Study
from routh.sweep.chunks import Chunk, compute

COMMAND = [sys.executable, "-c", "from routh.cli import main; main()", "sweep", "-q", "--resume"]


def study_of(folder: Path, points: int, samples: int) -> Study:
    """Landings of a block over angle and slide."""
    side = round(points**0.5)
    over = {"angle": np.linspace(-0.2, 0.2, side), "slide": np.linspace(0.0, 1.0, -(-points // side))}
    return sweep.study(folder, problems=sweep_landings.block, over=over, measure=[sweep.ambiguity(samples)])


def with_chunks(study: Study, size: int) -> Study:
    """Settle the size of the chunks."""
    (study.folder / "chunks.json").write_text(json.dumps({"size": size}))
    return study


def equal(one: Study, other: Study) -> bool:
    """Whether two tables are equal to the bit."""
    a, b = one.columns(), other.columns()
    return a.keys() == b.keys() and all(a[name].tobytes() == b[name].tobytes() for name in a)


def kills(options: argparse.Namespace, folder: Path) -> None:
    """Kill drivers and workers at random moments and while they write; then compare with a calm run."""
    calm = with_chunks(study_of(folder / "calm", options.points, 64), options.chunk)
    start = time.perf_counter()
    calm.run("local", progress=False)
    print(f"undisturbed: {len(calm.plan.grid)} points in {time.perf_counter() - start:.1f} s")
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
            driver = subprocess.Popen(
                [*COMMAND, str(study.folder)], stdout=subprocess.DEVNULL, env=environment()
            )
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


def overhead(options: argparse.Namespace, folder: Path) -> None:
    """Wall time of a study in this process at chunks of a second against the same points in a loop."""
    for repeat in range(3):
        over = {"x": np.arange(float(options.points))}
        study = sweep.study(
            folder / str(repeat), problems=sweep_landings.waited, over=over, measure=[sweep.ambiguity(64)]
        )
        data = study.plan.as_data()
        compute(data, Chunk(0, 2))  # compiled before either is timed
        start, used = time.perf_counter(), time.process_time()
        compute(data, Chunk(0, options.points))
        alone, alone_used = time.perf_counter() - start, time.process_time() - used
        with_chunks(study, 100)  # 100 points of 10 ms: one second
        start, used = time.perf_counter(), time.process_time()
        study.run("here", progress=False)
        spent, spent_used = time.perf_counter() - start, time.process_time() - used
        print(
            f"{options.points} points: loop {alone:.2f} s, study {spent:.2f} s: "
            f"{100 * (spent / alone - 1):+.1f} % "
            f"(processor time {100 * (spent_used / alone_used - 1):+.1f} %)"
        )


def workers(options: argparse.Namespace, folder: Path) -> None:
    """One and two workers on the same study of ten milliseconds a point."""
    import distributed

    load = os.getloadavg()[0]
    print(f"cores: {len(os.sched_getaffinity(0))}, load before: {load:.2f}")
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
                start = time.perf_counter()
                study.run("local", workers=count, progress=False)
                spent.append(time.perf_counter() - start)
                continue
            with (
                distributed.LocalCluster(
                    n_workers=count, threads_per_worker=1, env=environment(), dashboard_address=None
                ) as cluster,
                distributed.Client(cluster) as client,
            ):
                client.run(_warm)  # imports and compiled code are there before the time is taken
                start = time.perf_counter()
                study.run(client, progress=False)
                spent.append(time.perf_counter() - start)
        print(
            f"{name}: 1 worker {spent[0]:.1f} s, 2 workers {spent[1]:.1f} s: {spent[0] / spent[1]:.2f} times"
        )


def _warm() -> None:
    import routh

    routh.sample(sweep_landings.block(0.0, 0.3), 64)


def growth(options: argparse.Namespace, folder: Path) -> None:
    """Pace and memory of the driver and of its workers with ever more points, each in a new process."""
    for points in sizes(options.points):
        code = f"import sweeps, pathlib; sweeps.grow(pathlib.Path({str(folder / str(points))!r}), {points})"
        subprocess.run([sys.executable, "-c", code], check=True, env=environment())


def grow(folder: Path, points: int) -> None:
    """One size: four outcomes a point."""
    study, largest = study_of(folder, points, 4), 0.0

    def look(_: object) -> None:
        nonlocal largest
        largest = max([largest, *map(peak, children(os.getpid()))])

    start = time.perf_counter()
    study.run("local", progress=look)
    spent, total = time.perf_counter() - start, len(study.plan.grid)
    print(
        f"{total:9d} points {spent:7.1f} s {total / spent:8.0f} a second   "
        f"driver {peak(os.getpid()):5.0f} MB, largest worker {largest:5.0f} MB",
        flush=True,
    )


def peak(pid: int) -> float:
    """The most memory that a process has had, MB."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0.0)


def sizes(largest: int) -> Iterator[int]:
    """Powers of ten from 10^4."""
    points = 10_000
    while points <= largest:
        yield points
        points *= 10


def main() -> None:
    """Run one of the parts in a folder that goes away."""
    parts = {"kills": (kills, 100_000), "overhead": (overhead, 1000), "workers": (workers, 3000)}
    parts["growth"] = (growth, 1_000_000)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("part", choices=parts)
    parser.add_argument("--points", type=int)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--chunk", type=int, default=200, help="points of a chunk under attack")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    run, points = parts[options.part]
    options.points = options.points or points
    with tempfile.TemporaryDirectory() as name:
        run(options, Path(name))


if __name__ == "__main__":
    main()
