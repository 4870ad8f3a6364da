"""Names, ports and labels of what is in service, kept in the wiring of a design that goes on from it.

A design counts its switches, and the cages of each, as it has them at its last stage. What is in service counts as it
did before: its devices, ports and cables keep their names, and what is new takes those that are free.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fabopt.errors import InputError
from fabopt.schema.catalog import Switch
from fabopt.schema.design import Design
from fabopt.schema.in_service import Joins, LiveFile, live_in
from fabopt.schema.installed import live_design
from fabopt.units import grouped
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.fabric_plan import numbered
from fabopt.wiring.join import LinkParts, LiveParts
from fabopt.wiring.model import NOTHING, Devices, Ints, Links, Mask, Wiring, at_stage, wiring_at
from fabopt.wiring.tables import cable_name
from fabopt.wiring.together import together

if TYPE_CHECKING:
    from fabopt.wiring.found import OtherPorts

# Cages of devices, by their rows: the cage of the base by that of the design.
CagesOf = dict[int, dict[int, int]]


class CablesInService(NamedTuple):
    """The wiring of what is in service as it was designed, and where its ports were found to be."""

    designed: Wiring
    ports: OtherPorts

    @property
    def wiring(self) -> Wiring:
        """The wiring of what is in service as it was found."""
        return self.ports.of(self.designed)


def in_service(said: LiveFile | None, wiring_of: Callable[[Design], Wiring]) -> CablesInService | None:
    """What is in service; None without any. ``wiring_of``: makes the wiring of a design.

    Of what a pod joins, with all that this joins in turn.

    Raises ``InputError`` where what was found of it is another network.
    """
    base = live_design(said)
    if said is None or base is None:
        return None
    from fabopt.wiring.found import OtherPorts, as_found

    wiring = wiring_at(wiring_of(base), said.stage)
    further = in_service(Embedded(base).case.joins, wiring_of) if isinstance(said, Joins) else None
    if further is not None:
        wiring = together(wiring, further.wiring)
    cables, file = said.found_cables, said.found or ""
    none = OtherPorts({}, {})
    return CablesInService(wiring, none if cables is None else as_found(Embedded(base), wiring, cables, file))


def in_service_of(said: LiveFile | None, wiring_of: Callable[[Design], Wiring]) -> CablesInService | None:
    """What is in service of a design file; None without any.

    Raises ``LookupError`` or ``ValueError`` where the file does not hold together.
    """
    try:
        return in_service(said, wiring_of)
    except InputError as error:
        raise ValueError(str(error)) from None


def base_wiring(design: Design, wiring_of: Callable[[Design], Wiring]) -> Wiring | None:
    """The wiring of what is in service, as it was found; None without a base."""
    there = in_service_of(Embedded(design).case.base, wiring_of)
    return None if there is None else there.wiring


def stays_whole(design: Design) -> bool:
    """Whether nothing of what is in service moves, whatever it costs."""
    base = Embedded(design).case.base
    return base is None or base.move is None


class JoinedByBase(NamedTuple):
    """What a base joins: names of devices, labels of cables, and by spine for each group of its cages the free ones,
    by the numbers that they would have if none were in use.
    """

    names: Sequence[str] = ()
    labels: Sequence[str] = ()
    free: Mapping[str, Sequence[Mapping[int, int]]] = {}


def kept(
    design: Design, wiring: Wiring, base: Wiring, counted: Callable[[Design], Wiring], joined: JoinedByBase
) -> Wiring:
    """The wiring with the names, ports and labels of the base. ``counted``: makes the wiring of a design as it counts;
    ``joined``: what the base joins.

    Raises ``ValueError`` where its first stage is not the base.
    """
    return _Kept(design, wiring, base, counted, joined).whole


def parts_in_service(design: Design, wiring: Wiring, base: Wiring, counted: Callable[[Design], Wiring]) -> LiveParts:
    """Parts that links have in the base, by kind and devices, in their order; none where those alike are of one.

    ``counted``: makes the wiring of a design as it counts. Raises ``ValueError`` as ``kept`` does.
    """
    rows = (row for fabric in design.fabrics for row in fabric.links if design.stages[0].name in (row.stages or ()))
    alike = grouped(((row.from_, row.to, row.attachment, row.runs_m), row.parts) for row in rows).values()
    if all(
        len({tuple((part.id, part.end, part.length_m) for part in row) for row in of_kind}) == 1 for of_kind in alike
    ):
        return {}
    cables, links, there = base.cables, wiring.links, np.full(len(wiring.links), NOTHING)
    own, other = _Kept(design, wiring, base, counted, JoinedByBase()).pairs
    there[own] = base.links.cable[other]
    parts = zip(cables.part, cables.length_m.tolist(), cables.a_module, cables.b_module, strict=True)
    of_cable: list[LinkParts] = [*parts, None]
    columns = (column.tolist() for column in (links.kind, links.a, links.b, there))
    return grouped(((kind, a, b), of_cable[cable]) for kind, a, b, cable in zip(*columns, strict=True))


class _Kept:
    """A wiring while what is in service is found in it."""

    def __init__(
        self, design: Design, wiring: Wiring, base: Wiring, counted: Callable[[Design], Wiring], joined: JoinedByBase
    ) -> None:
        self.embedded, self.wiring, self.base = Embedded(design), wiring, base
        self.counted, self.joined = counted, joined

    @cached_property
    def links_in_base(self) -> Links:
        """The links of the base by its own numbers, row by row; it may have its names and ports from a base too."""
        said = self.embedded.case.base
        service = live_design(said)
        if said is None or service is None or live_in(service.case.content) is None:
            return self.base.links
        return wiring_at(self.counted(service), said.stage).links

    @cached_property
    def device_of(self) -> Ints:
        """The row in the base of each device, ``NOTHING`` of new ones, shape (devices,)."""
        rows = np.full(len(self.wiring.devices), NOTHING)
        own = grouped(self._devices(self.wiring, self.wiring.devices.stage == 0))
        theirs = grouped(self._devices(self.base, np.ones(len(self.base.devices), dtype=np.bool_)))
        if {kind: len(of) for kind, of in own.items()} != {kind: len(of) for kind, of in theirs.items()}:
            raise ValueError("the first stage has other devices than are in service")
        for kind, of_kind in own.items():
            rows[of_kind] = theirs[kind]
        return rows

    @staticmethod
    def _devices(wiring: Wiring, there: Mask) -> Iterator[tuple[tuple[str, str, int], int]]:
        devices = wiring.devices
        for row in np.flatnonzero(there).tolist():
            yield (devices.role[row], devices.fabric[row], int(devices.plane[row])), row

    @cached_property
    def pairs(self) -> tuple[Ints, Ints]:
        """Rows of the links of the first stage, and of the same links in the base, both of shape (links,)."""
        links, theirs = at_stage(self.wiring, 0), self.links_in_base
        own = np.flatnonzero(links.stage == 0)
        if len(own) != len(theirs):
            raise ValueError("the first stage has other links than are in service")
        a, b = self.device_of[links.a[own]], self.device_of[links.b[own]]
        columns = (links.kind[own], links.a_nic[own], links.a_nic_port[own], links.a_cage[own], links.a_lane[own])
        order = np.lexsort((columns[4], columns[3], columns[2], columns[1], a, columns[0]))
        other = np.lexsort((theirs.a_lane, theirs.a_cage, theirs.a_nic_port, theirs.a_nic, theirs.a, theirs.kind))
        same = (a[order] == theirs.a[other]) & (b[order] == theirs.b[other])
        same &= (links.a_lane[own][order] == theirs.a_lane[other]) & (links.b_lane[own][order] == theirs.b_lane[other])
        if not same.all():
            raise ValueError("the first stage is cabled otherwise than what is in service")
        return own[order], other

    @cached_property
    def cages(self) -> CagesOf:
        """By device in service, its cages by their numbers in the design."""
        links, theirs = at_stage(self.wiring, 0), self.base.links
        of_devices: CagesOf = {}
        own, other = self.pairs
        for ends, cages, their_cages in (
            (links.a, links.a_cage, theirs.a_cage),
            (links.b, links.b_cage, theirs.b_cage),
        ):
            for device, cage, there in zip(
                ends[own].tolist(), cages[own].tolist(), their_cages[other].tolist(), strict=True
            ):
                if of_devices.setdefault(device, {}).setdefault(cage, there) != there:
                    raise ValueError(f"{self.wiring.devices.name[device]} is cabled otherwise than in service")
        return {device: self._completed(device, of_device) for device, of_device in of_devices.items()}

    def _completed(self, device: int, cages: Mapping[int, int]) -> dict[int, int]:
        """All cages of a device: those in service as they are, others in the free ones of their group."""
        devices, whole = self.wiring.devices, dict(cages)
        if devices.role[device] in ("server", "attachment"):
            return whole
        if len(set(cages.values())) < len(cages):
            raise ValueError(f"two cages of {devices.name[device]} would be one")
        for group in self._groups(device):
            left = [cage for cage in group if cage not in cages]
            free = set(group.values()) - set(cages.values())
            stay = {cage: group[cage] for cage in left if group[cage] in free}
            moved = sorted(free.difference(stay.values()))
            whole |= stay | dict(zip([cage for cage in left if cage not in stay], moved, strict=True))
        return whole

    def _groups(self, device: int) -> Iterator[Mapping[int, int]]:
        """The cages of each group of a switch by their numbers in the design; of a spine that is joined the free."""
        devices, first = self.wiring.devices, 1
        row = int(self.device_of[device])
        if row != NOTHING and self.base.devices.name[row] in self.joined.free:
            yield from self.joined.free[self.base.devices.name[row]]
            return
        for group in self.embedded.part(devices.product[device], Switch).cages:
            yield {cage: cage for cage in range(first, first + group.count)}
            first += group.count

    def at(self, device: Ints, cage: Ints) -> Ints:
        """The cages of devices as they are counted in service, all of shape (rows,)."""
        pairs = zip(device.tolist(), cage.tolist(), strict=True)
        return np.array([self.cages.get(one, {}).get(number, number) for one, number in pairs], dtype=np.int64)

    @property
    def whole(self) -> Wiring:
        """The wiring as it was, with what is in service found in it."""
        wiring = self.wiring
        links, modules, lent, cables = wiring.links, wiring.modules, wiring.lent, wiring.cables
        own, other = self.pairs
        # links for which no cable is bought are in a row of their own, the last one
        cable_of = np.full(len(cables) + 1, NOTHING)
        cable_of[links.cable[own]] = self.base.links.cable[other]
        name_of = partial(cable_name, len(cables) + len(self.joined.labels))
        labels = named(cable_of[:-1], self.base.cables.name, name_of, cables.stage, self.joined.labels)
        return replace(
            wiring,
            devices=devices_beside(wiring, self.base, self.device_of, self.joined.names),
            links=replace(links, a_cage=self.at(links.a, links.a_cage), b_cage=self.at(links.b, links.b_cage)),
            modules=replace(modules, cage=self.at(modules.device, modules.cage)),
            lent=replace(lent, b_cage=self.at(lent.b, lent.b_cage)),
            cables=replace(cables, name=labels),
        )


def devices_beside(wiring: Wiring, base: Wiring, device_of: Ints, others: Sequence[str] = ()) -> Devices:
    """The devices, those in service with their own names and products, others with free names and the products that
    are left of their role and first stage.

    ``device_of``: the row in the base of each, ``NOTHING`` of new ones, shape (devices,); ``others``: names that are
    taken too.
    """
    devices, products = wiring.devices, list(wiring.devices.product)
    first = np.flatnonzero(devices.stage == 0).tolist()
    for rows in grouped(((devices.role[row], devices.fabric[row]), row) for row in first).values():
        stay = {row: base.devices.product[there] for row in rows if (there := device_of[row]) != NOTHING}
        left = Counter(products[row] for row in rows)
        left.subtract(stay.values())
        if min(left.values()) >= 0:
            rest = left.elements()
            for row in rows:
                products[row] = stay[row] if row in stay else next(rest)
    return replace(devices, name=named_devices(wiring, base, device_of, others), product=products)


def named_devices(wiring: Wiring, base: Wiring, device_of: Ints, others: Sequence[str] = ()) -> list[str]:
    """Names of devices: of those in service their own, of others the first free ones of their kind.

    ``device_of``: the row in the base of each, ``NOTHING`` of new ones, shape (devices,); ``others``: names that are
    taken too.
    """
    devices, names = wiring.devices, list(wiring.devices.name)
    # of attachments nothing is counted but what has come at once
    counted = ((row, name) for row, name in enumerate(names) if devices.role[row] != "attachment")
    kinds = grouped((name.rpartition("-")[0], row) for row, name in counted)
    for prefix, rows in kinds.items():
        name_of = partial(numbered, prefix, devices.role[rows[0]])
        own = named(device_of[rows], base.devices.name, name_of, devices.stage[rows], others)
        for row, name in zip(rows, own, strict=True):
            names[row] = name
    return names


def named(
    there: Ints, theirs: Sequence[str], name_of: Callable[[int], str], stage: Ints, others: Sequence[str] = ()
) -> list[str]:
    """Names of rows: those of the rows that are ``there`` in the base, and the first free ones, stage by stage.

    ``there``, ``stage``: shape (rows,); ``others``: names that are taken too.
    """
    named = [theirs[row] if row != NOTHING else "" for row in there.tolist()]
    taken = {*theirs, *others}
    free: Iterable[str] = (name for number in count() if (name := name_of(number)) not in taken)
    new = [row for row in np.argsort(stage, kind="stable").tolist() if not named[row]]
    for row, name in zip(new, free, strict=False):
        named[row] = name
    return named
