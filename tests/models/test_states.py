"""States of robots in files."""

import json

import numpy as np
import pytest

from routh.base.storage import write_arrays
from routh.models.files import read_state


def test_a_state_comes_back_as_it_was(tmp_path):
    file = write_arrays(tmp_path / "s.npz", {"qpos": np.arange(3.0), "qvel": np.array([0.1, -0.2])})
    found = read_state(file, 3, 2)
    np.testing.assert_array_equal(found.qpos, np.arange(3.0))
    np.testing.assert_array_equal(found.qvel, [0.1, -0.2])
    text = tmp_path / "s.json"
    text.write_text(json.dumps({"qpos": [0, 1, 2]}))
    assert read_state(text, 3, 2).qvel is None


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", "[1]", "has no qpos"),
        ("a.json", "{", "is not valid JSON"),
        ("a.json", '{"qpos": [1, 2]}', r"qpos of .*shape \(3,\)"),
        ("a.json", '{"qpos": [1, 2, NaN]}', "qpos of"),
        ("a.json", '{"qpos": [1, 2, 3], "qvel": ["x", 1]}', "qvel of"),
        ("a.npz", "x", "a.npz"),
        ("a.txt", "1 2 3", "wanted .npz or .json"),
    ],
)
def test_files_that_hold_no_state_are_refused(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=message):
        read_state(tmp_path / name, 3, 2)


def test_a_missing_or_huge_file_is_refused(tmp_path):
    with pytest.raises(ValueError, match="there is no file"):
        read_state(tmp_path / "no.npz", 3, 2)
    (tmp_path / "big.json").write_bytes(b" " * (2**20 + 1))
    with pytest.raises(ValueError, match="wanted at most"):
        read_state(tmp_path / "big.json", 3, 2)
