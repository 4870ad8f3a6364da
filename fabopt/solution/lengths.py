"""Notes on lengths: assumed ones and their reasons, links that could be shorter, stated ones that are too short."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

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
from fabopt.problem.problem import Problem
from fabopt.problem.site import RUN_OF_PEERS
from fabopt.rules.defaults import DEFAULT_RULES, LENGTHS, is_kept
from fabopt.schema.design import Design, FabricDesign, LinkRow
from fabopt.schema.homing import PEER_LINK
from fabopt.schema.structure import Structure
from fabopt.units import some

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
