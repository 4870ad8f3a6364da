"""What a design buys, beside what is owned: units by kind, cables by their medium, rack units, and GPUs that join."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from fabopt.output.stated import Statement, statement_of
from fabopt.output.statements import moving_line
from fabopt.output.words import listed, measured, plain
from fabopt.parts.items import CABLE_KINDS
from fabopt.schema.design import Design, Number
from fabopt.schema.in_service import Joins, live_in
from fabopt.schema.installed import all_live, fabric_at
from fabopt.units import some, summed

_NOUNS = {"switch": "switch", "nic": "NIC", "transceiver": "transceiver", "trunk": "trunk", "panel": "panel"}


def bought_units(design: Design) -> Counter[str]:
    """Units that the bill orders, spares too, by noun; all cables and fibres are one."""
    units: Counter[str] = summed(("cable" if row.kind in CABLE_KINDS else row.kind, row.quantity) for row in design.bom)
    return Counter({noun: units[kind] for kind, noun in {**_NOUNS, "cable": "cable"}.items() if units[kind]})


def bought_words(design: Design) -> str:
    """Units that the bill orders in words, cables by their medium, with the rack units of switches that are bought."""
    media = Counter[str]()
    for row in design.bom:
        if row.kind in CABLE_KINDS:
            part = design.parts.get(str(row.id), {})
            noun = f"{part.get('medium')} cable"
            if row.kind == "fibre":
                ends = [end.get("count", 1) for end in part.get("ends", ())]
                noun = "shuffle" if min(ends, default=1) > 1 else "fibre jumper"
            media[noun] += row.quantity
    units = bought_units(design)
    told = {noun: some(number, noun) for noun, number in units.items() if noun != "cable"}
    rack_units = _rack_units(design)
    if rack_units > 0 and "switch" in told:
        told["switch"] += f" ({measured(rack_units, 'rack unit')})"
    cables = listed([some(number, noun) for noun, number in media.most_common() if number])
    if len(+media) > 1:
        kinds = f" ({cables.replace(' cables', '')})" if len(design.fabrics) == 1 else ""
        cables = f"{some(media.total(), 'cable')}{kinds}"
    return ", ".join([*told.values(), *([cables] if cables else [])]) or "nothing is bought"


def _rack_units(design: Design) -> Number:
    """Rack units of switches but for those that are owned; 0 where no design was found."""
    if design.totals is None:
        return 0
    switches = (row for row in design.bom if row.kind == "switch" and row.from_stock)
    owned: Number = sum(row.from_stock * design.parts.get(str(row.id), {}).get("rack_units", 1) for row in switches)
    return design.totals.rack_units - owned


def servers_before(design: Design) -> int:
    """Servers that were in service before."""
    return sum(live.stages[said.stage].servers for said, live in all_live(live_in(design.case.content)))


def case_said(design: Design) -> dict[str, Any]:
    """The case as it was resolved; of what is in service its file and hash, not all that the file says."""
    return {
        key: {name: part for name, part in value.items() if name != "design"} if key in ("base", "joins") else value
        for key, value in design.case.content.items()
    }


def of_those(design: Design, noun: str) -> str:
    """How many of some units are bought where others are in service: `` (12 bought)``; empty where none are."""
    bought = _rack_units(design) if noun == "rack unit" else bought_units(design)[noun]
    return f" ({plain(bought)} bought)" if live_in(design.case.content) else ""


def usd_per_gpu(design: Design) -> tuple[Number, str] | None:
    """Purchase price for each GPU, in US dollars, and how it is counted; each that joins where others are in service.

    None where no GPU joins, or the number is not known.
    """
    if design.totals is None or design.totals.capex_usd_per_gpu is None:
        return None
    return design.totals.capex_usd_per_gpu, "GPU added" if live_in(design.case.content) else "GPU"


def beside(design: Design) -> Statement | None:
    """What was in service before, what of it a pod joins, and what of it moves; None without any."""
    servers, switches = servers_before(design), 0
    for said, live in all_live(live_in(design.case.content)):
        switches += sum(sum(tiers.values()) for tiers in live.stages[said.stage].fabrics.values())
        further = live_in(live.case.content)
        switches -= sum(one.planes * one.per_plane for one in further.switches) if isinstance(further, Joins) else 0
    if not servers:
        return None
    there = f"{some(servers, 'server')} and {some(switches, 'switch')} before"
    moves = moving_line(design) or "nothing of it moves"
    return statement_of("in-service", "In service", "", "; ".join([there, *_joined(design), moves]))


def _joined(design: Design) -> Iterator[str]:
    """What a pod joins of each fabric in service: its top switches, at which speed, and how much crosses to them."""
    joins = live_in(design.case.content)
    if not isinstance(joins, Joins):
        return
    live = [fabric_at(one, said.stage) for said, there in all_live(joins) for one in there.fabrics]
    for fabric in (one for one in design.fabrics if joins.of(one.name) is not None):
        below, top = [one.tiers[-2] for one in live if one.name == fabric.name], fabric.tiers[-1]
        links = sum(row.count for row in fabric.links if row.to == top.role and row.from_ == fabric.tiers[-2].role)
        crossing = min(links * top.gbps_down, sum(one.count * one.up_ports * one.gbps_up for one in below))
        per_gpu = crossing / design.stages[-1].gpus
        yield (
            f"the pod joins all {some(top.count, top.role)} of {fabric.name} with {some(links, 'link')} of "
            f"{plain(top.gbps_down)}G, {plain(round(per_gpu))} Gb/s for each of its GPUs"
        )
