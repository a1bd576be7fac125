"""The gallery: every system by name, drawn as `routh run` draws it, and the exhibits of `routh reproduce`.

python docs/site_gallery.py FOLDER                # the systems' pictures, NAME.png
python docs/site_gallery.py --exhibits FOLDER     # what `routh reproduce --quick --out FOLDER` makes
"""

import contextlib
import io
import json
import shutil
import sys
from html import escape
from pathlib import Path

SAMPLES = 2000
THUMBNAIL = 480  # pixels, the longer side


def names(*, exhibits: bool) -> list[str]:
    """All that is drawn, in order."""
    from routh import systems
    from routh.reproduce.runner import load

    return [*systems.names(), *(entry.name for entry in load() if exhibits)]


def draw_systems(folder: Path) -> None:
    """Draw every system into a folder, as the command line does; raises where one has no picture."""
    from routh import systems
    from routh.cli.app import app

    for name in systems.names():
        print(name, flush=True)
        system, target = systems.get(name), folder / f"{name}.png"
        samples = [] if _has_one_outcome(system) else ["--samples", str(SAMPLES)]
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
            app(["run", name, *samples, "--out", str(target), "--quiet"], standalone_mode=False)
        if not target.is_file():
            raise RuntimeError(f"routh run {name} drew no picture")


def draw_exhibits(folder: Path) -> None:
    """Draw the papers' figures, fewer samples than theirs; what the same code drew before is kept."""
    from routh.reproduce.base import Settings
    from routh.reproduce.runner import load, run

    folder.mkdir(parents=True, exist_ok=True)
    for made in run(load(), folder, Settings(quick=True), announce=lambda name: print(name, flush=True)):
        if made.status == "failed":
            raise RuntimeError(f"{made.name}: {made.error}")


def _has_one_outcome(system) -> bool:
    problem = system.problem
    return system.kind == "motion" or problem is None or problem.nc == 1


def write(page: Path, pictures: Path | None, exhibits: Path | None) -> None:
    """Write the page, thumbnails in a grid; pictures are copied to a folder beside it."""
    from routh import systems
    from routh.reproduce.runner import load

    beside = page.parent / "gallery"
    beside.mkdir()
    cards, drawn, tables = [], [], []
    for name in systems.names():
        system = systems.get(name)
        told = f"{system.summary} ({system.paper.source})"
        shown = [pictures / f"{name}.png"] if pictures else []
        cards.append(_card(name, told, f"routh run {name}", shown, beside))
    for entry in load():
        told, figures = f"{entry.title} ({entry.source})", _figures(exhibits, entry.name)
        if figures or figures is None:
            command = f"routh reproduce --only {entry.name}"
            drawn.append(_card(entry.name, told, command, figures or [], beside))
        else:
            tables.append(f"- `{entry.name}`: {told}")
    parts = [page.read_text(), "## Systems\n", *_grid(cards)]
    parts += ["## Figures of the papers\n", "Drawn again by `routh reproduce`.\n", *_grid(drawn)]
    parts += ["## Tables of the papers\n", "`routh reproduce --only NAME` prints one.\n", *tables, ""]
    page.write_text("\n".join(parts))


def _grid(cards: list[str]) -> list[str]:
    return ['<div class="gallery">', *cards, "</div>\n"]


def _card(name: str, told: str, command: str, pictures: list[Path], beside: Path) -> str:
    """One entry of the grid: thumbnails that lead to the whole pictures, what it is, and its command."""
    links = []
    for picture in filter(Path.is_file, pictures):
        shutil.copy(picture, beside / picture.name)
        small = _thumbnail(picture, beside)
        image = f'<img src="gallery/{small}" alt="{escape(told)}" loading="lazy">'
        links.append(f'<a href="gallery/{picture.name}">{image}</a>')
    words = f"<b>{escape(name)}</b> {escape(told)} <code>{escape(command)}</code>"
    return f'<figure id="{escape(name)}">{"".join(links)}<figcaption>{words}</figcaption></figure>'


def _thumbnail(picture: Path, beside: Path) -> str:
    """Make a small copy of a picture; its name."""
    from PIL import Image

    with Image.open(picture) as whole:
        small = whole.convert("RGB")
    small.thumbnail((THUMBNAIL, THUMBNAIL))
    name = f"{picture.stem}.small.png"
    small.save(beside / name, optimize=True)
    return name


def _figures(exhibits: Path | None, name: str) -> list[Path] | None:
    """Pictures of an exhibit in what `routh reproduce --out` wrote; None where it is not there."""
    made = None if exhibits is None else exhibits / "data" / f"{name}.json"
    if exhibits is None or made is None or not made.is_file():
        return None
    return [exhibits / "figures" / f"{stem}.png" for stem in json.loads(made.read_text())["figures"]]


if __name__ == "__main__":
    draw = draw_exhibits if sys.argv[1] == "--exhibits" else draw_systems
    draw(Path(sys.argv[-1]))
