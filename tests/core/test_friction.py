import numpy as np
import pytest

from routh.friction import cone_violation, facet_directions, project_disc


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
