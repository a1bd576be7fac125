"""The page that is the API lists every public name, and says what changed since the last release."""

import importlib
import inspect
import re
from itertools import pairwise
from pathlib import Path

import pytest

import routh

site_api = pytest.importorskip("site_api")
CHANGELOG = (Path(__file__).parents[1] / "CHANGELOG.md").read_text()


def unexplained(before, now, changelog):
    """Names that went, of which the changelog says nothing."""
    return [name for name in site_api.changes(before, now)[1] if name not in changelog]


def test_the_page_is_the_package():
    page = site_api.PAGE.read_text()
    unlisted = [path for path in site_api.names() if f"| `{path}` |" not in page]
    assert unlisted == [], "run python docs/site_api.py"
    assert page == site_api.page(), "run python docs/site_api.py"
    assert (site_api.FOLDER / f"api-{routh.__version__}.txt").read_text() == site_api.listing()


def test_each_name_says_what_it_is_and_the_core_is_small():
    public = site_api.names().values()
    assert [one.path for one in public if not one.summary] == []
    assert {one.stability for one in public} <= set(site_api.MEANING)
    assert 100 < sum(not one.feature for one in public) <= site_api.MOST


def test_what_a_stable_function_returns_is_stable():
    public = site_api.names().values()
    young = {one.path.rpartition(".")[2]: one.path for one in public if one.stability == site_api.YOUNG}
    for one in public:
        module, _, name = one.path.rpartition(".")
        function = getattr(importlib.import_module(module), name)
        if one.stability == site_api.STABLE and inspect.isfunction(function):
            returned = set(re.findall(r"\w+", str(inspect.signature(function).return_annotation)))
            assert not returned & set(young), one.path


def test_every_public_module_is_reached_and_every_stability_used():
    reached = site_api.site_reference.modules()
    assert {"routh.systems", "routh.models.planar", "routh.problem.pointedness"} <= set(reached)
    for full in ("routh", *reached):
        module = importlib.import_module(full)
        inner = [getattr(module, name) for name in getattr(module, "__all__", ())]
        assert {one.__name__ for one in inner if inspect.ismodule(one)} <= set(reached)
    assert set(site_api.STABILITY) <= {"routh", *reached, *site_api.names()}


def test_what_went_since_a_release_stands_in_the_changelog():
    """Compares each stored list with the next one; that of the present version is written with the page."""
    for (_, before), (version, now) in pairwise(site_api.released().items()):
        assert unexplained(before, now, CHANGELOG) == [], version


def test_names_that_went_are_named():
    before, now = ["routh.sample", "routh.old"], ["routh.sample", "routh.new"]
    assert site_api.changes(before, now) == (["routh.new"], ["routh.old"])
    assert unexplained(before, now, "") == ["routh.old"]
    assert unexplained(before, now, "`routh.old` is `routh.new`") == []
    assert site_api.since("routh.new", {"0.1": before, "0.2": now}) == "0.2"


def test_an_unlisted_name_is_noticed(monkeypatch):
    public = site_api.names()
    monkeypatch.setattr(
        site_api, "names", lambda: public | {"routh.x": site_api.Public("routh.x", "X.", "young", False)}
    )
    assert site_api.page() != site_api.PAGE.read_text()
