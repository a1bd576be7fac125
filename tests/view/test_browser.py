"""The viewer in a real browser, where Chromium and playwright are installed."""

import shutil
import time

import numpy as np
import pytest

pytest.importorskip("viser")
sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright for the browser tests")

from routh.view import show  # noqa: E402

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
if CHROMIUM is None:
    pytest.skip("no Chromium is installed", allow_module_level=True)

FLAGS = ["--no-sandbox", "--disable-gpu", "--use-gl=swiftshader", "--enable-unsafe-swiftshader"]
PATIENCE = 600_000  # ms: WebGL in software is slow


def until(condition, seconds=600.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_here(url):
    """Whether an address needs no network beyond this machine."""
    return url.partition("://")[2].startswith("127.0.0.1") or url.startswith(("blob:", "data:", "file:"))


def click_on_samples(page, session, places):
    """Click where the camera sees points of the board until one is picked."""
    for place in places:
        page.mouse.click(*place)
        try:
            until(lambda: session.picked is not None, 4.0)
        except AssertionError:
            continue
        return True
    return False


def seen_by(client, points):
    """Where a client's camera sees points (n, 3), in pixels, (n, 2)."""
    camera, height, width = client.camera, 700, 900
    toward = np.array(camera.look_at) - np.array(camera.position)
    forward = toward / np.linalg.norm(toward)
    right = np.cross(forward, camera.up_direction)
    right /= np.linalg.norm(right)
    down = -np.cross(right, forward)
    rays = np.asarray(points) - np.array(camera.position)
    depth = rays @ forward
    focal = 0.5 * height / np.tan(0.5 * camera.fov)
    return np.stack(
        [0.5 * width + focal * (rays @ right) / depth, 0.5 * height + focal * (rays @ down) / depth], 1
    )


def test_the_page_loads_nothing_from_elsewhere_a_slider_moves_ghosts_and_a_click_selects(tmp_path):
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
        (client,) = viewer._server.get_clients().values()
        until(lambda: client.camera.fov > 0.0)
        shown = session.shown
        rows = session._contact_rows(shown)
        points = session.board.places(shown.outcomes.v[shown.ended] @ rows.T)
        assert click_on_samples(page, session, seen_by(client, points[:6]))
        assert session.scene._ghost_colors.shape[0] == 1
        assert _saved_picture(page, tmp_path) > 1000  # colours: something is drawn in it
        assert failed == []
        assert all(map(is_here, asked))
        file = viewer.save(tmp_path / "scene.html")
        browser.close()
        _opens_without_a_network(tools, file)


def _saved_picture(page, folder):
    """Press the button that saves a picture; how many colours it has."""
    image = pytest.importorskip("PIL.Image")
    page.get_by_text("save as", exact=True).click(timeout=PATIENCE)
    with page.expect_download(timeout=PATIENCE) as waiting:
        page.get_by_role("button", name="picture (PNG)").click(timeout=PATIENCE)
    waiting.value.save_as(folder / "scene.png")
    assert waiting.value.suggested_filename == "routh.png"
    pixels = np.asarray(image.open(folder / "scene.png").convert("RGB"))
    assert pixels.shape == (1080, 1920, 3)
    return len(np.unique(pixels.reshape(-1, 3), axis=0))


def _opens_without_a_network(tools, file):
    """The saved page draws its scene and asks for nothing."""
    browser = tools.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
    context = browser.new_context(offline=True, viewport={"width": 400, "height": 300})
    page = context.new_page()
    asked, failed = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: failed.append(str(error)))
    page.goto(file.as_uri(), wait_until="commit", timeout=PATIENCE)
    page.wait_for_selector("canvas", timeout=PATIENCE)
    assert failed == []
    assert all(map(is_here, asked))
    browser.close()
