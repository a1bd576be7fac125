"""Files written whole or not at all, and arrays read only where their sizes are sane.

Every writer of the package goes through `replacing`: the new content goes to a file without a name in the
same folder, which takes its place once it is complete and on the disk. A crash, a kill or a full disk leaves
the old file as it was, and nothing beside it.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import struct
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, BinaryIO, ClassVar, Self, cast
from uuid import uuid4

import numpy as np
from numpy.typing import ArrayLike

from routh.base.status import InputError
from routh.base.text import for_terminal
from routh.base.validation import Options

REMEMBERED = 1000  # files that `written_files` knows, at most
MAX_BYTES = 2**30  # of all arrays of a file together, unpacked
_MAX_MEMBERS = 1000
_FORMAT = 1  # of `Stored`
_HEADERS: dict[tuple[int, int], Callable[[IO[bytes]], tuple[tuple[int, ...], bool, np.dtype]]] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
_written: deque[tuple[Path, int]] = deque(maxlen=REMEMBERED)  # put in place, or nearly, with inodes
_NO_ANONYMOUS_FILES = (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL)


@contextmanager
def replacing(path: str | Path) -> Iterator[BinaryIO]:
    """A binary file whose content takes the place of ``path`` when the block ends without an error.

    Links are followed, permissions of the old file are kept. What is no regular file (``/dev/stdout``, a
    pipe) is written to directly.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "is a folder; wanted a file", str(path))
        with target.open("wb") as direct:
            yield direct
        return
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "its folder does not exist", str(path))
    if not hasattr(os, "O_DIRECTORY"):  # Windows, where folders cannot be opened
        with _beside(target) as file:
            yield file
            _written.append((Path(path), os.fstat(file.fileno()).st_ino))
        return
    folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        descriptor, name = _nameless(folder, target)
        try:
            with os.fdopen(descriptor, "w+b") as file:
                yield file
                file.flush()
                if target.exists():
                    os.fchmod(descriptor, stat.S_IMODE(target.stat().st_mode))
                os.fsync(descriptor)
                _written.append((Path(path), os.fstat(descriptor).st_ino))
                _take_place(descriptor, name, folder, target.name)
        except BaseException as error:
            if name is not None:
                with suppress(OSError):
                    os.unlink(name, dir_fd=folder)
            if isinstance(error, OSError) and error.filename is None:  # a full disk does not say which file
                raise OSError(error.errno, error.strerror, str(path)) from None
            raise
    finally:
        os.close(folder)


def written_files() -> list[Path]:
    """The last `REMEMBERED` files that this process wrote, where they are still there; the oldest first."""
    return list(dict.fromkeys(path for path, inode in tuple(_written) if _inode(path) == inode))


def _inode(path: Path) -> int | None:
    with suppress(OSError):
        return path.stat().st_ino
    return None


def write_bytes(path: str | Path, content: bytes) -> Path:
    """Write a file whole; returns its path."""
    with replacing(path) as file:
        file.write(content)
    return Path(path)


def write_text(path: str | Path, content: str) -> Path:
    """Write a file of UTF-8 text whole; returns its path."""
    return write_bytes(path, content.encode("utf-8"))


def write_arrays(path: str | Path, arrays: Mapping[str, ArrayLike], *, compressed: bool = False) -> Path:
    """Write arrays to an ``.npz`` file, without pickle; the suffix is added where it is missing."""
    target = Path(path)
    if target.suffix != ".npz":
        target = target.with_name(f"{target.name}.npz")
    whole = {name: np.asarray(array) for name, array in arrays.items()}
    objects = [name for name, array in whole.items() if array.dtype.hasobject]
    if objects:
        raise InputError(objects[0], wrong="holds Python objects", wanted="numbers or text")
    save: Callable[..., None] = np.savez_compressed if compressed else np.savez
    with replacing(target) as file:
        save(cast("IO[bytes]", file), **whole)
    return target


def read_arrays(
    path: str | Path, wanted: Sequence[str], *, optional: Sequence[str] = (), max_bytes: int = MAX_BYTES
) -> dict[str, np.ndarray]:
    """Arrays of an ``.npz`` file by name; those of ``optional`` may be missing, others are left alone.

    Nothing is unpacked before its size is known: the header of each array must agree with the size that the
    archive states, and all of them together must stay within ``max_bytes``. No pickle is ever read.

    Raises
    ------
    ValueError that names the file and what is wrong with it; FileNotFoundError where there is none.
    """
    shown = for_terminal(path)
    if os.path.exists(path) and not os.path.isfile(path):  # a device or a pipe may never end
        raise InputError(shown, wrong="is no regular file", wanted="an .npz file")
    try:
        with open(path, "rb") as file, zipfile.ZipFile(file) as archive:
            members = {info.filename: info for info in archive.infolist()[: _MAX_MEMBERS + 1]}
            if len(members) > _MAX_MEMBERS:
                raise InputError(wrong=f"holds more than {_MAX_MEMBERS} arrays")
            missing = [name for name in wanted if f"{name}.npy" not in members]
            if missing:
                raise InputError(wrong=f"has no array {missing[0]!r}", wanted=_listed(wanted))
            names = [*wanted, *(name for name in optional if f"{name}.npy" in members)]
            total = sum(members[f"{name}.npy"].file_size for name in names)
            if total > max_bytes:
                raise InputError(
                    wrong=f"its arrays need {total} bytes",
                    wanted=f"at most {max_bytes}",
                    by="max_bytes",
                )
            return {name: _read_array(archive, members[f"{name}.npy"], name) for name in names}
    except FileNotFoundError:
        raise
    except OSError as error:
        raise InputError(shown, wrong=f"cannot be read ({error.strerror or error})") from None
    except ValueError as error:
        raise InputError(shown, wrong=error) from None
    # the last is what zipfile raises for a compression that it does not know
    except (zipfile.BadZipFile, zlib.error, EOFError, struct.error, NotImplementedError) as error:
        raise InputError(shown, wrong=f"is not an .npz file ({for_terminal(error)})") from None
    except (RuntimeError, KeyError, IndexError, TypeError, AttributeError, SyntaxError) as error:
        raise InputError(
            shown, wrong=f"is not an .npz file of plain arrays ({for_terminal(error)})"
        ) from None


class Stored(ABC):
    """A result that is kept in one ``.npz`` file: its arrays, and what is no array as JSON."""

    _kind: ClassVar[str]  # what the file says that it holds

    @abstractmethod
    def parts(self) -> tuple[Options, dict[str, np.ndarray]]:
        """What a file keeps of it: words and numbers for JSON, and arrays by name."""

    @classmethod
    @abstractmethod
    def of_parts(cls, told: Options, arrays: dict[str, np.ndarray]) -> Self:
        """The inverse of `parts`; raises what `load` catches where they are not whole."""

    def save(self, path: str | Path) -> None:
        """Write everything to an ``.npz`` file, readable without pickle."""
        told, arrays = self.parts()
        words = json.dumps({"kind": self._kind, "format": _FORMAT, "arrays": list(arrays), "told": told})
        write_arrays(path, {"parts": words, **arrays}, compressed=True)

    @classmethod
    def load(cls, path: str | Path, *, max_bytes: int = MAX_BYTES) -> Self:
        """Read what `save` wrote; a ValueError names the file where it is not whole."""
        shown, wanted = for_terminal(path), cls._kind
        foreign = InputError(shown, wrong=f"is not a file of a {wanted} that this version can read")
        words = str(read_arrays(path, ("parts",), max_bytes=max_bytes)["parts"])
        try:
            found = json.loads(words)
            kind, version, names, told = (found[name] for name in ("kind", "format", "arrays", "told"))
        except (KeyError, TypeError, ValueError, RecursionError):
            raise foreign from None
        if kind != wanted:
            raise InputError(shown, wrong=f"holds a {for_terminal(kind)}", wanted=f"a {wanted}")
        if version != _FORMAT:
            raise InputError(
                shown,
                wrong=f"has format {for_terminal(version)}",
                wanted=f"{_FORMAT}, or a later version of routh",
            )
        named = isinstance(names, list) and all(isinstance(name, str) for name in names)
        if not (named and isinstance(told, dict)):
            raise foreign
        arrays = read_arrays(path, names, max_bytes=max_bytes)
        try:
            return cls.of_parts(told, arrays)
        except (LookupError, TypeError, ValueError, OverflowError, AttributeError) as error:
            raise InputError(shown, wrong=error) from None


def _read_array(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> np.ndarray:
    with archive.open(info) as stream:
        shape, dtype = _header(stream)
        if dtype.hasobject:
            raise InputError(name, wrong="holds Python objects", wanted="numbers or text")
        size = dtype.itemsize
        for length in shape:
            size *= length
        if any(length < 0 for length in shape) or size != info.file_size - stream.tell():
            raise InputError(
                name,
                wrong=(
                    f"its header says shape {shape} of {dtype}, which is not what it holds "
                    f"({info.file_size - stream.tell()} bytes)"
                ),
            )
    with archive.open(info) as stream:
        return np.asarray(np.lib.format.read_array(stream, allow_pickle=False))


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype]:
    version = np.lib.format.read_magic(stream)
    if version not in _HEADERS:
        raise InputError(got=f"an array of format {version}", wanted="(1, 0) or (2, 0)")
    shape, _, dtype = _HEADERS[version](stream)
    return shape, dtype


@contextmanager
def _beside(target: Path) -> Iterator[BinaryIO]:
    """A file with a hidden name that becomes ``target``, by paths alone: where folders cannot be opened."""
    hidden = target.with_name(f".{uuid4().hex}.part")
    try:
        with hidden.open("x+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(hidden, target)
    except BaseException:
        with suppress(OSError):
            hidden.unlink()
        raise


def _nameless(folder: int, target: Path) -> tuple[int, str | None]:
    """A new file without a name in the folder; where the file system has none, with a hidden name."""
    with suppress(AttributeError):  # O_TMPFILE is Linux's own
        try:
            return os.open(".", os.O_RDWR | os.O_TMPFILE, 0o666, dir_fd=folder), None
        except OSError as error:
            if error.errno not in _NO_ANONYMOUS_FILES:
                raise OSError(error.errno, error.strerror, str(target)) from None
    name = f".{uuid4().hex}.part"  # nobody can have put a file or a link there before
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    return os.open(name, flags, 0o666, dir_fd=folder), name


def _take_place(descriptor: int, name: str | None, folder: int, target: str) -> None:
    """Make a complete file the one called ``target``."""
    if name is None:  # a nameless file needs a name before it can take another's place
        import fcntl  # Linux's own, as nameless files are

        with suppress(OSError):  # one writer of a folder at a time; some network file systems have no locks
            fcntl.flock(folder, fcntl.LOCK_EX)
        name = f".{target[:200]}.part"
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)  # left by a kill between the next two calls
        os.link(f"/proc/self/fd/{descriptor}", name, dst_dir_fd=folder, follow_symlinks=True)
    os.rename(name, target, src_dir_fd=folder, dst_dir_fd=folder)


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
