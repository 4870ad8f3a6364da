"""What a request has to be before it is answered: from this machine's own page, with its secrets, small, in time."""

from __future__ import annotations

import asyncio
import hmac
import time
from contextlib import suppress
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

import h11
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_BYTES = 10_000_000
# Seconds between two pieces of a body, and until a connection has a whole request.
PATIENCE_S = 20.0
# At one more the connection ends that has been without a request for longest.
MOST_CONNECTIONS = 128
CHANGES = ("POST", "PUT", "DELETE")
READS = ("GET", "HEAD")
SITES = {"none", "same-origin"}
# Nothing runs or is shown that is not a file of the page; nothing is sent elsewhere; no other page may hold this one.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True)
class Secrets:
    """``key``: in the address that the command prints, then in a cookie; ``token``: in a header of every change."""

    key: str
    token: str
    port: int

    @property
    def cookie(self) -> str:
        """Name of the cookie: cookies know no ports, and several studios may run."""
        return f"fabopt-studio-{self.port}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """Names that this server answers to."""
        return tuple(f"{name}:{self.port}" for name in ("127.0.0.1", "localhost"))

    def is_key(self, text: str) -> bool:
        """Whether a text is the key; how long that takes to tell says nothing."""
        return hmac.compare_digest(text.encode(), self.key.encode())

    def is_token(self, text: str) -> bool:
        """Whether a text is the token of changes."""
        return hmac.compare_digest(text.encode(), self.token.encode())


class Guard:
    """Refuses what is not the page's own request; all answers have the headers that keep the page to itself."""

    def __init__(self, app: ASGIApp, secrets: Secrets) -> None:
        self._app, self._secrets = app, secrets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                names = {name.lower() for name, _ in message["headers"]}
                added = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message["headers"], *(one for one in added if one[0] not in names)]
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            # a stranger is not listened to any longer
            if not self._has_cookie(Headers(scope=scope)):
                refusal.headers["connection"] = "close"
            await refusal(scope, receive, send_guarded)
            return
        await self._app(scope, _bounded(receive), send_guarded)

    def _refusal(self, scope: Scope) -> Response | None:
        """Return what refuses a request, or lets the address with the key in; None: it may be answered."""
        headers = Headers(scope=scope)
        method = scope["method"]
        if headers.get("host", "") not in self._secrets.hosts or len(headers.getlist("host")) != 1:
            return _refused(400, "this server answers to 127.0.0.1 alone")
        origins = {f"http://{host}" for host in self._secrets.hosts}
        if set(headers.getlist("origin")) - origins or set(headers.getlist("sec-fetch-site")) - SITES:
            return _refused(403, "another page may not ask this server")
        if method not in (*CHANGES, *READS):
            return _refused(405, "no such method")
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        if scope["path"] == "/" and given and method in READS:
            return self._let_in(given[0])
        if not self._has_cookie(headers):
            return _refused(403, "open the address that `fabopt studio` printed: it has the key of this server")
        if int(length if (length := headers.get("content-length", "0")).isdigit() else MOST_BYTES + 1) > MOST_BYTES:
            return _refused(413, f"a request has at most {MOST_BYTES:,} bytes")
        if method in CHANGES and headers.get("content-type", "").split(";")[0].strip() != "application/json":
            return _refused(415, "a change is JSON (`Content-Type: application/json`)")
        if method in CHANGES and not self._secrets.is_token(headers.get("x-fabopt-token", "")):
            return _refused(403, "a change has the token of `/api/start` in its header `X-Fabopt-Token`")
        return None

    def _let_in(self, key: str) -> Response:
        if not self._secrets.is_key(key):
            return _refused(403, "this is not the key of this server; `fabopt studio` prints its address")
        answer = RedirectResponse("/", status_code=303)
        answer.set_cookie(self._secrets.cookie, self._secrets.key, httponly=True, samesite="strict", path="/")
        return answer

    def _has_cookie(self, headers: Headers) -> bool:
        jar: Any = SimpleCookie()
        try:
            jar.load("; ".join(headers.getlist("cookie")))
        except CookieError:
            return False
        morsel = jar.get(self._secrets.cookie)
        return morsel is not None and self._secrets.is_key(morsel.value)


def _refused(status: int, words: str) -> Response:
    return PlainTextResponse(words + "\n", status)


def _bounded(receive: Receive) -> Receive:
    """Receive a body of at most ``MOST_BYTES``, each piece in time."""
    read = 0

    async def receive_bounded() -> Message:
        nonlocal read
        message = await (receive() if read < 0 else _in_time(receive))
        if message["type"] == "http.request":
            read += len(message.get("body", b""))
            if read > MOST_BYTES:
                raise HTTPException(413, f"a request has at most {MOST_BYTES:,} bytes")
            if not message.get("more_body"):
                read = -1
        return message

    return receive_bounded


async def _in_time(receive: Receive) -> Message:
    try:
        return await asyncio.wait_for(receive(), PATIENCE_S)
    except TimeoutError:
        raise HTTPException(408, "the rest of the request did not come") from None


class Connection(H11Protocol):
    """A connection to the server. It ends where no whole request comes in time, or where what comes is none."""

    since = 0.0

    @property
    def waits(self) -> bool:
        """Whether no request has come, but for those that are answered."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin, in place of another one where there are too many."""
        assert isinstance(transport, asyncio.Transport)
        super().connection_made(transport)
        self.since = time.monotonic()
        open_ = [one for one in self.connections if isinstance(one, Connection) and not one.transport.is_closing()]
        waiting = [one for one in open_ if one is not self and (one.waits or one.cycle.more_body)]
        if len(open_) > MOST_CONNECTIONS and waiting:
            min(waiting, key=lambda one: one.since).transport.abort()
        self._look()

    def _look(self) -> None:
        if self.waits and time.monotonic() > self.since + PATIENCE_S:
            self.transport.abort()
        elif not self.transport.is_closing():
            self.loop.call_later(PATIENCE_S / 4, self._look)

    def data_received(self, data: bytes) -> None:
        """Take what comes."""
        try:
            super().data_received(data)
        except h11.LocalProtocolError:
            self.transport.abort()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self.since = time.monotonic()
        super().on_response_complete()

    def shutdown(self) -> None:
        """End once the answer under way is complete."""
        with suppress(h11.LocalProtocolError):
            super().shutdown()
