"""Workload profiles: what a fabric that says nothing itself must give."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from fabopt.schema.base import Strict


class Profile(NamedTuple):
    """Defaults of a profile: oversubscription allowed at every boundary, Gb/s that each GPU gets."""

    max_oversubscription: float
    min_gbps_per_gpu: float


# Rules of thumb of the field, fixed by the case format; a fabric's own keys go before them.
PROFILES: dict[str, Profile] = {
    "pretraining": Profile(1, 400),
    "mixed": Profile(1.5, 200),
    "fine-tuning": Profile(2, 200),
    "inference": Profile(4, 50),
}
DEFAULT_PROFILE = Profile(1, 400)


class Workload(Strict):
    """``{profile: pretraining}``."""

    profile: Annotated[
        Literal["pretraining", "mixed", "fine-tuning", "inference"],
        Field(description="sets what a fabric leaves out"),
    ]
