"""Links through trunks as crews have them: jumpers that stay in a rack, and trunks that are pulled between racks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from fabopt.floor.racks import height_m
from fabopt.output.export.ends import part_text, route_name
from fabopt.output.export.frames import Frame, frame_of, joined_frames
from fabopt.output.export.orders import code_of
from fabopt.output.export.trunks import cabling_of, positions_at
from fabopt.schema.design import Design
from fabopt.schema.passive import Trunk
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.model import Wiring
from fabopt.wiring.structured import PatchedLink, RackPort, StructuredCabling, far_cord

# The port of a leg for which no panel has one, with its number.
LOOSE = "loose"


def in_pieces(design: Design, wiring: Wiring, rows: Frame, links: Sequence[int]) -> Frame:
    """The rows of a cable schedule, each of the link given, with links through trunks as jumper, leg and jumper.

    Behind the cables come the jumpers at far ends and every leg of every trunk, last what has no cable on the bill.
    """
    laid = cabling_of(design, wiring)
    if not laid.trunks:
        return rows
    ends, patched = _PanelEnds(laid), laid.patched(wiring)
    index = [row for row, link in enumerate(links) if link in patched]
    ways, whole, embedded = [patched[links[row]] for row in index], rows.iloc[index], Embedded(design)
    near = whole.assign(
        leg=[_of_leg(embedded, way, way.near) or leg for way, leg in zip(ways, whole["leg"], strict=True)],
        **ends.columns("to", [way.near for way in ways]),
    )
    far = whole.assign(
        cable=[far_cord(name) for name in whole["cable"]],
        leg=[_of_leg(embedded, way, way.far) or leg for way, leg in zip(ways, whole["leg"], strict=True)],
        run_m=[_far_run_m(embedded, wiring, links[row], patched[links[row]], ends) for row in index],
        **ends.columns("from", [way.far for way in ways]),
    )
    legs = frame_of(rows.columns.tolist(), _legs(design, laid, ends))
    cabled = joined_frames([rows.drop(rows.index[index]), _joined(near)]).sort_index()
    is_bought = cabled["cable"] != ""
    return joined_frames([cabled[is_bought], _joined(far), _joined(legs), cabled[~is_bought]]).reset_index(drop=True)


def _far_run_m(embedded: Embedded, wiring: Wiring, link: int, way: PatchedLink, ends: _PanelEnds) -> float:
    """The run of the jumper at the far end of a link, to a panel anywhere in its rack."""
    devices, plan, end = wiring.devices, embedded.plan, wiring.links.b[link]
    rack, zone = plan.rack_index(devices.rack[end]), plan.rack_index(ends.panels[way.far.panel].rack)
    if rack == zone:
        return plan.longest_in_rack_m
    return float(plan.to_panels_m(rack, height_m(devices.unit[end], devices.height_u[end]), zone))


def _of_leg(embedded: Embedded, way: PatchedLink, port: RackPort) -> str:
    """What a link has of a leg between cassettes at one of them, such as ``1+12 of T0001 leg 3``; empty of a whole."""
    is_far = port == way.trunk.fronts(way.leg, way.place)[1]
    positions = positions_at(embedded, way.trunk, way.place, is_far)
    return positions and f"{positions} of {way.trunk.name} leg {way.leg.number}"


def _joined(rows: Frame) -> Frame:
    """Rows of one link each with their bundle, and a label at each end: from here to there."""
    near, far = (rows[f"{side}_device"] + " " + rows[f"{side}_port"] for side in ("from", "to"))
    bundles = [route_name(racks) for racks in zip(rows["from_rack"], rows["to_rack"], strict=True)]
    return rows.assign(bundle=bundles, from_label=near + " > " + far, to_label=far + " > " + near)


def _legs(design: Design, laid: StructuredCabling, ends: _PanelEnds) -> Iterator[dict[str, Any]]:
    embedded, low_m = Embedded(design), height_m(1, 0)
    stages = [stage.name for stage in design.stages]
    for trunk in laid.trunks:
        part = embedded.part(trunk.product, Trunk)
        a, b = map(embedded.plan.rack_index, trunk.racks)
        length_m = float(trunk.length_m)
        about = {
            "cable": trunk.name,
            "fabric": trunk.fabric,
            "kind": trunk.kind,
            "part": trunk.product,
            "part_number": code_of(design, trunk.product, length_m).code,
            "description": part_text(design, trunk.product, "description"),
            "medium": part.fibre,
            "stage": stages[trunk.stage],
            "length_m": length_m,
            "run_m": float(embedded.plan.run_m(a, low_m, b, low_m)),
        }
        for leg in trunk.legs:
            yield {
                **about,
                "leg": f"{leg.number} of {part.legs}",
                **ends.at("from", leg.a, trunk.racks[0], leg.number),
                **ends.at("to", leg.b, trunk.racks[1], leg.number),
            }


class _PanelEnds:
    """Rack, unit, panel and port of ends at panels, as columns of the cable schedule."""

    def __init__(self, laid: StructuredCabling) -> None:
        self.panels = {panel.name: panel for panel in laid.panels}

    def columns(self, side: str, ports: Sequence[RackPort]) -> dict[str, list[Any]]:
        """The columns of a side of rows that end in ports."""
        ends = [self.at(side, port, "", 0) for port in ports]
        return {name: [end[name] for end in ends] for name in (ends[0] if ends else ())}

    def at(self, side: str, port: RackPort | None, rack: str, leg: int) -> dict[str, Any]:
        """The cells of an end in a port; without one, of a leg that is loose in a rack."""
        cells: tuple[object, ...] = (rack, float("nan"), rack, f"{LOOSE} {leg}")
        if port is not None:
            panel = self.panels[port.panel]
            cells = panel.rack, float(panel.unit), panel.name, port.name
        return dict(zip((f"{side}_{key}" for key in ("rack", "unit", "device", "port", "optic")), (*cells, ""),
                        strict=True))  # fmt: skip
