"""The peer that sampling is measured against: `quantecon.optimize.lcp_lemke` inside a compiled loop."""

from __future__ import annotations

import numba
import numpy as np
from quantecon.optimize import lcp_lemke

from routh.base import tolerances
from routh.compiling.copies import rebuilt
from routh.kernels.common import random
from routh.step import PolyhedralStep

draw_bounds = rebuilt(random.draw_bounds, numba.njit, {})


@numba.njit(nogil=True)
def _samples(W, spread, delassus, along, start, step, ending, key, max_steps, v, steps, solved):
    """HP23's Algorithm 1 with the full LCP (75); scratch arrays are made once, as the peer recommends."""
    size, nc = len(W), len(step)
    width = spread.shape[0] // nc
    tableau, basis, z = np.empty((size, 2 * size + 2)), np.empty(size, dtype=np.int64), np.empty(size)
    q, bound, c, impulse = np.zeros(size), np.empty(nc), np.empty(nc * width), np.empty(nc * width)
    k = along.shape[0] // nc
    for sample in range(len(steps)):
        c[:] = start
        steps[sample], solved[sample] = 0, False
        for count in range(max_steps):
            draw_bounds(nc, key, sample, count, step, bound)
            q[:nc] = bound
            for i in range(nc):
                q[nc + i] = c[i * width]
            for row in range(nc * k):
                value = 0.0
                for j in range(nc * width):
                    value += along[row, j] * c[j]
                q[2 * nc + row] = value
            found = lcp_lemke(W, q, tableau=tableau, basis=basis, z=z)
            for row in range(nc * width):
                value = 0.0
                for j in range(size):
                    value += spread[row, j] * found.z[j]
                impulse[row] = value
            steps[sample] += 1
            if not found.success:
                break
            ended = True
            for row in range(nc * width):
                for j in range(nc * width):
                    c[row] += delassus[row, j] * impulse[j]
            for i in range(nc):
                ended = ended and c[i * width] >= -ending[i]
            if ended:
                solved[sample] = True
                break
        v[sample] = c


class Peer:
    """Algorithm 1 with quantecon for one problem; the same numbers lambda_max as `routh.sample`."""

    def __init__(self, problem, step, max_steps, facets=None):
        solver = PolyhedralStep(problem, facets=facets)
        nc, width = problem.nc, 1 + problem.nt
        along = np.zeros((nc * solver.k, nc * width))
        for i in range(nc):
            along[i * solver.k : (i + 1) * solver.k, i * width + 1 : (i + 1) * width] = solver.directions[i]
        self.data = (solver._W, solver._spread, np.array(problem.delassus), along)
        self.start = problem.contact_velocity().ravel()
        self.step, self.max_steps = step, max_steps
        self.ending = tolerances.APPROACH * problem.scaling.velocity

    def __call__(self, n, seed=0):
        """Contact velocities after (n, nc (1 + nt)), steps (n,) and success (n,)."""
        key = (np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32), np.uint64(0))
        c, steps, solved = np.empty((n, len(self.start))), np.empty(n, np.int32), np.empty(n, np.bool_)
        _samples(*self.data, self.start, self.step, self.ending, key, self.max_steps, c, steps, solved)
        return c, steps, solved
