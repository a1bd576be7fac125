"""What is not routh's stays as it was: the environment, numba's settings, threads and compiler."""

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("numba", exc_type=ImportError)  # it wants an llvmlite of its own

SCRIPT = """
import json, os, sys
import numba, numpy as np
from numba.core.registry import cpu_target

def settings():
    plain = {n: repr(v) for n, v in vars(numba.config).items() if n.isupper() and not callable(v)}
    return {"environment": dict(os.environ), "numba": plain, "threads": numba.get_num_threads(),
            "errors": repr(np.geterr()), "compiler": repr(type(cpu_target.typing_context))}

numba.set_num_threads(1)
before = settings()
import routh
routh.sample(routh.systems.get("rocking-block").problem, 200)
after = settings()

@numba.njit
def theirs(values, at):
    return max(values[at], 3, values[0]), [one for one in values if one > 1.0]

found, listed = theirs(np.array([1.0, 2.0, 5.0]), -1)
print(json.dumps([before, after, found, listed]))
"""


@pytest.fixture(scope="module")
def told():
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("what", ["environment", "numba", "threads", "errors", "compiler"])
def test_sampling_changes_no_setting(told, what):
    before, after = told[:2]
    assert before[what] == after[what]


def test_other_peoples_functions_are_compiled_by_numba_as_it_is(told):
    assert told[2:] == [5.0, [2.0, 5.0]]
