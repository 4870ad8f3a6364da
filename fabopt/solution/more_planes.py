"""Notes on planes and tiers that a catalog leaves out: splits of NICs, and parts for uplinks that are broken out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fabopt.parts.nic_planes import unsplit_words
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.problem import Problem
from fabopt.schema.design import Design, FabricDesign
from fabopt.schema.topologies import FINER, SAVED_TIER
from fabopt.topology.clos.joins import server_joins
from fabopt.topology.clos.most_servers import broken_out
from fabopt.units import gbps

# Uplinks that are broken out make a Clos of two tiers larger.
TWO, THREE = 2, 3


def more_planes_notes(problem: Problem, design: Design) -> Iterator[str]:
    """NICs that could have more planes than the catalog says, where planes are asked for; and splits of uplinks with
    which two tiers could do, where three are built as nothing joins them.
    """
    in_planes = {fabric.name for fabric in problem.case.fabrics if fabric.planes not in (1, "rails")}
    nics = {nic.id: nic for nic in problem.catalog.nics}
    for fabric, designed in zip(problem.fabrics, design.fabrics, strict=False):
        lanes = unsplit_words(nics[designed.nic.id]) if fabric.name in in_planes and designed.nic.id in nics else ""
        if lanes:
            yield f"{fabric.name}: {lanes}: more planes were not looked at"
        yield from _broken_finer(problem, fabric, designed)
        if designed.topology == "clos" and len(designed.tiers) == THREE and TWO in fabric.tiers:
            spoken = tuple(protocol for protocol in fabric.protocols if protocol == designed.protocol)
            splits = broken_out(problem, replace(fabric, tiers=(TWO,), protocols=spoken))
            if splits:
                split = f"{splits[0].ports}x{gbps(splits[0].port_mbps):g}"
                yield f"{fabric.name}: {SAVED_TIER} {split}, which no parts of the catalog join"


def _broken_finer(problem: Problem, fabric: FabricProblem, designed: FabricDesign) -> Iterator[str]:
    """A NIC whose ports are broken out finer than its planes need, where another split has one for each."""
    nic, protocol, planes = designed.nic, designed.protocol, designed.planes
    together = nic.ports_per_nic // planes
    if planes == 1 or together < TWO or fabric.homing == "dual":
        return
    leaves = [use.port for leaf in fabric.switches.get(protocol, {}).get("leaf", ()) for use in leaf.uses]
    for option in fabric.nics.get(protocol, ()):
        if (option.nic_id, option.planes, option.ports_per_nic) == (nic.id, planes, planes) and not option.apart:
            joined = any(server_joins(problem, fabric, option, leaf, 1, protocol) for leaf in leaves)
            why = (
                "which costs more here, if it can be built"
                if joined
                else "which no parts of the catalog join to a leaf"
            )
            yield (
                f"{fabric.name}: {nic.id} as {nic.split} {FINER} {planes}: {together} ports in each; as "
                f"{option.split} one would do, {why}"
            )
            return
