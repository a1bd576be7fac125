"""The gallery shows every system and every exhibit, and is not built without one of their pictures."""

import json

import pytest

from routh import systems
from routh.reproduce.runner import load

site_build = pytest.importorskip("site_build")
site_gallery = pytest.importorskip("site_gallery")


@pytest.fixture
def folders(tmp_path):
    """Pictures of all systems, and exhibits of which the first has two figures and the others none."""
    drawn, exhibits = tmp_path / "systems", tmp_path / "exhibits"
    for folder in (drawn, exhibits / "data", exhibits / "figures"):
        folder.mkdir(parents=True)
    for name in systems.names():
        (drawn / f"{name}.png").write_bytes(site_build.PLACEHOLDER)
    for number, entry in enumerate(load()):
        stems = [f"{entry.name}a", f"{entry.name}b"] if number == 0 else []
        (exhibits / "data" / f"{entry.name}.json").write_text(json.dumps({"figures": stems}))
        for stem in stems:
            (exhibits / "figures" / f"{stem}.png").write_bytes(site_build.PLACEHOLDER)
    return drawn, exhibits


def test_the_page_has_every_system_and_exhibit_with_its_pictures(tmp_path, folders):
    page = tmp_path / "gallery.md"
    page.write_text("# Gallery\n")
    site_gallery.write(page, *folders)
    text = page.read_text()
    entries = load()
    assert len(entries) > 30
    for name in systems.names():
        assert f'<figure id="{name}"><a href="gallery/{name}.png"><img src="gallery/{name}.small.png"' in text
    first, *others = (entry.name for entry in entries)
    card = text[text.index(f'<figure id="{first}">') :].split("</figure>")[0]
    assert card.count("<img") == 2
    for letter in "ab":
        assert (tmp_path / "gallery" / f"{first}{letter}.png").is_file()
        assert (tmp_path / "gallery" / f"{first}{letter}.small.png").is_file()
    for name in others:
        assert f"- `{name}`: " in text


def test_a_system_that_draws_nothing_stops_the_gallery(tmp_path, monkeypatch):
    monkeypatch.setattr("routh.systems.names", lambda: ("bouncing-ball",))
    site_gallery.draw_systems(tmp_path)
    assert (tmp_path / "bouncing-ball.png").stat().st_size > 5000
    monkeypatch.setattr("routh.cli.output.Output.picture", lambda self, place, draw: None)
    (tmp_path / "bouncing-ball.png").unlink()
    with pytest.raises(RuntimeError, match="bouncing-ball drew no picture"):
        site_gallery.draw_systems(tmp_path)
