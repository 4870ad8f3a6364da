"""The command that serves the studio: a page on this machine alone."""

from __future__ import annotations

import importlib.util
import os
import threading
import webbrowser
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from fabopt.cli.newcomer import ANSWERS, NewCaseAnswers, Questions, Reading, T, pod_name, question_of, starter_of
from fabopt.cli.output import say, tell
from fabopt.cli.signals import ATTENDANT
from fabopt.cli.starter import starter_text
from fabopt.errors import EXIT_DONE, InputError, OutputError, refusal
from fabopt.io.catalog import read_catalog
from fabopt.io.library import find_case, names, read_bytes
from fabopt.schema.workload import PROFILES

NEEDED = ("starlette", "uvicorn")
MOST_PORT = 65_535
PROTOCOLS = ("any", "ethernet", "infiniband")


def run_studio(start: str | None, port: int, opens_browser: bool) -> int:
    """Serve the studio until a signal ends it."""
    if any(importlib.util.find_spec(name) is None for name in NEEDED):
        raise refusal(
            "studio", "", "Starlette and Uvicorn are not installed", hint="install it: pip install 'fabopt[studio]'"
        )
    if not 0 <= port <= MOST_PORT:
        raise refusal("--port", "", "not a port", port, allowed=f"1 to {MOST_PORT}; 0 takes a free one")
    from fabopt.studio.server import Opened, Studio

    folder, opened = _begin(start)
    studio = Studio(folder, case_of_answers, questions(), None if opened is None else Opened(*opened), port)
    ATTENDANT.attend(studio)

    def ready(address: str) -> None:
        say(address)
        tell(f"the studio of {folder} is open; Ctrl-C ends it")
        if opens_browser:
            # of some browsers it returns once they are closed
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    try:
        studio.serve(ready)
    except OSError as error:
        raise OutputError(f"--port {port}: the studio cannot listen there: {error.strerror or error}") from None
    return EXIT_DONE


@dataclass
class _Listed(Questions):
    """Questions that are listed, with their usual answers."""

    listed: list[dict[str, object]] = field(default_factory=list)

    def of(self, option: str, question: str, usual: str, read: Callable[[str], T]) -> T:
        """The usual answer."""
        self.listed.append({"key": option, "words": question, "default": usual})
        return read(usual)


def _reading() -> Reading:
    return Reading(read_catalog(["reference"], Path(), "library", ""))


def questions() -> list[dict[str, object]]:
    """The questions by the options that answer them, each with its usual answer, and its choices where they are few."""
    reading, asked = _reading(), _Listed(NewCaseAnswers(), False)
    starter_of(asked, reading, ())
    choices = {"server": reading.servers, "workload": [*PROFILES, *names("models")], "protocol": list(PROTOCOLS)}
    return [{**question, "choices": choices.get(str(question["key"]))} for question in asked.listed]


def case_of_answers(answers: Mapping[str, str], folder: Path) -> str:
    """The text of a case for a folder, of answers by their options; those left out are the usual ones.

    ``InputError`` with all faults, each at the option of its question.
    """
    known = {key: answers[key] for key in ANSWERS if key in answers}
    try:
        wanted = starter_of(Questions(NewCaseAnswers(**known), False), _reading(), ())
        # the folder may be sent on, so that no path of this machine is written
        return starter_text(replace(wanted, name=pod_name(wanted.gpus, folder), folder=folder, schema=None))
    except InputError as error:
        faults = [replace(wrong, file="answers", path=question_of(wrong) or "") for wrong in error.faults]
        raise InputError(faults) from None


def _begin(start: str | None) -> tuple[Path, tuple[str, str] | None]:
    """The folder of the studio, and the case that is open at first: its file's name there, and its text."""
    if start is None or os.path.isdir(start):
        return Path(os.path.realpath(start or ".")), None
    path = find_case(start)
    text = read_bytes(path).decode("utf-8", "replace")
    # an example case is of the library: a copy of it is opened here
    folder = Path(os.path.realpath(path)).parent if os.path.exists(start) else Path(os.path.realpath("."))
    return folder, (path.name, text)
