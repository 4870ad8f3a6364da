"""Take the picture of a report in the tour: the page of a shipped case in a browser, its upper part.

    python docs/photograph_report.py docs/img/report.png

Needs Chromium and playwright.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from fabopt import solve
from fabopt.output.html.build import page_bytes

CASE = "cases/hall-1024-gpus.yaml"
WIDTH, HEIGHT = 1200, 1600
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def photograph(page: Path, target: Path, width: int = WIDTH, height: int = HEIGHT) -> None:
    """Take a page, or a drawing, in a window of a size in pixels; of a height of 0 whole."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    with sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=program, args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": width, "height": height or HEIGHT})
        tab.goto(page.as_uri())
        tab.screenshot(path=target, full_page=not height)
        browser.close()


if __name__ == "__main__":
    result = solve(CASE)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        page.write_bytes(page_bytes(result.design, result.checks))
        photograph(page, Path(sys.argv[1]))
