"""Switches that can take each other's place one by one."""

from __future__ import annotations

from fabopt.parts.switches import SwitchType


def are_alike(switch: SwitchType, other: SwitchType) -> bool:
    """Whether no link, rack or rule of a tier distinguishes two switches, so that the tier may mix both.

    Their cages look the same to every part, at every split; they drive as many ports, have as many rack units and power
    supplies and the same features and airflows, are managed alike and, for InfiniBand, of one generation. Price, power,
    maker, ASIC and terms of sale may differ.
    """
    own, theirs = switch.product, other.product
    return (
        switch.uses == other.uses
        and switch.max_ports == other.max_ports
        and own.protocol == theirs.protocol
        and own.rack_units == theirs.rack_units
        and own.power_supplies == theirs.power_supplies
        and own.airflows.keys() == theirs.airflows.keys()
        and set(own.features) == set(theirs.features)
        and (own.managed, own.max_managed_nodes) == (theirs.managed, theirs.max_managed_nodes)
        and own.generation == theirs.generation
    )
