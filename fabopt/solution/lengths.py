"""Notes on lengths: assumed ones and their reasons, links that could be shorter, stated ones that are too short.

Notes on planes and tiers that a catalog leaves out: splits of NICs, and parts for uplinks that are broken out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from fabopt.floor.group_runs import (
    HALL,
    RACKS_PER_ROW,
    TO_SPARE,
    GroupRuns,
    given_m,
    group_runs,
    shorter_parts,
    sizes_of,
)
from fabopt.parts.nic_planes import unsplit_words
from fabopt.problem.fabric import FabricProblem
from fabopt.problem.other_choices import with_tiers
from fabopt.problem.problem import Problem
from fabopt.problem.site import RUN_OF_PEERS
from fabopt.rules.defaults import DEFAULT_RULES, LENGTHS, is_kept
from fabopt.schema.design import Design, FabricDesign, LinkRow
from fabopt.schema.resilience import PEER_LINK
from fabopt.schema.structure import Structure
from fabopt.schema.topologies import FINER, SAVED_TIER
from fabopt.topology.clos.joins import server_joins
from fabopt.topology.clos.most_servers import broken_out
from fabopt.units import gbps, some

RULE = DEFAULT_RULES[LENGTHS]


def length_notes(problem: Problem, design: Design) -> Iterator[str]:
    """Assumed lengths, and stated ones that are too short for the groups of a design."""
    runs = problem.site.groups
    if runs is not None and design.fabrics:
        yield (
            f"rule `{LENGTHS}`: {RULE.sentence}; {some(runs.per_rack.number, 'server')} a rack ({runs.per_rack.told}), "
            f"rows of {RACKS_PER_ROW} racks, {HALL.slack_m:g} m or {100 * TO_SPARE.spare_fraction:g} % to spare "
            f"({RULE.anchor})"
        )
        for fabric in design.fabrics:
            yield from _assumed(problem, runs, fabric)
    if problem.site.runs_are_alike and is_kept(problem.case.rules, LENGTHS):
        yield from _too_short(problem, design)


def _assumed(problem: Problem, runs: GroupRuns, fabric: FabricDesign) -> Iterator[str]:
    """Runs of a fabric with their derivation, and the number of links that could be shorter."""
    lengths = list(dict.fromkeys(_told_runs(runs, fabric)))
    if lengths:
        yield f"{fabric.name}: {', '.join(lengths)}"
    if isinstance(fabric.structure, Structure):
        parts = shorter_parts(runs, fabric.structure, problem.item_table.lengths_m)
        shorter = [f"{few:,} of {of:,} {kind}" for kind, few, of in _shorter_links(fabric, parts) if few]
        if shorter:
            could = f"{_and(shorter)} links could be shorter by their own run, as they are on a floor plan"
            yield f"{fabric.name}: one length for each kind of link; {could}"


def _told_runs(runs: GroupRuns, fabric: FabricDesign) -> Iterator[str]:
    sizes = sizes_of(fabric.structure, runs.servers)
    spanned = {"server-leaf": int(sizes.group), "leaf-spine": int(sizes.pod)}
    for row in fabric.links:
        kind = _run_kind(row, fabric)
        if kind == RUN_OF_PEERS and kind not in runs.given:
            yield f"{row.scope} {row.length_m:g} m (the two leaves of a pair are beside each other)"
        elif kind not in runs.given:
            servers = min(runs.servers, spanned.get(kind, runs.servers))
            racks = some(int(runs.racks(servers)), "rack")
            fill = "fills" if servers == 1 else "fill"
            yield f"{row.attachment or row.scope or kind} {row.length_m:g} m ({some(servers, 'server')} {fill} {racks})"


def _run_kind(row: LinkRow, fabric: FabricDesign) -> str:
    """The kind of links that sets the run of a row's links."""
    if row.attachment is not None:
        return "server-leaf" if row.attachment in {one.name for one in fabric.logical} else f"attachment-{row.to}"
    if row.scope not in (None, PEER_LINK):
        return "spine-core" if row.scope == "global" else "leaf-spine"
    return f"{row.from_}-{row.to}"


def _shorter_links(fabric: FabricDesign, parts: Mapping[str, tuple[int, int]]) -> Iterator[tuple[str, int, int]]:
    """By kind, links that could be shorter, and all: every part has equally many."""
    for kind, (shorter, of) in parts.items():
        links = sum(row.count for row in fabric.links if row.attachment is None and f"{row.from_}-{row.to}" == kind)
        yield kind, links * shorter // of, links


def _too_short(problem: Problem, design: Design) -> Iterator[str]:
    """Lengths that the case gives and the groups of a design cannot do with."""
    free = problem.case.site.model_copy(update={"distances_m": None})
    runs, given = group_runs(free, problem.server, problem.servers), given_m(problem.case.site)
    said = problem.case.site.distances_m
    assert runs is not None
    for fabric in design.fabrics:
        needed, sizes = runs.of(fabric.structure), sizes_of(fabric.structure, runs.servers)
        group = "a group", int(sizes.group)
        groups = {"server-leaf": group, "leaf-leaf": group, "leaf-spine": ("a pod", int(sizes.pod))}
        for kind in dict.fromkeys(_run_kind(row, fabric) for row in fabric.links):
            is_said = said is not None and getattr(said, kind.replace("-", "_"), None) is not None
            if is_said and needed[kind] > given[kind]:
                what, servers = groups.get(kind, ("the cluster", runs.servers))
                servers = min(servers, runs.servers)
                fills = f"{some(servers, 'server')} fills {some(int(runs.racks(servers)), 'rack')}"
                what = f"{_of(design, fabric)}{'the cluster' if servers == runs.servers else what} of {fills}"
                yield f"distances_m.{kind}: {given[kind]:g} m, but {what}: about {needed[kind]:g} m"


def _of(design: Design, fabric: FabricDesign) -> str:
    return f"in {fabric.name} " if len(design.fabrics) > 1 else ""


def _and(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


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
        if designed.topology == "clos" and len(designed.tiers) == THREE and TWO in fabric.shapes.tiers:
            spoken = tuple(protocol for protocol in fabric.protocols if protocol == designed.protocol)
            splits = broken_out(problem, with_tiers(replace(fabric, protocols=spoken), TWO))
            if splits:
                split = f"{splits[0].ports}x{gbps(splits[0].port_mbps):g}"
                yield f"{fabric.name}: {SAVED_TIER} {split}, which no parts of the catalog join"


def _broken_finer(problem: Problem, fabric: FabricProblem, designed: FabricDesign) -> Iterator[str]:
    """A NIC whose ports are broken out finer than its planes need, where another split has one for each."""
    nic, protocol, planes = designed.nic, designed.protocol, designed.planes
    together = nic.ports_per_nic // planes
    if planes == 1 or together < TWO or fabric.leaf_pairs.homing == "dual":
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
