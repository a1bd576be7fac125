"""What HP23 5.4.1 to 5.4.5 says about each system's set, on sampled sets."""

from fractions import Fraction

import numpy as np
import pytest

import routh
from routh import sample, systems
from routh.exact.checker import verify_path
from routh.reproduce.base import Settings
from routh.reproduce.hp23 import refuting_path, separation_of
from routh.reproduce.sampled import any_solution, joined, unequal_steps
from routh.reproduce.statements import CHECKS, classical_distances, statements
from routh.sampling.path_residual import path_residual

TOP = "the top disk keeps contact with the left or the right one (C or D)"
GROUND = "one of the lower disks stays on the ground (A or B)"
REFUTED = {TOP: ("C", "D"), GROUND: ("A", "B")}  # sentences that the model (39) refutes
SLOW = "simultaneous resolution"  # with five contacts: enumerated for the report only
DISKS = ("disk-stack", "disk-stack-5kg")
CLAIMS = [
    (name, claim)
    for name in CHECKS
    for claim in CHECKS[name]
    if not (name in DISKS and SLOW in claim) and not (name == "disk-stack-5kg" and claim in REFUTED)
]
_CACHE = {}


def wide(name):
    if name not in _CACHE:
        system = systems.get(name)
        problem, step = system.problem, system.paper.step
        parts = [routh.sampling.sample_by_steps(problem, 2**13, step=step)]
        if problem.nc == 2:
            parts.append(unequal_steps(problem, 256, step, Settings()))
            parts.append(any_solution(problem, 25, step=np.full(2, step), seed=1))
        _CACHE[name] = joined(parts)
    return _CACHE[name]


@pytest.mark.parametrize(("name", "claim"), CLAIMS)
def test_statement(name, claim):
    assert (CHECKS[name][claim](name, wide(name)) != "") is (claim in REFUTED)


@pytest.mark.parametrize("claim", REFUTED)
def test_paths_that_refute_a_sentence_can_be_replayed(claim):
    """What the report prints, as a user types it: both contacts separate, on a path that obeys (39)."""
    name = "disk-stack-5kg"
    words = CHECKS[name][claim](name, wide(name))
    path = eval(words.split("Replay it: ")[1], {"routh": routh})
    problem = systems.get(name).problem
    assert path_residual(problem, path) < 1e-13
    pair = [problem.names.index(contact) for contact in REFUTED[claim]]
    assert problem.contact_velocity(path.v[-1])[pair, 0].min() > 1e-3  # m/s, of 1 m/s before
    assert np.flatnonzero(path.impulse[-1, :, 0]).tolist() == [problem.names.index("E")]


@pytest.mark.parametrize("name", [name for name in CHECKS if name not in DISKS])
def test_sequential_and_simultaneous_outcomes_are_within_sampling_distance(name):
    distances = classical_distances(wide(name))
    assert len(distances) >= 3
    assert max(distances.values()) < 0.01


@pytest.mark.parametrize("name", list(CHECKS))
def test_every_sample_ends_and_no_energy_is_gained(name):
    outcomes = wide(name)
    assert outcomes.terminated.all()
    assert outcomes.kinetic_energy.max() <= outcomes.problem.kinetic_energy() * (1 + 1e-9)


def test_a_check_can_fail():
    outcomes = sample(_slippery_block(), 200)
    found = statements("rocking-block", outcomes)
    assert found["every outcome is a scaled-down sequential one"] == "some are not"


def _slippery_block():
    problem = systems.get("rocking-block", mu=0.2).problem
    return problem.replace(v=[0.3, *problem.v[1:]])


@pytest.mark.parametrize("pair", ["CD", "AB"])
def test_sentences_of_the_disk_stack_are_refuted_in_fractions(pair):
    pytest.importorskip("ppl")
    path, _ = refuting_path(pair)
    rational = systems.get("disk-stack-5kg").rational
    assert verify_path(rational, path, path.v[-1])
    assert all(separation_of(path, contact) > Fraction(1, 1000) for contact in pair)
