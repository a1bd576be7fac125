"""Compiled kernels on disk: found by what they depend on, whole or not at all, whatever the disk does."""

import builtins
import errno
import logging
import os
import subprocess
import sys
import time
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from routh.compiling import cache, compile_seconds, distinct, kernel, native

VALUES = np.array([1.0, 2.0, 4.0])
SCALE, TABLE = 3.0, np.array([1.0, 2.0])
INSIDE = types.ModuleType("inside")
INSIDE.LIMIT = 2.0


class Pair(NamedTuple):
    left: float
    right: int


def scaled(x):
    return SCALE * x


def total(values):
    found = 0.0
    for i in range(len(values)):
        found += scaled(values[i]) + TABLE[0] * INSIDE.LIMIT
    return found


def pair_of(values):
    return Pair(values[0], len(values))


def fresh(code=total.__code__, inner=scaled, mark=kernel, **names):
    """A kernel as another process would make it, with its own names of the module."""
    names = {**globals(), **names}
    names["scaled"] = kernel(types.FunctionType(inner.__code__, names, "scaled"))
    return mark(types.FunctionType(code, names, "total"))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ROUTH_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(native, "_LINKED", {})
    cache.say_once.cache_clear()
    return tmp_path


def compiles(function, *arguments):
    """Whether a call compiles, in a process that has linked nothing yet; and what it returns."""
    native._LINKED.clear()
    before = compile_seconds()
    found = function(*arguments)
    return compile_seconds() > before, found


def test_a_second_process_loads_from_disk_and_does_not_compile(folder):
    assert not fresh().is_ready(VALUES)
    assert compiles(fresh(), VALUES) == (True, 27.0)
    assert fresh().is_ready(VALUES)
    assert compiles(fresh(), VALUES) == (False, 27.0)


def test_a_named_tuple_comes_back_from_disk_as_its_class():
    made = kernel(pair_of)
    assert compiles(made, VALUES) == (True, Pair(1.0, 3))
    again, found = compiles(kernel(pair_of), VALUES)
    assert not again
    assert type(found) is Pair
    assert found == Pair(1.0, 3)


def _with_other_constant():
    def total(values):
        found = 0.5
        for i in range(len(values)):
            found += scaled(values[i]) + TABLE[0] * INSIDE.LIMIT
        return found

    return total.__code__


def _other(x):
    return 2.0 * x


CHANGED = types.ModuleType("inside")
CHANGED.LIMIT = 5.0


@pytest.mark.parametrize(
    "change",
    [
        {"SCALE": 4.0},  # of a kernel that is called
        {"TABLE": np.array([1.5, 2.0])},
        {"INSIDE": CHANGED},
        {"code": _with_other_constant()},
        {"inner": _other},
        {"mark": distinct},
    ],
    ids=lambda change: next(iter(change)),
)
def test_whatever_a_kernel_depends_on_is_part_of_its_name(change, folder):
    compiles(fresh(), VALUES)
    again, found = compiles(fresh(**change), VALUES)
    assert again
    plain = fresh(**change)
    names = {**plain.py_func.__globals__, "scaled": plain.py_func.__globals__["scaled"].py_func}
    assert found == types.FunctionType(plain.py_func.__code__, names)(VALUES)


@pytest.mark.parametrize("arguments", [(VALUES.astype(np.int32),), (np.ones(6)[::2],)])
def test_other_kinds_of_arguments_are_other_code(arguments):
    compiles(fresh(), VALUES)
    again, found = compiles(fresh(), *arguments)
    assert again
    assert found == pytest.approx(3.0 * np.sum(arguments[0]) + 2.0 * len(arguments[0]))


@pytest.mark.parametrize("what", ["machine_words", "digest_of_translator"])
def test_another_machine_llvm_or_translator_compiles_for_itself(what, monkeypatch):
    compiles(fresh(), VALUES)
    monkeypatch.setattr(native if what == "machine_words" else cache, what, lambda: "another")
    assert compiles(fresh(), VALUES)[0]


@pytest.mark.parametrize("harm", ["truncated", "empty", "changed", "of another kernel"])
def test_a_damaged_file_is_compiled_again_with_a_word(harm, folder, caplog):
    compiles(fresh(), VALUES)
    (file,) = folder.glob("total-*")
    whole = file.read_bytes()
    broken = {"truncated": whole[: len(whole) // 2], "empty": b"", "changed": whole[:-9] + b"\0" * 9}
    if harm == "of another kernel":
        compiles(kernel(pair_of), VALUES)
        (other,) = folder.glob("pair_of-*")
        broken[harm] = other.read_bytes()
    file.write_bytes(broken[harm])
    with caplog.at_level(logging.WARNING, "routh.compiling"):
        assert compiles(fresh(), VALUES) == (True, 27.0)
    assert ("compiling it again" in caplog.text) == (harm != "of another kernel")
    assert compiles(fresh(), VALUES) == (False, 27.0)  # and the new one is whole


def test_where_nothing_can_be_kept_kernels_work_and_a_line_says_so(folder, caplog, monkeypatch):
    file = folder / "no folder"
    file.write_text("")
    monkeypatch.setenv("ROUTH_CACHE_DIR", str(file / "below"))
    with caplog.at_level(logging.INFO, "routh.compiling"):
        assert compiles(fresh(), VALUES) == (True, 27.0)
        assert compiles(fresh(), VALUES) == (True, 27.0)
    assert caplog.text.count("ROUTH_CACHE_DIR names a folder") == 1
    assert caplog.text.count("compiling, for this process only: total") == 2
    assert "once for this machine" not in caplog.text


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_read_only_is_read(folder, caplog):
    compiles(fresh(), VALUES)
    folder.chmod(0o500)
    try:
        assert compiles(fresh(), VALUES) == (False, 27.0)
        with caplog.at_level(logging.WARNING, "routh.compiling"):
            assert compiles(fresh(SCALE=5.0), VALUES) == (True, 41.0)
        assert "cannot be kept" in caplog.text
    finally:
        folder.chmod(0o700)


def test_without_a_home_kernels_work(monkeypatch, caplog):
    monkeypatch.delenv("ROUTH_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)

    def nobody():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nobody)
    with caplog.at_level(logging.WARNING, "routh.compiling"):
        assert compiles(fresh(), VALUES) == (True, 27.0)
        assert not kernel(pair_of).is_ready(VALUES)
    assert "home" in caplog.text


def test_a_full_disk_does_not_lose_the_result_and_leaves_nothing_behind(folder, caplog, monkeypatch):
    class Full:
        def __init__(self, path, mode):
            Path(path).write_bytes(b"half")

        def __enter__(self):
            return self

        def __exit__(self, *error):
            pass

        def write(self, content):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(cache, "open", Full, raising=False)
    with caplog.at_level(logging.WARNING, "routh.compiling"):
        assert compiles(fresh(), VALUES) == (True, 27.0)
    assert "No space left" in caplog.text
    assert not list(folder.iterdir())
    assert builtins.open is not Full


def test_what_nobody_uses_goes_and_what_is_loaded_stays(folder):
    compiles(fresh(), VALUES)
    compiles(fresh(SCALE=5.0), VALUES)
    long_ago = time.time() - 2 * cache.FORGOTTEN
    files = set(folder.glob("total-*"))
    assert len(files) == 2
    for file in files:
        os.utime(file, (long_ago, long_ago))
    compiles(fresh(SCALE=5.0), VALUES)  # loaded: in use
    compiles(fresh(SCALE=7.0), VALUES)  # written
    left = set(folder.glob("total-*"))
    assert len(left) == 2
    assert len(left & files) == 1


def test_threads_that_want_one_kernel_compile_it_once(folder, caplog):
    made = fresh(SCALE=11.0)
    with caplog.at_level(logging.INFO, "routh.compiling"), ThreadPoolExecutor(4) as pool:
        found = set(pool.map(lambda _: made(VALUES), range(8)))
    assert found == {83.0}
    assert caplog.text.count("compiling, once for this machine: total") == 1


def test_processes_that_share_a_folder_find_the_same(folder):
    """Three compile the same at the same time, once all have loaded: the last one that is ready begins."""
    code = (
        "import sys, test_cache as here\n"
        "print(flush=True); sys.stdin.readline()\n"
        "print(here.fresh()(here.VALUES))"
    )
    places = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    pipes["env"] = {**os.environ, "PYTHONPATH": places}
    running = [subprocess.Popen([sys.executable, "-c", code], **pipes) for _ in range(3)]
    for one in running:
        one.stdout.readline()
    for one in running:
        one.stdin.write("\n")
        one.stdin.flush()
    assert {one.communicate()[0] for one in running} == {"27.0\n"}
    assert len(list(folder.glob("total-*"))) == 1
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_a_source_that_changed_after_its_import_is_not_compiled(tmp_path):
    path = tmp_path / "changing.py"
    path.write_text("def twice(x):\n    return 2.0 * x\n")
    names = {"__name__": "changing"}
    exec(compile(path.read_text(), str(path), "exec"), names)
    path.write_text("def twice(x):\n    return 3.0 * x\n")
    with pytest.raises(TypeError, match=r"changing.py:1: kernel twice: the source has changed"):
        kernel(names["twice"])(1.0)


def test_every_kernel_is_known_again_by_another_process():
    """What a digest is made of must not be an address, an order of sets or anything else of one process."""
    code = """
import importlib, pkgutil, routh.kernels
from routh.compiling.cache import digest_of
for found in pkgutil.walk_packages(routh.kernels.__path__, "routh.kernels."):
    for name, value in sorted(vars(importlib.import_module(found.name)).items()):
        if hasattr(value, "py_func"):
            print(found.name, name, digest_of(value))
"""
    environments = ({**os.environ, "PYTHONHASHSEED": seed} for seed in "12")
    first, second = (
        subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
        ).stdout.splitlines()
        for env in environments
    )
    assert len(first) > 300
    assert [one for one in first if one not in second] == []
