import ast
from pathlib import Path

import numpy as np
import pytest

import routh
from problems import cone_violation
from routh.problem.friction import ContactMode, facet_directions, project_disc, uses_true_cone


@pytest.mark.parametrize("facets", [4, 6, 8, 32])
def test_directions_are_unit_and_come_in_opposite_pairs(facets):
    D = facet_directions(2, facets)
    assert D.shape == (facets, 2)
    np.testing.assert_allclose(np.linalg.norm(D, axis=1), 1.0)
    for d in D:
        assert np.min(np.linalg.norm(D + d, axis=1)) < 1e-12
    np.testing.assert_allclose(D.sum(axis=0), 0.0, atol=1e-12)


def test_planar_friction_has_two_directions():
    assert facet_directions(1).tolist() == [[1.0], [-1.0]]
    with pytest.raises(ValueError, match="facets: got 8; planar friction has exactly 2 directions"):
        facet_directions(1, 8)


@pytest.mark.parametrize(
    ("facets", "message"),
    [(7, "even number"), (2, ">= 4"), (0, ">= 4"), (8.0, "an integer"), ("8", "an integer")],
)
def test_bad_facets_are_refused(facets, message):
    with pytest.raises(ValueError, match=f"facets: got .*{message}"):
        facet_directions(2, facets)


def test_projection_and_violation():
    inside, outside = np.array([0.3, 0.4]), np.array([3.0, 4.0])
    np.testing.assert_allclose(
        project_disc(np.stack([inside, outside]), np.ones(2)), [[0.3, 0.4], [0.6, 0.8]]
    )
    np.testing.assert_allclose(project_disc(np.zeros((1, 2)), np.zeros(1)), [[0.0, 0.0]])
    impulse = np.array([[1.0, 0.5], [1.0, 2.0], [-1.0, 0.0]])
    np.testing.assert_allclose(cone_violation(impulse, np.ones(3)), [0.0, 1.0, 1.0])


def test_the_true_cone_is_used_in_space_and_refuses_facets_there():
    assert uses_true_cone("cone", None, 2)
    assert not uses_true_cone("cone", None, 1)
    assert not uses_true_cone("polyhedral", 8, 2)
    with pytest.raises(ValueError, match="facets: got 8 with friction 'cone', which has none; wanted 'poly"):
        uses_true_cone("cone", 8, 2)
    with pytest.raises(ValueError, match="friction: got 'round'"):
        uses_true_cone("round", None, 1)


def test_contact_modes_are_three_words():
    assert [mode.word for mode in ContactMode] == ["separates", "sticks", "slides"]


def test_friction_is_the_cone_by_default_everywhere():
    """In every signature and every field that has a default; kernels are handed their directions instead."""
    found, package = {}, Path(routh.__file__).parent
    for path in sorted(set(package.rglob("*.py")) - set((package / "kernels").rglob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == "friction":
                array = "Array" in ast.unparse(node.annotation)  # impulses, not the kind of friction
                pairs = [] if array else [(node.target.id, node.value)]
            elif isinstance(node, ast.FunctionDef):
                options, spec = [], node.args
                options += zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
                options += zip(spec.args[len(spec.args) - len(spec.defaults) :], spec.defaults, strict=True)
                pairs = [(argument.arg, default) for argument, default in options]
            else:
                continue
            for name, default in pairs:
                if name == "friction" and isinstance(default, ast.Constant):
                    found[f"{path.name}:{node.lineno}"] = default.value
    assert len(found) > 8
    # numbers are coefficients; None in `audit` means that of the outcomes it is given, else the cone, in an
    # `Uncertainty` that the coefficients are known
    found = {
        place: value for place, value in found.items() if not place.startswith(("uncertainty.py", "land.py"))
    }
    audits = {value for place, value in found.items() if place.startswith("membership")}
    others = {value for place, value in found.items() if not place.startswith("membership")}
    assert others <= {"cone", 0.0, 0.5}, found
    assert audits <= {"cone", None}, found
