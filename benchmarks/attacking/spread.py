"""Work in several processes: forked after everything was compiled, so that nobody compiles twice."""

import multiprocessing

TOGETHER = 50


def chunks(count, together=TOGETHER):
    """The numbers 0 to ``count - 1`` in ranges."""
    return [range(first, min(first + together, count)) for first in range(0, count, together)]


def in_processes(work, cases, processes):
    """Yield ``work(case)`` of each case, in any order."""
    if processes == 1 or len(cases) < 2:
        yield from map(work, cases)
        return
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        yield from pool.imap_unordered(work, cases)
