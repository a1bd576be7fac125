"""The table of regions of one problem, found in a serial, seeded pilot run and frozen before sampling.

What is in it depends on the problem and the step alone, not on the number of samples, their order, their
seed or the threads, so neither do the results. Outside the table a step is solved by pivoting.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from routh import tolerances
from routh.kernels.loop import INSIDE, WALK
from routh.kernels.orientation import ambiguous_regions
from routh.kernels.pivoting import SOLVED, solve_step
from routh.kernels.prepare import KernelData, workspace
from routh.kernels.regions import Region, State, build_region, canonical
from routh.rng import uniforms
from routh.validation import Array

PILOT_SAMPLES, PILOT_STEPS, PILOT_SEED = 192, 32, 20231115
MOST_BYTES = 2**21
UNKNOWN, NONE = -2, -1


@dataclass(frozen=True, eq=False)
class Table:
    """Regions as arrays; ``slots`` may be 0, then every step is pivoted."""

    start: int
    impulses: Array  # (slots, n, inputs)
    rows: Array  # (slots, r, inputs), padded
    counts: np.ndarray  # (slots,) inequalities of each region
    neighbours: np.ndarray  # (slots, r) region behind each inequality; -1: not in the table
    ambiguous: Array  # (m, r, inputs) regions in which a step has several solutions
    ambiguous_counts: np.ndarray  # (m,)
    reason: str  # why the table is empty, or ""

    @property
    def slots(self) -> int:
        """Number of regions."""
        return len(self.counts)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """What the kernels take."""
        return (
            self.start,
            self.impulses,
            self.rows,
            self.counts,
            self.neighbours,
            self.ambiguous,
            self.ambiguous_counts,
        )


def build_table(data: KernelData, size: Array, max_steps: int) -> Table:
    """Run the pilot: ``size`` (nc,) is the scaled box that lambda_max is drawn from."""
    ambiguous = ambiguous_regions(data)
    if ambiguous is None and data.shape[1] == 1:
        return _empty(data, "too many regions with several solutions, or too many contacts")
    builder = _Builder(data, ambiguous or [])
    for sample in range(PILOT_SAMPLES):
        if not builder.run(sample, size, min(max_steps, PILOT_STEPS)):
            return _empty(data, "a step of the pilot has several solutions")
    return builder.freeze()


class _Builder:
    """The growing table of the pilot."""

    def __init__(self, data: KernelData, ambiguous: list[Region]) -> None:
        self.data = data
        self.ambiguous = ambiguous
        self.regions: list[Region] = []
        self.neighbours: list[np.ndarray] = []
        self.index: dict[State, int] = {}
        self.first: Counter[int] = Counter()
        nc, nt = data.shape
        per_region = 8 * (nc * (1 + nt) + nc) * nc * (4 + 2 * nt + len(data.dirs))
        self.capacity = max(16, MOST_BYTES // per_region)
        self.work = workspace(nc, nt, len(data.dirs))

    def run(self, sample: int, size: Array, max_steps: int) -> bool:
        """One pilot sample; False where the table would not have found Lemke's velocity."""
        c = self.data.c
        slot = NONE
        for step in range(max_steps):
            if np.all(c[:: 1 + self.data.shape[1]] >= -tolerances.APPROACH):
                break
            bound = size * uniforms(PILOT_SEED, np.array([sample]), step, self.data.shape[0])[0]
            x = np.concatenate([c, bound])
            p = np.zeros(len(c))
            outcome, _ = solve_step(self.data.shape, self.data.solver, c, bound, p, self.work)
            if outcome != SOLVED:
                break
            after = c + self.data.G @ p
            slot = self.locate(x, slot)
            if slot >= 0 and not self.is_ambiguous(x):
                found = c + self.data.G @ (self.regions[slot].impulses @ x)
                if not np.abs(found - after).max() < tolerances.SAME_VELOCITY:
                    return False
            if step == 0:
                self.first[slot] += 1
            c = after
        return True

    def locate(self, x: Array, slot: int) -> int:
        """The region of x, walking from ``slot`` and growing the table; -1 where none is found."""
        at = 0 if slot < 0 and self.regions else slot
        blocked: tuple[int, int] | None = None
        for _ in range(WALK if at >= 0 else 0):
            values = self.regions[at].rows @ x
            row = int(np.argmin(values))
            if values[row] >= -INSIDE:
                return at
            if self.neighbours[at][row] == UNKNOWN:
                self.neighbours[at][row] = self.add(self.regions[at].neighbours[row])
            if self.neighbours[at][row] < 0:
                blocked = at, row
                break
            at = int(self.neighbours[at][row])
        k, nt = self.data.dirs.shape
        found = self.add(canonical(self.work[0], nt, k))
        if found < 0 or not (self.regions[found].rows @ x).min() >= -INSIDE:
            return NONE
        if blocked is not None:  # the flip is singular: jump to where pivoting led
            self.neighbours[blocked[0]][blocked[1]] = found
        return found

    def add(self, state: State) -> int:
        """The slot of a basis, built where it is new; -1 where it is singular or the table is full."""
        if state not in self.index:
            region = build_region(self.data, state) if len(self.regions) < self.capacity else None
            if region is None:
                return NONE
            self.index[state] = len(self.regions)
            self.regions.append(region)
            self.neighbours.append(np.full(len(region.rows), UNKNOWN))
        return self.index[state]

    def is_ambiguous(self, x: Array) -> bool:
        """Whether a step with these inputs may have several solutions."""
        return any((region.rows @ x).min() >= -INSIDE for region in self.ambiguous)

    def freeze(self) -> Table:
        """The table as arrays; neighbours that were never asked for are filled in where they exist."""
        if not self.regions:
            return _empty(self.data, "the pilot found no regular basis")
        for region, neighbours in zip(self.regions, self.neighbours, strict=True):
            for row in np.flatnonzero(neighbours == UNKNOWN):
                neighbours[row] = self.index.get(region.neighbours[row], NONE)
        common = [slot for slot, _ in self.first.most_common() if slot >= 0]
        rows, counts = _stack_rows(self.regions, self.data)
        behind = np.full(rows.shape[:2], NONE, dtype=np.int64)
        for slot, neighbours in enumerate(self.neighbours):
            behind[slot, : len(neighbours)] = neighbours
        ambiguous, ambiguous_counts = _stack_rows(self.ambiguous, self.data)
        impulses = np.stack([region.impulses for region in self.regions])
        start = common[0] if common else 0
        return Table(start, impulses, rows, counts, behind, ambiguous, ambiguous_counts, "")


def _stack_rows(regions: list[Region], data: KernelData) -> tuple[Array, np.ndarray]:
    nc, nt = data.shape
    counts = np.array([len(region.rows) for region in regions], dtype=np.int64)
    rows = np.zeros((len(regions), int(counts.max()) if regions else 1, nc * (2 + nt)))
    for slot, region in enumerate(regions):
        rows[slot, : len(region.rows)] = region.rows
    return rows, counts


def _empty(data: KernelData, reason: str) -> Table:
    nc, nt = data.shape
    inputs = nc * (2 + nt)
    none = np.zeros((0, 1, inputs))
    count = np.zeros(0, dtype=np.int64)
    behind = np.zeros((0, 1), dtype=np.int64)
    return Table(0, np.zeros((0, nc * (1 + nt), inputs)), none, count, behind, none, count, reason)
