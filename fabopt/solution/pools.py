"""Notes on buffer pools of switches, and on equal switches whose pools are too small."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fabopt.parts.pools import pool_verdict, ports_text, shortfall_text
from fabopt.problem.fabric import FabricProblem
from fabopt.schema.design import Design, FabricDesign
from fabopt.schema.operate import Roce
from fabopt.solution.question import Answers
from fabopt.topology.candidate import Ends
from fabopt.topology.pools import ETHERNET, WeighedTier, weighed_tiers

_MOST_NOT_PICKED = 4


def pool_notes(answers: Answers, design: Design) -> Iterator[str]:
    """A note for each Ethernet product of a tier whose buffer pool is too small for its ports, or must hold them."""
    if answers.best is None:
        return
    for fabric, (candidate, _), designed in zip(
        answers.shown.fabrics, answers.best.picked, design.fabrics, strict=True
    ):
        if designed.protocol == ETHERNET and designed.role != "oob":
            roce = fabric.roce or Roce()
            weighed_of_role: dict[str, list[WeighedTier]] = {}
            for weighed in weighed_tiers(candidate.design.file_part(), roce, _bought(designed)):
                weighed_of_role.setdefault(weighed.tier.role, []).append(weighed)
            for alike in weighed_of_role.values():
                yield from dict.fromkeys(note for weighed in alike for note in _notes(fabric, roce, weighed))
                if fabric.roce is not None:
                    yield from _not_picked(fabric, roce, alike)


def _bought(designed: FabricDesign) -> Mapping[Ends, float]:
    longest: dict[Ends, float] = {}
    for row in designed.links:
        for part in row.parts:
            if part.length_m is not None:
                ends = row.from_, row.to
                longest[ends] = max(longest.get(ends, 0.0), float(part.length_m))
    return longest


def _notes(fabric: FabricProblem, roce: Roce, weighed: WeighedTier) -> Iterator[str]:
    tier, verdict, priorities = weighed.tier, weighed.verdict, roce.lossless_priorities
    where = f"{fabric.name}: {tier.role} {tier.switch.id}"
    if verdict is None:
        if fabric.roce is not None:
            yield f"{where}: whether its pool holds its lossless ports is not known, so that left nothing out"
        return
    if verdict.spare < 0:
        yield f"{where}: {shortfall_text(weighed.ports, priorities, verdict)}; with `roce` it would not be picked"
        return
    if fabric.roce is not None:
        yield f"{where}: its pool holds {ports_text(weighed.ports, priorities)}"


def _not_picked(fabric: FabricProblem, roce: Roce, alike: Sequence[WeighedTier]) -> Iterator[str]:
    """Switches not in a tier with as many ports as its first product, whose pools are known to be too small."""
    weighed, told = alike[0], 0
    tier, picked = weighed.tier, {one.tier.switch.id for one in alike}
    if weighed.verdict is None or weighed.verdict.spare < 0:
        return
    for switch in fabric.switches[ETHERNET][tier.role]:
        product = switch.product
        speeds = {use.lane.port_mbps for use in switch.uses}
        fits = switch.max_ports >= tier.down_ports + tier.up_ports and tier.down.lane.port_mbps in speeds
        if switch.id in picked or product.asic is None or not fits or told == _MOST_NOT_PICKED:
            continue
        verdict = pool_verdict(product.asic, product.buffer_pool, weighed.ports, roce.lossless_priorities, roce.mtu)
        if verdict is not None and verdict.spare < 0:
            told += 1
            short = shortfall_text(weighed.ports, roce.lossless_priorities, verdict)
            yield f"{fabric.name}: {tier.role}: not picked: {switch.id}: {short}"
