"""The differences between two designs of a case, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fabopt.design.build import fabric_design
from fabopt.problem.problem import Problem
from fabopt.program.orders import Picked, all_uses
from fabopt.schema.design import FabricDesign, LinkRow
from fabopt.topology.candidate import over_stages

ROLES = ("leaf", "spine", "core")
# So many parts whose numbers alone are different are told.
MOST_PARTS_TOLD = 3


def changes_between(
    problem: Problem, picked: Sequence[Picked], other_picked: Sequence[Picked], other_problem: Problem
) -> tuple[str, ...]:
    """A line for each difference: protocol, NICs, switches, parts of links; else numbers of parts."""
    changes: list[str] = []
    for index, fabric in enumerate(problem.fabrics):
        prefix = f"{fabric.name} " if len(problem.fabrics) > 1 else ""
        before = fabric_design(problem, fabric, picked[index])
        after = fabric_design(other_problem, other_problem.fabrics[index], other_picked[index])
        changes += [f"{prefix}{line}" for line in _hardware(before, after)]
    changes = changes or _numbers(problem, picked, other_picked, other_problem)
    return tuple(changes or ["the same parts, ordered otherwise"])


def _hardware(before: FabricDesign, after: FabricDesign) -> Iterator[str]:
    old, new = _described(before), _described(after)
    for purpose in dict.fromkeys([*old, *new]):
        part, other_part = old.get(purpose, "none"), new.get(purpose, "none")
        if part != other_part:
            yield f"{purpose}: {part} -> {other_part}"


def _described(fabric: FabricDesign) -> dict[str, str]:
    """Parts of a fabric in words, by their place: protocol, NICs, tiers, ends of links."""
    nic = fabric.nic
    words = {"protocol": fabric.protocol, "NICs": f"{nic.per_server} x {nic.id} at {nic.gbps:g}G"}
    words |= {tier.role: " and ".join(f"{row.count:,} x {row.id}" for row in tier.types) for tier in fabric.tiers}
    for ends in dict.fromkeys(_ends(row) for row in fabric.links):
        ways = dict.fromkeys(_way(row) for row in fabric.links if _ends(row) == ends)
        words[ends] = " and ".join(ways)
    return words


def _ends(row: LinkRow) -> str:
    return f"{row.attachment or row.from_} - {row.to}"


def _way(row: LinkRow) -> str:
    """The parts of links: the medium and its parts."""
    parts = " + ".join(dict.fromkeys(part.id for part in row.parts))
    return f"{row.medium} {parts}" if parts else row.medium


def _numbers(
    problem: Problem, picked: Sequence[Picked], other_picked: Sequence[Picked], other_problem: Problem
) -> list[str]:
    """Lines on parts used in other numbers."""
    before, after = (
        {item.key: count for item, count in over_stages(all_uses(*design)).items()}
        for design in ((problem, picked), (other_problem, other_picked))
    )
    changes = []
    for key in dict.fromkeys([*before, *after]):
        counts = before.get(key, 0), after.get(key, 0)
        if counts[0] != counts[1]:
            length = f" {key[1]:g} m" if key[1] else ""
            changes.append(f"{key[0]}{length}: {counts[0]:,} -> {counts[1]:,}")
    more = len(changes) - MOST_PARTS_TOLD
    return [*changes[:MOST_PARTS_TOLD], *([f"{more} more parts in other numbers"] if more > 0 else [])]
