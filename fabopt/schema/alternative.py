"""What else there is: rows of a design file about cases that differ in some keys."""

from typing import Annotated, Any, Literal

from pydantic import Field

from fabopt.schema.base import Strict, is_empty, is_open
from fabopt.schema.left_out import RuleLeftOut

Number = int | float


class JobStep(Strict):
    """A step of one of several jobs.

    Attributes:
        step_s: Predicted step, in seconds.
        tokens_per_s: Tokens a second.
        gpu_utilization: Share of its GPUs' peak that is reached.
    """

    step_s: Number
    tokens_per_s: Number
    gpu_utilization: Number


class Alternative(Strict):
    """The best design of the case with other values of some keys.

    Attributes:
        what: What is another, in words.
        value: The other value, in words.
        summary: The design in one line.
        in_names: What is other in its fabrics, with names of products in place of ids.
        change: Keys with their other values, dotted, entries of lists by name; solving the case with them gives these
            figures.
        finished: Whether the case was solved to its end; if not, there are no figures.
        status: Status of that answer.
        objective: Its objective.
        objective_delta: Its objective less that of the answer.
        capex_usd: Its purchase price, in US dollars.
        capex_delta_usd: Its purchase price less that of the answer, in US dollars.
        power_w: Its power, in watts.
        power_delta_w: Its power less that of the answer, in watts.
        step_s: Predicted step of the case's model, in seconds; absent where there are several jobs.
        tokens_per_s: Tokens a second of the model, written where it is served; absent where there are several jobs.
        gpu_utilization: Share of the GPUs' peak that the model reaches; of several jobs that of all GPUs.
        jobs: What each of several jobs does, by name.
        ttft_s: Time to the first token of a served model, in seconds.
        tpot_s: Time of each further token, in seconds.
        usd_per_effective_gpu: Servers and network over GPUs that work, in US dollars.
        rules_left_out: Default rules that it does not keep.
    """

    what: str
    value: str
    summary: str
    in_names: Annotated[str, Field(exclude_if=is_empty)] = ""
    change: dict[str, Any] = {}
    finished: Annotated[bool, Field(exclude_if=bool)] = True
    status: Literal["optimal", "feasible"] | None = None
    objective: Number | None = None
    objective_delta: Number | None = None
    capex_usd: Number | None = None
    capex_delta_usd: Number | None = None
    power_w: Number | None = None
    power_delta_w: Number | None = None
    step_s: Annotated[Number | None, Field(exclude_if=is_open)] = None
    tokens_per_s: Annotated[Number | None, Field(exclude_if=is_open)] = None
    gpu_utilization: Annotated[Number | None, Field(exclude_if=is_open)] = None
    ttft_s: Annotated[Number | None, Field(exclude_if=is_open)] = None
    tpot_s: Annotated[Number | None, Field(exclude_if=is_open)] = None
    jobs: Annotated[dict[str, JobStep], Field(exclude_if=is_empty)] = {}
    usd_per_effective_gpu: Annotated[Number | None, Field(exclude_if=is_open)] = None
    rules_left_out: Annotated[tuple[RuleLeftOut, ...], Field(exclude_if=is_empty)] = ()
