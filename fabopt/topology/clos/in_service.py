"""Rule ``base_stays``: the candidates of a Clos whose first stage is what is in service, and that keep its parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fabopt.network.attached_ports import dealt_over_leaves
from fabopt.network.clos_links import ClosNumbers, downlinks_of_spines
from fabopt.network.clos_stages import StageNumbers
from fabopt.network.free_ports import SwitchesOfPlane
from fabopt.parts.nic_offers import are_sold
from fabopt.parts.nics import NicOption
from fabopt.parts.switches import CageUse, SwitchType
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.live import NOTHING_LIVE, UPLINKS, InService
from fabopt.schema.attachment import HostPort
from fabopt.schema.fabric_design import FabricDesign
from fabopt.schema.structure import Structure
from fabopt.schema.tiers import PortUse
from fabopt.topology.candidate import Candidate
from fabopt.topology.clos.cabling import numbers_of
from fabopt.topology.clos.network import ClosNetwork
from fabopt.topology.clos.shape import Ints, Parts, Shape, SwitchUse, last_endpoints, most_endpoints
from fabopt.topology.clos.stage_links import peer_use
from fabopt.units import ceil_div

# Cables that tell the pods of a network from those of another, and the tiers of one without pods.
TWO = 2


def first_stage(there: FabricDesign, servers: int) -> StageNumbers:
    """The stage that is in service."""
    structure = there.clos
    spines = structure.spines_per_pod if structure.tiers > 1 else 0
    return StageNumbers(servers, spines, structure.cores_per_group if structure.tiers > 2 else 0)


def goes_on(there: FabricDesign, parts: Parts, shape: Shape, servers: int) -> NDArray[np.bool_]:
    """Mask of the sizes of which ``servers`` servers have the network in service, shape (rows,)."""
    rows = np.zeros(np.size(shape.g), dtype=np.bool_)
    return rows | _same_sizes(there.clos, shape, servers) if same_hardware(there, parts) else rows


def same_hardware(there: FabricDesign, parts: Parts) -> bool:
    """Whether all hardware that has been chosen is that in service, and used like it."""
    nic, used = parts.nic, there.nic
    same = (
        parts.protocol == there.protocol
        and _is_last_leaf(there, parts.last_leaf)
        and _is_joined(there, parts)
        and are_sold(nic, [used.id])
        and (nic.nics_per_server, nic.ports_per_nic) == (used.per_server, used.ports_per_nic)
        and (nic.group, nic.split, nic.planes) == (used.cage_group, used.split, there.planes)
        and (nic.own_rails, nic.item is None) == (there.own_rails, used.built_in)
    )
    uses = (
        (parts.leaf, parts.leaf_down, parts.leaf_up),
        (parts.spine, parts.spine_down, parts.spine_up),
        (parts.core, parts.core_down, None),
    )
    for tier, (switch, down, up) in zip(there.tiers, uses, strict=False):
        if switch is not None:
            same &= switch.item.id == tier.id and _is_same(tier.down, down)
            same &= tier.up is None or up is None or _is_same(tier.up, up)
    return same


def _is_joined(there: FabricDesign, parts: Parts) -> bool:
    """Whether the leaves of pairs are joined as in service, in the same cages."""
    peers = there.peer_links
    if peers is None or parts.leaf.peers is None:
        return peers is None and parts.leaf.peers is None
    use = peer_use(parts)
    return (use.group, use.split) == (peers.cage_group, peers.split)


def _is_last_leaf(there: FabricDesign, last: SwitchUse | None) -> bool:
    """Whether leaves of a last group of its own are of the type in service, if that is another one."""
    other = there.tiers[0].other
    if other is None or last is None:
        return other is None and last is None
    up = last.up is not None and other.up is not None and _is_same(other.up, last.up)
    return last.switch.item.id == other.id and up and _is_same(other.down, last.down)


def _is_same(there: PortUse, use: CageUse | None) -> bool:
    return use is not None and (use.group, use.split) == (there.cage_group, there.split)


def same_groups(there: Structure, shape: Shape, servers: int) -> NDArray[np.bool_]:
    """Mask of the groups that begin with those of ``servers`` servers in service, shape (rows,)."""
    g, is_one = np.asarray(shape.g), there.groups == 1
    same = (g >= servers if is_one else g == there.servers_per_group) & (shape.k == there.ports_per_server_per_leaf)
    last = there.last_group
    own = (shape.own_k == 0) if last is None else (shape.own_k == last.ports_per_server_per_leaf)
    return np.asarray(same & own & (shape.own_end in own_ends(there, servers, int(shape.servers))))


def own_ends(there: Structure, servers: int, at_last: int) -> range:
    """Servers up to the end of a group unlike the others, which fills up while it is the last one; 0 without one.

    ``servers``: in service, of ``at_last`` at last.
    """
    if there.last_group is None:
        return range(1)
    if there.own_end:
        return range(there.own_end, there.own_end + 1)
    return range(servers, min(at_last, there.groups * there.servers_per_group) + 1)


def with_own_group(there: InService, shape: Shape) -> Iterator[Shape]:
    """The groups in service, one of which is unlike the others, and those that come after it; ``shape``: of any."""
    structure = there.fabric.clos
    last, g = structure.last_group, np.array([structure.servers_per_group])
    assert last is not None
    for own_end in own_ends(structure, there.servers, int(shape.servers)):
        yield replace(
            shape, k=structure.ports_per_server_per_leaf, g=g, own_k=last.ports_per_server_per_leaf, own_u=0 * g,
            own_end=own_end,
        )  # fmt: skip


def last_leaf_of(there: FabricDesign, leaves: Sequence[SwitchType]) -> SwitchUse | None:
    """Leaves of a last group of its own by the switch type in service; None where that is the others'."""
    other = there.tiers[0].other
    if other is None or other.up is None:
        return None
    uses = (
        SwitchUse(leaf, down, up)
        for leaf in leaves
        if leaf.item.id == other.id
        for down in leaf.uses
        for up in leaf.uses
        if _is_same(other.down, down) and _is_same(other.up, up)
    )
    return next(uses, None)


def keeps_pairs(fabric: FabricProblem, uplinks: int, spines: int) -> bool:
    """Whether uplinks of a leaf and spines of a pod go on from those in service: as many to each new spine, or the
    same where stripes are uneven; no fewer of each where others may move and these never do; and whether the spines
    of a pod are all that it joins. Rules ``base_stays`` and ``pod_joins_spines``.
    """
    if fabric.live is NOTHING_LIVE:
        return True
    joined, held = fabric.live.joined, fabric.live.holds_uplinks
    if joined is not None and joined.role == "spine" and spines != joined.per_plane:
        return False
    if held is not None:
        old, of_leaf = held.clos, held.tiers[0].up_ports
        return spines >= old.spines_per_pod and uplinks >= of_leaf and uplinks // spines >= old.links_per_pair
    there = fabric.live.stays
    if there is None or there.clos.tiers == 1:
        return True
    pair, now = there.clos.links_per_pair, (there.tiers[0].up_ports, there.clos.spines_per_pod)
    even = now[0] == pair * now[1] and uplinks == pair * spines
    return (spines >= now[1] and even) or (uplinks, spines) == now


def keeps_cores(fabric: FabricProblem, groups: int, per_group: int) -> bool:
    """Whether core groups, and cores of each, are those that a pod joins. Rule ``pod_joins_spines``."""
    joined = fabric.live.joined
    return joined is None or joined.role == "spine" or (groups, groups * per_group) == (joined.groups, joined.per_plane)


def keeps_uplinks(fabric: FabricProblem, nic: NicOption, leaf: SwitchType, down: CageUse, up: CageUse) -> bool:
    """Whether leaves have the planes and cages of cables in service that never move, where others may."""
    moving = fabric.live.moving
    if moving is None:
        return True
    there, held = moving.fabric, moving.held
    own, is_same = there.tiers[0], fabric.may_stay(there.tiers[0], leaf) and nic.planes == there.planes
    same_up = UPLINKS not in held or own.up is None or (is_same and _is_same(own.up, up))
    return same_up and ("server-leaf" not in held or (is_same and _is_same(own.down, down)))


def pods_in_service(fabric: FabricProblem, rail_pods: bool, leaves: int, least: Ints, most: Ints) -> tuple[Ints, Ints]:
    """The fewest and the most groups of a pod with which a network goes on from the one in service, of shape (rows,).

    ``least``, ``most``: those that there may be otherwise; of pods that differ from those in service none. ``leaves``:
    of a group in a pod. Where uplinks never move, a pod has the leaves of one in service.
    """
    held, stays = fabric.live.holds_uplinks, fabric.live.stays
    if held is not None:
        old = held.clos
        of_group = 1 if old.pod_of == "rail" else old.ports_per_server // old.ports_per_server_per_leaf
        groups = old.groups if old.tiers == TWO else min(old.groups, old.groups_per_pod)
        return np.maximum(least, ceil_div(of_group * groups, leaves)), most
    there = None if stays is None else stays.clos
    if there is None or there.tiers == 1:
        return least, most
    if rail_pods != (there.tiers > 2 and there.pod_of == "rail"):
        return least, np.zeros_like(most)
    if there.tiers == 2 or there.groups <= there.groups_per_pod:
        return np.maximum(least, there.groups), most
    return np.maximum(least, there.groups_per_pod), np.minimum(most, there.groups_per_pod)


def _same_sizes(there: Structure, shape: Shape, servers: int) -> NDArray[np.bool_]:
    same = same_groups(there, shape, servers)
    if there.tiers > 1:
        same &= (shape.spines >= there.spines_per_pod) & (shape.links_per_pair == there.links_per_pair)
    if there.last_group is not None:
        same &= (shape.last_links_per_pair == there.last_group.links_per_pair) & (
            (np.asarray(shape.q) == 0) | (shape.servers == servers)
        )
    if there.tiers == 2:
        same &= (shape.groups_per_pod >= there.groups) & (np.asarray(shape.rail_pods) == 0)
    if there.tiers == 3:
        few = there.groups <= there.groups_per_pod
        same &= shape.groups_per_pod >= there.groups if few else shape.groups_per_pod == there.groups_per_pod
        same &= (shape.rail_pods == (there.pod_of == "rail")) & (shape.q == there.spines_per_core_group)
        same &= (shape.m2 == there.links_per_core_pair) & (shape.cores_per_group >= there.cores_per_group)
    return np.asarray(same)


def ports_in_service(there: InService, before: ClosNumbers) -> dict[str, tuple[HostPort, ...]]:
    """Switches of ports of attachments in service, by their numbers in the file at last: on free ports those of the
    file, others as they were dealt over its leaves. ``before``: the numbers of these.
    """
    free = there.whole.free_ports
    dealt = dealt_over_leaves(
        before,
        [() if name in free else adds for name, adds in there.attached.items()],
        there.leaf_racks,
        in_pairs=there.whole.homing in ("pair", "dual"),
    )
    places: dict[str, tuple[HostPort, ...]] = {
        name: free.get(name, tuple(("leaf", port.leaf) for port in dealt if port.owner == index))
        for index, name in enumerate(there.attached)
    }
    so_far = {name: sum(adds[: len(there.stages)]) for name, adds in there.attached.items()}
    return {name: own[: so_far[name]] for name, own in places.items()}


def places_in_service(fabric: FabricProblem, now: ClosNumbers) -> dict[str, tuple[HostPort, ...]]:
    """Switches of ports of attachments in service, by their numbers in a network that goes on: on free ports those of
    the file, others as they were dealt over its leaves.
    """
    there = fabric.live.in_service
    if there is None or not there.attached:
        return {}
    structure = there.whole.clos
    sizes = there.sizes if len(there.sizes) > 1 else ()
    own_end = own_ends(structure, there.sizes[-1], there.sizes[-1])[0]
    before = replace(now, servers=there.sizes[-1], sizes=sizes, g=structure.servers_per_group, own_end=own_end)
    places = ports_in_service(there, before)
    leaves = there.whole.tiers[0].count // now.planes
    of_base = SwitchesOfPlane(leaves, structure.pods, max(1, structure.spines_per_pod))
    of_shape = SwitchesOfPlane(now.leaves, now.pods if now.spines else 1, now.spines)
    return {name: tuple(of_base.renumbered(port, of_shape) for port in own) for name, own in places.items()}


def most_at(fabric: FabricProblem, stage_shape: Shape, clos: ClosNetwork, of_last: bool = False) -> int:
    """Most ports of a leaf that count in its ratio at a stage, with those in service; ``clos``: of the last stage, with
    the switches of listed ports.

    ``of_last``: of leaves of a group unlike the others, which these do not include.
    """
    most, now = int((last_endpoints if of_last else most_endpoints)(stage_shape, fabric.attached)), clos.numbers
    on_leaves = _counted_on(fabric, now, "leaf", clos.listed_until(fabric, len(stage_shape.sizes)))
    hosts = np.array(list(on_leaves), dtype=np.int64)
    servers = now.servers_of_groups(now.group_of_leaf(hosts), int(stage_shape.servers))
    for own, is_last, ports in zip(servers.tolist(), now.is_of_last(hosts), on_leaves.values(), strict=True):
        if is_last == of_last:
            most = max(most, own * int(now.last_k if of_last else now.k) + ports)
    return most


def most_above(fabric: FabricProblem, stage_shape: Shape, nic: NicOption) -> int:
    """Most ports of a spine that count in its ratio at a stage, with those in service; 0 without spines."""
    most = int(stage_shape.spine_down) if stage_shape.spines else 0
    if not most or fabric.live.in_service is None:
        return most
    numbers = numbers_of(nic, stage_shape)
    on_spines = _counted_on(fabric, numbers, "spine", {})
    links = downlinks_of_spines(numbers) if on_spines else ()
    return max([most, *(int(links[spine]) + ports for spine, ports in on_spines.items())])


def _counted_on(
    fabric: FabricProblem, now: ClosNumbers, tier: str, listed: Mapping[str, tuple[HostPort, ...]]
) -> Counter[int]:
    """Ports in service that count in ratios, by switch of a tier; of ``listed`` attachments all that have come."""
    counted = {demand.name for demand in fabric.attachments if demand.counts}
    places = {**places_in_service(fabric, now), **listed}
    there = (own for name, own in places.items() if name in counted)
    return Counter(switch for own in there for on, switch in own if on == tier)


def keeps_cages(fabric: FabricProblem, clos: ClosNetwork, now: ClosNumbers) -> bool:
    """Whether attachments in service share cages of leaves with servers at last as they do now: where servers come to
    a leaf with such ports, they fill whole cages before and after.
    """
    there, lanes = fabric.live.in_service, clos.parts.leaf_down.lane.ports
    if there is None or lanes == 1:
        return True
    hosts = {
        leaf
        for demand, own in zip(fabric.attachments, clos.free, strict=False)
        for tier, leaf in own
        if tier == "leaf" and demand.name in there.attached
    }
    leaf = np.array(sorted(hosts), dtype=np.int64)
    group, k = now.group_of_leaf(leaf), np.where(now.is_of_last(leaf), now.last_k, now.k)
    first, last = (now.servers_of_groups(group, servers) * k for servers in (there.servers, now.servers))
    return bool(((first == last) | ((first % lanes == 0) & (last % lanes == 0))).all())


def with_switches_in_service(fabric: FabricProblem, candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Candidates whose managed twins are those in service; unchanged without a base."""
    if fabric.live.in_service is None:
        return tuple(candidates)
    managers = fabric.live.in_service.fabric.subnet_manager
    twins = () if managers is None else managers.twins
    return tuple(candidate for candidate in candidates if candidate.twins == twins)
