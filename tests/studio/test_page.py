"""The page of the studio in a real browser: asked, answered, broken, kept; nothing leaves the machine."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from xml.etree import ElementTree

import pytest

from tests.paths import ROOT
from tests.samples.page_samples import SCRIPT, Tab, expanded, hard_to_use
from tests.studio.served import Served, serve

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator

expect: Any = pytest.importorskip("playwright.sync_api").expect

CASE, TWO_TIERS = "cluster-256-roce", "two-tier-example"
FULL_MS = 30_000
PROVEN = "Proven"
COMMENT = "# of four servers\n"
SMALL = "server: nvidia-dgx-h100\nservers: 4\nworkload: {profile: pretraining}\n"
# Little else is to be compared with.
QUICK = f"{SMALL}fabrics: [{{name: compute, protocol: infiniband}}]\n"
# Thin fabrics are allowed, so that there is a front.
THIN = """name: thin
server: nvidia-dgx-h100
servers: 40
fabrics:
  - name: compute
    min_gbps_per_gpu: 50
    max_oversubscription: 8
"""


# Two switches are asked for by a rule, which no design of one tier keeps; another rule is off.
ONE_SWITCH = """name: one-switch
server: nvidia-dgx-h100
servers: 20
rules: {two-spines: false}
fabrics:
  - {name: compute, tiers: 1, rails: any}
"""


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A studio of a folder with a few cases, shared by the tests of this file."""
    folder = tmp_path_factory.mktemp("cases")
    for name in (CASE, TWO_TIERS, "hall-1024-gpus", "pretraining-16384-gpus"):
        shutil.copy(ROOT / "cases" / f"{name}.yaml", folder)
    (folder / "small.yaml").write_text(f"{COMMENT}name: small\n{SMALL}")
    (folder / "quick.yaml").write_text(f"{COMMENT}name: quick\n{QUICK}")
    (folder / "thin.yaml").write_text(THIN)
    (folder / "one-switch.yaml").write_text(ONE_SWITCH)
    hostile = json.dumps(SCRIPT)
    (folder / "hostile.yaml").write_text(f"name: hostile\ndescription: {hostile}\n{QUICK}")
    served, end = serve(folder)
    yield served
    end()


class Desk(Tab):
    """A tab of the studio."""

    def at(self, selector: str) -> Locator:
        return self.page.locator(selector)

    def open(self, name: str) -> None:
        if not self.at("#dialog").is_visible():
            self.at("#open").click()
        self.page.get_by_role("button", name=f"{name}.yaml", exact=True).click()
        expect(self.at("#dialog")).to_be_hidden(timeout=FULL_MS)

    def proven(self, words: str = PROVEN) -> str:
        """Wait for an answer of the case as it is now; what it costs."""
        expect(self.at("#status")).to_contain_text(words, timeout=FULL_MS)
        expect(self.at("#result")).not_to_have_class("old", timeout=FULL_MS)
        return self.at("#headline").inner_text()

    def write(self, old: str, new: str) -> None:
        """Change the YAML as by hand."""
        if not self.at("#yaml").is_visible():
            self.at("#tab-yaml").click()
        text = self.at("#text").input_value()
        assert old in text
        self.at("#text").fill(text.replace(old, new))

    def slide(self, key: str, *keys: str) -> None:
        self.at(f"[data-slides='{key}']").focus()
        for one in keys:
            self.page.keyboard.press(one)


@contextmanager
def tab_of(browser: Browser, served: Served, width: int = 1280, first: str = "", **options: Any) -> Iterator[Desk]:
    """Open the studio in a window of its own."""
    address = f"http://{served.host}/?token={served.key}"
    with expanded(browser, address, width, first, **options) as tab:
        expect(tab.page.locator("#dialog")).to_be_visible(timeout=FULL_MS)
        yield Desk(tab.page, tab.said, tab.asked)


# Events can be said by a test, and answers of the server be held back until they are asked for.
HELD = """
const feeds = [], held = [], was = fetch;
window.EventSource = class extends EventSource { constructor(url) { super(url); feeds.push(this); } };
window.hear = (kind, content) => feeds.at(-1).dispatchEvent(new MessageEvent(kind, { data: JSON.stringify(content) }));
window.holds = "";
window.fetch = async (url, facts) => {
  const answer = await was(url, facts);
  if (window.holds && url.endsWith(window.holds)) await new Promise((go) => held.push(go));
  return answer;
};
window.release = () => { window.holds = ""; held.splice(0).forEach((go) => go()); };
"""


@pytest.fixture(scope="module")
def window(browser: Browser, full: Served) -> Iterator[Desk]:
    """One tab, and so one worker, for the tests of a desk."""
    with tab_of(browser, full, first=HELD) as tab:
        yield tab


@pytest.fixture
def desk(window: Desk) -> Iterator[Desk]:
    """The tab that tests share, as they open their cases in it one after another."""
    window.page.keyboard.press("Escape")
    window.page.evaluate("document.getElementById('tab-drawing').click()")
    yield window
    assert window.said == []
    window.page.evaluate("release()")


def is_broken(desk: Desk, role: str) -> None:
    """The first switch of a role is taken out by its key in the drawing."""
    desk.at(f"#drawing .box.{role}").first.focus()
    desk.page.keyboard.press("Enter")
    expect(desk.at("#broken")).to_contain_text(role, timeout=FULL_MS)
    expect(desk.at("#drawing .box.down")).to_have_count(1, timeout=FULL_MS)


def is_taken_away(desk: Desk) -> None:
    """The drawing and the bill as files."""
    with desk.page.expect_download() as waiting:
        desk.at("#take-drawing").click()
    assert "leaf-001" in "".join(ElementTree.parse(waiting.value.path()).getroot().itertext())
    desk.at("#tab-bill").click()
    with desk.page.expect_download() as waiting:
        desk.at("#bill-csv").click()
    assert Path(waiting.value.path()).read_text().count("\n") > 3


def test_a_small_case_is_opened_changed_broken_and_taken_away(desk: Desk) -> None:
    """Answer, drawing, a slider, the broken leaf, bill, undo: of four servers, which are solved in no time."""
    desk.open("quick")
    before = desk.proven()
    desk.slide("servers", "ArrowRight")
    expect(desk.at("#text")).to_have_value(re.compile("servers: [5-9]"), timeout=FULL_MS)
    expect(desk.at("#headline")).not_to_have_text(before, timeout=FULL_MS)
    desk.proven()
    is_broken(desk, "leaf")
    desk.page.keyboard.press("Escape")
    expect(desk.at("#drawing .box.down")).to_have_count(0)
    is_taken_away(desk)
    desk.at("#undo").click()
    expect(desk.at("#headline")).to_have_text(before, timeout=FULL_MS)


@pytest.mark.long
@pytest.mark.parametrize(("case", "spines", "lost"), [(TWO_TIERS, 4, 4), (CASE, 2, 10)])
def test_a_case_is_opened_slid_broken_and_taken_away(desk: Desk, case: str, spines: int, lost: int) -> None:
    """The first minute: answer, drawing, a slider, the broken spine with the lines that are lost, bill, undo."""
    desk.open(case)
    before = desk.proven()
    expect(desk.at("#drawing .box.spine")).to_have_count(spines, timeout=FULL_MS)
    desk.slide("fabrics.0.max_oversubscription", "ArrowRight")
    expect(desk.at("#headline")).not_to_have_text(before, timeout=FULL_MS)
    assert desk.proven() != before
    assert "max_oversubscription: 1.5" in desk.at("#text").input_value()
    is_broken(desk, "spine")
    expect(desk.at("#broken")).to_contain_text("Gb/s a GPU left")
    expect(desk.at("#drawing polyline.down")).to_have_count(lost)
    desk.page.keyboard.press("Escape")
    expect(desk.at("#broken")).to_be_empty()
    expect(desk.at("#drawing .box.down")).to_have_count(0)
    is_taken_away(desk)
    desk.at("#undo").click()
    expect(desk.at("#headline")).to_have_text(before, timeout=FULL_MS)


@pytest.mark.long
def test_a_fault_stands_at_its_key_until_it_is_mended(desk: Desk) -> None:
    desk.open("quick")
    cost = desk.proven()
    desk.write("pretraining", "pretraning")
    expect(desk.at("#faults")).to_contain_text("quick.yaml: workload.profile", timeout=FULL_MS)
    expect(desk.at("#faults")).to_contain_text("pretraining")
    expect(desk.at("[data-key='workload.profile']")).to_have_attribute("aria-invalid", "true")
    expect(desk.at("#status")).to_contain_text("fault")
    expect(desk.at("#result.old")).to_have_count(1)
    desk.write("pretraning", "pretraining")
    expect(desk.at("#faults")).to_be_empty(timeout=FULL_MS)
    assert desk.proven() == cost


@pytest.mark.long
def test_undo_shows_what_was_proven_at_once(desk: Desk) -> None:
    """Before the server was asked, by buttons and by keys."""
    desk.open("small")
    cost = desk.proven()
    desk.write("servers: 4", "servers: 8")
    expect(desk.at("#screen")).to_contain_text("8 servers", timeout=FULL_MS)
    more = desk.proven()
    desk.page.evaluate("window.holds = '/api/read'")
    desk.at("#undo").click()
    assert desk.at("#status").inner_text().startswith(PROVEN) and desk.at("#headline").inner_text() == cost
    desk.page.evaluate("release()")
    expect(desk.at("#cancel")).to_be_hidden(timeout=FULL_MS)
    desk.page.keyboard.press("Control+y")
    assert desk.proven() == more
    assert "servers: 8" in desk.at("#text").input_value()
    desk.at("#undo").click()
    assert desk.proven() == cost
    expect(desk.at("#undo")).to_be_disabled()


@pytest.mark.long
def test_what_was_cancelled_is_solved_again(desk: Desk) -> None:
    """The answer before stays, greyed, and nothing is said of a drawing that is not there."""
    desk.open("small")
    cost = desk.proven()
    desk.page.evaluate("window.holds = '/api/solve'")
    desk.write("servers: 4", "servers: 2000")
    expect(desk.at("#status")).to_contain_text("Looking", timeout=FULL_MS)
    desk.at("#cancel").click()
    expect(desk.at("#status")).to_contain_text("Stopped", timeout=FULL_MS)
    desk.page.evaluate("release()")
    expect(desk.at("#status")).to_contain_text("the answer before")
    expect(desk.at("#result")).to_have_class("old")
    assert desk.at("#headline").inner_text() == cost
    assert "found 0" not in desk.at("#answer").inner_text()
    desk.at("#again").click()
    expect(desk.at("#screen")).to_contain_text("2,000 servers", timeout=FULL_MS)
    assert desk.proven() != cost
    expect(desk.at("#again")).to_be_hidden()
    desk.at("#cancel").click()
    expect(desk.at("#status")).to_contain_text("comparing was stopped", timeout=FULL_MS)
    expect(desk.at("#again")).to_be_visible()


@pytest.mark.long
def test_six_questions_say_what_is_wrong_at_their_fields(desk: Desk) -> None:
    """The first wrong one has the focus; what is right makes the case; Escape leaves."""
    desk.at("#new").click()
    fields = desk.at("[data-question]")
    for number, words in enumerate(["h999", "12", "pretraining", "ethernet (RoCE)", "none", "much"]):
        fields.nth(number).fill(words)
    desk.page.keyboard.press("Enter")
    expect(desk.at("[data-question][aria-invalid='true']")).to_have_count(3, timeout=FULL_MS)
    expect(fields.first).to_be_focused()
    for number in (0, 1, 5):
        place = fields.nth(number).get_attribute("aria-describedby")
        assert place is not None and desk.at(f"#{place}").inner_text()
    # what is behind the dialog, the page's title too, cannot be reached
    assert set(hard_to_use(desk)) == {"0 main parts", "h2 after h0"}
    desk.said[:] = [said for said in desk.said if "status of 422" not in said]
    for number, words in ((0, "nvidia-dgx-h100"), (1, "32"), (5, "5M")):
        fields.nth(number).fill(words)
    desk.page.keyboard.press("Enter")
    expect(desk.at("#dialog")).to_be_hidden(timeout=FULL_MS)
    desk.proven()
    assert "protocol: ethernet" in desk.at("#text").input_value()
    desk.page.keyboard.press("Control+s")
    desk.page.keyboard.press("Enter")
    expect(desk.at("#path")).to_have_text(re.compile(r"^pod-.*\.yaml$"), timeout=FULL_MS)
    desk.at("#new").focus()
    desk.page.keyboard.press("Enter")
    expect(fields.first).to_be_focused()
    desk.page.keyboard.press("Escape")
    expect(desk.at("#dialog")).to_be_hidden()
    expect(desk.at("#new")).to_be_focused()


@pytest.mark.long
def test_a_slider_is_dragged_with_the_mouse(desk: Desk) -> None:
    """The knob stays under the pointer, the ends are named meanwhile, and the last value holds."""
    desk.open(CASE)
    before = desk.proven()
    knob = desk.at("[data-slides='fabrics.0.max_oversubscription']")
    knob.scroll_into_view_if_needed()
    box = knob.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    desk.page.mouse.move(box["x"] + 8, middle)
    desk.page.mouse.down()
    for step in range(1, 9):
        desk.page.mouse.move(box["x"] + box["width"] * step / 8 - 8, middle)
        desk.page.wait_for_timeout(50)
    desk.page.mouse.up()
    expect(desk.at("#text")).to_have_value(re.compile("max_oversubscription: 8"), timeout=FULL_MS)
    expect(desk.at("#headline")).not_to_have_text(before, timeout=FULL_MS)
    desk.proven()
    assert knob.get_attribute("aria-valuetext") == "8 : 1"


FOUND = {
    "ratio": "fabrics.0.max_oversubscription",
    "bandwidth": "fabrics.0.min_gbps_per_gpu",
    "budget": "limits.budget_usd",
    "family": "fabrics.0.topologies",
    "spares": "procurement.spares",
    "redundancy": "resilience",
}


@pytest.mark.long
def test_keys_are_found_and_rules_explained(desk: Desk) -> None:
    """By words that people use; a rule is added by its name, and its badge says what it means; *what else* is taken."""
    desk.open(CASE)
    desk.proven()
    if not desk.at("#form").is_visible():
        desk.at("#tab-form").click()
    for words, key in FOUND.items():
        desk.at("#find").fill(words)
        assert key in desk.at("#found button").all_inner_texts(), words
    desk.at("#find").fill("zzzz")
    expect(desk.at("#found")).to_contain_text("No key")
    desk.at("#find").fill("")
    desk.at("[data-part='rules'] > summary").click()
    add = desk.at("[data-part='rules'] .tools button")
    add.click()
    expect(desk.at("[data-part='rules'] [role='alert']")).to_contain_text("first")
    desk.page.get_by_label("new entry of rules").fill("two-switches")
    add.click()
    expect(desk.at("#text")).to_have_value(re.compile("two-switches: false"), timeout=FULL_MS)
    desk.proven()
    desk.at("[data-key='rules.two-switches']").focus()
    expect(desk.at("#means")).to_contain_text("rules.two-switches: ")
    desk.at("#badges .off summary").first.click()
    expect(desk.at("#badges .off p").first).to_be_visible()
    desk.page.get_by_role("button", name=re.compile("^Take: ")).first.click(timeout=FULL_MS)
    expect(desk.at("#undo")).to_be_enabled()
    desk.proven()


@pytest.mark.long
def test_what_opens_later_can_be_used_by_all(desk: Desk) -> None:
    """What broke, two designs compared, the points of a sweep: each is in Chromium's tree with its name."""
    desk.open("small")
    desk.proven()
    desk.at("#pin-name").fill("four")
    desk.at("#pin-go").click()
    desk.write("servers: 4", "servers: 8")
    expect(desk.at("#screen")).to_contain_text("8 servers", timeout=FULL_MS)
    desk.proven()
    desk.page.get_by_role("button", name="Compare four").click()
    expect(desk.at("#compared table").first).to_be_visible(timeout=FULL_MS)
    desk.at("#drawing .box.leaf").first.focus()
    desk.page.keyboard.press("Enter")
    expect(desk.at("#broken")).to_contain_text("Without", timeout=FULL_MS)
    desk.at("#sweep-key").select_option("servers")
    desk.at("#sweep-values").fill("4, 8")
    desk.at("#sweep-go").click()
    expect(desk.at(".mark")).to_have_count(2, timeout=FULL_MS)
    expect(desk.at("#front-stop")).to_be_hidden(timeout=FULL_MS)
    desk.at("#chart summary").click()
    expect(desk.at("#cancel")).to_be_hidden(timeout=FULL_MS)
    assert hard_to_use(desk) == []
    desk.page.get_by_role("button", name="Remove four").click()
    desk.page.set_viewport_size({"width": 1280, "height": 900})


SAY = """([kind, run]) => {
  const facts = { capex_usd: 1, fabrics: [] };
  const words = { doing: "late", words: "late", status: "optimal", answer: "0" };
  hear(kind, { run, ...words, best: 1, bound: 1, share: 0.5, code: 0, screen: [], facts, row: {} });
  return ["status", "headline", "cancel"].map((id) => document.getElementById(id))
    .map((part) => part.hidden ? "" : part.textContent);
}"""


@pytest.mark.long
def test_no_run_speaks_for_a_text_that_is_newer(desk: Desk) -> None:
    """Events that come late, in any order, while the text has a fault or its own run has no number yet."""
    late = ("progress", "best", "answer", "compared", "ended")
    with desk.page.expect_response("**/api/solve") as waiting:
        desk.open("quick")
    cost, run = desk.proven(), waiting.value.json()["run"]
    desk.page.evaluate("window.holds = '/api/cancel'")
    desk.write("pretraining", "pretraning")
    expect(desk.at("#faults li")).to_have_count(1, timeout=FULL_MS)
    for number in (run, run + 1):
        for kind in (*late, *reversed(late)):
            status, headline, cancel = desk.page.evaluate(SAY, [kind, number])
            assert "fault" in status and headline == desk.at("#headline").text_content() and not cancel, kind
    assert desk.at("#headline").inner_text() == cost
    desk.page.evaluate("release(); window.holds = '/api/solve'")
    # another text than the one that is proven, of which nobody would be asked
    desk.write("pretraning}", "pretraining}  # again")
    expect(desk.at("#status")).to_contain_text("Looking", timeout=FULL_MS)
    for kind in late:
        assert "Looking" in desk.page.evaluate(SAY, [kind, run])[0], kind
    desk.page.wait_for_timeout(700)
    expect(desk.at("#status")).to_contain_text("Looking")
    desk.page.evaluate("release()")
    assert desk.proven() == cost


def test_form_and_parts_write_keys_of_the_text(desk: Desk) -> None:
    """A key of the form and a part that is banned stand in the text at once, and undo takes them out of it."""
    desk.open("quick")
    desk.proven()
    text = desk.at("#text").input_value()
    desk.at("#tab-form").click()
    desk.at("#find").fill("budget usd")
    desk.at("#found button").first.click()
    desk.at("[data-key='limits.budget_usd']").fill("1000000")
    desk.page.keyboard.press("Enter")
    expect(desk.at("#text")).to_have_value(re.compile(f"^{COMMENT}(?s:.*)budget_usd: 1000000"), timeout=FULL_MS)
    desk.at("#tab-parts").click()
    desk.page.get_by_role("button", name=re.compile("^Ban ")).first.click(timeout=FULL_MS)
    expect(desk.at("#text")).to_have_value(re.compile("forbidden_parts"), timeout=FULL_MS)
    desk.at("#undo").click()
    desk.at("#undo").click()
    expect(desk.at("#text")).to_have_value(text, timeout=FULL_MS)


@pytest.mark.long
def test_a_key_of_the_form_is_a_key_of_the_text(desk: Desk) -> None:
    """Typed, undone, redone; what it means is said; comments stay."""
    desk.open("small")
    desk.proven()
    desk.at("#tab-form").click()
    desk.at("#find").fill("budget usd")
    desk.at("#found button").first.click()
    field_ = desk.at("[data-key='limits.budget_usd']")
    expect(field_).to_be_focused()
    means = field_.evaluate("one => document.getElementById(one.getAttribute('aria-describedby')).textContent")
    assert means.startswith("limits.budget_usd: ")
    field_.fill("1000")
    field_.press("Enter")
    desk.proven("No design")
    text = desk.at("#text").input_value()
    assert "budget_usd: 1000" in text and text.startswith(COMMENT)
    expect(desk.at("#levers button").first).to_be_visible()
    desk.at("#levers button").first.click()
    desk.proven()
    desk.page.keyboard.press("Control+z")
    desk.proven("No design")


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.long)])
def test_it_can_be_used_by_all(desk: Desk, scheme: Literal["light", "dark"]) -> None:
    """Nothing wider than the window at any width; Chromium's tree finds names, levels and contrast in order.

    The names of the case are markup, and stay text.
    """
    desk.page.emulate_media(color_scheme=scheme)
    desk.open("hostile")
    desk.proven()
    assert desk.page.title().startswith("hostile.yaml")
    assert desk.at("[data-key='description']").input_value() == SCRIPT
    assert desk.at("img").count() == 0 and desk.at("script").count() == 1
    for width in (420, 1280, 2560):
        desk.page.set_viewport_size({"width": width, "height": 900})
        content, window = desk.widths()
        assert content <= window == width
    desk.page.set_viewport_size({"width": 1280, "height": 900})
    expect(desk.at("#cancel")).to_be_hidden(timeout=FULL_MS)
    assert hard_to_use(desk) == []


@pytest.mark.long
def test_rules_are_badges_and_parts_are_pinned_banned_and_asked_about(desk: Desk) -> None:
    """And the price of a kind is slid, which the text does not say."""
    desk.open("one-switch")
    before = desk.proven()
    network = desk.at("#sentence").inner_text()
    expect(desk.at("#badges .out")).to_contain_text("two-switches")
    expect(desk.at("#badges .off")).to_contain_text("two-spines")
    desk.at("#tab-parts").click()
    desk.at("#part-search").fill("nvidia-sn5600")
    desk.page.get_by_role("button", name="Why not nvidia-sn5600?", exact=True).click()
    expect(desk.at("#parts .why").first).to_contain_text("nvidia-sn5600", timeout=FULL_MS)
    desk.at("#part-search").fill("")
    used = desk.page.get_by_role("button", name=re.compile("^Pin .* as leaf of compute$"))
    desk.page.get_by_role("button", name=re.compile("^Ban ")).first.click()
    expect(desk.at("#sentence")).not_to_have_text(network, timeout=FULL_MS)
    assert desk.proven() and "forbidden_parts" in desk.at("#text").input_value()
    expect(desk.at("#parts [aria-pressed='true']")).to_have_count(1, timeout=FULL_MS)
    used.first.click()
    expect(desk.at("#text")).to_have_value(re.compile("leaf: "), timeout=FULL_MS)
    desk.at("#undo").click()
    desk.at("#undo").click()
    expect(desk.at("#sentence")).to_have_text(network, timeout=FULL_MS)
    desk.proven()
    text = desk.at("#text").input_value()
    desk.slide("price", "ArrowRight")
    expect(desk.at("#badges")).to_contain_text("switch +5 %", timeout=FULL_MS)
    expect(desk.at("#headline")).not_to_have_text(before, timeout=FULL_MS)
    assert desk.proven() and desk.at("#text").input_value() == text
    desk.at("#price-back").click()
    expect(desk.at("#headline")).to_have_text(before, timeout=FULL_MS)
    desk.proven()
    # what is drawn again keeps the focus
    desk.at("#tab-drawing").click()
    desk.at("#drawing .box.leaf").first.focus()
    desk.at("#price").evaluate("slider => { slider.value = 10; slider.dispatchEvent(new Event('input')) }")
    expect(desk.at("#headline")).not_to_have_text(before, timeout=FULL_MS)
    expect(desk.at("#drawing.old")).to_have_count(0, timeout=FULL_MS)
    expect(desk.at("#drawing .box.leaf").first).to_be_focused()


@pytest.mark.long
def test_cables_feeds_and_racks_break_and_racks_are_kept_free(desk: Desk) -> None:
    desk.open("hall-1024-gpus")
    desk.proven()
    leaf = desk.at("#drawing .box.leaf").first
    leaf.focus()
    desk.page.keyboard.press("Enter")
    expect(desk.at("#broken select")).to_be_visible(timeout=FULL_MS)
    desk.at("#broken select").select_option(index=1)
    expect(desk.at("#broken")).to_contain_text("Without cable", timeout=FULL_MS)
    desk.at("#drawing polyline.cable").first.dispatch_event("click")
    expect(desk.at("#drawing polyline.down")).to_have_count(1, timeout=FULL_MS)
    expect(desk.at("#drawing .degraded")).to_have_count(1)
    desk.page.get_by_role("button", name="Break feed A").click()
    expect(desk.at("#broken")).to_contain_text("feed A", timeout=FULL_MS)
    desk.at("#tab-floor").click()
    rack = desk.at("#floor [data-rack='A01']")
    rack.click(timeout=FULL_MS)
    expect(rack).to_have_class(re.compile("down"), timeout=FULL_MS)
    desk.page.get_by_role("button", name="Keep this rack free").click()
    expect(desk.at("#text")).to_have_value(re.compile(r"reserved: .*A01"), timeout=FULL_MS)
    expect(desk.at("#floor .reserved")).not_to_have_count(0, timeout=FULL_MS)


@pytest.mark.long
def test_a_sweep_draws_points_that_the_mouse_takes(desk: Desk) -> None:
    desk.open("small")
    before = desk.proven()
    desk.at("#sweep-key").select_option("servers")
    desk.at("#sweep-values").fill("4, 8, 16")
    desk.at("#sweep-go").click()
    expect(desk.at(".mark")).to_have_count(3, timeout=FULL_MS)
    expect(desk.at("#front-stop")).to_be_hidden(timeout=FULL_MS)
    desk.at(".mark").nth(2).click(modifiers=["Shift"])
    expect(desk.at("#compared")).to_contain_text("This design against", timeout=FULL_MS)
    desk.at(".mark").nth(1).click()
    expect(desk.at("#text")).to_have_value(re.compile("servers: 8"), timeout=FULL_MS)
    expect(desk.at("#headline")).not_to_have_text(before, timeout=FULL_MS)


@pytest.mark.long
def test_pins_are_compared_and_kept(browser: Browser, full: Served) -> None:
    with tab_of(browser, full) as tab:
        tab.open(CASE)
        before = tab.proven()
        tab.at("#pin-name").fill("one to one")
        tab.at("#pin-go").click()
        expect(tab.at("#pin-list")).to_contain_text("one to one", timeout=FULL_MS)
        tab.slide("fabrics.0.max_oversubscription", "ArrowRight")
        expect(tab.at("#headline")).not_to_have_text(before, timeout=FULL_MS)
        tab.proven()
        tab.page.get_by_role("button", name="Compare one to one").click()
        expect(tab.at("#compared")).to_contain_text("purchase price", timeout=FULL_MS)
    with tab_of(browser, full) as tab:
        tab.page.keyboard.press("Escape")
        expect(tab.at("#pin-list")).to_contain_text("one to one", timeout=FULL_MS)
        tab.page.get_by_role("button", name="Remove one to one").click()
        expect(tab.at("#pin-list")).not_to_contain_text("one to one", timeout=FULL_MS)


@pytest.mark.long
def test_a_point_of_the_front_becomes_the_design(desk: Desk) -> None:
    desk.open("thin")
    before = desk.proven()
    desk.at("#metric").select_option("bisection")
    desk.at("#front-go").click()
    expect(desk.at("#front-stop")).to_be_hidden(timeout=4 * FULL_MS)
    expect(desk.at(".mark").nth(1)).to_be_visible(timeout=FULL_MS)
    desk.at(".mark").first.focus()
    desk.page.keyboard.press("ArrowRight")
    expect(desk.at(".mark").nth(1)).to_be_focused()
    desk.page.keyboard.press("Shift+Enter")
    expect(desk.at("#compared")).to_contain_text("This design against", timeout=FULL_MS)
    desk.at(".mark").last.focus()
    desk.page.keyboard.press("Enter")
    expect(desk.at("#headline")).not_to_have_text(before, timeout=FULL_MS)


@pytest.mark.long
def test_two_tabs_do_not_disturb_each_other(browser: Browser, full: Served) -> None:
    with tab_of(browser, full) as one, tab_of(browser, full) as other:
        one.open(CASE)
        other.open("small")
        cost, small = one.proven(), other.proven()
        assert cost != small
        other.write("servers: 4", "servers: 8")
        expect(other.at("#headline")).not_to_have_text(small, timeout=FULL_MS)
        other.proven()
        assert one.at("#headline").inner_text() == cost


@pytest.mark.long
def test_of_thirty_changes_the_last_one_holds(desk: Desk) -> None:
    desk.open("small")
    desk.proven()
    for number in range(5, 35):
        desk.write(f"servers: {number - 1}", f"servers: {number}")
        desk.page.wait_for_timeout(300)
    expect(desk.at("#headline")).to_contain_text("$", timeout=FULL_MS)
    expect(desk.at("#screen")).to_contain_text("34 servers", timeout=FULL_MS)
    desk.proven()


@pytest.mark.long
def test_a_large_case_does_not_freeze_the_page(browser: Browser, full: Served) -> None:
    with tab_of(browser, full) as tab:
        tab.open("pretraining-16384-gpus")
        expect(tab.at("#cancel")).to_be_visible(timeout=FULL_MS)
        tab.at("#find").fill("rails")
        expect(tab.at("#found li").first).to_be_visible(timeout=2000)
        assert "$" in tab.proven()
        tab.at("#tab-bill").click()
        expect(tab.at("#bill table")).to_be_visible(timeout=FULL_MS)


@pytest.mark.long
def test_the_page_waits_for_a_server_that_ended(browser: Browser, tmp_path: Path) -> None:
    """What was written is kept, and is there at the address of the server that is started again."""
    (tmp_path / "small.yaml").write_text(f"name: small\n{SMALL}")
    served, end = serve(tmp_path)
    port = int(served.host.rpartition(":")[2])
    with tab_of(browser, served) as tab:
        tab.open("small")
        cost = tab.proven()
        tab.write("servers: 4", "servers: 4  # four")
        tab.proven()
        end()
        expect(tab.at("#lost")).to_be_visible(timeout=FULL_MS)
        assert "# four" in tab.at("#text").input_value() and tab.at("#headline").inner_text() == cost
        again, end = serve(tmp_path, port)
        tab.page.goto(f"http://{again.host}/?token={again.key}")
        assert tab.proven() == cost
        assert "# four" in tab.at("#text").input_value()
        assert all("Failed to load resource" in words for words in tab.said)
        tab.said.clear()
    end()
