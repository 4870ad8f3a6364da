"""What a design file says of its workload: what it needs, and what a step takes on the design.

Bytes are those that one GPU sends in a step, times are of a step, ratios and shares have six decimals.
"""

from typing import Annotated, Literal

from pydantic import Field

from fabopt.schema.base import Strict, is_empty, is_open
from fabopt.schema.model import Plan
from fabopt.schema.workload import Placement, Software

Number = int | float
Place = Literal["domain", "leaf", "pod", "fabric"]


# What ``min_gbps_per_gpu`` is where no bandwidth would do; it is never shown.
NO_BANDWIDTH_GBPS = 1_000_000


class WorkloadNeeds(Strict):
    """What the workload needs of a fabric, whatever design is picked.

    Attributes:
        fabric: Name of the fabric.
        min_gbps_per_gpu: Least bandwidth that will do if it is the same everywhere, in Gb/s; 0 where nothing leaves
            domains.
        overlapped_gbps_per_gpu: The same where computation hides as much as it can. Absent where overlap decides
            nothing.
        offered_gbps_per_gpu: Least that NICs on sale can give of what the fabric must give, in Gb/s.
        max_oversubscription: Most oversubscription that will do with it, by boundary.
        leaf_gbps_per_gpu: Least bandwidth that will do above leaves, in Gb/s for each GPU.
        pod_gbps_per_gpu: Least bandwidth that will do above pods, in Gb/s for each GPU.
        sets: Keys of the fabric that the case left out, and that are set from this.
        leaf_gpus: Neighbouring GPUs that are on one leaf for certain.
        in_network_reduction: Whether switches reduce what goes through them.
        binding: Communicator that exposes most at the limit.
    """

    fabric: str
    min_gbps_per_gpu: Number
    overlapped_gbps_per_gpu: Annotated[Number | None, Field(exclude_if=is_open)] = None
    offered_gbps_per_gpu: Number
    max_oversubscription: dict[str, Number]
    leaf_gbps_per_gpu: Number
    pod_gbps_per_gpu: Number
    sets: tuple[str, ...]
    leaf_gpus: int
    in_network_reduction: bool
    binding: str | None


class CommunicatorUse(Strict):
    """A communicator of the model on the design.

    Attributes:
        communicator: Its name.
        group: Ranks of each of its groups.
        operations: Its collective operations.
        algorithms: Algorithms that they run by.
        place: Smallest part of the network that holds its groups.
        calls: Calls in a step.
        bytes_sent: Bytes that each GPU sends in a step.
        bytes_over: Bytes over each boundary, for each GPU in a step.
        time_s: Time in a step, in seconds.
        hidden_s: Time behind computation, in seconds.
        exposed_s: Time in which GPUs wait, in seconds.
    """

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
    """Memory of a GPU on the fullest stage, in gigabytes.

    Attributes:
        least_gb: Memory that the plan can do with.
        likely_gb: Memory of the plan as it is written.
        parts_gb: The same by what it is for.
        gpu_gb: Memory that the GPU has. Null where the server does not say it.
    """

    least_gb: Number
    likely_gb: Number
    parts_gb: dict[str, Number]
    gpu_gb: Number | None


class PlacedStep(Strict):
    """A step of the workload on the design with ranks put in another way.

    Attributes:
        placement: Where neighbouring ranks are put.
        step_s: Step, in seconds.
        exposed_communication: Share of the step in which GPUs wait for the network.
        gpu_utilization: Share of the GPUs' peak that is reached.
        usd_per_effective_gpu: Servers and network over GPUs that work, in US dollars.
    """

    placement: Placement
    step_s: Number
    exposed_communication: Number
    gpu_utilization: Number
    usd_per_effective_gpu: Number | None


class ScenarioStep(Strict):
    """A step of the workload on the design in a scenario of the case, in the case's order.

    Attributes:
        weight: Weight of the scenario.
        step_s: Step, in seconds.
        gpu_utilization: Share of the GPUs' peak that is reached.
        usd_per_effective_gpu: Servers and network over GPUs that work, in US dollars, where regret decides.
        least_usd_per_effective_gpu: Least of any design in the scenario, in US dollars.
        regret: Share that the design is above that.
    """

    weight: Number
    step_s: Number
    gpu_utilization: Number
    usd_per_effective_gpu: Annotated[Number | None, Field(exclude_if=is_open)] = None
    least_usd_per_effective_gpu: Annotated[Number | None, Field(exclude_if=is_open)] = None
    regret: Annotated[Number | None, Field(exclude_if=is_open)] = None


class JobUse(Strict):
    """A job of several on the design, in the worst placement for it of all.

    Attributes:
        name: Its name.
        model: Name of its model.
        gpus: GPUs that it runs on.
        min_gbps_per_gpu: Gb/s for each GPU that it needs, the same everywhere.
        gbps_per_gpu: Gb/s for each GPU that it has through uplinks, of leaves and of pods.
        step_s: Step, in seconds.
        exposed_communication: Share of the step in which GPUs wait for the network.
        gpu_utilization: Share of the GPUs' peak that is reached.
        tokens_per_s: Tokens a second.
        paused: Share of the time in which its GPUs wait for what jobs send now and then.
        tapers: The step with other ratios at a boundary, by `leaf` or `spine` and ratio, in seconds.
    """

    name: str
    model: str
    gpus: int
    min_gbps_per_gpu: Number
    gbps_per_gpu: dict[str, Number]
    step_s: Number
    exposed_communication: Number
    gpu_utilization: Number
    tokens_per_s: Number
    paused: Number
    tapers: dict[str, dict[str, Number]]


class TaperedStep(Strict):
    """A step on the design's NICs, groups and pods with another ratio at one boundary, for both ends of placement.

    Attributes:
        leaf_ratio: Oversubscription at the leaves.
        spine_ratio: Oversubscription above pods, whose leaves are as they are.
        packed_s: Step with ranks packed, in seconds.
        scattered_s: Step with ranks scattered, in seconds.
    """

    leaf_ratio: Annotated[Number | None, Field(exclude_if=is_open)] = None
    spine_ratio: Annotated[Number | None, Field(exclude_if=is_open)] = None
    packed_s: Number
    scattered_s: Number


class ServingPool(Strict):
    """GPUs that read prompts or write tokens.

    Attributes:
        gpus: Number of them.
        tensor: Ways that each matrix is split; so many GPUs are a replica.
        expert: Ways that experts are dealt to GPUs.
        expert_tensor: Ways that each expert is split.
        at_once: Prompts that a replica reads, or sequences that it writes, at once.
        weights_gb: Weights in a GPU's memory, in gigabytes.
        kept_gb: Keys and values of full length in it, in gigabytes.
        gpu_gb: Memory that the GPU has. Null where the server does not say it.
        step_s: Reading of these prompts, or one token of each sequence, in seconds.
        communicators: Its communicators, in such a step.
    """

    gpus: int
    tensor: int
    expert: int
    expert_tensor: int
    at_once: int
    weights_gb: Number
    kept_gb: Number
    gpu_gb: Number | None
    step_s: Number
    communicators: tuple[CommunicatorUse, ...]


class ServedTaper(Strict):
    """What users wait for on the design's NICs with a ratio at the leaves, and servers anywhere.

    Attributes:
        leaf_ratio: Oversubscription at the leaves.
        ttft_s: Time to the first token, in seconds.
        tpot_s: Time of a further token, in seconds.
        kv_send_s: Time in which keys and values of a prompt are sent, in seconds. Null where nothing is.
    """

    leaf_ratio: Number
    ttft_s: Number
    tpot_s: Number
    kv_send_s: Number | None


class PathTimes(Strict):
    """Times with the network's own latency, in place of what constants of the prediction count for it.

    Attributes:
        counted_us: One way over switches and cables for which those constants stand, in microseconds.
        one_way_us: The same on the design, as far as it is known, by the place of calls.
        unknown: Parts without a figure; then no times are said.
        step_s: A step, in seconds.
        exposed_communication: Share of that step in which GPUs wait for the network.
        gpu_utilization: Share of the GPUs' peak that is reached.
        ttft_s: Time to the first token of a service, in seconds.
        tpot_s: Mean time of a further token, in seconds.
    """

    counted_us: Number
    one_way_us: dict[Place, Number]
    unknown: tuple[str, ...] = ()
    step_s: Annotated[Number | None, Field(exclude_if=is_open)] = None
    exposed_communication: Annotated[Number | None, Field(exclude_if=is_open)] = None
    gpu_utilization: Annotated[Number | None, Field(exclude_if=is_open)] = None
    ttft_s: Annotated[Number | None, Field(exclude_if=is_open)] = None
    tpot_s: Annotated[Number | None, Field(exclude_if=is_open)] = None


class ServingUse(Strict):
    """A served model on the design.

    Attributes:
        model: Name of the model.
        gpus: GPUs that serve it.
        parameters: Parameters of the model.
        prompt_tokens: Tokens of a prompt.
        output_tokens: Tokens that are written after each.
        disaggregated: Whether prompts are read by GPUs of their own.
        prefill: The GPUs that read prompts.
        decode: The GPUs that write tokens.
        kv_bytes_per_prompt: Bytes of keys and values of a prompt.
        kv_gbps_per_gpu: Keys and values for each GPU of the smaller kind, on the mean, in Gb/s; 0 where all do both.
        kv_send_s: Time in which those of a prompt are sent, in seconds. Null where all GPUs do both.
        ttft_s: Time to the first token without a queue, in seconds.
        ttft_limit_s: The longest that it may be, in seconds.
        tpot_s: Mean time of a further token, in seconds.
        tpot_limit_s: The longest that it may be, in seconds.
        prompts_per_s: Prompts that are answered in a second.
        prefill_prompts_per_s: Prompts that could be read in a second.
        tokens_per_s: Tokens that are written in a second.
        needs: What the service needs of a fabric, whatever design is picked.
        tapers: What users wait for with other ratios.
        on_paths: What they wait for with the network's own latency.
    """

    model: str
    gpus: int
    parameters: int
    prompt_tokens: int
    output_tokens: int
    disaggregated: bool
    prefill: ServingPool
    decode: ServingPool
    kv_bytes_per_prompt: int
    kv_gbps_per_gpu: Number
    kv_send_s: Number | None
    ttft_s: Number
    ttft_limit_s: Number
    tpot_s: Number
    tpot_limit_s: Number
    prompts_per_s: Number
    prefill_prompts_per_s: Number
    tokens_per_s: Number
    needs: WorkloadNeeds
    tapers: tuple[ServedTaper, ...] = ()
    on_paths: Annotated[PathTimes | None, Field(exclude_if=is_open)] = None


class ServedJobUse(Strict):
    """A job that serves beside others on the design, in the worst placement for it of all.

    Attributes:
        name: Its name.
        min_gbps_per_gpu: Gb/s for each GPU that it needs, the same everywhere.
        gbps_per_gpu: Gb/s for each GPU that it has through uplinks, of leaves and of pods.
        paused: Share of the time in which its GPUs wait for what jobs send now and then.
        service: What its users wait for with that; ratios are those of a network that it has alone.
    """

    name: str
    min_gbps_per_gpu: Number
    gbps_per_gpu: dict[str, Number]
    paused: Number
    service: ServingUse


class WorkloadUse(Strict):
    """A step of the workload on the design.

    Attributes:
        model: Name of the model.
        gpus: GPUs that run it.
        plan: How it is split over them.
        parameters: Parameters of the model.
        flops_per_step: Operations of a step.
        tokens_per_step: Tokens of a step.
        needs: What the workload needs of a fabric, whatever design is picked.
        memory: Memory of a GPU.
        communicators: Its communicators.
        binding: Communicator that exposes most.
        compute_s: Computation of a step, in seconds.
        free_s: A step on a network that takes no time, in seconds.
        step_s: Predicted step, in seconds.
        software: How well kernels are made.
        step_band_s: Between which figures the step is in two of three published runs of that kind, in seconds.
        exposed_communication: Share of the step in which GPUs wait for the network.
        gpu_utilization: Share of the GPUs' peak that is reached.
        tokens_per_s: Tokens a second.
        usd_per_effective_gpu: Servers and network over GPUs that work, in US dollars. Null where the server has no
            price.
        placement: Where neighbouring ranks are put in this step.
        ends: The step with ranks packed and scattered.
        tapers: The step with other ratios.
        allowed_oversubscription: Most oversubscription at each boundary that keeps the limit of exposed communication.
        scenarios: The step in each scenario of the case.
        jobs: Jobs beside each other. What is said of a model and its step is then of the first of them; GPUs,
            utilization, and what one that works costs are of all.
        services: Jobs beside these that serve. Their GPUs count as GPUs that do not work.
        demanded_gbps_per_gpu: Gb/s for each GPU that leaves and pods must give in the worst placement of the jobs.
        on_paths: The step with the network's own latency.
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
    jobs: Annotated[tuple[JobUse, ...], Field(exclude_if=is_empty)] = ()
    services: Annotated[tuple[ServedJobUse, ...], Field(exclude_if=is_empty)] = ()
    demanded_gbps_per_gpu: Annotated[dict[str, Number], Field(exclude_if=is_empty)] = {}
    on_paths: Annotated[PathTimes | None, Field(exclude_if=is_open)] = None

    @property
    def model_gpus(self) -> int:
        """GPUs that the model runs on, of which there may be more in the cluster."""
        return self.jobs[0].gpus if self.jobs else self.gpus
