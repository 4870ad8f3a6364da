"""The page of a design in a real browser: it opens, fits, sorts, prints, and lets nothing out of its place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fabopt.cli import main
from fabopt.inspect.differences.compare import contrast
from fabopt.inspect.differences.sides import whole
from fabopt.output.export.bill import bill_bytes
from fabopt.output.export.design import design_bytes
from fabopt.output.html.build import page_bytes
from fabopt.output.html.differences import differences_page
from fabopt.output.words import money
from fabopt.schema.design import Check, Design
from fabopt.wiring.build import wiring_of
from tests.samples.export_samples import placed, solved
from tests.samples.page_samples import (
    DARK,
    FORMULA,
    LIGHT,
    SCRIPT,
    WIDTHS,
    expanded,
    grown,
    hard_to_use,
    hopeless,
    hostile,
    page_of,
    trade,
)

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# -- what is there ----------------------------------------------------------------------------------------------------


@pytest.mark.long(but=("infeasible-400",))
@pytest.mark.parametrize("width", [WIDTHS[0], *(pytest.param(width, marks=pytest.mark.long) for width in WIDTHS[1:])])
@pytest.mark.parametrize("name", ["plain", "two fabrics", "floor", "infeasible", "front", "grown", "hostile"])
def test_page_opens_and_fits(browser: Browser, tmp_path: Path, name: str, width: int) -> None:
    """No word on the console, no request, nothing wider than the window, folded parts open or not.

    The page is opened at one width and brought to the others.
    """
    odd: dict[str, Callable[[], Design]] = {"floor": placed, "infeasible": hopeless, "grown": grown, "hostile": hostile}
    design = odd[name]() if name in odd else solved("plain" if name == "front" else name)
    with expanded(browser, page_of(design, tmp_path, trade() if name == "front" else None), width) as tab:
        for unfold in (False, True):
            if unfold:
                tab.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            for other in (width, *WIDTHS):
                tab.page.set_viewport_size({"width": other, "height": 900})
                content, window = tab.widths()
                assert content <= window == other


@pytest.mark.long(but=("dark",))
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_follows_the_readers_light(browser: Browser, tmp_path: Path, scheme: str) -> None:
    with expanded(browser, page_of(solved("plain"), tmp_path), color_scheme=scheme) as tab:
        ground = {"light": LIGHT, "dark": DARK}[scheme]["ground"]
        wanted = ", ".join(str(int(ground[at : at + 2], 16)) for at in (1, 3, 5))
        assert tab.page.evaluate("getComputedStyle(document.body).backgroundColor") == f"rgb({wanted})"


def test_motion_is_reduced_on_request(browser: Browser, tmp_path: Path) -> None:
    path = page_of(solved("plain"), tmp_path)
    with expanded(browser, path, reduced_motion="reduce") as tab:
        assert tab.page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"


def test_bill_can_be_sorted(browser: Browser, tmp_path: Path) -> None:
    design = solved("plain")
    with expanded(browser, page_of(design, tmp_path)) as tab:
        head = tab.page.locator("#bill-table th", has_text="Total").first
        head.get_by_role("button").click()
        assert head.get_attribute("aria-sort") == "ascending"
        rising = [f"${row.total_usd:,}" for row in sorted(design.bom, key=lambda row: row.total_usd)]
        assert tab.texts("#bill-table tbody td:nth-child(6)") == rising
        head.get_by_role("button").click()
        assert head.get_attribute("aria-sort") == "descending"
        assert tab.texts("#bill-table tbody td:nth-child(6)") == rising[::-1]
        part = tab.page.locator("#bill-table th", has_text="Part").first
        part.get_by_role("button").click()
        assert [head.get_attribute("aria-sort"), part.get_attribute("aria-sort")] == ["none", "ascending"]
        first_words = [text.split()[0] for text in tab.texts("#bill-table tbody th")]
        assert first_words == sorted(first_words)


@pytest.mark.long
def test_bill_names_fabrics_and_stages_where_there_are_several(browser: Browser, tmp_path: Path) -> None:
    heads = "#bill-table thead button"
    plain = ["Part", "Kind", "Length", "Quantity", "Unit price", "Total", "Power"]
    for design, more in ((solved("plain"), []), (solved("two fabrics"), ["Fabric"]), (grown(), ["Stage"])):
        with expanded(browser, page_of(design, tmp_path)) as tab:
            assert tab.texts(heads) == [*plain[:2], *more, *plain[2:]]


def test_bill_can_be_searched(browser: Browser, tmp_path: Path) -> None:
    design = solved("plain")
    wanted = [row for row in design.bom if row.kind == "transceiver"]
    with expanded(browser, page_of(design, tmp_path)) as tab:
        box = tab.page.get_by_label("Search the bill")
        box.fill("TRANSCEIVERS $")
        assert len(tab.texts("#bill-table tbody tr")) == len(wanted) < len(design.bom)
        usd = sum(row.total_usd for row in wanted)
        assert tab.page.locator("#bill-count").inner_text() == f"{len(wanted)} of {len(design.bom)} lines, ${usd:,}"
        box.fill("no such part")
        assert tab.texts("#bill-table tbody tr") == []
        assert tab.page.locator("#bill-count").inner_text() == f"0 of {len(design.bom)} lines, $0"
        box.fill("")
        assert len(tab.texts("#bill-table tbody tr")) == len(design.bom)


@pytest.mark.long(but=("hostile",))
@pytest.mark.parametrize("name", ["plain", "hostile"])
def test_download_is_the_bill_to_the_byte(browser: Browser, tmp_path: Path, name: str) -> None:
    """The same bytes as ``fabopt bom``, formulas marked as text by it."""
    design = hostile() if name == "hostile" else solved("plain")
    saved, bill = tmp_path / "design.json", tmp_path / "bill.csv"
    saved.write_bytes(design_bytes(design))
    assert main(["bom", str(saved), "-o", str(bill)]) == 0
    with expanded(browser, page_of(design, tmp_path)) as tab:
        with tab.page.expect_download() as waiting:
            tab.page.get_by_text("Download CSV").click()
        assert waiting.value.suggested_filename == "small-bill.csv"
        assert Path(waiting.value.path()).read_bytes() == bill.read_bytes() == bill_bytes(design, ".csv")
    assert (f"'{FORMULA[:10]}".encode() in bill.read_bytes()) == (name == "hostile")


def test_page_prints(browser: Browser, tmp_path: Path) -> None:
    with expanded(browser, page_of(placed(), tmp_path), color_scheme="dark") as tab:
        printed = tab.page.pdf(prefer_css_page_size=True)
        assert printed.startswith(b"%PDF-")
        assert len(re.findall(rb"/Type\s*/Page\b", printed)) >= 2
        tab.page.emulate_media(media="print")
        assert not tab.page.locator("nav").is_visible()
        assert tab.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


@pytest.mark.long
def test_printing_unfolds_and_folds_again(browser: Browser, tmp_path: Path) -> None:
    with expanded(browser, page_of(solved("plain"), tmp_path)) as tab:
        folded = tab.page.locator("details:not([open]):not(.whole)").count()
        tab.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        assert folded > 3 and tab.page.locator("details:not([open]):not(.whole)").count() == 0
        tab.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
        assert tab.page.locator("details:not([open]):not(.whole)").count() == folded


def test_racks_are_drawn_on_demand(browser: Browser, tmp_path: Path) -> None:
    design = placed()
    wiring = wiring_of(design)
    racks_of = dict(zip(wiring.devices.name, wiring.devices.rack, strict=True))
    with expanded(browser, page_of(design, tmp_path)) as tab:
        for rack in dict.fromkeys(racks_of.values()):
            tab.page.locator(f".map [data-rack='{rack}']").click()
            assert tab.page.locator("#rack-name").inner_text() == f"Rack {rack}"
            shown = [text for text in tab.texts("#rack tbody td:nth-child(2)") if text != "free"]
            assert sorted(shown) == sorted(name for name, place in racks_of.items() if place == rack)
        heights = tab.page.evaluate("[...document.querySelectorAll('#rack tbody tr')].map((row) => row.style.height)")
        assert sum(int(height.removesuffix("px")) for height in heights) == 12 * 13  # 12 units of 13 pixels


def test_keyboard_reaches_everything(browser: Browser, tmp_path: Path) -> None:
    """The first Tab skips to the content; sort with Enter; racks by arrows; a box of the drawing says its links."""
    design = placed()
    with expanded(browser, page_of(design, tmp_path)) as tab:
        keys = tab.page.keyboard
        keys.press("Tab")
        assert tab.page.evaluate("document.activeElement.textContent") == "Skip to the content"
        assert tab.page.locator(".stack svg [tabindex='0']").count() == 2
        tab.page.locator(".stack rect").first.focus()
        keys.press("ArrowRight")
        rects = tab.page.locator(".stack rect")
        assert tab.page.locator(".tip").inner_text() == rects.nth(1).get_attribute("aria-label")
        assert rects.nth(0).get_attribute("tabindex") == "-1" and rects.nth(1).get_attribute("tabindex") == "0"
        keys.press("Escape")
        assert tab.page.locator(".tip").is_hidden()
        tab.page.locator("#bill-table thead button").nth(3).focus()
        keys.press("Enter")
        assert tab.page.locator("#bill-table th").nth(3).get_attribute("aria-sort") == "ascending"
        tab.page.locator(".map [tabindex='0']").focus()
        before = tab.page.evaluate("document.activeElement.dataset.rack")
        keys.press("ArrowLeft" if before == "A06" else "ArrowRight")
        after = tab.page.evaluate("document.activeElement.dataset.rack")
        assert after != before and tab.page.locator("#rack-name").inner_text() == f"Rack {after}"
        assert tab.page.locator(".map [tabindex='0']").count() == 1
        tab.page.locator(".box.leaf").first.focus()
        assert "400G" in tab.page.locator(".detail").inner_text()
        assert tab.page.locator("polyline.lit").count() > 0


def test_focus_stops_only_where_there_is_something(browser: Browser, tmp_path: Path) -> None:
    """Regions that need no scrolling are not stops of the Tab key."""
    with expanded(browser, page_of(solved("plain"), tmp_path), 1600) as tab:
        stops = tab.page.evaluate(
            "[...document.querySelectorAll('.scroll[tabindex]')]"
            ".filter((one) => one.scrollWidth <= one.clientWidth).length"
        )
        assert stops == 0


def test_controls_have_names(browser: Browser, tmp_path: Path) -> None:
    with expanded(browser, page_of(placed(), tmp_path)) as tab:
        nameless = tab.page.evaluate(
            "[...document.querySelectorAll('button, input, a')].filter((one) => !(one.textContent.trim() || "
            "one.getAttribute('aria-label') || (one.labels && one.labels.length))).length"
        )
        assert nameless == 0


@pytest.mark.long(but=("compare-dark",))
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["floor", "front", "compare"])
def test_accessibility_tools_find_nothing(browser: Browser, tmp_path: Path, name: str, scheme: str) -> None:
    """With all that is folded open, in both schemes."""
    design = placed() if name == "floor" else solved("plain")
    path = page_of(design, tmp_path, trade() if name == "front" else None)
    if name == "compare":
        sides = [whole(words, solved(words)) for words in ("plain", "two fabrics")]
        path.write_bytes(differences_page(contrast(sides, lambda side: wiring_of(side.design))))
    with expanded(browser, path, color_scheme=scheme) as tab:
        tab.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert hard_to_use(tab) == []


@pytest.mark.long
def test_accessibility_tools_find_what_is_hard_to_use(browser: Browser, tmp_path: Path) -> None:
    path = page_of(solved("plain"), tmp_path)
    path.write_text(path.read_text().replace("<h3>", "<h4>").replace("</h3>", "</h4>"))
    with expanded(browser, path) as tab:
        tab.page.evaluate("document.documentElement.style.setProperty('--faded', '#b6c1ce')")
        tab.page.evaluate("document.getElementById('bill-search').parentElement.querySelector('label').remove()")
        found = hard_to_use(tab)
        assert any(words.startswith("faint, 1.8") for words in found)
        assert {"h4 after h2", "searchbox without a name"} <= {*found}


@pytest.mark.long
def test_names_in_a_rack_stand_whole(browser: Browser, tmp_path: Path) -> None:
    """However long devices and products are called, in a wide window and in a narrow one."""
    design = placed()
    product = next(iter(design.fabrics[0].switches)).id
    path = page_of(design, tmp_path)
    path.write_text(path.read_text().replace(f'"{product}"', f'"{product}-and-a-name-of-some-length-002"'))
    with expanded(browser, path) as tab:
        for width in (*WIDTHS, 1280):
            tab.page.set_viewport_size({"width": width, "height": 900})
            for button in tab.page.locator(".map button.mixed, .map button.network").all():
                button.click()
                cut = tab.page.locator("#rack td, #rack th").evaluate_all(
                    "all => all.filter(one => one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight)"
                    ".map(one => one.textContent)"
                )
                assert cut == [] and "-002" in tab.page.locator("#rack").inner_text()


def test_failed_checks_come_first(browser: Browser, tmp_path: Path) -> None:
    checks = (Check(name="ports_fit_radix", ok=False, detail="70 of 64"), Check(name="limits_hold", ok=True, detail=""))
    with expanded(browser, page_of(solved("plain"), tmp_path, checks=checks)) as tab:
        assert "1 of 2 checks FAILED" in tab.page.locator("header .warning").inner_text()
        assert tab.page.locator("details.checks[open]").count() == 1
        assert "70 of 64" in tab.page.locator("details.checks[open]").inner_text()


def test_page_reads_without_scripts(browser: Browser, tmp_path: Path) -> None:
    with expanded(browser, page_of(placed(), tmp_path), java_script_enabled=False) as tab:
        assert "Buy " in tab.page.locator(".answer").inner_text()
        assert tab.page.locator("#bill-table tbody tr").count() == len(placed().bom)
        assert "fabopt export --to racks" in tab.page.locator("noscript").inner_text()


# -- nothing gets out -------------------------------------------------------------------------------------------------


def test_scripts_in_names_stay_text(browser: Browser, tmp_path: Path) -> None:
    design = hostile()
    with expanded(browser, page_of(design, tmp_path)) as tab:
        assert tab.page.title() == "small: network design"
        assert SCRIPT in tab.page.locator(".about").inner_text()
        assert SCRIPT in tab.page.locator("#bill-table").inner_text()
        assert tab.page.locator("img").count() == 0
        assert tab.page.locator("a[href^='javascript']").count() == 0
        assert tab.page.locator("script").count() == 1


def test_scripts_in_a_drawing_stay_text(browser: Browser, tmp_path: Path) -> None:
    """What is said of a box goes through a script on the page. No case has such a name; a file may be changed."""
    path = page_of(hostile(), tmp_path)
    text = path.read_text()
    assert 'aria-label="1 attachment: compute-gate' in text
    path.write_text(text.replace('aria-label="1 attachment: compute-gate', f'aria-label="{escape(SCRIPT)}'))
    with expanded(browser, path) as tab:
        tab.page.locator(".box.attachment").focus()
        assert SCRIPT in tab.page.locator(".detail").inner_text()
        assert tab.page.title() == "small: network design"


def test_scripts_in_racks_stay_text(browser: Browser, tmp_path: Path) -> None:
    """Names of boxes go through a script on the page."""
    design = placed()
    text = page_bytes(design, ()).decode()
    name = (
        json.dumps(SCRIPT, ensure_ascii=False).replace("<", "\\u003c").replace(">", "\\u003e").replace("'", "\\u0027")
    )
    path = tmp_path / "page.html"
    path.write_text(text.replace('"server-0001"', name))
    with expanded(browser, path) as tab:
        for button in tab.page.locator(".map button.servers").all():
            button.click()
        tab.page.locator(".map button.servers").first.click()
        assert SCRIPT in tab.page.locator("#rack").inner_text()
        assert tab.page.title() == "small: network design"


def test_a_phone_shows_quantity_price_and_total_of_each_line(browser: Browser, tmp_path: Path) -> None:
    design = solved("splitters")
    with expanded(browser, page_of(design, tmp_path), 420) as tab:
        cells = tab.page.locator("#bill-table tr").evaluate_all(
            "rows => rows.map(row => [...row.cells].filter(cell => cell.getClientRects().length)"
            ".map(cell => [cell.textContent, cell.getBoundingClientRect().right]))"
        )
    assert [text for text, _ in cells[0]] == ["Part", "Quantity", "Unit price", "Total"]
    assert len(cells) == len(design.bom) + 2
    assert all(len(row) == 4 and row[-1][1] <= 420 for row in cells)
    assert [text for text, _ in cells[-1]][::3] == ["Total", money(design.totals.capex_usd if design.totals else 0)]
