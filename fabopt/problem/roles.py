"""Roles: defaults of demands that a fabric leaves out, and fabrics without a network of their own.

The workload sets the demand of the compute fabric; the other roles have defaults of their own: rules of thumb.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from math import floor
from typing import NamedTuple

from fabopt.errors import InputError, fault
from fabopt.floor.appliances import on_a_floor
from fabopt.floor.rack_rules import servers_in_rack
from fabopt.problem.demand import Demand, demand_of, oversubscription_of, profile_of, stages_of
from fabopt.problem.hosts import host_of
from fabopt.problem.out_of_band import ServersInRacks, as_attachment, counted_ports, port_cage
from fabopt.problem.separation import combinations
from fabopt.problem.site import with_distances
from fabopt.rules.defaults import PAIR, PAIRING
from fabopt.schema.attachment import COUNTED
from fabopt.schema.case import Case, Fabric, Oversubscription
from fabopt.schema.catalog import Catalog
from fabopt.schema.resilience import FEATURE_OF_PAIRING, redundancy_kept
from fabopt.schema.roles import SHARED_PORTS, Carried, OutOfBand, SharedPort, StorageDemand
from fabopt.schema.server import Role, Server
from fabopt.units import MBPS_PER_GBPS, exact, gbps, grouped, plain_fraction, some

RATIO_DIGITS = 6
_BITS_OF_A_GB = 8_000_000_000
_BITS_OF_A_MBIT = 1_000_000


class RoleDefaults(NamedTuple):
    """Default demands of a role: Gb/s per server and oversubscription; None: as the workload."""

    gbps_per_server: float | None = None
    max_oversubscription: float | None = None


# Estimates. Storage: one 200G port, unless the case gives a server's share or what checkpoints need; what GPUs send
# each other says nothing of it.
# In-band: one 25G port, leaves as in a data centre.
# Out-of-band: any port of management, and uplinks that a console needs.
DEFAULTS: Mapping[Role, RoleDefaults] = {
    "compute": RoleDefaults(),
    "storage": RoleDefaults(gbps_per_server=200),
    "in-band": RoleDefaults(gbps_per_server=25, max_oversubscription=3),
    "oob": RoleDefaults(gbps_per_server=0.1, max_oversubscription=10),
}


def settled(case: Case, server: Server, catalog: Catalog) -> Case:
    """The case with every demand per GPU, the distances that depend on no group, shared fabrics put on their hosts, and
    management ports counted that depend on no design, and the standing of attachments on a floor. Idempotent.

    Raises ``InputError`` where a separation is left to cost and several are possible.
    """
    case = with_distances(on_a_floor(with_separations(case, server)))
    own = case.model_copy(update={"fabrics": tuple(_with_demand(fabric, case, server) for fabric in case.fabrics)})
    logical_fabrics = [fabric for fabric in own.fabrics if fabric.separation in ("shared", "logical")]
    if logical_fabrics:
        fabrics = (
            carrying(fabric, [logical for logical in logical_fabrics if host_of(logical, own) is fabric], own)
            for fabric in own.fabrics
            if fabric not in logical_fabrics
        )
        own = own.model_copy(update={"fabrics": tuple(fabrics)})
    return _with_counted_ports(own, server, catalog)


def with_separations(case: Case, server: Server) -> Case:
    """The case with every separation stated, if only one combination is possible; else raises ``InputError``."""
    ways = combinations(case, server)
    if len(ways) == 1:
        return ways[0]
    raise InputError(
        [
            fault(
                case.name,
                f"fabrics[{index}].separation",
                "only `fabopt solve` and `fabopt bom` compare separations, all else is about one",
                "any",
                allowed="physical, logical or shared",
                hint="say the one that `fabopt solve` picks",
            )
            for index, fabric in enumerate(case.fabrics)
            if fabric.separation == "any"
        ]
    )


def role_notes(case: Case, server: Server) -> Iterator[str]:
    """Notes on demands that the case does not give in Gb/s per GPU, and on shared fabrics."""
    for fabric in case.fabrics:
        text = _told(fabric, case, server)
        if text:
            yield f"{fabric.name}: {text}"
        if fabric.role == "oob" and not _counts_strips(fabric, case, server):
            yield f"{fabric.name}: power strips are not counted, as `site.servers_per_rack` does not say how many racks"
        host = host_of(fabric, case)
        if fabric.separation == "shared" and host is not None:
            yield (
                f"{fabric.name}: shares NICs and switches of {host.name}; its traffic needs a QoS class of its own "
                f"there, `{fabric.name}`"
            )
        if fabric.separation == "logical" and host is not None:
            yield (
                f"{fabric.name}: has NICs and cables of its own on the switches of {host.name}; its ports there need "
                f"a VLAN and a VRF of their own, `{fabric.name}`"
            )


# -- demand -----------------------------------------------------------------------------------------------------


def per_server_mbps(need: StorageDemand, servers: int, gpus: int) -> Fraction:
    """Mb/s of a server for storage: its share of a checkpoint within the window, and its GPUs' loading.

    ``checkpoint_gb * 8e9 / window / servers / 1e6 + loading * gpus``.
    """
    rate = exact(need.loading_gbps_per_gpu or 0) * MBPS_PER_GBPS * max(1, gpus)
    if need.checkpoint_gb is not None and need.checkpoint_window_s is not None:
        bits = exact(need.checkpoint_gb) * _BITS_OF_A_GB
        rate += bits / exact(need.checkpoint_window_s) / servers / _BITS_OF_A_MBIT
    return rate


def _with_demand(fabric: Fabric, case: Case, server: Server) -> Fabric:
    """The fabric with demands and ``resilience`` filled in; a stated bandwidth per GPU takes precedence."""
    changes: dict[str, object] = {
        "min_gbps_per_server": None, "storage": None, "resilience": case.resilience_of(fabric)
    }  # fmt: skip
    wanted = _gpu_mbps(fabric, case, server)
    if fabric.min_gbps_per_gpu is None and wanted is not None:
        changes["min_gbps_per_gpu"] = gbps(max(1, wanted))
    ratio = DEFAULTS[fabric.role].max_oversubscription
    if fabric.max_oversubscription is None and ratio is not None:
        changes["max_oversubscription"] = ratio
    elif isinstance(fabric.max_oversubscription, Oversubscription) and ratio is not None:
        given = fabric.max_oversubscription
        changes["max_oversubscription"] = Oversubscription(
            leaf=ratio if given.leaf is None else given.leaf,
            spine=ratio if given.spine is None else given.spine,
            hall=given.hall,
        )
    if keeps(PAIRING, fabric, case) or fabric.pairing in FEATURE_OF_PAIRING:
        # dealt one a leaf, so that both ports of a device are on both leaves of a pair
        changes["attachments"] = tuple(sorted(fabric.attachments, key=lambda one: one.ports // one.boxes % 2))
    return fabric.model_copy(update=changes)


def keeps(rule: str, fabric: Fabric, case: Case) -> bool:
    """Whether a part of the default rule of resilience holds for a fabric by its own words, whatever its size."""
    return rule in redundancy_kept(case.rules, case.resilience_of(fabric), fabric.asked_of(0))


def _gpu_mbps(fabric: Fabric, case: Case, server: Server) -> int | None:
    """Whole Mb/s of a GPU; None: the workload's."""
    gpus, default = max(1, server.gpus), DEFAULTS[fabric.role]
    if fabric.storage is not None:
        servers = _fewest_servers(case, server)
        return -floor(-per_server_mbps(fabric.storage, servers, server.gpus) / gpus)
    per_server = fabric.min_gbps_per_server
    per_server = per_server if per_server is not None else default.gbps_per_server
    # rounded down, so that ports that give just what a server asks for are enough whatever the number of GPUs
    return None if per_server is None else floor(exact(per_server) * MBPS_PER_GBPS / gpus)


def _fewest_servers(case: Case, server: Server) -> int:
    """Servers of the smallest stage: each writes the largest share of a checkpoint there."""
    return min(stage.servers or 1 for stage in stages_of(case, server))


def _told(fabric: Fabric, case: Case, server: Server) -> str:
    wanted = _gpu_mbps(fabric, case, server)
    if fabric.min_gbps_per_gpu is not None or wanted is None:
        return ""
    shown = f"{gbps(max(1, wanted)):g} Gb/s per GPU"
    if fabric.storage is not None:
        return f"{shown}: {_sum_of(fabric.storage, _fewest_servers(case, server), server)}"
    if fabric.min_gbps_per_server is not None:
        return f"{shown}: {fabric.min_gbps_per_server:g} Gb/s per server, {some(max(1, server.gpus), 'GPU')} each"
    return f"{shown}: the default of the role {fabric.role}, which the case leaves out"


def _sum_of(need: StorageDemand, servers: int, server: Server) -> str:
    parts = []
    if need.checkpoint_gb is not None and need.checkpoint_window_s is not None:
        parts.append(
            f"a checkpoint of {need.checkpoint_gb:g} GB in {need.checkpoint_window_s:g} s "
            f"from {some(servers, 'server')}"
        )
    if need.loading_gbps_per_gpu is not None:
        parts.append(f"{need.loading_gbps_per_gpu:g} Gb/s of data loading per GPU")
    in_all = plain_fraction(per_server_mbps(need, servers, server.gpus) / MBPS_PER_GBPS, 3)
    return f"{' and '.join(parts)}, {in_all:g} Gb/s per server"


def _counts_strips(fabric: Fabric, case: Case, server: Server) -> bool:
    asked = fabric.oob or OutOfBand()
    return asked.pdus is not None or asked.pdus_per_rack == 0 or servers_in_rack(case, server) is not None


# -- out-of-band ------------------------------------------------------------------------------------------------


def _with_counted_ports(case: Case, server: Server, catalog: Catalog) -> Case:
    """The case whose out-of-band fabrics have attachments for devices that depend on no design. Idempotent."""
    if all(one.role != "oob" for one in case.fabrics):
        return case
    cage = port_cage(server, {nic.id: nic.cages for nic in catalog.nics})
    servers = [stage.servers or 0 for stage in stages_of(case, server)]
    racks = ServersInRacks(server, servers, servers_in_rack(case, server))
    fabrics = []
    for fabric in case.fabrics:
        if fabric.role == "oob":
            own = [attachment for attachment in fabric.attachments if attachment.name not in COUNTED]
            whole = fabric.model_copy(update={"oob": fabric.oob or OutOfBand()})
            ports = counted_ports(case, whole, racks)
            counted = [as_attachment(name, count, cage) for name, count in ports.items()]
            fabric = whole.model_copy(update={"attachments": (*own, *counted)})
        fabrics.append(fabric)
    return case.model_copy(update={"fabrics": tuple(fabrics)})


# -- sharing ----------------------------------------------------------------------------------------------------


def carrying(fabric: Fabric, logical_fabrics: list[Fabric], case: Case) -> Fabric:
    """A host with the demands of the fabrics on it. A shared fabric reserves a part of the NICs' bandwidth or adds to
    it, and has uplinks at its own ratio; a logical one has its own ratio at the leaves, and the strictest one above.
    Both bring their attachments. Rule ``shared_ports_are_told``.
    """
    if not logical_fabrics:
        return fabric
    shared = [guest for guest in logical_fabrics if guest.separation == "shared"]
    logical = [guest for guest in logical_fabrics if guest.separation == "logical"]
    attachments = [attachment for other in shared for attachment in other.attachments]
    attachments += [
        attachment.model_copy(update={"network": other.name}) for other in logical for attachment in other.attachments
    ]
    changes: dict[str, object] = {
        "attachments": (*fabric.attachments, *attachments),
        "carries": tuple(_carried(guest, case) for guest in logical_fabrics),
    }
    if shared:
        demands = [demand_of(sharer, case) for sharer in shared]
        own = demand_of(fabric, case)
        reserved = sum(one.gpu_mbps for one, port in zip(demands, map(shared_port_of, shared), strict=True)
                       if port == "reserved")  # fmt: skip
        demands = [replace(own, gpu_mbps=max(1, own.gpu_mbps - reserved)), *demands]
        changes["min_gbps_per_gpu"] = gbps(sum(demand.gpu_mbps for demand in demands))
        changes["max_oversubscription"] = Oversubscription(
            leaf=_mixed(demands, "leaf"), spine=_mixed(demands, "spine"), hall=fabric.hall_ratio
        )
        if fabric.homing is None and any(sharer.homing == "pair" for sharer in shared):
            changes["homing"] = "pair"
    carrier = fabric.model_copy(update=changes)
    return _with_strictest(carrier, logical, case) if logical else carrier


def shared_port_of(fabric: Fabric) -> SharedPort:
    """Whether a shared fabric's bandwidth is reserved of its host's (the default) or added to it."""
    return fabric.shared_port or "reserved"


def reserves_too_much(case: Case, server: Server) -> Iterator[tuple[Fabric, Fabric, str]]:
    """Hosts whose bandwidth is reserved whole by shared fabrics, each with the last of these, and the sum in words."""
    own = {fabric.name: _with_demand(fabric, case, server) for fabric in case.fabrics}
    for name, host in own.items():
        sharing = [one for one in own.values() if _reserves(one) and getattr(host_of(one, case), "name", None) == name]
        taken, given = (sum(demand_of(one, case).gpu_mbps for one in many) for many in (sharing, [host]))
        if sharing and taken >= given:
            yield host, sharing[-1], f"{gbps(taken):g} of the {gbps(given):g} Gb/s of a GPU"


def _reserves(fabric: Fabric) -> bool:
    """Whether a fabric, shared or possibly shared, reserves a part of its host's bandwidth."""
    is_shared = fabric.separation == "shared" and shared_port_of(fabric) == "reserved"
    return is_shared or (fabric.separation == "any" and fabric.shared_port == "reserved")


def share_notes(case: Case) -> Iterator[str]:
    """Notes on the bandwidth that shared fabrics reserve of, or add to, the hosts of a resolved case."""
    for fabric in case.fabrics:
        shared = (carried for carried in fabric.carries if carried.separation == "shared")
        by_port = grouped(
            (carried.shared_port or "added", f"{carried.min_gbps_per_gpu:g} for {carried.name}") for carried in shared
        )
        for port, taken in by_port.items():
            words = "of which are" if port == "reserved" else "with, on top,"
            asked = f"{fabric.name} asks for {fabric.min_gbps_per_gpu or 0:g} Gb/s per GPU"
            less = "" if port == "reserved" else "; with `reserved` for so much less"
            yield f"{SHARED_PORTS} {asked}, {words} {' and '.join(taken)} (`shared_port: {port}`){less}"


def _with_strictest(host: Fabric, logical: list[Fabric], case: Case) -> Fabric:
    """The host with the protocol of its logical fabrics, and the least of all ratios above the leaves."""
    profile = profile_of(case)
    protocols = {speaker.protocol for speaker in (host, *logical)} - {"any"}
    own = oversubscription_of(host, profile)
    least = min(oversubscription_of(guest, profile).spine or own.spine or 1 for guest in logical)
    changes: dict[str, object] = {"protocol": min(protocols, default="any")}
    if own.spine is not None and least < own.spine:
        leaf = None if host.max_oversubscription is None else own.leaf
        changes["max_oversubscription"] = Oversubscription(leaf=leaf, spine=least, hall=host.hall_ratio)
    return host.model_copy(update=changes)


def _mixed(demands: list[Demand], boundary: str) -> float:
    """The combined ratio that gives every class its own: all bandwidth over the sum of each class's over its ratio.

    Rounded down to six decimals, so that no class has less than its demand.
    """
    total = sum(demand.gpu_mbps for demand in demands)
    upward = sum(demand.gpu_mbps / getattr(demand.ratios, boundary) for demand in demands)
    return float(Fraction(floor(total / upward * 10**RATIO_DIGITS), 10**RATIO_DIGITS))


def _carried(fabric: Fabric, case: Case) -> Carried:
    ratios = oversubscription_of(fabric, profile_of(case))
    assert ratios.leaf is not None and ratios.spine is not None
    assert fabric.separation in ("shared", "logical")
    return Carried(
        name=fabric.name,
        role=fabric.role,
        separation=fabric.separation,
        isolation=fabric.isolation,
        shared_port=shared_port_of(fabric) if fabric.separation == "shared" else None,
        homing=fabric.homing or (None if keeps(PAIR, fabric, case) else "any"),
        nics=fabric.nics,
        nics_per_server=fabric.nics_per_server,
        min_gbps_per_gpu=gbps(demand_of(fabric, case).gpu_mbps),
        max_oversubscription_leaf=ratios.leaf,
        max_oversubscription_spine=ratios.spine,
    )
