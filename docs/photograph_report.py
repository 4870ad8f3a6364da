"""Take the picture of a report in the tour: the page of a shipped case in a browser, its upper part.

    python docs/photograph_report.py docs/img/report.png

Needs Chromium and playwright.
"""

from __future__ import annotations

import base64
import shutil
import struct
import sys
import tempfile
import zlib
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from fabopt import solve
from fabopt.output.html.build import page_bytes

CASE = "cases/hall-1024-gpus.yaml"
WIDTH, HEIGHT = 1200, 1600
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


# Colours of a picture and the number of each pixel's; what is not among the most frequent ones takes the nearest.
PAINTED = """async ([picture, most]) => {
  const image = await createImageBitmap(await (await fetch(picture)).blob());
  const place = new OffscreenCanvas(image.width, image.height).getContext("2d");
  place.drawImage(image, 0, 0);
  const pixels = new Uint32Array(place.getImageData(0, 0, image.width, image.height).data.buffer);
  const often = new Map();
  for (const pixel of pixels) often.set(pixel, (often.get(pixel) || 0) + 1);
  const parts = (colour) => [colour & 255, colour >> 8 & 255, colour >> 16 & 255];
  const used = [...often].sort((a, b) => b[1] - a[1]).slice(0, most).map(([colour]) => parts(colour));
  const far = (one, other) => one.reduce((sum, part, index) => sum + (part - other[index]) ** 2, 0);
  const numbers = new Map([...often.keys()].map((colour) => {
    const all = used.map((other) => far(parts(colour), other));
    return [colour, all.indexOf(Math.min(...all))];
  }));
  return [image.width, used.flat(), Array.from(pixels, (pixel) => numbers.get(pixel))];
}"""


def shrink(tab: Page, picture: Path) -> None:
    """Write a picture again with 256 colours, which words need; ``tab``: of a browser, which leaves its page."""
    tab.goto("about:blank")
    source = f"data:image/png;base64,{base64.b64encode(picture.read_bytes()).decode()}"
    width, colours, numbers = tab.evaluate(PAINTED, [source, 256])
    rows = b"".join(b"\0" + bytes(numbers[place : place + width]) for place in range(0, len(numbers), width))
    chunks = {
        b"IHDR": struct.pack(">IIBBBBB", width, len(numbers) // width, 8, 3, 0, 0, 0),
        b"PLTE": bytes(colours),
        b"IDAT": zlib.compress(rows, 9),
        b"IEND": b"",
    }
    parts = (struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
             for name, body in chunks.items())  # fmt: skip
    picture.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(parts))


def photograph(page: Path, target: Path, width: int = WIDTH, height: int = HEIGHT) -> None:
    """Take a page, or a drawing, in a window of a size in pixels; of a height of 0 whole."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    with sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=program, args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": width, "height": height or HEIGHT})
        tab.goto(page.as_uri())
        tab.screenshot(path=target, full_page=not height)
        shrink(tab, target)
        browser.close()


if __name__ == "__main__":
    result = solve(CASE)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        page.write_bytes(page_bytes(result.design, result.checks))
        photograph(page, Path(sys.argv[1]))
