"""The first kernel that a process compiles: nothing else has loaded what it needs."""

import os
import subprocess
import sys

FIRST = """
from routh.compiling import kernel

@kernel
def sizes(given):
    return given[0] * given[1], given[2]

print(sizes((2, 1, 3)))
"""


def test_a_plain_tuple_can_be_the_first_argument(tmp_path):
    """Such a first call in a process failed."""
    place = tmp_path / "first.py"  # a kernel needs a file
    place.write_text(FIRST)
    environment = os.environ | {"ROUTH_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, str(place)], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.stdout.strip(), done.returncode) == ("(2, 3)", 0), done.stderr
