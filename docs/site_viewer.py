"""The guide's picture of the viewer, in Chromium: python docs/site_viewer.py anymal.urdf view-anymal.png"""

import argparse
import shutil
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

from routh.view import show

#: WebGL without a graphics card
FLAGS = ["--no-sandbox", "--disable-gpu", "--use-gl=swiftshader", "--enable-unsafe-swiftshader"]
PATIENCE = 180_000  # ms
SEEN = {"x": 150, "y": 0, "width": 1130, "height": 580}  # px of the page: without the empty floor
NOTICE = ".mantine-Notification-closeButton"  # the page complains of WebGL in software


def picture(source: str, target: Path, *, ghosts: int, settle: float) -> None:
    """Open the viewer on a model, wait until all is drawn, and save what a reader sees."""
    with show(source, ghosts=ghosts) as viewer, sync_playwright() as tools:
        while viewer.session.updates == 0:
            time.sleep(0.1)
        browser = tools.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(viewer.address, wait_until="commit", timeout=PATIENCE)
        page.wait_for_selector("text=ambiguity", timeout=PATIENCE)
        time.sleep(settle)
        for notice in page.locator(NOTICE).all():
            notice.click(timeout=PATIENCE)
        time.sleep(2.0)  # it fades
        page.screenshot(path=target, clip=SEEN, timeout=PATIENCE)
        browser.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source")
    parser.add_argument("target", type=Path)
    parser.add_argument("--ghosts", type=int, default=8)
    parser.add_argument("--settle", type=float, default=20.0, help="seconds for the browser to draw")
    given = parser.parse_args()
    picture(given.source, given.target, ghosts=given.ghosts, settle=given.settle)
