"""What the crew that builds the cluster costs: the minutes of each task by kind of part, the wage, the visits."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Final, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from fabopt.schema.base import Money, Strict
from fabopt.units import CENTS_PER_USD, exact, rounded

# Kinds that are worked on: those of parts, and a cable that a later stage moves to another port.
WorkKind = Literal["switch", "nic", "transceiver", "cable", "fibre", "server", "moved"]
MOVED: Final = "moved"
Minutes = Annotated[float, Field(ge=0, le=10_000)]
Mounted = Minutes | Annotated[dict[Literal["switch", "nic", "server"], Minutes], Field(min_length=1)]
Laid = Minutes | Annotated[dict[Literal["cable", "fibre", "moved"], Minutes], Field(min_length=1)]
Labelled = Minutes | Annotated[dict[WorkKind, Minutes], Field(min_length=1)]
Cleaned = Minutes | Annotated[dict[Literal["transceiver", "fibre", "moved"], Minutes], Field(min_length=1)]
Plugged = Minutes | Annotated[dict[Literal["transceiver", "cable", "fibre", "moved"], Minutes], Field(min_length=1)]
# The kinds that a plain number of a task is for.
KINDS_OF_TASK: Final[dict[str, tuple[WorkKind, ...]]] = {
    "rack": ("switch", "server"),
    "pull": ("cable", "fibre", "moved"),
    "dress": ("cable", "fibre"),
    "label": ("cable", "fibre", "moved"),
    "clean": ("fibre",),
    "inspect": ("fibre",),
    "test": ("cable", "fibre", "moved"),
    "plug": ("transceiver", "cable", "fibre", "moved"),
}
# Tasks that each end of a cable or fibre has.
AT_ENDS: Final = ("label", "clean", "inspect", "plug")
# Names of the lines of the bill: of a kind, and of visits.
LABOUR: Final = "labour-"
VISIT: Final = "labour-visit"
VISIT_WORDS: Final = "labour: visits of the crew"
MINUTES_PER_HOUR: Final = 60


class TaskOfKind(NamedTuple):
    """A task on one kind: the minutes of each time, and how often a unit needs it."""

    task: str
    minutes: Fraction
    times: int


class TaskMinutes(Strict):
    """Minutes of one person for a task, once for each unit or end: a number, or one for each kind that has the task.

    Attributes:
        rack: To mount a device, or to put a card into its slot. A number is for switches and servers.
        pull: To pull a cable. A number is for cables, fibres and moved cables.
        dress: To dress a cable into managers and trays. A number is for cables and fibres.
        label: To label one end of a cable, or a device. A number is for ends of cables, fibres and moved cables.
        clean: To clean one connector, or the face of a module. A number is for ends of fibres.
        inspect: To inspect one connector, or the face of a module. A number is for ends of fibres.
        test: To test a cable. A number is for cables, fibres and moved cables.
        plug: To plug one end of a cable, or a module. A number is for modules and ends of cables, fibres and moved
            cables.
    """

    rack: Mounted | None = None
    pull: Laid | None = None
    dress: Laid | None = None
    label: Labelled | None = None
    clean: Cleaned | None = None
    inspect: Cleaned | None = None
    test: Laid | None = None
    plug: Plugged | None = None

    @model_validator(mode="after")
    def _some_task(self) -> Self:
        if not self.known:
            raise ValueError(f"give the minutes of at least one task: {', '.join(KINDS_OF_TASK)}")
        return self

    @property
    def known(self) -> tuple[str, ...]:
        """The tasks whose minutes are given."""
        return tuple(task for task in KINDS_OF_TASK if getattr(self, task) is not None)

    def tasks_of(self, kind: str, ends: int = 1) -> tuple[TaskOfKind, ...]:
        """The tasks on a kind whose unit has so many ends."""
        return tuple(
            TaskOfKind(task, minutes, ends if task in AT_ENDS else 1)
            for task in self.known
            if (minutes := self._of(task, kind))
        )

    def _of(self, task: str, kind: str) -> Fraction:
        given: float | dict[str, float] = getattr(self, task)
        if isinstance(given, dict):
            return exact(given.get(kind, 0))
        return exact(given) if kind in KINDS_OF_TASK[task] else Fraction(0)


class Labour(Strict):
    """What installing costs, whoever bought the parts.

    Attributes:
        usd_per_hour: Cost of an hour of one person.
        minutes: Minutes of each task; a task without minutes is in no sum, which the answer says.
        visit_usd: Cost of each stage at which the crew comes.
    """

    usd_per_hour: Money
    minutes: TaskMinutes
    visit_usd: Money = 0

    def cents_of(self, tasks: tuple[TaskOfKind, ...]) -> int:
        """Cents of the tasks on one unit: all minutes at the wage, rounded once, to the cent."""
        minutes = sum((task.minutes * task.times for task in tasks), Fraction(0))
        return rounded(minutes * exact(self.usd_per_hour) * CENTS_PER_USD / MINUTES_PER_HOUR)


def work_words(tasks: tuple[TaskOfKind, ...], kind: str) -> str:
    """What a line of the bill says of the labour on a kind."""
    noun = "moved cables" if kind == MOVED else {"switch": "switches"}.get(kind, f"{kind}s")
    return f"labour on {noun}: {', '.join(task.task for task in tasks)}"
