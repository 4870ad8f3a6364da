"""What a design file says of its workload: what it needs, and what a step takes on the design.

Bytes are those that one GPU sends in a step, times are of a step, ratios and shares have six decimals.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabopt.schema.attachment import is_open
from fabopt.schema.base import Strict
from fabopt.schema.model import Plan
from fabopt.schema.workload import Placement, Software

Number = int | float
Place = Literal["domain", "leaf", "pod", "fabric"]


# What ``min_gbps_per_gpu`` is where no bandwidth would do; it is never shown.
NO_BANDWIDTH_GBPS = 1_000_000


class WorkloadNeeds(Strict):
    """What the workload needs of a fabric, whatever design is picked.

    ``min_gbps_per_gpu``: the least bandwidth that will do if it is the same everywhere, 0 where nothing leaves the
    scale-up domains. ``offered_gbps_per_gpu``: the least that NICs on sale can give of what the fabric must give; with
    it, the ratios are the most that will do. ``sets``: keys of the fabric that the case left out, and that are set from
    this. ``leaf_gpus``: neighbours that are on one leaf for certain. ``binding``: what exposes most at the limit.
    """

    fabric: str
    min_gbps_per_gpu: Number
    offered_gbps_per_gpu: Number
    max_oversubscription: dict[str, Number]
    leaf_gbps_per_gpu: Number
    pod_gbps_per_gpu: Number
    sets: tuple[str, ...]
    leaf_gpus: int
    in_network_reduction: bool
    binding: str | None


class CommunicatorUse(Strict):
    """A communicator on the design. ``place``: the smallest that holds its groups; ``bytes_over``: each boundary."""

    communicator: str
    group: int
    operations: tuple[str, ...]
    algorithms: tuple[str, ...]
    place: Place
    calls: Number
    bytes_sent: Number
    bytes_over: dict[str, Number]
    time_s: Number
    hidden_s: Number
    exposed_s: Number


class MemoryUse(Strict):
    """Gigabytes of a GPU's memory on the fullest stage. ``least_gb``: that the plan can do with; ``likely_gb``: as it
    is written, of which ``parts_gb``; ``gpu_gb``: that the GPU has, None where the server does not say it.
    """

    least_gb: Number
    likely_gb: Number
    parts_gb: dict[str, Number]
    gpu_gb: Number | None


class PlacedStep(Strict):
    """A step of the workload on the design with ranks put in another way."""

    placement: Placement
    step_s: Number
    exposed_communication: Number
    gpu_utilization: Number
    usd_per_effective_gpu: Number | None


class ScenarioStep(Strict):
    """A step of the workload on the design in a scenario of the case, in the case's order.

    Where regret decides, ``usd_per_effective_gpu`` there, the ``least`` of any design, and the share ``regret`` that it
    is above that.
    """

    weight: Number
    step_s: Number
    gpu_utilization: Number
    usd_per_effective_gpu: Annotated[Number | None, Field(exclude_if=is_open)] = None
    least_usd_per_effective_gpu: Annotated[Number | None, Field(exclude_if=is_open)] = None
    regret: Annotated[Number | None, Field(exclude_if=is_open)] = None


class TaperedStep(Strict):
    """A step on the design's NICs, groups and pods with another ratio at one boundary, for both ends of placement.

    ``leaf_ratio``: at the leaves; or ``spine_ratio``: above pods, whose leaves are as they are.
    """

    leaf_ratio: Annotated[Number | None, Field(exclude_if=is_open)] = None
    spine_ratio: Annotated[Number | None, Field(exclude_if=is_open)] = None
    packed_s: Number
    scattered_s: Number


class WorkloadUse(Strict):
    """A step of the workload on the design.

    ``free_s``: a step on a network that takes no time. ``software``: how well kernels are made; ``step_band_s``:
    between which the step is in two of three published runs of that kind. ``exposed_communication``: the share of the
    step in which GPUs wait for the network. ``gpu_utilization``: the model's operations over the peak.
    ``usd_per_effective_gpu``: servers and network over GPUs times utilization; None where the server has no price.
    ``binding``: what exposes most.
    ``placement``: where ranks are put in this step; ``ends``: packed and scattered; ``tapers``: with other ratios at
    the leaves, and above pods; ``allowed_oversubscription``: the most at each boundary with the design's groups and
    pods that keeps the limit of exposed communication, none where there is no limit. ``scenarios``: those of the case,
    over whose mean step ``gpu_utilization`` and ``usd_per_effective_gpu`` are.
    """

    model: str
    gpus: int
    plan: Plan
    parameters: int
    flops_per_step: Number
    tokens_per_step: Number
    needs: WorkloadNeeds
    memory: MemoryUse
    communicators: tuple[CommunicatorUse, ...]
    binding: str | None
    compute_s: Number
    free_s: Number
    step_s: Number
    software: Software
    step_band_s: tuple[Number, Number]
    exposed_communication: Number
    gpu_utilization: Number
    tokens_per_s: Number
    usd_per_effective_gpu: Number | None
    placement: Placement | None = None
    ends: tuple[PlacedStep, ...] = ()
    tapers: tuple[TaperedStep, ...] = ()
    allowed_oversubscription: dict[str, Number] = {}
    scenarios: tuple[ScenarioStep, ...] = ()
