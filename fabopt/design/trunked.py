"""Links through trunks and panels as the design file has them."""

from __future__ import annotations

from collections.abc import Sequence

from fabopt.design.bill import whole_metres
from fabopt.parts.trunks import TrunkedKind
from fabopt.problem.problem import Problem
from fabopt.schema.structured import PanelPlace, StructuredKind, TrunkRoute, TrunkRow
from fabopt.topology.candidate import Candidate

# The unit of a panel that has no place yet, or for which there is no room.
NO_UNIT = 0


def structured_kinds(problem: Problem, candidate: Candidate) -> tuple[StructuredKind, ...]:
    """The kinds of links through trunks of a candidate; their panels have no units yet."""
    stages = [stage.name for stage in problem.stages]
    return tuple(_structured_kind(trunked, stages) for trunked in candidate.trunked)


def _structured_kind(trunked: TrunkedKind, stages: Sequence[str]) -> StructuredKind:
    named = stages if len(stages) > 1 else (None,)
    return StructuredKind.model_validate({
        "kind": trunked.kind,
        "fibre": trunked.fibre,
        "connector": trunked.connector,
        "jumper": trunked.jumper.id,
        "jumper_m": whole_metres(trunked.jumper.length_m),
        "far_jumpers": sum(trunked.far),
        "far_by_stage": trunked.far if len(stages) > 1 else (),
        "routes": tuple(
            TrunkRoute(
                a=route.a, b=route.b, links=route.links, legs=route.legs,
                trunks=tuple(
                    TrunkRow(id=item.id, length_m=whole_metres(item.length_m), count=count, stage=named[stage])
                    for stage, item, count in route.trunks
                ),
            )
            for route in trunked.routes
        ),
        "panels": tuple(
            PanelPlace(rack=rack, unit=NO_UNIT, id=item.id, stage=named[stage])
            for rack, pieces in trunked.panels
            for stage, item, count in pieces
            for _ in range(count)
        ),
        "zones": dict(trunked.zones),
    })  # fmt: skip
