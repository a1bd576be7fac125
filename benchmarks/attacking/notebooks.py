"""Ctrl-C at random moments of library calls in a notebook: how long until a cell ends, and does the next run?

A Jupyter kernel runs cells in its main thread, as in a notebook, and is interrupted as by its stop button.
"""

import queue
import random
import time

from attacking.report import Found

WITHIN = 1.0  # s
PATIENCE = 15.0  # s, until a cell is interrupted again
COMPILING = 120.0  # s, for a cell that may have to compile
FIRST = """
import numpy as np, routh
from routh import systems
block, stack = systems.get("rocking-block"), systems.get("disk-stack")
rng = np.random.default_rng(0)
Jn, Jt = rng.normal(size=(4, 6)), rng.normal(size=(4, 2, 6))
body = routh.ImpactProblem(np.eye(6), Jn, Jt, 0.5, -Jn.sum(axis=0))
"""
CELLS = [
    "routh.sample(stack.problem, 2_000_000)",
    "routh.sample(stack.problem, 2_000_000, threads=1)",
    "routh.sampling.sample_by_steps(block.problem, 5_000_000, step=0.01)",
    "routh.sample(body, 2_000_000)",
    "routh.sample(body, 2_000_000, friction='polyhedral')",
    "routh.sample(body.replace(restitution=0.5), 1_000_000)",
    "routh.sample(routh.ImpactBatch.from_problems([block.problem] * 3000), 3000)",
    "routh.fill(stack.problem, max_samples=10**7, tolerance=1e-12, patience=10**6)",
    "routh.audit(block.problem, block.problem.v, refine=10**7)",
    "routh.scan(lambda mu: block.problem.replace(mu=mu), {'mu': np.linspace(0, 1, 10**6)})",
    "[routh.outer_bound(stack.problem).support(rng.normal(size=(10**5, stack.problem.nv)))]",
    "routh.simulate_many(block.model, block.state, n=10**5, duration=1.0)",
    "[routh.simulate(block.model, block.state, duration=10.0, sample_dt=1e-4) for _ in range(10**5)]",
    "routh.step_through(block.model, block.state, dt=1e-6, duration=100.0)",
    "[routh.laws.Simultaneous()(body) for _ in range(10**7)]",
]


def attack(count, seed):
    """Interrupt ``count`` cells of one kernel."""
    from jupyter_client.manager import start_new_kernel

    found = Found("interrupts of notebook cells", limit=WITHIN)
    manager, client = start_new_kernel(kernel_name="python3")
    try:
        client.execute_interactive(FIRST, timeout=120, output_hook=lambda _: None)
        # Jupyter loads what it shows errors with at the first one, whoever's it is
        client.execute_interactive("1 / 0", timeout=120, output_hook=lambda _: None, stop_on_error=False)
        for k in range(count):
            rng = random.Random(f"{seed}-{k}")
            cell, after = CELLS[k % len(CELLS)], rng.uniform(0.1, 4.0)
            seconds, wrong = interrupted(manager, client, cell, after)
            case = f"{cell} after {after:.2f} s"
            found.count(seconds, wrong=wrong and f"{case}: {wrong}", case=case)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    return found


def interrupted(manager, client, cell, after):
    """Seconds from the signal to the end of the cell, and what is wrong."""
    # Without stop_on_error=False the kernel may abort, unrun, a cell that arrives soon after an error.
    asked = client.execute(cell + "; None", stop_on_error=False)
    time.sleep(after)
    start = time.monotonic()
    manager.interrupt_kernel()
    reply, again = None, 0
    while reply is None:
        reply = reply_to(client, asked)
        if reply is None:
            again += 1
            manager.interrupt_kernel()
    seconds = time.monotonic() - start
    if again:
        return seconds, f"did not end before it was interrupted {again + 1} times"
    if reply["status"] == "ok":
        return 0.0, ""  # it was quicker than we
    if reply.get("ename") != "KeyboardInterrupt":
        return seconds, f"{reply.get('ename')}: {reply.get('evalue')}"
    alive = reply_to(client, client.execute("routh.sample(block.problem, 4).status_counts()"), COMPILING)
    if alive is None:
        return seconds, f"the next cell does not end within {COMPILING:g} s"
    return seconds, "" if alive["status"] == "ok" else f"the next cell fails: {alive.get('evalue')}"


def reply_to(client, asked, patience=PATIENCE):
    """The answer to one request, None where there is none for long; answers to earlier ones are dropped."""
    while True:
        try:
            message = client.get_shell_msg(timeout=patience)
        except queue.Empty:
            return None
        if message["parent_header"].get("msg_id") == asked:
            return message["content"]
