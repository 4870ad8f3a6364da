"""Assumptions of the answer: the case, and the sources of prices.

The sentence on the space of networks searched, with links to definitions of its words further down the page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from fabopt.output.bought import case_said
from fabopt.output.html.bill import sum_usd
from fabopt.output.html.rendering import linked
from fabopt.output.space import FLOOR_PAGE, PAGES, space_line
from fabopt.output.terminal.answer import metric_name
from fabopt.output.words import count, listed, measured, money, percent, plain, power
from fabopt.parts.price_basis import price_source
from fabopt.schema.case import Case, CaseLimits, Limits
from fabopt.schema.design import BomRow, Design, Number
from fabopt.schema.finance import Finance
from fabopt.schema.site import Distances
from fabopt.units import cents, grouped, some, summed
from fabopt.wiring.design_file import Embedded

_UNKNOWN = "not stated"
# Best first; other words come after these, as they are.
_CONFIDENCES = ("high", "medium", "low")


@dataclass(frozen=True)
class PriceRow:
    """A product bought, the dollars spent on it at prices of one source, and that source."""

    id: str
    description: str
    usd: Number
    kind: str
    date: str
    confidence: str
    source: str


def assumptions(design: Design) -> list[tuple[str, str]]:
    """Return the assumptions of the case, as (subject, words); empty if the embedded case cannot be read."""
    try:
        return list(_assumed(Embedded(design).case))
    except (LookupError, ValueError):
        return []


def case_text(design: Design) -> str:
    """Return the whole case, as resolved."""
    return json.dumps(case_said(design), indent=2, ensure_ascii=False)


def _assumed(case: Case) -> Iterator[tuple[str, str]]:
    yield "Objective", f"least {metric_name(case.objective)}"
    yield "Server", case.server_id
    for stage in case.stages or ():
        size = some(stage.servers, "server") if stage.servers else some(stage.gpus or 0, "GPU")
        yield f"Stage {stage.name}", f"month {stage.month}: {size}"
    for fabric in case.fabrics:
        yield f"Fabric {fabric.name}", "; ".join(_demands(fabric.model_dump()))
    yield from _site(case)
    yield "Energy", _energy(case.finance)
    yield "Limits", "; ".join(_limits(case)) or "none"
    yield "Servers", "count in price and power" if case.include_servers else "are given: not part of price or limits"
    yield "Catalogs", listed([*case.catalog])
    if case.prices:
        yield "Price books", listed([*case.prices])


def _energy(finance: Finance) -> str:
    return (
        f"{money(finance.energy_usd_per_kwh)} a kWh, PUE {plain(finance.pue)}, over {measured(finance.years, 'year')}"
    )


def _demands(fabric: dict[str, Any]) -> Iterator[str]:
    if fabric["min_gbps_per_gpu"] is not None:
        yield f"at least {plain(fabric['min_gbps_per_gpu'])} Gb/s per GPU"
    ratios = fabric["max_oversubscription"]
    if isinstance(ratios, dict):
        given = (f"{plain(ratio)}:1 at the {tier}" for tier, ratio in ratios.items() if ratio is not None)
        yield "oversubscription at most " + ", ".join(given)
    elif ratios is not None:
        yield f"oversubscription at most {plain(ratios)}:1"
    yield f"protocol {fabric['protocol']}"
    if fabric["reserve_ports"]:
        yield f"{percent(fabric['reserve_ports'])} of leaf ports kept free"


def _site(case: Case) -> Iterator[tuple[str, str]]:
    floor, runs = case.site.floor, case.site.distances_m
    if floor is not None:
        for part in floor.parts:
            racks = f"{some(part.rows, 'row')} of {some(part.racks_per_row, 'rack')} of {count(part.rack_units)} U"
            yield f"Floor {part.prefix[:-1]}".strip(), f"{racks}; cable runs are measured along its trays"
        for route in floor.ways:
            room = "" if route.fibres is None else f", {some(route.fibres, 'fibre')}"
            yield f"Route {route.halls}", f"{plain(route.m)} m{room}" + (f", {route.duct}" if route.duct else "")
        return
    runs = runs or Distances()
    lengths = {"server to leaf": runs.server_leaf, "leaf to spine": runs.leaf_spine, "spine to core": runs.spine_core}
    said = [f"{name} {plain(metres)} m" for name, metres in lengths.items() if metres is not None]
    if len(said) < len(lengths):
        said.append("as follows from the size of the groups" if not said else "others as follows from the groups")
    yield "Cable runs", ", ".join(said)


def _limits(case: Case) -> Iterator[str]:
    """Limits of the whole case, then of each stage that has some."""
    yield from _of_limits(case.limits)
    for stage in case.stages or ():
        if own := "; ".join(_of_limits(stage.limits)):
            yield f"{stage.name}: {own}"


def _of_limits(limits: Limits) -> Iterator[str]:
    if limits.budget_usd is not None:
        yield f"budget {money(limits.budget_usd)}"
    for key, amounts in limits.by_period.items() if isinstance(limits, CaseLimits) else ():
        shown = ", ".join("any" if amount is None else money(amount) for amount in amounts)
        yield f"{key.removesuffix('_budget_usd')} budget {shown}"
    if limits.power_w is not None:
        yield f"power {power(limits.power_w)}"
    if limits.rack_units is not None:
        yield measured(limits.rack_units, "rack unit")


# -- prices ---------------------------------------------------------------------------------------------------------


def price_rows(design: Design) -> list[PriceRow]:
    """Return the products on the bill, once for each source of prices, the largest sums first."""
    bought = grouped(
        ((row.id, str(price_source(design.parts.get(row.id, {}), row.length_m))), row)
        for row in design.bom
        if row.charge is None
    )
    rows = [_price_row(design, of_source) for of_source in bought.values()]
    return sorted(rows, key=lambda row: (-row.usd, row.id))


def confidence_sentence(rows: list[PriceRow]) -> str:
    """State the shares of the purchase price by confidence of prices."""
    sums = summed((row.confidence, cents(row.usd)) for row in rows)
    whole = sum(sums.values())
    if not whole:
        return ""
    order = sorted(sums, key=lambda word: (*(word != known for known in _CONFIDENCES), word))
    shares = [f"{percent(sums[word] / whole)} on prices of {word} confidence" for word in order if sums[word]]
    return f"Of the purchase price, {listed(shares)}." if shares else ""


def _price_row(design: Design, rows: Sequence[BomRow]) -> PriceRow:
    row = rows[0]
    part = design.parts.get(row.id, {})
    source = price_source(part, row.length_m)
    kind, date, url = (str(source.get(key) or _UNKNOWN) for key in ("kind", "date", "url"))
    confidence = str(source.get("confidence") or part.get("confidence") or _UNKNOWN)
    return PriceRow(row.id, row.description, sum_usd(rows), kind, date, confidence, url)


_CLOS, _DIRECT, _ = PAGES


class Word(NamedTuple):
    """A word of the space: its name, the pattern that finds it, its meaning as in docs/glossary.md, and the page that
    defines it.
    """

    name: str
    said: str
    meaning: str
    page: str

    @property
    def id(self) -> str:
        """Id of its definition in a page."""
        return "space-" + re.sub(r"\W+", "-", self.name.replace("+", "-plus"))


# Of words that begin alike the longer one comes first.
WORDS = (
    Word(
        "Clos", "Clos",
        "network of tiers in which every switch of a tier reaches every switch above it in its pod; a fat tree is one",
        _CLOS,
    ),
    Word(
        "rail-only", "rail-only",
        "network in which rails never meet: each is a switch or a Clos of its own",
        f"{_CLOS}#rails-of-their-own",
    ),
    Word(
        "HyperX", "HyperX",
        "direct network on a grid: all switches that differ in one coordinate are joined; a full mesh and a flattened "
        "butterfly are some",
        f"{_DIRECT}#the-space",
    ),
    Word(
        "torus", "torus",
        "direct network on a grid of which every line is a ring; of switches, or of servers whose NICs pass on",
        f"{_DIRECT}#the-space",
    ),
    Word(
        "dragonfly+", r"dragonfly\+",
        "dragonfly whose groups are a small Clos of leaves and spines; global links are between spines",
        f"{_DIRECT}#dragonfly-plus",
    ),
    Word(
        "dragonfly", "dragonfly",
        "direct network of groups, every one fully joined (local links), and every two of them joined by global links",
        f"{_DIRECT}#the-space",
    ),
    Word(
        "family", "network of any family",
        "kind of network by what joins what: Clos, rail-only, HyperX, torus, dragonfly, dragonfly+",
        "docs/formulation.md",
    ),
    Word(
        "tier", r"(?:one|\d[\d, or]*) tiers?",
        "all switches with the same distance from the servers: leaves, spines, cores",
        f"{_CLOS}#leaves",
    ),
    Word(
        "plane", r"one plane|a plane a rail|any planes|\d[\d, or]* planes",
        "one of several disjoint copies of the network that share no switch; every NIC has a port in each, unless "
        "planes are rails",
        f"{_CLOS}#servers-and-nics",
    ),
    Word(
        "rail", "(?:aligned|any) rails",
        "the leaves that the i-th ports of servers are plugged into; aligned rails put the i-th port of all servers of "
        "a group on one leaf",
        f"{_CLOS}#leaves",
    ),
    Word(
        "striping", "(?:even|rail|any) stripes",
        "how the uplinks of a leaf are spread over the spines: even, as many to each; rail, numbers that differ by one "
        "at most and are alike on all leaves of a rail; any",
        f"{_CLOS}#stripes-that-are-not-even",
    ),
    Word(
        "group", "equal groups|groups of whole racks",
        "servers whose ports share one set of leaves",
        f"{_CLOS}#leaves",
    ),
    Word(
        "last group", "but for the last|the last one too",
        "servers that are left once all other groups are full; where it may be unlike these, its leaves may be of "
        "another type, with ports of a server and uplinks of their own",
        f"{_CLOS}#a-last-group-of-its-own",
    ),
    Word(
        "switch type", "one switch type(?: a tier)?(?: or none)?",
        "model of a switch with one use of its cages down and one up; all switches of a tier are of one, but for what "
        "is said",
        f"{_CLOS}#spines-pods-and-cores",
    ),
    Word(
        "interchangeable switches", "interchangeable ones",
        "switches that may stand in for each other where there are not enough of one: what is cabled and configured is "
        "the same",
        f"{_CLOS}#pools-of-switches",
    ),
    Word(
        "layout", "placed by the rule of a layout",
        "which racks hold servers and which hold switches, fixed before switches are placed",
        f"{FLOOR_PAGE}#layouts",
    ),
    Word(
        "any place", "in any place",
        "on a small floor every switch may be in any rack, and all that are worth it are looked at",
        f"{FLOOR_PAGE}#small-floors",
    ),
)  # fmt: skip
_SAID = re.compile("|".join(f"(?P<w{number}>{word.said})" for number, word in enumerate(WORDS)))


def with_links(text: str, design: Design) -> Any:
    """A sentence, with the words of the space in it as links to ``words_of``."""
    space = space_line(design)
    before, said, after = text.partition(space) if space else (text, "", "")
    return linked([(before, None), *_pieces(said), (after, None)])


def words_of(design: Design) -> tuple[Word, ...]:
    """The words of the space of a design, in its order, each once."""
    ids = [id_ for _, id_ in _pieces(space_line(design)) if id_ is not None]
    by_id = {word.id: word for word in WORDS}
    return tuple(by_id[id_] for id_ in dict.fromkeys(ids))


def _pieces(space: str) -> Iterator[tuple[str, str | None]]:
    """The line in pieces, each with the id of its word, None for text between words."""
    end = 0
    for said in _SAID.finditer(space):
        yield space[end : said.start()], None
        yield said.group(), WORDS[int((said.lastgroup or "w0")[1:])].id
        end = said.end()
    yield space[end:], None
