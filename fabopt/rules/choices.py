"""Keys of a fabric that prescribe its structure or its products, one record each, with the value that is open."""

from __future__ import annotations

from typing import Final, NamedTuple


class FabricChoice(NamedTuple):
    """A choice of a fabric. ``free``: the value that prescribes nothing.

    ``of_products``: whether it is about protocols, NICs and switches, and not about the shape of the network;
    ``of_sizes``: whether few servers may follow from it, ``of_ports``: too few ports of a server; ``of_parts``: whether
    parts may be missing by it; ``may_be_null``: whether null prescribes nothing either.
    """

    key: str
    free: str | float | tuple[str, ...] = "any"
    of_products: bool = False
    of_sizes: bool = False
    of_ports: bool = False
    of_parts: bool = False
    may_be_null: bool = False

    def prescribes(self, value: object) -> bool:
        """Whether a value of the key leaves anything out."""
        return value != self.free and not (self.may_be_null and value is None)


FABRIC_CHOICES: Final = (
    FabricChoice("topologies", ("clos",), of_sizes=True),
    FabricChoice("protocol", of_products=True, of_parts=True),
    FabricChoice("tiers", of_sizes=True),
    FabricChoice("planes", of_parts=True),
    FabricChoice("rails"),
    FabricChoice("striping"),
    FabricChoice("homing", of_ports=True, of_parts=True),
    FabricChoice("pairing", "none", of_parts=True, may_be_null=True),
    FabricChoice("torus_nodes"),
    FabricChoice("nics", of_products=True, of_ports=True, of_parts=True),
    FabricChoice("nics_per_server", of_products=True, of_ports=True, of_parts=True),
    FabricChoice("group_by", of_sizes=True),
    FabricChoice("groups", of_sizes=True),
    FabricChoice("reserve_ports", 0.0),
)
SWITCHES: Final = FabricChoice("switches", of_products=True)
ATTACHMENTS: Final = FabricChoice("attachments")
