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
ROOT = Path(__file__).parents[1]
# A part imports only parts that stand above it.
ORDER = [
    "lazily",
    "status",
    "tolerances",
    "validation",
    "text",
    "progress",
    "interrupts",
    "processes",
    "storage",
    "rng",
    "results",
    "compiling",
    "problem_rows",
    "lcp",
    "problem",
    "batch",
    "friction",
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
    "identification",
    "robust",
    "jax",
    "learn",
    "sweep",
    "systems",
    "viz",
    "view",
    "reproduce",
    "cli",
]
FILES = sorted(PACKAGE.rglob("*.py"))
MODULES = {path: ".".join(("routh", *path.relative_to(PACKAGE).with_suffix("").parts)) for path in FILES}
MODULES = {path: name.removesuffix(".__init__") for path, name in MODULES.items()}
# Results are drawn by what stands near the end of the list: this one import alone looks down.
LOOKS_DOWN = ("routh.results", "routh.viz.plots")
# These lists only ever shrink.
LONG_FILES: dict[str, int] = {}
WIDE_ROOMS: dict[str, int] = {}  # room -> positional parameters that a function may have there
MOST_LINES, MOST_PARAMETERS = 700, 9
MOST_ANY = 90  # how often the package may say Any


def imports_of(path: Path) -> list[str]:
    """Modules of the package, or names in them, that a file imports anywhere, for type checkers too."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return [name for name in found if name.startswith("routh.")]


IMPORTS = {MODULES[path]: imports_of(path) for path in FILES}


def part_of(name: str) -> str:
    return name.split(".")[1]


def test_contributing_tells_the_rooms_in_their_order():
    assert re.findall(r"^\| `(\w+)` \|", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE) == ORDER


@pytest.mark.parametrize("module", sorted(set(IMPORTS) - {"routh", "routh.__main__"}))
def test_imports_point_upwards_and_no_private_name_crosses_a_room(module):
    part = part_of(module)
    assert part in ORDER, f"{part} has no place in the import order"
    above = ORDER[: ORDER.index(part) + 1]
    down = [(module, name) for name in IMPORTS[module] if part_of(name) not in above]
    assert down == ([LOOKS_DOWN] if module == LOOKS_DOWN[0] else [])
    private = [name for name in IMPORTS[module] if re.search(r"\._(?!_)", name) and part_of(name) != part]
    assert private == []


def test_no_file_circle():
    graph = {}
    for module, names in IMPORTS.items():
        targets = {name if name in IMPORTS else name.rpartition(".")[0] for name in names}
        graph[module] = targets & set(IMPORTS) - {module} if module != "routh" else set()
    graph[LOOKS_DOWN[0]].discard(LOOKS_DOWN[1])
    while leaves := {module for module, targets in graph.items() if not targets}:
        graph = {module: targets - leaves for module, targets in graph.items() if module not in leaves}
    assert graph == {}  # what is on a circle, or leads to one


@pytest.mark.parametrize("path", FILES, ids=lambda path: MODULES[path])
def test_files_are_short_and_functions_take_few_arguments_by_position(path):
    place = str(path.relative_to(PACKAGE))
    assert len(path.read_text().splitlines()) <= LONG_FILES.get(place, MOST_LINES)
    room = part_of(MODULES[path]) if MODULES[path] != "routh" else ""
    if room == "cli":  # commands are called by typer, with keywords
        return
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
            count = len(names) - (names[:1] in (["self"], ["cls"]))
            assert count <= WIDE_ROOMS.get(room, MOST_PARAMETERS), f"{node.name} takes {count}"


def test_any_stands_only_where_a_foreign_type_has_none():
    """Keywords that are passed on, SciPy's matrices, Matplotlib's options; never for a type that exists."""
    found = {MODULES[path]: len(re.findall(r"\bAny\b", path.read_text())) for path in FILES}
    assert sum(found.values()) <= MOST_ANY, {module: count for module, count in found.items() if count}


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


def test_no_slow_part_of_scipy_is_loaded_on_the_way_to_a_sample():
    """Statistics alone take a fifth of the time to the first sample, for one Sobol sequence."""
    modules = "routh.sampling.events, routh.models.mujoco, routh.friction.pointedness"
    slow = "{'scipy.stats', 'scipy.optimize', 'scipy.sparse', 'scipy.linalg'}"
    code = f"import sys, routh, {modules}; routh.sample; assert not {slow} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_test_modules_have_distinct_names():
    """Two test files of one name in different folders cannot be collected together."""
    names = [path.name for path in Path(__file__).parent.rglob("*.py")]
    assert sorted(set(names)) == sorted(names)


def test_nothing_inserts_into_the_import_path():
    """Tests and benchmarks share benchmarks/problems.py, and import it like any module."""
    files = [path for folder in ("tests", "benchmarks", "examples") for path in (ROOT / folder).rglob("*.py")]
    word = ".".join(["sys", "path"])
    assert [path.name for path in files if f"{word}.insert" in path.read_text()] == []


OUTSIDE = sorted(path for folder in ("benchmarks", "examples") for path in (ROOT / folder).rglob("*.py"))


@pytest.mark.parametrize("path", OUTSIDE, ids=lambda path: path.name)
def test_what_benchmarks_and_examples_import_is_there(path):
    """Nothing else runs most of them, so a module that moved would break them in silence."""
    for name in sorted(imports_of(path)):
        module, _, attribute = name.rpartition(".")
        if "cuda" in name:
            continue  # loads the driver
        try:
            importlib.import_module(name)
        except ModuleNotFoundError:
            assert hasattr(importlib.import_module(module), attribute), name


def test_type_checkers_see_the_names_that_resolve():
    """What is resolved comes from the stubs: each name is exported under its own name, and is there."""
    for stub in PACKAGE.rglob("__init__.pyi"):
        package = importlib.import_module(".".join(("routh", *stub.parent.relative_to(PACKAGE).parts)))
        nodes = [node for node in ast.parse(stub.read_text()).body if isinstance(node, ast.ImportFrom)]
        names = {alias.name for node in nodes for alias in node.names}
        assert names == {alias.asname for node in nodes for alias in node.names}
        assert names == set(package.__all__) - {"__version__"}
        assert all(getattr(package, name) is not None for name in names)
        with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
            package.nothing  # noqa: B018


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


def test_one_room_compiles():
    """What numba compiles elsewhere does not hear Ctrl-C meanwhile, and is not kept with the rest."""
    for path in FILES:
        if "compiling" not in path.parts:
            assert not re.search(
                r"(?<!cuda\.)(?<!cuda\(\)\.)\b(n?jit)\b *\(|@(numba\.)?n?jit", path.read_text()
            ), path
