"""The documented interface is the one that is answered; many, large, slow and hostile requests do not stop it."""

from __future__ import annotations

import os
import re
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from starlette.routing import Route

from fabopt.studio import guard, server
from tests.paths import ROOT
from tests.studio.served import Served
from tests.studio.test_studio import CASE

DOC = (ROOT / "docs" / "studio.md").read_text()
LARGE = (ROOT / "cases" / "b300-131072-gpus.yaml").read_text()


def documented() -> Iterator[tuple[str, str]]:
    """Methods and paths of the table of requests."""
    rows = re.findall(r"^\| (`(?:GET|POST|PUT|DELETE) .*?) \|", DOC, re.MULTILINE)
    for row in rows:
        method, last = "", ""
        for words in re.findall(r"`([^`]+)`", row):
            match = re.match(r"(?:(GET|POST|PUT|DELETE) )?(/[\w/.-]*)?", words)
            assert match is not None
            method = match[1] or method
            last = match[2] or f"{last.rpartition('/')[0]}/{words}"
            yield method, last


def test_documentation_lists_every_route() -> None:
    """Each request of the table is a route, and each route, with all that is told of an answer, is in the table."""
    routes = server._app(cast(Any, server._Routes(*[cast(Any, None)] * 5))).routes
    answers = [*server.SHOWN, *server.FILES, "drawing"]
    there = {
        (method, re.sub(r"{\w+}", "NAME", path.replace("{answer}", "ID").replace("{what}", what)))
        for route in routes
        if isinstance(route, Route)
        for method in (route.methods or set()) - {"HEAD"}
        for path in [route.path]
        for what in (answers if "{what}" in path else [""])
    }
    assert there == set(documented())


def test_documentation_lists_every_key_of_a_request() -> None:
    """What the server asks a body for is what the table says, in braces behind a request."""
    asked = {key for _, _, kinds in server.JOBS.values() for key in kinds}
    for call in re.findall(
        r"_given\(([^)]*)\)|kinds = ({[^}]*})|asked: Message = (.*)", Path(server.__file__).read_text()
    ):
        asked |= set(re.findall(r'"?(\w+)"?(?:=|: )(?:str|dict|list|object|_[A-Z]+)\b', " ".join(call)))
    told = {key.strip(" ?") for row in re.findall(r"`[^`{|]*{([^}`]*)}`", DOC) for key in row.split(",")}
    assert "value" in asked
    assert asked <= told


def test_a_body_that_stalls_is_refused(studio: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "PATIENCE_S", 0.2)
    with socket.create_connection(tuple(studio.host.split(":"))) as connection:
        head = (
            f"POST /api/read HTTP/1.1\r\nHost: {studio.host}\r\nCookie: {studio.cookie}\r\n"
            f"X-Fabopt-Token: {studio.token}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
        )
        connection.sendall(head.encode() + b'{"text": "')
        connection.settimeout(10)
        assert connection.recv(12) == b"HTTP/1.1 408"


def test_ten_megabytes_are_read(studio: Served) -> None:
    """A body of nearly the most that is taken is answered, in words, as are those that come beside it."""
    text = "name: x\n# " + "y" * (guard.MOST_BYTES - 1000)
    answered: list[int] = []
    large = threading.Thread(target=lambda: answered.append(studio.post("/api/read", text=text, path=None).status))
    large.start()
    assert studio.get("/page/studio.html").status == 200
    large.join()
    assert answered == [200]


HOSTILE = {
    "deep lists": "a: " + "[" * 20_000,
    "deep maps": "".join(f"{' ' * depth}a:\n" for depth in range(2_000)),
    "aliases": "a: &a [x]\n"
    + "".join(f"b{n}: &b{n} [{', '.join([f'*b{n - 1}' if n else '*a'] * 9)}]\n" for n in range(12)),
    "an alias of itself": "a: &a [*a]\n",
    "a key twice": "name: x\nname: y\n",
    "no number": "name: x\nservers: .nan\n",
    "no end": "name: x\nservers: .inf\n",
    "a large number": f"name: x\nservers: {'9' * 5000}\n",
    "a tag": "!!python/object/apply:os.system ['true']\n",
    "half a pair": 'name: "\\ud800"\n',
    "a zero": "name: x\0\n",
    "other lines": "name: x\u2028servers: 1\x85gpus: 2\n",
    "from right to left": "name: \u202etxt.exe\n",
    "two texts": "a: 1\n---\nb: 2\n",
    "numbers as keys": "1: 2\nnull: 3\ntrue: [4]\n",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_have_faults(studio: Served, text: str) -> None:
    """Each is refused in words at every place that takes a text; none is an internal error, and none takes long."""
    begun = time.monotonic()
    read = studio.post("/api/read", text=text, path=None)
    assert read.status == 200
    assert read.json["faults"]
    edited = studio.post("/api/edit", text=text, key="servers", value=3)
    assert edited.status in (200, 422)
    assert "internal" not in f"{read.body!r}{edited.body!r}"
    assert time.monotonic() - begun < 10


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"text": "x", "path": NaN}', 400),
        (b'{"text": "", "key": "servers", "value": NaN}', 400),
        (b'{"text": "", "key": "servers", "value": 1e999}', 400),
        (b'{"text": "", "key": "servers", "value": -Infinity}', 400),
        (b'{"text": "", "key": "servers", "value": ' + b"9" * 5000 + b"}", 400),
        (b'{"text": "", "key": "a", "value": ' + b"[" * 900 + b"]" * 900 + b"}", 422),
        (b'{"text": "", "key": "' + b"a." * 5000 + b'a", "value": 1}', 422),
        (b'{"text": "", "key": "[99999999999]", "value": 1}', 422),
        (b'{"text": "", "key": "", "value": 1}', 422),
        (b'{"text": "name: x", "key": "[0]", "value": 1}', 422),
        (b'{"text": "[]", "key": "name", "value": 1}', 422),
        (b'{"text": "x", "key": "name", "value": 1}', 422),
        (b'{"text": "{}", "key": "name", "value": 1}', 200),
        (b'{"text": "", "key": "name", "value": {"\\ud800": "\\udfff"}}', 400),
        (b'{"text": "", "key": "\\ud800", "value": 1}', 400),
        (b'{"text": "", "key": "servers", "value": ' + b"9" * 50 + b"}", 400),
        (b'{"text": "", "text": 3, "key": "a", "value": 1}', 400),
    ],
)
def test_hostile_values_are_refused(studio: Served, body: bytes, status: int) -> None:
    headers = {"Cookie": studio.cookie, "Content_Type": "application/json", "X_Fabopt_Token": studio.token}
    answer = studio.raw("POST", "/api/edit", body, **headers)
    assert (answer.status, b"internal" in answer.body) == (status, False), answer.body[:300]
    assert studio.post("/api/read", text=CASE, path=None).json["faults"] == []


def test_hostile_names_are_refused(studio: Served) -> None:
    """Names of answers, paths and prices that are too long, invisible or out of range are refused in words."""
    for answer in ("a" * 4000, "9" * 20_000, "0" * 20, "\u0660" * 20, "../x"):
        assert studio.post("/api/break", answer=answer, fabric=None, kind="leaf", name="0").status == 404
    for path in ("\n.yaml", "\u202e.yaml", "a\tb.yaml", "a" * 4000 + ".yaml"):
        assert studio.change("PUT", "/api/file", path=path, text="x").status in (422, 503)
    hidden = os.fsencode(studio.folder) + b"/\xff.yaml"
    Path(os.fsdecode(hidden)).write_bytes(b"x")
    try:
        assert "\ufffd.yaml" not in studio.get("/api/start").json["cases"]
    finally:
        os.unlink(hidden)
    for percent in (1e308, -100, 5000):
        assert studio.post("/api/solve", desk="x", text=CASE, prices={"switch": percent}).status == 400


@pytest.mark.long
def test_a_large_case_freezes_nothing(studio: Served) -> None:
    """While one desk solves for long, its progress comes, and reading and another desk's solve are answered."""
    run = studio.post("/api/solve", desk="large", text=LARGE, path=None).json["run"]
    told: list[tuple[float, str]] = []

    def listen() -> None:
        for kind, _ in studio.events("large", run=run):
            told.append((time.monotonic(), kind))

    listener = threading.Thread(target=listen)
    listener.start()
    begun = time.monotonic()
    for _ in range(20):
        assert studio.post("/api/read", text=CASE, path=None).json["faults"] == []
    assert time.monotonic() - begun < 10
    assert studio.solved("beside", CASE)["ended"]["code"] == 0
    beside = time.monotonic()
    assert any(moment < beside and kind == "progress" for moment, kind in told)
    assert studio.post("/api/cancel", desk="large").status == 200
    listener.join()
    assert told[-1][1] == "ended"
