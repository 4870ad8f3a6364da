"""The rule of a last server group unlike the others."""

from __future__ import annotations

from fabopt.schema import last_group
from fabopt.schema.design import OtherSwitchUse
from fabopt.schema.fabric_design import FabricDesign
from fabopt.schema.installed import base_of
from fabopt.schema.resilience import NO_RULE
from fabopt.schema.structure import LastGroup
from fabopt.units import ceil_div, exact, some
from fabopt.verify.evidence import FabricEvidence
from fabopt.verify.proof import Proof, where


def has_own_last_group(fabric: FabricEvidence) -> bool:
    """Whether the file has a Clos whose last group is unlike the others."""
    return not fabric.is_direct and fabric.designed.clos.last_group is not None


@where(has_own_last_group)
def last_group_may_differ(proof: Proof, fabric: FabricEvidence) -> None:
    """The last group has a leaf type, ports on a leaf and uplinks of its own where the case lets it.

    k' | R, r' = R / k', d' with its reserve, u' = S m'; (k', t', u') are not (k, t, u). k' = R only where k = R or no
    failure has to be survived, k' = k in rail-only fabrics and where pods are of one rail; k' ports of dual-homed NICs
    are of different NICs. Source: case file, ``groups``; docs/formulation/clos.md.
    """
    clos, last, wanted = fabric.clos, fabric.designed.clos.last_group, fabric.wanted
    assert last is not None
    there = _in_service(fabric)
    standing = None if there is None else there.clos.last_group
    if standing is None:
        allowed = last_group.last_group_may_differ(fabric.evidence.case, wanted)
        proof.holds(allowed, "the case does not let the last group be unlike the others")
        tiers = last_group.tiers_of_last_groups(fabric.evidence.case)
        proof.holds(clos.tiers in tiers, f"{some(clos.tiers, 'tier')}, on which the last group is like the others")
    number = clos.before_own + 1
    proof.equal("structure.last_group.number", last.number, number if number < clos.groups else None)
    proof.holds(last.number is None or standing is not None, "groups come after a last one that is not in service")
    proof.holds(clos.groups > 1, f"{some(clos.groups, 'group')}, the last one beside others")
    proof.equal("structure.last_group.servers", last.servers, clos.last_group)
    proof.equal("structure.last_group.leaves", last.leaves, clos.last_rails)
    dealt = clos.most_dealt(of_last=True)
    with_reserve = dealt / (1 - exact(wanted.reserve_ports))
    reserved = ceil_div(with_reserve.numerator, with_reserve.denominator) - dealt
    proof.equal("structure.last_group.down_ports", last.down_ports, clos.last_endpoints)
    proof.equal("structure.last_group.reserved_ports", last.reserved_ports, reserved)
    fewest = int(clos.links_to_each(last.up_ports).min())
    proof.equal("structure.last_group.links_per_pair", last.links_per_pair, fewest)
    even = last.up_ports if clos.to_spines else fewest * clos.spines
    proof.equal("structure.last_group.up_ports", last.up_ports, even)
    other = fabric.tier("leaf").other
    own = last.ports_per_server_per_leaf, last.up_ports
    proof.holds(other is not None or own != (clos.k, clos.u), "the last group is like the others")
    if other is not None:
        _last_leaves_are_listed(proof, fabric, last, other)
    _leaves_suit(proof, fabric, last.ports_per_server_per_leaf)
    ports = some(last.ports_per_server_per_leaf, "port")
    proof.note(f"{some(last.servers, 'server')} on {some(last.leaves, 'leaf')} a plane, {ports} of each on one")


def _in_service(fabric: FabricEvidence) -> FabricDesign | None:
    """The fabric that stays as it is in service; None without a base, or where moves are priced."""
    case = fabric.evidence.case
    base = None if case.base is None or case.base.move is not None else base_of(case)
    there = () if base is None else base.fabrics
    return next((one for one in there if one.name == fabric.designed.name and not one.structure.is_direct), None)


def _last_leaves_are_listed(proof: Proof, fabric: FabricEvidence, last: LastGroup, other: OtherSwitchUse) -> None:
    """Leaves of a second type are those of the last group, and the case allows them one."""
    there = _in_service(fabric)
    standing = None if there is None else there.tiers[0].other
    allowed = last_group.last_leaf_may_differ(fabric.evidence.case, fabric.wanted, fabric.designed.protocol)
    allowed = allowed or (standing is not None and standing.id == other.id)
    proof.holds(allowed, "the case does not let the leaves of the last group be of a type of their own")
    proof.holds(other.id != fabric.tier("leaf").id, f"{other.id} is the type of the other leaves")
    proof.equal("leaves of another type", other.count, fabric.clos.planes * last.leaves)
    for number in ("down_ports", "reserved_ports", "up_ports"):
        proof.equal(f"{number} of leaves of another type", getattr(other, number), getattr(last, number))


def _leaves_suit(proof: Proof, fabric: FabricEvidence, per_leaf: int) -> None:
    """The ports of a server on a leaf of the last group are as many as the case and the structure allow."""
    clos, wanted, nics = fabric.clos, fabric.wanted, fabric.designed.nic.per_server
    alone = per_leaf == clos.ports != clos.k
    survives_nothing = fabric.evidence.case.resilience_of(wanted) == NO_RULE
    proof.holds(not alone or survives_nothing, "servers of the last group are on one leaf, those of others are not")
    if fabric.networks.apart or clos.rail_pods:
        proof.equal("ports on a leaf of the last group", per_leaf, clos.k)
    if wanted.homing == "dual":
        proof.equal("ports of a dual-homed NIC on a leaf", (1 if fabric.networks.apart else nics) % per_leaf, 0)
