"""Run the Python blocks of a page, as a reader would: one after the other, in one process.

python docs/site_blocks.py docs/guide/first_impact.md      # pictures go into the working directory

A line ``# -> text`` below a statement is what the block prints; ``...`` in it stands for anything. A block
with such lines must print exactly these. Other output is not looked at. Of shell blocks the lines run that
write a picture of the page: ``routh ... --out picture.png``.
"""

import contextlib
import io
import linecache
import re
import shlex
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^```(python|sh)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"^routh .*--out (\S+)")
PICTURE = re.compile(r"!\[[^\]]*\]\(([\w./-]+\.(?:png|svg|gif))\)")


@dataclass(frozen=True)
class Block:
    """One block of a page, Python or commands, and the line of the page that it begins on."""

    code: str
    line: int
    language: str = "python"

    @property
    def promised(self) -> list[str]:
        """The lines that the block says it prints."""
        return re.findall(r"^\s*# -> ?(.*)$", self.code, flags=re.MULTILINE)


def blocks(page: Path) -> list[Block]:
    """The blocks of a page that run, in order; of shell blocks the lines that write one of its pictures."""
    text, shown, found = page.read_text(), pictures(page), []
    for match in FENCE.finditer(text):
        code = match[2]
        if match[1] == "sh":
            lines = [(COMMAND.match(line), line) for line in code.splitlines()]
            code = "\n".join(line for command, line in lines if command and command[1] in shown)
        if code:
            found.append(Block(code, text[: match.start(2)].count("\n") + 1, match[1]))
    return found


def pictures(page: Path) -> list[str]:
    """Pictures that a page shows, as it names them."""
    return PICTURE.findall(page.read_text())


def made_by(page: Path) -> list[str]:
    """Those of its pictures that the page's own blocks make: a block names the file."""
    code = "".join(block.code for block in blocks(page))
    return [name for name in pictures(page) if f'"{name}"' in code or f"--out {name}" in code]


def _fits(promised: str, printed: str) -> bool:
    pattern = ".*".join(re.escape(part) for part in promised.split("..."))
    return re.fullmatch(pattern, printed.rstrip()) is not None


def _check(block: Block, printed: list[str], where: str) -> None:
    promised = block.promised
    if not promised:
        return
    same = len(promised) == len(printed) and all(map(_fits, promised, printed))
    if not same:
        raise AssertionError(
            f"{where} promises\n" + "\n".join(promised) + "\nand prints\n" + "\n".join(printed)
        )


def _command(lines: str) -> None:
    """Run commands of the terminal in this process."""
    from routh.cli.app import app

    for line in lines.splitlines():
        with contextlib.redirect_stdout(io.StringIO()):
            app(shlex.split(line, comments=True)[1:], standalone_mode=False)


def run(page: Path) -> None:
    """Run every block of a page in one namespace, and compare what it prints with what it promises."""
    names: dict[str, object] = {"__name__": "__main__"}
    source: list[str] = []  # of all blocks so far, on their lines: kernels are compiled from it
    for block in blocks(page):
        if block.language == "sh":
            _command(block.code)
            continue
        printed = io.StringIO()
        code = compile("\n" * (block.line - 1) + block.code, str(page), "exec")
        source += ["\n"] * (block.line - 1 - len(source)) + block.code.splitlines(keepends=True)
        linecache.cache[str(page)] = len(source), None, source, str(page)
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        _check(block, printed.getvalue().splitlines(), f"{page.name}, line {block.line}")
    missing = [name for name in made_by(page) if not Path(name).exists()]
    if missing:
        raise AssertionError(f"{page.name} shows {missing}, which its blocks did not write")


if __name__ == "__main__":
    import matplotlib

    matplotlib.use("agg")
    warnings.filterwarnings("error", message="constrained_layout not applied")  # no room for the axes
    run(Path(sys.argv[1]).resolve())
