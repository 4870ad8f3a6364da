"""What every optical link loses, for those who test it: what is expected, what may be read at most, what is left."""

from __future__ import annotations

from collections.abc import Iterator

from fabopt.output.export.formats import Exported, Files
from fabopt.output.export.frames import Frame, frame_of
from fabopt.output.export.sheets import csv_file
from fabopt.output.export.trunks import cabling_of
from fabopt.wiring.channels import LinkChannel, channel_between
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.model import NOTHING

COLUMNS = (
    *("link", "standard", "fibre_m", "mated_pairs", "loss_db", "budget_db", "margin_db", "limit_db", "expected_db"),
    *("reflectance_class", "fibre", "splices", "not_known", "cable", "fabric"),
    *("from_device", "from_port", "to_device", "to_port"),
)


def files_of(asked: Exported) -> Files:
    """Return ``channel-loss.csv``."""
    return {"channel-loss.csv": csv_file(losses(asked))}


def losses(asked: Exported) -> Frame:
    """One row an optical link with ``COLUMNS``, in the order of links; cells of what is not known are empty."""
    return frame_of(COLUMNS, _rows(asked))


def _rows(asked: Exported) -> Iterator[tuple[object, ...]]:
    wiring, embedded = asked.wiring, Embedded(asked.design)
    links, cables, names = wiring.links, wiring.cables, wiring.devices.name
    trunk_of = {
        link: (trunk.product, float(trunk.length_m), trunk.cassette)
        for trunk in cabling_of(asked.design, wiring).trunks
        for leg in trunk.legs
        for _, link in leg.lit
    }
    margin_db, known = embedded.case.site.optical_margin_db, dict[tuple[object, ...], LinkChannel]()
    for row, cable in enumerate(links.cable.tolist()):
        if cable == NOTHING or embedded.kind(cables.part[cable]) != "fibre":
            continue
        modules = cables.a_module[cable], cables.b_module[cable]
        jumper = cables.part[cable], float(cables.length_m[cable])
        trunk = trunk_of.get(row)
        pieces = (jumper,) if trunk is None else (jumper, trunk[:2], jumper)
        key = pieces, modules, float(links.gbps[row]), None if trunk is None else trunk[2]
        if key not in known:
            known[key] = channel_between(embedded, *key)
        channel = known[key]
        ends = names[links.a[row]], wiring.a_port[row], names[links.b[row]], wiring.b_port[row]
        name = f"{ends[0]} {ends[1]} > {ends[2]} {ends[3]}"
        yield name, *_figures(channel, margin_db), cables.name[cable], wiring.fabrics[links.fabric[row]], *ends


def _figures(channel: LinkChannel, margin_db: float) -> tuple[object, ...]:
    loss, parts = channel.loss, channel.channel
    unknown = ["budget"] * (channel.budget_db is None) + [f"loss of {plug}" for plug in loss.unknown]
    return (
        *(channel.standard, channel.length_m, len(parts.plugs), loss.largest_db, channel.budget_db, channel.margin_db),
        *(channel.limit_db(margin_db), loss.typical_db, channel.reflectance, channel.fibre, parts.splices),
        ", ".join(unknown),
    )
