"""Rules that hold the design to what the case allows and the parts offer."""

from __future__ import annotations

import hashlib
import json

from fabopt.schema.design import MOVED_CABLE
from fabopt.units import MBPS_PER_GBPS, exact, gbps, plain_fraction
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
    text = json.dumps(record.content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    proof.equal("case.sha256", record.sha256, hashlib.sha256(text.encode("utf-8")).hexdigest())
    proof.equal("case.name", record.name, evidence.case.name)
    proof.note(f"case {record.name}, sha256 {record.sha256[:12]}")


def parts_are_known(proof: Proof, evidence: Evidence) -> None:
    """Everything that the design names is embedded, readable and of the right kind.

    For every id in nic, tiers, links and bom: parts[id] exists and fits the catalog schema; moved cables are no part.
    Source: design file.
    """
    design, used = evidence.design, {evidence.case.server: "server"}
    for fabric in design.fabrics:
        used |= {nic.id: "nic" for nic in (fabric.nic, *(one.nic for one in fabric.logical))}
        used |= {tier.id: "switch" for tier in fabric.tiers}
        used |= {part.id: evidence.kind(part.id) for row in fabric.links for part in row.parts}
    for row in design.bom:
        if row.id != MOVED_CABLE:
            used.setdefault(row.id, row.kind)
    for part, kind in used.items():
        proof.equal(f"kind of {part}", evidence.kind(part), kind)
    for part in design.parts:
        if part != FACTS:
            evidence.product(part)
    proof.note(f"{len(used)} ids used, {len(design.parts)} embedded")


def one_candidate_per_fabric(proof: Proof, evidence: Evidence) -> None:
    """Every fabric of the case is designed exactly once, in the case's order.

    sum over candidates c of pick[f, c] = 1 for every fabric f. Source: case file, ``fabrics``.
    """
    wanted = [(fabric.name, fabric.role) for fabric in evidence.case.fabrics]
    proof.equal("fabrics (name, role)", [(made.name, made.role) for made in evidence.design.fabrics], wanted)
    proof.note(", ".join(f"{name} ({role})" for name, role in wanted))


def tiers_match_case(proof: Proof, fabric: FabricEvidence) -> None:
    """The shape is one that the case allows.

    topology, tiers, planes, protocol, striping and what a torus is of are among the allowed; rail-only has at most two
    tiers, planes that are rails have two or three. Source: case file.
    """
    made, wanted = fabric.made, fabric.wanted
    known = TOPOLOGIES.get(made.structure.kind, (made.structure.kind,))
    proof.holds(made.topology in known, f"topology {made.topology} is not one of {known}")
    proof.holds({ANY, made.topology} & set(wanted.topologies) != set(), f"topology {made.topology} is not allowed")
    allowed: object = wanted.planes
    if allowed == "rails":
        allowed = 1 if made.topology == RAIL_ONLY else made.nic.per_server
    proof.holds(allows(allowed, made.planes), f"{made.planes} planes, allowed {wanted.planes}")
    proof.holds(allows(wanted.protocol, made.protocol), f"protocol {made.protocol}, allowed {wanted.protocol}")
    proof.equal("striping", made.striping, wanted.striping)
    (_mesh_matches if fabric.is_direct else _tiers_match)(proof, fabric)
    proof.note(f"{made.topology}, {made.protocol}, {len(made.tiers)} tiers, {made.planes} planes")


def _tiers_match(proof: Proof, fabric: FabricEvidence) -> None:
    """A Clos has tiers of leaves, spines and cores, as many as are allowed."""
    made, wanted, tiers = fabric.made, fabric.wanted, len(fabric.made.tiers)
    least, most = (1, 2) if made.topology == RAIL_ONLY else (2 if wanted.planes == "rails" else 1, 3)
    proof.holds(allows(wanted.tiers, tiers), f"{tiers} tiers, allowed {wanted.tiers}")
    proof.holds(least <= tiers <= most, f"{tiers} tiers of {least} to {most} that {made.topology} has")
    proof.equal("structure.tiers", made.clos.tiers, tiers)
    proof.equal("tier roles", [tier.role for tier in made.tiers], list(ROLES[:tiers]))


def _mesh_matches(proof: Proof, fabric: FabricEvidence) -> None:
    """Others have the tiers of their family; a torus is of what the case allows."""
    proof.equal("tier roles", [tier.role for tier in fabric.made.tiers], [role for role, _ in fabric.mesh.tiers])
    if fabric.made.topology == "torus":
        nodes, allowed = "switches" if fabric.has_switches else "servers", fabric.wanted.torus_nodes
        proof.holds(allows(allowed, nodes), f"torus of {nodes}, allowed {allowed}")


def allows(allowed: object, value: object) -> bool:
    """True if a choice of the case (``any``, one value or a list) has room for a value."""
    return allowed == ANY or value == allowed or (isinstance(allowed, tuple) and value in allowed)


def products_are_offered(proof: Proof, fabric: FabricEvidence) -> None:
    """Only products that the case allows and that can be had are chosen.

    Every chosen switch and card is among the case's ids, has a price and a power figure, and is at the end of its
    life only if the case names it. Source: catalog, "no price or no power figure: listed, never chosen".
    """
    made, wanted, allowed = fabric.made, fabric.wanted, fabric.wanted.switches
    by_role = {"leaf": allowed.leaf, "spine": allowed.spine, "core": allowed.core}
    for tier in made.tiers:
        product = fabric.switch(tier.role)
        offered(proof, f"{tier.role} {tier.id}", by_role[tier.role], product.id, product.end_of_life)
        priced(proof, product.id, product.price_usd, product.power_w)
    if fabric.built_in:
        proof.holds(allows(wanted.nics, made.nic.id), f"NIC {made.nic.id} is not allowed")
    else:
        offered(proof, f"NIC {made.nic.id}", wanted.nics, made.nic.id, fabric.nic.end_of_life)
        priced(proof, made.nic.id, fabric.nic.price_usd, fabric.nic.power_w)
    proof.note(", ".join([made.nic.id, *(tier.id for tier in made.tiers)]))


def offered(proof: Proof, what: str, allowed: object, part: str, end_of_life: bool) -> None:
    """A product is among the case's, at the end of its life only by name."""
    proof.holds(allows(allowed, part), f"{what} is not allowed")
    proof.holds(not end_of_life or allowed != ANY, f"{what} is at the end of its life and not named by the case")


def priced(proof: Proof, part: str, price: object, power: object) -> None:
    """A product that is bought has a price and a power figure."""
    proof.holds(price is not None, f"{part} has no price")
    proof.holds(power is not None, f"{part} has no power figure")


def protocols_agree(proof: Proof, fabric: FabricEvidence) -> None:
    """One fabric speaks one protocol: its cards and all its switches do.

    protocol(f) in protocols(NIC); protocol(f) = protocol(switch) at every tier. Source: case file, ``protocol``.
    """
    made = fabric.made
    proof.holds(made.protocol in fabric.nic.protocols, f"{made.nic.id} speaks {fabric.nic.protocols}")
    for tier in made.tiers:
        proof.equal(f"protocol of {tier.id}", fabric.switch(tier.role).protocol, made.protocol)
    proof.note(f"{made.protocol}: {made.nic.id} and {len(made.tiers)} tiers")


def nics_fit_slots(proof: Proof, evidence: Evidence) -> None:
    """The chosen cards of all fabrics find a slot; built-in cards take none.

    sum over fabrics of cards per server <= nic_slots. Source: catalog, ``nic_slots``.
    """
    cards = sum(fabric.made.nic.per_server for fabric in evidence.fabrics if not fabric.built_in)
    logical = [one.nic for fabric in evidence.fabrics for one in fabric.made.logical]
    cards += sum(nic.per_server for nic in logical if not nic.built_in)
    slots = evidence.server.nic_slots
    proof.holds(cards <= slots, f"{cards} cards in a server with {slots} slots")
    proof.note(f"{cards} of {slots} slots of {evidence.server.id}")


def ports_fit_nics(proof: Proof, fabric: FabricEvidence) -> None:
    """The cards have the ports that are cabled.

    Chosen: 1 <= p <= cages x N of one cage group. Built in: exactly the server's cards, c x p = all their ports.
    Source: case file, ``nics``; catalog, ``servers[].nics``.
    """
    nic, lane = fabric.made.nic, fabric.nic_lane
    proof.equal("nic.built_in", nic.built_in, bool(fabric.built_in))
    proof.equal("nic.gbps", nic.gbps, gbps(lane.port_mbps))
    for cage in fabric.nic_cages:
        proof.holds(nic.split in cage.splits, f"{nic.id} has no split {nic.split}")
    proof.holds(allows(fabric.wanted.nics_per_server, nic.per_server), f"{nic.per_server} cards are not allowed")
    proof.holds(nic.per_server >= 1, f"{nic.per_server} cards in a server")
    ports = sum(cage.count for cage in fabric.nic_cages) * lane.ports
    if fabric.built_in:
        _built_in_cards(proof, fabric, ports)
    else:
        proof.holds(1 <= nic.ports_per_nic <= ports, f"{nic.ports_per_nic} of {ports} ports of {nic.id} used")
    proof.note(f"{nic.per_server} x {nic.id}, {nic.ports_per_nic} ports of {nic.gbps:g} Gb/s each, cages {nic.split}")


def _built_in_cards(proof: Proof, fabric: FabricEvidence, ports: int) -> None:
    nic, cards = fabric.made.nic, sum(entry.count for entry in fabric.built_in)
    proof.equal("nic.id", [nic.id], sorted({entry.id for entry in fabric.built_in}))
    proof.equal("nic.per_server", nic.per_server, cards)
    proof.equal("nic.cage_group", nic.cage_group, 0)
    cabled = nic.ports_per_nic * nic.per_server
    proof.equal("ports cabled per server", cabled, ports if fabric.shared_cages else ports * cards)


def planes_are_disjoint(proof: Proof, fabric: FabricEvidence) -> None:
    """Planes share no switch, so every card has the same number of ports in each; or in one, where planes are rails.

    P divides p, or P = c; R = c x p / P. Source: case file, ``planes``.
    """
    made = fabric.made
    if made.topology != RAIL_ONLY and fabric.networks.apart:
        proof.equal("planes that are rails", made.planes, made.nic.per_server)
    else:
        proof.holds(
            made.planes >= 1 and made.nic.ports_per_nic % made.planes == 0,
            f"{made.nic.ports_per_nic} ports per card do not spread over {made.planes} planes",
        )
    of_plane = fabric.clos.ports_per_server * fabric.networks.number // max(1, made.planes)
    proof.equal("structure.ports_per_server", made.structure.ports_per_server, of_plane)
    proof.note(f"{made.planes} planes, {made.structure.ports_per_server} ports of every server in each")


def injection_meets_demand(proof: Proof, fabric: FabricEvidence) -> None:
    """Every GPU gets the bandwidth that the case demands, through ports and slots.

    min(p x G, PCIe limit of a card) x c / GPUs of a server >= min_gbps_per_gpu. Source: case file and catalog, PCIe.
    """
    demand = fabric.wanted.min_gbps_per_gpu
    if demand is None:
        raise ValueError("the embedded case does not resolve min_gbps_per_gpu")
    injection = plain_fraction(fabric.injection / MBPS_PER_GBPS)
    enough = fabric.injection >= exact(demand) * MBPS_PER_GBPS
    proof.holds(enough, f"{injection} Gb/s per GPU, demanded {demand:g}")
    limit = fabric.card_limit
    slot = f", slot limit {plain_fraction(limit / MBPS_PER_GBPS)} Gb/s a card" if limit is not None else ""
    proof.note(f"{injection} of {demand:g} Gb/s per GPU demanded{slot}")
