"""Reports as single HTML pages: they load nothing from elsewhere and run no scripts."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path

from routh.text import for_html


def page(title: str, body: Sequence[str]) -> str:
    """A whole page; the title is cleaned, the parts of the body are HTML."""
    name, look = for_html(title), Path(__file__).with_name("pages.css").read_text(encoding="utf-8")
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{name}</title><style>
{look}</style></head><body>
<h1>{name}</h1>
{chr(10).join(body)}
</body></html>
"""


def picture(png: bytes, words: str) -> str:
    """A PNG file inside the page; ``words``, which are cleaned, stand for it where it cannot be seen."""
    data = base64.b64encode(png).decode("ascii")
    return f'<img alt="{for_html(words)}" src="data:image/png;base64,{data}">'


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    numbers: Sequence[int] = (),
    marked: Sequence[int] = (),
) -> str:
    """A table whose cells are cleaned; columns of ``numbers`` stand right, ``marked`` rows stand out."""

    def line(cells: Sequence[object], kind: str) -> str:
        looks = [" class=n" if k in numbers else "" for k in range(len(cells))]
        return "".join(
            f"<{kind}{look}>{for_html(cell)}</{kind}>" for cell, look in zip(cells, looks, strict=True)
        )

    looks = [" class=broken" if k in marked else "" for k in range(len(rows))]
    body = "".join(f"<tr{look}>{line(row, 'td')}</tr>" for row, look in zip(rows, looks, strict=True))
    return f'<div class="scroll"><table><tr>{line(head, "th")}</tr>{body}</table></div>'
