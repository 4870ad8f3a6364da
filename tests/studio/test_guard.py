"""Attacks: other hosts, other pages, no key, no token, too much, paths out of the folder, links out of it."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from fabopt.errors import InputError
from fabopt.studio import guard
from fabopt.studio.folder import CASES, below, files
from fabopt.studio.guard import HEADERS, MOST_BYTES
from tests.studio.served import Served

CHANGES = ("/api/file", "/api/new", "/api/read", "/api/edit", "/api/solve", "/api/cancel")


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil.example", "", "[::1]"])
def test_other_hosts_are_refused(studio: Served, host: str) -> None:
    answer = studio.raw("GET", "/api/start", Cookie=studio.cookie, Host=host)
    assert answer.status == 400
    assert studio.token.encode() not in answer.body


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1", ""])
def test_other_pages_are_refused(studio: Served, origin: str) -> None:
    assert studio.raw("GET", "/api/start", Cookie=studio.cookie, Origin=origin).status == 403
    headers = {"Cookie": studio.cookie, "Content_Type": "application/json", "X_Fabopt_Token": studio.token}
    assert studio.raw("POST", "/api/new", b'{"answers": {}}', Origin=origin, **headers).status == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site", "anything"])
def test_requests_from_other_sites_are_refused(studio: Served, site: str) -> None:
    assert studio.raw("GET", "/", Cookie=studio.cookie, Sec_Fetch_Site=site).status == 403


def test_own_page_is_answered(studio: Served) -> None:
    own = {"Origin": f"http://{studio.host}", "Sec_Fetch_Site": "same-origin", "Cookie": studio.cookie}
    assert studio.raw("GET", "/api/start", **own).status == 200


@pytest.mark.parametrize("cookie", ["", "x", "fabopt-studio-1=x", "NAME=", "NAME=x", "NAME=é", 'NAME="'])
def test_nothing_without_the_key(studio: Served, cookie: str) -> None:
    cookie = cookie.replace("NAME", studio.cookie.partition("=")[0])
    for path in ("/", "/api/start", "/api/events?desk=x", "/page/studio.html", "/nothing"):
        assert studio.raw("GET", path, Cookie=cookie).status == 403, path
    assert studio.raw("GET", "/?token=x").status == 403
    assert "set-cookie" not in studio.raw("GET", "/?token=x").headers


def test_cookie_is_for_this_site_alone(studio: Served) -> None:
    words = studio.raw("GET", f"/?token={studio.key}").headers["set-cookie"]
    assert "HttpOnly" in words and "SameSite=strict" in words
    assert "Domain" not in words


@pytest.mark.parametrize("path", CHANGES)
def test_changes_want_token_and_json(studio: Served, path: str) -> None:
    method = "PUT" if path == "/api/file" else "POST"
    json_ = {"Content_Type": "application/json"}
    for token in ("", "x", studio.key):
        assert studio.raw(method, path, b"{}", Cookie=studio.cookie, X_Fabopt_Token=token, **json_).status == 403
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        headers = {"Cookie": studio.cookie, "X_Fabopt_Token": studio.token, "Content_Type": kind}
        assert studio.raw(method, path, b"{}", **headers).status == 415


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'{"text": 1}', b"\xff", b"[" * 100_000])
def test_wrong_bodies_are_refused(studio: Served, body: bytes) -> None:
    headers = {"Cookie": studio.cookie, "X_Fabopt_Token": studio.token, "Content_Type": "application/json"}
    assert studio.raw("POST", "/api/read", body, **headers).status == 400


def test_large_bodies_are_refused(studio: Served) -> None:
    headers = {"Cookie": studio.cookie, "X_Fabopt_Token": studio.token, "Content_Type": "application/json"}
    assert studio.raw("POST", "/api/read", None, Content_Length=str(MOST_BYTES + 1), **headers).status == 413
    with socket.create_connection(tuple(studio.host.split(":"))) as connection:
        lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        head = ["POST /api/read HTTP/1.1", f"Host: {studio.host}", "Transfer-Encoding: chunked", *lines, "", ""]
        connection.sendall("\r\n".join(head).encode())
        piece = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
        try:
            for _ in range(MOST_BYTES // 0x100000 + 2):
                connection.sendall(piece)
        except OSError:
            pass  # it has closed the connection
        assert connection.recv(12) in (b"HTTP/1.1 413", b"")
    assert studio.get("/api/start").status == 200


def test_answers_keep_the_page_to_itself(studio: Served) -> None:
    for path in ("/", "/api/start", "/nothing", "/page/studio.html"):
        headers = studio.get(path).headers
        assert {name.lower() for name in HEADERS} <= headers.keys()
        assert "unsafe" not in headers["content-security-policy"]
        assert "access-control-allow-origin" not in headers
        assert "server" not in headers


OUTSIDE = ["../x.yaml", "a/../../x.yaml", "/etc/x.yaml", "..\\x.yaml", "", ".", "link/x.yaml", "link.yaml", "a\0.yaml",
           ".fabopt-studio/x.yaml", ".hidden.yaml", "x.py", "x", "a.yaml/../../../x.yaml", "x.yaml\n"]  # fmt: skip


@pytest.mark.parametrize("name", OUTSIDE)
def test_nothing_outside_of_the_folder(studio: Served, tmp_path: Path, name: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.yaml").write_text("secret: 1\n")
    for link, target in (("link", outside), ("link.yaml", outside / "x.yaml")):
        if not os.path.lexists(studio.folder / link):
            (studio.folder / link).symlink_to(target)
    try:
        with pytest.raises(InputError):
            below(studio.folder, name, CASES)
        assert files(studio.folder, CASES) == [] or "link.yaml" not in files(studio.folder, CASES)
        answer = studio.change("PUT", "/api/file", path=name, text="x: 1\n")
        assert answer.status == 422
        assert (outside / "x.yaml").read_text() == "secret: 1\n"
        assert studio.post("/api/read", text="name: x\n", path=name).json["faults"]
    finally:
        (studio.folder / "link").unlink()
        (studio.folder / "link.yaml").unlink()


@pytest.mark.parametrize("path", ["/page/../server.py", "/page/%2e%2e/server.py", "/page/..%2fserver.py", "/page//etc"])
def test_no_other_files_of_the_package(studio: Served, path: str) -> None:
    assert studio.get(path).status in (403, 404)


def test_no_header_is_injected(studio: Served) -> None:
    with socket.create_connection(tuple(studio.host.split(":"))) as connection:
        request = (
            f"GET /api/start HTTP/1.1\r\nHost: {studio.host}\r\nHost: evil.example\r\nCookie: {studio.cookie}\r\n\r\n"
        )
        connection.sendall(request.encode())
        assert connection.recv(12) == b"HTTP/1.1 400"
    for path in ("/api/file?path=x%0d%0aSet-Cookie:%20a=b.yaml", "/?token=x%0d%0aX:%20y", "/api/events?desk=a%0d%0ab"):
        answer = studio.get(path)
        assert answer.status in (400, 403, 422)
        assert "x" not in answer.headers
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("each", [5, pytest.param(50, marks=pytest.mark.long)])
def test_slow_readers_and_many_requests_do_not_stop_it(studio: Served, each: int) -> None:
    host, port = studio.host.split(":")
    idle = [socket.create_connection((host, int(port))) for _ in range(50)]
    for number, connection in enumerate(idle):
        head = f"GET /api/events?desk=slow{number} HTTP/1.1\r\nHost: {studio.host}\r\nCookie: {studio.cookie}\r\n"
        connection.sendall((head + "\r\n" * (number % 2)).encode())
    statuses: list[int] = []

    def ask() -> None:
        statuses.extend(studio.get("/page/studio.html").status for _ in range(each))

    threads = [threading.Thread(target=ask) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == [200] * (20 * each)
    for connection in idle:
        connection.close()


def test_desks_have_plain_names(studio: Served) -> None:
    for name in ("", "reader", "a/b", "é", "x" * 65, "../x", "<b>"):
        assert studio.post("/api/solve", desk=name, text="", path=None).status == 400


def test_markup_comes_back_as_data(studio: Served) -> None:
    answer = studio.post("/api/read", text="name: <img src=x onerror=alert(1)>\n", path="a.yaml")
    assert answer.headers["content-type"] == "application/json"
    assert "<img" in json.dumps(answer.json)


def test_connections_without_a_request_keep_nobody_out(studio: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of more than the most, the eldest that have no whole request end; after a while all that have none."""
    monkeypatch.setattr(guard, "MOST_CONNECTIONS", 20)
    monkeypatch.setattr(guard, "PATIENCE_S", 0.2)
    head = f"POST /api/read HTTP/1.1\r\nHost: {studio.host}\r\nCookie: {studio.cookie}\r\n".encode()
    whole = head + f"X-Fabopt-Token: {studio.token}\r\nContent-Type: application/json\r\n".encode()
    for sent in (b"", head, whole + b"Content-Length: 9\r\n\r\n{"):
        address = tuple(studio.host.split(":"))
        held = [socket.create_connection(address) for _ in range(40)]
        for connection in held:
            with suppress(OSError):
                connection.sendall(sent)
        begun = time.monotonic()
        assert studio.get("/page/studio.html").status == 200
        assert time.monotonic() - begun < 2
        for connection in held:
            connection.settimeout(5)
            with suppress(ConnectionResetError, BrokenPipeError), connection:
                assert connection.recv(100)[:12] in (b"", b"HTTP/1.1 408")


@pytest.mark.parametrize("name", ["Origin", "Sec-Fetch-Site"])
def test_one_good_header_does_not_hide_another(studio: Served, name: str) -> None:
    own = {"Origin": f"http://{studio.host}", "Sec-Fetch-Site": "same-origin"}[name]
    sent = f"GET /api/start HTTP/1.1\r\nHost: {studio.host}\r\nCookie: {studio.cookie}\r\n"
    assert answered(studio, f"{sent}{name}: {own}\r\n{name}: x\r\n\r\n".encode()).startswith(b"HTTP/1.1 403")


@pytest.mark.parametrize("sent", [b"zz\r\n", b"5\r\nhell\r\n-1\r\n", b"\0" * 50])
def test_what_follows_a_refusal_is_not_read(studio: Served, sent: bytes, capfd: pytest.CaptureFixture[str]) -> None:
    """Halves of a body after a refused request end the connection without a word."""
    refused = b"POST /api/read HTTP/1.1\r\nHost: evil\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert answered(studio, refused + sent).startswith(b"HTTP/1.1 400")
    assert capfd.readouterr().err == ""


def answered(studio: Served, sent: bytes) -> bytes:
    with socket.create_connection(tuple(studio.host.split(":"))) as connection:
        connection.settimeout(5)
        connection.sendall(sent)
        return connection.recv(1000)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/zero", path)])
def test_devices_and_folders_are_no_cases(studio: Served, make: Callable[[Path], None]) -> None:
    """None of them is read or written, nor waited for."""
    path = studio.folder / "odd.yaml"
    make(path)
    try:
        assert studio.get("/api/file?path=odd.yaml").status == 422
        assert studio.change("PUT", "/api/file", path="odd.yaml", text="x").status in (422, 503)
    finally:
        (path.rmdir if path.is_dir() else path.unlink)()
