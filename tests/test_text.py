"""Names from elsewhere show what they hold, wherever they go."""

import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

import routh
from routh.base.text import for_html, for_lines, for_matplotlib, for_rich, for_terminal, percent

NASTY = [
    "\x1b]0;title\x07",
    "\x1b[31mred",
    "a\nb",
    "a\rb",
    "[/red]",
    "foot[left]",
    "[link=http://x]y[/link]",
    "$x$",
    "a$b",
    "\\[x]",
    "tail\\",
    "\u202egnp.exe",
    "\u2028",
    "\ud800",
    "\x9b31m",
    ":smile:",
    "<script>alert(1)</script>",
    '"onload="x',
    "../../etc/passwd",
    "",
]


def test_what_a_terminal_gets():
    assert for_terminal("\x1b[31m") == r"\x1b[31m"
    assert for_terminal("a\nb\u202e") == r"a\nb\u202e"
    assert for_terminal("Fuß α 足") == "Fuß α 足"
    assert for_lines("a\n\x07b") == "a\n\\x07b"


@given(st.text(st.characters(codec=None, exclude_categories=())))
def test_nothing_commands_a_terminal(text):
    shown = for_terminal(text)
    shown.encode("utf-8")
    assert shown.isprintable() or " " in shown or "\u3000" in shown or "\xa0" in shown
    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in shown)


@pytest.mark.parametrize("text", NASTY)
def test_rich_prints_what_it_is_given(text):
    out = io.StringIO()
    console = Console(file=out, width=500, emoji=False, highlight=False)
    console.print(f"[bold]{for_rich(text)}[/bold]!")
    assert out.getvalue() == f"{for_terminal(text)}!\n"


@pytest.mark.parametrize("text", [*NASTY, "$\\frac{$", "_hidden", "100 $ or 200 $"])
def test_matplotlib_draws_what_it_is_given(text):
    cbook = pytest.importorskip("matplotlib.cbook")
    shown = for_matplotlib(text)
    assert not cbook.is_math_text(shown)
    assert not shown.startswith("_")
    assert shown.replace(r"\$", "$").strip() == for_terminal(text).strip()


@pytest.mark.parametrize("text", NASTY)
def test_html(text):
    assert not set("<>\"'\x1b") & set(for_html(text))


def test_text_is_cleaned_in_one_place():
    """Other modules escape nothing themselves: what one of them forgets, none may."""
    root = Path(routh.__file__).parent
    own = [
        f"{path.relative_to(root)}: {line.strip()}"
        for path in sorted(root.rglob("*.py"))
        if path.name != "text.py"
        for line in path.read_text().splitlines()
        if re.search(r"html\.escape|markup import|^import html$|unicode_escape", line)
    ]
    assert own == []


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0, "0.0 %"), (1e-6, "< 0.1 %"), (0.0214, "2.1 %"), (0.999992, "> 99.9 %"), (1.0, "100.0 %")],
)
def test_what_is_not_all_does_not_read_as_all(share, text):
    assert percent(share) == text


def test_no_result_commands_a_terminal():
    """What Python prints of a result shows the names in it: they may come from a file of somebody else."""
    names = ["\x1b]0;owned\x07", "\u202etfel"]
    problem = routh.systems.impact("rocking-block").replace(names=names)
    outcomes = routh.sample(problem, 64)
    after = outcomes.v[0] + 1.0
    scan = routh.scan(lambda **point: problem, {"\x1b[31m": [0.1]}, n=8)
    results = [problem, outcomes, outcomes.answer(), routh.audit(problem, after, outcomes=outcomes), scan]
    for result in results:
        for text in (repr(result), str(result)):
            assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e]", text), type(result)
    assert "\\x1b]0;owned\\x07" in repr(problem)
    assert "\\x1b]0;owned\\x07" in str(outcomes.answer())
    broken = routh.audit(problem, after, outcomes=outcomes).broken
    assert not any("\x1b" in str(law) for law in broken)
