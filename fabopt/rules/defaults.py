"""The default rules: what an architect would choose where a case does not say it. Each has its one line here.

A rule is a part of the design space: the optimum is over designs that keep it. A case turns one off by
``rules: {name: false}``, all but those of resilience by ``rules: none``. A rule of ``YIELDING``, or a part of it, is
left out where no design of the case keeps it with every limit lifted, unless the case asks for it by name
(``rules: {name: true}``). Other rules are never left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import AfterValidator

from fabopt.errors import cut


class DefaultRule(NamedTuple):
    """``sentence``: what holds where it is kept; ``check``: its check in a design; ``anchor``: its place in docs.

    ``kept_with``: what would have to change so that it can be kept; ``without``: what a design without it may have;
    ``lost``: what is lost without it, of rules that a row of *what else* is without; ``off``: what holds where a case
    turns it off. Empty: not told.
    """

    name: str
    sentence: str
    check: str
    anchor: str
    kept_with: str = ""
    without: str = ""
    lost: str = ""
    off: str = ""

    def note(self, told: str) -> str:
        """The note of an answer on what the rule came to."""
        return f"rule `{self.name}`: {self.sentence}: {told} ({self.anchor})"


AIRFLOW: Final = "airflow"
APPLIANCE_RACKS: Final = "appliance-racks"
ATTACHMENT_RUNS: Final = "attachment-runs"
INTERCHANGEABLE: Final = "interchangeable"
LENGTHS: Final = "lengths"
NIC_PAIRING: Final = "nic-pairing"
ONE_GENERATION: Final = "one-generation"
ONE_PORT: Final = "one-port"
OPTIC_LOSS: Final = "optic-loss"
PAIR: Final = "pair"
PAIRING: Final = "pairing"
RACK_MANAGERS: Final = "rack-managers"
RACK_RULES: Final = "rack-rules"
RACK_SPREAD: Final = "rack-spread"
ROBUST_DESIGNS: Final = "robust-designs"
ROW_ENDS: Final = "row-ends"
SCATTERED_RANKS: Final = "scattered-ranks"
SERVERS_COUNT: Final = "servers-count"
SLOT_SPEED: Final = "slot-speed"
SUBNET_MANAGER: Final = "subnet-manager"
TESTED_NICS: Final = "tested-nics"
TRAY_FILL: Final = "tray-fill"
TWO_CORES: Final = "two-cores"
TWO_DUCTS: Final = "two-ducts"
TWO_LEAVES: Final = "two-leaves"
TWO_SPINES: Final = "two-spines"
TWO_SWITCHES: Final = "two-switches"
WHOLE_SERVERS: Final = "whole-servers"
# The parts of the rule of resilience, in the order in which a design file lists them.
REDUNDANCY: Final = (TWO_SPINES, TWO_CORES, TWO_LEAVES, PAIR, TWO_SWITCHES, PAIRING)
# Rules about the NICs that a fabric may have, in the order in which they are kept where not all can be.
NIC_RULES: Final = (TESTED_NICS, SLOT_SPEED, ONE_PORT, NIC_PAIRING)
# Rules of which *what else* has a row without them, in this order.
WITH_ROWS: Final = (ONE_GENERATION, *NIC_RULES, ROBUST_DESIGNS, SUBNET_MANAGER)
# Rules of what cables fill: of trays, and of the vertical managers of racks.
FILL_RULES: Final = {"tray": TRAY_FILL, "manager": RACK_MANAGERS}
# Compute of more GPUs does not stand on one switch.
MOST_ON_ONE_SWITCH: Final = 128
# The most oversubscription at a boundary, where the case says none, of what rule ``robust-designs`` picks.
MOST_ROBUST_RATIO: Final = 8
DEFAULT_RULES: Final[Mapping[str, DefaultRule]] = {
    rule.name: rule
    for rule in (
        DefaultRule(
            AIRFLOW,
            "switches that are sold in several airflows are ordered in that of the servers, whose ports theirs are "
            "beside, where `site.rack_rules.airflow` says none and the catalog says where servers have their ports; in "
            "no rack of a floor do devices blow against each other",
            "airflow_follows_servers",
            "docs/catalog.md#airflow",
            off="the part number of the product is ordered, whatever its airflow, and racks have any",
        ),
        DefaultRule(
            APPLIANCE_RACKS,
            "devices of an attachment that names neither racks nor a standing are in racks of switches of its fabric, "
            "where these have room for all of them, in as many racks, and no cable is bought in another length",
            "appliances_stand_with_switches",
            "docs/fabrics.md#attachments",
            off="they stand apart, in the last racks that are free",
        ),
        DefaultRule(
            ATTACHMENT_RUNS,
            "on a floor, cables of attachments whose devices are in racks reach from any of them to every switch that "
            "it has a port on, and others across the floor where `site.distances_m` says nothing",
            "wires_cover_runs",
            "docs/fabrics.md#attachments",
            off="cables are bought for the flat distance, and a note says where that is too short",
        ),
        DefaultRule(
            INTERCHANGEABLE,
            "a tier has one switch product, but for those that cannot be had in any number or in time, which others "
            "with the same ports stand in for, and stand beside those in service",
            "switches_are_interchangeable",
            "docs/buying.md#interchangeable-switches",
            off="one product a tier",
        ),
        DefaultRule(
            LENGTHS,
            "the lengths of links follow from the racks that groups fill, where neither `site.distances_m` nor a "
            "floor says them",
            "runs_follow_from_groups",
            "docs/sites.md#how-long-cables-are",
            without="the usual lengths, which do not follow from the size of the groups,",
            off="3 m from servers to leaves, 30 m to spines, 50 m to cores",
        ),
        DefaultRule(
            NIC_PAIRING,
            "the NICs of a server divide its GPUs or are a multiple of them, where `nics_per_server` names no number",
            "nics_pair_with_gpus",
            "docs/rules.md#nics-and-gpus",
            kept_with="servers whose slots divide their GPUs evenly",
            without="a number of NICs that neither divides the GPUs of a server nor is a multiple of them",
            lost="NICs that pair with GPUs",
            off="any number from 1 to `nic_slots`",
        ),
        DefaultRule(
            ONE_GENERATION,
            "the InfiniBand switches of a fabric are of one generation, but for tiers whose switches `switches` names",
            "generations_agree",
            "docs/rules.md#generations-of-infiniband",
            kept_with="InfiniBand switches of one generation for every tier",
            without="InfiniBand switches of several generations in one fabric",
            lost="one generation of switches",
            off="whatever port speeds and parts allow",
        ),
        DefaultRule(
            ONE_PORT,
            "one port of a NIC carries what a GPU must get, but for several planes, pairs of ports and numbers of NICs "
            "that `nics_per_server` names",
            "one_port_serves_gpu",
            "docs/rules.md#which-nics",
            kept_with="NICs with a port as fast as a GPU needs",
            without="NICs that need several ports for what a GPU must get",
            lost="one port for a GPU",
            off="ports in one plane carry it together",
        ),
        DefaultRule(
            OPTIC_LOSS,
            "an optical link loses no more than its standard allows, less `site.optical_margin_db`, where losses and "
            "budget are known",
            "channels_fit_budgets",
            "docs/optics.md",
            off="the reach of modules, and connections inside a fibre, alone decide",
        ),
        DefaultRule(
            PAIR,
            "a server of storage or in-band is on two switches at least, over all planes, whatever its NICs are",
            "redundancy_is_kept",
            "docs/bandwidth.md#redundancy-by-default",
            kept_with="servers with two ports or two cards for this fabric",
        ),
        DefaultRule(
            PAIRING,
            "the two leaves of a pair of in-band are joined by a peer link of two cables, unless both can run EVPN "
            "multihoming",
            "redundancy_is_kept",
            "docs/bandwidth.md#pairs-of-leaves",
            kept_with="leaf switches that the catalog says can run `mlag` or `evpn-multihoming`",
        ),
        DefaultRule(
            RACK_MANAGERS,
            "the vertical cable managers of a rack are no fuller than `site.floor.manager_fill`, where the case gives "
            "it",
            "managers_hold_cables",
            "docs/sites.md#trays-and-managers",
        ),
        DefaultRule(
            RACK_RULES,
            "racks of a floor keep room for what is beside servers and switches, and have no more switches than can be "
            "cabled",
            "racks_keep_rules",
            "docs/sites.md#racks",
        ),
        DefaultRule(
            RACK_SPREAD,
            "the spines of a pod, all cores, the leaves of a group of more than one rack, and the devices and ports of "
            "an attachment are in two racks at least, where racks and switches allow",
            "devices_are_spread",
            "docs/sites.md#racks-that-fail",
            kept_with="more racks, or more and smaller switches",
        ),
        DefaultRule(
            ROBUST_DESIGNS,
            f"of designs with no more than {MOST_ROBUST_RATIO}:1 at a boundary whose cost of a working GPU the model "
            "cannot tell from the least, the one is picked that costs least where flows are hashed, a spine is lost, "
            "GPUs are a quarter faster or all servers send to all others; if another beats it in cost, objective and "
            "bisection at once, that one; whatever decides, jobs beside each other have no more at a boundary",
            "robust_choice_is_recounted",
            "docs/workloads.md#what-the-model-cannot-tell-apart",
            lost=f"no more than {MOST_ROBUST_RATIO}:1, for jobs that need more than those of today",
            off="the least is picked; what jobs need is enough",
        ),
        DefaultRule(
            ROW_ENDS,
            "panels of a row, with `site.cabling.zones: rows`, are at its end nearer to a cross tray, of equally near "
            "ones the first",
            "panels_hold_trunks",
            "docs/sites.md#cabling",
            off="the first end of every row",
        ),
        DefaultRule(
            SCATTERED_RANKS,
            "the ranks of a model run on any servers, so that nothing is counted on to stay below leaves, where "
            "`workload.placement` does not say it",
            "workload_is_recomputed",
            "docs/workloads.md#where-ranks-are-put",
            off="predictions take them as packed; what is asked of the network is the same",
        ),
        DefaultRule(
            SERVERS_COUNT,
            "where `server` is a list, the price and power of servers count, where `include_servers` does not say it",
            "server_is_of_the_list",
            "docs/cases.md#several-servers",
            off="networks alone are compared",
        ),
        DefaultRule(
            SLOT_SPEED,
            "the ports in use of a NIC carry no more than its slot gives, where `nics` names none",
            "slots_carry_ports",
            "docs/rules.md#which-nics",
            kept_with="servers with faster slots, or NICs with slower ports",
            without="NICs whose ports carry more than their slots give",
            lost="slots that carry all ports of their NICs",
            off="a slot may hold them back",
        ),
        DefaultRule(
            SUBNET_MANAGER,
            "every subnet of InfiniBand has a switch that runs a subnet manager for all of its ports, two where "
            "redundancy is on",
            "subnets_are_managed",
            "docs/rules.md#subnet-managers",
            kept_with="managed InfiniBand switches for subnets of this size",
            without="subnets of InfiniBand that no switch manages",
            lost="a switch that manages the subnet",
            off="nobody asks",
        ),
        DefaultRule(
            TESTED_NICS,
            "compute fabrics have NICs that the server is sold or tested with, where the catalog says it and `nics` "
            "names none",
            "nics_are_tested",
            "docs/rules.md#which-nics",
            kept_with="a NIC of this speed that the server is sold or tested with",
            without="NICs that the server is not known to be sold or tested with",
            lost="NICs that the server is sold or tested with",
            off="any NICs that fit",
        ),
        DefaultRule(
            TRAY_FILL,
            "no segment of a tray is fuller than `site.floor.tray_fill`, where the case gives it",
            "trays_hold_cables",
            "docs/sites.md#trays-and-managers",
        ),
        DefaultRule(
            TWO_CORES,
            "there are two cores at least, over all planes",
            "redundancy_is_kept",
            "docs/bandwidth.md#redundancy-by-default",
            kept_with="a shape with two cores: more links upwards, or smaller cores",
        ),
        DefaultRule(
            TWO_DUCTS,
            "cables between halls that several ducts join, where the case lists no `pairs`, are dealt over these, all "
            "of two racks in one, half and half as far as `fibres` and pairs of racks allow; nothing with links "
            "between several pairs of racks hangs on one duct, where another duct for one pair would change that",
            "ducts_share_links",
            "docs/sites.md#several-halls",
            off="all take the shortest way that has fibres left",
        ),
        DefaultRule(
            TWO_LEAVES,
            "a server of storage or in-band whose NICs have two ports is on two leaves at least",
            "redundancy_is_kept",
            "docs/bandwidth.md#redundancy-by-default",
            kept_with="two leaves for every server",
        ),
        DefaultRule(
            TWO_SPINES,
            "a leaf has uplinks to two spines at least, over all planes",
            "redundancy_is_kept",
            "docs/bandwidth.md#redundancy-by-default",
            kept_with="a shape with two spines: more uplinks of a leaf, or smaller spines",
        ),
        DefaultRule(
            TWO_SWITCHES,
            f"compute of more than {MOST_ON_ONE_SWITCH} GPUs stands on two switches at least",
            "redundancy_is_kept",
            "docs/bandwidth.md#redundancy-by-default",
            kept_with="a shape of more than one switch",
        ),
        DefaultRule(
            WHOLE_SERVERS,
            "where `server` is a list, each server is there as often as holds the GPUs, and what is over stays unused",
            "server_is_of_the_list",
            "docs/cases.md#several-servers",
            off="GPUs have to fill every server",
        ),
    )
}
# Rules that are left out where structure allows no design that keeps them, in the order in which they yield.
YIELDING: Final = (
    RACK_SPREAD,
    PAIRING,
    ONE_GENERATION,
    *reversed(NIC_RULES),
    TWO_SWITCHES,
    PAIR,
    TWO_LEAVES,
    TWO_CORES,
    TWO_SPINES,
    SUBNET_MANAGER,
)
NO_RULES: Final = "none"
# The row of *what else* with all rules that the case turns off.
RULES_KEPT: Final = "default rules"
Rules = Mapping[str, bool] | Literal["none"]


def _check_names(rules: dict[str, bool] | Literal["none"]) -> dict[str, bool] | Literal["none"]:
    unknown = [] if rules == NO_RULES else [name for name in rules if name not in DEFAULT_RULES]
    if unknown:
        known = ", ".join(DEFAULT_RULES)
        raise ValueError(f"no default rule is called `{cut(unknown[0])}`; known: {known}")
    return rules


# What a case says of the default rules: which are on or off, the others being on; or none of them.
RuleChoices = Annotated[dict[str, bool] | Literal["none"], AfterValidator(_check_names)]


def is_kept(rules: Rules, name: str) -> bool:
    """Whether a default rule holds: unless the case turns it off."""
    return not isinstance(rules, str) and rules.get(name, True)


def is_asked_for(rules: Rules, name: str) -> bool:
    """Whether the case asks for a default rule by its name, so that no design may break it."""
    return not isinstance(rules, str) and rules.get(name, False)


def without(rules: Rules, name: str) -> Rules:
    """A case's choices of default rules, with one of them turned off."""
    return rules if isinstance(rules, str) else {**rules, name: False}
