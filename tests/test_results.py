"""Every class that a public function returns is a result with a status and one line, or material."""

import importlib
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import routh
from routh.base import results
from routh.base.results import Drawable, Result, Tabular, Whole
from routh.base.status import Status
from routh.systems import impact

#: What is handed to further functions, and answers no question itself.
MATERIAL = {
    *("ImpactProblem", "ImpactBatch", "RobotProblem", "RobotBatch", "Landing", "State", "StandingProblem"),
    *("Body", "HalfPlane", "PlaneContact", "Robot", "GroundedRobot", "ContactPoint", "MujocoModel"),
    *(
        "System",
        "MotionSystem",
        "Stepped",
        "Parameter",
        "Entry",
        "Exhibit",
        "ImpactLaw",
        "PolyhedralStep",
        "ConeStep",
        "Constraint",
    ),
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


#: Why a result has no picture of its own, ...
NO_PICTURE = {
    **dict.fromkeys(("BatchOutcomes", "ManyForces", "WorstCases", "Tippings", "Guarantees"), "each row has"),
    **dict.fromkeys(("Ambiguity", "Extreme", "Filling"), "that of the outcomes that it measures"),
    **dict.fromkeys(("WorstCase", "Guarantee"), "its velocity goes into the picture of the outcomes"),
    **dict.fromkeys(("StateGradient", "Derivative", "Sensitivity"), "slopes, which are numbers"),
    **dict.fromkeys(("ConstraintForces", "InverseResult", "LCPResult"), "one step, which is numbers"),
    "LandingCheck": "the worst of a motion, which is numbers",
    "Card": "a page of its own",
    **dict.fromkeys(("ExactMap", "OuterBound"), "a function: what it gives at a velocity is drawn"),
    **dict.fromkeys(
        ("Snapped", "Pointedness", "Termination", "Uniqueness", "NetBound"), "an answer in words"
    ),
    **dict.fromkeys(("Coverage", "Scores", "Identified", "Verdict"), "a report, which is a table"),
    **dict.fromkeys(("TwoBodyImpact", "TwoBodyBatch", "InvariantDirections"), "the hodograph is its picture"),
    "StepTape": "that of its `trajectory`",
    "CompliantResult": "routh.reproduce draws the paper's figure of it",
    "Hodograph": "routh.reproduce draws the paper's figure of it",
}
#: ... no rows, though it is of many, ...
NO_ROWS = {"Identified": "`estimates` is a dictionary of few parameters"}
#: ... and no residual, though equations were solved for it.
NO_RESIDUAL = {
    "CompliantResult": "an integration with tolerances, which solves no equations",
    "InverseResult": "`error` is what the inputs miss, `forces` has the residual",
    "Derivative": "`forces` has it",
    "StepTape": "`steps` have it",
    "Trajectory": "`residuals`, one a step",
    "ExactSet": "rational numbers, and `check` proves it",
    "ExactMap": "rational numbers",
}
#: Classes whose answer solves equations; all others measure, bound or collect answers.
SOLVED_FOR = {
    *(
        "Outcomes",
        "BatchOutcomes",
        "ImpactResult",
        "LCPResult",
        "ConstraintForces",
        "ManyForces",
    ),
    *("TwoBodyImpact", "TwoBodyBatch"),
}


def returned_results():
    """Every result that a public function returns, by the name of its class."""
    return {kind.__name__: kind for _, kind in returned() if kind.__name__ not in MATERIAL}


def declares(kind, name):
    return any(name in vars(one) or name in vars(one).get("__annotations__", {}) for one in kind.__mro__)


def test_every_result_has_a_picture_or_a_reason():
    kinds = returned_results()
    without = {name for name, kind in kinds.items() if not issubclass(kind, Drawable)}
    assert without == set(NO_PICTURE) & set(kinds)


def test_every_result_of_many_goes_to_pandas():
    """Of many are those with a status each, or with a length."""
    kinds = returned_results()
    many = {
        name
        for name, kind in kinds.items()
        if hasattr(kind, "__len__") or "ndarray" in str(inspect.get_annotations(kind).get("status"))
    }
    rows = {name for name, kind in kinds.items() if issubclass(kind, Tabular)}
    assert many <= rows | set(NO_ROWS)
    assert rows >= {"Outcomes", "Trajectory", "Tippings", "Scan", "LawAudit", "ManyForces"}
    assert not rows & set(NO_ROWS)


def test_what_was_solved_for_has_a_residual_or_a_reason():
    kinds = {**returned_results(), "ImpactResult": routh.ImpactResult}
    with_residual = {name for name, kind in kinds.items() if declares(kind, "residual")}
    assert with_residual >= SOLVED_FOR & set(kinds)
    assert not with_residual & set(NO_RESIDUAL)


def test_tables_have_a_row_for_each():
    pytest.importorskip("pandas")
    block = impact("rocking-block")
    laws = routh.auditing.audit_laws(block, n=32)
    table = laws.to_pandas()
    assert list(table.index) == [one.law for one in laws.answers]
    assert table["distance"].notna().tolist() == [one.audit is not None for one in laws.answers]
    batch = routh.ImpactBatch.from_problems([block, block.replace(mu=0.1)])
    kept = routh.robust.holds(batch, {"A": 10.0})
    assert kept.to_pandas()["answer"].tolist() == kept.answers.tolist()
    assert kept.to_xarray()["status"].attrs["meaning"].startswith("0 SOLVED")
    moving = routh.systems.motion("block-on-incline")
    step = routh.constraints.from_model(moving.model, moving.state, dt=0.01, compliance=moving.compliance)
    forces = routh.constraints.solve_many([step, step])
    np.testing.assert_array_equal(forces.to_pandas()["residual"], forces.residual)
