"""The gallery: every system by name, drawn as `routh run` draws it, and the exhibits of `routh reproduce`.

python docs/site_gallery.py FOLDER      # the systems' pictures, NAME.png
"""

import contextlib
import io
import json
import shutil
import sys
from pathlib import Path

SAMPLES = 4000


def draw_systems(folder: Path) -> None:
    """Draw every system into a folder, as the command line does; raises where one has no picture."""
    from routh import systems
    from routh.cli.app import app

    for name in systems.names():
        system, target = systems.get(name), folder / f"{name}.png"
        samples = [] if _has_one_outcome(system) else ["--samples", str(SAMPLES)]
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
            app(["run", name, *samples, "--out", str(target), "--quiet"], standalone_mode=False)
        if not target.is_file():
            raise RuntimeError(f"routh run {name} drew no picture")


def _has_one_outcome(system) -> bool:
    problem = system.problem
    return system.kind == "motion" or problem is None or problem.nc == 1


def write(page: Path, pictures: Path | None, exhibits: Path | None) -> None:
    """Write the page; pictures are copied to a folder beside it."""
    from routh import systems
    from routh.reproduce.runner import load

    beside = page.parent / "gallery"
    beside.mkdir()
    parts = [page.read_text(), "\n## Systems\n"]
    for name in systems.names():
        system = systems.get(name)
        parts.append(f"### {name}\n\n{system.summary} ({system.paper.source})\n")
        parts.append(f"```sh\nrouth run {name}\n```\n")
        parts += _shown(pictures and pictures / f"{name}.png", beside, system.summary)
    parts.append(
        "\n## Exhibits\n\nFigures and tables of the papers, drawn again by `routh reproduce --only NAME`.\n"
    )
    for entry in load():
        parts.append(f"### {entry.name}\n\n{entry.title} ({entry.source})\n")
        figures = _figures(exhibits, entry.name)
        for figure in figures or []:
            parts += _shown(figure, beside, entry.title)
        if figures == []:
            parts.append("A table of numbers, without a picture.\n")
    page.write_text("\n".join(parts))


def _figures(exhibits: Path | None, name: str) -> list[Path] | None:
    """Pictures of an exhibit in what `routh reproduce --out` wrote; None where it is not there."""
    made = None if exhibits is None else exhibits / "data" / f"{name}.json"
    if exhibits is None or made is None or not made.is_file():
        return None
    return [exhibits / "figures" / f"{stem}.png" for stem in json.loads(made.read_text())["figures"]]


def _shown(picture: Path | None, beside: Path, text: str) -> list[str]:
    if picture is None or not picture.is_file():
        return []
    shutil.copy(picture, beside / picture.name)
    words = text.replace("[", "(").replace("]", ")")
    return [f"![{words}](gallery/{picture.name}){{ loading=lazy }}\n"]


if __name__ == "__main__":
    draw_systems(Path(sys.argv[1]))
