"""Default rules that a design leaves out, in words."""

from __future__ import annotations

from collections.abc import Iterable

from fabopt.schema.default_rules import (
    NIC_PAIRING,
    ONE_GENERATION,
    ONE_PORT,
    RACK_SPREAD,
    SLOT_SPEED,
    SUBNET_MANAGER,
    TESTED_NICS,
)
from fabopt.schema.left_out import RuleLeftOut
from fabopt.schema.resilience import PAIR, PAIRING, TWO_CORES, TWO_LEAVES, TWO_SPINES, TWO_SWITCHES
from fabopt.units import some

TITLE = "Default rules left out"
COLUMN = "rules left out"
# What would have to change in catalog, servers or shape so that a rule can be kept.
_KEPT_WITH = {
    RACK_SPREAD: "more racks, or more and smaller switches",
    PAIRING: "leaf switches that the catalog says can run `mlag` or `evpn-multihoming`",
    ONE_GENERATION: "InfiniBand switches of one generation for every tier",
    TESTED_NICS: "a NIC of this speed that the server is sold or tested with",
    SLOT_SPEED: "servers with faster slots, or NICs with slower ports",
    ONE_PORT: "NICs with a port as fast as a GPU needs",
    NIC_PAIRING: "servers whose slots divide their GPUs evenly",
    TWO_SWITCHES: "a shape of more than one switch",
    PAIR: "servers with two ports or two cards for this fabric",
    TWO_LEAVES: "two leaves for every server",
    TWO_CORES: "a shape with two cores: more links upwards, or smaller cores",
    TWO_SPINES: "a shape with two spines: more uplinks of a leaf, or smaller spines",
    SUBNET_MANAGER: "managed InfiniBand switches for subnets of this size",
}


def left_out_claim(rows: Iterable[RuleLeftOut]) -> str:
    """Count of the parts of default rules left out, as the end of a sentence; empty where there are none."""
    number = len(tuple(rows))
    return f", {some(number, 'rule')} left out" if number else ""


def left_out_lines(rows: Iterable[RuleLeftOut]) -> list[str]:
    """Each part of a rule left out, by the key that turns it off, and why."""
    return [f"{row.name}: {row.why}" for row in rows]


def left_out_cell(rows: Iterable[RuleLeftOut]) -> str:
    """Names of the rules left out, in a cell of a table."""
    return "; ".join(row.name for row in rows)


def kept_with(rule: str) -> str:
    """What would have to change so that a default rule can be kept."""
    return _KEPT_WITH.get(rule, "racks with more room")
