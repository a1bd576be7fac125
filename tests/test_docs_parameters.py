"""What the reference says of parameters is what the signatures say, of every public callable."""

import importlib
import inspect
import logging
from pathlib import Path

import pytest

pytest.importorskip("zensical", reason="pip install 'routh[docs]'")
griffe = pytest.importorskip("griffe")
site_build = pytest.importorskip("site_build")
site_docstrings = pytest.importorskip("site_docstrings")
site_reference = pytest.importorskip("site_reference")

SOURCES = Path(__file__).parents[1] / "src"
MANY = 6  # parameters, above which a function has to list them


def load(package, folder):
    """A package as the reference reads it: from its source, docstrings rewritten."""
    extensions = griffe.load_extensions(site_docstrings.Descriptions())
    return griffe.load(
        package, search_paths=[folder], extensions=extensions, docstring_parser="numpy", resolve_aliases=False
    )


def callables():
    """Path, read source and value of every public function, class and public method."""
    found = {}
    tree = load("routh", SOURCES)
    for full in ("routh", *site_reference.modules()):
        module = importlib.import_module(full)
        for name in site_reference.names_of(module):
            value, path = getattr(module, name), site_reference.address(module, name)
            if (inspect.isclass(value) or inspect.isfunction(value)) and value.__name__ in path:
                obj = tree[path.removeprefix("routh.")]
                found[path] = obj, value
                for member in obj.members.values() if obj.is_class else ():
                    if member.is_function and not member.name.startswith("_"):
                        found[member.path] = member, getattr(value, member.name)
    return found


@pytest.fixture(scope="module")
def read():
    """The callables, and what the reading of their docstrings complained about."""
    said = []
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())
    logging.getLogger("griffe").addHandler(handler)
    found = callables()
    listed = {path: parameters(obj) for path, (obj, value) in found.items()}
    logging.getLogger("griffe").removeHandler(handler)
    return found, listed, said


def parameters(obj):
    """What a docstring says of each parameter."""
    sections = obj.docstring.parsed if obj.docstring is not None else ()
    return [item for part in sections if part.kind.value == "parameters" for item in part.value]


def names_in_signature(value):
    names = [name for name in inspect.signature(value).parameters if name not in ("self", "cls")]
    return [name for name in names if not name.startswith("_")]


def test_nothing_complains(read):
    found, _, said = read
    assert len(found) > 500
    assert not said


def test_what_is_listed_is_in_the_signature_and_nothing_is_missing(read):
    found, listed, _ = read
    wrong = {}
    for path, (_, value) in found.items():
        names = [item.name for item in listed[path]]
        if names and sorted(names) != sorted(names_in_signature(value)):
            wrong[path] = sorted({*names} ^ {*names_in_signature(value)}) or names
    assert sum(map(bool, listed.values())) > 100
    assert not wrong


def test_each_has_its_own_type_and_default_and_a_description(read):
    found, listed, _ = read
    wrong = []
    for path, (obj, _) in found.items():
        for item in listed[path]:
            own = obj.parameters[item.name]
            same = str(item.annotation) == str(own.annotation) and str(item.value) == str(own.default)
            if not (same and item.description):
                wrong.append((path, item.name, str(item.annotation), str(item.value)))
    assert not wrong


def test_functions_of_many_parameters_list_them(read):
    found, listed, _ = read
    functions = {path: value for path, (obj, value) in found.items() if obj.is_function}
    many = [path for path, value in functions.items() if len(names_in_signature(value)) > MANY]
    assert len(many) > 20
    assert not [path for path in many if not listed[path]]


def test_a_name_in_a_group_gets_what_is_its_own(tmp_path):
    (tmp_path / "sample_package.py").write_text(
        'def f(a: int = 1, b: str = "two", c: float = 3.0) -> None:\n'
        '    """What it does.\n\n    Parameters\n    ----------\n'
        "    a, b : of both,\n        on two lines.\n\n    c : m; all: fine.\n\n"
        '    Returns\n    -------\n    None\n        Nothing.\n    """\n'
    )
    items = parameters(load("sample_package", tmp_path)["f"])
    shown = [(item.name, str(item.annotation), item.value, item.description) for item in items]
    assert shown == [
        ("a", "int", "1", "of both,\non two lines."),
        ("b", "str", "'two'", "of both,\non two lines."),
        ("c", "float", "3.0", "m; all: fine."),
    ]


def test_a_docstring_that_cannot_be_read_stops_the_build(tmp_path):
    (tmp_path / "package").mkdir()
    (tmp_path / "pages").mkdir()
    source = tmp_path / "package" / "sample_package.py"
    (tmp_path / "pages" / "index.md").write_text("# Page\n\n::: sample_package.f\n")
    (tmp_path / "zensical.toml").write_text(
        '[project]\nsite_name = "a"\ndocs_dir = "pages"\nsite_dir = "site"\n'
        f'[project.plugins.mkdocstrings.handlers.python]\npaths = ["{tmp_path / "package"}"]\n'
        '[project.plugins.mkdocstrings.handlers.python.options]\ndocstring_style = "numpy"\n'
    )
    said = '"""What it does.\n\n    Parameters\n    ----------\n    a\n        A number.\n'
    source.write_text(f'def f(a: int) -> None:\n    {said}    """\n')
    site_build.render(tmp_path)
    assert "A number." in (tmp_path / "site" / "index.html").read_text()
    source.write_text(f'def f(a: int) -> None:\n    {said}\n    Prose that follows.\n    """\n')
    with pytest.raises(RuntimeError, match="Prose"):
        site_build.render(tmp_path)
