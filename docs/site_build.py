"""Build the documentation: pages with the pictures that their blocks draw, the reference, static files."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import site_blocks
import site_gallery
import site_reference

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


def _in_process(*arguments: str | Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "MPLBACKEND": "agg"}
    command = [sys.executable, *map(str, arguments)]
    subprocess.run(command, env=environment, check=True, capture_output=True)


def _stage(stage: Path, *, run: bool, exhibits: Path | None) -> None:
    source = stage / "pages"
    shutil.copytree(DOCS, source, ignore=shutil.ignore_patterns("*.py", "*.toml", "__pycache__"))
    with_pictures = [page for page in pages() if site_blocks.made_by(page)]
    targets = [source / page.relative_to(DOCS).parent for page in with_pictures]
    if run:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(run_page, with_pictures, targets))
    else:
        for page, target in zip(with_pictures, targets, strict=True):
            for name in site_blocks.made_by(page):
                (target / name).write_bytes(PLACEHOLDER)
    drawn = stage / "systems"
    drawn.mkdir()
    if run:
        _in_process(DOCS / "site_gallery.py", drawn)
        if exhibits is None:  # what the same code drew before is kept there
            exhibits = ROOT / "build" / "exhibits"
            exhibits.parent.mkdir(exist_ok=True)  # the command makes no folder above its own
            _in_process("-m", "routh", "reproduce", "--quick", "--quiet", "--out", exhibits)
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


def build(out: Path, *, run: bool = True, exhibits: Path | None = None) -> None:
    """Make the site in a folder; without `run` grey points stand for the pictures.

    `exhibits` is a folder that ``routh reproduce --out`` wrote: its pictures join the gallery. Without it
    they are drawn quickly, into build/exhibits, which takes minutes the first time.
    """
    with tempfile.TemporaryDirectory() as folder:
        stage = Path(folder)
        _stage(stage, run=run, exhibits=exhibits)
        command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
        environment = {**os.environ, "NO_COLOR": "1"}
        done = subprocess.run(command, cwd=stage, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"the site was not built:\n{done.stdout}\n{done.stderr}")
        _keep_at_home(stage / "site")
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
    print(f"open {arguments.out / 'index.html'}")
