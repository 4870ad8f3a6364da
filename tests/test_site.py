"""The documentation as a site: its navigation, its links, and that it asks nothing of other machines."""

from __future__ import annotations

import functools
import importlib.util
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.paths import ROOT
from tests.samples.system_parts import without

if TYPE_CHECKING:
    from playwright.sync_api import Browser

DOCS, SITE = ROOT / "docs", ROOT / "site"
# One of each kind: put together, with a picture, with long tables, from docstrings, from the commands.
LOOKED_AT = ("index.html", "tour.html", "cases.html", "reference/parts.html", "reference/commands.html")


def site_hooks() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_hooks", DOCS / "site_hooks.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


HOOKS = site_hooks()


# -- navigation and links -------------------------------------------------------------------------------------------


def pages_of(entry: Any) -> Iterator[str]:
    if isinstance(entry, str):
        yield entry
    else:
        for inner in entry.values() if isinstance(entry, dict) else entry:
            yield from pages_of(inner)


def test_every_page_has_its_place_in_the_navigation() -> None:
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
    shown = list(pages_of(HOOKS.navigation(settings["nav"])))
    files = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")} - {"README.md"}
    outside = {page for page in HOOKS.OUTSIDE.values() if page.endswith(".md")}
    assert sorted(shown) == sorted(files | outside | set(HOOKS.generated_pages()))


@pytest.mark.parametrize(
    ("target", "page", "expected"),
    [
        ("docs/tour.md#exit-codes", "index.md", "tour.md#exit-codes"),
        ("docs/README.md", "index.md", "index.md"),
        ("docs/decisions/", "map.md", "decisions/index.md"),
        ("../README.md", "report.md", "index.md"),
        ("../CONTRIBUTING.md#map", "contributing.md", "map.md#map"),
        ("../formulation.md", "decisions/0003-bounded-search-then-program.md", "../formulation.md"),
        ("0002-import-ortools-before-pulp.md", "decisions/index.md", "0002-import-ortools-before-pulp.md"),
        ("LICENSE", "index.md", "LICENSE"),
        ("#map", "map.md", "#map"),
        ("https://example.org/docs/tour.md", "index.md", "https://example.org/docs/tour.md"),
    ],
)
def test_links_lead_to_where_pages_are_on_the_site(target: str, page: str, expected: str) -> None:
    assert HOOKS.link_here(target, page) == expected


# -- the site stands alone ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("page.html", '<script src="https://example.org/a.js"></script>'),
        ("page.html", '<link rel="stylesheet" href="//example.org/a.css">'),
        ("page.html", '<link rel="preconnect" href="https://example.org">'),
        ("page.html", '<img alt="" src="http://example.org/a.png">'),
        ("page.html", '<p style="background: url(https://example.org/a.png)">'),
        ("page.html", '<style>@import "https://example.org/a.css";</style>'),
        ("page.html", '<iframe src="https://example.org/"></iframe>'),
        ("style.css", "@font-face { src: url('https://example.org/a.woff2') }"),
        ("drawing.svg", '<svg><image href="https://example.org/a.png"/></svg>'),
    ],
)
def test_what_is_loaded_from_elsewhere_is_found(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    (found,) = HOOKS.foreign_loads(tmp_path)
    assert found.startswith(f"{name}: ")


def test_links_for_readers_and_own_files_are_no_loads(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(
        '<a href="https://example.org/">there</a><link rel="canonical" href="https://example.org/page">'
        '<img alt="" src="img/a.png"><script src="a.js"></script><img alt="" src="data:image/png;base64,AA=="><code>url(https://a.example)</code>'
    )
    (tmp_path / "style.css").write_text("a { background: url(img/a.png) }")
    assert HOOKS.foreign_loads(tmp_path) == []


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where the built site is served."""
    if not (SITE / "index.html").exists():
        without("`make docs` builds the site")

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(SITE))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.mark.long(but=("tour.html",))
@pytest.mark.parametrize("page", LOOKED_AT)
def test_built_pages_ask_only_the_site(browser: Browser, address: str, page: str) -> None:
    tab = browser.new_page()
    try:
        asked: list[str] = []
        said: list[str] = []
        tab.on("request", lambda request: asked.append(request.url))
        tab.on("console", lambda message: said.append(message.text))
        tab.on("pageerror", lambda error: said.append(str(error)))
        answer = tab.goto(address + page, wait_until="networkidle")
        assert answer is not None and answer.ok
        assert tab.locator("h1").count() == 1
        assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []
        assert said == []
    finally:
        tab.close()
