"""The engine of the benchmarks, and that pages and benchmarks name each other."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

from measure import Table, command_line, counted, in_processes, interval, run_part, share_interval, timed

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"
PAGES = [*ROOT.glob("docs/**/*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
COMMANDS = sorted(path for path in BENCHMARKS.glob("*.py") if "__main__" in path.read_text())
NAMED = re.compile(r"(?<!tests/)\bbenchmarks/(\w+)\.py([^`#|\n]*)")
FOLLOWING = re.compile(r"`(\w+)\.py\b")  # behind a first command, as in the table of docs/measured/index.md


def test_a_table_is_markdown_in_columns_of_equal_width(capsys):
    table = Table({"system": "<8", "us": ".1f", "change": "+.1%", "note": "<"})
    table.row("block", 3.14159, 0.5, None)
    table.row("gait", np.float64(20.0), "never", True)
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "| system   |      us |  change | note    |",
        "|----------|---------|---------|---------|",
        "| block    |     3.1 |  +50.0% |         |",
        "| gait     |    20.0 |   never | True    |",
    ]
    with pytest.raises(ValueError):
        table.row("too few")


def test_the_quickest_call_counts():
    clock = iter([0.0, 5.0, 10.0, 12.0])
    assert timed(pow, 2, 3, repeats=2, clock=lambda: next(clock)) == (8, 2.0)


def test_intervals_are_those_of_resampled_rows():
    values = np.arange(11.0)
    low, high = interval(lambda rows: np.median(values[rows]), len(values))
    assert 1.0 < low < 5.0 < high < 9.0
    assert interval(lambda rows: 7.0, 10) == (7.0, 7.0)
    never = np.array([1.0, np.inf, np.inf])
    assert interval(lambda rows: never[rows].max(), 3, method="nearest")[1] == np.inf


def test_the_interval_of_a_share_is_clopper_and_pearsons():
    assert share_interval(0, 10) == (0.0, pytest.approx(1.0 - 0.025**0.1))
    assert share_interval(10, 10) == (pytest.approx(0.025**0.1), 1.0)


@pytest.mark.parametrize("processes", [1, 2])
def test_results_come_in_the_order_of_their_tasks(processes):
    assert list(in_processes(abs, range(-3, 3), processes)) == [3, 2, 1, 0, 1, 2]


def test_a_part_is_run_with_what_the_command_line_says(monkeypatch, capsys):
    def second(given):
        print(given.part, given.count)

    parser = command_line("text", second)
    parser.add_argument("--count", type=int, default=3)
    monkeypatch.setattr("sys.argv", ["benchmark", "second", "--count", "5"])
    run_part(parser)
    assert capsys.readouterr().out == "second 5\n"


def test_the_most_frequent_is_told_first():
    assert counted({"JAMMED": 1, "SOLVED": 3}) == "3 SOLVED, 1 JAMMED"


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: path.name)
def test_every_benchmark_is_named_by_a_page(path):
    texts = [page.read_text() for page in PAGES]
    assert any(path.stem in {*FOLLOWING.findall(text), *dict(NAMED.findall(text))} for text in texts)


def words_of(file):
    """What a file could take from a command line: its strings, and the names of functions."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        texts = (getattr(node, field, None) for field in ("value", "name", "attr"))
        found |= {text for text in texts if isinstance(text, str)}
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_commands_of_a_page_are_there(page):
    """The file, the part that the word behind it names, and its options."""
    for name, rest in NAMED.findall(page.read_text()):
        assert (BENCHMARKS / f"{name}.py").exists(), name
        part = re.match(r" ([a-z]\w*)(?![\w.])", rest)
        wanted = {*([part[1]] if part else []), *re.findall(r"--\w+", rest)}
        helpers = BENCHMARKS.glob("tosses/comparing.py") if "tosses" in name else []
        assert wanted <= set().union(*map(words_of, [BENCHMARKS / f"{name}.py", *helpers])), f"{name}{rest}"
