"""The guide's own robot, and Gymnasium's, with nothing installed but what the extra declares."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

pytest.importorskip("gymnasium")

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "guide" / "learning.md"
BLOCKED = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {missing!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
import gymnasium
import numpy as np
import routh.learn
from routh.learn import AdversarialOutcomes, ParameterRandomization
routh.learn.OutcomeRandomization(gymnasium.make("Hopper-v5"))
"""
ONE_STEP = """
for env in conditions.values():
    env.reset(seed=0)
    env.step(np.zeros(1))
print(len(conditions))
"""


def named(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def closure(wanted, found):
    """Names of all distributions that some requirements bring."""
    for text in wanted:
        requirement = Requirement(text)
        extras = {"", *requirement.extras}
        key = named(requirement.name), frozenset(extras)
        if key in found or named(requirement.name) == "routh":
            continue
        found.add(key)
        try:
            inner = [Requirement(one) for one in requires(requirement.name) or ()]
        except PackageNotFoundError:  # not for this machine
            continue
        needed = [
            str(one).partition(";")[0]
            for one in inner
            if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in extras)
        ]
        closure(needed, found)
    return {name for name, _ in found}


def test_the_extra_brings_all_that_the_example_needs():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    declared = closure(project["dependencies"] + extras["learn"] + extras["mujoco"], {("routh", frozenset())})
    missing = {
        module
        for module, owners in packages_distributions().items()
        if declared.isdisjoint(map(named, owners)) and module.partition(".")[0] != "routh"
    }
    assert "matplotlib" in missing  # or nothing is blocked here
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), flags=re.DOTALL | re.MULTILINE)
    (example,) = (block for block in blocks if "class Crate" in block)
    made, _ = example.split("for name, task in")  # whole episodes are run with the page
    code = BLOCKED.format(missing=missing) + made + ONE_STEP
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == ["4"]
