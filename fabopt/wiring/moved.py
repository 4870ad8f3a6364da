"""The wiring of a design that may take apart what is in service: what stays is found in it, port by port.

What moves does so at the first stage; later ones only add. Devices that keep their role keep their name; links that
stay keep their ports, their cable and its label. A cable that moves keeps its label too: of equal ones that with an end
where it was. All that is new takes free ports and labels.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial

import numpy as np

from fabopt.network.staying import Staying, standing_of
from fabopt.schema.catalog import Switch
from fabopt.schema.design import Design, FabricDesign
from fabopt.schema.installed import base_of, fabric_at
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.in_service import devices_beside, named
from fabopt.wiring.model import KINDS, NOTHING, TO_ATTACHMENTS, Ints, Wiring, wiring_at
from fabopt.wiring.tables import cable_name

# A cage and a port in it.
Port = tuple[int, int]
Place = tuple[str | int, ...]
_OF_ATTACHMENTS = [KINDS[kind] for kind in TO_ATTACHMENTS]


def with_moves(design: Design, wiring: Wiring, base: Wiring) -> Wiring:
    """The wiring with the names, ports and labels of all that stays of the base.

    Raises ``ValueError`` where the links that the design states to stay do not fit its ports.
    """
    return _Moved(design, wiring, base).whole


class _Moved:
    """A wiring while what stays is found in it."""

    def __init__(self, design: Design, wiring: Wiring, base: Wiring) -> None:
        self.embedded, self.wiring, self.base = Embedded(design), wiring, base
        self.links, self.theirs = wiring.links, base.links
        self.ports = {end: self._ports_of(end) for end in ("a", "b")}
        self.port_of_attachment = self.links.a_nic_port.copy()

    def _ports_of(self, end: str) -> list[Port]:
        cage, lane = getattr(self.links, f"{end}_cage"), getattr(self.links, f"{end}_lane")
        return list(zip(cage.tolist(), lane.tolist(), strict=True))

    @cached_property
    def _fabrics(self) -> list[tuple[FabricDesign, Staying]]:
        """Fabrics with what stays of them."""
        service, said = base_of(self.embedded.case), self.embedded.case.base
        assert service is not None and said is not None
        there = {one.name: fabric_at(one, said.stage) for one in service.fabrics}
        now, then = (one.devices.role.count("server") for one in (wiring_at(self.wiring, 0), self.base))
        alone = len(self.embedded.case.fabrics) == 1
        return [
            (
                fabric,
                Staying(standing_of(there[fabric.name], then), standing_of(fabric_at(fabric, 0), now), gone, alone),
            )
            for fabric in self.embedded.design.fabrics
            if fabric.topology == "clos"
            for gone in (_gone(fabric, there[fabric.name]),)
        ]

    @cached_property
    def device_of(self) -> Ints:
        """The row in the base of each device, ``NOTHING`` of new ones, shape (devices,)."""
        rows = np.full(len(self.wiring.devices), NOTHING)
        for fabric, staying in self._fabrics:
            for role in ("server", "leaf", "spine", "core"):
                own = staying.of_role(role)
                new, old = (self._rows_of(one, role, fabric.name) for one in (self.wiring, self.base))
                new = new[self.wiring.devices.stage[new] == 0]
                planes = 1 if role == "server" else fabric.planes
                for plane in range(planes if len(new) else 0):
                    number = np.flatnonzero(own != NOTHING)
                    there = plane * (len(old) // planes) + own[number]
                    rows[new[plane * (len(new) // planes) + number]] = old[there]
        if not self._fabrics:
            servers = self._rows_of(self.base, "server", "")
            rows[: len(servers)] = servers
        row_of = {name: row for row, name in enumerate(self.base.devices.name) if self._is_attachment(self.base, row)}
        for row, name in enumerate(self.wiring.devices.name):
            if name in row_of and self._is_attachment(self.wiring, row):
                rows[row] = row_of[name]
        return rows

    @staticmethod
    def _is_attachment(wiring: Wiring, row: int) -> bool:
        return wiring.devices.role[row] == "attachment"

    @staticmethod
    def _rows_of(wiring: Wiring, role: str, fabric: str) -> Ints:
        devices = wiring.devices
        of = ("",) if role == "server" else (fabric,)
        columns = zip(devices.role, devices.fabric, strict=True)
        return np.array([row for row, (own, name) in enumerate(columns) if own == role and name in of], dtype=np.int64)

    @cached_property
    def pairs(self) -> dict[int, int]:
        """Rows of the links that stay: in the base, by row."""
        pairs: dict[int, int] = {}
        for fabric, staying in self._fabrics:
            for kind in fabric.moves.stay if fabric.moves is not None else ():
                most = 1 if kind == "server-leaf" else None if kind in _OF_ATTACHMENTS else staying.of_pair(kind)
                own, theirs = self._by_ends(self.wiring, fabric.name, kind), self._by_ends(self.base, fabric.name, kind)
                if most is None:
                    theirs = {ends: self._there_at_last(rows) for ends, rows in theirs.items()}
                for ends, rows in own.items():
                    pairs |= dict(zip(rows[:most], theirs.get(ends, [])[:most], strict=False))
        return pairs

    def _there_at_last(self, rows: Sequence[int]) -> list[int]:
        """Rows in the base of ports that their attachment still has: of counted ones the last go."""
        ports = Counter(self.device_of[self.links.a].tolist())
        return [row for row in rows if self.theirs.a_nic_port[row] <= ports[int(self.theirs.a[row])]]

    def _by_ends(self, wiring: Wiring, fabric: str, kind: str) -> dict[tuple[object, ...], list[int]]:
        """Rows of links of a kind in the order of their near ports, by both devices in the base and port of a NIC; of
        attachments by their parts.
        """
        links, cables = wiring.links, wiring.cables
        rows = np.flatnonzero((links.kind == KINDS.index(kind)) & (links.fabric == wiring.fabrics.index(fabric)))
        rows = rows[np.lexsort((links.a_lane[rows], links.a_cage[rows]))]
        device = self.device_of if wiring is self.wiring else np.arange(len(wiring.devices))
        by_ends: dict[tuple[object, ...], list[int]] = defaultdict(list)
        columns: list[list[object]] = [device[links.a[rows]].tolist(), device[links.b[rows]].tolist()]
        if kind == "server-leaf":
            columns += [links.a_nic[rows].tolist(), links.a_nic_port[rows].tolist()]
        elif kind in _OF_ATTACHMENTS:
            parts = [*zip(cables.part, cables.length_m.tolist(), cables.a_module, cables.b_module, strict=True), None]
            columns.append([parts[cable] for cable in links.cable[rows].tolist()])
        for row, *ends in zip(rows.tolist(), *columns, strict=True):
            if NOTHING not in ends[:2]:
                by_ends[tuple(ends)].append(row)
        return by_ends

    # -- ports ------------------------------------------------------------------------------------------------------

    @cached_property
    def cages(self) -> dict[int, dict[int, int]]:
        """By switch that stays, its cages by their numbers in the design; ports of its links are dealt, and those of
        attachments.
        """
        ends: dict[int, dict[tuple[int, str], list[int]]] = defaultdict(lambda: defaultdict(list))
        kinds, of_attachments = self.links.kind.tolist(), defaultdict[int, list[int]](list)
        for end in ("a", "b"):
            for row, device in enumerate(getattr(self.links, end).tolist()):
                if self.device_of[device] != NOTHING and self._is_attachment(self.wiring, device):
                    of_attachments[device].append(row)
                elif self.device_of[device] != NOTHING and self.wiring.devices.role[device] != "server":
                    ends[device][kinds[row], end].append(row)
        for rows in of_attachments.values():
            self._deal_attachment(rows)
        cages = {device: self._dealt(device, self._together(of_device)) for device, of_device in ends.items()}
        return cages | self._like_others(cages)

    def _like_others(self, cages: dict[int, dict[int, int]]) -> dict[int, dict[int, int]]:
        """Cages of new leaves: servers are at the same ports as on one that stays, of their group if there is any, else
        on that with the most servers.
        """
        of_leaves: dict[int, list[int]] = defaultdict(list)
        for row in np.flatnonzero(self.links.kind == KINDS.index("server-leaf")).tolist():
            of_leaves[int(self.links.b[row])].append(row)
        stay = sorted((leaf for leaf in of_leaves if leaf in cages), key=lambda leaf: (len(of_leaves[leaf]), -leaf))
        there = {key: leaf for leaf in stay for key in self._places_of(leaf)}
        like: dict[int, dict[int, int]] = {}
        for leaf, rows in of_leaves.items():
            own = () if leaf in cages else self._places_of(leaf)
            other = next((there[key] for key in own if key in there), None)
            if other is None or len(rows) > len(of_leaves[other]):
                continue
            attached = np.flatnonzero((self.links.b == leaf) & (self.links.kind == TO_ATTACHMENTS[0])).tolist()
            wanted = sorted({self.ports["b"][row][0] for row in attached} - set(cages[other]))
            like[leaf] = cages[other] | self._free_cages(leaf, wanted, set(cages[other].values()))
            for row, same in zip(rows, of_leaves[other], strict=False):
                self.ports["b"][row] = self.ports["b"][same]
            self._put_beside(attached, {self.ports["b"][row] for row in rows}, like[leaf])
            for row in np.flatnonzero(self.links.a == leaf).tolist():
                cage, lane = self.ports["a"][row]
                self.ports["a"][row] = cages[other][cage], lane
        return like

    def _put_beside(self, rows: Sequence[int], taken: set[Port], cages: dict[int, int]) -> None:
        """Put links of attachments on a new leaf into its cages, beside ports of servers that are ``taken``."""
        lanes, ports = self.links.b_lanes, self.ports["b"]
        for row in rows:
            cage, lane = ports[row]
            own = [(cages[cage], lane), *((cages[cage], other) for other in range(int(lanes[row])))]
            own += [(other, lane) for other, _ in sorted(taken) for lane in range(int(lanes[row]))]
            ports[row] = next(port for port in own if port not in taken)
            taken.add(ports[row])

    def _deal_attachment(self, rows: Sequence[int]) -> None:
        """Deal the ports of a device of an attachment: those of links that stay, others at their own if free."""
        links, theirs = self.links, self.theirs
        ports = {row: (int(links.a_nic_port[row]), *self.ports["a"][row]) for row in rows}
        columns = theirs.a_nic_port, theirs.a_cage, theirs.a_lane
        kept = {row: tuple(int(of[self.pairs[row]]) for of in columns) for row in rows if row in self.pairs}
        taken, others = set(kept.values()), {row for row in rows if row not in kept}
        same = {row for row in others if ports[row] not in taken}
        free = iter(sorted(set(ports.values()) - taken - {ports[row] for row in same}))
        for row in rows:
            number, cage, lane = kept[row] if row in kept else ports[row] if row in same else next(free)
            self.port_of_attachment[row], self.ports["a"][row] = number, (cage, lane)

    def _together(self, ends: dict[tuple[int, str], list[int]]) -> dict[tuple[int, str], list[int]]:
        """The links of a switch by kind and end; those of servers and attachments that share cages as one kind."""
        servers = ends.get((KINDS.index("server-leaf"), "b"), [])
        cages = {self.ports["b"][row][0] for row in servers}
        sharing = [row for row in ends.get((TO_ATTACHMENTS[0], "b"), []) if self.ports["b"][row][0] in cages]
        if not sharing:
            return ends
        own = ends[TO_ATTACHMENTS[0], "b"]
        joined = {key: rows for key, rows in ends.items() if key[1] != "b" or key[0] not in (0, TO_ATTACHMENTS[0])}
        return {(KINDS.index("server-leaf"), "b"): servers + own, **joined}

    def _places_of(self, leaf: int) -> tuple[Place, Place]:
        """Fabric, plane and group of a leaf, and its fabric alone."""
        devices = self.wiring.devices
        return (devices.fabric[leaf], int(devices.plane[leaf]), int(devices.group[leaf])), (devices.fabric[leaf],)

    def _dealt(self, device: int, ends: dict[tuple[int, str], list[int]]) -> dict[int, int]:
        """Deal the ports of a switch: those of links that stay, then those of others in the same cages."""
        cages: dict[int, int] = {}
        for (_, end), rows in ends.items():
            cages |= self._cages_that_stay(device, end, rows)
        if len(set(cages.values())) < len(cages):
            raise ValueError(f"two cages of {self.wiring.devices.name[device]} would be one")
        wanted = sorted({self.ports[end][row][0] for (_, end), rows in ends.items() for row in rows} - set(cages))
        cages |= self._free_cages(device, wanted, set(cages.values()))
        for (_, end), rows in ends.items():
            self._deal_ports(end, rows, cages)
        return cages

    def _cages_that_stay(self, device: int, end: str, rows: Sequence[int]) -> dict[int, int]:
        theirs, ports = getattr(self.theirs, f"{end}_cage"), self.ports[end]
        staying = [(row, int(theirs[self.pairs[row]])) for row in rows if row in self.pairs]
        if not self._is_loose(end, rows):
            cages: dict[int, int] = {}
            for row, cage in staying:
                if cages.setdefault(ports[row][0], cage) != cage:
                    raise ValueError(f"{self.wiring.devices.name[device]} is cabled otherwise than in service")
            return cages
        first = [row for row in rows if self.links.stage[row] == 0]
        own, kept = self._cages_of(end, first), sorted({cage for _, cage in staying})
        if len(kept) > len(own):
            raise ValueError(f"links in service fill {len(kept)} cages of {self.wiring.devices.name[device]}")
        same = {cage: cage for cage in own if cage in kept}
        others = (cage for cage in own if cage not in same)
        return same | dict(zip(others, (cage for cage in kept if cage not in same), strict=False))

    def _cages_of(self, end: str, rows: Sequence[int]) -> list[int]:
        """Cages of links by their numbers in the design, those of the first stage first."""
        ports, stage = self.ports[end], self.links.stage.tolist()
        return list(dict.fromkeys(cage for _, cage in sorted((stage[row], ports[row][0]) for row in rows)))

    def _is_loose(self, end: str, rows: Sequence[int]) -> bool:
        """Whether every link has a cable of its own, and so any port of its cages; not where it fills a cage."""
        fills = len({self.ports[end][row][0] for row in rows}) == len(rows) > 1
        cables = [cable for cable in self.links.cable[list(rows)].tolist() if cable != NOTHING]
        is_split = bool((getattr(self.links, f"{end}_lanes")[list(rows)] > 1).any())
        return is_split and not fills and bool((self._links_of_cables[cables] == 1).all())

    @cached_property
    def _links_of_cables(self) -> Ints:
        cable = self.links.cable[self.links.cable != NOTHING]
        return np.bincount(cable, minlength=len(self.wiring.cables))

    def _free_cages(self, device: int, wanted: Sequence[int], taken: set[int]) -> dict[int, int]:
        """Cages that are free for others: the same, or else the first ones of their group."""
        cages, first = dict[int, int](), 1
        for group in self.embedded.part(self.wiring.devices.product[device], Switch).cages:
            numbers = range(first, first + group.count)
            own = [cage for cage in wanted if cage in numbers]
            same = [cage for cage in own if cage not in taken]
            free = iter(cage for cage in numbers if cage not in taken and cage not in same)
            cages |= {cage: cage for cage in same}
            cages |= dict(zip((cage for cage in own if cage in taken), free, strict=False))
            first += group.count
        if len(cages) < len(wanted):
            raise ValueError(f"{self.wiring.devices.name[device]} has no free cages")
        return cages

    def _deal_ports(self, end: str, rows: Sequence[int], cages: dict[int, int]) -> None:
        ports, theirs = self.ports[end], self.theirs
        if not self._is_loose(end, rows):
            for row in rows:
                ports[row] = cages[ports[row][0]], ports[row][1]
            return
        lanes = int(getattr(self.links, f"{end}_lanes")[rows[0]])
        own = self._cages_of(end, rows)
        stay = {row: self.pairs[row] for row in rows if row in self.pairs}
        cage, lane = getattr(theirs, f"{end}_cage"), getattr(theirs, f"{end}_lane")
        kept = {row: (int(cage[there]), int(lane[there])) for row, there in stay.items()}
        taken = set(kept.values())
        free = iter((cages[cage], lane) for cage in own for lane in range(lanes) if (cages[cage], lane) not in taken)
        for row in sorted(rows, key=self.links.stage.__getitem__):
            ports[row] = kept[row] if row in kept else next(free)

    # -- labels -----------------------------------------------------------------------------------------------------

    def _labels(self) -> list[str]:
        """Labels of cables: of those that stay, then of those that move, then free ones.

        One that moves is nowhere just where it was: what the design states to move is what its crew moves.
        """
        cables, theirs = self.wiring.cables, self.base.cables
        # links for which no cable is bought are in a row of their own, the last one
        with_none = np.full(len(cables) + 1, NOTHING)
        own, there = np.array(list(self.pairs), dtype=np.int64), np.array(list(self.pairs.values()), dtype=np.int64)
        with_none[self.links.cable[own]] = self.theirs.cable[there]
        cable_of = with_none[:-1]
        own_ports, theirs_ports = self._ports_of_cables(self.wiring), self._ports_of_cables(self.base)
        for keys in zip(self._moving_keys(self.wiring), self._moving_keys(self.base), strict=True):
            left = set(range(len(theirs))) - set(cable_of.tolist())
            rows: dict[tuple[object, ...], list[int]] = defaultdict(list)
            for row in sorted(left):
                rows[keys[1][row]].append(row)
            for row in np.flatnonzero((cable_of == NOTHING) & (cables.stage == 0)).tolist():
                same = rows.get(keys[0][row], [])
                elsewhere = next((one for one in same if not theirs_ports[one] <= own_ports[row]), None)
                if elsewhere is not None:
                    same.remove(elsewhere)
                    cable_of[row] = elsewhere
        return named(cable_of, theirs.name, partial(cable_name, len(cables)), cables.stage)

    def _moving_keys(self, wiring: Wiring) -> Iterator[list[tuple[object, ...]]]:
        """What tells equal cables apart, the nearest first: the port at either end, a device, nothing."""
        links, cables = wiring.links, wiring.cables
        first = np.full(len(cables) + 1, NOTHING)
        first[links.cable[::-1]] = np.arange(len(links))[::-1]
        parts = list(zip(cables.part, cables.length_m.tolist(), strict=True))
        ends = {end: self._ends(wiring, end) for end in ("a", "b")}
        for end, exact in (("a", True), ("b", True), ("a", False), ("b", False)):
            yield [(*part, *ends[end][row][: 3 if exact else 1]) for part, row in zip(parts, first[:-1], strict=True)]
        yield [(*part,) for part in parts]

    def _ports_of_cables(self, wiring: Wiring) -> list[set[tuple[tuple[int, int, int], ...]]]:
        """By cable the ports that its links join, devices by their rows in the base."""
        joined = [set[tuple[tuple[int, int, int], ...]]() for _ in wiring.cables.name]
        for cable, *ends in zip(
            wiring.links.cable.tolist(), self._ends(wiring, "a"), self._ends(wiring, "b"), strict=True
        ):
            if cable != NOTHING:
                joined[cable].add(tuple(ends))
        return joined

    def _ends(self, wiring: Wiring, end: str) -> list[tuple[int, int, int]]:
        """Device of the base, cage and lane of every link; a new device is none of the base."""
        rows = getattr(wiring.links, end)
        if wiring is not self.wiring:
            cage, lane = getattr(wiring.links, f"{end}_cage").tolist(), getattr(wiring.links, f"{end}_lane").tolist()
            return list(zip(rows.tolist(), cage, lane, strict=True))
        return [(device, *port) for device, port in zip(self.device_of[rows].tolist(), self.ports[end], strict=True)]

    @property
    def whole(self) -> Wiring:
        """The wiring as it was, with what stays found in it."""
        wiring, cages = self.wiring, self.cages
        (a_cage, a_lane), (b_cage, b_lane) = (
            np.array(self.ports[end], dtype=np.int64).reshape(-1, 2).T for end in ("a", "b")
        )
        places = zip(wiring.modules.device.tolist(), wiring.modules.cage.tolist(), strict=True)
        held = [cages.get(device, {}).get(cage, cage) for device, cage in places]
        return replace(
            wiring,
            devices=devices_beside(wiring, self.base, self.device_of),
            links=replace(
                wiring.links,
                a_cage=a_cage,
                a_lane=a_lane,
                b_cage=b_cage,
                b_lane=b_lane,
                a_nic_port=self.port_of_attachment,
            ),
            modules=replace(wiring.modules, cage=np.array(held, dtype=np.int64)),
            cables=replace(wiring.cables, name=self._labels()),
        )


def _gone(fabric: FabricDesign, there: FabricDesign) -> frozenset[str]:
    """Roles of which the design states that no device stays."""
    moved = {} if fabric.moves is None else fabric.moves.devices
    return frozenset(tier.role for tier in there.tiers if moved.get(tier.role, 0) == tier.count)
