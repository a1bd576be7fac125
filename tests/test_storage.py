"""Files are written whole or not at all, and arrays are not read before their sizes are known."""

import io
import os
import resource
import signal
import subprocess
import sys
import threading
import zipfile

import numpy as np
import pytest

import routh
from routh import systems
from routh.base.storage import read_arrays, replacing, write_arrays, write_text
from routh.viz import style


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_block_that_fails_leaves_the_old_file_and_nothing_else(tmp_path):
    target = write_text(tmp_path / "a.txt", "old")
    with pytest.raises(ZeroDivisionError), replacing(target) as file:
        file.write(b"half of the new" * 10_000 + bytes([1 // 0]))
    assert target.read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("anonymous", [True, False])
def test_links_are_followed_and_permissions_kept(tmp_path, monkeypatch, anonymous):
    if not anonymous:  # as on file systems without nameless files
        monkeypatch.delattr(os, "O_TMPFILE")
    write_text(tmp_path / "real", "old")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / "link").symlink_to("real")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    assert (tmp_path / "real").stat().st_mode & 0o777 == 0o640
    assert names(tmp_path) == ["link", "real"]


def test_what_a_kill_left_is_swept_up_by_the_next_write(tmp_path):
    (tmp_path / ".a.txt.part").write_text("left")
    write_text(tmp_path / "a.txt", "new")
    assert names(tmp_path) == ["a.txt"]


def test_many_writers_of_one_file(tmp_path):
    texts = [f"{k}" * 10_000 for k in range(8)]
    threads = [threading.Thread(target=write_text, args=(tmp_path / "a", text)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (tmp_path / "a").read_text() in texts
    assert names(tmp_path) == ["a"]


def test_special_files_and_missing_folders(tmp_path):
    write_text("/dev/null", "x")
    with pytest.raises(FileNotFoundError, match="folder does not exist"):
        write_text(tmp_path / "no" / "a", "x")
    with pytest.raises(IsADirectoryError):
        write_text(tmp_path, "x")


def outcomes(n):
    """Outcomes of the right shapes; no sampler is compiled for them."""
    problem, zero = systems.get("rocking-block").problem, np.zeros(n, np.int8)
    v, impulse = np.tile(problem.v, (n, 1)), np.zeros((n, 2, 2))
    return routh.Outcomes(problem, v, impulse, zero.astype(np.int32), zero, np.zeros(n))


SAVERS = {
    "problem.npz": lambda path: systems.get("rocking-block").problem.save(path),
    "outcomes.npz": lambda path: outcomes(4).save(path),
    "figure.png": lambda path: style.save(style.figure()[0], path),
    "figure.pdf": lambda path: style.save(style.figure()[0], path),
}


@pytest.mark.parametrize("name", list(SAVERS))
def test_a_full_disk_leaves_the_old_file(tmp_path, name):
    """A limit on the size of files stands for a full disk: writing fails in the middle."""
    target = tmp_path / name
    SAVERS[name](target)
    before = target.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (600, hard))
    try:
        with pytest.raises(OSError, match=name):
            SAVERS[name](target)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert target.read_bytes() == before
    assert names(tmp_path) == [name]


def test_a_kill_leaves_the_old_file(tmp_path):
    target = write_text(tmp_path / "a", "old")
    code = (
        "import sys, os, signal\nfrom routh.base.storage import replacing\n"
        "with replacing(sys.argv[1]) as file:\n"
        "    file.write(b'x' * 100_000); file.flush(); os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(target)]).returncode == -signal.SIGKILL
    assert target.read_text() == "old"
    assert names(tmp_path) == ["a"]


def forged(path, shape, data=b"\0" * 8):
    """An archive with one array M whose header says ``shape``."""
    head = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(head, header)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("M.npy", head.getvalue() + data)
    return path


def test_a_forged_header_is_refused_before_memory_is_asked_for(tmp_path):
    path = forged(tmp_path / "a.npz", (200_000, 200_000))
    with pytest.raises(ValueError, match=r"a\.npz: M: its header says shape \(200000, 200000\)"):
        read_arrays(path, ["M"])
    with pytest.raises(ValueError, match="its header says"):
        read_arrays(forged(tmp_path / "b.npz", (-1, 1)), ["M"])


def test_an_archive_that_unpacks_to_gigabytes_is_refused_unless_allowed(tmp_path):
    path = forged(tmp_path / "a.npz", (2**17,), b"\0" * 2**20)
    assert path.stat().st_size < 2**12
    with pytest.raises(ValueError, match=r"need 1048704 bytes; wanted at most 1000000 \(max_bytes="):
        read_arrays(path, ["M"], max_bytes=10**6)
    assert read_arrays(path, ["M"])["M"].shape == (2**17,)
    with pytest.raises(ValueError, match="max_bytes"):
        routh.ImpactProblem.load(written_problem(tmp_path), max_bytes=100)


def written_problem(folder):
    systems.get("rocking-block").problem.save(folder / "block.npz")
    return folder / "block.npz"


def test_objects_are_neither_written_nor_read(tmp_path):
    with pytest.raises(ValueError, match="holds Python objects"):
        write_arrays(tmp_path / "a", {"x": np.array([{}])})
    np.savez(tmp_path / "b.npz", M=np.array([{}]))
    with pytest.raises(ValueError, match="holds Python objects"):
        read_arrays(tmp_path / "b.npz", ["M"])


def saved_outcomes(folder, **changes):
    outcomes(5).save(folder / "set.npz")
    with np.load(folder / "set.npz") as data:
        arrays = dict(data)
    np.savez(folder / "set.npz", **{**arrays, **{k: f(arrays[k]) for k, f in changes.items()}})
    return folder / "set.npz"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"v": lambda a: a[:3]}, r"v: got shape \(3, 3\)"),
        ({"impulse": lambda a: a[..., :1]}, "impulse: got shape"),
        ({"status": lambda a: a + np.int8(77)}, "status: got 77, which is no status"),
        ({"status": lambda a: a.astype(float)}, "status: got shape"),
        ({"parts": lambda a: np.array(str(a).replace('"settings": {}', '"settings": [1]'))}, "a dictionary"),
        ({"parts": lambda a: np.array("[" * 100_000)}, "set.npz: is not a file of a set of outcomes"),
        (
            {"parts": lambda a: np.array(str(a).replace('"jammed": false', '"jammed": 3'))},
            "wanted a dictionary and a truth",
        ),
        (
            {"parts": lambda a: np.array(str(a).replace('"format": 1', '"format": 2'))},
            "has format 2; wanted 1, or a later version of routh",
        ),
        ({"parts": lambda a: np.array(str(a).replace('"names": [', '"names": [3, '))}, "names: got"),
    ],
)
def test_outcomes_that_do_not_belong_together_are_refused(tmp_path, changes, words):
    assert len(routh.Outcomes.load(saved_outcomes(tmp_path))) == 5
    path = saved_outcomes(tmp_path, **changes)
    with pytest.raises(ValueError, match=words) as caught:
        routh.Outcomes.load(path)
    assert str(path) in str(caught.value)


def test_a_name_for_a_file_in_the_making_is_new_and_nobody_elses(tmp_path, monkeypatch):
    """Where files need a name at once, a link that somebody put there beforehand is not written through."""
    monkeypatch.delattr(os, "O_TMPFILE")
    asked = []
    opened = os.open

    def watched(path, flags, *rest, **options):
        if flags & os.O_CREAT:
            asked.append((str(path), flags))
        return opened(path, flags, *rest, **options)

    monkeypatch.setattr(os, "open", watched)
    for content in ("one", "two"):
        write_text(tmp_path / "data.txt", content)
    assert (tmp_path / "data.txt").read_text() == "two"
    assert len({name for name, _ in asked}) == len(asked) == 2  # nobody can tell the next one
    assert all(flags & os.O_EXCL and flags & os.O_NOFOLLOW for _, flags in asked)
    assert [path.name for path in tmp_path.iterdir()] == ["data.txt"]


def test_a_device_is_no_archive():
    with pytest.raises(ValueError, match="is no regular file"):
        read_arrays("/dev/zero", ("v",))


def test_outcomes_from_a_file_say_how_to_draw_them_again(tmp_path):
    drawn = routh.sample(systems.impact("rocking-block"), 8)
    drawn.save(tmp_path / "o.npz")
    loaded = routh.Outcomes.load(tmp_path / "o.npz")
    with pytest.raises(ValueError, match=r"come from a file.*routh\.sampling\.events\.path_of"):
        loaded.path(3)
    with pytest.raises(ValueError, match=r"come from a file.*routh\.sampling\.derivatives\.pull"):
        loaded.jacobian()
    from routh.sampling.events import path_of

    np.testing.assert_array_equal(path_of(loaded, 3).v, drawn.path(3).v)
