"""Compiled kernels on disk: files that are whole or count as missing, named after what they are made from.

A file has a mark, the SHA-256 of the rest, a line of JSON that says what the code returns, and LLVM's object.
It is written beside its place and renamed, so that several processes can share a folder, and no reader ever
sees half of one. Where nothing can be read or written, kernels are compiled, and one line of the log says so.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np

from routh.compiling.clock import LOG
from routh.compiling.foreign import Foreign
from routh.compiling.rows import named_parts

MARK = b"routh kernel 1\n"
SUFFIX = ".kernel"
DAY = 86400.0  # s
FORGOTTEN = 60 * DAY  # without use, after which a file goes when another one is written


def folder() -> Path:
    """Folder of compiled kernels: ``ROUTH_CACHE_DIR``, or ``routh`` in the user's folder for caches."""
    given = os.environ.get("ROUTH_CACHE_DIR")
    if given:
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "routh"


def path_of(name: str, key: str) -> Path:
    """The file of a kernel whose digest is ``key``."""
    return folder() / f"{name}-{key[:40]}{SUFFIX}"


def load(name: str, key: str) -> tuple[Foreign, bytes] | None:
    """The description and the code that were kept, or None."""
    try:
        path = path_of(name, key)
        stored = path.read_bytes()
    except FileNotFoundError:
        return None
    except (OSError, RuntimeError) as error:  # RuntimeError: there is no home
        say_once(f"compiled kernels cannot be read from disk ({error}): compiling {name}")
        return None
    digest, body = stored[len(MARK) : len(MARK) + 32], stored[len(MARK) + 32 :]
    if stored[: len(MARK)] != MARK or hashlib.sha256(body).digest() != digest:
        say_once(f"the compiled kernel in {path} is damaged: compiling it again")
        return None
    line, _, code = body.partition(b"\n")
    head = json.loads(line)
    if head["key"] != key:
        return None
    with suppress(OSError):
        if time.time() - path.stat().st_mtime > DAY:
            os.utime(path)  # in use
    return head["about"], code


def keeps() -> bool:
    """Whether there is a folder for compiled kernels in which files can be made."""
    try:
        folder().mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return False
    return os.access(folder(), os.W_OK)


def save(name: str, key: str, about: Foreign, code: bytes) -> None:
    """Keep code with a description (plain lists, words and numbers) where there is a place for it."""
    body = json.dumps({"key": key, "about": about}).encode() + b"\n" + code
    temporary = ""
    try:
        path = path_of(name, key)
        path.parent.mkdir(parents=True, exist_ok=True)
        _forget_old(path.parent)
        temporary = f"{path.parent}/.{os.getpid()}.{secrets.token_hex(8)}{SUFFIX}"
        with open(temporary, "xb") as file:
            file.write(MARK + hashlib.sha256(body).digest() + body)
        os.replace(temporary, path)
    except (OSError, RuntimeError) as error:
        say_once(
            f"compiled kernels cannot be kept ({error}): every process compiles them anew. "
            "ROUTH_CACHE_DIR names a folder for them"
        )
        with suppress(OSError):
            os.unlink(temporary)


def _forget_old(place: Path) -> None:
    """Remove what nobody has used for long: kernels of older versions, and what was never finished."""
    oldest = time.time() - FORGOTTEN
    for path in place.glob(f"*{SUFFIX}"):
        with suppress(OSError):
            if path.stat().st_mtime < oldest:
                path.unlink()


@cache
def say_once(text: str) -> None:
    """A warning, the first time."""
    LOG.warning("%s", text)


# what code is made from


@cache
def digest_of_translator() -> str:
    """Digest of the sources that make code from kernels."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def digest_of(kernel: Foreign, known: dict[Foreign, str] | None = None) -> str:
    """Digest of all that the code of a kernel depends on, whatever its arguments are.

    Its own code with all constants that it names, and the same of every kernel that it calls.
    """
    known = {} if known is None else known
    plain, code = kernel.py_func, kernel.py_func.__code__
    if plain in known:
        return known[plain]
    known[plain] = plain.__qualname__  # where it calls itself, which the translator refuses
    own = code.co_code, code.co_consts, code.co_varnames, code.co_argcount
    marks = sorted(item for item in plain.__dict__.items() if item[0] != "__wrapped__")
    parts = [repr((name_of(plain), own)), _described((marks, plain.__defaults__), (), known)]
    cells = dict(zip(code.co_freevars, plain.__closure__ or (), strict=True))
    for name in (*code.co_freevars, *code.co_names):
        value = cells[name].cell_contents if name in cells else plain.__globals__.get(name, name)
        parts.append(f"{name}={_described(value, code.co_names, known)}")
    known[plain] = hashlib.sha256(";".join(parts).encode()).hexdigest()
    return known[plain]


def _described(value: Foreign, names: tuple[str, ...], known: dict[Foreign, str]) -> str:
    """What a name stands for; of modules and classes the attributes with one of these ``names``."""
    if hasattr(value, "py_func"):
        return digest_of(value, known)
    if isinstance(value, tuple | list | frozenset | set):
        parts = [_described(one, names, known) for one in value]
        ordered = parts if isinstance(value, tuple | list) else sorted(parts)
        return f"{name_of(type(value))}({','.join(ordered)})"
    if isinstance(value, np.ndarray):
        return f"{value.dtype.str}{value.shape}{hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, ModuleType | type):
        fields = named_parts(value) if hasattr(value, "_fields") else ()
        used = [(name, vars(value)[name]) for name in names if name in vars(value)]
        return f"{name_of(value)}{fields}{_described(used, (), known)}"
    if callable(value):
        return name_of(value)
    if hasattr(type(value), "__get__"):  # a property, whose repr is its address: kernels cannot use it
        return name_of(type(value))
    return f"{name_of(type(value))}:{value!r}"


def name_of(value: Foreign) -> str:
    """Module and name of a class or a function."""
    name = getattr(value, "__qualname__", getattr(value, "__name__", value))
    return f"{getattr(value, '__module__', '')}:{name}"
