"""The guide's pages become scripts that `docs/site_types.py` has mypy check, in `check.py` with its cache."""

import tomllib
from pathlib import Path

import pytest

site_types = pytest.importorskip("site_types")
ROOT = Path(__file__).parents[1]


def test_every_line_of_a_page_stands_on_its_line_in_the_script(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# Title\n\n```python\nimport routh\n```\n\ntext\n\n```sh\nroute\n```\n```python\nx = 1\n```\n"
    )
    assert site_types.script(page).splitlines() == ["", "", "", "import routh", *[""] * 8, "x = 1"]


def test_every_page_of_the_guide_with_python_is_checked(tmp_path):
    written = site_types.write(site_types.pages(), tmp_path)
    shown = {page for page in (ROOT / "docs" / "guide").glob("*.md") if "```python\n" in page.read_text()}
    assert shown | {ROOT / "README.md"} == set(written.values())
    for script, page in written.items():
        compile(script.read_text(), str(page), "exec")
        assert "# type:" not in script.read_text(), "a page that switches the check off"


def test_scripts_are_asked_for_all_that_strict_asks_for():
    """Of each flag that ``--strict`` sets; those that hold for a whole run stand above."""
    mypy = pytest.importorskip("mypy.main")
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]
    (ours,) = (one for one in settings["overrides"] if one["module"] == [f"{site_types.PACKAGE}.*"])
    asked = {**settings, **ours}
    _, _, strict = mypy.define_options()
    for flag, value in strict:
        name, wanted = (flag, value) if flag in asked else (f"no_{flag}", not value)
        assert asked[name] is wanted, flag


def test_check_runs_it_and_the_package_says_that_it_is_typed():
    assert '"docs/site_types.py"' in (ROOT / "check.py").read_text()
    assert (ROOT / "src" / "routh" / "py.typed").exists()
