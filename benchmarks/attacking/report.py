"""What an attack found, as rows of a table."""

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass
class Found:
    """One row: what was tried, and what came of it."""

    name: str
    cases: int = 0
    wrong: int = 0  # answers that are not true, files read outside, tracebacks, crashes, files lost
    honest: int = 0  # failures that say so: a status, a clear error
    slowest: float = 0.0  # s, of one case
    examples: list[str] = field(default_factory=list)  # the first wrong ones, to repeat them
    limit: float | None = None  # s: what the slowest may take; None: nothing is promised
    which: str = ""  # the slowest one, where it has a name

    def count(self, seconds: float, *, wrong: str = "", honest: bool = False, case: str = "") -> None:
        """Add a case by its name; ``wrong`` says what is wrong with it."""
        self.cases += 1
        if seconds > self.slowest:
            self.slowest, self.which = seconds, case
        self.honest += honest and not wrong
        if wrong:
            self.wrong += 1
            if len(self.examples) < 5:
                self.examples.append(wrong)

    @property
    def too_slow(self) -> bool:
        """Whether the slowest case is beyond what is promised; NaN is."""
        return self.limit is not None and not self.slowest <= self.limit


def merged(name: str, parts: Iterable[Found], *, limit: float | None = None) -> Found:
    """One row from its parts."""
    whole = Found(name, limit=limit)
    for part in parts:
        whole.cases, whole.wrong = whole.cases + part.cases, whole.wrong + part.wrong
        whole.honest, whole.slowest = whole.honest + part.honest, max(whole.slowest, part.slowest)
        whole.examples = sorted([*whole.examples, *part.examples])[:5]
    return whole


def show(rows: list[Found]) -> None:
    """Print the table and the first wrong cases."""
    width = max(len(row.name) for row in rows)
    heads = f"{'cases':>9}{'wrong':>8}{'honest failures':>17}{'slowest, s':>12}{'allowed, s':>12}"
    print(f"{'attack':<{width}}{heads}")
    for row in rows:
        counts = f"{row.cases:>9}{row.wrong:>8}{row.honest:>17}{row.slowest:>12.4f}"
        allowed = f"{'':>12}" if row.limit is None else f"{row.limit:>12.4f}"
        print(f"{row.name:<{width}}{counts}{allowed}{'  TOO SLOW' if row.too_slow else ''}")
    for row in rows:
        if row.which:
            print(f"slowest: {row.name}: {row.which}")
        for example in row.examples:
            print(f"wrong: {row.name}: {example}")
    bad = sum(row.wrong for row in rows), sum(row.too_slow for row in rows)
    print("nothing got through" if not any(bad) else f"{bad[0]} wrong, {bad[1]} rows too slow")
