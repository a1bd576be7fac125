"""Steps that several threads take together, as on a GPU: here threads of Python, against one thread."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from test_space_columns import same

from problems import random_problem
from routh.compiling import interpreted
from routh.kernels.arrays import make_rows
from routh.kernels.space_crew import Crew, SeveralWork, several_work, wait
from routh.kernels.space_cuda import WIDEST
from routh.kernels.space_several import several_step
from routh.kernels.space_step_kernels import CURVE_BLOCK
from routh.kernels.space_waves import HARD, MOST, SEVERAL, WARP

BOARD = SeveralWork._fields.index("pace")  # from here on all threads of a crew have the same arrays
STATIC = 48 * 2**10  # bytes of shared memory that a block of any GPU has


class Together:
    """`several_step` by a thread for each contact, at most MOST; what is not shared holds anything."""

    def __init__(self, nc):
        self.nc, self.pool, self.taken = nc, ThreadPoolExecutor(MOST), np.zeros(MOST + 1, dtype=int)

    def __call__(self, column, work, crew, m, going):
        threads = min(m, MOST)
        widest = m if m < MOST else self.nc
        barrier = threading.Barrier(threads, timeout=20.0)
        step = interpreted(several_step, ((wait, lambda: barrier.wait() and None),))
        shared = several_work(self.nc, widest, threads)[BOARD:]
        for array in shared:
            array[...] = np.nan

        def take(first):
            own = several_work(self.nc, widest, threads)[:BOARD]
            for array in own:
                array[...] = np.nan if array.dtype == np.float64 else -(2**62)
            try:
                with np.errstate(all="ignore"):
                    return step(column, SeveralWork(*own, *shared), Crew(first, threads, 0, 0), m, going)
            except BaseException:
                barrier.abort()
                raise

        found = set(self.pool.map(take, range(threads)))
        assert len(found) == 1  # all threads know what comes next
        self.taken[threads] += 1
        return found.pop()


@pytest.mark.parametrize("nc", [2, 4, 6])
def test_crews_take_the_same_steps(nc):
    rng = np.random.default_rng(nc)
    rows = make_rows([random_problem(rng, nt=2, nc=nc, nv=3 * nc + 2, mu=1.0) for _ in range(12)])
    crew = Together(nc)
    taken, _ = same(rows, 2, rtol=1e-12, some=crew)  # powers of Python
    assert crew.taken.sum() == taken[SEVERAL:HARD].sum()
    assert np.all(crew.taken[2 : min(nc, MOST) + 1] > 0)


def test_blocks_have_room_for_what_their_threads_share():
    for nc in range(2, WIDEST + 1):
        for m in range(2, min(nc, MOST) + 1):
            widest, of_threads = (nc, 0) if m == MOST < nc else (m, CURVE_BLOCK)
            crews = -(-WARP // m) * CURVE_BLOCK // WARP
            arrays = several_work(nc, widest, m, crews, max(of_threads, 1))
            first = BOARD - 2 if of_threads > 0 else BOARD  # the gram matrix and series are a thread's own
            assert sum(array.nbytes for array in arrays[first:]) <= STATIC
