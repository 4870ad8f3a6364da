"""A6 of a case with a vendor's compatibility matrix: what is plugged into a device is qualified for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fabopt.inspect.audit.context import HandContext
from fabopt.inspect.audit.findings import AuditFinding
from fabopt.inspect.audit.hand_made import HandLink
from fabopt.schema.catalog import Cable, Transceiver


def parts_are_qualified(context: HandContext) -> Iterator[AuditFinding]:
    """A6: modules and cables are among those that the case names for their device, where it names any.

    Source: case file, ``procurement.qualified``. Parts and devices that the file does not name are not compared.
    """
    lists = None if context.case is None else context.case.procurement.qualified
    if not isinstance(lists, Mapping):
        return
    modules = {(one.device, one.port): one.part for one in context.hand.modules or ()}
    for link in context.hand.links:
        for own, port, far, optic in (
            (link.a, link.a_port, link.b, link.cable.optics[0]),
            (link.b, link.b_port, link.a, link.cable.optics[1]),
        ):
            module = context.product(optic or modules.get((own, port), ""), Transceiver)
            part = module or context.product(link.cable.part, Cable)
            for device in _devices(context, own, far) if part is not None else ():
                if device in lists and part is not None and part.id not in lists[device]:
                    text = f"{_place(link)}: {part.id} is not qualified for {device}"
                    yield AuditFinding("A6", _place(link), part.id, ", ".join(lists[device]), text, link.line)


def _place(link: HandLink) -> str:
    return f"{link.a} {link.a_port} - {link.b} {link.b_port}"


def _devices(context: HandContext, own: str, far: str) -> list[str]:
    """The products whose lists hold at an end: the switch; of a server its NIC, and itself where that is built in."""
    if context.roles[own] != "server":
        switch = context.switch_of.get(own)
        return [] if switch is None else [switch.id]
    network, server = context.network_of.get(far), context.server
    nic = None if network is None else context.nic_of(network.fabric)
    if nic is None:
        return []
    is_built_in = server is not None and any(one.id == nic.id for one in server.nics)
    return [nic.id, server.id] if is_built_in and server is not None else [nic.id]
