"""NIC options of a fabric: number in a server, ports in use, and the bandwidth of the bus.

Bandwidth over the bus follows the contract, section PCIe.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from fabopt.parts.items import Item
from fabopt.parts.link_table import LinkTable
from fabopt.parts.lookup import Lookup
from fabopt.parts.nic_planes import RAIL_ONLY, cannot_forward, divisions
from fabopt.parts.offering import Offering, is_chosen
from fabopt.parts.port_types import PortType
from fabopt.parts.procurement import is_allowed_at
from fabopt.rules.defaults import NIC_PAIRING, ONE_PORT, SLOT_SPEED, TESTED_NICS
from fabopt.schema.case import Fabric
from fabopt.schema.catalog import Nic
from fabopt.schema.product import Pcie, Protocol
from fabopt.schema.resilience import in_pairs
from fabopt.schema.server import BuiltInNic, Server
from fabopt.units import ceil_div, exact, gbps, some

# Usable Gb/s of sixteen lanes, one direction, after encoding and protocol (contract, section PCIe).
PCIE_X16_GBPS: Mapping[int, float] = {3: 126, 4: 252, 5: 504, 6: 1000}
X16_LANES = 16
# Ports of a dual-homed NIC in a plane.
PORTS_OF_A_PAIR = 2


@dataclass
class Refusals:
    """Reasons why NICs with enough ports are not chosen, by id (``told``).

    ``kept``: default rules that hold; no reason is given for NICs that are not tested, nor for unpaired numbers of
    them, where the rule on it holds.
    """

    kept: frozenset[str] = frozenset()
    told: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, option: NicOption, why: str | None) -> None:
        """Add a reason, if there is one; the last one of a name is told."""
        if why is not None and not option.breaks & self.kept & {TESTED_NICS, NIC_PAIRING}:
            self.told[name] = why


@dataclass(frozen=True, eq=False)
class NicOption:
    """A way to equip a server for one fabric: NIC, number, ports in use, number of planes.

    ``dual``: the two ports that a NIC has in a plane go to two leaves. ``apart``: every NIC (its rail) has planes of
    its own, which no other NIC is in; ``topology``: the family of a network with these NICs; ``scale_up``: a GPU's
    bandwidth to forward with then. ``ports_per_plane`` (R) is of one server; ``cages`` are those occupied in a server
    over all planes, ``cage_limit`` those that can be; ``full_cages`` have all their ports in use, ``partial_ports`` are
    the ports in each of ``partial_cages`` others. ``injection``: Mb/s of the GPU with the smallest share of NICs;
    ``nic_mbps``: bandwidth of one NIC, of its ports or its slot. ``forwards``: the NIC passes on traffic for other
    servers. ``offers``: items of several vendors' offers, ``item`` among them; empty with one vendor or none.
    ``breaks``: default rules that leave it out; ``shares_ports``: flows of a GPU may need several ports without
    breaking rule ``one-port``.
    """

    nic_id: str
    item: Item | None
    nics_per_server: int
    group: int
    split: str
    ports_per_nic: int
    planes: int
    port: PortType
    own_cages: bool
    cage_limit: int
    nic_mbps: Fraction
    injection: Fraction
    topology: str = "clos"
    apart: bool = False
    scale_up: Fraction | None = None
    dual: bool = False
    forwards: bool = False
    breaks: frozenset[str] = frozenset()
    shares_ports: bool = True
    offers: tuple[Item, ...] = ()

    @property
    def is_slowed(self) -> bool:
        """Whether its slot delivers less than its ports."""
        return self.nic_mbps < self.ports_per_nic * self.port.lane.port_mbps

    @property
    def flow_mbps(self) -> Fraction:
        """Mb/s of one flow into the network: that of one port, and at most that of the slot."""
        return min(Fraction(self.port.lane.port_mbps), self.nic_mbps)

    @property
    def crosses_any_cut(self) -> Fraction:
        """Upper bound of a GPU's Mb/s across any cut of the network: one between rails is crossed inside servers."""
        return self.injection if self.scale_up is None else min(self.injection, self.scale_up)

    def allows(self, tiers: int) -> bool:
        """Whether its networks may have ``tiers`` tiers.

        Rail-only has one or two, planes that are rails two or three, and one switch is not two leaves.
        """
        if self.topology == RAIL_ONLY:
            return tiers < 3 and not (self.dual and tiers == 1)
        return not (self.apart or self.dual) or tiers > 1

    def takes(self, k: int) -> bool:
        """Whether ``k`` ports of a server may share a leaf: dual-homed ones are of different NICs.

        Rule ``leaves_split_pairs``.
        """
        return not self.dual or (1 if self.apart else self.nics_per_server) % k == 0

    @property
    def planes_per_nic(self) -> int:
        """Planes that one NIC has ports in."""
        return self.planes // self.nics_per_server if self.apart else self.planes

    @property
    def own_rails(self) -> bool:
        """Whether its planes are rails: ports of one NIC of every server."""
        return self.apart and self.topology != RAIL_ONLY

    @property
    def rails_per_plane(self) -> int:
        """Networks that the design file calls one plane: the rails of a rail-only fabric."""
        return self.nics_per_server if self.topology == RAIL_ONLY else 1

    @property
    def ports_per_plane(self) -> int:
        """R: ports of one server into each plane."""
        return self.nics_per_server * self.ports_per_nic // self.planes

    @property
    def ports_per_server(self) -> int:
        """Ports of one server over all planes."""
        return self.nics_per_server * self.ports_per_nic

    @property
    def ports_in_all(self) -> int:
        """Ports of one server's NICs in cages of this use, used or not."""
        return self.cage_limit * self.port.ports

    @property
    def full_cages(self) -> int:
        """Cages of a server with all ports in use."""
        if self.own_cages:
            return self.nics_per_server * (self.ports_per_nic // self.port.ports)
        return self.ports_per_server // self.port.ports

    @property
    def partial_ports(self) -> int:
        """Ports in use in a partly used cage; 0 if there is none."""
        return self.ports_per_nic % self.port.ports if self.own_cages else 0

    @property
    def partial_cages(self) -> int:
        """Partly used cages of a server."""
        return self.nics_per_server if self.partial_ports else 0

    @property
    def cages(self) -> int:
        """Occupied cages of a server."""
        return self.full_cages + self.partial_cages

    def most_mw(self, links: LinkTable, protocol: str) -> int:
        """The most milliwatts that they take in a server: NICs that are bought, and modules in the cages of all."""
        bought_mw = max((item.power_mw for item in (self.item, *self.offers) if item is not None), default=0)
        return self.nics_per_server * bought_mw + self.cages * links.hungriest_mw(self.port, protocol)

    def bundle(self, k: int) -> int:
        """Ports that one cable may carry when ``k`` ports of a server go to one leaf.

        Rule ``bundles_join_boxes``: they are ports of one NIC (of any NICs that share the server's cages) in one plane;
        1 if bundles do not divide ``k``.
        """
        if self.dual:
            return 1
        if not self.own_cages:
            return k if self.planes_per_nic == 1 else 1
        together = self.ports_per_nic // self.planes_per_nic
        if k % together == 0:
            return together
        return k if together % k == 0 else 1


def nic_options(
    fabric: Fabric,
    protocol: Protocol,
    offering: Offering,
    server: Server,
    pcie: Mapping[int, float],
    demand_mbps: int,
    refusals: Refusals,
) -> tuple[NicOption, ...]:
    """Ways to equip servers that meet the demand; ``refusals``: gets reasons of NICs whose ports would suffice.

    Worked out once for an offering: fabrics that differ in other settings have the same options.
    """
    settings = (fabric.name, fabric.role, fabric.nics, fabric.nics_per_server, fabric.homing, fabric.planes,
                fabric.topologies)  # fmt: skip
    key = (settings, protocol, server.id, tuple(pcie.items()), demand_mbps, refusals.kept)

    def work_out() -> tuple[tuple[NicOption, ...], dict[str, str]]:
        own = Refusals(refusals.kept)
        return tuple(_nic_options(fabric, protocol, offering, server, pcie, demand_mbps, own)), own.told

    options, told = _OPTIONS.of(offering, key, work_out)
    refusals.told |= told
    return options


_OPTIONS: Lookup[Offering, Hashable, tuple[tuple[NicOption, ...], dict[str, str]]] = Lookup()


def _nic_options(
    fabric: Fabric,
    protocol: Protocol,
    offering: Offering,
    server: Server,
    pcie: Mapping[int, float],
    demand_mbps: int,
    refusals: Refusals,
) -> Iterable[NicOption]:
    built_in = [nic for nic in server.nics if nic.role == fabric.role]
    if built_in:
        options = _built_in_options(built_in, offering, fabric, protocol, server, pcie)
    else:
        options = _chosen_options(offering, fabric, protocol, server, pcie, demand_mbps)
    for nic, option in options:
        if fabric.homing == "dual":
            if option.ports_per_nic != PORTS_OF_A_PAIR * option.planes_per_nic:
                continue
            option = replace(option, dual=True)
        # Rule ``injection_meets_demand``
        does = option.injection >= demand_mbps
        if not does and option.ports_per_server * option.port.lane.port_mbps < demand_mbps * server.gpus:
            continue
        if not built_in:
            option = _judged(option, nic, fabric, server, demand_mbps)
        if does:
            # Rule ``scale_up_carries_rails``
            why = cannot_forward(server, option.nics_per_server, option.injection) if option.apart else None
            if why is not None:
                told = None if option.own_rails and fabric.planes == "any" else why
                refusals.add(f"{nic.id} on rails of its own", option, told)
            elif option.apart and server.scale_up is not None:
                yield replace(option, scale_up=exact(server.scale_up.gbps_per_gpu) * 1000)
            else:
                yield option
        else:
            refusals.add(nic.id, option, _refusal(nic, option, server, fabric, demand_mbps))


def _judged(option: NicOption, nic: Nic, fabric: Fabric, server: Server, demand_mbps: int) -> NicOption:
    """A way to equip servers with chosen NICs, with the default rules that it breaks."""
    is_counted, is_named = fabric.nics_per_server != "any", fabric.nics != "any"
    planes = option.planes // option.rails_per_plane
    are_paired = in_pairs(fabric.role, fabric.homing)
    shares_ports = is_counted or are_paired or planes > 1 or not server.gpus
    tested = server.tested_for(fabric.role) if fabric.role == "compute" else frozenset()
    # Rules ``nics_pair_with_gpus`` and ``one_port_serves_gpu``, rules ``slots_carry_ports`` and ``nics_are_tested``
    keeps = {
        NIC_PAIRING: is_counted or pairs_with_gpus(option.nics_per_server, server.gpus),
        ONE_PORT: shares_ports or option.flow_mbps >= demand_mbps,
        SLOT_SPEED: is_named or not option.is_slowed,
        TESTED_NICS: is_named or not tested or nic.is_among(tested),
    }
    broken = frozenset(rule for rule, kept in keeps.items() if not kept)
    return replace(option, shares_ports=shares_ports, breaks=broken)


def _refusal(nic: Nic, option: NicOption, server: Server, fabric: Fabric, demand_mbps: int) -> str | None:
    """Why ports that suffice together do not: slots limit them, or GPUs share a NIC number unevenly that the case
    names.
    """
    nics = option.nics_per_server
    result = f"{float(option.injection) / 1000:g} Gb/s per GPU of {gbps(demand_mbps):g} needed"
    if nic.pcie is None or server.pcie is None or option.nic_mbps == option.ports_per_nic * option.port.lane.port_mbps:
        most = some(ceil_div(server.gpus, nics), "GPU")
        named = fabric.nics_per_server != "any"
        return f"{nics} x {nic.id} in {server.id}: a NIC serves {most} of {server.gpus}, {result}" if named else None
    generation = min(nic.pcie.generation, server.pcie.generation)
    lanes = min(nic.pcie.lanes, server.pcie.lanes)
    return (
        f"{nics} x {nic.id} (PCIe Gen{nic.pcie.generation} x{nic.pcie.lanes}) in {server.id}'s "
        f"Gen{server.pcie.generation} x{server.pcie.lanes} slots run at Gen{generation} x{lanes}: "
        f"{float(option.nic_mbps) / 1000:g} Gb/s a NIC, {result}"
    )


def _count_allowed(fabric: Fabric, nics: int) -> bool:
    allowed = fabric.nics_per_server
    return allowed == "any" or nics in ((allowed,) if isinstance(allowed, int) else allowed)


def bus_limit_mbps(nic: Pcie | None, slot: Pcie | None, pcie_x16_gbps: Mapping[int, float]) -> Fraction | None:
    """Mb/s of a NIC over its bus (contract, section PCIe); None where either side is not given."""
    if nic is None or slot is None:
        return None
    generation = min(nic.generation, slot.generation)
    known = [known_generation for known_generation in pcie_x16_gbps if known_generation <= generation]
    usable = pcie_x16_gbps[max(known)] if known else 0.0
    return exact(usable) * 1000 * min(nic.lanes, slot.lanes) / X16_LANES


def pairs_with_gpus(nics: int, gpus: int) -> bool:
    """Whether the GPUs of a server have equal shares of its NICs; a server without GPUs counts as one.

    Rule ``nics_pair_with_gpus``. Source: docs/rules.md, NICs and GPUs.
    """
    gpus = max(1, gpus)
    return nics % gpus == 0 or gpus % nics == 0


def share_of_gpu(nics: int, gpus: int) -> Fraction:
    """NICs per GPU of the GPU with the smallest share, as a fraction; a server without GPUs counts as one.

    Where one number divides the other all GPUs are alike. Elsewhere the busiest NIC counts (3 NICs for 8 GPUs: a third
    for each of its three), or the GPU with one NIC. Rule ``injection_meets_demand``. Source: contract, section PCIe.
    """
    gpus = max(1, gpus)
    return Fraction(nics, gpus) if pairs_with_gpus(nics, gpus) else Fraction(1, ceil_div(gpus, nics))


def _nic_mbps(limit: Fraction | None, ports: int, port_mbps: int) -> Fraction:
    """Mb/s of a NIC with so many ports in use; ``limit``: over its bus."""
    return Fraction(ports * port_mbps) if limit is None else min(Fraction(ports * port_mbps), limit)


def _chosen_options(
    offering: Offering,
    fabric: Fabric,
    protocol: Protocol,
    server: Server,
    pcie: Mapping[int, float],
    demand_mbps: int,
) -> Iterable[tuple[Nic, NicOption]]:
    """NICs on sale, in any number that fits the slots, with any number of ports in use that carry the demand."""
    numbers = [nics for nics in range(1, server.nic_slots + 1) if _count_allowed(fabric, nics)]
    for nic in offering.offered.nics:
        item = offering.item_table.item(nic.id)
        # Rules ``products_are_offered`` and ``protocols_agree``
        if item is None or protocol not in nic.protocols or not is_chosen(nic, fabric.nics):
            continue
        # Rule ``parts_are_approved``
        if not is_allowed_at(offering.terms.rules, nic, (fabric.name,)):
            continue
        limit = bus_limit_mbps(nic.pcie, server.pcie, pcie)
        for group, cage in enumerate(nic.cages):
            for split in cage.splits_of(protocol):
                port = offering.ports.of(cage, split, nic)
                cages = cage.count_at(split)
                for nics in numbers:
                    fewest = max(1, ceil_div(demand_mbps * server.gpus, nics * port.lane.port_mbps))
                    # Rule ``ports_fit_nics``
                    for ports in range(fewest, cages * port.ports + 1):
                        rate = _nic_mbps(limit, ports, port.lane.port_mbps)
                        injection = rate * share_of_gpu(nics, server.gpus)
                        for planes, topology, apart in divisions(fabric, nics, ports):
                            yield nic, NicOption(
                                nic.id, item, nics, group, split, ports, planes, port, True,
                                nics * cages, rate, injection, topology, apart, forwards=nic.forwards,
                            )  # fmt: skip


def _built_in_options(
    built_in: list[BuiltInNic],
    offering: Offering,
    fabric: Fabric,
    protocol: Protocol,
    server: Server,
    pcie: Mapping[int, float],
) -> Iterable[tuple[Nic, NicOption]]:
    """Built-in NICs of a server: all of the fabric's role, all their ports in use."""
    if len({own.id for own in built_in}) != 1 or (len(built_in) > 1 and any(own.cages for own in built_in)):
        return
    nic = next(nic for nic in offering.offered.nics if nic.id == built_in[0].id)
    if protocol not in nic.protocols or (fabric.nics != "any" and nic.id not in fabric.nics):
        return
    nics, shared = sum(built_in_nic.count for built_in_nic in built_in), built_in[0].cages
    cages = shared if shared is not None else nic.cages
    if len(cages) != 1 or not _count_allowed(fabric, nics):
        return
    for split in cages[0].splits_of(protocol):
        limit = cages[0].count_at(split) * (1 if shared is not None else nics)
        port = offering.ports.of(cages[0], split, nic)
        ports, odd = divmod(limit * port.ports, nics)
        if odd:
            continue
        rate = _nic_mbps(bus_limit_mbps(nic.pcie, server.pcie, pcie), ports, port.lane.port_mbps)
        for planes, topology, apart in divisions(fabric, nics, ports):
            yield nic, NicOption(
                nic.id, None, nics, 0, split, ports, planes, port, shared is None,
                limit, rate, rate * share_of_gpu(nics, server.gpus), topology, apart, forwards=nic.forwards,
            )  # fmt: skip
