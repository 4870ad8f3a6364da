"""What a design comes to, part by part, in words and tables: the terminal, the page and the workbook show the same.

A part that a design does not have, or that its file does not state, is None.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from fabopt.output.stated import Column, StatedTable, Statement, statement_of, table_of
from fabopt.output.words import count, joined, listed, measured, money, percent, plain, power, run, signed_money
from fabopt.rules.defaults import TWO_SWITCHES
from fabopt.schema.design import Design, FabricDesign, LinkPart, LinkRow, StageStructure, TierUse
from fabopt.schema.futures import Future, Number
from fabopt.schema.labour import MOVED, TaskMinutes
from fabopt.schema.losses import PLACES, SinglePoint
from fabopt.units import largest, some
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.latency import Path, paths_of

NS_PER_US = BYTES_PER_KB = 1000


# -- single points of failure ---------------------------------------------------------------------------------------


# What an out-of-band fabric counts beside servers, by the name of its attachment.
APPLIANCES = "appliances"
_COUNTED = {APPLIANCES: "attached devices", "pdus": "power strips (PDUs)", "switches": "switches",
            "rack-devices": "NVLink trays and power shelves"}  # fmt: skip
POINT_COLUMNS = (("fabric", False), ("without", False), ("lost", False), ("servers", True), ("these are", False))


def single_points(design: Design) -> Statement | None:
    """Losses with any one switch or rack."""
    if design.single_points_of_failure is None:
        return None
    rows = StatedTable(POINT_COLUMNS, list(point_rows(design)))
    return statement_of(
        "single", "Single points of failure", lead_line(design), rows, rack_line(design), redundancy_line(design)
    )


def lead_line(design: Design) -> str:
    """Count the switches and racks whose loss cuts devices off; empty where the file states none of it."""
    points = design.single_points_of_failure
    if points is None:
        return ""
    most = largest(((point.fabric, point.device), point.count) for point in points if not point.degraded)
    numbers = {place: sum(number for (_, device), number in most.items() if device == place) for place in PLACES}
    numbers = {"device": sum(most.values()) - sum(numbers.values()), **numbers}
    there = [(number, kind) for kind, number in numbers.items() if number]
    if not there:
        told = f"no {'switch' if design.worst_rack is None else 'switch or rack'} cuts anything off if it fails"
        return f"{told}; without these, servers are degraded" if points else told
    told = f"one {there[0][1]}" if sum(most.values()) == 1 else f"any of {listed([some(*row) for row in there])}"
    return f"{told} cuts something off if it fails"


def redundancy_line(design: Design) -> str:
    """Name the parts of the default rule of resilience that each fabric keeps; empty where none is asked for."""
    words = (_kept(fabric) for fabric in design.fabrics if fabric.redundancy)
    told = "; ".join(text for text in words if text)
    return f"redundancy by default: {told}" if told else ""


def _kept(fabric: FabricDesign) -> str:
    """The parts of the rule that a fabric keeps, and those that it breaks; the reason where it is exempt."""
    # what several tiers keep by themselves is not told
    tall = len(fabric.tiers) > 1
    kept = ", ".join(row.rule for row in fabric.redundancy if row.kept and not (tall and row.rule == TWO_SWITCHES))
    broken = ", ".join(f"{row.rule} ({row.detail})" for row in fabric.redundancy if row.kept is False)
    if not kept and not broken:
        return f"{fabric.name} is exempt ({fabric.redundancy[0].detail})"
    verbs = (f"{verb} {rules}" for verb, rules in (("keeps", kept), ("breaks", broken)) if rules)
    return f"{fabric.name} {', '.join(verbs)}"


def point_rows(design: Design) -> Iterator[list[str]]:
    """The cells of each line: devices with an equal loss are one line, those that cut off come first."""
    points = sorted(design.single_points_of_failure or (), key=lambda point: point.degraded)
    for (fabric, degraded), of_fabric in groupby(points, key=lambda point: (point.fabric, point.degraded)):
        for _, alike in groupby(of_fabric, key=lambda point: (point.device, point.count)):
            rows = list(alike)
            loses = ", ".join(lost_words(design, row) for row in rows)
            yield [fabric, _devices(design, rows[0]), loses, _servers(rows[0]), "degraded" if degraded else "cut off"]


def lost_words(design: Design, point: SinglePoint) -> str:
    """What is lost, in words of the trade: ``11 of 64 power strips (PDUs)``, ``1 of 2 devices of gateway``."""
    name = point.attachment
    if name is None or point.lost is None:
        return point.loses
    is_management = any(fabric.name == point.fabric and fabric.role == "oob" for fabric in design.fabrics)
    noun = _COUNTED.get(name) if is_management else None
    if noun is not None and name == APPLIANCES:
        noun += f" ({listed(_attached(design))})"
    if point.of == 1:
        return noun or name
    number = f"all {count(point.lost)}" if point.lost == point.of else f"{count(point.lost)} of {count(point.of or 0)}"
    return f"{number} {noun or (name if name.endswith('s') else f'devices of {name}')}"


def _attached(design: Design) -> list[str]:
    """Names of the attachments of all fabrics that an out-of-band one manages."""
    fabrics = (fabric for fabric in design.case.content.get("fabrics") or () if fabric.get("role") != "oob")
    return [str(attachment["name"]) for fabric in fabrics for attachment in fabric.get("attachments") or ()]


def _devices(design: Design, point: SinglePoint) -> str:
    if point.count > 1:
        return f"any of {some(point.count, point.device)}"
    if point.device in PLACES:
        return f"{point.device} {point.worst}"
    only = any(
        tier.role == point.device and tier.count == 1
        for fabric in design.fabrics
        if point.fabric in (fabric.name, *(logical.name for logical in fabric.logical))
        for tier in fabric.tiers
    )
    return f"the only {point.device}" if only else point.worst


def _servers(point: SinglePoint) -> str:
    if not point.servers:
        return "-"
    fewest = "" if point.fewest_servers == point.servers else f"{count(point.fewest_servers)} to "
    return f"{fewest}{count(point.servers)}"


def rack_line(design: Design) -> str:
    """Name the rack whose loss hits most servers, and those servers; empty without a floor."""
    rack = design.worst_rack
    if rack is None:
        return ""
    elsewhere = [f"{count(rack.servers_cut_off) if rack.servers_cut_off else 'none'} elsewhere cut off"]
    if rack.servers_degraded:
        elsewhere.append(f"{count(rack.servers_degraded)} degraded")
    within = some(rack.servers, "server") if rack.servers else "no server"
    return f"the loss of rack {rack.rack} takes most servers with it: {listed([f'{within} in it', *elsewhere])}"


# -- fabrics --------------------------------------------------------------------------------------------------------


def tiers(fabric: FabricDesign) -> StatedTable:
    """Switches of a fabric, a row a tier."""
    ratios = {role: f"{plain(ratio)}:1" for role, ratio in fabric.oversubscription.items()}
    columns: Sequence[Column[TierUse]] = (
        Column("tier", False, lambda tier: tier.role),
        Column("switch", False, lambda tier: tier.id),
        Column("count", True, lambda tier: count(tier.count)),
        Column("ports down", True, lambda tier: f"{_ports(tier.down_ports, tier.gbps_down)}{_kept_free(tier)}"),
        Column("ports up", True, lambda tier: _ports(tier.up_ports, tier.gbps_up) if tier.up_ports else "-"),
        Column("oversubscription", True, lambda tier: ratios.get(tier.role, "-")),
    )
    return table_of(columns, fabric.switches)


def _kept_free(tier: TierUse) -> str:
    return f" + {tier.reserved_ports} free" if tier.reserved_ports else ""


def _ports(number: int, gbps: int | float) -> str:
    return f"{number:,} x {plain(gbps)}G"


def links(fabric: FabricDesign) -> StatedTable:
    """Links of a fabric with their parts, a line each, a row for all that differ in their stage alone."""
    columns: Sequence[Column[LinkRow]] = (
        Column("links", False, joined),
        Column("count", True, lambda link: count(link.count)),
        Column("Gb/s", True, lambda link: plain(link.gbps)),
        Column("run", True, lambda link: run(fabric, link)),
        Column("medium", False, lambda link: link.medium),
        Column("parts", False, lambda link: "\n".join(map(_part, link.parts)) or "none bought"),
    )
    return table_of(columns, merged(fabric.links))


def _part(part: LinkPart) -> str:
    length = f", {plain(part.length_m)} m" if part.length_m is not None else ""
    return f"{part.quantity:,} x {part.id}{length}"


def merged(rows: tuple[LinkRow, ...]) -> list[LinkRow]:
    """StatedTable that differ only in the stage that they come with, as one."""
    by_key: dict[tuple[object, ...], LinkRow] = {}
    for row in rows:
        parts = tuple((part.id, part.end, part.length_m) for part in row.parts)
        key = (row.from_, row.to, row.attachment, row.scope, row.length_m, row.medium, row.runs_m, parts)
        known = by_key.get(key)
        by_key[key] = row if known is None else _added(known, row)
    return list(by_key.values())


def _added(row: LinkRow, other: LinkRow) -> LinkRow:
    pairs = zip(row.parts, other.parts, strict=True)
    parts = tuple(a.model_copy(update={"quantity": a.quantity + b.quantity}) for a, b in pairs)
    return row.model_copy(update={"count": row.count + other.count, "parts": parts, "stages": None})


# -- growth ---------------------------------------------------------------------------------------------------------


STAGE_COLUMNS = (
    ("stage", False), ("month", True), ("servers", True), ("buys", True), ("uses", True), ("installed", False),
    ("new cables", True), ("recabled", True), ("free ports", False), ("ratio", False),
)  # fmt: skip


PATH_COLUMNS: Sequence[Column[Path]] = (
    Column("fabric", False, lambda path: path.fabric),
    Column("to a server", False, lambda path: path.name),
    Column("switches", True, lambda path: str(sum(int(step.number) for step in path.steps if step.part == "switch"))),
    Column("one way, us", True, lambda path: f"{path.one_way_ns / NS_PER_US:.2f}"),
    Column("base round trip, us", True, lambda path: f"{path.round_trip_ns / NS_PER_US:.2f}"),
    Column("bandwidth-delay product", True, lambda path: f"{path.bandwidth_delay_bytes / BYTES_PER_KB:,.0f} kB"),
    Column("without", False, lambda path: ", ".join(path.unknown)),
)


def latency(design: Design) -> Statement | None:
    """How long messages take without load; None where the catalog says nothing of it."""
    embedded = Embedded(design)
    paths = [path for fabric in design.fabrics for path in paths_of(embedded, fabric)] if embedded.delays else []
    about = "without load; `fabopt export --to latency` has each part with its source"
    return statement_of("latency", "Latency", about, table_of(PATH_COLUMNS, paths)) if paths else None


def growth(design: Design) -> Statement | None:
    """Purchases, cables and free ports of each stage."""
    if len(design.stages) < 2:
        return None
    return statement_of(
        "growth", "Growth", "", StatedTable(STAGE_COLUMNS, list(growth_rows(design))), moving_line(design)
    )


def growth_rows(design: Design) -> Iterator[list[str]]:
    """A row for every stage, cells as ``STAGE_COLUMNS``; what was in service is not new."""
    case, first = Embedded(design).case, design.stages[0].name
    laid = (
        sum(row.from_stock for row in design.bom if row.stage == first and row.kind in ("cable", "fibre"))
        if case.base is not None
        else 0
    )
    for number, stage in enumerate(design.stages):
        grown = {fabric.name: fabric.growth[number] for fabric in design.fabrics if fabric.growth}
        cables = sum(grown_fabric.cables for grown_fabric in grown.values())
        yield [
            stage.name,
            str(stage.month),
            count(stage.servers),
            money(stage.capex_usd),
            power(stage.power_w),
            _by_fabric({name: _switches(tiers) for name, tiers in stage.fabrics.items()}),
            count(cables - laid),
            count(stage.moved_cables),
            _by_fabric({name: _free(grown_fabric) for name, grown_fabric in grown.items()}),
            _by_fabric({name: _ratios(grown_fabric) for name, grown_fabric in grown.items()}),
        ]
        laid = cables


def _by_fabric(words: dict[str, str]) -> str:
    """Texts of fabrics, each with the fabric's name where there are several."""
    return "; ".join(f"{name}: {text}" if len(words) > 1 else text for name, text in words.items())


def _switches(tiers: dict[str, int]) -> str:
    return ", ".join(some(number, role) for role, number in tiers.items() if number)


def _free(grown: StageStructure) -> str:
    free = (("leaf", grown.free_leaf_ports), ("spine", grown.free_spine_ports))
    return ", ".join(f"{ports:,} {role}" for role, ports in free if ports) or "none"


def _ratios(grown: StageStructure) -> str:
    return ", ".join(f"{plain(ratio)}:1" for ratio in grown.oversubscription.values()) or "-"


def moving_line(design: Design) -> str | None:
    """Hours of recabling; None where no cable moves."""
    recabled = sum(stage.moved_cables for fabric in design.fabrics for stage in fabric.growth)
    recabled += sum(fabric.moves.numbers[0] for fabric in design.fabrics if fabric.moves is not None)
    if not recabled:
        return None
    minutes = design.case.content.get("growth", {}).get("minutes_per_moved_cable", 0)
    if given := design.case.content.get("site", {}).get("labour"):
        minutes = float(sum(task.minutes for task in TaskMinutes(**given["minutes"]).tasks_of(MOVED)))
    hours = recabled * minutes / 60
    about = measured(round(hours, 1 if hours < 10 else None), "hour")
    return f"{some(recabled, 'cable')} to recable: about {about} of work ({measured(minutes, 'minute')} a cable)"


FUTURE_COLUMNS: Sequence[Column[Future]] = (
    Column(
        "ends after",
        False,
        lambda future: future.ends_after if future.scenario is None else f"{future.scenario}: {future.ends_after}",
    ),
    Column("probability", True, lambda future: percent(float(future.probability))),
    Column("servers", True, lambda future: count(future.servers)),
    Column("bought by then", True, lambda future: money(future.capex_usd)),
    Column("TCO", True, lambda future: money(future.tco_usd)),
    Column("best for it alone", True, lambda future: _money(future.best_tco_usd)),
    Column("regret", True, lambda future: _money(future.regret_usd)),
)
PLAN_COLUMNS = (("made for", False), ("expected TCO", True), ("more", True), ("most regret", True))
UNKNOWN = "-"


def futures(design: Design) -> Statement | None:
    """Costs of growth wherever it ends, and of plans for one future."""
    if design.futures is None:
        return None
    plans = StatedTable(PLAN_COLUMNS, list(plan_rows(design)), "Plans for one future")
    rows = table_of(FUTURE_COLUMNS, design.futures.futures)
    return statement_of("futures", "If growth ends", "", rows, *future_lines(design), plans)


def _money(usd: Number | None) -> str:
    return UNKNOWN if usd is None else money(usd)


def plan_rows(design: Design) -> Iterator[list[str]]:
    """A row for every plan that counts on one future, cells as ``PLAN_COLUMNS``."""
    for plan in design.futures.plans if design.futures is not None else ():
        more = plan.expected_tco_usd - (_expected(design) or 0)
        yield [plan.made_for, money(plan.expected_tco_usd), signed_money(round(more, 2)), money(plan.regret_usd)]


def future_lines(design: Design) -> Iterator[str]:
    """State the expected cost, the average cost of not knowing the future, and the largest."""
    futures, expected = design.futures, _expected(design)
    if futures is None or expected is None:
        return
    yield f"expected total cost of ownership {money(expected)}, each stage as often as growth comes to it"
    if futures.hedge_usd is not None and futures.regret_usd is not None:
        yield (
            f"not knowing which future comes costs {money(futures.hedge_usd)} on average, "
            f"and at most {money(futures.regret_usd)}, against the best plan for each future alone"
        )


def _expected(design: Design) -> Number | None:
    return None if design.totals is None else design.totals.expected_tco_usd
