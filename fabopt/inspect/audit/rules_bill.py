"""Rules on the parts of a bill: A1, A4, A6, A7, A12, A13 and A14."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from fabopt.inspect.audit.context import HandContext
from fabopt.inspect.audit.ports import ports_at
from fabopt.inspect.audit.rules_parts import named_nic_fits_slot, standards_of
from fabopt.inspect.audit.tables import AuditFinding, CountedPart
from fabopt.parts.port_types import form_factor_fits
from fabopt.schema.base import parse_split
from fabopt.schema.catalog import Cable, Fibre, Nic, Switch, Transceiver
from fabopt.schema.product import Cage, Product
from fabopt.units import mbps, some

_SPARE_SHARE = Fraction(1, 10)


@dataclass(frozen=True, eq=False)
class _Bill:
    """Lines of a bill with their products, those that have one."""

    context: HandContext
    parts: Sequence[CountedPart]

    @cached_property
    def lines(self) -> list[tuple[CountedPart, Product]]:
        return [(part, own) for part in self.parts if (own := self.context.any_product(part.name)) is not None]

    @property
    def is_whole(self) -> bool:
        """Whether every line is of a known product."""
        return len(self.lines) == len(self.parts)

    @cached_property
    def modules(self) -> list[tuple[CountedPart, Transceiver]]:
        return [(part, own) for part, own in self.lines if isinstance(own, Transceiver)]

    @cached_property
    def fibres(self) -> list[tuple[CountedPart, Fibre]]:
        return [(part, own) for part, own in self.lines if isinstance(own, Fibre)]

    @cached_property
    def switches(self) -> list[tuple[CountedPart, Switch]]:
        return [(part, own) for part, own in self.lines if isinstance(own, Switch)]

    @cached_property
    def host_cages(self) -> list[Cage]:
        """Cages of NICs and servers that transceivers may be for."""
        server = self.context.server
        nics = [own for _, own in self.lines if isinstance(own, Nic)]
        built_in = () if server is None else server.nics
        nics += [own for nic in built_in if (own := self.context.product(nic.id, Nic)) is not None]
        return [*(cage for nic in nics for cage in nic.cages), *(cage for nic in built_in for cage in nic.cages or ())]

    @property
    def has_attachments(self) -> bool:
        """Whether devices that the case attaches may have cages of their own."""
        return any(fabric.attachments for fabric in self.context.fabrics.values())


def bill_findings(context: HandContext, parts: Sequence[CountedPart]) -> Iterator[AuditFinding]:
    """The findings of all rules on a bill."""
    bill = _Bill(context, parts)
    for rule in (_ports, _nics, _standards, _lengths):
        yield from rule(bill)
    if bill.is_whole:
        yield from _connectors(bill)
    if sum(part.quantity for part, _ in bill.switches) == 1:
        name = bill.switches[0][1].id
        yield AuditFinding("A14", name, "1", "2", f"one switch, {name}, and no other takes over where it fails")


def _links_of(product: Product) -> int:
    """Links of a cable, at least: its ends on the side where they are more, and of splits their ports."""
    if isinstance(product, Cable):
        return max(end.count * parse_split(end.split).ports for end in product.ends)
    return max(end.count for end in product.both_ends) if isinstance(product, Fibre) else 0


def _ports(bill: _Bill) -> Iterator[AuditFinding]:
    """A1: switches have ports for all ends of cables that no server or attachment has."""
    embedded = bill.context.embedded
    if embedded is None or not bill.switches:
        return
    ends = 2 * sum(part.quantity * _links_of(own) for part, own in bill.lines)
    servers = embedded.case.stages[-1].servers if embedded.case.stages else 0
    hosts = sum(fabric.nic.per_server * fabric.nic.ports_per_nic for fabric in embedded.design.fabrics) * (servers or 0)
    hosts += sum(
        logical.nic.per_server * logical.nic.ports_per_nic * (servers or 0)
        for fabric in embedded.design.fabrics for logical in fabric.logical
    )  # fmt: skip
    hosts += sum(attachment.ports for fabric in bill.context.fabrics.values() for attachment in fabric.attachments)
    slowest = min(mbps(row.gbps) for fabric in embedded.design.fabrics for row in fabric.links)
    ports = sum(part.quantity * ports_at(switch, slowest) for part, switch in bill.switches)
    if ends - hosts > ports:
        text = f"cables have {ends:,} ends, {hosts:,} at hosts; for the others switches have {ports:,} ports"
        yield AuditFinding("A1", "switches", str(ends - hosts), str(ports), text)


def _nics(bill: _Bill) -> Iterator[AuditFinding]:
    design = bill.context.best
    chosen = {fabric.nic.id for fabric in design.fabrics} if design is not None else set()
    for _, own in bill.lines:
        if isinstance(own, Nic):
            yield from named_nic_fits_slot(bill.context, own, own.id in chosen)


def _standards(bill: _Bill) -> Iterator[AuditFinding]:
    """A6: every transceiver fits a device of the bill, and meets one of switches over a fibre that is there."""
    cages = [cage for _, switch in bill.switches for cage in switch.cages]
    at_switches = [module for _, module in bill.modules if _fits_any(module, cages)]
    met = {standard for module in at_switches for standard in standards_of(module)}
    for part, module in bill.modules if cages else ():
        reason = ""
        elsewhere = module in at_switches or not bill.host_cages or bill.has_attachments
        if not elsewhere and not _fits_any(module, bill.host_cages):
            reason = f"{module.form_factor} fits no cage of a switch, NIC or server here"
        if not reason and met and not standards_of(module) & met:
            reason = "no transceiver of a switch has its optical standard"
        if not reason and bill.fibres and not any(_joins(fibre, module) for _, fibre in bill.fibres):
            reason = f"no fibre here is {module.fibre} with {module.connector}"
        if reason:
            where, standards = module.id, ", ".join(sorted({name for _, name in standards_of(module)}))
            yield AuditFinding("A6", where, standards, "one standard", f"{where}: {reason}", part.line or None)


def _fits_any(module: Transceiver, cages: Sequence[Cage]) -> bool:
    return any(form_factor_fits(module.form_factor, cage) for cage in cages)


def _joins(fibre: Fibre, module: Transceiver) -> bool:
    return _same_glass(fibre, module) and module.connector in {end.connector for end in fibre.both_ends}


def _same_glass(fibre: Fibre, module: Transceiver) -> bool:
    """Whether a fibre is of the kind that a transceiver is for: single mode, or any grade of multimode."""
    return fibre.fibre.lower().startswith("s") == module.fibre.lower().startswith("s")


def _lengths(bill: _Bill) -> Iterator[AuditFinding]:
    """A7: no cable is longer than it is sold, no fibre longer than any transceiver for it reaches."""
    for part, own in bill.lines:
        length = part.length_m
        if length is None or not isinstance(own, Cable | Fibre):
            continue
        reaches = [max(one.m for one in own.lengths)]
        if isinstance(own, Fibre):
            reaches = [module.reach_m for _, module in bill.modules if _joins(own, module)] or reaches
        if length > max(reaches):
            where = f"{own.id} {length:g} m"
            text = f"{where}: longer than the {max(reaches):g} m that are reached"
            yield AuditFinding("A7", where, f"{length:g} m", f"{max(reaches):g} m", text, part.line or None)


def _connectors(bill: _Bill) -> Iterator[AuditFinding]:
    """A12 and A13: connectors of transceivers against ends of fibres, some of which attachments may bring."""
    ends = sum(part.quantity * sum(end.count for end in fibre.both_ends) for part, fibre in bill.fibres)
    there = sum(part.quantity * module.connectors for part, module in bill.modules)
    if not ends and not there:
        return
    own = sum(
        attachment.ports
        for fabric in bill.context.fabrics.values()
        for attachment in fabric.attachments
        if attachment.buys == "near"
    )
    devices = sum(part.quantity for part, _ in bill.switches) * max(
        (one.connectors for _, one in bill.modules), default=1
    )
    kept = sum(part.spares * module.connectors for part, module in bill.modules)
    most = ends * (1 + _SPARE_SHARE) + devices + kept
    # A breakout's far ends and a shuffle's legs may stay free; modules of switches have ports that nothing is in.
    free = sum(
        part.quantity * (sum(end.count for end in fibre.both_ends) - 2 if fibre.crosses > 1 else 1)
        for part, fibre in bill.fibres
        if max(end.count for end in fibre.both_ends) > 1
    )
    if there + own + free < ends or there > most:
        text = f"transceivers have {there:,} connectors, fibres {ends:,} ends"
        yield AuditFinding("A12", "transceivers", str(there), str(ends), text)
    elif not kept and there <= ends:
        text = (
            f"{some(sum(part.quantity for part, _ in bill.modules), 'transceiver')}, exactly what fibres need: no spare"
        )
        yield AuditFinding("A13", "transceivers", "0", "some", text)
