"""Every leg of every trunk: what is pulled between two racks, where it is plugged in, and whether it is lit."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import replace

import numpy as np

from fabopt.errors import refusal
from fabopt.output.export.formats import Exported, Files
from fabopt.output.export.frames import Frame, frame_of
from fabopt.output.export.sheets import csv_file
from fabopt.parts.polarity import Mated, mated, polish_of
from fabopt.schema.catalog import Transceiver
from fabopt.schema.design import Design
from fabopt.schema.passive import Fibre, Panel, Trunk
from fabopt.wiring.build import wiring_of
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.model import Wiring
from fabopt.wiring.structured import PulledTrunk, RackPort, StructuredCabling, TrunkLeg, structured_of

BODY_COLUMNS = ("outer_mm", "kg_m")
TRUNK_COLUMNS = (
    *("trunk", "leg", "from", "to", "fibres", "connector", "polarity", "pinned", "polish", "length_m"),
    *(*BODY_COLUMNS, "state", "stage", "product", "fabric", "kind", "link", "cable", "positions", "not_known"),
)
LIT, DARK, LOOSE = "lit", "dark", "not plugged in"
YES, NO = "yes", "no"
PINNED = {True: YES, False: NO, None: ""}


def files_of(asked: Exported) -> Files:
    """Return ``trunks.csv``."""
    return {"trunks.csv": csv_file(trunk_table(asked.design, whole_wiring(asked), asked.options.stage))}


def cabling_of(design: Design, wiring: Wiring) -> StructuredCabling:
    """The panels and trunks of a design, none where all is cabled directly; ``InputError`` where legs are too few.

    ``wiring``: the whole one, or that of a stage, by which later trunks are not there, and later links not in theirs.
    """
    if not any(fabric.structured for fabric in design.fabrics):
        return StructuredCabling((), ())
    whole = wiring_of(design) if len(design.stages) > 1 else wiring
    try:
        laid = structured_of(design, whole)
        return laid if len(whole.links.a) == len(wiring.links.a) else _cut(laid, whole, wiring)
    except ValueError as error:
        raise refusal(
            design.case.name,
            "structured",
            f"the trunks do not hold their links: {error}",
            hint="`fabopt check` says which; solve the case again",
        ) from None


def _cut(laid: StructuredCabling, whole: Wiring, wiring: Wiring) -> StructuredCabling:
    """The trunks of a stage, whose links are rows of its wiring."""
    stage = int(max(wiring.devices.stage.max(), wiring.cables.stage.max(initial=0)))
    there = np.flatnonzero(whole.links.stage <= stage).tolist()
    row_of = {row: number for number, row in enumerate(there)}
    trunks = (
        replace(trunk, legs=tuple(
            replace(leg, links=tuple(link if link is None else row_of.get(link) for link in leg.links))
            for leg in trunk.legs
        ))
        for trunk in laid.trunks if trunk.stage <= stage
    )  # fmt: skip
    return StructuredCabling(laid.panels, tuple(trunks))


def laid_of(design: Design, wiring: Wiring, stage: int | None) -> StructuredCabling:
    """The panels of a design, and its trunks at a stage (None: the last); ``InputError`` where it has none."""
    laid = cabling_of(design, wiring)
    if not laid.trunks:
        raise refusal(
            design.case.name,
            "site.cabling",
            "there are no trunks and panels: every link is a cable from port to port",
            hint="`site.cabling: structured` in the case asks for them; solve it again with that",
        )
    last = len(design.stages) if stage is None else stage
    there = (trunk for trunk in laid.trunks if trunk.stage <= last)
    panels = tuple(panel for panel in laid.panels if panel.stage <= last)
    names = {panel.name for panel in panels}
    return StructuredCabling(panels, tuple(_at_stage(trunk, wiring, last, names) for trunk in there))


def _at_stage(trunk: PulledTrunk, wiring: Wiring, stage: int, panels: Container[str]) -> PulledTrunk:
    """A trunk whose legs carry nothing yet where their link comes later, and end in no panel that is not there."""
    legs = list[TrunkLeg]()
    for leg in trunk.legs:
        is_in = all(port is not None and port.panel in panels for port in (leg.a, leg.b))
        lit = (link if link is not None and wiring.links.stage[link] <= stage else None for link in leg.links)
        legs.append(TrunkLeg(leg.number, *((leg.a, leg.b) if is_in else (None, None)), tuple(lit)))
    return replace(trunk, legs=tuple(legs))


def whole_wiring(asked: Exported) -> Wiring:
    """The wiring of the last stage: ports are dealt once for all stages, so that nothing is plugged in anew."""
    return asked.wiring if asked.options.stage is None else wiring_of(asked.design)


def trunk_table(design: Design, wiring: Wiring, stage: int | None = None) -> Frame:
    """One row a leg with ``TRUNK_COLUMNS``, trunk by trunk, of those of a stage; between cassettes one for each port.

    ``InputError`` without trunks.
    """
    return frame_of(TRUNK_COLUMNS, _rows(design, wiring, stage))


def port_name(port: RackPort | None) -> str:
    """A port of a panel as it is labelled, with rack and unit in the panel's name; empty where there is none."""
    return "" if port is None else f"{port.panel} {port.name}"


def link_name(wiring: Wiring, link: int) -> str:
    """Both ends of a link: ``leaf-1 1/1 > spine-1 1/1``."""
    links, names = wiring.links, wiring.devices.name
    return f"{names[links.a[link]]} {wiring.a_port[link]} > {names[links.b[link]]} {wiring.b_port[link]}"


def _rows(design: Design, wiring: Wiring, stage: int | None) -> Iterator[tuple[object, ...]]:
    laid, embedded = laid_of(design, wiring, stage), Embedded(design)
    products = {panel.name: embedded.part(panel.product, Panel) for panel in laid.panels}
    stages = [stage.name for stage in design.stages]
    for trunk in laid.trunks:
        part = embedded.part(trunk.product, Trunk)
        about = (
            *(part.fibres, part.connector, part.polarity, PINNED[part.pinned]),
            *(polish_of(part.connector), trunk.length_m, part.diameter_mm, part.weight_kg_m),
        )
        not_said = [column for column, told in zip(BODY_COLUMNS, about[-2:], strict=True) if told is None]
        for leg, place in trunk.places:
            row, fronts = leg.links[place], map(port_name, trunk.fronts(leg, place))
            state = LOOSE if leg.a is None else DARK if row is None else LIT
            link = ("", "") if row is None else (link_name(wiring, row), cable_of(wiring, row))
            yield (
                *(trunk.name, leg.number, *fronts, *about, state, stages[trunk.stage], trunk.product, trunk.fabric),
                *(trunk.kind, *link, positions_at(embedded, trunk, place)),
                ", ".join([*_mated(embedded, wiring, trunk, leg, row, products).unknown, *not_said]),
            )


def positions_at(embedded: Embedded, trunk: PulledTrunk, place: int, is_far: bool = False) -> str:
    """Positions of a leg that a place of it has at a rack of its route, such as ``1+12``; empty where it has all."""
    back = None if trunk.cassette is None else embedded.part(trunk.cassette, Panel).back
    if back is None:
        return ""
    return "+".join(map(str, back.positions[trunk.far_ports[place] - 1 if is_far else place]))


def cable_of(wiring: Wiring, link: int) -> str:
    """The label of the jumper at the near end of a link; that at the far end has the same with an F."""
    return str(wiring.cables.name[wiring.links.cable[link]])


def _mated(
    embedded: Embedded,
    wiring: Wiring,
    trunk: PulledTrunk,
    leg: TrunkLeg,
    link: int | None,
    products: dict[str, Panel],
) -> Mated:
    """Whether the channel of a link works, as far as that is known of its parts."""
    if link is None or leg.a is None or leg.b is None:
        return Mated()
    cables, row = wiring.cables, wiring.links.cable[link]
    near, far = (embedded.part(id_, Transceiver) for id_ in (cables.a_module[row], cables.b_module[row]))
    jumper, part = embedded.part(trunk.of.jumper, Fibre), embedded.part(trunk.product, Trunk)
    return mated((near, far), (jumper, part, jumper), (products[leg.a.panel], products[leg.b.panel]))
