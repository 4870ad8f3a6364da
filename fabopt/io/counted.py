"""What an out-of-band fabric in service counts, where a case goes on from it."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.errors import Fault, fault
from fabopt.io.live import LiveDesign
from fabopt.schema.attachment import PDUS
from fabopt.schema.case import Case, Fabric
from fabopt.schema.in_service import Base


def with_counts(fabric: Fabric, base: LiveDesign) -> Fabric:
    """An out-of-band fabric that counts as the one in service does, where it does not say how."""
    there = next(one.oob for one in base.case.fabrics if one.name == fabric.name)
    return fabric if there is None or fabric.oob is not None else fabric.model_copy(update={"oob": there})


def counted_otherwise(case: Case, said: Base, base: LiveDesign, file: str) -> Iterator[Fault]:
    """Keys by which ports of management in service would be others, or fewer."""
    there = {one.name: one for one in base.case.fabrics}
    for index, fabric in enumerate(case.fabrics):
        live, where = there.get(fabric.name), f"fabrics[{index}]"
        if live is not None and fabric.role != live.role:
            yield fault(file, f"{where}.role", f"{base.file} has it otherwise", fabric.role, allowed=live.role)
        elif live is not None and live.oob is not None:
            given = fabric.oob or live.oob
            for key in ("ports_per_switch", "pdus_per_rack"):
                value, stays = getattr(given, key), getattr(live.oob, key)
                if value != stays:
                    problem = f"ports in service are counted otherwise in {base.file}"
                    yield fault(file, f"{where}.oob.{key}", problem, value, allowed=str(stays), hint="leave it out")
            strips, by_site = said.attached(fabric.name).get(PDUS, 0), live.oob.pdus is not None
            if (given.pdus is None and by_site) or (given.pdus is not None and given.pdus < strips):
                problem = f"power strips have ports in service in {base.file}"
                yield fault(file, f"{where}.oob.pdus", problem, given.pdus, allowed=f"{strips} or more")
            own, per_rack = case.site.servers_per_rack, base.case.site.servers_per_rack
            if given.pdus is None and strips and not by_site and not case.site.has_floor and own != per_rack:
                problem = f"power strips are counted by racks of so many servers in {base.file}"
                yield fault(file, "site.servers_per_rack", problem, own, allowed=str(per_rack), hint="say the same")
