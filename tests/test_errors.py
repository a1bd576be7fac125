"""Bad input says which field, what came, what was wanted and what to try, here and on the command line."""

import ast
import pickle
from pathlib import Path

import pytest
from typer.testing import CliRunner

import routh
from routh.base.status import InputError, Option, RouthError, StateError, no_such
from routh.cli import exits
from routh.cli.app import app
from routh.models.mujoco import load, problem, state

SOURCES = sorted(Path(routh.__file__).parent.rglob("*.py"))


def said_on_the_command_line(*arguments: str) -> str | None:
    error = CliRunner().invoke(app, [*arguments]).exception
    assert isinstance(error, Exception)
    return exits.explain(error)


def test_bad_input_is_one_error_with_its_parts() -> None:
    with pytest.raises(ValueError) as caught:
        routh.sample(routh.systems.impact("rocking-block"), 0)
    error = caught.value
    assert isinstance(error, RouthError)
    assert isinstance(error, InputError)
    assert (error.field, error.got, error.wanted) == ("n", "0", "an integer >= 1")
    assert str(error) == "n: got 0; wanted an integer >= 1"


def test_no_plain_value_error_is_raised() -> None:
    """Every refusal has the parts: none is a text alone."""
    plain = [
        f"{path}:{node.lineno}"
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "ValueError"
    ]
    assert plain == []


def test_parts_hold_no_glue() -> None:
    """A part that begins with the words of the sentence would say them twice."""
    twice = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.keyword) and node.arg in ("got", "wanted", "wrong"):
                text = ast.unparse(node.value).lstrip("f'\"(")
                if text.startswith(("got ", "wanted ")):
                    twice.append(f"{path}:{node.value.lineno}")
    assert twice == []


@pytest.mark.parametrize(
    ("call", "nearest"),
    [
        (lambda: routh.systems.get("rocking-blok"), "rocking-block"),
        (lambda: routh.systems.get("rocking-block", mus=0.2), "mu"),
        (lambda: routh.laws.named("moraeu"), "moreau"),
        (lambda: routh.sample(routh.systems.impact("rocking-block"), 4, friction="con"), "cone"),
    ],
)
def test_typos_name_the_nearest(call, nearest) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert caught.value.advice == (f"Did you mean {nearest!r}?",)
    assert str(caught.value).endswith(f"Did you mean {nearest!r}?")


def test_a_far_word_names_all() -> None:
    assert (
        str(no_such("law", "xyz", ["moreau", "newton"])) == "law: got 'xyz'; wanted one of 'moreau', 'newton'"
    )


def test_options_are_spelt_as_keywords_and_as_flags() -> None:
    error = InputError(
        "gap", got=3, wanted="less", by="past_limit", advice=[Option("ground", "0", "adds it")]
    )
    assert str(error) == "gap: got 3; wanted less (past_limit=). Try ground=0, which adds it."
    flags = {"past_limit": "--past-limit", "ground": "--ground"}
    told = "--gap: got 3; wanted less (--past-limit). Try --ground 0, which adds it."
    assert error.sentence("--gap", flags) == told
    assert error.sentence(flags={}) == "gap: got 3; wanted less"


def test_errors_travel_between_processes() -> None:
    error = pickle.loads(pickle.dumps(StateError("state", wrong="x", wanted="y", advice=[Option("a", "b")])))
    assert isinstance(error, StateError)
    assert (error.field, error.advice, str(error)) == (
        "state",
        (Option("a", "b"),),
        "state: x; wanted y. Try a=b.",
    )


def test_the_command_line_says_the_same_with_its_flags(tmp_path) -> None:
    file = tmp_path / "box.xml"
    file.write_text(
        "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 0.04'><freejoint/>"
        "<geom type='box' size='.1 .1 .1' mass='1'/></body></worldbody></mujoco>"
    )
    model = load(file)
    with pytest.raises(StateError) as caught:
        problem(model, state(model), deepest=0.02)
    said = said_on_the_command_line("impact", str(file), "--no-picture")
    assert str(caught.value).endswith("wanted at most 0.02 m (deepest=)")
    assert said is not None
    assert said.startswith(str(caught.value).replace("(deepest=)", "(--deepest)"))
    assert said.endswith("which moves the robot until it just touches.")


def test_the_command_line_names_the_flag_that_was_typed(tmp_path) -> None:
    file = tmp_path / "block.npz"
    routh.systems.impact("rocking-block").save(file)
    said = said_on_the_command_line("impact", str(file), "--friction", "con", "--no-picture")
    assert said == "--friction: got 'con'; wanted one of 'cone', 'polyhedral'. Did you mean 'cone'?"
