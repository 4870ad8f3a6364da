"""Pictures of fronts and sweeps: what is drawn where, in all formats, and that words stay words."""

from __future__ import annotations

import io
import json
import re
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest
from rich.console import Console

from fabopt.errors import InputError, OutputError
from fabopt.output.charts.bars import cost_bars, short_money
from fabopt.output.charts.compose import charts, trade
from fabopt.output.charts.front import Spot, placed
from fabopt.output.charts.points import Quantity, axes_of, dots_of, point_label, shown_label
from fabopt.output.charts.style import FILE_PALETTE
from fabopt.output.html.front_page import front_table
from fabopt.output.plot import ENDINGS, plot_bytes, write_plot
from fabopt.output.terminal.front import PLOT_HEIGHT, front_summary, span
from fabopt.output.words import KIND_NAMES, begins_at_zero
from fabopt.schema.design import CaseRecord, Front, FrontObjective
from tests.samples import front_samples, small
from tests.samples.page_samples import SCRIPT, expanded, outside

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SVG = "{http://www.w3.org/2000/svg}"
MIN_GBPS, RATIO = "fabrics.compute.min_gbps_per_gpu", "fabrics.compute.max_oversubscription"
BUDGET = "limits.budget_usd"
CASE = small.case({"tiers": "any"})


def swept(*settings: Mapping[str, Any], maximize: str = "") -> Front:
    return front_samples.sweep(CASE, small.catalog(), *settings, maximize=maximize)


@pytest.fixture(scope="module")
def pareto() -> Front:
    return front_samples.pareto(CASE, small.catalog(), (50, 100, 200), knee=1, third="")


@pytest.fixture(scope="module")
def budgets() -> Front:
    """The case needs more than the first budget, and less than the others."""
    return swept(*({BUDGET: usd} for usd in (1000, 200_000, 300_000)), maximize="gbps_per_gpu")


@pytest.fixture(scope="module")
def grid() -> Front:
    """No card gives 5,000 Gb/s per GPU."""
    return swept(*({MIN_GBPS: gbps, RATIO: ratio} for gbps in (100, 200, 5000) for ratio in (1, 2)))


def drawing(front: Front) -> ElementTree.Element:
    return ElementTree.fromstring(plot_bytes(front, ".svg"))


def texts(root: ElementTree.Element) -> list[str]:
    return [text.text or "" for text in root.iter(f"{SVG}text")]


def described(root: ElementTree.Element) -> list[str]:
    """What the marks say to who cannot see them."""
    marks = [one for one in root.iter() if one.get("role") == "graphics-symbol" and one.tag != f"{SVG}g"]
    return [one.get("aria-label") or "" for one in marks]


# -- what is drawn ----------------------------------------------------------------------------------------------------


def test_front_has_every_point_with_its_design(pareto: Front) -> None:
    found = drawing(pareto)
    words = [one for one in described(found) if one.startswith("point ") and "clos" in one]
    assert len(words) == len(pareto.points)
    for point, said in zip(pareto.points, words, strict=True):
        assert shown_label(pareto, point) in said
        assert f"purchase price ${point.values['capex_usd']:,.0f}" in said
        assert f"Gb/s per GPU {point.values['gbps_per_gpu']:g}" in said
    assert [one for one in words if "knee" in one] == [words[1]]
    assert sum(text.startswith("knee: clos, ") for text in texts(found)) == 2  # letters, and the halo behind them


def test_label_is_topology_leaf_ratio(pareto: Front) -> None:
    point = pareto.points[-1]
    leaf = point.fabrics[0].tiers[0]
    ratio = point.fabrics[0].oversubscription.get("leaf")
    assert point_label(point) == ", ".join(["clos", leaf.id, *([] if ratio is None else [f"{ratio:g}:1"])])
    double = point.model_copy(update={"fabrics": (*point.fabrics, *point.fabrics)})
    assert point_label(double) == f"{point_label(point)} (+1 fabric)"
    assert point_label(point.model_copy(update={"fabrics": ()})) == ""


def test_axes_put_what_is_minimized_along() -> None:
    objectives = (
        FrontObjective(metric="bisection_gbps_per_gpu", sense="maximize"),
        FrontObjective(metric="power_w", sense="minimize"),
    )
    front = Front(fabopt="0", case=front_samples.record(CASE), kind="pareto", objectives=objectives)
    assert (axes_of(front).x.name, axes_of(front).y.name) == ("power_w", "bisection_gbps_per_gpu")
    both = (FrontObjective(metric="capex_usd", sense="minimize"), FrontObjective(metric="power_w", sense="minimize"))
    axes = axes_of(front.model_copy(update={"objectives": both}))
    assert (axes.x.name, axes.y.name, axes.third) == ("capex_usd", "power_w", None)


def test_third_objective_is_size() -> None:
    front = front_samples.pareto(CASE, small.catalog(), (50, 100, 200), knee=0, third="power_w")
    assert axes_of(front).third == Quantity("power_w")
    assert trade(front) == "Purchase price against Gb/s per GPU and power"
    found = list(drawing(front).iter(f"{SVG}path"))
    marks = [
        one for start in ("point 1;", "point 3;") for one in found if (one.get("aria-label") or "").startswith(start)
    ]
    radii = [float((one.get("d") or "")[1:].partition(",")[0]) for one in marks]  # a circle's path begins at its right
    assert len(radii) == 2 and radii[0] < radii[1]


def with_budget(front: Front, budget: int) -> Front:
    content = {**front.case.content, "limits": {"budget_usd": budget}}
    return front.model_copy(update={"case": CaseRecord(name="small", sha256="0", content=content)})


def test_budget_of_the_case_is_a_line(pareto: Front) -> None:
    """Or words, where the axis ends before it."""
    assert "budget $35,000" in texts(drawing(with_budget(pareto, 35_000)))
    assert "budget $35,000,000, beyond this axis" in texts(drawing(with_budget(pareto, 35_000_000)))
    assert not any(text.startswith("budget $") for text in texts(drawing(pareto)))


@pytest.mark.parametrize("width", [20, 40, 61, 62, 100])
def test_plot_of_a_terminal_is_no_wider_than_it(pareto: Front, width: int) -> None:
    page = io.StringIO()
    Console(width=width, file=page).print(front_summary(with_budget(pareto, 35_000_000)))
    lines = page.getvalue().splitlines()
    plot = [line for line in lines if any(0x2800 < ord(letter) < 0x2900 for letter in line)]
    assert max(map(len, lines)) <= width and plot and len(plot) <= PLOT_HEIGHT
    assert "the budget is $35,000,000" in " ".join(page.getvalue().split())


def test_budget_sweep_shows_budgets_and_where_there_is_no_design(budgets: Front) -> None:
    axes = axes_of(budgets)
    assert (axes.x.name, axes.y.name) == (BUDGET, "gbps_per_gpu")
    assert [dot.is_drawn for dot in dots_of(budgets, axes)] == [False, True, True]
    found = drawing(budgets)
    assert "no design" in texts(found)
    [gap] = [one for one in described(found) if "no design (proven)" in one]
    assert gap.startswith("point 1; budget $1,000; no design (proven): limits.budget_usd")


def test_sweep_is_drawn_by_what_its_points_are_best_in(budgets: Front) -> None:
    """Under budgets what is maximized, else the first objective, else that of the solver."""
    least, most = FrontObjective(metric="capex_usd", sense="minimize"), budgets.objectives[0]
    both = budgets.model_copy(update={"objectives": (least, most)})
    assert axes_of(both).y.name == "gbps_per_gpu"
    assert axes_of(both.model_copy(update={"keys": (RATIO,)})).y.name == "capex_usd"
    assert axes_of(swept({RATIO: 1})).y.name == "capex_usd"


def test_sweep_over_words_has_a_place_for_each() -> None:
    front = swept({"fabrics.compute.protocol": "any"}, {"fabrics.compute.protocol": "ethernet"})
    assert {"any", "ethernet"} <= set(texts(drawing(front)))


def test_cost_is_stacked_by_kind_along_the_front(pareto: Front) -> None:
    found = described(drawing(pareto))
    for number, point in enumerate(pareto.points, start=1):
        for kind, usd in point.capex_by_kind.items():
            assert f"point {number}, {KIND_NAMES[kind]}: ${usd:,.0f}" in found


def test_grid_is_a_heat_map(grid: Front) -> None:
    [chart] = charts(grid, FILE_PALETTE)
    assert chart.title == "Purchase price by min_gbps_per_gpu and max_oversubscription"
    found = drawing(grid)
    cells = [one for one in described(found) if one.startswith("point ")]
    assert len(cells) == len(grid.points)
    assert sum("no design" in cell for cell in cells) == texts(found).count("×") == 2


def test_a_word_among_numbers_stays_a_word() -> None:
    keys = ({"fabrics.compute.tiers": tiers, RATIO: ratio} for tiers in (2, "any") for ratio in (1, 2))
    found = texts(drawing(swept(*keys)))
    assert {"2", "any"} <= set(found) and not {"NaN", "null"} & set(found)


def test_every_point_is_in_the_table(budgets: Front, pareto: Front) -> None:
    table = front_table(budgets)
    assert [title for title, _ in table.columns][:3] == ["Point", "Budget", "Design"]
    assert table.rows[0][:4] == ("1", "$1,000", "no design (proven): limits.budget_usd", "-")
    assert {len(row) for row in table.rows} == {len(table.columns)}
    last = [title for title, _ in front_table(pareto).columns][-2:]
    assert last == ["$ per Gb/s per GPU more", ""]
    assert [row[-2:] for row in front_table(pareto).rows[:2]] == [("-", ""), ("$1,200.50", "knee")]


def test_many_points_lose_their_numbers_and_not_their_places(pareto: Front) -> None:
    many = pareto.model_copy(update={"points": pareto.points * 60})
    [*_, bars] = charts(many.model_copy(update={"points": many.points[:100]}), FILE_PALETTE)
    assert bars.title == "What the money buys"
    assert list(charts(many, FILE_PALETTE))[1].about.endswith("60 of 180 points, evenly spread")  # or they are too thin
    marks = [one for one in described(drawing(many)) if one.startswith("point ") and "; " in one]
    assert len(marks) == len(many.points)


@pytest.mark.parametrize("kind", ["sweep", "pareto"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_front_without_points_says_so(kind: Any, ending: str) -> None:
    data = plot_bytes(Front(fabopt="0", case=front_samples.record(CASE), kind=kind), ending)
    assert ending == ".png" or b"no points" in data


def test_one_point_is_enough(pareto: Front) -> None:
    alone = pareto.model_copy(update={"points": pareto.points[:1]})
    assert len([one for one in described(drawing(alone)) if "clos" in one]) == 1


def test_only_infeasible_points_are_still_drawn(budgets: Front) -> None:
    none = budgets.model_copy(update={"points": budgets.points[:1]})
    assert "no design" in texts(drawing(none))


# -- words and places -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("usd", "text"),
    [(0, "$0"), (950, "$950"), (81_600, "$81.6K"), (999_600, "$1000K"), (1_370_080, "$1.37M"), (12e9, "$12B")],
)
def test_short_money(usd: float, text: str) -> None:
    assert short_money(usd) == text


@pytest.mark.parametrize(
    ("name", "title", "words"),
    [
        ("capex_usd", "purchase price", "$5"),
        ("power_w", "power", "5 W"),
        ("limits.budget_usd", "budget", "$5"),
        ("gbps_per_gpu", "Gb/s per GPU", "5"),
        ("idle_ports", "idle ports", "5"),
        ("stages.1.servers", "stages.1.servers", "5"),
    ],
)
def test_quantities_have_titles_and_units(name: str, title: str, words: str) -> None:
    assert (Quantity(name).title, Quantity(name).words(5)) == (title, words)


def test_labels_cover_nothing() -> None:
    """Two points 20 pixels apart: the urgent one is labelled at once, the other where the first does not reach."""
    spots = [Spot(100, 100, "one two three", False), Spot(120, 100, "four five six", True)]
    other, urgent = placed(spots, 400, 200, size=10, radius=5, rising=True)
    assert urgent is not None and (urgent.align, urgent.dy > 0) == ("left", True)
    assert other is not None and (other.align, other.dy < 0) == ("right", True)
    assert placed(spots, 60, 200, 10, 5, rising=True) == [None, None]  # both would leave the chart
    [above] = placed([Spot(100, 100, "up", False)], 400, 200, 10, 5, rising=False)
    assert above is not None and above.dy < 0


def test_many_points_have_each_label_once(pareto: Front) -> None:
    """200 copies of each point: the labels of three designs, the knee's again, and bars along 60 of them."""
    copies = tuple(
        one.model_copy(update={"knee": one.knee and number == 100})
        for one in pareto.points
        for number in range(200)
    )  # fmt: skip
    front = pareto.model_copy(update={"points": copies})
    chart, bars = charts(front, FILE_PALETTE)
    texts = [
        row["text"]
        for layer in chart.spec["layer"]
        if layer.get("mark", {}).get("stroke") is None
        for row in layer.get("data", {}).get("values", [])
        if isinstance(row, dict) and "text" in row
    ]
    assert len(texts) == len(set(texts)) <= len({point_label(one) for one in copies}) + 1
    assert any(text.startswith("knee: ") for text in texts)
    assert bars.about == f"purchase price by kind of part; 60 of {len(copies)} points, evenly spread"


def test_a_very_long_front_is_drawn_by_some_of_its_points(pareto: Front) -> None:
    """1,501 points: 500 evenly spread, the first and the last among them, and the knee."""
    plain = [one.model_copy(update={"knee": False}) for one in pareto.points] * 501
    points = (*plain[:100], pareto.points[0].model_copy(update={"knee": True}), *plain[:1400])
    front = pareto.model_copy(update={"points": points})
    numbers = [dot.number for dot in dots_of(front, axes_of(front))]
    assert len(numbers) in (500, 501) and {1, 101, 1501} <= set(numbers)
    assert [row[0] for row in front_table(front).rows] == [str(number) for number in numbers]
    assert (
        next(charts(front, FILE_PALETTE)).about
        == f"{len(numbers)} designs; of 1,501 points of the front, evenly spread"
    )


def test_bars_are_as_high_as_their_parts() -> None:
    spec = cost_bars([("1", {"switch": 10, "nic": 5.5}), ("2", {})], FILE_PALETTE, "point")
    bars, totals = spec["layer"]
    assert [row["usd"] for row in bars["data"]["values"]] == [10, 5.5]
    assert [row["usd"] for row in totals["data"]["values"]] == [15.5]
    assert bars["encoding"]["x"]["scale"]["domain"] == ["1", "2"]


# -- formats ----------------------------------------------------------------------------------------------------------


@pytest.mark.long(".png")
@pytest.mark.parametrize("ending", ENDINGS)
def test_same_front_same_bytes(pareto: Front, ending: str) -> None:
    assert plot_bytes(pareto, ending) == plot_bytes(pareto, ending)


def test_png_is_as_large_as_the_svg_twice(pareto: Front, tmp_path: Path) -> None:
    write_plot(pareto, tmp_path / "front.png")
    data = (tmp_path / "front.png").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", data[16:24])
    root = drawing(pareto)
    assert abs(width - 2 * float(root.get("width") or 0)) <= 2
    assert abs(height - 2 * float(root.get("height") or 0)) <= 2
    assert len(data) < 500_000


@pytest.mark.long(but=("budgets",))
@pytest.mark.parametrize("name", ["pareto", "budgets", "grid"])
def test_html_opens(browser: Browser, tmp_path: Path, request: pytest.FixtureRequest, name: str) -> None:
    front = request.getfixturevalue(name)
    path = tmp_path / "front.html"
    write_plot(front, path)
    assert path.stat().st_size < 500_000 and outside(path.read_text()) == []
    regions = re.findall(r'region" aria-label="([^"]*)"', path.read_text())
    assert regions and not any(f">{one}</h" in path.read_text() for one in regions)
    for width in (400, 1600):
        with expanded(browser, path, width) as tab:
            content, window = tab.widths()
            assert content <= window
            assert tab.page.locator("table tbody tr").count() == len(front.points)
            mark = tab.page.locator(".chart path[aria-label^='point '], .chart [aria-label^='point 2']").last
            mark.hover(force=True)
            assert tab.page.locator(".tip").inner_text().startswith("point ")
            if name != "grid":
                tab.page.locator(".chart path[tabindex][aria-label^='point 1;']").focus()
                assert tab.page.locator(".tip").inner_text().startswith("point 1;")
            assert tab.page.locator(".chart path title").count() == 0
            stops = tab.page.locator(".chart svg [tabindex='0']")
            assert stops.count() == tab.page.locator(".chart svg").count()
            stops.first.focus()
            tab.page.keyboard.press("ArrowRight")
            said = tab.page.evaluate("document.activeElement.getAttribute('aria-label')")
            assert tab.page.locator(".tip").inner_text() == said


def test_marks_tell_their_words_on_hover_in_files(pareto: Front) -> None:
    """Points are reached by keyboard, bars are not; every mark with words has them as its title."""
    marks = [one for one in drawing(pareto).iter(f"{SVG}path") if one.get("aria-label")]
    assert all(one.findtext(f"{SVG}title") == one.get("aria-label") for one in marks)
    reached = [one.get("aria-label", "") for one in marks if one.get("tabindex") == "0"]
    assert [words.partition(";")[0] for words in reached] == [f"point {n}" for n in range(1, len(pareto.points) + 1)]


def test_the_first_and_last_point_have_a_label_however_long_theirs_is(pareto: Front) -> None:
    """Facts that have no room are left to the table; the first ones stay."""
    long = tuple(
        point.model_copy(update={"label": f"{number} x 400G, bisection {number} Gb/s, {'32 x a-leaf-switch + ' * 5}"})
        for number, point in enumerate(pareto.points, start=1)
    )
    shown = texts(drawing(pareto.model_copy(update={"points": long})))
    assert {"1 x 400G, bisection 1 Gb/s", f"{len(long)} x 400G, bisection {len(long)} Gb/s"} <= {
        words.removeprefix("knee: ") for words in shown
    }


@pytest.mark.parametrize(
    ("values", "begins"), [((200, 400), True), ((2.1e6, 4.2e6), True), ((5, 9), False), ((-3, 9), False)]
)
def test_an_axis_begins_at_zero_where_that_wastes_no_more_than_half(values: tuple[float, float], begins: bool) -> None:
    assert begins_at_zero(*values) == begins == (span(values)[0] == 0)


def test_numbers_of_points_do_not_run_into_each_other(pareto: Front) -> None:
    """Thirty points of which some lie on each other: their marks stay, numbers that have no room do not."""
    one = pareto.points[0]
    assert one.totals is not None
    points = tuple(
        one.model_copy(update={"values": {**one.values, "capex_usd": usd, "power_w": 100_000 - 3 * usd}})
        for usd in [*range(1000, 1015), *range(20_000, 20_300, 20)]
    )
    front = pareto.model_copy(update={"points": points})
    found = drawing(front)
    assert sum(words.startswith("point ") and ";" in words for words in described(found)) == len(points)
    places = []
    for text in found.iter(f"{SVG}text"):
        if text.get("font-weight") == "bold" and (text.text or "").isdigit():
            x, y = (text.get("transform") or "")[len("translate(") : -1].split(",")
            places.append((float(x), float(y)))
    assert 2 <= len(places) < len(points)
    for number, (x, y) in enumerate(places):
        assert all(abs(x - other) >= 13 or abs(y - up) >= 11 for other, up in places[:number])


def test_words_of_a_front_stay_words(browser: Browser, pareto: Front, tmp_path: Path) -> None:
    """A leaf's id, a summary, a limit: whatever the file says."""
    content = pareto.model_dump(mode="json", by_alias=True)
    content["case"]["name"] = SCRIPT
    for point in content["points"]:
        point["fabrics"][0]["tiers"][0]["id"] = SCRIPT
    front = Front.model_validate_json(json.dumps(content))
    assert SCRIPT in " ".join(described(ElementTree.fromstring(plot_bytes(front, ".svg"))))
    write_plot(front, tmp_path / "front.html")
    with expanded(browser, tmp_path / "front.html") as tab:
        assert SCRIPT in tab.page.title() and SCRIPT in tab.page.locator("table").inner_text()
        assert tab.page.locator("script").count() == 1 and tab.page.locator("img").count() == 0


@pytest.mark.parametrize("name", ["front.pdf", "front", "front.svg.zip", "-"])
def test_other_endings_are_refused(pareto: Front, tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"a plot is not written like this; allowed: \.html, \.png, \.svg"):
        write_plot(pareto, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_unwritable_places_are_refused(pareto: Front, tmp_path: Path) -> None:
    (tmp_path / "folder.svg").mkdir()
    for path in (tmp_path / "none" / "front.svg", tmp_path / "folder.svg"):
        with pytest.raises(OutputError):
            write_plot(pareto, path)
