"""The documentation builds, its links lead somewhere, and it loads nothing from elsewhere."""

import fcntl
import os
import re
import shutil
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest

pytest.importorskip("zensical", reason="pip install 'routh[docs]'")
site_build = pytest.importorskip("site_build")
site_reference = pytest.importorskip("site_reference")

LOADS = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "video": "src"}


class Page(HTMLParser):
    """What a page names, links to and loads."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loads = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors |= {values[key] for key in ("id", "name") if values.get(key)}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if LOADS.get(tag) in values and values.get("rel") not in ("canonical", "next", "prev"):
            self.loads.append(values[LOADS[tag]])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Built by the first of the processes that run tests side by side; the others wait for it."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "site"
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            site_build.build(folder, run=False)
    return folder


@pytest.fixture(scope="module")
def html(site):
    return {path: Page(path.read_text()) for path in site.rglob("*.html") if path.name != "404.html"}


def test_every_link_and_picture_leads_somewhere(html):
    broken = []
    for path, page in html.items():
        for link in (*page.links, *page.loads):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file() or (
                parts.fragment and target in html and unquote(parts.fragment) not in html[target].anchors
            ):
                broken.append(f"{path.name}: {link}")
    assert not broken


def test_the_link_checker_sees_broken_links():
    page = Page('<a href="x.html#y">z</a><h2 id="here">t</h2><img src="p.png">')
    assert page.links == ["x.html#y"]
    assert page.loads == ["p.png"]
    assert page.anchors == {"here"}


def test_nothing_comes_from_elsewhere(site, html):
    for page in html.values():
        assert not [load for load in page.loads if urlsplit(load).netloc]
    for style in site.rglob("*.css"):
        assert not re.search(r"(?:url\(|@import\s*)[\"']?(?:https?:)?//", style.read_text()), style
    for script in site.rglob("*.js"):
        assert not re.search(r"https://(?:unpkg|cdn|cdnjs|fonts|polyfill)", script.read_text()), script


def test_every_public_name_is_in_the_reference(html):
    import importlib

    anchors = set().union(*(page.anchors for path, page in html.items() if path.parent.name == "reference"))
    missing = []
    for full in ("routh", *site_reference.modules()):
        module = importlib.import_module(full)
        for name in site_reference.names_of(module):
            if name != "__version__" and site_reference.address(module, name) not in anchors:
                missing.append(f"{full}.{name}")
    assert not missing


def test_fields_say_what_their_comments_say(site):
    text = (site / "reference" / "sampling.html").read_text()
    assert 'id="routh.sampling.outcomes.Outcomes.impulse"' in text
    assert "total impulses, N s, normal first" in text


def test_twenty_names_have_an_example(site):
    shown = site_reference.addresses(site_reference.examples(site_build.DOCS / "reference" / "examples.md"))
    assert len(shown) >= 20
    text = "".join(page.read_text() for page in (site / "reference").glob("*.html"))
    assert text.count("<strong>Example</strong>") == len(shown)


def _search_finds(tab, site, word, folder, expect):
    """Wait until the site's search lists a page of this folder first: while typing it lists others."""
    tab.goto((site / "index.html").as_uri())
    tab.get_by_role("button", name="Search").first.click()
    tab.keyboard.type(word)
    first = tab.locator(f'a[href*="h={word}"]').first
    expect(first).to_have_attribute("href", re.compile(f"(^|/){folder}/"), timeout=600_000)


def test_in_a_browser(site):
    """Opened as files, in Chromium: no request leaves the folder, no error, all maths is set."""
    sync_api = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no Chromium on the path")
    asked, errors = [], []
    with sync_api.sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        tab = browser.new_page(viewport={"width": 390, "height": 800})
        tab.on("request", lambda request: asked.append(request.url))
        tab.on("pageerror", lambda error: errors.append(str(error)))
        for path in sorted(set(site.rglob("*.html")) - {site / "404.html"}):  # that one is served from a root
            tab.goto(path.as_uri())
            assert tab.locator(".katex-error").count() == 0, path
            unset = "n => n.filter(e => !e.querySelector('.katex')).map(e => e.textContent)"
            assert tab.locator(".arithmatex").evaluate_all(unset) == [], path
            wide = tab.evaluate("document.documentElement.scrollWidth")
            assert wide <= 390, f"{path.name} is {wide} wide on a telephone"
        for word in ("restitution", "friction", "tipping"):
            _search_finds(browser.new_page(), site, word, "guide", sync_api.expect)
        browser.close()
    own = (site.as_uri(), "data:", "blob:", "about:")
    assert [url for url in asked if not url.startswith(own)] == []
    assert not errors
