"""Every class that a public function returns is a result with a status and one line, or material."""

import importlib
import inspect
import re
from pathlib import Path

import numpy as np

import routh
from routh.base import results
from routh.base.results import Result, Tabular, Whole
from routh.base.status import Status
from routh.systems import impact

#: What is handed to further functions, and answers no question itself.
MATERIAL = {
    *("ImpactProblem", "ImpactBatch", "RobotProblem", "RobotBatch", "Landing", "State", "StandingProblem"),
    *("Body", "HalfPlane", "PlaneContact", "Robot", "GroundedRobot", "ContactPoint", "MujocoModel"),
    *("System", "Parameter", "Entry", "Exhibit", "ImpactLaw", "PolyhedralStep", "ConeStep", "Constraint"),
    *(
        "ConstrainedSystem",
        "CoordinateLimit",
        "StateConstraint",
        "Contact",
        "Grid",
        "Measure",
        "Recipe",
        "Study",
    ),
    *("Settings", "OutcomeVectorEnv", "Hook", "Viewer", "Broken", "Posture", "Motion"),
}


def public_modules():
    todo, seen = [routh], {}
    while todo:
        module = todo.pop()
        if module.__name__ in seen:
            continue
        seen[module.__name__] = module
        values = [getattr(module, name) for name in getattr(module, "__all__", ())]
        todo += [one for one in values if inspect.ismodule(one) and one.__name__.startswith("routh.")]
    return seen.values()


def classes_of(package=Path(routh.__file__).parent):
    """Every class of the library by its name; of equal names all."""
    named = {}
    for path in package.rglob("*.py"):
        for name in re.findall(r"^class (\w+)", path.read_text(), flags=re.MULTILINE):
            dotted = ".".join(path.relative_to(package.parent).with_suffix("").parts)
            named.setdefault(name, []).append(dotted.removesuffix(".__init__"))
    return named


def returned():
    """(function, class) for each public function and each class in the annotation of what it returns."""
    named = classes_of()
    pairs = set()
    for module in public_modules():
        for name in getattr(module, "__all__", ()):
            function = getattr(module, name)
            if not inspect.isfunction(function):
                continue
            words = re.findall(r"\w+", str(inspect.signature(function).return_annotation))
            for word in words:
                for home in named.get(word, ()):
                    source = importlib.import_module(function.__module__)
                    near = home == source.__name__ or re.search(
                        rf"^ *from {re.escape(home)} import .*\b{word}\b",
                        Path(source.__file__).read_text(),
                        re.MULTILINE,
                    )
                    if near:
                        pairs.add((f"{module.__name__}.{name}", getattr(importlib.import_module(home), word)))
    return pairs


def declares_status(kind):
    return any(
        "status" in vars(one) or "status" in vars(one).get("__annotations__", {}) for one in kind.__mro__
    )


def test_all_that_public_functions_return_has_a_status_and_one_line():
    pairs = returned()
    names = {kind.__name__ for _, kind in pairs}
    assert {"Audit", "Outcomes", "Coverage", "Tipping", "Trajectory", "Verdict", "LCPResult"} <= names
    lacking = sorted(
        f"{function}: {kind.__name__}"
        for function, kind in pairs
        if kind.__name__ not in MATERIAL
        and not (issubclass(kind, Result) and declares_status(kind) and kind.__repr__ is not object.__repr__)
    )
    assert lacking == []


def test_the_nine_that_lacked_one_have_a_status():
    from routh.auditing import LawAnswer  # what is only returned inside of others

    assert declares_status(LawAnswer)
    assert not issubclass(LawAnswer, Whole)


def test_statuses_say_how_it_went():
    block = impact("rocking-block")
    outcomes = routh.sample(block, 32)
    found = routh.sampling.measure_ambiguity(outcomes)
    assert found.status is Status.SOLVED
    assert routh.audit(block, outcomes.v[0], n=32).status is Status.SOLVED
    none = routh.sample(block.replace(v=-block.v), 4)
    assert routh.sampling.measure_ambiguity(none).status is Status.SOLVED  # no impact is an answer
    short = routh.fill(block, max_samples=256, tolerance=1e-12)
    assert short.status is Status.INCOMPLETE


def test_worst_status_is_the_first_that_is_no_answer():
    several = [Status.SOLVED, Status.NO_IMPACT, Status.OUT_OF_TIME, Status.RAY]
    assert results.worst_status(several) is Status.OUT_OF_TIME
    assert results.worst_status(several[:2]) is Status.SOLVED


def test_a_result_is_one_line_and_html_without_a_picture():
    found = routh.sampling.measure_ambiguity(routh.sample(impact("rocking-block"), 32))
    text = repr(found)
    assert "\n" not in text
    assert text.startswith("Ambiguity(SOLVED, score=")
    assert len(text) <= 120
    assert found._repr_html_().startswith("<div><b>Ambiguity(SOLVED")


def test_every_result_with_rows_goes_to_pandas():
    rows = [kind for _, kind in returned() if issubclass(kind, Tabular)]
    assert {kind.__name__ for kind in rows} >= {"Outcomes", "Trajectory", "Tippings", "Scan"}
    assert np.all([hasattr(kind, "to_pandas") and hasattr(kind, "to_xarray") for kind in rows])
