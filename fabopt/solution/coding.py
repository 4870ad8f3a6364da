"""Notes on modules and cables with one maker's coding in devices of another whose accepted coding is unknown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fabopt.schema.design import Design, FabricDesign, LinkRow


def coding_notes(design: Design) -> Iterator[str]:
    """One note for each coded part, with its devices of other makers that name no coding.

    Their behaviour is unknown: makers' systems warn, disable the port, or accept any coding, by release and setting.
    """
    devices_by_part: dict[str, dict[str, None]] = {}
    for fabric in design.fabrics:
        for row in fabric.links:
            for part in row.parts:
                for device in _devices(fabric, row, part.end):
                    if _is_open(design.parts[part.id], design.parts.get(device, {})):
                        devices_by_part.setdefault(part.id, {})[device] = None
    for id_, devices in devices_by_part.items():
        coded = " or ".join(design.parts[id_]["coded_for"])
        into = ", ".join(
            f"{device} ({design.parts.get(device, {}).get('vendor') or 'no vendor'})" for device in devices
        )
        yield (
            f"{id_} is coded for {coded} and goes into {into}, of which no source says whose coding it takes: order it "
            "with the coding that they need, or say so in the catalog (`accepts_coding`)"
        )


def _devices(fabric: FabricDesign, row: LinkRow, end: str | None) -> Iterator[str]:
    """The switches and NICs of a fabric at the end of its links where a part sits; of a cable at both."""
    for place, role in (("from", row.from_), ("to", row.to)):
        if end not in (None, place):
            continue
        if role == "server":
            yield fabric.nic.id
        for tier in fabric.tiers:
            yield from (used.id for used in tier.types if tier.role == role)


def _is_open(part: Mapping[str, object], device: Mapping[str, object]) -> bool:
    """Whether a part is coded, and its device is of another maker and states no accepted coding."""
    coded = part.get("coded_for")
    return isinstance(coded, Sequence) and device.get("vendor") not in coded and not device.get("accepts_coding")
