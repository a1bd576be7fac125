"""Check the Python blocks of the guide's pages as `mypy --strict` does a user's script: one script per page.

python docs/site_types.py                          # every page of the guide, and the README
python docs/site_types.py docs/guide/landing.md    # these pages; mypy's other options go through

An error stands on the line of the page. The scripts are the package ``guide``, which ``pyproject.toml`` asks
to be strict, so that mypy's cache of routh itself, whose own rules differ, serves both runs.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import site_blocks

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "guide"


def pages() -> list[Path]:
    """Every page of the guide, and the README."""
    return [*sorted((ROOT / "docs" / "guide").glob("*.md")), ROOT / "README.md"]


def script(page: Path) -> str:
    """The Python blocks of a page, each on the lines that it has there; empty where it has none."""
    lines: list[str] = []
    for block in site_blocks.blocks(page):
        if block.language == "python":
            lines += [""] * (block.line - 1 - len(lines)) + block.code.splitlines()
    return "".join(line + "\n" for line in lines)


def write(chosen: Iterable[Path], folder: Path) -> dict[Path, Path]:
    """Write the scripts as a package into ``folder``; each script with its page."""
    package = folder / PACKAGE
    package.mkdir()
    (package / "__init__.py").write_text("")
    written = {}
    for page in chosen:
        code = script(page)
        if code:
            written[package / f"{page.stem}.py"] = page
            (package / f"{page.stem}.py").write_text(code)
    return written


def check(chosen: Iterable[Path], *options: str) -> tuple[int, str]:
    """What mypy returns and says of these pages, with their lines."""
    with tempfile.TemporaryDirectory() as place:
        written = write(chosen, Path(place))
        command = [sys.executable, "-m", "mypy", *options, *map(str, written)]
        path = os.pathsep.join([place, str(ROOT / "src")])
        run = subprocess.run(
            command, cwd=ROOT, env={**os.environ, "MYPYPATH": path}, capture_output=True, text=True
        )
        said = run.stdout + run.stderr
        for file, page in written.items():
            said = said.replace(str(file), str(page.relative_to(ROOT)))
        return run.returncode, said


if __name__ == "__main__":
    named = [Path(word).resolve() for word in sys.argv[1:] if not word.startswith("-")]
    code, said = check(named or pages(), *(word for word in sys.argv[1:] if word.startswith("-")))
    print(said, end="")
    sys.exit(code)
