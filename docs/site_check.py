"""Run everything that checks the documentation, and say what it takes: ``python docs/build.py --check``.

Blocks of the pages, notebooks, examples, links and the site in a browser, on all cores. Seconds are the
processor's, those of started processes included, so they depend little on what else the machine does.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TESTS = (
    "docs_blocks",
    "docs_gallery",
    "docs_names",
    "docs_pages",
    "docs_parameters",
    "docs_site",
    "examples",
    "notebooks",
    "readme",
    "typed_user",
)
KEY = "processor seconds"
_BEFORE = pytest.StashKey[float]()


def check(arguments: list[str]) -> int:
    """Run the tests of the documentation with this file as a plugin; `arguments` go to pytest."""
    files = [f"tests/test_{name}.py" for name in TESTS]
    paths = [str(ROOT / "src"), str(ROOT / "docs"), os.environ.get("PYTHONPATH", "")]
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment = {**os.environ, **threads, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    command = [sys.executable, "-m", "pytest", "-p", "site_check", "-n", "auto", *files, *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment).returncode


def _spent() -> float:
    return sum(os.times()[:4])  # user and system, own and of ended children


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Remember what the processor had done before a test."""
    item.stash[_BEFORE] = _spent()
    return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Note what a test and its fixtures took; the report of the teardown carries it to the summary."""
    item.user_properties.append((KEY, _spent() - item.stash[_BEFORE]))


def pytest_terminal_summary(terminalreporter) -> None:
    """The table: every part above half a second, and the sum."""
    reports = [report for found in terminalreporter.stats.values() for report in found]
    noted = [(report, dict(getattr(report, "user_properties", ()))) for report in reports]
    seconds = {
        report.nodeid.removeprefix("tests/test_"): known[KEY] for report, known in noted if KEY in known
    }
    terminalreporter.section(KEY)
    for name, value in sorted(seconds.items(), key=lambda pair: -pair[1]):
        if value > 0.5:
            terminalreporter.write_line(f"{value:7.1f}  {name}")
    terminalreporter.write_line(f"{sum(seconds.values()):7.1f}  all {len(seconds)} tests")


if __name__ == "__main__":
    sys.exit(check(sys.argv[1:]))
