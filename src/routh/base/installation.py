"""How this routh was installed, so that what a message tells to type works in it."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from pathlib import Path


def install_line(extra: str) -> str:
    """The command that brings an extra into this installation."""
    whole = " ".join(shlex.quote(part) for part in _sources(extra))
    return f"{_pip()} install {whole}"


def _sources(extra: str) -> list[str]:
    """What pip is told: where this routh came from, or the extra's packages where that is gone."""
    clone = Path(__file__).resolve().parents[3]
    if (clone / "pyproject.toml").is_file() and (clone / "src" / "routh").is_dir():
        return ["-e", f"{clone}[{extra}]"]
    from importlib import metadata  # these load a hundred modules, which only a missing extra needs
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        told = json.loads(metadata.distribution("routh").read_text("direct_url.json") or "null")
    except (metadata.PackageNotFoundError, OSError, ValueError):
        told = None
    if told is None:  # from an index
        return [f"routh[{extra}]"]
    if "vcs_info" in told:
        return [f"routh[{extra}] @ {told['vcs_info']['vcs']}+{told['url']}"]
    place = urlsplit(told["url"])
    file = Path(url2pathname(place.path))
    if place.scheme == "file" and not file.exists():
        return _requirements(extra)
    return [f"{file}[{extra}]" if place.scheme == "file" else f"routh[{extra}] @ {told['url']}"]


def _requirements(extra: str) -> list[str]:
    """The packages of an extra."""
    from importlib import metadata

    wanted: list[str] = []
    for line in metadata.requires("routh") or ():
        package, _, marker = line.partition(";")
        other, found = re.subn(rf"""(?:\s*and\s*)?extra == ['"]{re.escape(extra)}['"]""", "", marker)
        if not found:
            continue
        inner = re.fullmatch(r"routh\[(.+)\]", package.strip())
        if inner:
            wanted += [one for name in inner[1].split(",") for one in _requirements(name.strip())]
        else:
            wanted.append("; ".join(filter(None, (package.strip(), other.strip(" ()")))))
    return list(dict.fromkeys(wanted))


def _pip() -> str:
    """The word for this environment's pip, where typing it means that one; else the interpreter's own."""
    found = shutil.which("pip")
    if found is not None and Path(found).parent == Path(sys.executable).parent:
        return "pip"
    return f"{shlex.quote(sys.executable)} -m pip"
