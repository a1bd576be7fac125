"""Build the documentation: pages with the pictures that their blocks draw, the reference, static files."""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import site_blocks
import site_gallery
import site_reference

Tell = Callable[[str], None]  # the name of what is made next, or was made
DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
#: stands for a picture where the blocks are not run: one grey point
PLACEHOLDER = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010800000000"
    "3a7e9b550000000a49444154789c636800000082008177cd72b60000000049454e44ae426082"
)
#: what lets the search work in pages opened as files comes with the site
SHIM = "https://unpkg.com/iframe-worker/shim"
#: the theme can fetch tools that these pages do not use: its scripts forget where from
ELSEWHERE = re.compile(r"https://(?:unpkg\.com|cdn\.jsdelivr\.net)/")


def pages() -> list[Path]:
    """Every page that is written by hand."""
    return sorted(DOCS.rglob("*.md"))


def run_page(page: Path, target: Path) -> None:
    """Run a page's blocks in a folder of their own, and put the pictures that it shows beside its copy."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(DOCS / "site_blocks.py"), str(page)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "MPLBACKEND": "agg"}
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{page.relative_to(ROOT)} does not run:\n{done.stderr}")
        for name in site_blocks.made_by(page):
            shutil.copy(Path(folder) / name, target / name)


def _follow(tell: Tell, *arguments: str | Path) -> None:
    """Run a process that prints the name of each thing before it makes it."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "MPLBACKEND": "agg"}
    command = [sys.executable, *map(str, arguments)]
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True) as run,
    ):
        for line in run.stdout or ():
            tell(line.strip())
        run.wait()
        errors.seek(0)
        said = errors.read()
    if run.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {run.returncode}:\n{said}")


def _run_pages(tell: Tell, source: Path) -> None:
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = [page for page in pages() if site_blocks.made_by(page)]
        runs = {pool.submit(run_page, page, source / page.relative_to(DOCS).parent): page for page in found}
        for run in as_completed(runs):
            run.result()
            tell(str(runs[run].relative_to(DOCS)))


def _grey_pages(source: Path) -> None:
    for page in pages():
        for name in site_blocks.made_by(page):
            (source / page.relative_to(DOCS).parent / name).write_bytes(PLACEHOLDER)


def _stage(stage: Path, *, run: bool, exhibits: Path | None, tell: Tell) -> None:
    source, drawn = stage / "pages", stage / "systems"
    shutil.copytree(DOCS, source, ignore=shutil.ignore_patterns("*.py", "*.toml", "__pycache__"))
    drawn.mkdir()
    if run:
        _run_pages(tell, source)
        _follow(tell, DOCS / "site_gallery.py", drawn)
        if exhibits is None:  # what the same code drew before is kept there
            exhibits = ROOT / "build" / "exhibits"
            _follow(tell, DOCS / "site_gallery.py", "--exhibits", exhibits)
    else:
        _grey_pages(source)
    site_gallery.write(source / "gallery.md", drawn, exhibits)
    reference = site_reference.write(source / "reference")
    entries = ", ".join(f'"reference/{name}"' for name in reference)
    config = (DOCS / "zensical.toml").read_text()
    config = config.replace('"reference/*"', entries).replace("@ROOT@", str(ROOT))
    (stage / "zensical.toml").write_text(config)


def _keep_at_home(site: Path) -> None:
    """Nothing that a page loads comes from elsewhere."""
    for file in (*site.rglob("*.html"), *site.rglob("*.js")):
        text = file.read_text()
        if ELSEWHERE.search(text):
            up = "../" * (len(file.relative_to(site).parts) - 1)
            text = text.replace(SHIM, f"{up}theme/iframe-worker/shim.js")
            file.write_text(ELSEWHERE.sub("nowhere/", text))


def _put_members_last(site: Path) -> None:
    """In the search, members of classes come after pages, functions and classes of the same name.

    What a title begins with comes first there, so another word stands before their names; and before names
    that merely begin as a section of the guide is called (frictionless, Friction).
    """
    index = json.loads((site / "search.json").read_text())
    guide = {item["title"].lower() for item in index["items"] if item["location"].startswith("guide/")}
    for item in index["items"]:
        owner, _, member = item["location"].partition("#")[2].rpartition(".")
        name = item["title"].lower()
        if owner.rpartition(".")[2][:1].isupper() and item["title"] == member:
            item["title"] = f"member: {member}"
        elif item["title"] == member and any(name.startswith(title) and name != title for title in guide):
            item["title"] = f"name: {member}"
    text = json.dumps(index, ensure_ascii=False, separators=(",", ":"))
    (site / "search.json").write_text(text)
    (site / "search.js").write_text(f"var __index = {text};")  # for pages that are opened as files


def render(stage: Path) -> None:
    """Make the site of a folder with pages and settings; a wrong link or docstring is an error."""
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    environment = {**os.environ, "NO_COLOR": "1"}
    done = subprocess.run(command, cwd=stage, env=environment, capture_output=True, text=True)
    if done.returncode or "griffe: " in done.stderr:  # which --strict does not count
        raise RuntimeError(f"the site was not built:\n{done.stdout}\n{done.stderr}")


def build(out: Path, *, run: bool = True, exhibits: Path | None = None) -> None:
    """Make the site in a folder; without `run` grey points stand for the pictures.

    `exhibits` is a folder that ``routh reproduce --out`` wrote: its pictures join the gallery. Without it
    they are drawn quickly, into build/exhibits, which takes minutes the first time.
    """
    from routh.cli.output import Output

    drawn = [page for page in pages() if site_blocks.made_by(page)] if run else []
    names = site_gallery.names(exhibits=exhibits is None) if run else []
    with tempfile.TemporaryDirectory() as folder, Output().counting(len(drawn) + len(names) + 1) as tell:
        stage = Path(folder)
        _stage(stage, run=run, exhibits=exhibits, tell=tell)
        tell("pages and reference")
        render(stage)
        _keep_at_home(stage / "site")
        _put_members_last(stage / "site")
        shutil.rmtree(out, ignore_errors=True)
        out.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(stage / "site", out)


def main() -> None:
    """Command line of `docs/build.py`."""
    parser = argparse.ArgumentParser(description="Build the documentation into static files.")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "site")
    parser.add_argument("--no-run", action="store_true", help="grey points instead of pictures: quick")
    told = "folder that `routh reproduce --out` wrote; without it they are drawn, quickly"
    parser.add_argument("--exhibits", type=Path, help=told)
    told = "build nothing: run every block, notebook and example, follow every link, and say what each takes"
    parser.add_argument("--check", action="store_true", help=told)
    arguments = parser.parse_args()
    if arguments.check:
        import site_check  # needs pytest

        sys.exit(site_check.check([]))
    build(arguments.out, run=not arguments.no_run, exhibits=arguments.exhibits)
    print(f"{sum(os.times()[:4]):.0f} s of processor time; open {arguments.out / 'index.html'}")
