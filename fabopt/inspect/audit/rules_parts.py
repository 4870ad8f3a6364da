"""Rules on what is bought: A4, A6, A7, A12 of links, and A18."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from fabopt.inspect.audit.context import HandContext
from fabopt.inspect.audit.ports import in_gbps
from fabopt.inspect.audit.rules_network import LinkSpeeds, ports_of_module
from fabopt.inspect.audit.tables import AuditFinding, HandLink
from fabopt.parts.nics import PCIE_X16_GBPS, bus_limit_mbps
from fabopt.parts.port_types import form_factor_fits
from fabopt.schema.base import parse_split
from fabopt.schema.catalog import Cable, Catalog, Fibre, Nic, Transceiver
from fabopt.schema.product import Cage, Pcie
from fabopt.schema.server import Server
from fabopt.units import some

# Metres that a medium reaches where no product says it. Estimates: common limits of assemblies at 100 Gb/s a lane, and
# of SR optics on multimode fibre at that speed.
REACH_M: Mapping[str, float] = {
    "dac": 3, "dac-passive": 3, "acc": 5, "dac-active": 7, "aec": 7, "aoc": 100,
    "om3": 70, "om4": 100, "om5": 100, "mmf": 100, "mmf-om3": 70, "mmf-om4": 100, "mmf-om5": 100,
}  # fmt: skip
_COPPER = ("dac", "acc", "aec", "aoc", "cat")


def slot_limit(server: Server | None, card: Pcie | None, catalog: Catalog) -> Fraction | None:
    """Mb/s that the slot of a server lets through; of a card as fast as the slot where none is known."""
    slot = None if server is None else server.pcie
    return bus_limit_mbps(card or slot, slot, {**PCIE_X16_GBPS, **catalog.facts.pcie_x16_gbps})


def nic_fits_slot(context: HandContext, speeds: LinkSpeeds) -> Iterator[AuditFinding]:
    """A4: no port of a server is faster than its PCIe slot, unless the case's best design has the same NIC."""
    limit = slot_limit(context.server, None, context.catalog)
    told: Counter[tuple[str, int]] = Counter()
    for link in context.hand.links if limit is not None else ():
        for own, port, far in ((link.a, link.a_port, link.b), (link.b, link.b_port, link.a)):
            network = context.network_of.get(far)
            if context.roles[own] != "server" or network is None or speeds.of_end(own, port):
                continue
            rate = speeds.of_link(link)
            if rate is not None and limit is not None and rate > limit:
                told[network.name, rate] += 1
    for (name, rate), number in told.items():
        assert context.server is not None and limit is not None
        text = f"{name}: {some(number, 'port')} of servers at {in_gbps(rate)}, and a slot of {context.server.id} takes "
        yield AuditFinding("A4", name, in_gbps(rate), in_gbps(int(limit)), f"{text}{in_gbps(int(limit))}")


def named_nic_fits_slot(context: HandContext, nic: Nic, is_allowed: bool) -> Iterator[AuditFinding]:
    """A4 of a NIC that a file names."""
    limit = slot_limit(context.server, nic.pcie, context.catalog)
    ports = max(
        split.ports * split.port_mbps * cage.count for cage in nic.cages for split in map(parse_split, cage.splits)
    )
    if limit is not None and ports > limit and not is_allowed:
        assert context.server is not None
        text = f"{nic.id} has {in_gbps(ports)}, and a slot of {context.server.id} takes {in_gbps(int(limit))}"
        yield AuditFinding("A4", nic.id, in_gbps(ports), in_gbps(int(limit)), text)


# -- optics ---------------------------------------------------------------------------------------------------------


def optics_mate(context: HandContext) -> Iterator[AuditFinding]:
    """A6: modules at both ends have one standard and fibre, fit their cages, and have the connectors of the fibre.

    A12: no end of a fibre is without a module where the other end has one.
    """
    modules = {(one.device, one.port): one.part for one in context.hand.modules or ()}
    seen: dict[tuple[str, ...], str] = {}
    for link in context.hand.links:
        near = link.cable.optics[0] or modules.get((link.a, link.a_port), "")
        far = link.cable.optics[1] or modules.get((link.b, link.b_port), "")
        where = f"{link.a} {link.a_port} - {link.b} {link.b_port}"
        if bool(link.cable.optics[0]) != bool(link.cable.optics[1]) and (
            "attachment" not in (context.roles[link.a], context.roles[link.b])  # whose module somebody else may bring
        ):
            text = f"{where}: a transceiver at one end only, {near or far}"
            yield AuditFinding("A12", where, "1", "2", text, link.line)
        places = (_cages_at(context, link, end) for end in (link.a, link.b))
        products = tuple(place[0] if place is not None else "" for place in places)
        key = (near, far, link.cable.part, *products)
        if key not in seen:
            seen[key] = _why_not(context, link, near, far)
        if seen[key]:
            yield AuditFinding("A6", where, f"{near} - {far}", "one standard", f"{where}: {seen[key]}", link.line)


def _why_not(context: HandContext, link: HandLink, near: str, far: str) -> str:
    """The reason why modules do not work with each other, their cages or their fibre; empty without one."""
    ends = [(link.a, context.product(near, Transceiver)), (link.b, context.product(far, Transceiver))]
    for device, module in ends:
        place = _cages_at(context, link, device)
        if module is not None and place is not None and not _fits(module.form_factor, place[1]):
            twins = _fitting_twins(context, module, place[1])
            instead = f"; {' or '.join(twins)} does" if twins else ""
            return f"{module.id} ({module.form_factor}) fits no cage of {place[0]}{instead}"
    first, second = ends[0][1], ends[1][1]
    if first is not None and second is not None:
        if not standards_of(first) & standards_of(second):
            return f"{first.id} and {second.id} have no optical standard in common"
        if first.fibre != second.fibre:
            return f"{first.id} is for {first.fibre}, {second.id} for {second.fibre}"
    fibre = context.product(link.cable.part, Fibre)
    for module in (first, second):
        connectors = set() if fibre is None else {end.connector for end in fibre.both_ends}
        if module is not None and fibre is not None and module.connector not in connectors:
            return f"{module.id} has {module.connector}, and {fibre.id} does not"
    return _misfit_of_assembly(context, link)


def standards_of(module: Transceiver) -> set[tuple[int, str]]:
    """Speed and optical standard of one port, for all ways in which a module works."""
    return {(parse_split(split).port_mbps, standard) for split, standard in module.standard_by_split.items()}


def _fits(form_factor: str, cages: Sequence[Cage]) -> bool:
    return any(form_factor_fits(form_factor, cage) for cage in cages)


def _cages_at(context: HandContext, link: HandLink, device: str) -> tuple[str, Sequence[Cage]] | None:
    """The product at the end of a link, and the cages into which its modules go; None where that is not known."""
    if device in context.switch_of:
        return context.switch_of[device].id, context.switch_of[device].cages
    far = link.b if device == link.a else link.a
    if context.roles[device] != "server" or far not in context.network_of:
        return None
    nic = context.nic_of(context.network_of[far].fabric)
    server = context.server
    if nic is None or server is None:
        return None
    own = next((built_in.cages for built_in in server.nics if built_in.id == nic.id and built_in.cages), None)
    return (nic.id, nic.cages) if own is None else (server.id, own)


def _fitting_twins(context: HandContext, module: Transceiver, cages: Sequence[Cage]) -> list[str]:
    """Transceivers that differ from one in nothing but the form factor, and fit some cages: finned and flat OSFP."""
    return sorted(
        id_
        for id_, other in context.names.products.items()
        if isinstance(other, Transceiver)
        and (other.vendor, other.fibre, other.connector) == (module.vendor, module.fibre, module.connector)
        and other.standard_by_split == module.standard_by_split
        and other.form_factor != module.form_factor
        and _fits(other.form_factor, cages)
    )[:2]


def _misfit_of_assembly(context: HandContext, link: HandLink) -> str:
    """Why a cable with ends of its own does not fit a switch that it is plugged into."""
    cable = context.product(link.cable.part, Cable)
    for device in (link.a, link.b) if cable is not None else ():
        switch = context.switch_of.get(device)
        if cable is None or switch is None:
            continue
        if not any(_fits(end.form_factor, switch.cages) for end in cable.ends):
            return f"no end of {cable.id} fits a cage of {switch.id}"
    return ""


# -- lengths --------------------------------------------------------------------------------------------------------


def cables_are_long_enough(context: HandContext) -> Iterator[AuditFinding]:
    """A7: a cable is as long as its run, and no longer than its parts reach."""
    told: set[tuple[str, float | None, float | None, str, str]] = set()
    for link in context.hand.links:
        cable = link.cable
        key = (cable.label or str(link.line), cable.length_m, cable.run_m, cable.part, cable.medium)
        if (cable.length_m is None and cable.run_m is None) or key in told:
            continue
        told.add(key)
        where = cable.label or f"{link.a} {link.a_port} - {link.b} {link.b_port}"
        if cable.length_m is not None and cable.run_m is not None and cable.length_m < cable.run_m:
            text = f"{where}: {cable.length_m:g} m for a run of {cable.run_m:g} m"
            yield AuditFinding("A7", where, f"{cable.length_m:g} m", f"{cable.run_m:g} m", text, link.line)
        length = max(cable.length_m or 0, cable.run_m or 0)
        reach, what = _reach(context, link)
        if reach is not None and length > reach:
            text = f"{where}: {length:g} m, and {what} reaches {reach:g} m"
            yield AuditFinding("A7", where, f"{length:g} m", f"{reach:g} m", text, link.line)


def _reach(context: HandContext, link: HandLink) -> tuple[float | None, str]:
    """The metres that the parts of a link reach together, and the part that says so."""
    reaches: list[tuple[float, str]] = []
    for name in (link.cable.part, *link.cable.optics):
        product = context.any_product(name) if name else None
        if isinstance(product, Cable | Transceiver) and product.reach_m is not None:
            reaches.append((product.reach_m, product.id))
        elif isinstance(product, Cable):
            reaches.append((max(length.m for length in product.lengths), product.id))
    medium = link.cable.medium.lower()
    if not reaches and medium in REACH_M:
        reaches.append((REACH_M[medium], link.cable.medium))
    return min(reaches, default=(None, ""))


# -- modules, racks -------------------------------------------------------------------------------------------------


def modules_are_enough(context: HandContext, speeds: LinkSpeeds) -> Iterator[AuditFinding]:
    """A12: the modules that a file lists in a device have as many ports as its fibres end there."""
    if context.hand.modules is None:
        return
    parts: dict[str, list[str]] = defaultdict(list)
    for module in context.hand.modules:
        parts[module.device].append(module.part)
    for device in [*context.switches(), *(name for name, role in context.roles.items() if role == "server")]:
        ends = [link for _, far, link in context.peer_links(device) if context.roles[far] != "attachment"]
        products = [context.product(part, Transceiver) for part in parts[device]]
        rates = {speeds.of_link(link) for link in ends}
        room = sum(
            max(ports_of_module(product, rate) for rate in rates)
            for product in products
            if product is not None and rates
        )
        fibres = [link for link in ends if _is_fibre(link)]
        cages = _cages(context, device, fibres)
        short = len(products) < cages if cages else room < len(fibres)
        if None not in products and (short or len(products) > len(context.ports.get(device, ()))):
            needed = some(cages, "cage") if cages else some(len(fibres), "port")
            text = f"{device}: {some(len(products), 'transceiver')}, and {needed} with fibres"
            yield AuditFinding("A12", device, str(len(products)), str(cages or len(fibres)), text)


def _cages(context: HandContext, device: str, links: Sequence[HandLink]) -> int:
    """Cages of a switch that links are plugged into; 0 for a server, whose cages names of ports do not tell."""
    if context.roles[device] == "server":
        return 0
    places = context.places(device)
    ports = {link.a_port if link.a == device else link.b_port for link in links}
    return len({places[port].cage for port in ports if port in places})


def _is_fibre(link: HandLink) -> bool:
    medium = link.cable.medium.lower()
    return bool(medium) and not medium.startswith(_COPPER)


def racks_have_power(context: HandContext) -> Iterator[AuditFinding]:
    """A18: typical power of servers and switches of a rack is within what the case's racks have."""
    limit = _rack_watts(context)
    if limit is None:
        return
    watts, servers = defaultdict[str, float](float), Counter[str]()
    for name, device in context.hand.devices.items():
        if switch := context.switch_of.get(name):
            watts[device.rack] += switch.power_w or 0
        elif context.roles[name] == "server":
            servers[device.rack] += 1
    if context.server is not None:
        for rack, number in servers.items():
            watts[rack] += context.server.sold_for(number) * (context.server.power_w or 0)
    for rack, power in sorted((rack, round(watts)) for rack, watts in watts.items() if rack):
        if power > limit:
            text = f"{rack}: {power:,} W of servers and switches, {limit:,.0f} W are there"
            yield AuditFinding("A18", rack, f"{power} W", f"{limit:g} W", text)


def _rack_watts(context: HandContext) -> float | None:
    """The power limit of a rack of the case in watts; None if not stated."""
    plan = None if context.case is None else context.case.site.floor
    return plan.rack_power_w if plan else None
