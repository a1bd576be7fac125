"""What an attack found, as rows of a table."""

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

    def count(self, seconds: float, *, wrong: str = "", honest: bool = False) -> None:
        """Add a case; ``wrong`` says what is wrong with it."""
        self.cases += 1
        self.slowest = max(self.slowest, seconds)
        self.honest += honest and not wrong
        if wrong:
            self.wrong += 1
            if len(self.examples) < 5:
                self.examples.append(wrong)


def show(rows: list[Found]) -> None:
    """Print the table and the first wrong cases."""
    width = max(len(row.name) for row in rows)
    print(f"{'attack':<{width}}{'cases':>9}{'wrong':>8}{'honest failures':>17}{'slowest, s':>12}")
    for row in rows:
        print(f"{row.name:<{width}}{row.cases:>9}{row.wrong:>8}{row.honest:>17}{row.slowest:>12.3f}")
    for row in rows:
        for example in row.examples:
            print(f"wrong: {row.name}: {example}")
