"""What `routh list` says without making a system is what the system says."""

import subprocess
import sys

import pytest

from routh import systems
from routh.systems.catalogue import CATALOGUE


@pytest.mark.parametrize("name", list(CATALOGUE))
def test_a_line_of_the_catalogue_is_its_system(name):
    entry, system = CATALOGUE[name], systems.get(name)
    contacts = None if system.problem is None else system.problem.nc
    assert (system.name, system.kind, contacts) == (name, entry.kind, entry.contacts)
    assert (system.paper.source, system.summary) == (entry.source, entry.summary)
    assert systems.base.builder_of(name).__module__ == entry.module


def test_names_are_those_of_the_catalogue():
    assert systems.names()[: len(CATALOGUE)] == list(CATALOGUE)


def test_listing_loads_no_model():
    """Names are shown without NumPy, SciPy, numba or a model."""
    code = (
        "import sys; from routh.cli.app import app; from routh.cli.systems import show_systems; "
        "from routh.cli.output import Output; show_systems(Output()); "
        "print([m for m in ('numpy', 'scipy', 'numba', 'routh.models') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "rocking-block" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_command_line_knows_the_numbers_of_a_motion_without_loading_them():
    from routh.cli import landings, robots
    from routh.models import landings as model_landings
    from routh.models import simultaneity

    assert landings.MOTION == model_landings.MOTION
    assert (robots.DEEPEST, robots.PAST_LIMIT) == (simultaneity.DEEPEST, simultaneity.PAST_LIMIT)
