"""A studio that is served for tests, and a browser's manners without a browser."""

from __future__ import annotations

import http.client
import json
import queue
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fabopt.cli.studio import case_of_answers, questions
from fabopt.studio.server import Studio

SECONDS = 30


@dataclass
class Answered:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Served:
    """``host``: with its port; ``key``: of the address; ``cookie`` and ``token`` once they are known."""

    folder: Path
    host: str
    key: str
    cookie: str = ""
    token: str = ""
    runs: int = field(default=0)

    def raw(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answered:
        connection = http.client.HTTPConnection(self.host, timeout=SECONDS)
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body, named)
            answer = connection.getresponse()
            return Answered(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def get(self, path: str) -> Answered:
        return self.raw("GET", path, Cookie=self.cookie)

    def change(self, method: str, path: str, /, **content: Any) -> Answered:
        headers = {"Cookie": self.cookie, "Content_Type": "application/json", "X_Fabopt_Token": self.token}
        return self.raw(method, path, json.dumps(content).encode(), **headers)

    def post(self, path: str, /, **content: Any) -> Answered:
        return self.change("POST", path, **content)

    def events(self, desk: str, /, until: str = "ended", run: int | None = None) -> Iterator[tuple[str, Any]]:
        """Events of a desk up to one of a kind."""
        connection = http.client.HTTPConnection(self.host, timeout=SECONDS)
        connection.request("GET", f"/api/events?desk={desk}", headers={"Cookie": self.cookie})
        answer = connection.getresponse()
        kind, end = "", time.monotonic() + SECONDS
        try:
            while time.monotonic() < end and (raw := answer.readline()):
                text = raw.decode().rstrip("\n")
                if text.startswith("event: "):
                    kind = text.removeprefix("event: ")
                elif text.startswith("data: "):
                    content = json.loads(text.removeprefix("data: "))
                    yield kind, content
                    if kind == until and run in (None, content["run"]):
                        return
            raise AssertionError(f"{desk} had no {until} {run}")
        finally:
            connection.close()

    def solved(self, desk: str, text: str, **more: Any) -> dict[str, Any]:
        """The last event of each kind of a solve."""
        run = self.post("/api/solve", desk=desk, text=text, path="case.yaml", **more).json["run"]
        return {kind: content for kind, content in self.events(desk, run=run) if content["run"] == run}


def serve(folder: Path, port: int = 0) -> tuple[Served, Callable[[], None]]:
    """A studio of a folder, at a free port unless one is given, and what ends it."""
    addresses: queue.Queue[str] = queue.Queue()
    studio = Studio(folder, case_of_answers, questions(), port=port)
    thread = threading.Thread(target=studio.serve, args=(addresses.put,), daemon=True)
    thread.start()
    address = urlsplit(addresses.get(timeout=SECONDS))
    served = Served(folder, address.netloc, address.query.removeprefix("token="))
    let_in = served.raw("GET", f"/?token={served.key}")
    served.cookie = let_in.headers["set-cookie"].partition(";")[0]
    served.token = served.get("/api/start").json["token"]

    def end() -> None:
        studio.stop()
        thread.join(SECONDS)
        assert not thread.is_alive()

    return served, end


def wait_until(is_so: Callable[[], bool]) -> None:
    """Wait a while for something to become true."""
    end = time.monotonic() + SECONDS
    while not is_so():
        assert time.monotonic() < end, "it did not become so"
        time.sleep(0.02)
