"""Problem functions and measures that worker processes of the tests import."""

import os
import signal
import time

import numpy as np

import routh


def block(mu, speed=1.0):
    return routh.systems.get("rocking-block", mu=mu, speed=speed).problem


def sometimes(x):
    """Nothing at 1, an error at 2, nothing that approaches at 3, else an impact."""
    if x == 1.0:
        return None
    if x == 2.0:
        raise ZeroDivisionError("no such point")
    problem = block(0.5)
    return problem.replace(v=-problem.v) if x == 3.0 else problem


def poison(x):
    """Kills its process at 5."""
    if x == 5.0:
        os.kill(os.getpid(), signal.SIGKILL)
    return block(0.5)


def slow(x):
    time.sleep(0.05)
    return block(0.1 + 0.01 * x)


def energy(problem, row, seed, *, factor=1.0):
    return {"energy": factor * problem.kinetic_energy(), "place": np.array([row, seed])}


def wrong_shape(problem, row, seed):
    return {"energy": np.zeros(3)}


def rest(problem):
    return np.zeros(problem.nv)


def wide(problem, row, seed):
    """Many numbers, which do not compress."""
    return {"wide": np.random.default_rng(row).uniform(size=20000)}


def mixed(x):
    """Points of several sizes: nothing, the block, the box at a wall, the block into a wall."""
    names = [None, "rocking-block", "box-wall", "block-into-wall"]
    name = names[int(x) % len(names)]
    return None if name is None else routh.systems.get(name).problem


def no_problem(x):
    return {"mass": x}
