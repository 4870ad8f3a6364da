"""What is in service where a fabric goes on from it, moves it, or joins it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from fabopt.parts.switches import SwitchType
from fabopt.problem.out_of_band import ByStage
from fabopt.schema.fabric_design import FabricDesign, LinkRow, Place
from fabopt.schema.in_service import CableKind, FabricMoves, JoinedSwitches
from fabopt.schema.installed import KindAt, nics_at

# Cables between leaves and spines.
UPLINKS: Final = "leaf-spine"


@dataclass(frozen=True, eq=False)
class InService:
    """A fabric as it is in service; as a key, itself alone.

    ``whole``: with what its file plans beside, for as many servers as ``sizes`` say, by stage; ``servers``: in service;
    ``attached``: ports of attachments that each stage of the file adds, in the order in which they were dealt;
    ``leaves``: the types that a leaf of another type than the others may be of; ``server_racks``: on a floor, in the
    order in which they are filled; ``leaf_racks``: of all leaves, where rule ``rack-spread`` dealt attachments by them;
    ``stages``: names of those that are in service; ``lengths_m``: length classes of its runs;
    ``held``: kinds of devices and cables that never move, where others may; ``not_named``: then also tiers and ids of
    switches that the case does not name, of which there are no new ones.
    """

    fabric: FabricDesign
    whole: FabricDesign
    servers: int
    sizes: tuple[int, ...]
    attached: Mapping[str, ByStage]
    leaves: tuple[SwitchType, ...] = ()
    server_racks: tuple[str, ...] = ()
    leaf_racks: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()
    lengths_m: tuple[float, ...] = ()
    cables: Mapping[CableKind, KindAt] = field(default_factory=dict)
    held: tuple[str, ...] = ()
    not_named: frozenset[tuple[str, str]] = frozenset()

    def attached_m(self, attachment: str) -> tuple[tuple[str, float], ...]:
        """The run of the links of an attachment to each tier that it is on, as the file has it; none on no floor."""
        rows = self.whole.links if self.server_racks else ()
        return tuple({row.to: float(row.length_m) for row in rows if row.attachment == attachment}.items())

    def counted_m(self, run_m: float) -> float:
        """The class of a run by the lengths that the file has, which need not be all that are on sale now."""
        return next((length_m for length_m in self.lengths_m if length_m >= run_m), run_m)

    def staying(self, role: str, moves: FabricMoves | None) -> int:
        """Switches of a tier that are not taken out."""
        there = sum(tier.count for tier in self.fabric.tiers if tier.role == role)
        gone = {} if moves is None else moves.devices
        return there - sum(count for kind, count in gone.items() if kind == role)

    @property
    def nics(self) -> Counter[str]:
        """NICs by the id of what was bought."""
        return nics_at(self.whole, self.stages, self.servers)

    @property
    def is_whole(self) -> bool:
        """Whether all that the file plans is in service."""
        return len(self.stages) == len(self.sizes)

    def runs_of(self, row: LinkRow) -> list[float] | None:
        """The length classes of the links of a cage that are in service; None where a row has none of a cage's."""
        if row.runs_m is None:
            return []
        names = row.stages or self.stages[:1] * len(row.runs_m)
        own = [run for run, name in zip(row.runs_m, names, strict=True) if name in self.stages]
        return own or None


@dataclass(frozen=True)
class LiveNetwork:
    """What is in service for a fabric: nothing, or one of three; of a pod that grows the first and the last.

    ``in_service``: the fabric that its first stage is; ``moving``: the fabric that is there, where moving it is priced
    and no stage is its own; ``joined``: the spines that its leaves join, or the cores
    that its spines do, all of them.
    """

    in_service: InService | None = None
    moving: InService | None = None
    joined: JoinedSwitches | None = None

    def places_of(self, attachments: Iterable[str]) -> dict[str, tuple[Place, ...]]:
        """Where devices of those of some attachments stand that are in service."""
        there = {} if self.in_service is None else self.in_service.whole.places.attachments
        return {name: there[name] for name in attachments if name in there}

    @property
    def stays(self) -> FabricDesign | None:
        """The design whose switches and cables all stay."""
        return None if self.in_service is None else self.in_service.fabric

    @property
    def holds_uplinks(self) -> FabricDesign | None:
        """The design whose uplinks stay, where others of its parts may move."""
        moving = self.moving
        return moving.fabric if moving is not None and UPLINKS in moving.held else None


NOTHING_LIVE = LiveNetwork()
