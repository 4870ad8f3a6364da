"""Jobs that run beside each other on a cluster: models that are trained or served, and what they send now and then."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from fabopt.schema.base import Reference, Strict, is_as, is_empty, is_open
from fabopt.schema.model import Model, PlanChanges, Size, Ways
from fabopt.units import exact

Share = Annotated[float, Field(ge=0, lt=1)]
Tokens = Annotated[int, Field(ge=1, le=10**8)]
Milliseconds = Annotated[float, Field(gt=0, le=10**8)]
Task = Literal["training", "inference", "serving"]
SERVING = "serving"
# Keys of a model that is served, and of the steps of one that is trained.
OF_SERVING = ("prompt_tokens", "output_tokens", "cached_share", "kv_bytes", "ttft_ms", "tpot_ms", "prefill")
_OF_STEPS = ("gpu_utilization", "measured_gpus", "placement", "scenarios", "decide_by")
# Keys of a plan that a model which is served has.
SERVED_KEYS = ("tensor", "expert", "expert_tensor", "micro_batch", "overlap")
HOURS_OF_A_DAY = 24


def refuse_keys_of_another_task(asked: Strict, serves: bool, changes: PlanChanges) -> None:
    """Refuse keys of serving of a model that is not served, and those of training of one that is.

    ``asked``: a workload, or one of its jobs; ``changes``: what is different from the model's plan.
    """
    fields = type(asked).model_fields

    def said(names: tuple[str, ...]) -> list[str]:
        return [name for name in names if name in fields and getattr(asked, name) != fields[name].default]

    if not serves:
        if of_serving := said(OF_SERVING):
            raise ValueError(f"`{of_serving[0]}` goes with `task: serving`")
        return
    missing = [name for name in ("prompt_tokens", "output_tokens") if getattr(asked, name) is None]
    if missing:
        raise ValueError(f"`task: serving` needs `{'` and `'.join(missing)}`")
    if of_steps := said(_OF_STEPS):
        raise ValueError(f"`{of_steps[0]}` is of steps of training; `task: serving` has none")
    if of_training := [name for name in changes.given if name not in SERVED_KEYS]:
        raise ValueError(f"a plan of `task: serving` has no `{of_training[0]}`, but {', '.join(SERVED_KEYS)}")


class Prefill(Strict):
    """GPUs that read prompts only, the first of the cluster; the others write tokens.

    Attributes:
        gpus: Number of them, in whole servers. Null is as many as keep pace with those that write.
        tensor: Ways that each matrix is split. Null is worked out.
        expert: Ways that experts are dealt to GPUs. Null is worked out.
        micro_batch: Prompts that a replica reads at once.
    """

    gpus: Annotated[int, Field(ge=1, le=10**7)] | None = None
    tensor: Ways | None = None
    expert: Ways | None = None
    micro_batch: Size = 1


class Job(Strict):
    """A job on a part of the cluster: a model, or bytes that a job sends now and then.

    Attributes:
        name: Name of the job. Null is the model's name.
        model: AI model that it runs, by name or path; the design file has it whole.
        gpus: GPUs that it runs on.
        share: Share of the cluster's GPUs that it runs on, in whole servers. Without either it has what others leave.
        plan: Keys of the model's plan that are different; `auto` is the fastest plan that fits.
        gpu_utilization: Share of the GPUs' peak that is reached while none waits for the network. Null is worked out.
        task: Whether it is trained, reads prompts alone (`inference`), or reads prompts and writes tokens (`serving`).
            Null is the model's.
        prompt_tokens: Tokens of a prompt, of a model that is served.
        output_tokens: Tokens that are written after each.
        cached_share: Share of a prompt's tokens whose keys and values are kept from earlier prompts.
        kv_bytes: Bytes of a number of kept keys and values.
        ttft_ms: Longest time to the first token, in milliseconds, without a queue.
        tpot_ms: Longest time of each further token, in milliseconds.
        prefill: GPUs of the job that read prompts only, which send keys and values to those that write tokens; `auto`
            is as many as keep pace. Null is none: all GPUs do both.
        hours: Hours of a day that it runs, which weigh its part in the cost of a working GPU.
        sends_gb: What the GPUs of a job send together, in gigabytes, such as a checkpoint, or new weights.
        of: Name of the job whose GPUs send it.
        to: Name of the job that each replica of takes all of it, such as rollouts; without, it goes to storage.
        every_s: Time from one sending to the next, in seconds.
    """

    name: str | None = None
    model: Reference | Model | None = None
    gpus: Annotated[int, Field(ge=1, le=10**7)] | None = None
    share: Annotated[float, Field(gt=0, le=1)] | None = None
    plan: PlanChanges | Literal["auto"] = PlanChanges()
    gpu_utilization: Annotated[float, Field(gt=0, le=1)] | None = None
    task: Annotated[Task | None, Field(exclude_if=is_open)] = None
    prompt_tokens: Annotated[Tokens | None, Field(exclude_if=is_open)] = None
    output_tokens: Annotated[Tokens | None, Field(exclude_if=is_open)] = None
    cached_share: Annotated[Share, Field(exclude_if=is_empty)] = 0
    kv_bytes: Annotated[Literal[1, 2], Field(exclude_if=is_as(2))] = 2
    ttft_ms: Annotated[Milliseconds | None, Field(exclude_if=is_open)] = None
    tpot_ms: Annotated[Milliseconds | None, Field(exclude_if=is_open)] = None
    prefill: Annotated[Prefill | Literal["auto"] | None, Field(exclude_if=is_open)] = None
    hours: Annotated[float, Field(gt=0, le=HOURS_OF_A_DAY)] = HOURS_OF_A_DAY
    sends_gb: Annotated[float, Field(gt=0, le=10**9)] | None = None
    of: str | None = None
    to: str | None = None
    every_s: Annotated[float, Field(gt=0, le=10**9)] | None = None

    @model_validator(mode="after")
    def _runs_or_sends(self) -> Self:
        if (self.model is None) == (self.sends_gb is None):
            raise ValueError("give either `model`, or `sends_gb` with `of` and `every_s`")
        if self.model is None and (self.of is None or self.every_s is None):
            raise ValueError("`sends_gb` takes the job that sends it (`of`), and how often (`every_s`)")
        sending, running = ("of", "to", "every_s"), ("gpus", "share")
        wrong = [name for name in (running if self.model is None else sending) if getattr(self, name) is not None]
        if wrong:
            raise ValueError(f"`{wrong[0]}` goes with `{'model' if self.model is None else 'sends_gb'}`")
        if self.gpus is not None and self.share is not None:
            raise ValueError("give either `gpus` or `share`")
        if self.model is None and self.task is not None:
            raise ValueError("`task` goes with `model`")
        refuse_keys_of_another_task(self, self.serves, self.changes)
        return self

    @property
    def serves(self) -> bool:
        """Whether its model reads prompts and writes tokens."""
        return self.task == SERVING

    @property
    def changes(self) -> PlanChanges:
        """What is different from the model's plan; the word ``auto`` leaves all open that can be picked."""
        return PlanChanges(auto=True) if self.plan == "auto" else self.plan

    @property
    def title(self) -> str:
        """The job's name; where it has none the model's."""
        model = self.model.name if isinstance(self.model, Model) else self.model
        return self.name or model or "a job"


def are_jobs(jobs: tuple[Job, ...]) -> tuple[Job, ...]:
    """Refuse jobs whose names are not told apart, shares over 100 %, and what is sent of or to no job."""
    names = [job.title for job in jobs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"two jobs are {twice!r}: give each a `name`")
    if jobs and jobs[0].model is None:
        raise ValueError("the first job runs a `model`")
    if jobs and all(job.serves or job.model is None for job in jobs):
        raise ValueError(
            "services are counted beside a job that trains or reads prompts (`task: inference`), and there is none: "
            "give the only service as `task: serving` of the workload, or each of several a case of its own GPUs"
        )
    for job in jobs:
        running = [other.title for other in jobs if other.model is not None]
        if job.of is not None and job.of == job.to:
            raise ValueError(f"{job.title} is sent from {job.of!r} to itself: leave out `to` if it goes to storage")
        for named in (job.of, job.to):
            if named is not None and named not in running:
                raise ValueError(f"there is no job {named!r} that runs a model; there are: {', '.join(running)}")
    shares = [job.share for job in jobs if job.share is not None]
    if sum(map(exact, shares)) > 1:
        shown = " + ".join(f"{100 * share:g} %" for share in shares)
        raise ValueError(f"shares are over 100 %: {shown} = {float(100 * sum(map(exact, shares))):g} %")
    if sum(job.model is not None and job.gpus is job.share is None for job in jobs) > 1:
        raise ValueError("only one job can leave out `gpus` and `share`, and take what the others leave")
    return jobs


def first_trained(jobs: tuple[Job, ...]) -> Job:
    """The first job that runs a model and does not serve it."""
    return next(job for job in jobs if job.model is not None and not job.serves)
