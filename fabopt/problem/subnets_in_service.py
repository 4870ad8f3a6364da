"""Subnets in service that a pod joins: the ports in one of them, and what manages it beside its top switches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fabopt.problem.attachments import SubnetManagers, SubnetThere
from fabopt.schema.design import Design
from fabopt.schema.fabric_design import FabricDesign
from fabopt.schema.in_service import Joins
from fabopt.schema.installed import all_live, fabric_at
from fabopt.schema.subnet_manager import twins_of


def joined_subnets(managers: SubnetManagers | None, name: str, joins: Joins) -> SubnetManagers | None:
    """Rule ``subnet-manager`` for the subnets of a pod and of the fabric in service that it joins, together."""
    joined = joins.of(name)
    if managers is None or joined is None:
        return managers
    nodes, hosts, most = 0, 0, list[int | None]()
    for said, live in all_live(joins):
        for there in (fabric_at(whole, said.stage) for whole in live.fabrics if whole.name == name):
            nic, attached = there.nic, said.attached(name)
            nodes += live.stages[said.stage].servers * nic.per_server * nic.ports_per_nic // there.planes
            nodes += sum(attached.values())
            if there.planes == 1:
                hosts += sum(attached[host] for host in _hosts(live, name) if host in attached)
            most += _beside(live, there)
    return replace(managers, there=SubnetThere(nodes, hosts, tuple(most), joined.role))


def _hosts(live: Design, name: str) -> Iterator[str]:
    """Names of the attachments of a fabric that may run a subnet manager."""
    fabrics = (fabric for fabric in live.case.content["fabrics"] if fabric["name"] == name)
    yield from (attached["name"] for fabric in fabrics for attached in fabric["attachments"]
                if attached["kind"] == "management")  # fmt: skip


def _beside(live: Design, there: FabricDesign) -> Iterator[int | None]:
    """The most ports that each switch of a subnet manages, of those below the top that run a manager; None: any."""
    for tier in there.tiers[:-1]:
        twins = [(one.id, min(one.count, tier.count)) for one in twins_of(there.subnet_manager, tier.role)]
        for id_, count in (*((one.id, one.count) for one in tier.types), *twins):
            product = live.parts[id_]
            if product.get("managed"):
                yield from [product.get("max_managed_nodes")] * (count // there.planes)
