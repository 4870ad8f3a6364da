"""From a design file to its wiring: names and places of boxes, every link, wire and module.

The same file always gives the same wiring. docs/formulation/wiring.md states the rules of numbering.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from fabopt.network.clos_links import (
    ClosNumbers,
    Joints,
    attached_leaves,
    dealt,
    leaf_spine,
    padded,
    server_leaf,
    spine_core,
)
from fabopt.network.clos_stages import lent_links, of_links
from fabopt.network.direct_links import Mesh, Pairs, Slots, Torus, slots_of
from fabopt.schema.base import parse_split
from fabopt.schema.case import Attachment
from fabopt.schema.catalog import Switch
from fabopt.schema.design import Design, LinkRow, TierUse
from fabopt.schema.structure import SwitchlessStructure
from fabopt.units import ceil_div
from fabopt.wiring.assembly import Carries, Way, way_of
from fabopt.wiring.attachments import LeafCages, head_of, in_cages, lanes_of, place_attachments
from fabopt.wiring.cages import at_slots, down_cages, first_cage, up_cages
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.devices import Box, fabric_boxes, server_boxes, table_of
from fabopt.wiring.join import UNMADE, Cabled, Share, deal, jackets
from fabopt.wiring.model import KINDS, NOTHING, Ints, Lent, Wiring
from fabopt.wiring.numbers import Cards, Numbers, cards_before, logical_before
from fabopt.wiring.runs import Runs
from fabopt.wiring.tables import CabledKinds, tables_of

NO_MEDIUM = "none"


class _NearEnd(NamedTuple):
    """The near end of links of an attachment, link by link: ``slot`` counts ports over the cages of the box, from 0;
    ``stands``: whether the box is one that stands by itself.
    """

    box: Ints
    card: Ints
    port: Ints
    slot: Ints
    stands: bool


def wiring_of(design: Design) -> Wiring:
    """The wiring of a design that has fabrics.

    Raises ``LookupError`` or ``ValueError`` where the file does not hold together.
    """
    embedded = Embedded(design)
    fabrics = [Numbers(embedded, fabric) for fabric in design.fabrics]
    boxes, starts = server_boxes(embedded), []
    for numbers in fabrics:
        starts.append(len(boxes))
        boxes.extend(fabric_boxes(numbers))
    devices = table_of(boxes)
    runs = Runs(embedded, devices)
    cabled_kinds: list[CabledKinds] = []
    logical = logical_before(fabrics)
    for index, before in enumerate(cards_before(fabrics)):
        cabled_kinds += _Plan(fabrics[index], index, starts[index], boxes, runs, before, logical).cabled_kinds()
    names = tuple(fabric.name for fabric in design.fabrics)
    protocols = tuple(fabric.protocol for fabric in design.fabrics)
    return Wiring(names, protocols, devices, *tables_of(cabled_kinds))


class _Plan:
    """One fabric, wired kind by kind. ``before``: cards and cages of a server that earlier fabrics have; ``logical``:
    those that others have before each logical fabric.
    """

    def __init__(
        self,
        numbers: Numbers,
        fabric: int,
        start: int,
        boxes: Sequence[Box],
        runs: Runs,
        before: Cards,
        logical: Mapping[str, Cards],
    ) -> None:
        self.numbers, self.fabric, self.runs, self.before, self.logical = numbers, fabric, runs, before, logical
        made = [box.role for box in boxes[start:] if box.fabric == numbers.made.name]
        floor = numbers.embedded.design.floor
        self.classes_m = () if floor is None else tuple(float(one) for one in floor.length_classes_m)
        self.first: dict[str, int] = {role: start + made.index(role) for role in dict.fromkeys(made)}

    def cabled_kinds(self) -> Iterable[CabledKinds]:
        """Server and attachment links, then those between switches; or those between servers alone."""
        if isinstance(self.numbers.made.structure, SwitchlessStructure):
            yield from self._servers_joined(self.numbers.made.structure)
            return
        yield self._down()
        if len(self.numbers.made.tiers) > 1:
            yield self._between("leaf", "spine")
        if len(self.numbers.made.tiers) > 2:
            yield self._between("spine", "core")
        if self.numbers.mesh is not None:
            yield from self._meshed(self.numbers.mesh)

    def _meshed(self, mesh: Mesh) -> Iterable[CabledKinds]:
        """Links between equal switches, scope by scope: each has its own cages, together the last of their group."""
        tier, switch = self.numbers.made.tiers[-1], self._switch(self.numbers.made.tiers[-1].role)
        if tier.up is None:
            raise LookupError(f"the {tier.role} tier names no cages for links to other switches")
        lanes = parse_split(tier.up.split).ports
        joined = {scope: mesh.pairs(scope) for scope in mesh.scopes}
        slots = {scope: slots_of(pairs) for scope, pairs in joined.items()}
        cages = [int(max(one.a.max(), one.b.max())) // lanes + 1 for one in slots.values()]
        first = first_cage(switch, tier.up) + switch.cages[tier.up.cage_group].count - sum(cages)
        for scope, own in zip(mesh.scopes, cages, strict=True):
            yield self._scope(scope, joined[scope], slots[scope], first, lanes)
            first += own

    def _servers_joined(self, structure: SwitchlessStructure) -> Iterable[CabledKinds]:
        """Links between servers, dimension by dimension: each takes the next ports of a server's cards."""
        first, torus = 0, Torus(structure.sides, structure.links_per_pair)
        for scope, links in zip(torus.scopes, structure.links_per_pair, strict=True):
            pairs = torus.pairs(scope)
            ahead = first + np.tile(np.arange(links), torus.switches)
            yield self._between_servers(scope, pairs, Slots(ahead, ahead + links))
            first += 2 * links

    def _between_servers(self, scope: str, pairs: Pairs, ports: Slots) -> CabledKinds:
        nic = self.numbers.made.nic
        lanes = parse_split(nic.split).ports
        rows = self._rows("server", "server", scope=scope)
        ways = [way_of(self.numbers.embedded, row, lanes, lanes) for row in rows]
        near, far = (at_slots(one, lanes, self.before.cages + 1) for one in ports)
        cards = [(self.before.cards + one // nic.ports_per_nic + 1, one % nic.ports_per_nic + 1) for one in ports]
        unmade, stage = np.full(len(pairs.a), UNMADE), np.zeros(len(pairs.a), dtype=np.int64)
        run_m = self.runs.of(self.numbers.made, scope, pairs.a, pairs.b)
        cabled = Cabled(
            KINDS.index(scope), pairs.a, *cards[0], near, pairs.b, far, float(nic.gbps), run_m, ways, unmade, stage,
            *cards[1],
        )  # fmt: skip
        deal(cabled, self._shares(rows, ways, (lanes, lanes)), self.classes_m)
        return CabledKinds(self.fabric, (cabled,), tuple(ways), cabled.way, jackets((cabled,), ways, cabled.way))

    def _scope(self, scope: str, pairs: Pairs, slots: Slots, first: int, lanes: int) -> CabledKinds:
        tier, planes = self.numbers.made.tiers[-1], self.numbers.clos.planes
        rows = self._rows(tier.role, tier.role, scope=scope)
        ways = [way_of(self.numbers.embedded, row, lanes, lanes) for row in rows]
        start = self.first[tier.role] + np.repeat(np.arange(planes) * (tier.count // planes), len(pairs.a))
        a, b = start + np.tile(pairs.a, planes), start + np.tile(pairs.b, planes)
        near, far = (at_slots(np.tile(one, planes), lanes, first) for one in slots)
        none, stage = np.full(len(a), NOTHING), np.zeros(len(a), dtype=np.int64)
        run_m = self.runs.of(self.numbers.made, scope, a, b)
        cabled = Cabled(
            KINDS.index(scope), a, none, none, near, b, far, float(tier.gbps_up), run_m, ways, none.copy(), stage
        )
        deal(cabled, self._shares(rows, ways, (lanes, lanes)), self.classes_m)
        return CabledKinds(self.fabric, (cabled,), tuple(ways), cabled.way, jackets((cabled,), ways, cabled.way))

    def _rows(self, near: str, far: str, attachment: str | None = None, scope: str | None = None) -> list[LinkRow]:
        rows, wanted = self.numbers.made.links, (near, far, attachment, scope)
        found = [row for row in rows if (row.from_, row.to, row.attachment, row.scope) == wanted]
        if not found:
            raise LookupError(f"{self.numbers.made.name} has no links from {attachment or near} to {far}")
        return found

    def _tier(self, role: str) -> TierUse:
        return next(tier for tier in self.numbers.made.tiers if tier.role == role)

    def _switch(self, role: str) -> Switch:
        return self.numbers.embedded.part(self._tier(role).id, Switch)

    def _between(self, below: str, above: str) -> CabledKinds:
        kind = f"{below}-{above}"
        lower, upper = self._tier(below), self._tier(above)
        if lower.up is None:
            raise LookupError(f"the {below} tier names no cages for its uplinks")
        lanes = parse_split(lower.up.split).ports, parse_split(upper.down.split).ports
        rows = self._rows(below, above)
        ways = [way_of(self.numbers.embedded, row, *lanes) for row in rows]
        joints = (leaf_spine if below == "leaf" else spine_core)(self.numbers.pods, _padding(ways))
        none = np.full(len(joints.a), NOTHING)
        a, b = joints.a + self.first[below], joints.b + self.first[above]
        near = up_cages(self._switch(below), lower.up, joints.a_slot)
        far = down_cages(self._switch(above), upper.down, joints.b_slot)
        run_m = self.runs.of(self.numbers.made, kind, a, b)
        stage = 0 * a if self.numbers.mesh else of_links(self.numbers.clos, self.numbers.stages, kind, joints)
        cabled = Cabled(
            KINDS.index(kind), a, none, none, near, b, far, float(upper.gbps_down), run_m, ways, none.copy(), stage
        )
        deal(cabled, self._shares(rows, ways, lanes), self.classes_m)
        lent = self._lent(joints, upper) if below == "leaf" else None
        return CabledKinds(self.fabric, (cabled,), tuple(ways), cabled.way, jackets((cabled,), ways, cabled.way), lent)

    def _lent(self, joints: Joints, spine: TierUse) -> Lent | None:
        """Where uplinks are plugged in before their spine is there."""
        stages = self.numbers.stages
        if not any(one.pair_links for one in stages):
            return None
        switch, lanes = self._switch("spine"), parse_split(spine.down.split).ports
        cages = switch.cages[spine.down.cage_group].count
        if spine.up is not None and spine.up.cage_group == spine.down.cage_group:
            cages -= ceil_div(spine.up_ports, parse_split(spine.up.split).ports)
        found = lent_links(self.numbers.clos, stages, joints, cages * lanes)
        at = down_cages(switch, spine.down, found.slot)
        return Lent(found.link, found.first, found.last, found.spine + self.first["spine"], at.cage, at.lane)

    def _down(self) -> CabledKinds:
        servers = self._servers()
        parts = [servers, *self._attached(servers)]
        ways = [way for part in parts for way in part.ways]
        offsets = np.cumsum([0, *(len(part.ways) for part in parts)]).tolist()
        way = np.concatenate([part.way + offset for part, offset in zip(parts, offsets, strict=False)])
        return CabledKinds(self.fabric, tuple(parts), tuple(ways), way, jackets(parts, ways, way))

    def _servers(self) -> Cabled:
        numbers, tier = self.numbers, self._tier("leaf")
        lanes = parse_split(numbers.made.nic.split).ports, parse_split(tier.down.split).ports
        rows = self._rows("server", "leaf")
        ways = [way_of(numbers.embedded, row, *lanes) for row in rows]
        per_cable = _padding(ways)
        joints, card, port = server_leaf(numbers.clos, per_cable)
        ports = numbers.made.nic.ports_per_nic
        near = at_slots(joints.a_slot, lanes[0], self.before.cages + 1)
        if not numbers.clos.shared_cages:
            slots = ports // numbers.clos.together * padded(numbers.clos.together, per_cable)
            near = near._replace(cage=near.cage + card * ceil_div(slots, lanes[0]))
        far = down_cages(self._switch("leaf"), tier.down, joints.b_slot)
        a, b = joints.a, self._leaves(joints.b)
        run_m = self.runs.of(numbers.made, "server-leaf", a, b)
        card, unmade = self.before.cards + card + 1, np.full(len(a), UNMADE)
        stage = 0 * a if numbers.mesh else of_links(numbers.clos, numbers.stages, "server-leaf", joints)
        cabled = Cabled(0, a, card, port + 1, near, b, far, float(tier.gbps_down), run_m, ways, unmade, stage)
        deal(cabled, self._shares(rows, ways, lanes), self.classes_m)
        return cabled

    def _leaves(self, leaf: Ints) -> Ints:
        """Devices of leaves with servers, which may not be all leaves of a plane."""
        plane, within = np.divmod(leaf, self.numbers.clos.leaves)
        tier = self._tier("leaf")
        return np.asarray(self.first["leaf"] + plane * (tier.count // self.numbers.clos.planes) + within)

    def _attached(self, servers: Cabled) -> list[Cabled]:
        numbers, tier, wanted = self.numbers, self._tier("leaf"), self.numbers.attachments
        if not wanted:
            return []
        lanes = parse_split(tier.down.split).ports
        rows = [self._rows("attachment", "leaf", one.name) for one in wanted]
        hosts, ways = list(servers.ways), []
        for one, mine in zip(wanted, rows, strict=True):
            ways.append([self._attachment_way(row, lanes_of(one), lanes, hosts) for row in mine])
            hosts += ways[-1]
        first_cage = down_cages(self._switch("leaf"), tier.down, np.array([0])).cage[0]
        used = np.zeros(tier.count, dtype=np.int64)
        np.maximum.at(
            used, servers.b - self.first["leaf"], (servers.far.cage - first_cage) * lanes + servers.far.lane + 1
        )
        cages = LeafCages(used, lanes, head_of(servers.ways[0]))
        leaves, when = _dealt(numbers.clos, wanted)
        servers_head = head_of(servers.ways[0])
        unbought = servers_head or ("nothing bought",)
        heads = [unbought if one.buys == "none" else head_of(many[0]) for one, many in zip(wanted, ways, strict=True)]
        per_cable = [_padding(many) for many in ways]
        boxes = [0 if one.name in numbers.logical else one.devices for one in wanted]
        first_box = self.first.get("attachment", 0) + np.cumsum([0, *boxes])
        made = []
        for index, placed in enumerate(place_attachments(wanted, heads, leaves, cages, per_cable)):
            slots, own = in_cages(placed, lanes_of(wanted[index]), per_cable[index])
            at = self._near_end(wanted[index], int(first_box[index]), own)
            b = slots.leaf + self.first["leaf"]
            far = down_cages(self._switch("leaf"), tier.down, slots.slot)
            near = at_slots(at.slot, lanes_of(wanted[index]), 1)
            run_m = self.runs.of(numbers.made, "attachment-leaf" if at.stands else "server-leaf", at.box, b)
            cabled = Cabled(
                1, at.box, at.card, at.port, near, b, far, float(tier.gbps_down), run_m, ways[index],
                np.full(len(own), NOTHING), when[index],
            )  # fmt: skip
            deal(cabled, self._shares(rows[index], ways[index], (lanes_of(wanted[index]), lanes)), self.classes_m)
            made.append(cabled)
        return made

    def _near_end(self, one: Attachment, first_box: int, slots: Ints) -> _NearEnd:
        """Where the ports of an attachment are, in their order: on boxes, or if a logical fabric's, on the servers."""
        if one.name not in self.numbers.logical:
            box, serial, own = _by_box(one, slots)
            return _NearEnd(first_box + box, np.full(len(slots), NOTHING), serial + 1, own, True)
        serial = np.arange(len(slots))
        use, before = self.numbers.logical[one.name], self.logical[one.name]
        server, port = np.divmod(serial, use.nic.per_server * use.nic.ports_per_nic)
        card, of_card = np.divmod(port, use.nic.ports_per_nic)
        cage = before.cages + self.numbers.port_cages(use, port)
        return _NearEnd(server, before.cards + card + 1, of_card + 1, cage, False)

    def _shares(self, rows: Sequence[LinkRow], ways: Sequence[Way], lanes: tuple[int, int]) -> list[Share]:
        names = [stage.name for stage in self.numbers.embedded.case.stages or ()]
        return [
            Share(
                row.count,
                row.from_cages if lanes[0] > 1 else row.to_cages,
                None if way.carries is Carries.LINK or not way.cables else sum(number for *_, number in way.cables),
                None if row.runs_m is None else tuple(float(run) for run in row.runs_m),
                None if row.stages is None else tuple(names.index(name) for name in row.stages),
            )
            for row, way in zip(rows, ways, strict=True)
        ]

    def _attachment_way(self, row: LinkRow, near: int, far: int, hosts: Sequence[Way]) -> Way:
        alone = row.to_cages or row.medium == NO_MEDIUM or any(part.end == "to" for part in row.parts)
        fit = [] if alone else [one for one in hosts if one.far_module or one.carries is Carries.FAR]
        long_enough = [one for one in fit if row.parts or (one.cables and one.cables[-1][1] >= row.length_m)]
        return way_of(self.numbers.embedded, row, near, far, next(iter(long_enough or fit), None))


def _dealt(clos: ClosNumbers, wanted: Sequence[Attachment]) -> tuple[list[int], list[Ints]]:
    """The leaf of every port, attachment by attachment, and the stages of the ports of each."""
    owners = dealt([one.adds or (one.ports,) for one in wanted])
    attached = np.bincount([stage for _, stage in owners], minlength=1).tolist()
    leaves = attached_leaves(clos, attached)
    order = sorted(range(len(owners)), key=lambda place: owners[place][0])
    when = [np.array([stage for owner, stage in owners if owner == index]) for index in range(len(wanted))]
    return [leaves[place] for place in order], when


def _by_box(one: Attachment, own: Ints) -> tuple[Ints, Ints, Ints]:
    """Of every port of an attachment its box, its number there, and its slot in the box's own cages."""
    serial = np.arange(one.ports)
    if one.devices == 1:
        return 0 * serial, serial, own
    box, slot = np.divmod(own, one.ports // one.devices)
    return box, slot, slot


def _padding(ways: Sequence[Way]) -> int:
    """Links that share a wire because they join the same two boxes; 1 where several ways are mixed in whole cages."""
    return ways[0].ports if len(ways) == 1 and ways[0].carries is Carries.PAIR else 1
