"""What a message tells to type works in the installation that there is."""

import json
import sys
from importlib import metadata

import pytest

from routh.base import installation


class _Installed:
    def __init__(self, told):
        self.told = told

    def read_text(self, name):
        assert name == "direct_url.json"
        return None if self.told is None else json.dumps(self.told)


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """A routh that lies in no clone, with pip's note of where it came from."""
    monkeypatch.setattr(installation, "__file__", str(tmp_path / "lib/routh/base/installation.py"))
    monkeypatch.setattr(installation.shutil, "which", lambda name: str(tmp_path / "elsewhere" / name))

    def came_from(told):
        monkeypatch.setattr(metadata, "distribution", lambda name: _Installed(told))

    return came_from


def test_in_a_clone_the_clone_is_named():
    assert installation.install_line("viz").endswith("[viz]'") or "[viz]" in installation.install_line("viz")
    assert " install -e " in installation.install_line("viz")


def test_a_wheel_a_folder_an_index_and_a_repository(installed, tmp_path):
    wheel = tmp_path / "routh 1-py3-none-any.whl"
    wheel.touch()
    pip = f"{sys.executable} -m pip install"
    installed({"url": wheel.as_uri(), "archive_info": {}})
    assert installation.install_line("viz") == f"{pip} '{wheel}[viz]'"
    installed({"url": tmp_path.as_uri(), "dir_info": {}})
    assert installation.install_line("viz") == f"{pip} '{tmp_path}[viz]'"
    installed(None)
    assert installation.install_line("viz") == f"{pip} 'routh[viz]'"
    installed({"url": "https://some.where/routh", "vcs_info": {"vcs": "git"}})
    assert installation.install_line("viz") == f"{pip} 'routh[viz] @ git+https://some.where/routh'"


def test_where_the_wheel_is_gone_the_packages_of_the_extra_are_named(installed, tmp_path, monkeypatch):
    wanted = [
        "numpy>=2",
        "pandas>=2.2; extra == 'data'",
        "routh[data]; extra == 'sweep'",
        "distributed>=1; extra == 'sweep'",
        'pin>=4; (python_version < "3.15") and extra == "pinocchio"',
    ]
    monkeypatch.setattr(metadata, "requires", lambda name: wanted)
    installed({"url": (tmp_path / "gone.whl").as_uri()})
    assert installation.install_line("sweep").endswith("install 'pandas>=2.2' 'distributed>=1'")
    assert installation.install_line("pinocchio").endswith("""'pin>=4; python_version < "3.15"'""")


def test_pip_alone_is_said_where_it_is_the_one(installed, tmp_path, monkeypatch):
    installed(None)
    monkeypatch.setattr(installation.sys, "executable", str(tmp_path / "bin/python"))
    monkeypatch.setattr(installation.shutil, "which", lambda name: str(tmp_path / "bin/pip"))
    assert installation.install_line("viz") == "pip install 'routh[viz]'"
