"""Every page of the guide is alike: a question, a block that runs, its picture, where to go next."""

import re
import tomllib
from pathlib import Path

import pytest

import site_blocks
from routh.base.status import Status

GUIDE = Path(__file__).parents[1] / "docs" / "guide"
PAGES = sorted(GUIDE.glob("*.md"))
LONGEST = 500  # characters of a paragraph: some five lines
#: its picture is the browser's, so no block can make it
PICTURE_FROM_ELSEWHERE = {"viewer"}
ROOT = GUIDE.parents[1]
HISTORY = re.compile(
    r"\b(we (?:have )?(?:tried|found|changed|removed)|used to|no longer|previously|in an earlier|at first we|"
    r"has been (?:changed|added|removed)|was (?:added|removed|rewritten)|new in|todo|fixme)\b",
    flags=re.IGNORECASE,
)


def prose(page):
    """The paragraphs and list items of a page, without blocks, tables, formulas and headings."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^\$\$.*?^\$\$$", "", text, flags=re.DOTALL | re.MULTILINE)
    parts = re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", text)
    shown = [re.sub(r"\]\([^)]*\)", "]", " ".join(part.split())) for part in parts]
    return [part for part in shown if part and part[0] not in "#|!"]


@pytest.fixture(params=PAGES, ids=lambda page: page.stem)
def page(request):
    return request.param


def test_it_asks_a_question_first(page):
    title, first = [part.strip() for part in page.read_text().split("\n\n", 2)[:2]]
    assert title.startswith("# ")
    assert "?" in first or title.endswith("?"), first


def test_it_starts_with_a_block_that_runs_and_the_picture_it_makes(page):
    start = page.read_text().split("\n## ")[0]
    fence = re.search(r"^```(\w*)\n(.*?)^```$", start, flags=re.DOTALL | re.MULTILINE)
    assert fence is not None, "no block before the first heading"
    assert fence[1] in ("python", "sh")
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", start)
    assert pictures, "no picture before the first heading"
    if page.stem not in PICTURE_FROM_ELSEWHERE:
        assert pictures[0] in site_blocks.made_by(page)
        assert Path(pictures[0]).name in fence[2], "the first block does not make the first picture"


def test_it_ends_with_where_to_go_next(page):
    last = page.read_text().split("\n## ")[-1]
    assert last.startswith("Where to go next\n")
    assert re.search(r"\]\([\w./]+\.md", last)


def test_paragraphs_are_short(page):
    long = [part for part in prose(page) if len(part) > LONGEST]
    assert not long


def test_it_does_not_speak_of_how_it_came_about(page):
    assert HISTORY.findall("\n".join(prose(page))) == []


def test_every_extra_is_named_where_installing_is_explained():
    with (ROOT / "pyproject.toml").open("rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    rows = re.findall(r"^\| `(\w+)` \|", (GUIDE / "install.md").read_text(), flags=re.MULTILINE)
    assert sorted(rows) == sorted(extras)


def test_every_status_is_explained():
    text = (GUIDE / "troubleshooting.md").read_text().split("\n## Statuses")[1]
    assert {status.name for status in Status if f"`{status.name}`" not in text} == set()
