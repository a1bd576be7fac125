"""The viewer in a real browser, where Chromium and playwright are installed."""

import shutil
import time

import pytest

pytest.importorskip("viser")
sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright for the browser tests")

from routh.view import show  # noqa: E402

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
if CHROMIUM is None:
    pytest.skip("no Chromium is installed", allow_module_level=True)

FLAGS = ["--no-sandbox", "--disable-gpu", "--use-gl=swiftshader", "--enable-unsafe-swiftshader"]
PATIENCE = 120_000  # ms: WebGL in software is slow


def until(condition, seconds=60.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_the_page_loads_nothing_from_elsewhere_and_a_slider_moves_the_ghosts():
    with show("rocking-block", ghosts=2) as viewer, sync_api.sync_playwright() as tools:
        session = viewer.session
        until(lambda: session.updates > 0, 90.0)
        browser = tools.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 900, "height": 700})
        asked, failed = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: failed.append(str(error)))
        page.goto(viewer.address, wait_until="commit", timeout=PATIENCE)
        page.wait_for_selector("text=ambiguity", timeout=PATIENCE)
        field = page.locator("input[type=text], input[inputmode]").nth(0)
        field.wait_for(timeout=PATIENCE)
        before = session.panel.values()
        field.fill("2", timeout=PATIENCE)
        field.press("Enter", timeout=PATIENCE)
        until(lambda: session.panel.values() != before)
        assert failed == []
        assert all(
            url.partition("://")[2].startswith("127.0.0.1") or url.startswith("blob:") for url in asked
        )
        browser.close()
