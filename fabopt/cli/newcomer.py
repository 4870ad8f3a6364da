"""``fabopt new``: a case from six answers, given as options or asked for in a terminal, which then shows a design."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from fabopt.cli.library import write_case
from fabopt.cli.output import tell
from fabopt.cli.panels import HELP_WIDTH
from fabopt.cli.signals import ATTENDANT
from fabopt.cli.starter import Starter, starter_text
from fabopt.errors import EXIT_DONE, Fault, InputError, OutputError, did_you_mean, refusal
from fabopt.io.catalog import read_catalog
from fabopt.io.faults import refuse_any
from fabopt.io.library import STANDARD_STREAM, names
from fabopt.io.quantities import money_usd
from fabopt.io.recognition import ProductNames, hint_for, meant_id
from fabopt.io.references import MOST_NAMED
from fabopt.io.spellings import PROTOCOLS, loose
from fabopt.output.terminal.schema_keys import schema_file
from fabopt.schema.catalog import Catalog
from fabopt.schema.workload import PROFILES
from fabopt.units import free_name

T = TypeVar("T")
_INDENT = " " * 5
NONE = ("", "none", "no", "0")
# The questions by their options, in order, and where faults of their answers are in a case: a model asks for a number
# of GPUs.
ANSWERS = {
    "server": ("server",),
    "gpus": ("gpus", "stages", "workload.plan"),
    "workload": ("workload",),
    "protocol": ("fabrics",),
    "racks": ("site",),
    "budget": ("limits",),
}
_ONE_SIZE = r"([0-9][0-9,]{0,8})\s*(gpus?|servers?)?"
_NOW_AND_LATER = re.compile(
    rf"{_ONE_SIZE}(?:\s+now)?(?:(?:\s*,\s*|\s+)(?:then\s+|and\s+|later\s+)?(.+))?", re.IGNORECASE
)
_LATER = re.compile(
    rf"{_ONE_SIZE}(?:\s+later)?(?:\s*(?:,\s*)?(?:in|after|at|@)\s*(?:month\s*)?([0-9]{{1,3}})\s*(?:months?|m)?)?",
    re.IGNORECASE,
)
_RACKS = re.compile(r"([0-9]{1,3})\s*(?:rows?)?\s*(?:x|\*|of|by)\s*([0-9]{1,4})(?:\s*racks?)?", re.IGNORECASE)
_USUAL_SERVER = "nvidia-dgx-h100"


@dataclass(frozen=True)
class NewCaseAnswers:
    """What was given as options, as it was written; None: not."""

    server: str | None = None
    gpus: str | None = None
    later: str | None = None
    workload: str | None = None
    protocol: str | None = None
    racks: str | None = None
    budget: str | None = None

    @property
    def missing(self) -> list[str]:
        """Options without which there is no case."""
        needed = {"--server ID": self.server, "--gpus N": self.gpus, "--workload PROFILE": self.workload}
        return [option for option, answer in needed.items() if answer is None]


class GpusInTime(NamedTuple):
    """GPUs now, and later after so many months."""

    gpus: int
    later: int | None = None
    months: int = 12


def new_case(
    name: str | None, answers: NewCaseAnswers, output: str | None, catalogs: Sequence[str] | None, force: bool
) -> int:
    """Write a case; in a terminal, ask for what is missing, solve it and offer its page. Returns the exit code."""
    target = output or (None if name is None else f"{name}.yaml")
    if target not in (None, STANDARD_STREAM) and Path(target).exists() and not force:
        raise OutputError(f"{target}: there is such a file already; --force replaces it")
    asks = bool(answers.missing) and in_terminal() and target != STANDARD_STREAM
    if answers.missing and not asks:
        raise refusal("new", "", f"say {', '.join(answers.missing)}", hint="in a terminal, `fabopt new` asks for them")
    if name is None and not asks:
        raise refusal("NAME", "", "a case has a name", hint="as `fabopt new pod ...`")
    reading = Reading(
        read_catalog(list(catalogs or ("reference",)), Path(), "--catalog" if catalogs else "library", "")
    )
    questions = Questions(answers, asks)
    wanted, text = _case(questions, reading, catalogs or (), name, target)
    target = target or f"{wanted.name}.yaml"
    write_case(target, text, force, "" if asks else f"; now: fabopt solve {target}")
    return _show(target) if asks else EXIT_DONE


def _case(
    questions: Questions, reading: Reading, catalogs: Sequence[str], name: str | None, target: str | None
) -> tuple[Starter, str]:
    """What is wanted, and the text of its case; an answer that does not go with the others is asked for again."""
    if questions.asks:
        tell("Six questions; Enter takes what is in brackets, Ctrl-C ends.")
    while True:
        wanted = starter_of(questions, reading, catalogs)
        folder = Path() if target in (None, STANDARD_STREAM) else Path(str(target)).parent
        wanted = replace(wanted, name=name or pod_name(wanted.gpus), folder=folder)
        try:
            return wanted, starter_text(wanted)
        except InputError as error:
            if not questions.asks:
                raise
            questions.forget_one(error)


def in_terminal() -> bool:
    """Whether somebody can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


@dataclass
class Questions:
    """Answers given, or asked for if ``asks``, and kept."""

    given: NewCaseAnswers
    asks: bool
    number: int = 0
    faults: list[Fault] = field(default_factory=list)

    def of(self, option: str, question: str, usual: str, read: Callable[[str], T]) -> T:
        """The answer to a question: that of the option, else what is answered in a terminal, else the usual one.

        Where an option is wrong, its faults are kept, and the usual answer is taken.
        """
        self.number += 1
        given = getattr(self.given, option)
        if given is not None or not self.asks:
            return self.read(usual if given is None else given, usual, read)
        text, answer = _until_right(f"{self.number}/{len(ANSWERS)}  {question}", usual, read)
        self.given = replace(self.given, **{option: text})
        return answer

    def forget_one(self, error: InputError) -> None:
        """Tell what is wrong with the answers together, and forget the one that is to change."""
        _tell_faults(error)
        usual = list(ANSWERS).index(question_of(error.faults[0]) or "gpus") + 1
        _, option = _until_right("Which answer is to change?", str(usual), _option_of)
        later = None if option == "gpus" else self.given.later
        self.given, self.number = replace(self.given, later=later, **{option: None}), 0

    def read(self, text: str, usual: str, read: Callable[[str], T]) -> T:
        """What an option says; the usual where it is wrong."""
        try:
            return read(text)
        except InputError as error:
            self.faults += error.faults
            return read(usual)


def question_of(wrong: Fault) -> str | None:
    """The option of the question that a fault is of, of its own answer or of the case made of all; None: of none."""
    option = "gpus" if wrong.file == "--later" else wrong.file.removeprefix("--")
    places = (known for known, keys in ANSWERS.items() if wrong.path.startswith(keys))
    return option if option in ANSWERS else next(places, None)


def _option_of(number: str) -> str:
    """The option of a question by its number."""
    options = dict(zip(map(str, range(1, len(ANSWERS) + 1)), ANSWERS, strict=True))
    if number not in options:
        raise _wrong("answer", "there is no such answer", number, f"1 to {len(ANSWERS)}")
    return options[number]


def _until_right(question: str, usual: str, read: Callable[[str], T]) -> tuple[str, T]:
    """What is answered to a question, as it was written and as it is read; asked again as long as it is wrong."""
    while True:
        text = answered(f"{question} [{usual}]") or usual
        try:
            return text, read(text)
        except InputError as error:
            _tell_faults(error)


def _tell_faults(error: InputError) -> None:
    tell(_wrapped(" ".join(str(wrong).partition(": ")[2] for wrong in error.faults)))


def _wrapped(text: str, first: str = _INDENT) -> str:
    """Text in lines of the terminal, those after the first one indented."""
    width = min(shutil.get_terminal_size().columns, HELP_WIDTH) - 1
    return textwrap.fill(text, width, initial_indent=first, subsequent_indent=_INDENT, break_long_words=False)


def answered(question: str) -> str:
    """What is answered on standard input to a question on standard error; ``InputError`` where nobody is there."""
    print(_wrapped(question, ""), end=" ", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    if not line:
        tell("")
        raise refusal("<standard input>", "", "it ended before all was answered", hint="nothing is written")
    return line.strip()


def starter_of(asked: Questions, reading: Reading, catalogs: Sequence[str]) -> Starter:
    """The starter case of the answers, which has no name yet; ``InputError`` with all faults of options."""
    server = asked.of("server", "Which server? Its name or id; ? lists them", reading.usual_server, reading.server)
    sizes = "How many GPUs now, and later? As 256, 32 servers, or 256 then 1024 in 18 months"
    size = asked.of("gpus", sizes, str(32 * reading.gpus_of(server)), lambda text: reading.size(text, server))
    if asked.given.later is not None:
        gpus = size.gpus
        size = asked.read(asked.given.later, str(gpus), lambda text: reading.later(text, gpus, server))
    profiles = f"What does it train or serve? {', '.join(PROFILES)}; or an AI model, as llama3-70b"
    workload = asked.of("workload", profiles, "pretraining", reading.workload)
    protocol = asked.of("protocol", "Which protocol? ethernet (RoCE), infiniband or any", "any", reading.protocol)
    racks = asked.of(
        "racks", "Rows of racks in the hall, and racks in a row? As 2 x 16, or none", "none", reading.racks
    )
    budget = asked.of("budget", "What may be spent on the network? As 5M, or none", "none", reading.budget)
    refuse_any(asked.faults)
    return Starter(
        "", size.gpus, server, workload, catalogs, Path(), schema_file("case"), size.later, size.months, protocol,
        racks, budget,
    )  # fmt: skip


@dataclass(frozen=True)
class Reading:
    """NewCaseAnswers read; ``InputError`` with what is allowed, or meant."""

    catalog: Catalog

    @property
    def servers(self) -> list[str]:
        """Ids of the servers that have GPUs."""
        return [server.id for server in self.catalog.servers if server.gpus]

    @property
    def usual_server(self) -> str:
        """The server that is meant where none is named."""
        ids = self.servers
        if not ids:
            raise refusal("--catalog", "", "the catalog has no server with GPUs")
        return _USUAL_SERVER if _USUAL_SERVER in ids else ids[0]

    def server(self, text: str) -> str:
        """The id of a server."""
        ids = self.servers
        id_ = meant_id(text, self.catalog)
        if id_ in ids:
            return id_
        hint = hint_for(text, ids, ProductNames(self.catalog), ("servers",), MOST_NAMED)
        raise _wrong(
            "--server", "the catalog has no such server with GPUs", text, ", ".join(ids) if text == "?" else "", hint
        )

    def gpus_of(self, id_: str) -> int:
        """GPUs of a server."""
        return next(server.gpus for server in self.catalog.servers if server.id == id_)

    def size(self, text: str, server: str) -> GpusInTime:
        """GPUs now, and later."""
        match = _NOW_AND_LATER.fullmatch(text.strip())
        if match is None:
            raise _wrong("--gpus", "this is no number", text, "as 256, 32 servers, or 256 then 1024 in 18 months")
        gpus = self._gpus("--gpus", match[1], match[2], server)
        return GpusInTime(gpus) if match[3] is None else self.later(match[3], gpus, server)

    def later(self, text: str, gpus: int, server: str) -> GpusInTime:
        """GPUs now, and those of a text later."""
        match = _LATER.fullmatch(text.strip())
        if match is None:
            raise _wrong("--later", "this is no number", text, "as 1024, 128 servers, or 1024 in 18 months")
        later, months = self._gpus("--later", match[1], match[2], server), int(match[3] or GpusInTime(0).months)
        if later < gpus:
            raise _wrong("--later", "servers never fall", later, f"{gpus} GPUs or more")
        if months == 0:
            raise _wrong("--later", "the first stage is month 0", text, "a month from 1")
        return GpusInTime(gpus, later, months) if later > gpus else GpusInTime(gpus)

    def _gpus(self, option: str, number: str, unit: str | None, server: str) -> int:
        count, gpus_each = int(number.replace(",", "")), self.gpus_of(server)
        gpus = count * gpus_each if (unit or "").lower().startswith("server") else count
        if gpus < gpus_each or gpus % gpus_each:
            near = max(gpus_each, round(gpus / gpus_each) * gpus_each)
            raise _wrong(
                option, "no number of whole servers", gpus, f"a multiple of the {gpus_each} GPUs of {server}, as {near}"
            )
        return gpus

    def workload(self, text: str) -> str:
        """A profile, or the name of an AI model."""
        words = [*PROFILES, *names("models")]
        word = next((known for known in words if loose(known) == loose(text)), None)
        if word is None:
            allowed = f"{', '.join(PROFILES)}, or an AI model: {', '.join(names('models'))}"
            raise _wrong("--workload", "no such profile or model", text, allowed, did_you_mean(text, words))
        return word

    def protocol(self, text: str) -> str:
        """The protocol, in the words of a case."""
        words = ("any", "ethernet", "infiniband")
        word = PROTOCOLS.get(loose(text), loose(text))
        if word not in words:
            raise _wrong("--protocol", "no such protocol", text, ", ".join(words), did_you_mean(text, words))
        return word

    def racks(self, text: str) -> tuple[int, int] | None:
        """Rows, and racks in a row; None for no floor."""
        match = _RACKS.fullmatch(text.strip())
        if text.strip().lower() in NONE:
            return None
        if match is None or not int(match[1]) * int(match[2]):
            raise _wrong("--racks", "these are no rows and racks", text, "as 2x16, or none")
        return int(match[1]), int(match[2])

    def budget(self, text: str) -> int | float | None:
        """Dollars; None for no limit."""
        if text.strip().lower() in NONE:
            return None
        usd = money_usd(text)
        if usd is None or usd <= 0:
            raise _wrong("--budget", "this is no amount of dollars", text, "as 5000000, 5M or none")
        return int(usd) if usd.denominator == 1 else float(usd)


def _wrong(option: str, problem: str, value: Any, allowed: str = "", hint: str = "") -> InputError:
    return refusal(option, "", problem, value, allowed=allowed, hint=hint)


def pod_name(gpus: int, folder: Path = Path()) -> str:
    """A name of which there is no file yet in a folder."""
    return free_name(f"pod-{gpus}", lambda name: (folder / f"{name}.yaml").exists())


def _show(target: str) -> int:
    """Solve a case that was just written, and offer the page of its design."""
    from fabopt.cli.report import write_report
    from fabopt.cli.solving import SolveRequest, solve_case

    # from here on a signal stops the search, as it does in `solve`
    ATTENDANT.begin(True)
    ATTENDANT.started = time.monotonic()
    stem = str(Path(target).with_suffix(""))
    design, page = f"{stem}-design.json", f"{stem}.html"
    code = solve_case(SolveRequest(target), design, None)
    if code == EXIT_DONE and answered(f"A page about it, {page}? [yes]").lower() in ("", "y", "yes"):
        write_report(design, page, None, False)
        tell(f"wrote {page}")
    return code
