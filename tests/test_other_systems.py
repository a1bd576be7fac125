"""What only Linux has is asked for, never taken for granted: a process without it imports and works.

No test for macOS or Windows themselves: neither has been tried.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import routh

PACKAGE = Path(routh.__file__).parent
MODULES = sorted(
    ".".join(("routh", *file.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
    for file in PACKAGE.rglob("*.py")
    if file.name != "__main__.py" and file.stem != "batched_env"
)
#: Modules and names that Windows lacks; macOS lacks the first ones of each.
NO_MODULES = ["fcntl", "grp", "posix", "pty", "pwd", "resource", "spwd", "syslog", "termios", "tty"]
NO_NAMES = {
    "os": "O_TMPFILE sched_getaffinity sched_setaffinity memfd_create O_DIRECTORY O_NOFOLLOW fchmod fork "
    "getuid geteuid sysconf uname getloadavg mkfifo",
    "signal": "SIGKILL SIGHUP SIGALRM SIGUSR1 pthread_kill pthread_sigmask setitimer alarm",
}
#: Python's own files and other packages guard what they call themselves: they are loaded before.
OTHERS = (
    "asyncio ctypes multiprocessing pathlib shutil subprocess tempfile numpy scipy.linalg llvmlite.binding "
    "matplotlib.figure rich.console typer mujoco pinocchio gymnasium viser distributed pandas xarray trimesh "
    "clarabel ppl"
)
WITHOUT = f"""
import builtins, importlib, os, pathlib, signal, sys
for package in {OTHERS!r}.split():
    try:
        importlib.import_module(package)
    except ImportError:
        pass
true_import = builtins.__import__
def without(name, globals=None, locals=None, fromlist=(), level=0):
    if name in {NO_MODULES!r} and (globals or {{}}).get("__name__", "").startswith("routh"):
        raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
    return true_import(name, globals, locals, fromlist, level)
builtins.__import__ = without
class Without:
    "A module with less in it."
    def __init__(self, module, names):
        self.__dict__.update({{name: value for name, value in vars(module).items() if name not in names}})
for name, lacking in {NO_NAMES!r}.items():
    sys.modules[name] = Without(sys.modules[name], lacking.split())
"""


def in_a_process(code, tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent), "MPLBACKEND": "agg"}
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT + code], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_file_imports(tmp_path):
    code = f"""
for name in {MODULES!r}:
    try:
        importlib.import_module(name)
    except ImportError as error:  # an extra that is not installed
        assert getattr(error, "name", None) not in {NO_MODULES!r}, (name, error)
print("all")
"""
    assert in_a_process(code, tmp_path) == "all\n"


def test_what_everybody_does_first_works(tmp_path):
    code = """
import routh
from routh.base.storage import write_bytes, written_files
block = routh.systems.impact("rocking-block")
outcomes = routh.sample(block, 64, seed=0)
block.save("block.npz")
block.save("block.npz")  # in place of the first
assert (routh.ImpactProblem.load("block.npz").v == block.v).all()
assert not list(pathlib.Path().glob(".*.part"))
try:
    from routh.base.storage import replacing
    with replacing("block.npz") as file:
        file.write(b"half")
        raise KeyboardInterrupt
except KeyboardInterrupt:
    pass
assert routh.ImpactProblem.load("block.npz").nc == 2
assert [path.name for path in pathlib.Path().iterdir()] == ["block.npz"]
from routh.base.validation import free_memory
assert free_memory() > 0
from routh.kernels.common.slices import cores
assert cores() >= 1
from routh.base import interrupts
interrupts.end_promptly(lambda: "", 1)
print(len(outcomes.v))
"""
    assert in_a_process(code, tmp_path) == "64\n"


@pytest.mark.parametrize("module", NO_MODULES[:1])
def test_the_test_would_notice(module, tmp_path):
    code = f"""
import types
try:
    exec("import {module}", {{"__name__": "routh.some"}})
except ModuleNotFoundError:
    print("noticed")
"""
    assert in_a_process(code, tmp_path) == "noticed\n"
