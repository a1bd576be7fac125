"""Workers with a GPU: a measure with ``device="cuda"``, in the simulator, measures what the CPU does."""

import os
import subprocess
import sys

import pytest

CODE = """
import sys
import numpy as np
from routh import sweep
from routh.gpu import events as gpu_events
from routh.gpu import plane as gpu_plane
gpu_events.BLOCK, gpu_events.MANY, gpu_plane.BLOCK, gpu_plane.FIRST = 4, 4, 4, 64
tables = []
for device in ("cpu", "cuda"):
    study = sweep.study(
        f"{sys.argv[1]}/{device}",
        problems=sweep.recipe("routh.systems:impact", name="rocking-block"),
        over={"mu": [0.2, 0.8]},
        measure=[sweep.ambiguity(n=3, device=device), sweep.mode_shares(n=3, device=device)],
    )
    study.run("here")
    tables.append(study.table())
for name in ("ambiguity", "share_solved", "contacts", "separates", "combinations"):
    np.testing.assert_allclose(tables[1][name], tables[0][name], atol=1e-12)
assert float(tables[0]["share_solved"].min()) == 1.0
"""


def test_a_study_on_the_gpu(tmp_path):
    pytest.importorskip("xarray")
    environment = {**os.environ, "ROUTH_SIMULATE_GPU": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", CODE, str(tmp_path)], check=True, env=environment)
