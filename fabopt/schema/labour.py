"""What the crew that builds the cluster costs: the minutes of each task by kind of part, the wage, the visits."""

from fractions import Fraction
from typing import Annotated, Final, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from fabopt.schema.base import Money, Strict
from fabopt.units import CENTS_PER_USD, exact, rounded

# Kinds that are worked on: those of parts, and a cable that a later stage moves to another port.
WorkKind = Literal["switch", "nic", "transceiver", "cable", "fibre", "server", "moved", "jumper", "trunk", "panel"]
MOVED: Final = "moved"
JUMPER: Final = "jumper"
Minutes = Annotated[float, Field(ge=0, le=10_000)]
Mounted = Minutes | Annotated[dict[Literal["switch", "nic", "server", "panel"], Minutes], Field(min_length=1)]
LaidKind = Literal["cable", "fibre", "moved", "jumper", "trunk"]
Laid = Minutes | Annotated[dict[LaidKind, Minutes], Field(min_length=1)]
Labelled = Minutes | Annotated[dict[WorkKind, Minutes], Field(min_length=1)]
CleanedKind = Literal["transceiver", "fibre", "moved", "jumper", "trunk"]
Cleaned = Minutes | Annotated[dict[CleanedKind, Minutes], Field(min_length=1)]
PluggedKind = Literal["transceiver", "cable", "fibre", "moved", "jumper", "trunk"]
Plugged = Minutes | Annotated[dict[PluggedKind, Minutes], Field(min_length=1)]
# The kinds that a plain number of a task is for.
KINDS_OF_TASK: Final[dict[str, tuple[WorkKind, ...]]] = {
    "rack": ("switch", "server", "panel"),
    "pull": ("cable", "fibre", "moved", "trunk"),
    "dress": ("cable", "fibre", "jumper", "trunk"),
    "label": ("cable", "fibre", "moved", "jumper", "trunk"),
    "clean": ("fibre", "jumper", "trunk"),
    "inspect": ("fibre", "jumper", "trunk"),
    "test": ("cable", "fibre", "moved", "trunk"),
    "plug": ("transceiver", "cable", "fibre", "moved", "jumper", "trunk"),
}
# Whose minutes a task takes that are given by kind and not for this one; a jumper is not pulled, nor tested by itself.
INSTEAD: Final[dict[str, str]] = {"jumper": "fibre", "trunk": "fibre", "panel": "switch"}
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
        rack: To mount a device, or to put a card into its slot. A number is for switches, servers and panels.
        pull: To pull a cable. A number is for cables, fibres, trunks and moved cables; not for jumpers.
        dress: To dress a cable into managers and trays. A number is for cables, fibres, jumpers and trunks.
        label: To label one end of a cable, or a device. A number is for ends of cables, fibres, jumpers, legs of trunks
            and moved cables.
        clean: To clean one connector, or the face of a module. A number is for ends of fibres, jumpers and legs.
        inspect: To inspect one connector, or the face of a module. A number is for ends of fibres, jumpers and legs.
        test: To test a cable. A number is for cables, fibres, each leg of a trunk and moved cables.
        plug: To plug one end of a cable, or a module. A number is for modules and ends of cables, fibres, jumpers, legs
            and moved cables.
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
            TaskOfKind(task, minutes, times_of(task, kind, ends))
            for task in self.known
            if (minutes := self._of(task, kind))
        )

    def _of(self, task: str, kind: str) -> Fraction:
        given: float | dict[str, float] = getattr(self, task)
        if isinstance(given, dict):
            instead = INSTEAD.get(kind, "") if kind in KINDS_OF_TASK[task] else ""
            return exact(given.get(kind, given.get(instead, 0)))
        return exact(given) if kind in KINDS_OF_TASK[task] else Fraction(0)


def times_of(task: str, kind: str, ends: int) -> int:
    """How often a unit with so many ends has a task: once at each end, a trunk's test once for each leg, else once."""
    if task == "test" and kind == "trunk":
        return ends // 2
    return ends if task in AT_ENDS else 1


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
