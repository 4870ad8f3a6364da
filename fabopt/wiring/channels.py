"""The optical channels of a design: what each fibre loses between its modules, and what their standard allows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from fabopt.parts.channels import DECIMALS, ChannelLoss, OpticalChannel, budget_db, channel_through, loss_of, pair_loss
from fabopt.schema.base import parse_split
from fabopt.schema.catalog import Fibre, Panel, Transceiver, Trunk
from fabopt.schema.design import FabricDesign
from fabopt.schema.facts import Optics
from fabopt.units import mbps
from fabopt.wiring.design_file import Embedded


class LinkChannel(NamedTuple):
    """The channel of a link. ``budget_db``: the least of the modules; None: not known of one of them."""

    standard: str
    fibre: str
    length_m: float
    channel: OpticalChannel
    loss: ChannelLoss
    budget_db: float | None
    reflectance: str

    @property
    def margin_db(self) -> float | None:
        """What the budget leaves, in dB."""
        return None if self.budget_db is None else round(self.budget_db - self.loss.largest_db, DECIMALS)

    def limit_db(self, margin_db: float) -> float:
        """What a tester may read at most: the budget less the margin; not known: what the parts lose at most."""
        known = self.loss.largest_db if self.budget_db is None else self.budget_db - margin_db
        return round(known, DECIMALS)


def channel_between(
    embedded: Embedded, pieces: tuple[tuple[str, float], ...], modules: tuple[str, ...], gbps: float, panel: str | None
) -> LinkChannel:
    """The channel of pieces, each an id and metres, between modules (those that are known), whose ports have a speed in
    Gb/s: a fibre, or a jumper, a trunk and a jumper, which meet in panels; ``panel``: id of one of these.
    """
    optics = embedded.optics
    glass = [
        (embedded.part(id_, Trunk) if embedded.kind(id_) == "trunk" else embedded.part(id_, Fibre), length_m)
        for id_, length_m in pieces
    ]
    ends = [embedded.part(id_, Transceiver) for id_ in modules if id_]
    standards = [_standard_at(module, gbps) for module in ends]
    budgets = [budget_db(optics, module, standard) for module, standard in zip(ends, standards, strict=True)]
    known = [budget for budget in budgets if budget is not None]
    held = None if panel is None else embedded.part(panel, Panel)
    channel = channel_through(glass, held if held is not None and held.back is not None else None)
    return LinkChannel(
        next(iter(standards), ""),
        glass[0][0].fibre,
        sum(length_m for _, length_m in pieces),
        channel,
        loss_of(optics, channel),
        min(known) if known and len(known) == len(budgets) else None,
        _reflectance(optics, channel),
    )


def channels_of(embedded: Embedded, fabric: FabricDesign) -> Iterator[LinkChannel]:
    """The optical channels of a fabric, one for each kind of links and length; of links between two racks through
    panels one for each kind of trunk in its longest length.
    """
    structured = {str(kind.kind): kind for kind in fabric.structured}
    for row in fabric.links:
        modules = tuple(part.id for part in row.parts if part.end is not None)
        kind = structured.get(f"{row.from_}-{row.to}")
        trunks = () if kind is None else sorted((trunk.id, float(trunk.length_m)) for trunk in kind.trunks)
        panel = next((place.id for place in kind.panels), None) if kind is not None else None
        for part in row.parts:
            if part.end is None and embedded.kind(part.id) == "fibre":
                lead = part.id, part.length_m or 0.0
                for pieces in ((lead,), *((lead, trunk, lead) for trunk in dict(trunks).items())):
                    yield channel_between(embedded, pieces, modules, row.gbps, panel)


def _standard_at(module: Transceiver, gbps: float) -> str:
    """The standard of a module's ports of one speed."""
    at_speed = (
        standard for split, standard in module.standard_by_split.items() if parse_split(split).port_mbps == mbps(gbps)
    )
    return next(at_speed, "")


def _reflectance(optics: Optics, channel: OpticalChannel) -> str:
    """The reflectance class of the plugs of a channel, such as ``MPO-12-APC -60 dB``; empty where none is known."""
    rows = (pair_loss(optics, plugs) for plugs in channel.plugs)
    known = (f"{row.connector} {row.reflectance_db:g} dB" for row in rows if row is not None and row.reflectance_db)
    return ", ".join(dict.fromkeys(known))
