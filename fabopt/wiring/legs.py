"""Legs of cables: what lies between two connectors.

A splitter has a leg for each link, a shuffle one for each lane, every other cable one.

Arrays have shape (links,), or (rows,) for rows in the order of cables.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fabopt.wiring.model import NOTHING, Ints, Wiring

Bools = NDArray[np.bool_]


def by_cable(wiring: Wiring) -> Ints:
    """Links in the order of cables, cages and lanes; those without a cable last."""
    links = wiring.links
    cable = np.where(links.cable == NOTHING, len(wiring.cables), links.cable)
    return np.lexsort((links.b_lane, links.b_cage, links.b, links.a_lane, links.a_cage, links.a, cable))


def legs_of_cables(wiring: Wiring) -> Ints:
    """Legs of every cable; one more entry, no leg, answers for ``NOTHING``."""
    return np.append(np.maximum(wiring.cables.a_connectors, wiring.cables.b_connectors), 0)


def begins_cable(cable: Ints) -> Bools:
    """Tell which rows, sorted by cable, begin a cable; a row without one is alone."""
    begins: Bools = (cable == NOTHING) | (np.diff(cable, prepend=NOTHING) != 0)
    return begins


def begins_leg(wiring: Wiring, cable: Ints) -> Bools:
    """Tell which rows, sorted by cable, begin a leg: all but those that share a straight cable with the one before."""
    splits: Bools = legs_of_cables(wiring)[cable] > 1
    return splits | begins_cable(cable)


def legs_of(wiring: Wiring) -> Ints:
    """The first link of every leg of a cable, cable by cable, shape (legs,)."""
    order = by_cable(wiring)
    cable = wiring.links.cable[order]
    return np.asarray(order[begins_leg(wiring, cable) & (cable != NOTHING)])
