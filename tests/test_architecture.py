"""The plan of the house: who may import whom, and how long a file may be."""

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import routh
from routh.base import features

PACKAGE = Path(routh.__file__).parent
ROOT = Path(__file__).parents[1]
# A room imports only rooms that stand above it; a feature any room of the core, and no other feature.
CORE = [
    "base",
    "compiling",
    "lcp",
    "problem",
    "step",
    "models",
    "kernels",
    "laws",
    "sampling",
    "bounds",
    "exact",
    "auditing",
    "constraints",
    "sim",
    "robust",
    "to_rest",
    "systems",
    "viz",
    "cli",
]
FEATURES = sorted(path.parent.name for path in PACKAGE.glob("*/feature.toml"))
FILES = sorted(PACKAGE.rglob("*.py"))
MODULES = {path: ".".join(("routh", *path.relative_to(PACKAGE).with_suffix("").parts)) for path in FILES}
MODULES = {path: name.removesuffix(".__init__") for path, name in MODULES.items()}
# Results are drawn by what stands near the end of the list: this one import alone looks down.
LOOKS_DOWN = ("routh.base.results", "routh.viz.plots")
# These lists only ever shrink.
LONG_FILES: dict[str, int] = {}
WIDE_ROOMS: dict[str, int] = {}  # room -> positional parameters that a function may have there
MOST_LINES, MOST_PARAMETERS = 700, 9
MOST_ANY = 90  # how often the package may say Any
GLUED: dict[str, int] = {"kernels": 1}  # room -> docstrings that begin in the middle of a sentence
# Class names that are defined more than once: public in each place.
SHARED = {"Answer", "Body", "Entry", "PlaneContact", "Settings", "Verdict"}
# A docstring that begins so reads on from the name above it, which help and the reference do not always show.
MIDDLES = re.compile(
    r"(Of|In|With|By|From|As|For|To|On|At|And|Or|Also|Into|Until|Through|Against|Beside|Between|Without|Over|Per"
    r"|Where|When|While|That|Those|Then|So|Itself|Relative|Under|Instead|Inside)\b|One \w+\.$|\([^)]*\)"
)


def imports_of(path: Path) -> list[str]:
    """Modules of the package, or names in them, that a file imports anywhere, for type checkers too."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in (
            "import_module",
            "__import__",
        ):
            literal = isinstance(node.args[0], ast.Constant) and str(node.args[0].value)
            assert not str(literal).startswith("routh"), f"{path}:{node.lineno}: an import that hides"
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
    text = (ROOT / "CONTRIBUTING.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)
    assert rows[: len(CORE)] == CORE
    assert set(FEATURES) <= set(rows[len(CORE) :]) == set(features.KNOWN)


@pytest.mark.parametrize("module", sorted(set(IMPORTS) - {"routh", "routh.__main__"}))
def test_imports_point_upwards_and_no_private_name_crosses_a_room(module):
    room = part_of(module)
    assert room in CORE or room in FEATURES, f"{room} has no place in the import order"
    above = CORE[: CORE.index(room) + 1] if room in CORE else [*CORE, room]
    down = [(module, name) for name in IMPORTS[module] if part_of(name) not in above]
    assert down == ([LOOKS_DOWN] if module == LOOKS_DOWN[0] else [])
    private = [name for name in IMPORTS[module] if re.search(r"\._(?!_)", name) and part_of(name) != room]
    assert private == []


def left_on_circles(graph):
    """What is on a circle of a graph (name -> names), or leads to one."""
    while leaves := {name for name, targets in graph.items() if not targets}:
        graph = {name: targets - leaves for name, targets in graph.items() if name not in leaves}
    return graph


def test_no_circle_of_files():
    graph = {}
    for module, names in IMPORTS.items():
        targets = {name if name in IMPORTS else name.rpartition(".")[0] for name in names}
        graph[module] = targets & set(IMPORTS) - {module} if module != "routh" else set()
    graph[LOOKS_DOWN[0]].discard(LOOKS_DOWN[1])
    assert left_on_circles(graph) == {}


def test_no_circle_of_folders():
    """A folder is read before those that it is used by, so none is used by one that it uses."""
    folders = {module for path, module in MODULES.items() if path.name == "__init__.py"}
    graph = {folder: set() for folder in folders - {"routh"}}
    for module, names in IMPORTS.items():
        here = module if module in folders else module.rpartition(".")[0]
        for name in names:
            there = name if name in IMPORTS else name.rpartition(".")[0]
            there = there if there in folders else there.rpartition(".")[0]
            if here in graph and there in graph and (module, name) != LOOKS_DOWN:
                graph[here].add(there)
    assert left_on_circles({folder: targets - {folder} for folder, targets in graph.items()}) == {}


def test_what_belongs_to_a_feature_is_there():
    """With a feature go its tests, pages, benchmarks and examples, see `scripts/without_features.py`."""
    for name in FEATURES:
        told = tomllib.loads((PACKAGE / name / "feature.toml").read_text())
        assert told["summary"]
        missing = [part for parts in told["belongs"].values() for part in parts if not (ROOT / part).exists()]
        assert missing == []
        assert (name in features.KNOWN) == (getattr(routh, name).__name__ == f"routh.{name}")


LOADED = {
    "routh.sample of a planar problem": (
        60,
        "import routh\np = routh.ImpactProblem([[1.0]], [[1.0]], [[[0.0]]], 0.0, [-1.0])\nrouth.sample(p, 2)",
    ),
    "routh tip": (120, "tip examples/lander.xml --down 1.5"),
    "routh simulate": (140, "simulate examples/lander.xml --down 1.5 --duration 0.01"),
}


@pytest.mark.parametrize("call", LOADED)
def test_a_call_loads_few_modules(call):
    """Of a core that is opened lazily, what is not used is not loaded, neither by users nor by readers."""
    most, code = LOADED[call]
    if call.startswith("routh tip") or call.startswith("routh simulate"):
        pytest.importorskip("mujoco")
        words = ["routh", *code.split(), "--no-picture", "--quiet"]
        code = f"import sys\nsys.argv = {words!r}\nfrom routh.cli import main\n"
        code += "try: main()\nexcept SystemExit: pass"
    code += "\nimport sys\nprint('loaded', sum(name.split('.')[0] == 'routh' for name in sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert int(run.stdout.rpartition("loaded ")[2]) <= most


@pytest.mark.parametrize("path", FILES, ids=lambda path: MODULES[path])
def test_files_are_short_and_functions_take_few_arguments_by_position(path):
    place = str(path.relative_to(PACKAGE))
    assert len(path.read_text().splitlines()) <= LONG_FILES.get(place, MOST_LINES)
    room = part_of(MODULES[path]) if MODULES[path] != "routh" else ""
    if room == "cli" or path.name == "command.py":  # commands are called by typer, with keywords
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


def test_docstrings_stand_by_themselves():
    """They begin with a verb or a noun: "Number of cores", not "Of the processor that this may use."."""
    glued: dict[str, list[str]] = {}
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node) or ""
                if MIDDLES.match(text.partition("\n\n")[0]):
                    room = path.relative_to(PACKAGE).parts[0]
                    glued.setdefault(room, []).append(f"{MODULES[path]}: {text.splitlines()[0]}")
    assert [line for room in glued if room not in GLUED for line in glued[room]] == []
    for room, most in GLUED.items():
        assert len(glued.get(room, [])) <= most, glued[room]


def test_one_name_is_one_class():
    """Whoever searches for a class finds one."""
    places: dict[str, list[str]] = {}
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(MODULES[path])
    shared = {name: modules for name, modules in places.items() if len(modules) > 1}
    assert shared.keys() <= SHARED, {name: shared[name] for name in shared.keys() - SHARED}


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
    modules = "routh.sampling.events, routh.models.mujoco, routh.problem.pointedness"
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
        if "cuda" in name or part_of(name) in set(features.KNOWN) - {*FEATURES}:
            continue  # loads the driver; is a feature that is not here
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
        missing = set(features.KNOWN) - {*FEATURES} if package is routh else set()
        assert names == {alias.asname for node in nodes for alias in node.names}
        assert names - missing == set(package.__all__) - {"__version__"}
        assert all(getattr(package, name) is not None for name in names - missing)
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
        if name.split(".")[0] in set(features.KNOWN) - {*FEATURES}:
            continue
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
