"""Run the notebooks of examples/ and store them with what they show: ``python docs/site_notebooks.py``.

Pictures are kept in 64 colours, so that a notebook stays small; times, paths and progress bars are left out.
"""

import base64
import io
import os
import sys
import tempfile
from pathlib import Path

import nbclient
import nbformat

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"


def executed(path: Path, folder: Path) -> nbformat.NotebookNode:
    """A notebook as it is after it ran from top to bottom in a folder."""
    os.environ["PYTHONPATH"] = str(ROOT / "src")
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = os.environ["JUPYTER_PLATFORM_DIRS"] = "1"
    book = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": folder}}
    nbclient.NotebookClient(book, timeout=None, resources=resources, record_timing=False).execute()
    return book


def _smaller(encoded: str) -> str:
    from PIL import Image

    with Image.open(io.BytesIO(base64.b64decode(encoded))) as picture:
        stream = io.BytesIO()
        picture.convert("RGB").quantize(64).save(stream, format="PNG", optimize=True)
    return base64.b64encode(stream.getvalue()).decode()


def lasting(outputs: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """Without progress bars, which show on slow machines only, and with what was printed in one piece."""
    kept: list[nbformat.NotebookNode] = []
    for output in outputs:
        if "<progress" in output.get("data", {}).get("text/html", ""):
            continue
        last = kept[-1] if kept else {}
        if output.get("name") and output.get("name") == last.get("name"):
            last["text"] += output["text"]
        else:
            kept.append(output)
    return kept


def _stored(output: nbformat.NotebookNode) -> nbformat.NotebookNode:
    data = output.get("data", {})
    if "image/png" in data:
        data["image/png"] = _smaller(data["image/png"])
    return output


def store(path: Path) -> None:
    """Write a notebook back with what its cells show."""
    with tempfile.TemporaryDirectory() as folder:
        book = executed(path, Path(folder))
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.outputs = [_stored(output) for output in lasting(cell.outputs)]
    book.metadata.get("language_info", {}).pop("version", None)  # of this machine's Python
    nbformat.write(book, path)


if __name__ == "__main__":
    for found in map(Path, sys.argv[1:] or sorted(EXAMPLES.glob("*.ipynb"))):
        store(found)
        print(found.name, f"{found.stat().st_size / 1e3:.0f} kB", flush=True)
