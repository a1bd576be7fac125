"""The examples of docs/guide/models.md run as written, and print what their comments say."""

import re
from pathlib import Path

DOCUMENT = Path(__file__).parents[2] / "docs" / "guide" / "models.md"


def test_examples_run(capsys):
    blocks = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), flags=re.DOTALL)
    assert len(blocks) == 3
    for block in blocks:
        exec(compile(block, str(DOCUMENT), "exec"), {})
        printed = capsys.readouterr().out
        for promised in re.findall(r"^print\(.*?\)  # (.*)$", block, flags=re.MULTILINE):
            assert promised in printed
