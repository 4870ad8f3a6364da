"""Rules that hold the design to the choices of the case and the parts on offer."""

from __future__ import annotations

from fabopt.rules.defaults import NO_RULES
from fabopt.schema.design import MOVED_CABLE, MOVED_DEVICE
from fabopt.schema.hashes import sha256_of
from fabopt.schema.in_service import FabricMoves
from fabopt.schema.installed import switches_in_service
from fabopt.schema.product import Cage
from fabopt.schema.subnet_manager import twins_of
from fabopt.units import MBPS_PER_GBPS, exact, gbps, plain_fraction, some
from fabopt.verify.evidence import FACTS, RAIL_ONLY, ROLES, Evidence, FabricEvidence
from fabopt.verify.proof import Proof

ANY = "any"
# The topologies that a structure of each kind may be of; of all others just that of its name.
TOPOLOGIES = {"clos": ("clos", RAIL_ONLY), "server-torus": ("torus",)}


def content_matches_hash(proof: Proof, evidence: Evidence) -> None:
    """The embedded case is the one that was solved.

    sha256(canonical JSON of content) = case.sha256, and the names agree. Source: design file, ``case``.
    """
    record = evidence.design.case
    proof.equal("case.sha256", record.sha256, sha256_of(record.content))
    proof.equal("case.name", record.name, evidence.case.name)
    proof.note(f"case {record.name}, sha256 {record.sha256[:12]}")


def parts_are_known(proof: Proof, evidence: Evidence) -> None:
    """Every id in the design is embedded, readable and of the right kind.

    For every id in nic, tiers, links and bom: parts[id] exists and fits the catalog schema; a recabled link is no part.
    Source: design file.
    """
    design, used = evidence.design, {evidence.case.server_id: "server"}
    for fabric in design.fabrics:
        used |= {nic.id: "nic" for nic in (fabric.nic, *(logical.nic for logical in fabric.logical))}
        used |= {offer.id: "nic" for offer in fabric.nic.stand_ins}
        used |= {row.id: "switch" for tier in fabric.tiers for row in tier.types}
        used |= {twin.id: "switch" for tier in fabric.tiers for twin in twins_of(fabric.subnet_manager, tier.role)}
        used |= {part.id: evidence.kind(part.id) for row in fabric.links for part in row.parts}
    for row in evidence.goods:
        if row.id not in (MOVED_CABLE, MOVED_DEVICE):
            used.setdefault(row.id, row.kind)
    for part, kind in used.items():
        proof.equal(f"kind of {part}", evidence.kind(part), kind)
    for part in design.parts:
        if part != FACTS:
            evidence.product(part)
    proof.note(f"{some(len(used), 'id')} used, {len(design.parts)} embedded")


def one_candidate_per_fabric(proof: Proof, evidence: Evidence) -> None:
    """Every fabric of the case is designed exactly once, in the case's order.

    sum over candidates c of pick[f, c] = 1 for every fabric f. Source: case file, ``fabrics``.
    """
    wanted = [(fabric.name, fabric.role) for fabric in evidence.case.fabrics]
    proof.equal(
        "fabrics (name, role)", [(designed.name, designed.role) for designed in evidence.design.fabrics], wanted
    )
    proof.note(", ".join(f"{name} ({role})" for name, role in wanted))


def tiers_match_case(proof: Proof, fabric: FabricEvidence) -> None:
    """The case allows the shape. topology, tiers, planes, protocol, striping and the nodes of a torus are among the
    allowed; rail-only has at most two tiers, planes that are rails have two or three. Source: case file.
    """
    designed, wanted = fabric.designed, fabric.wanted
    known = TOPOLOGIES.get(designed.structure.kind, (designed.structure.kind,))
    proof.holds(designed.topology in known, f"topology {designed.topology} is not one of {known}")
    proof.holds(
        {ANY, designed.topology} & set(wanted.topologies) != set(), f"topology {designed.topology} is not allowed"
    )
    allowed: object = wanted.planes
    if allowed == "rails":
        allowed = 1 if designed.topology == RAIL_ONLY else designed.nic.per_server
    proof.holds(allows(allowed, designed.planes), f"{some(designed.planes, 'plane')}, allowed {wanted.planes}")
    open_to_rails = wanted.planes == ANY and fabric.evidence.case.rules != NO_RULES and designed.topology == "clos"
    proof.holds(open_to_rails or not designed.own_rails, f"planes that are rails, allowed {wanted.planes}")
    proof.holds(allows(wanted.protocol, designed.protocol), f"protocol {designed.protocol}, allowed {wanted.protocol}")
    proof.equal("striping", designed.striping, wanted.striping)
    (_mesh_matches if fabric.is_direct else _tiers_match)(proof, fabric)
    for tier in designed.tiers:
        differ = (
            () if fabric.is_direct else (fabric.clos.has_own_last and "leaf", bool(fabric.clos.to_spines) and "spine")
        )
        proof.holds(tier.other is None or tier.role in differ, f"{tier.role} switches of two types")
    sizes = f"{some(len(designed.tiers), 'tier')}, {some(designed.planes, 'plane')}"
    proof.note(f"{designed.topology}, {designed.protocol}, {sizes}")


def _tiers_match(proof: Proof, fabric: FabricEvidence) -> None:
    """A Clos has tiers of leaves, spines and cores, as many as are allowed."""
    designed, wanted, tiers = fabric.designed, fabric.wanted, len(fabric.designed.tiers)
    least, most = (1, 2) if designed.topology == RAIL_ONLY else (2 if fabric.networks.apart else 1, 3)
    proof.holds(allows(wanted.tiers, tiers), f"{some(tiers, 'tier')}, allowed {wanted.tiers}")
    proof.holds(least <= tiers <= most, f"{some(tiers, 'tier')} of {least} to {most} that {designed.topology} has")
    proof.equal("structure.tiers", designed.clos.tiers, tiers)
    proof.equal("tier roles", [tier.role for tier in designed.tiers], list(ROLES[:tiers]))


def _mesh_matches(proof: Proof, fabric: FabricEvidence) -> None:
    """A network of joined devices has the tiers of its family; the case allows a torus's nodes."""
    proof.equal("tier roles", [tier.role for tier in fabric.designed.tiers], [role for role, _ in fabric.mesh.tiers])
    if fabric.designed.topology == "torus":
        nodes, allowed = "switches" if fabric.has_switches else "servers", fabric.wanted.torus_nodes
        proof.holds(allows(allowed, nodes), f"torus of {nodes}, allowed {allowed}")


def allows(allowed: object, value: object) -> bool:
    """True if a choice of the case (``any``, one value or a list) has room for a value."""
    return allowed == ANY or value == allowed or (isinstance(allowed, tuple) and value in allowed)


def products_are_offered(proof: Proof, fabric: FabricEvidence) -> None:
    """Only products that the case allows and that can be had are chosen.

    Every chosen switch and NIC is among the case's ids (switches in service that stay aside), has a price and a power
    figure, and is at the end of its life only if the case names it. Source: catalog, "no price or no power figure:
    listed, never chosen".
    """
    designed, wanted, allowed = fabric.designed, fabric.wanted, fabric.wanted.switches
    by_role = {"leaf": allowed.leaf, "spine": allowed.spine, "core": allowed.core}
    there, moves = switches_in_service(fabric.evidence.case, wanted.name), designed.moves or FabricMoves()
    for tier, product in fabric.switch_types:
        if tier.count > there[tier.role, tier.id] - moves.devices.get(tier.role, 0):
            offered(proof, f"{tier.role} {tier.id}", by_role[tier.role], product.id, product.end_of_life)
        priced(proof, product.id, product.price_usd, product.power_w)
    if fabric.built_in:
        proof.holds(allows(wanted.nics, designed.nic.id), f"NIC {designed.nic.id} is not allowed")
    else:
        offered(proof, f"NIC {designed.nic.id}", wanted.nics, designed.nic.id, fabric.nic.end_of_life)
        priced(proof, designed.nic.id, fabric.nic.price_usd, fabric.nic.power_w)
    proof.note(", ".join([designed.nic.id, *(tier.id for tier, _ in fabric.switch_types)]))


def offered(proof: Proof, what: str, allowed: object, part: str, end_of_life: bool) -> None:
    """The case allows a product, and one at the end of its life only by name."""
    proof.holds(allows(allowed, part), f"{what} is not allowed")
    proof.holds(not end_of_life or allowed != ANY, f"{what} is at the end of its life and not named by the case")


def priced(proof: Proof, part: str, price: object, power: object) -> None:
    """A product bought has a price and a power figure."""
    proof.holds(price is not None, f"{part} has no price")
    proof.holds(power is not None, f"{part} has no power figure")


def protocols_agree(proof: Proof, fabric: FabricEvidence) -> None:
    """One fabric speaks one protocol: its NICs and all its switches do.

    protocol(f) in protocols(NIC); protocol(f) = protocol(switch) at every tier. Source: case file, ``protocol``.
    """
    designed = fabric.designed
    proof.holds(designed.protocol in fabric.nic.protocols, f"{designed.nic.id} speaks {fabric.nic.protocols}")
    for tier, product in fabric.switch_types:
        proof.equal(f"protocol of {tier.id}", product.protocol, designed.protocol)
    proof.note(f"{designed.protocol}: {designed.nic.id} and {some(len(designed.tiers), 'tier')}")


def nics_fit_slots(proof: Proof, evidence: Evidence) -> None:
    """The chosen NICs of all fabrics find a slot; built-in NICs take none.

    sum over fabrics of NICs per server <= nic_slots. Source: catalog, ``nic_slots``.
    """
    nics = sum(fabric.designed.nic.per_server for fabric in evidence.fabrics if not fabric.built_in)
    logical = [logical.nic for fabric in evidence.fabrics for logical in fabric.designed.logical]
    nics += sum(nic.per_server for nic in logical if not nic.built_in)
    slots = evidence.server.nic_slots
    proof.holds(nics <= slots, f"{some(nics, 'NIC')} in a server with {some(slots, 'slot')}")
    proof.note(f"{nics} of {some(slots, 'slot')} of {evidence.server.id}")


def split_suits(proof: Proof, cage: Cage, split: str, protocol: str) -> None:
    """A cage runs the fabric's protocol at its split."""
    others = cage.split_protocols.get(split, (protocol,))
    proof.holds(protocol in others, f"{split} runs {' and '.join(others)} only, not {protocol}")


def ports_fit_nics(proof: Proof, fabric: FabricEvidence) -> None:
    """The NICs have the ports that are cabled.

    Chosen: 1 <= p <= cages x N of one cage group. Built in: exactly the server's NICs, c x p = all their ports. Source:
    case file, ``nics``; catalog, ``servers[].nics``.
    """
    nic, lane = fabric.designed.nic, fabric.nic_lane
    proof.equal("nic.built_in", nic.built_in, bool(fabric.built_in))
    proof.equal("nic.gbps", nic.gbps, gbps(lane.port_mbps))
    for cage in fabric.nic_cages:
        proof.holds(nic.split in cage.splits, f"{nic.id} has no split {nic.split}")
        split_suits(proof, cage, nic.split, fabric.designed.protocol)
    proof.holds(
        allows(fabric.wanted.nics_per_server, nic.per_server),
        f"{some(nic.per_server, 'NIC')} a server, allowed {fabric.wanted.nics_per_server}",
    )
    proof.holds(nic.per_server >= 1, f"{some(nic.per_server, 'NIC')} in a server")
    ports = sum(cage.count_at(nic.split) for cage in fabric.nic_cages) * lane.ports
    if fabric.built_in:
        _built_in_nics(proof, fabric, ports)
    else:
        proof.holds(1 <= nic.ports_per_nic <= ports, f"{nic.ports_per_nic} of {some(ports, 'port')} of {nic.id} used")
    proof.note(
        f"{nic.per_server} x {nic.id}, {some(nic.ports_per_nic, 'port')} of {nic.gbps:g} Gb/s each, cages {nic.split}"
    )


def _built_in_nics(proof: Proof, fabric: FabricEvidence, ports: int) -> None:
    nic, nics = fabric.designed.nic, sum(entry.count for entry in fabric.built_in)
    proof.equal("nic.id", [nic.id], sorted({entry.id for entry in fabric.built_in}))
    proof.equal("nic.per_server", nic.per_server, nics)
    proof.equal("nic.cage_group", nic.cage_group, 0)
    cabled = nic.ports_per_nic * nic.per_server
    proof.equal("ports cabled per server", cabled, ports if fabric.shared_cages else ports * nics)


def planes_are_disjoint(proof: Proof, fabric: FabricEvidence) -> None:
    """Planes share no switch, so every NIC has the same number of ports in each, or ports in a single one where planes
    are rails.

    P divides p, or P = c; R = c x p / P. Source: case file, ``planes``.
    """
    designed = fabric.designed
    if designed.topology != RAIL_ONLY and fabric.networks.apart:
        proof.equal("planes that are rails", designed.planes, designed.nic.per_server)
    else:
        proof.holds(
            designed.planes >= 1 and designed.nic.ports_per_nic % designed.planes == 0,
            f"{some(designed.nic.ports_per_nic, 'port')} of a NIC over {some(designed.planes, 'plane')}",
        )
    of_plane = fabric.clos.ports * fabric.networks.number // max(1, designed.planes)
    proof.equal("structure.ports_per_server", designed.structure.ports_per_server, of_plane)
    proof.note(
        f"{some(designed.planes, 'plane')}, {some(designed.structure.ports_per_server, 'port')} of every server in each"
    )


def injection_meets_demand(proof: Proof, fabric: FabricEvidence) -> None:
    """Every GPU gets the bandwidth that the case demands, through ports and slots.

    min(p x G, PCIe limit of a NIC) x c / GPUs of a server >= min_gbps_per_gpu. Source: case file and catalog, PCIe.
    """
    demand = fabric.wanted.min_gbps_per_gpu
    if demand is None:
        raise ValueError("the embedded case does not resolve min_gbps_per_gpu")
    injection = plain_fraction(fabric.injection / MBPS_PER_GBPS)
    enough = fabric.injection >= exact(demand) * MBPS_PER_GBPS
    proof.holds(enough, f"{injection} Gb/s per GPU, demanded {demand:g}")
    limit = fabric.nic_limit
    slot = f", slot limit {plain_fraction(limit / MBPS_PER_GBPS)} Gb/s a NIC" if limit is not None else ""
    proof.note(f"{injection} of {demand:g} Gb/s per GPU demanded{slot}")
