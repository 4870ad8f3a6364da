"""The wiring: every device, every link from port to port, every cable and module, as tables.

A *link* joins two ports. A *cable* is one physical object (cable, splitter, fibre) and carries one or more links. A
*module* is a transceiver in a cage. Tables are tuples of equally long columns, NumPy arrays or lists; ``frame`` makes
a pandas frame of one.

The wiring of a stage: without later devices and links, every link at its end of that stage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd


Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]
Role = Literal["server", "attachment", "leaf", "spine", "core"]
# What links join: ``Links.kind`` and ``Cables.kind`` are indices into this.
KINDS = (
    "server-leaf", "attachment-leaf", "attachment-spine",
    "leaf-spine", "spine-core", "dim-1", "dim-2", "dim-3", "local", "global", "leaf-leaf",
)  # fmt: skip
# The links of attachments, and the last kind whose near end is no switch.
TO_ATTACHMENTS = (KINDS.index("attachment-leaf"), KINDS.index("attachment-spine"))
LAST_OF_ENDPOINTS = KINDS.index("attachment-spine")
# The first kind of links between switches of one role, which face up at both ends.
FIRST_OF_EQUALS = KINDS.index("dim-1")
# The links of peer links, which carry nothing as long as both leaves of a pair are there.
OF_PEERS = KINDS.index("leaf-leaf")
NOTHING = -1


@dataclass(frozen=True)
class Devices:
    """One row a device; a link names it by its row. Integer columns are ``NOTHING`` where they do not apply.

    name      unique, e.g. ``server-0001``, ``compute-leaf-001``, ``compute-p1-spine-003`` (with several planes),
              ``compute-r8-leaf-001`` (rail-only)
    role      server, attachment, leaf, spine or core
    product   catalog id; of an attachment its name
    fabric    name; empty for servers, which all fabrics share
    plane     from 1; pod from 1 (three tiers: of leaf and spine; its group in a dragonfly or dragonfly+); group from 1
              (server group; of a leaf, its servers')
    rail      from 1: the place of a leaf in its group; rail-only: of a spine too, the first rail that it serves
    rack      id such as ``B07``; empty without a floor plan
    unit      lowest rack unit that the device fills, from 1; 0 without a floor plan
    height_u  rack units, may be a fraction
    stage     the stage of the case that installs it, from 0
    """

    name: Sequence[str]
    role: Sequence[str]
    product: Sequence[str]
    fabric: Sequence[str]
    plane: Ints
    pod: Ints
    group: Ints
    rail: Ints
    rack: Sequence[str]
    unit: Ints
    height_u: Floats
    stage: Ints

    def __len__(self) -> int:
        """Number of devices."""
        return len(self.name)


@dataclass(frozen=True)
class Links:
    """One row a link. ``a`` is the end nearer the servers; of equal devices it is either. Cages count from 1 over all
    cage groups of a device.

    fabric            index into ``Wiring.fabrics``; kind: index into ``KINDS``
    a, b              devices
    a_cage, b_cage    of a server: over the NICs of all fabrics in turn, and its own cages where NICs share them
    a_lane, b_lane    port within the cage, from 0; a_lanes, b_lanes: ports that the cage is split into
    a_nic             NIC of a server's port, from 1 over all fabrics, logical ones last; of other devices ``NOTHING``
    a_nic_port        port within the NIC, from 1; of attachments, port of the attachment, from 1
    cable             row of ``Cables``; ``NOTHING`` where no part is bought
    gbps              speed
    stage             the stage of the case from which on it is there, from 0
    b_nic, b_nic_port    of a server at the far end, as ``a_nic`` and ``a_nic_port``; of other devices ``NOTHING``
    """

    fabric: Ints
    kind: Ints
    a: Ints
    a_nic: Ints
    a_nic_port: Ints
    a_cage: Ints
    a_lane: Ints
    a_lanes: Ints
    b: Ints
    b_cage: Ints
    b_lane: Ints
    b_lanes: Ints
    cable: Ints
    gbps: Floats
    stage: Ints
    b_nic: Ints
    b_nic_port: Ints

    def __len__(self) -> int:
        """Number of links."""
        return len(self.a)


@dataclass(frozen=True)
class Cables:
    """One row a physical cable, splitter or fibre.

    name        unique label, e.g. ``C00001``
    fabric      index into ``Wiring.fabrics``; kind: index into ``KINDS``
    part        catalog id; length_m the length bought; run_m the longest run of its links
    medium      DAC, ACC, AEC, AOC, smf, mmf, ...
    a_connectors, b_connectors   at each side (a splitter has one and several)
    a_module, b_module catalog id of the transceivers that it plugs into; empty where the cable has its own ends, or
                where somebody else's module is there
    """

    name: Sequence[str]
    fabric: Ints
    kind: Ints
    part: Sequence[str]
    length_m: Floats
    run_m: Floats
    medium: Sequence[str]
    a_connectors: Ints
    b_connectors: Ints
    a_module: Sequence[str]
    b_module: Sequence[str]
    stage: Ints

    def __len__(self) -> int:
        """Number of cables."""
        return len(self.name)


@dataclass(frozen=True)
class Modules:
    """One row a transceiver that is bought: device, cage, catalog id, index into ``Wiring.fabrics``, stage from 0."""

    device: Ints
    cage: Ints
    part: Sequence[str]
    fabric: Ints
    stage: Ints

    def __len__(self) -> int:
        """Number of modules."""
        return len(self.device)


@dataclass(frozen=True)
class Lent:
    """One row a time for which a link is plugged in elsewhere than at the last stage; its ``a`` end stays where it is.

    link           row of ``Links``; stages ``first`` to ``last``, from 0
    b              device; b_cage, b_lane its port, as in ``Links``
    """

    link: Ints
    first: Ints
    last: Ints
    b: Ints
    b_cage: Ints
    b_lane: Ints

    def __len__(self) -> int:
        """Number of times that a link is lent."""
        return len(self.link)


@dataclass(frozen=True)
class Wiring:
    """The fabrics of a design, cabled. ``fabrics``: their names, in the case's order.

    ``links`` are those of the last stage, each from its ``stage`` on; ``lent`` has those with another end at earlier
    stages.
    """

    fabrics: tuple[str, ...]
    protocols: tuple[str, ...]
    devices: Devices
    links: Links
    cables: Cables
    modules: Modules
    lent: Lent

    @cached_property
    def a_port(self) -> list[str]:
        """Port name at the near end of every link, unique on its device."""
        links = self.links
        by_nic = (links.kind <= LAST_OF_ENDPOINTS) | (links.a_nic != NOTHING)
        holder, port = np.where(by_nic, links.a_nic, links.a_cage), np.where(by_nic, links.a_nic_port, links.a_lane)
        kind = np.where(links.a_nic != NOTHING, KINDS.index("server-leaf"), links.kind)
        return self._port_names(kind, holder, port, links.a_lanes)

    @cached_property
    def b_port(self) -> list[str]:
        """Port name at the far end of every link, unique on its device."""
        links = self.links
        by_nic = links.b_nic != NOTHING
        holder, port = np.where(by_nic, links.b_nic, links.b_cage), np.where(by_nic, links.b_nic_port, links.b_lane)
        kind = np.where(by_nic, KINDS.index("server-leaf"), len(KINDS))
        return self._port_names(kind, holder, port, links.b_lanes)

    def _port_names(self, kind: Ints, holder: Ints, port: Ints, lanes: Ints) -> list[str]:
        keys, place = np.unique(np.stack([self.links.fabric, kind, holder, port, lanes]), axis=1, return_inverse=True)
        names = [port_name(self.protocols[fabric], *rest) for fabric, *rest in keys.T.tolist()]
        return [names[index] for index in place.ravel().tolist()]


def at_stage(wiring: Wiring, stage: int) -> Links:
    """The links with their ends at a stage, later ones included."""
    lent, links = wiring.lent, wiring.links
    rows = np.flatnonzero((lent.first <= stage) & (stage <= lent.last))
    ends = {}
    for name in ("b", "b_cage", "b_lane"):
        ends[name] = getattr(links, name).copy()
        ends[name][lent.link[rows]] = getattr(lent, name)[rows]
    return replace(links, **ends)


def port_name(protocol: str, kind: int, holder: int, port: int, lanes: int) -> str:
    """Name of a port, by the index into ``KINDS`` of its links; ``len(KINDS)`` for any port of a switch.

    ``holder``, ``port``: NIC and port of a server, ``nic1p1``; port of an attachment, ``port1``; else cage from 1 and
    lane from 0 of a switch, as its maker prints them. ``lanes``: ports that the cage is split into.
    """
    if kind == KINDS.index("server-leaf"):
        return f"nic{holder}p{port}"
    if kind in TO_ATTACHMENTS:
        return f"port{port}" if holder == NOTHING else f"nic{holder}p{port}"
    if protocol == "infiniband":
        return f"{holder}/{port + 1}" if lanes > 1 else str(holder)
    return f"swp{holder}s{port}" if lanes > 1 else f"swp{holder}"


def frame(table: Devices | Links | Cables | Modules | Lent) -> pd.DataFrame:
    """A table as a pandas frame with the same columns."""
    import pandas as pd

    return pd.DataFrame({column.name: getattr(table, column.name) for column in fields(table)})


Table = TypeVar("Table", Devices, Links, Cables, Modules, Lent)


def wiring_at(wiring: Wiring, stage: int) -> Wiring:
    """The wiring at a stage, from 0. Rows are numbered anew, in the same order."""
    devices, cables = _there(wiring.devices.stage, stage), _there(wiring.cables.stage, stage)
    device_row, cable_row = _places(devices, len(wiring.devices)), _places(cables, len(wiring.cables))
    links = taken(at_stage(wiring, stage), np.flatnonzero(wiring.links.stage <= stage))
    links = replace(links, a=device_row[links.a], b=device_row[links.b], cable=cable_row[links.cable])
    modules = taken(wiring.modules, _there(wiring.modules.stage, stage))
    return replace(
        wiring,
        devices=taken(wiring.devices, devices),
        links=links,
        cables=taken(wiring.cables, cables),
        modules=replace(modules, device=device_row[modules.device]),
        lent=taken(wiring.lent, np.zeros(0, dtype=np.int64)),
    )


def stacked(first: Table, second: Table) -> Table:
    """The rows of two tables, one after the other."""
    columns: dict[str, Any] = {}
    for column in fields(first):
        both: list[Any] = [getattr(table, column.name) for table in (first, second)]
        columns[column.name] = np.concatenate(both) if isinstance(both[0], np.ndarray) else [*both[0], *both[1]]
    return replace(first, **columns)


def _there(stages: Ints, stage: int) -> Ints:
    """Rows installed by a stage, shape (rows,)."""
    return np.flatnonzero(stages <= stage)


def _places(rows: Ints, size: int) -> Ints:
    """New rows by old ones, shape (size + 1,); ``NOTHING``, the last one, stays the same."""
    places = np.full(size + 1, NOTHING)
    places[rows] = np.arange(len(rows))
    return places


def taken(table: Table, rows: Ints) -> Table:
    """Rows of a table, of shape (rows,)."""
    chosen = rows.tolist()
    columns: dict[str, Any] = {column.name: getattr(table, column.name) for column in fields(table)}
    for name, column in columns.items():
        columns[name] = column[rows] if isinstance(column, np.ndarray) else [column[row] for row in chosen]
    return replace(table, **columns)
