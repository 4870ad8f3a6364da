"""Shuffles in the explicit wiring: each lane from end to end, and the legs that stay dark."""

from __future__ import annotations

import numpy as np

from fabopt.schema.catalog import Fibre
from fabopt.units import some
from fabopt.verify.assemblies import CabledAssembly
from fabopt.verify.evidence import FabricEvidence
from fabopt.verify.proof import Proof, combined, repeated, where
from fabopt.verify.wiring import FabricCabling
from fabopt.wiring.model import Links


def has_shuffles(fabric: FabricEvidence) -> bool:
    """Whether the parts of some links of a fabric are a shuffle."""
    ids = {part.id for row in fabric.designed.links for part in row.parts if part.end is None}
    fibres = (fabric.evidence.part(part, Fibre) for part in ids if fabric.evidence.kind(part) == "fibre")
    return any(fibre.crosses > 1 for fibre in fibres)


@where(has_shuffles)
def shuffles_cross_lanes(proof: Proof, cabling: FabricCabling) -> None:
    """Each link through a shuffle is its lane: port i of connector j at one end is port j of connector i at the other.

    So all links of a connector have one port at their far ends, the number of its leg; connectors of an end have legs
    of their own; two connectors have one link at most. Legs without a connector are dark. Source: catalog, ``ends``.
    """
    for assembly in cabling.assemblies:
        if assembly.crosses > 1:
            _lanes_cross(proof, cabling.links, assembly)


def _lanes_cross(proof: Proof, links: Links, assembly: CabledAssembly) -> None:
    size, cable, name = assembly.crosses, links.cable[assembly.rows], assembly.name
    ends = ((links.a, links.a_cage, links.a_lane), (links.b, links.b_cage, links.b_lane))
    places = [tuple(column[assembly.rows] for column in columns) for columns in ends]
    plugs = [combined(device, cage, lane // size) for device, cage, lane in places]
    ports = [lane % size for *_, lane in places]
    shuffles, dark = len(np.unique(cable)), []
    for side, plug, across in (("near", plugs[0], ports[1]), ("far", plugs[1], ports[0])):
        _, first = np.unique(plug, return_index=True)
        legs = len(np.unique(combined(plug, across)))
        proof.equal(f"{name}: legs of {side} connectors", legs, len(first))
        proof.equal(f"{name}: shuffles of {side} connectors", len(np.unique(combined(plug, cable))), len(first))
        proof.equal(f"{name}: {side} connectors on one leg", repeated(combined(cable[first], across[first])), 0)
        dark.append(f"{size * shuffles - len(first)} at the {side} end")
    proof.equal(f"{name}: links on one lane", repeated(combined(cable, *ports)), 0)
    proof.note(f"{name}: {some(shuffles, 'shuffle')} of {size} x {size}, dark legs: {', '.join(dark)}")
