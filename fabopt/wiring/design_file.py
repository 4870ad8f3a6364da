"""The case and the parts embedded in a design file, read through the schemas of their own files.

Everything is read on first use. Lookups raise ``LookupError``, relations that have no value ``ValueError``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple, TypeVar

from fabopt.errors import Fault, cut
from fabopt.floor.plan import FloorPlan
from fabopt.floor.rack_rules import rack_limits
from fabopt.io.faults import validated
from fabopt.problem.out_of_band import as_attachment, port_cage
from fabopt.schema.attachment import SWITCHES, Attachment
from fabopt.schema.case import Case, Fabric, Stage
from fabopt.schema.catalog import Cable, Fibre, Nic, Panel, Switch, Transceiver, Trunk
from fabopt.schema.design import Design, FabricDesign, LogicalUse
from fabopt.schema.facts import Delay, Facts, Optics
from fabopt.schema.installed import all_live, switches_by_stage
from fabopt.schema.product import Cage, Product
from fabopt.schema.server import Server

PART_MODELS: dict[str, type[Product]] = {
    "switch": Switch,
    "nic": Nic,
    "transceiver": Transceiver,
    "cable": Cable,
    "fibre": Fibre,
    "trunk": Trunk,
    "panel": Panel,
    "server": Server,
}

Model = TypeVar("Model", bound=Product)
Item = TypeVar("Item")


def item_at(items: Sequence[Item], index: int, what: str) -> Item:
    """The item at an index of the file; raises ``LookupError`` also for an index from the end."""
    if not 0 <= index < len(items):
        raise LookupError(f"{what} {index} does not exist, there are {len(items)}")
    return items[index]


class DisjointNetworks(NamedTuple):
    """Networks of a fabric that share no switch; ``apart``: each is of one NIC (its rail) only."""

    number: int
    apart: bool


def networks_of(fabric: FabricDesign, wanted: Fabric) -> DisjointNetworks:
    """The disjoint networks of a fabric of the file: planes, or where rails never meet, each rail of each plane."""
    rail_only = fabric.topology == "rail-only"
    rails = fabric.nic.per_server if rail_only else 1
    return DisjointNetworks(fabric.planes * rails, rail_only or wanted.planes == "rails" or fabric.own_rails)


def divide(number: int, divisor: int, what: str) -> int:
    """An exact quotient; ``ValueError`` with ``what`` where there is a remainder."""
    if divisor < 1 or number % divisor:
        raise ValueError(f"{what}: {divisor} does not divide {number}")
    return number // divisor


# The wiring, the notes and the verifier of one answer each read the same texts.
@lru_cache(maxsize=8)
def _case_of(text: str) -> Case:
    return Case.model_validate_json(text)


@lru_cache(maxsize=512)
def _product_of(model: type[Product], part: str, text: str) -> Product:
    faults: list[Fault] = []
    read = validated(model, json.loads(text), f"part `{cut(part)}`", faults)
    if read is None:
        raise ValueError(str(faults[0]))
    return read


@dataclass(frozen=True, eq=False)
class Embedded:
    """A design file with its case and its parts, as of the last stage or of stage ``number`` (from 0).

    ``whole``: the file with all fabrics of the last stage, where ``design`` is of an earlier one.
    """

    design: Design
    number: int | None = None
    whole: Design | None = None
    _read: dict[str, Product] = field(default_factory=dict)

    @cached_property
    def case(self) -> Case:
        """The embedded case, through the same schema as a case file."""
        return _case_of(json.dumps(self.design.case.content))

    @cached_property
    def asked(self) -> Case | None:
        """The case as the user wrote it; None in files without it."""
        asked = self.design.case.asked
        return None if asked is None else _case_of(json.dumps(asked))

    def kind(self, part: str) -> str:
        """The kind of an embedded part: a key of ``PART_MODELS``."""
        if part not in self.design.parts:
            raise LookupError(f"part {part!r} is not embedded")
        return str(self.design.parts[part].get("kind"))

    def product(self, part: str) -> Product:
        """An embedded part, through the same schema as a catalog file."""
        if part not in self._read:
            kind = self.kind(part)
            if kind not in PART_MODELS:
                raise LookupError(f"part {part!r} is of no known kind: {kind}")
            body = {key: value for key, value in self.design.parts[part].items() if key != "kind"}
            read = _product_of(PART_MODELS[kind], part, json.dumps(body))
            if read.id != part:
                raise LookupError(f"part {part!r} says that it is {read.id!r}")
            self._read[part] = read
        return self._read[part]

    def part(self, part: str, model: type[Model]) -> Model:
        """An embedded part that must be of one kind."""
        read = self.product(part)
        if isinstance(read, model):
            return read
        raise LookupError(f"part {part!r} is a {self.kind(part)}, not a {model.__name__.lower()}")

    def switch_there(self, part: str) -> Switch:
        """A switch of the design, or else of what it joins."""
        live = (one for _, one in all_live(self.case.joins) if part in one.parts)
        own = None if part in self.design.parts else next(live, None)
        return self.part(part, Switch) if own is None else Embedded(own).part(part, Switch)

    @cached_property
    def plan(self) -> FloorPlan:
        """The case's floor; raises ``LookupError`` where it has none."""
        if self.case.site.floor is None:
            raise LookupError("the case has no floor")
        return FloorPlan(self.case.site.floor, (), rack_limits(self.case))

    @cached_property
    def optics(self) -> Optics:
        """Losses and budgets of optical channels; of a file without them none is known."""
        return Optics.model_validate_json(json.dumps(self.design.parts.get("facts", {}).get("optics", {})))

    @cached_property
    def delays(self) -> tuple[Delay, ...]:
        """How long parts of paths take; of a file without them none is known."""
        told = {"latency": self.design.parts.get("facts", {}).get("latency", [])}
        return Facts.model_validate_json(json.dumps(told)).latency

    @cached_property
    def server(self) -> Server:
        """The case's server."""
        return self.part(self.case.server_id, Server)

    @cached_property
    def wanted(self) -> dict[str, Fabric]:
        """The case's fabrics by name, with the attachments of the stage.

        An out-of-band one has ports for all switches of the file, one that carries logical fabrics for their NICs.
        """
        attachments = {
            fabric.name: (*self._own(fabric), *self._switch_ports(fabric), *self._logical_ports(fabric))
            for fabric in self.case.fabrics
        }
        if self.number is not None:
            attachments = {name: tuple(self._so_far(all_, self.number)) for name, all_ in attachments.items()}
        return {
            fabric.name: fabric.model_copy(update={"attachments": attachments[fabric.name]})
            for fabric in self.case.fabrics
        }

    def _own(self, fabric: Fabric) -> tuple[Attachment, ...]:
        """The case's attachments of a fabric on the tier that the file has them on."""
        designed = next((other for other in self.design.fabrics if other.name == fabric.name), None)
        if designed is None or designed.structure.is_direct:
            return fabric.attachments
        grows, placed = len(self.case.stages or ()) > 1, []
        for attachment in fabric.attachments:
            is_listed = attachment.name in designed.free_ports
            if self.case.base is not None and (attachment.max_oversubscription is None if grows else is_listed):
                placed.append(attachment.in_service())
            else:
                placed.append(attachment if grows else attachment.as_placed(is_listed))
        return tuple(placed)

    def _logical_ports(self, fabric: Fabric) -> tuple[Attachment, ...]:
        ratios = {
            carried.name: carried.max_oversubscription_leaf
            for carried in fabric.carries
            if carried.separation == "logical"
        }
        return tuple(
            self._ports_of(logical, ratios[logical.name])
            for designed in self.design.fabrics
            for logical in designed.logical
            if designed.name == fabric.name and logical.name in ratios
        )

    def _ports_of(self, logical: LogicalUse, ratio: float) -> Attachment:
        """The ports of servers of a logical fabric, as an attachment."""
        cage = item_at(self.nic_cages(logical), logical.nic.cage_group, "NIC cage group")
        return Attachment(
            name=logical.name,
            ports=self.servers * logical.nic.per_server * logical.nic.ports_per_nic,
            form_factor=cage.form_factor,
            split=logical.nic.split,
            lane_gbps=cage.lane_gbps,
            max_oversubscription=ratio,
            network=logical.name,
        )

    def nic_cages(self, logical: LogicalUse) -> tuple[Cage, ...]:
        """The cages of a logical fabric's NICs: their own, or those of the server that built-in ones share."""
        shared = [cage for nic in self.server.nics if nic.role == logical.role for cage in nic.cages or ()]
        return tuple(shared) or self.part(logical.nic.id, Nic).cages

    def shares_cages(self, logical: LogicalUse) -> bool:
        """Whether a logical fabric's NICs share cages of the server."""
        return any(nic.cages is not None for nic in self.server.nics if nic.role == logical.role)

    def _switch_ports(self, fabric: Fabric) -> tuple[Attachment, ...]:
        if fabric.oob is None:
            return ()
        nics = {nic.id: self.part(nic.id, Nic).cages for nic in self.server.nics if nic.role == fabric.role}
        ports = tuple(number * fabric.oob.ports_per_switch for number in self.switches_by_stage)
        own = as_attachment(SWITCHES, ports, port_cage(self.server, nics))
        is_listed = self.case.base is not None
        if self.case.moving is not None:
            is_listed = any(one.name == fabric.name and SWITCHES in one.free_ports for one in self.design.fabrics)
        return (own.in_service() if is_listed else own,) if ports[-1] else ()

    @property
    def switches_by_stage(self) -> tuple[int, ...]:
        """Number of switches of all fabrics of the file at each stage."""
        return switches_by_stage((self.whole or self.design).fabrics, len(self.case.stages or ()))

    @staticmethod
    def _so_far(attachments: Sequence[Attachment], number: int) -> Iterator[Attachment]:
        """Attachments with their ports up to a stage, without those that come later."""
        for attachment in attachments:
            adds = attachment.adds[: number + 1]
            if not adds:
                yield attachment
            elif any(adds):
                whole = sum(adds) == attachment.ports
                boxes = attachment.boxes if whole else sum(adds)
                yield attachment.model_copy(update={"ports": sum(adds), "boxes": boxes, "adds": adds})

    @cached_property
    def stage(self) -> Stage:
        """The stage of the file: the last one, which the fabric is designed for, or an earlier one."""
        last = len(self.case.stages or ()) - 1
        return item_at(self.case.stages or (), last if self.number is None else self.number, "stage")

    @cached_property
    def servers(self) -> int:
        """N: servers of the stage."""
        return self.servers_of(self.stage)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Servers at each stage up to this one, whose leaves take its attachments; empty where the case has one
        stage.
        """
        stages = self.case.stages or ()
        until = len(stages) if self.number is None else self.number + 1
        return tuple(map(self.servers_of, stages[:until])) if len(stages) > 1 else ()

    def servers_of(self, stage: Stage) -> int:
        """Servers of any stage."""
        if stage.servers is not None:
            return stage.servers
        return divide(stage.gpus or 0, self.server.gpus, "GPUs fill whole servers")

    @cached_property
    def gpus(self) -> int:
        """GPUs of the stage."""
        return self.servers * self.server.gpus
