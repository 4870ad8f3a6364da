"""Pages for tests: designs of the small catalog made awkward, and a browser tab that takes note of what goes wrong."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabopt.output.html.build import page_bytes
from fabopt.schema.design import Check, Design, Front
from fabopt.verify import verify
from tests.paths import ROOT
from tests.samples import front_samples, small

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

TEMPLATES = ROOT / "fabopt" / "output" / "html" / "templates"
MOST_BYTES = 2_000_000
MOST_ELEMENTS = 20_000
WIDTHS = (400, 1600)
# It would show itself in the tab's title.
SCRIPT = "</script></style><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
FORMULA = "=HYPERLINK(\"http://example.invalid\",'x')"


def colours(block: str) -> dict[str, str]:
    """Names and values of a block of the style sheet."""
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block))


STYLE = (TEMPLATES / "page.css").read_text()
LIGHT, DARK, PRINT = (colours(block) for block in re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL))


def page_of(design: Design, folder: Path, front: Front | None = None, checks: tuple[Check, ...] | None = None) -> Path:
    """The page of a design as a file; checked again, unless ``checks`` are given."""
    found = (verify(design) if design.fabrics else ()) if checks is None else checks
    path = folder / f"{design.case.name}.html"
    path.write_bytes(page_bytes(design, found, front))
    return path


def pages_of_pdf(path: Path) -> list[str]:
    """What is drawn on each page of a PDF of ours."""
    streams = re.findall(rb"/FlateDecode >>\nstream\n(.*?)\nendstream", path.read_bytes(), re.DOTALL)
    return [zlib.decompress(stream).decode("ascii") for stream in streams]


def outside(page: str) -> list[str]:
    """What a page that is mailed would miss: all that its markup and style point to and that is not in it."""
    ids = set(re.findall(r'\sid="([^"]*)"', page))
    pointed = re.findall(r'[\s:](?:href|src|srcset|action|poster|data)="([^"]*)"', page)
    pointed += re.findall(r"(?:url\(|@import)\s*[\"']?([^\"')\s]*)", page)
    return [one for one in pointed if not one.startswith("data:") and not (one[:1] == "#" and one[1:] in ids)]


@cache
def trade() -> Front:
    """A front of the small case: dollars against Gb/s for each GPU."""
    return front_samples.pareto(small.case({"tiers": "any"}), small.catalog(), (50, 100, 200), knee=1)


@cache
def hopeless() -> Design:
    """The small case with a budget that buys nothing."""
    return small.solved(small.case(limits={"budget_usd": 1000}))


def hostile() -> Design:
    """A design whose case and catalog try to get out of every place where their words are shown."""
    parts = small.catalog()
    for kind in parts.values():
        for product in kind:
            product["description"] = product["vendor"] = SCRIPT
            product["source"] = {"url": f"javascript:alert(1) {SCRIPT}", "confidence": SCRIPT, "date": SCRIPT}
            product["part_number"] = FORMULA
    attachment = {"name": "gate", "ports": 1, "buys": "none"}
    return small.solved(small.case({"attachments": [attachment]}, servers=4, description=SCRIPT), parts)


def grown() -> Design:
    """A design of two stages."""
    stages = [{"name": "day-1", "servers": 2}, {"name": "later", "month": 12, "servers": 4}]
    return small.solved(small.case(stages=stages))


@dataclass
class Tab:
    """A page in the browser, what its console said, and what it asked the network for."""

    page: Page
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def widths(self) -> tuple[int, int]:
        """Width of the content and of the window."""
        found: list[int] = self.page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        return found[0], found[1]

    def texts(self, selector: str) -> list[str]:
        """Texts of elements that can be seen."""
        return [one.inner_text() for one in self.page.locator(selector).all() if one.is_visible()]


@contextmanager
def expanded(browser: Browser, page: Path | str, width: int = 1280, first: str = "", **options: Any) -> Iterator[Tab]:
    """Open a page, a file or an address, in a window of its own.

    Anything said on the console, or asked of the network but the page itself and what is below its address, fails the
    test. ``first``: a script that runs before those of the page.
    """
    address = page.as_uri() if isinstance(page, Path) else page
    own = address if isinstance(page, Path) else address.partition("?")[0]
    context = browser.new_context(viewport={"width": width, "height": 900}, **options)
    tab = Tab(context.new_page())
    tab.page.on("console", lambda message: tab.said.append(message.text))
    tab.page.on("pageerror", lambda error: tab.said.append(str(error)))
    tab.page.on("request", lambda request: tab.asked.append(request.url))
    try:
        if first:
            tab.page.add_init_script(first)
        tab.page.goto(address)
        yield tab
        assert tab.said == []
        below = own if own.endswith("/") else "data:"
        assert [url for url in tab.asked if url != own and not url.startswith((below, "data:"))] == []
    finally:
        context.close()


# Visible text that is in no drawing: its colour, and whether it is large (WCAG 2.1, 1.4.3); else nothing.
_TEXTS = """[...document.querySelectorAll("body *")].map((one) => {
  const own = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  const box = one.getBoundingClientRect(), style = getComputedStyle(one), size = parseFloat(style.fontSize);
  if (!own || one.closest("svg, noscript") || box.width <= 1 || !one.checkVisibility()) return null;
  return [style.color, size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700), one.outerHTML.slice(0, 80)];
})"""


_NAMED = ("image", "img", "columnheader", "rowheader")


def hard_to_use(tab: Tab) -> list[str]:
    """What Chromium finds on an open page: text too faint to read (WCAG AA), what the Tab key stops at and has no
    name, images and titles of tables without one, headings that leave out a level, more or fewer than one main part.
    """
    # what is behind a text is known of what is within the window
    height = tab.page.evaluate("document.documentElement.scrollHeight")
    tab.page.set_viewport_size({"width": tab.widths()[1], "height": height})
    tools = tab.page.context.new_cdp_session(tab.page)
    for domain in ("DOM", "CSS", "Accessibility"):
        tools.send(f"{domain}.enable")
    nodes = [node for node in tools.send("Accessibility.getFullAXTree")["nodes"] if not node["ignored"]]
    roles = [node["role"]["value"] for node in nodes]
    facts = [{one["name"]: one["value"].get("value") for one in node.get("properties", ())} for node in nodes]
    found = {
        f"{role} without a name"
        for node, role, fact in zip(nodes, roles, facts, strict=True)
        if (fact.get("focusable") or role in _NAMED) and not node.get("name", {}).get("value", "").strip()
    }
    levels = [int(fact["level"]) for role, fact in zip(roles, facts, strict=True) if role == "heading"]
    found |= {f"h{low} after h{high}" for high, low in pairwise([0, *levels]) if low > high + 1}
    found |= set() if roles.count("main") == 1 else {f"{roles.count('main')} main parts"}
    root = tools.send("DOM.getDocument")["root"]["nodeId"]
    elements = tools.send("DOM.querySelectorAll", {"nodeId": root, "selector": "body *"})["nodeIds"]
    texts = tab.page.evaluate(_TEXTS)
    assert len(elements) == len(texts) and any(texts)
    for element, text in zip(elements, texts, strict=True):
        behind = tools.send("CSS.getBackgroundColors", {"nodeId": element}) if text else {}
        for ground in behind.get("backgroundColors", ()):
            if (share := contrast(text[0], ground)) < (3 if text[1] else 4.5):
                found.add(f"faint, {share:.1f}: {text[2]}")
    tools.detach()
    return sorted(found)


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, ``#rrggbb`` or ``rgb(...)``, as WCAG 2.1 defines it."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    found = [int(colour[at : at + 2], 16) for at in (1, 3, 5)] if colour[0] == "#" else re.findall(r"[\d.]+", colour)
    parts = [float(part) / 255 for part in found[:3]]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
