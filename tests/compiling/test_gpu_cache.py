"""Compiled GPU kernels on disk: what they are found by, and what harm does; on a GPU that they are found."""

import logging
import os
import subprocess
import sys
import types
from importlib.util import find_spec
from pathlib import Path

import numba
import pytest

import routh
from routh.compiling import announced_to, cache, compile_seconds, gpu_cache
from routh.compiling.clock import ANNOUNCEMENT

on_gpu = pytest.mark.skipif(
    not (os.path.exists("/dev/nvidia0") and find_spec("numba_cuda")), reason="no GPU, or no numba-cuda"
)
TYPES = (numba.types.int64,)
CODE = """
import routh
from routh.kernels.plane_cuda import _full_kernel
from routh.systems import get
routh.sample(get("rocking-block").problem, 64, device="cuda").v
stats = _full_kernel(2)._made.stats
print("found", sum(stats.cache_hits.values()), "compiled", sum(stats.cache_misses.values()))
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(gpu_cache, "version", lambda name: "1.0")
    cache.say_once.cache_clear()
    return tmp_path


def made(size, *settings):
    """A kernel as `cuda_kernel` gets it, with its cache; what numba-cuda would compile is a word."""
    called = types.SimpleNamespace(py_func=made)

    def entry(out):
        out[0] = size + called

    kernel = types.SimpleNamespace()
    gpu_cache.keep_on_disk(kernel, entry, settings)
    kernel._cache._impl.rebuild = lambda context, payload: payload
    kernel._cache._impl.reduce = lambda compiled: compiled.word
    return kernel._cache


CODEGEN = types.SimpleNamespace(magic_tuple=lambda: ((12, 8), (9, 0)))
CONTEXT = types.SimpleNamespace(refresh=lambda: None, codegen=lambda: CODEGEN)


def keep(cache, word):
    cache.save_overload(TYPES, types.SimpleNamespace(codegen=CODEGEN, word=word))


def test_a_kernel_is_found_by_what_its_code_depends_on(folder):
    keep(made(3, "registers=80"), "three")
    assert made(3, "registers=80").load_overload(TYPES, CONTEXT) == "three"
    assert made(4, "registers=80").load_overload(TYPES, CONTEXT) is None
    assert made(3, "registers=96").load_overload(TYPES, CONTEXT) is None
    assert made(3, "registers=80").load_overload((numba.types.float64,), CONTEXT) is None
    keep(made(4, "registers=80"), "four")
    assert made(3, "registers=80").load_overload(TYPES, CONTEXT) == "three"
    assert made(4, "registers=80").load_overload(TYPES, CONTEXT) == "four"


@pytest.mark.parametrize("kept", [True, False])
def test_it_is_said_while_a_kernel_is_compiled_and_not_while_it_is_read(folder, kept, monkeypatch):
    def refused(*given):
        raise OSError

    def announced(cache):
        def compile_or_load(sig):
            word = cache.load_overload(sig, CONTEXT)
            if word is None:
                told.append("compiled")
                keep(cache, "word")
            return word or "word"

        kernel = types.SimpleNamespace(_cache=cache, compile=compile_or_load)
        gpu_cache.announce(kernel, "a_kernel")
        told, before = [], compile_seconds()
        with announced_to(told.append):
            assert kernel.compile(TYPES) == "word"
        return told, compile_seconds() - before

    compiled = [ANNOUNCEMENT, "compiled", None]
    if not kept:  # no folder can be written to
        monkeypatch.setattr(gpu_cache, "GpuKernelCache", refused)
        nowhere = types.SimpleNamespace()
        gpu_cache.keep_on_disk(nowhere, announced, ())
        assert announced(nowhere._cache)[0] == compiled
        return
    told, seconds = announced(made(3))
    assert told == compiled
    assert seconds > 0.0
    assert announced(made(3)) == ([], 0.0)


def test_a_change_of_any_source_makes_it_old(folder, monkeypatch):
    keep(made(3), "three")
    monkeypatch.setattr(gpu_cache, "digest_of_sources", lambda: "other")
    assert made(3).load_overload(TYPES, CONTEXT) is None


@pytest.mark.parametrize("suffix", [".nbc", ".nbi"])
@pytest.mark.parametrize("harm", ["truncated", "empty", "changed"])
def test_a_damaged_file_counts_as_missing(folder, caplog, suffix, harm):
    keep(made(3), "three" * 100)
    (file,) = folder.rglob(f"*{suffix}")
    whole = file.read_bytes()
    broken = {"truncated": whole[: len(whole) // 2], "empty": b"", "changed": whole[:-9] + b"\0" * 9}
    file.write_bytes(broken[harm])
    with caplog.at_level(logging.WARNING, "routh.compiling"):
        assert made(3).load_overload(TYPES, CONTEXT) is None
    assert "compiling it again" in caplog.text


def test_without_a_folder_or_room_kernels_are_compiled(folder, caplog, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    cache = made(3)
    monkeypatch.setattr(gpu_cache._GpuFile, "_save_data", full)
    with caplog.at_level(logging.WARNING, "routh.compiling"):
        keep(cache, "three")
        assert "No space left" in caplog.text
        monkeypatch.setattr(type(cache._impl), "_locator_classes", [])
        kernel = types.SimpleNamespace()
        gpu_cache.keep_on_disk(kernel, made, ())
    assert kernel._cache.load_overload(TYPES, CONTEXT) is None
    assert "every process compiles them anew" in caplog.text


def test_after_an_interrupt_nothing_older_is_taken_for_new(folder, monkeypatch):
    keep(made(3), "old")
    monkeypatch.setattr(gpu_cache, "digest_of_sources", lambda: "other")
    with monkeypatch.context() as interrupted:
        interrupted.setattr(gpu_cache._GpuFile, "_save_data", lambda *arguments: None)
        keep(made(4), "new")  # the index names the file of the old one
    assert made(4).load_overload(TYPES, CONTEXT) is None
    keep(made(4), "new")
    assert made(4).load_overload(TYPES, CONTEXT) == "new"


def test_two_processes_that_keep_at_once_do_not_get_each_others(folder, monkeypatch):
    one, other = made(3), made(4)
    save = gpu_cache._GpuFile._save_data

    def save_late(self, name, data):
        monkeypatch.setattr(gpu_cache._GpuFile, "_save_data", save)
        monkeypatch.setattr(other._cache_file, "_load_index", dict)  # read before the first has written
        keep(other, "four")
        save(self, name, data)

    monkeypatch.setattr(gpu_cache._GpuFile, "_save_data", save_late)
    keep(one, "three")
    assert made(3).load_overload(TYPES, CONTEXT) in ("three", None)
    assert made(4).load_overload(TYPES, CONTEXT) in ("four", None)


@on_gpu
def test_a_second_process_finds_the_kernels(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    for expected in ("found 0 compiled 1", "found 1 compiled 0"):
        command = [sys.executable, "-c", CODE]
        result = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
        assert expected in result.stdout


def test_compiled_code_is_tied_to_every_kernel_source():
    """A folder that is left out would run old code after a change."""
    root = Path(routh.__file__).parent
    tied = {path for pattern in gpu_cache._SOURCES for path in root.glob(pattern)}
    for folder in ("compiling", "kernels", "lcp"):
        assert set((root / folder).rglob("*.py")) <= tied
