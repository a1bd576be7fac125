"""The plan of the house: who may import whom, and how long a file may be."""

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import routh

PACKAGE = Path(routh.__file__).parent
# A part imports only parts that stand above it.
ORDER = [
    "status",
    "tolerances",
    "validation",
    "text",
    "storage",
    "rng",
    "results",
    "compiling",
    "paths",
    "problem",
    "friction",
    "pointedness",
    "termination",
    "lcp",
    "step",
    "models",
    "kernels",
    "two_body",
    "laws",
    "sampling",
    "bounds",
    "exact",
    "auditing",
    "constraints",
    "sim",
    "systems",
    "viz",
    "reproduce",
    "cli",
]
FILES = sorted(PACKAGE.rglob("*.py"))


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports_of(tree: ast.Module, path: Path) -> set[str]:
    parts = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            modules = (
                [f"{node.module}.{alias.name}" for alias in node.names]
                if node.module == "routh"
                else [node.module]
            )
        else:
            continue
        parts |= {module.split(".")[1] for module in modules if module.startswith("routh.")}
    return parts


@pytest.mark.parametrize("path", [f for f in FILES if f.parent != PACKAGE or f.stem != "__init__"], ids=str)
def test_imports_point_upwards(path):
    part = part_of(path)
    if part == "__main__":
        return
    assert part in ORDER, f"{part} has no place in the import order"
    tree = ast.parse(path.read_text())
    allowed = set(ORDER[: ORDER.index(part) + 1])
    if part not in ("viz", "reproduce", "cli"):  # .plot() methods import viz inside the function
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("plot"):
                node.body = [
                    n for n in node.body if not (isinstance(n, ast.ImportFrom) and "viz" in (n.module or ""))
                ]
    assert imports_of(tree, path) <= allowed


@pytest.mark.parametrize("path", FILES, ids=str)
def test_no_file_over_500_lines(path):
    assert len(path.read_text().splitlines()) <= 500


def test_every_public_name_resolves_and_is_documented():
    for name in routh.__all__:
        value = getattr(routh, name)
        if name != "__version__":
            assert value.__doc__, name
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        routh.nonsense  # noqa: B018


def test_importing_routh_loads_no_numba():
    code = "import sys, routh; dir(routh); assert not {'numba', 'matplotlib', 'mujoco'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_test_modules_have_distinct_names():
    """Two test files of one name in different folders cannot be collected together."""
    names = [path.name for path in Path(__file__).parent.rglob("*.py")]
    assert sorted(set(names)) == sorted(names)


def test_nothing_inserts_into_the_import_path():
    """Tests and benchmarks share benchmarks/problems.py, and import it like any module."""
    root = Path(__file__).parents[1]
    files = [path for folder in ("tests", "benchmarks", "examples") for path in (root / folder).rglob("*.py")]
    word = ".".join(["sys", "path"])
    assert [path.name for path in files if f"{word}.insert" in path.read_text()] == []


def test_type_checkers_see_the_names_that_resolve():
    """The block for type checkers and the table for the interpreter name the same things."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.asname: node.module for node in block.body for alias in node.names}
    assert all(alias.name == alias.asname for node in block.body for alias in node.names)
    assert {name: module for name, module in seen.items() if module != "routh"} == routh._PUBLIC
    assert {name for name, module in seen.items() if module == "routh"} == routh._SUBMODULES


def test_mypy_resolves_the_public_names(tmp_path):
    """As a user's checker does: types of results are known, and a misspelt name is an error."""
    api = pytest.importorskip("mypy.api")
    code = (
        "import routh\n"
        "problem = routh.ImpactProblem([[1.0]], [[1.0]], [[[0.0]]], 0.0, [-1.0])\n"
        "outcomes: routh.Outcomes = routh.sample(problem, 4)\n"
        "result: routh.ImpactResult = routh.laws.Simultaneous()(problem)\n"
        "reveal_type(routh.exact_set(problem))\n"
        "reveal_type(routh.step_through)\n"
        "routh.viz.plot(outcomes)\n"
        "routh.sampel\n"
    )
    file = tmp_path / "user.py"
    file.write_text(code)
    root = Path(__file__).parents[1]  # its settings and its cache, which the check of the package has filled
    settings = [f"--config-file={root / 'pyproject.toml'}", f"--cache-dir={root / '.mypy_cache'}"]
    output, _, _ = api.run([str(file), *settings])
    assert 'Revealed type is "routh.exact.result.ExactSet"' in output
    assert "-> routh.sim.trajectory.Trajectory" in output
    errors = [line for line in output.splitlines() if "error:" in line]
    assert len(errors) == 1
    assert "sampel" in errors[0]


def test_help_begins_with_what_to_call_for_what():
    text = routh.__doc__
    assert "What to call for what" in text.splitlines()[2]
    for name in re.findall(r"(?<!`)`([A-Za-z_][A-Za-z_.]*)", text):
        value = routh
        for part in name.split("."):
            try:
                value = getattr(value, part)
            except AttributeError:
                value = importlib.import_module(f"{value.__name__}.{part}")
