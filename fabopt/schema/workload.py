"""Workloads: what a fabric that says nothing itself must give, by a profile or from the model that is trained."""

from fractions import Fraction
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import AfterValidator, Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from fabopt.schema.base import Reference, Strict
from fabopt.schema.jobs import (
    OF_SERVING,
    SERVING,
    Job,
    Milliseconds,
    Prefill,
    Share,
    Tokens,
    are_jobs,
    first_trained,
    refuse_keys_of_another_task,
)
from fabopt.schema.model import Model, PlanChanges
from fabopt.units import exact


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
DEFAULT_EXPOSED = 0.05
# Keys that are in a file only where a case says them.
_UNLESS_DEFAULT = (
    "task",
    *OF_SERVING,
    "gpus_per_domain",
    "measured_gpus",
    "placement",
    "spreading",
    "other_jobs",
    "scenarios",
    "decide_by",
    "jobs",
)
# Keys of a workload that each of its jobs has, and those that say where or when the only job runs.
OF_A_JOB = ("model", "plan", "gpu_utilization")
_OF_THE_ONLY_JOB = ("profile", *OF_A_JOB, "task", *OF_SERVING, "measured_gpus", "placement", "scenarios", "decide_by")
MOST_JOBS = 16
# Scenarios between which a regret can be.
FEWEST_TO_REGRET = 2
# How well the kernels of a run are made: by its GPU's maker and profiled, or as most frameworks have them.
Software = Literal["tuned", "typical"]


class Within(Strict):
    """Ranks fill whole blocks of the network; the blocks themselves are anywhere.

    Attributes:
        within: The block that neighbouring ranks fill, the servers below a `leaf` or of a `pod`.
    """

    within: Literal["leaf", "pod"]


Placement = Literal["packed", "scattered"] | Within
DEFAULT_PLACEMENT: Placement = "scattered"


class QueuePairs(Strict):
    """Flows are hashed to uplinks.

    Attributes:
        queue_pairs: Flows into which each sender's traffic is split.
    """

    queue_pairs: Annotated[int, Field(ge=1, le=256)]


Spreading = Literal["adaptive"] | QueuePairs


class OtherJob(Strict):
    """Another job on the same uplinks.

    Attributes:
        name: Name of the job.
        share: Share of the uplinks that it takes.
    """

    name: str | None = None
    share: Share


def _leave_some(jobs: float | tuple[OtherJob, ...]) -> float | tuple[OtherJob, ...]:
    """Refuse jobs that leave nothing of the uplinks."""
    taken = taken_by(jobs)
    if taken >= 1 and not isinstance(jobs, float | int):
        shown = " + ".join(f"{one.share:g}" for one in jobs)
        raise ValueError(f"other jobs leave nothing of the uplinks: {shown} = {float(taken):g}; give less than 1")
    return jobs


def taken_by(jobs: float | tuple[OtherJob, ...]) -> Fraction:
    """The share of uplinks that other jobs take together."""
    return exact(jobs) if isinstance(jobs, float | int) else sum((exact(one.share) for one in jobs), Fraction(0))


OtherJobs = Annotated[Share | tuple[OtherJob, ...], AfterValidator(_leave_some)]


class Scenario(Strict):
    """A way in which the cluster is used; what it leaves out is the workload's.

    Attributes:
        weight: Share of all steps in this scenario; given for all scenarios, or for none of them.
        placement: Where neighbouring ranks are put.
        spreading: How flows use uplinks.
        other_jobs: Share of the uplinks that other jobs take, or a list of jobs.
        gpu_utilization: Share of the GPUs' peak that is reached while none waits for the network.
        utilization_change: How much more of their peak GPUs reach than is said or predicted, 0.25 for a quarter more.
        lost: What has failed for as long as the scenario lasts.
    """

    weight: Annotated[float, Field(gt=0, le=1)] | None = None
    placement: Placement | None = None
    spreading: Spreading | None = None
    other_jobs: OtherJobs | None = None
    gpu_utilization: Annotated[float, Field(gt=0, le=1)] | None = None
    utilization_change: Annotated[float, Field(gt=-1, le=4)] = 0
    lost: Literal["1 spine"] | None = None

    @model_validator(mode="after")
    def _one_utilization(self) -> Self:
        if self.gpu_utilization is not None and self.utilization_change:
            raise ValueError("give either `gpu_utilization` or `utilization_change`")
        return self


class Workload(Strict):
    """What runs on the cluster, a profile of its traffic or an AI model.

    Attributes:
        profile: Rule of thumb for traffic, which sets what a fabric leaves out.
        model: AI model that is trained or served, by name or path; the design file has it whole.
        task: Whether it is trained, reads prompts alone (`inference`), or reads prompts and writes tokens (`serving`).
            Null is the model's.
        prompt_tokens: Tokens of a prompt, of a model that is served.
        output_tokens: Tokens that are written after each.
        cached_share: Share of a prompt's tokens whose keys and values are kept from earlier prompts.
        kv_bytes: Bytes of a number of kept keys and values.
        ttft_ms: Longest time to the first token, in milliseconds, without a queue.
        tpot_ms: Longest time of each further token, in milliseconds.
        prefill: GPUs that read prompts only, which send keys and values to those that write tokens; `auto` is as many
            as keep pace. Null is none: all GPUs do both.
        plan: Keys of the model's plan that are different; `auto` is the fastest plan that fits.
        gpu_utilization: Share of the GPUs' peak that is reached while none waits for the network. Null is worked out.
        measured_gpus: GPUs that `gpu_utilization` was measured on; with more, more are slow. Null is those of the case.
        software: How well the kernels are made, where `gpu_utilization` does not say what they reach.
        max_exposed_communication: Largest share of a step in which GPUs may wait for the network.
        gpus_per_domain: GPUs of each scale-up domain that the model takes; others are spares, bought beyond `gpus`.
            Null is all, or, where the case's GPUs are no whole domains, what keeps groups of ranks whole.
        placement: Where neighbouring ranks are put. Null is scattered over all servers.
        spreading: How flows use uplinks; `adaptive`, or hashed with a number of queue pairs. Null is adaptive.
        other_jobs: Share of the uplinks that other jobs take, or a list of jobs.
        scenarios: Ways in which the cluster is used, over which the cost of a working GPU is weighed.
        decide_by: What decides over the scenarios, their weighted `mean` or the worst `regret`.
        jobs: Jobs that run side by side, in the place of `model`, `plan` and `gpu_utilization`.
    """

    profile: Literal["pretraining", "mixed", "fine-tuning", "inference"] | None = None
    model: Reference | Model | None = None
    task: Literal["training", "inference", "serving"] | None = None
    prompt_tokens: Tokens | None = None
    output_tokens: Tokens | None = None
    cached_share: Share = 0
    kv_bytes: Literal[1, 2] = 2
    ttft_ms: Milliseconds | None = None
    tpot_ms: Milliseconds | None = None
    prefill: Prefill | Literal["auto"] | None = None
    plan: PlanChanges | Literal["auto"] = PlanChanges()
    gpu_utilization: Annotated[float, Field(gt=0, le=1)] | None = None
    measured_gpus: Annotated[int, Field(ge=1, le=10**6)] | None = None
    software: Software = "typical"
    max_exposed_communication: Annotated[float, Field(gt=0, le=1)] = DEFAULT_EXPOSED
    gpus_per_domain: Annotated[int, Field(ge=1, le=10**6)] | None = None
    placement: Placement | None = None
    spreading: Spreading | None = None
    other_jobs: OtherJobs = 0
    scenarios: tuple[Scenario, ...] = ()
    decide_by: Literal["mean", "regret"] = "mean"
    jobs: Annotated[tuple[Job, ...], Field(max_length=MOST_JOBS), AfterValidator(are_jobs)] = ()

    @model_validator(mode="after")
    def _has_first_job(self) -> Self:
        """What is said of a workload's model is of the first job that does not serve."""
        given = [name for name in _OF_THE_ONLY_JOB if self.jobs and self._says(name)]
        if given:
            words = "goes into each of `jobs`" if given[0] in OF_A_JOB else "does not go with `jobs`"
            raise ValueError(f"`{given[0]}` {words}, which may lie anywhere beside each other")
        for name in OF_A_JOB if self.jobs else ():
            self.__dict__[name] = getattr(first_trained(self.jobs), name)
        return self

    def of_job(self, job: Job) -> Self:
        """The workload if one of its jobs were the only one."""
        own = (*OF_A_JOB, "task", *OF_SERVING)
        return self.model_copy(update={"jobs": (), **{name: getattr(job, name) for name in own}})

    def with_jobs(self, jobs: tuple[Job, ...]) -> Self:
        """The workload with other jobs."""
        return self.of_job(first_trained(jobs)).model_copy(update={"jobs": jobs, "task": None})

    @model_validator(mode="after")
    def _weights_add_up(self) -> Self:
        given = [one.weight for one in self.scenarios if one.weight is not None]
        if given and len(given) < len(self.scenarios):
            raise ValueError("give all scenarios a weight, or none: they then weigh alike")
        if given and sum(map(exact, given)) != 1:
            shown = " + ".join(f"{weight:g}" for weight in given)
            raise ValueError(f"weights of scenarios add up to 1; found {shown} = {float(sum(map(exact, given))):g}")
        if self.decide_by == "regret" and len(self.scenarios) < FEWEST_TO_REGRET:
            raise ValueError("`decide_by: regret` compares scenarios: give two or more")
        return self

    @property
    def weights(self) -> tuple[Fraction, ...]:
        """The weight of every scenario; alike where the case gives none."""
        alike = Fraction(1, max(1, len(self.scenarios)))
        return tuple(alike if one.weight is None else exact(one.weight) for one in self.scenarios)

    @property
    def changes(self) -> PlanChanges:
        """What is different from the model's plan; the word ``auto`` leaves all open that can be picked."""
        return PlanChanges(auto=True) if self.plan == "auto" else self.plan

    @model_validator(mode="after")
    def _profile_or_model(self) -> Self:
        if (self.profile is None) == (self.model is None):
            raise ValueError("give either `profile` or `model`")
        of_models = ("plan", "gpu_utilization", "software", "max_exposed_communication", *_UNLESS_DEFAULT)
        extra = [name for name in of_models if self._says(name)]
        if self.profile is not None and extra:
            raise ValueError(f"`{extra[0]}` goes with a `model`; a profile is a rule of thumb and has none")
        if self.measured_gpus is not None and self.gpu_utilization is None:
            raise ValueError("`measured_gpus` goes with `gpu_utilization`, which was measured on so many")
        return self

    @model_validator(mode="after")
    def _keys_of_one_task(self) -> Self:
        refuse_keys_of_another_task(self, self.serves, self.changes)
        return self

    @property
    def serves(self) -> bool:
        """Whether the model reads prompts and writes tokens."""
        return self.task == SERVING

    @property
    def own_prefill(self) -> Prefill | None:
        """The GPUs that read prompts only; None where all GPUs do both."""
        return Prefill() if self.prefill == "auto" else self.prefill

    def _says(self, name: str) -> bool:
        return bool(getattr(self, name) != type(self).model_fields[name].default)

    @model_serializer(mode="wrap")
    def _short_or_whole(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A profile stays the short form that it was written in."""
        content: dict[str, Any] = handler(self)
        for name in _UNLESS_DEFAULT:
            if not self._says(name):
                del content[name]
        for name in OF_A_JOB if self.jobs else ():
            del content[name]
        return content if self.profile is None else {"profile": self.profile}
