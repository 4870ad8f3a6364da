"""Rule ``subnet-manager``: every subnet of InfiniBand is managed, recounted from the numbers and on the wiring."""

from __future__ import annotations

import numpy as np

from fabopt.network.components import first_joined
from fabopt.rules.defaults import SUBNET_MANAGER, is_kept
from fabopt.schema.attachment import Attachment
from fabopt.schema.catalog import Switch
from fabopt.schema.design import TierUse
from fabopt.schema.subnet_manager import ON_A_SERVER, SubnetManagerUse, TwinUse, twins_of, words_of
from fabopt.units import some
from fabopt.verify.choices import priced
from fabopt.verify.evidence import FabricEvidence
from fabopt.verify.proof import Proof, has_rules_of, since, where
from fabopt.verify.subnets_in_service import (
    SubnetInService,
    hosts_in_service,
    of_both,
    subnet_in_service,
    switch_of,
)
from fabopt.verify.told import left_out_is_told
from fabopt.verify.wiring import FabricCabling
from fabopt.wiring.design_file import divide
from fabopt.wiring.model import Ints

INFINIBAND = "infiniband"
# From this version on a switch without a statement runs no subnet manager.
UNKNOWN_COUNTS = "0.3.0"
TWO = 2


def names_managers(fabric: FabricEvidence) -> bool:
    """Whether the file has statements on the rule, or the case keeps it in a fabric of InfiniBand.

    Files from before 0.3.0 kept it only where the catalog states of a switch whether it is managed.
    """
    if fabric.designed.subnet_manager is not None:
        return True
    told = any(fabric.switch(tier.role).managed is not None for tier in fabric.designed.tiers)
    told |= has_rules_of(fabric.evidence.design, UNKNOWN_COUNTS)
    return told and fabric.designed.protocol == INFINIBAND and is_kept(fabric.evidence.case.rules, SUBNET_MANAGER)


@since("0.2.0", "fabrics.subnet_manager")
@where(names_managers)
def subnets_are_managed(proof: Proof, fabric: FabricEvidence) -> None:
    """Every subnet has a switch that runs a subnet manager for all its ports, two where redundancy is on and possible.

    Subnets: planes, or networks of a rail-only fabric; with one tier, leaves. Managers of one: switches of the tiers
    with ``managed``, and those exchanged for their twin, which is the same but for that; each with
    ``max_managed_nodes`` >= ports of NICs and attachments in a subnet, where it is stated. What a pod joins is in its
    subnets: ports and managers of both count, and no switch in service is exchanged. A rule not kept is told.
    Source: docs/rules.md, subnet managers.
    """
    said, case = fabric.designed.subnet_manager, fabric.evidence.case
    if said is None:
        proof.holds(False, f"the file says nothing of rule `{SUBNET_MANAGER}`, which the case does not turn off")
        return
    proof.holds(is_kept(case.rules, SUBNET_MANAGER), f"rule `{SUBNET_MANAGER}` is off")
    proof.equal("protocol", fabric.designed.protocol, INFINIBAND)
    if not fabric.designed.tiers:
        proof.equal("kept, managers and twins", (said.kept, said.managers, said.twins), (None, 0, ()))
        proof.note(said.detail)
        return
    subnets, nodes, there = _subnets(fabric), _nodes(fabric), subnet_in_service(fabric)
    proof.equal("subnets", said.subnets, subnets)
    proof.equal("ports of a subnet", said.nodes, nodes)
    hosts = sum(host.ports for host in _hosts(fabric)) if subnets == 1 else 0
    live = {} if there is None else {"hosts": there.hosts, "below": _below(fabric, there, subnets)}
    proof.equal("ports of hosts", said.hosts, hosts + live.get("hosts", 0))
    own = {tier.role: _managers(proof, fabric, tier, said, subnets) for tier in fabric.designed.tiers}
    managers = hosts + sum(own.values()) + sum(live.values())
    in_service = None if there is None else sum(live.values()) + own.get(there.role, 0)
    proof.equal("managers in service", said.in_service, in_service)
    if there is not None:
        proof.equal("switches exchanged in service", twins_of(said, there.role), ())
    proof.equal("twins of no tier", len(said.twins) - len({twin.role for twin in said.twins}), 0)
    proof.equal("managers of a subnet", said.managers, managers)
    proof.equal("kept", said.kept, managers > 0)
    if not managers:
        left_out_is_told(proof, fabric, SUBNET_MANAGER, "no subnet has a manager")
    proof.note(f"{some(managers, 'manager')} in each of {some(subnets, 'subnet')} of {nodes:,} ports")


def manager_detail(fabric: FabricEvidence) -> str:
    """The words for a fabric's managers, by the numbers that ``subnets_are_managed`` counts again."""
    if fabric.designed.subnet_manager is None or not fabric.designed.tiers:
        return ON_A_SERVER
    silent = [tier.id for tier in fabric.designed.tiers if fabric.switch(tier.role).managed is None]
    return words_of(fabric.designed.subnet_manager, silent)


def _hosts(fabric: FabricEvidence) -> list[Attachment]:
    """Attachments that may run a subnet manager."""
    return [attachment for attachment in fabric.wanted.attachments if attachment.kind == "management"]


def _all_hosts(fabric: FabricEvidence) -> list[Attachment]:
    return [*_hosts(fabric), *hosts_in_service(fabric)]


def _subnets(fabric: FabricEvidence) -> int:
    """Networks of switches that share no link."""
    alone = not fabric.is_direct and fabric.num_tiers == 1
    return fabric.tier("leaf").count if alone else fabric.networks.number


def _nodes(fabric: FabricEvidence) -> int:
    """The most ports of NICs and of attachments in a subnet."""
    nic, there = fabric.designed.nic, subnet_in_service(fabric)
    ports = fabric.evidence.servers * nic.per_server * nic.ports_per_nic
    attached = sum(attachment.ports for attachment in fabric.wanted.attachments)
    own = divide(ports, _subnets(fabric), "subnets share the NICs") + attached
    return own if there is None else own + there.nodes


def _below(fabric: FabricEvidence, there: SubnetInService, subnets: int) -> int:
    """Switches in service of a subnet, but those that are joined, that manage it."""
    managing = ((id_, count) for id_, count in there.below.items() if _manages(switch_of(fabric, id_), _nodes(fabric)))
    return sum(count // subnets for _, count in managing)


def _managers(proof: Proof, fabric: FabricEvidence, tier: TierUse, said: SubnetManagerUse, subnets: int) -> int:
    """Switches of a tier that manage a subnet, with checks of their twins."""
    switch = fabric.switch(tier.role)
    if _manages(switch, said.nodes):
        proof.equal(f"twins of {tier.id}, which manages", len(twins_of(said, tier.role)), 0)
        return divide(tier.count, subnets, f"subnets share the {tier.role} switches")
    managers = 0
    for twin in twins_of(said, tier.role):
        _is_twin(proof, fabric, tier, twin)
        own = divide(twin.count, subnets, f"subnets share the {tier.role} twins")
        proof.holds(0 < twin.count <= tier.count, f"{twin.count} twins among {tier.count} {tier.role} switches")
        wanted = TWO if fabric.wanted.keeps_default else 1
        proof.holds(own <= wanted, f"{own} twins of a subnet, {wanted} wanted")
        enough = said.managers >= wanted or twin.count == tier.count
        proof.holds(enough, f"{said.managers} of {wanted} managers, and not all {tier.role} switches are exchanged")
        managers += own
    return managers


def _is_twin(proof: Proof, fabric: FabricEvidence, tier: TierUse, twin: TwinUse) -> None:
    """A twin is the one named by the switch, manages the subnet, can be had, and is otherwise equal."""
    switch, product = fabric.switch(tier.role), fabric.evidence.part(twin.id, Switch)
    proof.equal(f"twin of {tier.id}", twin.id, switch.managed_twin)
    nodes = _nodes(fabric)
    proof.holds(_manages(product, nodes), f"{twin.id} does not manage {nodes:,} ports")
    for key in ("protocol", "cages", "max_ports", "rack_units"):
        proof.equal(f"{key} of {twin.id}", getattr(product, key), getattr(switch, key))
    priced(proof, twin.id, product.price_usd, product.power_w)
    proof.holds(not product.end_of_life, f"{twin.id} is at the end of its life")
    proof.note(f"{twin.count} x {twin.id} for {tier.id}")


def _manages(switch: Switch, nodes: int) -> bool:
    return bool(switch.managed) and (switch.max_managed_nodes is None or switch.max_managed_nodes >= nodes)


def lacks_manager(fabric: FabricEvidence) -> bool:
    """Whether the file states that a fabric's subnets have no manager; ``subnets_are_managed`` counts it again."""
    said = fabric.designed.subnet_manager
    return said is not None and said.kept is False


@since("0.2.0", "fabrics.subnet_manager")
@where(names_managers)
def subnets_are_cabled(proof: Proof, cabling: FabricCabling) -> None:
    """On the wiring there are as many subnets as the file states, each with its managers and no more ports than stated.

    Subnets: switches joined by links, straight or over others. Source: docs/rules.md, subnet managers.
    """
    said = cabling.fabric.designed.subnet_manager
    if said is None or not said.managers:
        proof.note("no subnet has a manager of its own")
        return
    cabling = of_both(cabling)
    rows, subnet = _joined(cabling)
    number = int(subnet.max(initial=-1)) + 1
    proof.equal("subnets", said.subnets, number)
    ports = _ports(cabling, rows, subnet, number, of_hosts=False)
    managers = _ports(cabling, rows, subnet, number, of_hosts=True).tolist() if number == 1 else [0] * number
    for row, joined in zip(rows.tolist(), subnet.tolist(), strict=True):
        product = switch_of(cabling.fabric, cabling.devices.product[row])
        managers[joined] += _manages(product, int(ports[joined]))
    proof.equal("the fewest managers of a subnet", said.managers, min(managers, default=0))
    most = int(ports.max(initial=0))
    proof.holds(most <= said.nodes, f"{most:,} ports in one, said {said.nodes:,}")
    proof.note(f"{some(number, 'subnet')} with {some(said.managers, 'manager')} each, {most:,} ports at the most")


def _joined(cabling: FabricCabling) -> tuple[Ints, Ints]:
    """Rows of the fabric's switches, and the subnet of each, numbered from 0; both of shape (switches,)."""
    rows = np.concatenate([cabling.devices_of(tier.role) for tier in cabling.tiers()])
    place = _places(cabling, rows)
    near, far = place[cabling.links.a], place[cabling.links.b]
    between = (near >= 0) & (far >= 0)
    return rows, np.unique(first_joined(len(rows), near[between], far[between]), return_inverse=True)[1]


def _places(cabling: FabricCabling, rows: Ints) -> Ints:
    """Position of every device among ``rows``, -1 for others; shape (devices,)."""
    place = np.full(len(cabling.devices), -1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    return place


def _ports(cabling: FabricCabling, rows: Ints, subnet: Ints, number: int, of_hosts: bool) -> Ints:
    """Ports of NICs and attachments in each subnet, or of management hosts alone; shape (subnets,)."""
    place, names = _places(cabling, rows), {host.name for host in _all_hosts(cabling.fabric)}
    near, far = place[cabling.links.a], place[cabling.links.b]
    outside = (near < 0) != (far < 0)
    if of_hosts:
        is_host = np.array([role == "attachment" for role in cabling.devices.role], dtype=np.bool_)
        is_host &= np.array([product in names for product in cabling.devices.product], dtype=np.bool_)
        outside &= is_host[cabling.links.a] | is_host[cabling.links.b]
    return np.bincount(subnet[np.maximum(near, far)[outside]], minlength=number)
