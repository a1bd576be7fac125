"""Powers of plain Python have the bits of compiled code, and so has what is drawn with them."""

import os
import subprocess
import sys

import numpy as np

from routh.compiling import compiled, interpreted, kernel
from routh.compiling.copies import faithful

FACTOR = 3.0


@kernel
def powers(x: float, k: int) -> tuple[float, float, int]:
    """Of exponents that are known, and not."""
    return FACTOR * x**2 + x**3, x**k, k**2


def around(shift):
    """A kernel with a variable of the function around it."""

    def shifted(x: float) -> float:
        return (x + shift) ** 2

    return compiled(shifted)


def test_powers_of_plain_python_have_the_bits_of_compiled_code():
    rng, shifted, off = np.random.default_rng(0), around(0.25), 0
    plain = interpreted(powers), faithful(powers), interpreted(shifted)
    for x, k in zip(rng.normal(size=4000).tolist(), rng.integers(0, 9, 4000).tolist(), strict=True):
        found = powers(x, k)
        assert plain[0](x, k) == found
        assert plain[1](np.float64(x), np.int64(k)) == found
        assert plain[2](x) == shifted(x)
        off += (FACTOR * x**2 + x**3, x**k, k**2) != found
    assert off > 0  # by the C library


CODE = """
import sys, numpy as np, routh
from routh import systems
points = np.array([[.2, .2, -.3], [.2, -.2, -.3], [-.2, .2, -.3], [-.2, -.2, -.3001]])
Jn = [[0, 0, 1, y, -x, 0] for x, y, z in points]
Jt = [[[1, 0, 0, 0, z, -y], [0, 1, 0, -z, 0, x]] for x, y, z in points]
crate = routh.ImpactProblem(np.diag([1, 1, 1, .02, .03, .04]), Jn, Jt, .5, [.5, .2, -1, .1, .2, 0])
stack = systems.impact("disk-stack")
for problem, options in ((crate, {}), (crate, {"friction": "polyhedral"}), (stack, {})):
    found = routh.sample(problem, 12, seed=5, threads=1, **options)
    error = b"" if found.error is None else found.error.tobytes()
    print((found.v.tobytes() + found.residual.tobytes() + error).hex())
"""


def test_samples_of_plain_python_have_the_bits_of_compiled_code():
    printed = [
        subprocess.run(
            [sys.executable, "-c", CODE],
            env={**os.environ, "ROUTH_INTERPRET": flag},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for flag in "01"
    ]
    assert len(printed[0]) > 1000
    assert printed[0] == printed[1]
