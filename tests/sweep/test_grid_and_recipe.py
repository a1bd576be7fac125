import json

import numpy as np
import pytest
import sweep_points

from routh.sweep import axis_from_text, grid, grid_from_text, recipe


def test_points_run_through_the_grid_with_the_last_axis_fastest():
    made = grid({"a": [1.0, 2.0], "b": [10.0, 20.0, 30.0]})
    assert made.shape == (2, 3)
    assert [made.point(k) for k in (0, 1, 5)] == [{"a": 1, "b": 10}, {"a": 1, "b": 20}, {"a": 2, "b": 30}]


def test_axes_from_text():
    name, values = axis_from_text("roll=-0.3:0.3:7")
    assert name == "roll"
    np.testing.assert_array_equal(values, np.linspace(-0.3, 0.3, 7))
    np.testing.assert_array_equal(axis_from_text("mu=0.1,0.5")[1], [0.1, 0.5])
    assert grid_from_text(["a=0:1:2", "b=1"]).shape == (2, 1)


@pytest.mark.parametrize(
    "text", ["roll", "=1", "a b=1", "a=0:1", "a=0:1:0", "a=0:1:x", "a=", "a=nan", "a=0:inf:3", "a=1,,2"]
)
def test_bad_axes_are_named(text):
    with pytest.raises(ValueError, match=r"over"):
        axis_from_text(text)


def test_an_axis_occurs_once():
    with pytest.raises(ValueError, match="'a' twice"):
        grid_from_text(["a=1", "a=2"])
    with pytest.raises(ValueError, match="wanted a dictionary"):
        grid({})


def test_a_recipe_survives_json():
    item = recipe(sweep_points.block, mu=0.3)
    data = json.loads(json.dumps(item.as_data()))
    again = type(item).from_data(data)
    assert again == item
    assert again.resolve()(**again.arguments).mu[0] == 0.3


def test_what_workers_cannot_import_is_refused():
    def inner():
        return None

    for function in (lambda: None, inner):
        with pytest.raises(ValueError, match="no other process can import it"):
            recipe(function)
    with pytest.raises(ValueError, match="cannot be imported"):
        recipe("no_such_module:thing")
    with pytest.raises(ValueError, match="wanted 'module:function'"):
        recipe("thing")
    with pytest.raises(ValueError, match="arguments"):
        recipe(sweep_points.block, mu=np.inf)
