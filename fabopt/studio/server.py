"""The server of the studio: routes, and how it begins and ends. It works with no case itself: workers do."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from fabopt.errors import EXIT_INFEASIBLE, EXIT_INPUT, FaboptError, InputError
from fabopt.io.library import read_bytes, write_whole
from fabopt.schema.version import VERSION
from fabopt.studio.desks import TRADES, Desks
from fabopt.studio.folder import CASES, below, folder_of_answers
from fabopt.studio.guard import MOST_CONNECTIONS, Connection, Guard, Secrets
from fabopt.studio.pool import READER, WRITER, Workers
from fabopt.studio.worker import Message, fault_rows

PAGE = Path(__file__).parent / "page"
LOOPBACK = "127.0.0.1"
# Seconds that open connections have to end once the server is to.
LAST_S = 1
STATUS = {EXIT_INPUT: 422, EXIT_INFEASIBLE: 409}
LONGEST_NAME = 64
# Digits of a number, and percent of a price.
LONGEST_NUMBER, MOST_PERCENT = 18, 1_000
# What is told of an answer as JSON, and what is a file of it: its type, and the name that it is saved under.
SHOWN = ("screen", "floor", "bill", "parts", "rules", "levers")
FILES = {
    "design": ("application/json", "design.json"),
    "page": ("text/html", "design.html"),
    "bill.csv": ("text/csv", "bill.csv"),
    "bill.xlsx": ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "bill.xlsx"),
    "pack.zip": ("application/zip", "hand-over.zip"),
}


@dataclass(frozen=True)
class Opened:
    """A case that is shown first: the name of its file in the folder, which need not be there, and its text."""

    path: str
    text: str


@dataclass
class Studio:
    """What a studio is started with.

    ``new_case``: answers of `fabopt new` to the text of a case; ``questions``: its questions, as the page asks them.
    """

    folder: Path
    new_case: Callable[[Mapping[str, str], Path], str]
    questions: list[Message]
    opened: Opened | None = None
    port: int = 0
    stopped: Callable[[], object] = lambda: None

    def stop(self) -> None:
        """End the server: open connections first, then the workers."""
        self.stopped()

    def serve(self, ready: Callable[[str], None]) -> None:
        """Answer until ``stop`` is called; ``ready`` takes the address once there is one."""
        with folder_of_answers() as answers:
            listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            with contextlib.closing(listener):
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                listener.bind((LOOPBACK, self.port))
                listener.listen()
                asyncio.run(self._serve(listener, answers, ready))

    async def _serve(self, listener: socket.socket, answers: Path, ready: Callable[[str], None]) -> None:
        loop = asyncio.get_running_loop()
        own = Secrets(secrets.token_urlsafe(24), secrets.token_urlsafe(24), listener.getsockname()[1])
        pool = Workers(self.folder, answers)
        desks = Desks(pool)
        app = Guard(_app(_Routes(self, own, pool, desks, answers)), own)
        server = _Server(
            uvicorn.Config(
                app,
                log_level="critical",
                access_log=False,
                lifespan="off",
                http=Connection,
                ws="none",
                backlog=MOST_CONNECTIONS,
                server_header=False,
                timeout_graceful_shutdown=LAST_S,
                timeout_keep_alive=30,
                proxy_headers=False,
            )
        )

        def stop() -> None:
            server.should_exit = True
            for desk in desks.all():
                desk.close()

        self.stopped = lambda: loop.call_soon_threadsafe(stop)
        try:
            await pool.begin()
            ready(f"http://{LOOPBACK}:{own.port}/?token={own.key}")
            await server.serve([listener])
        finally:
            await desks.close()


class _Server(uvicorn.Server):
    """Uvicorn without handlers of signals: the command line has its own."""

    @contextlib.contextmanager
    def capture_signals(self) -> Any:
        """Leave signals to the command line."""
        yield


@dataclass
class _Routes:
    """The answers to requests."""

    studio: Studio
    own: Secrets
    pool: Workers
    desks: Desks
    answers: Path

    # -- cases --------------------------------------------------------------------------------------------------------

    async def page(self, request: Request) -> Response:
        return FileResponse(PAGE / "studio.html")

    async def start(self, request: Request) -> Response:
        there = await self._done(READER, "read.start", {})
        opened = self.studio.opened
        return JSONResponse(
            {
                "token": self.own.token,
                "version": VERSION,
                "folder": os.fsencode(self.studio.folder).decode("utf-8", "replace"),
                "opened": None if opened is None else {"path": opened.path, "text": opened.text},
                "questions": self.studio.questions,
                **there,
            }
        )

    async def file(self, request: Request) -> Response:
        if request.method == "PUT":
            given = await _given(request, path=str, text=str)
            path = below(self.studio.folder, given["path"], CASES)
            await asyncio.to_thread(write_whole, path, given["text"].encode("utf-8", "replace"))
            return JSONResponse({})
        path = below(self.studio.folder, request.query_params.get("path", ""), CASES)
        return JSONResponse({"text": (await asyncio.to_thread(read_bytes, path)).decode("utf-8", "replace")})

    async def new(self, request: Request) -> Response:
        answers = (await _given(request, answers=dict))["answers"]
        words = {str(key): str(value) for key, value in answers.items() if value not in (None, "")}
        return JSONResponse({"text": await asyncio.to_thread(self.studio.new_case, words, self.studio.folder)})

    # -- desks --------------------------------------------------------------------------------------------------------

    async def solve(self, request: Request) -> Response:
        given = await _given(request, desk=str, text=str, path=_PATH, prices=_PRICES)
        return JSONResponse({"run": self.desks.begin(_name(given.pop("desk")), "ask.solve", given)})

    async def cancel(self, request: Request) -> Response:
        given = await _given(request, desk=str)
        await self.desks.cancel(_name(given["desk"]))
        return JSONResponse({})

    async def events(self, request: Request) -> Response:
        desk = self.desks.of(_name(request.query_params.get("desk", "")))
        return StreamingResponse(desk.events(), media_type="text/event-stream")

    async def trade(self, request: Request) -> Response:
        """Begin a front or a sweep, or stop it."""
        what = request.url.path.removeprefix("/api/")
        if what == "front/stop":
            await self.desks.cancel(_name((await _given(request, desk=str))["desk"]), TRADES)
            return JSONResponse({})
        asked: Message = {"metric": str} if what == "front" else {"over": str, "values": list}
        given = await _given(request, desk=str, text=str, path=_PATH, prices=_PRICES, **asked)
        return JSONResponse({"run": self.desks.begin(_name(given.pop("desk")), f"trade.{what}", given, TRADES)})

    # -- answers ------------------------------------------------------------------------------------------------------

    async def answer(self, request: Request) -> Response:
        answer, what = request.path_params["answer"], request.path_params["what"]
        if what in FILES:
            kind, name = FILES[what]
            there = await self._done(WRITER, "show.file", {"answer": answer, "what": what})
            return FileResponse(there["path"], media_type=kind, filename=name)
        if what == "drawing":
            content = {"answer": answer, "fabric": request.query_params.get("fabric")}
            shown = await self._done(READER, "show.drawing", content)
            return Response(shown["svg"], media_type="image/svg+xml")
        if what not in SHOWN:
            raise HTTPException(404, "an answer has no such part")
        return await self._result(READER, f"show.{what}", {"answer": answer})

    # -- pins ---------------------------------------------------------------------------------------------------------

    async def pins(self, request: Request) -> Response:
        return await self._result(READER, "keep.pins", {})

    async def pin(self, request: Request) -> Response:
        name = request.path_params["name"]
        if request.method == "DELETE":
            return await self._result(READER, "keep.unpin", {"name": name})
        given = await _given(request, answer=str, text=str)
        return await self._result(READER, "keep.pin", {"name": name, **given})

    # -- work ---------------------------------------------------------------------------------------------------------

    async def job(self, request: Request) -> Response:
        """Do the job of an address; what is asked at a desk in place of the last such job of that desk."""
        purpose, job, kinds = JOBS[request.url.path]
        given = await _given(request, **kinds)
        if purpose == BESIDE:
            purpose = f"{_name(given.pop('desk'))}{BESIDE}"
            await self.pool.of(purpose).stop()
        return await self._result(purpose, job, given)

    async def _done(self, purpose: str, job: str, content: Message) -> Message:
        """Return the result of a job; ``HTTPException`` with its words and faults otherwise."""
        outcome = await self.pool.of(purpose).run(job, content)
        if "result" in outcome:
            result: Message = outcome["result"]
            return result
        raise _JobError(outcome)

    async def _result(self, purpose: str, job: str, content: Message) -> Response:
        return JSONResponse(await self._done(purpose, job, content))


class _JobError(Exception):
    """A job ended without a result: its faults or words, and an exit code."""

    def __init__(self, outcome: Message) -> None:
        super().__init__(outcome)
        self.outcome = outcome


_PATH = (str, type(None))
_PRICES = (dict, type(None))
_NUMBER = (int, float, type(None))


# What is asked of workers in one go: the worker, its job, and the keys of the body, each of its kind.
BESIDE = ".beside"
Kinds = Mapping[str, type | tuple[type, ...]]
_DESK: Kinds = {"desk": str, "text": str, "path": _PATH, "prices": _PRICES}
JOBS: Mapping[str, tuple[str, str, Kinds]] = {
    "/api/read": (READER, "read.read", {"text": str, "path": _PATH}),
    "/api/edit": (READER, "read.edit", {"text": str, "key": str, "value": object}),
    "/api/slider": (BESIDE, "slide.slider", {**_DESK, "key": str, "low": _NUMBER, "high": _NUMBER}),
    "/api/why-not": (BESIDE, "ask.why_not", {**_DESK, "part": str}),
    "/api/break": (READER, "break.lose", {"answer": str, "fabric": _PATH, "kind": str, "name": str}),
    "/api/compare": (READER, "keep.compare", {"one": str, "other": str}),
    "/api/save": (WRITER, "keep.save", {"answer": str, "path": str}),
}


async def _given(request: Request, **kinds: Any) -> Message:
    """Return the keys of a body, each of its kind; ``HTTPException`` otherwise. What may be null may be left out."""
    try:
        content = json.loads(await request.body(), parse_constant=_finite, parse_float=_finite, parse_int=_whole)
        json.dumps(content, ensure_ascii=False).encode()  # half a character is none
    except (ValueError, RecursionError):
        raise HTTPException(400, "the body is not JSON") from None
    if not isinstance(content, dict):
        raise HTTPException(400, "the body is an object of JSON")
    for key, kind in kinds.items():
        value = content.get(key)
        if not isinstance(value, kind) or (kind is _NUMBER and isinstance(value, bool)):
            raise HTTPException(400, f"the body has `{key}`")
    given = {key: content.get(key) for key in kinds}
    for percent in (given.get("prices") or {}).values():
        if type(percent) not in (int, float) or not -100 < percent <= MOST_PERCENT:
            raise HTTPException(400, f"prices are percent by kind, above -100 and up to {MOST_PERCENT:,}")
    return given


def _finite(text: str) -> float:
    """Return a number; ``ValueError`` for one that JSON has not, or that is too large."""
    number = float(text)
    if not isfinite(number):
        raise ValueError(text)
    return number


def _whole(text: str) -> int:
    """Return a whole number; ``ValueError`` for one that is beyond all that is counted."""
    if len(text) > LONGEST_NUMBER:
        raise ValueError(text)
    return int(text)


def _name(text: str) -> str:
    """Return the name of a desk; ``HTTPException`` for one that is none."""
    if not (0 < len(text) <= LONGEST_NAME and text.isascii() and text.replace("-", "").isalnum()) or text == READER:
        raise HTTPException(400, "a desk has a name of letters and digits")
    return text


async def _refused(request: Request, error: Exception) -> Response:
    """Answer a request that could not be done: words, and the faults of what was given."""
    if isinstance(error, _JobError):
        outcome = error.outcome
    elif isinstance(error, InputError):
        outcome = {"code": error.exit_code, "faults": fault_rows(error.faults)}
    elif isinstance(error, HTTPException):
        return JSONResponse({"words": error.detail}, error.status_code)
    else:
        outcome = {"code": getattr(error, "exit_code", 0), "words": str(error)}
    faults = outcome.get("faults", [])
    words = outcome.get("words") or "; ".join(fault["line"] for fault in faults)
    status = 404 if faults and faults[0]["file"] in ("answer", "pin") else STATUS.get(outcome["code"], 503)
    return JSONResponse({"words": words, "faults": faults}, status)


def _app(routes: _Routes) -> Starlette:
    """Return the application: what `docs/studio.md` lists."""
    table: list[tuple[str, Any, list[str]]] = [
        ("/", routes.page, ["GET"]),
        ("/api/start", routes.start, ["GET"]),
        ("/api/file", routes.file, ["GET", "PUT"]),
        ("/api/new", routes.new, ["POST"]),
        ("/api/solve", routes.solve, ["POST"]),
        ("/api/cancel", routes.cancel, ["POST"]),
        ("/api/events", routes.events, ["GET"]),
        ("/api/front", routes.trade, ["POST"]),
        ("/api/sweep", routes.trade, ["POST"]),
        ("/api/front/stop", routes.trade, ["POST"]),
        ("/api/answer/{answer}/{what}", routes.answer, ["GET"]),
        *((path, routes.job, ["POST"]) for path in JOBS),
        ("/api/pins", routes.pins, ["GET"]),
        ("/api/pins/{name}", routes.pin, ["PUT", "DELETE"]),
    ]
    known: Any = dict.fromkeys((HTTPException, FaboptError, _JobError), _refused)
    return Starlette(
        routes=[
            *(Route(path, answer, methods=methods) for path, answer, methods in table),
            Mount("/page", StaticFiles(directory=PAGE)),
        ],
        exception_handlers=known,
    )
