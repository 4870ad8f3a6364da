"""The cable schedule, and the lists that are drawn from it.

A *breakout end* runs between two connectors: a splitter has one for each of its far ends, a shuffle one for each lane,
every other cable has one. The schedule has one row a breakout end; all quantities count cables, as the bill does.

Places for the devices of a torus so that no cable spans a row: every ring is folded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from fabopt.floor.routes import TrayRoutes
from fabopt.network.direct_links import Torus
from fabopt.network.structure_links import tori_of
from fabopt.output.export.changes import GONE, MOVED, NEW, moved_links, work_on_base
from fabopt.output.export.ends import (
    HOSTS,
    device_columns,
    joined,
    link_ends,
    part_numbers,
    part_texts,
    route_name,
    spread,
    taken,
)
from fabopt.output.export.formats import Exported, Files
from fabopt.output.export.frames import Frame, frame_of, frame_of_columns, joined_frames
from fabopt.output.export.orders import order_codes
from fabopt.output.export.pieces import in_pieces
from fabopt.output.export.sheets import csv_file, workbook_file
from fabopt.schema.design import Design, FabricDesign
from fabopt.schema.in_service import IN_SERVICE
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.legs import begins_cable, begins_leg, by_cable, legs_of_cables
from fabopt.wiring.model import KINDS, NOTHING, Ints, Mask, Wiring
from fabopt.wiring.numbers import booked_fabrics

DIMENSIONS = (1, 2, 3)
FOLDED_COLUMNS = (
    *("fabric", "plane", "device"),
    *(f"coordinate_{dimension}" for dimension in DIMENSIONS),
    *(f"place_{dimension}" for dimension in DIMENSIONS),
)


def folded_places(design: Design, wiring: Wiring) -> Frame:
    """One row a device of a torus, in the order of places: coordinates from 0, and its place in each dimension from 1.

    Neighbours are at most two places apart in the one dimension in which they differ. Empty without a torus.
    """
    rows = [
        row for fabric in design.fabrics for torus in tori_of(fabric.structure) for row in _rows(wiring, fabric, torus)
    ]
    return frame_of(FOLDED_COLUMNS, rows)


def _rows(wiring: Wiring, fabric: FabricDesign, torus: Torus) -> Iterator[tuple[object, ...]]:
    devices = wiring.devices
    owner = ("leaf", fabric.name) if fabric.structure.has_switches else ("server", "")
    joined = [row for row in range(len(devices)) if (devices.role[row], devices.fabric[row]) == owner]
    order = np.lexsort(torus.places.T)
    empty = ("",) * (len(DIMENSIONS) - len(torus.sides))
    for start in range(0, len(joined), torus.switches):
        for within in order.tolist():
            point, place = torus.coordinates[within].tolist(), (torus.places[within] + 1).tolist()
            name = devices.name[joined[start + within]]
            yield fabric.name, start // torus.switches + 1, name, *point, *empty, *place, *empty


SCHEDULE_COLUMNS = (
    *("cable", "leg", "fabric", "kind", "part", "part_number", "description", "medium", "length_m", "run_m", "bundle"),
    "stage",
    *("from_rack", "from_unit", "from_device", "from_port", "from_optic", "from_label"),
    *("to_rack", "to_unit", "to_device", "to_port", "to_optic", "to_label"),
)
MOVE_COLUMNS = ("stage", "cable", "fabric", "device", "port", "from_device", "from_port", "to_device", "to_port")
POINT_TO_POINT_COLUMNS = ("A-Node Name", "A-Type", "A-Port", "Z-Node Name", "Z-Type", "Z-Port")
# Where a link takes a port of ours and nothing is bought for it.
BY_OTHERS = "supplied by others"
_PART = ["part", "part_number", "description", "medium", "length_m"]


def files_of(asked: Exported) -> Files:
    """Return the schedule (CSV and XLSX), pull list, bundles, point-to-point sheet and modules."""
    design, wiring = asked.design, asked.wiring
    whole, work = schedule(design, wiring), work_on_base(design, wiring)
    sheets = {
        "schedule": whole,
        "pull list": pull_list(design, wiring, whole[is_pulled(whole, work)]),
        "bundles": bundles(design, wiring, whole),
        "transceivers": transceivers(design, wiring),
    }
    moved = moves(design, wiring, work)
    if len(moved):
        sheets["moves"] = moved
    places = folded_places(design, wiring)
    if len(places):
        sheets["torus places"] = places
    return {
        "cables.csv": csv_file(whole),
        "cables.xlsx": workbook_file(f"{design.case.name}: cables", sheets, asked.options.mark),
        "cable-pull-list.csv": csv_file(sheets["pull list"]),
        "cable-bundles.csv": csv_file(sheets["bundles"]),
        "point-to-point.csv": csv_file(point_to_point(wiring)),
        "transceivers.csv": csv_file(sheets["transceivers"]),
        **({"torus-places.csv": csv_file(places)} if len(places) else {}),
        **({"cable-moves.csv": csv_file(moved)} if len(moved) else {}),
    }


# -- schedule -------------------------------------------------------------------------------------------------------


def schedule(design: Design, wiring: Wiring) -> Frame:
    """One row a breakout end with ``SCHEDULE_COLUMNS``, cable by cable; last the links without a cable on the bill."""
    order = by_cable(wiring)
    ends, cable = link_ends(wiring).iloc[order], wiring.links.cable[order]
    starts = np.flatnonzero(begins_leg(wiring, cable))
    rows = ends.iloc[starts].reset_index(drop=True)
    for side in ("from", "to"):
        rows[f"{side}_port"] = joined(ends[f"{side}_port"].tolist(), starts, "+")
    cable = cable[starts]
    columns = {
        "leg": _end_numbers(wiring, cable, order[starts]),
        **_cable_columns(design, wiring, cable, order[starts]),
        "bundle": _routes(cable, rows["from_rack"].tolist(), rows["to_rack"].tolist()),
        "from_label": _labels(rows, "from", "to", _connectors(wiring, cable, order[starts], "a")),
        "to_label": _labels(rows, "to", "from", _connectors(wiring, cable, order[starts], "b")),
    }
    rows = in_pieces(design, wiring, rows.assign(**columns), order[starts].tolist())
    over = _over_routes(design, rows["from_rack"].tolist(), rows["to_rack"].tolist())
    return rows.assign(**over)[[*SCHEDULE_COLUMNS, *over]]


def _over_routes(design: Design, from_racks: list[str], to_racks: list[str]) -> dict[str, list[str]]:
    """The column ``route`` of a site with several halls: the routes that each row runs over, in turn; else none."""
    embedded = Embedded(design)
    if not embedded.case.site.halls:
        return {}
    routes = TrayRoutes(embedded.plan)
    names = {ends: routes.names_between(*ends) for ends in dict.fromkeys(zip(from_racks, to_racks, strict=True))}
    return {"route": [names[ends] for ends in zip(from_racks, to_racks, strict=True)]}


def _connectors(wiring: Wiring, cable: Ints, link: Ints, side: str) -> Ints:
    """Return a number for the connector at a side of every row, rising but in a shuffle; breakout ends may share one.

    ``cable``, ``link``: of every row, shape (rows,).
    """
    connectors, size = np.append(getattr(wiring.cables, f"{side}_connectors"), 0)[cable], _crossed(wiring, cable)
    begins = begins_cable(cable) | (connectors > 1)
    number = np.cumsum(begins)
    lanes = np.flatnonzero(size > 1)
    device, cage, lane = (getattr(wiring.links, f"{side}{key}")[link[lanes]] for key in ("", "_cage", "_lane"))
    keys = np.stack([cable[lanes], device, cage, lane // size[lanes]])
    _, first, plug = np.unique(keys, axis=1, return_index=True, return_inverse=True)
    number[lanes] = number[lanes][first][plug.ravel()]
    return np.asarray(number)


def _crossed(wiring: Wiring, cable: Ints) -> Ints:
    """Return connectors at each end of the shuffle of every row; 1 of any other cable, 0 of none."""
    cables = wiring.cables
    return np.asarray(np.append(np.minimum(cables.a_connectors, cables.b_connectors), 0)[cable])


def _end_numbers(wiring: Wiring, cable: Ints, link: Ints) -> list[str]:
    """Return ``1 of 2`` and the like; a connector without a link has no row, and no number.

    Of a shuffle ``2-3 of 4 x 4``: the lane of leg 2 nearer the servers and leg 3 at the other end.
    """
    starts = np.flatnonzero(begins_cable(cable))
    number = np.arange(len(cable)) - np.repeat(starts, np.diff(starts, append=len(cable))) + 1
    of, size, links = legs_of_cables(wiring)[cable], _crossed(wiring, cable), wiring.links
    near, far = (lane[link] % np.maximum(size, 1) + 1 for lane in (links.b_lane, links.a_lane))
    columns = zip(number.tolist(), of.tolist(), size.tolist(), near.tolist(), far.tolist(), strict=True)
    return [
        f"{leg}-{other} of {n} x {n}" if n > 1 else f"{index} of {all_}" if all_ else ""
        for index, all_, n, leg, other in columns
    ]


def _labels(rows: Frame, near: str, far: str, connectors: Ints) -> list[str]:
    """Return for every row the label of its connector ``near``: its port, and the ports at the far ends of its links.

    A device whose ports at the far end follow each other is named once. ``connectors``: a number for each row's.
    """
    order = np.argsort(connectors, kind="stable")
    rows, begins = rows.iloc[order], np.diff(connectors[order], prepend=NOTHING) != 0
    starts = np.flatnonzero(begins)
    far_devices, far_ports = rows[f"{far}_device"], rows[f"{far}_port"]
    follows = (far_devices == far_devices.shift()) & ~begins
    ends = np.where(begins, "", ", ") + (far_devices + " ").where(~follows, "") + far_ports
    devices = rows[f"{near}_device"].iloc[starts]
    ports = joined(rows[f"{near}_port"].tolist(), starts, "+")
    others = joined(ends.tolist(), starts, "")
    labels = [f"{device} {port} > {other}" for device, port, other in zip(devices, ports, others, strict=True)]
    return taken(spread(labels, starts, len(rows)), np.argsort(order, kind="stable"))


def _cable_columns(design: Design, wiring: Wiring, cable: Ints, link: Ints) -> dict[str, Any]:
    """Return the columns of the schedule that describe cables, with the fabric and kind of their links."""
    cables, links, networks = wiring.cables, wiring.links, booked_fabrics(design, wiring)
    parts = taken(cables.part, cable)
    descriptions = part_texts(design, parts, "description")
    lengths = np.append(cables.length_m, np.nan)[cable]
    return {
        "cable": taken(cables.name, cable),
        "fabric": taken(networks.names, networks.of_link[link]),
        "kind": taken(KINDS, links.kind[link]),
        "part": parts,
        "part_number": order_codes(design, parts, lengths.tolist()),
        "description": [text if part else BY_OTHERS for text, part in zip(descriptions, parts, strict=True)],
        "medium": taken(cables.medium, cable),
        "stage": taken(stage_names(design), links.stage[link]),
        "length_m": lengths,
        "run_m": np.append(cables.run_m, np.nan)[cable],
        "from_optic": part_numbers(design, taken(cables.a_module, cable)),
        "to_optic": part_numbers(design, taken(cables.b_module, cable)),
    }


# -- routes ---------------------------------------------------------------------------------------------------------


def _routes(cable: Ints, from_racks: list[str], to_racks: list[str]) -> list[str]:
    """Return the bundle of the cable of every breakout end: ``A01-B08``, the same in both directions.

    A splitter whose breakout ends part is in a bundle of its own, ``A01-B07+B08``; empty without a floor plan.
    """
    starts = np.flatnonzero(begins_cable(cable))
    ends = list(zip(joined(from_racks, starts, "+"), joined(to_racks, starts, "+"), strict=True))
    routes = {pair: route_name(pair) for pair in dict.fromkeys(ends)}
    return spread([routes[pair] for pair in ends], starts, len(cable))


# -- lists ----------------------------------------------------------------------------------------------------------


def pull_list(design: Design, wiring: Wiring, rows: Frame) -> Frame:
    """Cables of a schedule by stage, fabric, kind, part and length: how many, metres together, the longest run."""
    names = {"stage": stage_names(design), "fabric": booked_fabrics(design, wiring).names, "kind": KINDS}
    cables = rows[rows["cable"] != ""].drop_duplicates("cable")
    places = {key: {name: place for place, name in enumerate(of)} for key, of in names.items()}
    cables = cables.assign(**{key: cables[key].map(places[key]).astype(int) for key in names})
    grouped = cables.groupby(["stage", "fabric", "kind", "part", "medium", "length_m"], sort=True)
    table = grouped.agg(cables=("part", "size"), total_m=("length_m", "sum"), longest_run_m=("run_m", "max"))
    table = _described(design, table.reset_index())
    table = table.assign(**{key: taken(of, table[key].to_numpy()) for key, of in names.items()})
    return table[["stage", "fabric", "kind", *_PART, "cables", "total_m", "longest_run_m"]]


def stage_names(design: Design) -> list[str]:
    """Names of the stages, one at least."""
    return [stage.name for stage in design.stages] or [""]


def moves(design: Design, wiring: Wiring, work: Iterable[Mapping[str, Any]] | None) -> Frame:
    """One row a cable that a stage recables: the port that it leaves, and the port that it goes to; of what is in
    service where that may move, one row an end that does.

    ``work``: what becomes of what is in service (``work_on_base``).
    """
    if work is not None:
        return frame_of(MOVE_COLUMNS, _moves_in_service(design, wiring, work))
    rows: list[Frame] = []
    for stage, name in list(enumerate(stage_names(design)))[1:]:
        before, after, changed = moved_links(wiring, stage)
        old, new = before.links, after.links
        rows.append(
            frame_of_columns({
                "stage": name,
                "cable": taken(wiring.cables.name, new.cable[changed]),
                "fabric": taken(wiring.fabrics, new.fabric[changed]),
                "device": taken(wiring.devices.name, new.a[changed]),
                "port": taken(wiring.a_port, changed),
                "from_device": taken(wiring.devices.name, old.b[changed]),
                "from_port": taken(before.b_port, changed),
                "to_device": taken(wiring.devices.name, new.b[changed]),
                "to_port": taken(after.b_port, changed),
            })
        )  # fmt: skip
    return joined_frames(rows).reset_index(drop=True)


def _moves_in_service(design: Design, wiring: Wiring, work: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Ends of cables in service that move; then cables that are taken out, which go to no port."""
    cables, links = wiring.cables, wiring.links
    fabrics = dict(zip(taken(cables.name, links.cable), taken(wiring.fabrics, links.fabric), strict=True))
    stage, work = design.stages[0].name, [row for row in work if row["what"] == "link"]
    for row in (row for row in work if row["change"] == MOVED):
        for stays, goes, was in (("from_", "to_", "before_"), ("to_", "from_", "before_from_")):
            ends = {
                f"{name}{part}": row[f"{end}{part}"]
                for name, end in (("", stays), ("from_", was), ("to_", goes))
                for part in ("device", "port")
            }
            if (ends["from_device"], ends["from_port"]) != (ends["to_device"], ends["to_port"]):
                yield {"stage": stage, "cable": row["name"], "fabric": fabrics[row["name"]], **ends}
    for row in (row for row in work if row["change"] == GONE):
        out = {"device": row["from_device"], "port": row["from_port"], "from_device": row["to_device"],
               "from_port": row["to_port"], "to_device": "", "to_port": ""}  # fmt: skip
        yield {"stage": stage, "cable": row.get("name", ""), "fabric": wiring.fabrics[0], **out}


def is_pulled(rows: Frame, work: Iterable[Mapping[str, Any]] | None) -> Mask:
    """Which rows of a schedule are of cables that are not in service yet, shape (rows,)."""
    if work is None:
        return (rows["stage"] != IN_SERVICE).to_numpy()
    new = {str(row.get("name")) for row in work if (row["what"], row["change"]) == ("link", NEW)}
    return rows["cable"].isin(new).to_numpy()


def bundles(design: Design, wiring: Wiring, rows: Frame) -> Frame:
    """Cables by bundle, part and length; ``bundle_cables`` and ``bundle_m`` sum the whole bundle."""
    cables = rows[rows["cable"] != ""].drop_duplicates("cable")
    keys = ["bundle", "part", "medium", "length_m"]
    table = cables.groupby(keys, sort=True).agg(cables=("part", "size"), total_m=("length_m", "sum")).reset_index()
    whole = table.groupby("bundle")[["cables", "total_m"]].transform("sum")
    table = _described(design, table).assign(bundle_cables=whole["cables"], bundle_m=whole["total_m"])
    return table[["bundle", *_PART, "cables", "total_m", "bundle_cables", "bundle_m"]]


def _described(design: Design, table: Frame) -> Frame:
    parts = table["part"].tolist()
    codes = order_codes(design, parts, table["length_m"].tolist())
    return table.assign(part_number=codes, description=part_texts(design, parts, "description"))


def point_to_point(wiring: Wiring) -> Frame:
    """One row a link, as installers and programs that validate cabling read it."""
    links, devices = wiring.links, wiring.devices
    kinds = ["Host" if role in HOSTS else "Switch" for role in devices.role]
    columns: list[list[str]] = []
    for rows, ports in ((links.a, wiring.a_port), (links.b, wiring.b_port)):
        columns += [taken(devices.name, rows), taken(kinds, rows), ports]
    return frame_of_columns(dict(zip(POINT_TO_POINT_COLUMNS, columns, strict=True)))


def transceivers(design: Design, wiring: Wiring) -> Frame:
    """One row a module: the device and cage that hold it, and the ports that it serves there."""
    modules = wiring.modules
    order = np.lexsort((modules.cage, modules.fabric, modules.device))
    device, fabric, cage = modules.device[order], modules.fabric[order], modules.cage[order]
    parts, ports = taken(modules.part, order), _ports_of_cages(wiring)
    columns = {
        "fabric": taken(wiring.fabrics, fabric),
        **device_columns(wiring, device),
        "cage": cage,
        "ports": [ports.get(key, "") for key in zip(device.tolist(), fabric.tolist(), cage.tolist(), strict=True)],
        "part": parts,
        "part_number": part_texts(design, parts, "part_number"),
        "description": part_texts(design, parts, "description"),
    }
    return frame_of_columns(columns)


def _ports_of_cages(wiring: Wiring) -> dict[tuple[int, int, int], str]:
    """Return the joined port names of every cage in use, by device, fabric and cage."""
    links = wiring.links
    rows = np.stack([np.r_[links.a, links.b], np.r_[links.fabric, links.fabric], np.r_[links.a_cage, links.b_cage]])
    order = np.lexsort((np.r_[links.a_lane, links.b_lane], *rows[::-1]))
    rows = rows[:, order]
    starts = np.flatnonzero(np.any(np.diff(rows, axis=1, prepend=NOTHING) != 0, axis=0))
    names = joined(taken([*wiring.a_port, *wiring.b_port], order), starts, "+")
    return dict(zip(map(tuple, rows[:, starts].T.tolist()), names, strict=True))
