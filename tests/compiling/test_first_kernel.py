"""The first kernel that a process compiles: nothing else has loaded what it needs."""

import os
import subprocess
import sys

FIRST = "from routh.kernels.walking import extents; print(extents((2, 1, 2)))"


def test_a_plain_tuple_can_be_the_first_argument(tmp_path):
    """HP23's sampler begins like this; its first call in a process failed."""
    environment = os.environ | {"ROUTH_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", FIRST], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.stdout.strip(), done.returncode) == ("(11, 8)", 0), done.stderr
