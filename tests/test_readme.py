"""What README says works as it is written there."""

import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from routh.base import features

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
PAGES = sorted(ROOT.glob("*.md"))  # those of the site: test_docs_site.py


def example():
    (code,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    return code


def test_the_example_has_about_ten_lines():
    assert len([line for line in example().splitlines() if line.strip()]) <= 10


def test_the_example_runs_as_written(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(example(), "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "sticks, sticks" in printed
    assert "separates, sticks" in printed
    assert "0.093" in printed  # the sequential outcome
    assert (tmp_path / "block.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_point_somewhere(page):
    text = page.read_text()
    for target in [*re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text), *re.findall(r'<img src="([^"]+)"', text)]:
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_the_commands_of_the_readme_exist():
    from routh.cli.app import app

    commands = {command.name for command in app.registered_commands} | set(features.entries("commands"))
    blocks = "\n".join(re.findall(r"```sh\n(.*?)```", README, flags=re.DOTALL))
    mentioned = set(re.findall(r"(?:^|bin/)routh ([a-z]+)", blocks, flags=re.MULTILINE))
    assert mentioned <= commands
    assert mentioned == {"audit", "impact", "list", "reproduce", "run", "tip"}


COMMAND_LINE = ROOT / "docs" / "guide" / "command_line.md"


NUMBER = re.compile(r"\d+(?:\.\d+)?")
TIME = re.compile(r"in [\d.]+ s\b")  # differs from run to run


def words_and_numbers(text):
    """Some lines without bars and times: the words between the numbers, and the numbers."""
    told = " ".join(re.sub(r"[█-▏]+", " ", TIME.sub("", text)).split())
    return NUMBER.sub("#", told), [float(number) for number in NUMBER.findall(told)]


@pytest.mark.parametrize("page", [ROOT / "README.md", COMMAND_LINE], ids=lambda page: page.name)
def test_what_pages_show_of_the_terminal_is_what_it_prints(page, routh_command):
    (shown,) = [
        block
        for block in re.findall(r"```text\n(.*?)```", page.read_text(), flags=re.DOTALL)
        if "Least certain" in block
    ]
    shown = shown.removeprefix("$ routh run rocking-block\n")
    _, printed, _ = routh_command("run", "rocking-block", "--no-picture")
    assert shown.splitlines()[:2] == printed.splitlines()[:2]
    printed = printed[: printed.index("What laws")] if "contact A" in shown else printed[: len(shown)]
    (words, numbers), (said, right) = words_and_numbers(shown), words_and_numbers(printed)
    assert words == said
    # another machine's last bits may move a sample of 16384 from one row to the next
    assert numbers == pytest.approx(right, abs=0.11)


def test_pictures_of_the_first_page_are_small_and_one_moves():
    pictures = [ROOT / target for target in re.findall(r'<img src="([^"]+)"', README)]
    assert pictures[0].suffix == ".gif"
    assert max(picture.stat().st_size for picture in pictures) < 1_000_000


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "rocking-block", "--samples", "50"],
        ["run", "bowling"],
        ["run", "compass-gait", "--exact"],
        ["impact", "apart.npz"],
    ],
    ids=" ".join,
)
def test_every_key_of_the_json_is_documented(arguments, routh_command, tmp_path):
    import routh

    if "--exact" in arguments:
        pytest.importorskip("ppl")
    block = routh.systems.impact("rocking-block")
    block.replace(v=-block.v).save(tmp_path / "apart.npz")
    data = json.loads(routh_command(*arguments, "--json", "--no-picture")[1])
    text = COMMAND_LINE.read_text()
    keys = {*data, *(f"ambiguity.{key}" for key in data["ambiguity"] or ())} - {"ambiguity", "system"}
    assert not {key for key in keys if f"`{key}`" not in text}


def test_the_law_the_system_and_the_figure_of_contributing_work(tmp_path):
    """Each whole file that CONTRIBUTING shows runs as it is; in a process of its own, since they register."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    found = re.findall(r"^ *```python\n(.*?)```", text, re.DOTALL | re.MULTILINE)
    law, system, figure = map(textwrap.dedent, found)
    code = f"""
spaces = [{{"__name__": "__main__"}} for _ in range(3)]
for block, space in zip(({law!r}, {system!r}, {figure!r}), spaces):
    exec(compile(block, "CONTRIBUTING.md", "exec"), space)
problem = spaces[1]["my_system"]().problem
print(spaces[0]["MyLaw"]()(problem).status.name)
from routh.reproduce.base import Settings
print(*spaces[2]["figure_2"](Settings(quick=True)).figures)
"""
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert run.stdout.split() == ["SOLVED", "my-fig-2"], run.stderr
