"""From a change of the demo to its answer in the studio, against `solve --alternatives 0` less its imports."""

from __future__ import annotations

import re
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.studio.served import serve


def change_to_answer_s(text: str, other: str, times: int) -> list[float]:
    """Seconds from each change of a desk's case to its answer; in between the desk has another case.

    Each time the case has another name, as the studio remembers answers.
    """
    with tempfile.TemporaryDirectory() as folder:
        served, end = serve(Path(folder))
        try:
            seconds = []
            for number in range(times + 1):
                served.solved("bench", other)
                own = re.sub("(?m)^name: ", f"name: {number}-", text)
                began = time.perf_counter()
                run = served.post("/api/solve", desk="bench", text=own, path=None).json["run"]
                for kind, content in served.events("bench", until="answer", run=run):
                    if kind == "answer" and content["run"] == run:
                        seconds.append(time.perf_counter() - began)
            return seconds[1:]
        finally:
            end()


def address_s(command: Sequence[str]) -> float:
    """Seconds from a command to the address that it prints."""
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        process.stdout.readline()
        seconds = time.perf_counter() - began
        process.terminate()
    return seconds
