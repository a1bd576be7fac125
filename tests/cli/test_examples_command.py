"""``routh example``: the examples, from a clone and from a wheel alike."""

import json
from pathlib import Path

from routh.cli.examples import examples

ROOT = Path(__file__).parents[2]


def test_all_files_of_the_folder_are_listed_and_say_what_they_are(routh_command):
    code, out, _ = routh_command("example", "--json")
    rows = json.loads(out)
    assert code == 0
    assert {Path(row["file"]).name for row in rows} == {
        file.name for file in (ROOT / "examples").iterdir() if file.suffix
    }
    assert all(row["about"] for row in rows)


def test_the_path_is_all_that_is_printed(routh_command):
    code, out, _ = routh_command("example", "lander")
    assert (code, Path(out.removesuffix("\n"))) == (0, examples()["lander"])


def test_a_copy_never_replaces_a_file(routh_command, tmp_path):
    code, out, _ = routh_command("example", "rocking_block.py", "--copy")
    assert (code, out) == (0, "rocking_block.py\n")
    assert (tmp_path / "rocking_block.py").read_text() == examples()["rocking_block"].read_text()
    code, _, err = routh_command("example", "rocking_block", "--copy")
    assert code == 2
    assert "already" in err
    assert routh_command("example", "--copy")[0] == 2
    assert "wanted one of" in routh_command("example", "landr")[2]
