"""Take the picture of the studio in docs/studio.md: a shipped case answered, and one of its spines broken.

    python docs/photograph_studio.py docs/img/studio.png

Needs Chromium, playwright, and the extra `studio`.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from photograph_report import BROWSERS, shrink
from playwright.sync_api import expect, sync_playwright

CASE = Path("cases/cluster-256-roce.yaml")
WIDTH, HEIGHT = 1280, 900
LONGEST_MS = 60_000


def photograph(address: str, target: Path) -> None:
    """Take the window of a studio at an address, once its case is answered, with a spine broken."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    with sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=program, args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        tab.goto(address)
        expect(tab.locator("#status")).to_contain_text("Proven", timeout=LONGEST_MS)
        expect(tab.locator("#cancel")).to_be_hidden(timeout=LONGEST_MS)
        tab.locator("#drawing .box.spine").first.click(timeout=LONGEST_MS)
        expect(tab.locator("#broken")).to_contain_text("left", timeout=LONGEST_MS)
        tab.mouse.move(0, 0)
        tab.screenshot(path=target)
        shrink(tab, target)
        browser.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        case = shutil.copy(CASE, folder)
        command = [sys.executable, "-m", "fabopt", "studio", case, "--no-browser"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as studio:
            assert studio.stdout is not None
            try:
                photograph(studio.stdout.readline().strip(), Path(sys.argv[1]))
            finally:
                studio.terminate()
