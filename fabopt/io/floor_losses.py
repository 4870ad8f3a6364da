"""Cross checks of losses of racks and feeds: the keys that they need, and contradicting ones."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.errors import Fault, fault
from fabopt.floor.rack_rules import servers_in_rack
from fabopt.problem.demand import stages_of
from fabopt.rules.defaults import RACK_RULES, is_kept
from fabopt.schema.case import Case, Fabric
from fabopt.schema.resilience import FEED, RACK, losses_of
from fabopt.schema.server import Server
from fabopt.units import some


def check_outside_losses(case: Case, server: Server, file: str) -> list[Fault]:
    """Return faults of a case that asks to survive the loss of a rack or of a feed."""
    faults = []
    for index, fabric in enumerate(case.fabrics):
        resilience = case.resilience_of(fabric)
        own = "resilience" if fabric.resilience is None else f"fabrics[{index}].resilience"
        asked = {loss.failures[0]: loss.survive for loss in losses_of(resilience)}
        for what, problems in ((RACK, _of_racks(case, server, fabric, index)), (FEED, _of_feeds(case, server))):
            if what in asked:
                faults += [
                    fault(file, own, f"`survive: {asked[what]}` {problem}", asked[what], hint=hint)
                    for problem, hint in problems
                ]
    return list(dict.fromkeys(faults))


def _of_racks(case: Case, server: Server, fabric: Fabric, index: int) -> Iterator[tuple[str, str]]:
    if case.site.floor is None:
        hint = "say where racks are, as `site: {floor: {rows: 2, racks_per_row: 8}}`, or ask for `1 leaf` and `1 spine`"
        yield "needs racks, and there is no `site.floor`", hint
        return
    tiers = fabric.tiers if isinstance(fabric.tiers, tuple) else (fabric.tiers,)
    if set(tiers) == {1} and fabric.planes in (1, (1,)) and set(fabric.topologies) == {"clos"}:
        key = f"`fabrics[{index}].tiers: 1`"
        yield f"contradicts {key}: its one switch is in one rack", "change one of the two, or give it `planes: 2`"
    servers, per_rack = stages_of(case, server)[-1].servers or 0, servers_in_rack(case, server)
    if per_rack is not None and servers <= per_rack:
        problem = f"contradicts `site.servers_per_rack`: one rack holds all {some(servers, 'server')}"
        yield problem, f"write fewer in a rack than {servers}"


def _of_feeds(case: Case, server: Server) -> Iterator[tuple[str, str]]:
    rules, floor = case.site.rack_rules, case.site.floor
    if floor is None or floor.rack_power_w is None:
        missing = "site.floor" if floor is None else "site.floor.rack_power_w"
        hint = "say what one of a rack's two feeds gives, as `site: {floor: {rows: 2, racks_per_row: 8, "
        yield f"needs the power of a feed, and there is no `{missing}`", f"{hint}rack_power_w: 40000}}}}`"
    if rules.feeds == 1:
        yield "contradicts `site.rack_rules.feeds: 1`: every rack is lost with it", "change one of the two"
    if rules.power == "typical":
        yield "contradicts `site.rack_rules.power: typical`: one feed has to carry the most", "change one of the two"
    if not is_kept(case.rules, RACK_RULES):
        problem = f"contradicts `rules`, where `{RACK_RULES}` is off: it is by that rule that one feed carries a rack"
        yield problem, "change one of the two"
    if server.power_supplies == 1:
        yield f"contradicts `server: {server.id}`, which has one power supply", "change one of the two"
