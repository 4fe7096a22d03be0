"""The gate of the drag-in page: who gets in, and what every answer carries. Each guard is shown to matter."""

from __future__ import annotations

import contextlib
import re
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from click.testing import CliRunner
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from analyzer.case.case_file import write_case
from analyzer.commands.serve import command
from analyzer.runtime.errors import BacklineError
from analyzer.web import server
from analyzer.web.cases import app
from analyzer.web.cases.app import Serving
from analyzer.web.guard import gate, session
from analyzer.web.guard.bounds import Bounds
from analyzer.web.guard.connection import choose_protocol, slow_protocol
from analyzer.web.guard.gate import PUBLIC, RequestGate
from analyzer.web.guard.session import PageSession
from analyzer.web.server import bind_socket, port_of
from tests.kit.case_factory import rich_case
from tests.kit.web_kit import PATIENCE, Running, client_of, serving_at, status_of

PORT = 8770
HOST = f"127.0.0.1:{PORT}"
OURS = {"host": HOST, "origin": f"http://{HOST}", "sec-fetch-site": "same-origin"}


async def reached(scope: Any, receive: Any, send: Any) -> None:
    """Answer everything that came through the gate."""
    headers = {"access-control-allow-origin": "*", "Cache-Control": "public"}
    await PlainTextResponse("reached", headers=headers)(scope, receive, send)


def knock(
    method: str, path: str, headers: dict[str, str], *, cookie: bool = True
) -> Response | Any:
    """Send one request to a gate in front of `reached`, with the right cookie unless told otherwise.

    `~` in `path` stands for the secret path.
    """
    ours = PageSession(PORT)
    client = TestClient(RequestGate(reached, ours), base_url=f"http://{HOST}")
    path = path.replace("~", ours.home)
    if cookie:
        headers = {"cookie": ours.set_cookie().partition(";")[0], **headers}
    return client.request(
        method, path, headers={name: value.encode("latin-1") for name, value in headers.items()}
    )


# What an attacker sends: name, method, path, headers, whether the browser sends the cookie, answer, guard.
ATTACKS: list[tuple[str, str, str, dict[str, str], bool, int, str]] = [
    ("a name of the web that leads here", "GET", "/", {"host": f"evil.example:{PORT}"}, True, 421, "host"),
    ("the same with a right origin", "POST", "~/cases", {**OURS, "host": f"evil.example:{PORT}",
     "origin": f"http://evil.example:{PORT}"}, True, 421, "host"),
    ("our address without the port", "GET", "/", {"host": "127.0.0.1"}, True, 421, "host"),
    ("our address, another port", "GET", "/", {"host": f"127.0.0.1:{PORT + 1}"}, True, 421, "host"),
    ("a name that begins like ours", "GET", "/", {"host": f"{HOST}.evil.example"}, True, 421, "host"),
    ("a name that ends like ours", "GET", "/", {"host": f"x.localhost:{PORT}"}, True, 421, "host"),
    ("another loopback address", "GET", "/", {"host": f"127.0.0.2:{PORT}"}, True, 421, "host"),
    ("no name", "GET", "/", {"host": ""}, True, 421, "host"),
    ("POST of another site", "POST", "~/cases", {"host": HOST, "sec-fetch-site": "cross-site",
     "origin": "https://evil.example"}, True, 403, "origin"),
    ("POST of another port of this machine", "POST", "~/cases", {"host": HOST, "sec-fetch-site": "same-site",
     "origin": "http://127.0.0.1:3000"}, True, 403, "origin"),
    ("POST of an old browser, other origin", "POST", "~/cases", {"host": HOST, "origin": "http://127.0.0.1:3000"},
     True, 403, "origin"),
    ("POST of a sandboxed report", "POST", "~/cases", {"host": HOST, "origin": "null"}, True, 403, "origin"),
    ("POST without any origin", "POST", "~/cases", {"host": HOST}, True, 403, "origin"),
    ("POST from the address bar", "POST", "~/cases", {"host": HOST, "sec-fetch-site": "none"}, True, 403, "origin"),
    ("PUT of another site", "PUT", "~/cases/1/files/0", {"host": HOST, "sec-fetch-site": "cross-site"},
     True, 403, "origin"),
    ("DELETE of another site", "DELETE", "~/cases/1", {"host": HOST, "sec-fetch-site": "cross-site"},
     True, 403, "origin"),
    ("right site, wrong origin", "POST", "~/cases", {**OURS, "origin": "https://evil.example"}, True, 403, "origin"),
    ("entering from another site", "POST", "/enter", {"host": HOST, "sec-fetch-site": "cross-site"},
     True, 403, "origin"),
    ("a script tag of another port", "GET", "~/cases", {"host": HOST, "sec-fetch-site": "same-site"},
     True, 403, "origin"),
    ("an image of another site", "GET", "~/cases/1/report", {"host": HOST, "sec-fetch-site": "cross-site"},
     True, 403, "origin"),
    ("reading without the cookie", "GET", "~/cases", OURS, False, 401, "stranger"),
    ("events without the cookie", "GET", "~/events", OURS, False, 401, "stranger"),
    ("a report without the cookie", "GET", "~/cases/1/report", OURS, False, 401, "stranger"),
    ("uploading without the cookie", "PUT", "~/cases/1/files/0", OURS, False, 401, "stranger"),
    ("a wrong cookie", "GET", "~/cases", {**OURS, "cookie": f"backline-{PORT}=guess"}, False, 401, "stranger"),
    ("an empty cookie", "GET", "~/cases", {**OURS, "cookie": f"backline-{PORT}="}, False, 401, "stranger"),
    ("the cookie of another server", "GET", "~/cases", {**OURS, "cookie": f"backline-{PORT + 1}=x"},
     False, 401, "stranger"),
    ("a cookie that is no ASCII", "GET", "~/cases", {**OURS, "cookie": f"backline-{PORT}=\xe9"},
     False, 401, "stranger"),
    ("reading beside the path", "GET", "/cases", OURS, True, 401, "stranger"),
    ("events beside the path", "GET", "/events", OURS, True, 401, "stranger"),
    ("a report beside the path", "GET", "/cases/1/report", OURS, True, 401, "stranger"),
    ("uploading beside the path", "PUT", "/cases/1/files/0", OURS, True, 401, "stranger"),
    ("a wrong path", "GET", f"/{'x' * 43}/cases", OURS, True, 401, "stranger"),
    ("a path that is no ASCII", "GET", "/\xe9/cases", OURS, True, 401, "stranger"),
    ("a path that begins like ours", "GET", "~x/cases", OURS, True, 401, "stranger"),
    ("the path behind another", "GET", "/x~/cases", OURS, True, 401, "stranger"),
    ("nothing below the path", "GET", "~", OURS, True, 401, "stranger"),
    ("the page under another spelling", "GET", "/page.js/", OURS, False, 401, "stranger"),
    ("the page under dots", "GET", "/cases/../page.html", OURS, False, 401, "stranger"),
    ("writing to the page", "POST", "/", OURS, False, 401, "stranger"),
    ("reading the way in", "GET", "/enter", OURS, False, 401, "stranger"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("what", "method", "path", "headers", "cookie", "status", "guard"), ATTACKS
)
def test_an_attack_is_refused(
    what: str,
    method: str,
    path: str,
    headers: dict[str, str],
    cookie: bool,
    status: int,
    guard: str,
) -> None:
    """Each row of the table is answered with its status and does not reach the application."""
    answer = knock(method, path, headers, cookie=cookie)
    assert answer.status_code == status, what
    assert set(answer.json()["error"]) == {"what", "where", "why", "do"}


@pytest.mark.parametrize(
    ("what", "method", "path", "headers", "cookie", "status", "guard"), ATTACKS
)
def test_an_attack_would_succeed_without_its_guard(
    monkeypatch: pytest.MonkeyPatch, what: str, method: str, path: str, headers: dict[str, str], cookie: bool,
    status: int, guard: str,
) -> None:  # fmt: skip
    """With the one guard that a row names switched off, the same request reaches the application."""
    monkeypatch.setattr(RequestGate, f"{guard}_refused", lambda *_: None)
    if not headers["host"]:
        headers = {**headers, "host": ""}
    assert knock(method, path, headers, cookie=cookie).text == "reached", what


@pytest.mark.parametrize(
    ("method", "path", "headers", "cookie"),
    [
        ("GET", "/", {"host": HOST}, False),
        ("GET", "/", {"host": f"localhost:{PORT}"}, False),
        ("GET", "/", {"host": f"LOCALHOST:{PORT}"}, False),
        (
            "GET",
            "/",
            {"host": HOST, "sec-fetch-site": "cross-site"},
            False,
        ),  # a link in a ticket system
        ("HEAD", "/page.js", {"host": HOST}, False),
        ("POST", "/enter", OURS, False),
        ("GET", "~/cases", OURS, True),
        (
            "GET",
            "~/cases",
            {"host": HOST, "sec-fetch-site": "none"},
            True,
        ),  # typed into the address bar
        ("GET", "~/cases", {"host": HOST}, True),
        (
            "POST",
            "~/cases",
            {"host": HOST, "origin": f"http://{HOST}"},
            True,
        ),  # a browser without Sec-Fetch-Site
        ("POST", "~/cases", {"host": HOST, "sec-fetch-site": "same-origin"}, True),
        ("PUT", "~/cases/1/files/0", OURS, True),
    ],
)
def test_our_own_page_gets_through(
    method: str, path: str, headers: dict[str, str], cookie: bool
) -> None:
    """What the page itself sends, in new browsers and old ones, reaches the application."""
    assert knock(method, path, headers, cookie=cookie).status_code == 200


def test_only_the_files_of_the_page_are_public() -> None:
    """Without the cookie nothing is given out but the page, its scripts and its style, all at the top."""
    assert {"/", "/page.js", "/page.css"} <= PUBLIC
    assert all(re.fullmatch(r"/([a-z_]+\.(js|css))?", path) for path in PUBLIC)


@pytest.mark.parametrize("method", ["OPTIONS", "TRACE", "PATCH", "CONNECT", "PROPFIND"])
def test_other_methods_are_refused(method: str) -> None:
    """A preflight and other methods get 405 and never a header that would open anything."""
    answer = knock(method, "/cases", {**OURS, "access-control-request-method": "PUT"})
    assert answer.status_code == 405
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_a_socket_of_the_web_is_refused() -> None:
    """A WebSocket, to which no same-origin rule of browsers applies, is closed at once."""
    with (
        pytest.raises(WebSocketDisconnect) as told,
        TestClient(
            RequestGate(reached, PageSession(PORT)), base_url=f"http://{HOST}"
        ).websocket_connect("/events"),
    ):
        pass
    assert told.value.code == 1008


def broken(serving: Serving) -> list[BaseRoute]:
    """Give a route that fails, and one with a policy of its own."""

    async def fail(request: Request) -> Response:
        raise RuntimeError("secret inside")

    async def own(request: Request) -> Response:
        return PlainTextResponse(
            "x", headers={"Content-Security-Policy": "sandbox", "Access-Control-Allow-Origin": "*"}
        )

    return [Route("/fails", fail), Route("/own", own)]


WANTED = {
    "x-content-type-options": "nosniff", "referrer-policy": "no-referrer", "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin", "cross-origin-opener-policy": "same-origin",
    "content-security-policy": gate.PAGE_POLICY,
}  # fmt: skip
ANSWERS = [
    ("/cases", {}, 200), ("/nothing", {}, 404), ("/cases/x/start", {}, 405), ("/fails", {}, 500), ("/cases", {"host": "evil.example"}, 421),
    ("/cases", {"cookie": ""}, 401), ("/cases", {"sec-fetch-site": "cross-site"}, 403),
]  # fmt: skip


@pytest.mark.parametrize(("path", "headers", "status"), ANSWERS)
def test_every_answer_carries_our_headers(
    tmp_path: Path, path: str, headers: dict[str, str], status: int
) -> None:
    """Answers, refusals, unknown addresses and faults of ours all carry the policy and its companions, once."""
    serving = serving_at(tmp_path)
    with client_of(serving, broken) as client:
        if "cookie" in headers:
            client.cookies.clear()
        answer = client.get(path, headers={name: value for name, value in headers.items() if value})
    assert answer.status_code == status
    assert status == 200 or set(answer.json()["error"]) == {"what", "where", "why", "do"}
    for name, value in WANTED.items():
        assert answer.headers.get_list(name) == [value], name
    assert "secret" not in answer.text
    assert serving.session.home not in f"{answer.text} {answer.headers}"


@pytest.mark.parametrize(("path", "headers", "status"), ANSWERS)
def test_the_page_is_told_of_a_refusal_without_an_error_of_the_browser(
    tmp_path: Path, path: str, headers: dict[str, str], status: int
) -> None:
    """Asked so, a refusal comes as an answer whose header names its status; a fault of ours stays a fault."""
    with client_of(serving_at(tmp_path), broken) as client:
        if "cookie" in headers:
            client.cookies.clear()
        sent = {
            **{name: value for name, value in headers.items() if value},
            "x-backline-told": "yes",
        }
        answer = client.get(path, headers=sent)
    refused = 400 <= status < 500
    assert (answer.status_code, answer.headers.get("x-backline-status")) == (
        (200, str(status)) if refused else (status, None)
    )
    assert status == 200 or set(answer.json()["error"]) == {"what", "where", "why", "do"}


def test_headers_come_from_the_gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the gate's hand on the answer the same request comes back bare: no route sets them by itself."""
    monkeypatch.setattr(gate, "add_headers", lambda message: None)
    with client_of(serving_at(tmp_path), broken) as client:
        assert not set(WANTED) & set(client.get("/cases").headers)


def test_a_route_cannot_open_the_door(tmp_path: Path) -> None:
    """A CORS header set by a route does not leave the gate; a policy of its own (a report's) does."""
    with client_of(serving_at(tmp_path), broken) as client:
        answer = client.get("/own")
    assert "access-control-allow-origin" not in answer.headers
    assert answer.headers["content-security-policy"] == "sandbox"


def test_a_fault_of_ours_is_one_line_on_the_terminal(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """An exception in a route ends neither the server nor in a traceback; the client learns nothing of our inside,
    and the terminal nothing of the secret path.
    """
    serving = serving_at(tmp_path)
    with client_of(serving, broken) as client:
        assert client.get("/fails").json()["error"]["what"] == "internal error"
        assert client.get("/cases").status_code == 200
    told = capfd.readouterr().err
    assert told.count("\n") == 1
    assert "secret inside" in told
    assert "GET /fails" in told
    assert serving.session.home not in told


def test_the_token_is_exchanged_for_the_cookie(tmp_path: Path) -> None:
    """The token of the start gives the path and a cookie bound to it, no script reads, no other site sends; a wrong
    one gives neither.
    """
    serving = serving_at(tmp_path)
    with client_of(serving, signed_in=False) as client:
        for wrong in ("", "x", serving.session.token[:-1], serving.session.token + "x", "\xff"):
            answer = client.post("/enter", headers={"x-backline-token": wrong.encode("latin-1")})
            assert (answer.status_code, "set-cookie" in answer.headers) == (401, False)
        assert client.get("/cases").status_code == 401
        answer = client.post("/enter", headers={"x-backline-token": serving.session.token})
        assert answer.status_code == 200
        assert answer.json() == {"path": serving.session.home}
        name, *parts = answer.headers["set-cookie"].split("; ")
        assert name.startswith("backline-8770=")
        assert set(parts) == {"HttpOnly", "SameSite=Strict", f"Path={serving.session.home}/"}
        assert serving.session.token not in answer.headers["set-cookie"]
        assert client.get("/cases").status_code == 401
        client.base_url = client.base_url.join(serving.session.home)
        assert client.get("/cases").status_code == 200
        assert (
            client.get("/info").status_code == 200
        )  # a reload of the page, which knows the path and holds the cookie


def test_the_cookie_does_not_open_the_way_in(tmp_path: Path) -> None:
    """Who holds the cookie but does not know the token is not told the path."""
    with client_of(serving_at(tmp_path)) as client:
        client.base_url = client.base_url.join("/")
        cookie = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
        answer = client.post("/enter", headers={"cookie": cookie})
        assert cookie.startswith("backline-8770=")
        assert (answer.status_code, "path" in answer.json()) == (401, False)


def test_the_token_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the comparison of the token, anybody on the machine would get in."""
    monkeypatch.setattr(session, "_equals_safely", lambda given, ours: True)
    with client_of(serving_at(tmp_path), signed_in=False) as client:
        assert client.post("/enter", headers={"x-backline-token": "guess"}).status_code == 200


def test_the_path_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the comparison of the path, the server of another port that was sent the cookie would get in."""
    monkeypatch.setattr(PageSession, "strip_home", lambda ours, path: path)
    assert knock("GET", "/cases", OURS).text == "reached"


def test_a_ticket_opens_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands on the command line of the browser opens the page once, and not after three minutes."""
    ours = PageSession(PORT)
    ticket = ours.make_ticket()
    assert ours.admits_token(ticket)
    assert not ours.admits_token(ticket)
    late = ours.make_ticket()
    now = time.monotonic()
    monkeypatch.setattr(session.time, "monotonic", lambda: now + session.TICKET_SECONDS + 1)
    assert not ours.admits_token(late)
    assert ours.admits_token(ours.token)


def test_secrets_are_long_and_differ() -> None:
    """Token, cookie and path are 256 bits of chance each, new at every start."""
    first, second = PageSession(PORT), PageSession(PORT)
    secrets = {
        first.token,
        second.token,
        first.set_cookie().split("=")[1],
        second.set_cookie().split("=")[1],
    }
    secrets |= {first.home[1:], second.home[1:]}
    assert len(secrets) == 6
    assert min(len(first.token), len(second.token)) >= 43
    assert all(re.fullmatch(r"/[\w-]{43}", ours.home, re.ASCII) for ours in (first, second))


def other_addresses() -> list[str]:
    """Return addresses of this machine that are not 127.0.0.1; on Linux 127.0.0.2 is always one."""
    found = {
        one.address
        for some in psutil.net_if_addrs().values()
        for one in some
        if one.family == socket.AF_INET
    }
    return sorted((found | {"127.0.0.2"}) - {"127.0.0.1"})


def can_connect(address: str, port: int, family: int = socket.AF_INET) -> bool:
    """Tell whether something answers there."""
    with socket.socket(family, socket.SOCK_STREAM) as wire:
        wire.settimeout(PATIENCE)
        return wire.connect_ex((address, port)) == 0


def test_only_loopback_is_bound() -> None:
    """The port is open on 127.0.0.1 and on no other address of this machine, neither IPv4 nor IPv6."""
    with bind_socket(0) as listener:
        listener.listen()
        assert can_connect("127.0.0.1", port_of(listener))
        assert not [
            address for address in other_addresses() if can_connect(address, port_of(listener))
        ]
        with contextlib.suppress(OSError):  # a machine without IPv6
            assert not can_connect("::1", port_of(listener), socket.AF_INET6)


def test_the_address_is_what_keeps_others_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bound to all addresses, the same socket would be reached by another one: the test above can fail."""
    monkeypatch.setattr(server, "ADDRESS", "0.0.0.0")
    with bind_socket(0) as listener:
        listener.listen()
        assert [address for address in other_addresses() if can_connect(address, port_of(listener))]


def test_a_port_in_use_is_one_sentence() -> None:
    """A port that another program holds is told with the advice to leave it to us."""
    with bind_socket(0) as listener:
        listener.listen()
        with pytest.raises(
            BacklineError, match=f"127.0.0.1:{port_of(listener)}: the port cannot be used.*--port"
        ):
            bind_socket(port_of(listener))


def report_of(serving: Serving, client: TestClient, name: str) -> str:
    """Make a case of that name with a report; return the path of its address."""
    case: str = client.post(
        "/cases", json={"name": name, "files": [{"name": "x", "size": 1}]}
    ).json()["id"]
    (serving.place.case_folder(case) / "report.html").write_text("<p>made up</p>")
    return f"/cases/{case}/report"


def test_a_report_is_boxed_in(tmp_path: Path) -> None:
    """A report comes with a sandbox that gives it no origin of ours, may be framed by our page only, and can be saved."""
    serving = serving_at(tmp_path)
    with client_of(serving) as client:
        path = report_of(serving, client, "case 12")
        answer, saved = client.get(path), client.get(f"{path}?download=1")
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts ")
    assert "allow-same-origin" not in policy
    assert "frame-ancestors 'self'" in policy
    assert "connect-src" not in policy
    assert "default-src 'none'" in policy
    assert "content-disposition" not in answer.headers
    assert saved.headers["content-disposition"] == 'attachment; filename="case_12-report.html"'
    assert answer.text == saved.text == "<p>made up</p>"


def test_a_page_for_somebody_else_is_redacted_strictly(tmp_path: Path) -> None:
    """The saved page names no host and shows no word that nobody knows; the name it is saved under tells no case."""
    serving = serving_at(tmp_path)
    document = rich_case()
    document.findings[0].evidence[0].text += " quorvix zwiebelturm"
    with client_of(serving) as client:
        path = report_of(serving, client, "quorvix")
        folder = serving.place.case_folder(path.split("/")[2])
        (folder / "case.json").write_text(write_case(document), encoding="utf-8")
        saved = client.get(f"{path}?redact=strict")
    assert saved.headers["content-disposition"] == 'attachment; filename="redacted-report.html"'
    assert saved.headers["content-security-policy"].startswith("sandbox ")
    assert "\u2039word\u203a" in saved.text
    for word in ("quorvix", "zwiebelturm", document.nodes[0].name):
        assert word and word not in saved.text


@pytest.mark.parametrize(
    "name",
    ['a"; filename="x.exe', "../../x", "a\r\nSet-Cookie: x", "", "..", "\u202egol", "ü" * 999],
)
def test_the_name_of_a_case_cannot_steer_a_download(tmp_path: Path, name: str) -> None:
    """Whatever a case is called, the proposed file name is one plain word that ends as a report does."""
    serving = serving_at(tmp_path)
    with client_of(serving) as client:
        given = client.get(f"{report_of(serving, client, name)}?download=1").headers[
            "content-disposition"
        ]
    assert re.fullmatch(
        r'attachment; filename="[A-Za-z0-9][\w.-]{0,90}-report\.html"', given, re.ASCII
    )


@pytest.mark.parametrize("abandoned", [0, 1000])
def test_an_abandoned_case_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, abandoned: float
) -> None:
    """A case whose page was closed before its files came is removed after a while, and not before."""
    monkeypatch.setattr(app, "CHECK_ABANDONED", 0.05)
    with Running(tmp_path, Bounds(reserve=0, stop=1, abandoned=abandoned)) as running:
        case = running.new_case(1)
        deadline = time.monotonic() + (1.0 if abandoned else PATIENCE)
        while running.ask("GET", f"/cases/{case}")[0] == 200 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert running.ask("GET", f"/cases/{case}")[0] == (200 if abandoned else 404)


def test_a_missing_package_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra `serve` says which package is missing and how to install it, and ends with 3."""
    for name in [name for name in sys.modules if name.startswith("analyzer.web.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    told = CliRunner().invoke(command, [])
    assert told.exit_code == 3
    assert "backline[web]" in told.stderr
    assert told.stderr.count("\n") == 1


QUICK = Bounds(reserve=0, head=0.5, drain=0.5, head_bytes=4096, connections=4, stop=1)


@contextlib.contextmanager
def connected(running: Running) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", running.port), PATIENCE) as wire:
        yield wire


def closed(wire: socket.socket, within: float) -> bool:
    """Tell whether the server closes a connection within some seconds, without having answered."""
    wire.settimeout(within)
    try:
        return wire.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


@pytest.mark.size
@pytest.mark.parametrize("kind", [choose_protocol, slow_protocol])
@pytest.mark.parametrize(
    "sent", [b"", b"GET / HTTP/1.1\r\nHost: x\r\nX-Drip: "], ids=["nothing", "half a head"]
)
def test_a_connection_that_waits_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sent: bytes, kind: Any
) -> None:
    """Who connects and sends nothing, or a head that never ends, is closed; with a long bound he would stay."""
    monkeypatch.setattr(server, "choose_protocol", kind)
    with Running(tmp_path, QUICK) as running, connected(running) as wire:
        wire.sendall(sent)
        assert closed(wire, PATIENCE)
    with Running(tmp_path, replace(QUICK, head=1000)) as running, connected(running) as wire:
        wire.sendall(sent)
        assert not closed(wire, 1.5)


def test_a_second_request_may_not_wait_either(tmp_path: Path) -> None:
    """Half a head behind an answered request, where uvicorn itself stops looking at the clock, is closed too."""
    with Running(tmp_path, QUICK) as running, connected(running) as wire:
        wire.sendall(
            f"GET /cases HTTP/1.1\r\nHost: 127.0.0.1:{running.port}\r\n\r\nGET /x".encode()
        )
        received = b""
        with contextlib.suppress(ConnectionError):
            while piece := wire.recv(4096):
                received += piece
        assert received.startswith(b"HTTP/1.1 401")


def test_a_long_head_is_refused(tmp_path: Path) -> None:
    """A head of more bytes than is sensible gets 431 and is not kept; with a large bound it would be."""
    head = b"GET / HTTP/1.1\r\nX: " + b"a" * 8192
    with Running(tmp_path, replace(QUICK, head=PATIENCE)) as running, connected(running) as wire:
        wire.sendall(head)
        assert status_of(wire) == 431
    with (
        Running(tmp_path, replace(QUICK, head=1000, head_bytes=1 << 20)) as running,
        connected(running) as wire,
    ):
        wire.sendall(head)
        assert not closed(wire, 1.0)


def events_of(running: Running, wire: socket.socket) -> bytes:
    """Open the stream of events as our page does; return what comes first."""
    lines = [f"{name}: {value}" for name, value in running.headers.items()]
    lines = [f"GET {running.session.home}/events HTTP/1.1", *lines]
    wire.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
    received = b""
    while b'{"n":3}' not in received:
        piece = wire.recv(4096)
        assert piece
        received += piece
    return received


@pytest.mark.parametrize("kind", [choose_protocol, slow_protocol])
def test_too_many_connections_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: Any
) -> None:
    """More connections of our own page than the bound, all at work, get 503 at once; when one ends, the next is taken."""
    monkeypatch.setattr(server, "choose_protocol", kind)
    with Running(tmp_path, replace(QUICK, head=1000)) as running, contextlib.ExitStack() as stack:
        held = [stack.enter_context(connected(running)) for _ in range(4)]
        for wire in held:
            events_of(running, wire)
        with connected(running) as wire:
            assert status_of(wire) == 503
        held[0].close()
        deadline = time.monotonic() + PATIENCE
        status = 503
        while status == 503 and time.monotonic() < deadline:
            with contextlib.suppress(
                ValueError, ConnectionError
            ):  # the 503 of a connection is no JSON
                status, _ = running.ask("GET", "/cases")
        assert status == 200


IDLE = [b"", b"GET / HTTP/1.1\r\nHost: x\r\nX-Drip: ", b"GET /cases HTTP/1.1\r\nHost: x\r\n\r\n"]


@pytest.mark.size
@pytest.mark.parametrize("kind", [choose_protocol, slow_protocol])
@pytest.mark.parametrize("sent", IDLE, ids=["nothing", "half a head", "a refused request"])
def test_strangers_lock_nobody_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sent: bytes, kind: Any
) -> None:
    """Two hundred connections without sign-in: the page is served at once, and an open stream of events stays."""
    monkeypatch.setattr(server, "choose_protocol", kind)
    with Running(tmp_path, Bounds(reserve=0)) as running, contextlib.ExitStack() as stack:
        page = stack.enter_context(connected(running))
        events_of(running, page)
        for _ in range(200):
            stack.enter_context(connected(running)).sendall(sent)
        began = time.monotonic()
        with connected(running) as wire:
            wire.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{running.port}\r\n\r\n".encode())
            assert status_of(wire) == 200
        assert running.ask("GET", "/cases")[0] == 200
        assert time.monotonic() - began < 10, "not only when the time of the strangers is over"
        assert not closed(page, 0.5)


def test_strangers_who_do_not_read_lock_nobody_out(tmp_path: Path) -> None:
    """Connections that ask for the page and never read their answers give way as well."""
    with (
        Running(tmp_path, replace(QUICK, head=1000, drain=1000)) as running,
        contextlib.ExitStack() as stack,
    ):
        asked = f"GET /page.js HTTP/1.1\r\nHost: 127.0.0.1:{running.port}\r\n\r\n".encode() * 200
        for _ in range(8):
            wire = stack.enter_context(connected(running))
            with contextlib.suppress(ConnectionError):
                wire.sendall(asked)
        assert running.ask("GET", "/cases")[0] == 200


@pytest.mark.parametrize("kind", [choose_protocol, slow_protocol])
@pytest.mark.parametrize(
    "target", ["http://evil.example/", "HTTP://evil.example:80/page.js", "http://127.0.0.1:1/", "*"]
)
def test_a_whole_uri_is_not_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str, kind: Any
) -> None:
    """A request whose target names another host is refused, whatever its Host says: this is no proxy."""
    monkeypatch.setattr(server, "choose_protocol", kind)
    with Running(tmp_path, QUICK) as running, connected(running) as wire:
        wire.sendall(f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{running.port}\r\n\r\n".encode())
        assert status_of(wire) in (400, 421)
    with Running(tmp_path, QUICK) as running, connected(running) as wire:
        wire.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{running.port}\r\n\r\n".encode())
        assert status_of(wire) == 200


def test_events_resume_and_end_with_the_server(tmp_path: Path) -> None:
    """A stream of events begins behind the last number the browser saw; it does not keep the server from stopping."""
    with Running(tmp_path, Bounds(reserve=0, stop=1)) as running, connected(running) as wire:
        lines = [f"{name}: {value}" for name, value in running.headers.items()]
        lines = [f"GET {running.session.home}/events HTTP/1.1", *lines, "Last-Event-ID: 2"]
        wire.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        received = b""
        while b'{"n":3}' not in received:
            piece = wire.recv(4096)
            assert piece
            received += piece
        assert b"id: 3" in received
        assert b"id: 2" not in received
        assert b"text/event-stream" in received
