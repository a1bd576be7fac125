"""Reports as single HTML pages: they load nothing from elsewhere and run no scripts."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from routh.text import for_html

_LOOK = """
:root { color-scheme: light; --ink: #1b1f24; --soft: #5d6873; --line: #dfe3e8; --blue: #0072b2; }
body { font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; color: var(--ink);
  max-width: 62rem; margin: 0 auto; padding: 2rem 1.25rem 6rem; background: #fff; }
h1 { font-size: 1.9rem; margin: 0 0 .25rem; } h2 { font-size: 1.25rem; margin: 0; }
.lead, .meta { color: var(--soft); } .meta { font-size: .85rem; }
nav { columns: 2 20rem; font-size: .92rem; border: 1px solid var(--line); border-radius: 8px;
  padding: .8rem 1.2rem; margin: 1.5rem 0; } nav a { display: block; break-inside: avoid; }
a { color: var(--blue); text-decoration: none; } a:hover { text-decoration: underline; }
section { border-top: 1px solid var(--line); padding-top: 1.6rem; margin-top: 2.2rem; }
img { max-width: 100%; height: auto; display: block; margin: 1rem auto; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; margin: 1rem 0; }
th { text-align: left; border-bottom: 2px solid var(--line); font-weight: 600; }
th, td { padding: .35rem .6rem .35rem 0; vertical-align: top; } td { border-bottom: 1px solid var(--line); }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tr.broken td { background: #fbeae5; }
.pairs { display: grid; grid-template-columns: repeat(auto-fit, minmax(24rem, 1fr)); gap: 0 1.5rem; }
figure { margin: 1.5rem 0; } figcaption { color: var(--soft); font-size: .85rem; }
.flag { border-left: 4px solid #d55e00; padding: .4rem .8rem; background: #fdf3ec; }
"""


def page(title: str, body: Sequence[str]) -> str:
    """A whole page; the title is cleaned, the parts of the body are HTML."""
    name = for_html(title)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{name}</title><style>{_LOOK}</style></head><body>
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
