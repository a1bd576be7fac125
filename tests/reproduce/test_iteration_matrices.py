"""D19 section 3: which schemes are stable."""

import numpy as np

from routh.reproduce.d19 import iteration_matrix


def test_iteration_matrices_are_stable_where_the_figures_say():
    """D19 Figs. 1 to 3: m = 1, k = 1e6 (1e7)."""
    radius = lambda *args, **more: np.abs(np.linalg.eigvals(iteration_matrix(*args, m=1.0, **more))).max()  # noqa: E731
    assert radius("explicit", k=1e6, b=1.0, dt=1e-5) > 1.0
    assert radius("explicit", k=1e6, b=2e5, dt=1e-5) <= 1.0 + 1e-12
    assert radius("explicit", k=1e6, b=2.1e5, dt=1e-5) > 1.0
    assert radius("semi-implicit", k=1e6, b=1.0, dt=1e-3) < 1.0
    assert radius("semi-implicit", k=1e7, b=1.0, dt=1e-3) > 1.0
    for dt in (1e-8, 1e-5, 1e-2, 1.0):
        for k in (0.0, 1e6, 1e15):
            assert radius("implicit", k=k, b=0.0, dt=dt) <= 1.0
    assert radius("implicit", k=1e15, b=0.0, dt=1.0) < 1e-7  # L-stable: what is stiff is forgotten
