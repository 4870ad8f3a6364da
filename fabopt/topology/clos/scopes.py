"""Keys of the bounds of a fabric: fabrics with equal keys share these bounds."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import fields
from functools import cache
from operator import attrgetter
from typing import Final

from fabopt.floor.arrangements import InLayout, InPlaces
from fabopt.problem.default_rules import DefaultRules
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.link_runs import LinkRuns
from fabopt.problem.live import LiveNetwork
from fabopt.problem.nic_rules import OtherNics
from fabopt.problem.on_floor import OnFloor
from fabopt.problem.pairing import LeafPairs
from fabopt.problem.problem import Problem
from fabopt.problem.ratios import Ratios
from fabopt.problem.shapes import LastGroups, LeafGroups, Shapes
from fabopt.topology.clos.joins import runs_differ

# Objects of a fabric whose fields are looked at one by one.
ASPECTS: Final = {
    "shapes": Shapes,
    "leaf_groups": LeafGroups,
    "leaf_groups.last": LastGroups,
    "leaf_pairs": LeafPairs,
    "ratios": Ratios,
    "rules": DefaultRules,
    "runs": LinkRuns,
    "on_floor": OnFloor,
    "live": LiveNetwork,
    "other_nics": OtherNics,
}
# Fields of a fabric that no bound follows from but by way of what ``scope_key`` takes of them beside its hardware: its
# names, which part of a space is looked at, NICs, runs and places, rules of sizes and stripes, and of default rules
# which are kept. A field that is not here is part of every key: bounds that did not follow from it are found anew.
NOT_HARDWARE: Final = frozenset({
    "name", "role", "protocols", "shapes.topologies", "shapes.tiers", "shapes.most_hops", "shapes.torus_nodes",
    "leaf_groups.servers", "leaf_groups.aligned", "leaf_groups.striping", "leaf_groups.last.kind",
    "leaf_groups.last.on",
    "runs.m", "runs.of_groups", "runs.span",
    "gpu_mbps", "nics", "other_nics.by_rules", "other_nics.refused", "logical_fabrics",
    "leaf_pairs.homing", "leaf_pairs.pairing", "leaf_pairs.asked", "leaf_pairs.kept", "leaf_pairs.free",
    "on_floor.arrangement", "on_floor.pins", "on_floor.attachments_measured", "per_switch",
    "resilience", "rules.kept", "rules.left_out", "rules.managers", "rules.generations", "latency",
})  # fmt: skip
# Of the others, those that the least cost of an uplink does not follow from.
OF_LEAVES: Final = frozenset({"reserve", "attachments", "leaf_groups.last.own_leaf"})
RUNS_OF_TWO_TIERS = ("server-leaf", "leaf-spine", "spine-core", "attachment-leaf", "attachment-spine")


def scope_key(problem: Problem, fabric: FabricProblem, runs: tuple[str, ...], most: Hashable) -> Hashable:
    """Key of the bounds that depend on the runs of these kinds of links.

    ``most``: key of the port limits that shares of leaves follow from.
    """
    of_servers = "server-leaf" in runs
    if of_servers and not fabric.runs.may_be_alike:  # there shares of leaves count all above them
        runs = RUNS_OF_TWO_TIERS
    lengths = tuple(
        (problem.links.length_on_sale_m(fabric.runs.m[run]), runs_differ(problem, fabric, run)) for run in runs
    )
    hardware = hardware_key(fabric, above_leaves="attachment-leaf" not in runs)
    # there links run as far as it is to where leaves may be, and to as many spines as there are at least
    layout: Hashable = None
    match fabric.on_floor.arrangement:
        case InPlaces(layouts):
            layout = layouts
        case InLayout(one, "nearest" | "measured"):
            layout = one
    of_spines: Hashable = None
    if layout is not None and "leaf-spine" in runs:
        stripes = fabric.leaf_groups.is_even, fabric.rules.kept
        of_spines = layout, problem.servers, stripes, tuple(fabric.nics.items())
    if not of_servers:
        return hardware, runs, lengths, of_spines
    of_sizes = problem.servers, fabric.runs.span is None, fabric.runs.may_be_alike
    return hardware, of_spines, runs, lengths, of_sizes, most, layout


def hardware_key(fabric: FabricProblem, above_leaves: bool = False) -> Hashable:
    """Key of the hardware that bounds follow from, NICs left out; ``above_leaves``: of bounds of uplinks only."""
    named = attrgetter(*_names_of_hardware(tuple(fabric.__dataclass_fields__), above_leaves))(fabric)
    switches = tuple((protocol, tuple(roles.items())) for protocol, roles in fabric.switches.items())
    # whether rules about switches hold: the products that a rule leaves out of an offering are always the same
    own = fabric.rules
    rules = own.binding_managers is not None, own.binding_generations is not None, fabric.latency is not None
    return named, switches, rules, fabric.runs.are_open


def with_aspects(names: Iterable[str]) -> Iterator[str]:
    """The names of fields, with dots where they are of an object of the fabric's."""
    for name in names:
        own = fields(ASPECTS[name]) if name in ASPECTS else ()
        yield from with_aspects(f"{name}.{one.name}" for one in own) if own else [name]


@cache
def _names_of_hardware(names: tuple[str, ...], above_leaves: bool) -> tuple[str, ...]:
    left_out = NOT_HARDWARE | OF_LEAVES if above_leaves else NOT_HARDWARE
    return tuple(sorted({*with_aspects(names)} - left_out - {"switches"}))
