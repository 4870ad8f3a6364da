"""Lower bounds of the cost of a link that may run through trunks, by the class of its run."""

from __future__ import annotations

import numpy as np

from fabopt.floor.group_runs import classes_of_runs
from fabopt.parts.assemblies import Mode
from fabopt.parts.port_types import PortType
from fabopt.problem.problem import Problem
from fabopt.problem.trunk_parts import PANELS, TrunkParts, trunk_parts
from fabopt.schema.structured import CablingWord
from fabopt.topology.link_parts import Costs, Floats
from fabopt.units import exact


def with_trunks(
    problem: Problem, costs: Costs, leads: Floats, ends: tuple[PortType, PortType, str], word: CablingWord
) -> Floats:
    """Least cost of a link over a run of each class or a longer one, shape (metrics, classes + 1), where links of its
    kind may run through trunks, or have to; ``leads``: the same of leads alone; ``word``: how its kind is cabled.
    """
    trunked = [_through(problem, costs, parts, ends) for parts in trunk_parts(problem)]
    least = np.minimum.reduce(trunked) if trunked else np.full_like(leads, np.inf)
    return least if word == "structured" and not problem.floor.ends else np.minimum(leads, least)


def _through(problem: Problem, costs: Costs, parts: TrunkParts, ends: tuple[PortType, PortType, str]) -> Floats:
    """Least cost of a link with some jumpers: one within a rack, else two, and a share of a trunk and of two panels.

    Trunks have legs, and panels room for these, of which a link takes its share, with that of spare ones, at least. A
    trunk is no shorter than the run of its links, between rows than no run; jumpers are then as long as any, and links
    in a row are leads.
    """
    near, far, protocol = ends
    lengths_m, run_m = problem.item_table.lengths_m, problem.floor.plan.longest_in_rack_m
    joined = [
        one for one in problem.links.assemblies(near, far, run_m, protocol, all_=True)
        if one.mode is Mode.LINK and one.cable is parts.jumper
    ]  # fmt: skip
    links = float(parts.links_per_leg / (1 + exact(problem.case.site.spare_legs)))
    shares = [(item.length_m or 0.0, costs.of(item) / (legs * links)) for items, legs in parts.trunks for item in items]
    table = np.full((costs.table.shape[0], len(lengths_m) + 1), np.inf)
    most_m = {one: parts.longest_m(problem.links, one, (near, far)) for one in joined}
    if not any(length_m <= max(most_m.values(), default=-np.inf) for length_m, _ in shares):
        return table  # nor within a rack, as some links of such a kind run through trunks
    within = int(classes_of_runs(lengths_m, run_m)) + 1
    table[:, :within] = costs.least_per_link(joined, near.ports, far.ports)[:, np.newaxis]
    ports = PANELS * np.min([costs.of(item) / (legs * links) for item, legs in parts.panels], axis=0)
    jumpers = [item for item in problem.item_table.lengths(parts.jumper.id) if (item.length_m or 0.0) >= run_m]
    jumper = np.min([costs.of(item) for item in (jumpers if problem.floor.ends else [parts.jumper])], axis=0)
    for assembly, inside in zip(joined, costs.per_link(joined, near.ports, far.ports).T, strict=True):
        between = inside - costs.of(parts.jumper) + 2 * jumper + ports
        for length_class in range(within, len(lengths_m) + 1):
            shortest_m = 0.0 if problem.floor.ends else float(lengths_m[length_class - 1])
            of_class = [share for length_m, share in shares if shortest_m < length_m <= most_m[assembly]]
            if of_class:
                least = between + np.min(of_class, axis=0)
                table[:, length_class] = np.minimum(table[:, length_class], least)
    return np.asarray(np.minimum.accumulate(table[:, ::-1], axis=1)[:, ::-1])
