"""Where the switches of a fabric stand on a floor, as far as that is decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from fabopt.floor.arrangements import ANYWHERE, Arrangement


@dataclass(frozen=True)
class OnFloor:
    """``arrangement``: of its switches; ``pins``: ids of the racks that the case names for switches, by tier;
    ``attachments_measured``: whether the runs of attachments are those of a candidate whose switches are in racks.
    """

    arrangement: Arrangement = ANYWHERE
    pins: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    attachments_measured: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "pins", MappingProxyType(dict(self.pins)))


ANYWHERE_ON_IT = OnFloor()
