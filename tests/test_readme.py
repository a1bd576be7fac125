"""What README says works as it is written there."""

import re
from pathlib import Path

import pytest

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

    commands = {command.name for command in app.registered_commands}
    blocks = "\n".join(re.findall(r"```sh\n(.*?)```", README, flags=re.DOTALL))
    mentioned = set(re.findall(r"(?:^|bin/)routh ([a-z]+)", blocks, flags=re.MULTILINE))
    assert mentioned <= commands
    assert mentioned == {"audit", "impact", "list", "reproduce", "run"}
