"""The fabric that every link and cable belongs to, where logical fabrics are on the switches of another."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fabopt.schema.design import Design
from fabopt.wiring.design_file import Embedded
from fabopt.wiring.model import TO_ATTACHMENTS, Ints, Wiring
from fabopt.wiring.numbers import Numbers, logical_before


class BookedFabrics(NamedTuple):
    """Fabrics in the case's order, each followed by the logical ones on it: ``names``.

    ``of_link``, shape (links,), and ``of_cable``, shape (cables,): index in ``names`` of the fabric that the bill books
    every link and cable on.
    """

    names: list[str]
    of_link: Ints
    of_cable: Ints


def booked_fabrics(design: Design, wiring: Wiring) -> BookedFabrics:
    """The fabric that every link and cable belongs to, logical ones told apart from their hosts."""
    links, devices, embedded = wiring.links, wiring.devices, Embedded(design)
    before = logical_before([Numbers(embedded, fabric) for fabric in design.fabrics])
    names = [name for fabric in design.fabrics for name in (fabric.name, *(logical.name for logical in fabric.logical))]
    of_link = np.array([names.index(name) for name in wiring.fabrics], dtype=np.int64)[links.fabric]
    attached = np.isin(links.kind, TO_ATTACHMENTS)
    for index, fabric in enumerate(design.fabrics):
        for logical in fabric.logical:
            first = before[logical.name].nics
            own = {
                attachment.name
                for attachment in embedded.wanted[fabric.name].attachments
                if attachment.network == logical.name
            }
            own_devices = np.array([name in own for name in devices.product], dtype=np.bool_)
            own_nics = (links.a_nic > first) & (links.a_nic <= first + logical.nic.per_server)
            of_link[attached & (links.fabric == index) & (own_nics | own_devices[links.a])] = names.index(logical.name)
    of_cable = np.zeros(len(wiring.cables), dtype=np.int64)
    bought = links.cable >= 0
    of_cable[links.cable[bought][::-1]] = of_link[bought][::-1]
    return BookedFabrics(names, of_link, of_cable)
