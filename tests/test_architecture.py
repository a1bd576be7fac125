"""The plan of the house: who may import whom, and how long a file may be."""

import ast
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
    "compiling",
    "problem",
    "friction",
    "pointedness",
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
    "sweep",
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
