"""What an attack found, as rows of a table."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from measure import Table


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


def chunks(count: int, together: int = 50) -> list[range]:
    """The numbers 0 to ``count - 1`` in ranges, for processes."""
    return [range(first, min(first + together, count)) for first in range(0, count, together)]


def show(rows: list[Found]) -> None:
    """Print the table and the first wrong cases."""
    width = max(len(row.name) for row in rows)
    columns = {"attack": f"<{width}", **dict.fromkeys(("cases", "wrong", "honest failures"), "d")}
    table = Table({**columns, "slowest, s": ".4f", "allowed, s": ".4f", "": "<"})
    for row in rows:
        late = "TOO SLOW" if row.too_slow else None
        table.row(row.name, row.cases, row.wrong, row.honest, row.slowest, row.limit, late)
    for row in rows:
        if row.which:
            print(f"slowest: {row.name}: {row.which}")
        for example in row.examples:
            print(f"wrong: {row.name}: {example}")
    bad = sum(row.wrong for row in rows), sum(row.too_slow for row in rows)
    print("nothing got through" if not any(bad) else f"{bad[0]} wrong, {bad[1]} rows too slow")
